"""Whole numbers that doubles cannot tell apart, and codes made of digits: none is merged."""

from __future__ import annotations

import warnings
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

import suffice
from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes, Perceptron
from suffice.errors import RoundedNumbers, SimilarLabels, SufficeError
from suffice.estimators.sql import to_sql
from suffice.rows import read_labels, read_table
from suffice.tables.csv.cells import is_code
from tests.searches import examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BIG = 2**53
Y = [0, 1] * 10
CODES = [BIG + y for y in Y]
"""One double, and two numbers."""

COLUMNS: dict[str, Callable[[list[int]], Any]] = {
    "int64 array": lambda c: np.array(c)[:, None],
    "uint64 array": lambda c: np.array(c, dtype=np.uint64)[:, None],
    "by column": lambda c: np.asfortranarray(np.array(c)[:, None]),
    "object array": lambda c: np.array([[v] for v in c], dtype=object),
    "masked array": lambda c: np.ma.array(np.array(c)[:, None], mask=False),
    "lists": lambda c: [[v] for v in c],
    "NumPy's integers in lists": lambda c: [[np.int64(v)] for v in c],
    "decimals in lists": lambda c: [[Decimal(v)] for v in c],
    "pandas int64": lambda c: pd.DataFrame({"x0": c}),
    "pandas Int64": lambda c: pd.DataFrame({"x0": pd.array(c, dtype="Int64")}),
    "pandas uint64": lambda c: pd.DataFrame({"x0": np.array(c, dtype=np.uint64)}),
    "pandas object": lambda c: pd.DataFrame({"x0": pd.Series(c, dtype=object)}),
    "pandas arrow": lambda c: pd.DataFrame({"x0": pd.array(c, dtype="int64[pyarrow]")}),
    "pandas category": lambda c: pd.DataFrame({"x0": pd.Categorical(c)}),
    "Polars Int64": lambda c: pl.DataFrame({"x0": c}),
    "Polars UInt64": lambda c: pl.DataFrame({"x0": pl.Series(c, dtype=pl.UInt64)}),
    "Polars Int128": lambda c: pl.DataFrame({"x0": pl.Series(c, dtype=pl.Int128)}),
    "Polars Decimal": lambda c: pl.DataFrame({"x0": [Decimal(v) for v in c]}),
    "Arrow int64": lambda c: pa.table({"x0": pa.array(c, pa.int64())}),
    "Arrow uint64": lambda c: pa.table({"x0": pa.array(c, pa.uint64())}),
    "Arrow decimal": lambda c: pa.table({"x0": pa.array(map(Decimal, c), pa.decimal128(38, 0))}),
    "Arrow dictionary": lambda c: pa.table({"x0": pa.array(c).dictionary_encode()}),
}
BLANK: dict[str, Callable[[list[Any]], Any]] = {
    "lists": lambda c: [[v] for v in c],
    "pandas Int64": lambda c: pd.DataFrame({"x0": pd.array(c, dtype="Int64")}),
    "Polars": lambda c: pl.DataFrame({"x0": c}),
    "Arrow": lambda c: pa.table({"x0": c}),
    "masked": lambda c: np.ma.array(
        [[v or 0] for v in c], dtype=np.int64, mask=[[v is None] for v in c]
    ),
}


