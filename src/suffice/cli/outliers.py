"""`suffice outliers`: rows that are typical of no class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from suffice.cli.options import (
    Reading,
    json_option,
    model_argument,
    reading_options,
    tables_argument,
)

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@model_argument()
@tables_argument()
@click.option(
    "--below", type=click.FloatRange(0, 1), default=0.01, show_default=True, metavar="P",
    help="Print rows whose typicality is below this.",
)  # fmt: skip
@click.option("--most", type=click.IntRange(min=1), metavar="N", help="Print N rows at most.")
@click.option("--all", "every", is_flag=True, help="Print every row, in the order of TABLE.")
@click.option("--keep", multiple=True, metavar="COLUMN", help="Copy a column too; repeatable.")
@json_option("a line for each row")
@reading_options
def outliers(
    model: Path,
    tables: tuple[str, ...],
    below: float,
    most: int | None,
    every: bool,
    keep: tuple[str, ...],
    as_json: bool,
    reading: Reading,
) -> None:
    """Print the rows of TABLE that are typical of no class.

    The typicality of a row is how often a row of a class lies as far out, between 0 and 1. Printed
    are the number of the row (the first below the header is 1), the class of MODEL that it is most
    typical of, and how typical it is; the least typical first. Among rows like those of the fit,
    one in a hundred has a typicality below 0.01 for its own class.

    Example: suffice outliers flowers.suffice new.csv --keep petal_length
    """
    import numpy as np

    from suffice.cli.densities import most_typical, with_density
    from suffice.cli.model_rows import ModelRows
    from suffice.cli.outputs import check_printed
    from suffice.cli.printed_rows import PrintedRows
    from suffice.cli.remarks import Progress, note

    if every and most is not None:
        raise click.UsageError("--all and --most: one of them")
    check_printed(tables)
    saved = with_density(model)
    rows = ModelRows.open(tables, saved.columns, saved.notes, reading, others=keep)
    printed = PrintedRows(("row", "class", "typicality", *keep), as_json=as_json, digits=6)
    classes = saved.estimator.classes_
    strange: list[tuple[Any, ...]] = []
    size = found = 0
    with Progress(f"reading {rows.table.name}") as progress:
        for chunk, beside in rows.chunks(keep):
            best, largest = most_typical(saved.estimator, chunk)
            few = np.flatnonzero(largest < below)
            answers = (
                (size + i + 1, classes[best[i]], largest[i], *(cells[i] for _, cells in beside))
                for i in (range(chunk.size) if every else few)
            )
            if every:
                printed.write(answers)
            else:
                strange = _least_typical([*strange, *answers], most)
            found += len(few)
            size += chunk.size
            progress.more(chunk.size)
    printed.write(strange)
    note(f"{found} of {size} rows have a typicality below {below:g}")


def _least_typical(rows: list[tuple[Any, ...]], most: int | None) -> list[tuple[Any, ...]]:
    """Return rows by their typicality, the smallest first; no more than are asked for."""
    return sorted(rows, key=lambda row: (row[2], row[0]))[:most]
