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


def pooled_scatter(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return Σw and Σw(x - c) by class, and one Σw(x - c)(x - c)ᵀ over all rows."""
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


def class_scatters(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return Σw, Σw(x - c) and Σw(x - c)(x - c)ᵀ of every class."""
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


def class_squares(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return Σw by class, and Σw, Σw(x - c), Σw(x - c)² of its observed cells by column."""
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
        sums[present] += np.add.reduceat(block * roots[:, None], starts, axis=0)
        return
    for code, start, stop in _runs(starts, present, len(block)):
        sums[code] += roots[start:stop] @ block[start:stop]
