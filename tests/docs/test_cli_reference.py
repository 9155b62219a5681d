"""docs/cli.md is what the commands say of themselves, and what they answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from suffice.cli import reference
from suffice.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
AGAIN = f"docs/cli.md is out of date; this makes it again: {reference.MAKE}"


@pytest.fixture(scope="module")
def made() -> str:
    """Return the page as it would be made now; every example on it ends well."""
    return reference.page()


def test_the_page_is_what_help_and_the_examples_say(made: str, root: Path) -> None:
    # The last digits of what is computed are the machine's, words are not.
    kept = (root / reference.PAGE).read_text("utf-8")
    assert NUMBER.split(kept) == NUMBER.split(made), AGAIN
    for ours, theirs in zip(NUMBER.findall(kept), NUMBER.findall(made), strict=True):
        assert float(ours) == pytest.approx(float(theirs), rel=2e-3, abs=2e-3), AGAIN


def test_no_answer_names_a_folder_of_the_machine_that_made_the_page(root: Path) -> None:
    page = (root / reference.PAGE).read_text("utf-8")
    answers = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(answers) > 20
    named = [
        path
        for answer in answers
        for path in re.findall(r"(?<![\w.:/])/[\w.-]+(?:/[\w.-]+)+", answer)
    ]
    assert named == []


@pytest.mark.parametrize("name", sorted(app.commands))
def test_every_command_is_on_the_page_with_an_example_to_copy(name: str, root: Path) -> None:
    page = (root / reference.PAGE).read_text("utf-8")
    assert f"\n## suffice {name}\n" in page
    assert f"```sh\n{reference.example_of(app.commands[name])}\n```" in page


@pytest.mark.parametrize("name", ["", *sorted(app.commands)])
def test_help_fits_a_terminal_and_leaves_no_line_unfinished(name: str) -> None:
    command = app.commands[name] if name else app
    for line in reference.help_of(command, f"suffice {name}".strip()).splitlines():
        assert len(line) <= 80, line
        assert "..." not in line or line.startswith("Usage:"), line


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_lines_for_completion_name_a_shell_that_is_known(shell: str, root: Path) -> None:
    from click.shell_completion import get_completion_class

    page = (root / reference.PAGE).read_text("utf-8")
    assert f"_SUFFICE_COMPLETE={shell}_source suffice" in page
    assert get_completion_class(shell) is not None
