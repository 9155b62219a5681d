"""The perceptron's rule and stochastic gradient ascent in NumPy: the twin that is always there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.rows.sparse_rows import SparseRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[Any] | SparseRows
    Places = slice | Codes

BLOCK_CELLS = 1 << 14
"""Cells that are centred and scaled at a time."""

SMALL = 1e-100
"""How small the factor of an average may become before the average is written out."""

TIE = 1e-12
"""Margins that count as none, over ‖theta‖‖(1, z)‖: where columns hold few values ties are common,
and which side of 0 rounding puts them on would depend on the order of a sum."""

EVERYWHERE = slice(None)


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
    """Go through the rows by the perceptron's rule; return (updates, weight seen so far)."""
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
    """Go through the rows by stochastic gradient ascent, and carry the mean of theta along."""
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
            held = slice(int(starts[row]), int(stops[row]))
            columns = rows.indices[held]
            places = np.zeros(len(columns) + 1, dtype=np.intp)
            places[1:] = columns
            z = np.ones(len(places))
            np.multiply(rows.data[held], inverse[places[1:]], out=z[1:])
            places[1:] += 1
            yield row, places, z, float(z @ z)
        return
    width = rows.shape[1]
    step = max(BLOCK_CELLS // max(width, 1), 1)
    for start in range(0, len(order), step):
        some = order[start : start + step]
        block = np.ones((len(some), width + 1))
        np.subtract(rows[some], origin, out=block[:, 1:])
        block[:, 1:] *= inverse
        lengths = np.einsum("ij,ij->i", block, block).tolist()
        for row, z, length in zip(some.tolist(), block, lengths, strict=True):
            yield row, EVERYWHERE, z, length
