"""Options that several commands take, and groups of commands as help lists them."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import replace
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from suffice.errors import BadFile
from suffice.tables.table_reading import COLUMN_KINDS, TableReading, bins_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Protocol, TypeVar

    Command = TypeVar("Command", bound=Callable[..., Any])

    class Decorator(Protocol):
        """What adds an argument or an option to a command."""

        def __call__(self, command: Command, /) -> Command: ...  # noqa: D102


DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|"}
"""Names for `--delimiter`, since a shell makes other things of some of these marks."""


LONGEST_DECLARATIONS = 1 << 24
"""Bytes of a file of declarations: a hundred thousand columns with long names have fewer."""


if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # before 8.4 it takes no parameters


class NumberOr(ParamType):
    """A number, or a word that lets the data decide."""

    name = "number"

    def __init__(self, *words: str, whole: bool = False) -> None:
        self.words = words
        self.whole = whole

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> object:
        """Return a number, or one of the words."""
        if value in self.words:
            return value
        try:
            return int(value) if self.whole else float(value)
        except ValueError:
            kind = "a whole number" if self.whole else "a number"
            others = ", ".join((kind, *self.words[:-1]))
            self.fail(f"{value!r} must be {others} or {self.words[-1]}", param, ctx)


def model_argument(name: str = "model") -> Decorator:
    """Return the argument that names a model file."""
    return click.argument(
        name, type=click.Path(dir_okay=True, path_type=Path), metavar=name.upper()
    )


def table_argument(name: str = "table") -> Decorator:
    """Return the argument that names a table; `-` is standard input."""
    return click.argument(name, type=str, metavar=name.upper())


def tables_argument(name: str = "tables") -> Decorator:
    """Return the argument that names where rows are: several files, a glob, a database."""
    return click.argument(name, type=str, metavar="TABLE...", nargs=-1, required=True)


def reading_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the options that say how a table of text is written; they arrive as `reading`."""

    @click.option(
        "--delimiter",
        default=None,
        metavar="CHARACTER",
        help="What separates cells: a character, or tab, semicolon, space, pipe. Detected "
        "automatically by default.",
    )
    @click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line names the columns. Detected automatically by default; columns "
        "without names are x0, x1, …",
    )
    @click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        default=None,
        help="The decimal mark, for numbers that can be read in two ways, such as 1,234. "
        "Detected by default from all cells of a column, or known from the model.",
    )
    @click.option(
        "--encoding",
        default=None,
        metavar="NAME",
        help="The character encoding: utf-8, windows-1252, latin-1, utf-16, shift_jis, … By "
        "default it is UTF-8, UTF-16 with a byte order mark, or Windows-1252 if the bytes are not "
        "UTF-8; a note says so.",
    )
    @click.option(
        "--sheet",
        default=None,
        metavar="NAME",
        help="Which sheet of a workbook (.xlsx): its name, or its number from 1 on. By default the "
        "first.",
    )
    @wraps(command)
    def with_reading(
        *args: object,
        delimiter: str | None,
        header: bool | None,
        decimal: str | None,
        encoding: str | None,
        sheet: str | None,
        **more: object,
    ) -> object:
        parted = None if delimiter is None else DELIMITERS.get(delimiter, delimiter)
        if parted is not None and len(parted) != 1:
            raise click.BadParameter(
                f"{delimiter!r} is not one character", param_hint="--delimiter"
            )
        return command(
            *args,
            reading=TableReading(parted, header, decimal, encoding=encoding, sheet=sheet),
            **more,
        )

    return with_reading


