"""The compiled twin of `column_chunks`.

Nothing is read beyond the bytes that are there: a compiled loop would not be stopped. One loop goes
through all values, whatever they are in, with a stack of its own: a reader for each kind of value
would take five times as long to compile.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
from numba import njit, types

from suffice.kernels.compilation import array, compiled, once
from suffice.kernels.thrift.compact import (
    BINARY,
    BYTE,
    DOUBLE,
    FALSE,
    I16,
    I32,
    I64,
    LAST_SHIFT,
    LIST,
    SET,
    STRUCT,
    TRUE,
)
from suffice.kernels.thrift.row_groups import (
    COLUMNS,
    GROUPS,
    METADATA,
    NULLS,
    SIZES,
    STATISTICS,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

DAMAGED = -1
"""Where a number ends that does not, and how many row groups there are in what is damaged."""
PLACES = np.array([SIZES.index(i) if i in SIZES else -1 for i in range(max(SIZES) + 1)], np.int64)
"""Where the value of each field is kept; -1 for those that are not."""
WIDTH = len(SIZES) + 1
"""Values that are kept of a column."""
FEW_BYTES = 64
"""Bytes of a column, about, or a few more: so many columns are made room for at first."""
DEEPEST = 16
"""Structs and lists inside each other, at most: those of a column's statistics are 7."""
OTHER, FILE, ALL_GROUPS, GROUP, ALL_COLUMNS, COLUMN, SAID, CELLS = range(8)
"""What structs and lists are: none that matters, the file, its row groups, one of them, its
columns, one of them, what is said of that, and what is said of its cells."""


def column_chunks(footer: bytes, stored: int) -> tuple[Numbers, Numbers]:
    """Return how many columns each row group has, and what is said of them, one after the other."""
    del stored
    held, sizes = np.frombuffer(footer, np.uint8), np.zeros(2, np.int64)
    room = np.full(2, len(footer) // FEW_BYTES)
    while True:
        counts, found = np.zeros(room[0], np.int64), np.empty((room[1], WIDTH), np.int64)
        _loop()(held, PLACES, counts, found, sizes)
        if sizes[0] == DAMAGED:
            raise struct.error("the end of the file is damaged")
        if (sizes <= room).all():
            return counts[: sizes[0]], found[: sizes[1]]
        room = sizes.copy()


@once
def _loop() -> Callable[..., None]:
    whole = types.int64
    written = [types.Array(whole, dimensions, "C") for dimensions in (1, 2, 1)]
    return compiled(_walk, array(types.uint8, 1), array(whole, 1), *written)


@njit(nogil=True)
def _varint(held: NDArray[np.uint8], at: int) -> tuple[np.uint64, int]:
    """Return the number that begins here, and where it ends."""
    value, shift = np.uint64(0), 0
    while at < len(held):
        byte = np.uint64(held[at])
        at += 1
        value |= (byte & np.uint64(127)) << np.uint64(shift)
        if byte < 128:
            return value, (DAMAGED if shift == LAST_SHIFT and byte > 1 else at)
        shift += 7
        if shift > LAST_SHIFT:
            break
    return value, DAMAGED


@njit(nogil=True)
def _signed(value: np.uint64) -> np.int64:
    half = np.int64(value >> np.uint64(1))
    return ~half if value & np.uint64(1) else half


@njit(nogil=True)
def _inside(what: int, field: int, kind: int) -> int:
    """Return what a struct or list is, by what it is in."""
    if what == FILE and field == GROUPS and kind == LIST:
        return ALL_GROUPS
    if what == GROUP and field == COLUMNS and kind == LIST:
        return ALL_COLUMNS
    if what == COLUMN and field == METADATA and kind == STRUCT:
        return SAID
    if what == SAID and field == STATISTICS and kind == STRUCT:
        return CELLS
    return OTHER


def _walk(  # noqa: PLR0912, PLR0915
    held: NDArray[np.uint8], places: Numbers, counts: Numbers, found: Numbers, sizes: Numbers
) -> None:
    """Write down what there is room for, and how many row groups and columns there are."""
    sizes[:] = DAMAGED
    end = len(held)
    values = np.zeros(found.shape[1], np.int64)
    # Of each that is open: what it is, the last field, the items left (-1: a struct), their type.
    what, fields = np.zeros(DEEPEST, np.int64), np.zeros(DEEPEST, np.int64)
    left, kinds = np.full(DEEPEST, -1), np.zeros(DEEPEST, np.int64)
    what[0] = FILE
    depth = groups = columns = at = 0
    while True:
        if left[depth] == 0:
            depth -= 1
            continue
        if left[depth] > 0:
            left[depth] -= 1
            kind = kinds[depth]
        else:
            if at >= end:
                return
            head = np.int64(held[at])
            at += 1
            if head == 0:  # the struct ends
                if what[depth] == COLUMN:
                    if values[:-1].min() < 0:
                        return
                    if columns < len(found):
                        found[columns] = values
                    if groups < len(counts):
                        counts[groups] += 1
                    columns += 1
                elif what[depth] == GROUP:
                    groups += 1
                elif depth == 0:
                    sizes[0], sizes[1] = groups, columns
                    return
                depth -= 1
                continue
            kind = head & 15
            fields[depth] += head >> 4
            if head >> 4 == 0:
                value, at = _varint(held, at)
                fields[depth] = _signed(value)
                if at < 0:
                    return
        if kind in (I16, I32, I64):
            value, at = _varint(held, at)
            field = fields[depth]
            if what[depth] == SAID and kind != I16 and 0 <= field < len(places):
                if places[field] >= 0:
                    values[places[field]] = _signed(value)
            elif what[depth] == CELLS and field == NULLS and kind == I64:
                values[-1] = _signed(value)
        elif kind == BINARY:
            value, at = _varint(held, at)
            if at < 0 or value > np.uint64(end - at):
                return
            at += int(np.int64(value))
        elif kind in (BYTE, DOUBLE):
            at += 1 if kind == BYTE else 8
        elif kind in (STRUCT, LIST, SET):
            if depth + 1 >= DEEPEST:
                return
            depth += 1
            what[depth] = _inside(what[depth - 1], fields[depth - 1], kind)
            if what[depth - 1] in (ALL_GROUPS, ALL_COLUMNS):
                what[depth] = GROUP if what[depth - 1] == ALL_GROUPS else COLUMN
            if what[depth] == COLUMN:
                values[:] = 0
                values[-1] = -1
            fields[depth], left[depth] = 0, -1
            if kind != STRUCT:
                if at >= end:
                    return
                head = np.int64(held[at])
                at += 1
                value = np.uint64(head >> 4)
                if head >> 4 == 15:
                    value, at = _varint(held, at)
                if at < 0 or value > np.uint64(end - at):
                    return  # each item has a byte at least
                left[depth], kinds[depth] = np.int64(value), head & 15
                if what[depth] in (ALL_GROUPS, ALL_COLUMNS):
                    kinds[depth] = STRUCT
                elif kinds[depth] in (TRUE, FALSE):
                    kinds[depth] = BYTE  # a truth in a list has one
        elif kind not in (TRUE, FALSE):
            return
        if at < 0 or at > end:
            return
