"""How far work is, and how long it may go on: for whoever waits."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol, Self

from suffice.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Callable

    Share = Callable[[], float | None]


class ProgressMeter(Protocol):
    """How far some work is. It is entered when the work begins, and left when it ends."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def begin(self) -> None:
        """Begin to count anew: rows may be read more than once."""

    def more(self, count: int) -> None:
        """Count what has been done; several threads may call it."""

    @property
    def rows(self) -> int:
        """How many were counted since the beginning."""
        ...


class ShowsProgress(Protocol):
    """What is called when some work begins.

    `what` names the work, `share` returns which part of it is done (None: not known), `unit` says
    what is counted.
    """

    def __call__(  # noqa: D102
        self, what: str, share: Share | None = None, unit: str = "rows"
    ) -> ProgressMeter: ...


class SilentProgress:
    """Counts, and shows nothing."""

    def __init__(self, what: str = "", share: Share | None = None, unit: str = "rows") -> None:
        del what, share, unit
        self.rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def begin(self) -> None:
        """Begin to count anew."""
        self.rows = 0

    def more(self, count: int) -> None:
        """Count what has been done."""
        self.rows += count


class OutOfTime(Exception):
    """The time is over, and what was being done is given up."""


class TimeLimit:
    """How long work may go on that could end earlier with what there is.

    It is looked at between models and folds, and never cuts one short: a limit that is not reached
    changes nothing.

    >>> TimeLimit(None).reached, TimeLimit(1e-9).reached
    (False, True)
    """

    def __init__(self, seconds: float | None) -> None:
        if seconds is not None and not seconds > 0.0:
            raise BadSetting(
                f"time_limit={seconds!r} is not a time",
                hint="use a number of seconds above 0, or None for no limit",
            )
        self.seconds = seconds
        self._start = time.monotonic()

    @property
    def left(self) -> float:
        """How many seconds are left; infinitely many without a limit."""
        if self.seconds is None:
            return float("inf")
        return self.seconds - (time.monotonic() - self._start)

    @property
    def reached(self) -> bool:
        """Whether the time is over."""
        return self.left <= 0.0

    def __str__(self) -> str:
        return f"the time limit of {self.seconds:g} seconds"
