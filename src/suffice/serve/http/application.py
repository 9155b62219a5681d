"""The server as an ASGI application: routes, tokens, limits, and refusals in our words."""

from __future__ import annotations

import asyncio
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from suffice.errors import meant
from suffice.serve.http.metrics import ServerMetrics
from suffice.serve.http.problems import PROBLEM_TYPE, HttpProblem, problem_of
from suffice.serve.http.requests import HeldBytes, Request
from suffice.serve.http.tokens import READ

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping

    from suffice.serve.http.answers import Answer
    from suffice.serve.http.limits import ServerLimits
    from suffice.serve.http.requests import Receive, Scope
    from suffice.serve.http.tokens import AccessTokens

    T = TypeVar("T")
    Handler = Callable[[Request], Awaitable[Answer]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

THREADS = 4
"""Threads that work at what takes long. A choice: NumPy's own threads do the rest."""
OPEN = "open"
"""Of routes that nobody needs a token for: whether the server is there."""


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """What answers at an address: a method, who may ask, and how it is counted."""

    method: str
    handler: Handler
    template: str
    access: str = READ


class Application:
    """Answers requests; whatever happens, the answer is one that HTTP has a word for.

    models   by name, each replaced by the next one when something is learned
    hosts    names by which the server may be called, None for any: a page of another place, whose
             name was made to lead here, is refused
    """

    def __init__(
        self,
        limits: ServerLimits,
        tokens: AccessTokens | None = None,
        hosts: frozenset[str] | None = None,
    ) -> None:
        self.limits, self.tokens, self._hosts = limits, tokens, hosts
        self.metrics = ServerMetrics()
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="suffice-work")
        self.ready = False
        self.holding = HeldBytes()
        self._working = 0
        self._routes: dict[str, dict[str, Route]] = {}
        self._families: dict[str, tuple[str, ...]] = {}

    def add(self, path: str, route: Route) -> None:
        """Let a route answer at an address; where it reads, HEAD may be asked as well."""
        methods = self._routes.setdefault(path, {})
        methods[route.method] = route
        if route.method == "GET":
            methods["HEAD"] = route

    def add_family(self, prefix: str, names: tuple[str, ...]) -> None:
        """Know which names may follow a prefix, for those that mistype one."""
        self._families[prefix] = names

    @property
    def routes(self) -> Mapping[str, Mapping[str, Route]]:
        """All routes, by address and method."""
        return self._routes

    # One request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        start = perf_counter()
        request = Request(scope, receive, self.limits, self.holding)
        template, status = "other", 500
        try:
            route = self._route_of(scope)
            template = route.template
            self._check(request, route)
            answer = await route.handler(request)
            status = answer.status
            await _sent(send, status, answer.body, answer.media, answer.headers)
        except Exception as error:  # noqa: BLE001  whoever asked is answered in any case
            problem = problem_of(error)
            status = problem.status
            if status == 500:
                traceback.print_exception(error, file=sys.stderr)
            body = problem.body(error=scope["path"].startswith("/v2/"))
            await _sent(send, status, body, PROBLEM_TYPE, problem.headers)
        finally:
            request.release()
            self.metrics.took(template, status, perf_counter() - start)

    def _route_of(self, scope: Scope) -> Route:
        path: str = scope["path"]
        methods = self._routes.get(path)
        if methods is None:
            raise self._unknown(path)
        route = methods.get(scope["method"])
        if route is None:
            allowed = ", ".join(methods)
            raise HttpProblem(
                405, f"{path[:100]} takes {allowed}", "", ((b"allow", allowed.encode()),)
            )
        return route

    def _unknown(self, path: str) -> HttpProblem:
        for prefix, names in self._families.items():
            if path.startswith(prefix):
                name = path.removeprefix(prefix).partition("/")[0]
                if name not in names:
                    return HttpProblem(
                        404,
                        f"there is no model {name[:100]!r}",
                        f"{meant(name, names)}there is {', '.join(names)}",
                    )
        return HttpProblem(404, f"there is nothing at {path[:100]!r}", "see /docs for what exists")

    def _check(self, request: Request, route: Route) -> None:
        headers = request.headers
        if self._hosts is not None and b"host" in headers:
            name = headers[b"host"].decode("latin-1").lower()
            name = name.rpartition(":")[0] if not name.endswith("]") and ":" in name else name
            if name not in self._hosts:
                raise HttpProblem(
                    403, f"this server does not answer to the name {name[:80]!r}",
                    "it answers on this machine alone: 127.0.0.1 or localhost",
                )  # fmt: skip
        if b"origin" in headers and route.method == "POST":
            origin = urlsplit(headers[b"origin"].decode("latin-1")).netloc
            if origin.lower() != headers.get(b"host", b"").decode("latin-1").lower():
                raise HttpProblem(
                    403,
                    "requests from other web pages are not allowed",
                    "send it without an Origin header",
                )
        if self.tokens is not None and route.access != OPEN:
            self.tokens.check(headers.get(b"authorization"), route.access)

    # Work

    async def in_thread(self, work: Callable[..., T], *given: object) -> T:
        """Return what a function finds, called in a thread: nobody else waits for it."""
        if self._working >= self.limits.work:
            raise HttpProblem(429, f"{self._working} requests are being processed", "try again")
        self._working += 1
        done = asyncio.get_running_loop().run_in_executor(self.threads, work, *given)
        done.add_done_callback(self._one_less)
        return await self.in_time(done)

    async def in_time(self, done: asyncio.Future[T]) -> T:
        """Wait for an answer as long as there is time; the work itself cannot be interrupted."""
        try:
            return await asyncio.wait_for(asyncio.shield(done), self.limits.seconds)
        except TimeoutError:
            if done.done():
                raise
            raise HttpProblem(
                503, f"no answer after {self.limits.seconds:g} seconds",
                "send fewer rows at a time",
            ) from None  # fmt: skip

    def _one_less(self, done: asyncio.Future[Any]) -> None:
        self._working -= 1
        if not done.cancelled():
            done.exception()  # whoever waited may have left


async def _sent(
    send: Send, status: int, body: bytes, media: bytes, more: tuple[tuple[bytes, bytes], ...]
) -> None:
    headers = [
        (b"content-type", media),
        (b"content-length", b"%d" % len(body)),
        (b"x-content-type-options", b"nosniff"),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
