"""The most likely covariances of each form, from weights and scatters alone.

Celeux and Govaert (1995). Every function takes weights (k,) and scatters about the class means, and
returns covariances; `start` is what the last call returned, from where searches go on. Each step
of a search is a minimum in some of the parameters: cut short, it has lost no likelihood.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

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


MOST_STEPS = 500
"""Steps of a search for volumes and a common shape. A choice: they converge linearly, most within
tens of steps."""
SETTLED = 1e-13
"""Relative change of volumes that ends it: rounding."""
NO_AXIS = 1e-11
"""Part of a class's largest variance below which another is rounding: an eigenvalue is wrong by
some ε of the largest, and scatters that were forgotten down to this by a little more."""
TINY = float(np.finfo(np.float64).tiny)
"""The least variance that can be divided by: what is below is rounding."""


class Tied(NamedTuple):
    """Covariances (k, d, d) of a form, and what a search for them ended with."""

    covariances: FloatArray
    volumes: FloatArray | None = None
    axes: FloatArray | None = None


def tied_covariances(
    form: str,
    weights: FloatArray,
    scatters: FloatArray,
    start: Tied | None = None,
    *,
    most_sweeps: int = MOST_SWEEPS,
) -> Tied:
    """Return the most likely covariances of a form, (k, d, d), from scatters (k, d, d).

    >>> scatters = np.array([[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 4.0]]])
    >>> tied_covariances("EII", np.array([2.0, 2.0]), scatters).covariances[0]
    array([[2., 0.],
           [0., 2.]])
    """
    weights = np.maximum(weights, TINY)
    width = scatters.shape[1]
    total = float(weights.sum())
    if form.endswith("I"):
        squares = np.diagonal(scatters, axis1=1, axis2=2)
        volumes = None if start is None else start.volumes
        variances, volumes = diagonal_variances_of(form, weights, squares, volumes)
        return Tied(variances[:, :, np.newaxis] * np.eye(width), volumes)
    if form == "EEE":
        return Tied(np.broadcast_to(scatters.sum(axis=0) / total, scatters.shape))
    if form == "VVV":
        return Tied(scatters / weights[:, np.newaxis, np.newaxis])
    if form == "EVV":
        sizes = np.exp(np.linalg.slogdet(scatters)[1] / width)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return Tied(scatters * (sizes.sum() / total / sizes)[:, np.newaxis, np.newaxis])
    if form == "VEE":
        return _common_shape(weights, scatters, None if start is None else start.volumes)
    if form in ("EVE", "VVE"):
        axes = None if start is None else start.axes
        lengths, axes = common_axes(form, weights, scatters, axes, most_sweeps)
        return Tied(np.einsum("ji,ki,li->kjl", axes, lengths, axes), None, axes)
    values, turns = np.linalg.eigh(scatters)
    values = np.maximum(values, 0.0)
    volumes = None
    if form == "EEV":
        variances = np.broadcast_to(values.sum(axis=0) / total, values.shape)
    else:
        volumes = None if start is None else start.volumes
        variances, volumes = _scaled_shape(weights, values, volumes)
    return Tied(np.einsum("kji,ki,kli->kjl", turns, _even(variances, values), turns), volumes)


def _even(variances: FloatArray, values: FloatArray) -> FloatArray:
    """Return variances (k, d) along the axes of classes, even where a class has no axes.

    Where it does not vary, as with fewer rows than columns, eigenvectors are what rounding makes of
    them. With the geometric mean there the covariance is the same for all of them, and so are its
    determinant and the likelihood.
    """
    lost = values <= NO_AXIS * values.max(axis=1, keepdims=True)
    found = np.array(variances)
    for k in np.flatnonzero(lost.sum(axis=1) > 1):
        own = found[k, lost[k]]
        found[k, lost[k]] = np.exp(np.log(own).mean()) if own.all() else own.mean()
    return found


def diagonal_variances_of(
    form: str, weights: FloatArray, squares: FloatArray, volumes: FloatArray | None = None
) -> tuple[FloatArray, FloatArray | None]:
    """Return variances (k, d) of a form of independent columns, from sums of squares (k, d)."""
    width, total = squares.shape[1], float(weights.sum())
    if form == "EII":
        return np.full_like(squares, squares.sum() / (total * width)), None
    if form == "VII":
        each = squares.sum(axis=1) / (weights * width)
        return np.broadcast_to(each[:, np.newaxis], squares.shape).copy(), None
    if form == "EEI":
        return np.broadcast_to(squares.sum(axis=0) / total, squares.shape).copy(), None
    if form == "VVI":
        return squares / weights[:, np.newaxis], None
    if form == "EVI":
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            sizes = np.exp(np.log(squares).mean(axis=1))
            return squares * (sizes.sum() / total / sizes)[:, np.newaxis], None
    return _scaled_shape(weights, squares, volumes)


def _scaled_shape(
    weights: FloatArray, squares: FloatArray, volumes: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return λ_kB of least Σ n_kd log λ_k + Σ_j squares_kj/(λ_kB_j), |B| = 1, and λ.

    Convex in the logarithms: whatever it starts from, it ends at the same.
    """
    width = squares.shape[1]
    if volumes is None:
        volumes = squares.sum(axis=1) / (weights * width)
    volumes = np.maximum(volumes, TINY)
    for _ in range(MOST_STEPS):
        shape = np.maximum((squares / volumes[:, np.newaxis]).sum(axis=0), TINY)
        shape = shape / np.exp(np.log(shape).mean())
        before = volumes
        volumes = np.maximum((squares / shape).sum(axis=1) / (weights * width), TINY)
        if np.all(np.abs(volumes - before) <= SETTLED * volumes):
            break
    return volumes[:, np.newaxis] * shape, volumes


def _common_shape(weights: FloatArray, scatters: FloatArray, volumes: FloatArray | None) -> Tied:
    """Return λ_kC of least Σ n_kd log λ_k + tr(W_kC⁻¹)/λ_k, |C| = 1; zeros where there is none."""
    width = scatters.shape[1]
    if volumes is None:
        volumes = np.trace(scatters, axis1=1, axis2=2) / (weights * width)
    volumes = np.maximum(volumes, TINY)
    for _ in range(MOST_STEPS):
        shape = np.tensordot(1.0 / volumes, scatters, axes=1)
        sign, level = np.linalg.slogdet(shape)
        if not (sign > 0.0 and np.isfinite(level)):  # in some direction nothing varies: no maximum
            return Tied(np.zeros_like(scatters), volumes)
        shape = shape / np.exp(level / width)
        before = volumes
        try:
            inverse = np.linalg.inv(shape)
        except np.linalg.LinAlgError:  # by rounding
            return Tied(np.zeros_like(scatters), volumes)
        traces = np.einsum("kij,ji->k", scatters, inverse)
        volumes = np.maximum(traces / (weights * width), TINY)
        if np.all(np.abs(volumes - before) <= SETTLED * volumes):
            break
    return Tied(volumes[:, np.newaxis, np.newaxis] * shape, volumes)
