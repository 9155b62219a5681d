"""Rows so far away that a squared distance leaves the range of a double."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.gaussian.diagonal_normals import DiagonalNormals
    from suffice.models.gaussian.full_normals import FullNormals
    from suffice.rows import FloatArray, IntArray


def shrunk_rows(rows: FloatArray, origin: FloatArray, scale: FloatArray) -> FloatArray:
    """Return (x - origin)/scale divided, row by row, by the power of two that tames it."""
    return tamed_rows(rows, origin, scale)[0]


def tamed_rows(
    rows: FloatArray, origin: FloatArray, scale: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Return (x - origin)/scale as z·2^power: z (n, d) of order one, one power a row (n,)."""
    # Halving first: the difference of two numbers near the largest double overflows.
    mantissa, exponent = np.frexp(rows / 2.0 - origin / 2.0)
    unit, power = np.frexp(scale)
    exponent = np.where(mantissa == 0.0, np.iinfo(np.int32).min // 4, exponent - power)
    top = exponent.max(axis=1, keepdims=True)
    tamed: FloatArray = np.ldexp(mantissa / unit, np.maximum(exponent - top, -2000))
    # A row that is the origin itself has no power of its own.
    return tamed, np.maximum(top[:, 0], -1) + 1


def far_winners(
    normals: FullNormals | DiagonalNormals, rows: FloatArray, log_priors: FloatArray
) -> FloatArray:
    """Return 0 for the class that wins in the limit and -inf for the rest; never inf - inf.

    Far out, only the quadratic parts matter and, where these are the same, the linear ones;
    where those tie as well, the priors decide as they would anywhere.
    """
    z = shrunk_rows(rows, normals.origin, normals.scale)[:, normals.active]
    quadratic, linear = normals.leading_terms(z)
    alive = np.broadcast_to(log_priors > -np.inf, quadratic.shape).copy()
    for terms in (quadratic, linear):
        best = np.where(alive, terms, -np.inf).max(axis=1, keepdims=True)
        alive &= terms == best
    return np.where(alive, log_priors, -np.inf)


def hard_rows(scores: FloatArray, possible: NDArray[np.bool_]) -> IntArray | None:
    """Return which rows have a score that is not finite, of a class that has a prior; None if none.

    One sum tells that there are none, ten times as fast as looking at each.
    """
    likely = scores if possible.all() else scores[:, possible]
    if np.isfinite(likely.sum()):
        return None
    hard = np.flatnonzero(~np.isfinite(likely).all(axis=1))
    return hard if len(hard) else None
