"""Columns on a scale of their own: what makes badly scaled data no problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.engines.threads import collect_blocks
from suffice.errors import NotFinite
from suffice.places import ColumnAt, Phrase
from suffice.rows.bad_cells import refuse_blanks, refuse_blanks_of
from suffice.rows.sparse_rows import SparseRows
from suffice.statistics.algebra import ROUNDING
from suffice.statistics.moments.diagonal import DiagonalMoments

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray

SMALLEST_DEVIATION = 1e-14
"""Standard deviation, relative to the mean, below which a column is constant but for rounding. A
choice: 45ε, since mean and cells are both rounded."""

LEAST_VARIANCE = 1e-304
"""Variances below this have lost digits, or all of them: 4,500 times the smallest number that has
all its digits, 2.2e-308, with room for the squares that it is a mean of."""


@dataclass(frozen=True, slots=True, eq=False)
class Standardisation:
    """The mean of every column, and one over its standard deviation: 0 where it is constant.

    >>> found = Standardisation.of(np.array([[1.0, 5.0], [3.0, 5.0]]), None)
    >>> found.origin, found.inverse
    (array([2., 5.]), array([1., 0.]))
    """

    origin: FloatArray
    inverse: FloatArray

    @classmethod
    def of(cls, rows: FloatArray | SparseRows, weights: FloatArray | None) -> Self:
        """Return that of rows: one pass over them; a missing cell is refused."""
        if isinstance(rows, SparseRows):
            return cls._of_sparse(rows, weights)

        def summarize(some: slice) -> DiagonalMoments:
            own = None if weights is None else weights[some]
            return DiagonalMoments.of(rows[some], own)

        try:
            found = collect_blocks(summarize, *rows.shape)
        except NotFinite:
            refuse_blanks(rows)
            raise
        if (found.counts < found.weight * (1.0 - ROUNDING)).any():
            refuse_blanks(rows)
        return cls._from(found.mean, found.scatter / found.weight, rows)

    @classmethod
    def _of_sparse(cls, rows: SparseRows, weights: FloatArray | None) -> Self:
        """Sums over stored cells about 0, then about the mean: cells not stored are -mean."""
        refuse_blanks_of(rows)
        numbers = None if weights is None else weights[rows.row_numbers()]
        total = float(len(rows) if weights is None else weights.sum())
        cells = rows.cells.astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            own = cells if numbers is None else cells * numbers
            mean = np.bincount(rows.places, own, minlength=rows.width) / total
            apart = np.square(cells - mean[rows.places])
            apart = apart if numbers is None else apart * numbers
            held = np.bincount(rows.places, numbers, minlength=rows.width).astype(np.float64)
            squares = np.bincount(rows.places, apart, minlength=rows.width).astype(np.float64)
            stored = np.bincount(rows.places, minlength=rows.width)
            # Nothing is added where every cell is stored: neither rounding, nor an overflow.
            empty = np.where(stored < len(rows), np.maximum(total - held, 0.0), 0.0)
            squares[empty > 0.0] += empty[empty > 0.0] * np.square(mean[empty > 0.0])
        wide = ~np.isfinite(squares)
        if wide.any():
            raise NotFinite.of_range(ColumnAt(int(j)) for j in np.flatnonzero(wide))
        return cls._from(mean, squares / total, rows)

    @classmethod
    def _from(cls, mean: FloatArray, variances: FloatArray, rows: FloatArray | SparseRows) -> Self:
        deviations = np.sqrt(np.maximum(variances, 0.0))
        refuse_narrow(rows, np.flatnonzero(variances < LEAST_VARIANCE))
        varies = deviations > SMALLEST_DEVIATION * np.abs(mean)
        inverse = np.zeros_like(deviations)
        np.divide(1.0, deviations, out=inverse, where=varies)
        return cls(mean, inverse)

    def about_zero(self) -> Self:
        """Return the scale of columns that are not centred: their root mean square is one.

        >>> found = Standardisation(np.array([4.0, 5.0]), np.array([1 / 3.0, 0.0])).about_zero()
        >>> found.origin, found.inverse
        (array([0., 0.]), array([0.2, 0.2]))
        """
        deviations = np.divide(
            1.0, self.inverse, out=np.zeros_like(self.inverse), where=self.varies
        )
        roots = np.hypot(deviations, self.origin)
        inverse = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0.0)
        return type(self)(np.zeros_like(self.origin), inverse)

    @property
    def varies(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which columns are not constant."""
        return self.inverse > 0.0


def refuse_narrow(rows: FloatArray | SparseRows, places: IntArray) -> None:
    """Refuse columns that vary, but whose variance is too small for a double to hold.

    `places` are those without a variance to speak of; a constant column is none to refuse.

    >>> refuse_narrow(np.array([[7.0], [7.0]]), np.array([0]))
    """
    if isinstance(rows, SparseRows):
        cells, at = rows.cells, rows.places
        found = np.isin(at, places) & (cells != 0.0)
        cells, at = cells[found], at[found]
        first = np.zeros(rows.width)
        first[at] = cells
        whole = np.bincount(at, minlength=rows.width) == len(rows)
        narrow = [j for j in places if first[j] and not whole[j]]
        narrow += np.unique(at[cells != first[at]]).tolist()
    else:
        narrow = [j for j in places if (rows[:, j] != rows[0, j]).any()]
    if narrow:
        said = "the spread of {columns} is too small to be squared in double precision"
        raise NotFinite(
            Phrase(said, columns=tuple(ColumnAt(int(j)) for j in sorted(set(narrow)))),
            hint="multiply the column by a power of ten: models do not depend on units",
        )
