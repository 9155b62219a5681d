"""Connections that say nothing, and more of them than there are files for."""

from __future__ import annotations

import asyncio
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from suffice.serve.http import running
from suffice.serve.serving import ModelFile, ModelServer, ServerSettings
from tests.serve.conftest import LABELS, ROWS
from tests.serve.kills import JSON
from tests.serve.processes import ServerProcess

if TYPE_CHECKING:
    from pathlib import Path

FILES = 120
"""Open files that the server may have: what it needs itself, and some connections."""


@pytest.mark.slow
@pytest.mark.process
def test_connections_leave_files_to_the_log(model_files: Path, tmp_path: Path) -> None:
    """Without the spare ones, whoever connects keeps the log from being opened: learning fails."""
    resource = pytest.importorskip("resource")
    if not hasattr(resource, "prlimit"):
        pytest.skip("limits of another process are set on Linux only")
    server = ServerProcess(model_files / "gda.suffice", "--state", tmp_path / "state")
    try:
        first = server.connection()
        first.request("GET", "/health/live")
        assert first.getresponse().read() == b'{"live":true}'
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
        address = ("127.0.0.1", server.port)
        idle = [socket.create_connection(address, timeout=20) for _ in range(FILES)]
        turned_away = idle[FILES - running.SPARE + 5].recv(4096)
        assert turned_away.startswith(b"HTTP/1.1 503")
        assert b"too many connections" in turned_away
        body = json.dumps({"id": "one", "rows": ROWS[:1], "labels": LABELS[:1]})
        first.request("POST", "/v1/models/gda/learn", body, JSON)
        answer = first.getresponse()
        assert (answer.status, json.loads(answer.read())["rows"]) == (200, 1)
        for one in idle:
            one.close()
        first.close()
        assert server.ask("GET", "/health/ready")[0] == 200
        assert server.stop() == 0
    finally:
        server.kill()


def test_a_connection_that_says_nothing_is_ended(
    model_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before its first request too; one that asks is kept for as long again."""
    monkeypatch.setattr(running, "KEPT", 0.3)
    files = [ModelFile.read(model_files / "gda.suffice")]
    app: Any = ModelServer.of(files, None, ServerSettings()).app
    config = uvicorn.Config(app, ws="none", lifespan="off", log_config=None, timeout_keep_alive=60)
    config.load()

    async def asked() -> tuple[bytes, bytes]:
        server = await asyncio.get_running_loop().create_server(
            lambda: running.BoundedProtocol(config, ServerState(), {}), "127.0.0.1", 0
        )
        async with server:
            address = server.sockets[0].getsockname()
            (silent, out), (reader, writer) = [await asyncio.open_connection(*address)
                                               for _ in range(2)]  # fmt: skip
            writer.write(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            heard = await asyncio.wait_for(silent.read(), 20)  # until it is ended
            writer.write(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            told = b""
            while told.count(b'{"live":true}') < 2:
                told += await asyncio.wait_for(reader.read(4096), 20)
            for one in (out, writer):
                one.close()
            return heard, told

    with ThreadPoolExecutor(1) as thread:  # in which there is no other loop
        heard, told = thread.submit(asyncio.run, asked()).result()
    app.threads.shutdown()
    assert heard == b""
    assert told.count(b"HTTP/1.1 200") == 2
