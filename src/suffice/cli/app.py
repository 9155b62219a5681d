"""The `suffice` command: its subcommands, and how a refusal becomes one line and an exit code."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

from suffice import __version__
from suffice.cli.terminal.messages import refuse, sentence, tell_warnings
from suffice.cli.terminal.options import CommandsAt, InOrder
from suffice.errors import FileInUse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

COMMANDS = {
    "demo": "suffice.cli.commands.demo",
    "fit": "suffice.cli.commands.fit",
    "cluster": "suffice.cli.commands.cluster",
    "predict": "suffice.cli.commands.predict",
    "explain": "suffice.cli.commands.explain",
    "sample": "suffice.cli.commands.sample",
    "outliers": "suffice.cli.commands.outliers",
    "learn": "suffice.cli.commands.learn",
    "forget": "suffice.cli.commands.forget",
    "merge": "suffice.cli.commands.merge",
    "inspect": "suffice.cli.commands.inspect",
    "diff": "suffice.cli.commands.diff",
    "watch": "suffice.cli.monitoring.watch",
    "audit": "suffice.cli.monitoring.audit",
    "compare": "suffice.cli.commands.compare",
    "report": "suffice.cli.commands.report",
    "page": "suffice.cli.web.page",
    "sql": "suffice.cli.commands.sql",
    "serve": "suffice.cli.serving.serve",
    "replay": "suffice.cli.serving.replay",
    "play": "suffice.cli.web.play",
    "warm": "suffice.cli.serving.warm",
    "mail": "suffice.cli.mail.group",
}
"""Where each command is, in the order of use: what `--help` shows."""
OK, REFUSED, USAGE, IN_USE, INTERRUPTED = 0, 1, 2, 75, 130
"""Exit codes: 0, 1 and 2 (wrong usage) as everywhere, 75 is EX_TEMPFAIL of sysexits.h (try again),
130 is 128 + SIGINT, as shells have it."""
NEW_OBJECTS = 50_000
"""New objects from which on garbage is looked for; Python's own number is 700. Loading modules
makes some hundred thousand objects that stay, and looking through them again and again takes a
twentieth of a small fit. Arrays are no such objects, and go as soon as nobody holds them."""
FRAMES = "pandas"
"""Loaded by Arrow on the first array that it makes, to know its frames: half a second of CPU in
which Ctrl-C is lost, since an import that fails there is taken for a library that is missing."""


@click.group(
    cls=InOrder,
    commands=CommandsAt(COMMANDS),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="suffice")
@click.option("--debug", is_flag=True, help="Show the whole traceback of an error.")
def app(debug: bool) -> None:
    """Learn what each class of a table looks like, and classify new rows.

    Results go to standard output, notes to standard error; - is standard input. Exit codes: 0
    done, 1 refused (data or model), 2 wrong usage, 75 a file is being changed by others (try
    again), 130 interrupted.

    Example: suffice fit flowers.csv --target species -o flowers.suffice
    """
    del debug  # main() looks for it among the arguments, where errors become sentences


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _replace_what_cannot_be_written(sys.stdout, sys.stderr)
    tell_warnings()
    try:
        with _without_frames(), _fewer_collections():
            answer = app.main(args=arguments, prog_name="suffice", standalone_mode=False)
        if sys.stdout is not None:  # it may have been closed (`>&-`)
            sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return USAGE
    except click.ClickException as error:
        from suffice.passwords import without_secrets_within

        refuse(without_secrets_within(error.format_message(), arguments), _usage(error))
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever was reading has left (`suffice demo | head`): nobody is there to be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return REFUSED
    except Exception as error:  # the last line of defence before the user
        if "--debug" in arguments:
            raise
        from suffice.passwords import without_secrets_within

        problem, hint = (without_secrets_within(part, arguments) for part in sentence(error))
        refuse(problem, hint)
        return IN_USE if isinstance(error, FileInUse) else REFUSED
    return answer if isinstance(answer, int) else OK  # a command may leave with a code of its own


class _NotHere:
    """Finds no module, and says of one that there is none."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target  # asked for the name alone
        if name == FRAMES:
            raise ModuleNotFoundError(f"commands read no frames: {name} is not loaded", name=name)
        return None


@contextmanager
def _without_frames() -> Iterator[None]:
    """Keep pandas from being loaded; where it is there already, it stays."""
    sys.meta_path.insert(0, _NotHere)
    try:
        yield
    finally:
        sys.meta_path.remove(_NotHere)


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """Let garbage be looked for less often than usual."""
    usual = gc.get_threshold()
    gc.set_threshold(max(usual[0], NEW_OBJECTS) if usual[0] else 0, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _usage(error: click.ClickException) -> str:
    """Return where the right usage is written."""
    context = getattr(error, "ctx", None)
    return f"see {context.command_path if context else 'suffice'} --help"


def _replace_what_cannot_be_written(*streams: TextIO) -> None:
    """Let a terminal without Unicode print `?` where it would otherwise stop the program."""
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
