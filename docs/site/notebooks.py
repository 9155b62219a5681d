"""Notebooks of the tutorial: its words and its code, each cell with what it gives.

They are made of the pages, so that there is one text to keep. Cells are run here, without a
kernel, and what they give is held against the page; a difference ends the build.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import doctest
import io
import json
import os
import re
import tempfile
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

PARTS = ("tutorial", "likelihood", "decisions")
"""The pages that become notebooks, in their order."""
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
"""As the tests of the pages compare: figures are cut by `...`, and lines may wrap."""
BLOCK = re.compile(r"(?ms)^```(python|math)\n(.*?)^```\n?")
"""A block of code, or a formula on lines of its own."""
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
"""A picture: what it shows, and where it is."""
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
"""A link: its words, its page and its place there."""


def notebook(page: Path, *, run: bool) -> dict[str, Any]:
    """Return a page as a notebook; what cells give is taken from the page unless they are run."""
    parts = BLOCK.split(page.read_text("utf-8"))
    cells: list[dict[str, Any]] = []
    for words, kind, block in zip(parts[::3], [*parts[1::3], ""], [*parts[2::3], ""], strict=True):
        if plain := readable(words).strip():
            cells.append(told(plain, page))
        if kind == "math":
            cells.append(told(f"$$\n{block.strip()}\n$$", page))
        elif kind == "python":
            cells += steps(block)
    if run:
        execute(cells, page.name)
    for cell in cells:
        cell.pop("want", None)
    about = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 4}


def readable(words: str) -> str:
    """Return words without the folds of a page, and with links that a notebook can follow.

    >>> readable("[part 2](likelihood.md#a), [the tour](tour.md), [below](#b)")
    '[part 2](likelihood.ipynb), the tour, below'
    """
    words = re.sub(r"<details><summary>(.*?)</summary>", r"**\1**", words)
    words = words.replace("</details>", "")

    def link(found: re.Match[str]) -> str:
        name = found[2].removesuffix(".md")
        if "://" in found[2]:
            return found[0]
        return f"[{found[1]}]({name}.ipynb)" if name in PARTS else found[1]

    return LINK.sub(link, words)


def told(words: str, page: Path) -> dict[str, Any]:
    """Return a cell of words; the pictures that it shows travel in it."""
    held: dict[str, Any] = {}

    def picture(found: re.Match[str]) -> str:
        path = page.parent / found[2]
        held[path.name] = {"image/png": base64.b64encode(path.read_bytes()).decode("ascii")}
        return f"![{found[1]}](attachment:{path.name})"

    words = PICTURE.sub(picture, words)
    cell: dict[str, Any] = {"cell_type": "markdown", "metadata": {}, "source": words}
    return {**cell, "attachments": held} if held else cell


def steps(block: str) -> list[dict[str, Any]]:
    """Return the cells of a block: each ends where the page shows what it gives."""
    found: list[dict[str, Any]] = []
    source = ""
    for example in doctest.DocTestParser().get_examples(block):
        source += example.source
        want = example.want
        if want:
            found.append(code(source, want))
            source = ""
    return [*found, code(source, "")] if source else found


def code(source: str, want: str) -> dict[str, Any]:
    """Return a cell of code that has given what the page shows."""
    outputs: list[dict[str, Any]] = []
    if want:
        shown = want.replace("<BLANKLINE>", "")
        outputs = [{"output_type": "stream", "name": "stdout", "text": shown}]
    return {
        "cell_type": "code", "metadata": {}, "execution_count": None, "source": source.rstrip("\n"),
        "outputs": outputs, "want": want,
    }  # fmt: skip


def execute(cells: list[dict[str, Any]], name: str) -> None:
    """Run the cells in one namespace, in a folder of their own, and keep what they give."""
    known: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    os.environ.setdefault("MPLBACKEND", "Agg")  # no window is opened
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for cell in cells:
            if cell["cell_type"] != "code":
                continue
            count += 1
            cell["execution_count"] = count
            cell["outputs"], said = given(cell["source"], known, count)
            if not agrees(cell["want"], said):
                where = f"{name}, cell {count}:\n{cell['source']}"
                raise SystemExit(f"{where}\n{said}\nThe page has:\n{cell['want']}")


def given(source: str, known: dict[str, Any], count: int) -> tuple[list[dict[str, Any]], str]:
    """Return what a cell gives, as a notebook keeps it, and as text."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    outputs: list[dict[str, Any]] = []
    shown = ""
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, "<cell>", "exec"), known)  # noqa: S102  the code of our own pages
            if last is not None:
                value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), known)  # noqa: S307
                if value is not None:
                    shown = repr(value)
    except Exception as error:  # noqa: BLE001  pages show refusals too, and are compared below
        shown = "".join(traceback.format_exception_only(error)).rstrip("\n")
        outputs.append({
            "output_type": "error", "ename": type(error).__name__, "evalue": str(error),
            "traceback": shown.split("\n"),
        })  # fmt: skip
        shown = f"Traceback (most recent call last):\n{shown}"
    else:
        if shown:
            outputs.append({
                "output_type": "execute_result", "metadata": {}, "execution_count": count,
                "data": {"text/plain": shown},
            })  # fmt: skip
    if text := printed.getvalue():
        outputs.insert(0, {"output_type": "stream", "name": "stdout", "text": text})
    return outputs, printed.getvalue() + (shown + "\n" if shown else "")


def agrees(want: str, said: str) -> bool:
    """Whether a cell has given what the page shows; of an error its class and its words."""
    if want.startswith("Traceback"):
        want, said = _error(want), _error(said)
    return doctest.OutputChecker().check_output(want, said, FLAGS)


def _error(said: str) -> str:
    """Return an error without the lines of code before it, and without the module of its class."""
    lines = [line for line in said.split("\n")[1:] if line and not line.startswith((" ", "\t"))]
    kind, _, words = "\n".join(lines).partition(":")
    return f"{kind.rsplit('.', 1)[-1]}:{words}\n"


def write_notebooks(docs: Path, folder: Path, *, run: bool) -> None:
    """Write all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PARTS:
        found = notebook(docs / f"{name}.md", run=run)
        (folder / f"{name}.ipynb").write_text(json.dumps(found, indent=1, ensure_ascii=False))
