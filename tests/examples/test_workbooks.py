"""Sheets of workbooks: real cells, titles, merged cells, totals, and archives that lie."""

from __future__ import annotations

import datetime as dt
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from suffice.errors import BadFile, BadRows, BadSetting, GuessedTable, SufficeError
from suffice.tables.table_file import open_table
from suffice.tables.workbooks import archive
from tests.reference.workbooks import made, rows

if TYPE_CHECKING:
    from pathlib import Path

    from tests.reference.workbooks import Sheet


def read(path: Path, **how: Any) -> tuple[dict[str, list[Any]], list[str]]:
    """Return the columns of a sheet, and what was said about it."""
    said: list[str] = []
    table = open_table(path, on_guess=said.append, **how)
    found: dict[str, list[Any]] = {name: [] for name in table.names}
    for chunk in table.chunks():
        for j, name in enumerate(table.names):
            found[name] += chunk.column(j).tolist()
    return found, said


@pytest.mark.parametrize("epoch", [None, CALENDAR_MAC_1904])
def test_cells_are_what_they_are_in_both_epochs(epoch: Any, tmp_path: Path) -> None:
    def fill(book: Any, sheet: Sheet) -> None:
        if epoch is not None:
            book.epoch = epoch
        sheet.append(["n", "word", "ok", "day", "at", "time", "code"])
        day, at = dt.date(2024, 1, 5), dt.datetime(2024, 1, 5, 18, 30)  # noqa: DTZ001
        sheet.append([1.5, "red", True, day, at, dt.time(10, 30), "007"])
        sheet.append([-2, None, False, None, at, dt.time(0, 5), "008"])

    found, said = read(made(tmp_path / "a.xlsx", fill))
    assert not said
    assert found == {
        "n": [1.5, -2.0],
        "word": ["red", None],
        "ok": [True, False],
        "day": ["2024-01-05", None],
        "at": ["2024-01-05T18:30:00", "2024-01-05T18:30:00"],
        "time": ["10:30:00", "00:05:00"],
        "code": ["007", "008"],
    }


def test_a_report_with_titles_groups_totals_and_remarks_is_its_table(tmp_path: Path) -> None:
    def fill(_: Any, sheet: Sheet) -> None:
        for row in (
            ["Sales by quarter"],
            ["printed", dt.date(2024, 5, 1)],
            [],
            ["2023", None, "2024", None, None],
            ["Q1", "Q2", "Q1", "Q2", "class"],
            *([i, i + 1, i + 2, i / 7, "ab"[i % 2]] for i in range(9)),
            ["Total", 45, 54, 5.1],
            [],
            ["Source: our own"],
        ):
            sheet.append(row)
        sheet.merge_cells("A4:B4")
        sheet.merge_cells("C4:D4")

    path = made(tmp_path / "a.xlsx", fill)
    found, said = read(path)
    assert list(found) == ["2023 Q1", "2023 Q2", "2024 Q1", "2024 Q2", "class"]
    assert found["2023 Q1"] == list(range(9))
    assert [one.removeprefix(f"{path}: ") for one in said] == [
        "row 5 under 4 names the columns",
        "row 17 is a remark and is left out",
        "row 15, 'Total', holds totals and is left out",
    ]
    with pytest.warns(GuessedTable):
        open_table(path)


def test_merged_cells_below_the_header_stand_for_all_their_rows(tmp_path: Path) -> None:
    def fill(_: Any, sheet: Sheet) -> None:
        sheet.append(["region", "y"])
        for i in range(6):
            sheet.append([{0: "north", 3: "south"}.get(i), "ab"[i % 2]])
        sheet.merge_cells("A2:A4")
        sheet.merge_cells("A5:A6")

    found, said = read(made(tmp_path / "a.xlsx", fill))
    assert found["region"] == ["north"] * 3 + ["south"] * 2 + [None]
    assert said[0].endswith("merged cells of region are repeated in each of their rows")


def test_the_sheet_is_named_by_name_or_number_and_the_choice_is_said(tmp_path: Path) -> None:
    def fill(book: Any, sheet: Sheet) -> None:
        sheet.append(["a", "y"])
        sheet.append([1, "b"])
        sheet.title = "first & <one>"
        other = book.create_sheet("2")
        other.append(["c"])
        other.append([5])
        hidden = book.create_sheet("hidden")
        hidden.sheet_state = "hidden"

    path = made(tmp_path / "a.xlsx", fill)
    found, said = read(path)
    assert list(found) == ["a", "y"]
    assert said[0].endswith("2 sheets, first & <one>, 2: 'first & <one>' is read")
    assert read(path, sheet="2") == ({"c": [5.0]}, [])
    assert read(path, sheet="1") == ({"a": [1.0], "y": ["b"]}, [])
    with pytest.raises(BadFile, match="sheet 'hidden' is empty"):
        read(path, sheet="hidden")
    with pytest.raises(BadSetting, match="has no sheet 'third'"):
        read(path, sheet="third")
    table = tmp_path / "a.csv"
    table.write_text("a,b\n1,2\n")
    with pytest.raises(BadSetting, match="is not a workbook"):
        read(table, sheet="third")


