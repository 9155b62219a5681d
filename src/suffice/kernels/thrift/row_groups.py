"""What the end of a Parquet file says of the columns of its row groups.

A file may have a million of them. `column_chunks` has a compiled twin, for large files.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.compilation import twin, worth_compiling
from suffice.kernels.thrift.compact import I32, I64, LIST, STRUCT, Compact

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIZES = (1, 4, 5, 6, 7, 9, 11)
"""The fields of a column that are its type, its codec, its sizes and its places."""
GROUPS, COLUMNS, METADATA, STATISTICS, NULLS = 4, 1, 3, 12, 3
"""Fields: the row groups of a file, the columns of one, what is said of a column, what is said of
its cells, and how many of these are blank."""
CELL = 8
"""Bytes of a number."""
LONG = 1 << 15
"""Bytes of an end that takes a few milliseconds in Python."""


def is_long(footer: bytes, stored: int) -> bool:
    """Return whether an end is long, and its file of so many bytes is worth a compiled loop."""
    return len(footer) >= LONG and worth_compiling(stored // CELL)


@twin("suffice.kernels.thrift.row_groups_numba", when=is_long)
def column_chunks(footer: bytes, stored: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many columns each row group has, and what is said of them, one after the other.

    Of each column the values of `SIZES` and how many cells are blank, -1 if that is not said:
    an array of shape (columns, 8). `stored` is how many bytes the file has.

    Raises struct.error or IndexError where the bytes are damaged.
    """
    del stored
    reader = Compact(footer)
    counts: list[int] = []
    found: list[list[int]] = []
    for field, kind in reader.fields():
        if field != GROUPS or kind != LIST:
            reader.skip(kind)
            continue
        for _ in reader.items():
            before = len(found)
            for inner, of in reader.fields():
                if inner == COLUMNS and of == LIST:
                    found.extend(_chunk(reader, j) for j, _ in enumerate(reader.items()))
                else:
                    reader.skip(of)
            counts.append(len(found) - before)
    shape = (len(found), len(SIZES) + 1)
    return np.array(counts, np.int64), np.array(found, np.int64).reshape(shape)


def _chunk(reader: Compact, column: int) -> list[int]:
    values, nulls = dict.fromkeys(SIZES, 0), -1
    for field, kind in reader.fields():
        if field != METADATA or kind != STRUCT:
            reader.skip(kind)
            continue
        for inner, of in reader.fields():
            if inner in values and of in (I32, I64):
                values[inner] = reader.number()
            elif of == LIST:  # encodings, names: the same in every row group
                reader.skip_known((column, inner))
            elif inner == STATISTICS and of == STRUCT:
                for innermost, told in reader.fields():
                    if innermost == NULLS and told == I64:
                        nulls = reader.number()
                    else:
                        reader.skip(told)
            else:
                reader.skip(of)
    if min(values.values()) < 0:
        raise struct.error("a size is negative")
    return [*values.values(), nulls]
