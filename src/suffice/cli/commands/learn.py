"""`suffice learn`: more rows for a model."""

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
def learn(
    model: Path,
    tables: tuple[str, ...],
    target: str | None,
    output: Path | None,
    force: bool,
    wait: float,
    as_json: bool,
    reading: TableReading,
) -> None:
    """Add the rows of TABLE to MODEL.

    The result is the same as if they had been part of the fit. New classes and categories are
    added. Logistic regression takes one gradient step per row instead. The file is replaced
    when all rows are learned, and stays unchanged if anything is refused; commands that change
    the same file wait for each other. TABLE is what `suffice fit` takes: files, a pattern, a
    folder, or a table of a database.

    Example: suffice learn flowers.suffice more.csv
    """
    from suffice.cli.rows.model_files import check_model_place, save
    from suffice.cli.terminal.messages import announce
    from suffice.cli.terminal.outputs import changing
    from suffice.cli.terminal.printed_rows import plain, print_json
    from suffice.cli.terminal.training_hooks import CommandHooks
    from suffice.errors import listed
    from suffice.training.more_rows import learn_more
    from suffice.training.saved_models import load_saved

    place = output or model
    check_model_place(place, tables, model, force=force, as_json=as_json)
    with changing(place, wait) as check:
        saved = load_saved(model)
        found = learn_more(saved, tables, target, reading, CommandHooks())
        save(place, saved, check=check)
    if as_json:
        print_json(
            {
                "model": str(place),
                "learned": found.rows,
                "new_classes": [plain(label) for label in found.classes],
                "new_categories": found.levels,
            }
        )
    new = [*found.classes, *found.levels]
    told = f"; new: {listed(new)}" if new else ""
    announce(f"{place}: learned {found.rows:,} rows{told}")
