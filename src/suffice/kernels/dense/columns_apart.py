"""Rows whose columns lie apart, each in an array of its own: as Arrow reads them from files.

Putting them together first takes as long as adding them up. So whoever can work on the columns as
they are does, and for everybody else they are put together when they ask.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeGuard, overload

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray

    Cells = NDArray[np.floating]
    Index = slice | list[int] | NDArray[np.integer] | NDArray[np.bool_]

    class Flags(Protocol):
        """How the cells of an array lie."""

        @property
        def aligned(self) -> bool: ...  # noqa: D102
        @property
        def c_contiguous(self) -> bool: ...  # noqa: D102


class ColumnsApart:
    """A matrix (n, d) of float32 or float64 that is kept as d arrays; read only.

    NumPy takes it for the matrix that it stands for, and so does whoever cuts rows out of it.

    >>> apart = ColumnsApart([np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])])
    >>> apart.shape, apart[1:].columns[0]
    ((3, 2), array([2., 3.]))
    >>> apart[[0, 2]]
    array([[1., 4.],
           [3., 6.]])
    """

    ndim = 2

    def __init__(self, columns: Sequence[Cells]) -> None:
        self.columns = tuple(columns)

    @staticmethod
    def fits(columns: Sequence[NDArray[np.generic]]) -> TypeGuard[Sequence[Cells]]:
        """Whether columns are of one type that can be added up as it is, and lie contiguously.

        >>> ColumnsApart.fits([np.zeros(2), np.zeros(2, np.float32)])
        False
        """
        kinds = {column.dtype for column in columns}
        plain = kinds in ({np.dtype(np.float32)}, {np.dtype(np.float64)})
        return plain and all(
            column.flags.c_contiguous and column.flags.aligned for column in columns
        )

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return len(self.columns[0]), len(self.columns)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.columns[0]) * len(self.columns)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """What the cells are."""
        return self.columns[0].dtype

    @property
    def flags(self) -> Flags:
        """How the cells lie: alike in all columns."""
        return self.columns[0].flags

    @cached_property
    def stacked(self) -> Cells:
        """The matrix, laid out by column: one sequential write for each."""
        matrix = np.empty(self.shape, self.dtype, order="F")
        for j, column in enumerate(self.columns):
            matrix[:, j] = column
        return matrix

    def __len__(self) -> int:
        return len(self.columns[0])

    @overload
    def __getitem__(self, key: tuple[int, int]) -> np.floating: ...
    @overload
    def __getitem__(self, key: Index) -> ColumnsApart | Cells: ...

    def __getitem__(self, key: Index | tuple[int, int]) -> ColumnsApart | Cells | np.floating:
        """Return rows without a step as columns apart, anything else as NumPy would."""
        if isinstance(key, slice) and key.step in (None, 1):
            return ColumnsApart([column[key] for column in self.columns])
        if isinstance(key, (list, np.ndarray, slice)):  # rows: only these are put together
            return np.stack([column[key] for column in self.columns], axis=1)
        cell: np.floating = self.stacked[key]
        return cell

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Cells:
        return np.array(self.stacked, dtype=dtype, copy=copy)


def together(rows: Cells | ColumnsApart) -> Cells:
    """Return rows as one matrix.

    >>> together(ColumnsApart([np.zeros(2), np.ones(2)]))
    array([[0., 1.],
           [0., 1.]])
    """
    return rows.stacked if isinstance(rows, ColumnsApart) else rows
