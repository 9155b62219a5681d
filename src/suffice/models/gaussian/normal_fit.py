"""One normal law from rows, complete or not, and p-values that know it was estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import (
    BadRows,
    BadSetting,
    NoPValue,
    NotFinite,
    listed,
    warn,
)
from suffice.linear_algebra import correlation_scaled
from suffice.models.gaussian.family import DIVISORS, Gaussian
from suffice.models.gaussian.floors import EIGENVALUE_FLOOR, degrees_of_freedom
from suffice.models.gaussian.law.factored_covariance import Spread
from suffice.models.gaussian.learner import GaussianLearner
from suffice.statistics.moments.full import Moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from suffice.models.gaussian.full_normals import FullNormals
    from suffice.models.gaussian.law.ellipses import Distances
    from suffice.models.gaussian.law.normal import Normal
    from suffice.rows import FloatArray

    Cells = NDArray[np.floating]


TRACE = 2e-8
"""Up to this eigenvalue of the correlations, EM may have made up the variance of a direction."""


def check_divisor(divisor: str) -> None:
    """Refuse a divisor of the scatter that is neither W nor W - 1."""
    if divisor not in DIVISORS:
        raise BadSetting(f"divisor={divisor!r} is not known", hint='use "mle" or "unbiased"')


def fit_normal(
    rows: Cells, weights: FloatArray | None, divisor: str, names: Sequence[str]
) -> tuple[Normal, Evidence]:
    """Return the law of the rows' mean and covariance, and how well it is known.

    NaN is a missing cell: the law is then the most likely one given the cells that are there
    (EM), and a row without any cell counts for nothing. Weights are positive; `names` are how
    columns are called in refusals.

    >>> law, evidence = fit_normal(np.array([[0.0], [2.0], [np.nan]]), None, "mle", ["a"])
    >>> law, evidence.weight
    (Normal(mean=array([1.]), covariance=array([[1.]])), 2.0)
    """
    check_divisor(divisor)
    rows, weights = _with_cells(rows, weights, names)
    weight = float(len(rows) if weights is None else weights.sum())
    by = weight if divisor == "mle" else float(degrees_of_freedom(weight, 1.0))
    if by <= 0.0:
        raise BadRows(
            f"a total weight of {weight:g} has no unbiased covariance",
            hint='divisor="mle", or more than one row',
        )
    try:
        law = _law(rows, weights, weight, by)
    except NotFinite as error:
        raise _naming_columns(error, rows, names) from None
    return law, Evidence.of_rows(weight, divisor=by)


def fit_normal_around(
    rows: Cells,
    weights: FloatArray | None,
    names: Sequence[str],
    *,
    mean: ArrayLike | None = None,
    covariance: ArrayLike | None = None,
) -> tuple[Normal, Evidence]:
    """Return the most likely law with this mean, or with this covariance, and how well it is known.

    Of a given mean the covariance is Σ w (x - μ)(x - μ)ᵀ / W: no mean was estimated, so no degree
    of freedom is lost. Of a given covariance the mean is that of the rows.

    >>> rows = np.array([[1.0], [3.0]])
    >>> fit_normal_around(rows, None, ["a"], mean=[0.0])[0]
    Normal(mean=array([0.]), covariance=array([[5.]]))
    >>> fit_normal_around(rows, None, ["a"], covariance=[[9.0]])[0]
    Normal(mean=array([2.]), covariance=array([[9.]]))
    """
    from suffice.models.gaussian.law.inputs import checked_mean
    from suffice.models.gaussian.law.normal import Normal

    if np.isnan(rows).any():
        raise BadRows(
            "rows have empty cells, and a mean or a covariance is given",
            hint="leave out the rows with empty cells, or fit both mean and covariance",
        )
    moments = Moments.of(rows, weights)
    try:
        if mean is None:
            return (
                Normal(moments.mean, covariance),  # type: ignore[arg-type]
                Evidence.of_known_covariance(moments.weight),
            )
        centre = checked_mean(mean)
        if len(centre) != moments.width:
            raise BadSetting(
                f"mean has {len(centre)} numbers, and rows have {moments.width} columns",
                hint="give one number for each column",
            )
        away = (moments.mean - centre) + moments.low
        scatter = moments.scatter + moments.weight * np.multiply.outer(away, away)
        return Normal(centre, scatter / moments.weight), Evidence.of_known_mean(moments.weight)
    except NotFinite as error:
        raise _naming_columns(error, rows, names) from None


def degeneracy(law: Normal, evidence: Evidence, names: Sequence[str]) -> str | None:
    """Return why a fitted law is degenerate, by the names of its columns; None if it is not.

    >>> law, evidence = fit_normal(np.array([[0.0, 5.0], [2.0, 5.0]]), None, "mle", ["a", "b"])
    >>> degeneracy(law, evidence, ["a", "b"])
    'rows vary in 1 of 2 directions (b never varies): the density is defined on that ...'
    """
    if law.rank == law.width:
        return None
    reasons = []
    for places, one, many in (
        (law.spread.scale == 0.0, "never varies", "never vary"),
        (law.spread.tied, "is tied to the rest", "are tied to each other"),
    ):
        who = [names[j] for j in np.flatnonzero(places).tolist()]
        if who:
            reasons.append(f"{listed(who)} {one if len(who) == 1 else many}")
    if law.rank >= evidence.degrees and law.spread.tied.any():
        reasons.append(f"a weight of {evidence.weight:g} cannot show more")
    return (
        f"rows vary in {law.rank} of {law.width} directions ({'; '.join(reasons)}): "
        "the density is defined on that subspace only, and is 0 elsewhere"
    )


def _with_cells(
    rows: Cells, weights: FloatArray | None, names: Sequence[str]
) -> tuple[Cells, FloatArray | None]:
    """Return the rows that have a cell; refuse columns of which none was ever seen."""
    missing = np.isnan(rows)
    if not missing.any():
        return rows, weights
    never = np.flatnonzero(missing.all(axis=0)).tolist()
    if never:
        raise BadRows(
            f"no row has a value of {listed(names[j] for j in never)}: "
            "a normal distribution needs a mean",
            hint="drop the column",
        )
    kept = ~missing.all(axis=1)
    return rows[kept], None if weights is None else weights[kept]


def _law(rows: Cells, weights: FloatArray | None, weight: float, by: float) -> Normal:
    """Return the law of rows, their scatter (that of completed rows) divided by `by`."""
    from suffice.models.gaussian.law.normal import Normal

    if not np.isnan(rows).any():
        moments = Moments.of(rows, weights)
        return Normal(moments.mean, moments.scatter / by)
    low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
    if np.array_equal(low, high):
        return Normal(low, np.zeros((len(low), len(low))))
    learner = GaussianLearner(Gaussian("shared"))
    codes = np.zeros(len(rows), dtype=np.intp)
    cells = rows.astype(np.float64, copy=False)
    fit = learner.fit(learner.summarize(cells, codes, [0], weights))
    normals: FullNormals = fit.normals  # type: ignore[assignment]
    # What never varies is its own mean, exactly: a last digit would leave all rows off the support.
    mean = np.where(low == high, low, normals.class_means[0])
    covariance = normals.covariances[0] * (weight / by)
    return _without_floors(mean, covariance, cells) or Normal(mean, covariance)


def _without_floors(mean: FloatArray, covariance: FloatArray, rows: FloatArray) -> Normal | None:
    """Return the law without directions in which only a stand-in varies; None if there are none.

    EM needs a covariance with an inverse, and where a direction is missing it leaves a trace of
    what stood in. A law says where it lives: the direction goes, if no row contradicts that.
    """
    from suffice.models.gaussian.law.normal import Normal

    scale = np.sqrt(np.diagonal(covariance))
    moving = scale > 0.0
    correlation = correlation_scaled(covariance[np.ix_(moving, moving)], scale[moving])
    values, vectors = np.linalg.eigh(correlation)
    kept = values > TRACE
    if kept.all():
        return None
    law = Normal.of_spread(
        mean,
        Spread.of_eigenvectors(scale, values[kept], vectors[:, kept], dropped=EIGENVALUE_FLOOR),
    )
    return law if np.isfinite(law.mahalanobis(rows)).all() else None


def _naming_columns(error: NotFinite, rows: Cells, names: Sequence[str]) -> NotFinite:
    """Return the refusal of numbers too large to be squared, with the columns' own names."""
    with np.errstate(over="ignore"):
        width = np.nanmax(rows, axis=0).astype(np.float64) - np.nanmin(rows, axis=0)
        wide = ~np.isfinite(np.square(width * np.sqrt(len(rows))))
    if not wide.any():
        return error
    return NotFinite.of_range(names[j] for j in np.flatnonzero(wide).tolist())


