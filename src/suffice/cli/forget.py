"""`suffice forget`: rows taken back out of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from suffice.cli.options import (
    Reading,
    json_option,
    model_argument,
    output_option,
    reading_options,
    tables_argument,
    target_option,
)

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@model_argument()
@tables_argument()
@target_option("The column of labels.  [default: that of the fit]")
@output_option("Where to write the model.  [default: MODEL itself]")
@json_option("a summary")
@reading_options
def forget(
    model: Path,
    tables: tuple[str, ...],
    target: str | None,
    output: Path | None,
    as_json: bool,
    reading: Reading,
) -> None:
    """Take the rows of TABLE back out of MODEL.

    Afterwards it is as if it had never seen them. They must have been learned before: what cannot
    have been is refused, and the file is left as it was. Logistic regression cannot forget. TABLE
    is what `suffice fit` takes: files, a pattern, a folder, or a table of a database.

    Example: suffice forget flowers.suffice withdrawn.csv
    """
    from suffice.cli.learning_more import labelled_chunks, refuse_nothing
    from suffice.cli.model_files import load_saved, save
    from suffice.cli.printed_rows import plain, print_json
    from suffice.errors import BadSetting, ForgettingUnseen, listed
    from suffice.sources.table_frames import frame_of

    saved = load_saved(model)
    name = type(saved.estimator).__name__
    if not hasattr(saved.estimator, "forget"):
        raise BadSetting(
            f"{model} is a {name}, which cannot forget: its coefficients are no sums",
            hint="fit again without the rows; gda, qda and naive-bayes can forget",
        )
    before = saved.estimator.classes_.tolist()
    size = 0
    for rows, labels in labelled_chunks(saved, tables, target, reading):
        saved.estimator.forget(frame_of(rows), labels)
        size += len(labels)
    refuse_nothing(size, tables)
    if not saved.estimator.__sklearn_is_fitted__():
        raise ForgettingUnseen(
            f"these are all rows that {model} has learned: nothing would be left",
            hint="delete the file instead; it is as it was",
        )
    save(output or model, saved)
    left = set(saved.estimator.classes_.tolist())
    gone = [label for label in before if label not in left]
    if as_json:
        print_json(
            {
                "model": str(output or model),
                "forgot": size,
                "classes_gone": [plain(label) for label in gone],
            }
        )
    told = f"; no rows are left of {listed(gone)}" if gone else ""
    click.echo(f"{output or model}: forgot {size:,} rows{told}", err=True)
