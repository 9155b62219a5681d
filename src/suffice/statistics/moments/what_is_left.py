"""What is left after a subtraction: weights, variances and means, or a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from suffice.errors import DifferentKinds, ForgettingUnseen
from suffice.kernels.dense.columns_apart import ColumnsApart
from suffice.kernels.dense.double_double import Pair, minus
from suffice.linear_algebra import EPSILON, SCATTER_ROUNDING, is_positive
from suffice.places import ColumnAt, Phrase
from suffice.statistics.algebra import ROUNDING
from suffice.statistics.moments.rounding import NO_VARIANCE, over_classes
from suffice.statistics.moments.steps import (
    nothing_varies,
    on_grid,
    repeated_cells,
    steps_after,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray
    from suffice.statistics.moments.diagonal import DiagonalMoments
    from suffice.statistics.moments.full import Moments
    from suffice.statistics.moments.pooled import PooledMoments


SAME_MEAN = 1e-9
"""Relative difference of means below which rows that go are those that are left. A single row that
is left of many has a mean with the rounding of all their sums; other rows differ by far more."""
LAST_DIGITS = 64.0 * EPSILON
"""Relative difference of cells that are equal to fourteen digits."""
ONE_DOUBLE = 0.25
"""Doubt about a mean, as a part of the step to the next double, below which no other double can be
meant: below a power of two the step is half of that above."""
SQUARED_DOUBT = 1.0 + 1e-6
"""Doubts of sums that are so close together are the same but for rounding."""
UNDERFLOWN = 1e-290
"""Doubts of squares below this come from squares below the range of a double."""


class HasWidth(Protocol):
    """Statistics of a fixed number of columns."""

    @property
    def width(self) -> int:
        """The number of columns."""
        ...


def check_kinds(left: HasWidth, right: HasWidth) -> None:
    """Refuse statistics of two kinds, or of tables with different numbers of columns."""
    if type(left) is not type(right):
        raise DifferentKinds(
            f"{type(left).__name__} and {type(right).__name__} cannot be added",
            hint="summarize all rows by the same statistics",
        )
    if left.width != right.width:
        raise DifferentKinds(
            f"statistics of {left.width} columns and of {right.width} columns cannot be added",
            hint="merge and forget rows with the same columns only",
        )


def remaining(held: float, asked: float, place: str = "") -> float:
    """Return what is left of a weight: never negative, and zero when only rounding is left."""
    weight = held - asked
    if weight < -ROUNDING * held or (held == 0.0 and asked > 0.0):
        raise ForgettingUnseen.of(held, asked, place)
    return weight if weight > ROUNDING * held else 0.0


def remaining_pair(held: Pair, asked: Pair, place: str = "") -> Pair:
    """Return what is left of a weight in two doubles, as `remaining` does in one."""
    if remaining(held[0], asked[0], place) == 0.0:
        return 0.0, 0.0
    return minus(held, asked)


def vanished(
    variances: FloatArray,
    bound: FloatArray,
    before: FloatArray,
    usual: Usual,
    digits: FloatArray,
    *,
    single: bool,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which variances are no larger than their bound, and in which columns nothing varies.

    The former may be zero or, by rounding, negative: they become zero and keep their bound. One
    that is negative beyond its bound was never merged in. Where no unusual cell is left, the
    column is constant now, and where a step of its grid would be more than the bound; also where
    the bound is below what any model can see of the variance that was there `before`, and below
    `digits`, the variance of cells that differ in their last digits only (else what was taken away
    was so far off that nothing can be said). And a single row has no scatter at all, whatever was
    subtracted to reach it; but a weight of one is no single row if a variance is left (two rows of
    weight ½).
    """
    refuse_negative(variances, bound)
    gone = variances <= bound
    if single and gone.all():
        return gone, gone
    constant = (bound <= NO_VARIANCE * before) & (bound <= digits)
    constant |= nothing_varies(bound, usual[2])
    if usual[1] is not None:
        constant |= usual[1] == 0.0
    return gone, gone & constant


def last_digits(weight: object, mean: FloatArray) -> FloatArray:
    """Return the scatter of cells that are the same as their mean but for the last digits."""
    found: FloatArray = weight * np.square(LAST_DIGITS * mean)
    return found


