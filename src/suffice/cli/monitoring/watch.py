"""`suffice watch`: whether a model still fits what comes in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
MOST_ROWS = 1_000_000
"""Rows of a table that are looked at: of more, the first."""


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
    from suffice.cli.terminal.outputs import is_model
    from suffice.cli.terminal.printed_rows import print_json
    from suffice.monitoring.watch import watch as watched
    from suffice.training.saved_models import load_saved

    saved = load_saved(model)
    if len(tables) == 1 and _is_model_file(tables[0], is_model):
        found = watched(saved.estimator, load_saved(_path(tables[0])).estimator)
    else:
        table, labels = _read(saved, tables, reading, note)
        found = watched(saved.estimator, table, labels, stream=stream)
    if as_json:
        print_json(_content(found))
    else:
        say(str(found))
    if not found.ok:
        context.exit(MOVED)


def _path(given: str) -> Path:
    from pathlib import Path

    return Path(given)


def _is_model_file(given: str, is_model: Any) -> bool:
    place = _path(given)
    return place.is_file() and bool(is_model(place))


def _read(saved: Any, tables: tuple[str, ...], reading: TableReading, note: Any) -> Any:
    """Return rows as the model knows them, and their labels where all rows have one."""
    import numpy as np

    from suffice.rows.tables import table_of_columns
    from suffice.training.model_rows import ModelRows
    from suffice.training.target_labels import label_text

    rows = ModelRows.open(tables, saved.columns, saved.notes, reading, note)
    target = saved.notes.target if saved.notes.target in rows.table.names else None
    chunks, labels, size = [], [], 0
    for chunk, beside in rows.chunks((target,) if target else ()):
        chunks.append(chunk)
        size += chunk.size
        if target:
            labels += [label_text(cell) for cell in beside[0][1]]
        if size >= MOST_ROWS:
            note(f"the first {size:,} rows are used")
            break
    if not size:
        from suffice.errors import BadRows

        raise BadRows(f"{rows.table.name} has no rows", hint="there is nothing to check")
    first = chunks[0]
    columns = [
        (first.kinds[j], np.concatenate([chunk.exact(j) for chunk in chunks]))
        for j in range(first.width)
    ]
    table = first if len(chunks) == 1 else table_of_columns(columns, first.names, None)
    known = bool(labels) and all(label is not None for label in labels)
    return table, (labels if known else None)


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
