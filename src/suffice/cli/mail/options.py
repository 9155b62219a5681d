"""Arguments of the mail commands, and messages as they read them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from suffice.cli.terminal.options import Decorator

STANDARD_INPUT = "-"
"""How commands are told to read from a pipe."""


def filter_argument() -> Decorator:
    """Return the argument that names a filter."""
    return click.argument(
        "filter_", type=click.Path(dir_okay=True, path_type=Path), metavar="FILTER"
    )


def messages_argument() -> Decorator:
    """Return the argument that names messages; `-` is standard input."""
    return click.argument("messages", type=str, nargs=-1, required=True, metavar="MESSAGE…")


def named_messages(places: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield all messages of files, mailboxes and folders, each with a name to call it by."""
    from suffice.mail.mailboxes import read_mailbox

    for place in places:
        name = "standard input" if place == STANDARD_INPUT else place
        held: tuple[str, bytes] | None = None
        for number, raw in enumerate(read_mailbox(place), 1):
            if held is not None:
                yield f"{name}:{number - 1}", held[1]
            held = name, raw
        if held is not None:
            # The only message of a file is called by the name of the file.
            yield (name if number == 1 else f"{name}:{number}"), held[1]
