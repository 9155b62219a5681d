"""Different keys of every document and how often they occur, in numba."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import int64, njit, uint64

from suffice.kernels.tokens.loops_numba import STEP_
from suffice.kernels.tokens.vocabulary_table_numba import UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.int64]
    Counts = NDArray[np.int32]
    Keys = NDArray[np.uint64]

DIGIT = np.uint64(11)
"""Bits by which keys are put in order at a time."""

LOW_BITS = np.uint64(2**11 - 1)


def take_modulo(keys: Keys, size: int) -> None:
    """Leave the remainder of every key: its column, of so many."""
    whole = uint64(size)
    if whole & (whole - uint64(1)) == 0:
        for i in range(keys.size):
            keys[i] &= whole - uint64(1)
    else:
        for i in range(keys.size):
            keys[i] %= whole


def count_keys(
    keys: Keys, ends: Places, boolean: bool, slots: Places,
    out: Keys, counts: Counts, out_ends: Places,
) -> None:  # fmt: skip
    """Write the different keys of every document, in order of appearance, and their counts.

    `slots` are zeros, a power of two of them, at least twice as many as any document has keys. A
    slot holds a place in `out` plus one; one from before the document counts as free, so that
    nothing has to be cleared. Each document uses as many slots as it needs.
    """
    start = written = 0
    for document in range(ends.size):
        end = ends[document]
        row = written
        shift = uint64(60)
        while (int64(1) << (int64(64) - int64(shift))) < 2 * (end - start):
            shift -= uint64(1)
        mask = (uint64(1) << (uint64(64) - shift)) - uint64(1)
        for i in range(start, end):
            key = keys[i]
            if key == UNKNOWN:
                continue
            slot = (key * STEP_) >> shift
            while True:
                held = slots[slot] - 1
                if held < row:
                    slots[slot] = written + 1
                    out[written] = key
                    counts[written] = 1
                    written += 1
                    break
                if out[held] == key:
                    if not boolean:
                        counts[held] += 1
                    break
                slot = (slot + uint64(1)) & mask
        start = end
        out_ends[document] = written


@njit(nogil=True)
def _move(
    keys: Keys, cells: Keys, size: int, shift: Any, others: Keys, more: Keys, places: Places
) -> None:
    """Put keys, and the cells with them, in the order of some of their bits; equals stay as is."""
    places[:] = 0
    for i in range(size):
        places[(keys[i] >> shift) & LOW_BITS] += 1
    place = 0
    for digit in range(places.size):
        place, places[digit] = place + places[digit], place
    for i in range(size):
        digit = (keys[i] >> shift) & LOW_BITS
        place = places[digit]
        places[digit] = place + 1
        others[place] = keys[i]
        more[place] = cells[i]


def sort_rows(
    keys: Keys, counts: Counts, ends: Places, starts: Places, spare: Keys, places: Places
) -> None:
    """Put the keys of every row in ascending order, their counts with them.

    Several rows at a time are put in order of their keys, some bits after the other from the
    lowest, and then given back to their rows: no order of the keys can make that slow. `starts` has
    a place for each row, `spare` four rows that are as long as the longest run of rows.
    """
    room = spare.shape[1]
    row = 0
    while row < ends.size:
        first = ends[row - 1] if row > 0 else 0
        last = row + 1
        while last < ends.size and ends[last] - first <= room:
            last += 1
        size = ends[last - 1] - first
        one, cells, others, more = spare[0], spare[1], spare[2], spare[3]
        largest, start = uint64(0), first
        for r in range(row, last):
            starts[r] = start
            for i in range(start, ends[r]):
                key = keys[i]
                largest |= key
                one[i - first] = key
                cells[i - first] = uint64(r) << uint64(32) | uint64(counts[i])
            start = ends[r]
        shift = uint64(0)
        while shift < uint64(64) and (largest >> shift) != 0:
            _move(one, cells, size, shift, others, more, places)
            one, cells, others, more = others, more, one, cells
            shift += DIGIT
        for i in range(size):
            r = cells[i] >> uint64(32)
            place = starts[r]
            starts[r] = place + 1
            keys[place] = one[i]
            counts[place] = int64(cells[i] & uint64(0xFFFFFFFF))
        row = last
