"""What a cell means at the command line: which makes categories of numbers, and what is a code."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

import suffice
from suffice import NaiveBayes
from suffice.cli import main
from suffice.errors import OddCells

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Said = pytest.CaptureFixture[str]

ODD = ["about 5", "x12", "5-6", "50%", "5 kg", "007", "12345678901234567", "true"]


def written(path: Path, columns: dict[str, list[object]]) -> Path:
    """Write a CSV."""
    held = io.StringIO()
    table = csv.writer(held, lineterminator="\n")
    table.writerow(columns)
    table.writerows(zip(*columns.values(), strict=True))
    path.write_text(held.getvalue())
    return path


def numbers(odd: str, at: int = 57, size: int = 120) -> dict[str, list[object]]:
    """Return a table with one odd cell among numbers."""
    cells: list[object] = [i % 9 for i in range(size)]
    cells[at] = odd
    return {"z": [i % 5 for i in range(size)], "x": cells, "y": [i % 2 for i in range(size)]}


@pytest.mark.parametrize("odd", ODD)
def test_the_cell_that_makes_categories_of_numbers_is_named(
    odd: str, tmp_path: Path, capsys: Said
) -> None:
    path = written(tmp_path / "a.csv", numbers(odd))
    for command in (
        ["fit", str(path), "-t", "y", "--model", "naive-bayes", "-o", str(tmp_path / "m")],
        ["compare", str(path), "-t", "y", "--model", "naive-bayes"],
        ["report", str(path), "-t", "y", "-o", str(tmp_path / "r.html"), "--no-pictures"],
    )[: 3 if odd == ODD[0] else 2]:
        assert main(command) == 0
        said = capsys.readouterr().err
        told = [line for line in said.splitlines() if "is read as categories" in line]
        assert len(told) == 1, said
        assert f"note: x is read as categories: {path}, line 59: {odd!r}" in told[0]
        assert "1 of 120 cells" in told[0] or odd in ("50%", "5 kg")
    with pytest.warns(OddCells, match="x is read as categories") as warned:
        NaiveBayes().fit(str(path), target="y")
    assert f"line 59: {odd!r}" in str(warned[0].message)


def test_how_many_there_are_is_said_and_the_first_is_named(tmp_path: Path, capsys: Said) -> None:
    table = numbers("abc")
    table["x"][80] = table["x"][90] = "a few"
    path = written(tmp_path / "a.csv", table)
    main(["fit", str(path), "-t", "y", "-o", str(tmp_path / "m"), "--model", "naive-bayes"])
    said = capsys.readouterr().err
    assert (
        "line 59: 'abc' is not a number; 3 of 120 cells that are not blank are not numeric" in said
    )


@pytest.mark.parametrize(
    "cells",
    [
        [f"word {i % 7}" for i in range(120)],
        ["NA" if i % 9 == 0 else i for i in range(120)],
        ["" if i % 9 == 0 else i for i in range(120)],
        [f"A{i % 30}" if i % 3 else str(i % 30) for i in range(120)],  # words, some of them digits
        [f"{i % 12:02d}" for i in range(120) if i % 12 < 10] + ["07"] * 20,
    ],
)
def test_nothing_is_said_of_columns_that_are_what_they_look_like(
    cells: list[object], tmp_path: Path, capsys: Said
) -> None:
    size = len(cells)
    columns: dict[str, list[object]] = {"x": cells, "z": [i % 5 for i in range(size)]}
    path = written(tmp_path / "a.csv", {**columns, "y": [i % 2 for i in range(size)]})
    main(["fit", str(path), "-t", "y", "-o", str(tmp_path / "m"), "--model", "naive-bayes"])
    assert "is read as categories" not in capsys.readouterr().err


def test_an_odd_cell_far_down_a_large_file_is_named_by_its_line(
    tmp_path: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suffice.tables.csv.table.LARGE", 1000)
    monkeypatch.setattr("suffice.tables.csv.blocks.BLOCK", 1 << 12)
    path = written(tmp_path / "a.csv", numbers("abc", at=4321, size=5000))
    path.write_text(path.read_text().replace("3,8,1\n", '3,8,1\n\n"3",8,1\n', 1))  # an empty line
    main(["fit", str(path), "-t", "y", "-o", str(tmp_path / "m"), "--model", "naive-bayes"])
    line = path.read_text()[: path.read_text().index("abc")].count("\n") + 1
    told = f"x is read as categories: {path}, line {line}: 'abc' is not a number; 1 of 5,001 cells"
    assert told in capsys.readouterr().err
    monkeypatch.setattr("suffice.tables.table_file.NUMBERED", 100)
    main(["fit", str(path), "-t", "y", "-o", str(tmp_path / "m"), "--model", "naive-bayes"])
    assert f"{path}, row 4,323: 'abc'" in capsys.readouterr().err


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["0.5", "0.25", "0"], "number"),
        (["-0.5", "0.25", "-0"], "number"),
        (["01", "1", "2"], "category"),
        (["-01", "1", "2"], "category"),
        (["00", "1", "2"], "category"),
        (["00.5", "1", "2"], "number"),
        (["123456789012345", "1", "2"], "number"),
        (["1234567890123456", "1", "2"], "category"),
        (["-1234567890123456", "1", "2"], "category"),
        (["1234567890123456.0", "1", "2"], "number"),
        (["1e30", "1", ""], "number"),
    ],
)
def test_codes_are_told_from_numbers_in_files_of_any_size(
    cells: list[str], kind: str, large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from suffice.tables.table_file import open_table

    if large:
        monkeypatch.setattr("suffice.tables.csv.table.LARGE", 1)
    path = written(tmp_path / "a.csv", {"x": cells, "y": ["1"] * len(cells)})
    table = open_table(path)
    assert table.kinds() == (kind, "number")
    assert sum(chunk.size for chunk in table.chunks()) == len(cells)


def test_codes_are_classes_of_their_own_in_every_command(tmp_path: Path, capsys: Said) -> None:
    labels = ["01", "1", "9007199254740992", "9007199254740993"]
    size = 80
    path = written(
        tmp_path / "a.csv",
        {
            "x": [100 * (i % 4) + i % 7 for i in range(size)],
            "y": [labels[i % 4] for i in range(size)],
        },
    )
    model = str(tmp_path / "m.suffice")
    assert main(["fit", str(path), "-t", "y", "--model", "naive-bayes", "-o", model]) == 0
    assert suffice.load(model).classes_.tolist() == labels
    assert main(["learn", model, str(path)]) == 0
    assert suffice.load(model).statistics_.weight == 160
    assert main(["forget", model, str(path)]) == 0
    assert suffice.load(model).statistics_.weight == 80
    capsys.readouterr()
    assert main(["predict", model, str(path)]) == 0
    found = [row["prediction"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))]
    assert found == [labels[i % 4] for i in range(size)]
    assert main(["sample", model, "-n", "50", "--seed", "0"]) == 0
    assert {row["y"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))} == set(labels)
    assert main(["sql", model, "--table", "t"]) == 0
    assert all(f"'{label}'" in capsys.readouterr().out for label in labels[:1])


def test_a_code_where_numbers_were_is_refused_by_its_line(tmp_path: Path, capsys: Said) -> None:
    path = written(tmp_path / "a.csv", numbers("5"))
    model = str(tmp_path / "m.suffice")
    assert main(["fit", str(path), "-t", "y", "--model", "gda", "-o", model]) == 0
    later = written(tmp_path / "b.csv", numbers("007"))
    for command in ("predict", "learn"):
        capsys.readouterr()
        assert main([command, model, str(later)]) == 1
        said = capsys.readouterr().err
        assert f"{later}, line 59, x: '007' begins with 0, like a code" in said


@pytest.mark.parametrize("model", ["naive-bayes", "auto"])
@pytest.mark.parametrize("write", [str, lambda cell: f"{float(cell):.1f}"], ids=["2", "2.0"])
def test_decimals_that_were_whole_by_chance_are_predicted(
    model: str, write: Callable[[int], str], tmp_path: Path, capsys: Said
) -> None:
    size = 40
    path = written(
        tmp_path / "a.csv",
        {
            "x": [write((i * 7) % 4 + 2 * (i % 2)) for i in range(size)],
            "z": [write(i % 2 if i % 3 else 0) for i in range(size)],
            "y": ["ab"[i % 2] for i in range(size)],
        },
    )
    place = str(tmp_path / "m.suffice")
    assert main(["fit", str(path), "-t", "y", "--model", model, "-o", place]) == 0
    later = written(tmp_path / "b.csv", {"x": ["0.1", "-3", "2.5"], "z": ["0.5", "7", "-1.5"]})
    capsys.readouterr()
    assert main(["predict", place, str(later)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_classes_that_look_the_same_are_named(tmp_path: Path, capsys: Said) -> None:
    labels = ["u", "u ", "v"]
    path = written(
        tmp_path / "a.csv",
        {"x": [i % 7 for i in range(60)], "y": [labels[i % 3] for i in range(60)]},
    )
    model = str(tmp_path / "m.suffice")
    assert main(["fit", str(path), "-t", "y", "--model", "naive-bayes", "-o", model]) == 0
    said = capsys.readouterr().err
    assert "note: y: 'u' and 'u ' are two classes that differ only in blanks" in said
    assert said.count("differ only in blanks") == 1
    more = written(tmp_path / "b.csv", {"x": [1, 2], "y": [" v", "u"]})
    assert main(["learn", model, str(more)]) == 0
    assert "' v' and 'v' are two classes that differ only in blanks" in capsys.readouterr().err
