"""A covariance, taken apart so that units cannot matter and missing directions stay missing.

C = D U diag(s²) Uᵀ D: D holds the columns' standard deviations, U and s² the eigenvectors and
positive eigenvalues of the correlation matrix. Whether a direction is missing is decided there,
where it cannot depend on units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.engines.threads import for_blocks
from suffice.errors import BadMatrix, listed
from suffice.linear_algebra import EPSILON, correlation_scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray

INDEFINITE = 1e-10
"""Correlation eigenvalues below minus this, times d, are no rounding."""
NEGLIGIBLE = 1e-13
"""Correlation eigenvalues below this, times d, have fewer than three digits left: they are zero."""
BLOCK = 4096
"""How many rows are looked at together: few enough to stay in the processor's cache."""
STRAY = 8.0
"""How many times its rounding a row may be off the support and still count as on it."""
TIED = 1e-4
"""Above this share of its unit of correlation in missing directions, a column is part of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """C = D U diag(s²) Uᵀ D, with one column of U for every direction in which rows vary."""

    scale: FloatArray
    """D: standard deviations (d,), 0 for a constant column."""
    directions: FloatArray
    """U (d, r): orthonormal columns; the rows of constant columns are 0."""
    lengths: FloatArray
    """s (r,): square roots of the eigenvalues of the correlation matrix, all positive."""
    slack: FloatArray
    """How far off the support a row may be in each column (d,), in the column's own units.

    A covariance known to a relative ε cannot tell standard deviations below √ε from zero.
    """

    @classmethod
    def of_covariance(cls, covariance: FloatArray) -> Self:
        """Take a symmetric matrix apart; refuse one that has a negative direction."""
        width = len(covariance)
        scale = np.sqrt(np.diagonal(covariance))
        moving = scale > 0.0
        correlation = correlation_scaled(covariance[np.ix_(moving, moving)], scale[moving])
        values, vectors = np.linalg.eigh(correlation)
        smallest = float(values.min(initial=0.0))
        if smallest < -INDEFINITE * width:
            heaviest = np.argsort(-np.abs(vectors[:, 0]), kind="stable")[:3]
            places = np.sort(np.flatnonzero(moving)[heaviest])
            raise BadMatrix(
                f"the covariance is indefinite: its correlations have the eigenvalue {smallest:g}, "
                f"mostly in columns {listed(places)}",
                hint="correlations estimated pair by pair need not fit together: "
                "estimate them from the same rows",
            )
        # A negative eigenvalue shows how far rounding reaches: a positive one of that size
        # is no more to be believed.
        kept = values > max(NEGLIGIBLE * width, -2.0 * smallest)
        dropped = float(np.abs(values[~kept]).max(initial=EPSILON * width))
        return cls.of_eigenvectors(scale, values[kept], vectors[:, kept], dropped)

    @classmethod
    def of_eigenvectors(
        cls, scale: FloatArray, values: FloatArray, vectors: FloatArray, dropped: float
    ) -> Self:
        """Return the spread of correlations' eigenvectors (in the columns that vary) worth keeping.

        `dropped` bounds the eigenvalues left out: so far from the support rows may still be seen.
        """
        directions = np.zeros((len(scale), len(values)))
        directions[scale > 0.0] = vectors
        return cls(scale, directions, np.sqrt(values), STRAY * math.sqrt(dropped) * scale)

    @classmethod
    def of_factor(
        cls,
        factor: FloatArray,
        scale: FloatArray,
        slack: FloatArray,
        *,
        width: int,
        rank: int | None = None,
    ) -> Self:
        """Return the spread with D⁻¹CD⁻¹ = FFᵀ, for rows of a factor of `width` columns' spread.

        `rank` is given where it follows from theory: it is then not decided anew.
        """
        norms = np.sqrt(np.square(factor).sum(axis=1))
        moving = np.square(norms) > NEGLIGIBLE * width
        unit = factor[moving] / norms[moving, np.newaxis]
        vectors, lengths, _ = np.linalg.svd(unit, full_matrices=False)
        if rank is None:
            rank = int((np.square(lengths) > NEGLIGIBLE * len(factor)).sum())
        rank = min(rank, int((lengths > STRAY**2 * EPSILON * width).sum()))
        directions = np.zeros((len(factor), rank))
        directions[moving] = vectors[:, :rank]
        return cls(scale * np.where(moving, norms, 0.0), directions, lengths[:rank], slack)

    @property
    def rank(self) -> int:
        """In how many directions rows vary."""
        return len(self.lengths)

    @property
    def factor(self) -> FloatArray:
        """A = DU diag(s), (d, r), with C = AAᵀ."""
        factor: FloatArray = self.scale[:, np.newaxis] * self.directions * self.lengths
        return factor

    @property
    def triangle(self) -> FloatArray:
        """L (d, r), lower triangular, with C = LLᵀ: Cholesky's factor, where C has one.

        Eigenvectors have the sign, and repeated ones the basis, that the machine's LAPACK likes;
        what is drawn with a seed should not depend on that.
        """
        upper = np.asarray(np.linalg.qr(self.factor.T, mode="r"))
        leading = np.argmax(np.abs(upper) > 1e-6 * self.scale, axis=1)
        signs = np.where(upper[np.arange(self.rank), leading] < 0.0, -1.0, 1.0)
        triangle: FloatArray = (upper * signs[:, np.newaxis]).T
        return triangle

    @property
    def units(self) -> FloatArray:
        """D with 1 for constant columns: what offsets are divided by."""
        units: FloatArray = np.where(self.scale > 0.0, self.scale, 1.0)
        return units

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Which varying columns take part in a direction that is missing (d,)."""
        free = np.square(self.directions).sum(axis=1)
        tied: NDArray[np.bool_] = (self.scale > 0.0) & (free < 1.0 - TIED)
        return tied

    def log_volume(self) -> float:
        """Return ½ log of the product of the positive eigenvalues of C.

        Without missing directions this is Σ log D + Σ log s. Otherwise it is ½ log|AᵀA|, by
        elimination with complete pivoting: the rows of A may differ by a factor of 1e300, which an
        eigenvalue routine would not survive.
        """
        if self.rank == len(self.scale):
            return float(np.log(self.scale).sum() + np.log(self.lengths).sum())
        a, rank, total = self.factor, self.rank, 0.0
        for k in range(rank):
            i, j = divmod(int(np.argmax(np.abs(a[k:, k:]))), rank - k)
            a[[k, k + i]] = a[[k + i, k]]
            a[:, [k, k + j]] = a[:, [k + j, k]]
            total += math.log(abs(a[k, k]))
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= np.multiply.outer(a[k + 1 :, k], a[k, k + 1 :])
        lower = np.tril(a, -1) + np.eye(*a.shape)
        return total + float(np.log(np.abs(np.diag(np.linalg.qr(lower, mode="r")))).sum())

    def distance(self, rows: FloatArray, mean: FloatArray) -> FloatArray:
        """Return ‖diag(1/s) Uᵀ D⁻¹ (x - μ)‖ for complete rows; inf off the support."""
        whitening = self.directions / self.lengths
        distance = np.empty(len(rows))

        def work(part: slice) -> None:
            for start in range(part.start, part.stop, BLOCK):
                block = slice(start, min(start + BLOCK, part.stop))
                distance[block] = self._block_distance(rows[block], mean, whitening)

        with np.errstate(over="ignore", invalid="ignore"):
            for_blocks(work, len(rows), len(mean))
        return distance

    def _block_distance(
        self, rows: FloatArray, mean: FloatArray, whitening: FloatArray
    ) -> FloatArray:
        y = (rows - mean) / self.units
        z = y @ whitening
        distance: FloatArray = np.sqrt(np.einsum("ij,ij->i", z, z))
        lost = ~np.isfinite(distance)
        if lost.any():
            distance[lost] = _far(y[lost], whitening)
        if self.rank < len(mean):
            distance[~self._supported(rows, mean, y)] = np.inf
        return distance

    def _supported(self, rows: FloatArray, mean: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
        """Say which rows lie on the support, as far as rounding lets one see."""
        stray = np.abs(y - (y @ self.directions) @ self.directions.T) * self.units
        size = np.abs(rows) + np.abs(mean)
        # One column's rounding reaches the others through the projection.
        shared = np.where(self.scale > 0.0, size / self.units, 0.0).max(axis=1, keepdims=True)
        rounding = STRAY * EPSILON * (size + len(mean) * shared * self.scale)
        near = np.isfinite(stray) & (stray <= self.slack + rounding)
        on: NDArray[np.bool_] = near.all(axis=1)
        return on

    def spans(self, other: Spread) -> bool:
        """Say whether the directions of `other` all lie in the support of this spread."""
        if not np.array_equal(self.scale > 0.0, other.scale > 0.0):
            return False
        t = (other.scale / self.units)[:, np.newaxis] * other.directions
        stray = t - self.directions @ (self.directions.T @ t)
        allowed = STRAY * math.sqrt(EPSILON * len(self.scale)) * np.linalg.norm(t, axis=0)
        return bool((np.linalg.norm(stray, axis=0) <= allowed).all())


def _far(y: FloatArray, whitening: FloatArray) -> FloatArray:
    """Return distances whose squares leave the range of a double; inf for an infinite cell."""
    top = np.abs(y).max(axis=1)
    finite = np.isfinite(top)
    z = (y[finite] / top[finite, np.newaxis]) @ whitening
    distance = np.full(len(y), np.inf)
    distance[finite] = top[finite] * np.linalg.norm(z, axis=1)
    return distance
