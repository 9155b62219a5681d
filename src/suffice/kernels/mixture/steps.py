"""E-step and M-step in one pass: no array is as long as the rows.

    rows        (n, d) float64, complete
    frame       (3, d) origin, what rounding took from it, and units: z = (x - origin)/units
    weights     (n,) float64, or empty: every row counts once
    means       (k, d) the centres about which sums are taken: the components' means, as z
    whitenings  (k, d, d) lower triangular, or (k, d) where columns are independent
    constants   (k,) log share and log density at the mean
    outside     log share and density of what is everywhere alike; -inf: there is none

Returned are the log-likelihood of z, the weight outside, and of each component the weight (k,), the
sums of z - m (k, d), and those of its products (k, d, d), or of its squares (k, d). Rows of which a
component has less than `LEAST` count for its weight, and not in the other two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.compilation import pays_if_saved, twin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Sums = tuple[float, float, Floats, Floats, Floats]

BLOCK_CELLS = 1 << 15
"""Cells of one block: a quarter of a megabyte of doubles, gone through several times."""
LEAST = 1e-20
"""Responsibility below which a row is left out of a component's means and scatter: a million such
rows add less than rounding does to the sums of one."""
SAVED = 10_000.0
"""ns that the compiled loop saves for each cell of a fit, at least: several starts climb, in dozens
of steps each."""

_climb_pays = pays_if_saved(SAVED)

WIDEST = 64
"""Columns up to which the compiled loop is used: beyond, products of matrices are BLAS's work. A
choice."""


def _narrow_rows_pay(rows: Floats, *_: object) -> bool:
    return _climb_pays(rows) and rows.shape[1] <= WIDEST


@twin("suffice.kernels.mixture.steps_numba", when=_narrow_rows_pay)
def mixture_sums(
    rows: Floats,
    frame: Floats,
    weights: Floats,
    means: Floats,
    whitenings: Floats,
    constants: Floats,
    outside: float,
) -> Sums:
    """Return the sums of one step of EM; see above."""
    size, width = means.shape
    diagonal = whitenings.ndim == 2
    likelihood = noise = 0.0
    held, firsts = np.zeros(size), np.zeros((size, width))
    seconds = np.zeros((size, width) if diagonal else (size, width, width))
    step = max(1, BLOCK_CELLS // max(1, width))
    for start in range(0, len(rows), step):
        block = (rows[start : start + step] - frame[0] - frame[1]) / frame[2]
        scores = np.empty((len(block), size))
        for c in range(size):
            gaps = block - means[c]
            white = gaps * whitenings[c] if diagonal else gaps @ whitenings[c].T
            scores[:, c] = constants[c] - 0.5 * np.einsum("ij,ij->i", white, white)
        top = np.maximum(scores.max(axis=1), outside)
        scores -= top[:, np.newaxis]
        np.exp(scores, out=scores)
        away = np.exp(outside - top)
        total = scores.sum(axis=1) + away
        logs = np.log(total) + top
        if len(weights):
            own = weights[start : start + step]
            likelihood += float(logs @ own)
            scores *= (own / total)[:, np.newaxis]
            noise += float((away / total) @ own)
        else:
            likelihood += float(logs.sum())
            scores /= total[:, np.newaxis]
            noise += float((away / total).sum())
        held += scores.sum(axis=0)
        scores[scores < LEAST] = 0.0
        for c in range(size):
            gaps = block - means[c]
            firsts[c] += scores[:, c] @ gaps
            if diagonal:
                seconds[c] += scores[:, c] @ np.square(gaps)
            else:
                seconds[c] += (gaps * scores[:, c, np.newaxis]).T @ gaps
    return likelihood, noise, held, firsts, seconds
