"""Sums about provisional centres: one pass over the rows that keeps all digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from suffice.errors import NotFinite
from suffice.kernels.dense.scatter import class_squares, sampled_centres
from suffice.linear_algebra import EPSILON, two_sum
from suffice.places import ColumnAt

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from suffice.rows import FloatArray, IntArray

SAMPLE = 128
"""How many rows are looked at to guess where each class is centred, at least."""
PER_CLASS = 8
"""And how many for each class: a mean of so few is within a standard deviation of the mean of all,
and that is near enough. A guess that is not is noticed, and costs a second pass."""
POOR = 100.0
"""A centre is poor when the sums about it exceed those about the mean by this factor."""
POOR_FOR_WINDOWS, WINDOW, FEW_CLASSES = 1.3, 8192, 3
"""And by this one among so few rows and classes, such as a window begins with: its bound stays for
ever, and (√Q + reach)² is 2.8 times S then. With 42 rows or more for each class in the sample,
three standard errors are not as much; but one huge cell may be in the sample."""
PER_ADDITION = 0.5 * EPSILON
"""What one addition may add to the relative error of a sum of squares. Where all cells but one are
the same it is nearly reached: they are rounded in the same direction, each time."""

SMALL_SQUARE = 1e-290
"""Sums of squares from which no digit is lost by underflow."""
LEAST = 5e-324
"""The smallest double above zero: what one underflow may lose."""
NOTHING = np.zeros((1, 1))
"""What a bound is where nothing is lost: no squares are small."""


class ScatterKernel(Protocol):
    """Sums of centred rows and of their products, per class or pooled."""

    def __call__(
        self,
        rows: FloatArray,
        codes: IntArray,
        size: int,
        weights: FloatArray | None,
        centres: FloatArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return weights (k,), sums (k, d) and products about the centres."""
        ...


def rows_that_count(
    rows: ArrayLike, weights: ArrayLike | None
) -> tuple[FloatArray, FloatArray | None]:
    """Return rows as floats (float32 stays) with their weights, without those of weight zero."""
    x = np.asarray(rows)
    x = x if x.dtype in (np.float32, np.float64) else x.astype(np.float64)
    if weights is None:
        return x, None
    w = np.asarray(weights, dtype=np.float64)
    return (x, w) if w.all() else (x[w > 0.0], w[w > 0.0])


