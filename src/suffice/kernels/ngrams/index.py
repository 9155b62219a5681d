"""Where an n-gram is found: an exact table of all n-grams, level by level, without empty places.

Keys are mixed by a function that has an inverse, so that nothing collides, and sorted: mixed keys
are spread evenly, and their leading bits tell almost where a key is. A directory of these bits
leads to the two or three keys it may be among.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from suffice.kernels.ngrams.counts import sort_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.kernels.ngrams.texts import Keys

    Places = NDArray[np.intp]

FACTORS = 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53
"""Odd, so that multiplying by them can be undone; from MurmurHash3."""


class NgramIndex(NamedTuple):
    """The n-grams of 1 … order symbols; those of m symbols are nodes starts[m] … starts[m + 1].

    Of the directory, level m has what begins at `first[m]`: for each value of the leading bits
    (all but `shifts[m]`) the first node that has it or a larger one.
    """

    order: int
    mixed: Keys
    starts: NDArray[np.int64]
    directory: NDArray[np.int32]
    first: NDArray[np.int64]
    shifts: NDArray[np.int64]

    @classmethod
    def of(cls, levels: Sequence[Keys]) -> tuple[Self, list[Places]]:
        """Return the index of n-grams, shortest first, and the places of its nodes in each level.

        >>> letters = np.array([97, 98], dtype=np.uint64)
        >>> index, places = NgramIndex.of([letters])
        >>> int(places[0][index.find(1, letters)[1]])
        1
        """
        starts = np.zeros(len(levels) + 2, dtype=np.int64)
        first, shifts = starts[:-1].copy(), starts[:-1].copy()
        mixed: list[Keys] = []
        directories: list[NDArray[np.int32]] = []
        places: list[Places] = []
        for m, keys in enumerate(levels, 1):
            found, order = sort_keys(mix(keys), 64)
            bits = max(len(keys).bit_length() - 1, 1)
            leading = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
            directory = np.append(np.searchsorted(found, leading), len(keys)) + starts[m]
            starts[m + 1], shifts[m] = starts[m] + len(keys), 64 - bits
            first[m] = sum(len(above) for above in directories)
            mixed.append(found)
            directories.append(directory.astype(np.int32))
            places.append(order)
        joined = np.concatenate(mixed), starts, np.concatenate(directories)
        return cls(len(levels), *joined, first, shifts), places

    def find(self, m: int, keys: Keys) -> Places:
        """Return the nodes of n-grams of m symbols, -1 for those that are not there."""
        start, stop = int(self.starts[m]), int(self.starts[m + 1])
        wanted = mix(keys)
        level = self.mixed[start:stop]
        places = np.searchsorted(level, wanted)
        known = places < len(level)
        known[known] = level[places[known]] == wanted[known]
        return np.where(known, places + start, -1)


def mix(keys: Keys) -> Keys:
    """Return keys spread evenly over all numbers of 64 bits, different ones to different ones."""
    keys = keys ^ (keys >> np.uint64(32))
    for factor in FACTORS:
        keys = keys * np.uint64(factor)
        keys ^= keys >> np.uint64(32)
    return keys


class NgramTable(NamedTuple):
    """What every node says in each of k classes: enough to score a document.

    `logs` (n, k) are log P(last symbol | symbols before it); `backoff` (nodes below the top, k) is
    log T/(c + T) of the node as a context, which is what all symbols never seen after it pay;
    `bottom` (k,) is log P of a symbol never seen at all, without any context.
    """

    where: NgramIndex
    logs: NDArray[np.float64]
    backoff: NDArray[np.float64]
    bottom: NDArray[np.float64]

    @property
    def nbytes(self) -> int:
        """The memory that all of it takes."""
        held = (*self.where[1:], self.logs, self.backoff, self.bottom)
        return sum(part.nbytes for part in held)


class Level(NamedTuple):
    """All n-grams of m symbols, sorted, and all contexts of m symbols among them.

    `counts` (n, k) of the n-grams in each class; `contexts` and `successors` (n, k) are c and T:
    how often something came after these m symbols, and how many different symbols (the top level
    has none: nobody asks). `ending` and `context` are the places, one level below, of the last
    m - 1 symbols and of the first m - 1.
    """

    keys: Keys
    counts: NDArray[np.float64]
    contexts: NDArray[np.float64]
    successors: NDArray[np.float64]
    ending: Places
    context: Places
