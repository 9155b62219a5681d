"""Databases for the tests: DuckDB in this process, PostgreSQL as a server of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def duckdb(require: Callable[[object, str], None]) -> Iterator[Any]:
    """Return a connection to an empty DuckDB."""
    require(find_spec("duckdb"), "DuckDB is not installed")
    import duckdb as library

    with library.connect() as connection:
        connection.execute("SET threads TO 2")
        yield connection


@pytest.fixture(scope="session")
def postgres_server(require: Callable[[object, str], None]) -> Iterator[str]:
    """Start a PostgreSQL server on a free loopback port, and return how to reach it."""
    require(find_spec("psycopg"), "psycopg is not installed")
    programs = _programs()
    require(programs, "PostgreSQL is not installed")
    assert programs is not None
    folder = Path(tempfile.mkdtemp(prefix="suffice-postgres-"))
    as_user: list[str] = []
    if os.geteuid() == 0:  # the server refuses to run as root
        user = next((u for u in ("postgres", "nobody") if _is_user(u)), None)
        require(user is not None and shutil.which("setpriv"), "no other user to run a server as")
        entry = pwd.getpwnam(str(user))
        os.chown(folder, entry.pw_uid, entry.pw_gid)
        as_user = ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}",
                   "--clear-groups"]  # fmt: skip
    data = folder / "data"
    quiet: Any = {"cwd": folder, "capture_output": True, "text": True, "timeout": 120}
    made = subprocess.run(
        [*as_user, programs / "initdb", "-D", data, "-U", "suffice", "-A", "trust", "-E", "UTF8",
         "--locale=C.UTF-8", "--no-sync"],
        check=False,
        **quiet,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    port = _free_port()
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    control = [*as_user, programs / "pg_ctl", "-D", data]
    started = subprocess.run(
        [*control, "-o", options, "-l", folder / "log", "-w", "start"], check=False, **quiet
    )
    assert started.returncode == 0, (folder / "log").read_text()
    try:
        yield f"host=127.0.0.1 port={port} user=suffice dbname=postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=False, **quiet)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres(postgres_server: str) -> Iterator[Any]:
    """Return a connection to PostgreSQL; what was made in it is gone after the test."""
    import psycopg

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        yield connection


@pytest.fixture(params=["duckdb", "postgres"])
def any_database(request: pytest.FixtureRequest) -> Any:
    """Return a connection to each database in turn."""
    return request.getfixturevalue(request.param)


def _programs() -> Path | None:
    """Return the folder of the server's programs: Debian keeps it out of the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    there = shutil.which("initdb")
    return None if there is None else Path(there).resolve().parent


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as given:
        given.bind(("127.0.0.1", 0))
        return int(given.getsockname()[1])
