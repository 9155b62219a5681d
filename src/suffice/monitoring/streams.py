"""Alarms that hold at any time: every new row is ranked among the kept rows and those before it.

If new rows are exchangeable with the training rows, these ranks are independent and uniform,
whatever the distribution: bets on them can be stopped at any time, and reach 20 with a chance of
one in twenty at most. A reference that was estimated and then held fixed has no such law.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.rows import FloatArray

SPREAD = 0.05
"""τ² of the shifts that are bet on: a shift of a quarter of a standard deviation is found first."""
POWERS = (0.3, 0.6)
"""Exponents of bets on small p-values: rows far out, whichever side."""
MOST_HELD = 200_000
"""Rows that are held to be ranked among: later ones are ranked, and not kept."""


@dataclass(slots=True)
class StreamBets:
    """Bets on every column; `e_values` (d,) hold at any time, and so does their mean."""

    names: tuple[str, ...]
    held: list[list[float]]
    rng: np.random.Generator
    seen: int = 0
    largest: float = 0.0
    sums: FloatArray = field(default_factory=lambda: np.zeros(0))
    taken: FloatArray = field(default_factory=lambda: np.zeros(0))
    logs: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    @classmethod
    def against(cls, names: Sequence[str], rows: FloatArray, seed: int = 0) -> StreamBets:
        """Return bets against reference rows (n, d)."""
        held = [sorted(rows[~np.isnan(rows[:, j]), j].tolist()) for j in range(rows.shape[1])]
        d = len(held)
        return cls(
            tuple(names), held, np.random.default_rng(seed), 0, 0.0,
            np.zeros(d), np.zeros(d), np.zeros((d, len(POWERS))),
        )  # fmt: skip

    def take(self, rows: FloatArray) -> float:
        """Bet on rows, in their order, and return the largest mean of e-values so far."""
        for row in rows:
            self.seen += 1
            for j, cell in enumerate(row.tolist()):
                if cell != cell:  # noqa: PLR0124  a blank
                    continue
                held = self.held[j]
                low, high = bisect_left(held, cell), bisect_right(held, cell)
                u = (low + self.rng.random() * (high - low + 1)) / (len(held) + 1)
                u = min(max(u, 1e-12), 1.0 - 1e-12)
                self.sums[j] += ndtri(u)
                self.taken[j] += 1
                p = 2.0 * min(u, 1.0 - u)
                for g, power in enumerate(POWERS):
                    self.logs[j, g] += np.log(power) + (power - 1.0) * np.log(p)
                if len(held) < MOST_HELD:
                    insort(held, cell)
            self.largest = max(self.largest, self.e_value)
        return self.largest

    @property
    def e_values(self) -> FloatArray:
        """The e-value of every column (d,)."""
        spread = 1.0 + self.taken * SPREAD
        location = 0.5 * np.square(self.sums) * SPREAD / spread - 0.5 * np.log(spread)
        with np.errstate(over="ignore"):
            every = np.exp(np.minimum(np.column_stack([location, self.logs]), 700.0))
        return np.asarray(every.mean(axis=1))

    @property
    def e_value(self) -> float:
        """The mean over columns: an e-value too."""
        return float(self.e_values.mean()) if len(self.held) else 1.0

    def columns_at(self, level: float) -> list[str]:
        """Return the columns whose own e-value is large enough to name them."""
        most = len(self.held) / level
        return [name for name, e in zip(self.names, self.e_values, strict=True) if e >= most]
