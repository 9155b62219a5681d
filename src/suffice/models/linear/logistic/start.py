"""Where logistic regression begins: at the θ that Gaussian discriminant analysis implies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.linear_algebra import inverse_factor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.linear.logistic.loss import LogisticLoss
    from suffice.rows import FloatArray

FLAT_EIGENVALUE = 1e-13
"""Eigenvalue of the correlations, times columns, from which a direction counts as none at all:
450ε, above what rounding leaves of a zero."""

FARTHEST_MEAN = 4.0
"""Standard deviations that classes may lie from the mean of all, in the start. Where they lie
further apart hardly a row is in doubt: the loss is flat, and says little about where to go. A
choice."""

RIDGE = 1e-6
"""Added to the correlations within classes for the start: it need not be exact, but finite."""


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """The θ to begin with, and how the columns are correlated, of standardised columns.

    theta         (m, d + 1)
    correlations  (d, d) of all rows; 0 for columns that are constant
    """

    theta: FloatArray
    correlations: FloatArray


def gda_start(loss: LogisticLoss) -> Start:
    """Return GDA's implied θ over the rows of a loss, in standardised columns.

    Without an intercept there is none to imply: θ = 0, and correlations are about 0.
    """
    found = loss.class_moments()
    labels, total = found.labels, found.weight
    width = len(loss.origin)
    scatter = found.scatter * loss.inverse * loss.inverse[:, np.newaxis] / total
    means = ((found.means - loss.origin) + found.lows) * loss.inverse
    shares = found.weights / total
    if not loss.intercept:
        return Start(np.zeros(loss.shape), scatter + (means.T * shares) @ means)
    centre = shares @ means
    reach = (means - centre) * np.sqrt(shares)[:, np.newaxis]
    correlations = scatter + reach.T @ reach
    held = scatter + np.diag(RIDGE + (loss.inverse == 0.0))
    slopes = np.linalg.solve(held, means.T).T
    levels = np.log(shares) - 0.5 * np.einsum("cj,cj->c", slopes, means)
    apart = np.einsum("cj,cj->c", slopes, means)  # D² of each class from the mean of all, about
    cut = FARTHEST_MEAN / max(float(np.sqrt(max(apart.max(initial=0.0), 0.0))), FARTHEST_MEAN)
    every = np.zeros((loss.size, width + 1))
    for place, label in enumerate(labels):
        every[int(label), 0], every[int(label), 1:] = levels[place], slopes[place]  # type: ignore[call-overload]
    return Start(cut * (every[1:] - every[0]), correlations)


def are_independent(correlations: FloatArray) -> bool:
    """Whether columns are surely independent: correlations of some rows can prove it for all.

    The scatter of all rows is that of some plus that of the others: no direction that varies
    among some is flat among all. The bound is λ_min ≥ 1/Σ(1/λ).
    """
    factors = inverse_factor(correlations)
    if factors is None:
        return False
    return bool(
        1.0 / float(np.square(factors[1]).sum()) > 1e4 * FLAT_EIGENVALUE * len(correlations)
    )


def basis_of(correlations: FloatArray, varies: NDArray[np.bool_]) -> FloatArray | None:
    """Return the directions (d, r) that rows can tell apart; None where these are all.

    Columns that vary and depend on no other are directions by themselves, as far as possible.
    """
    active = np.flatnonzero(varies)
    values, vectors = np.linalg.eigh(correlations[np.ix_(active, active)])
    kept = values > FLAT_EIGENVALUE * len(values)
    if kept.all():
        if varies.all():
            return None
        vectors = np.eye(len(active))
    basis = np.zeros((len(varies), int(kept.sum())))
    basis[active] = vectors[:, kept]
    return basis
