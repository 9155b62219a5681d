"""Every command has help, an example and a place in the documentation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
import pytest

from suffice.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", sorted(app.commands))
def test_every_command_has_help_an_example_and_a_line_in_the_readme(name: str, root: Path) -> None:
    command = app.commands[name]
    assert command.help is not None
    assert f"Example: suffice {name}" in command.help
    options = [given for given in command.params if isinstance(given, click.Option)]
    assert all(option.help for option in options)
    assert f"suffice {name}" in (root / "README.md").read_text("utf-8")


def test_every_make_target_in_the_documentation_exists(root: Path) -> None:
    targets = set(re.findall(r"(?m)^([a-z]+):", (root / "Makefile").read_text("utf-8")))
    for page in [root / "README.md", *(root / "docs").glob("*.md")]:
        named = set(re.findall(r"`?make ([a-z]+)`", page.read_text("utf-8")))
        assert named <= targets, page.name
