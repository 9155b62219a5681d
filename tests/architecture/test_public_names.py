"""The public interface: sorted, complete, documented."""

from __future__ import annotations

import inspect
import re
import tomllib
from typing import TYPE_CHECKING

import pytest

import suffice
from suffice import errors

if TYPE_CHECKING:
    from pathlib import Path

SUBMODULES = [name for name in suffice.__all__ if name.islower()]


def test_public_names_are_sorted_without_repetition() -> None:
    for module in (suffice, *(getattr(suffice, name) for name in SUBMODULES)):
        names = list(getattr(module, "__all__", []))
        assert names == sorted(set(names)), module.__name__


def test_dir_lists_every_public_name() -> None:
    assert set(suffice.__all__) <= set(dir(suffice))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'GaussianDiscriminator'"):
        suffice.GaussianDiscriminator  # noqa: B018


def test_the_version_is_the_one_of_the_package(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    assert suffice.__version__ == project["version"]
    assert f"## {project['version']}" in (root / "CHANGELOG.md").read_text("utf-8")
    citation = (root / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"(?m)^version: (.*)$", citation) == [project["version"]]
    assert re.findall(r"(?m)^license: (.*)$", citation) == [project["license"]]


@pytest.mark.parametrize("name", [n for n in suffice.__all__ if n not in SUBMODULES])
def test_every_name_at_the_top_has_a_docstring_with_an_example(name: str) -> None:
    assert ">>>" in (inspect.getdoc(getattr(suffice, name)) or "")


@pytest.mark.parametrize("name", SUBMODULES)
def test_every_public_class_and_function_below_has_a_docstring(name: str) -> None:
    module = getattr(suffice, name)
    assert inspect.getdoc(module)
    for public in getattr(module, "__all__", ()):
        found = getattr(module, public)
        if inspect.isclass(found) or inspect.isfunction(found):
            assert inspect.getdoc(found), f"{module.__name__}.{public}"


def test_the_tree_of_errors_is_the_tree_of_classes() -> None:
    drawn: dict[str, str | None] = {}
    above: list[tuple[int, str]] = []
    for indent, name in re.findall(
        r"(?m)^( *)([A-Z]\w+)(?: \(\w+\))? {2,}\S", errors.__doc__ or ""
    ):
        above = [(depth, parent) for depth, parent in above if depth < len(indent)]
        drawn[name] = above[-1][1] if above else None
        above.append((len(indent), name))
    classes = {
        name: found
        for name, found in vars(errors).items()
        if inspect.isclass(found) and issubclass(found, (errors.SufficeError, Warning))
    }
    assert set(drawn) == set(classes)
    for name, parent in drawn.items():
        assert parent is None or parent in {base.__name__ for base in classes[name].__bases__}
        assert inspect.getdoc(classes[name])


def test_no_file_has_a_name_that_says_nothing(root: Path) -> None:
    empty = {"utils", "helpers", "common", "base", "core", "misc"}
    names = {path.stem.strip("_") for path in (root / "src").rglob("*")}
    assert not names & empty
