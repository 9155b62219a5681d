"""Centred sums by class: what every Gaussian statistic is made of.

Rows are centred on provisional class centres *before* they are multiplied: that is what keeps the
digits of columns far from zero. Nothing is checked here: a NaN or an infinity in the rows comes out
as a sum that is not finite, which costs no extra pass over the data.

    rows     (n, d) float32 or float64, any strides; float32 is widened before it is centred;
             they may be `ColumnsApart`
    codes    (n,) intp, the class of each row, 0..size-1
    weights  (n,) float64 > 0, or None for ones
    centres  (size, d) float64, finite

In NumPy, which also has what is too wide for the compiled loops, a block of about a megabyte is
sorted by class, centred into one reused buffer and multiplied with itself while it is still in the
cache. `Xᵀ X` of one array is SYRK in NumPy: half the work of a general product, and exactly
symmetric. Weights enter as √w on both sides, so that one buffer serves the sums as well:
Σ w x = √wᵀ (√w x).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np

from suffice.kernels.compilation import pays, twin
from suffice.kernels.dense.columns_apart import ColumnsApart, together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[np.floating] | ColumnsApart

WIDEST = 128
"""Columns up to which compiled products beat BLAS: their buffer fits a core's cache."""

BLOCK_CELLS = 1 << 17
"""Cells of one block: a megabyte of doubles."""

PIECE, WIDE, PER_CLASS = 256, 64, 64
"""Rows that are added up in one go, twice as many for products of more than WIDE columns, and so
many for each class where the sums of all classes are held: what `additions` counts on."""

FEW_MARKED, FEW_ROWS = 8, 2048
"""Classes, and rows, up to which rows are parted by products with zeros and ones: sorting so few
takes longer than all that is done with them."""


@overload
def additions(counts: float, rows: int, width: int, size: int) -> float: ...
@overload
def additions(counts: Floats, rows: int, width: int, size: int) -> Floats: ...
def additions(counts: float | Floats, rows: int, width: int, size: int) -> float | Floats:
    """Return through how many additions a cell of a class goes at most, given rows by class.

    Whatever the order, of n numbers none goes through more than n additions, and each addition
    rounds by ½ε: a sum of n products has an error of no more than ½ε n Σ|xy|. All loops add up
    pieces, and then the pieces:

    - NumPy: pieces of 256 (512) rows, in whatever order BLAS likes; the pieces of a block, which
      has at least 3·√(2¹⁷/3) = 627 rows; the blocks. So P + n/P + 2 + N/512 + 1, of n rows of a
      class and N rows in all.
    - compiled products: blocks of 256, in lanes or not; then the blocks, one after another, or
      those of a class in a chunk of at least 4096 rows, and then the chunks: 256 + n/256 + N/512.
    - compiled sums of several classes: as many rows as there are, up to 256 or 64 for each class,
      and then these one after another.

    >>> [int(additions(n, n, 10, 1)) for n in (50, 500, 5_000, 10**6)]
    [50, 262, 289, 6119]
    """
    piece = max(PIECE if width <= WIDE else 2 * PIECE, PER_CLASS * size)
    if isinstance(counts, np.ndarray):
        return np.minimum(counts, piece + counts / PIECE + rows / 512.0 + 4.0)
    return min(counts, piece + counts / PIECE + rows / 512.0 + 4.0)


def _narrow_rows_pay(rows: Rows, *_: object) -> bool:
    return pays(rows) and rows.shape[1] <= WIDEST


def _matrix_pays(rows: Rows, *_: object) -> bool:
    return not isinstance(rows, ColumnsApart) and pays(rows)


@twin("suffice.kernels.dense.scatter_numba", when=_matrix_pays)
def sampled_centres(rows: Rows, codes: Codes, size: int, step: int) -> Floats:
    """Return a row of every class plus the mean deviation of its sampled rows from it, (k, d).

    Every so manieth row is looked at, by `step`. Cells that are not finite are passed over; a class
    without rows lies nowhere in particular. There is a row, at least.
    """
    if isinstance(rows, ColumnsApart):
        return sampled_centres(*_sample(rows, codes, size, step), size, 1)
    drawn = codes[::step]
    present = np.bincount(drawn, minlength=size)
    first = np.zeros(size, dtype=np.intp)
    if not present.all():  # where a class is not in the sample, its first row has to do
        first[codes[::-1]] = np.arange(len(codes), dtype=np.intp)[::-1]
    first[drawn[::-1]] = np.arange(len(drawn), dtype=np.intp)[::-1] * step
    base = rows[first].astype(np.float64)
    base[~np.isfinite(base)] = 0.0
    with np.errstate(all="ignore"):
        if size <= FEW_MARKED and len(drawn) <= 2 * PIECE:  # one product instead of a sort
            deviations = rows[::step] - base[drawn]
            sums = _marks(drawn, size) @ deviations
            if np.isfinite(sums).all():
                base += sums / np.maximum(present, 1)[:, np.newaxis]
                base[~np.isfinite(base)] = 0.0
                return base
        order = np.argsort(drawn, kind="stable")
        groups = np.flatnonzero(present)
        counts = present[groups][:, np.newaxis]
        starts = np.cumsum(counts) - counts[:, 0]
        deviations = rows[::step][order] - base[drawn[order]]
        sums = np.add.reduceat(deviations, starts, axis=0)
        if not np.isfinite(sums).all():
            observed = np.isfinite(deviations)
            deviations[~observed] = 0.0
            counts = np.add.reduceat(observed.astype(np.intp), starts, axis=0)
            sums = np.add.reduceat(deviations, starts, axis=0)
        base[groups] += sums / np.maximum(counts, 1)
    base[~np.isfinite(base)] = 0.0
    return base


