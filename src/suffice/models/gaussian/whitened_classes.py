"""Normal classes of one covariance, in coordinates in which that covariance is the identity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.linear_algebra import EPSILON, correlation_scaled
from suffice.models.gaussian.family import Gaussian
from suffice.models.gaussian.floors import EIGENVALUE_FLOOR
from suffice.models.gaussian.full_normals import FullNormals, written_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.floors import Pooled
    from suffice.models.gaussian.learner import Fit
    from suffice.models.gaussian.model import GenerativeModel
    from suffice.models.linear.form import LinearForm
    from suffice.rows import FloatArray, IntArray


LOADED = 1e-6
"""A column takes part in a direction, in standardized columns, if it weighs more than this."""


@dataclass(frozen=True, eq=False)
class WhiteClasses:
    """Classes N(μ_c, I) in r ≤ d coordinates u = (x - origin - origin_low)·whitening.

    Only directions that vary within classes are coordinates: the others have no variance to be
    measured in. They are spanned by `absent` (d, d - r), in standardized columns. In those,
    z = (x - origin - origin_low)/scale, classes have the means `standard_means` and the
    covariance FFᵀ, F = `factor` (d, r).

    `form` is the model as a classifier; where columns are collinear, the one of smallest weights
    that scores the rows as the model does, so that there is one answer.
    """

    form: LinearForm
    weights: FloatArray
    means: FloatArray
    whitening: FloatArray
    origin_low: FloatArray
    scale: FloatArray
    standard_means: FloatArray
    factor: FloatArray
    absent: FloatArray
    varies: NDArray[np.bool_]

    @classmethod
    def of(cls, fit: Fit) -> Self:
        """Read them off a fit of GDA: one covariance, divided by n, not shrunk."""
        law, summary = fit.normals, fit.summary
        assert isinstance(law, FullNormals)
        assert law.is_shared
        varies = summary.active
        whitening, factor, absent = _directions(summary, Gaussian().floored(summary))
        form = fit.model.linear_form()
        if law.silent:
            form = _smallest(form, summary)
        constant = np.eye(summary.width)[:, ~varies]
        absent = np.hstack([_spread(absent, varies), constant])
        scaled = whitening / summary.scale[varies][:, np.newaxis]
        return cls(
            form,
            summary.weights,
            summary.means[:, varies] @ whitening,
            _spread(scaled, varies),
            law.origin_low,
            summary.scale,
            np.where(varies, summary.means, 0.0),
            _spread(factor, varies),
            np.where(np.abs(absent) > LOADED, absent, 0.0),
            varies,
        )

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    @property
    def rank(self) -> int:
        """The number of coordinates."""
        return int(self.whitening.shape[1])

    @property
    def distances(self) -> FloatArray:
        """The Mahalanobis distances Δ between classes, (k, k)."""
        gaps = self.means[:, np.newaxis] - self.means
        found: FloatArray = np.sqrt(np.square(gaps).sum(axis=2))
        return found

    def middle(self, of: int, against: int) -> FloatArray:
        """The middle between two means, in standardized columns."""
        found: FloatArray = (self.standard_means[of] + self.standard_means[against]) / 2.0
        return found

    def drawn(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one row for each code, in standardized columns, from the law of its class."""
        white = rng.standard_normal((len(codes), self.rank))
        rows: FloatArray = self.standard_means[codes] + white @ self.factor.T
        return rows

    def is_estimable(self, of: int, against: int) -> NDArray[np.bool_]:
        """Tell, for θ₀ and each of θ of a pair, whether the rows determine it.

        They do unless it can be traded against a direction along which nothing varies within
        classes: either no row tells how much it counts, or every row says that it decides.
        """
        zero = -(self.form.origin + self.origin_low) / self.scale
        terms = self.absent * np.where(self.varies, self.middle(of, against) - zero, 0.0)[:, None]
        known = np.abs(terms.sum(axis=0)) <= LOADED * np.abs(terms).sum(axis=0)
        return np.concatenate([[known.all()], ~self.absent.any(axis=1)])

    def in_user_units(self, covariance: FloatArray, zero: FloatArray) -> FloatArray:
        """Return the covariance of (θ₀, θ) of columns and x = 0, from that of coordinates.

        `zero` is the point, in standardized columns, at which θ₀ was the log odds.
        """
        place = self.form.origin + (self.origin_low + zero * self.scale)
        turn = np.zeros((len(self.scale) + 1, self.rank + 1))
        turn[0, 0] = 1.0
        turn[0, 1:] = -place @ self.whitening
        turn[1:, 1:] = self.whitening
        found: FloatArray = turn @ covariance @ turn.T
        return (found + found.T) / 2.0