@pytest.mark.parametrize("families", ["categorical", "auto", "select"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_whole_numbers_beyond_doubles_are_categories_of_their_own(kind: str, families: str) -> None:
    rows = COLUMNS[kind](CODES)
    model = NaiveBayes(families).fit(rows, Y)
    assert model.predict(rows).tolist() == Y
    if model.families_["x0"] == "categorical":
        assert list(model.parameters_["x0"][0]) == [BIG, BIG + 1]
    if families == "categorical":
        model.partial_fit(COLUMNS[kind]([BIG + 3] * 4), [1] * 4)
        model.forget(COLUMNS[kind]([BIG + 3] * 4), [1] * 4)
        assert list(model.parameters_["x0"][0]) == [BIG, BIG + 1]


@pytest.mark.parametrize("kind", BLANK)
def test_blanks_beside_them_merge_nothing(kind: str) -> None:
    model = NaiveBayes("categorical").fit(BLANK[kind]([*CODES, None]), [*Y, 1])
    assert list(model.parameters_["x0"][0]) == [BIG, BIG + 1]


@pytest.mark.parametrize("kind", sorted(set(COLUMNS) - {"pandas category", "Arrow dictionary"}))
def test_as_numbers_they_are_rounded_and_that_is_said(kind: str) -> None:
    rows = COLUMNS[kind](CODES)
    for model in (GaussianDiscriminant(), NaiveBayes("gaussian"), LogisticRegression()):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with suppress(SufficeError):  # a column of one number is none to learn from
                model.fit(rows, Y)
        words = [str(one.message) for one in told if one.category is RoundedNumbers]
        assert words
        assert f"{BIG} and {BIG + 1} are one number" in words[0]


def test_numbers_that_stay_apart_as_doubles_are_not_spoken_of() -> None:
    moments = np.array([1_700_000_000_000_000_000 + 10**9 * i for i in range(20)])[:, None]
    GaussianDiscriminant().fit(moments, Y)  # warnings are errors


LABELS: dict[str, Callable[[list[int]], Any]] = {
    "list": list,
    "tuple": tuple,
    "int64": np.array,
    "uint64": lambda y: np.array(y, dtype=np.uint64),
    "object": lambda y: np.array(y, dtype=object),
    "masked": np.ma.array,
    "pandas": pd.Series,
    "pandas Int64": lambda y: pd.Series(pd.array(y, dtype="Int64")),
    "pandas category": lambda y: pd.Series(pd.Categorical(y)),
    "Polars": pl.Series,
    "Polars Int128": lambda y: pl.Series(y, dtype=pl.Int128),
    "Arrow": pa.array,
    "Arrow decimal": lambda y: pa.array(map(Decimal, y), pa.decimal128(38, 0)),
    "one more float": lambda y: [*y[:-1], float(BIG)],
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_beyond_doubles_are_classes_of_their_own(kind: str) -> None:
    for labels in (CODES, [v + 2 * BIG for v in CODES]):
        y = LABELS[kind](labels)
        if kind == "one more float" and labels is not CODES:
            continue
        rows = np.arange(20.0)[:, None] + 100.0 * np.array(Y)[:, None]
        for model in (GaussianDiscriminant(), NaiveBayes("gaussian"), Perceptron()):
            assert [int(c) for c in model.fit(rows, y).classes_] == sorted(set(labels))


def test_labels_of_either_sign_are_not_made_doubles() -> None:
    labels = [2**63 + 5, 2**63 + 6, -1]
    assert read_labels(labels).classes.tolist() == sorted(labels)


@given(
    st.lists(st.integers(-(2**80), 2**80) | st.integers(BIG - 4, BIG + 4), min_size=2, max_size=9),
    st.sampled_from(["lists", "object array"]),
)
@examples(30)
def test_every_whole_number_is_a_level_of_its_own(values: list[int], kind: str) -> None:
    table = read_table(COLUMNS[kind](values))
    assert [int(v) for v in table.exact(0)] == values
    np.testing.assert_array_equal(table.column(0), np.array(values, dtype=np.float64))
    assert [int(v) for v in table.rows([0, -1]).take([0]).exact(0)] == [values[0], values[-1]]


@pytest.mark.parametrize("written", ["parquet", "arrow", "csv", "jsonl"])
def test_files_merge_no_codes_as_labels_and_as_columns(written: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{written}"
    frame = pa.table({"c": CODES, "x": [float(i % 7) for i in range(20)], "y": CODES})
    if written == "parquet":
        parquet.write_table(frame, path)
    elif written == "arrow":
        feather.write_feather(frame, path, compression="uncompressed")
    elif written == "csv":
        path.write_text("c,x,y\n" + "".join(f"{c},{i % 7},{c}\n" for i, c in enumerate(CODES)))
    else:
        lines = (f'{{"c": {c}, "x": {i % 7}, "y": "{c}"}}\n' for i, c in enumerate(CODES))
        path.write_text("".join(lines))
    model = NaiveBayes().fit(str(path), target="y")
    assert [int(c) for c in model.classes_] == [BIG, BIG + 1]
    assert [int(c) for c in model.parameters_["c"][model.classes_[0]]] == [BIG, BIG + 1]
    place = tmp_path / "m.suffice"
    model.save(place)
    again = suffice.load(place)
    assert again.classes_.tolist() == model.classes_.tolist()
    assert again.parameters_ == model.parameters_
    drawn, _ = again.sample(20, random_state=0)
    cells = set(pa.table(drawn).column("c").to_pylist() if not isinstance(drawn, np.ndarray)
                else drawn[:, 0].tolist())  # fmt: skip
    assert {int(cell) for cell in cells} <= {BIG, BIG + 1}


def test_a_database_answers_with_exact_levels(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    model = NaiveBayes("categorical").fit(pa.table({"c": CODES}), Y)
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE new_rows (c BIGINT)")
        connection.executemany("INSERT INTO new_rows VALUES (?)", [[c] for c in CODES])
        found = connection.sql(to_sql(model)).fetchall()
    assert [row[-1] for row in found] == Y


@pytest.mark.parametrize("cell", ["007", "00", "-01", "+04", " 01 ", "1234567890123456", "0" * 20])
def test_digits_that_are_codes(cell: str) -> None:
    assert is_code(cell)


@pytest.mark.parametrize("cell", ["0", "-0", "0.5", "00.5", "10", "1e30", "123456789012345", "x01"])
def test_numbers_that_are_no_codes(cell: str) -> None:
    assert not is_code(cell)


@pytest.mark.parametrize(
    ("labels", "named"),
    [
        (["u", "u "], "'u' and 'u ' are two classes that differ only in blanks"),
        (["a b", "a  b"], "differ only in blanks"),
        (["u", "\xa0u"], "differ only in blanks"),
        (["caf\xe9", "cafe\u0301"], r"'cafe\u0301' and 'caf\xe9' are two classes"),
        (["u", "\ufeffu"], "differ only in characters that cannot be seen"),
        (["u", "u ", " u"], "are 3 classes that differ only in blanks"),
    ],
)
@pytest.mark.parametrize("given", [list, np.array, pd.Series, pl.Series], ids=str)
def test_labels_that_look_the_same_are_told(labels: list[str], named: str, given: Any) -> None:
    y = labels * 6
    rows = np.random.default_rng(0).normal(size=(len(y), 1))
    with pytest.warns(SimilarLabels) as told:
        GaussianDiscriminant().fit(rows, given(y))
    assert named in str(told[0].message)


def test_labels_that_look_different_are_not_spoken_of() -> None:
    rows = np.random.default_rng(0).normal(size=(12, 1))
    GaussianDiscriminant().fit(rows, ["a", "A", "ab", "a b"] * 3)


def test_zeros_beside_longer_numbers_are_not_looked_at_one_by_one(monkeypatch):
    from suffice.tables.csv import cells as csv_cells

    asked = []
    is_code = csv_cells.is_code
    monkeypatch.setattr(csv_cells, "is_code", lambda cell: asked.append(cell) or is_code(cell))
    assert csv_cells.plain_numbers(["0", "12", "-0", "0.5", "345"]) is not None
    assert not asked
    for code in ("07", "-07", "+00", "0٣", " 07"):
        assert csv_cells.plain_numbers(["0", "12", code]) is None, code
