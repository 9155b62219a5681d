"""Whatever the types of columns, labels and weights are: a database is learned from as an array."""

from __future__ import annotations

import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suffice import GaussianDiscriminant, NaiveBayes
from suffice.engines.sql_dialects import DIALECTS
from suffice.errors import BadLabels, BadRows, NotFinite, SufficeError
from suffice.sources import sql_source
from tests.engines.alike import assert_alike
from tests.engines.sql_tables import copied

DOUBLE = st.floats(-1e3, 1e3, allow_nan=False).map(lambda v: round(v, 6))
COLUMNS = {
    # What it is called in DuckDB and in PostgreSQL, and which cells it has.
    "small": ("SMALLINT", "smallint", st.integers(-(2**15), 2**15 - 1)),
    "integer": ("INTEGER", "integer", st.integers(-(2**31), 2**31 - 1)),
    "near 2**53": ("BIGINT", "bigint", st.integers(-3, 3).map(lambda v: 2**53 + v)),
    "largest": ("BIGINT", "bigint", st.sampled_from([2**63 - 1, -(2**63), 2**62 + 1, 0])),
    "double": ("DOUBLE", "float8", DOUBLE | st.just(float("nan"))),
    "far": ("DOUBLE", "float8", st.integers(-2, 2).map(lambda v: 1e8 + v)),
    "very far": ("DOUBLE", "float8", st.integers(-2, 2).map(lambda v: 1e12 + v)),
    "single": ("FLOAT", "float4", DOUBLE.map(lambda v: float(np.float32(v)))),
    "numeric": ("DECIMAL(12, 2)", "numeric(12, 2)",
                st.integers(-999, 999).map(lambda v: Decimal(25 * v).scaleb(-2))),
    "truth": ("BOOLEAN", "boolean", st.booleans()),
    "text": ("VARCHAR", "text", st.sampled_from(["red", "it's", "", "🌳", "nan", "NULL"])),
    "infinite": ("DOUBLE", "float8", st.sampled_from([1.0, 2.0, -1.0, float("inf")])),
}  # fmt: skip
LABELS = {
    "text": ("VARCHAR", "text", st.sampled_from(["a", "it's", "🌳"])),
    "integer": ("BIGINT", "bigint", st.sampled_from([0, -7, 2**40])),
    "truth": ("BOOLEAN", "boolean", st.booleans()),
    "double": ("DOUBLE", "float8", st.sampled_from([1.0, -3.0, 2.0])),
}
NAMES = ["x y", 'a"b', "select", "grö🌳"]
ARROW = {
    "SMALLINT": pa.int16(), "INTEGER": pa.int32(), "BIGINT": pa.float64(), "DOUBLE": pa.float64(),
    "FLOAT": pa.float32(), "BOOLEAN": pa.bool_(), "VARCHAR": pa.string(),
    "DECIMAL(12, 2)": pa.decimal128(12, 2),
}  # fmt: skip
LEARNERS = {
    "shared": GaussianDiscriminant(),
    "per class": GaussianDiscriminant("per-class"),
    "diagonal": GaussianDiscriminant("diagonal"),
    "naive Bayes": NaiveBayes(),
}
shared_connection = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Any], list[Any], list[Any], list[float] | None]:
    """Draw what columns there are, the cells of each, the labels, and weights."""
    size = draw(st.sampled_from([1, 2, 6, 15]))
    kinds = draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=len(NAMES)))
    gaps = draw(st.booleans())

    def cells(kind: Any) -> list[Any]:
        cell = st.none() | kind[2] if gaps else kind[2]
        found: list[Any] = draw(st.lists(cell, min_size=size, max_size=size))
        return found

    label = LABELS[draw(st.sampled_from(list(LABELS)))]
    labels = draw(st.lists(label[2], min_size=size, max_size=size))
    if draw(st.integers(0, 9)) == 0:
        blank = [None, float("nan")] if label[0] == "DOUBLE" else [None]
        labels[0] = draw(st.sampled_from(blank))
    weights = None
    if draw(st.booleans()):
        weights = draw(st.lists(st.sampled_from([1.0, 0.5, 3.25]), min_size=size, max_size=size))
    chosen = [COLUMNS[kind] for kind in kinds]
    return [*chosen, label], [cells(kind) for kind in chosen], labels, weights


