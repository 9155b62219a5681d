"""How much a server takes at a time: whatever is more is refused, and never a crash."""

from __future__ import annotations

from dataclasses import dataclass

SMALL_BODY = 1 << 18
"""Bytes of a body that is read at once, where it arrives: about a millisecond. Larger ones are read
by a thread, a row at a time, so that others are answered meanwhile."""
FEW_ROWS = 64
"""Rows of a request that may be answered together with those of others."""
RETRY_AFTER = 1
"""Seconds after which whoever was turned away may ask again: work is done by then, or its time is
up. A choice."""
MOST_EXPLAINED = 10_000
"""Rows that are explained in one request: an explanation has a number for each column."""
MOST_SAMPLED_CELLS = 20_000_000
"""Cells that are drawn in one request: 160 MB of doubles."""


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Limits of a server; the options of `suffice serve` have the same names.

    body       bytes of one request, unpacked
    rows       rows of one request
    seconds    that a request may take to arrive, and again to be answered
    work       requests that are worked at by threads, with those that wait for one
    learning   requests that wait to be written to the log
    """

    body: int = 64 << 20
    rows: int = 1_000_000
    seconds: float = 60.0
    work: int = 32
    learning: int = 1024

    @property
    def held_bytes(self) -> int:
        """Bytes of bodies that are held at the same time, of all requests together."""
        return 4 * self.body
