"""One exponent on the likelihood: how literally to take columns that are not independent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.linear_algebra import log_sum_exp

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray

STEPS = 200


def fitted_temperature(
    scores: FloatArray, log_priors: FloatArray, codes: IntArray, weights: FloatArray
) -> float:
    """Return β that minimizes Σw[logsumexp_c(log π_c + βs_c) - (log π_y + βs_y)] + ½(log β)².

    `scores` are log p(x | c) of rows that the model has not seen. The sum is convex in β; the
    last term keeps β finite when every row is right. Found by bisection on the derivative,
    which cannot fail. Scores that are infinitely far apart say the same at every β and are
    left out.
    """
    with np.errstate(invalid="ignore"):
        s = scores - scores.max(axis=1, keepdims=True)
    kept = np.isfinite(s).all(axis=1)
    if not kept.any():
        return 1.0
    s, y, w = s[kept], codes[kept], weights[kept]
    priors = np.broadcast_to(log_priors, scores.shape)[kept]
    own = s[np.arange(len(y)), y]

    def slope(log_beta: float) -> float:
        """Return the derivative by log β."""
        beta = np.exp(log_beta)
        joint = priors + beta * s
        p = np.exp(joint - log_sum_exp(joint)[:, np.newaxis])
        return float(beta * (w @ ((p * s).sum(axis=1) - own)) + log_beta)

    low, high = -20.0, 20.0
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        if slope(middle) > 0.0:
            high = middle
        else:
            low = middle
        if high - low < 1e-10:
            break
    return float(np.exp((low + high) / 2.0))
