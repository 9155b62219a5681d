"""Scores of rows, and what they say about the classes.

Everything writes into arrays the caller has made, a block of rows at a time: in NumPy of about a
megabyte, with reused buffers. A row that is not finite spoils its own scores and no others.

    rows    (n, d) float32 or float64, any strides; float32 is widened before it is centred
    origin  (d,) float64, subtracted first: columns far from zero keep their digits
    out     (n, k) float64, any strides
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from suffice.kernels.compilation import pays, twin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Flags = NDArray[np.bool_]
    Rows = NDArray[np.floating]

WIDEST = 256
"""Columns up to which compiled scores beat BLAS: their buffer fits a core's cache."""

BLOCK_CELLS = 1 << 17
"""Cells of one block: a megabyte of doubles."""

SMALL_BLOCK_CELLS = 1 << 15
"""Cells of one block that is gone through several times: a quarter of a megabyte of doubles."""

FEW_COLUMNS = 8
"""Columns below which NumPy is sooner with one after the other than with rows; it adds up as many
in the same order."""

MANY_ROWS, MOST_CLASSES = 4_096, 12
"""Rows from which, and classes up to which, the best score is found class by class, in a half to a
quarter of the time: row by row a processor guesses where the best one is, and is often wrong."""

LONG_ROW = 256
"""Cells that are centred by one loop of NumPy: rows of a few are put together to one."""

UNSHARED_PRODUCTS = 1 << 18
"""Products of a matrix product that OpenBLAS does in the thread that asks, whatever its threads."""


def _narrow_rows_pay(rows: Rows, *_: object) -> bool:
    return pays(rows) and rows.shape[1] <= WIDEST


def _narrow_or_single_pay(rows: Rows, _: Floats, weights: Floats, *__: object) -> bool:
    return pays(rows) and (rows.shape[1] <= WIDEST or len(weights) == 1)


