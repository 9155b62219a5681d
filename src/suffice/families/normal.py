"""The multivariate normal law, degenerate ones included.

A covariance is used as C = D U diag(s²) Uᵀ D: D holds the columns' standard deviations, U and s²
the eigenvectors and positive eigenvalues of the correlation matrix. Whether a direction is missing
is decided there, where it cannot depend on units. Marginals and conditionals are computed from
this factor and never from a difference of covariances, so that nothing cancels and a direction
that is missing stays missing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from suffice.engines.threads import for_blocks
from suffice.errors import (
    BadMatrix,
    BadRows,
    BadSetting,
    ColumnMismatch,
    DifferentKinds,
    NotANumber,
    NotFinite,
    NotLinear,
    listed,
)
from suffice.linear_algebra import EPSILON, LOG_TAU, correlation_scaled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from suffice.rows import FloatArray, IntArray

ASYMMETRY = 1e-8
"""By how much C_ij and C_ji may differ, relative to √(C_ii C_jj)."""
INDEFINITE = 1e-10
"""Correlation eigenvalues below minus this, times d, are no rounding."""
NEGLIGIBLE = 1e-13
"""Correlation eigenvalues below this, times d, have fewer than three digits left: they are zero."""
BLOCK = 4096
"""How many rows are looked at together: few enough to stay in the processor's cache."""
STRAY = 8.0
"""How many times its rounding a row may be off the support and still count as on it."""


# --- A covariance, taken apart ---------------------------------------------------------------


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
        directions = np.zeros((width, int(kept.sum())))
        directions[moving] = vectors[:, kept]
        return cls(scale, directions, np.sqrt(values[kept]), STRAY * math.sqrt(dropped) * scale)

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


# --- The law ----------------------------------------------------------------------------------


class Distances(NamedTuple):
    """How far rows are from the mean, each in the law of the cells that it has."""

    distance: FloatArray
    """Mahalanobis distances (n,); inf off the support."""
    observed: IntArray
    """How many cells each row has."""
    rank: IntArray
    """In how many directions those cells vary."""
    log_volume: FloatArray
    """½ log of the pseudo-determinant of those cells' covariance."""


