"""The modules of the package as trees, parsed and walked once for all tests that read sources."""

from __future__ import annotations

import ast
import gc
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(__file__).resolve().parents[1] / "src" / "suffice"


class Parsed(NamedTuple):
    """A module: where it is below its root, its text, its tree and all nodes of that."""

    path: Path
    text: str
    tree: ast.Module
    nodes: list[ast.AST]


@cache
def parsed(root: Path = SOURCE) -> tuple[Parsed, ...]:
    """Return every module below a folder, sorted by path."""
    found = []
    with _no_search_for_garbage():
        for path in sorted(root.rglob("*.py")):
            text = path.read_text("utf-8")
            tree = ast.parse(text)
            found.append(Parsed(path.relative_to(root), text, tree, list(ast.walk(tree))))
    return tuple(found)


@contextmanager
def _no_search_for_garbage() -> Iterator[None]:
    """Make a million nodes, none of which is garbage: searching them takes most of the time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if before:
            gc.enable()
