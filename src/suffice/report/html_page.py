"""The page: what to use at the top, then what it rests on; and the file it is written to."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from suffice import __version__
from suffice.evaluation import Quality, compare
from suffice.printing.terminal_words import cut, printable
from suffice.report.associations import blanks_section, correlations_section
from suffice.report.contents import Contents
from suffice.report.data_summary import glance_section
from suffice.report.explained_rows import explained_rows
from suffice.report.figures import HINT, Album, dark_greys, grid
from suffice.report.guarantees.audited_labels import audit_section
from suffice.report.guarantees.held_out_sets import sets_section
from suffice.report.informative_columns import informative_table
from suffice.report.living import living_parts
from suffice.report.markup import listing, name, quoted, table, text
from suffice.report.pictures import (
    column_pictures,
    curve_pictures,
    reliability_picture,
)
from suffice.report.planes import boundary_pictures
from suffice.report.ranking import areas_table, mean_area, ranking_pictures
from suffice.report.tables import confusion_counts, confusion_table, results_table
from suffice.storage.atomic_writes import check_place, whole_file

if TYPE_CHECKING:
    from suffice.evaluation import Candidate, Comparison
    from suffice.report.informative_columns import Informative


# Nothing is loaded and nothing of the data runs, whatever they hold: escaping is the first wall,
# this is the second. The one script of a living page is named by its hash.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
"""What a browser may load for the page: nothing from anywhere. It is one file, with its pictures
inside."""
BESIDE = 5
"""Classes up to which the table of mistakes has room beside a picture."""

CROSSING_CAVEAT = "Crossing points hold for this data only."
"""The reservation that goes with every crossing of learning curves."""


def page(
    comparison: Comparison,
    *,
    title: str | None = None,
    target: str = "",
    source: str = "",
    pictures: bool = True,
    living: bool = True,
) -> str:
    """Return a comparison as one HTML page that needs nothing else.

    `target` is what the labels are called, `source` where the rows come from. Without
    `pictures`, or without matplotlib, the page holds its text and tables. A `living` page has a
    script: tables are sorted, pictures tell values, threshold and columns are chosen; without
    JavaScript it looks as one that is not living, which has no script.

    >>> from sklearn.datasets import load_iris
    >>> from suffice import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare(X, y, models=["gda", "logistic"], folds=3, curves=False)
    >>> html = page(found, target="species", pictures=False, living=False)
    >>> html[:15], "<script" in html, "Use GDA (shared covariance)" in html
    ('<!DOCTYPE html>', False, True)
    """
    return rendered(
        Contents.of(comparison, curve=pictures),
        title=title, target=target, source=source, pictures=pictures, living=living,
    )  # fmt: skip


def rendered(
    contents: Contents,
    *,
    title: str | None = None,
    target: str = "",
    source: str = "",
    pictures: bool = True,
    living: bool = True,
) -> str:
    """Return the page of contents that were looked up before."""
    album = Album(pictures, contents.spellings)
    called = title or (f"Which model for {target}?" if target else "Which model?")
    sections = _sections(contents, target, album)
    body = "".join(
        f'<section id="{key}"><h2>{head}</h2>{html}</section>' for key, head, html in sections
    )
    links = "".join(f'<a href="#{key}">{head}</a>' for key, head, _ in sections)
    hint = f'<p class="care">{text(HINT)}</p>' if pictures and not album.installed else ""
    alive = living_parts(contents.comparison, contents.informative, album) if living else None
    main = f'{_advice(contents)}{hint}<nav aria-label="Parts of this page">{links}</nav>{body}'
    return document(called, _origin(contents.comparison, source), main, album, alive)


def document(
    called: str,
    origin: str,
    main: str,
    album: Album,
    alive: tuple[str, str, str] | None = None,
) -> str:
    """Return a whole page: a heading, where rows come from, what there is to say.

    `alive` is what a script may load, its style, and the script.
    """
    allowed, sheet, script = alive or ("", "", "")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}{allowed}">'
        f"<title>{text(cut(printable(called), 200))}</title>"
        f"<style>{_style(album)}{sheet}</style></head><body><header>"
        f"<h1>{name(called, 200)}</h1>{origin}</header>"
        f"<main>{main}</main>"
        f"{script}<footer>Made by suffice {text(__version__)}. This file needs no network.</footer>"
        "</body></html>\n"
    )


def _called(comparison: Comparison, model: str) -> str:
    """Return a model's name within a sentence: of a pool with its article."""
    return "the " * comparison.candidate(model).is_pool + name(model)


