"""The reference page of the commands, made of their own help: `python -m suffice.cli.reference`.

Every example on the page is run when it is made, in a folder of its own, on tables that the page
itself makes; what is shown below it is what it said.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = Path("docs") / "cli.md"
"""Where the page goes, from the folder of the project."""
MAKE = "python -m suffice.cli.reference"
"""What makes the page again; it stands in the page itself."""
SHOWN = 30
"""Lines of what an example says that are on the page."""
UNHEARD = ("demo", "compare", "report", "serve", "replay", "warm")
"""Commands whose answers are too long for the page, that go on until they are stopped, or that name
a folder of the machine; other pages show them."""
BEFORE = {
    "merge": (
        "suffice fit north.csv --target species --model gda -o north.suffice",
        "suffice fit south.csv --target species --model gda -o south.suffice",
    ),
    "forget": ("suffice learn flowers.suffice withdrawn.csv",),
}
"""What has to be there before an example: only so much of it as the page has not done before."""
MORE = {
    "fit": ("suffice fit flowers.csv --target species --model gda -o flowers.suffice",),
    "predict": (
        "suffice predict flowers.suffice new.csv --cost costs.csv",
        "suffice predict flowers.suffice new.csv --reject-below 0.01 --reject-by typicality",
    ),
}
"""Examples beside the one of the help."""
TABLES = """\
>>> from pathlib import Path
>>> from sklearn.datasets import load_iris
>>> iris = load_iris()
>>> header = "sepal_length,sepal_width,petal_length,petal_width"
>>> cells = [",".join(map(str, row)) for row in iris.data.tolist()]
>>> cells[4] = "5.0,,1.4,0.2"
>>> rows = [f"{row},{iris.target_names[k]}" for row, k in zip(cells, iris.target)]
>>> def write(name, header, lines):
...     _ = Path(name).write_text("\\n".join([header, *lines, ""]))
>>> write("flowers.csv", f"{header},species", rows[0::2])
>>> write("more.csv", f"{header},species", rows[1::4])
>>> write("withdrawn.csv", f"{header},species", rows[3::40])
>>> write("north.csv", f"{header},species", rows[0::3])
>>> write("south.csv", f"{header},species", rows[1::3])
>>> write("new.csv", header, [*cells[3::36], "7.0,3.0,1.4,2.5"])
>>> write("costs.csv", "truth,setosa,versicolor,virginica,ask", [
...     "setosa,0,1,1,0.1", "versicolor,1,0,1,0.1", "virginica,5,5,0,0.1"])
>>> words = {"ham": "lunch bob report agenda monday", "spam": "cheap pills winner click offer"}
>>> for kind, text in words.items():
...     a = text.split()
...     letters = [["Subject: " + a[i % 5], "", f"{a[i % 3]} {a[i % 4]} {i}"] for i in range(12)]
...     parted = [line for letter in letters for line in ("From me 12:36 2002", *letter, "")]
...     write(f"{kind}.mbox", parted[0], parted[1:])
>>> write("message.eml", "Subject: offer", ["", "cheap pills for bob"])
"""
"""What makes the tables that the examples read. It is shown on the page, and run for it."""
OPENING = f"""\
# The commands

<!-- Made by `{MAKE}`, which runs every example; do not edit by hand. -->

`suffice` is one program with a command for each thing to do. A model is a file: `fit` writes it,
the other commands ask it, teach it, or put several together.

- **In and out.** Tables are CSV (`.gz` too), Parquet, Arrow, JSON or .xlsx; `-` is standard input:
  `zcat new.csv.gz | suffice predict flowers.suffice -`. Answers go to standard output, notes and
  warnings to standard error, so that `suffice predict flowers.suffice new.csv > answers.csv` holds
  nothing but answers. `--json` prints them for programs.
- **Many files, databases.** Where a usage says `TABLE...`, give several files, a quoted pattern
  (`'part-*.parquet'`), a folder of Parquet files, or a table of a database by its address
  (`'duckdb://file.db?table=t'`, `'postgresql://user@host/base?table=t'`): see
  [where the rows are](sources.md).
- **Exit codes.** 0 done; 1 refused, because of the data, the model or the disk; 2 wrong usage;
  130 interrupted. A refusal is one line and a hint, and leaves every file as it was;
  `suffice --debug` and then the command shows where it came from.
- **Colour.** There is none in pipes and files, and none with `NO_COLOR` set; the progress of large
  tables, with rows a second and the time left, is shown on a terminal only.
- **Completion.** One line in the file that the shell reads when it starts:

```sh
# bash: ~/.bashrc
eval "$(_SUFFICE_COMPLETE=bash_source suffice)"
# zsh: ~/.zshrc
eval "$(_SUFFICE_COMPLETE=zsh_source suffice)"
# fish: ~/.config/fish/completions/suffice.fish
_SUFFICE_COMPLETE=fish_source suffice | source
```

The examples below can be run one after the other. They need some small tables, which this makes of
data that come with scikit-learn, and some letters, which it invents:

```python
{TABLES}```
"""
"""The page before its first command."""


def page() -> str:
    """Return the page; every example on it is run."""
    from suffice.cli.app import app

    parts = [OPENING, "## suffice", block("text", help_of(app, "suffice"))]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        exec(tables_code(), {})  # noqa: S102  the page's own lines
        for name, command in _all_commands(app):
            parts += [f"## suffice {name}", block("text", help_of(command, f"suffice {name}"))]
            lines = (*BEFORE.get(name, ()), example_of(command), *MORE.get(name, ()))
            if name in UNHEARD or isinstance(command, click.Group):
                parts.append(block("sh", example_of(command)))
            else:
                parts += _session(lines)
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _all_commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield every command by its whole name; after a group, those that are in it."""
    for name, command in group.commands.items():
        yield f"{before}{name}", command
        if isinstance(command, click.Group):
            yield from _all_commands(command, f"{before}{name} ")


def help_of(command: click.Command, path: str) -> str:
    """Return the help of a command, as wide as the narrowest usual terminal."""
    names = {"help_option_names": ["-h", "--help"]}
    context = click.Context(command, info_name=path, terminal_width=80, **names)  # type: ignore[arg-type]
    return command.get_help(context)


def example_of(command: click.Command) -> str:
    """Return the example in the help of a command."""
    return (command.help or "").partition("Example: ")[2].partition("\n")[0].strip()


def tables_code() -> str:
    """Return the lines that make the tables of the examples."""
    return "\n".join(line[4:] for line in TABLES.splitlines())


def block(kind: str, text: str) -> str:
    """Return a fenced block."""
    return f"```{kind}\n{text.rstrip()}\n```"


def _session(lines: Iterable[str]) -> list[str]:
    """Run lines of a shell, and return them and what they said, as blocks."""
    found = []
    for line in lines:
        said = [text[:200] for text in answer(line).splitlines()]
        shown = [*said[:SHOWN], *(("…",) if len(said) > SHOWN else ())]
        found += [block("sh", line), block("text", "\n".join(shown))]
    return found


def answer(line: str) -> str:
    """Return what a command says, on both streams; it has to end well."""
    from suffice.cli.app import main

    said = StringIO()
    with redirect_stdout(said), redirect_stderr(said), warnings.catch_warnings():
        code = main(shlex.split(line)[1:])
    if code != 0:
        raise RuntimeError(f"{line}: exit code {code}: {said.getvalue()}")
    return said.getvalue()


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    text = page()
    place.write_text(text, "utf-8")
    click.echo(f"{place}: {len(text.splitlines())} lines", err=True)
