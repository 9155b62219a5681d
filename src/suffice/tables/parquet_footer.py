"""The ends of Parquet files: what they say of the columns of their row groups."""

from __future__ import annotations

import struct
from contextlib import contextmanager
from itertools import starmap
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.errors import BadFile, SufficeError
from suffice.kernels.thrift.row_groups import column_chunks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

LENGTH = 8
"""Bytes behind the end of a file, which say how long it is, and that this is Parquet."""


class ColumnChunk(NamedTuple):
    """What the end of a file says of one column in one row group; `nulls` is -1 if it does not."""

    physical_type: int
    codec: int
    num_values: int
    total_uncompressed_size: int
    total_compressed_size: int
    data_page_offset: int
    dictionary_page_offset: int
    nulls: int


class Footer:
    """The end of a file, read once for all that is read of it: the columns of each row group.

    pyarrow ends the process where it is asked about columns that are damaged. So they are read
    here, and it is asked for names and numbers of rows alone.
    """

    def __init__(self, file: IO[bytes], size: int, name: str) -> None:
        self.size, self._name = size, name
        with self.damage_refused():
            self._counts, self._found = column_chunks(_end_of(file, size), size)

    @contextmanager
    def damage_refused(self) -> Iterator[None]:
        """Turn what cannot be read inside the block into a refusal about the file."""
        try:
            yield
        except SufficeError:
            raise
        except (struct.error, ValueError, OverflowError, IndexError, OSError):
            raise BadFile(
                f"{self._name} cannot be read: its description of pages is damaged",
                hint="it is incomplete or damaged: write or download it again",
            ) from None

    def numbers(self, groups: Sequence[int], columns: Sequence[int]) -> NDArray[np.int64]:
        """Return what is said of some columns in some row groups, as `ColumnChunk` has it.

        An array of shape (groups, columns, 8).
        """
        with self.damage_refused():
            at, wanted = np.array(groups, np.intp), np.array(columns, np.intp)
            if (self._counts[at, np.newaxis] <= wanted).any():
                raise IndexError
            starts = np.cumsum(self._counts) - self._counts
            found: NDArray[np.int64] = self._found[starts[at, np.newaxis] + wanted]
            return found

    def chunks(self, column: int) -> list[ColumnChunk]:
        """Return what is said of one column, for every row group."""
        found = self.numbers(range(len(self._counts)), [column])
        return list(starmap(ColumnChunk, found[:, 0].tolist()))


def _end_of(file: IO[bytes], size: int) -> bytes:
    file.seek(max(0, size - LENGTH))
    (length,) = struct.unpack_from("<I", file.read(LENGTH))
    if length > size - LENGTH:
        raise struct.error("the end of the file is damaged")
    file.seek(size - LENGTH - length)
    return file.read(length)