@twin("suffice.kernels.dense.scores_numba", when=_narrow_or_single_pay)
def linear_scores(
    rows: Rows, origin: Floats, weights: Floats, intercepts: Floats, out: Floats
) -> None:
    """Write (x - origin)·w + b into `out`, a column a class. Two classes need one column only."""
    cells = min(SMALL_BLOCK_CELLS, UNSHARED_PRODUCTS // max(len(weights), 1))
    turned = np.ascontiguousarray(weights.T)  # a product with few columns takes two thirds then
    with np.errstate(all="ignore"):
        for part, block in _centred_blocks(rows, origin, cells):
            np.matmul(block, turned, out=out[part])
            out[part] += intercepts


@twin("suffice.kernels.dense.scores_numba", when=_narrow_rows_pay)
def quadratic_scores(
    rows: Rows, origin: Floats, whitenings: Floats, shifts: Floats, constants: Floats, out: Floats
) -> None:
    """Write constant - ½‖W(x - origin) - shift‖² into `out`; each W is lower triangular."""
    buffer = np.empty((min(len(rows), _step(rows.shape[1])), rows.shape[1]))
    with np.errstate(all="ignore"):
        for part, block in _centred_blocks(rows, origin):
            for code, whitening in enumerate(whitenings):
                white = np.matmul(block, whitening.T, out=buffer[: len(block)])
                white -= shifts[code]
                out[part, code] = constants[code] - 0.5 * np.einsum("ij,ij->i", white, white)


@twin("suffice.kernels.dense.scores_numba")
def diagonal_scores(
    rows: Rows, origin: Floats, scales: Floats, shifts: Floats, constants: Floats, out: Floats
) -> None:
    """Write constant - ½Σ_j((x_j - origin_j)·scale_j - shift_j)² into `out`, a column a class.

    Scales are (k, d), or (1, d) where all classes have the same; shifts (k, d), constants (k,) and
    `out` (n, k). Squares are summed as they are: expanded, they would cancel where a class is
    narrow.
    """
    scales = np.broadcast_to(scales, shifts.shape)
    with np.errstate(all="ignore"):
        for part, z, u in _roomy_blocks(rows, origin):
            for code, constant in enumerate(constants):
                np.multiply(z, scales[code], out=u)
                np.subtract(u, shifts[code], out=u)
                out[part, code] = constant - 0.5 * np.einsum("ij,ij->i", u, u)


@twin("suffice.kernels.dense.scores_numba")
def diagonal_odds(
    rows: Rows, origin: Floats, curves: Floats, slopes: Floats, offset: float, out: Floats
) -> None:
    """Write offset + Σ_j z_j(curve_j·z_j + slope_j) with z = x - origin into `out` (n,).

    The log odds of two classes in one column: half the work, and half the memory, of two scores.
    """
    with np.errstate(all="ignore"):
        for part, z, u in _roomy_blocks(rows, origin):
            np.multiply(z, curves, out=u)
            np.add(u, slopes, out=u)
            out[part] = offset + np.einsum("ij,ij->i", z, u)


@twin("suffice.kernels.dense.posteriors_numba")
def binary_posterior(scores: Floats, out: Floats) -> None:
    """Write both probabilities of the log odds of the second class into `out` (n, 2).

    Each is computed from the side where nothing cancels: both tails keep their digits. The log
    odds may lie in `out[:, 1]` itself, which saves a buffer.
    """
    with np.errstate(all="ignore"):
        for part in _parts(len(scores), 4):
            odds = scores[part]
            small = np.exp(-np.abs(odds))
            likely = 1.0 / (1.0 + small)
            small *= likely
            positive = odds > 0
            out[part, 0] = np.where(positive, small, likely)
            out[part, 1] = np.where(positive, likely, small)


@twin("suffice.kernels.dense.posteriors_numba")
def binary_log_posterior(scores: Floats, out: Floats) -> None:
    """Write both log probabilities of the log odds of the second class into `out` (n, 2).

    Far odds come out as themselves: there is no floor. They too may lie in `out[:, 1]`.
    """
    with np.errstate(all="ignore"):
        for part in _parts(len(scores), 4):
            odds = scores[part]
            likely = -np.log1p(np.exp(-np.abs(odds)))
            np.subtract(likely, np.maximum(odds, 0.0), out=out[part, 0])
            np.add(likely, np.minimum(odds, 0.0), out=out[part, 1])


@twin("suffice.kernels.dense.posteriors_numba")
def softmax(scores: Floats, log: bool) -> None:
    """Turn scores (n, k) into (log) posteriors in place: eˢ / Σeˢ.

    Where the best score is infinite, the classes that have it share alike: the limit of far points.
    """
    with np.errstate(all="ignore"):
        for part in _parts(len(scores), scores.shape[1]):
            block = scores[part]
            top = _along_rows(np.maximum, block)
            if np.isfinite(top).all():
                block -= top
            else:
                block[:] = np.where(block == top, 0.0, block - top)
            if log:
                block -= np.log(_along_rows(np.add, np.exp(block)))
            else:
                np.exp(block, out=block)
                block /= _along_rows(np.add, block)


@twin("suffice.kernels.dense.posteriors_numba")
def winners(scores: Floats, codes: Codes, hard: Flags) -> None:
    """Write where each row's best score is (the first, in a tie), and whether it can be trusted.

    One column alone holds the log odds of the second of two classes. Hard are the rows of which
    some score is not finite: they have to be scored with more care.
    """
    with np.errstate(all="ignore"):
        total = scores.sum()
    if scores.shape[1] == 1:  # log odds: the other score is 0
        codes[:] = scores[:, 0] > 0.0
    else:
        best_columns(scores, codes, total)
    if np.isfinite(total):  # as every score is, then: looked at one by one, they take twice as long
        hard[:] = False
    else:
        np.logical_not(np.isfinite(scores).all(axis=1), out=hard)


def best_columns(scores: Floats, codes: Codes, total: float) -> None:
    """Write where each row's best score is: the first, in a tie. `total` is the sum of all.

    >>> codes = np.empty(2, np.intp)
    >>> best_columns(np.array([[1.0, 3.0, 3.0], [0.0, -1.0, 0.0]]), codes, 6.0)
    >>> codes
    array([1, 0])
    """
    length, size = scores.shape
    if length < MANY_ROWS or not 1 < size <= MOST_CLASSES or not np.isfinite(total):
        np.argmax(scores, axis=1, out=codes)
        return
    for part in _parts(length, size, SMALL_BLOCK_CELLS):
        columns = np.ascontiguousarray(scores[part].T)
        best = columns[0]
        found = (columns[1] > best).view(np.int8)
        for code in range(2, size):
            best = np.maximum(best, columns[code - 1])
            better = (columns[code] > best).view(np.int8)
            better *= np.int8(code)
            np.maximum(found, better, out=found)
        codes[part] = found


def _along_rows(operation: np.ufunc, block: Floats) -> Floats:
    """Return the maximum or the sum of each row (n, 1): of a few columns, column by column."""
    width = block.shape[1]
    if not 1 < width < FEW_COLUMNS:
        found: Floats = operation.reduce(block, axis=1, keepdims=True)
        return found
    found = operation(block[:, :1], block[:, 1:2])
    for column in range(2, width):
        operation(found, block[:, column : column + 1], out=found)
    return found


def _step(width: int, cells: int = BLOCK_CELLS) -> int:
    """Return how many rows make a block."""
    return max(cells // max(width, 1), 64)


def _parts(length: int, width: int, cells: int = BLOCK_CELLS) -> Iterator[slice]:
    """Yield slices of about so many cells."""
    step = _step(width, cells)
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


def _centred_blocks(
    rows: Rows, origin: Floats, cells: int = BLOCK_CELLS
) -> Iterator[tuple[slice, Floats]]:
    """Yield x - origin block by block, to be read only; the next block overwrites the last."""
    length, width = rows.shape
    parts = list(_parts(length, width, cells))
    if rows.dtype == np.float64 and rows.flags.c_contiguous and not origin.any():
        doubles = cast("Floats", rows)
        for part in parts:  # nothing to subtract: they are that already
            yield part, doubles[part]
        return
    buffer = np.empty((parts[0].stop if parts else 0, width))
    together = LONG_ROW // width if width and rows.flags.c_contiguous else 0
    origins = np.tile(origin, together)
    for part in parts:
        block = buffer[: part.stop - part.start]
        whole = len(block) // together * together if together > 1 else 0
        if whole:
            several = rows[part][:whole].reshape(-1, len(origins))
            np.subtract(several, origins, out=block[:whole].reshape(-1, len(origins)))
        np.subtract(rows[part][whole:], origin, out=block[whole:])
        yield part, block


def _roomy_blocks(rows: Rows, origin: Floats) -> Iterator[tuple[slice, Floats, Floats]]:
    """Yield x - origin block by block, with room for as much; the next block overwrites both."""
    length, width = rows.shape
    step = min(max(SMALL_BLOCK_CELLS // max(width, 1), 16), max(length, 1))
    centred, room = np.empty((step, width)), np.empty((step, width))
    for start in range(0, length, step):
        part = slice(start, min(start + step, length))
        held = part.stop - start
        np.subtract(rows[part], origin, out=centred[:held])
        yield part, centred[:held], room[:held]
