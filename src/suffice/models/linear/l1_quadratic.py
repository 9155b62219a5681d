"""The minimum of a parabola and absolute values, ½xᵀHx + bᵀx + Σ w|x|: exact, zeros included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray

SWEEPS = 30
"""Rounds of single coordinates before systems of equations are solved. A choice: they find which
coefficients are zero, and systems find what the others are."""
STEPS_EACH = 4
"""Systems that are solved at most for one second-order model, for each coordinate of it."""
SINGULAR = 1e-11
"""Directions along which a model curves less than this, relative to the most, count as flat."""
FLAT = 1e-6
"""The share of a gradient along flat directions that is more than rounding."""
LEAST_CURVATURE = 1e-12
"""Of a coordinate, relative to the most curved one: below, its column is constant, or nearly so in
rows that are in doubt, and the model says nothing about it."""


def quadratic_minimum(
    bend: FloatArray, slope: FloatArray, weights: FloatArray, at: FloatArray
) -> FloatArray:
    """Return the minimum of ½xᵀHx + bᵀx + Σ w|x|, beginning at a place.

    Coordinate by coordinate at first; then the signs are taken for known, and what is not zero
    follows from a system of equations: until the first of them would change its sign, which is zero
    from then on. Zeros that would rather not be are let go, the worst of them first.

    >>> quadratic_minimum(np.eye(2), np.array([-3.0, 0.5]), np.ones(2), np.zeros(2))
    array([2., 0.])
    """
    curved = np.diagonal(bend)
    known = curved > LEAST_CURVATURE * max(float(curved.max(initial=0.0)), 1e-300)
    x = np.where(known | (weights == 0.0), at, 0.0)
    x = _swept(bend, slope, weights, x, known)
    scale = np.abs(slope).max(initial=0.0) + weights.max(initial=0.0)
    for _ in range(STEPS_EACH * len(x) + 10):
        x, ended = _on_support(bend, slope, weights, x, known)
        if not ended:
            continue
        pull = bend @ x + slope
        beyond = np.where((x == 0.0) & known & (weights > 0.0), np.abs(pull) - weights, 0.0)
        if not beyond.size or beyond.max() <= 1e-14 * scale:
            break
        for i in np.argsort(-beyond, kind="stable")[: max(1, np.count_nonzero(beyond > 0.0) // 4)]:
            if beyond[i] > 0.0:
                moved = _coordinate(x[i], pull[i], curved[i], weights[i])
                pull += (moved - x[i]) * bend[:, i]
                x[i] = moved
    return x


def _coordinate(x: float, pull: float, curved: float, weight: float) -> float:
    """Return the minimum over one coordinate."""
    free = curved * x - pull
    return float(np.sign(free) * max(abs(free) - weight, 0.0) / curved)


def _swept(
    bend: FloatArray,
    slope: FloatArray,
    weights: FloatArray,
    at: FloatArray,
    known: NDArray[np.bool_],
) -> FloatArray:
    """Go through the coordinates a few times; those that stay zero are passed by in between."""
    x, pull = at.copy(), bend @ at + slope
    curved, places = np.diagonal(bend), np.flatnonzero(known)
    for sweep in range(SWEEPS):
        farthest = 0.0
        some = places if sweep % 5 == 0 else places[x[places] != 0.0]
        for i in some:
            moved = _coordinate(x[i], pull[i], curved[i], weights[i])
            if moved != x[i]:
                change = moved - x[i]
                pull += change * bend[:, i]
                x[i] = moved
                farthest = max(farthest, abs(change) * float(np.sqrt(curved[i])))
        if farthest <= 1e-6:
            break
    return x


def _on_support(
    bend: FloatArray,
    slope: FloatArray,
    weights: FloatArray,
    x: FloatArray,
    known: NDArray[np.bool_],
) -> tuple[FloatArray, bool]:
    """Go to the minimum among places of these signs; return where that ends, and whether there."""
    support = np.flatnonzero(known & ((x != 0.0) | (weights == 0.0)))
    if not support.size:
        return x, True
    signs = np.sign(x[support])
    pull = bend[support] @ x + slope[support] + weights[support] * signs
    way, endless = _way(bend[np.ix_(support, support)], -pull)
    bound = weights[support] > 0.0
    crossing = bound & (signs * way < 0.0)
    if not endless:
        crossing &= signs * (x[support] + way) <= 0.0
    found = x.copy()
    if not crossing.any():
        if not endless:
            found[support] += way
        return found, True
    shares = np.where(crossing, -x[support] / np.where(crossing, way, 1.0), np.inf)
    first = int(np.argmin(shares))
    found[support] += shares[first] * way
    found[support[first]] = 0.0
    return found, False


def _way(matrix: FloatArray, right: FloatArray) -> tuple[FloatArray, bool]:
    """Return the way to where a model of these signs is least, and whether it has no end.

    Columns may add up from others, so that the model is flat along some directions; where the
    penalty is not, it goes down along them until a coefficient is zero.
    """
    scale = np.sqrt(np.maximum(np.diagonal(matrix), 1e-300))
    even, pulled = matrix / scale[:, np.newaxis] / scale, right / scale
    try:
        factor = np.linalg.cholesky(even)
        if np.diagonal(factor).min() ** 2 > SINGULAR * len(even):
            return np.asarray(np.linalg.solve(even, pulled) / scale, dtype=np.float64), False
    except np.linalg.LinAlgError:
        pass
    values, turns = np.linalg.eigh(even)
    flat = turns[:, values <= SINGULAR * len(even) * values[-1]]
    along = flat @ (flat.T @ pulled)
    if np.abs(along).max(initial=0.0) > FLAT * np.abs(pulled).max():
        return np.asarray(along / scale, dtype=np.float64), True
    inside = turns[:, flat.shape[1] :]
    found = inside @ ((inside.T @ pulled) / values[flat.shape[1] :])
    return np.asarray(found / scale, dtype=np.float64), False
