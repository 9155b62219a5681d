"""Scores of rows in numba: the twin for large inputs.

A linear score is read straight off the row; several are tiles of 4 rows × 2 classes. For quadratic
scores the centred rows lie by columns in a small buffer: a whole block of them goes through each
coefficient of the triangle at once, and the half that is zero is never touched. Rows never meet:
no row can spoil another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import boolean, float32, float64, intp, njit, types

from suffice.kernels.compilation import array, compiled, once, target

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Flags = NDArray[np.bool_]
    Rows = NDArray[Any]

BLOCK = 256
"""Rows in the buffer."""

EXPONENTIALS = 1 << 15
"""Scores turned into shares at a time: a quarter of a megabyte."""

STRIDE = BLOCK + 8
"""Doubles from one column of the buffer to the next: no power of two, for the cache's sake."""


def linear_scores(
    rows: Rows, origin: Floats, weights: Floats, intercepts: Floats, out: Floats
) -> None:
    """See `scores_numpy.linear_scores`."""
    if len(weights) == 1:
        loop = _linear(_score_one, rows.dtype.str, rows.flags.c_contiguous)
    else:
        # Tiles are whole: a class of zeros fills them up.
        weights = np.pad(weights, ((0, len(weights) % 2), (0, 0)))
        loop = _linear(_score_all, rows.dtype.str, False)
    loop(rows, *map(np.ascontiguousarray, (origin, weights, intercepts)), out)


def quadratic_scores(
    rows: Rows, origin: Floats, whitenings: Floats, shifts: Floats, constants: Floats, out: Floats
) -> None:
    """See `scores_numpy.quadratic_scores`."""
    width = rows.shape[1]
    missing = -width % 4  # tiles are whole: columns of zeros fill them up
    whitenings = np.pad(whitenings, ((0, 0), (0, missing), (0, missing)))
    shifts = np.pad(shifts, ((0, 0), (0, missing)))
    loop = _quadratic(rows.dtype.str)
    loop(
        rows, np.ascontiguousarray(origin), whitenings, shifts, np.ascontiguousarray(constants), out
    )


def binary_posterior(scores: Floats, out: Floats) -> None:
    """See `scores_numpy.binary_posterior`. The exponentials are NumPy's, which are vectorised."""
    share, buffer = _binary(_odds, 2), np.empty(min(EXPONENTIALS, len(scores)))
    with np.errstate(all="ignore"):
        for start in range(0, len(scores), EXPONENTIALS):
            odds = scores[start : start + EXPONENTIALS]
            smalls = np.abs(odds, out=buffer[: len(odds)])
            np.exp(np.negative(smalls, out=smalls), out=smalls)
            share(odds, smalls, out[start : start + EXPONENTIALS])


def binary_log_posterior(scores: Floats, out: Floats) -> None:
    """See `scores_numpy.binary_log_posterior`."""
    _binary(_log_odds, 1)(scores, out)


