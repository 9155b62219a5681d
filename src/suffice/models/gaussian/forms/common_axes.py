"""EVE and VVE: axes that all classes have in common, by rotations of two axes at a time."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from suffice.rows import FloatArray

MOST_SWEEPS = 60
"""Sweeps of one search over all pairs of axes. A choice: each lowers what is minimised, so that a
search cut short is still progress, and the next begins where this one ended."""
SETTLED = 1e-14
"""Change of what is minimised, per row and column, that ends a search: rounding."""


def common_axes(
    form: str,
    weights: FloatArray,
    scatters: FloatArray,
    axes: FloatArray | None,
    most_sweeps: int = MOST_SWEEPS,
) -> tuple[FloatArray, FloatArray]:
    """Return variances (k, d) along common axes (d, d), the axes in columns.

    Given variances V_k, Σ_k tr(V_k⁻¹ DᵀW_kD) depends on two axes through a quadratic form of their
    plane, and the best rotation is its eigenvector (Flury and Gautschi 1986); given axes, variances
    have their closed form.
    """
    width = scatters.shape[1]
    if axes is None:
        axes = np.linalg.eigh(scatters.sum(axis=0))[1]
    axes = np.array(axes)
    along = np.einsum("ji,kjl,lm->kim", axes, scatters, axes)
    variances, volume = _variances(form, weights, along)
    for _ in range(most_sweeps if width > 1 else 0):
        for i, j in itertools.combinations(range(width), 2):
            turn = _rotation(along, 1.0 / variances, i, j)
            axes[:, [i, j]] = axes[:, [i, j]] @ turn
            along[:, [i, j], :] = turn.T @ along[:, [i, j], :]
            along[:, :, [i, j]] = along[:, :, [i, j]] @ turn
            variances, _ = _variances(form, weights, along)
        before = volume
        variances, volume = _variances(form, weights, along)
        if before - volume <= SETTLED * width * weights.sum():
            break
    return variances, axes


def _variances(form: str, weights: FloatArray, along: FloatArray) -> tuple[FloatArray, float]:
    """Return the best variances along given axes, and Σ n_k log|V_k|, which is to be least."""
    squares = np.einsum("kii->ki", along)
    # No variance is so small that it could not be divided by.
    squares = np.maximum(squares, 1e-150 * max(1.0, float(squares.max(initial=0.0))))
    if form == "VVE":
        found = squares / weights[:, np.newaxis]
    else:
        sizes = np.exp(np.log(squares).mean(axis=1))
        found = squares / sizes[:, np.newaxis] * (sizes.sum() / weights.sum())
    return found, float(weights @ np.log(found).sum(axis=1))


def _rotation(along: FloatArray, inverse: FloatArray, i: int, j: int) -> FloatArray:
    """Return the rotation of two axes after which Σ tr(V_k⁻¹DᵀW_kD) is least."""
    share = inverse[:, i] - inverse[:, j]
    a, b, c = share @ along[:, i, i], share @ along[:, i, j], share @ along[:, j, j]
    # The eigenvector of the smaller eigenvalue of [[a, b], [b, c]] becomes the first axis.
    angle = 0.5 * np.arctan2(-2.0 * b, c - a)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin], [sin, cos]])
