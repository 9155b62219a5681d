"""One normal law from rows, complete or not, with the evidence that p-values need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadRows, BadSetting, NotFinite, listed
from suffice.families.floors import EIGENVALUE_FLOOR
from suffice.families.gaussian import DIVISORS, Gaussian
from suffice.families.normal import Normal
from suffice.families.normal_inputs import checked_mean
from suffice.families.spread import Spread
from suffice.linear_algebra import correlation_scaled
from suffice.models.learner import GaussianLearner
from suffice.models.predictive import Evidence
from suffice.statistics.moments.full import Moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from suffice.families.full_normals import FullNormals
    from suffice.rows import FloatArray

    Cells = NDArray[np.floating[Any]]

TRACE = 2e-8
"""Up to this eigenvalue of the correlations, EM may have made up the variance of a direction."""


def check_divisor(divisor: str) -> None:
    """Refuse a divisor of the scatter that is neither W nor W - 1."""
    if divisor not in DIVISORS:
        raise BadSetting(f"divisor={divisor!r} is not known", hint='"mle" or "unbiased"')


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
    by = weight if divisor == "mle" else weight - 1.0
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
    'rows vary in 1 of 2 directions (b never varies): the density lives on that support, ...'
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
        "the density lives on that support, and is 0 off it"
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
            "a normal law of unknown mean is none",
            hint="drop the column",
        )
    kept = ~missing.all(axis=1)
    return rows[kept], None if weights is None else weights[kept]


def _law(rows: Cells, weights: FloatArray | None, weight: float, by: float) -> Normal:
    """Return the law of rows, their scatter (that of completed rows) divided by `by`."""
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