def _sections(contents: Contents, target: str, album: Album) -> list[tuple[str, str, str]]:
    """Return the parts of the page that have something to say: key, heading, HTML."""
    comparison, found = contents.comparison, contents.informative
    model = comparison.recommendation.model
    rows = grid(explained_rows(comparison, model, album))
    if rows:
        whose = _called(comparison, model)
        rows = f"<p>What each column contributes to the predictions of {whose}.</p>{rows}"
    every = [
        ("data", "The data", _data(contents, target)),
        ("models", "The models", models_section(comparison)),
        ("comparison", "The comparison", results_table(comparison.table, model)),
        ("curves", "Learning curves", _curves(contents, album)),
        ("boundaries", "Boundaries", grid(boundary_pictures(comparison, found, album))),
        ("calibration", "Probabilities and mistakes", _answers(comparison, album)),
        ("sets", "Prediction sets", sets_section(contents.sets)),
        ("labels", "Labels", audit_section(contents.audit)),
        ("columns", "Informative columns", "" if found is None else _columns(found, album)),
        ("rows", "Two rows explained", rows),
        ("assumptions", "Assumptions", _assumptions(contents)),
        ("worries", "Warnings", _care(contents.worries)),
    ]
    return [part for part in every if part[2]]


def _style(album: Album) -> str:
    sheet = files("suffice.report").joinpath("page.css").read_text("utf-8")
    dark = dark_greys(album.greys)
    return f"{sheet}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _origin(comparison: Comparison, source: str) -> str:
    rows = comparison.rows
    of = f"{name(source, 100)}: " if source else ""
    return f'<p class="soft">{of}{len(rows):,} rows, {len(rows.classes)} classes</p>'


def _advice(contents: Contents) -> str:
    """Return the recommendation in words, how much there is to worry about, and main figures."""
    comparison = contents.comparison
    said = comparison.recommendation
    count = len(contents.worries)
    care = ""
    if count:
        care = f'<p><a href="#worries">{count} warning{"s" * (count > 1)}</a></p>'
    # Where curves cross is told beside their picture.
    told = {*map(str, comparison.crossings), CROSSING_CAVEAT}
    reasons = listing([text(sentence) for sentence in said.reasons if sentence not in told])
    return (
        f'<div class="advice"><p>{text(said.advice)}</p>{reasons}{care}</div>'
        f"{_main_figures(comparison)}"
    )


def _main_figures(comparison: Comparison) -> str:
    scores = comparison.scores[comparison.recommendation.model]
    judged = Quality.of_scores(scores, comparison.rows)
    common = quoted(judged.commonest, 24)
    figures = [
        (f"{100.0 * judged.accuracy:.1f} %", "right on rows it has not seen"),
        (f"{100.0 * judged.baseline_accuracy:.1f} %", f"by always saying {common}"),
    ]
    if judged.log_loss is not None:
        shares = f"{judged.baseline_log_loss:.3f} if only the class shares were known"
        figures.append((_small(judged.log_loss), f"log-loss; {shares}"))
    if scores.calibration is not None:
        figures.append((_small(scores.calibration), "average calibration error"))
    area = mean_area(comparison, comparison.recommendation.model)
    if area is not None:
        several = ", mean over classes" if len(comparison.rows.classes) > 2 else ""
        figures.append((f"{area:.3f}", f"area under the ROC curve (AUC){several}"))
    cells = "".join(f"<div><b>{figure}</b><span>{words}</span></div>" for figure, words in figures)
    return f'<div class="figures-row">{cells}</div>'


def _small(figure: float) -> str:
    return f"{figure:.3f}" if figure >= 0.0005 else "&lt; 0.001"


def _data(contents: Contents, target: str) -> str:
    rows = contents.comparison.rows
    found = glance_section(rows, contents.columns, target) + blanks_section(rows, contents.columns)
    if contents.correlations is not None:
        found += correlations_section(contents.correlations)
    return found


def _curves(contents: Contents, album: Album) -> str:
    comparison = contents.comparison
    said = listing([text(one) for one in comparison.crossings])
    pictures = grid(curve_pictures(comparison, contents.own_curve, album))
    curves = comparison.curves
    if curves is None or (not said and not pictures):
        return ""
    model = comparison.recommendation.model
    known = model in curves.names or contents.own_curve is not None
    absent = "" if known else f" {name(model)} has no curve here."
    law = f"<p>{CROSSING_CAVEAT}</p>" if said else ""
    return f"<p>How the models improve with more rows.{absent}</p>{pictures}{said}{law}"


def _answers(comparison: Comparison, album: Album) -> str:
    model = comparison.recommendation.model
    scores = comparison.scores[model]
    classes = comparison.rows.classes.tolist()
    mistakes = confusion_table(confusion_counts(comparison, model), classes)
    off = ""
    if scores.calibration is not None and scores.calibration_error is not None:
        off = (
            f"<p>Average calibration error: {scores.calibration:.3f} "
            f"(± {scores.calibration_error:.3f}).</p>"
        )
    picture = reliability_picture(comparison, model, album)
    words = (
        f"<p>Held-out predictions of {_called(comparison, model)}: every row is predicted by a "
        "model that has not seen it.</p>"
    )
    ranks = ranking_pictures(comparison, model, album)
    below = areas_table(comparison, model)
    if picture.startswith("<figure") and len(classes) <= BESIDE:
        beside = f'<div class="pictures"><div>{mistakes}{off}</div>{picture}</div>'
        return words + beside + grid(ranks) + below
    return words + mistakes + off + grid([picture, *ranks]) + below


