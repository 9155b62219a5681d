"""Tables, views and queries as sources: what is streamed, what is refused, and in which words."""

from __future__ import annotations

import sqlite3
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import compute, csv

from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes, load
from suffice.cli import main
from suffice.errors import (
    BadLabels,
    BadRows,
    BadSetting,
    BadWeights,
    NotANumber,
    NotFinite,
    StreamedRows,
    SufficeError,
)
from suffice.learning import collect as collecting
from suffice.sources import open_source
from suffice.sources.sql.addresses import sql_source
from tests.engines.alike import assert_alike
from tests.engines.sql_tables import copied

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def flowers(size: int = 300) -> pa.Table:
    """Return two numeric columns and labels."""
    rng = np.random.default_rng(1)
    kind = rng.choice(["ash", "beech"], size)
    height = rng.normal(size=size) + (kind == "ash")
    return pa.table({"height": height, "leaves": rng.poisson(3.0, size), "kind": kind})


def of_array(model: Any, table: pa.Table) -> Any:
    """Learn from the rows as a frame in memory."""
    return model.fit(table.drop(["kind"]), table.column("kind").combine_chunks())


def test_views_and_queries_are_sources(any_database: Any) -> None:
    table = flowers()
    copied(any_database, table, "t")
    any_database.execute("CREATE VIEW tall AS SELECT * FROM t WHERE height > 0")
    tall = table.filter(compute.greater(table.column("height"), 0.0))
    here = of_array(GaussianDiscriminant(), tall)
    view = sql_source(any_database, "tall")
    query = sql_source(any_database, query="SELECT * FROM t WHERE height > 0 -- and no more\n;")
    for source in (view, query):
        there = GaussianDiscriminant().fit(source, target="kind")
        assert_alike(here.statistics_, there.statistics_)


def test_schemas_stand_before_a_dot(any_database: Any) -> None:
    any_database.execute('CREATE SCHEMA "my garden"')
    any_database.execute('CREATE TABLE "my garden".t AS SELECT 1.5 AS x, 0 AS kind')
    any_database.execute('INSERT INTO "my garden".t VALUES (2.5, 0), (2.5, 1), (3.5, 1)')
    model = GaussianDiscriminant("diagonal").fit(
        sql_source(any_database, "my garden.t"), target="kind"
    )
    assert model.means_.ravel().tolist() == [2.0, 3.0]


def test_models_learn_more_from_a_database(any_database: Any) -> None:
    table = flowers()
    source = copied(any_database, table.slice(100), "t")
    first = of_array(GaussianDiscriminant(), table.slice(0, 100))
    first.partial_fit(source, target="kind")
    assert_alike(of_array(GaussianDiscriminant(), table).statistics_, first.statistics_)


def test_logistic_regression_streams_and_says_so_once(
    any_database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = flowers()
    source = copied(any_database, table, "t")
    here = of_array(LogisticRegression(), table)
    monkeypatch.setattr(collecting, "MOST_CELLS", 300)  # too few to hold all rows here
    with pytest.warns(StreamedRows, match="t: rows are streamed") as told:
        there = LogisticRegression().fit(source, target="kind")
    assert len(told) == 1
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-8)


def test_what_goes_by_single_rows_is_streamed(any_database: Any) -> None:
    table = flowers()
    source = copied(any_database, table, "t")
    settings = {"families": {"height": "gaussian", "leaves": "poisson"}, "temperature": "held-out"}
    with pytest.warns(StreamedRows, match="t: rows are streamed out of the database") as told:
        there = NaiveBayes(**settings).fit(source, target="kind")
    assert len(told) == 1
    here = of_array(NaiveBayes(**settings), table)
    assert there.temperature_ == pytest.approx(here.temperature_, rel=1e-9)


def test_samples_come_from_all_over_a_table(any_database: Any) -> None:
    table = pa.table({"x": np.arange(1000.0), "kind": ["a", "b"] * 500})
    named = copied(any_database, table, "t")
    asked = sql_source(any_database, query="SELECT * FROM t WHERE x >= 0")
    for source in (named, asked):
        some = source.some(source.wanted("kind"), 100)
        assert 95 <= some.table.size <= 105
        assert np.ptp(some.table.column(0)) > 970.0


# Refusals


@pytest.mark.parametrize("name", ["nope", "no.pe", 'no"pe'])
def test_a_missing_table_is_refused_by_name(any_database: Any, name: str) -> None:
    with pytest.raises(BadRows, match="refuses") as told:
        sql_source(any_database, name)
    assert name in told.value.problem


