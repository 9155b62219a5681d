"""`suffice inspect`: what a model file holds, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from suffice.cli.options import json_option, model_argument

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@model_argument()
@json_option("it")
def inspect(model: Path, as_json: bool) -> None:
    """Print in words what MODEL holds: classes, columns, settings, and what it was learned from.

    Example: suffice inspect flowers.suffice
    """
    from suffice.cli.model_files import open_model
    from suffice.cli.printed_rows import print_json

    stored, notes = open_model(model)
    content: dict[str, Any] = {
        "model": stored.estimator,
        "target": notes.target,
        **{k: v for k, v in stored.about.items() if k not in ("model", "target")},
        "settings": {k: v for k, v in stored.settings.items() if v is not None},
        "statistics": stored.state.get("statistics") is not None,
    }
    if as_json:
        print_json(content)
        return
    for name, value in content.items():
        click.echo(f"{name}: {value}")
