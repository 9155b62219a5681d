"""Statistics that a database adds up are those of the same rows in an array."""

from __future__ import annotations

import decimal
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from suffice import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianDiscriminant,
    MultinomialNaiveBayes,
    NaiveBayes,
)
from suffice.errors import StreamedRows
from suffice.families import Bernoulli, Binned, Categorical
from suffice.sql import exact_sums as sql_sums
from tests.engines.alike import assert_alike
from tests.engines.sql_tables import copied

FORMS = ("shared", "per-class", "diagonal", "shared-diagonal", "spherical")
HOSTILE = ['a "quoted" one', "two words", "größe ☃", "select", '"; drop table t; --', "x" * 63]


def rows_of_every_kind(size: int = 900) -> pa.Table:
    """Return numbers near and far from zero, whole, decimal, single, true; words; no gaps."""
    rng = np.random.default_rng(5)
    label = rng.choice(["ash", "beech", "cedar"], size, p=[0.6, 0.3, 0.1])
    price = [decimal.Decimal(int(v)) / 4 for v in rng.integers(-200, 4_000, size)]
    return pa.table(
        {
            "near": rng.normal(size=size) + (label == "ash"),
            "far": 1e8 + rng.integers(-1, 2, size),
            "tiny": 1e-9 * rng.lognormal(size=size),
            "count": rng.poisson(3.0, size),
            "price": pa.array(price, pa.decimal128(12, 2)),
            "wild": rng.random(size) < 0.5,
            "single": rng.normal(size=size).astype(np.float32),
            "label": label,
        }
    )


def array_fit(model: Any, table: pa.Table, weight: str | None = None) -> Any:
    """Learn from the rows as a frame in memory."""
    labels = table.column("label").combine_chunks()
    weights = None if weight is None else np.asarray(table.column(weight))
    rows = table.drop(["label"] if weight is None else ["label", weight])
    return model.fit(rows, labels, weights)


def assert_same(one: Any, other: Any) -> None:
    """Compare what two estimators hold."""
    ours, theirs = one.learned_, other.learned_
    assert ours.columns == theirs.columns
    assert (ours.dtype, ours.kind) == (theirs.dtype, theirs.kind)
    assert ours.learner.chosen == theirs.learner.chosen
    assert_alike(ours.statistics, theirs.statistics)


@pytest.mark.filterwarnings("ignore::suffice.errors.UnitsMatter")
@pytest.mark.parametrize("form", FORMS)
def test_a_database_adds_up_what_an_array_does(any_database: Any, form: str) -> None:
    table = rows_of_every_kind()
    source = copied(any_database, table, "t")
    there = GaussianDiscriminant(form).fit(source, target="label")
    assert_same(array_fit(GaussianDiscriminant(form), table), there)


def test_words_are_coded_in_the_database_too(any_database: Any) -> None:
    table = rows_of_every_kind()
    words = np.random.default_rng(1).choice(["red", "it's", "grün\\", ""], table.num_rows)
    table = table.append_column("colour", pa.array([*words[:-1], None]))
    source = copied(any_database, table, "t")
    for form in ("shared", "per-class", "diagonal"):
        there = GaussianDiscriminant(form).fit(source, target="label")
        assert_same(array_fit(GaussianDiscriminant(form), table), there)


FAMILIES = {
    "near": "gaussian", "far": "shared-gaussian", "tiny": "lognormal", "count": "poisson",
    "price": Binned(edges=(-50.0, 0.0, 100.0, 1000.0)), "wild": "bernoulli",
    "single": Bernoulli(threshold=0.25),
}  # fmt: skip


LEVELS = {"count": Categorical(), "wild": "categorical"}


def with_gaps(table: pa.Table) -> pa.Table:
    """Return the table with NULL and NaN here and there."""
    rng = np.random.default_rng(2)
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        if name != "label":
            cells = column.to_pylist()
            cells = [None if rng.random() < 0.1 else cell for cell in cells]
            if column.type in (pa.float64(), pa.float32()):
                cells = [float("nan") if rng.random() < 0.1 else cell for cell in cells]
            column = pa.array(cells, column.type)
        columns[name] = column
    return pa.table(columns)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("families", [FAMILIES, "auto", LEVELS])
