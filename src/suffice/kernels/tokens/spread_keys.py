"""Where the hashes of terms are among sorted ones: by their leading bits, which are spread evenly.

Halving 20 times takes as many steps through memory; a directory of the leading bits leads to the
one or two hashes that it may be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]
    Places = NDArray[np.intp]

BITS = 64
"""Of a hash."""
MOST_BITS = 22
"""Leading bits of the largest directory, of 32 MB."""
CROWDED = 64
"""Hashes with the same leading bits, from which on places are halved: hashes of terms are never so
crowded, but somebody may have chosen the terms."""


class SpreadKeys(NamedTuple):
    """Sorted hashes, each once, and where those with the same leading bits begin.

    >>> keys = SpreadKeys.of(np.array([5, 1 << 62, 3 << 62], dtype=np.uint64))
    >>> keys.places(np.array([3 << 62, 7, 5], dtype=np.uint64))
    array([ 2, -1,  0])
    """

    keys: Hashes
    begins: Places
    shift: np.uint64
    crowd: int
    """The most hashes with the same leading bits."""

    @classmethod
    def of(cls, keys: Hashes) -> Self:
        """Make the directory of sorted hashes."""
        bits = min(max(len(keys).bit_length(), 1), MOST_BITS)
        shift = np.uint64(BITS - bits)
        many = np.bincount((keys >> shift).astype(np.intp), minlength=1 << bits)
        return cls(keys, np.append(0, np.cumsum(many)), shift, int(many.max()))

    def places(self, wanted: Hashes) -> Places:
        """Return the places of hashes, -1 for those that are not there."""
        if not len(self.keys):
            return np.full(len(wanted), -1)
        if self.crowd > CROWDED:
            found = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
            return np.where(self.keys[found] == wanted, found, -1)
        leading = (wanted >> self.shift).astype(np.intp)
        places, ends = self.begins[leading], self.begins[leading + 1]
        found = np.full(len(wanted), -1)
        left = np.flatnonzero(places < ends)
        places, ends, sought = places[left], ends[left], wanted[left]
        while len(left):
            here = self.keys[places]
            same = here == sought
            found[left[same]] = places[same]
            places += 1
            more = (here < sought) & (places < ends)
            left, places, ends, sought = left[more], places[more], ends[more], sought[more]
        return found
