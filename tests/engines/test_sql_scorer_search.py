"""Whatever the model, the names, the labels and the rows are: SQL answers as the model does."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from suffice import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianDiscriminant,
    LogisticRegression,
    MultinomialNaiveBayes,
    NaiveBayes,
)
from suffice.errors import SufficeError
from suffice.estimators.sql import to_sql
from tests.engines.sql_tables import copied

CLOSE = 1e-9
NAMES = st.one_of(
    st.sampled_from(
        ["select", "from", "Group", 'a "b"', "it's", "back\\slash", "two words", "größe ☃", "🌳🌲",
         "`tick`", "a.b", "{v}", "%s", "$1", "x" * 63, "; drop table t; --", "-- no", "row", "best",
         "total", "x0", "z0", "r0", "e0", "suffice_t", "suffice_row", "prediction", "p_a"]
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12),
)  # fmt: skip
LABELS = st.one_of(
    st.sampled_from(
        [["a", "b", "c"], ["it's", 'a "b"', "\\'"], [True, False], [3, -7, 0], [-1.0, 2.0, 1e15],
         ["🌳", "", "NULL"], ["A", "a", "p_a"], ["%s", "{}", "`"], ["x" * 70, "x" * 70 + "y"]]
    ),
    st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"),
                     max_size=8), min_size=2, max_size=4, unique=True),
)  # fmt: skip
KINDS = {
    "number": ["gaussian", "shared-gaussian"],
    "far number": ["gaussian"],
    "positive": ["lognormal", "gaussian"],
    "count": ["poisson", "gaussian", "categorical"],
    "truth": ["bernoulli", "categorical"],
    "text": ["categorical"],
}
TEXTS = ["red", "it's", 'a "b"', "back\\slash", "🌳", "'; drop table t; --", "NULL", " "]
FAR = [0.0, 1e3, -1e6, 1e12, 1e-12, -1e40, 1e100, 1e-200, -0.0]
ROWS = 30


def cells_of(kind: str, codes: Any, rng: np.random.Generator) -> pa.Array:
    """Return a column that differs between classes."""
    size = len(codes)
    if kind == "number":
        return pa.array(rng.normal(size=size) * 10.0 ** rng.integers(-6, 7) + codes)
    if kind == "far number":
        return pa.array(1e8 + rng.integers(-2, 3, size) + codes)
    if kind == "positive":
        return pa.array(rng.lognormal(size=size) * 10.0 ** rng.integers(-6, 7))
    if kind == "count":
        return pa.array(rng.poisson(1.0 + codes))
    if kind == "truth":
        return pa.array(rng.random(size) < 0.2 + 0.2 * codes)
    return pa.array(rng.choice(TEXTS, size))


def asked_of(table: pa.Table, kinds: list[str], draw: Any) -> pa.Table:
    """Return some of the rows, with cells that are blank, far, or never seen."""
    columns = {}
    for name, kind in zip(table.column_names, kinds, strict=True):
        cells = table.column(name).to_pylist()[:8]
        odd: list[Any] = [None]
        if kind in ("number", "far number"):
            odd += [float("nan"), *FAR]
        elif kind == "positive":
            odd += [float("nan"), 1e-200, 1e100]
        elif kind == "count":
            odd += [0, 7, 10**6, 2**40]
        elif kind == "text":
            odd += ["never seen", "", "☃"]
        for place, cell in draw(st.lists(st.tuples(st.integers(0, 7), st.sampled_from(odd)))):
            cells[place] = cell
        columns[name] = pa.array(cells, table.schema.field(name).type)
    return pa.table(columns)


@st.composite
def questions(draw: st.DrawFn) -> tuple[Any, pa.Table]:
    """Draw a fitted model, and rows to ask it about."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    labels = draw(LABELS)
    codes = np.append(rng.integers(0, len(labels), ROWS), list(range(len(labels))) * 3)
    form = draw(st.sampled_from([
        "shared", "per-class", "diagonal", "shared-diagonal", "spherical", "naive Bayes",
        "logistic", "multinomial", "complement", "words",
    ]))  # fmt: skip
    offered = ["count"] if form in ("multinomial", "complement", "words") else list(KINDS)
    kinds = draw(st.lists(st.sampled_from(offered), min_size=1, max_size=4))
    names = draw(
        st.lists(NAMES.filter(lambda name: len(name.encode()) <= 63), min_size=len(kinds),
                 max_size=len(kinds), unique_by=lambda name: name.casefold())
    )  # fmt: skip
    table = pa.table({n: cells_of(kind, codes, rng) for n, kind in zip(names, kinds, strict=True)})
    model: Any
    if form == "naive Bayes":
        families = {n: draw(st.sampled_from(KINDS[k])) for n, k in zip(names, kinds, strict=True)}
        smoothing = draw(st.sampled_from([0.0, 0.5, 1.0]))
        model = NaiveBayes(families, smoothing=smoothing)
    elif form == "logistic":
        model = LogisticRegression(penalty=draw(st.sampled_from([0.1, 10.0])))
    elif form in ("multinomial", "complement", "words"):
        smoothing = draw(st.sampled_from([0.1, 1.0]))
        model = {
            "multinomial": MultinomialNaiveBayes(smoothing=smoothing),
            "complement": ComplementNaiveBayes(smoothing=smoothing),
            "words": BernoulliNaiveBayes(threshold=0.0, smoothing=smoothing),
        }[form]
    else:
        model = GaussianDiscriminant(form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that never vary
        model.fit(table, np.array([labels[code] for code in codes], dtype=_dtype(labels)))
    return model, asked_of(table, kinds, draw)


def _dtype(labels: list[Any]) -> Any:
    return object if isinstance(labels[0], str) else None


def told(model: Any, table: pa.Table) -> tuple[list[Any], Any]:
    """Return the class and the probabilities of every row; None and NaN where it is refused."""
    chosen, shares = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place in range(table.num_rows):
            row = table.slice(place, 1)
            try:
                shares.append(model.predict_proba(row)[0])
                chosen.append(model.predict(row).tolist()[0])
            except SufficeError:
                shares.append(np.full(len(model.classes_), np.nan))
                chosen.append(None)
    return chosen, np.array(shares)


def asked(connection: Any, model: Any, table: pa.Table) -> list[tuple[Any, ...]]:
    """Return a database's answers, in the order of the rows."""
    order = pa.array(range(table.num_rows))
    copied(connection, table.append_column("suffice order", order), "new rows")
    dialect = "postgres" if type(connection).__module__.startswith("psycopg") else "duckdb"
    query = to_sql(model, dialect, table="new rows", proba=True)
    query = f'SELECT * FROM ({query}) AS q ORDER BY "suffice order"'
    found: list[tuple[Any, ...]] = connection.execute(
        query.encode() if dialect == "postgres" else query
    ).fetchall()
    return found


def is_blank(cell: Any) -> bool:
    """Whether a cell is NULL or NaN."""
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def are_lost(model: Any, cells: list[Any]) -> bool:
    """Whether `predict` itself loses the digits of a row: squares drown what tells classes apart.

    A level never seen lies where no class has any variance.
    """
    if isinstance(model, GaussianDiscriminant) and model.covariance == "per-class":
        return any(c is None or (isinstance(c, str) and c not in TEXTS) for c in cells)
    return False


def assert_answers(model: Any, table: pa.Table, found: list[tuple[Any, ...]]) -> None:
    """Compare the answers of a database with those of the model."""
    width = table.num_columns + 1
    chosen, shares = told(model, table)
    full = isinstance(model, LogisticRegression) or (
        isinstance(model, GaussianDiscriminant) and model.covariance in ("shared", "per-class")
    )
    for place, row in enumerate(found):
        cells = [column[place].as_py() for column in table.columns]
        blank = any(
            is_blank(cell) and field.type != pa.string()
            for cell, field in zip(cells, table.schema, strict=True)
        )
        if (full and blank) or np.isnan(shares[place]).any():
            assert set(row[width:]) == {None}, "an answer where there is none"
            continue
        if are_lost(model, cells):
            assert sum(row[width + 1 :]) == pytest.approx(1.0)
            continue
        there = np.array(row[width + 1 :], dtype=float)
        np.testing.assert_allclose(there, shares[place], rtol=0.0, atol=CLOSE)
        best = np.sort(there)[-2:]
        assert row[width] == chosen[place] or best[-1] - best[0] < CLOSE


@pytest.mark.parametrize("name", ["suffice_t", "SUFFICE_T", "suffice_row", "suffice_q"])
@pytest.mark.parametrize("model", [GaussianDiscriminant(), NaiveBayes(), LogisticRegression(1.0)])
def test_columns_may_be_called_as_the_scorer_calls_its_own(
    any_database: Any, model: Any, name: str
) -> None:
    table = pa.table({name: [1.0, 2.0, 2.5, 5.0, 6.0], "x0": [1.0, 0.0, 3.0, 2.0, 4.0]})
    model = clone(model).fit(table, list("aabbb"))
    assert_answers(model, table, asked(any_database, model, table))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(question=questions())
@pytest.mark.slow
def test_a_database_answers_as_the_model_does(any_database: Any, question: Any) -> None:
    model, table = question
    assert_answers(model, table, asked(any_database, model, table))