def _columns(found: Informative, album: Album) -> str:
    return (
        "<p>The information each column alone gives about the class, in bits: the mean of "
        "log₂ p(class&nbsp;|&nbsp;column) / p(class), on held-out rows. A column that determines "
        f"the class would give {found.whole:.2f} bits; the information of two columns may "
        f"overlap.</p>{informative_table(found)}{grid(column_pictures(found, album))}"
    )


def _assumptions(contents: Contents) -> str:
    comparison = contents.comparison
    said = listing([text(one) for one in comparison.recommendation.assumptions])
    if contents.columns and not any("number" in one.kind for one in contents.columns):
        return said + "<p>There are no numeric columns, so normality does not apply.</p>"
    return said + results_table(comparison.diagnostics.table)


def _care(said: tuple[str, ...]) -> str:
    if not said:
        return (
            "<p>No warnings. These figures cannot show whether future rows will be like these, "
            "or whether every column is known in time.</p>"
        )
    return f'<div class="care">{listing(said)}</div>'


WORDS = {
    "naive-bayes-shared": (
        "Columns are independent within a class; numbers are normal, with the same spread in every "
        "class. Its boundaries are flat where all columns are numbers."
    ),
    "naive-bayes": (
        "Columns are independent within a class, each with its own distribution and spread. "
        "Blank cells are skipped."
    ),
    "gda": (
        "Rows of a class are normal around its mean, with one covariance for all classes (LDA). "
        "Boundaries are flat. Blank cells are integrated out."
    ),
    "qda": (
        "Rows of a class are normal, each class with its own covariance (QDA). Boundaries are "
        "curved. Many parameters: it needs many rows."
    ),
    "gda-auto": (
        "Between one covariance and one for each class: how much is shared and how far "
        "correlations shrink is chosen by leave-one-out."
    ),
    "logistic": (
        "The odds of the classes are linear in the columns; nothing is assumed about how rows of "
        "a class are distributed. With a tiny penalty."
    ),
    "logistic-penalty": (
        "The odds of the classes are linear in the columns, and large slopes cost a penalty: that "
        "keeps it steady where there are few rows or the classes are nearly separated."
    ),
    "pool": (
        "At least some of its members suit these rows: naive Bayes, GDA, logistic regression, "
        "kernels and a forest, weighted by how well they predict rows they have not "
        "seen."
    ),
}
"""What each of the usual candidates assumes."""


def models_section(comparison: Comparison) -> str:
    """Return a table of the candidates: school, and what is assumed."""
    rows = [
        (_named(one, comparison), "both" if one.is_pool else one.school or "–", _words(one))
        for one in comparison.candidates
    ]
    return (
        "<p>Generative models learn what the rows of each class look like, p(x&nbsp;|&nbsp;y), "
        "and apply Bayes’ rule; discriminative ones learn only p(y&nbsp;|&nbsp;x).</p>"
        + table(("model", "school", "what it assumes"), rows, kind="stacked")
    )


def _named(one: Candidate, comparison: Comparison) -> str:
    said = name(one.name)
    return f"<strong>{said}</strong>" if one.name == comparison.recommendation.model else said


def _words(one: Candidate) -> str:
    if one.key in WORDS:
        return text(WORDS[one.key])
    settings = " ".join(repr(one.estimator).split())
    return f"<code>{name(settings, 120)}</code>"


def write_report(
    path: str | Path,
    X: object,
    y: object,
    *,
    title: str | None = None,
    target: str = "",
    source: str = "",
    pictures: bool = True,
    living: bool = True,
    models: object = None,
    folds: int | None = None,
    random_state: int = 0,
    sample_weight: object = None,
) -> Comparison:
    """Compare the models on these rows, write the page about it, and return the comparison.

    `models`, `folds`, `random_state` and `sample_weight` are those of `suffice.compare`; the rest
    is as in `page`. The file is there whole or not at all.

    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> place = Path(tempfile.mkdtemp()) / "iris.html"
    >>> found = write_report(
    ...     place, *load_iris(return_X_y=True), models=["gda"], folds=3, pictures=False)
    >>> found.best, place.read_text("utf-8").startswith("<!DOCTYPE html>")
    ('GDA (shared covariance)', True)
    """
    check_place(path)
    found = compare(
        X, y, models=models, folds=folds, random_state=random_state, sample_weight=sample_weight
    )
    html = page(found, title=title, target=target, source=source, pictures=pictures, living=living)
    write_page(path, html)
    return found


def write_page(path: str | Path, html: str) -> None:
    """Write a page whole or not at all."""
    with whole_file(path, suffix=Path(path).suffix) as file:
        file.write(html.encode("utf-8"))
