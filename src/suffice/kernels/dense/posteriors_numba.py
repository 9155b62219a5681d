"""What scores say about the classes, in numba: the twin for large inputs.

Exponentials and logarithms are NumPy's, which are vectorised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import boolean, float64, intp, types

from suffice.kernels.compilation import array, compiled, once, once_for, target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from suffice.kernels.dense.scores import Codes, Flags, Floats

EXPONENTIALS = 1 << 15
"""Scores turned into shares at a time: a quarter of a megabyte."""


def binary_posterior(scores: Floats, out: Floats) -> None:
    """See `scores.binary_posterior`."""
    share, buffer = _binary(_odds), np.empty(min(EXPONENTIALS, len(scores)))
    with np.errstate(all="ignore"):
        for part in _parts(len(scores), 1):
            share(scores[part], _exponentials(scores[part], buffer), out[part])


def binary_log_posterior(scores: Floats, out: Floats) -> None:
    """See `scores.binary_log_posterior`."""
    share, buffer = _binary(_log_odds), np.empty(min(EXPONENTIALS, len(scores)))
    with np.errstate(all="ignore"):
        for part in _parts(len(scores), 1):
            smalls = _exponentials(scores[part], buffer)
            share(scores[part], np.log1p(smalls, out=smalls), out[part])


def softmax(scores: Floats, log: bool) -> None:
    """See `scores.softmax`."""
    lower, divide, subtract = _softmax()
    with np.errstate(all="ignore"):
        for part in _parts(*scores.shape):
            block = scores[part]
            lower(block)
            if log:
                subtract(block, np.exp(block))
            else:
                np.exp(block, out=block)
                divide(block)


def winners(scores: Floats, codes: Codes, hard: Flags) -> None:
    """See `scores.winners`."""
    _winners()(scores, codes, hard)


def _parts(length: int, width: int) -> Iterator[slice]:
    """Yield slices of rows with so many scores that their exponentials stay in the cache."""
    step = max(EXPONENTIALS // max(width, 1), 1)
    for start in range(0, length, step):
        yield slice(start, start + step)


def _exponentials(odds: Floats, buffer: Floats) -> Floats:
    """Return e to the power of minus the size of the odds, in the buffer."""
    smalls = np.abs(odds, out=buffer[: len(odds)])
    return np.exp(np.negative(smalls, out=smalls), out=smalls)


@once_for(lambda: [(_odds,), (_log_odds,)])
def _binary(loop: Callable[..., None]) -> Callable[..., None]:
    return compiled(loop, array(float64, 1, "A"), array(float64, 1), target(2, "A"))


@once
def _softmax() -> tuple[Callable[..., None], Callable[..., None], Callable[..., None]]:
    table = target(2, "A")
    subtract = compiled(_subtract_logs, table, array(float64, 2, "A"))
    return compiled(_lower, table), compiled(_divide, table), subtract


@once
def _winners() -> Callable[..., None]:
    codes, hard = types.Array(intp, 1, "A"), types.Array(boolean, 1, "A")
    return compiled(_win, array(float64, 2, "A"), codes, hard)


def _odds(scores: Floats, smalls: Floats, out: Floats) -> None:
    """Write both probabilities, given the log odds and the exponentials."""
    for i in range(scores.size):
        likely = 1.0 / (1.0 + smalls[i])
        if scores[i] > 0:
            out[i, 0], out[i, 1] = smalls[i] * likely, likely
        else:
            out[i, 0], out[i, 1] = likely, smalls[i] * likely


def _log_odds(scores: Floats, logs: Floats, out: Floats) -> None:
    """Write both log probabilities, given the log odds and log(1 + the exponentials)."""
    for i in range(scores.size):
        if scores[i] > 0:
            out[i, 0], out[i, 1] = -logs[i] - scores[i], -logs[i]
        else:
            out[i, 0], out[i, 1] = -logs[i], scores[i] - logs[i]


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
    if scores.shape[1] == 1:  # log odds: the other score is 0
        for i in range(scores.shape[0]):
            codes[i] = scores[i, 0] > 0.0
            hard[i] = scores[i, 0] - scores[i, 0] != 0.0  # of infinities and NaN alone
        return
    for i in range(scores.shape[0]):
        top, best = scores[i, 0], 0
        spoiled = top - top != 0.0
        for c in range(1, scores.shape[1]):
            score = scores[i, c]
            spoiled |= score - score != 0.0
            if score > top:
                top, best = score, c
        codes[i], hard[i] = best, spoiled
