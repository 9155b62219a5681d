"""`suffice audit`: labels that are probably wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from suffice.cli.terminal.options import (
    columns_options,
    force_option,
    json_option,
    reading_options,
    tables_argument,
    target_option,
)

if TYPE_CHECKING:
    from suffice.monitoring.audit import Audit
    from suffice.tables.table_reading import TableReading
    from suffice.training.training_rows import TrainingRows


@click.command()
@tables_argument()
@target_option("The column of labels.", required=True)
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; repeatable.")
@click.option(
    "--split", metavar="COLUMN",
    help="The column that says which part a row is in (train, test): nearly identical rows in "
    "different parts are found.",
)  # fmt: skip
@click.option(
    "--most", type=click.IntRange(min=0), metavar="N", help="List at most N suspicious rows."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
    help="Write the suspicious rows as CSV, with all their cells and labels: `suffice forget` "
    "removes "
    "them from a model, and `suffice learn` adds them again once they are corrected.",
)  # fmt: skip
@force_option()
@json_option("everything")
@reading_options
@columns_options
def audit(
    tables: tuple[str, ...],
    target: str,
    drop: tuple[str, ...],
    split: str | None,
    most: int | None,
    output: Path | None,
    force: bool,
    as_json: bool,
    reading: TableReading,
) -> None:
    """Find labels of TABLE that are probably wrong, and other problems with the table.

    Every row is judged by models that have not seen it. It prints the most suspicious rows
    (the first below the header is 1), their label, what they probably are, and the odds that the
    label is wrong; how many labels are wrong, with an interval; equal rows with different labels,
    columns that give the label away, and rows that look like none of the classes.

    Example: suffice audit flowers.csv --target species
    """
    from suffice.cli.terminal.messages import note, say
    from suffice.cli.terminal.outputs import check_output
    from suffice.cli.terminal.printed_rows import print_json
    from suffice.cli.terminal.training_hooks import CommandHooks
    from suffice.monitoring.audit import audit as audited
    from suffice.sources.arrow_frames import frame_of
    from suffice.training.training_rows import TrainingRows

    if output is not None:
        check_output(output, tables, ours=lambda _: False, what="a table", force=force)
    hooks = CommandHooks()
    rows = TrainingRows.read(list(tables), target, reading, drop, hooks, seed=0)
    table, parts = rows.table, None
    if split is not None:
        names = list(rows.names)
        if split not in names:
            raise click.UsageError(f"--split: {rows.place} has no column {split!r} to learn from")
        place = names.index(split)
        parts = [str(cell) for cell in table.column(place).tolist()]
        table = table.take([j for j in range(table.width) if j != place])
    with hooks.progress(f"auditing {rows.place}"):
        found = audited(frame_of(table), rows.labels, split=parts, most=most)
    if rows.unlabelled:
        note("row numbers count only rows with a label")
    if output is not None:
        _write(output, found, rows)
        note(f"{output}: {len(found.table.rows)} suspects")
    if as_json:
        print_json(_content(found))
        return
    say(_shown(found))


def _shown(found: Audit) -> str:
    """Return the findings, with rows counted from 1 as files have them."""
    from dataclasses import replace

    table = replace(found.table, rows=tuple((row[0] + 1, *row[1:]) for row in found.table.rows))  # type: ignore[operator]
    return str(replace(found, table=table))


def _content(found: Audit) -> dict[str, object]:
    """Return everything as plain values; rows count from 1."""
    from suffice.cli.terminal.printed_rows import plain

    names = ("row", "label", "likely", "odds", "reasons")
    return {
        "rows": len(found.odds),
        "wrong_labels": found.wrong_labels._asdict(),
        "identified": found.identified,
        "suspects": [
            dict(zip(names, (row[0] + 1, *map(plain, row[1:])), strict=True))  # type: ignore[operator]
            for row in found.table.rows
        ],
        "conflicts": [
            {"rows": [i + 1 for i in each.rows], "labels": [plain(v) for v in each.labels]}
            for each in found.conflicts
        ],
        "near_duplicates": [
            {"row": pair.row + 1, "other": pair.other + 1, "equal": pair.equal}
            for pair in found.near_duplicates
        ],
        "leaks": [leak._asdict() for leak in found.leaks],
        "strangers": [i + 1 for i in found.strangers],
        "judges": found.judges,
        "notes": list(found.notes),
    }


def _write(output: Path, found: Audit, rows: TrainingRows) -> None:
    """Write suspects with all the cells that their table has, whole or not at all."""
    import csv
    import io

    from suffice.cli.terminal.printed_rows import cell_text
    from suffice.storage.atomic_writes import whole_file

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    table, labels = rows.as_given()
    names = [*(table.names or ()), str(rows.target)]
    taken = set(names)
    more = [_free(name, taken) for name in ("row", "likely", "odds", "reasons")]
    writer.writerow([cell_text(name) for name in (*names, *more)])
    for place, _, likely, odds, reasons in found.table.rows:
        row = cast("int", place)  # cells of a table of results are any objects
        cells = [table.exact(j)[row] for j in range(table.width)]
        told = (*cells, labels[row], row + 1, likely, odds, reasons)
        writer.writerow([cell_text(cell) for cell in told])
    with whole_file(output) as file:
        file.write(text.getvalue().encode("utf-8"))


def _free(name: str, taken: set[str]) -> str:
    """Return a name that no column has."""
    while name in taken:
        name += "_"
    return name
