"""`suffice fit`: a model of a table, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.terminal.options import (
    NumberOr,
    columns_options,
    force_option,
    json_option,
    output_option,
    reading_options,
    seed_option,
    tables_argument,
    target_option,
    time_limit_option,
    wait_option,
)
from suffice.models.gaussian.forms import LETTERS
from suffice.printing.model_names import usual_name
from suffice.training.model_choice import AUTO, BEST, CHOICES, MODELS, ONE_PASS, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from suffice.tables.table_reading import TableReading

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # before 8.4 it takes no parameters

FORMS = ("shared", "per-class", "diagonal", "shared-diagonal", "spherical", "auto")
"""What `--covariance` may be, besides three letters."""


class ModelName(click.Choice[str]):
    """The name of a model, by any of its usual names."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name that stands in files."""
        return super().convert(usual_name(str(value)), param, ctx)


class Priors(ParamType):
    """Probabilities of classes: `spam=.2,ham=.8`."""

    name = "class=p,…"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> object:
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
    "--model", "name", type=ModelName(MODELS), default="auto", show_default=True,
    help="gda (or lda): normal classes with one covariance. qda: normal classes, each with its own "
    "covariance. naive-bayes (or nb): columns of any kind, independent within a class. logistic "
    "(or logreg): logistic regression. mixture-discriminant (or mda): each class a mixture of "
    "normal components. text: "
    "text columns are documents, classified by their words and bytes. best: the single model "
    "with the lowest log-loss on held-out rows, among all that `suffice compare` tries. auto: what "
    "`suffice compare` recommends: for up to 2,048 rows a pool of models, unless the best single "
    "one is clearly better.",
)  # fmt: skip
@output_option("Where to write the model; - is standard output.  [default: model.suffice]")
@force_option()
@wait_option()
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; repeatable.")
@click.option(
    "--without-statistics", is_flag=True,
    help="Write a smaller file that can predict, but not learn, forget or merge.",
)  # fmt: skip
@click.option(
    "--covariance", metavar="FORM", type=click.Choice((*FORMS, *LETTERS)),
    help=f"gda, mixture-discriminant: the form of the covariance: {', '.join(FORMS)}, or one of "
    f"mclust's forms, {LETTERS[0]} … {LETTERS[-1]}.  [default: shared; of mixture-discriminant, "
    "auto]",
)  # fmt: skip
@click.option(
    "--components", metavar="N", type=NumberOr("auto", whole=True),
    help="mixture-discriminant: how many components each class has; auto tries 1 to 5.  "
    "[default: auto]",
)  # fmt: skip
@click.option(
    "--criterion", type=click.Choice(["bic", "left-out"]),
    help="mixture-discriminant: what --components auto chooses by: bic, or the log-loss of rows "
    "left out by five folds.  [default: bic]",
)  # fmt: skip
@click.option(
    "--shared", is_flag=True, flag_value=True, default=None,
    help="mixture-discriminant: one form for the components of all classes together.",
)  # fmt: skip
@click.option(
    "--pool", metavar="P", type=float,
    help="qda: 0 … 1, how far each class's covariance is moved towards the shared one.  "
    "[default: 0]",
)  # fmt: skip
@click.option(
    "--shrink", metavar="P", type=float,
    help="gda, qda: 0 … 1, how far correlations are shrunk towards zero.  [default: 0]",
)  # fmt: skip
@click.option(
    "--factors", metavar="N", type=NumberOr("auto", whole=True),
    help="gda, qda, mixture-discriminant: explain the covariances by N common factors, for many "
    "columns and few rows; "
    "auto chooses how many.  [default: none]",
)  # fmt: skip
@click.option(
    "--divisor", type=click.Choice(["mle", "unbiased"]),
    help="gda, qda: divide variances by the number of rows (mle), or by one less per class "
    "(unbiased).  [default: mle]",
)  # fmt: skip
@click.option(
    "--families", metavar="FAMILY",
    help="naive-bayes: the distribution of the columns: one for all (gaussian, poisson, …), auto "
    "(by column type), or select (by fit to the rows).  [default: auto]",
)  # fmt: skip
@click.option(
    "--smoothing", metavar="N", type=NumberOr("held-out"),
    help="naive-bayes, text: additive smoothing: how many rows are added to each category, or "
    "occurrences to each term; held-out chooses it from the data.  [default: 1; of text, held-out]",
)  # fmt: skip
@click.option(
    "--temperature", metavar="P", type=NumberOr("held-out"),
    help="naive-bayes: 0 … 1, how strongly the evidence of the columns counts, less than 1 where "
    "they repeat each other; held-out chooses it.  [default: 1]",
)  # fmt: skip
@click.option(
    "--penalty", metavar="N", type=NumberOr("auto", "average"),
    help="logistic: strength of the penalty on large coefficients; auto chooses it, average "
    "averages over many.  [default: 0]",
)  # fmt: skip
@click.option(
    "--l1-ratio", metavar="N", type=float,
    help="logistic: 0 … 1, the share of the L1 penalty, which makes coefficients zero.  "
    "[default: 0]",
)  # fmt: skip
@click.option(
    "--correction", type=click.Choice(["firth"]),
    help="logistic: Firth's correction: finite coefficients even if the classes can be separated "
    "without error.",
)  # fmt: skip
@click.option(
    "--priors",
    type=Priors(),
    help="Class probabilities to use instead of the shares in TABLE: spam=.2,ham=.8.",
)
@click.option(
    "--calibration-rows", metavar="N", type=click.IntRange(1, 2048),
    help="gda, qda, naive-bayes: keep up to N rows in the file, which predict --coverage "
    "needs.  [default: none]",
)  # fmt: skip
@click.option(
    "--unlabelled", metavar="HOW",
    help="gda, qda, naive-bayes, text: learn from rows without a label by EM: 0 … 1 is the weight "
    "of each, auto lets the labelled rows choose it; the name of a table adds its rows, as auto.  "
    "[default: ignore]",
)  # fmt: skip
@click.option(
    "--checkpoint", type=click.Path(path_type=Path), metavar="FILE",
    help="gda, qda, naive-bayes: save progress to FILE every ten seconds. If the run is "
    "interrupted, "
    "the same command continues from there and ends with the same model. FILE is "
    "kept.",
)  # fmt: skip
@time_limit_option()
@seed_option("how rows are split into folds to compare and to judge models")
@json_option("a summary")
@reading_options
@columns_options
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
    time_limit: float,
    seed: int,
    as_json: bool,
    reading: TableReading,
    **settings: object,
) -> None:
    """Learn a model from TABLE and write it to a file.

    TABLE is CSV (.gz too), Parquet, Arrow, JSON, .xlsx, or - for standard input; several files of
    the same columns, a quoted pattern ('part-*.parquet'), or a folder of Parquet files; or a table
    of a database: duckdb://file.db?table=t, postgresql://user@host/base?table=t (or ?query=SELECT
    …, to the end). It may be larger than memory.

    Text and blank cells are handled: no preparation is needed. Notes on standard error tell how
    they were handled, how the model was chosen, and how well it does on rows it has not seen.

    Example: suffice fit flowers.csv --target species -o flowers.suffice
    """
    from suffice.cli.rows.model_files import check_model_place, save
    from suffice.cli.terminal.messages import announce
    from suffice.cli.terminal.outputs import changing
    from suffice.cli.terminal.printed_rows import print_json
    from suffice.cli.terminal.training_hooks import CommandHooks
    from suffice.training.training import NO_POOL, train_rows

    given = {key: value for key, value in settings.items() if value is not None}
    _check_settings(name, given)
    place = output or Path("model.suffice")
    inputs = (*tables, str(given["unlabelled"])) if "unlabelled" in given else tables
    check_model_place(place, inputs, force=force, as_json=as_json)
    if checkpoint is not None:
        _check_checkpoint(checkpoint, name, place, inputs)
    hooks = CommandHooks()
    if name == AUTO and without_statistics:
        hooks.note(NO_POOL.format("a file without statistics keeps no rows"))
        name = BEST
    found = train_rows(
        list(tables), None, target, name, given, hooks,
        drop=drop, reading=reading, seed=seed, checkpoint=checkpoint, time_limit=time_limit,
    )  # fmt: skip
    with changing(place, wait):
        stored = save(place, found.saved, statistics=not without_statistics)
    summary = found.summary(stored)
    if as_json:
        print_json({"model": str(place), **summary})
    announce(f"{place}: {found.described(summary['rows'])}")
    if found.judged is not None:
        announce(str(found.judged))


