"""Who may ask: tokens for reading and for learning, compared in constant time."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suffice.errors import BadFile
from suffice.serve.http.problems import HttpProblem

if TYPE_CHECKING:
    from pathlib import Path

READ, LEARN = "read", "learn"
"""What a token is for; one for learning may read as well."""
LONGEST_FILE = 1 << 16
"""Bytes of a file of tokens."""
SHORTEST = 16
"""Characters of a token: shorter ones can be guessed."""
HINT = (
    "one token a line: read TOKEN, learn TOKEN; a line with a token alone is for both. "
    'Make one: python -c "import secrets; print(secrets.token_urlsafe())"'
)
"""How a file of tokens is written."""
CHALLENGE = ((b"www-authenticate", b'Bearer realm="suffice"'),)
"""What HTTP asks of an answer 401."""


@dataclass(frozen=True, slots=True, repr=False)
class AccessTokens:
    """The tokens that a server knows; None is a server that asks nobody."""

    reading: tuple[bytes, ...]
    learning: tuple[bytes, ...]

    @classmethod
    def read(cls, path: Path) -> AccessTokens:
        """Read a file of tokens."""
        with path.open("rb") as file:
            data = file.read(LONGEST_FILE + 1)
        if len(data) > LONGEST_FILE:
            raise BadFile(f"{path} has more than {LONGEST_FILE:,} bytes", hint=HINT)
        reading: list[bytes] = []
        learning: list[bytes] = []
        for number, line in enumerate(data.splitlines(), start=1):
            words = line.split()
            if not words or words[0].startswith(b"#"):
                continue
            kind, token = (b"", words[0]) if len(words) == 1 else (words[0].lower(), words[1])
            sound = len(token) >= SHORTEST and token.isascii() and len(words) <= 2
            if not sound or kind not in (b"", b"read", b"learn"):
                raise BadFile(
                    f"{path}, line {number}: no token of {SHORTEST} characters or more", hint=HINT
                )
            if kind in (b"", b"learn"):
                learning.append(token)
            if kind in (b"", b"read"):
                reading.append(token)
        if not reading and not learning:
            raise BadFile(f"{path} has no token", hint=HINT)
        return cls(tuple(reading), tuple(learning))

    def check(self, given: bytes | None, what: str) -> None:
        """Refuse whoever has no token for something; 403 if there is one for something else."""
        scheme, _, token = (given or b"").partition(b" ")
        token = token.strip() if scheme.lower() == b"bearer" else b""
        # Every token is compared, whichever is right: time says nothing.
        may_learn = sum(hmac.compare_digest(token, known) for known in self.learning)
        may_read = sum(hmac.compare_digest(token, known) for known in self.reading)
        if may_learn or (may_read and what == READ):
            return
        if may_read:
            raise HttpProblem(403, "this token is for reading", "use a token for learning")
        raise HttpProblem(
            401, "a token is needed" if not token else "unknown token",
            "send it as Authorization: Bearer TOKEN", CHALLENGE,
        )  # fmt: skip
