"""Tables of numbers whose columns lie apart, as Arrow keeps them; matrices only when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from suffice.kernels.dense.columns_apart import ColumnsApart
from suffice.rows.cells import NUMBER
from suffice.rows.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class ColumnTable(Table):
    """A table like any other, but for `apart`: its columns as they came, without a copy.

    `matrix` is put together when somebody first asks for it. Sums of many rows are not made of it.

    >>> import numpy as np
    >>> table = ColumnTable.of([np.array([1.0, 2.0]), np.array([3.0, 4.0])], ("a", "b"))
    >>> table.size, table.apart.shape
    (2, (2, 2))
    >>> table.matrix
    array([[1., 3.],
           [2., 4.]])
    """

    __slots__ = ("apart",)
    apart: ColumnsApart | None

    @classmethod
    def of(
        cls,
        columns: Sequence[NDArray[Any]],
        names: tuple[str, ...] | None,
        whole: tuple[bool, ...] | None = None,
    ) -> Self:
        """Return the table of columns that `ColumnsApart.fits`."""
        table = cls.__new__(cls)
        held = {
            "apart": ColumnsApart(columns),
            "cells": None,
            "kinds": (NUMBER,) * len(columns),
            "names": names,
            "levels": None,
            "whole": whole,
        }
        for name, value in held.items():
            object.__setattr__(table, name, value)
        return table

    def __getattr__(self, name: str) -> Any:
        """Return what was not there yet: the matrix; of a copy of the table, no columns apart."""
        if name == "apart":
            return None
        if name != "matrix" or self.apart is None:
            raise AttributeError(name)
        object.__setattr__(self, "matrix", self.apart.stacked)
        return self.apart.stacked

    @property
    def size(self) -> int:
        """How many rows there are."""
        return super().size if self.apart is None else len(self.apart)

    def column(self, index: int) -> NDArray[Any]:
        """Return the cells of one column."""
        return super().column(index) if self.apart is None else self.apart.columns[index]
