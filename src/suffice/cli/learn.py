"""`suffice learn`: more rows for a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from suffice.cli.options import (
    Reading,
    model_argument,
    output_option,
    reading_options,
    table_argument,
    target_option,
)

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@model_argument()
@table_argument()
@target_option("The column of labels.  [default: that of the fit]")
@output_option("Where to write the model.  [default: MODEL itself]")
@reading_options
def learn(
    model: Path, table: str, target: str | None, output: Path | None, reading: Reading
) -> None:
    """Let MODEL learn from the rows of TABLE as well.

    The same as if they had been there at the fit: sums add up. A new class or a new category is
    simply a new one. Logistic regression takes one step for each row instead. The file is replaced
    when all is learned, and left as it was if anything is refused.

    Example: suffice learn flowers.suffice more.csv
    """
    from suffice.cli.learning_more import labelled_chunks, learn_all, refuse_nothing
    from suffice.cli.model_files import load_saved, save

    saved = load_saved(model)
    before = set(saved.estimator.classes_.tolist())
    size = learn_all(saved.estimator, labelled_chunks(saved, table, target, reading))
    refuse_nothing(size, table)
    save(output or model, saved)
    new = [label for label in saved.estimator.classes_.tolist() if label not in before]
    told = f"; new: {', '.join(map(str, new))}" if new else ""
    click.echo(f"{output or model}: learned {size} rows{told}", err=True)