@pytest.mark.parametrize(
    ("given", "how", "names"),
    [
        ([[1, 2], [3, 4]], {}, ["x0", "x1"]),
        ([[2020, 2021], [3, 4]], {"header": True}, ["2020", "2021"]),
        ([["a", None, "y"], [1, 2, "b"]], {}, ["a", "column 2", "y"]),
        ([["a", None, "y"], [1, None, "b"]], {}, ["a", "y"]),
        ([["x", "y"], ["a", "b"]], {"header": False}, ["x0", "x1"]),
        ([["Remark", None, "of", "us"], ["size", 1900, "y"], [1, 2, "b"]],
         {"expected": ("y",)}, ["size", "1900", "y"]),
    ],
)  # fmt: skip
def test_the_header_is_found_or_asked_for(
    given: list[list[Any]], how: dict[str, Any], names: list[str], tmp_path: Path
) -> None:
    assert list(read(made(tmp_path / "a.xlsx", rows(*given)), **how)[0]) == names


def test_formulas_without_a_stored_value_are_blank_and_named(tmp_path: Path) -> None:
    given = [["a", "b"], *([i, f"=A{i + 2}*2"] for i in range(4))]
    found, said = read(made(tmp_path / "a.xlsx", rows(*given)))
    assert found["b"] == pytest.approx([float("nan")] * 4, nan_ok=True)
    assert "the formula in B2, and 3 others has no stored value and is blank" in said[0]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ([["a", "a", "y"], [1, 2, "b"]], "row 1: more than one column is named a"),
        ([["a", "y"]], "has no rows"),
        ([], "sheet 'Sheet' is empty"),
    ],
)
def test_a_sheet_without_a_table_is_refused(
    given: list[list[Any]], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(SufficeError, match=problem):
        read(made(tmp_path / "a.xlsx", rows(*given)))


def test_one_cell_far_away_is_refused_before_memory_is_taken(tmp_path: Path) -> None:
    def fill(_: Any, sheet: Sheet) -> None:
        sheet["A1"], sheet["XFD1048576"] = 1, 2

    with pytest.raises(BadFile, match="spans 1,048,576 rows and 16,384 columns"):
        read(made(tmp_path / "a.xlsx", fill))


def forged(path: Path, member: str, content: bytes) -> Path:
    """Write a workbook again with another content of one member."""
    with zipfile.ZipFile(made(path, rows(["a", "y"], [1, "b"]))) as held:
        kept = {name: held.read(name) for name in held.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as held:
        for name, text in {**kept, member: content}.items():
            held.writestr(name, text)
    return path


def test_what_unpacks_to_more_than_is_read_is_refused_by_what_it_declares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "IN_ALL", 1 << 20)
    monkeypatch.setattr(archive, "BLOCK", 0)  # nothing is unpacked before that
    path = forged(tmp_path / "a.xlsx", "xl/worksheets/sheet1.xml", b" " * (1 << 21))
    with pytest.raises(BadFile, match=r"sheet1\.xml unpack to 2,097,152"):
        read(path)


def test_a_member_that_is_larger_than_it_declares_is_refused(tmp_path: Path) -> None:
    path = forged(tmp_path / "a.xlsx", "xl/sharedStrings.xml", b" " * 100_000)
    content = path.read_bytes()
    size = (100_000).to_bytes(4, "little")
    assert content.count(size) == 2  # in the member's own head, and in the directory
    path.write_bytes(content.replace(size, (50).to_bytes(4, "little")))
    with pytest.raises(BadFile, match="damaged workbook"):
        read(path)


@pytest.mark.parametrize("kept", [0.3, 0.7, 0.99])
def test_a_workbook_that_is_cut_short_is_refused(kept: float, tmp_path: Path) -> None:
    path = made(tmp_path / "a.xlsx", rows(["a", "y"], *([i, "b"] for i in range(99))))
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(BadFile, match="damaged zip file"):
        read(path)


@pytest.mark.parametrize("place", range(5, 100, 7))
def test_damaged_bytes_are_refused_or_change_nothing(place: int, tmp_path: Path) -> None:
    path = made(tmp_path / "a.xlsx", rows(["a", "y"], *([i, "bc"[i % 2]] for i in range(30))))
    content = bytearray(path.read_bytes())
    at = place * len(content) // 100
    content[at : at + 8] = bytes(255 - byte for byte in content[at : at + 8])
    sound = read(path)
    path.write_bytes(content)
    found = None
    with suppress(BadFile, BadRows):
        found = read(path)
    assert found in (None, sound)


def test_other_archives_and_old_spreadsheets_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w") as held:
        held.writestr("a", "b")
    with pytest.raises(BadFile, match=r"a zip file \(such as a model\) and not a workbook"):
        read(path)
    path.write_bytes(b"\xd0\xcf\x11\xe0" + b"E\0n\0c\0" * 100)
    with pytest.raises(BadFile, match="an old spreadsheet, or a workbook with a password"):
        read(path)
