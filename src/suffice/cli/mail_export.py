"""`suffice mail export`: a filter as a model file."""

from __future__ import annotations

from pathlib import Path

import click

from suffice.cli.mail_options import filter_argument


@click.command()
@filter_argument()
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), required=True,
    help="Where to write the model.",
)  # fmt: skip
def export(filter_: Path, output: Path) -> None:
    """Write what FILTER has learned as a model file.

    A TextClassifier with all its statistics: it can be loaded, merged and taught in Python. It is
    calibrated anew. It holds no list of the messages, so that nothing keeps it from learning one
    of them twice.

    Example: suffice mail export filter.db -o mail.suffice
    """
    from suffice.estimators.mail_classifier import mail_classifier

    model = mail_classifier(filter_)
    model.save(output)
    click.echo(f"{output}: {model.model_.weights.sum():,.0f} messages", err=True)