def test_every_family_of_naive_bayes_is_tallied_there(
    any_database: Any, families: Any, gaps: bool
) -> None:
    table = rows_of_every_kind()
    words = pa.array(np.random.default_rng(1).choice(["a", "b", ""], table.num_rows))
    table = table.append_column("word", words)
    table = with_gaps(table) if gaps else table
    source = copied(any_database, table, "t")
    here = array_fit(NaiveBayes(families), table)
    assert_same(here, NaiveBayes(families).fit(source, target="label"))


def test_counts_are_added_up_there(any_database: Any) -> None:
    rng = np.random.default_rng(3)
    counts = rng.poisson(1.0, size=(300, 4)) * 1.0
    counts[:, 3] *= 0.3  # weights of words need not be whole
    table = pa.table({f"w{j}": counts[:, j] for j in range(4)} | {"label": rng.integers(0, 3, 300)})
    source = copied(any_database, table, "t")
    for model in (
        MultinomialNaiveBayes(),
        ComplementNaiveBayes(),
        BernoulliNaiveBayes(threshold=0.0),
        MultinomialNaiveBayes(boolean=True) if "boolean" in MultinomialNaiveBayes().get_params()
        else MultinomialNaiveBayes(smoothing=0.5),
    ):  # fmt: skip
        again = type(model)(**model.get_params())
        assert_same(array_fit(model, table), again.fit(source, target="label"))


def test_cells_missing_in_diagonal_forms_are_counted_there(any_database: Any) -> None:
    table = with_gaps(rows_of_every_kind())
    source = copied(any_database, table, "t")
    there = GaussianDiscriminant("diagonal").fit(source, target="label")
    assert_same(array_fit(GaussianDiscriminant("diagonal"), table), there)


@pytest.mark.parametrize("form", ["shared", "per-class"])
def test_only_rows_with_missing_cells_are_streamed(any_database: Any, form: str) -> None:
    table = with_gaps(rows_of_every_kind())
    source = copied(any_database, table, "t")
    with pytest.warns(StreamedRows, match=r"t: rows are streamed .*missing cells"):
        there = GaussianDiscriminant(form).fit(source, target="label")
    assert_same(array_fit(GaussianDiscriminant(form), table), there)


@pytest.mark.parametrize(
    "model",
    [GaussianDiscriminant("per-class"), GaussianDiscriminant("diagonal"), NaiveBayes(FAMILIES)],
)
def test_weights_are_multiplied_there(any_database: Any, model: Any) -> None:
    table = rows_of_every_kind()
    weights = np.random.default_rng(9).choice([0.0, 0.5, 1.0, 3.25, 7.1], table.num_rows)
    near = np.asarray(table.column("near")).copy()
    near[weights == 0.0] = np.inf  # never looked at
    table = table.set_column(0, "near", pa.array(near)).append_column("w", pa.array(weights))
    source = copied(any_database, table, "t")
    again = type(model)(**model.get_params())
    there = again.fit(source, target="label", sample_weight="w")
    assert_same(array_fit(model, table, "w"), there)


def test_offsets_cost_no_digits(any_database: Any) -> None:
    """At 1e8 the raw sums of squares give a variance of thousands; it is 2/3."""
    x = 1e8 + np.tile([-1.0, 0.0, 1.0], 3000)
    table = pa.table({"x": x, "label": np.repeat([0, 1], 4500)})
    source = copied(any_database, table, "t")
    there = GaussianDiscriminant("per-class").fit(source, target="label")
    np.testing.assert_array_equal(there.covariances_.ravel(), [2 / 3, 2 / 3])


