"""How typical a row is of each class: a p-value, so that "none of these" has an answer."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import NoPValue
from suffice.families.diagonal_normals import DiagonalNormals
from suffice.families.patterns import by_pattern
from suffice.models.predictive import predictive_p_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.families.full_normals import FullNormals
    from suffice.families.gaussian import Gaussian
    from suffice.models.learner import Fit
    from suffice.rows import FloatArray, IntArray

DRAWS = 9999
SEED = 20190229


def typicality(
    family: Gaussian, fit: Fit, rows: FloatArray, codes: IntArray | None = None
) -> FloatArray:
    """Return, per class, the probability that a row of that class lies at least as far out.

    Fitted normals are not given ones: the predictive distance of a *new* row follows F, that
    of a row that was *in* the fit (its class given by `codes`) follows Beta. Both are exact
    under normality and ignorable missingness, approximate with pooling and shrinking.
    Diagonal forms compare log densities with 9,999 draws from the class.
    """
    normals = fit.normals
    if isinstance(normals, DiagonalNormals):
        return by_pattern(rows, lambda part, seen: _simulated(normals, part, seen))
    return _predictive(family, fit, normals, rows, codes)


def _predictive(
    family: Gaussian, fit: Fit, normals: FullNormals, rows: FloatArray, codes: IntArray | None
) -> FloatArray:
    by_pattern(rows, lambda part, _: np.zeros((len(part), 1)))  # refuses infinite cells
    distances, ranks = normals.squared_distances(rows)
    freedom = degrees_of_freedom(family, fit)
    divisors, divisor = family.divisors(fit.summary)
    share = 1.0 if family.covariance == "shared" else (family.pool or 0.0)
    held = fit.summary.weights
    d = ranks[:, np.newaxis]
    with np.errstate(all="ignore"):
        q = distances / ((1.0 - share) * divisors + share * divisor)  # (x - m)ᵀS⁻¹(x - m)
    # Where nothing varies every row is typical; a square that is no number has overflowed.
    q = np.where(d == 0, 0.0, np.where(np.isnan(q), np.inf, q))
    p = predictive_p_values(q, d, freedom, 1.0 / held)
    spare = freedom - d + 1.0
    if codes is not None:
        own = np.arange(len(rows)), codes
        p[own] = predictive_p_values(
            q[own], ranks, freedom[codes], 1.0 / held[codes], training=True
        )
        spare[own] -= 1.0
    lacking = (d > 0) & (spare <= 0.0)
    if lacking.any():
        classes = int(np.any(lacking, axis=0).sum())
        warnings.warn(
            f"{classes} of {len(held)} classes have too few rows for {int(ranks.max())} columns: "
            "no p-value there (NaN)",
            NoPValue,
            stacklevel=3,
        )
    return np.where(lacking, np.nan, p)


def degrees_of_freedom(family: Gaussian, fit: Fit) -> FloatArray:
    """Return ν of every class's scatter: W_c - 1, or W - k when it is shared, or between."""
    weights = fit.summary.weights
    pooled = fit.summary.weight - fit.summary.size
    if family.covariance == "shared":
        return np.full(len(weights), pooled)
    share = family.pool or 0.0
    return (1.0 - share) * (weights - 1.0) + share * pooled


def _simulated(normals: DiagonalNormals, rows: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:
    if not seen.any():
        return np.ones((len(rows), normals.size))
    law = normals if seen.all() else normals.marginal(seen)
    inner = rows[:, seen]
    found = law.log_densities(inner)
    rng = np.random.default_rng(SEED)
    p = np.empty_like(found)
    for c in range(law.size):
        draws = law.sample(np.full(DRAWS, c, dtype=np.intp), rng)
        drawn = np.sort(law.log_densities(draws)[:, c])
        p[:, c] = (np.searchsorted(drawn, found[:, c], side="right") + 1.0) / (DRAWS + 1.0)
    return p
