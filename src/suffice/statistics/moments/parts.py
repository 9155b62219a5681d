"""The parts that moments are made of: added, scaled, embedded, stored; means of many classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from suffice.kernels.dense.double_double import (
    GRAM_ERROR,
    MOST_ROWS,
    SHORT_SUM,
    Pair,
    compiled_twin,
    gram,
    outer_square,
    plus,
    two_product,
)
from suffice.linear_algebra import EPSILON, two_sum
from suffice.statistics.algebra import ArraysOfFields
from suffice.statistics.moments.rounding import (
    LIMITS,
    PER_PRECISE_SQUARE,
    Sums,
    in_units,
    moved,
    moving_error,
    nearer,
)
from suffice.statistics.moments.what_is_left import only_means_in_doubt, relative_loss

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray
    from suffice.statistics.moments.diagonal import DiagonalMoments
    from suffice.statistics.moments.full import Moments
    from suffice.statistics.moments.pooled import PooledMoments


def scaled_pair(value: Pair, factor: float) -> Pair:
    """Return a value in two doubles times a factor, within 2 PRECISE of it."""
    with np.errstate(over="ignore", invalid="ignore"):
        high, low = two_product(value[0], factor)
        # Beyond 1e300 a product cannot be cut in two; its lower part is then not known.
        low = np.where(np.isfinite(low), low, 0.0) + value[1] * factor
        return two_sum(high, low)


def plus_squares(
    held: Moments | DiagonalMoments | PooledMoments,
    other: Moments | DiagonalMoments | PooledMoments,
    sign: float = 1.0,
) -> Pair:
    """Return the scatter of `held` plus, or minus, that of `other`, in two doubles of its own."""
    low = np.zeros_like(held.scatter) if held.scatter_low is None else held.scatter_low
    if other.scatter_low is None:
        if not other.scatter.any():
            return held.scatter, low
        return plus((held.scatter, low), (sign * other.scatter, 0.0))
    return plus((held.scatter, low), (sign * other.scatter, sign * other.scatter_low))


def wider(part: FloatArray, places: Any, shape: Any) -> FloatArray:
    """Return an array of zeros with a part at its places."""
    whole = np.zeros(shape)
    whole[places] = part
    return whole


def explicit_part(state: Moments | DiagonalMoments, name: str) -> FloatArray:
    """Return a part that a state does not keep, as it would keep it."""
    if name == "anchor":
        return state.mean
    if name == "sum_error":
        return state._sums.sum_error
    if name in ("unusual", "steps"):
        return np.full_like(state.mean, np.inf)
    if name == "usual":
        return np.zeros_like(state.mean)
    if name == "scatter_low":
        return np.zeros_like(state.scatter)
    return np.zeros_like(state.mean) if name.startswith("counts") else np.zeros(())


class SecondMoments(ArraysOfFields, ABC):
    """What moments of all kinds have in common: dataclasses whose fields are arrays, or floats.

    The last axis of a field is that of the columns, but for weights; `scatter` has two such axes,
    or one where columns are by themselves.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def _bound(self) -> FloatArray:
        """The largest possible error (d,) of variances that are known in two doubles."""

    @property
    def _variances(self) -> FloatArray:
        """Those of the columns (d,), times the weight."""
        scatter: FloatArray = self.scatter  # type: ignore[attr-defined]
        return np.diagonal(scatter) if scatter.ndim == 2 else scatter

    @property
    def bound(self) -> FloatArray:
        """Per column, the largest possible error of its variance as `scatter` has it.

        That of a product of two columns is √(e_i e_j) and what errors of their sums do to it
        (`statistics/moments/rounding.py`): relative to √(S_ii S_jj), of the order of the larger
        bound.
        """
        return self._bound + 0.5 * EPSILON * self._variances

    @property
    def lost(self) -> FloatArray:
        """Per column, the largest possible relative error of its variance."""
        found = relative_loss(self._bound, self._variances)
        sum_error = self.sum_error  # type: ignore[attr-defined]
        if sum_error is None or not np.isinf(found).any():
            return found
        error: FloatArray = self.error  # type: ignore[attr-defined]
        constant = only_means_in_doubt(self._variances, error, sum_error, self._weight_of_means)
        return np.where(constant, 0.0, found)

    @property
    @abstractmethod
    def _weight_of_means(self) -> object:
        """The weight behind each mean."""

    @property
    def _is_rough(self) -> bool:
        """Whether these are sums in plain doubles, with the error that such sums have."""
        return self.scatter_low is None and bool(self.error.any())  # type: ignore[attr-defined]

    def embedded(self, places: IntArray, width: int) -> Self:
        """Return the moments of the same rows with more columns, which were all zero."""
        changed: dict[str, object] = {}
        for field in fields(self):  # type: ignore[arg-type]
            part = getattr(self, field.name)
            if field.name.startswith("scatter") and np.ndim(part) == 2:
                changed[field.name] = wider(part, np.ix_(places, places), (width, width))
            elif part is not None and not field.name.startswith(("weight", "labels")):
                whole = wider(part, (..., places), (*part.shape[:-1], width))
                if field.name == "steps":
                    whole[whole == 0.0] = 1.0  # zeros are whole numbers
                changed[field.name] = whole
        return replace(self, **changed)  # type: ignore[type-var]