def settled(
    mean: Pair,
    constant: NDArray[np.bool_],
    usual: Usual,
    weight: FloatArray,
    sums: tuple[FloatArray, FloatArray],
) -> tuple[Pair, FloatArray, FloatArray]:
    """Return means (d,) or (k, d) in which those of constant columns are what each cell is, E, e.

    That is the usual cell, the nearest one of their grid, or the double that is nearest to the
    mean: all cells are one double. If the mean is not known so well that this is certain, its
    doubt stays, and the square of that is all the doubt about the scatter. A mean that is no larger
    than its error is taken for that of zeros: other cells so small beside those that are gone
    cannot be told from them, and most are indicators.

    `sums` are E and e about the old anchor; the new one of constant columns is their mean.
    """
    sum_error, error = sums
    if not constant.any():
        return mean, sum_error, error
    doubt = sum_error / weight
    none = constant & (np.abs(mean[0]) <= doubt)
    high, low = np.where(none, 0.0, mean[0]), np.where(constant, 0.0, mean[1])
    (high, low), known = on_grid((high, low), constant, usual[2], doubt)
    known = known | (doubt < ONE_DOUBLE * np.spacing(np.abs(high)))
    if usual[0] is not None:
        at_usual = constant & (usual[1] == 0.0)
        high, known = np.where(at_usual, usual[0], high), known | at_usual
    off = np.where(known, 0.0, doubt + np.abs((mean[0] - high) + mean[1]))
    sum_error = np.where(constant, weight * off, sum_error)
    doubts = over_classes(np.square(off) * weight)
    return (high, low), sum_error, np.where(constant, doubts, error)


def refuse_unbounded(error: FloatArray, what: str) -> None:
    """Refuse what would leave squares beyond all doubles."""
    if not np.isfinite(error).all():
        j = int(np.argmin(np.isfinite(error)))
        said = "{what} would leave {column} with a spread beyond the range of a double"
        raise ForgettingUnseen(
            Phrase(said, what=what, column=ColumnAt(j)),
            hint="only rows that were learned before can be removed",
        )


def refuse_negative(variances: FloatArray, error: FloatArray) -> None:
    """Refuse a subtraction that leaves a negative variance: it took away what was not there."""
    if np.any(variances < -error):
        j = int(np.argmin(variances + error))
        said = "forgetting would leave {column} with a negative variance ({value:g})"
        raise ForgettingUnseen(
            Phrase(said, column=ColumnAt(j), value=float(variances[j])),
            hint="only rows that were learned before can be removed",
        )


LEFT_ROUNDING = 0.5 * SCATTER_ROUNDING
"""Half of what a model file may have: two such sums are still within it when they are merged."""

M = TypeVar("M", bound="Moments | PooledMoments")


def are_possible(sums: Moments | PooledMoments) -> bool:
    """Whether sums can be of any rows: no direction has a negative variance, within their bound."""
    return len(sums.scatter) < 2 or is_positive(sums.scatter, sums.bound, LEFT_ROUNDING)


def vouched(as_of_one_batch: M, held: M) -> M:
    """Return sums for which someone vouches, with the bound of one batch.

    Where digits were lost columns may have correlations beyond 1, and with that bound they would
    be sums of no rows: such ones keep the bound that they `held`.
    """
    return as_of_one_batch if are_possible(as_of_one_batch) else held


def possible(left: M) -> M:
    """Return what is left if it can be of any rows; refuse a negative variance in any direction.

    Rows that never were learned may leave every column a variance, and the columns correlations
    beyond 1.
    """
    scatter, bound = left.scatter, left.bound
    if are_possible(left):
        return left
    finite = np.isfinite(scatter).all(axis=0)
    j = int(np.argmin(finite))
    if finite.all():
        scale = np.sqrt(np.diagonal(scatter) + bound)
        scale = np.where(scale > 0.0, scale, 1.0)
        _, axes = np.linalg.eigh(scatter / scale / scale[:, np.newaxis])
        j = int(np.argmax(np.abs(axes[:, 0])))
    said = "forgetting would leave {column}, together with other columns, a negative variance"
    raise ForgettingUnseen(
        Phrase(said, column=ColumnAt(j)),
        hint="only rows that were learned before can be removed",
    )


