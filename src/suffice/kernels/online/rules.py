"""Rules that learn from one row after the other, in the way that suits the size.

Class c scores theta[c]·(1, z) with z = (x - origin)·inverse. Two classes need one row of theta
only, the score of class 1 with its boundary at 0; more classes have one row each. Both functions
change `theta` and its companion in place. Each row costs what its cells cost: averages are carried
along by an expression that changes only where theta does. Nothing is checked here: a cell that is
not finite comes out as a theta that is not finite.

    rows     (n, d) float32 or float64, any strides; or SparseRows, of which stored cells count
    origin   (d,) float64, subtracted first; sparse rows are not centred, and it is not looked at
    inverse  (d,) float64 ≥ 0, one over the scale of each column; 0 leaves a column out
    order    (v,) intp, the rows to go through, one after the other
    codes    (n,) intp, the class of each row
    theta    (1 or k, d + 1) float64, contiguous, intercepts first
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.kernels.compilation import part_of, pays
from suffice.kernels.online import rules_numpy as online_numpy
from suffice.rows.sparse_rows import SparseRows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[Any] | SparseRows

A_ROW = 20
"""Cells that one row is worth when it is asked whether compiling pays: NumPy takes its time for
every row, however narrow."""


def correct_mistakes(
    rows: Rows,
    origin: Floats,
    inverse: Floats,
    order: Codes,
    codes: Codes,
    weights: Floats | None,
    theta: Floats,
    drift: Floats,
    seen: float,
) -> tuple[int, float]:
    """Go through the rows by the perceptron's rule; return (updates, weight seen so far).

    A row that does not score its own class above all others adds (1, z) to its own class and
    takes it away from the best of the others: for two classes θ := θ + (y - h(x))·(1, z). A tie,
    to rounding, is a mistake. A row of weight w comes up w times in a row, the last time with what
    is left.

        drift    as theta: Σ (weight seen before)·update, so that theta - drift / seen is the mean
                 of theta over all rows, each time as it was after the row
    """
    if _pays(rows, order):
        from suffice.kernels.online import rules_numba as online_numba

        walk = online_numba.correct_mistakes
    else:
        walk = online_numpy.correct_mistakes
    return walk(rows, origin, inverse, order, codes, weights, theta, drift, seen)


def ascend(
    rows: Rows,
    origin: Floats,
    inverse: Floats,
    order: Codes,
    codes: Codes,
    steps: Floats,
    shares: Floats,
    most: float,
    theta: Floats,
    mean: Floats,
) -> None:
    """Go through the rows by stochastic gradient ascent: θ := θ + α(y - h(x))·(1, z).

    h is the softmax of the scores, the logistic function where there are two classes; y is 1 for
    a row's own class and 0 for the others.

        steps    (v,) α of each visit, the row's weight included
        most     an upper bound of α‖(1, z)‖²: a row that lies far out takes a shorter step
        shares   (v,) in [0, 1]: after a visit the mean becomes (1 - share)·mean + share·theta
        mean     as theta
    """
    if _pays(rows, order):
        from suffice.kernels.online import rules_numba as online_numba

        walk = online_numba.ascend
    else:
        walk = online_numpy.ascend
    walk(rows, origin, inverse, order, codes, steps, shares, most, theta, mean)


def _pays(rows: Rows, order: Codes) -> bool:
    with part_of(A_ROW * len(order)):
        return pays(rows.cells if isinstance(rows, SparseRows) else rows)