def test_a_missing_target_is_refused_with_the_names_there_are(any_database: Any) -> None:
    source = copied(any_database, flowers(), "t")
    with pytest.raises(SufficeError, match="t has no column 'kin'") as told:
        GaussianDiscriminant().fit(source, target="kin")
    assert "kind" in told.value.hint


def test_a_query_that_is_refused_names_what_was_asked(any_database: Any) -> None:
    with pytest.raises(BadRows, match=r"the query: .* refuses"):
        sql_source(any_database, query="SELECT 1 FROM")
    any_database.execute("CREATE TABLE w (x VARCHAR(9), kind INTEGER)")
    any_database.execute("INSERT INTO w VALUES ('1.5', 0), ('none', 1)")
    source = sql_source(any_database, query="SELECT CAST(x AS DOUBLE PRECISION) AS x, kind FROM w")
    with pytest.raises(BadRows, match=r"the query: .* refuses: .*none"):
        GaussianDiscriminant().fit(source, target="kind")


def test_rows_without_a_label_are_refused_with_their_number(any_database: Any) -> None:
    table = flowers()
    labels = [None, None, *table.column("kind").to_pylist()[2:]]
    source = copied(any_database, table.set_column(2, "kind", pa.array(labels)), "t")
    for model in (GaussianDiscriminant(), NaiveBayes("gaussian")):
        with pytest.raises(BadLabels, match=r"2 of 300 rows have no kind|has no kind"):
            model.fit(source, target="kind")
        assert not hasattr(model, "classes_")


@pytest.mark.parametrize("form", ["shared", "diagonal"])
def test_infinite_cells_are_refused_by_name(any_database: Any, form: str) -> None:
    table = flowers()
    height = np.asarray(table.column("height")).copy()
    height[77] = -np.inf
    source = copied(any_database, table.set_column(0, "height", pa.array(height)), "t")
    with pytest.raises(NotFinite, match=r"^t.*height: -inf is not a finite number"):
        GaussianDiscriminant(form).fit(source, target="kind")


@pytest.mark.parametrize(
    ("family", "cell", "words"),
    [
        ("poisson", -1.0, "negative"),
        ("poisson", 0.5, "not a whole number"),
        ("bernoulli", 2.0, "neither 1 nor 0"),
        ("lognormal", 0.0, "not positive"),
        ("multinomial", None, "missing"),
        ("categorical", 0.5, "whole number"),
    ],
)
def test_cells_that_no_family_takes_are_refused_as_anywhere(
    any_database: Any, family: str, cell: float | None, words: str
) -> None:
    cells = pa.array([1.0, 1.0, 1.0, cell], pa.float64())
    source = copied(any_database, pa.table({"x": cells, "kind": [0, 1, 0, 1]}), "t")
    with pytest.raises(BadRows, match=f"^t.*x.*{words}"):
        NaiveBayes({"x": family}).fit(source, target="kind")


def test_tables_without_rows_are_refused(any_database: Any) -> None:
    source = copied(any_database, flowers().slice(0, 0), "t")
    for model in (GaussianDiscriminant(), GaussianDiscriminant("diagonal"), NaiveBayes("gaussian")):
        with pytest.raises(BadRows, match="t has no rows"):
            model.fit(source, target="kind")


@pytest.mark.filterwarnings("ignore::suffice.errors.StreamedRows")
def test_weights_that_count_nothing_are_refused(any_database: Any) -> None:
    table = flowers().append_column("w", pa.array([-1.0, None, np.nan] + [1.0] * 297))
    source = copied(any_database, table, "t")
    with pytest.raises(BadWeights, match="t: 3 rows have a weight 'w'"):
        GaussianDiscriminant().fit(source, target="kind", sample_weight="w")
    none = flowers().append_column("w", pa.array([0.0] * 300))
    for adds_up in (True, False):
        there = copied(any_database, none, "t", adds_up)
        with pytest.raises(BadWeights, match=r"^t.*all 300 sample weights are zero"):
            GaussianDiscriminant().fit(there, target="kind", sample_weight="w")


def test_columns_of_dates_are_refused_as_anywhere(any_database: Any) -> None:
    any_database.execute("CREATE TABLE d AS SELECT CAST('2020-01-01' AS DATE) AS x, 1 AS kind")
    dates = sql_source(any_database, "d", adds_up=True)
    with pytest.raises(NotANumber, match=r"'x' is of type (DATE|date), which is not numeric"):
        GaussianDiscriminant().fit(dates, target="kind")


