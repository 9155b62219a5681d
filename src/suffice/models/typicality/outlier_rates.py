"""How often rows are as far out as a p-value says: p-values that keep their promise.

P-values are exact where the law is: normal numbers, independent columns. In a real table they are
too small for one row in ten, or too large for all. How typical each training row is of a model of
all the others is known; what part of them lies as far out as a new row is a p-value too, and holds
whatever the law.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import BadFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.rows import FloatArray

STEP = 1.0 / 32.0
"""Width of the cells in which -log p is counted, while it is below `FINE`: 3 % of a p-value."""
FINE = 16.0
"""From here on (p < 1e-7) cells grow with -log p, by `STEP / 2` of it: few rows are out there."""
FARTHEST = 1000.0
"""The largest -log p that is told from others."""
CELLS = int(FINE / STEP) + int(np.log(FARTHEST / FINE) / np.log1p(STEP / 2.0)) + 2
"""How many cells there are."""
TAIL = 64
"""The most rows by which the law far out is estimated: beyond them nothing is counted, and -log p
is taken for exponential."""
FEWEST = 8
"""Rows by which it is told how fast the law falls off, in small tables."""
SHARE = 0.008
"""The share of the rows that nothing is counted beyond: one row in a hundred is still counted. Of
fewer than 250 rows that is the farthest one. A new row lies beyond it once in n + 1 times, whatever
the law: the further out rows are counted, the less an exponential law has to be right."""
PRIOR = 4.0
"""Rows of an exact law that are added to a tail: with few rows the law's own p-value counts."""
MOST = 2**53
"""Rows that can be counted."""


@dataclass(frozen=True, slots=True)
class OutlierRates:
    """How many of the rows that a model was tried on were as typical as this, by -log p.

    Counts add up, so that those of merged models are added too.

    counts   rows by cell; cells without rows are not there

    >>> rates = OutlierRates.of(np.linspace(0.001, 1.0, 1000) ** 2)  # twice too many are far out
    >>> rates.calibrated(np.array([0.25, 0.01, 1e-4])).round(2)
    array([0.5 , 0.1 , 0.01])
    >>> (rates + rates).size
    2000
    """

    counts: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, p: FloatArray) -> Self:
        """Return the counts of p-values (n,), each of a row that the model has not seen."""
        cells, counts = np.unique(_cells(_far_out(p)), return_counts=True)
        return cls(dict(zip(cells.tolist(), counts.tolist(), strict=True)))

    def __add__(self, other: OutlierRates) -> OutlierRates:
        """Return the counts of both."""
        found = dict(self.counts)
        for cell, count in other.counts.items():
            found[cell] = found.get(cell, 0) + count
        return OutlierRates(found)

    @property
    def size(self) -> int:
        """How many rows were tried."""
        return sum(self.counts.values())

    def calibrated(self, p: FloatArray) -> FloatArray:
        """Return for p-values (n,) of new rows how many rows in one lie at least as far out.

        Where enough rows were as far out they are counted, (r + 1)/(n + 1), and beyond that
        -log p is exponential, by the mean of the farthest rows. Smaller stays smaller.
        """
        size = self.size
        if not size:
            return p
        counts = np.zeros(CELLS)
        counts[list(self.counts)] = list(self.counts.values())
        edges = _edges()
        beyond = np.append(np.cumsum(counts[::-1])[::-1], 0.0)  # rows in this cell and further out
        few = min(max(size * SHARE, 1.0), TAIL)
        start = int(np.flatnonzero(beyond >= few)[-1]) + 1  # up to here rows are counted
        steep = int(np.flatnonzero(beyond >= min(max(few, FEWEST), size))[-1])
        middles = np.minimum((edges[:-1] + edges[1:]) / 2.0, FARTHEST)
        excess = float((counts[steep:] * (middles[steep:] - edges[steep])).sum())
        mean = (excess + PRIOR) / (beyond[steep] + PRIOR)
        s = _far_out(p)
        # In a cell, rows are spread evenly; a p-value counts those that are further out, and itself
        known = (beyond[: start + 1] + 1.0) / (size + 1.0)
        inner = np.interp(s, edges[: start + 1], np.minimum(known, 1.0))
        far = known[-1] * np.exp(-np.maximum(s - edges[start], 0.0) / mean)
        # Rounded to zero, a p-value would say that a row is impossible.
        return np.maximum(np.where(s <= edges[start], inner, far), np.nextafter(0.0, 1.0))

    def to_list(self) -> list[list[int]]:
        """Return it as what a file holds: pairs of a cell and its rows."""
        return [[cell, self.counts[cell]] for cell in sorted(self.counts)]

    @classmethod
    def from_list(cls, held: Any) -> Self:
        """Return what a file says, or refuse what is not a count."""
        try:
            pairs = [(cell, count) for cell, count in held]
        except (TypeError, ValueError):
            pairs = [(-1, 0)]
        found = dict(pairs) if all(type(v) is int for pair in pairs for v in pair) else {-1: 0}
        known = all(0 <= cell < CELLS and 0 < count < MOST for cell, count in found.items())
        if not known or len(found) != len(pairs):
            raise BadFile(
                "the model file does not record how far out rows may lie",
                hint="it is damaged: fit again",
            )
        return cls(found)


def _far_out(p: FloatArray) -> FloatArray:
    """Return -log p, of what is no more than can be told apart."""
    with np.errstate(divide="ignore"):
        return np.minimum(-np.log(np.clip(p, 0.0, 1.0)), FARTHEST) + 0.0


def _edges() -> FloatArray:
    """Return where cells begin, and where the last one ends."""
    fine = np.arange(int(FINE / STEP)) * STEP
    more = FINE * np.power(1.0 + STEP / 2.0, np.arange(CELLS - len(fine) + 1))
    return np.concatenate([fine, more])


def _cells(s: FloatArray) -> FloatArray:
    """Return in which cell each value is."""
    found = np.searchsorted(_edges(), s, side="right") - 1
    return np.clip(found, 0, CELLS - 1)
