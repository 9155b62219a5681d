"""`suffice inspect`: what a model file holds, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from suffice.cli.terminal.options import json_option, model_argument

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@model_argument()
@json_option("it")
def inspect(model: Path, as_json: bool) -> None:
    """Describe MODEL in words.

    Classes and columns, assumptions, settings, how many rows it was trained on, and whether it
    can learn more. Mail filters are described as well.

    Example: suffice inspect flowers.suffice
    """
    from suffice.cli.terminal.messages import say
    from suffice.cli.terminal.printed_rows import print_json
    from suffice.errors import listed
    from suffice.mail.filter.database import is_database
    from suffice.storage.describe import describe, shown
    from suffice.training.opened_files import open_model

    if is_database(model):
        from suffice.cli.mail.merge_and_inspect import print_filter

        print_filter(model, as_json=as_json)
        return
    stored, notes = open_model(model)
    account = describe(stored)
    if as_json:
        filled = () if notes.filled is None else notes.filled.names
        more = {
            "target": notes.target,
            "filled": list(filled),
            "dropped": list(notes.dropped),
            "formats": {name: found.words for name, found in notes.spellings.items()},
        }
        print_json({**account.to_dict(), **more})
        return
    say(str(account))
    if notes.target is not None:
        say(f"It predicts {shown(notes.target)} from the other columns of a table.")
    if notes.spellings:
        say("Formats of columns")
        for name, found in notes.spellings.items():
            say(f"  {shown(name)}: {shown(found.words)}")
    if notes.filled is not None and notes.filled.names:
        say(f"Blank cells of {listed(notes.filled.names)} are filled with their means.")
    if notes.dropped:
        say(f"Left out: {listed(map(shown, notes.dropped))}.")
