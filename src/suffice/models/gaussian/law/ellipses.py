"""The shape of a normal law: principal axes, ellipses, and distances from its mean."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from suffice.errors import BadSetting
from suffice.special_functions import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.models.gaussian.law.factored_covariance import Spread
    from suffice.rows import FloatArray, IntArray


def principal_axes(spread: Spread) -> tuple[FloatArray, FloatArray]:
    """Return standard deviations along the principal axes, largest first, and the axes as rows.

    The sign of an axis is such that its largest component is positive.
    """
    width = len(spread.scale)
    order = np.argsort(-spread.scale, kind="stable")
    lengths, axes = np.zeros(width), np.zeros((width, width))
    left, s, _ = np.linalg.svd(spread.factor[order], full_matrices=True)
    lengths[: len(s)] = s
    axes[:, order] = left.T
    size = np.abs(axes)
    # Of components equal up to rounding the first decides, or ½√2(1, -1) could come out as
    # ½√2(-1, 1) on another machine.
    leading = np.argmax(size >= (1.0 - 1e-6) * size.max(axis=1, keepdims=True), axis=1)
    signs = np.where(axes[np.arange(width), leading] < 0.0, -1.0, 1.0)
    return lengths, axes * signs[:, np.newaxis]


def ellipse(spread: Spread, reach: float, points: int) -> FloatArray:
    """Return a closed curve at Mahalanobis distance `reach` about zero, in the plane."""
    if len(spread.scale) != 2:
        raise BadSetting(
            f"a contour needs 2 columns, this distribution has {len(spread.scale)}",
            hint="take marginal([i, j]) first",
        )
    if points < 2:
        raise BadSetting(f"points={points} is too few for a curve", hint="181 is smooth")
    angle = np.linspace(0.0, 2.0 * np.pi, points)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])[:, : spread.rank]
    # Not by the principal axes: those of very different columns have no digits left in
    # the small one.
    curve: FloatArray = reach * circle @ spread.triangle.T
    return curve


def radius(mass: float | None, sigmas: float | None, rank: int) -> float:
    """Return the Mahalanobis radius asked for, by itself or by the probability inside it."""
    if (mass is None) == (sigmas is None):
        raise BadSetting(
            "a contour needs mass or sigmas, one of them", hint="sigmas=2, or mass=0.9"
        )
    if sigmas is not None:
        if not 0.0 <= sigmas < math.inf:
            raise BadSetting(f"sigmas={sigmas:g} is not a radius", hint="use for instance 2")
        return sigmas
    assert mass is not None
    if not 0.0 <= mass < 1.0:
        raise BadSetting(
            f"mass={mass:g} is not in [0, 1)",
            hint="use for instance 0.9, which encloses nine draws in ten",
        )
    if rank == 2:
        return math.sqrt(-2.0 * math.log1p(-mass))
    return float(normal_quantile(0.5 + 0.5 * mass))


class Distances(NamedTuple):
    """How far rows are from the mean, each in the law of the cells that it has."""

    distance: FloatArray
    """Mahalanobis distances (n,); inf off the support."""
    observed: IntArray
    """How many cells each row has."""
    rank: IntArray
    """In how many directions those cells vary."""
    log_volume: FloatArray
    """½ log of the pseudo-determinant of those cells' covariance."""

    @classmethod
    def zero(cls, size: int) -> Self:
        """Return the distances of `size` rows without any cell."""
        return cls(
            np.zeros(size),
            np.zeros(size, dtype=np.intp),
            np.zeros(size, dtype=np.intp),
            np.zeros(size),
        )


def patterns(rows: FloatArray) -> Iterator[tuple[slice | IntArray, IntArray]]:
    """Yield which rows share a pattern of missing cells, and which cells those rows have."""
    missing = np.isnan(rows)
    if not missing.any():
        yield slice(None), np.arange(rows.shape[1])
        return
    packed = np.packbits(missing, axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}")[:, 0]
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes))
    for row, places in zip(first, np.split(order, ends[:-1]), strict=True):
        yield places, np.flatnonzero(~missing[row])