def refuse_leftovers(
    held: Moments | DiagonalMoments,
    gone: Moments | DiagonalMoments,
    gap: FloatArray,
    variances: FloatArray,
) -> None:
    """Refuse to take away all the weight with rows that are not those that were merged in."""
    held_variances = np.diagonal(held.scatter) if held.scatter.ndim == 2 else held.scatter
    rounding = held.weight * np.square(SAME_MEAN * np.abs(held.mean))
    bound = held.bound + gone.bound + 1e-9 * held_variances + rounding
    with np.errstate(over="ignore"):
        strange = (np.abs(variances) > bound) | (held.weight * np.square(gap) > bound)
    if strange.any():
        j = int(np.argmax(strange))
        raise ForgettingUnseen(
            Phrase(
                "the rows to forget weigh as much as all learned rows, but {column} differs: "
                "their mean is {theirs:g}, not {ours:g}, or their spread differs",
                column=ColumnAt(j),
                theirs=float(gone.mean[j]),
                ours=float(held.mean[j]),
            ),
            hint="only rows that were learned before can be removed",
        )


def refuse_leftover_classes(
    held: PooledMoments, gone: PooledMoments, gap: FloatArray, classes: NDArray[np.bool_]
) -> None:
    """Refuse to take classes away whole with rows that are not those that were merged in."""
    bound = held.bound + gone.bound + 1e-9 * np.diagonal(held.scatter)
    with np.errstate(over="ignore"):  # what is beyond all doubles is strange enough
        rounding = np.square(SAME_MEAN * held.means) * held.weights[:, np.newaxis]
        strange = held.weights[:, np.newaxis] * np.square(gap) > bound + rounding
    strange &= classes[:, np.newaxis]
    if classes.all():
        strange |= np.abs(np.diagonal(held.scatter - gone.scatter)) > bound + rounding
    if strange.any():
        c, j = (int(v[0]) for v in np.nonzero(strange))
        raise ForgettingUnseen(
            Phrase(
                "the rows to forget weigh as much as all of class {label}, but {column} has "
                "a different mean or spread there",
                label=repr(held.labels[c]),
                column=ColumnAt(j),
            ),
            hint="only rows that were learned before can be removed",
        )


def relative_loss(bound: FloatArray, variances: FloatArray) -> FloatArray:
    """Return bound/variance, with 0/0 = 0: a column that never moved has lost nothing."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(bound > 0.0, bound / variances, 0.0)


def only_means_in_doubt(
    variances: FloatArray, error: FloatArray, sum_error: FloatArray, weight: Any
) -> NDArray[np.bool_]:
    """Return where nothing varies, though the cell that all rows have is not known to the last bit.

    Then e is the square of the doubt about the mean, as `settled` leaves it.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        doubts = over_classes(sum_error * (sum_error / weight)) * SQUARED_DOUBT
        found: NDArray[np.bool_] = (variances == 0.0) & (error > UNDERFLOWN) & (error <= doubts)
    return found


Usual = tuple["FloatArray | None", "FloatArray | None", "FloatArray | None"]
"""The usual cell of each column, the weight of other ones, and the steps of its grid: the last two
are infinite where that is not known."""

LOOK = 64
"""How many rows are looked at before cells are counted, at least."""
NEARLY_ALL = 0.9
"""The share of them that has to be the same, if there are many rows."""
FIRST = 10_000
"""So many rows are not many: where they repeat any cell, the others are counted."""
MANY = 500
"""Other cells in the first rows after which they are not counted: so many are not soon gone."""


