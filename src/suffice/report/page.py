"""The page: what to use at the top, then what it rests on."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from suffice import __version__
from suffice.report.album import HINT, Album, grid
from suffice.report.confusion import confusion_counts, confusion_table
from suffice.report.drawings import dark_greys
from suffice.report.glance import glance, glance_section
from suffice.report.informative_columns import informative_columns, informative_table
from suffice.report.markup import listing, name, text
from suffice.report.model_words import models_section
from suffice.report.pictures import (
    column_pictures,
    curve_pictures,
    explained_rows,
    reliability_picture,
)
from suffice.report.planes import boundary_pictures
from suffice.report.worries import worries

if TYPE_CHECKING:
    from suffice.evaluation import Comparison

# Nothing is loaded and nothing runs, whatever the data hold: escaping is the first wall, this
# is the second.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

NO_LAW = "Where curves cross is said of these rows and these splits; it is no law."


def page(
    comparison: Comparison,
    *,
    title: str | None = None,
    target: str = "",
    source: str = "",
    pictures: bool = True,
) -> str:
    """Return a comparison as one HTML page that needs nothing else.

    `target` is what the labels are called, `source` where the rows come from. Without
    `pictures`, or without matplotlib, the page holds its text and tables.

    >>> from sklearn.datasets import load_iris
    >>> from suffice import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare(X, y, models=["gda", "logistic"], folds=3, curves=False)
    >>> html = page(found, target="species", pictures=False)
    >>> html[:15], "<script" in html, "Use GDA (shared covariance)" in html
    ('<!DOCTYPE html>', False, True)
    """
    album = Album(pictures)
    called = title or (f"Which model for {target}?" if target else "Which model?")
    columns = glance(comparison.rows)
    found = informative_columns(comparison.rows)
    model = comparison.recommendation.model
    said = worries(comparison, columns, found)
    sections = [("data", "The data", glance_section(comparison.rows, columns, target))]
    sections.append(("models", "The models", models_section(comparison)))
    sections.append(("comparison", "The comparison", comparison.table.to_html()))
    curves = _curves(comparison, album)
    if curves:
        sections.append(("curves", "More rows", curves))
    planes = grid(boundary_pictures(comparison, found, album))
    if planes:
        sections.append(("boundaries", "Boundaries", planes))
    sections.append(("calibration", "Probabilities and mistakes", _answers(comparison, album)))
    if found is not None:
        words = (
            "<p>What each column tells about the class by itself, in bits: the mean of "
            f"log₂ p(class | column) / p(class), on rows that were held out. A column that gave "
            f"the class away would tell {found.whole:.2f} bits; what two columns tell may be the "
            "same.</p>"
        )
        shown = words + informative_table(found) + grid(column_pictures(found, album))
        sections.append(("columns", "Informative columns", shown))
    rows = grid(explained_rows(comparison, model, album))
    if rows:
        intro = f"<p>What speaks for the answers of {name(model)}, column by column.</p>"
        sections.append(("rows", "Two rows explained", intro + rows))
    sections.append(("assumptions", "Assumptions", _assumptions(comparison)))
    sections.append(("worries", "What to worry about", _care(said)))
    body = "".join(
        f'<section id="{key}"><h2>{head}</h2>{html}</section>' for key, head, html in sections
    )
    links = "".join(f'<a href="#{key}">{head}</a>' for key, head, _ in sections)
    hint = f'<p class="care">{text(HINT)}</p>' if pictures and not album.installed else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{text(called)}</title><style>{_style(album)}</style></head><body>"
        f"<header><h1>{name(called, 200)}</h1>{_origin(comparison, source)}</header>"
        f"{_advice(comparison)}{hint}<nav>{links}</nav>{body}"
        f"<footer>Made by suffice {text(__version__)}. This file needs no network.</footer>"
        "</body></html>\n"
    )


def _style(album: Album) -> str:
    sheet = files("suffice.report").joinpath("page.css").read_text("utf-8")
    dark = dark_greys(album.greys)
    return f"{sheet}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _origin(comparison: Comparison, source: str) -> str:
    rows = comparison.rows
    of = f"{name(source, 100)}: " if source else ""
    return f'<p class="soft">{of}{len(rows):,} rows, {len(rows.classes)} classes</p>'


def _advice(comparison: Comparison) -> str:
    """Return the recommendation in words, and its main figures."""
    said = comparison.recommendation
    # Where curves cross is told beside their picture.
    told = {*map(str, comparison.crossings), NO_LAW}
    reasons = listing([text(sentence) for sentence in said.reasons if sentence not in told])
    return (
        f'<div class="advice"><p>{text(said.advice)}</p>{reasons}</div>{_main_figures(comparison)}'
    )


def _main_figures(comparison: Comparison) -> str:
    scores = comparison.scores[comparison.recommendation.model]
    counts = comparison.rows.counts
    common = name(comparison.rows.classes[int(counts.argmax())], 24)
    figures = [
        (f"{100.0 * scores.accuracy.mean():.1f} %", "of held-out rows right"),
        (f"{100.0 * counts.max() / counts.sum():.1f} %", f"by always saying {common}"),
    ]
    if scores.log_loss is not None:
        shares = counts[counts > 0.0] / counts.sum()
        blind = float(-(shares * np.log(shares)).sum())
        figures.append(
            (f"{scores.log_loss.mean():.3f}", f"log-loss; {blind:.3f} for a blind guess")
        )
    if scores.calibration is not None:
        figures.append((f"{scores.calibration:.3f}", "by which probabilities are off"))
    cells = "".join(f"<div><b>{figure}</b><span>{words}</span></div>" for figure, words in figures)
    return f'<div class="figures-row">{cells}</div>'


def _curves(comparison: Comparison, album: Album) -> str:
    said = listing([text(one) for one in comparison.crossings])
    pictures = grid(curve_pictures(comparison, album))
    if not said and not pictures:
        return ""
    law = f"<p>{NO_LAW}</p>" if said else ""
    return f"<p>What more rows would be worth, and to which school.</p>{pictures}{said}{law}"


def _answers(comparison: Comparison, album: Album) -> str:
    model = comparison.recommendation.model
    scores = comparison.scores[model]
    counts = confusion_counts(comparison, model)
    off = ""
    if scores.calibration is not None and scores.calibration_error is not None:
        off = (
            f"<p>Its probabilities are off by {scores.calibration:.3f} "
            f"(± {scores.calibration_error:.3f}) on average.</p>"
        )
    return (
        f"<p>Held-out answers of {name(model)}: every row judged by a model that has not seen "
        f"it.</p>{confusion_table(counts, comparison.rows.classes.tolist())}"
        f"{off}{grid([reliability_picture(comparison, model, album)])}"
    )


def _assumptions(comparison: Comparison) -> str:
    said = listing([text(one) for one in comparison.recommendation.assumptions])
    return said + comparison.diagnostics.table.to_html()


def _care(said: list[str]) -> str:
    if not said:
        return (
            "<p>Nothing that these figures show. Whether the rows are like those to come, and "
            "whether every column is known in time, they cannot show.</p>"
        )
    return f'<div class="care">{listing(said)}</div>'
