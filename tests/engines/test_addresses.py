"""Tables of databases by one line of text, in Python and on the command line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import suffice
from suffice import GaussianDiscriminant, compare
from suffice.cli import main
from suffice.errors import BadFile, BadRows, BadSetting
from suffice.passwords import without_secrets
from suffice.sources import open_source
from tests.searches import examples

if TYPE_CHECKING:
    from pathlib import Path

ROWS = """
CREATE TABLE flowers AS
SELECT i % 7 + 2.5 * (i % 2) AS size, CAST(i % 5 AS double precision) AS "petal ""l""ength",
       CASE WHEN i % 3 = 0 THEN 'red' ELSE 'blue' END AS colour,
       CASE WHEN i % 40 = 0 THEN NULL ELSE i % 2 END AS kind
FROM {} AS r(i)
"""


@pytest.fixture(params=["duckdb", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where a table of flowers is."""
    connection = request.getfixturevalue(request.param)
    if request.param == "duckdb":
        import duckdb

        place = tmp_path / "flowers.db"
        with duckdb.connect(str(place)) as made:
            made.execute(ROWS.format("range(200)"))
        return f"duckdb://{place}"
    connection.execute(ROWS.format("generate_series(0, 199)"))
    info = connection.info
    return f"postgresql://{info.user}:secret@{info.host}:{info.port}/{info.dbname}"


def frame(address: str) -> Any:
    """Return the rows that have a label."""
    import pyarrow as pa

    source = open_source(f"{address}?query=SELECT * FROM flowers WHERE kind IS NOT NULL")
    wanted = source.wanted(names=source.names)
    some = source.some(wanted, 1000)
    assert some is not None
    return pa.table({n: some.table.column(j) for j, n in enumerate(wanted.names)})


def test_a_table_of_a_database_is_a_source(address: str) -> None:
    here = frame(address)
    place = f"{address}?query=SELECT * FROM flowers WHERE kind IS NOT NULL"
    there = GaussianDiscriminant().fit(place, target="kind")
    expected = GaussianDiscriminant().fit(here, target="kind")
    np.testing.assert_allclose(there.covariance_, expected.covariance_, rtol=1e-12, atol=1e-12)
    found = compare(place, target="kind", models=["gda"], curves=False)
    assert len(found.rows) == len(here)


