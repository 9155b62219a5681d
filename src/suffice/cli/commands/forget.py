"""`suffice forget`: rows taken back out of a model."""

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
    from collections.abc import Sequence
    from pathlib import Path

    from suffice.cli.rows.model_files import Saved
    from suffice.errors import SufficeError


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
    """Take the rows of TABLE back out of MODEL.

    Afterwards it is as if it had never seen them. They must have been learned before: what cannot
    have been is refused, and the file is left as it was. Logistic regression cannot forget. TABLE
    is what `suffice fit` takes: files, a pattern, a folder, or a table of a database.

    Example: suffice forget flowers.suffice withdrawn.csv
    """
    from suffice.cli.rows.learn_rows import labelled_chunks, refuse_nothing
    from suffice.cli.rows.model_files import check_model_place, save
    from suffice.cli.terminal.messages import announce
    from suffice.cli.terminal.outputs import changing
    from suffice.cli.terminal.printed_rows import plain, print_json
    from suffice.errors import ForgettingUnseen, listed
    from suffice.sources.arrow_frames import frame_of

    place = output or model
    check_model_place(place, tables, model, force=force, as_json=as_json)
    with changing(place, wait) as check:
        saved = _load(model)
        before = saved.estimator.classes_.tolist()
        size = 0
        for rows, labels in labelled_chunks(saved, tables, target, reading):
            try:
                saved.estimator.forget(frame_of(rows), labels)
            except ForgettingUnseen as error:
                raise _unseen(error, model, tables) from None
            size += len(labels)
        refuse_nothing(size, tables)
        if not saved.estimator.__sklearn_is_fitted__():
            raise ForgettingUnseen(
                f"these are all rows that {model} has learned: nothing would be left",
                hint="delete the file instead; it is as it was",
            )
        save(place, saved, check=check)
    left = set(saved.estimator.classes_.tolist())
    gone = [label for label in before if label not in left]
    if as_json:
        print_json(
            {
                "model": str(place),
                "forgot": size,
                "classes_gone": [plain(label) for label in gone],
            }
        )
    told = f"; no rows are left of {listed(gone)}" if gone else ""
    announce(f"{place}: forgot {size:,} rows{told}")


def _load(model: Path) -> Saved:
    """Return a model that can forget, or refuse it."""
    from suffice.cli.rows.model_files import load_saved
    from suffice.errors import BadSetting

    saved = load_saved(model)
    if not hasattr(saved.estimator, "forget"):
        raise BadSetting(
            f"{model} is a {type(saved.estimator).__name__}, which cannot forget: its coefficients "
            "are no sums",
            hint="fit again without the rows; gda, qda and naive-bayes can forget",
        )
    return saved


def _unseen(error: SufficeError, model: Path, tables: Sequence[str]) -> SufficeError:
    """Return the refusal of rows that are not in a model, in words of the command."""
    from suffice.errors import ForgettingUnseen, listed

    return ForgettingUnseen(
        f"{model} cannot forget the rows of {listed(tables)}: {error.problem}",
        hint="it has not learned all of them, or has forgotten them before; it is as it was. "
        f"suffice inspect {model} tells how many rows of each class it holds",
    )