def _spread(matrix: FloatArray, varies: NDArray[np.bool_]) -> FloatArray:
    """Return a matrix of all columns from one of those that vary: zero for the others."""
    found = np.zeros((len(varies), matrix.shape[1]))
    found[varies] = matrix
    return found


def _directions(summary: ClassSummary, pooled: Pooled) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return whitening, factor and absent directions of the columns that vary."""
    width = len(pooled.deviations)
    if pooled.basis is None:
        return pooled.whitening.T, pooled.factor, np.zeros((width, 0))
    assert pooled.constant is not None
    # A column that varies between classes only is scaled by its floor there, and rounding in
    # its covariances would turn the others' directions: it is set apart.
    moving = ~pooled.constant
    deviations = pooled.deviations[moving]
    places = np.flatnonzero(summary.active)[moving]
    within = summary.scatter[np.ix_(places, places)] / summary.weight
    values, basis = np.linalg.eigh(correlation_scaled(within, deviations))
    present = values >= EIGENVALUE_FLOOR
    roots, columns = np.sqrt(values[present]), deviations[:, np.newaxis]
    fixed = np.linalg.qr(basis[:, ~present] / columns)[0]
    return (
        _spread(basis[:, present] / roots / columns, moving),
        _spread(basis[:, present] * roots * columns, moving),
        np.hstack([_spread(fixed, moving), np.eye(width)[:, ~moving]]),
    )


def _smallest(form: LinearForm, summary: ClassSummary) -> LinearForm:
    """Return the form without what it says along directions in which no row ever moves.

    The smallest Σ(s_jθ_j)², with s_j the standard deviation of all rows, does not depend on
    units. The rows' scores stay: each has the same place along these directions.
    """
    varies = summary.active
    total = (summary.scatter + summary.between)[np.ix_(varies, varies)] / summary.weight
    shares, turns = np.linalg.eigh(total)
    silent = turns[:, shares < EIGENVALUE_FLOOR]
    scale, weights = summary.scale[varies], form.weights.copy()
    standard = weights[:, varies] * scale
    weights[:, varies] = (standard - standard @ silent @ silent.T) / scale
    return replace(form, weights=weights)


@dataclass(frozen=True, slots=True, eq=False)
class Discriminants:
    """Coordinates (x - origin)·scalings - shift in which classes are round.

    Within classes the coordinates are uncorrelated with variance 1; `variances` are the
    variances of the class means along them, weighted by the priors, largest first.
    """

    origin: FloatArray
    scalings: FloatArray
    shift: FloatArray
    variances: FloatArray

    @property
    def explained(self) -> FloatArray:
        """The share of the differences between classes that each coordinate carries."""
        total = self.variances.sum()
        return self.variances / total if total > 0.0 else np.zeros_like(self.variances)

    def coordinates(self, rows: FloatArray) -> FloatArray:
        """Return rows in discriminant coordinates."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = (rows - self.origin) @ self.scalings - self.shift
            far = np.isnan(found).any(axis=1)
            if far.any():  # beyond the range of a double: 2⁻³⁰⁰ of the row, and back
                near = np.ldexp(rows[far], -300) - np.ldexp(self.origin, -300)
                found[far] = np.ldexp(near @ self.scalings, 300)
        return found


def discriminants(model: GenerativeModel) -> Discriminants:
    """Return at most k - 1 coordinates of a model with shared covariance."""
    law: object = model.densities
    law = law.laws[0] if hasattr(law, "laws") else law  # temperatures do not turn directions
    law = written_out(law)
    assert isinstance(law, FullNormals)
    assert law.is_shared
    whitening = law.whitenings[0]
    white = law.means[:, law.active] @ whitening.T
    priors = np.exp(model.log_priors)
    centre = priors @ white
    reach = (white - centre) * np.sqrt(priors)[:, np.newaxis]
    _, lengths, directions = np.linalg.svd(reach, full_matrices=False)
    count = min(len(priors) - 1, int((lengths > lengths.max(initial=0.0) * 16.0 * EPSILON).sum()))
    directions, lengths = directions[:count], lengths[:count]
    standard = directions @ whitening  # (count, active), per standardized column
    # Signs are arbitrary: the largest loading of every coordinate is positive.
    tops = np.take_along_axis(standard, np.abs(standard).argmax(axis=1)[:, np.newaxis], axis=1)
    signs = np.where(tops[:, 0] < 0.0, -1.0, 1.0) if count else np.ones(0)
    scalings = np.zeros((len(law.origin), count))
    scalings[law.active] = (standard * signs[:, np.newaxis] / law.scale[law.active]).T
    shift = signs * (directions @ centre) + law.origin_low @ scalings
    return Discriminants(law.origin, scalings, shift, np.square(lengths))
