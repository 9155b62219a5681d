"""A server that runs: the socket, slow and oversized requests, and how it leaves."""

from __future__ import annotations

import ipaddress
import math
import os
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import httptools
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from suffice.errors import BadSetting
from suffice.serve.http.problems import PROBLEM_TYPE, HttpProblem

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator

    from suffice.serve.http.application import Application

MOST_HEADERS = 1 << 16
"""Bytes of the headers of a request; browsers send a few thousand."""
MOST_BESIDE = 8
"""Bytes around a byte of a body that comes in chunks: a chunk of one byte has five. What comes
beside that, names of chunks and headers behind the body, may be as long as headers."""
ARRIVAL = 30.0
"""Seconds in which the headers of a request have to arrive, once it has begun."""
KEPT = 75
"""Seconds that a connection is kept without a request, before the first or after one: longer than
proxies keep theirs."""
LEAVING = 30
"""Seconds for requests that are being answered when the server is told to leave."""
SPARE = 64
"""Open files that are left to the log, to models and to Python's modules, however many connect."""
WAITING = 2048
"""Connections that wait to be accepted."""


def is_local(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_local("127.0.0.1"), is_local("localhost"), is_local("::1"), is_local("0.0.0.0")
    (True, True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_binding(host: str, *, token: bool, no_token: bool) -> None:
    """Refuse to be reached from elsewhere by anybody, unless somebody has said so."""
    if not (token or no_token or is_local(host)):
        raise BadSetting(
            f"{host} can be reached from other machines, without a token",
            hint="--token-file FILE asks for one; --no-token allows access without one",
        )


ONCE = (b"content-length", b"host", b"transfer-encoding")
"""Headers about which two servers in a row must not have two opinions."""


class BoundedProtocol(HttpToolsProtocol):
    """HTTP of uvicorn, within limits: headers have a size, and a time in which to arrive."""

    _headers_size = 0
    _reading_headers = False
    _beside = 0  # bytes that came after the headers, and were no more than MOST_BESIDE allows
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, as long as there are files for it; one that says nothing is ended."""
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(KEPT, self.timeout_keep_alive_handler)
        if len(self.connections) > _most_connections():
            self._refuse(HttpProblem(503, "too many connections are open", "try again"))

    def data_received(self, data: bytes) -> None:
        """Take bytes as they come."""
        cycle: Any = self.cycle  # there is none before the first request
        if cycle is None or cycle.response_complete or self._reading_headers:
            self._headers_size += len(data)
            self._reading_headers = True
            super().data_received(data)
            # The body is counted where it is read.
            if self._reading_headers and self._headers_size > MOST_HEADERS:
                self._refuse(HttpProblem(431, f"headers have more than {MOST_HEADERS:,} bytes"))
            elif self._reading_headers and self._deadline is None:
                self._deadline = self.loop.call_later(ARRIVAL, self._too_slow)
        else:
            self._beside += len(data)
            super().data_received(data)
            if self._beside > MOST_HEADERS:
                self._refuse(HttpProblem(431, f"more than {MOST_HEADERS:,} bytes beside the body"))

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._beside -= (1 + MOST_BESIDE) * len(body)
        super().on_body(body)

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._reading_headers, self._headers_size, self._beside = False, 0, 0
        self._stop_waiting()
        said: dict[bytes, list[bytes]] = {name: [] for name in ONCE}
        for name, value in self.headers:
            if name in said:
                said[name].append(value)
        if len(said[b"content-length"]) > 1 or any(len(n) > 18 for n in said[b"content-length"]):
            self._refuse(HttpProblem(400, "the length of the body is not one number"))
            return
        if len(said[b"host"]) > 1:
            self._refuse(HttpProblem(400, "the request names more than one host"))
            return
        if any(value.strip().lower() != b"chunked" for value in said[b"transfer-encoding"]):
            self._refuse(HttpProblem(501, "Transfer-Encoding is not chunked", "chunked is known"))
            return
        try:
            super().on_headers_complete()
        except (httptools.HttpParserError, UnicodeDecodeError, ValueError):
            self._refuse(HttpProblem(400, "the address of the request cannot be read"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget about a connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Say in our words that this is no HTTP."""
        del msg
        self._stop_waiting()
        self._refuse(HttpProblem(400, "this is not an HTTP request", "HTTPS has another port"))

    def _too_slow(self) -> None:
        self._refuse(HttpProblem(408, f"headers took longer than {ARRIVAL:g} seconds to arrive"))

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, problem: HttpProblem) -> None:
        if self.transport.is_closing():
            return
        body = problem.body()
        title = problem.content()["title"]
        more = b"".join(name + b": " + value + b"\r\n" for name, value in problem.headers)
        self.transport.write(
            f"HTTP/1.1 {problem.status} {title}\r\n".encode()
            + b"content-type: " + PROBLEM_TYPE + b"\r\ncontent-length: " + b"%d" % len(body)
            + b"\r\nconnection: close\r\n" + more + b"\r\n" + body
        )  # fmt: skip
        self.transport.close()


class _Quiet(uvicorn.Server):
    """A server that leaves when it is told to, and calls back at both ends."""

    def __init__(
        self, config: uvicorn.Config, started: Callable[[int], None], leaving: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._when_started, self._when_leaving = started, leaving

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            self._when_started(int(port))

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        self._when_leaving()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave in order on SIGTERM and SIGINT, and return: there is still something to be done."""
        before = {
            number: signal.signal(number, self.handle_exit)
            for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run(app: Application, host: str, port: int, *, started: Callable[[int], None]) -> None:
    """Answer requests until somebody says that it is enough; then those that have been taken."""
    _allow_many_connections()
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=BoundedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEPT,
        timeout_graceful_shutdown=LEAVING,
        backlog=WAITING,
    )

    def leaving() -> None:
        app.ready = False

    def answering(at: int) -> None:
        app.ready = True
        started(at)

    try:
        _Quiet(config, answering, leaving).run()
    except SystemExit:  # how uvicorn says that an address cannot be had
        raise BadSetting(
            f"{host}:{port} cannot be used: another program is using it, or it is not an address "
            f"of this machine",
            hint="choose another one with --port; 0 takes any that is free",
        ) from None
    finally:
        app.threads.shutdown(wait=True)


def _most_connections() -> float:
    """Return how many connections there may be: each is an open file."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return math.inf
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if soft == resource.RLIM_INFINITY else max(soft - SPARE, 1)


def _allow_many_connections() -> None:
    """Take as many open files as the system allows: each connection is one."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = min(hard, 1 << 16) if hard != resource.RLIM_INFINITY else 1 << 16
        if os.name == "posix" and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