def softmax(scores: Floats, log: bool) -> None:
    """See `scores_numpy.softmax`. The exponentials are NumPy's, which are vectorised."""
    lower, divide, subtract = _softmax()
    step = max(EXPONENTIALS // max(scores.shape[1], 1), 1)
    with np.errstate(all="ignore"):
        for start in range(0, len(scores), step):
            block = scores[start : start + step]
            lower(block)
            if log:
                subtract(block, np.exp(block))
            else:
                np.exp(block, out=block)
                divide(block)


def winners(scores: Floats, codes: Codes, hard: Flags) -> None:
    """See `scores_numpy.winners`."""
    _winners()(scores, codes, hard)


def _cells(name: str) -> Any:
    return float32 if name == np.dtype(np.float32).str else float64


@once
def _linear(loop: Callable[..., None], cells: str, contiguous: bool) -> Callable[..., None]:
    rows = array(_cells(cells), 2, "C" if contiguous else "A")
    return compiled(
        loop, rows, array(float64, 1), array(float64, 2), array(float64, 1), target(2, "A")
    )


@once
def _quadratic(cells: str) -> Callable[..., None]:
    inputs = array(float64, 1), array(float64, 3), array(float64, 2), array(float64, 1)
    return compiled(_score_quadratic, array(_cells(cells), 2, "A"), *inputs, target(2, "A"))


@once
def _binary(loop: Callable[..., None], inputs: int) -> Callable[..., None]:
    return compiled(loop, *[array(float64, 1, "A")] * inputs, target(2, "A"))


@once
def _softmax() -> tuple[Callable[..., None], Callable[..., None], Callable[..., None]]:
    table = target(2, "A")
    subtract = compiled(_subtract_logs, table, array(float64, 2, "A"))
    return compiled(_lower, table), compiled(_divide, table), subtract


@once
def _winners() -> Callable[..., None]:
    codes, hard = types.Array(intp, 1, "A"), types.Array(boolean, 1, "A")
    return compiled(_win, array(float64, 2, "A"), codes, hard)


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _inner(row: Rows, origin: Floats, weights: Floats) -> float:
    """Return (x - origin)·w."""
    score = 0.0
    for j in range(weights.size):
        score += (row[j] - origin[j]) * weights[j]
    return score


def _score_one(
    rows: Rows, origin: Floats, weights: Floats, intercepts: Floats, out: Floats
) -> None:
    for i in range(rows.shape[0]):
        out[i, 0] = _inner(rows[i], origin, weights[0]) + intercepts[0]


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _products(block: Floats, weights: Floats, scores: Floats, length: int) -> None:
    """Write block · weightsᵀ into the scores, in tiles of 4 × 2, for so many rows or a few more."""
    for r in range(0, length, 4):
        for c in range(0, weights.shape[0], 2):
            a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = 0.0
            for j in range(block.shape[1]):
                x, y = weights[c, j], weights[c + 1, j]
                p, q, s, t = block[r, j], block[r + 1, j], block[r + 2, j], block[r + 3, j]
                a0 += p * x
                a1 += p * y
                b0 += q * x
                b1 += q * y
                c0 += s * x
                c1 += s * y
                d0 += t * x
                d1 += t * y
            scores[r, c], scores[r, c + 1] = a0, a1
            scores[r + 1, c], scores[r + 1, c + 1] = b0, b1
            scores[r + 2, c], scores[r + 2, c + 1] = c0, c1
            scores[r + 3, c], scores[r + 3, c + 1] = d0, d1


def _score_all(
    rows: Rows, origin: Floats, weights: Floats, intercepts: Floats, out: Floats
) -> None:
    length, width = rows.shape
    block = np.zeros((BLOCK, width))
    scores = np.empty((BLOCK, weights.shape[0]))
    for start in range(0, length, BLOCK):
        held = min(BLOCK, length - start)
        for r in range(held):
            for j in range(width):
                block[r, j] = rows[start + r, j] - origin[j]
        # Rows left over from the block before are multiplied too, and not looked at.
        _products(block, weights, scores, held)
        for r in range(held):
            for c in range(intercepts.size):
                out[start + r, c] = scores[r, c] + intercepts[c]


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _norms(
    buffer: Floats, whitening: Floats, shift: Floats, white: Floats, norms: Floats, length: int
) -> None:
    """Write ‖W x - shift‖² of the first rows of the buffer into `norms`, in tiles of 4 × 4."""
    norms[:] = 0.0
    for i in range(0, whitening.shape[0], 4):
        for t in range(4):
            white[t] = -shift[i + t]
        for j in range(0, i + 4, 4):
            a0, a1, a2, a3 = (
                whitening[i, j], whitening[i, j + 1], whitening[i, j + 2], whitening[i, j + 3]
            )  # fmt: skip
            b0, b1, b2, b3 = (
                whitening[i + 1, j], whitening[i + 1, j + 1],
                whitening[i + 1, j + 2], whitening[i + 1, j + 3],
            )  # fmt: skip
            c0, c1, c2, c3 = (
                whitening[i + 2, j], whitening[i + 2, j + 1],
                whitening[i + 2, j + 2], whitening[i + 2, j + 3],
            )  # fmt: skip
            d0, d1, d2, d3 = (
                whitening[i + 3, j], whitening[i + 3, j + 1],
                whitening[i + 3, j + 2], whitening[i + 3, j + 3],
            )  # fmt: skip
            for r in range(length):
                x, y, z, u = buffer[j, r], buffer[j + 1, r], buffer[j + 2, r], buffer[j + 3, r]
                white[0, r] += a0 * x + a1 * y + a2 * z + a3 * u
                white[1, r] += b0 * x + b1 * y + b2 * z + b3 * u
                white[2, r] += c0 * x + c1 * y + c2 * z + c3 * u
                white[3, r] += d0 * x + d1 * y + d2 * z + d3 * u
        for r in range(length):
            a, b, c, d = white[0, r], white[1, r], white[2, r], white[3, r]
            norms[r] += a * a + b * b + c * c + d * d


def _score_quadratic(
    rows: Rows, origin: Floats, whitenings: Floats, shifts: Floats, constants: Floats, out: Floats
) -> None:
    length, width = rows.shape
    buffer = np.zeros((whitenings.shape[1], STRIDE))
    white = np.empty((4, STRIDE))
    norms = np.empty(BLOCK)
    for start in range(0, length, BLOCK):
        held = min(BLOCK, length - start)
        for r in range(held):
            for j in range(width):
                buffer[j, r] = rows[start + r, j] - origin[j]
        for c in range(constants.size):
            _norms(buffer, whitenings[c], shifts[c], white, norms, held)
            for r in range(held):
                out[start + r, c] = constants[c] - 0.5 * norms[r]


def _odds(scores: Floats, smalls: Floats, out: Floats) -> None:
    """Write both probabilities, given the log odds and e to the power of minus their size."""
    for i in range(scores.size):
        likely = 1.0 / (1.0 + smalls[i])
        if scores[i] > 0:
            out[i, 0], out[i, 1] = smalls[i] * likely, likely
        else:
            out[i, 0], out[i, 1] = likely, smalls[i] * likely


def _log_odds(scores: Floats, out: Floats) -> None:
    for i in range(scores.size):
        likely = -np.log1p(np.exp(-abs(scores[i])))
        if scores[i] > 0:
            out[i, 0], out[i, 1] = likely - scores[i], likely
        else:
            out[i, 0], out[i, 1] = likely, likely + scores[i]


def _lower(scores: Floats) -> None:
    """Subtract each row's best score; equal infinities differ by nothing."""
    for i in range(scores.shape[0]):
        top = -np.inf
        for c in range(scores.shape[1]):
            if not scores[i, c] <= top:  # also a NaN, which then spoils its row
                top = scores[i, c]
        for c in range(scores.shape[1]):
            scores[i, c] = 0.0 if scores[i, c] == top else scores[i, c] - top


def _divide(shares: Floats) -> None:
    """Divide each row by its sum."""
    for i in range(shares.shape[0]):
        total = 0.0
        for c in range(shares.shape[1]):
            total += shares[i, c]
        for c in range(shares.shape[1]):
            shares[i, c] /= total


def _subtract_logs(scores: Floats, shares: Floats) -> None:
    """Subtract the logarithm of each row's sum of exponentials."""
    for i in range(scores.shape[0]):
        total = 0.0
        for c in range(scores.shape[1]):
            total += shares[i, c]
        total = np.log(total)
        for c in range(scores.shape[1]):
            scores[i, c] -= total


def _win(scores: Floats, codes: Codes, hard: Flags) -> None:
    for i in range(scores.shape[0]):
        top, best = scores[i, 0], 0
        spoiled = top - top != 0.0  # of infinities and NaN alone
        for c in range(1, scores.shape[1]):
            score = scores[i, c]
            spoiled |= score - score != 0.0
            if score > top:
                top, best = score, c
        codes[i], hard[i] = best, spoiled
