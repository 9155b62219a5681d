"""What a mail filter says about itself: how much it has learned, and how far to believe it."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from suffice.errors import BadFile
from suffice.mail.filter.message_identity import LIMIT, ORDER, TOKENS

if TYPE_CHECKING:
    import sqlite3

LABELS: Final = ("ham", "spam")
"""The classes of a mail filter, in the order of all its counts."""
HAM, SPAM = range(2)
"""Places of the two in `LABELS`, and in every pair of counts."""
SETTINGS: Final = {
    "labels": list(LABELS),
    "ngrams": list(TOKENS.ngrams),
    "lower": TOKENS.lower,
    "order": ORDER,
    "limit": LIMIT,
}
"""How messages are read: what was learned otherwise cannot be added to."""
OFTEN: Final = 20
"""The filter is calibrated anew when one in so many messages came or went since it last was."""


@dataclass(frozen=True, slots=True)
class FilterSummary:
    """Numbers that hold for the whole filter; those of classes are (ham, spam).

    documents      messages learned
    told           messages that somebody has called ham or spam, whether they were learned or not
    totals         terms of all messages, N_c; each counts once a message
    width          different terms, V
    smoothing      α of the terms
    factors        β of terms and of bytes; shifts  b of each class: the calibration
    changes        messages learned or forgotten so far; calibrated  how many of them when the
                   filter was calibrated
    sample_limit   hash from which on messages are not in the sample
    """

    documents: tuple[int, int]
    told: tuple[int, int]
    totals: tuple[int, int]
    width: int
    smoothing: float
    factors: tuple[float, float]
    shifts: tuple[float, float]
    changes: int
    calibrated: int
    sample_limit: int

    @classmethod
    def read(cls, connection: sqlite3.Connection, path: object) -> Self:
        """Return what a filter says."""
        try:
            rows = dict(connection.execute("SELECT key, value FROM about"))
            held = {key: json.loads(value) for key, value in rows.items()}
            settings = {key: held.pop(key) for key in SETTINGS}
            found = cls(**{key: _frozen(value) for key, value in held.items()})
            found._check()
        except (KeyError, TypeError, ValueError):
            raise BadFile(
                f"{path} has a damaged table `about`",
                hint="it is damaged: take a copy that was saved, or fit a new one",
            ) from None
        if settings != SETTINGS:
            raise BadFile(
                f"{path} was learned from messages read in another way: {settings}",
                hint="fit it again, or use the release of suffice that made it",
            )
        return found

    def _check(self) -> None:
        """Refuse what cannot be: the numbers are used as they are."""
        pairs = (self.documents, self.told, self.totals)
        whole = [n for pair in pairs for n in pair] + [self.width, self.changes, self.calibrated]
        real: list[object] = [self.smoothing, *self.factors, *self.shifts]
        if not all(type(n) is int and 0 <= n < 2**62 for n in [*whole, self.sample_limit >> 3]):
            raise ValueError
        if not all(len(pair) == 2 for pair in (*pairs, self.factors, self.shifts)):
            raise ValueError
        if not all(isinstance(x, float) and math.isfinite(x) for x in real):
            raise ValueError
        lacks = any(d > t for d, t in zip(self.documents, self.told, strict=True))
        if lacks or self.smoothing <= 0.0 or self.calibrated > self.changes:
            raise ValueError

    def write(self, connection: sqlite3.Connection) -> None:
        """Note it in the filter."""
        content = {**SETTINGS, **asdict(self)}
        connection.executemany(
            "INSERT OR REPLACE INTO about VALUES (?, ?)",
            [(key, json.dumps(value)) for key, value in content.items()],
        )

    @property
    def is_stale(self) -> bool:
        """Whether so many messages came or went that the calibration is of another filter."""
        return OFTEN * (self.changes - self.calibrated) > sum(self.documents)

    @property
    def missing(self) -> str | None:
        """The class of which nothing has been learned."""
        return next((name for name, n in zip(LABELS, self.documents, strict=True) if not n), None)


def changed(pair: tuple[int, int], code: int, by: int) -> tuple[int, int]:
    """Return numbers of classes, that of one class changed.

    >>> changed((3, 5), 1, -2)
    (3, 3)
    """
    found = [*pair]
    found[code] += by
    return found[0], found[1]


def _frozen(value: object) -> Any:
    return tuple(value) if isinstance(value, list) else value
