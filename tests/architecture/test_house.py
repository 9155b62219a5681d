"""The plan of the house: small rooms, short files, one meaning a name, and no circles."""

from __future__ import annotations

import ast
import importlib
import re
from collections import Counter, defaultdict
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT
from tests.parsed import SOURCE, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_FILES = 16
"""Files of one folder, besides `__init__` and `__main__`: what one sees at a glance."""
MOST_LINES = 400
"""Lines of one file: a longer one has two reasons to change."""
SAYS_NOTHING = re.compile(r"_*(told|tell|held|found|bend|bent|seen|look|turned|eased|pulled)_*")
"""Names of functions for which the field has a word."""


@cache
def trees() -> dict[str, tuple[Path, ast.Module]]:
    """Return every module by its dotted name."""
    found = {}
    for one in parsed():
        parts = ["suffice", *one.path.with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = SOURCE / one.path, one.tree
    return found


@cache
def nodes() -> dict[str, list[ast.AST]]:
    """Return all nodes of every module, by its dotted name."""
    return dict(zip(trees(), (one.nodes for one in parsed()), strict=True))


def test_no_folder_has_more_files_than_one_sees_at_a_glance() -> None:
    folders = Counter(
        path.parent.relative_to(SOURCE).as_posix()
        for path, _ in trees().values()
        if path.name not in ("__init__.py", "__main__.py")
    )
    assert {folder: n for folder, n in folders.items() if n > MOST_FILES} == {}


def test_no_file_is_longer_than_four_hundred_lines() -> None:
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, (path, _) in trees().items()}
    assert {name: n for name, n in lines.items() if n > MOST_LINES} == {}


def test_a_class_name_means_one_thing_in_the_whole_package() -> None:
    homes = defaultdict(list)
    for module, inside in nodes().items():
        for node in inside:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_functions_have_names_that_say_what_they_do() -> None:
    found = [
        f"{module}:{node.lineno} {node.name}"
        for module, inside in nodes().items()
        for node in inside
        if isinstance(node, ast.FunctionDef) and SAYS_NOTHING.fullmatch(node.name)
    ]
    assert found == []


def test_every_constant_says_what_it_is_for() -> None:
    found = [
        f"{module}:{line} {name}"
        for module, (path, tree) in trees().items()
        for name, line in _without_reason(path, tree)
    ]
    assert found == []


def _without_reason(path: Path, tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the constants of a module that have no word below, above or beside.

    A number says why it is what it is; a table, a pattern or a sentence says who reads it.
    """
    lines = path.read_text("utf-8").splitlines()
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        if not any(name.lstrip("_").isupper() for name in names) or _explains_itself(names, node):
            continue
        below = (
            isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        )
        above = lines[node.lineno - 2].lstrip().startswith("#")
        if not (below or above or "  # " in lines[node.end_lineno - 1]):
            yield names[0], node.lineno


def _explains_itself(names: list[str], node: ast.Assign | ast.AnnAssign) -> bool:
    """Whether a constant is known by its name alone.

    Variables of types have no meaning of their own; and of a word that is spelled like its name,
    such as HELD_OUT = "held-out", a docstring could only repeat it.
    """
    value = node.value
    if isinstance(value, ast.Call) and ast.unparse(value.func) in ("TypeVar", "ParamSpec"):
        return True
    values = value.elts if isinstance(value, ast.Tuple) else [value]
    words = [one.value for one in values if isinstance(one, ast.Constant)]
    return [str(word).upper().replace("-", "_") for word in words] == names


def _imports(module: str, inside: list[ast.AST]) -> Iterator[str]:
    """Yield the modules of ours that a module needs when it runs, inside functions too."""
    for_types = {
        id(inner)
        for node in inside
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in inside:
        if not isinstance(node, ast.ImportFrom) or id(node) in for_types or not node.module:
            continue
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            target = whole if whole in trees() else _home(node.module, alias.name)
            if target in trees() and target != module:
                yield target


@cache
def _homes(package: str) -> dict[str, str]:
    """Return where the names of a facade live, by its imports for type checkers."""
    return {
        alias.name: node.module
        for node in nodes()[package]
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def _home(module: str, name: str) -> str:
    if module in trees() and trees()[module][0].name == "__init__.py":
        return _homes(module).get(name, module)
    return module


def test_no_room_has_siblings_that_need_each_other() -> None:
    needs: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for module, (path, _) in trees().items():
        if path.name == "__init__.py":
            continue
        for other in _imports(module, nodes()[module]):
            ours, theirs = module.split("."), other.split(".")
            depth = next(
                (i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), 0
            )
            if depth:
                needs[".".join(ours[:depth])][ours[depth]].add(theirs[depth])
    assert [found for room, graph in needs.items() if (found := _circle(room, graph))] == []


def _circle(room: str, graph: dict[str, set[str]]) -> str:
    """Return a way round in a circle, or nothing."""
    done: set[str] = set()

    def walk(name: str, way: tuple[str, ...]) -> str:
        if name in way:
            return f"{room}: {' -> '.join((*way[way.index(name) :], name))}"
        if name in done:
            return ""
        for other in sorted(graph.get(name, ())):
            if circle := walk(other, (*way, name)):
                return circle
        done.add(name)
        return ""

    return next((circle for name in sorted(graph) if (circle := walk(name, ()))), "")


FACADES = ["rows", "columns", "statistics", "models", "families", "text", "engines", "evaluation",
           "plots", "report", "sources", "training"]  # fmt: skip


@pytest.mark.parametrize("name", FACADES)
def test_a_facade_says_the_same_to_people_machines_and_type_checkers(name: str) -> None:
    package = importlib.import_module(f"suffice.{name}")
    typed = {n: m for n, m in _homes(f"suffice.{name}").items() if m.startswith("suffice.")}
    typed.pop("lazy", None)
    assert set(typed) == set(package.__all__) <= set(dir(package))
    for public, home in typed.items():
        assert getattr(package, public) is getattr(importlib.import_module(home), public)
        assert f"suffice.{name}.{public}" not in trees(), "a name and a module of one name"


NAMED = re.compile(r"(?<![\w./-])suffice(?:\.[a-z_]\w*)+(?:\.[A-Za-z_]\w*)*")


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "examples", "docs"])
def test_every_dotted_name_is_there(folder: str) -> None:
    """Names in strings and in prose too: workers and warm-ups find modules by them."""
    missing = []
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix not in (".py", ".md", ".ipynb") or path.name == "CHANGELOG.md":
            continue
        missing += [
            f"{path.relative_to(ROOT)}: {name}"
            for name in set(NAMED.findall(path.read_text("utf-8")))
            if not _resolves(name)
        ]
    assert missing == []


@cache
def _resolves(name: str) -> bool:
    """Whether a dotted name is a module, or something that a module has."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        module = ".".join(parts[:end])
        if module in trees():
            found: object = importlib.import_module(module)
            for part in parts[end:]:
                if not hasattr(found, part):
                    return False
                found = getattr(found, part)
            return True
    return False
