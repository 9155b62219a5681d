"""What a member of a pool is."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.models.pool.folded_rows import FoldedRows, NewRows
    from suffice.rows import FloatArray

    Answer = Callable[[NewRows], FloatArray]
    """From rows to posteriors (m, k)."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What a member says about rows that it has not seen.

    posterior  (n, k) of each training row, by what was learned from others
    grid       (G,) shares of the settings that the member averages over
    answer     the member, ready for new rows, where judging made it so; it is made anew if not.
               It gives the bits of `ready`, which is what a file is read by
    """

    posterior: FloatArray
    grid: FloatArray
    answer: Answer | None = None


def when_asked(make: Callable[[], Answer]) -> Answer:
    """Return an answer that is learned when it is asked for the first time.

    Who fits and saves a pool, or only judges it, does not ask.
    """
    made: list[Answer] = []
    waiting = [make]  # emptied then: what it learns from is let go

    def answer(new: NewRows) -> FloatArray:
        if not made:
            with guard:
                if not made:
                    made.append(waiting.pop()())
        return made[0](new)

    guard = threading.Lock()
    return answer


class Member(Protocol):
    """A way to get posteriors from few rows. `name` stands in files."""

    name: str

    def affordable(self, rows: FoldedRows) -> bool:
        """Whether this many rows, columns and classes take seconds at most."""

    def judge(self, rows: FoldedRows) -> Judged:
        """Learn, and judge every training row by what was learned from others."""

    def settings(self, rows: FoldedRows) -> int:
        """How many settings are averaged over: the length of `grid`."""

    def ready(self, rows: FoldedRows, grid: FloatArray) -> Answer:
        """Learn from all rows, with shares of settings that `judge` found."""


class ClassShares:
    """The shares of the classes, whatever a row says: what a pool falls back on."""

    name = "class shares"

    def affordable(self, rows: FoldedRows) -> bool:  # noqa: ARG002
        """They always are."""
        return True

    def settings(self, rows: FoldedRows) -> int:  # noqa: ARG002
        """There is nothing to set."""
        return 1

    def judge(self, rows: FoldedRows) -> Judged:
        """Judge by the shares in the other folds."""
        return Judged(np.exp(rows.judged_log_priors), np.ones(1))

    def ready(self, rows: FoldedRows, grid: FloatArray) -> Answer:  # noqa: ARG002
        """Return the shares, for any row."""
        shares = np.exp(rows.log_priors)
        return lambda new: np.broadcast_to(shares, (len(new.rows), len(shares)))