def test_who_may_not_read_is_told_so(postgres: Any, postgres_server: str) -> None:
    import psycopg

    copied(postgres, flowers(), "t")
    postgres.execute("DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN")
    postgres.execute("GRANT USAGE ON SCHEMA public TO guest")
    with psycopg.connect(postgres_server.replace("user=suffice", "user=guest")) as connection:
        with pytest.raises(BadRows, match="t: PostgreSQL refuses: permission denied"):
            sql_source(connection, "t")
        # The connection is as good as before.
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize("adds_up", [True, False])
def test_a_connection_that_is_gone_is_refused_by_the_name_of_the_table(
    any_database: Any, postgres_server: str, adds_up: bool
) -> None:
    copied(any_database, flowers(), "t")
    if type(any_database).__module__.startswith("psycopg"):
        import psycopg

        connection = psycopg.connect(postgres_server)
        source = sql_source(connection, "t", adds_up=adds_up)
        gone = "SELECT pg_terminate_backend(%s, 5000)"
        any_database.execute(gone, [connection.info.backend_pid])
    else:
        connection = any_database.cursor()
        source = sql_source(connection, "t", adds_up=adds_up)
        connection.close()
    for _ in range(2):
        with pytest.raises(BadRows, match=r"^t: the connection to \w+ is gone"):
            GaussianDiscriminant().fit(source, target="kind")
    connection.close()


@pytest.mark.parametrize("adds_up", [True, False])
def test_a_table_that_is_gone_is_refused_by_name(any_database: Any, adds_up: bool) -> None:
    source = copied(any_database, flowers(), "t", adds_up)
    any_database.execute("DROP TABLE t")
    with pytest.raises(BadRows, match=r"^t: .* refuses: "):
        GaussianDiscriminant().fit(source, target="kind")


@pytest.mark.parametrize(
    "model", [GaussianDiscriminant(), GaussianDiscriminant("per-class"), NaiveBayes("gaussian")]
)
def test_rows_of_this_process_are_read_and_those_of_a_server_added_up(
    any_database: Any, model: Any
) -> None:
    table = flowers()
    here = of_array(type(model)(**model.get_params()), table)
    chosen = copied(any_database, table, "t", None)
    assert chosen.taken is None
    model.fit(chosen, target="kind")
    is_server = type(any_database).__module__.startswith("psycopg")
    assert chosen.taken == ("sums" if is_server else "rows")
    assert_alike(here.statistics_, model.statistics_)


def test_rows_that_are_read_on_purpose_are_no_news(postgres: Any) -> None:
    source = copied(postgres, flowers(), "t", adds_up=False)
    GaussianDiscriminant().fit(source, target="kind")  # a warning would be an error
    assert source.taken == "rows"


def test_stretches_of_rows_that_do_not_count_are_passed_over(duckdb: Any) -> None:
    size = 150_000  # more than are read at a time
    weights = np.zeros(size)
    weights[-4:] = 1.0
    x = np.arange(size, dtype=float)
    table = pa.table({"x": x, "w": weights, "kind": np.arange(size) % 2})
    source = copied(duckdb, table, "t", adds_up=False)
    there = GaussianDiscriminant("diagonal").fit(source, target="kind", sample_weight="w")
    assert there.means_.ravel().tolist() == [size - 3.0, size - 2.0]


def test_an_open_transaction_stays_open(postgres: Any, postgres_server: str) -> None:
    import psycopg

    with psycopg.connect(postgres_server) as connection:
        connection.execute("CREATE TABLE mine (x float8, kind int)")
        connection.execute("INSERT INTO mine VALUES (1, 0), (2, 0), (2, 1), (3, 1)")
        source = sql_source(connection, "mine")
        GaussianDiscriminant("diagonal").fit(source, target="kind")
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        connection.rollback()
        assert connection.execute("SELECT to_regclass('mine')").fetchone() == (None,)


def test_a_connection_alone_is_no_table(duckdb: Any) -> None:
    with pytest.raises(BadSetting, match="many tables"):
        open_source(duckdb)
    with pytest.raises(BadSetting, match="either a table or a query"):
        sql_source(duckdb)
    with pytest.raises(BadSetting, match="not a connection"):
        sql_source(object(), "t")


# Other libraries


