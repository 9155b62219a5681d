"""`suffice mail`: a filter that tells spam from ham, and can be corrected."""

from __future__ import annotations

import click

from suffice.cli.mail.classify import classify
from suffice.cli.mail.correct import correct
from suffice.cli.mail.export import export
from suffice.cli.mail.fit import fit
from suffice.cli.terminal.options import InOrder


@click.group(cls=InOrder)
def mail() -> None:
    """Tell spam from ham, and be corrected.

    A filter is one file. It learns from mailboxes, judges a message by looking up what that message
    holds and nothing else, and takes back exactly what it learned.

    Example: suffice mail fit ham.mbox spam.mbox -o filter.db
    """


for _command in (fit, classify, correct, export):
    mail.add_command(_command)
