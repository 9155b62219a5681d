"""`suffice forget`: rows taken back out of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from suffice.cli.terminal.options import (
    force_option,
    json_option,
    model_argument,
    output_option,
    reading_options,
    tables_argument,
    target_option,
    wait_option,
)

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.tables.table_reading import TableReading


@click.command()
@model_argument()
@tables_argument()
@target_option("The column of labels.  [default: that of the fit]")
@output_option("Where to write the model; - is standard output.  [default: MODEL itself]")
@force_option()
@wait_option()
@json_option("a summary")
@reading_options
def forget(
    model: Path,
    tables: tuple[str, ...],
    target: str | None,
    output: Path | None,
    force: bool,
    wait: float,
    as_json: bool,
    reading: TableReading,
) -> None:
    """Remove the rows of TABLE from MODEL, as if it had never seen them.

    They must have been learned before: rows that cannot have been are
    refused, and the file stays unchanged. Logistic regression cannot forget. TABLE is what
    `suffice fit` takes: files, a pattern, a folder, or a table of a database.

    Example: suffice forget flowers.suffice withdrawn.csv
    """
    from suffice.cli.rows.model_files import check_model_place, save
    from suffice.cli.terminal.messages import announce
    from suffice.cli.terminal.outputs import changing
    from suffice.cli.terminal.printed_rows import plain, print_json
    from suffice.cli.terminal.training_hooks import CommandHooks
    from suffice.errors import listed
    from suffice.training.more_rows import forget_rows
    from suffice.training.saved_models import load_saved

    place = output or model
    check_model_place(place, tables, model, force=force, as_json=as_json)
    with changing(place, wait) as check:
        saved = load_saved(model)
        found = forget_rows(saved, model, tables, target, reading, CommandHooks())
        save(place, saved, check=check)
    if as_json:
        print_json(
            {
                "model": str(place),
                "forgot": found.rows,
                "classes_gone": [plain(label) for label in found.classes],
            }
        )
    told = f"; no rows remain of {listed(found.classes)}" if found.classes else ""
    announce(f"{place}: forgot {found.rows:,} rows{told}")
