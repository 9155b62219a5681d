"""`suffice fit`: a model of a table, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.commands.fit_choice import MODELS
from suffice.cli.terminal.options import (
    TableReading,
    force_option,
    json_option,
    output_option,
    reading_options,
    seed_option,
    tables_argument,
    target_option,
    wait_option,
)

if TYPE_CHECKING:
    from suffice.cli.rows.model_files import Saved
    from suffice.cli.rows.training_rows import TrainingRows
    from suffice.storage.model_file import StoredModel

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # before 8.4 it takes no parameters

ONE_PASS = ("gda", "qda", "naive-bayes", "text")
"""Models that look at every row once."""
FORMS = ("shared", "per-class", "diagonal", "shared-diagonal", "spherical", "auto")


class Smoothing(ParamType):
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


class Priors(ParamType):
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
@tables_argument()
@target_option("The column of labels.", required=True)
@click.option(
    "--model", "name", type=click.Choice(MODELS), default="auto", show_default=True,
    help="gda: classes are normal and vary alike. qda: each varies in its own way. naive-bayes: "
    "columns of any kind that say different things. logistic: only how likely each class is. text: "
    "columns of text are documents, told apart by their words and bytes. auto: what is least wrong "
    "about rows held out, among all that `suffice compare` tries.",
)  # fmt: skip
@output_option("Where to write the model; - is standard output.  [default: model.suffice]")
@force_option()
@wait_option()
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
    "--l1-ratio", metavar="N", type=float,
    help="logistic: 0 … 1, the share of the penalty that makes coefficients zero.  [default: 0]",
)  # fmt: skip
@click.option(
    "--correction", type=click.Choice(["firth"]),
    help="logistic: finite coefficients where the classes can be told apart without error.",
)  # fmt: skip
@click.option(
    "--priors", type=Priors(), help="Shares of the classes, if not those of TABLE: spam=.2,ham=.8."
)
@click.option(
    "--checkpoint", type=click.Path(path_type=Path), metavar="FILE",
    help="gda, qda, naive-bayes: write what was learned so far to FILE every ten seconds. If the "
    "run is killed, the same command goes on from there, and ends at the same model. FILE is not "
    "removed.",
)  # fmt: skip
@seed_option("how --model auto parts the rows")
@json_option("a summary")
@reading_options
def fit(
    tables: tuple[str, ...],
    target: str,
    name: str,
    output: Path | None,
    force: bool,
    wait: float,
    drop: tuple[str, ...],
    without_statistics: bool,
    checkpoint: Path | None,
    seed: int,
    as_json: bool,
    reading: TableReading,
    **settings: Any,
) -> None:
    """Learn a model from TABLE and write it to a file.

    TABLE is CSV (.gz too), Parquet, Arrow, JSON lines, or - for standard input; several files of
    the same columns, a quoted pattern ('part-*.parquet'), or a folder of Parquet files; or a table
    of a database: duckdb://file.db?table=t, postgresql://user@host/base?table=t (or ?query=SELECT
    …, to the end). It may be larger than memory.

    Words and blank cells may stay: nothing has to be prepared. What was done about them, and how
    the model was chosen, is said on standard error.

    Example: suffice fit flowers.csv --target species -o flowers.suffice
    """
    from suffice.cli.rows.model_files import check_model_place, save
    from suffice.cli.rows.training_rows import TrainingRows, describe
    from suffice.cli.terminal.messages import announce
    from suffice.cli.terminal.outputs import changing
    from suffice.cli.terminal.printed_rows import print_json

    if name == "auto":
        _refuse_settings(settings)
    place = output or Path("model.suffice")
    check_model_place(place, tables, force=force, as_json=as_json)
    if checkpoint is not None:
        _check_checkpoint(checkpoint, name, place, tables)
    rows = TrainingRows.read(
        tables, target, reading, drop,
        once=name in ONE_PASS, seed=None if name in ONE_PASS else seed, texts=name == "text",
    )  # fmt: skip
    saved, losses = _fitted(rows, name, settings, seed, checkpoint)
    with changing(place, wait):
        stored = save(place, saved, statistics=not without_statistics)
    summary = _summary(place, stored, saved, rows, losses)
    if as_json:
        print_json(summary)
    classes = saved.estimator.classes_
    announce(
        f"{place}: {type(saved.estimator).__name__} of {describe(rows, summary['rows'])}; "
        f"{len(classes)} classes of {target}"
    )


def _summary(
    place: Path,
    stored: StoredModel,
    saved: Saved,
    rows: TrainingRows,
    losses: dict[str, float],
) -> dict[str, Any]:
    """Return what was learned, and why so, as plain values."""
    from suffice.cli.terminal.printed_rows import plain
    from suffice.storage.describe import describe

    account = describe(stored).to_dict()
    return {
        "model": str(place),
        "estimator": account["estimator"],
        "target": saved.notes.target,
        "rows": int(account["rows"] or rows.size),
        "columns": len(rows.table.kinds),
        "dropped": list(saved.notes.dropped),
        "classes": [plain(label) for label in saved.estimator.classes_],
        "settings": account["settings"],
        "log_loss": losses or None,  # only where models were compared
    }


def _refuse_settings(settings: dict[str, Any]) -> None:
    from suffice.cli.commands.fit_choice import option_names

    given = [name for name, value in settings.items() if value is not None]
    if given:
        raise click.UsageError(f"{option_names(given)} needs --model: auto chooses by itself")


def _check_checkpoint(checkpoint: Path, name: str, place: Path, tables: tuple[str, ...]) -> None:
    """Refuse a checkpoint that could not be kept, before any row is read."""
    from suffice.cli.terminal.outputs import check_output, refuse_printing

    refuse_printing(checkpoint, "a checkpoint")
    if name not in ONE_PASS:
        why = (
            "which may choose logistic"
            if name == "auto"
            else "whose rows are read once for every step"
        )
        raise click.UsageError(
            f"--checkpoint is for rows that are read once, and not for --model {name}, {why}: "
            f"name {', '.join(ONE_PASS)}"
        )
    if checkpoint.absolute() == place.absolute():
        raise click.UsageError(f"--checkpoint and --output are the same file: {place}")
    # What is there and is no checkpoint is refused where it is read.
    check_output(checkpoint, tables, ours=lambda _: True, what="a checkpoint")


def _fitted(
    rows: TrainingRows,
    name: str,
    settings: dict[str, Any],
    seed: int,
    checkpoint: Path | None,
) -> tuple[Saved, dict[str, float]]:
    """Return the model of labelled rows, and the log-losses by which it was chosen."""
    from suffice.cli.commands.fit_choice import best_model, check_width, learn, named_model
    from suffice.cli.rows.decimals import decimals_of
    from suffice.cli.rows.model_files import Saved
    from suffice.cli.terminal.messages import note
    from suffice.columns.filled import FilledColumns
    from suffice.estimators.linear.linear_classifier import LinearClassifier
    from suffice.estimators.shared.table_recipe import TableNotes
    from suffice.sources.arrow_frames import frame_of

    if settings.get("priors"):
        settings["priors"] = _of_labels(settings["priors"], rows.labels)
    losses: dict[str, float] = {}
    if name == "auto":
        model, losses = best_model(rows, seed)
    else:
        model = named_model(name, settings)
    full = settings.get("covariance") in (None, "shared", "per-class", "auto")
    if name in ("gda", "qda") and full:
        check_width(rows.table, name)
    filled = None
    if isinstance(model, LinearClassifier):
        filled = FilledColumns.of(frame_of(rows.table))
        if filled.note:
            note(
                filled.note
                if rows.whole
                else f"{filled.note}; more may be blank beyond the rows that were looked at"
            )
    learn(model, rows, filled, checkpoint)
    notes = TableNotes(rows.target, filled, rows.dropped)
    return Saved(model, notes, decimals_of(rows.table)), losses


def _of_labels(priors: dict[str, float], labels: Any) -> dict[Any, float]:
    """Return priors by label: what was typed is text, labels may be numbers."""
    known = {str(label): label for label in dict.fromkeys(labels.tolist())}
    return {known.get(name, name): value for name, value in priors.items()}
