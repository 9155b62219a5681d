"""The perceptron's rule for a block of rows at a time: the same mistakes, by products of matrices.

What a row scores is what θ scores at the beginning of its block, and what the mistakes before it
in the block have added: their products with the row, which are one matrix. So the mistakes of a
block are the one solution of an equation in which each row needs the rows before it only. Begin
with none, and look at all rows again with those that the last look has found: each look is right
for at least one row more than the last, mostly for ten more, and two that are the same are the
solution.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Flags = NDArray[np.bool_]

BLOCK_CELLS = 1 << 14
"""Cells that are centred and scaled at a time: an eighth of a megabyte, in a core's cache."""

TIE = 1e-12
"""Margins that count as none, over ‖theta‖‖(1, z)‖: where columns hold few values ties are common,
and which side of 0 rounding puts them on would depend on the order of a sum."""

BLOCK = 48
"""Rows of a block. Of 16 to 96, 48 took the least time, or within a tenth of it, from 4 to 20
columns and from two to five classes: more need more looks, fewer a call of NumPy each."""

_LATER = np.triu(np.ones((BLOCK, BLOCK)), 1)
"""1 where a row (across) comes later than another (down)."""


def standardised_blocks(
    rows: NDArray[np.floating], origin: Floats, inverse: Floats, order: Codes
) -> Iterator[tuple[Codes, Floats, Floats]]:
    """Yield some places of `order`, (1, z) of their rows, and ‖(1, z)‖² of each."""
    width = rows.shape[1]
    step = max(BLOCK_CELLS // max(width, 1) // BLOCK, 1) * BLOCK
    for start in range(0, len(order), step):
        some = order[start : start + step]
        block = np.ones((len(some), width + 1))
        np.subtract(rows[some], origin, out=block[:, 1:])
        block[:, 1:] *= inverse
        yield some, block, np.einsum("ij,ij->i", block, block)


@np.errstate(over="ignore", invalid="ignore")
def correct_in_blocks(
    rows: NDArray[np.floating],
    origin: Floats,
    inverse: Floats,
    order: Codes,
    codes: Codes,
    theta: Floats,
    drift: Floats,
    seen: float,
) -> tuple[int, float]:
    """See `rules.correct_mistakes`, of dense rows of weight 1."""
    updates = 0
    square = float(np.square(theta).sum())
    decide = _of_two if len(theta) == 1 else _of_many
    for some, designs, squares in standardised_blocks(rows, origin, inverse, order):
        for start in range(0, len(some), BLOCK):
            part = slice(start, start + BLOCK)
            z, lengths = designs[part], squares[part]
            # No row can have made ‖theta‖² grow by more than twice its own square.
            before = square + 2.0 * (np.cumsum(lengths) - lengths)
            least = TIE * np.sqrt(before * lengths)
            coupling = z @ z.T
            coupling *= _LATER[: len(z), : len(z)]
            pushes, wrong = decide(theta @ z.T, coupling, least, codes[some[part]])
            mistakes = int(np.count_nonzero(wrong))
            if mistakes:
                theta += pushes @ z
                pushes *= seen + np.arange(len(z))
                drift += pushes @ z
                square += 2.0 * float(lengths @ wrong)
                updates += mistakes
            seen += len(z)
    return updates, seen


def _of_two(scores: Floats, coupling: Floats, least: Floats, own: Codes) -> tuple[Floats, Flags]:
    """Return how each row (across) of two classes pushes theta, and which rows are mistakes."""
    signs = 2.0 * own - 1.0
    margins = scores[0] * signs - least
    coupling *= signs
    coupling *= signs[:, np.newaxis]
    wrong = ~(margins > 0.0)
    for _ in range(len(own)):
        again = ~(wrong.astype(np.float64) @ coupling + margins > 0.0)
        if again.tobytes() == wrong.tobytes():
            break
        wrong = again
    return (wrong * signs)[np.newaxis], wrong


def _of_many(scores: Floats, coupling: Floats, least: Floats, own: Codes) -> tuple[Floats, Flags]:
    """Return the same of more classes: each mistake pushes its own and the best of the others."""
    size, many = scores.shape
    classes = np.arange(size)[:, np.newaxis]
    mine = own == classes
    barred = np.where(mine, -math.inf, 0.0)
    places = own * many + np.arange(many)
    pushes, now, before = np.zeros((size, many)), scores.copy(), b""
    wrong = np.zeros(many, dtype=np.bool_)
    for _ in range(many + 1):
        margins = now.take(places)
        now += barred
        best = now.max(axis=0)
        rivals = now == best
        if np.count_nonzero(rivals) != many:  # of equal ones, the first
            rivals = now.argmax(axis=0) == classes
        margins -= best
        wrong = ~(margins > least)
        rivals &= wrong
        if rivals.tobytes() == before:
            break
        before = rivals.tobytes()
        np.multiply(mine, wrong, out=pushes)
        pushes -= rivals
        now = pushes @ coupling
        now += scores
    return pushes, wrong
