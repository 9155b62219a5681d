"""Headers that stand again between the rows, as on the pages of a report, are no rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice.errors import BadRows, GuessedTable
from suffice.tables.csv.table import LARGE, CsvTable
from suffice.tables.table_bytes import TableBytes
from tests.searches import examples

if TYPE_CHECKING:
    from pathlib import Path

HEADER = "size,shop,y"
BETWEEN = ("", "Page 2 of 3", "Orders of 2024,", '"a, quoted title"')


def _rows(size: int) -> list[str]:
    return [f"{i % 17}.5,{('north', 'south')[i % 2]},{'ab'[i % 3 > 0]}" for i in range(size)]


def _cells(place: Path) -> list[list[str]]:
    """Return the columns of a table as text; what is guessed on the way is passed over."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuessedTable)
        found = CsvTable(TableBytes(place))
        parts = [chunk.columns for chunk in found.text_chunks(7)]
    return [[cell for part in parts for cell in part[j]] for j in range(len(found.names))]


@examples(40)
@given(
    st.lists(st.integers(1, 40), max_size=4),
    st.lists(st.sampled_from(BETWEEN), max_size=4),
    st.sampled_from(["\n", "\r\n"]),
)
def test_rows_are_those_without_the_headers_that_come_again(
    tmp_path_factory: Any, places: list[int], between: list[str], ending: str
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    rows = _rows(41)
    (folder / "plain.csv").write_text(ending.join([HEADER, *rows]) + ending)
    pages = list(rows)
    for place in sorted(set(places), reverse=True):
        pages[place:place] = [*between, HEADER]
    (folder / "pages.csv").write_text(ending.join([HEADER, *pages]) + ending)
    assert _cells(folder / "pages.csv") == _cells(folder / "plain.csv")


def test_it_is_said_once_and_fit_and_predict_take_the_same_rows(tmp_path: Path) -> None:
    rows = _rows(60)
    pages = [*rows[:20], "", "Page 2", HEADER, *rows[20:40], HEADER, *rows[40:]]
    for name, lines in (("plain", rows), ("pages", pages)):
        (tmp_path / f"{name}.csv").write_text("\n".join([HEADER, *lines]) + "\n")
    found = [
        suffice.train(tmp_path / f"{name}.csv", target="y", model="naive-bayes")
        for name in ("plain", "pages")
    ]
    said = f"{tmp_path}/pages.csv: line 24 is the header again; it and what stands above it are"
    assert [note for note in found[1].notes if "header again" in note] == [f"{said} left out"]
    asked = [[3.5, "north"], [9.5, "south"]]
    np.testing.assert_array_equal(
        found[0].estimator.predict_proba(asked), found[1].estimator.predict_proba(asked)
    )


def test_narrow_rows_that_no_header_follows_are_refused_by_their_line(tmp_path: Path) -> None:
    rows = _rows(20)
    place = tmp_path / "a.csv"
    for lines in ([*rows[:9], "Page 2", *rows[9:]], [*rows[:9], "1.5,north", HEADER, "2", *rows]):
        place.write_text("\n".join([HEADER, *lines]) + "\n")
        line = lines.index("Page 2" if "Page 2" in lines else "2") + 2
        with pytest.raises(BadRows, match=f"line {line}: 1 cell"):
            _cells(place)


def test_a_cell_that_is_the_name_of_its_column_is_a_cell(tmp_path: Path) -> None:
    place = tmp_path / "a.csv"
    place.write_text("size,shop\nsize,north\n1,shop\n")
    assert _cells(place) == [["size", "1"], ["north", "shop"]]
    place.write_text("shop\nnorth\nshop\nsouth\n")
    assert _cells(place) == [["north", "shop", "south"]]


@pytest.mark.slow
def test_a_large_file_is_read_like_a_small_one(tmp_path: Path) -> None:
    rows = _rows(LARGE // 12)
    place = tmp_path / "large.csv"
    half = len(rows) // 2
    place.write_text("\n".join([HEADER, *rows[:half], HEADER, *rows[half:]]) + "\n")
    found = suffice.train(place, target="y", model="naive-bayes")
    assert found.table == "2 columns: 1 numeric, 1 categorical"
    assert any(f"line {half + 2:,} is the header again" in note for note in found.notes)
    assert f"of {len(rows):,} rows" in repr(found)
