"""Servers that are killed while eight clients teach them; PostgreSQL killed under two servers.

python -m benchmarks.evidence --only serving     (about half an hour on two busy cores)
"""

from __future__ import annotations

import http.client
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import suffice
from benchmarks.evidence import Figure
from tests.engines.sql_servers import PostgresServer
from tests.serve.conftest import LABELS, flowers
from tests.serve.kills import Clients, check_nothing_lost, logged
from tests.serve.processes import SOURCE, ServerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

KILLS = int(os.environ.get("SUFFICE_SERVER_KILLS", "1000"))
"""Kills of one server with its log in a folder."""
KILLS_A_CHECK = 50
"""Kills between two checks of everything so far: what is cut off has still shown something."""
DATABASE_KILLS = int(os.environ.get("SUFFICE_DATABASE_KILLS", "100"))
"""Kills of a database and its servers together; each waits for the database's recovery."""
LIVES = 0.05, 0.4
"""Seconds that a server lives: time for a few commits, and for snapshots of some."""
COMMAND = "python -m benchmarks.evidence --only serving"
NURSERY = """
import os, sys
from pathlib import Path
import psycopg, uvicorn.loops.uvloop, uvicorn.protocols.http.httptools_impl
import suffice.cli.serving.serve, suffice.serve.state.postgres_log, suffice.serve.state.sqlite_log
from suffice.cli import main
from suffice.serve.serving import ModelFile, ModelServer, ServerSettings
ModelServer.of([ModelFile.read(Path(sys.argv[1]))], None, ServerSettings())
for line in sys.stdin:
    child = os.fork()
    if not child:
        os.dup2(1, 2)
        sys.stderr = open(2, "w", buffering=1, closefd=False)
        os._exit(main(line.split()) or 0)
    print("born", child, flush=True)
    os.waitpid(child, 0)
    print("gone", child, flush=True)
"""
"""A process that has loaded everything, and forks a server for each line: what is tried is being
killed, and not loading NumPy a thousand times."""


class ForkedServer:
    """One server after the other, each killed before the next."""

    def __init__(self, model: Path, *arguments: object) -> None:
        given = {**os.environ, "PYTHONPATH": str(SOURCE), "OPENBLAS_NUM_THREADS": "1"}
        self._nursery = subprocess.Popen(
            [sys.executable, "-c", NURSERY, str(model)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=given, text=True,
        )  # fmt: skip
        self._line = " ".join(map(str, ("serve", model, *arguments, "--port")))
        self.port, self._child = 0, 0

    def start(self) -> None:
        """Fork a server, and wait until it answers."""
        nursery = self._nursery
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        print(self._line, self.port, file=nursery.stdin, flush=True)
        before, said = self._child, ""
        for line in nursery.stdout:
            said += line
            if re.match(r"gone \d+$", line) and int(line.split()[1]) != before:
                break
            if re.match(r"born \d+$", line):
                self._child = int(line.split()[1])
            found = re.search(r"at http://[^ ]*:(\d+);", line)
            if found:
                self.port = int(found[1])
                return
        raise AssertionError(said)

    def kill(self) -> None:
        """End the server without a word."""
        os.kill(self._child, signal.SIGKILL)

    def connection(self) -> http.client.HTTPConnection:
        """Return a connection to it."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)

    def close(self) -> None:
        """End everything."""
        self.kill()
        self._nursery.kill()
        self._nursery.wait()
        for pipe in (self._nursery.stdin, self._nursery.stdout):
            assert pipe is not None
            pipe.close()


def measure() -> Iterator[Figure]:
    """Yield what is left of acknowledged rows after all kills."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "gda.suffice"
        suffice.GaussianDiscriminant().fit(flowers(), np.array(LABELS)).save(model)
        yield _one_server(model, Path(folder) / "state")
        yield _shared_database(model)


def _one_server(model: Path, state: Path) -> Figure:
    rng = random.Random(0)
    server = ForkedServer(model, "--state", state)
    server.start()
    acknowledged: dict[str, int] = {}
    sent: set[str] = set()
    figure = None
    try:
        for killed in range(0, KILLS, KILLS_A_CHECK):
            clients = Clients(killed + 1, "gda")
            clients.servers = [server]  # type: ignore[list-item]
            clients.start()
            now = min(KILLS, killed + KILLS_A_CHECK)
            try:
                for _ in range(killed, now):
                    time.sleep(rng.uniform(*LIVES))
                    server.kill()
                    server.start()
                time.sleep(0.3)
            finally:
                clients.stop()
            clients.acknowledged.update(acknowledged)
            clients.sent.update(sent)
            acknowledged, sent = clients.acknowledged, clients.sent
            server.kill()  # the check is of what is on the disk
            last = ServerProcess(model, "--state", state)
            try:
                what = f"a server killed {now:,} times by SIGKILL"
                figure = _figure(what, last, str(state), clients)
            finally:
                last.kill()
            print(figure.claim, figure.figure, sep=": ", file=sys.stderr, flush=True)
            if not figure.holds:
                break
            server.start()
    finally:
        server.close()
    assert figure is not None
    return figure


def _shared_database(model: Path) -> Figure:
    rng = random.Random(1)
    database = PostgresServer("-c fsync=on -c synchronous_commit=on")
    servers = [ForkedServer(model, "--state", database.url) for _ in range(2)]
    clients = Clients(2, "gda")
    try:
        for server in servers:
            server.start()
        clients.servers = list(servers)  # type: ignore[arg-type]
        clients.start()
        try:
            for i in range(DATABASE_KILLS):
                time.sleep(rng.uniform(*LIVES) + 0.5)
                if i % 2:  # and one of the servers with it
                    servers[i // 2 % 2].kill()
                database.kill()
                database.start()
                if i % 2:
                    servers[i // 2 % 2].start()
            time.sleep(2.0)
        finally:
            clients.stop()
        for server in servers:
            server.close()
        last = ServerProcess(model, "--state", database.url)
        try:
            what = f"two servers on one PostgreSQL (fsync on) killed {DATABASE_KILLS} times"
            return _figure(f"{what}, every other time with a server", last, database.url, clients)
        finally:
            last.kill()
    finally:
        database.close()


def _figure(what: str, server: ServerProcess, state: str, clients: Clients) -> Figure:
    held = logged(state, "gda")
    lost = len(set(clients.acknowledged) - set(held))
    try:
        check_nothing_lost(server, held, clients.acknowledged, clients.sent)
        holds = not clients.refused
    except AssertionError:
        holds = False
    return Figure(
        f"{what} under eight clients: acknowledged requests that are not there once, or not in "
        "the model",
        f"{lost} of {len(clients.acknowledged):,} are lost, {len(held):,} in the log, the model "
        f"is {'' if holds else 'NOT '}one fit of them",
        "0, and the model is one fit of the rows of the log",
        holds and not lost,
        COMMAND,
    )
