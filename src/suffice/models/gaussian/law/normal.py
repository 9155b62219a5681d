"""The multivariate normal law, degenerate ones included.

A covariance is used as C = D U diag(s²) Uᵀ D (see `spread`). Marginals and conditionals are
computed from this factor and never from a difference of covariances, so that nothing cancels and
a direction that is missing stays missing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.errors import BadSetting, DifferentKinds, NotFinite, NotLinear
from suffice.linear_algebra import EPSILON, LOG_TAU
from suffice.models.gaussian.law.factored_covariance import NEGLIGIBLE, Spread
from suffice.models.gaussian.law.inputs import (
    checked_columns,
    checked_covariance,
    checked_mean,
    checked_rows,
    symmetric,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from suffice.models.gaussian.law.ellipses import Distances
    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Normal:
    """A normal distribution with a positive semi-definite covariance, on plain float64 arrays.

    Where directions are missing it lives on a subspace: its density is the one with respect to the
    volume of that subspace, and is 0 off it. A NaN in a row is a cell not seen; it is integrated
    out exactly.

    Parameters
    ----------
    mean : ndarray of float
        The mean (d,).
    covariance : ndarray of float
        The covariance (d, d), positive semi-definite.

    See Also
    --------
    suffice.MultivariateNormal : The same with names of columns, and fitted to rows.

    Examples
    --------
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
        mean = checked_mean(self.mean)
        covariance = checked_covariance(self.covariance, len(mean))
        self._hold(mean, covariance, Spread.of_covariance(covariance))

    def _hold(self, mean: FloatArray, covariance: FloatArray, spread: Spread) -> None:
        for name, value in (("mean", mean), ("covariance", covariance)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "spread", spread)

    @classmethod
    def of_parts(cls, mean: FloatArray, covariance: FloatArray, spread: Spread) -> Self:
        """Return a law whose spread is known already, and better than its covariance tells."""
        law = object.__new__(cls)
        law._hold(mean, covariance, spread)
        return law

    @classmethod
    def of_spread(cls, mean: FloatArray, spread: Spread) -> Self:
        """Return the law of a covariance that is known by its parts: C = AAᵀ."""
        a = spread.factor
        return cls.of_parts(mean, symmetric(a @ a.T), spread)

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
        from suffice.models.gaussian.law.ellipses import Distances, patterns

        x = checked_rows(rows, self.width)
        found = Distances.zero(len(x))
        for places, seen in patterns(x):
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

    def cdf(self, rows: ArrayLike) -> FloatArray:
        """Return P(X ≤ x), column by column at most x; a cell not seen may be anything.

        Of one column exact, of more by SciPy's quasi-Monte Carlo integration from a fixed seed:
        within about 1e-5, so that it is no measure of very small probabilities.
        """
        from scipy.special import ndtr

        from suffice.models.gaussian.law.ellipses import patterns

        x = checked_rows(rows, self.width)
        found = np.ones(len(x))
        for places, seen in patterns(x):
            if len(seen) == 0:
                continue
            law = self if len(seen) == self.width else self.marginal(seen)
            scale = np.sqrt(np.diagonal(law.covariance))
            fixed = scale == 0.0
            with np.errstate(over="ignore"):
                z = (x[places][:, seen] - law.mean) / np.where(fixed, 1.0, scale)
            reached = np.all(z[:, fixed] >= 0.0, axis=1).astype(np.float64)
            varying = np.flatnonzero(~fixed)
            if len(varying) == 1:
                reached *= ndtr(z[:, varying[0]])
            elif len(varying) > 1:
                within = law.covariance[np.ix_(varying, varying)] / np.outer(
                    scale[varying], scale[varying]
                )
                reached *= _standard_cdf(z[:, varying], symmetric(within))
            found[places] = reached
        return found

    def sample(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Return `size` rows μ + Lz, z standard normal of length r."""
        if size < 0:
            raise BadSetting(
                f"size={size} rows cannot be drawn", hint="use a whole number of at least 0"
            )
        z = rng.standard_normal((size, self.rank))
        return self.mean + z @ self.spread.triangle.T

    # Parts

    def marginal(self, columns: Sequence[int] | IntArray) -> Normal:
        """Return the law of some columns, in the order asked for."""
        places = checked_columns(columns, self.width)
        if len(places) == 0:
            raise BadSetting("no columns were named", hint="name at least one column")
        spread = self.spread
        factor = (spread.directions * spread.lengths)[places]
        return Normal.of_parts(
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
        places = checked_columns(list(given), self.width)
        others = np.setdiff1d(np.arange(self.width), places)
        if len(places) == 0:
            return self
        if len(others) == 0:
            raise BadSetting(
                "every column is given: none is left", hint="log_density gives the row's density"
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
        return Normal.of_spread(mean, rest)

    def _possible(self, places: IntArray, values: FloatArray) -> FloatArray:
        """Return D⁻¹(x - μ) of given values, or refuse values that this law never takes."""
        for j, value in zip(places, values, strict=True):
            if not math.isfinite(value):
                raise NotFinite(
                    f"column {j} is given as {value:g}, which is not a finite number",
                    hint="leave out unknown columns: the answer then includes them",
                )
        law = self.marginal(places)
        offsets: FloatArray = (values - law.mean) / law.spread.units
        if np.isinf(law.spread.distance(values[np.newaxis], law.mean)[0]):
            u = law.spread.directions
            nearest = law.mean + law.spread.units * (u @ (u.T @ offsets))
            worst = int(np.argmax(np.abs(values - nearest) / law.spread.units))
            raise BadSetting(
                f"column {places[worst]} is given as {values[worst]:g}, which is impossible: "
                f"the covariance is degenerate, and the nearest possible value is "
                f"{nearest[worst]:g}",
                hint="give fewer columns: those left out follow from the others",
            )
        return offsets

    # Shape

    def principal_axes(self) -> tuple[FloatArray, FloatArray]:
        """Return standard deviations along the principal axes, largest first, and the axes as rows.

        The sign of an axis is such that its largest component is positive.
        """
        from suffice.models.gaussian.law.ellipses import principal_axes

        return principal_axes(self.spread)

    def contour(
        self, *, mass: float | None = None, sigmas: float | None = None, points: int = 181
    ) -> FloatArray:
        """Return a closed curve of equal density in the plane, (points, 2).

        `sigmas` is its Mahalanobis radius; `mass` instead asks for the radius that encloses
        that probability, √(-2 log(1 - mass)) where both directions vary.
        """
        from suffice.models.gaussian.law.ellipses import ellipse, radius

        return self.mean + ellipse(self.spread, radius(mass, sigmas, self.rank), points)

    def entropy(self) -> float:
        """Return the differential entropy ½(d log 2πe + log|C|); -inf if directions are missing."""
        if self.rank < self.width:
            return -math.inf
        return 0.5 * self.width * (LOG_TAU + 1.0) + self.spread.log_volume()

    def kl_divergence(self, other: Normal) -> float:
        """Return KL(self ‖ other) = E[log p - log q] in nats; inf where the supports differ."""
        return kl_divergence(self, other)

    # Exponential family

    def linear_form(self) -> tuple[FloatArray, float]:
        """Return (w, b) with log p(x) = w·x + b + h(x), w = C⁻¹μ, b = -½μᵀw; h knows only C."""
        if self.rank < self.width:
            raise NotLinear(
                f"a degenerate distribution has no linear form: rank {self.rank} of {self.width} "
                f"columns",
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


def _standard_cdf(z: FloatArray, correlation: FloatArray) -> FloatArray:
    """Return P(Z ≤ z) of standard columns with these correlations, row by row."""
    from inspect import signature

    from scipy.stats import multivariate_normal

    # A fixed seed, where this release of SciPy takes one: the same question, the same answer.
    seeded = "rng" in signature(multivariate_normal.cdf).parameters
    seed = {"rng": np.random.default_rng(0)} if seeded else {}
    # Beyond 40 standard deviations a double can't tell the probability from 0 or 1.
    z = np.clip(z, -40.0, 40.0)
    found: FloatArray = np.atleast_1d(
        multivariate_normal.cdf(z, cov=correlation, allow_singular=True, **seed)
    )
    return np.clip(found, 0.0, 1.0)


def kl_divergence(law: Normal, other: Normal) -> float:
    """Return KL(law ‖ other) = ½[Σ(σ² - 1 - log σ²) + δ²]; inf where the supports differ.

    σ are the standard deviations of `law` and δ the distance of its mean, as `other` sees them.
    """
    if law.width != other.width:
        raise DifferentKinds(
            f"distributions of {law.width} and of {other.width} columns have no divergence",
            hint="take the marginal of the columns they share",
        )
    if law == other:
        return 0.0
    if law.rank != other.rank or not other.spread.spans(law.spread):
        return math.inf
    away = float(other.spread.distance(law.mean[np.newaxis], other.mean)[0])
    seen = other.spread.directions / other.spread.lengths
    with np.errstate(over="ignore"):
        ratio = (law.spread.scale / other.spread.units)[:, np.newaxis]
        square = seen.T @ (ratio * law.spread.directions * law.spread.lengths)
    if not np.isfinite(square).all():
        return math.inf
    stretch = np.linalg.svd(square, compute_uv=False)
    with np.errstate(over="ignore"):
        if stretch.min(initial=1.0) > math.sqrt(EPSILON) * stretch.max(initial=1.0):
            excess = (stretch - 1.0) * (stretch + 1.0)
            shape = float((excess - np.log1p(excess)).sum())
        else:  # the least σ has no digits left; the volumes still do
            volumes = law.spread.log_volume() - other.spread.log_volume()
            shape = float(np.square(stretch).sum()) - law.rank - 2.0 * volumes
        return 0.5 * (shape + float(np.square(away)))
