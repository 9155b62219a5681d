"""How far rows are from a class in each of its columns, in units that have a known law.

A row that took part in the fit is taken out of the moments first, so that it is judged like any
new one.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.errors import NoPValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.families.summary import ClassSummary
    from suffice.rows import FloatArray, IntArray

CONSTANT = 1e-20
"""Variances below this share of the column's own are those of a constant, as for every floor."""
CANCELLED = 1e-13
"""What is left of a scatter, if it is no more than this share of it, is rounding."""


class Pivots(NamedTuple):
    """What the columns of a class say of rows, after each row has been taken out of them.

    `distances` are t²/ν (n, d), 0 where a column says nothing; `freedom` ν (n, d) or, the same for
    all rows, (1, d), 0 where a column says nothing: where the cell is missing, where fewer than
    two rows were seen, and where they were all the same. Of these last, `constant` marks those
    seen in the row, and `other` where the row differs from the constant. `weights` W are those of
    the class, by column. `known` (n,) or (1,) is whether any column of the class says something.
    """

    distances: FloatArray
    freedom: FloatArray
    weights: FloatArray
    constant: NDArray[np.bool_]
    other: NDArray[np.bool_]
    known: NDArray[np.bool_]

    @property
    def parts(self) -> FloatArray:
        """The part g = ½(ν + 1) log(1 + t²/ν) of each column in the sum."""
        found: FloatArray = (self.freedom + 1.0) * 0.5 * np.log1p(self.distances)
        return found


class ColumnMoments(NamedTuple):
    """Weights, means, scatters and ν of a class by column, (n, d), or (1, d) if for all rows."""

    weights: FloatArray
    means: FloatArray
    scatters: FloatArray
    freedom: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class ClassColumns:
    """Mean, scatter and weight of the columns of k classes (k, d), in standardized columns.

    `shared` scatters are pooled over classes, and have the degrees of freedom of all of them.
    """

    summary: ClassSummary
    weights: FloatArray
    means: FloatArray
    scatters: FloatArray
    shared: bool

    @classmethod
    def of(cls, summary: ClassSummary, *, shared: bool) -> ClassColumns:
        """Take the columns one by one out of a summary, full or diagonal."""
        found = summary.scatter if shared or summary.scatters is None else summary.scatters
        if not summary.is_diagonal:
            found = np.diagonal(found, axis1=-2, axis2=-1)
        scatters = np.broadcast_to(found, summary.means.shape)
        return cls(summary, summary.counts, summary.means, scatters, shared)

    def standardized(self, rows: FloatArray) -> FloatArray:
        """Return rows in standardized columns; a cell beyond the range of a double is infinite."""
        with np.errstate(over="ignore"):
            return self.summary.standardized(rows.astype(np.float64))

    def moments(
        self, z: FloatArray, code: int, codes: IntArray | None, gone: FloatArray
    ) -> ColumnMoments:
        """Return the moments of a class; without each row of class `codes` and weight `gone`."""
        held, means, scatters = self.weights[code], self.means[code], self.scatters[code]
        freedom = np.maximum(held - 1.0, 0.0)
        if self.shared:
            freedom = np.maximum(self.weights - 1.0, 0.0).sum(axis=0)
        line = np.newaxis
        if codes is None:
            return ColumnMoments(held[line], means[line], scatters[line], freedom[line])
        whole = ColumnMoments(
            *(np.broadcast_to(part, z.shape).copy() for part in (held, means, scatters, freedom))
        )
        rows = np.arange(len(z)) if self.shared else np.flatnonzero(codes == code)
        if not len(rows):
            return whole
        cells, y = z[rows], codes[rows]
        seen = ~np.isnan(cells)
        w = np.where(seen, gone[rows, line], 0.0)
        before = self.weights[y]
        rest = np.where(before - w > 1e-12 * before, before - w, 0.0)
        safe = np.where(rest > 0.0, rest, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            delta = np.where(seen, cells - self.means[y], 0.0)
            lost = np.where(rest > 0.0, w * (before / safe) * np.square(delta), 0.0)
            left = scatters - lost
        whole.scatters[rows] = np.where(left > CANCELLED * scatters, left, 0.0)
        whole.freedom[rows] += np.maximum(rest - 1.0, 0.0) - np.maximum(before - 1.0, 0.0)
        own = y == code
        whole.weights[rows[own]] = rest[own]
        whole.means[rows[own]] -= np.where(rest > 0.0, delta * w / safe, 0.0)[own]
        return whole

    def pivots(self, z: FloatArray, code: int, codes: IntArray | None, gone: FloatArray) -> Pivots:
        """Return the pivots of rows under a class; `codes` are those of rows to be taken out."""
        weights, means, scatters, freedom = self.moments(z, code, codes, gone)
        seen = ~np.isnan(z)
        known = (weights > 0.0) & (freedom > 0.0)
        constant = known & (scatters <= CONSTANT * np.maximum(weights, 1.0))
        varies = known & ~constant
        with np.errstate(over="ignore", invalid="ignore"):
            gap = np.abs(z - means)
            spread = np.where(varies, scatters * (1.0 + 1.0 / np.where(known, weights, 1.0)), 1.0)
            found = np.square(gap / np.sqrt(spread))
        there = seen & varies
        distances = np.where(there, np.where(np.isnan(found), np.inf, found), 0.0)
        other = np.zeros(z.shape, dtype=bool)
        if constant.any():
            other = seen & constant & ~(gap <= self._near)
        constant = seen & constant
        shown = varies if seen.all() else there
        told: NDArray[np.bool_] = np.asarray(known.any(axis=1))
        return Pivots(distances, np.where(shown, freedom, 0.0), weights, constant, other, told)

    @property
    def _near(self) -> FloatArray:
        """How near a mean of equal numbers is to each of them, also in columns far from zero."""
        summary = self.summary
        least = np.where(summary.active, 1e-9, 0.0)
        found: FloatArray = least + 1e-14 * np.abs(summary.origin) / summary.scale
        return found


def say_unknown(few: NDArray[np.bool_], alone: int, paired: int) -> None:
    """Warn of classes of which nothing is known, and of rows that are all that is known of theirs.

    `few` (k,) are such classes; `alone` rows are the only ones of their class, and without `paired`
    others there is no variance in theirs.
    """
    said = []
    if few.any():
        said.append(
            f"{int(few.sum())} of {len(few)} classes have one row: nothing is known of how far "
            "their rows lie apart"
        )
    if alone:
        said.append(f"{alone} row(s) are alone in their class")
    if paired:
        said.append(f"without {paired} row(s) nothing is known of how far others of theirs vary")
    if said:
        text = "; ".join(said) + ". Nothing can be said against any row there (p = 1)"
        warnings.warn(text, NoPValue, stacklevel=6)
