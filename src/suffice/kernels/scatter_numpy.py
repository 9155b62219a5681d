"""Centred sums by class in NumPy: the twin that is always there, and the one for many columns.

A block of about a megabyte is sorted by class, centred into one reused buffer and multiplied with
itself while it is still in the cache. `Xᵀ X` of one array is SYRK in NumPy: half the work of a
general product, and exactly symmetric. Weights enter as √w on both sides, so that one buffer serves
the sums as well: Σ w x = √wᵀ (√w x).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[Any]

BLOCK_CELLS = 1 << 17
"""Cells of one block: a megabyte of doubles."""

PIECE, NARROW = 256, 64
"""Rows that BLAS adds up at a time, for products of so few columns; twice as many for more of them,
where shorter products take longer. In which order BLAS adds is not known, so that a bound of
rounding can count on nothing but their number (`scatter.additions`)."""


def pooled_scatter(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return Σw and Σw(x - c) by class, and one Σw(x - c)(x - c)ᵀ over all rows."""
    width = rows.shape[1]
    totals = _totals(codes, size, weights)
    sums = np.zeros((size, width))
    scatter = np.zeros((width, width))
    with np.errstate(all="ignore"):
        for block, roots, own, starts, present in _centred_blocks(
            rows, codes, size, weights, centres
        ):
            _add_sums(sums, block, roots, starts, present)
            scatter += _products(block)
            if weights is not None:
                _add_weights(totals[:, np.newaxis], own[:, np.newaxis], starts, present)
    return totals, sums, scatter


def class_scatters(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return Σw, Σw(x - c) and Σw(x - c)(x - c)ᵀ of every class."""
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


def class_squares(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return Σw by class, and Σw, Σw(x - c), Σw(x - c)² of its observed cells by column."""
    width = rows.shape[1]
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


def _centred_blocks(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats, least: int = 1
) -> Iterator[tuple[Floats, Floats, Floats, Codes, Codes]]:
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
    pieces = -(-length // (PIECE if width <= NARROW else 2 * PIECE))
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