def test_relations_and_lazy_frames_over_them_are_sources(duckdb: Any) -> None:
    import narwhals as nw

    table = flowers()
    copied(duckdb, table, "t")
    here = of_array(GaussianDiscriminant(), table)
    relation = duckdb.table("t")
    for source in (relation, nw.from_native(relation), duckdb.sql("SELECT * FROM t")):
        there = GaussianDiscriminant().fit(source, target="kind")
        assert_alike(here.statistics_, there.statistics_)


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis's own
def test_tables_of_ibis_are_sources(
    any_database: Any, postgres_server: str, require: Callable[[object, str], None]
) -> None:
    require(find_spec("ibis"), "Ibis is not installed")
    import ibis
    import narwhals as nw

    table = flowers()
    copied(any_database, table, "t")
    if type(any_database).__module__.startswith("psycopg"):
        parts = dict(part.split("=") for part in postgres_server.split())
        backend = ibis.postgres.connect(
            host=parts["host"], port=int(parts["port"]), user=parts["user"], database="postgres"
        )
    else:
        backend = ibis.duckdb.from_connection(any_database)
    rows = backend.table("t")
    here = of_array(GaussianDiscriminant(), table)
    for source in (rows, nw.from_native(rows), rows.filter(rows.leaves >= 0)):
        there = GaussianDiscriminant().fit(source, target="kind")
        assert_alike(here.statistics_, there.statistics_)
    if backend.con is not any_database:
        backend.disconnect()


@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")  # Ibis's own
def test_other_databases_of_ibis_are_streamed(
    tmp_path: Path, require: Callable[[object, str], None]
) -> None:
    require(find_spec("ibis"), "Ibis is not installed")
    import ibis

    table = flowers()
    with sqlite3.connect(tmp_path / "flowers.db") as connection:
        connection.execute("CREATE TABLE t (height REAL, leaves INTEGER, kind TEXT)")
        cells = zip(*(column.to_pylist() for column in table.columns), strict=True)
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", cells)
    connection.close()
    backend = ibis.sqlite.connect(tmp_path / "flowers.db")
    rows = backend.table("t")
    with pytest.warns(StreamedRows, match="t: rows are streamed"):
        there = GaussianDiscriminant().fit(rows, target="kind")
    backend.disconnect()
    assert_alike(of_array(GaussianDiscriminant(), table).statistics_, there.statistics_)


# The command


def test_the_command_writes_what_the_database_runs(
    duckdb: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = flowers()
    copied(duckdb, table, "my rows")
    path = tmp_path / "model.suffice"
    of_array(GaussianDiscriminant("per-class"), table).save(path)
    assert main(["sql", str(path), "--table", "my rows", "--proba", "--dialect", "duckdb"]) == 0
    found = duckdb.sql(capsys.readouterr().out).to_arrow_table()
    assert found.column_names == [*table.column_names, "prediction", "p_ash", "p_beech"]
    expected = load(path).predict_proba(table.drop(["kind"]))
    np.testing.assert_allclose(found.column("p_ash").to_numpy(), expected[:, 0], atol=1e-9)


def test_the_command_fills_blanks_as_the_model_does(
    duckdb: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, rows = tmp_path / "model.suffice", tmp_path / "rows.csv"
    table = flowers()
    heights = [None, None, *table.column("height").to_pylist()[2:]]
    table = table.set_column(0, "height", pa.array(heights, pa.float64()))
    csv.write_csv(table, rows)
    fit = ["fit", str(rows), "--target", "kind", "--model", "logistic", "-o", str(place)]
    assert main(fit) == 0
    capsys.readouterr()
    assert main(["predict", str(place), str(rows), "--proba"]) == 0
    printed = capsys.readouterr().out.splitlines()[1:]
    expected = [float(line.split(",")[1]) for line in printed]
    copied(duckdb, table, "t")
    assert main(["sql", str(place), "--table", "t", "--proba"]) == 0
    found = duckdb.sql(capsys.readouterr().out).to_arrow_table()
    np.testing.assert_allclose(found.column("p_ash").to_numpy(), expected, atol=1e-5)


def test_the_command_refuses_what_it_cannot_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sql", str(tmp_path / "nothing.suffice")]) == 1
    assert main(["sql", str(tmp_path / "x"), "--dialect", "oracle"]) == 2
    assert "oracle" in capsys.readouterr().err


def test_a_sample_of_rows_that_take_turns_has_all_classes(any_database: Any) -> None:
    any_database.execute("CREATE TABLE turns (x double precision, y integer)")
    any_database.execute("INSERT INTO turns SELECT i, i % 2 FROM generate_series(1, 4000) AS g(i)")
    source = sql_source(any_database, "turns")
    some = source.some(source.wanted("y"), 1000)
    assert some is not None
    assert 900 < some.table.size < 1100
    assert abs(np.mean(np.asarray(some.labels, dtype=float)) - 0.5) < 0.05
