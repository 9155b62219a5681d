"""Alarms that hold at any time: every new row is ranked among the kept rows and those before it.

If new rows are exchangeable with the training rows, these ranks are independent and uniform,
whatever the distribution: bets on them can be stopped at any time, and reach 20 with a chance of
one in twenty at most. A reference that was estimated and then held fixed has no such law.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.rows import FloatArray, IntArray

SPREAD = 0.05
"""τ² of the shifts that are bet on: a shift of a quarter of a standard deviation is found first."""
POWERS = (0.3, 0.6)
"""Exponents of bets on small p-values: rows far out, whichever side."""
MOST_HELD = 10_000
"""Cells of a column that are held one by one; later ones are counted between these. A choice:
places are known to a ten-thousandth, in a quarter of a megabyte a column."""
STEP = 256
"""Rows that are ranked at a time, each among those before it. A choice."""


@dataclass(slots=True)
class RankedCells:
    """Cells of one column, to rank the next ones among; they grow by every cell that is ranked.

    `held` are cells in order. Once they are many, `counts` has how many later cells are equal to
    each (at odd places) and between them (at even ones), and `held` grows no more. A cell between
    two held ones has each place among the later cells there with the same chance, as it would have
    if they had been held: so ranks are as independent and uniform as before.
    """

    held: FloatArray
    counts: IntArray | None = None
    size: int = 0

    @classmethod
    def of(cls, cells: FloatArray) -> Self:
        """Return reference cells (n,), blanks left out."""
        found = cls(np.sort(cells[~np.isnan(cells)]))
        found.size = len(found.held)
        return found

    def take(self, cells: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return how many cells before each are below it, how many are equal, and how many are.

        Cells (m,) come in their order; each is one of those before the next.
        """
        if self.counts is None:
            below = np.searchsorted(self.held, cells, side="left")
            same = np.searchsorted(self.held, cells, side="right") - below
            places: FloatArray | IntArray = cells
        else:
            at = np.searchsorted(self.held, cells, side="left")
            near = self.held[np.minimum(at, len(self.held) - 1)]
            places = 2 * at + ((at < len(self.held)) & (near == cells))
            before = np.cumsum(self.counts) - self.counts
            below, same = before[places], self.counts[places]
        earlier = np.tri(len(cells), k=-1, dtype=bool)
        below = below + ((places < places[:, np.newaxis]) & earlier).sum(axis=1)
        same = same + ((places == places[:, np.newaxis]) & earlier).sum(axis=1)
        size = self.size + np.arange(len(cells))
        self.grow(places)
        return below, same, size

    def grow(self, places: FloatArray | IntArray) -> None:
        """Add cells, given by themselves or by their places in `counts`."""
        self.size += len(places)
        if self.counts is not None:
            self.counts += np.bincount(places.astype(np.intp), minlength=len(self.counts))
            return
        self.held = np.sort(np.concatenate([self.held, places]), kind="stable")
        if len(self.held) >= MOST_HELD:
            self.held, often = np.unique(self.held, return_counts=True)
            self.counts = np.zeros(2 * len(self.held) + 1, dtype=np.int64)
            self.counts[1::2] = often


@dataclass(slots=True)
class StreamBets:
    """Bets on every column; `e_values` (d,) hold at any time, and so does their mean."""

    names: tuple[str, ...]
    ranked: list[RankedCells]
    rng: np.random.Generator
    seen: int = 0
    largest: float = 0.0
    sums: FloatArray = field(default_factory=lambda: np.zeros(0))
    taken: FloatArray = field(default_factory=lambda: np.zeros(0))
    logs: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    @classmethod
    def against(cls, names: Sequence[str], rows: FloatArray, seed: int = 0) -> Self:
        """Return bets against reference rows (n, d)."""
        ranked = [RankedCells.of(np.asarray(column, dtype=np.float64)) for column in rows.T]
        d = len(ranked)
        return cls(
            tuple(names), ranked, np.random.default_rng(seed), 0, 0.0,
            np.zeros(d), np.zeros(d), np.zeros((d, len(POWERS))),
        )  # fmt: skip

    def take(self, rows: FloatArray) -> float:
        """Bet on rows, in their order, and return the largest mean of e-values so far."""
        for start in range(0, len(rows), STEP):
            part = np.asarray(rows[start : start + STEP], dtype=np.float64)
            draws = self.rng.random(part.shape)
            self.seen += len(part)
            if self.ranked:
                every = [self._bet(j, part[:, j], draws[:, j]) for j in range(len(self.ranked))]
                self.largest = max(self.largest, float(np.mean(every, axis=0).max()))
        return self.largest

    def _bet(self, column: int, cells: FloatArray, draws: FloatArray) -> FloatArray:
        """Bet on the cells of one column, and return its e-value after every row (m,)."""
        there = ~np.isnan(cells)
        below, same, size = self.ranked[column].take(cells[there])
        u = (below + draws[there] * (same + 1)) / (size + 1)
        u = np.clip(u, 1e-12, 1.0 - 1e-12)
        p = np.log(2.0 * np.minimum(u, 1.0 - u))
        # Before the first cell, and after each of them.
        sums = np.concatenate([[self.sums[column]], ndtri(u)]).cumsum()
        taken = self.taken[column] + np.arange(len(sums))
        bets = [np.log(power) + (power - 1.0) * p for power in POWERS]
        logs = np.vstack([self.logs[column], np.column_stack(bets)]).cumsum(axis=0)
        self.sums[column], self.taken[column] = sums[-1], taken[-1]
        self.logs[column] = logs[-1]
        found: FloatArray = e_values(sums, taken, logs)[np.cumsum(there)]
        return found

    @property
    def e_values(self) -> FloatArray:
        """The e-value of every column (d,)."""
        return e_values(self.sums, self.taken, self.logs)

    @property
    def e_value(self) -> float:
        """The mean over columns: an e-value too."""
        return float(self.e_values.mean()) if self.ranked else 1.0

    def columns_at(self, level: float) -> list[str]:
        """Return the columns whose own e-value is large enough to name them."""
        most = len(self.ranked) / level
        return [name for name, e in zip(self.names, self.e_values, strict=True) if e >= most]


def e_values(sums: FloatArray, taken: FloatArray, logs: FloatArray) -> FloatArray:
    """Return e-values (m,) by sums of normal scores, how many they are, and bets on far rows."""
    spread = 1.0 + taken * SPREAD
    location = 0.5 * np.square(sums) * SPREAD / spread - 0.5 * np.log(spread)
    every = np.exp(np.minimum(np.column_stack([location, logs]), 700.0))
    return np.asarray(every.mean(axis=1))
