"""Groups of commands, as help lists them."""

from __future__ import annotations

from typing import Any

import click


class InOrder(click.Group):
    """Commands in the order of use, and not of the alphabet; each with its whole first line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        del ctx
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an interruption is told by `main`, in one line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.Abort from None  # click would print an empty line before it

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands and what each does; click would cut it short."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, " ".join((command.help or "").partition("\n\n")[0].split()))
                    for name, command in self.commands.items()
                ]
            )
