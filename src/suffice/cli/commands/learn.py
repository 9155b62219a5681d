"""`suffice learn`: more rows for a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from suffice.cli.terminal.options import (
    TableReading,
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

    from suffice.cli.rows.model_files import Saved


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
    """Let MODEL learn from the rows of TABLE as well.

    The same as if they had been there at the fit. A new class or a new category is simply a new
    one. Logistic regression takes one step for each row instead. The file is replaced
    when all is learned, and left as it was if anything is refused; commands that change the same
    file do so one after the other. TABLE is what `suffice fit` takes: files, a pattern, a folder,
    or a table of a database.

    Example: suffice learn flowers.suffice more.csv
    """
    from suffice.cli.rows.decimals import counted
    from suffice.cli.rows.learn_rows import labelled_chunks, learn_all, refuse_nothing
    from suffice.cli.rows.model_files import check_model_place, load_saved, save
    from suffice.cli.terminal.messages import announce, note
    from suffice.cli.terminal.outputs import changing
    from suffice.cli.terminal.printed_rows import plain, print_json
    from suffice.errors import listed
    from suffice.rows.labels import similar_labels

    place = output or model
    check_model_place(place, tables, model, force=force, as_json=as_json)
    with changing(place, wait) as check:
        saved = load_saved(model)
        before = set(saved.estimator.classes_.tolist())
        levels = _levels(saved)
        chunks = labelled_chunks(saved, tables, target, reading)
        size = learn_all(saved.estimator, counted(chunks, saved.decimals))
        refuse_nothing(size, tables)
        save(place, saved, check=check)
    new = [label for label in saved.estimator.classes_.tolist() if label not in before]
    wider = [level for level in _levels(saved) if level not in levels]
    if as_json:
        print_json(
            {
                "model": str(place),
                "learned": size,
                "new_classes": [plain(label) for label in new],
                "new_categories": wider,
            }
        )
    for said in similar_labels(saved.estimator.classes_.tolist()) if new else ():
        note(said)
    told = f"; new: {listed([*new, *wider])}" if new or wider else ""
    announce(f"{place}: learned {size:,} rows{told}")


def _levels(saved: Saved) -> list[str]:
    """Return the categories that a model knows, each with its column."""
    return [
        f"{column.name}={'blank' if level is None else level}"
        for column in saved.columns.columns
        for level in getattr(column, "levels", ())
    ]
