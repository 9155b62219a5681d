"""The parts that moments are made of: added, scaled, embedded, stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.kernels.dense.double_double import Pair, plus, two_product
from suffice.linear_algebra import two_sum

if TYPE_CHECKING:
    from suffice.rows import FloatArray
    from suffice.statistics.diagonal import DiagonalMoments
    from suffice.statistics.moments import Moments
    from suffice.statistics.pooled import PooledMoments


def scaled_pair(value: Pair, factor: float) -> Pair:
    """Return a value in two doubles times a factor, within 2 PRECISE of it."""
    with np.errstate(over="ignore", invalid="ignore"):
        high, low = two_product(value[0], factor)
        # Beyond 1e300 a product cannot be cut in two; its lower part is then not known.
        low = np.where(np.isfinite(low), low, 0.0) + value[1] * factor
        return two_sum(high, low)


def plus_squares(
    held: Moments | DiagonalMoments | PooledMoments,
    other: Moments | DiagonalMoments | PooledMoments,
    sign: float = 1.0,
) -> Pair:
    """Return the scatter of `held` plus, or minus, that of `other`, in two doubles of its own."""
    low = np.zeros_like(held.scatter) if held.scatter_low is None else held.scatter_low
    if other.scatter_low is None:
        if not other.scatter.any():
            return held.scatter, low
        return plus((held.scatter, low), (sign * other.scatter, 0.0))
    return plus((held.scatter, low), (sign * other.scatter, sign * other.scatter_low))


def wider(part: FloatArray, places: Any, shape: Any) -> FloatArray:
    """Return an array of zeros with a part at its places."""
    whole = np.zeros(shape)
    whole[places] = part
    return whole


def explicit_part(state: Moments | DiagonalMoments, name: str) -> FloatArray:
    """Return a part that a state does not keep, as it would keep it."""
    if name == "anchor":
        return state.mean
    if name == "sum_error":
        return state._sums.sum_error
    if name == "unusual":
        return np.full_like(state.mean, np.inf)
    if name == "usual":
        return np.zeros_like(state.mean)
    if name == "scatter_low":
        return np.zeros_like(state.scatter)
    return np.zeros_like(state.mean) if name.startswith("counts") else np.zeros(())


def kept_parts(state: Any, names: tuple[str, ...]) -> dict[str, FloatArray]:
    """Return those parts of a state that say something, as arrays by name."""
    found = {name: getattr(state, name) for name in names}
    return {
        name: np.asarray(part)
        for name, part in found.items()
        if part is not None and (np.ndim(part) > 0 or part != 0.0)
    }