def _sample(
    rows: ColumnsApart, codes: Codes, size: int, step: int
) -> tuple[NDArray[np.floating], Codes]:
    """Return the rows that are looked at, and their classes.

    The first row of a class that the sample does not show is put at its end, where it stands for
    its class and for nothing else.
    """
    drawn = codes[::step]
    lacking = np.flatnonzero(np.bincount(drawn, minlength=size) == 0)
    firsts = [int(places[0]) for c in lacking if len(places := np.flatnonzero(codes == c))]
    length = len(drawn)
    sample = np.empty((length + len(firsts), rows.shape[1]), rows.dtype, order="F")
    for j, column in enumerate(rows.columns):
        sample[:length, j] = column[::step]
        if firsts:
            sample[length:, j] = column[firsts]
    return sample, np.concatenate([drawn, codes[firsts]]) if firsts else drawn


@twin("suffice.kernels.dense.scatter_numba", when=_narrow_rows_pay)
def pooled_scatter(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return (totals (k,), sums (k, d), scatter (d, d)), the scatter pooled over the classes.

    They are Σw and Σw(x - c) of each class, and one Σw(x - c)(x - c)ᵀ over all rows.
    """
    rows = together(rows)
    width = rows.shape[1]
    if weights is None and _are_few(rows, size):
        with np.errstate(all="ignore"):
            totals, marks, block = _marked(rows, codes, size, centres)
            return totals, _by_pieces(marks, block), _by_pieces(block.T, block)
    totals = np.bincount(codes, weights, size).astype(np.float64)
    sums = np.zeros((size, width))
    scatter = np.zeros((width, width))
    with np.errstate(all="ignore"):
        for block, roots, _, starts, present in _centred_blocks(
            rows, codes, size, weights, centres
        ):
            _add_sums(sums, block, roots, starts, present)
            scatter += block.T @ block
    return totals, sums, scatter


@twin("suffice.kernels.dense.scatter_numba", when=_narrow_rows_pay)
def class_scatters(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return (totals (k,), sums (k, d), scatters (k, d, d)): the same with one scatter a class."""
    rows = together(rows)
    width = rows.shape[1]
    totals = _totals(codes, size, weights)
    sums = np.zeros((size, width))
    scatters = np.zeros((size, width, width))
    blocks = _centred_blocks(rows, codes, size, weights, centres, least=32 * size)
    with np.errstate(all="ignore"):
        for block, roots, own, starts, present in blocks:
            _add_sums(sums, block, roots, starts, present)
            for code, start, stop in _runs(starts, present, len(block)):
                scatters[code] += _products(block[start:stop])
            if weights is not None:
                _add_weights(totals[:, np.newaxis], own[:, np.newaxis], starts, present)
    return totals, sums, scatters


@twin("suffice.kernels.dense.squares_numba")
def class_squares(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return (totals (k,), counts (k, d), sums (k, d), squares (k, d)); NaN cells are skipped.

    They are Σw of each class, and Σw, Σw(x - c), Σw(x - c)² of its observed cells by column.
    """
    rows = together(rows)
    width = rows.shape[1]
    if weights is None and _are_few(rows, size):
        with np.errstate(all="ignore"):
            totals, marks, block = _marked(rows, codes, size, centres)
            sums = _by_pieces(marks, block)
            if np.isfinite(sums).all():
                counts = np.repeat(totals[:, np.newaxis], width, axis=1)
                return totals, counts, sums, _by_pieces(marks, np.square(block))
    totals = _totals(codes, size, weights)
    counts = np.zeros((size, width))
    sums = np.zeros((size, width))
    squares = np.zeros((size, width))
    with np.errstate(all="ignore"):
        for block, roots, own, starts, present in _centred_blocks(
            rows, codes, size, weights, centres
        ):
            seen = own[:, None]  # not the square of a root: counts are exact
            if not np.isfinite(block.sum()):
                missing = np.isnan(block)
                block[missing] = 0.0
                seen = np.where(missing, 0.0, seen)
            if weights is None:  # whole numbers: nothing is rounded
                counts[present] += np.add.reduceat(seen, starts, axis=0)
            else:
                _add_weights(counts, seen, starts, present)
                _add_weights(totals[:, np.newaxis], own[:, np.newaxis], starts, present)
            _add_sums(sums, block, roots, starts, present)
            np.square(block, out=block)
            _add_sums(squares, block, np.ones(len(block)), starts, present)
    return totals, counts, sums, squares


def _are_few(rows: NDArray[np.floating], size: int) -> bool:
    """Return whether there are few rows, of few classes."""
    return len(rows) <= FEW_ROWS and size <= FEW_MARKED


def _by_pieces(left: Floats, rows: Floats) -> Floats:
    """Return left (…, n) times rows (n, d), where no more than PIECE rows are summed at once."""
    found: Floats = left[:, :PIECE] @ rows[:PIECE]
    for start in range(PIECE, len(rows), PIECE):
        found += left[:, start : start + PIECE] @ rows[start : start + PIECE]
    return found


def _marks(codes: Codes, size: int) -> Floats:
    """Return for each class (k, n) ones in its rows and zeros elsewhere."""
    marks: Floats = np.equal.outer(np.arange(size), codes).astype(np.float64)
    return marks


def _marked(
    rows: NDArray[np.floating], codes: Codes, size: int, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the rows of each class, their marks, and all rows without the centres."""
    totals = np.bincount(codes, minlength=size).astype(np.float64)
    return totals, _marks(codes, size), rows - centres.take(codes, axis=0)


def _centred_blocks(
    rows: NDArray[np.floating], codes: Codes, size: int, weights: Floats | None, centres: Floats,
    least: int = 1,
) -> Iterator[tuple[Floats, Floats, Floats, Codes, Codes]]:  # fmt: skip
    """Yield √w(x - c) of one block sorted by class, √w and w, where classes start, and which.

    The block is overwritten by the next one. `least` asks for longer blocks, up to eight times.
    """
    length, width = rows.shape
    step = max(3 * width, BLOCK_CELLS // max(width, 1), 1)
    step = max(step, min(least, 8 * step))
    buffer = np.empty((min(step, length), width))
    narrow = np.min_scalar_type(size)  # NumPy sorts 8 and 16 bits by radix
    for start in range(0, length, step):
        part = codes[start : start + step]
        order = np.argsort(part.astype(narrow), kind="stable")
        part = part[order]
        changes = np.flatnonzero(part[1:] != part[:-1])
        starts = np.zeros(len(changes) + 1, dtype=np.intp)
        np.add(changes, 1, out=starts[1:])
        block = buffer[: len(part)]
        np.take(centres, part, axis=0, out=block, mode="clip")
        np.subtract(rows[start : start + step][order], block, out=block)
        own = roots = np.ones(len(part))
        if weights is not None:
            own = weights[start : start + step][order]
            roots = np.sqrt(own)
            block *= roots[:, None]
        yield block, roots, own, starts, part[starts]


def _runs(starts: Codes, present: Codes, length: int) -> Iterator[tuple[int, int, int]]:
    """Yield each class with the rows of the block that are its own."""
    edges = [*starts.tolist(), length]
    yield from zip(present.tolist(), edges[:-1], edges[1:], strict=True)


def _add_sums(sums: Floats, block: Floats, roots: Floats, starts: Codes, present: Codes) -> None:
    """Add √wᵀ block to the sums, class by class."""
    if len(present) > 8:
        _add_weights(sums, block * roots[:, None], starts, present)
        return
    for code, start, stop in _runs(starts, present, len(block)):
        sums[code] += _weighted_sum(roots[start:stop], block[start:stop])


def _totals(codes: Codes, size: int, weights: Floats | None) -> Floats:
    """Return how many rows each class has; of weights, zeros that they are added to."""
    if weights is not None:
        return np.zeros(size)
    return np.bincount(codes, minlength=size).astype(np.float64)


def _add_weights(totals: Floats, rows: Floats, starts: Codes, present: Codes) -> None:
    """Add the rows of a sorted block to the totals of their classes, no more than PIECE at once."""
    longest = np.diff(starts, append=len(rows)).max(initial=0)
    if longest <= PIECE:
        totals[present] += np.add.reduceat(rows, starts, axis=0)
        return
    cuts = np.union1d(starts, np.arange(0, len(rows), PIECE))
    own = present[np.searchsorted(starts, cuts, side="right") - 1]
    np.add.at(totals, own, np.add.reduceat(rows, cuts, axis=0))


def _products(rows: Floats) -> Floats:
    """Return rowsᵀ rows (d, d), exactly symmetric: products of pieces, which are added up."""
    length, width = rows.shape
    pieces = -(-length // (PIECE if width <= WIDE else 2 * PIECE))
    if pieces <= 1:
        return rows.T @ rows
    each = length // pieces  # all are of one length, so that one call multiplies all of them
    stack = rows[: pieces * each].reshape(pieces, each, width)
    found: Floats = (stack.transpose(0, 2, 1) @ stack).sum(axis=0)
    return found + _products(rows[pieces * each :]) if pieces * each < length else found


def _weighted_sum(roots: Floats, rows: Floats) -> Floats:
    """Return rootsᵀ rows (d,), by pieces."""
    length, width = rows.shape
    pieces = -(-length // PIECE)
    if pieces <= 1:
        return roots @ rows
    each = length // pieces
    held = pieces * each
    parts = roots[:held].reshape(pieces, 1, each) @ rows[:held].reshape(pieces, each, width)
    found: Floats = parts.sum(axis=0)[0]
    return found + _weighted_sum(roots[held:], rows[held:]) if held < length else found
