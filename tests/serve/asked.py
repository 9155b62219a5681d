"""A server in the process of the test: requests without a socket, and models to be asked.

Its event loop has a thread of its own, as in a real server. In the thread of the tests there may be
another one: Playwright leaves a running loop there until the last test.
"""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from suffice.serve.serving import ModelFile, ModelServer, ServerSettings
from suffice.serve.state.opening import open_log

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Mapping, Sequence
    from pathlib import Path

T = TypeVar("T")
JSON = {"content-type": "application/json"}
PATIENCE = 120.0
"""Seconds in which an answer has to be there: the longest is a model that is fitted anew."""


class Answered(NamedTuple):
    """What a server has sent."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Asked:
    """Asks one server, one request after the other, or several at once."""

    def __init__(self, server: ModelServer, loop: asyncio.AbstractEventLoop) -> None:
        self.server, self._loop = server, loop

    def wait_for(self, asked: Coroutine[Any, Any, T]) -> T:
        """Return what comes of something that the server's loop does."""
        return asyncio.run_coroutine_threadsafe(asked, self._loop).result(PATIENCE)

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = b"",
        headers: Mapping[str, str] | None = None,
        *,
        chunks: int = 1,
    ) -> Answered:
        return self.wait_for(self.asking(method, path, body, headers, chunks))

    def post(self, path: str, content: Any, **headers: str) -> Answered:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return self("POST", path, content, {**JSON, **given})

    def at_once(self, requests: Sequence[tuple[str, str, Any]]) -> list[Answered]:
        async def all_of_them() -> list[Answered]:
            return await asyncio.gather(*(self.asking(m, p, b, JSON) for m, p, b in requests))

        return self.wait_for(all_of_them())

    async def asking(
        self,
        method: str,
        path: str,
        body: Any = b"",
        headers: Mapping[str, str] | None = None,
        chunks: int = 1,
    ) -> Answered:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        place, _, query = path.partition("?")
        step = max(1, -(-len(data) // chunks))
        parts = [data[i : i + step] for i in range(0, len(data), step)] or [b""]
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            part = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(parts)}

        async def send(message: Any) -> None:
            sent.append(message)

        given = {"host": "127.0.0.1", **(headers or {})}
        scope = {
            "type": "http",
            "method": method,
            "path": place,
            "query_string": query.encode(),
            "headers": [(n.lower().encode(), v.encode("latin-1")) for n, v in given.items()],
        }
        await self.server.app(scope, receive, send)
        start, *rest = sent
        told = {n.decode(): v.decode("latin-1") for n, v in start["headers"]}
        whole = b"".join(part.get("body", b"") for part in rest)
        assert int(told["content-length"]) == len(whole)
        return Answered(start["status"], told, whole)


@contextmanager
def served(
    *paths: Path, state: str | Path | None = None, settings: ServerSettings | None = None
) -> Iterator[Asked]:
    """Serve model files in this process until the block ends."""
    files = [ModelFile.read(path) for path in paths]
    log = None if state is None else open_log(str(state))
    try:
        server = ModelServer.of(files, log, settings or ServerSettings())
    except BaseException:
        if log is not None:
            log.close()
        raise
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="asked", daemon=True)
    thread.start()
    server.app.ready = True
    if server.learning is not None:
        server.learning.start()
    try:
        yield Asked(server, loop)
    finally:
        if server.learning is not None:
            server.learning.stop()
        server.app.threads.shutdown(wait=True)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
