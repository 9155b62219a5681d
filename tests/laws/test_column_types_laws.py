"""Families that are chosen by the looks of a few rows refuse no number later."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from suffice import NaiveBayes
from suffice.errors import OutsideSupport
from suffice.estimators.sql import to_sql
from suffice.rows import read_table
from suffice.storage.model_file import StoredModel, stored_posterior
from tests.searches import examples

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHOLE = {"categorical", "poisson"}
GIVEN: dict[str, Any] = {
    "array": lambda x: x,
    "single": lambda x: x.astype(np.float32),
    "lists": lambda x: x.tolist(),
    "pandas": lambda x: pd.DataFrame(x, columns=[f"x{j}" for j in range(x.shape[1])]),
    "Polars": lambda x: pl.DataFrame({f"x{j}": x[:, j] for j in range(x.shape[1])}),
    "Arrow": lambda x: pa.table({f"x{j}": x[:, j] for j in range(x.shape[1])}),
}
CELLS = st.integers(0, 12).map(float)
LATER = st.floats(-50.0, 50.0).map(lambda v: round(v, 2)) | st.just(0.1) | CELLS


@st.composite
def tables(draw: st.DrawFn) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Draw rows that happen to be whole, their labels, and rows that come later."""
    size, width = draw(st.integers(4, 30)), draw(st.integers(1, 3))
    values = draw(st.lists(CELLS, min_size=size * width, max_size=size * width))
    rows = np.array(values).reshape(size, width)
    labels = np.arange(size) % 2
    later = np.array(draw(st.lists(LATER, min_size=4 * width, max_size=4 * width)))
    return rows, labels, later.reshape(4, width)


@pytest.mark.parametrize("families", ["auto", "select"])
@pytest.mark.parametrize("kind", GIVEN)
@examples(5)
@given(drawn=tables(), blank=st.booleans())
@example(drawn=(np.array([[0.0], [1.0]] * 4), np.arange(8) // 4, np.array([[0.1]] * 4)), blank=True)
def test_rows_that_are_whole_by_chance_refuse_no_number_later(
    kind: str, families: str, drawn: Any, blank: bool
) -> None:
    rows, labels, later = drawn
    if blank:
        rows = rows.copy()
        rows[0, 0] = np.nan
    model = NaiveBayes(families)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(GIVEN[kind](rows), labels)
        found = model.predict_proba(GIVEN[kind](later))
        model.predict(GIVEN[kind](later))
        model.explain(GIVEN[kind](later))
        state = model.stored(statistics=False).state
        stored = StoredModel("NaiveBayes", {}, state)
        same = stored_posterior(stored, read_table(GIVEN[kind](later)))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found, same)


@pytest.mark.parametrize("kind", ["array", "lists", "Polars", "Arrow", "pandas"])
@examples(6)
@given(drawn=tables())
def test_a_few_decimals_that_are_whole_are_no_counts(kind: str, drawn: Any) -> None:
    rows, labels, _ = drawn
    rows[0] = 7.0  # more than yes and no
    for families in ("auto", "select"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = NaiveBayes(families).fit(GIVEN[kind](rows), labels)
        chosen = {name.removeprefix("common ") for name in model.families_.values()}
        assert not chosen & WHOLE
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = NaiveBayes().fit(GIVEN[kind](rows.astype(np.int64)), labels)
        assert set(whole.families_.values()) & (WHOLE | {"gaussian", "lognormal"})


def test_many_decimals_that_are_whole_are_counts() -> None:
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.poisson(9, 400), rng.integers(0, 5, 400)]).astype(float)
    model = NaiveBayes().fit(rows, np.arange(400) % 2)
    assert list(model.families_.values()) == ["poisson", "categorical"]
    with pytest.warns(OutsideSupport, match=r"column 0 \(row 0\), column 1 \(row 1\)"):
        found = model.predict_proba([[0.5, 1.0], [9.0, 1.5], [9.0, 99.0], [np.nan, 1.0]])
    np.testing.assert_array_equal(found[0], found[3])  # as if it were not there
    np.testing.assert_array_equal(found[1], found[2])  # a level that was never seen


def test_a_database_refuses_no_number_either() -> None:
    duckdb = pytest.importorskip("duckdb")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"n": rng.poisson(9, 400), "c": rng.integers(0, 5, 400)})
    y = np.arange(400) % 2
    later = pd.DataFrame({"n": [0.5, -3.0, 9.0, 4.0], "c": [1.0, 2.0, 1.5, 3.0]})
    for families in ("auto", {"n": "poisson"}):
        model = NaiveBayes(families).fit(frame, y)
        with duckdb.connect() as connection:
            connection.register("new_rows", later)
            found = connection.sql(to_sql(model, proba=True)).fetchall()
        answers = np.array([row[-2:] for row in found], dtype=float)
        if families == "auto":
            with pytest.warns(OutsideSupport):
                np.testing.assert_allclose(answers, model.predict_proba(later), atol=1e-12)
        else:
            assert np.isnan(answers[:2]).all()  # whoever asks for counts is held to them


@examples(25)
@given(
    seed=st.integers(0, 999),
    middle=st.integers(500, 40_000),
    spread=st.floats(2.5, 9.0),
    kind=st.sampled_from(["array", "pandas", "Polars", "Arrow"]),
)
def test_years_and_dates_have_the_spread_that_they_show(
    seed: int, middle: int, spread: float, kind: str
) -> None:
    # Poisson's law would be the square root of the middle wide, and tell 2010 from 2020 by nothing.
    rng = np.random.default_rng(seed)
    y = np.arange(200) % 2
    years = np.rint(middle + spread * (rng.normal(size=200) + 3.0 * y)).astype(np.int64)
    rows = GIVEN[kind](years[:, np.newaxis])
    model = NaiveBayes().fit(rows, y)
    assert set(model.families_.values()) <= {"gaussian", "lognormal"}
    # Three standard deviations apart: Φ(1.5) = .93 are on their side, to chance and rounding.
    assert model.score(rows, y) > 0.85


@examples(25)
@given(seed=st.integers(0, 999), rate=st.floats(8.0, 2_000.0))
def test_counts_as_spread_as_counts_are_counts(seed: int, rate: float) -> None:
    rng = np.random.default_rng(seed)
    y = np.arange(200) % 2
    counts = rng.poisson(rate * (1.0 + 0.1 * y))
    assert set(NaiveBayes().fit(counts[:, np.newaxis], y).families_.values()) == {"poisson"}