@dataclass(frozen=True, eq=False)
class Normal:
    """A normal law with a positive semi-definite covariance, on plain float64 arrays.

    Where directions are missing the law lives on a subspace: its density is the one with respect
    to the volume of that subspace, and is 0 off it. A NaN in a row is a cell not seen; it is
    integrated out exactly.

    >>> law = Normal([0.0, 0.0], [[1.0, 0.6], [0.6, 1.0]])
    >>> law.conditional({0: 1.0})
    Normal(mean=array([0.6]), covariance=array([[0.64]]))
    >>> law.mahalanobis(np.array([[3.0, np.nan], [0.0, 0.0]]))
    array([3., 0.])
    """

    mean: FloatArray
    covariance: FloatArray
    spread: Spread = field(init=False, repr=False)

    def __post_init__(self) -> None:
        mean = _checked_mean(self.mean)
        covariance = _checked_covariance(self.covariance, len(mean))
        self._hold(mean, covariance, Spread.of_covariance(covariance))

    def _hold(self, mean: FloatArray, covariance: FloatArray, spread: Spread) -> None:
        for name, value in (("mean", mean), ("covariance", covariance)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "spread", spread)

    @classmethod
    def _known(cls, mean: FloatArray, covariance: FloatArray, spread: Spread) -> Self:
        """Return a law whose spread is known already, and better than its covariance tells."""
        law = object.__new__(cls)
        law._hold(mean, covariance, spread)
        return law

    def __eq__(self, other: object) -> bool:
        """Whether two laws have the same numbers."""
        if not isinstance(other, Normal):
            return NotImplemented
        return np.array_equal(self.mean, other.mean) and np.array_equal(
            self.covariance, other.covariance
        )

    def __hash__(self) -> int:
        # Adding 0.0 turns -0.0 into 0.0: equal numbers must have equal hashes.
        return hash(((self.mean + 0.0).tobytes(), (self.covariance + 0.0).tobytes()))

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.mean)

    @property
    def rank(self) -> int:
        """In how many directions rows vary; less than the width if the law is degenerate."""
        return self.spread.rank

    # Evaluation

    def distances(self, rows: ArrayLike) -> Distances:
        """Return distance, number of cells, rank and volume of every row, pattern by pattern."""
        x = _checked_rows(rows, self.width)
        n = len(x)
        found = Distances(
            np.zeros(n), np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp), np.zeros(n)
        )
        for places, seen in _patterns(x):
            if len(seen) == 0:
                continue
            whole = len(seen) == self.width
            law = self if whole else self.marginal(seen)
            part = x[places] if whole else x[places][:, seen]
            found.distance[places] = law.spread.distance(part, law.mean)
            found.observed[places] = len(seen)
            found.rank[places] = law.rank
            found.log_volume[places] = law.spread.log_volume()
        return found

    def log_density(self, rows: ArrayLike) -> FloatArray:
        """Return log p(x) = -½δ² - ½ log pdet C - ½ r log 2π, δ the Mahalanobis distance.

        A row off the support, or with an infinite cell, has -inf; one without any cell has 0.
        """
        found = self.distances(rows)
        with np.errstate(over="ignore"):
            squares = np.square(found.distance)
        log_density: FloatArray = 0.0 - 0.5 * (squares + LOG_TAU * found.rank) - found.log_volume
        return log_density

    def density(self, rows: ArrayLike) -> FloatArray:
        """Return p(x)."""
        with np.errstate(over="ignore"):
            density: FloatArray = np.exp(self.log_density(rows))
        return density

    def mahalanobis(self, rows: ArrayLike) -> FloatArray:
        """Return δ = √((x - μ)ᵀ C⁺ (x - μ)), a distance and not its square; inf off the support."""
        return self.distances(rows).distance

    def typicality(self, rows: ArrayLike) -> FloatArray:
        """Return the probability that a draw is at least as far out: P(χ²(r) ≥ δ²).

        Uniform on [0, 1] for rows of this very law; 1 at the mean, 0 off the support.
        """
        from scipy.special import gammaincc

        found = self.distances(rows)
        fixed = found.rank == 0
        with np.errstate(over="ignore"):
            tail: FloatArray = gammaincc(np.where(fixed, 1, found.rank) / 2, found.distance**2 / 2)
        return np.where(fixed, np.where(found.distance == 0.0, 1.0, 0.0), tail)

    def sample(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Return `size` rows μ + Lz, z standard normal of length r."""
        if size < 0:
            raise BadSetting(f"size={size} rows cannot be drawn", hint="0 or more can")
        z = rng.standard_normal((size, self.rank))
        return self.mean + z @ self.spread.triangle.T

    # Parts

    def marginal(self, columns: Sequence[int] | IntArray) -> Normal:
        """Return the law of some columns, in the order asked for."""
        places = _checked_columns(columns, self.width)
        if len(places) == 0:
            raise BadSetting("a law of no columns was asked for", hint="name at least one column")
        spread = self.spread
        factor = (spread.directions * spread.lengths)[places]
        return Normal._known(
            self.mean[places],
            self.covariance[np.ix_(places, places)],
            Spread.of_factor(factor, spread.scale[places], spread.slack[places], width=self.width),
        )

    def conditional(self, given: Mapping[int, float]) -> Normal:
        """Return the law of the other columns when some are known.

        With A the factor of C and N a basis of the null space of its given rows A_g, a row that
        agrees with what is given is x = μ + A(A_g⁺(x_g - μ_g) + Nz): mean and factor A_o N of
        the others follow, without a difference of covariances.
        """
        places = _checked_columns(list(given), self.width)
        others = np.setdiff1d(np.arange(self.width), places)
        if len(places) == 0:
            return self
        if len(others) == 0:
            raise BadSetting(
                "every column is given: no law is left", hint="log_density gives the row's density"
            )
        spread = self.spread
        offsets = self._possible(places, np.array([float(given[int(j)]) for j in places]))
        factor = spread.directions * spread.lengths
        left, s, right = np.linalg.svd(factor[places], full_matrices=True)
        known = int((np.square(s) > NEGLIGIBLE * len(places)).sum())
        z = right[:known].T @ (left[:, :known].T @ offsets / s[:known])
        rest = Spread.of_factor(
            factor[others] @ right[known:].T,
            spread.scale[others],
            spread.slack[others],
            width=self.width,
            rank=self.rank - known,
        )
        mean = self.mean[others] + spread.scale[others] * (factor[others] @ z)
        a = rest.factor
        return Normal._known(mean, _symmetric(a @ a.T), rest)

    def _possible(self, places: IntArray, values: FloatArray) -> FloatArray:
        """Return D⁻¹(x - μ) of given values, or refuse values that this law never takes."""
        for j, value in zip(places, values, strict=True):
            if not math.isfinite(value):
                raise NotFinite(
                    f"column {j} is given as {value:g}, which is not a finite number",
                    hint="leave out what is not known: it is then part of the answer",
                )
        law = self.marginal(places)
        offsets: FloatArray = (values - law.mean) / law.spread.units
        if np.isinf(law.spread.distance(values[np.newaxis], law.mean)[0]):
            u = law.spread.directions
            nearest = law.mean + law.spread.units * (u @ (u.T @ offsets))
            worst = int(np.argmax(np.abs(values - nearest) / law.spread.units))
            raise BadSetting(
                f"column {places[worst]} is given as {values[worst]:g}, which cannot happen: "
                f"the covariance is degenerate, and {nearest[worst]:g} is the nearest it allows",
                hint="give fewer columns: those left out follow from the others",
            )
        return offsets

    # Shape

    def principal_axes(self) -> tuple[FloatArray, FloatArray]:
        """Return standard deviations along the principal axes, largest first, and the axes as rows.

        The sign of an axis is such that its largest component is positive.
        """
        order = np.argsort(-self.spread.scale, kind="stable")
        lengths, axes = np.zeros(self.width), np.zeros((self.width, self.width))
        left, s, _ = np.linalg.svd(self.spread.factor[order], full_matrices=True)
        lengths[: len(s)] = s
        axes[:, order] = left.T
        size = np.abs(axes)
        # Of components equal up to rounding the first decides, or ½√2(1, -1) could come out as
        # ½√2(-1, 1) on another machine.
        leading = np.argmax(size >= (1.0 - 1e-6) * size.max(axis=1, keepdims=True), axis=1)
        signs = np.where(axes[np.arange(self.width), leading] < 0.0, -1.0, 1.0)
        return lengths, axes * signs[:, np.newaxis]

    def contour(
        self, *, mass: float | None = None, sigmas: float | None = None, points: int = 181
    ) -> FloatArray:
        """Return a closed curve of equal density in the plane, (points, 2).

        `sigmas` is its Mahalanobis radius; `mass` instead asks for the radius that encloses
        that probability, √(-2 log(1 - mass)) where both directions vary.
        """
        if self.width != 2:
            raise BadSetting(
                f"a contour is drawn in 2 columns, this law has {self.width}",
                hint="take marginal([i, j]) first",
            )
        if points < 2:
            raise BadSetting(f"points={points} is too few for a curve", hint="181 is smooth")
        radius = _radius(mass, sigmas, self.rank)
        angle = np.linspace(0.0, 2.0 * np.pi, points)
        circle = np.column_stack([np.cos(angle), np.sin(angle)])[:, : self.rank]
        # Not by the principal axes: those of very different columns have no digits left in
        # the small one.
        return self.mean + radius * circle @ self.spread.triangle.T

    def entropy(self) -> float:
        """Return the differential entropy ½(d log 2πe + log|C|); -inf if directions are missing."""
        if self.rank < self.width:
            return -math.inf
        return 0.5 * self.width * (LOG_TAU + 1.0) + self.spread.log_volume()

    def kl_divergence(self, other: Normal) -> float:
        """Return KL(self ‖ other) = ½[Σ(σ² - 1 - log σ²) + δ²]; inf where the supports differ.

        σ are the standard deviations of this law and δ the distance of its mean, as `other` sees
        them.
        """
        if self.width != other.width:
            raise DifferentKinds(
                f"laws of {self.width} and of {other.width} columns have no divergence",
                hint="take the marginal of the columns they share",
            )
        if self == other:
            return 0.0
        if self.rank != other.rank or not other.spread.spans(self.spread):
            return math.inf
        away = float(other.spread.distance(self.mean[np.newaxis], other.mean)[0])
        seen = other.spread.directions / other.spread.lengths
        with np.errstate(over="ignore"):
            ratio = (self.spread.scale / other.spread.units)[:, np.newaxis]
            square = seen.T @ (ratio * self.spread.directions * self.spread.lengths)
        if not np.isfinite(square).all():
            return math.inf
        stretch = np.linalg.svd(square, compute_uv=False)
        with np.errstate(over="ignore"):
            if stretch.min(initial=1.0) > math.sqrt(EPSILON) * stretch.max(initial=1.0):
                excess = (stretch - 1.0) * (stretch + 1.0)
                shape = float((excess - np.log1p(excess)).sum())
            else:  # the least σ has no digits left; the volumes still do
                volumes = self.spread.log_volume() - other.spread.log_volume()
                shape = float(np.square(stretch).sum()) - self.rank - 2.0 * volumes
            return 0.5 * (shape + float(np.square(away)))

    # Exponential family

    def linear_form(self) -> tuple[FloatArray, float]:
        """Return (w, b) with log p(x) = w·x + b + h(x), w = C⁻¹μ, b = -½μᵀw; h knows only C."""
        if self.rank < self.width:
            raise NotLinear(
                f"a degenerate law has no linear form: rank {self.rank} of {self.width} columns",
                hint="leave out columns that are constant or follow from the others",
            )
        whitening = self.spread.directions / self.spread.lengths
        w: FloatArray = whitening @ (whitening.T @ (self.mean / self.spread.scale))
        w = w / self.spread.scale
        return w, float(-0.5 * (w @ self.mean))

    def same_carrier(self, other: Normal) -> bool:
        """Whether h is the same for both laws, so that it cancels in their ratio."""
        full = self.rank == self.width
        return full and np.array_equal(self.covariance, other.covariance)


# --- What is accepted -------------------------------------------------------------------------


def _numbers(values: ArrayLike, name: str) -> FloatArray:
    """Return a fresh float64 array, or refuse what holds anything but real numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError(array.dtype)
        return np.array(array, dtype=np.float64)
    except (TypeError, ValueError) as reason:
        raise NotANumber(
            f"the {name} is no array of real numbers ({reason})",
            hint="give nested lists or an array of numbers",
        ) from None


def _checked_mean(values: ArrayLike) -> FloatArray:
    mean = _numbers(values, "mean")
    if mean.ndim != 1 or len(mean) == 0:
        raise BadSetting(
            f"the mean has shape {mean.shape}; it must be one number a column",
            hint="in one dimension: mean [0.0], covariance [[1.0]]",
        )
    if not np.isfinite(mean).all():
        j = int(np.flatnonzero(~np.isfinite(mean))[0])
        raise NotFinite(
            f"the mean of column {j} is {mean[j]:g}, not a finite number",
            hint="estimate it from finite rows",
        )
    return mean


def _checked_covariance(values: ArrayLike, width: int) -> FloatArray:
    """Return a symmetric matrix, or refuse one that is no covariance, entry by entry."""
    matrix = _numbers(values, "covariance")
    if matrix.shape != (width, width):
        raise BadMatrix(
            f"the covariance has shape {matrix.shape}; the mean asks for ({width}, {width})",
            hint="one row and one column for each entry of the mean",
        )
    if not np.isfinite(matrix).all():
        i, j = (int(v[0]) for v in np.nonzero(~np.isfinite(matrix)))
        raise BadMatrix(
            f"covariance[{i}, {j}] is {matrix[i, j]:g}, not a finite number",
            hint="estimate it from finite rows",
        )
    variances = np.diagonal(matrix)
    if variances.min() < 0.0:
        j = int(np.argmin(variances))
        raise BadMatrix(
            f"covariance[{j}, {j}] is {variances[j]:g}: a variance is never negative",
            hint="did the matrix lose digits in a subtraction, or is it no covariance?",
        )
    deviations = np.sqrt(variances)
    _refuse_asymmetric(matrix, deviations)
    _refuse_beyond_one(matrix, deviations)
    return _symmetric(matrix)


def _symmetric(matrix: FloatArray) -> FloatArray:
    """Return the mean of a matrix and its transpose: SciPy would read one triangle of the two."""
    half: FloatArray = 0.5 * matrix
    return np.where(matrix == matrix.T, matrix, half + half.T)


def _on_correlation_scale(matrix: FloatArray, deviations: FloatArray) -> FloatArray:
    """Return |a_ij|/(σ_i σ_j), with 0/0 = 0: beside a constant column only 0 is possible."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scaled = correlation_scaled(np.abs(matrix), deviations)
    scaled[matrix == 0.0] = 0.0
    return scaled


def _refuse_asymmetric(matrix: FloatArray, deviations: FloatArray) -> None:
    with np.errstate(over="ignore"):
        gaps = _on_correlation_scale(matrix - matrix.T, deviations)
    i, j = np.unravel_index(np.argmax(gaps), gaps.shape)
    if gaps[i, j] > ASYMMETRY:
        raise BadMatrix(
            f"the covariance is not symmetric: [{i}, {j}] is {float(matrix[i, j])!r} but "
            f"[{j}, {i}] is {float(matrix[j, i])!r}",
            hint="which of the two is meant? (C + C.T) / 2 takes their mean",
        )


def _refuse_beyond_one(matrix: FloatArray, deviations: FloatArray) -> None:
    correlations = _on_correlation_scale(matrix, deviations)
    np.fill_diagonal(correlations, 0.0)
    i, j = np.unravel_index(np.argmax(correlations), correlations.shape)
    if correlations[i, j] > 1.0 + INDEFINITE * len(matrix):
        raise BadMatrix(
            f"covariance[{i}, {j}] is {float(matrix[i, j])!r}, larger than the variances "
            f"{float(matrix[i, i])!r} and {float(matrix[j, j])!r} allow",
            hint="|C_ij| is at most √(C_ii C_jj): are these standard deviations, not variances?",
        )


def _checked_rows(rows: ArrayLike, width: int) -> FloatArray:
    x = np.asarray(rows, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] != width:
        raise BadRows(
            f"rows of shape {x.shape}; this law has {width} columns",
            hint="give an array of shape (rows, columns)",
        )
    return x


def _checked_columns(columns: Sequence[int] | IntArray, width: int) -> IntArray:
    for column in columns:
        if isinstance(column, bool) or not isinstance(column, int | np.integer):
            raise ColumnMismatch(
                f"{column!r} is no position of a column", hint=f"positions are 0 … {width - 1}"
            )
        if not 0 <= column < width:
            raise ColumnMismatch(
                f"there is no column {column}", hint=f"positions are 0 … {width - 1}"
            )
    places = np.asarray(columns, dtype=np.intp)
    if len(set(places.tolist())) < len(places):
        raise ColumnMismatch(
            f"columns {listed(places)} name one twice", hint="name each column once"
        )
    return places


def _patterns(rows: FloatArray) -> Iterator[tuple[slice | IntArray, IntArray]]:
    """Yield which rows share a pattern of missing cells, and which cells those rows have."""
    missing = np.isnan(rows)
    if not missing.any():
        yield slice(None), np.arange(rows.shape[1])
        return
    packed = np.packbits(missing, axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}")[:, 0]
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes))
    for row, places in zip(first, np.split(order, ends[:-1]), strict=True):
        yield places, np.flatnonzero(~missing[row])


def _radius(mass: float | None, sigmas: float | None, rank: int) -> float:
    """Return the Mahalanobis radius asked for, by itself or by the probability inside it."""
    if (mass is None) == (sigmas is None):
        raise BadSetting(
            "a contour needs mass or sigmas, one of them", hint="sigmas=2, or mass=0.9"
        )
    if sigmas is not None:
        if not 0.0 <= sigmas < math.inf:
            raise BadSetting(f"sigmas={sigmas:g} is no radius", hint="2 is a common choice")
        return sigmas
    assert mass is not None
    if not 0.0 <= mass < 1.0:
        raise BadSetting(f"mass={mass:g} is not in [0, 1)", hint="0.9 encloses nine draws in ten")
    if rank == 2:
        return math.sqrt(-2.0 * math.log1p(-mass))
    return NormalDist().inv_cdf(0.5 + 0.5 * mass)
