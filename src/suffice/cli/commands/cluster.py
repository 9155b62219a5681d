"""`suffice cluster`: classes that nobody has named, found in a table."""

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
    wait_option,
)
from suffice.models.gaussian.forms import LETTERS, SPOKEN

if TYPE_CHECKING:
    from suffice.estimators.setting_types import Criterion
    from suffice.tables.table_reading import TableReading

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # before 8.4 it takes no parameters


class ClusterNumber(ParamType):
    """How many clusters: `3`, `2-6`, or `auto`."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> object:
        """Return a number, several, or "auto"."""
        if value == "auto" or not isinstance(value, str):
            return value
        first, dash, last = value.partition("-")
        try:
            low = int(first)
            high = int(last) if dash else low
        except ValueError:
            self.fail(
                f"{value!r:.40} must be a number such as 3, a range such as 2-6, or auto",
                param,
                ctx,
            )
        if low < 1:
            self.fail(f"{value!r:.40}: the number of clusters must be at least 1", param, ctx)
        if high < low:
            self.fail(
                f"{value!r:.40}: the range must go from the smaller to the larger number",
                param,
                ctx,
            )
        return range(low, high + 1) if dash else low


@click.command()
@tables_argument()
@click.option(
    "--components", "-k", type=ClusterNumber(), default="auto", show_default=True, metavar="K",
    help="How many clusters: a number, several to choose from (2-6), or auto: 1 to 9.",
)  # fmt: skip
@click.option(
    "--model", type=click.Choice(["auto", "gaussian", "latent-classes"]), default="auto",
    show_default=True,
    help="gaussian: normal clusters of the numbers; latent-classes: columns of any kind, "
    "independent within a cluster; auto: latent-classes if some columns are not numeric.",
)  # fmt: skip
@click.option(
    "--covariance", metavar="FORM", type=click.Choice(("auto", *LETTERS, *SPOKEN.values())),
    default="auto", show_default=True,
    help=f"The form of clusters: one of mclust's, {LETTERS[0]} … {LETTERS[-1]}, its name here "
    f"({', '.join(SPOKEN.values())}), or auto: the best of all.",
)  # fmt: skip
@click.option(
    "--factors", metavar="N", type=NumberOr("auto", whole=True),
    help="Explain the covariances of normal clusters by N common factors, for many columns; auto "
    "chooses how many.  [default: none]",
)  # fmt: skip
@click.option(
    "--criterion", type=click.Choice(["bic", "icl"]), default="bic", show_default=True,
    help="The criterion for choosing number and form; icl prefers clusters that do not overlap.",
)  # fmt: skip
@output_option("Where to write the model; - is standard output.  [default: clusters.suffice]")
@force_option()
@wait_option()
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; repeatable.")
@seed_option("where the search begins, and which rows are sampled from a large table")
@json_option("the full result")
@reading_options
@columns_options
def cluster(
    tables: tuple[str, ...],
    components: object,
    model: str,
    covariance: str,
    factors: int | str | None,
    criterion: Criterion,
    output: Path | None,
    force: bool,
    wait: float,
    drop: tuple[str, ...],
    seed: int,
    as_json: bool,
    reading: TableReading,
) -> None:
    """Find clusters in TABLE, and write them to a model file.

    Where all columns are numbers, a mixture of normal clusters: how many there are, and of which
    form, is chosen by BIC. Where some are text or yes/no, latent classes: columns of any kind,
    independent within a cluster; a form (--covariance) or --model gaussian leaves these columns
    out. It prints how certain the assignments are, how large each cluster is, and what sets it
    apart. Clusters are numbered from 0, the largest first; blank cells are fine. A column that
    is different in nearly every row is left out, and a note names it. `suffice predict` gives
    rows their cluster.

    TABLE is what `suffice fit` takes; from a table larger than memory a random sample is taken.

    Example: suffice cluster flowers.csv -k 3 -o clusters.suffice
    """
    from suffice.cli.rows.model_files import check_model_place, save
    from suffice.cli.terminal.messages import announce, say
    from suffice.cli.terminal.outputs import changing, is_printed
    from suffice.cli.terminal.printed_rows import print_json
    from suffice.cli.terminal.training_hooks import CommandHooks
    from suffice.training.clusters.clustering import cluster_rows

    place = output or Path("clusters.suffice")
    check_model_place(place, tables, force=force, as_json=as_json)
    found = cluster_rows(
        list(tables), CommandHooks(), reading=reading, components=components,
        model=model, covariance=covariance, factors=factors, criterion=criterion, drop=drop,
        seed=seed,
    )  # fmt: skip
    with changing(place, wait):
        save(place, found.saved)
    if as_json:
        print_json({"model": str(place), **found.summary()})
    elif not is_printed(place):
        say(str(found))
    announce(f"{place}: {found.saved.name} of {found.rows.table.size:,} rows")
