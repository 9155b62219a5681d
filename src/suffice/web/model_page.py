"""A model in one HTML file: a form, answers, reasons; nothing is asked of any server."""

from __future__ import annotations

import base64
from html import escape
from string import Template
from typing import TYPE_CHECKING, Any

from suffice import __version__
from suffice.errors import BadSetting
from suffice.plots.palette import COLOURS
from suffice.printing.terminal_words import cut, printable
from suffice.web.model_content import model_content
from suffice.web.scripts import bundled, data_block, html_page, read, style

if TYPE_CHECKING:
    from suffice.learning.table_recipe import TableNotes
    from suffice.storage.model_file import StoredModel

LARGEST = 24_000_000
"""Bytes of a page beyond which it is refused: browsers, and mail, take no more of one file."""
KINDS = {
    "GaussianDiscriminant": "Gaussian discriminant analysis",
    "NaiveBayes": "naive Bayes",
    "LogisticRegression": "logistic regression",
    "TextClassifier": "a classifier of texts",
    "GaussianMixture": "a Gaussian mixture",
}
"""What estimators are called in a sentence."""


def model_page(
    stored: StoredModel,
    notes: TableNotes,
    *,
    name: str = "model",
    title: str | None = None,
    file: bytes | None = None,
) -> str:
    """Return a page that answers as the model does.

    `name` is what the model is called in files that the page saves, `title` the heading. `file`,
    the bytes of the model file with its statistics, is put into the page only where it is given.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from suffice import GaussianDiscriminant
    >>> from suffice.training.opened_files import open_classifier
    >>> place = Path(tempfile.mkdtemp()) / "model.suffice"
    >>> GaussianDiscriminant().fit([[1.0], [2.0], [5.0], [6.0]], list("aabb")).save(place)
    >>> html = model_page(*open_classifier(place))
    >>> html[:15], "Gaussian discriminant analysis" in html, html.count("<script>")
    ('<!DOCTYPE html>', True, 1)
    """
    content = {**model_content(stored, notes), "name": name}
    called = title or (f"Which {notes.target}?" if notes.target else "Which class?")
    heading = escape(cut(printable(called), 120))
    blocks = data_block("model", content) + data_block("palette", {"colours": list(COLOURS)})
    if file is not None:
        held = {"name": f"{name}.suffice", "bytes": base64.b64encode(file).decode("ascii")}
        blocks += data_block("file-inside", held)
    html = html_page(
        title=heading,
        body=_body(heading, content),
        sheet=style("pages/page.css"),
        script=bundled("pages/model_page.js"),
        blocks=blocks,
        footer=f"Made by suffice {escape(__version__)}. This page needs no network, and sends "
        "nothing anywhere.",
    )
    size = len(html.encode("utf-8", "replace"))
    if size > LARGEST:
        raise BadSetting(
            f"the page would have {size / 1e6:.0f} MB, and the limit is {LARGEST / 1e6:.0f}",
            hint="fit a model of fewer columns, or --covariance diagonal; naive-bayes is small",
        )
    return html


def _body(heading: str, content: dict[str, Any]) -> str:
    about = content["about"]
    what = escape(KINDS.get(about["estimator"], about["estimator"]))
    rows = "" if about["rows"] is None else f", learned from {about['rows']:,.0f} rows"
    documents = ' class="documents"' if content["kind"] == "text" else ""
    many = len(content["columns"])
    what_of = "text" if content["kind"] == "text" else f"{many} column{'s' * (many != 1)}"
    page = Template(read("pages/model_page.html"))
    return page.substitute(
        heading=heading,
        what=f"{what[0].upper()}{what[1:]}{rows}",
        of=what_of,
        classes=len(content["labels"]),
        documents=documents,
        one="One text" if documents else "One row",
        blank="" if documents else '<p class="hint">Unknown values can stay blank.</p>',
    )
