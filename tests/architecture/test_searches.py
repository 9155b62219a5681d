"""How long laws are searched: parameters share examples, and the full counts can be asked for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.searches import FEWEST, TOGETHER, USUAL, examples, repeats, share

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(params=["check", "default"])
def profile(request: pytest.FixtureRequest) -> Iterator[settings]:
    """Return each profile of searches in turn, while it is in force."""
    before = settings.get_current_profile_name()
    settings.load_profile(request.param)
    yield settings.get_profile(request.param)
    settings.load_profile(before)


def law_of_numbers(seen: list[int] | None = None) -> Any:
    """Return a law that counts its examples."""

    @given(st.floats())
    def law(x: float) -> None:
        if seen is not None:
            seen.append(1)

    return law


def searched(cells: int, own: settings | None = None) -> int:
    """Return how many examples each of so many parameters of a law has."""
    seen: list[int] = []

    found = law_of_numbers(seen)
    if own is not None:
        own(found)
    share([SimpleNamespace(obj=found) for _ in range(cells)])  # type: ignore[list-item]
    found()
    return len(seen)


def test_a_law_without_parameters_has_the_examples_of_the_profile(profile: settings) -> None:
    assert searched(1) == profile.max_examples


@pytest.mark.parametrize("cells", [8, 100])
def test_parameters_of_a_law_share_its_examples(profile: settings, cells: int) -> None:
    each = max(FEWEST, TOGETHER // cells)
    assert each < USUAL
    assert searched(cells) == round(each * profile.max_examples / USUAL)


def test_a_law_that_says_how_many_has_as_many(profile: settings) -> None:
    assert searched(8, examples(20)) == 20 * profile.max_examples / USUAL


def test_the_full_counts_are_those_of_the_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    before = settings.get_current_profile_name()
    settings.load_profile("evidence")
    assert settings.default.max_examples == 2_000
    assert examples(8).max_examples == 8 * 2_000 / USUAL
    found = law_of_numbers()
    share([SimpleNamespace(obj=found)] * 8)  # type: ignore[list-item]
    settings(max_examples=1)(found)  # refused, had it been given settings
    settings.load_profile(before)
    monkeypatch.setenv("SUFFICE_PROFILE", "evidence")
    assert repeats(3, 50) == 50
    monkeypatch.setenv("SUFFICE_PROFILE", "default")
    assert repeats(3, 50) == 3
