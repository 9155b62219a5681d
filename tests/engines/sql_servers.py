"""Databases for the tests: DuckDB in this process, PostgreSQL as a server of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
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


class PostgresServer:
    """A PostgreSQL server on a free loopback port, with its data in a folder of its own."""

    def __init__(self, options: str = "-c fsync=off") -> None:
        programs = _programs()
        assert programs is not None
        self._folder = Path(tempfile.mkdtemp(prefix="suffice-postgres-"))
        as_user: list[str] = []
        if os.geteuid() == 0:  # the server refuses to run as root
            entry = pwd.getpwnam(str(_another_user()))
            os.chown(self._folder, entry.pw_uid, entry.pw_gid)
            as_user = ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}",
                       "--clear-groups"]  # fmt: skip
        self._data = self._folder / "data"
        self._quiet: Any = {
            "cwd": self._folder, "capture_output": True, "text": True, "timeout": 120,
        }  # fmt: skip
        made = subprocess.run(
            [*as_user, programs / "initdb", "-D", self._data, "-U", "suffice", "-A", "trust",
             "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"],
            check=False,
            **self._quiet,
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        self.port = _free_port()
        self._options = f"-p {self.port} -k {self._folder} -c listen_addresses=127.0.0.1 {options}"
        self._control = [*as_user, programs / "pg_ctl", "-D", self._data]
        self.start()

    @property
    def address(self) -> str:
        return f"host=127.0.0.1 port={self.port} user=suffice dbname=postgres"

    @property
    def url(self) -> str:
        return f"postgresql://suffice@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        started = subprocess.run(
            [*self._control, "-o", self._options, "-l", self._folder / "log", "-w", "start"],
            check=False,
            **self._quiet,
        )
        assert started.returncode == 0, (self._folder / "log").read_text()[-2000:]

    def kill(self) -> None:
        """End all its processes without a word, as if somebody had pulled the plug on them."""
        lock = self._data / "postmaster.pid"
        first = int(lock.read_text().split()[0])
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        for process in (first, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        while any(_runs(process) for process in (first, *map(int, children))):
            time.sleep(0.01)
        for left in (lock, *self._folder.glob(".s.PGSQL.*")):
            left.unlink()  # where nobody buries processes, its number still looks taken

    def close(self) -> None:
        subprocess.run([*self._control, "-m", "immediate", "stop"], check=False, **self._quiet)
        shutil.rmtree(self._folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server(require: Callable[[object, str], None]) -> Iterator[str]:
    """Start a PostgreSQL server on a free loopback port, and return how to reach it."""
    require(find_spec("psycopg"), "psycopg is not installed")
    require(_programs(), "PostgreSQL is not installed")
    if os.geteuid() == 0:
        require(_another_user() and shutil.which("setpriv"), "no other user to run a server as")
    server = PostgresServer()
    try:
        yield server.address
    finally:
        server.close()


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


def _another_user() -> str | None:
    return next((u for u in ("postgres", "nobody") if _is_user(u)), None)


def _runs(process: int) -> bool:
    """Whether a process is there, and not merely waiting to be buried."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


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
