"""Exports made after all others had been read: every column as its author meant, or asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.reference import unseen_dates, unseen_programs
from tests.reference.made_exports import read_right
from tests.reference.unseen_exports import TABLES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.reference.made_exports import Export

NOT_READ = {
    "months of many languages": {"croatian"},
    "contacts": {"area"},
}
"""What is not read as meant: Croatian's listopad is another month in Polish; `+49` is a number."""


def test_there_are_as_many_as_the_page_says() -> None:
    assert unseen_dates.TABLES is unseen_programs.TABLES is TABLES
    assert len({one.name for one in TABLES}) == len(TABLES) == 49


@pytest.mark.parametrize("export", TABLES, ids=lambda one: one.name)
def test_every_column_is_what_its_author_meant(export: Export, tmp_path: Path) -> None:
    wrong = read_right(export.written(tmp_path), export)
    assert set(wrong) == NOT_READ.get(export.name, set()), wrong