def predictive_p_values(
    squares: ArrayLike,
    ranks: ArrayLike,
    freedom: ArrayLike,
    leverage: ArrayLike,
    *,
    training: bool = False,
) -> FloatArray:
    """Return P(a row of the same law lies at least as far out), all arguments broadcast.

    `squares` are q = (x - m)ᵀS⁻¹(x - m), S the scatter with ν = `freedom` degrees of freedom, in
    D = `ranks` directions; h = `leverage` is the variance of m in units of the law's, 1/W. Then

        new rows        q/(1 + h)·(ν - D + 1)/D ~ F(D, ν - D + 1)
        training rows   q/(1 - h) ~ Beta(D/2, (ν - D)/2), and at ν = D all are at the edge: p = 1

    Where the law's covariance is known, ν is infinite, `squares` are Mahalanobis distances squared,
    and q/(1 + h) of new rows and q/(1 - h) of training rows are χ²(D).

    Where D = 0 only q = 0 can happen. NaN where the second parameter would be negative, or for F
    zero: there were too few rows to say.

    >>> predictive_p_values([0.0, 0.5, np.inf], 2, 9.0, 0.1).round(4)
    array([1.    , 0.2234, 0.    ])
    >>> predictive_p_values(0.5, 2, [1.0, 0.5], 0.5)
    array([nan, nan])
    """
    from scipy.special import betainc, betaincc, gammaincc  # heavy, and only needed here

    q, rank, freedom, h = np.broadcast_arrays(squares, ranks, freedom, leverage)
    known = np.isposinf(freedom)
    size = np.where(rank == 0, 1, rank) / 2.0
    spare = (freedom - rank + (0.0 if training else 1.0)) / 2.0
    counts = np.where((spare > 0.0) & ~known, spare, 1.0)
    if training:
        # A row that took part in m and S cannot be far out: q ≤ 1 - h.
        edge = np.maximum(1.0 - h, 0.0)
        inside = np.minimum(q, edge) / np.where(edge > 0.0, edge, 1.0)
        tail = np.where(spare > 0.0, betaincc(size, counts, inside), 1.0)
        tail = np.where(np.isinf(q), 0.0, tail)
        lacking = spare < 0.0
    else:
        with np.errstate(over="ignore"):
            tail = betainc(counts, size, 1.0 / (1.0 + q / (1.0 + h)))
        lacking = spare <= 0.0
    if known.any():
        spread = np.maximum(1.0 - h, 0.0) if training else 1.0 + h
        with np.errstate(over="ignore"):
            away = q / np.where(spread > 0.0, spread, 1.0)
        # A training row alone is its own mean: it cannot be anywhere else.
        sure = np.where((spread > 0.0) | np.isinf(q), gammaincc(size, away / 2.0), 1.0)
        tail = np.where(known, sure, tail)
    p = np.where(rank == 0, np.where(q == 0.0, 1.0, 0.0), tail)
    return np.where(lacking & (rank > 0), np.nan, p)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of how one law was estimated: enough for exact p-values.

    >>> Evidence.of_rows(10.0, divisor=10.0)
    Evidence(weight=10.0, divisor=10.0, degrees=9.0, leverage=0.1)
    """

    weight: float
    """W; 0 for a conditional law, which has no training rows of its own."""
    divisor: float
    """By what the scatter was divided."""
    degrees: float
    """ν, the degrees of freedom of the scatter."""
    leverage: float
    """h, the variance of the mean in units of the law's."""

    @classmethod
    def of_rows(cls, weight: float, *, divisor: float) -> Evidence:
        """Return the evidence of rows of total weight W: ν = W - 1, h = 1/W."""
        return cls(weight, divisor, weight - 1.0, 1.0 / weight)

    @classmethod
    def of_known_mean(cls, weight: float) -> Evidence:
        """Return the evidence where only the covariance was estimated: ν = W, h = 0."""
        return cls(weight, weight, weight, 0.0)

    @classmethod
    def of_known_covariance(cls, weight: float) -> Evidence:
        """Return the evidence where only the mean was estimated: ν = ∞, h = 1/W."""
        return cls(weight, 1.0, np.inf, 1.0 / weight)

    def given(self, distance: float, rank: int) -> Evidence:
        """Return the evidence for the law of the other columns, some of rank `rank` being known.

        It is a regression's: every known direction costs a degree of freedom, and far from the
        mean the prediction is less certain, h + (x_g - m_g)ᵀS_gg⁻¹(x_g - m_g).
        """
        if self.degrees == np.inf:
            # The mean moves with the cells that are known, by regression: it is no less certain.
            return Evidence(0.0, self.divisor, self.degrees, self.leverage)
        away = min(distance * distance / self.divisor, 1e300)  # inf / inf would be no number
        return Evidence(0.0, self.divisor, self.degrees - rank, self.leverage + away)

    def p_values(self, found: Distances, *, training: bool) -> FloatArray:
        """Return P(a row of the same law is at least as far out); NaN where rows were too few."""
        unknown = self._unknown(found)
        with np.errstate(over="ignore"):
            q = np.square(found.distance) / self.divisor
        # Off the support is farther out than every square that overflows.
        p = predictive_p_values(q, found.rank, self.degrees, self.leverage, training=training)
        return np.where(unknown, np.nan, p)

    def _unknown(self, found: Distances) -> NDArray[np.bool_]:
        """Say for which rows there is no p-value, and warn.

        Fewer directions than columns may be a fact about the law or about the number of
        rows. It is the law's only if there were rows enough to show more.
        """
        starved = (found.rank < found.observed) & (found.rank >= self.degrees)
        short = (found.observed > 0) & (found.rank > self.degrees)
        unknown: NDArray[np.bool_] = starved | short
        if unknown.any():
            most = int(found.observed[unknown].max())
            warn(
                f"{int(unknown.sum())} row(s) have no p-value: {most} columns were estimated "
                f"with {max(self.degrees, 0.0):g} degrees of freedom",
                NoPValue,
            )
        return unknown
