"""Sixty exported tables: every column as its author meant."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import pytest

from suffice.tables.table_reading import TableReading
from suffice.training.hooks import Hooks
from suffice.training.training_rows import TrainingRows
from tests.reference.exported_tables import DIALECTS, Dialect, as_read, meant, written
from tests.reference.strangers_exports import STRANGERS

if TYPE_CHECKING:
    from pathlib import Path

KINDS = {"number": "number", "date": "number", "truth": "boolean", "text": "category"}


def test_there_are_sixty_and_each_has_a_name_of_its_own() -> None:
    assert len({one.name for one in DIALECTS}) == len(DIALECTS) == 60
    assert len({one.name for one in (*DIALECTS, *STRANGERS)}) == 110


@pytest.mark.parametrize("dialect", [*DIALECTS, *STRANGERS], ids=lambda one: one.name)
def test_every_column_is_what_its_author_meant(dialect: Dialect, tmp_path: Path) -> None:
    table = written(dialect, tmp_path)
    hooks = Hooks()
    names = dialect.names
    found = TrainingRows.read(str(table), names[-1], TableReading(), (), hooks, seed=0)
    assert found.table.names is not None
    assert found.table.names[: len(names) - 1] == names[:-1], hooks.notes
    for j, (kind, column) in enumerate(meant()[:-1]):
        assert found.table.kinds[j] == KINDS[kind], (names[j], hooks.notes)
        given = found.table.column(j).tolist()
        cells = [None if isinstance(cell, float) and isnan(cell) else cell for cell in given]
        expected = as_read(kind, column, dialect.date)
        if KINDS[kind] == "number":
            assert [cell is None for cell in cells] == [cell is None for cell in expected]
            pairs = zip(cells, expected, strict=True)
            kept = [(c, e) for c, e in pairs if c is not None]
            assert [c for c, _ in kept] == pytest.approx([e for _, e in kept]), names[j]
        else:
            assert cells == expected
    assert sorted(set(found.labels.tolist())) == ["new", "old"]
