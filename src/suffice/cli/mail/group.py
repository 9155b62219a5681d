"""`suffice mail`: a filter that tells spam from ham, and can be corrected."""

from __future__ import annotations

import click

from suffice.cli.terminal.options import CommandsAt, InOrder

COMMANDS = {name: f"suffice.cli.mail.{name}" for name in ("fit", "classify", "correct", "export")}
"""Where each command is, in the order of use."""


@click.group(cls=InOrder, commands=CommandsAt(COMMANDS))
def mail() -> None:
    """Tell spam from ham, and be corrected.

    A filter is one file. It learns from mailboxes, classifies a message by its content alone, and
    can exactly forget what it learned.

    Example: suffice mail fit ham.mbox spam.mbox -o filter.db
    """
