"""What is left of many weights after some were taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import ForgettingUnseen
from suffice.statistics.algebra import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.rows import FloatArray


def differences(
    held: FloatArray, asked: FloatArray, place: Callable[[int], str], *, exact: bool
) -> FloatArray:
    """Return held - asked, never negative; what only rounding can have left is zero.

    Whole numbers below 2⁵³ subtract exactly, and `exact` says that these are such: then nothing
    is taken for rounding. A difference below zero was never merged in.
    """
    left: FloatArray = held - asked
    bound = 0.0 if exact else ROUNDING * held
    strange = left < -bound
    if strange.any():
        j = int(np.argmax(strange))
        raise ForgettingUnseen.of(float(held[j]), float(asked[j]), place(j))
    left[left <= bound] = 0.0
    return left


def are_whole(*arrays: FloatArray) -> bool:
    """Return whether all numbers are whole and small enough to add and subtract exactly."""
    return all(
        bool(np.all(array == np.floor(array))) and float(array.max(initial=0.0)) < 2.0**53
        for array in arrays
    )
