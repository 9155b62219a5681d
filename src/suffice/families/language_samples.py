"""Texts drawn from a language model, symbol by symbol."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from suffice.families.ngram_levels import levels_of
from suffice.kernels.ngrams.texts import BITS, EOT, SYMBOLS, beginning, mask

if TYPE_CHECKING:
    from suffice.kernels.ngrams.texts import Keys
    from suffice.rows import FloatArray
    from suffice.statistics.keyed_counts import NgramCounts


class TextSampler(NamedTuple):
    """The n-grams of one class by length, sorted, so that all successors of a context are together.

    `sums` are cumulative counts, from 0.
    """

    order: int
    keys: list[Keys]
    sums: list[FloatArray]

    @classmethod
    def of(cls, counts: NgramCounts) -> Self:
        """Return what is needed to draw texts like those that were counted."""
        keys, sums = [], []
        for level in levels_of([counts])[1:]:
            seen = level.counts[:, 0] > 0.0  # BOS is a context, and never drawn
            keys.append(level.keys[seen])
            sums.append(np.append(0.0, np.cumsum(level.counts[seen, 0])))
        return cls(counts.order, keys, sums)

    def draw(self, rng: np.random.Generator, most: int) -> bytes:
        """Return one text, of at most `most` bytes."""
        found = bytearray()
        context = beginning(self.order - 1)
        while len(found) < most:
            symbol = self._next(context, rng)
            if symbol == EOT:
                break
            found.append(symbol)
            context = (context << BITS | symbol) & mask(self.order - 1)
        return bytes(found)

    def _next(self, context: int, rng: np.random.Generator) -> int:
        """Draw a successor as it was counted, c of c + T times; else one symbol less is known."""
        for m in range(self.order, 0, -1):
            lowest = (context & mask(m - 1)) << BITS
            ends = np.array([lowest, lowest + mask(1) + 1], dtype=np.uint64)
            low, high = np.searchsorted(self.keys[m - 1], ends)
            if low == high:
                continue
            sums = self.sums[m - 1]
            count = sums[high] - sums[low]
            drawn = rng.random() * (count + (high - low))
            if drawn < count:
                place = np.searchsorted(sums[low + 1 : high], sums[low] + drawn, side="right")
                return int(self.keys[m - 1][low + place]) & mask(1)
        symbol = int(rng.integers(SYMBOLS))
        return EOT if symbol == SYMBOLS - 1 else symbol
