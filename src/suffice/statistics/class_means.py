"""The means of many classes, moved at once by a merge or a subtraction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.linear_algebra import EPSILON
from suffice.statistics.double_double import GRAM_ERROR, MOST_ROWS, Pair, gram, outer_square
from suffice.statistics.rounding import (
    PER_PRECISE_SQUARE,
    Sums,
    in_units,
    moved,
    moving_error,
)

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray


class Classes(NamedTuple):
    """What is known of the classes (k, …): weights and means in two doubles, and their errors."""

    weights: Pair
    means: Pair
    sums: Sums

    def at(self, classes: IntArray) -> tuple[Pair, Pair]:
        """Return weights (c, 1) and means (c, d) of some of the classes."""
        weights, means = self.weights, self.means
        return (
            (weights[0][classes, np.newaxis], weights[1][classes, np.newaxis]),
            (means[0][classes], means[1][classes]),
        )


def moved_means(
    means: Pair, ours: Classes, theirs: Classes, left: Pair, gap: Pair, classes: IntArray
) -> Pair:
    """Move the means of some classes, in place; return their reaches (c, d)."""
    rest = left[0][classes, np.newaxis], left[1][classes, np.newaxis]
    (base, mean), (less, _) = ours.at(classes), theirs.at(classes)
    (base, less, rest), unit = in_units(base, less, rest)
    (means[0][classes], means[1][classes]), reach = moved(base, less, rest, mean, gap)
    return reach[0] * unit, reach[1] * unit


def errors_of_moving(
    ours: Classes, theirs: Classes, left: FloatArray, gap: Pair, classes: IntArray
) -> FloatArray:
    """Return what moving the means of some classes adds to the errors of all sums (k, d)."""
    (base, mean), (less, other) = ours.at(classes), theirs.at(classes)
    heaviest = np.maximum(left[classes, np.newaxis], base[0])
    moving: FloatArray = np.zeros_like(ours.means[0])
    moving[classes] = moving_error(less[0], gap[0], heaviest, mean[0], other[0])
    return moving


def squares_of(reach: Pair) -> tuple[Pair, FloatArray]:
    """Return Σ_c reach reachᵀ (d, d) in two doubles, and what may be wrong with its diagonal.

    Of many classes at once the sum is one in plain doubles, as it is in a batch.
    """
    size = len(reach[0])
    squares = np.square(reach[0]).sum(axis=0)
    if size == 1:
        return outer_square((reach[0][0], reach[1][0])), PER_PRECISE_SQUARE * squares
    if size <= MOST_ROWS:
        return gram(reach), (PER_PRECISE_SQUARE + GRAM_ERROR) * squares
    plain = reach[0].T @ reach[0]
    return (plain, np.zeros_like(plain)), EPSILON * (4.0 + size) * squares