def test_first_rows_that_mislead_cost_a_second_pass_and_no_digits(any_database: Any) -> None:
    rng = np.random.default_rng(4)
    size = 6000
    label = np.repeat(["constant", "narrow", "wide", "single"], [2000, 2000, 1999, 1])
    scale = {"constant": 0.0, "narrow": 1e-5, "wide": 1e4, "single": 1.0}
    centre = {"constant": 0.1, "narrow": 1e6, "wide": -1e3, "single": 7.3}
    x = np.array([centre[v] for v in label]) + rng.normal(size=size) * [scale[v] for v in label]
    heavy = rng.standard_cauchy(size)
    table = pa.table({"x": x, "heavy": heavy, "label": label})
    source = copied(any_database, table, "t")
    for form in ("per-class", "shared", "diagonal"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            here = array_fit(GaussianDiscriminant(form), table)
            assert_same(here, GaussianDiscriminant(form).fit(source, target="label"))


@pytest.mark.slow
def test_tables_wider_than_a_query_are_split(any_database: Any) -> None:
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(150, 67))
    table = pa.table({f"c{j}": rows[:, j] for j in range(67)} | {"label": rng.integers(0, 2, 150)})
    source = copied(any_database, table, "t")
    for form in ("shared", "diagonal"):
        there = GaussianDiscriminant(form).fit(source, target="label")
        assert_same(array_fit(GaussianDiscriminant(form), table), there)


def test_columns_by_themselves_are_asked_about_some_at_a_time(
    any_database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # More than PostgreSQL has room for; DuckDB has no such limit, and takes long to plan.
    width = 850
    if type(any_database).__module__ != "psycopg":
        width = 45
        monkeypatch.setattr(sql_sums, "COLUMNS", 20)
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(40, width)) ** 3
    columns = {f"c{j}": rows[:, j] for j in range(width)}
    table = pa.table(columns | {"label": rng.integers(0, 2, 40)})
    source = copied(any_database, table, "t")
    for model in (GaussianDiscriminant("diagonal"), NaiveBayes("gaussian")):
        again = type(model)(**model.get_params())
        assert_same(array_fit(model, table), again.fit(source, target="label"))


def test_names_can_be_anything(any_database: Any) -> None:
    rng = np.random.default_rng(7)
    names = [*HOSTILE[:-1], "x" * 200] if "Duck" in type(any_database).__name__ else HOSTILE
    table = pa.table(
        {n: rng.normal(size=50) for n in names} | {"label": rng.choice(["'", '"'], 50)}
    )
    source = copied(any_database, table, "\"; drop table 'rows'")
    for model in (GaussianDiscriminant(), NaiveBayes()):
        again = type(model)()
        assert_same(array_fit(model, table), again.fit(source, target="label"))


@pytest.mark.parametrize("labels", [["ash", "it's"], [0, 1], [True, False], [-1.0, 2.0]])
def test_labels_keep_their_type(any_database: Any, labels: list[Any]) -> None:
    table = pa.table({"x": [0.5, 1.0, 2.0, 8.0, 1e6, 3e6], "label": labels * 3})
    source = copied(any_database, table, "t")
    here = array_fit(GaussianDiscriminant("per-class"), table)
    there = GaussianDiscriminant("per-class").fit(source, target="label")
    assert_same(here, there)
    assert there.classes_.tolist() == sorted(labels)


BLANKS = [None, float("nan")]
CELLS = (
    st.integers(-3, 3),
    st.integers(-(10**12), 10**12),
    st.integers(-2, 2).map(lambda v: 1e8 + v),
    st.sampled_from([-1e12, -1e-12, 0.0, 1e-12, 1e8]),
    st.just(0.1),
    st.nothing(),
)


@st.composite
def small_tables(draw: st.DrawFn) -> pa.Table:
    """Draw few rows: constant, blank, far and wide columns, each in its own unit."""
    size = draw(st.integers(1, 9))

    def column(cells: Any) -> list[Any]:
        given = st.sampled_from(BLANKS) if draw(st.booleans()) else st.nothing()
        cell = st.one_of(cells, given)
        if cell.is_empty:
            cell = st.sampled_from(BLANKS)
        return draw(st.lists(cell, min_size=size, max_size=size))

    columns: dict[str, Any] = {}
    for j in range(draw(st.integers(1, 3))):
        unit = draw(st.sampled_from([1e-100, 1e-9, 1.0, 1e9, 1e100]))
        cells = column(draw(st.sampled_from(CELLS)))
        columns[f"x{j}"] = pa.array([None if v is None else v * unit for v in cells], pa.float64())
    if draw(st.booleans()):
        whole = draw(st.lists(st.none() | st.integers(-5, 5), min_size=size, max_size=size))
        columns["n"] = pa.array(whole, pa.int64())
    labels = draw(st.lists(st.sampled_from("abc"), min_size=size, max_size=size))
    return pa.table(columns | {"label": labels})


