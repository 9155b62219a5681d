"""One look into an n-gram index, for loops in numba, and asking for the memory in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import boolean, int32, int64, njit, uint8, uint64

from suffice.kernels.compilation import array
from suffice.kernels.lanes.intrinsics_numba import prefetch
from suffice.kernels.ngrams.index import FACTORS
from suffice.kernels.ngrams.texts import BITS, EOT, beginning, mask

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.kernels.ngrams.texts import Keys

FEW = 8
"""Keys that are gone through one by one; among more of them the place is halved."""

ONE, TWO = (np.uint64(factor) for factor in FACTORS)
HALF, SHIFT, END = np.uint64(32), np.uint64(BITS), np.uint64(EOT)
MASKS = np.array([mask(m) for m in range(8)], dtype=np.uint64)
BEGINNINGS = np.array([beginning(m) for m in range(8)], dtype=np.uint64)


def text_types() -> list[Any]:
    """Return numba's types of the fields of `Texts`."""
    places = array(int64, 1, "A")
    return [array(uint8, 1), places, places, array(boolean, 1, "A")]


def index_types() -> list[Any]:
    """Return numba's types of the fields of `NgramIndex`."""
    levels = array(int64, 1)
    return [int64, array(uint64, 1), levels, array(int32, 1), levels, levels]


@njit(nogil=True)
def mixed_key(key: Any) -> Any:
    """Return what `ngram_index.mix` makes of one key."""
    key ^= key >> HALF
    key *= ONE
    key ^= key >> HALF
    key *= TWO
    key ^= key >> HALF
    return key


@njit(nogil=True)
def keys_of_text(buffer: Any, start: Any, stop: Any, whole: Any, order: Any, keys: Keys) -> int:
    """Write the n-grams of one document, and return how many there are."""
    key = BEGINNINGS[order - 1]
    size = 0
    for p in range(start, stop):
        key = ((key << SHIFT) | uint64(buffer[p])) & MASKS[order]
        keys[size] = key
        size += 1
    if whole:
        keys[size] = ((key << SHIFT) | END) & MASKS[order]
        size += 1
    return size


@njit(nogil=True)
def page(wanted: Any, m: Any, first: Any, shifts: Any) -> Any:
    """Return the place in the directory of a mixed key of m symbols."""
    return uint64(first[m]) + (wanted >> uint64(shifts[m]))


@njit(nogil=True)
def find(wanted: Any, m: Any, mixed: Any, directory: Any, first: Any, shifts: Any) -> Any:
    """Return the node of a mixed key of m symbols, or -1."""
    place = page(wanted, m, first, shifts)
    low, high = int64(directory[place]), int64(directory[place + uint64(1)])
    while high - low > FEW:
        middle = (low + high) // 2
        if mixed[middle] < wanted:
            low = middle + 1
        else:
            high = middle + 1
    while low < high and mixed[low] < wanted:
        low += 1
    return low if low < high and mixed[low] == wanted else int64(-1)


@njit(nogil=True)
def fetch_node(
    wanted: Any, m: Any, mixed: Any, directory: Any, first: Any, shifts: Any,
    values: NDArray[Any], width: int,
) -> None:  # fmt: skip
    """Ask for the keys that this one may be among, and for what is stored beside the first."""
    low = int64(directory[page(wanted, m, first, shifts)])
    prefetch(mixed, low)
    prefetch(values, low * width)
