"""Texts that a language model writes: characters that it has learned, whole, and no longer ones.

The law of bytes gives every byte a probability, also those that were never seen, so that a draw
from it may be no text. Here a byte is drawn given that the whole stays one: valid UTF-8, of
characters that the class has learned, and of a length that it has shown.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.kernels.ngrams.texts import BITS, EOT, beginning, mask
from suffice.models.text.language import TextSampler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.statistics.keyed_counts import NgramCounts

FIRST_CONTINUED = {0xE0: (0xA0, 0xBF), 0xED: (0x80, 0x9F), 0xF0: (0x90, 0xBF), 0xF4: (0x80, 0x8F)}
"""Where the second byte of a character is bound by the first, in UTF-8: nothing overlong, no halves
of surrogate pairs, nothing beyond U+10FFFF."""
CONTINUED = (0x80, 0xBF)
"""The other bytes of a character after its first one."""
TRIED = 32
"""Characters that were begun and cannot be finished, after which a text ends where it is."""
C1 = 0xC2
"""The first byte of the control characters U+0080 to U+009F, and of the letters after them."""


class _Successors(NamedTuple):
    """What may follow a context: symbols, their cumulative counts, and how many kinds there are."""

    symbols: Sequence[int]
    sums: Sequence[float]


class TextWriter:
    """Writes texts of one class, of `least` to `most` characters.

    Each byte is drawn as Witten and Bell have it: c of c + T times as it came after the longest
    context, else after a shorter one, and at last by its share in the class, never from all 256. A
    character that has begun is finished as the class has finished it. A text ends where EOT is
    drawn, which cannot be before `least`, or at `most`.

    >>> from suffice.statistics.keyed_counts import NgramCounts
    >>> writer = TextWriter(NgramCounts.of(["né à Évian".encode()] * 99, order=5), 1, 10)
    >>> writer.write(np.random.default_rng(1))
    'né à Évian'
    """

    def __init__(self, counts: NgramCounts, least: int, most: int) -> None:
        self._sampler = TextSampler.of(counts)
        self._least, self._most = least, most
        self._known: dict[tuple[int, int, bytes, bool], _Successors] = {}

    def write(self, rng: np.random.Generator) -> str:
        """Return one text."""
        order = self._sampler.order
        found: list[bytes] = []
        context, in_vain = beginning(order - 1), 0
        while len(found) < self._most and in_vain < TRIED:
            one = self._character(context, rng, may_end=len(found) >= self._least)
            if one is None:
                break
            if not one:
                in_vain += 1
                continue
            found.append(one)
            for byte in one:
                context = (context << BITS | byte) & mask(order - 1)
        return b"".join(found).decode("utf-8")

    def _character(self, context: int, rng: np.random.Generator, *, may_end: bool) -> bytes | None:
        """Draw a character; None is the end, and no bytes one that nobody has finished.

        The texts of a class that are cut at the limit may be cut within a character.
        """
        order, pending = self._sampler.order, b""
        while True:
            symbol = self._next(context, pending, rng, may_end=may_end)
            if symbol is None:
                return b"" if pending else None
            if symbol == EOT:
                return None
            context = (context << BITS | symbol) & mask(order - 1)
            pending += bytes([symbol])
            if len(pending) == _bytes_of(pending[0]):
                return pending

    def _next(
        self, context: int, pending: bytes, rng: np.random.Generator, *, may_end: bool
    ) -> int | None:
        """Draw the next symbol; None where nothing that was learned can follow."""
        order = self._sampler.order
        # A context that lacks the beginning of a character would finish it as another one.
        last = min(len(pending) + 1, order)
        for m in range(order, last - 1, -1):
            after = self._after(m, context & mask(m - 1), pending, may_end)
            if not after.symbols:
                continue
            count = after.sums[-1]
            room = count if m == last else count + len(after.symbols)
            drawn = rng.random() * room
            if drawn < count:
                return after.symbols[bisect_right(after.sums, drawn)]
        return None

    def _after(self, m: int, context: int, pending: bytes, may_end: bool) -> _Successors:
        """Return what may follow the last m - 1 symbols."""
        key = (m, context, pending, may_end)
        known = self._known.get(key)
        if known is None:
            lowest = context << BITS
            ends = np.array([lowest, lowest + mask(1) + 1], dtype=np.uint64)
            low, high = np.searchsorted(self._sampler.keys[m - 1], ends)
            symbols = (self._sampler.keys[m - 1][low:high] & np.uint64(mask(1))).astype(np.int64)
            counts = np.diff(self._sampler.sums[m - 1][low : high + 1])
            bottom, top = self._range(pending)
            kept = (symbols >= bottom) & (symbols <= top)
            if not pending:
                kept &= (symbols < CONTINUED[0]) | (symbols > CONTINUED[1])
                kept |= (symbols == EOT) & may_end
            known = _Successors(symbols[kept].tolist(), np.cumsum(counts[kept]).tolist())
            self._known[key] = known
        return known

    def _range(self, pending: bytes) -> tuple[int, int]:
        """Return the least and the largest byte that may follow the beginning of a character."""
        if not pending:
            return 0, 0xF4
        if len(pending) > 1:
            return CONTINUED
        if pending[0] == C1 and self._sampler.order == 1:
            return 0xA0, CONTINUED[1]  # which control characters were learned is not known
        return FIRST_CONTINUED.get(pending[0], CONTINUED)


def _bytes_of(first: int) -> int:
    """Return how many bytes a character has that begins with this one."""
    return 1 + (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0)