@pytest.mark.parametrize(
    "model",
    [*(GaussianDiscriminant(form) for form in FORMS[:3]), NaiveBayes("gaussian")],
    ids=[*FORMS[:3], "naive Bayes"],
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(table=small_tables())
@example(pa.table({"x": [5.0, 0.0, 1.0], "n": [None, 0, 0], "label": ["a", "b", "b"]}))
@example(pa.table({"x": [1e-12, -1e-12, 1e8, -1e8], "label": ["a", "a", "b", "b"]}))
@example(pa.table({"x": [1e-263, 2e-263, 5.0, -1.0], "label": ["a", "a", "b", "b"]}))
@example(pa.table({"x": [1e-155, 2e-155, 5e-155, 0.0], "label": ["a", "a", "b", "b"]}))
@pytest.mark.slow
def test_any_rows_give_the_same_sums(duckdb: Any, model: Any, table: pa.Table) -> None:
    source = copied(duckdb, table, "t")
    again = type(model)(**model.get_params())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that never vary, and of rows that are streamed
        here, there = array_fit(model, table), again.fit(source, target="label")
    assert_alike(here.statistics_, there.statistics_)


@pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData")
def test_rows_with_gaps_may_lie_anywhere(any_database: Any) -> None:
    """The windows are those of complete rows; cells of others would not fit their integers."""
    table = pa.table(
        {
            "x": [1.0, 2.0, 3.0, 1e9, 2.0, 5.0, 1e-9],
            "z": [1.0, 2.0, 4.0, None, 7.0, 1e-9, float("nan")],
            "label": ["a", "a", "a", "b", "a", "b", "c"],
        }
    )
    source = copied(any_database, table, "t")
    for form in ("shared", "per-class"):
        here = array_fit(GaussianDiscriminant(form), table)
        with pytest.warns(StreamedRows, match="2 with missing cells"):
            there = GaussianDiscriminant(form).fit(source, target="label")
        assert_same(here, there)
        rows = table.drop(["label"])
        np.testing.assert_allclose(there.predict_proba(rows), here.predict_proba(rows), atol=1e-9)


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e150])
def test_cells_too_small_to_be_squared_are_streamed(any_database: Any, unit: float) -> None:
    x = np.array([1.0, 2.0, 4.0, 8.0, -3.0, 5.0]) * unit
    table = pa.table({"x": x, "label": ["a", "a", "a", "b", "b", "b"]})
    for form in ("shared", "per-class", "diagonal"):
        source = copied(any_database, table, "t")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            here = array_fit(GaussianDiscriminant(form), table)
            there = GaussianDiscriminant(form).fit(source, target="label")
        assert_same(here, there)
        streamed = [str(one.message) for one in said if one.category is StreamedRows]
        assert ["whole numbers cannot hold" in one for one in streamed] == [True] * (unit < 1.0)


@pytest.mark.parametrize("model", [GaussianDiscriminant("per-class"), NaiveBayes("gaussian")])
def test_weights_of_very_different_sizes_are_streamed(any_database: Any, model: Any) -> None:
    table = pa.table(
        {
            "x": [1.0, 2.0, 4.5, 8.0, -3.0, 5.0],
            "w": [1e-6, 2e-6, 1e-6, 1e6, 3e6, 1e6],
            "label": ["a", "a", "a", "b", "b", "b"],
        }
    )
    source = copied(any_database, table, "t")
    again = type(model)(**model.get_params())
    with pytest.warns(StreamedRows, match="weights of very different sizes"):
        there = again.fit(source, target="label", sample_weight="w")
    assert_same(array_fit(model, table, "w"), there)
