"""Scores of rows in NumPy, in blocks of about a megabyte with reused buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Flags = NDArray[np.bool_]
    Rows = NDArray[Any]

BLOCK_CELLS = 1 << 17
"""Cells of one block: a megabyte of doubles."""


def linear_scores(
    rows: Rows, origin: Floats, weights: Floats, intercepts: Floats, out: Floats
) -> None:
    """Write (x - origin)·w + b of every class into `out`."""
    with np.errstate(all="ignore"):
        for part, block in _centred_blocks(rows, origin):
            np.matmul(block, weights.T, out=out[part])
            out[part] += intercepts


def quadratic_scores(
    rows: Rows, origin: Floats, whitenings: Floats, shifts: Floats, constants: Floats, out: Floats
) -> None:
    """Write constant - ½‖W(x - origin) - shift‖² of every class into `out`."""
    buffer = np.empty((min(len(rows), _step(rows.shape[1])), rows.shape[1]))
    with np.errstate(all="ignore"):
        for part, block in _centred_blocks(rows, origin):
            for code, whitening in enumerate(whitenings):
                white = np.matmul(block, whitening.T, out=buffer[: len(block)])
                white -= shifts[code]
                out[part, code] = constants[code] - 0.5 * np.einsum("ij,ij->i", white, white)


def binary_posterior(scores: Floats, out: Floats) -> None:
    """Write both probabilities of log odds into `out`: 1/(1 + eˢ) and 1/(1 + e⁻ˢ)."""
    with np.errstate(all="ignore"):
        for part in _parts(len(scores), 4):
            odds = scores[part]
            small = np.exp(-np.abs(odds))
            likely = 1.0 / (1.0 + small)
            small *= likely
            positive = odds > 0
            out[part, 0] = np.where(positive, small, likely)
            out[part, 1] = np.where(positive, likely, small)


def binary_log_posterior(scores: Floats, out: Floats) -> None:
    """Write both log probabilities of log odds into `out`, however far the odds: no floor."""
    with np.errstate(all="ignore"):
        for part in _parts(len(scores), 4):
            odds = scores[part]
            likely = -np.log1p(np.exp(-np.abs(odds)))
            np.subtract(likely, np.maximum(odds, 0.0), out=out[part, 0])
            np.add(likely, np.minimum(odds, 0.0), out=out[part, 1])


def softmax(scores: Floats, log: bool) -> None:
    """Turn scores into (log) shares of one, in place: eˢ / Σeˢ.

    Where the best score is infinite, the classes that have it share alike: the limit of far points.
    A NaN spoils its row.
    """
    with np.errstate(all="ignore"):
        for part in _parts(len(scores), scores.shape[1]):
            block = scores[part]
            top = block.max(axis=1, keepdims=True)
            if np.isfinite(top).all():
                block -= top
            else:
                block[:] = np.where(block == top, 0.0, block - top)
            if log:
                block -= np.log(np.exp(block).sum(axis=1, keepdims=True))
            else:
                np.exp(block, out=block)
                block /= block.sum(axis=1, keepdims=True)


def winners(scores: Floats, codes: Codes, hard: Flags) -> None:
    """Write where each row's best score is, and whether any of its scores is not finite."""
    if scores.shape[1] == 1:  # log odds: the other score is 0
        codes[:] = scores[:, 0] > 0.0
    else:
        np.argmax(scores, axis=1, out=codes)
    np.logical_not(np.isfinite(scores).all(axis=1), out=hard)


def _step(width: int) -> int:
    """Return how many rows make a block."""
    return max(BLOCK_CELLS // max(width, 1), 64)


def _parts(length: int, width: int) -> Iterator[slice]:
    """Yield slices of about a megabyte's worth of rows."""
    step = _step(width)
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


def _centred_blocks(rows: Rows, origin: Floats) -> Iterator[tuple[slice, Floats]]:
    """Yield x - origin block by block; the next block overwrites the last."""
    length, width = rows.shape
    parts = list(_parts(length, width))
    buffer = np.empty((parts[0].stop if parts else 0, width))
    for part in parts:
        block = buffer[: part.stop - part.start]
        np.subtract(rows[part], origin, out=block)
        yield part, block
