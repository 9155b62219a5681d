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

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.kernels.compilation import pays, twin
from suffice.kernels.dense.columns_apart import ColumnsApart, together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[Any] | ColumnsApart

WIDEST = 128
"""Columns up to which compiled products beat BLAS: their buffer fits a core's cache."""

BLOCK_CELLS = 1 << 17
"""Cells of one block: a megabyte of doubles."""


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
    order = np.argsort(drawn, kind="stable")
    groups = np.flatnonzero(present)
    counts = present[groups][:, np.newaxis]
    starts = np.cumsum(counts) - counts[:, 0]
    with np.errstate(all="ignore"):
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


def _sample(rows: ColumnsApart, codes: Codes, size: int, step: int) -> tuple[NDArray[Any], Codes]:
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
    totals = np.bincount(codes, weights, size).astype(np.float64)
    sums = np.zeros((size, width))
    scatters = np.zeros((size, width, width))
    blocks = _centred_blocks(rows, codes, size, weights, centres, least=32 * size)
    with np.errstate(all="ignore"):
        for block, roots, _, starts, present in blocks:
            _add_sums(sums, block, roots, starts, present)
            for code, start, stop in _runs(starts, present, len(block)):
                run = block[start:stop]
                scatters[code] += run.T @ run
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
    totals = np.bincount(codes, weights, size).astype(np.float64)
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
            counts[present] += np.add.reduceat(seen, starts, axis=0)
            _add_sums(sums, block, roots, starts, present)
            np.square(block, out=block)
            _add_sums(squares, block, np.ones(len(block)), starts, present)
    return totals, counts, sums, squares


def _centred_blocks(
    rows: NDArray[Any], codes: Codes, size: int, weights: Floats | None, centres: Floats,
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
        starts = np.flatnonzero(np.r_[True, part[1:] != part[:-1]])
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
        sums[present] += np.add.reduceat(block * roots[:, None], starts, axis=0)
        return
    for code, start, stop in _runs(starts, present, len(block)):
        sums[code] += roots[start:stop] @ block[start:stop]
