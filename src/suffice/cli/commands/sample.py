"""`suffice sample`: rows that a model makes up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from suffice.cli.terminal.options import json_option, model_argument, seed_option

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.training.saved_models import Saved

AT_ONCE = 1_000_000
"""Cells that are drawn at a time."""


@click.command()
@model_argument()
@click.option(
    "--size", "-n", type=click.IntRange(min=0), default=10, show_default=True, metavar="N",
    help="How many rows.",
)  # fmt: skip
@click.option("--class", "label", metavar="LABEL", help="Draw from one class only.")
@click.option(
    "--within/--beyond", "bounded", default=True,
    help="Keep to the values seen in training, or draw from the distribution as it is, which "
    "may give negative amounts or fractions of children.  [default: within]",
)  # fmt: skip
@seed_option("what is drawn")
@json_option("a line for each row")
def sample(
    model: Path, size: int, label: str | None, bounded: bool, seed: int, as_json: bool
) -> None:
    """Generate rows from MODEL.

    A table like the one it was fitted on: classes are drawn by their shares, then cells from the
    distribution within the class. Categories are written by name, numbers with as many digits as
    in the training rows and within their range; cells are blank only if blank is a category of
    its own. Columns keep their notation, so that MODEL can read them again: decimal commas,
    percent signs, the words for yes and no, dates as 2024-01-31; currency signs and thousands
    separators are left out. Columns of free text are drawn as well: by words a bag of
    them, without grammar, and by bytes letter after letter, in the lengths of the training rows.
    Logistic regression models p(y | x) only and cannot generate rows.
    For a file made by `suffice cluster`, the last column is the cluster.

    Example: suffice sample flowers.suffice -n 5 --class virginica
    """
    import numpy as np

    from suffice.cli.rows.densities import drawn_rows, with_density
    from suffice.cli.terminal.messages import note
    from suffice.cli.terminal.printed_rows import PrintedRows
    from suffice.columns.spellings.date_parts import without_parts
    from suffice.errors import listed
    from suffice.training.decimals import rounded
    from suffice.training.target_labels import label_named

    saved = with_density(model, "sample")
    columns = saved.columns
    target = saved.notes.target or ("cluster" if saved.is_hidden else "class")
    names = columns.names
    if saved.name == "TextClassifier" and not (columns.named and len(names) == 1):
        names = ("text",)  # what is written is one text, and not cut into columns
    chosen = None if label is None else label_named(label, saved.classes.tolist())
    shown = without_parts(tuple(names), saved.notes.spellings)
    worded = _texts(saved)
    printed = PrintedRows((*shown, target), as_json=as_json)
    rng = np.random.default_rng(seed)
    step = max(1, AT_ONCE // max(1, len(names)))
    for start in range(0, size, step):
        X, y = drawn_rows(saved, min(step, size - start), chosen, rng, bounded=bounded)
        drawn = dict(zip(names, _cells(X, len(names)), strict=True))
        blank = [name for name in worded if all(cell is None for cell in drawn[name])]
        if blank and start == 0:
            note(f"{listed(blank)} stays blank: the model has no texts of these classes")
        cells = [
            [saved.written(name, cell) for cell in rounded(drawn[name], saved.decimals.get(name))]
            for name in names
            if name in shown
        ]
        printed.write(zip(*cells, y, strict=True))


def _texts(saved: Saved) -> list[str]:
    """Return the columns of texts of a model of columns."""
    product = getattr(getattr(saved.model, "model", None), "product", None)
    pairs = () if product is None else zip(product.families, product.columns, strict=True)
    names = saved.columns.names
    return [names[j] for family, group in pairs if family.cells_are_texts for j in group]


def _cells(rows: Any, width: int) -> list[list[object]]:
    """Return the columns of drawn rows: a frame of any library, or an array."""
    if isinstance(rows, list):  # of texts
        return [rows]
    if hasattr(rows, "toarray"):
        rows = rows.toarray()
    if hasattr(rows, "shape") and hasattr(rows, "dtype"):
        return [rows[:, j].tolist() for j in range(width)]
    import narwhals as nw

    frame = nw.from_native(rows, eager_only=True)
    return [series.to_list() for series in frame.iter_columns()]