def columns_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the options that say what columns are; they arrive in `reading`, which stands above."""

    @click.option(
        "--column", "declared", multiple=True, metavar="NAME=KIND",
        help="The type of a column, where detection is wrong: number (12 kg is 12), category "
        "(numbers that are codes), ordered (low, medium, high), date (also spreadsheet serial "
        "numbers; date-dmy and date-mdy give the order), text (known by its words or bytes), "
        "id or ignore (left out); repeatable.",
    )  # fmt: skip
    @click.option(
        "--columns", "columns_file", type=click.Path(path_type=Path), metavar="FILE",
        help="A file of such declarations, NAME=KIND, one per line; lines starting with # are "
        "ignored. --column takes precedence.",
    )  # fmt: skip
    @click.option(
        "--bins", metavar="N",
        help="Cut a target that is a quantity into N classes of about as many rows, or at some "
        "numbers: --bins 10,20,50.",
    )  # fmt: skip
    @wraps(command)
    def with_columns(
        *args: object,
        declared: tuple[str, ...],
        columns_file: Path | None,
        bins: str | None,
        reading: TableReading,
        **more: object,
    ) -> object:
        given = {} if columns_file is None else _columns_of(columns_file)
        for one in declared:
            name, equals, kind = one.rpartition("=")
            if not equals or kind not in COLUMN_KINDS:
                kinds = ", ".join(COLUMN_KINDS)
                raise click.BadParameter(
                    f"{one[:80]!r} is not NAME=KIND, with one of {kinds}", param_hint="--column"
                )
            given[name] = kind
        return command(*args, reading=replace(reading, columns=given, bins=bins_of(bins)), **more)

    return with_columns


def _columns_of(path: Path) -> dict[str, str]:
    """Return what a file says that columns are."""
    from suffice.cli.terminal.outputs import is_read

    is_read(path)
    if path.stat().st_size > LONGEST_DECLARATIONS:
        raise BadFile(f"{path} has more than {LONGEST_DECLARATIONS:,} bytes", hint="is it a table?")
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise BadFile(f"{path} is not text in UTF-8", hint="one NAME=KIND per line") from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, kind = (part.strip() for part in line.rpartition("="))
        if not equals or kind not in COLUMN_KINDS:
            raise BadFile(
                f"{path}, line {number}: {line.strip()!r:.80} is not NAME=KIND",
                hint=f"kinds are {', '.join(COLUMN_KINDS)}",
            )
        if found.setdefault(name, kind) != kind:
            raise BadFile(
                f"{path}, line {number}: {name!r:.60} is declared twice", hint="keep one of them"
            )
    return found


def json_option(what: str) -> Decorator:
    """Return the option for output that programs read."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {what} as JSON.")


def seed_option(what: str) -> Decorator:
    """Return the option for the seed of what is drawn."""
    return click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
        help=f"Seed of {what}.",
    )  # fmt: skip


def output_option(what: str, *, required: bool = False) -> Decorator:
    """Return the option for where a model is written."""
    return click.option(
        "--output", "-o", type=click.Path(path_type=Path), required=required, help=what
    )


def force_option() -> Decorator:
    """Return the option to replace what is in the way; what is read is never replaced."""
    return click.option(
        "--force",
        is_flag=True,
        help="Replace an existing file of any kind, unless it is one of the inputs.",
    )


def wait_option() -> Decorator:
    """Return the option for how long to wait for other commands that change the same file."""
    return click.option(
        "--wait", type=click.FloatRange(min=0.0), default=60.0, show_default=True,
        metavar="SECONDS",
        help="Seconds to wait for another command that is changing the file. Exit code 75 if that "
        "is not enough.",
    )  # fmt: skip


def time_limit_option() -> Decorator:
    """Return the option for how long models may be compared and judged."""
    return click.option(
        "--time-limit", type=click.FloatRange(min=0.0, min_open=True), default=60.0,
        show_default=True, metavar="SECONDS",
        help="Seconds that comparing and evaluating models may take; inf means no limit. It is "
        "checked between "
        "models, the fastest first, and between folds; when it is reached, the best so far is "
        "used, and a note says so.",
    )  # fmt: skip


def target_option(what: str, *, required: bool = False) -> Decorator:
    """Return the option for the column of labels."""
    return click.option("--target", "-t", metavar="COLUMN", required=required, help=what)


class CommandsAt(MutableMapping[str, click.Command]):
    """Commands by name, each imported from its module when it is asked for: one does not load all.

    The module has the command under its own name.
    """

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = dict(homes)
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            self._loaded[name] = getattr(import_module(self._homes[name]), name)
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._homes[name] = command.callback.__module__ if command.callback else ""
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._homes[name]
        self._loaded.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


class InOrder(click.Group):
    """Commands in the order of use, and not of the alphabet; each with its whole first line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        del ctx
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> object:
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
