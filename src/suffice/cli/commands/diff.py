"""`suffice diff`: what has moved between two models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from suffice.cli.terminal.options import json_option, model_argument

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@model_argument("old")
@model_argument("new")
@json_option("it")
def diff(old: Path, new: Path, as_json: bool) -> None:
    """Print what has changed from one model to another.

    Settings, classes and columns that only OLD or NEW has; then means, probabilities or
    coefficients with how many standard errors they have changed by, the largest first.

    Example: suffice diff north.suffice south.suffice
    """
    from suffice.cli.terminal.messages import say
    from suffice.cli.terminal.printed_rows import print_json
    from suffice.storage.model_diff import differences
    from suffice.training.opened_files import open_model

    found = differences(open_model(old)[0], open_model(new)[0])
    if as_json:
        print_json(found.to_dict())
        return
    say(str(found))
