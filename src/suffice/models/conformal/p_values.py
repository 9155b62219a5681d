"""P-values by rank, and the sets of classes that they leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray

TIED = 1e-9
"""How near scores have to be to count as equal, in units of the larger of 1 and the score: refits
and downdates agree to about 1e-10, and what they disagree about is no rank."""
EDGE = 1e-9
"""By how much, relatively, a p-value has to be above the level to be above it: 1 - .9 is a little
less than .1 as a double, and 1 of 10 rows is not more than a tenth."""


def p_value(
    scores: FloatArray, asked: FloatArray | float, draw: FloatArray | float | None = None
) -> FloatArray:
    """Return the share of scores (…, n), the asked one included, that are at least as strange.

    `asked` (…) is the score of the asked row: one score for every row it is compared with, (…, n),
    where each has its own. With `draw` (…), uniform numbers, ties are broken at random.

    >>> p_value(np.array([0.1, 0.4, 2.0]), 0.4)
    array(0.75)
    """
    given = np.asarray(asked, dtype=np.float64)
    own = given if given.ndim == np.ndim(scores) else given[..., np.newaxis]
    with np.errstate(invalid="ignore"):
        near = TIED * np.maximum(1.0, np.where(np.isfinite(own), np.abs(own), 1.0))
        at_least = (scores >= own - near) | (scores == own)
    size = np.shape(scores)[-1] + 1.0
    if draw is None:
        found: FloatArray = (1.0 + at_least.sum(axis=-1)) / size
        return np.asarray(found)
    with np.errstate(invalid="ignore"):
        above = (scores > own + near) & (scores != own)
    tied = 1.0 + at_least.sum(axis=-1) - above.sum(axis=-1)
    return np.asarray((above.sum(axis=-1) + np.asarray(draw) * tied) / size)


def members(
    p_values: FloatArray,
    coverage: float,
    best: NDArray[np.integer],
    always: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Return which classes (m, k) are in the sets of rows.

    Those whose p-value exceeds 1 - coverage, the best class of every row (m,), and classes (k,)
    that can never be excluded since they have too few rows.
    """
    inside = p_values > (1.0 - coverage) * (1.0 + EDGE)
    inside |= always
    inside[np.arange(len(best)), best] = True
    return inside


def too_few(rows: FloatArray, coverage: float) -> NDArray[np.bool_]:
    """Whether so few rows (k,) can exclude nothing at a coverage: the least p-value is 1/(n + 1).

    >>> too_few(np.array([8, 9]), 0.9).tolist()
    [True, False]
    """
    return np.asarray(1.0 / (rows + 1.0) > (1.0 - coverage) * (1.0 + EDGE))
