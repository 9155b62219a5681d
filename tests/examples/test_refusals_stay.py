"""Refusals and warnings say what they said: every sentence is compared with a stored one."""

from __future__ import annotations

import difflib

import pytest

from tests.reference import refusals

GROUPS = refusals.groups()


@pytest.mark.parametrize("group", GROUPS)
def test_every_sentence_is_the_one_that_is_stored(group: str) -> None:
    expected = refusals.stored(group)
    found = refusals.lines(group, refusals.answers(group))
    assert expected, f"{group} is not stored: python -m tests.reference.refusals --write"
    changed = [
        line
        for line in difflib.unified_diff(expected, found, lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    ]
    told = "\n".join(changed)
    assert not changed, f"{told}\nIf this is meant: python -m tests.reference.refusals --write"


def test_nothing_is_stored_that_is_not_asked() -> None:
    every = refusals.STORED.read_text(encoding="utf-8").splitlines()
    assert {line.split(" | ")[0] for line in every} == set(GROUPS)


def test_every_refusal_has_a_hint() -> None:
    for line in refusals.STORED.read_text(encoding="utf-8").splitlines():
        _, name, said = line.split(" | ", 2)
        refused = not said.endswith("accepted") and not said.startswith("exit 0")
        assert not refused or "Hint: " in said, (name, said)
