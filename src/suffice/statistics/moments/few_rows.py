"""Few rows, summed in two doubles: windows that learn and forget small batches last longer."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.kernels.dense.columns_apart import together
from suffice.kernels.dense.double_double import (
    GRAM_ERROR,
    MOST_ROWS,
    SHORT_SUM,
    Pair,
    column_sums,
    compiled_twin,
    gram,
    root,
    squared,
    times,
)
from suffice.linear_algebra import EPSILON, two_sum
from suffice.statistics.moments.centres import non_finite, raise_to_zero, underflow
from suffice.statistics.moments.steps import steps_of
from suffice.statistics.moments.what_is_left import usual_cells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.rows import FloatArray, IntArray

FEW = MOST_ROWS
"""Rows that are summed in two doubles; more of them in plain ones, so that fits are fast."""

RARE = 4.0
"""Classes of few rows are summed so where they are no more than a fourth of the batch."""


class FewRows(NamedTuple):
    """Weight, mean and scatter in two doubles, and the bounds of their errors about the mean."""

    weight: Pair
    mean: Pair
    squares: Pair
    error: FloatArray
    sum_error: FloatArray | None
    usual: FloatArray | None = None
    unusual: FloatArray | None = None
    steps: FloatArray | None = None


def rare_classes(counts: FloatArray) -> list[int]:
    """Return classes of so few rows that summing them in two doubles takes no time beside the rest.

    If most of such a class is forgotten, what is left may be the same row twice.
    """
    if counts.min(initial=np.inf) > FEW:
        return []
    few = (counts > 0.0) & (counts <= FEW)
    if not few.any() or RARE * counts[few].sum() > counts.sum():
        return []
    found: list[int] = np.flatnonzero(few).tolist()
    return found


def few_by_class(
    rows: FloatArray, codes: IntArray, size: int, weights: FloatArray | None
) -> Iterator[tuple[FloatArray, FloatArray | None]]:
    """Yield the rows of every class 0 … size - 1, as float64, and their weights."""
    rows = np.asarray(together(rows), dtype=np.float64)
    if size == 1:
        yield rows, weights
        return
    for c in range(size):
        here = codes == c
        yield rows[here], None if weights is None else weights[here]


def rare_by_class(
    rows: FloatArray, codes: IntArray, counts: FloatArray, weights: FloatArray | None
) -> Iterator[tuple[int, FloatArray, FloatArray | None]]:
    """Yield the classes of few rows among many, each with its rows, as float64, and weights."""
    for c in rare_classes(counts):
        here = codes == c
        own = together(rows)[here].astype(np.float64)
        yield c, own, None if weights is None else weights[here]


def summed_precisely(
    rows: FloatArray, weights: FloatArray | None, *, products: bool, counts: Pair | None = None
) -> FewRows:
    """Return the moments of 1 … 32 rows (n, d), about their mean; with `products` (d, d).

    With `counts`, the weight (d,) of the cells of each column, cells that are NaN are not there.
    """
    if len(rows) == 1 and counts is None:
        single = _single(rows[0], 1.0 if weights is None else float(weights[0]), products)
        return single._replace(steps=steps_of(rows, weights))
    weight: Pair = counts if counts is not None else _total(len(rows), weights)
    if products:
        one = np.zeros(len(rows), dtype=np.intp)
        totals = np.array([weight[0]]), np.array([weight[1]])
        found = _summed_by_class(rows, one, totals, weights)
        mean: Pair = (found.means[0][0], found.means[1][0])
        few = FewRows(weight, mean, found.squares, found.error, found.sum_error[0])
    else:
        few = _squares(rows, weights, weight, counts)
    usual, unusual = usual_cells(rows, None, 1, weights) or (None, None)
    few = few._replace(steps=steps_of(rows, weights))
    if usual is None:
        return few
    return few._replace(usual=usual, unusual=None if unusual is None else unusual[0])


def cells_summed_precisely(
    rows: FloatArray, weights: FloatArray | None
) -> tuple[Pair, Pair, FewRows]:
    """Return the weight of 1 … 32 rows (n, d), the counts (d,) of their cells, and their moments.

    Cells that are NaN are not there, and a column of them is zero in every part.
    """
    size, width = rows.shape
    seen = ~np.isnan(rows)
    each = np.ones(size) if weights is None else weights
    weight, weight_low = float(size), 0.0
    if weights is not None:
        (weight,), (weight_low,) = column_sums((each[:, np.newaxis], np.zeros((size, 1))))
    if seen.all():
        whole = np.full(width, weight), np.full(width, weight_low)
        return (weight, weight_low), whole, summed_precisely(rows, weights, products=False)
    cells = np.where(seen, each[:, np.newaxis], 0.0)
    counts = column_sums((cells, np.zeros_like(cells)))
    few = summed_precisely(rows, weights, products=False, counts=counts)
    for part in (*few.mean, few.squares[0], few.error):
        part[counts[0] == 0.0] = 0.0
    return (weight, weight_low), counts, few


def _squares(
    rows: FloatArray, weights: FloatArray | None, weight: Pair, counts: Pair | None
) -> FewRows:
    """Return the moments of several rows column by column."""
    if counts is None:
        twin, found = _twin(), np.empty((6, rows.shape[1]))
        if twin is not None and twin.few_squares(rows, weights, weight[0], found):
            return FewRows(weight, (found[0], found[1]), (found[2], found[3]), found[4], found[5])
    one, of_all = np.zeros(len(rows), dtype=np.intp), np.atleast_2d(weight[0])
    centre = few_centres(rows, one, 1, weights, of_all)[0]
    with np.errstate(over="ignore", invalid="ignore"):
        away: Pair = two_sum(rows, -centre)
        if counts is not None:
            away = np.where(np.isnan(rows), 0.0, away[0]), np.where(np.isnan(rows), 0.0, away[1])
        sums: FloatArray
        if weights is None:
            sums = column_sums(away)[0]
        else:
            roots = root((weights[:, np.newaxis], 0.0))
            away = times(away, roots)
            sums = column_sums(times(away, roots))[0]
        held = np.where(weight[0] > 0.0, weight[0], 1.0)
        squares = column_sums(squared(away))
        shift = sums / held
        reach = sums / np.sqrt(held)
        variances = squares[0]
        # The centre is the mean but for rounding: of sums and shift plain doubles are enough.
        high, low = two_sum(squares[0], -np.square(reach))
        high, low = two_sum(high, low + squares[1])
        high, low = np.where(high < 0.0, 0.0, high), np.where(high < 0.0, 0.0, low)
        mean: Pair = two_sum(centre, shift)
        sum_error = 2.0 * EPSILON * np.abs(sums) + GRAM_ERROR * (np.sqrt(held) * np.sqrt(variances))
        error = GRAM_ERROR * variances + 4.0 * EPSILON * np.square(reach)
        error += underflow(np.asarray([len(rows)]), variances[np.newaxis], sums)[0]
        error += sum_error * (2.0 * np.abs(shift) + 2.0 * sum_error / held)
    if not np.isfinite(high).all():
        raise non_finite(np.where(np.isnan(rows), 0.0, rows) if counts is not None else rows)
    return FewRows(weight, mean, (high, low), error, sum_error)


def few_centres(
    rows: FloatArray,
    codes: IntArray,
    count: int,
    weights: FloatArray | None = None,
    held: FloatArray | None = None,
) -> FloatArray:
    """Return a row of every class plus the mean deviation of its rows from it, (k, d).

    As `provisional_centres` does, of all rows in their order; NaN is passed over. With weights,
    whose sums `held` are (k, 1) or (k, d), it is their mean by weight: about any other place one
    heavy row would leave the squares of the rest no digits.
    """
    first = np.zeros(count, dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    base = rows[first]
    blank = not np.isfinite(base).all()
    if blank:
        base[~np.isfinite(base)] = 0.0
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        deviations = rows - base[codes]
        sums, counts = np.zeros_like(base), np.bincount(codes, minlength=count)[:, np.newaxis]
        if weights is not None and held is not None:
            deviations *= weights[:, np.newaxis] / held[codes]
        seen = np.isfinite(deviations)
        if not seen.all():
            deviations[~seen] = 0.0
            counts = np.zeros_like(base)
            np.add.at(counts, codes, seen)
            counts = np.maximum(counts, 1.0)
        np.add.at(sums, codes, deviations)
        centres: FloatArray = base + (sums / counts if weights is None else sums)
    if not np.isfinite(centres).all():
        centres[~np.isfinite(centres)] = 0.0
    return centres


class FewClasses(NamedTuple):
    """Weights, means and scatter of several classes in two doubles, and what they may be wrong by.

    `present` (m,) are the codes of the classes that have rows; weights are (m,), means and
    sum_error (m, d), squares (d, d) and error (d,) those of all rows about their class's mean.
    """

    present: IntArray
    weights: Pair
    means: Pair
    squares: Pair
    error: FloatArray
    sum_error: FloatArray


def classes_summed_precisely(
    rows: FloatArray, codes: IntArray, weights: FloatArray | None
) -> FewClasses:
    """Return what `summed_precisely` does for every class, with one scatter for all of them.

    One product does it: beside the rows there is a column for each class, which holds its ones.
    """
    rows = np.asarray(together(rows), dtype=np.float64)
    if len(rows) == 1:
        one = _single(rows[0], 1.0 if weights is None else float(weights[0]), products=True)
        zero, weight = np.zeros((1, rows.shape[1])), (np.array([one.weight[0]]), np.zeros(1))
        return FewClasses(codes, weight, (rows, zero), one.squares, one.error, zero)
    counts = np.bincount(codes)
    present = np.flatnonzero(counts)
    if len(present) < len(counts):
        counts = counts[present]
        codes = np.searchsorted(present, codes)
    if weights is None:
        totals: Pair = (counts.astype(np.float64), np.zeros(len(counts)))
    else:
        each = [_total(0, weights[codes == c]) for c in range(len(counts))]
        totals = (np.array([high for high, _ in each]), np.array([low for _, low in each]))
    return _summed_by_class(rows, codes, totals, weights)._replace(present=present)


def _summed_by_class(
    rows: FloatArray, codes: IntArray, totals: Pair, weights: FloatArray | None
) -> FewClasses:
    """Return the same of several rows whose classes are 0 … k - 1, all of which have some."""
    count, width = len(totals[0]), rows.shape[1]
    present = np.arange(count)
    if width > 1 or count < SHORT_SUM:
        twin = _twin()
        found = None if twin is None else twin.few_products(rows, codes, weights, totals[0])
        if found is not None:
            means, squares, error, sum_error = found
            pair = (squares[0], squares[1])
            return FewClasses(present, totals, (means[0], means[1]), pair, error, sum_error)
    centres = few_centres(rows, codes, count, weights, totals[0][:, np.newaxis])
    ones = np.zeros((len(rows), count))
    ones[np.arange(len(rows)), codes] = 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        away: Pair = two_sum(rows, -centres[codes])
        marks: Pair = (ones, np.zeros_like(ones))
        if weights is not None:
            roots = root((weights[:, np.newaxis], 0.0))
            away = times(away, roots)
            marks = (ones * roots[0], ones * roots[1])
        held = totals[0][:, np.newaxis]
        whole = gram(
            (
                np.concatenate([away[0], marks[0]], axis=1),
                np.concatenate([away[1], marks[1]], axis=1),
            )
        )
        squares = whole[0][:width, :width], whole[1][:width, :width]
        sums = whole[0][width:, :width]
        shift, reach = sums / held, sums / np.sqrt(held)
        variances = np.diagonal(squares[0])
        # Centres are means but for rounding: of sums and shifts plain doubles are enough.
        outer = np.multiply.outer(reach[0], reach[0])
        for each in reach[1:]:
            outer += np.multiply.outer(each, each)
        high, low = two_sum(squares[0], -outer)
        high, low = two_sum(high, low + squares[1])
        raise_to_zero(high, low)
        means = two_sum(centres, shift)
        sum_error = 2.0 * EPSILON * np.abs(sums) + GRAM_ERROR * (np.sqrt(held) * np.sqrt(variances))
        moved = np.square(reach).sum(axis=0)
        error = GRAM_ERROR * variances + (3.0 + count) * EPSILON * moved
        error += underflow(
            np.asarray([len(rows)]), variances[np.newaxis], np.abs(sums).max(axis=0)
        )[0]
        error += (sum_error * (2.0 * np.abs(shift) + 2.0 * sum_error / held)).sum(axis=0)
    if not np.isfinite(high).all():
        raise non_finite(rows)
    return FewClasses(present, totals, means, (high, low), error, sum_error)


def _twin() -> Any:
    """Return the compiled twin if there is enough to do for it, else None."""
    if compiled_twin() is None:
        return None
    from suffice.kernels.dense import few_rows_numba

    return few_rows_numba


def _single(row: FloatArray, weight: float, products: bool) -> FewRows:
    if not np.isfinite(row).all():
        raise non_finite(row[np.newaxis])
    zero = np.zeros(len(row))
    none = np.zeros((len(row), len(row))) if products else zero
    return FewRows((weight, 0.0), (row.copy(), zero), (none, None), zero, None)


def _total(size: int, weights: FloatArray | None) -> Pair:
    if weights is None:
        return float(size), 0.0
    each = weights.tolist()
    high = fsum(each)
    return high, fsum([*each, -high])