@pytest.mark.parametrize("model", ["gda", "qda", "naive-bayes", "logistic"])
def test_commands_learn_from_a_table_of_a_database(
    model: str, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pyarrow import csv

    here, there, file = (tmp_path / name for name in ("h.suffice", "t.suffice", "flowers.csv"))
    csv.write_csv(frame(address), file)
    arguments = ["-t", "kind", "--model", model, "-o"]
    assert main(["fit", f"{address}?table=flowers", *arguments, str(there)]) == 0
    said = capsys.readouterr().err
    assert "note: 5 rows without a label left out" in said
    assert "195 rows, 3 columns: 2 numeric, 1 categorical; 2 classes of kind" in said
    assert main(["fit", str(file), *arguments, str(here)]) == 0
    one, two = suffice.load(here), suffice.load(there)
    rows = frame(address)
    np.testing.assert_allclose(two.predict_proba(rows), one.predict_proba(rows), atol=1e-9)
    assert b"secret" not in there.read_bytes()
    capsys.readouterr()
    assert main(["predict", str(there), f"{address}?table=flowers"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 201
    before = there.read_bytes()
    if model == "qda":
        assert main(["learn", str(there), f"{address}?table=flowers"]) == 0
        assert main(["forget", str(there), f"{address}?table=flowers"]) == 0
        back = suffice.load(there)
        np.testing.assert_allclose(back.predict_proba(rows), two.predict_proba(rows), atol=1e-9)
    else:
        assert there.read_bytes() == before


def test_what_is_wrong_with_an_address_is_said_without_its_password(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["-t", "kind", "-o", str(tmp_path / "m.suffice"), "--model", "gda"]
    for end, words in (
        ("", "has many tables"),
        ("?table=weeds", "weeds"),
        ("?query=SELECT * FROM", "refuses"),
        ("?query=SELECT size FROM flowers", "has no column 'kind'"),
        ("?table=flowers --checkpoint x", "so there is no checkpoint"),
    ):
        given, _, more = end.partition(" --")
        asked = ["fit", f"{address}{given}", *out, *(f"--{more}".split() if more else ())]
        assert main(asked) == 1, end
        said = capsys.readouterr().err
        assert words in said
        assert "secret" not in said
        assert said.count("\n") <= 3
    assert not (tmp_path / "m.suffice").exists()


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    pytest.importorskip("psycopg")
    for place in (
        "postgresql://ada:secret@127.0.0.1:1/base?table=t",
        "postgresql://ada@127.0.0.1:1/base?password=secret&table=t",
        "postgresql://ada:sec?ret@127.0.0.1:1/base?table=t",
    ):
        with pytest.raises((BadRows, BadSetting)) as caught:
            open_source(place)
        assert "sec" not in str(caught.value)


def test_places_that_are_no_databases_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="s3:// addresses are not supported"):
        open_source("s3://bucket/rows.parquet")
    with pytest.raises(BadFile, match=r"there is no file .*none\.db"):
        open_source(f"duckdb://{tmp_path}/none.db?table=t")
    (tmp_path / "text.db").write_text("a,b\n1,2\n" * 2000)
    with pytest.raises(BadFile, match=r"text\.db cannot be opened"):
        open_source(f"duckdb://{tmp_path}/text.db?table=t")
    with pytest.raises(BadSetting, match="one of them is a database"):
        open_source(["a.csv", "duckdb://a.db?table=t"])


@pytest.mark.parametrize(
    ("place", "module", "extra"),
    [
        ("duckdb://a.db?table=t", "duckdb", "duckdb"),
        ("postgres://b/a?table=t", "psycopg", "postgres"),
    ],
)
def test_a_driver_that_is_missing_is_named(
    place: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BadSetting, match=f"needs {module}, which is not installed") as caught:
        open_source(place)
    assert f"suffice[{extra}]" in caught.value.hint


def test_only_the_password_of_an_address_is_left_out() -> None:
    whole = "postgresql://ada@host:5432/base?sslmode=require"
    assert without_secrets(whole) == whole
    assert without_secrets(whole.replace("ada", "ada:p%40ss")) == whole
    assert without_secrets("duckdb:///data/a.db") == "duckdb:///data/a.db"


def test_of_a_large_table_of_a_database_some_rows_are_compared(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suffice.evaluation.labelled_rows.MOST_CELLS", 4 * 60)
    place = f"{address}?query=SELECT * FROM flowers WHERE kind IS NOT NULL ORDER BY kind"
    found = compare(place, target="kind", models=["gda"], curves=False, folds=3)
    assert len(found.rows.classes) == 2
    assert 40 <= len(found.rows) <= 60
    assert any(f"{len(found.rows)} of 195 rows" in note for note in found.notes)


def test_few_rows_leave_a_database_that_adds_them_up(
    postgres: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from suffice.sources.sql.postgres import PostgresTable

    postgres.execute(ROWS.format("generate_series(0, 199)"))
    info = postgres.info
    place = f"postgresql://{info.user}@{info.host}:{info.port}/{info.dbname}?table=flowers"
    monkeypatch.setattr("suffice.training.training_rows.FROM_AFAR", 20)
    came = []
    streamed = PostgresTable.batches

    def counted(self: PostgresTable, query: str) -> Any:
        for batch in streamed(self, query):
            came.append(batch.num_rows)
            yield batch

    monkeypatch.setattr(PostgresTable, "batches", counted)
    out = tmp_path / "m.suffice"
    assert main(["fit", place, "-t", "kind", "--model", "gda", "-o", str(out)]) == 0
    assert 0 < sum(came) <= 20
    assert suffice.load(out).statistics_.weight == 195


FORMS = (
    "postgresql://ada:{}@127.0.0.1:1/base?table=t",
    "postgres://ada:{}@127.0.0.1:1/base",
    "postgresql://:{}@127.0.0.1:1/base?table=t",
    "postgresql://ada:{}@127.0.0.1:1/base?query=SELECT 1 AS a",
    "postgresql://ada@127.0.0.1:1/base?password={}&table=t",
    "postgresql://ada@127.0.0.1:1/base?table=t&sslpassword={}",
    "postgre://ada:{}@127.0.0.1:1/base?table=t",
    "mysql://ada:{}@127.0.0.1/base?table=t",
    "postgresql:/ada:{}@127.0.0.1:1/base?table=t",
    "postgresql//ada:{}@127.0.0.1:1/base",
    "postgresql:ada:{}@127.0.0.1:1/base?table=t",
    "ada:{}@127.0.0.1:1/base?table=t",
    "duckdb://ada:{}@127.0.0.1/base?table=t",
    "postgresql://ada:{}@no host:1/base?table=t",
)
"""Addresses that are right, and ones that people write."""
HOSTILE = st.lists(
    st.sampled_from(["@", ":", "/", "%", "%zz", "%40", " ", "?", "#", "&", "=", "ü", "\u2028", "'",
                     '"', "*", "[", "\\", "?table=", "7"]),
    max_size=4,
).map("".join)  # fmt: skip


@examples(50)
@given(st.sampled_from(FORMS), HOSTILE, HOSTILE)
@example(FORMS[0], "@", "")
@example(FORMS[6], "/", "@")
def test_no_part_of_a_password_is_ever_repeated(form: str, start: str, middle: str) -> None:
    pytest.importorskip("psycopg")
    place = form.format(f"x{start}SEKR{middle}ETWW")
    for opened in (
        lambda: open_source(place),
        lambda: suffice.collect(GaussianDiscriminant(), place, target="y"),
        lambda: GaussianDiscriminant().fit(place, target="y"),
    ):
        with pytest.raises((ValueError, OSError)) as caught:
            opened()
        chained = (caught.value, caught.value.__cause__, caught.value.__context__)
        said = " ".join(f"{error} {error!r}" for error in chained)
        assert "SEKR" not in said
        assert "ETWW" not in said


@pytest.mark.parametrize("middle", ["", "@", ":", "/", "%", " ", "ü", "?", "&"])
def test_no_command_repeats_a_part_of_a_password(
    middle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("psycopg")
    out = str(tmp_path / "m.suffice")
    for form in FORMS:
        place = form.format(f"SEKR{middle}ETWW")
        for command in (
            ["fit", place, "-t", "y", "-o", out],
            ["fit", place, place, "-t", "y", "-o", out],
            ["fit", place, "--no-such-option"],
            ["fit", "x.csv", "-t", "y", "-o", out, "--model", place],
            ["compare", place, "-t", "y"],
            ["report", place, "-t", "y", "-o", str(tmp_path / "r.html")],
            ["predict", place, place],
            ["inspect", place],
        ):
            assert main(command) in (1, 2)
            said = capsys.readouterr()
            assert "SEKR" not in said.err + said.out, command
            assert "ETWW" not in said.err + said.out, command


def test_a_password_may_hold_what_parts_an_address(postgres: Any) -> None:
    postgres.execute(ROWS.format("generate_series(0, 199)"))
    info = postgres.info
    for password in ("p@ss", "p:s@", "p%40ss", "p s", "pü"):
        place = f"postgresql://{info.user}:{password}@{info.host}:{info.port}/{info.dbname}"
        source = open_source(f"{place}?table=flowers")
        assert source.name == place.replace(f":{password}", "") + "?table=flowers"
        assert password not in repr(source)
