"""Several servers on one PostgreSQL: each has what the others have learned, in any order."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import suffice
from suffice.serve.state.entries import LogEntry, now
from tests.engines.sql_servers import postgres, postgres_server
from tests.serve.asked import served
from tests.serve.conftest import ROWS, flowers
from tests.serve.test_learning_over_http import NEW, fitted, learn, posterior, same

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.asked import Asked

__all__ = ["postgres", "postgres_server"]
SOON = 1.0
"""Seconds in which servers see what others have learned."""


def address(postgres_server: str) -> str:
    given = dict(part.split("=") for part in postgres_server.split())
    return f"postgresql://{given['user']}@{given['host']}:{given['port']}/{given['dbname']}"


def soon(ask: Asked, expected: tuple[list[Any], Any]) -> None:
    """See that a server has a model within a second."""
    until = time.monotonic() + SOON
    while True:
        found = posterior(ask, "gda")
        try:
            same(found, expected)
        except AssertionError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return


@pytest.mark.slow
def test_two_servers_have_one_model(model_files: Path, postgres: Any, postgres_server: str) -> None:
    path, state = model_files / "gda.suffice", address(postgres_server)
    with served(path, state=state) as one, served(path, state=state) as other:
        learn(one, "gda", NEW[0])
        learn(other, "gda", NEW[1])
        assert learn(other, "gda", NEW[0])["already"]
        soon(one, fitted("gda", NEW[0], NEW[1]))
        soon(other, fitted("gda", NEW[0], NEW[1]))
        # What one forgets, the other does not know any more.
        assert one.post("/v1/models/gda/forget", {"id": "two"}).json["rows"] == 1
        soon(other, fitted("gda", NEW[0]))
        again = other.post(
            "/v1/models/gda/learn", {"id": "two", "rows": NEW[1][1], "labels": ["tulip"]}
        )
        assert again.status == 409
        learn(other, "gda", NEW[3])
        soon(one, fitted("gda", NEW[0], NEW[3]))
        held = postgres.execute("SELECT content FROM suffice_log").fetchall()
        assert not any(b"mauve" in content for (content,) in held)
        taken = postgres.execute("SELECT content FROM suffice_snapshots").fetchall()
        assert not any(b"mauve" in content for (content,) in taken)
    with served(state=state) as again_there:
        same(posterior(again_there, "gda"), fitted("gda", NEW[0], NEW[3]))


def test_servers_that_forget_one_after_the_other_forget_both(
    model_files: Path, postgres: Any, postgres_server: str
) -> None:
    """A server that forgets before it has seen what another forgot has to see that first."""
    path, state = model_files / "gda.suffice", address(postgres_server)
    with served(path, state=state) as one, served(path, state=state) as other:
        for ask, new in zip((one, other) * 2, NEW, strict=True):
            learn(ask, "gda", new)
        for ask, new in zip((one, other, one), NEW[:3], strict=True):  # none waits for a look
            assert ask.post("/v1/models/gda/forget", {"id": new[0]}).json["rows"] == 1
        for ask in (one, other):
            soon(ask, fitted("gda", NEW[3]))
        learn(other, "gda", ("more", [ROWS[0]], ["rose"]))
        expected = fitted("gda", NEW[3], ("", [ROWS[0]], ["rose"]))
        soon(one, expected)
    generation = postgres.execute("SELECT generation FROM suffice_models").fetchone()[0]
    assert generation == 3
    with served(state=state) as again:
        same(posterior(again, "gda"), expected)


def test_commits_out_of_the_order_of_their_numbers_are_not_missed(
    model_files: Path, postgres: Any, postgres_server: str
) -> None:
    """By numbers alone, the row that is committed last would never be seen."""
    import psycopg

    path, state = model_files / "gda.suffice", address(postgres_server)
    row = tuple(ROWS[0].values())
    insert = (
        "INSERT INTO suffice_log (model, id, time, digest, size, content) "
        "VALUES ('gda', %s, %s, NULL, 1, %s)"
    )
    with served(path, state=state) as ask, psycopg.connect(postgres_server) as late:
        content = LogEntry("late", [row], ["rose"]).packed()
        late.execute(insert, ("late", now(), content))  # its number is taken, and it waits
        learn(ask, "gda", NEW[0])
        early = LogEntry("early", [row], ["rose"]).packed()
        postgres.execute(insert, ("early", now(), early))
        soon(ask, fitted("gda", NEW[0], ("", [ROWS[0]], ["rose"])))
        time.sleep(0.6)
        late.commit()
        numbers = [
            seq for (seq,) in postgres.execute("SELECT seq FROM suffice_log WHERE id = 'late'")
        ]
        most = postgres.execute("SELECT MAX(seq) FROM suffice_log").fetchone()[0]
        assert numbers[0] < most
        expected = fitted("gda", NEW[0], ("", [ROWS[0]] * 2, ["rose"] * 2))
        soon(ask, expected)
    with served(state=state) as ask:  # by the snapshot
        same(posterior(ask, "gda"), expected)


def test_the_model_of_a_moment_is_replayed_from_a_database(
    model_files: Path, postgres: Any, postgres_server: str, tmp_path: Path
) -> None:
    from suffice.cli import main

    state = address(postgres_server)
    with served(model_files / "gda.suffice", state=state) as ask:
        learn(ask, "gda", NEW[0])
        moment = now()
        learn(ask, "gda", NEW[3])
        place = tmp_path / "then.suffice"
        assert main(["replay", state, "--until", moment, "-o", str(place)]) == 0
    found = suffice.load(place).predict_proba(flowers(ROWS))
    np.testing.assert_allclose(found, fitted("gda", NEW[0])[1], rtol=1e-9)


def test_a_database_that_is_away_is_503_and_learning_goes_on(
    model_files: Path, postgres: Any, postgres_server: str
) -> None:
    path, state = model_files / "gda.suffice", address(postgres_server)
    with served(path, state=state) as ask:
        learn(ask, "gda", NEW[0])
        postgres.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        )
        content = {"id": "n", "rows": [ROWS[0]], "labels": ["rose"]}
        statuses = [ask.post("/v1/models/gda/learn", content).status for _ in range(2)]
        assert statuses in ([503, 200], [200, 200])
        same(posterior(ask, "gda"), fitted("gda", NEW[0], ("", [ROWS[0]], ["rose"])))


@pytest.mark.parametrize("bad", ["postgresql://nobody@127.0.0.1:9/none", "mysql://host/base"])
def test_an_address_that_leads_nowhere_is_refused(bad: str, model_files: Path) -> None:
    from suffice.errors import SufficeError

    with pytest.raises(SufficeError), served(model_files / "gda.suffice", state=bad):
        pass


def test_rows_of_the_log_are_numbers_as_they_were() -> None:
    row = (0.1, 1e-300, None, True, "a", 2.0**53 + 2)
    entry = LogEntry("a", [row], ["x"])
    from suffice.serve.state.entries import unpacked

    packed = entry.packed()
    again = unpacked("a", packed, entry.digest(packed), 1, "", 0)
    assert np.array_equal(np.array(again.rows[0], object), np.array(row, object))
