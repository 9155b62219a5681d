"""What is accepted as the mean, covariance, rows and columns of a normal law, and what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import (
    BadMatrix,
    BadRows,
    BadSetting,
    ColumnMismatch,
    NotANumber,
    NotFinite,
    listed,
)
from suffice.linear_algebra import correlation_scaled
from suffice.models.gaussian.law.factored_covariance import INDEFINITE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from suffice.rows import FloatArray, IntArray

ASYMMETRY = 1e-8
"""By how much C_ij and C_ji may differ, relative to √(C_ii C_jj). A choice near √ε: a matrix
written with eight digits passes."""


def _numbers(values: ArrayLike, name: str) -> FloatArray:
    """Return a fresh float64 array, or refuse what holds anything but real numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError(array.dtype)
        return np.array(array, dtype=np.float64)
    except (TypeError, ValueError) as reason:
        raise NotANumber(
            f"the {name} is not an array of real numbers ({reason})",
            hint="give nested lists or an array of numbers",
        ) from None


def checked_mean(values: ArrayLike) -> FloatArray:
    """Return one finite number a column, or refuse."""
    mean = _numbers(values, "mean")
    if mean.ndim != 1 or len(mean) == 0:
        raise BadSetting(
            f"the mean has shape {mean.shape}; it must have one number per column",
            hint="in one dimension: mean [0.0], covariance [[1.0]]",
        )
    if not np.isfinite(mean).all():
        j = int(np.flatnonzero(~np.isfinite(mean))[0])
        raise NotFinite(
            f"the mean of column {j} is {mean[j]:g}, not a finite number",
            hint="estimate it from finite rows",
        )
    return mean


def checked_covariance(values: ArrayLike, width: int) -> FloatArray:
    """Return a symmetric matrix, or refuse one that is not a covariance, entry by entry."""
    matrix = _numbers(values, "covariance")
    if matrix.shape != (width, width):
        raise BadMatrix(
            f"the covariance has shape {matrix.shape}; the mean requires ({width}, {width})",
            hint="one row and one column for each entry of the mean",
        )
    if not np.isfinite(matrix).all():
        i, j = (int(v[0]) for v in np.nonzero(~np.isfinite(matrix)))
        raise BadMatrix(
            f"covariance[{i}, {j}] is {matrix[i, j]:g}, not a finite number",
            hint="estimate it from finite rows",
        )
    variances = np.diagonal(matrix)
    if variances.min() < 0.0:
        j = int(np.argmin(variances))
        raise BadMatrix(
            f"covariance[{j}, {j}] is {variances[j]:g}: a variance is never negative",
            hint="did the matrix lose digits in a subtraction, or is it not a covariance?",
        )
    deviations = np.sqrt(variances)
    _refuse_asymmetric(matrix, deviations)
    _refuse_beyond_one(matrix, deviations)
    return symmetric(matrix)


def symmetric(matrix: FloatArray) -> FloatArray:
    """Return the mean of a matrix and its transpose: SciPy would read one triangle of the two."""
    half: FloatArray = 0.5 * matrix
    return np.where(matrix == matrix.T, matrix, half + half.T)


def _on_correlation_scale(matrix: FloatArray, deviations: FloatArray) -> FloatArray:
    """Return |a_ij|/(σ_i σ_j), with 0/0 = 0: beside a constant column only 0 is possible."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scaled = correlation_scaled(np.abs(matrix), deviations)
    scaled[matrix == 0.0] = 0.0
    return scaled


def _refuse_asymmetric(matrix: FloatArray, deviations: FloatArray) -> None:
    with np.errstate(over="ignore"):
        gaps = _on_correlation_scale(matrix - matrix.T, deviations)
    i, j = np.unravel_index(np.argmax(gaps), gaps.shape)
    if gaps[i, j] > ASYMMETRY:
        raise BadMatrix(
            f"the covariance is not symmetric: [{i}, {j}] is {float(matrix[i, j])!r} but "
            f"[{j}, {i}] is {float(matrix[j, i])!r}",
            hint="which of the two is meant? (C + C.T) / 2 takes their mean",
        )


def _refuse_beyond_one(matrix: FloatArray, deviations: FloatArray) -> None:
    correlations = _on_correlation_scale(matrix, deviations)
    np.fill_diagonal(correlations, 0.0)
    i, j = np.unravel_index(np.argmax(correlations), correlations.shape)
    if correlations[i, j] > 1.0 + INDEFINITE * len(matrix):
        raise BadMatrix(
            f"covariance[{i}, {j}] is {float(matrix[i, j])!r}, larger than the variances "
            f"{float(matrix[i, i])!r} and {float(matrix[j, j])!r} allow",
            hint="|C_ij| is at most √(C_ii C_jj): are these standard deviations, not variances?",
        )


def checked_rows(rows: ArrayLike, width: int) -> FloatArray:
    """Return rows as a matrix of `width` columns, or refuse."""
    x = np.asarray(rows, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] != width:
        raise BadRows(
            f"rows of shape {x.shape}; this distribution has {width} columns",
            hint="give an array of shape (rows, columns)",
        )
    return x


def checked_columns(columns: Sequence[int] | IntArray, width: int) -> IntArray:
    """Return positions of columns, each named once, or refuse."""
    for column in columns:
        if isinstance(column, bool) or not isinstance(column, int | np.integer):
            raise ColumnMismatch(
                f"{column!r} is not a position of a column", hint=f"positions are 0 … {width - 1}"
            )
        if not 0 <= column < width:
            raise ColumnMismatch(
                f"there is no column {column}", hint=f"positions are 0 … {width - 1}"
            )
    places = np.asarray(columns, dtype=np.intp)
    if len(set(places.tolist())) < len(places):
        raise ColumnMismatch(
            f"columns {listed(places)} repeat a column", hint="name each column once"
        )
    return places
