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
from suffice.errors import BadLabels, BadRows, DegenerateData, NotFinite, SufficeError
from suffice.sources import sql_source
from suffice.sql.dialects import DIALECTS
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
    "SMALLINT": pa.int16(), "INTEGER": pa.int32(), "BIGINT": pa.int64(), "DOUBLE": pa.float64(),
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
            return fit().statistics_
        except SufficeError as refusal:
            return type(refusal)


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
@pytest.mark.parametrize("adds_up", [True, False], ids=["sums", "rows"])
@shared_connection
@given(drawn=tables())
@pytest.mark.slow
def test_tables_of_any_types_give_what_arrays_give(
    any_database: Any, adds_up: bool, learner: Any, drawn: Any
) -> None:
    kinds, cells, labels, weights = drawn
    written(any_database, kinds, [*cells, labels, *([] if weights is None else [weights])])
    arrays = {}
    for name, kind, column in zip(NAMES, kinds[:-1], cells, strict=False):
        arrays[name] = pa.array(column, ARROW[kind[0]])
    y = pa.array(labels, ARROW[kinds[-1][0]])
    again = type(learner)(**learner.get_params())
    w = None if weights is None else np.array(weights)
    here = outcome(lambda: again.fit(pa.table(arrays), y, w))
    again = type(learner)(**learner.get_params())
    named = {} if weights is None else {"sample_weight": "w"}
    source = sql_source(any_database, "t", adds_up=adds_up)
    there = outcome(lambda: again.fit(source, target="label", **named))
    if any(label is None or (type(label) is float and np.isnan(label)) for label in labels):
        # Arrays leave such rows out; a source is asked to leave them out itself.
        assert isinstance(there, type)
        assert issubclass(there, SufficeError)
    elif isinstance(here, type) or isinstance(there, type):
        assert here is there
    else:
        assert_alike(here, there)


def test_labels_that_are_not_a_number_are_no_labels(any_database: Any) -> None:
    table = pa.table({"x": [1.0, 2.0, 5.0, 6.0], "y": [0.0, float("nan"), 1.0, None]})
    for model in (GaussianDiscriminant("diagonal"), NaiveBayes("gaussian")):
        with pytest.raises(BadLabels, match=r"^t.*(2 of 4 rows have|has) no y"):
            model.fit(copied(any_database, table, "t"), target="y")
    for adds_up in (True, False):  # NaN alone, which is no null
        with pytest.raises(BadLabels, match=r"(1 of 3 rows have|row 2 of these has) no y"):
            NaiveBayes("gaussian").fit(
                copied(any_database, table.slice(0, 3), "t", adds_up), target="y"
            )


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


@pytest.mark.slow
def test_three_hundred_columns_take_several_queries(any_database: Any) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 300))
    table = pa.table({f"c{j}": rows[:, j] for j in range(300)} | {"y": rng.integers(0, 2, 40)})
    source = copied(any_database, table, "t")
    there = GaussianDiscriminant("diagonal").fit(source, target="y")
    here = GaussianDiscriminant("diagonal").fit(table.drop(["y"]), table.column("y").to_numpy())
    assert_alike(here.statistics_, there.statistics_)
    assert source.taken == "sums"


