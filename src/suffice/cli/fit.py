"""`suffice fit`: a model of a table, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.choosing import MODELS
from suffice.cli.options import (
    Reading,
    output_option,
    reading_options,
    seed_option,
    table_argument,
    target_option,
)

if TYPE_CHECKING:
    from suffice.cli.model_files import Saved
    from suffice.cli.training_rows import TrainingRows

FORMS = ("shared", "per-class", "diagonal", "shared-diagonal", "spherical", "auto")


class Smoothing(click.ParamType[Any]):
    """A number, or a word that lets the data decide."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a number, or "held-out"."""
        if value == "held-out":
            return value
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor held-out", param, ctx)


class Priors(click.ParamType[Any]):
    """Probabilities of classes: `spam=.2,ham=.8`."""

    name = "class=p,…"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return probabilities by the name of the class."""
        if isinstance(value, dict):
            return value
        try:
            pairs = [part.rpartition("=") for part in str(value).split(",")]
            return {name.strip(): float(number) for name, _, number in pairs}
        except ValueError:
            self.fail(f"{value!r} is not of the form spam=.2,ham=.8", param, ctx)


@click.command()
@table_argument()
@target_option("The column of labels.", required=True)
@click.option(
    "--model", "name", type=click.Choice(MODELS), default="auto", show_default=True,
    help="gda: normal classes, one covariance. qda: one covariance each. naive-bayes: independent "
    "columns of any kind. logistic: p(y | x) alone. auto: the lowest cross-validated log-loss.",
)  # fmt: skip
@output_option("Where to write the model.  [default: model.suffice]")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; repeatable.")
@click.option(
    "--without-statistics", is_flag=True,
    help="Write a smaller file that answers, but cannot learn, forget or merge.",
)  # fmt: skip
@click.option("--covariance", type=click.Choice(FORMS), help="gda: the form of the covariance.")
@click.option("--pool", type=float, help="qda: 0 … 1, how much of the shared covariance enters.")
@click.option("--shrink", type=float, help="gda, qda: 0 … 1, correlations toward zero.")
@click.option("--divisor", type=click.Choice(["mle", "unbiased"]), help="gda, qda: of variances.")
@click.option("--families", metavar="FAMILY", help="naive-bayes: auto, select, or one for all.")
@click.option("--smoothing", type=Smoothing(), help="naive-bayes: α, or held-out.")
@click.option("--temperature", type=Smoothing(), help="naive-bayes: β, or held-out.")
@click.option("--penalty", type=float, help="logistic: the weight of the penalty.  [default: 0]")
@click.option("--correction", type=click.Choice(["firth"]), help="logistic: Firth's.")
@click.option("--priors", type=Priors(), help="Probabilities of the classes, as spam=.2,ham=.8.")
@seed_option("the folds behind --model auto")
@reading_options
def fit(
    table: str,
    target: str,
    name: str,
    output: Path | None,
    drop: tuple[str, ...],
    without_statistics: bool,
    seed: int,
    reading: Reading,
    **settings: Any,
) -> None:
    """Learn a model from TABLE and write it to a file.

    TABLE is CSV (.gz too), Parquet, Arrow, JSON lines, or - for standard input. Text is coded,
    blanks may stay: nothing has to be prepared.

    Example: suffice fit flowers.csv --target species -o flowers.suffice
    """
    from suffice.cli.model_files import save
    from suffice.cli.training_rows import TrainingRows, describe

    if name == "auto":
        _refuse_settings(settings)
    place = output or Path("model.suffice")
    rows = TrainingRows.read(table, target, reading, drop)
    saved = _fitted(rows, target, name, settings, seed)
    save(place, saved, statistics=not without_statistics)
    classes = saved.estimator.classes_
    click.echo(
        f"{place}: {type(saved.estimator).__name__} of {describe(rows)}; "
        f"{len(classes)} classes of {target}",
        err=True,
    )


def _refuse_settings(settings: dict[str, Any]) -> None:
    given = [f"--{name}" for name, value in settings.items() if value is not None]
    if given:
        raise click.UsageError(f"{', '.join(given)} needs --model: auto chooses by itself")


def _fitted(
    rows: TrainingRows, target: str, name: str, settings: dict[str, Any], seed: int
) -> Saved:
    """Return the model of labelled rows."""
    from suffice.cli.choosing import best_model, check_width, named_model
    from suffice.cli.frames import frame_of
    from suffice.cli.learning_more import learn_all
    from suffice.cli.model_files import Saved
    from suffice.cli.remarks import note
    from suffice.cli.table_notes import TableNotes
    from suffice.cli.training_rows import refuse_many_rows
    from suffice.estimators.filled_columns import FilledColumns
    from suffice.estimators.linear_classifier import LinearClassifier

    if settings.get("priors"):
        settings["priors"] = _of_labels(settings["priors"], rows.labels)
    if name == "auto":
        model = best_model(rows.table, rows.labels, seed)
    else:
        model = named_model(name, settings)
    full = settings.get("covariance") in (None, "shared", "per-class", "auto")
    if name in ("gda", "qda") and full:
        check_width(rows.table, name)
    X = frame_of(rows.table)
    if not isinstance(model, LinearClassifier):
        model.fit(X, rows.labels)
        learn_all(model, rows.more)
        return Saved(model, TableNotes(target, None, rows.dropped))
    if next(rows.more, None) is not None:
        raise refuse_many_rows(rows.place, "logistic")
    filled = FilledColumns.of(X)
    if filled.note:
        note(filled.note)
    model.fit(filled.transform(X), rows.labels)  # type: ignore[attr-defined]
    return Saved(model, TableNotes(target, filled, rows.dropped))


def _of_labels(priors: dict[str, float], labels: Any) -> dict[Any, float]:
    """Return priors by label: what was typed is text, labels may be numbers."""
    known = {str(label): label for label in dict.fromkeys(labels.tolist())}
    return {known.get(name, name): value for name, value in priors.items()}
