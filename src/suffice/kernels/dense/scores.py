"""Scores of rows and what they say about the classes, in the way that suits the size.

Everything writes into arrays the caller has made, a block of rows at a time. A row that is not
finite spoils its own scores and no others.

    rows    (n, d) float32 or float64, any strides; float32 is widened before it is centred
    origin  (d,) float64, subtracted first: columns far from zero keep their digits
    out     (n, k) float64, any strides
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.kernels.compilation import pays
from suffice.kernels.dense import scores_numpy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Flags = NDArray[np.bool_]
    Rows = NDArray[Any]

WIDEST = 256
"""Columns up to which compiled scores beat BLAS: their buffer fits a core's cache."""


def linear_scores(
    rows: Rows, origin: Floats, weights: Floats, intercepts: Floats, out: Floats
) -> None:
    """Write (x - origin)·w + b into `out`, a column a class. Two classes need one column only."""
    if (rows.shape[1] <= WIDEST or len(weights) == 1) and pays(rows):
        from suffice.kernels.dense import scores_numba

        scores_numba.linear_scores(rows, origin, weights, intercepts, out)
    else:
        scores_numpy.linear_scores(rows, origin, weights, intercepts, out)


def quadratic_scores(
    rows: Rows, origin: Floats, whitenings: Floats, shifts: Floats, constants: Floats, out: Floats
) -> None:
    """Write constant - ½‖W(x - origin) - shift‖² into `out`; each W is lower triangular."""
    if rows.shape[1] <= WIDEST and pays(rows):
        from suffice.kernels.dense import scores_numba

        scores_numba.quadratic_scores(rows, origin, whitenings, shifts, constants, out)
    else:
        scores_numpy.quadratic_scores(rows, origin, whitenings, shifts, constants, out)


def binary_posterior(scores: Floats, out: Floats) -> None:
    """Write both probabilities of the log odds of the second class into `out` (n, 2).

    Each is computed from the side where nothing cancels: both tails keep their digits. The log
    odds may lie in `out[:, 1]` itself, which saves a buffer.
    """
    if pays(scores):
        from suffice.kernels.dense import posteriors_numba

        posteriors_numba.binary_posterior(scores, out)
    else:
        scores_numpy.binary_posterior(scores, out)


def binary_log_posterior(scores: Floats, out: Floats) -> None:
    """Write both log probabilities of the log odds of the second class into `out` (n, 2).

    Far odds come out as themselves: there is no floor. They too may lie in `out[:, 1]`.
    """
    if pays(scores):
        from suffice.kernels.dense import posteriors_numba

        posteriors_numba.binary_log_posterior(scores, out)
    else:
        scores_numpy.binary_log_posterior(scores, out)


def softmax(scores: Floats, log: bool) -> None:
    """Turn scores (n, k) into (log) posteriors in place: eˢ / Σeˢ.

    Where the best score is infinite, the classes that have it share alike: the limit of far points.
    """
    if pays(scores):
        from suffice.kernels.dense import posteriors_numba

        posteriors_numba.softmax(scores, log)
    else:
        scores_numpy.softmax(scores, log)


def winners(scores: Floats, codes: Codes, hard: Flags) -> None:
    """Write where each row's best score is (the first, in a tie), and whether it can be trusted.

    One column alone holds the log odds of the second of two classes. Hard are the rows of which
    some score is not finite: they have to be scored with more care.
    """
    if pays(scores):
        from suffice.kernels.dense import posteriors_numba

        posteriors_numba.winners(scores, codes, hard)
    else:
        scores_numpy.winners(scores, codes, hard)
