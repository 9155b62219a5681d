"""`suffice diff`: what has moved between two models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from suffice.cli.options import json_option, model_argument

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@model_argument("old")
@model_argument("new")
@json_option("it")
def diff(old: Path, new: Path, as_json: bool) -> None:
    """Print what has moved from the model OLD to NEW, and by how many standard errors.

    Example: suffice diff january.suffice february.suffice
    """