def written(connection: Any, kinds: list[Any], columns: list[list[Any]]) -> None:
    """Write columns into a table, of just these types."""
    postgres = type(connection).__module__.startswith("psycopg")
    quoted = DIALECTS["postgres" if postgres else "duckdb"].identifier
    width = len(kinds) - 1
    names = [*NAMES[:width], *["label", "w"][: len(columns) - width]]
    types = [kind[1 if postgres else 0] for kind in kinds] + ["DOUBLE PRECISION"]
    made = ", ".join(f"{quoted(n)} {t}" for n, t in zip(names, types, strict=False))
    connection.execute("DROP TABLE IF EXISTS t")
    connection.execute(f"CREATE TABLE t ({made})")
    rows = list(zip(*columns, strict=True))
    if postgres:
        with connection.cursor().copy("COPY t FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    else:
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(names))})", rows)


def outcome(fit: Any) -> Any:
    """Return statistics, or the kind of the refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return fit()._require().statistics
        except SufficeError as refusal:
            return type(refusal)


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
@pytest.mark.parametrize("adds_up", [True, False], ids=["sums", "rows"])
@shared_connection
@given(drawn=tables())
def test_tables_of_any_types_give_what_arrays_give(
    any_database: Any, adds_up: bool, learner: Any, drawn: Any
) -> None:
    kinds, cells, labels, weights = drawn
    written(any_database, kinds, [*cells, labels, *([] if weights is None else [weights])])
    arrays = {}
    for name, kind, column in zip(NAMES, kinds[:-1], cells, strict=False):
        given = column
        if kind[0] == "BIGINT":  # Arrow refuses to round those beyond 2**53
            given = [None if cell is None else float(cell) for cell in column]
        arrays[name] = pa.array(given, ARROW[kind[0]])
    y = pa.array(labels, pa.int64() if kinds[-1][0] == "BIGINT" else ARROW[kinds[-1][0]])
    again = type(learner)(**learner.get_params())
    w = None if weights is None else np.array(weights)
    here = outcome(lambda: again.fit(pa.table(arrays), y, w))
    again = type(learner)(**learner.get_params())
    named = {} if weights is None else {"sample_weight": "w"}
    source = sql_source(any_database, "t", adds_up=adds_up)
    there = outcome(lambda: again.fit(source, target="label", **named))
    if isinstance(here, type) or isinstance(there, type):
        assert here is there
    else:
        assert_alike(here, there)


def test_labels_that_are_not_a_number_are_no_labels(any_database: Any) -> None:
    table = pa.table({"x": [1.0, 2.0, 5.0, 6.0], "y": [0.0, float("nan"), 1.0, None]})
    for model in (GaussianDiscriminant("diagonal"), NaiveBayes("gaussian")):
        with pytest.raises(BadLabels, match=r"^t.*(2 of 4 rows have|has) no y"):
            model.fit(copied(any_database, table, "t"), target="y")


def test_refusals_are_the_same_by_sums_and_by_rows(any_database: Any) -> None:
    infinite = pa.table({"x": [1.0, 2.0, np.inf, 6.0], "y": ["a", "a", "b", "b"]})
    nothing = infinite.slice(0, 0)
    for table, refusal, words in (
        (infinite, NotFinite, r"^t.*x: inf is not a finite number"),
        (nothing, BadRows, r"^t has no rows"),
    ):
        for adds_up in (True, False):
            with pytest.raises(refusal, match=words):
                GaussianDiscriminant().fit(copied(any_database, table, "t", adds_up), target="y")


def test_three_hundred_columns_take_several_queries(any_database: Any) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 300))
    table = pa.table({f"c{j}": rows[:, j] for j in range(300)} | {"y": rng.integers(0, 2, 40)})
    source = copied(any_database, table, "t")
    there = GaussianDiscriminant("diagonal").fit(source, target="y")
    here = GaussianDiscriminant("diagonal").fit(table.drop(["y"]), table.column("y").to_numpy())
    assert_alike(here.statistics_, there.statistics_)
    assert source.taken == "sums"
