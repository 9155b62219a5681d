"""Rows of which only some cells are stored.

Words in documents are the usual case: a row holds some dozens of a hundred thousand columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows.cells import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """Rows by their stored cells; every other cell is zero.

    Row i stores `data[indptr[i]:indptr[i + 1]]` in the columns `indices[indptr[i]:indptr[i + 1]]`,
    in any order, each column once at most; zeros may be stored too. A slice of rows shares `data`
    and `indices` with the whole, so its `indptr` need not begin at 0.

    >>> from scipy.sparse import csr_array
    >>> from suffice.rows import read_sparse
    >>> rows = read_sparse(csr_array([[0, 2, 0], [1, 0, 3]]))
    >>> rows.shape, rows.stored
    ((2, 3), 3)
    >>> rows[1:].toarray()
    array([[1., 0., 3.]])
    """

    data: NDArray[np.generic]
    indices: NDArray[np.integer]
    indptr: NDArray[np.integer]
    width: int

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.indptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return self.size, self.width

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the cells."""
        return self.data.dtype

    @property
    def stored(self) -> int:
        """How many cells are stored."""
        return int(self.indptr[-1]) - int(self.indptr[0])

    @property
    def cells(self) -> NDArray[Any]:
        """The stored cells, row after row: a view."""
        return self.data[int(self.indptr[0]) : int(self.indptr[-1])]

    @property
    def places(self) -> NDArray[np.integer]:
        """The columns of the stored cells: a view."""
        return self.indices[int(self.indptr[0]) : int(self.indptr[-1])]

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, chosen: slice | NDArray[Any]) -> SparseRows:
        """Return a range of rows as a view; rows by number or by mask are copied."""
        if not isinstance(chosen, slice):
            chosen = np.asarray(chosen)
            return self.take(np.flatnonzero(chosen) if chosen.dtype == bool else chosen)
        start, stop, step = chosen.indices(self.size)
        if step != 1:
            return self.take(np.arange(start, stop, step))
        indptr = self.indptr[start : max(stop, start) + 1]
        return SparseRows(self.data, self.indices, indptr, self.width)

    def take(self, rows: IntArray) -> SparseRows:
        """Return these rows, in this order: a copy of their cells.

        >>> from scipy.sparse import csr_array
        >>> from suffice.rows import read_sparse
        >>> read_sparse(csr_array([[0, 2], [1, 0]])).take(np.array([1, 0, 1])).toarray()
        array([[1., 0.],
               [0., 2.],
               [1., 0.]])
        """
        starts = self.indptr[:-1][rows].astype(np.int64)
        lengths = self.indptr[1:][rows] - starts
        indptr = np.zeros(len(starts) + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        cells = np.repeat(starts - indptr[:-1], lengths)
        cells += np.arange(len(cells))
        # Beside narrow columns the pointers are narrow too, where they fit.
        narrow = self.indptr.dtype if indptr[-1] <= np.iinfo(self.indptr.dtype).max else np.int64
        return SparseRows(
            self.data[cells], self.indices[cells], indptr.astype(narrow, copy=False), self.width
        )

    def row_numbers(self) -> IntArray:
        """Return for every stored cell the row it belongs to."""
        return np.repeat(np.arange(self.size), np.diff(self.indptr))

    def toarray(self) -> FloatArray:
        """Return all cells, zeros too."""
        dense = np.zeros(self.shape)
        dense[self.row_numbers(), self.places] = self.cells
        return dense