def _check_settings(name: str, given: dict[str, object]) -> None:
    """Refuse options that the model does not take."""
    strange = _options(key for key in given if key not in SETTINGS.get(name, ()))
    if strange and name in CHOICES:
        raise click.UsageError(f"{strange} needs --model: {name} chooses them itself")
    if strange:
        takes = _options(SETTINGS[name])
        raise click.UsageError(f"{strange} does not apply to --model {name}, which takes {takes}")


def _options(settings: Iterable[str]) -> str:
    """Return settings as the options that they are on the command line."""
    return ", ".join(f"--{key.replace('_', '-')}" for key in settings)


def _check_checkpoint(checkpoint: Path, name: str, place: Path, tables: tuple[str, ...]) -> None:
    """Refuse a checkpoint that could not be kept, before any row is read."""
    from suffice.cli.terminal.outputs import check_output, refuse_printing

    refuse_printing(checkpoint, "a checkpoint")
    if name not in ONE_PASS:
        why = (
            "which may choose logistic"
            if name in CHOICES
            else "whose rows are read once for every step"
        )
        raise click.UsageError(
            f"--checkpoint works for models that read the rows once, not for --model {name}, "
            f"{why}: "
            f"name {', '.join(ONE_PASS)}"
        )
    if checkpoint.absolute() == place.absolute():
        raise click.UsageError(f"--checkpoint and --output are the same file: {place}")
    # What is there and is no checkpoint is refused where it is read.
    check_output(checkpoint, tables, ours=lambda _: True, what="a checkpoint")
