"""Every sentence that the package says to its users, read off its sources.

`python -m tests.reference.sentences` prints them, each with the file it stands in: refusals and
their hints, warnings, help of commands and options, what commands and reports print. Values that
a sentence is filled with stand as {…}.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from tests.parsed import SOURCE, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDS = 3
"""Texts of fewer words are names, formats and keys, no sentences."""


class Sentence(NamedTuple):
    """What is said, in which file, at which line."""

    text: str
    file: str
    line: int


def sentences(root: Path = SOURCE) -> Iterator[Sentence]:
    """Yield the texts of all sources but docstrings: those of commands are their help."""
    for path, _, _, inside in parsed(root):
        name = path.as_posix()
        hidden = _docstrings(inside, commands=name.startswith("cli/")) | _parts(inside)
        for node in inside:
            text = _text(node)
            if text is None or node in hidden:
                continue
            text = " ".join(text.split())
            if len(re.findall(r"[A-Za-z]{2,}", text)) >= WORDS:
                yield Sentence(text, name, getattr(node, "lineno", 0))


def _text(node: ast.AST) -> str | None:
    """Return a constant or an f-string as one text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "{…}" for part in node.values]
        return "".join(str(part) for part in parts)
    return None


def _parts(inside: list[ast.AST]) -> set[ast.AST]:
    """Return what stands inside f-strings: it is part of their text."""
    return {
        part
        for whole in inside
        if isinstance(whole, ast.JoinedStr)
        for part in ast.walk(whole)
        if part is not whole and isinstance(part, (ast.Constant, ast.JoinedStr))
    }


def _docstrings(inside: list[ast.AST], *, commands: bool) -> set[ast.AST]:
    """Return the docstrings, and the strings that stand for themselves beside constants."""
    found: set[ast.AST] = set()
    for node in inside:
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        spoken = commands and isinstance(node, ast.FunctionDef) and _is_command(node)
        for i, line in enumerate(body):
            alone = isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)
            if alone and not (spoken and i == 0):
                found.add(line.value)
    return found


def _is_command(node: ast.FunctionDef) -> bool:
    return any("command" in ast.dump(decorator) for decorator in node.decorator_list)


if __name__ == "__main__":
    for sentence in sentences():
        print(f"{sentence.file}:{sentence.line}: {sentence.text}")
