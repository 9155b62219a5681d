"""What a column is holds wherever rows come from, and in whatever is done with them."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import suffice
from suffice.errors import SufficeError
from suffice.rows import read_table
from tests.reference.workbooks import made, rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIZE = 120


def table() -> dict[str, list[Any]]:
    """Return columns in notations of their own, and labels that all of them tell of."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, SIZE)
    amounts = rng.lognormal(6 + 0.8 * y, 1.0)
    sums = rng.normal(400.0 * y, 900.0)
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 200, SIZE) + 90 * y, "D")
    words = ["cheap pills", "see you", "win now", "lunch at one"]
    return {
        "paid": [f"{v:,.2f} €".translate(str.maketrans(",.", ".,")) for v in amounts],
        "share": [f"{v:.1f} %".replace(".", ",") for v in rng.uniform(0, 90, SIZE) + 10 * y],
        "day": [f"{d:%d.%m.%Y}" for d in days],
        "balance": [f"{abs(v):.2f} {'Cr' if v >= 0 else 'Dr'}".replace(".", ",") for v in sums],
        "level": [("low", "medium", "high")[int(v)] for v in rng.integers(0, 2, SIZE) + y],
        "marked": ["x" if v else "" for v in rng.random(SIZE) < 0.3 + 0.4 * y],
        "member": [("ja", "nein")[int(v)] for v in rng.random(SIZE) < 0.6 - 0.3 * y],
        "code": [str(3 * int(v)) for v in rng.integers(0, 4, SIZE)],
        "note": [f"{words[int(v)]} box{i} of {words[int(v) - 1]}"
                 for i, v in enumerate(rng.integers(0, 2, SIZE) + 2 * y)],
        "y": [("old", "new")[int(v)] for v in y],
    }  # fmt: skip


DECLARED = {"level": "ordered", "code": "category", "note": "text", "day": "date-dmy"}


def _csv(columns: dict[str, list[Any]], folder: Path) -> Path:
    place = folder / "t.csv"
    held = io.StringIO(newline="")
    writer = csv.writer(held, delimiter=";")
    writer.writerows([columns, *zip(*columns.values(), strict=True)])
    place.write_text(held.getvalue(), "utf-8")
    return place


def _lines(columns: dict[str, list[Any]], folder: Path) -> Path:
    place = folder / "t.jsonl"
    table = zip(*columns.values(), strict=True)
    lines = (json.dumps(dict(zip(columns, row, strict=True))) for row in table)
    place.write_text("\n".join(lines) + "\n", "utf-8")
    return place


def _sheet(columns: dict[str, list[Any]], folder: Path) -> Path:
    body = [list(row) for row in zip(*columns.values(), strict=True)]
    return made(folder / "t.xlsx", rows(list(columns), *body))


def _parquet(columns: dict[str, list[Any]], folder: Path) -> Path:
    parquet.write_table(pa.table(columns), folder / "t.parquet")
    return folder / "t.parquet"


def _arrow(columns: dict[str, list[Any]], folder: Path) -> Path:
    feather.write_feather(pa.table(columns), str(folder / "t.arrow"))
    return folder / "t.arrow"


SOURCES: dict[str, Callable[[dict[str, list[Any]], Path], Any]] = {
    "csv": _csv,
    "json lines": _lines,
    "xlsx": _sheet,
    "parquet": _parquet,
    "arrow": _arrow,
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "polars": lambda columns, _: pl.DataFrame(columns),
    "pyarrow": lambda columns, _: pa.table(columns),
}
"""Ways to hold a table of texts."""
FILES = ("csv", "json lines", "xlsx", "parquet", "arrow")


def trained(data: Any, **how: Any) -> Any:
    """Return naive Bayes of a table, as told what some of its columns are."""
    return suffice.train(
        data, target="y", model="naive-bayes", columns={**DECLARED, **how}, time_limit=0.01
    )


@pytest.fixture(scope="module")
def first(tmp_path_factory: Any) -> Any:
    """Return the model of a CSV, and its file."""
    folder = tmp_path_factory.mktemp("first")
    found = trained(_csv(table(), folder))
    found.save(folder / "m.suffice")
    return found, folder / "m.suffice"


def asked() -> pd.DataFrame:
    """Return rows to ask about."""
    return pd.DataFrame(table()).drop(columns="y").head(20)


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_model(source: str, first: Any, tmp_path: Path) -> None:
    found = trained(SOURCES[source](table(), tmp_path))
    np.testing.assert_allclose(
        found.estimator.predict_proba(asked()), first[0].estimator.predict_proba(asked()),
        rtol=1e-9, atol=1e-12,
    )  # fmt: skip
    columns = found.estimator.learned_.columns
    kinds = dict(zip(columns.names, [c.kind for c in columns.columns], strict=True))
    assert kinds["marked"] == kinds["member"] == "boolean"
    assert kinds["code"] == kinds["level"] == "category"
    assert all(kinds[name] == "number" for name in ("paid", "share", "day", "balance"))