M = TypeVar("M", bound="Moments | DiagonalMoments")


def with_near_anchor(state: M, weight: object) -> M:
    """Return the same about an anchor near the mean, given the weight of each column."""
    sums = state._sums
    near = nearer(sums, weight, state.mean, state._variances)
    if near is sums:
        return state
    return replace(state, anchor=near.anchor, sum_error=near.sum_error, error=near.error)


class HasScatter(Protocol):
    """Moments of one class or of several, with one scatter (d, d)."""

    @property
    def scatter(self) -> FloatArray:
        """What doubles hold of it."""
        ...

    @property
    def scatter_low(self) -> FloatArray | None:
        """What they do not."""
        ...


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


class Combined(NamedTuple):
    """What a merge or a subtraction leaves: no lower part of the scatter after one in doubles."""

    weights: Pair
    means: Pair
    scatter: Pair
    error: FloatArray
    sum_error: FloatArray
    anchors: FloatArray | None
    weights_error: FloatArray | None = None


def combined(
    sign: float, ours: Classes, theirs: Classes, held: HasScatter, other: HasScatter
) -> Combined | None:
    """Return what merging (1) or subtracting (-1) leaves, or None where NumPy has to do it.

    That is in the first operations of a process, with many classes, and where anything is out of
    the ordinary. The numbers are the same to the last bit.
    """
    size, width = ours.means[0].shape
    # Of many numbers in one column NumPy adds halves to halves.
    if width == 0 or size > MOST_ROWS or (width == 1 and size >= SHORT_SUM):
        return None
    twin = compiled_twin()
    if twin is None:
        return None
    nothing = other.scatter_low is None and not other.scatter.any()
    low = np.zeros_like(held.scatter) if held.scatter_low is None else held.scatter_low
    other_low = np.zeros_like(held.scatter) if other.scatter_low is None else other.scatter_low
    errors = [
        np.full(size, side.weight_error) if isinstance(side.weight_error, float)
        else side.weight_error[:, 0] for side in (ours.sums, theirs.sums)
    ]  # fmt: skip
    given = [
        *ours.weights, *theirs.weights, *ours.means, *theirs.means,
        held.scatter, low, other.scatter, other_low,
        ours.sums.anchor, theirs.sums.anchor, ours.sums.sum_error, theirs.sums.sum_error,
        ours.sums.error, theirs.sums.error, *errors,
    ]  # fmt: skip
    weights, means = np.empty((2, size)), np.empty((2, size, width))
    scatter, error, known = np.empty((2, width, width)), np.empty(width), np.empty((3, size, width))
    plain = [np.ascontiguousarray(part) for part in given]
    twin.combine_classes()(sign, nothing, LIMITS, *plain, weights, means, scatter, error, known)
    if known[2, 0, 0] == 0.0:
        return None
    return Combined(
        (weights[0], weights[1]), (means[0], means[1]), (scatter[0], scatter[1]), error,
        known[0], known[1],
    )  # fmt: skip


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
