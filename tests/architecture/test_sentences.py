"""Sentences of refusals and warnings are made once, from fields, and never read again."""

from __future__ import annotations

import ast
from itertools import pairwise

import pytest

from tests.parsed import parsed

READS = {
    "startswith", "endswith", "replace", "partition", "rpartition", "split", "rsplit", "find",
    "index", "count", "removeprefix", "removesuffix", "format",
}  # fmt: skip
"""Methods that take a sentence apart; `splitlines` only shortens it."""
ROOMS = ("rows", "columns", "statistics", "models", "estimators")
"""Where rows and columns are counted by somebody who does not know how the caller calls them."""


def is_sentence(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("problem", "hint")


def reads_a_sentence(node: ast.Call) -> bool:
    function = node.func
    if not isinstance(function, ast.Attribute):
        return False
    if function.attr in READS and is_sentence(function.value):
        return True
    by_pattern = isinstance(function.value, ast.Name) and function.value.id == "re"
    return by_pattern and any(map(is_sentence, node.args))


def counts_places(node: ast.JoinedStr) -> bool:
    """Whether a text says `row {…}` or `column {…}` with a number in it that nobody can change."""
    texts = [part.value if isinstance(part, ast.Constant) else None for part in node.values]
    pairs = pairwise(texts)
    return any(
        other is None and isinstance(text, str) and text.lower().endswith(("row ", "column "))
        for text, other in pairs
    )


def test_no_sentence_is_read_again() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path, _, _, inside in parsed()
        for node in inside
        if isinstance(node, ast.Call) and reads_a_sentence(node)
    ]
    assert not found


def test_one_function_finds_the_line_that_a_warning_is_about() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path, _, _, inside in parsed()
        for node in inside
        if (isinstance(node, ast.keyword) and node.arg == "stacklevel")
        or (isinstance(node, ast.Attribute) and ast.unparse(node) == "warnings.warn")
    ]
    assert {place.partition(":")[0] for place in found} == {"errors.py"}


@pytest.mark.parametrize("room", ROOMS)
def test_refusals_count_rows_in_fields(room: str) -> None:
    found = [
        f"{path}:{text.lineno}"
        for path, _, _, inside in parsed()
        if path.parts[0] == room
        for node in inside
        if isinstance(node, ast.Raise) and node.exc is not None
        for text in ast.walk(node.exc)
        if isinstance(text, ast.JoinedStr) and counts_places(text)
    ]
    assert [place for place in found if place.partition(":")[0] not in GIVEN] == []


GIVEN = {
    "estimators/multivariate_normal_columns.py",
    "learning/results.py",
    "estimators/text/vectorizer_settings.py",
    "models/gaussian/law/inputs.py",
    "models/gaussian/law/normal.py",
    "models/text/documents.py",
    "rows/frames.py",
}
"""Where the number is the caller's own: a position that was asked for, or a parameter."""
