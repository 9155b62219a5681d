"""Rules that learn from one row after the other: the perceptron's, and stochastic gradient ascent.

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

import math
from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.compilation import readable, twin, worth_compiling
from suffice.kernels.online.blocks import TIE, correct_in_blocks, standardised_blocks
from suffice.rows.sparse_rows import SparseRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[np.floating] | SparseRows
    Places = slice | Codes

A_ROW = 20
"""Cells that one row is worth when it is asked whether compiling pays: NumPy takes its time for
every row, however narrow."""

SAVED = 140.0
"""ns that the compiled loop saves for each cell: one row after the other is what NumPy cannot."""

WIDEST_BLOCK, MOST_IN_BLOCKS = 200, 20
"""Columns and classes up to which dense rows without weights are gone through a block at a time: at
both together that still takes a tenth less, at 400 columns no less than one row after the other."""

SMALL = 1e-100
"""How small the factor of an average may become before the average is written out: its inverse
times any usual theta is far from the largest number there is."""

EVERYWHERE = slice(None)
"""The places in theta that a dense row reaches."""


def _visits_pay(rows: Rows, _: Floats, __: Floats, order: Codes, *___: object) -> bool:
    cells = rows.cells if isinstance(rows, SparseRows) else rows
    return worth_compiling(max(cells.size, A_ROW * len(order)), SAVED) and readable(cells)


@twin("suffice.kernels.online.rules_numba", when=_visits_pay)
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
    narrow = rows.shape[1] <= WIDEST_BLOCK and len(theta) <= MOST_IN_BLOCKS
    if narrow and weights is None and not isinstance(rows, SparseRows):
        return correct_in_blocks(rows, origin, inverse, order, codes, theta, drift, seen)
    updates = 0
    signs = (-1.0, 1.0)
    binary = len(theta) == 1
    # A mistake makes ‖theta‖² grow by its own square at most: the rest of the change is negative.
    square = float(np.square(theta).sum())
    for row, places, z, length in _walk(rows, origin, inverse, order):
        own = int(codes[row])
        left = 1.0 if weights is None else float(weights[row])
        while left > 0.0:
            scores = theta[:, places] @ z
            rival = 0
            if binary:
                margin = float(scores[0]) * signs[own]
            else:
                mine = float(scores[own])
                scores[own] = -math.inf
                rival = int(scores.argmax())
                margin = mine - float(scores[rival])
            if margin > TIE * math.sqrt(square * length):
                break
            step = min(left, 1.0)
            if binary:
                move = (step * signs[own]) * z
                theta[0, places] += move
                drift[0, places] += seen * move
            else:
                move = step * z
                theta[own, places] += move
                theta[rival, places] -= move
                move *= seen
                drift[own, places] += move
                drift[rival, places] -= move
            updates += 1
            square += 2.0 * step * step * length
            seen += step
            left -= step
        seen += left
    return updates, seen


@twin("suffice.kernels.online.rules_numba", when=_visits_pay)
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
    # The mean is kept as scale·(rest + part·theta): a step changes `rest` only where it changes
    # theta, a new mean changes the two numbers. As it stands it is put into `mean` at the end.
    rest, part, scale = mean, 0.0, 1.0
    for visit, (row, places, z, length) in enumerate(_walk(rows, origin, inverse, order)):
        own = int(codes[row])
        step = float(steps[visit])
        if step * length > most:
            step = most / length
        residuals = _residuals(theta[:, places] @ z, own)
        residuals *= step
        move = np.multiply.outer(residuals, z)
        theta[:, places] += move
        if part != 0.0:
            move *= part
            rest[:, places] -= move
        share = float(shares[visit])
        if share >= 1.0:
            rest[...] = 0.0
            part = scale = 1.0
        elif share > 0.0:
            scale *= 1.0 - share
            part += share / scale
            if scale < SMALL:  # written out now and then: the two numbers would leave their range
                rest += part * theta
                rest *= scale
                part, scale = 0.0, 1.0
    rest += part * theta
    rest *= scale


def _residuals(scores: Floats, own: int) -> Floats:
    """Return y - h(x), computed without a difference of nearly equal numbers."""
    if len(scores) == 1:
        sign = 1.0 if own == 1 else -1.0
        margin = float(scores[0]) * sign
        tail = math.exp(-abs(margin))
        scores[0] = sign * (tail if margin > 0.0 else 1.0) / (1.0 + tail)
        return scores
    scores -= scores.max()
    np.exp(scores, out=scores)
    mine = scores[own]
    scores[own] = 0.0
    rest = scores.sum()
    scores /= -(rest + mine)
    scores[own] = rest / (rest + mine)
    return scores


def _walk(
    rows: Rows, origin: Floats, inverse: Floats, order: Codes
) -> Iterator[tuple[int, Places, Floats, float]]:
    """Yield for each visit the row, where in theta it reaches, (1, z) there, and its ‖(1, z)‖²."""
    if isinstance(rows, SparseRows):
        starts, stops = rows.indptr[:-1], rows.indptr[1:]
        for row in order.tolist():
            stored = slice(int(starts[row]), int(stops[row]))
            columns = rows.indices[stored]
            places = np.zeros(len(columns) + 1, dtype=np.intp)
            places[1:] = columns
            z = np.ones(len(places))
            np.multiply(rows.data[stored], inverse[places[1:]], out=z[1:])
            places[1:] += 1
            yield row, places, z, float(z @ z)
        return
    for some, block, squares in standardised_blocks(rows, origin, inverse, order):
        for row, z, length in zip(some.tolist(), block, squares.tolist(), strict=True):
            yield row, EVERYWHERE, z, length
