"""How training speaks through a command: notes and progress on standard error, options by name."""

from __future__ import annotations

from shlex import quote

from suffice.cli.terminal.messages import ProgressLine, note
from suffice.training.hooks import Hooks


class CommandHooks(Hooks):
    """Prints notes as they come, and shows progress where there is a terminal."""

    def __init__(self) -> None:
        super().__init__(note, ProgressLine)

    def option(self, name: str, value: str | None = None) -> str:
        """Return an option as it is typed."""
        name = name.replace("_", "-")
        return f"--{name}" if value is None else f"--{name} {value}"

    def column(self, name: str, kind: str) -> str:
        """Return how somebody says what a column is."""
        return f"--column {quote(f'{name}={kind}')}"
