"""How long Hypothesis searches: by profile, and by how often a law is searched anyway.

`SUFFICE_PROFILE=evidence` has 2,000 examples for every parameter of a law, and `check` a fifth of
those of a plain run.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import is_hypothesis_test, settings
from hypothesis.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterable

USUAL = 25
"""Examples of a law in a plain run. Chosen: what is plainly wrong fails within a few."""
TOGETHER = 75
"""Examples of a law for all its parameters together, where there are several of them. They go
through the same lines for the most part, so that each of them is a further search for the rest."""
FEWEST = 8
"""Examples of each parameter, however many there are: some lines are its own."""


def examples(count: int) -> settings:
    """Return settings with so many examples in a plain run, and as many more with more."""
    return settings(max_examples=max(1, round(count * settings.default.max_examples / USUAL)))


def share(items: list[pytest.Item]) -> None:
    """Let the parameters of a law share its examples, unless the law says how many it has."""
    if settings.default.max_examples > USUAL:
        return  # the evidence: nothing is shared
    laws: Counter[Any] = Counter()
    for item in items:
        law = getattr(item, "obj", None)
        law = getattr(law, "__func__", law)
        if law is not None and is_hypothesis_test(law):
            laws[law] += 1
    for law, cells in laws.items():
        each = max(FEWEST, TOGETHER // cells)
        if each < USUAL:
            with suppress(InvalidArgument):  # it has settings of its own
                examples(each)(law)


def quick(values: Iterable[Any], *tried: Any) -> list[Any]:
    """Return the parameters of a test, of which `make check` tries some: the others are slow.

    For a matrix whose cells go through the same lines for the most part.
    """
    found = list(values)
    assert set(map(repr, tried)) <= set(map(repr, found)), "something is tried that is not there"
    wanted = set(map(repr, tried))
    return [
        value if repr(value) in wanted else pytest.param(value, marks=pytest.mark.slow)
        for value in found
    ]


def repeats(plain: int, full: int) -> int:
    """Return how often to draw, slide or refit: in a plain run, or for the evidence."""
    return full if os.environ.get("SUFFICE_PROFILE") == "evidence" else plain
