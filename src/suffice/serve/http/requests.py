"""Requests as they arrive: headers, a body within limits, what is asked for in the address."""

from __future__ import annotations

import asyncio
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from suffice.errors import meant
from suffice.serve.http.problems import HttpProblem

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, MutableMapping

    from suffice.serve.http.limits import ServerLimits

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

CLOSE = (b"connection", b"close")
"""For answers that are given before the whole request was read: what follows is not waited for."""
JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"
"""How rows and answers are written; Arrow's as IANA has it."""
FORMATS = {
    "application/json": JSON,
    "text/csv": CSV,
    "application/vnd.apache.arrow.stream": ARROW,
}
"""Media types of bodies and answers."""
MOST_QUERY = 32
"""Settings in an address: there are no more than a few."""


@dataclass(slots=True, eq=False)
class HeldBytes:
    """How many bytes of bodies are held now, of all requests together."""

    now: int = 0


@dataclass(slots=True, eq=False)
class Request:
    """One request; its body is read when somebody asks for it."""

    scope: Scope
    receive: Receive
    limits: ServerLimits
    holding: HeldBytes
    headers: dict[bytes, bytes] = field(init=False)
    held: int = 0

    def __post_init__(self) -> None:
        self.headers = dict(self.scope["headers"])

    @property
    def content_type(self) -> str:
        """The media type of the body, without its parameters; empty if it has none."""
        given = self.headers.get(b"content-type", b"")
        return given.partition(b";")[0].strip().lower().decode("latin-1")

    def format(self) -> str:
        """Return how the body is written, or refuse one that cannot be read."""
        found = FORMATS.get(self.content_type)
        if found is None:
            given = self.content_type or "no content type"
            raise HttpProblem(
                415,
                f"rows cannot be read from {given[:80]}",
                f"set Content-Type to the type of the body: {', '.join(FORMATS)}",
                (CLOSE,),
            )
        return found

    def accepted(self) -> str:
        """Return how the answer is to be written: the first that is asked for, JSON if any may."""
        given = self.headers.get(b"accept")
        if given is None or given == b"*/*":
            return JSON
        wanted: list[tuple[float, str]] = []
        for part in given.decode("latin-1").lower().split(","):
            media, *parameters = (word.strip() for word in part.split(";"))
            quality = 1.0
            for one in parameters:
                if one.startswith("q="):
                    try:
                        quality = float(one[2:])
                    except ValueError:
                        quality = 0.0
            for name, found in FORMATS.items():
                anything = media in ("*/*", name.partition("/")[0] + "/*")
                if quality > 0.0 and (media == name or anything):
                    wanted.append((quality, found))
                    break
        if not wanted:
            raise HttpProblem(
                406,
                "the answer cannot be written in the requested format",
                f"accept {', '.join(FORMATS)}",
            )
        return max(wanted, key=lambda one: one[0])[1]

    def query(self, known: Collection[str]) -> dict[str, str]:
        """Return the settings in the address; one that is not known is refused."""
        given: bytes = self.scope["query_string"]
        if not given:
            return {}
        try:
            pairs = parse_qsl(
                given.decode("ascii"), keep_blank_values=True, strict_parsing=False,
                max_num_fields=MOST_QUERY, errors="strict",
            )  # fmt: skip
        except ValueError:
            raise HttpProblem(400, "the query cannot be read", "write ?name=value") from None
        found = dict(pairs)
        strange = [name for name in found if name not in known]
        if strange or len(found) < len(pairs):
            named = strange[0] if strange else pairs[0][0]
            raise HttpProblem(
                422,
                f"?{named[:60]} is not known here" if strange else "a setting is given twice",
                f"{meant(named, known)}there is {', '.join(sorted(known)) or 'none'}",
            )
        return found

    async def body(self) -> bytes:
        """Return the whole body, unpacked; what is too large or too slow is refused."""
        most = self.limits.body
        declared = self.headers.get(b"content-length")
        if declared is not None and int(declared) > most:
            raise self._too_large()
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self.limits.seconds):
                while True:
                    message = await self.receive()
                    if message["type"] == "http.disconnect":
                        raise HttpProblem(400, "the request was not finished", "", (CLOSE,))
                    part: bytes = message.get("body", b"")
                    if part:
                        size += len(part)
                        if size > most:
                            raise self._too_large()
                        self._hold(len(part))
                        parts.append(part)
                    if not message.get("more_body"):
                        break
        except TimeoutError:
            raise HttpProblem(
                408, f"the request took longer than {self.limits.seconds:g} seconds to arrive",
                "send less at a time", (CLOSE,),
            ) from None  # fmt: skip
        whole = parts[0] if len(parts) == 1 else b"".join(parts)
        packed = self.headers.get(b"content-encoding")
        if packed is None or packed.lower() == b"identity":
            return whole
        return self._unpacked(whole, packed)

    def _unpacked(self, packed: bytes, how: bytes) -> bytes:
        """Return what was packed; a small body may stand for a huge one, which is not unpacked."""
        if how.lower() not in (b"gzip", b"x-gzip"):
            raise HttpProblem(
                415, f"Content-Encoding {how.decode('latin-1')[:40]} is not supported", "gzip is",
            )  # fmt: skip
        unpacking = zlib.decompressobj(31)
        try:
            found = unpacking.decompress(packed, self.limits.body + 1)
        except zlib.error:
            raise HttpProblem(
                400, "the body is not gzip data", "as its Content-Encoding claims"
            ) from None
        if len(found) > self.limits.body:
            raise self._too_large()
        if not unpacking.eof or unpacking.unused_data:
            raise HttpProblem(
                400, "the gzip data are truncated, or continue after the end", "pack again"
            )
        self._hold(len(found))
        return found

    def _hold(self, size: int) -> None:
        """Count bytes that are held; of all requests together there may be so many."""
        if self.holding.now + size > self.limits.held_bytes:
            raise HttpProblem(
                503, "other requests are using all memory set aside for bodies",
                "try again", (CLOSE,),
            )  # fmt: skip
        self.holding.now += size
        self.held += size

    def release(self) -> None:
        """Let go of what was counted."""
        self.holding.now -= self.held
        self.held = 0

    def _too_large(self) -> HttpProblem:
        return HttpProblem(
            413,
            f"the body has more than {self.limits.body:,} bytes",
            "send fewer rows at a time, or start the server with a larger --most-bytes",
            (CLOSE,),
        )
