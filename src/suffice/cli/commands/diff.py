"""`suffice diff`: what has moved between two models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from suffice.cli.terminal.options import json_option, model_argument

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.monitoring.watch_result import Watch
    from suffice.storage.model_file import StoredModel


@click.command()
@model_argument("old")
@model_argument("new")
@json_option("it")
def diff(old: Path, new: Path, as_json: bool) -> None:
    """Print what has changed from one model to another.

    Settings, classes and columns that only OLD or NEW has; then means, probabilities or
    coefficients with how many standard errors they have changed by, the largest first. At the end,
    columns that have drifted over all classes together (means, levels, blanks, and spread where
    the files keep bins), with p-values corrected for the number of columns.

    Example: suffice diff north.suffice south.suffice
    """
    from suffice.cli.terminal.messages import say
    from suffice.cli.terminal.printed_rows import plain, print_json
    from suffice.storage.model_diff import differences
    from suffice.training.opened_files import open_model

    first, second = open_model(old)[0], open_model(new)[0]
    found = differences(first, second)
    moved = _columns((old, first), (new, second))
    if as_json:
        tests = () if moved is None else moved.tests
        named = [{key: plain(cell) for key, cell in test._asdict().items()} for test in tests]
        print_json({**found.to_dict(), "columns_over_all_classes": named})
        return
    say(str(found))
    if moved is not None and moved.tests:
        count = len(moved.tests)
        if moved.moved:
            say(f"\ncolumns that moved, all classes together (corrected for {count} tests):")
            say(str(moved.moved_table))
        else:
            say(f"no column has moved, all classes together (corrected for {count} tests)")
        for told in moved.notes:
            say(told)


def _columns(*files: tuple[Path, StoredModel]) -> Watch | None:
    """Return which columns have moved; None for models that keep nothing of their columns."""
    from suffice.errors import BadSetting
    from suffice.learning.stored import LEARNERS, learned_of
    from suffice.monitoring.watch import between_models

    if not all(stored.estimator in LEARNERS for _, stored in files):
        return None
    one, two = (learned_of(path, stored) for path, stored in files)
    try:
        return between_models(one, two)
    except BadSetting:
        return None
