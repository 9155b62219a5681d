"""Values as people write them, through every command that reads or writes rows."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.storage.model_file import read_model

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 120


def german(value: float) -> str:
    """Write a number with decimal comma and points between thousands."""
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def plain_columns() -> dict[str, list[Any]]:
    """Return what is meant, before anybody writes it down."""
    rng = np.random.default_rng(5)
    label = np.arange(SIZE) % 2
    return {
        "price": np.round(rng.normal(1500 + 800 * label, 500), 2).tolist(),
        "share": np.round(rng.uniform(0, 1, SIZE), 3).tolist(),
        "saldo": np.round(rng.normal(20_000 * label, 9000), 2).tolist(),
        "member": (rng.random(SIZE) < 0.3 + 0.4 * label).tolist(),
        "y": np.where(label, "churned", "stayed").tolist(),
    }


def as_people_write(columns: dict[str, list[Any]]) -> dict[str, list[str]]:
    """Return the same as a spreadsheet exports it, some cells blank in different words."""
    found = {
        "price": [f"(${-v:,.2f})" if v < 0 else f"${v:,.2f}" for v in columns["price"]],
        "share": [f"{100 * v:.1f} %" for v in columns["share"]],
        "saldo": [german(v).replace("-", "\u2212") + " €" for v in columns["saldo"]],
        "member": ["Ja" if v else "nein" for v in columns["member"]],
        "y": columns["y"],
    }
    found["price"][3], found["saldo"][4], found["member"][5] = "n.a.", "#DIV/0!", "—"
    return found


def with_blanks(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return what is meant, with the same cells blank."""
    found = {name: list(cells) for name, cells in columns.items()}
    found["price"][3] = found["saldo"][4] = found["member"][5] = None
    return found


