"""`suffice outliers`: rows that are typical of no class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from suffice.cli.options import (
    Reading,
    json_option,
    model_argument,
    reading_options,
    table_argument,
)

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@model_argument()
@table_argument()
@click.option(
    "--below", type=click.FloatRange(0, 1), default=0.01, show_default=True,
    help="Print rows whose typicality is below this.",
)  # fmt: skip
@click.option("--all", "every", is_flag=True, help="Print every row.")
@click.option("--keep", multiple=True, metavar="COLUMN", help="Copy a column too; repeatable.")
@json_option("a line for each row")
@reading_options
def outliers(
    model: Path,
    table: str,
    below: float,
    every: bool,
    keep: tuple[str, ...],
    as_json: bool,
    reading: Reading,
) -> None:
    """Print the rows of TABLE that are typical of none of MODEL's classes.

    The typicality of a row is its p-value under a class: how often a row of that class lies as
    far out. Printed are the number of the row (the first below the header is 1), the class it is
    most typical of, and how typical it is. Among rows like those of the fit, one in a hundred has a
    typicality below 0.01 for its own class.

    Example: suffice outliers flowers.suffice new.csv --below 0.001
    """
    from suffice.cli.densities import with_density
    from suffice.cli.frames import frame_of
    from suffice.cli.model_rows import ModelRows
    from suffice.cli.printed_rows import PrintedRows
    from suffice.cli.remarks import Progress, note

    saved = with_density(model)
    rows = ModelRows.open(table, saved.columns, saved.notes, reading, others=keep)
    printed = PrintedRows(("row", "class", "typicality", *keep), as_json=as_json)
    classes = saved.estimator.classes_
    size = found = 0
    with Progress(f"reading {rows.table.name}", rows.table.share) as progress:
        for chunk, beside in rows.chunks(keep):
            typical = saved.estimator.typicality(frame_of(chunk))
            best = typical.argmax(axis=1)
            most = typical.max(axis=1)
            for i in range(chunk.size):
                if every or most[i] < below:
                    kept = [cells[i] for _, cells in beside]
                    printed.write([(size + i + 1, classes[best[i]], most[i], *kept)])
            found += int((most < below).sum())
            size += chunk.size
            progress.more(chunk.size)
    note(f"{found} of {size} rows have a typicality below {below:g}")