def usual_cells(
    rows: Any, codes: IntArray | None, size: int, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray] | None:
    """Return the usual cell (d,) of each column and the weight (k, d) of other cells by class.

    None where no column has one; NaN is not a cell. Without codes there is one class.
    """
    if len(rows) < 2:
        return None
    apart, few = isinstance(rows, ColumnsApart), codes is None
    repeated = repeated_cells(rows, few=few)
    if repeated is None and (few or not _two_of_three(rows)):
        return None
    if len(rows) > FIRST and not apart:
        # Of five cells of which each is the usual one in nine cases of ten, two are; where none
        # are, looking further would cost more than the sums of a small fit.
        five = np.sort(rows[:: (len(rows) - 1) // 4][:5], axis=0)
        if not (five[1:] == five[:-1]).any():
            return None
    step = max(1, len(rows) // LOOK)
    look = np.array([column[::step] for column in rows.columns]).T if apart else rows[::step]
    three = look[[0, len(look) // 2, -1]]
    if repeated is not None:
        here, cells = repeated
        three[1, here] = cells[here]
    matches = np.array([np.count_nonzero(look == one, axis=0) for one in three])
    found = np.flatnonzero(matches.max(axis=0) > 1)
    if not len(found):
        return None
    usual = three[matches.argmax(axis=0), np.arange(three.shape[1])].astype(np.float64)
    usual[np.isnan(usual)] = 0.0
    unusual = np.full((size, len(usual)), np.inf)
    if few:
        differs = (look != usual) & ~np.isnan(look)
        weight = differs.sum(axis=0) if weights is None else weights @ differs
        unusual[0, found] = weight[found]
        return usual, unusual
    if len(rows) > FIRST:
        found = [j for j in found if matches[:, j].max() >= NEARLY_ALL * len(look)]  # type: ignore[assignment]
    for j in found:
        column, value = rows.columns[j] if apart else rows[:, j], usual[j]
        if len(rows) > FIRST and np.count_nonzero(column[:FIRST] != value) > MANY:
            continue
        places = np.flatnonzero(column != value)
        places = places[~np.isnan(column[places])]
        heavy = None if weights is None else weights[places]
        own = np.zeros(len(places), dtype=np.intp) if codes is None else codes[places]
        unusual[:, j] = np.bincount(own, heavy, minlength=size)
    return None if np.isinf(unusual).all() else (usual, unusual)


def _two_of_three(rows: Any) -> bool:
    """Whether two of three rows have the same cell somewhere: where nearly all have one, two do."""
    at = [0, len(rows) // 2, len(rows) - 1]
    apart = isinstance(rows, ColumnsApart)
    a, b, c = np.array([column[at] for column in rows.columns]).T if apart else rows[at]
    return bool(((a == b) | (a == c) | (b == c)).any())


def _about(state: Moments | DiagonalMoments | PooledMoments, value: FloatArray) -> FloatArray:
    """Return the weight (d,) of cells that are not `value`, infinite where it is not known."""
    found = np.full(len(value), np.inf)
    if state.usual is not None:
        assert state.unusual is not None
        found = np.where(state.usual == value, state.unusual, np.inf)
    scatter = state.scatter
    constant = ((np.diagonal(scatter) if scatter.ndim == 2 else scatter) == 0.0) & (
        state.error == 0.0
    )
    if not constant.any():
        return found
    mean = getattr(state, "mean", None)
    if mean is None:  # of every class by itself
        weights, means, lows = state.weights, state.means, state.lows  # type: ignore[union-attr]
        other = weights @ ((means != value) | (lows != 0.0))
    else:
        other = getattr(state, "counts", state.weight) * ((mean != value) | (state.low != 0.0))  # type: ignore[union-attr]
    return np.where(constant, other, found)


def usual_after(
    held: Moments | DiagonalMoments | PooledMoments,
    other: Moments | DiagonalMoments | PooledMoments,
    sign: float = 1.0,
) -> Usual:
    """Return what is usual, and the weight of what is not, after a merge or a subtraction."""
    value = held.usual if held.usual is not None else other.usual
    if value is None:
        if held.error.any() or other.error.any():
            return None, None, steps_after(held, other)
        # The first rows of a stream: each of them is a constant.
        value = held.mean if hasattr(held, "mean") else held.means[0]
    ours, theirs = _about(held, value), _about(other, value)
    unknown = np.isinf(ours) | np.isinf(theirs)
    left = np.where(unknown, 0.0, ours) + sign * np.where(unknown, 0.0, theirs)
    left[left <= ROUNDING * held.weight] = 0.0
    left[unknown] = np.inf  # what is not known on either side is not known after it
    return value, left, steps_after(held, other)