def write(path: Path, columns: dict[str, list[Any]], delimiter: str = ",") -> Path:
    """Write a CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, delimiter=delimiter)
        table.writerow(columns)
        table.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture(name="tables")
def two_tables(tmp_path: Path) -> tuple[Path, Path]:
    """Return the same rows, as people write them and as programs do."""
    columns = plain_columns()
    plain = write(tmp_path / "plain.csv", with_blanks(columns))
    return write(tmp_path / "people.csv", as_people_write(columns)), plain


@pytest.mark.parametrize("model", ["naive-bayes", "gda", "logistic"])
def test_every_command_reads_what_people_write_as_the_plain_table(
    tables: tuple[Path, Path], model: str, run: Any, tmp_path: Path
) -> None:
    people, plain = tables
    files = {}
    for table in tables:
        files[table] = tmp_path / f"{table.stem}.suffice"
        done = run("fit", table, "-t", "y", "--model", model, "-o", files[table])
        assert done.code == 0, done.err
    said = run("fit", people, "-t", "y", "--model", model, "-o", tmp_path / "again").err
    assert "price is read as numbers, in $" in said
    assert "share is read as percentages (31% is 0.31)" in said
    assert "saldo is read as numbers, in €, with decimal commas" in said
    assert "member is read as yes and no (Ja, nein)" in said
    answers = [run("predict", files[table], table, "--proba").out for table in tables]
    assert answers[0] == answers[1]
    reasons = [run("explain", files[table], table, "--row", 2, "--json").out for table in tables]
    assert json.loads(reasons[0]) == json.loads(reasons[1])
    assert run("sql", files[people]).out == run("sql", files[plain]).out
    assert "price must be a number in the database" in run("sql", files[people]).err
    if model == "logistic":
        return
    more = tmp_path / "more.csv"
    drawn = run("sample", files[people], "-n", 40).out
    more.write_text(drawn, "utf-8")
    rows = list(csv.DictReader(io.StringIO(drawn)))
    assert all(row["share"].endswith("%") and "." not in row["saldo"] for row in rows)
    assert {row["member"] for row in rows} <= {"Ja", "nein"}
    for command in ("learn", "forget"):
        for table in (people, more):
            done = run(command, files[people], table)
            assert done.code == 0, done.err
    assert run("predict", files[people], people, "--proba").out == pytest.approx(answers[0])


@pytest.mark.slow
def test_explain_shows_cells_as_the_table_has_them(run: Any, tmp_path: Path) -> None:
    columns = as_people_write(plain_columns())
    days = [f"{1 + place % 28:02d}.{1 + place % 12:02d}.2024" for place in range(SIZE)]
    table = write(tmp_path / "people.csv", {"day": days, **columns})
    model = tmp_path / "m.suffice"
    assert run("fit", table, "-t", "y", "--model", "gda", "-o", model).code == 0
    for place in (0, 3, 5):  # two of them with a blank cell
        said = run("explain", model, table, "--row", place + 1, "--most", 50).out
        shown = dict(line.split(None, 1)[1].split(" = ", 1) for line in said.splitlines()[2:])
        day, month = 1 + place % 28, 1 + place % 12
        assert shown["day"] == f"2024-{month:02d}-{day:02d}"
        blank = {"price": place == 3, "member": place == 5}
        assert shown.get("member", "blank") == (
            "blank" if blank["member"] else columns["member"][place]
        )
        assert shown["share"] == columns["share"][place].replace(" ", "").replace(".0%", "%")
        assert ("price" not in shown) == blank["price"]  # a blank number says nothing
        assert "." not in shown["saldo"]
        assert abs(float(shown["saldo"].replace(",", ".")) - plain_columns()["saldo"][place]) < 0.01


def test_json_numbers_are_what_they_are_whatever_texts_have(
    tables: tuple[Path, Path], run: Any, tmp_path: Path
) -> None:
    people, plain = tables
    model = tmp_path / "m.suffice"
    assert run("fit", people, "-t", "y", "--model", "gda", "-o", model).code == 0
    columns = with_blanks(plain_columns())
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    lines = tmp_path / "rows.jsonl"
    lines.write_text("\n".join(json.dumps(row) for row in rows))
    assert (
        run("predict", model, lines, "--proba").out == run("predict", model, people, "--proba").out
    )
    frame = pd.read_csv(plain)
    frame.to_parquet(tmp_path / "rows.parquet")
    found = run("predict", model, tmp_path / "rows.parquet", "--proba").out
    assert found == run("predict", model, people, "--proba").out


def test_frames_are_read_like_files_and_loaded_models_take_both(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    people, plain = tables
    frame = pd.read_csv(people, dtype=str, keep_default_na=False)
    found = suffice.train(frame, target="y", model="naive-bayes")
    filed = suffice.train(people, target="y", model="naive-bayes")
    expected = filed.estimator.predict_proba(frame)
    np.testing.assert_array_equal(found.estimator.predict_proba(frame), expected)
    found.save(tmp_path / "m.suffice")
    loaded = suffice.load(tmp_path / "m.suffice")
    np.testing.assert_array_equal(loaded.predict_proba(frame), expected)
    np.testing.assert_allclose(loaded.predict_proba(pd.read_csv(plain)), expected, rtol=1e-12)


def test_a_cell_that_is_written_otherwise_is_refused_by_its_line(
    tables: tuple[Path, Path], run: Any, tmp_path: Path
) -> None:
    model = tmp_path / "m.suffice"
    assert run("fit", tables[0], "-t", "y", "--model", "gda", "-o", model).code == 0
    for column, cell in [
        ("price", "£5"), ("price", "1.234,56"), ("share", "31"), ("saldo", "1,234.56"),
        ("member", "maybe"), ("price", "free"),
    ]:  # fmt: skip
        columns = as_people_write(plain_columns())
        columns[column][7] = cell
        later = write(tmp_path / "later.csv", columns)
        for command in ("predict", "learn", "forget"):
            done = run(command, model, later)
            assert done.code == 1
            assert (
                f"{later}, line 9, {column}: {cell!r} does not match the notation of its column"
                in done.err
            )


def test_decimal_says_which_reading_is_meant(run: Any, tmp_path: Path) -> None:
    cells = [f"{1 + i % 9},{100 + i:03d}" for i in range(60)]
    table = write(tmp_path / "a.csv", {"x": cells, "y": ["ab"[i % 2] for i in range(60)]})
    model = tmp_path / "m.suffice"
    fit = ("fit", table, "-t", "y", "--model", "naive-bayes", "-o", model, "--force")
    said = run(*fit).err
    assert f"x: {table}, line 2: '1,100' may be 1100 or 1.1, and is read as 1100" in said
    assert "--decimal , reads it differently" in said
    assert run("sample", model, "-n", 1).out.splitlines()[1].startswith(tuple("123456789"))
    said = run(*fit, "--decimal", ",").err
    assert "x is read as numbers, with decimal commas: '1,100' is 1.1" in said
    assert "reads it differently" not in said
    semicolons = write(table, {"x": cells, "y": ["ab"[i % 2] for i in range(60)]}, ";")
    assert "is read as 1.1;" in run("fit", semicolons, *fit[2:]).err


def test_a_model_of_plain_numbers_takes_decimal_commas_where_that_is_said(
    run: Any, tmp_path: Path
) -> None:
    labels = ["ab"[i % 2] for i in range(40)]
    values = [i * 1.25 + 1000 * (i % 2) for i in range(40)]
    plain = write(tmp_path / "a.csv", {"x": values, "y": labels})
    commas = write(tmp_path / "b.csv", {"x": [german(v) for v in values], "y": labels})
    model = tmp_path / "m.suffice"
    assert run("fit", plain, "-t", "y", "--model", "gda", "-o", model).code == 0
    assert run("predict", model, commas).code == 1
    assert run("predict", model, commas, "--decimal", ",").out == run("predict", model, plain).out


def test_models_of_columns_that_are_written_in_two_ways_are_not_merged(
    tables: tuple[Path, Path], run: Any, tmp_path: Path
) -> None:
    for table in tables:
        out = tmp_path / f"{table.stem}.suffice"
        assert run("fit", table, "-t", "y", "--model", "gda", "-o", out).code == 0
    one, other = tmp_path / "people.suffice", tmp_path / "plain.suffice"
    assert run("merge", one, one, "-o", tmp_path / "both.suffice").code == 0
    done = run("merge", one, other, "-o", tmp_path / "no.suffice")
    assert done.code == 1
    assert "member uses two notations: yes and no (Ja, nein); plain" in done.err


def test_inspect_says_how_cells_are_written(
    tables: tuple[Path, Path], run: Any, tmp_path: Path
) -> None:
    model, plain = tmp_path / "m.suffice", tmp_path / "plain.suffice"
    assert run("fit", tables[0], "-t", "y", "--model", "gda", "-o", model).code == 0
    assert run("fit", tables[1], "-t", "y", "--model", "gda", "-o", plain).code == 0
    said = run("inspect", model).out.split("Formats of columns\n")[1].splitlines()
    assert said[:4] == [
        "  price: numbers, in $",
        "  share: percentages (31% is 0.31)",
        "  saldo: numbers, in €, with decimal commas",
        "  member: yes and no (Ja, nein)",
    ]
    told = json.loads(run("inspect", model, "--json").out)["formats"]
    assert [f"  {name}: {words}" for name, words in told.items()] == said[:4]
    assert "Formats of columns" not in run("inspect", plain).out


def test_files_of_plain_tables_hold_nothing_new(
    tables: tuple[Path, Path], run: Any, tmp_path: Path
) -> None:
    model = tmp_path / "m.suffice"
    assert run("fit", tables[1], "-t", "y", "--model", "gda", "-o", model).code == 0
    held: Any = read_model(model).state["table"]
    assert set(held) == {"target", "filled", "dropped", "decimals", "rates", "shown", "bins"}


def test_labels_stay_the_words_that_they_are(run: Any, tmp_path: Path) -> None:
    table = write(
        tmp_path / "a.csv",
        {
            "x": [f"{i % 7},5" for i in range(40)],
            "y": ["yes" if i % 2 else "no" for i in range(40)],
        },
    )
    model = tmp_path / "m.suffice"
    assert run("fit", table, "-t", "y", "--model", "naive-bayes", "-o", model).code == 0
    assert suffice.load(model).classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["$5", "€6"], "line 2: '$5' and {path}, line 3: '€6' are two currencies"),
        (
            ["1.234,5", "1,234.5"],
            "line 2: '1.234,5' has a decimal comma, {path}, line 3: '1,234.5'",
        ),
        (["5%", "6"], "line 2: '5%' is a percentage, and 30 of 60 cells"),
        (
            ["12 kg", "13 kg"],
            "line 2: '12 kg' has a unit; --column x=number reads the number",
        ),
        (["12 kg", "13 g"], "line 2: '12 kg' and {path}, line 3: '13 g' are two units"),
    ],
)
def test_what_is_not_read_as_numbers_is_named_with_its_cell(
    cells: list[str], said: str, run: Any, tmp_path: Path
) -> None:
    path = write(
        tmp_path / "a.csv",
        {
            "x": cells * 30,
            "z": [i % 5 for i in range(60)],
            "y": ["ab"[i % 3 > 0] for i in range(60)],
        },
    )
    done = run("fit", path, "-t", "y", "--model", "naive-bayes", "-o", tmp_path / "m")
    assert f"x is read as categories: {path}, " + said.format(path=path) in done.err


def test_large_files_are_read_like_small_ones(
    tables: tuple[Path, Path], run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = run("fit", tables[0], "-t", "y", "--model", "gda", "-o", tmp_path / "small.suffice")
    monkeypatch.setattr("suffice.tables.csv.table.LARGE", 1)
    monkeypatch.setattr("suffice.tables.csv.blocks.BLOCK", 1 << 11)
    large = run("fit", tables[0], "-t", "y", "--model", "gda", "-o", tmp_path / "large.suffice")
    assert small.err.replace("small.suffice", "") == large.err.replace("large.suffice", "")
    answers = [
        run("predict", tmp_path / f"{name}.suffice", tables[0], "--proba").out
        for name in ("small", "large")
    ]
    assert answers[0] == answers[1]