def provisional_centres(rows: FloatArray, codes: IntArray, size: int) -> FloatArray:
    """Return a guess of every class's mean, from a sample of the rows.

    Each guess is an actual row of the class plus the mean deviation from it, so that a
    column which never moves within a class is centred exactly and has scatter exactly 0.
    Missing cells are passed over.
    """
    step = max(1, len(rows) // max(SAMPLE, PER_CLASS * size))
    return sampled_centres(rows, codes, size, step)


def summed_about_centres(
    kernel: ScatterKernel,
    rows: FloatArray,
    codes: IntArray,
    size: int,
    weights: FloatArray | None,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return weights, means (hi and lo), reaches and products about the centres, per class.

    The reach of a class is √W (mean - centre): products minus its outer product are the
    scatter about the mean. If a guess was so poor that this subtraction would cost digits,
    the rows are summed once more about the means just found.
    """
    centres = provisional_centres(rows, codes, size)
    for attempt in range(2):
        totals, sums, products = kernel(rows, codes, size, weights, centres)
        held = np.where(totals > 0.0, totals, 1.0)[:, np.newaxis]
        with np.errstate(all="ignore"):
            shifts = sums / held
            reaches = sums / np.sqrt(held)
            mean, low = two_sum(centres, shifts)
            if attempt == 0 and _are_poor(products, reaches, poor_beyond(len(rows), size)):
                centres = mean
                continue
        break
    if not (np.isfinite(products).all() and np.isfinite(sums).all()):
        raise non_finite(rows)
    if not totals.all():
        mean[totals == 0.0] = low[totals == 0.0] = 0.0
    return totals, mean, low, reaches, products


def squared_about_centres(
    rows: FloatArray, codes: IntArray, size: int, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the same column by column, where NaN is a missing cell.

    That is weights (k,) and counts (k, d), means (hi and lo), sums, reaches² and squares.
    """
    centres = provisional_centres(rows, codes, size)
    for attempt in range(2):
        totals, counts, sums, squares = class_squares(rows, codes, size, weights, centres)
        held = counts if counts.all() else np.where(counts > 0.0, counts, 1.0)
        with np.errstate(all="ignore"):
            mean, low = two_sum(centres, sums / held)
            shift = np.square(sums / np.sqrt(held))
        least = (1.0 - 1.0 / poor_beyond(len(rows), size)) * squares
        if attempt == 0 and np.any((shift > least) & (shift > 0.0)):
            centres = mean
            continue
        break
    if not (np.isfinite(squares).all() and np.isfinite(sums).all()):
        # Missing cells are legal here, so only the others can be at fault.
        raise non_finite(np.where(np.isnan(rows), 0.0, rows))
    if held is not counts:
        mean[counts == 0.0] = low[counts == 0.0] = 0.0
    return totals, counts, mean, low, sums, shift, squares


def poor_beyond(rows: int, size: int) -> float:
    """Return by which factor sums about poor centres exceed those about the means."""
    return POOR_FOR_WINDOWS if rows <= WINDOW and size <= FEW_CLASSES else POOR


def _are_poor(products: FloatArray, reaches: FloatArray, factor: float) -> bool:
    about_centres = np.diagonal(products, axis1=-2, axis2=-1)
    squares = np.square(reaches)
    shift = squares if products.ndim == 3 else squares.sum(axis=0)
    return bool(np.any((shift > (1.0 - 1.0 / factor) * about_centres) & (shift > 0.0)))


def raise_to_zero(high: FloatArray, low: FloatArray | None = None) -> None:
    """Make variances that rounding has left below zero nothing, and their products, in place.

    So it is where one row outweighs all others beyond all digits: there the bound of the error is
    larger than what is left. Of several classes (k, d, d), each by itself.
    """
    below = np.diagonal(high, axis1=-2, axis2=-1) < 0.0
    if below.any():
        gone = below[..., :, np.newaxis] | below[..., np.newaxis, :]
        high[gone] = 0.0
        if low is not None:
            low[gone] = 0.0


def rows_of_classes(
    codes: IntArray, size: int, totals: FloatArray, weights: FloatArray | None
) -> FloatArray:
    """Return how many rows each class has, whatever they weigh: rounding knows no weights."""
    return totals if weights is None else np.bincount(codes, minlength=size).astype(np.float64)


def relative_rounding(counts: FloatArray | float) -> Any:
    """Return the relative error that sums of squares of so many rows may have, in any order."""
    return PER_ADDITION * counts


def error_of_sums(relative: object, squares: FloatArray, shift: FloatArray) -> FloatArray:
    """Return e (…, d) of sums about centres, given Q about them and the reach √W|mean - centre|.

    With the relative error r of sums of products, Q is wrong by rQ and P = Σ w(x - c) by
    E = r Σ w|x - c| ≤ r √(WQ), and the weight by rW; about the mean, S = Q - P²/W is then wrong by
    rQ + 2 reach · E/√W + r reach². A poor guess of the centres makes this larger.
    """
    found: FloatArray = relative * np.square(np.sqrt(squares) + shift)
    return found


def underflow(counts: FloatArray, squares: FloatArray, reaches: FloatArray) -> FloatArray:
    """Return what squares (k, d) may have lost below the range of a double, given counts (k,).

    There, each square is rounded to the next multiple of 5e-324, and may be nothing at all.
    """
    if squares.min(initial=1.0) >= SMALL_SQUARE:
        return NOTHING
    small = (squares < SMALL_SQUARE) & ((squares > 0.0) | (reaches != 0.0))
    lost: FloatArray = np.where(small, counts[:, np.newaxis] * LEAST, 0.0)
    return lost


def with_weight(
    rows: FloatArray, codes: IntArray, weights: FloatArray | None
) -> tuple[FloatArray, IntArray, FloatArray | None]:
    """Return only the rows of positive weight: one of weight zero is not looked at."""
    if weights is None or weights.all():
        return rows, codes, weights
    kept = weights > 0.0
    return rows[kept], codes[kept], weights[kept]


def non_finite(rows: FloatArray) -> NotFinite:
    """Say which cell is not finite or, if all are, which columns are too wide to be squared."""
    bad = ~np.isfinite(rows)
    if bad.any():
        i, j = (int(v[0]) for v in np.nonzero(bad))
        return NotFinite.of(i, ColumnAt(j), float(rows[i, j]))
    with np.errstate(over="ignore"):
        spread = np.ptp(rows.astype(np.float64), axis=0) * np.sqrt(len(rows))
        wide = ~np.isfinite(np.square(spread))
    return NotFinite.of_range(ColumnAt(int(j)) for j in np.flatnonzero(wide))
