"""`suffice fit`: a model of a table, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.choosing import MODELS
from suffice.cli.options import (
    Reading,
    json_option,
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
    help="gda: classes are normal and vary alike. qda: each varies in its own way. naive-bayes: "
    "columns of any kind that say different things. logistic: only how likely each class is. text: "
    "columns of text are documents, told apart by their words and bytes. auto: what is least wrong "
    "about rows held out, among all that `suffice compare` tries.",
)  # fmt: skip
@output_option("Where to write the model.  [default: model.suffice]")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; repeatable.")
@click.option(
    "--without-statistics", is_flag=True,
    help="Write a smaller file that answers, but cannot learn, forget or merge.",
)  # fmt: skip
@click.option(
    "--covariance", metavar="FORM", type=click.Choice(FORMS),
    help=f"gda: how columns vary together: {', '.join(FORMS)}.  [default: shared]",
)  # fmt: skip
@click.option(
    "--pool", metavar="P", type=float,
    help="qda: 0 … 1, how far each class's covariance moves to the shared one.  [default: 0]",
)  # fmt: skip
@click.option(
    "--shrink", metavar="P", type=float,
    help="gda, qda: 0 … 1, how far correlations move to zero.  [default: 0]",
)  # fmt: skip
@click.option(
    "--divisor", type=click.Choice(["mle", "unbiased"]),
    help="gda, qda: variances divided by the rows, or by one less for each class.  [default: mle]",
)  # fmt: skip
@click.option(
    "--families", metavar="FAMILY",
    help="naive-bayes: the law of the columns: one for all (gaussian, poisson, …), auto by their "
    "kind, or select by the rows.  [default: auto]",
)  # fmt: skip
@click.option(
    "--smoothing", metavar="N", type=Smoothing(),
    help="naive-bayes, text: rows added to each category, or times each term is added to a class; "
    "held-out finds it out.  [default: 1; of text, held-out]",
)  # fmt: skip
@click.option(
    "--temperature", metavar="P", type=Smoothing(),
    help="naive-bayes: 0 … 1, how much columns count that say the same, or held-out.  [default: 1]",
)  # fmt: skip
@click.option(
    "--penalty", metavar="N", type=float,
    help="logistic: what large coefficients cost.  [default: 0]",
)  # fmt: skip
@click.option(
    "--correction", type=click.Choice(["firth"]),
    help="logistic: finite coefficients where the classes can be told apart without error.",
)  # fmt: skip
@click.option(
    "--priors", type=Priors(), help="Shares of the classes, if not those of TABLE: spam=.2,ham=.8."
)
@seed_option("how --model auto parts the rows")
@json_option("a summary")
@reading_options
def fit(
    table: str,
    target: str,
    name: str,
    output: Path | None,
    drop: tuple[str, ...],
    without_statistics: bool,
    seed: int,
    as_json: bool,
    reading: Reading,
    **settings: Any,
) -> None:
    """Learn a model from TABLE and write it to a file.

    TABLE is CSV (.gz too), Parquet, Arrow, JSON lines, or - for standard input. Words and blank
    cells may stay: nothing has to be prepared. What was done about them, and how the model was
    chosen, is said on standard error.

    Example: suffice fit flowers.csv --target species -o flowers.suffice
    """
    from suffice.cli.model_files import save
    from suffice.cli.printed_rows import print_json
    from suffice.cli.training_rows import TrainingRows, describe

    if name == "auto":
        _refuse_settings(settings)
    place = output or Path("model.suffice")
    rows = TrainingRows.read(table, target, reading, drop, texts=name == "text")
    saved, losses = _fitted(rows, target, name, settings, seed)
    save(place, saved, statistics=not without_statistics)
    if as_json:
        print_json(_summary(place, saved, rows, losses))
    classes = saved.estimator.classes_
    click.echo(
        f"{place}: {type(saved.estimator).__name__} of {describe(rows)}; "
        f"{len(classes)} classes of {target}",
        err=True,
    )


def _summary(
    place: Path, saved: Saved, rows: TrainingRows, losses: dict[str, float]
) -> dict[str, Any]:
    """Return what was learned, and why so, as plain values."""
    from suffice.cli.printed_rows import plain
    from suffice.files.accounts import told
    from suffice.files.stored_models import read_model

    account = told(read_model(place)).to_dict()
    return {
        "model": str(place),
        "estimator": account["estimator"],
        "target": saved.notes.target,
        "rows": int(account["rows"] or rows.table.size),
        "columns": len(rows.table.kinds),
        "dropped": list(saved.notes.dropped),
        "classes": [plain(label) for label in saved.estimator.classes_],
        "settings": account["settings"],
        "log_loss": losses,
    }


def _refuse_settings(settings: dict[str, Any]) -> None:
    given = [f"--{name}" for name, value in settings.items() if value is not None]
    if given:
        raise click.UsageError(f"{', '.join(given)} needs --model: auto chooses by itself")


def _fitted(
    rows: TrainingRows, target: str, name: str, settings: dict[str, Any], seed: int
) -> tuple[Saved, dict[str, float]]:
    """Return the model of labelled rows, and the log-losses by which it was chosen."""
    from suffice.cli.choosing import best_model, check_width, named_model
    from suffice.cli.decimals import counted, decimals_of
    from suffice.cli.frames import frame_of
    from suffice.cli.learning_more import learn_all
    from suffice.cli.model_files import Saved
    from suffice.cli.remarks import note
    from suffice.cli.target_labels import check_classes
    from suffice.cli.training_rows import refuse_many_rows
    from suffice.estimators.filled_columns import FilledColumns
    from suffice.estimators.linear_classifier import LinearClassifier
    from suffice.estimators.table_notes import TableNotes

    if settings.get("priors"):
        settings["priors"] = _of_labels(settings["priors"], rows.labels)
    losses: dict[str, float] = {}
    if name == "auto":
        model, losses = best_model(rows.table, rows.labels, seed)
    else:
        model = named_model(name, settings)
    full = settings.get("covariance") in (None, "shared", "per-class", "auto")
    if name in ("gda", "qda") and full:
        check_width(rows.table, name)
    X = frame_of(rows.table)
    decimals = decimals_of(rows.table)
    if not isinstance(model, LinearClassifier):
        # A table sorted by class may begin with one alone: that is said, or refused, at the end.
        learn = model.fit if len(set(rows.labels.tolist())) > 1 else model.partial_fit
        learn(X, rows.labels)
        learn_all(model, counted(rows.more, decimals))
        if len(model.classes_) == 1:
            check_classes(model.classes_, rows.place, target)  # which refuses it
        return Saved(model, TableNotes(target, None, rows.dropped), decimals), losses
    if next(rows.more, None) is not None:
        raise refuse_many_rows(rows.place, "logistic")
    filled = FilledColumns.of(X)
    if filled.note:
        note(filled.note)
    model.fit(filled.transform(X), rows.labels)  # type: ignore[attr-defined]
    return Saved(model, TableNotes(target, filled, rows.dropped), decimals), losses


def _of_labels(priors: dict[str, float], labels: Any) -> dict[Any, float]:
    """Return priors by label: what was typed is text, labels may be numbers."""
    known = {str(label): label for label in dict.fromkeys(labels.tolist())}
    return {known.get(name, name): value for name, value in priors.items()}
