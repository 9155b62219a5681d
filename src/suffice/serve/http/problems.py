"""What is refused over HTTP, as RFC 9457 has it: a status, a sentence, and what to do."""

from __future__ import annotations

from http import HTTPStatus

import msgspec

from suffice.errors import (
    DifferentKinds,
    FileInUse,
    ForgettingUnseen,
    NotADensity,
    NotLinear,
    StatisticsMissing,
    SufficeError,
)
from suffice.serve.http.limits import RETRY_AFTER

PROBLEM_TYPE = b"application/problem+json"
"""The media type of every refusal (RFC 9457)."""
CANNOT = (ForgettingUnseen, DifferentKinds, NotADensity, NotLinear, StatisticsMissing)
"""Refusals of what this model cannot do, however the request is written: 409."""
LATER = (408, 429, 503, 507)
"""What may be asked again as it is: such answers say when."""


class HttpProblem(Exception):
    """A refusal with a status.

    >>> error = HttpProblem(404, "there is no model 'iirs'", "did you mean 'iris'?")
    >>> error.status, error.content()["title"]
    (404, 'Not Found')
    """

    def __init__(
        self,
        status: int,
        detail: str,
        hint: str = "",
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.hint = status, detail, hint
        self.headers = headers
        if status in LATER:
            self.headers = (*headers, (b"retry-after", str(RETRY_AFTER).encode()))

    def content(self) -> dict[str, object]:
        """Return it as a problem of RFC 9457, with a member of our own, `hint`."""
        found = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
        }
        return {**found, "hint": self.hint} if self.hint else found

    def body(self, *, error: bool = False) -> bytes:
        """Return its JSON; with `error`, also as the Open Inference Protocol has it."""
        content = self.content()
        return msgspec.json.encode({**content, "error": self.detail} if error else content)


def problem_of(error: BaseException) -> HttpProblem:
    """Return what is said about an error: refusals in their own words, nothing of the others.

    What nobody has foreseen is told to the server's own log, and not to whoever asked.
    """
    if isinstance(error, HttpProblem):
        return error
    if isinstance(error, FileInUse):
        return HttpProblem(503, error.problem, error.hint)
    if isinstance(error, CANNOT):
        return HttpProblem(409, error.problem, error.hint)
    if isinstance(error, SufficeError):
        return HttpProblem(422, error.problem, error.hint)
    if isinstance(error, MemoryError):
        return HttpProblem(503, "there is not enough memory for this", "send fewer rows at a time")
    return HttpProblem(500, "something went wrong here", "see the server's log")
