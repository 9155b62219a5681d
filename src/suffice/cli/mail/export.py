"""`suffice mail export`: a filter as a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from suffice.cli.mail.options import filter_argument
from suffice.cli.terminal.options import force_option, output_option, wait_option

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@filter_argument()
@output_option("Where to write the model; - is standard output.", required=True)
@force_option()
@wait_option()
def export(filter_: Path, output: Path, force: bool, wait: float) -> None:
    """Write what FILTER has learned as a model file.

    A TextClassifier with all its statistics: Python can load it, merge it and train it further. It
    is recalibrated. It has no list of the messages, so nothing prevents it from learning one of
    them twice.

    Example: suffice mail export filter.db -o mail.suffice
    """
    from suffice.cli.rows.model_files import check_model_place, write_stored
    from suffice.cli.terminal.messages import announce
    from suffice.cli.terminal.outputs import changing
    from suffice.estimators.load import mail_learned

    check_model_place(output, (str(filter_),), force=force, as_json=False)
    with changing(output, wait):  # which may be the filter itself
        model = mail_learned(filter_)
        write_stored(output, model.stored())
    announce(f"{output}: {model.model.weights.sum():,.0f} messages")