TEXTS = {
    # How a type is made, if it has to be; how it is called in DuckDB and in PostgreSQL; two values.
    "enum": ("CREATE TYPE mood AS ENUM ('sad', 'it''s')", "mood", "mood", "sad", "it's"),
    "uuid": ("", "UUID", "uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
             "b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    "char": ("", "VARCHAR", "char(7)", "ab", "cd e"),
}  # fmt: skip


@pytest.mark.parametrize("adds_up", [True, False], ids=["sums", "rows"])
@pytest.mark.parametrize("kind", TEXTS)
def test_enums_and_uuids_are_text_as_columns_and_as_targets(
    any_database: Any, kind: str, adds_up: bool
) -> None:
    made, duck, postgres, one, two = TEXTS[kind]
    on_server = type(any_database).__module__.startswith("psycopg")
    if made:
        any_database.execute(made)
    for name, of in (("t", postgres if on_server else duck), ("plain", "VARCHAR")):
        any_database.execute(f"CREATE TABLE {name} (c {of}, x DOUBLE PRECISION, y INTEGER, d {of})")
        for i in range(12):
            c, d = (one, two) if i % 3 else (two, one)
            c, d = (f"'{cell}'".replace("it's", "it''s") for cell in (c, d))
            any_database.execute(f"INSERT INTO {name} VALUES ({c}, {i}, {i % 2}, {d})")
        any_database.execute(f"INSERT INTO {name} VALUES (NULL, 3, 1, {d})")
    for target in ("y", "d"):
        for model in (GaussianDiscriminant("diagonal"), NaiveBayes()):
            found = []
            for name in ("t", "plain"):
                source = sql_source(any_database, name, adds_up=adds_up)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    fitted = type(model)(**model.get_params()).fit(source, target=target)
                found.append((fitted.classes_.tolist(), fitted.statistics_))
            assert found[0][0] == found[1][0]
            assert_alike(found[0][1], found[1][1])


REFUSED = {
    "duckdb": {"INTERVAL": "INTERVAL '1 day'", "INTEGER[]": "[1]", "STRUCT(a INTEGER)": "{'a': 1}",
               "BLOB": "'a'::BLOB", "DATE": "DATE '2020-01-01'", "BIT": "'101'::BIT",
               "TIMESTAMP": "TIMESTAMP '2020-01-01'", "MAP(VARCHAR, INTEGER)": "MAP {'a': 1}"},
    "postgres": {"money": "5::money", "inet": "'10.0.0.1'::inet", "integer[]": "ARRAY[1]",
                 "jsonb": "'{}'::jsonb", "bytea": "'a'::bytea", "interval": "interval '1 day'",
                 "bit": "B'101'", "int4range": "'[1,2)'::int4range", "date": "date '2020-01-01'",
                 "timestamp with time zone": "now()", "point": "'(1,2)'::point"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("database", "kind"), [(name, kind) for name, kinds in REFUSED.items() for kind in kinds]
)
def test_columns_of_other_types_are_refused_by_name_and_type(
    database: str, kind: str, request: pytest.FixtureRequest
) -> None:
    connection = request.getfixturevalue(database)
    connection.execute(
        f"CREATE TABLE t AS SELECT 1.0 AS x, i AS y, {REFUSED[database][kind]} AS odd "
        "FROM (VALUES (1), (2)) AS r(i)"
    )
    for adds_up in (True, False):
        source = sql_source(connection, "t", adds_up=adds_up)
        for target, refusal in (("y", BadRows), ("odd", BadLabels)):
            with pytest.raises(refusal) as caught:
                NaiveBayes().fit(source, target=target)
            assert f"'odd' is of type {kind}" in caught.value.problem
        # Whoever does not ask for the column is not told of it.
        assert source.some(source.wanted("y", names=["x"]), 10) is not None


def test_what_a_numeric_says_beyond_numbers_is_missing_or_refused(postgres: Any) -> None:
    postgres.execute(
        "CREATE TABLE t AS SELECT CASE WHEN i = 3 THEN 'NaN'::numeric ELSE i END AS x, i % 2 AS y "
        "FROM generate_series(1, 12) AS r(i)"
    )
    for adds_up in (True, False):
        found = NaiveBayes("gaussian").fit(sql_source(postgres, "t", adds_up=adds_up), target="y")
        assert found.parameters_["x"][1]["mean"] == pytest.approx((1 + 5 + 7 + 9 + 11) / 5)
    postgres.execute("UPDATE t SET x = 'Infinity' WHERE x = 5")
    for adds_up in (True, False):
        with pytest.raises(NotFinite, match=r"x: inf is not a finite number"):
            NaiveBayes("gaussian").fit(sql_source(postgres, "t", adds_up=adds_up), target="y")


WIDE = {"duckdb": ["BIGINT", "UBIGINT", "HUGEINT", "DECIMAL(38, 0)"],
        "postgres": ["bigint", "numeric", "numeric(40, 0)"]}  # fmt: skip


@pytest.mark.filterwarnings("ignore::suffice.errors.StreamedRows")
@pytest.mark.parametrize("adds_up", [True, False], ids=["sums", "rows"])
@pytest.mark.parametrize(("database", "kind"), [(n, k) for n, ks in WIDE.items() for k in ks])
def test_whole_numbers_beyond_doubles_are_not_merged_in_a_database(
    database: str, kind: str, adds_up: bool, request: pytest.FixtureRequest
) -> None:
    connection = request.getfixturevalue(database)
    connection.execute(f"CREATE TABLE t (c {kind}, x DOUBLE PRECISION, y INTEGER)")
    codes = [2**53 + 2, 2**53 + 3]
    rows = ", ".join(f"({codes[i % 2]}, {i % 5}, {i % 2})" for i in range(20))
    connection.execute(f"INSERT INTO t VALUES {rows}, (NULL, 3, 1)")

    def source() -> Any:
        return sql_source(connection, "t", adds_up=adds_up)

    for families in ("auto", {"c": "categorical", "x": "gaussian"}):
        model = NaiveBayes(families).fit(source(), target="y")
        assert list(model.parameters_["c"][0]) == codes
    connection.execute("DELETE FROM t WHERE c IS NULL")
    for estimator in (NaiveBayes(), GaussianDiscriminant("diagonal"), GaussianDiscriminant()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateData)
            assert estimator.fit(source(), target="c").classes_.tolist() == codes


def test_batches_of_numerics_may_be_doubles_and_codes(
    postgres: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suffice.sources.sql.postgres.MOST_ROWS", 8 * 4)
    postgres.execute(
        "CREATE TABLE t AS SELECT (CASE WHEN i < 8 THEN i ELSE 9007199254740990 + i END)::numeric "
        "AS c, i % 2 AS y FROM generate_series(1, 12) AS r(i)"
    )
    source = sql_source(postgres, "t", adds_up=False)
    model = NaiveBayes("categorical").fit(source, target="y")
    assert list(model.parameters_["c"][0]) == [*range(1, 8), *(2**53 - 2 + i for i in range(8, 13))]