@pytest.mark.parametrize("source", FILES)
def test_commands_read_later_rows_of_every_source_alike(
    source: str, first: Any, run: Any, tmp_path: Path
) -> None:
    model = tmp_path / "m.suffice"
    model.write_bytes(first[1].read_bytes())
    place = SOURCES[source](table(), tmp_path)
    done = run("predict", model, place, "--proba", "--json")
    assert done.code == 0, done.err
    said = [json.loads(line) for line in done.out.splitlines()]
    found = first[0].estimator.predict_proba(asked())
    names = [str(name) for name in first[0].estimator.classes_]
    told = [[row["probabilities"][name] for name in names] if "probabilities" in row
            else [row[f"p({name})"] for name in names] for row in said[:20]]  # fmt: skip
    np.testing.assert_allclose(told, found, atol=1e-6)
    assert run("learn", model, place).code == 0
    assert run("forget", model, place).code == 0
    back = suffice.load(model).predict_proba(asked())
    np.testing.assert_allclose(back, found, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("within", ["--within", "--beyond"])
def test_what_is_drawn_is_read_again(within: str, first: Any, run: Any, tmp_path: Path) -> None:
    done = run("sample", first[1], "-n", "50", within)
    assert done.code == 0, done.err
    assert not done.err
    drawn = tmp_path / "drawn.csv"
    drawn.write_text(done.out, "utf-8")
    cells = list(csv.DictReader(io.StringIO(done.out)))
    assert all(row["note"] for row in cells)
    assert {row["marked"] for row in cells} == {"x", ""}
    assert {row["member"] for row in cells} == {"ja", "nein"}
    assert all(row["share"].endswith("%") for row in cells)
    again = run("predict", first[1], drawn)
    assert again.code == 0, again.err


def test_pages_and_servers_and_queries_take_such_models(
    first: Any, run: Any, tmp_path: Path
) -> None:
    done = run("page", first[1], "-o", tmp_path / "page.html")
    assert done.code != 0  # pages have no law of texts beside columns
    assert "texts beside other columns" in done.err
    done = run("sql", first[1], "--table", "t")
    assert done.code != 0  # texts are no numbers of a database
    assert "text" in done.err
    plain = trained(_csv(table(), tmp_path), note="ignore")
    plain.save(tmp_path / "plain.suffice")
    done = run("page", tmp_path / "plain.suffice", "-o", tmp_path / "page.html")
    assert done.code == 0, done.err
    done = run("sql", tmp_path / "plain.suffice", "--table", "t")
    assert done.code == 0, done.err
    assert "marked" in done.err or "paid" in done.err  # what the database has to hold


GOOD: dict[str, list[str]] = {
    "number": ["12", "7,5", "1.200", "8", "-3,25"], "category": ["3", "4", "5"],
    "ordered": ["low", "high"],
    "date": ["5.1.2024", "13.2.2024"], "date-mdy": ["1/5/2024", "2/13/2024"],
    "text": ["see you", "at lunch"], "id": ["a1", "b2"], "ignore": ["?", "!"],
}  # fmt: skip
"""Cells that are of a declared kind."""
BAD = {
    "number": "twelve", "ordered": "purple", "date": "soon", "date-mdy": "13/13/2024",
}  # fmt: skip
"""A cell that is not; of the other kinds every cell is."""


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", GOOD)
def test_a_declared_kind_is_kept_or_refused_with_its_cell(
    kind: str, source: str, tmp_path: Path
) -> None:
    cells = [GOOD[kind][i % len(GOOD[kind])] for i in range(40)]
    columns = {"size": [str(i % 7) + ",5" for i in range(40)], "x": cells,
               "y": ["ab"[i % 3 > 0] for i in range(40)]}  # fmt: skip
    how = {"target": "y", "model": "naive-bayes", "columns": {"x": kind}, "time_limit": 0.01}
    found = suffice.train(SOURCES[source](columns, tmp_path), **how)
    names = found.estimator.learned_.columns.names
    if kind in ("id", "ignore"):
        assert "x" not in names
    else:
        kept = found.estimator.learned_.columns.columns[names.index("x")].kind
        assert kept == ("number" if kind in ("number", "date", "date-mdy") else "category")
    if kind not in BAD:
        return
    columns["x"][17] = BAD[kind]
    with pytest.raises(SufficeError) as refused:
        suffice.train(SOURCES[source](columns, tmp_path), **how)
    assert "x" in str(refused.value)
    assert BAD[kind] in str(refused.value)
    assert "Hint" in str(refused.value)


def test_rows_typed_as_numbers_are_what_written_ones_are(first: Any) -> None:
    names = first[0].estimator.learned_.columns.names
    written = asked()
    learned = first[0].estimator.learned_
    cells = learned.rows(read_table(written[[*names]])) if hasattr(learned, "rows") else None
    assert cells is not None
    typed = written.assign(
        marked=written["marked"].eq("x"), member=written["member"].eq("ja"),
        day=pd.to_datetime(written["day"], format="%d.%m.%Y"),
    )  # fmt: skip
    estimator = first[0].estimator
    np.testing.assert_allclose(
        estimator.predict_proba(typed), estimator.predict_proba(written), rtol=1e-12
    )
