"""Nobody outside a class uses its private names: what others need has a public one."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from tests.parsed import SOURCE, parsed

if TYPE_CHECKING:
    from pathlib import Path

OF_NAMED_TUPLES = {"_asdict", "_fields", "_make", "_replace"}
"""Public, whatever they are called: they would be in the way of fields otherwise."""
OF_OTHERS = {
    ("errors.py", "_getframe"),  # the interpreter's: whose line a warning is about
    ("kernels/compilation.py", "_cache"),  # numba's: where compiled code is kept
    ("plots/densities.py", "_axinfo"),  # matplotlib's: lines of an axis
}
"""Private names of other people's libraries, for which there is no public one."""
OF_ROOMS = ("statistics/moments", "models/text")
"""Rooms whose modules share the private names of their classes: one subject in several files."""


def names_and_bases(inside: list[ast.AST]) -> dict[str, tuple[set[str], set[str]]]:
    """Return, of each class, the names that it defines, and the classes that it derives from."""
    found = {}
    for node in inside:
        if not isinstance(node, ast.ClassDef):
            continue
        names = set()
        for each in ast.walk(node):
            if isinstance(each, (ast.Name, ast.Attribute)) and isinstance(each.ctx, ast.Store):
                names.add(each.id if isinstance(each, ast.Name) else each.attr)
            elif isinstance(each, ast.FunctionDef):
                names.add(each.name)
            elif isinstance(each, ast.Constant) and isinstance(each.value, str):
                names.add(each.value)
        bases = {ast.unparse(base).partition("[")[0] for base in node.bases}
        found[node.name] = names, bases
    return found


def own_names(inside: list[ast.AST], classes: dict[str, tuple[set[str], set[str]]]) -> set[str]:
    """Return what the classes of a module define or inherit."""
    found: set[str] = set()
    todo = [node.name for node in inside if isinstance(node, ast.ClassDef)]
    while todo:
        names, bases = classes.get(todo.pop(), (set(), set()))
        if not names <= found:
            found |= names
            todo += bases
    return found


def strange_uses(source: Path) -> list[str]:
    """Return every use of a private name that the classes of its module do not have."""
    classes: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for module in parsed(source):
        classes.update(names_and_bases(module.nodes))
    shared: dict[str, set[str]] = defaultdict(set)
    for module in parsed(source):
        shared[module.path.parent.as_posix()] |= own_names(module.nodes, classes)
    found = []
    for place, _, _, inside in parsed(source):
        room = place.parent.as_posix()
        own = shared[room] if room in OF_ROOMS else own_names(inside, classes)
        allowed = OF_NAMED_TUPLES | own
        for node in inside:
            if not isinstance(node, ast.Attribute) or node.attr.startswith("__"):
                continue
            if not node.attr.startswith("_") or node.attr in allowed:
                continue
            if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
                continue
            if (place.as_posix(), node.attr) not in OF_OTHERS:
                found.append(f"{place}:{node.lineno}: {ast.unparse(node)}")
    return found


def test_nobody_uses_the_private_names_of_another() -> None:
    assert not strange_uses(SOURCE)


def test_such_a_use_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class One:\n    def _own(self): ...\n", "utf-8")
    (tmp_path / "two.py").write_text(
        "class Two(One):\n    def ask(self, other): return other._own(), other._others\n"
        "def ask(one): return one._own()\n",
        "utf-8",
    )
    (tmp_path / "three.py").write_text("def ask(one): return one._own()\n", "utf-8")
    assert strange_uses(tmp_path) == ["three.py:1: one._own", "two.py:2: other._others"]
