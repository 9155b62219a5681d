"""How much one normal law differs from another."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import DifferentKinds
from suffice.linear_algebra import EPSILON

if TYPE_CHECKING:
    from suffice.families.normal import Normal


def kl_divergence(law: Normal, other: Normal) -> float:
    """Return KL(law ‖ other) = ½[Σ(σ² - 1 - log σ²) + δ²]; inf where the supports differ.

    σ are the standard deviations of `law` and δ the distance of its mean, as `other` sees them.
    """
    if law.width != other.width:
        raise DifferentKinds(
            f"laws of {law.width} and of {other.width} columns have no divergence",
            hint="take the marginal of the columns they share",
        )
    if law == other:
        return 0.0
    if law.rank != other.rank or not other.spread.spans(law.spread):
        return math.inf
    away = float(other.spread.distance(law.mean[np.newaxis], other.mean)[0])
    seen = other.spread.directions / other.spread.lengths
    with np.errstate(over="ignore"):
        ratio = (law.spread.scale / other.spread.units)[:, np.newaxis]
        square = seen.T @ (ratio * law.spread.directions * law.spread.lengths)
    if not np.isfinite(square).all():
        return math.inf
    stretch = np.linalg.svd(square, compute_uv=False)
    with np.errstate(over="ignore"):
        if stretch.min(initial=1.0) > math.sqrt(EPSILON) * stretch.max(initial=1.0):
            excess = (stretch - 1.0) * (stretch + 1.0)
            shape = float((excess - np.log1p(excess)).sum())
        else:  # the least σ has no digits left; the volumes still do
            volumes = law.spread.log_volume() - other.spread.log_volume()
            shape = float(np.square(stretch).sum()) - law.rank - 2.0 * volumes
        return 0.5 * (shape + float(np.square(away)))
