"""The `suffice` command: its subcommands, and how a refusal becomes one line and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING, TextIO

import click

from suffice import __version__
from suffice.cli.commands.compare import compare
from suffice.cli.commands.demo import demo
from suffice.cli.commands.diff import diff
from suffice.cli.commands.explain import explain
from suffice.cli.commands.fit import fit
from suffice.cli.commands.forget import forget
from suffice.cli.commands.inspect import inspect
from suffice.cli.commands.learn import learn
from suffice.cli.commands.merge import merge
from suffice.cli.commands.outliers import outliers
from suffice.cli.commands.predict import predict
from suffice.cli.commands.report import report
from suffice.cli.commands.sample import sample
from suffice.cli.commands.sql import sql
from suffice.cli.mail.group import mail
from suffice.cli.terminal.messages import refuse, tell_warnings
from suffice.cli.terminal.options import InOrder
from suffice.errors import FileInUse, SufficeError, without_secrets, without_secrets_within

if TYPE_CHECKING:
    from collections.abc import Sequence

OK, REFUSED, USAGE, IN_USE, INTERRUPTED = 0, 1, 2, 75, 130
HINTS = {
    errno.EISDIR: "name a file in it",
    errno.ENOSPC: "make room, or choose another place; what was there before is still there",
    errno.EACCES: "choose a file that may be read, or another place",
}
"""What to do when the system refuses."""


@click.group(cls=InOrder, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="suffice")
@click.option("--debug", is_flag=True, help="Show the whole traceback of an error.")
def app(debug: bool) -> None:
    """Learn how each class makes its data.

    Results go to standard output, notes to standard error; - is standard input. Exit codes: 0
    done, 1 refused (data or model), 2 wrong usage, 75 a file is being changed by others (try
    again), 130 interrupted.

    Example: suffice fit flowers.csv --target species -o flowers.suffice
    """
    del debug  # main() looks for it among the arguments, where errors become sentences


for _command in (
    demo, fit, predict, explain, sample, outliers, learn, forget, merge, inspect, diff,
    compare, report, sql, mail,
):  # fmt: skip
    app.add_command(_command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _replace_what_cannot_be_written(sys.stdout, sys.stderr)
    tell_warnings()
    try:
        answer = app.main(args=arguments, prog_name="suffice", standalone_mode=False)
        if sys.stdout is not None:  # it may have been closed (`>&-`)
            sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return USAGE
    except click.ClickException as error:
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
        problem, hint = (without_secrets_within(part, arguments) for part in sentence(error))
        refuse(problem, hint)
        return IN_USE if isinstance(error, FileInUse) else REFUSED
    return answer if isinstance(answer, int) else OK  # a command may leave with a code of its own


def _usage(error: click.ClickException) -> str:
    """Return where the right usage is written."""
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context else 'suffice'} --help shows what there is"


def sentence(error: Exception) -> tuple[str, str]:
    """Return what went wrong and what to do, each on one line."""
    if isinstance(error, SufficeError):
        return error.problem, error.hint
    if isinstance(error, ModuleNotFoundError) and error.name == "matplotlib":
        return "pictures need matplotlib, which is not installed", "pip install 'suffice[plots]'"
    if isinstance(error, OSError) and error.strerror:
        place = f"{without_secrets(str(error.filename))}: " if error.filename else ""
        hint = HINTS.get(error.errno or 0, "choose another place with --output")
        if error.errno == errno.ENOENT and error.filename:
            hint = _missing(str(error.filename))
        return f"{place}{error.strerror.lower()}", hint
    if isinstance(error, UnicodeEncodeError):
        cell = error.object[error.start : error.end]
        return (
            f"{cell!r} is half of a character, and cannot be written as UTF-8",
            "mend the table: each \\ud800 … \\udbff needs a \\udc00 … \\udfff behind it",
        )
    if isinstance(error, MemoryError):
        return "there is not enough memory for this", "gda needs columns² numbers, naive-bayes few"
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}", "suffice --debug … shows where"


def _missing(name: str) -> str:
    """Return what to do about a file that is not there: another name, or a folder to be made."""
    from pathlib import Path

    from suffice.errors import meant

    folder = Path(name).parent
    if not folder.is_dir():
        shown = without_secrets(str(folder))
        return f"there is no folder {shown}: is the name right? Folders are not made"
    try:
        near = meant(Path(name).name, (each.name for each in folder.iterdir()))
    except OSError:
        near = ""
    return near.strip() or "is the name right? There is no such file in its folder"


def _replace_what_cannot_be_written(*streams: TextIO) -> None:
    """Let a terminal without Unicode print `?` where it would otherwise stop the program."""
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
