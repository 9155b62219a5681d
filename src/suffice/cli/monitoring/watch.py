"""`suffice watch`: whether a model still fits what comes in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from suffice.cli.terminal.options import (
    json_option,
    model_argument,
    reading_options,
    tables_argument,
)

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.monitoring.watch_result import Watch
    from suffice.tables.table_reading import TableReading

MOVED = 3
"""The exit code where something has moved: 1 is a refusal, 2 wrong usage."""


@click.command()
@model_argument()
@tables_argument()
@click.option(
    "--stream", is_flag=True,
    help="Base the verdict on e-values alone, for rows in their order, so that it can be checked "
    "at any time. For models that keep rows.",
)  # fmt: skip
@json_option("everything")
@reading_options
@click.pass_context
def watch(
    context: click.Context,
    model: Path,
    tables: tuple[str, ...],
    stream: bool,
    as_json: bool,
    reading: TableReading,
) -> None:
    """Check whether MODEL still fits the rows of TABLE, which may be another model file.

    From the statistics in the model file: which columns have drifted (means, spread, levels,
    blanks), by how many standard errors, corrected for the number of columns; class shares; rows
    that look like none of the classes. Files with kept rows (--calibration-rows, pools) also give
    the accuracy to expect without labels, and alarms for streams. Where TABLE has the target, the
    real accuracy is compared. Exit code 0: no drift detected; 3: drift found.

    Example: suffice watch flowers.suffice new.csv
    """
    from suffice.cli.terminal.messages import note, say
    from suffice.cli.terminal.printed_rows import print_json
    from suffice.monitoring.new_rows import names_model, rows_of_tables
    from suffice.monitoring.watch import watch as watched
    from suffice.training.saved_models import load_saved

    saved = load_saved(model)
    if len(tables) == 1 and names_model(tables[0]):
        found = watched(saved.model, tables[0])
    else:
        table, labels = rows_of_tables(saved.model, tables, reading, note)
        found = watched(saved.model, table, labels, stream=stream)
    if as_json:
        print_json(_content(found))
    else:
        say(str(found))
    if not found.ok:
        context.exit(MOVED)


def _content(found: Watch) -> dict[str, object]:
    """Return everything as plain values."""
    from suffice.cli.terminal.printed_rows import plain

    names = ("column", "what", "old", "new", "z", "p_value", "adjusted")
    priors = found.priors
    return {
        "rows": found.rows,
        "ok": found.ok,
        "verdict": found.verdict,
        "columns": [dict(zip(names, map(plain, test), strict=True)) for test in found.tests],
        "priors": None
        if priors is None
        else {
            str(label): {
                "estimate": p,
                "low": priors.intervals[label][0],
                "high": priors.intervals[label][1],
            }
            for label, p in priors.priors.items()
        },
        "strange": found.strange,
        "expected_accuracy": None if found.expected is None else found.expected._asdict(),
        "accuracy": None if found.observed is None else found.observed._asdict(),
        "e_value": found.e_value,
        "notes": list(found.notes),
    }
