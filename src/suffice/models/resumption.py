"""From a maximum of the likelihood to a stream that goes on from there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.models.carried_theta import rescaled
from suffice.models.seen_rows import SeenRows
from suffice.models.standardisation import Standardisation
from suffice.models.stochastic import Stochastic
from suffice.rows.sparse_rows import SparseRows
from suffice.statistics.moments.diagonal import DiagonalMoments
from suffice.statistics.labels import ordered

if TYPE_CHECKING:
    from suffice.models.logistic_fit import LogisticFit
    from suffice.rows import FloatArray, IntArray


def seen_at_fit(
    fit: LogisticFit,
    rows: FloatArray | SparseRows,
    codes: IntArray,
    weights: FloatArray | None = None,
) -> SeenRows:
    """Return what a stream would know of the rows of a fit, without a second pass over them.

    Means and deviations are those that the fit has found already; only labels are counted, and
    for sparse rows the cells that are not zero.
    """
    labels = ordered(fit.labels)
    totals = np.bincount(codes, weights, minlength=len(labels)).astype(np.float64)
    totals = totals[[fit.labels.index(label) for label in labels]]
    size = len(rows) if weights is None else int(np.count_nonzero(weights))
    deviations = np.divide(
        1.0, fit.inverse, out=np.zeros_like(fit.inverse), where=fit.inverse > 0.0
    )
    width = len(fit.origin)
    mean, scatter = fit.origin, fit.weight * np.square(deviations)
    counts = np.full(width, fit.weight)
    sparse = isinstance(rows, SparseRows)
    if isinstance(rows, SparseRows):
        there = slice(None) if rows.cells.all() else rows.cells != 0.0
        own = None if weights is None else weights[rows.row_numbers()[there]]
        counts = np.bincount(rows.places[there], own, minlength=width).astype(np.float64)
        squares = scatter + fit.weight * np.square(mean)
        mean = mean * fit.weight / np.where(counts > 0.0, counts, 1.0)
        scatter = np.maximum(squares - counts * np.square(mean), 0.0)
    none = np.zeros(width)
    moments = DiagonalMoments(fit.weight, counts, mean, none, scatter, none)
    return SeenRows(labels, totals, moments, size, sparse)


def resumed(fit: LogisticFit, seen: SeenRows) -> Stochastic:
    """Return a stream that stands at a fit: as if its rows had gone through, and θ had got there.

    >>> from suffice.models.logistic import fit_logistic
    >>> rows, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> fit = fit_logistic(rows, codes, ("no", "yes"))
    >>> resumed(fit, seen_at_fit(fit, rows, codes)).form().weights[1].round(6)
    array([0.908184])
    """
    every = np.zeros((fit.size, len(fit.origin) + 1))
    every[1:] = fit.theta
    every = every[[fit.labels.index(label) for label in seen.labels]]
    theta = every - every.mean(axis=0) if fit.size > 2 else every[-1:] - every[:1]
    theta = rescaled(theta, Standardisation(fit.origin, fit.inverse), seen.scale)
    return Stochastic(seen, theta, theta, float(seen.size), seen.size)
