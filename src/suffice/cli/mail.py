"""`suffice mail`: a filter that tells spam from ham, and can be corrected."""

from __future__ import annotations

import click

from suffice.cli.command_groups import InOrder
from suffice.cli.mail_classify import classify
from suffice.cli.mail_correct import correct
from suffice.cli.mail_export import export
from suffice.cli.mail_fit import fit


@click.group(cls=InOrder)
def mail() -> None:
    """Tell spam from ham, and be corrected.

    A filter is one file. It learns from mailboxes, judges a message by looking up what that message
    holds and nothing else, and takes back exactly what it learned.

    Example: suffice mail fit ham.mbox spam.mbox -o filter.db
    """


for _command in (fit, classify, correct, export):
    mail.add_command(_command)
