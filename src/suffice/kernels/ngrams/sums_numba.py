"""Sums over runs of n-grams, and their interpolation, in numba: the twin for large models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import float64, intp

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.ngrams.sums_numpy import SMALLEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]


def run_sums(counts: Floats, places: Places, firsts: Places) -> Floats:
    """See `ngram_sums_numpy.run_sums`."""
    sums = np.zeros((len(firsts), counts.shape[1]))
    _summing()(counts, places, firsts, sums)
    return sums


def successor_sums(counts: Floats, firsts: Places) -> tuple[Floats, Floats]:
    """See `ngram_sums_numpy.successor_sums`."""
    sums, kinds = np.zeros((2, len(firsts), counts.shape[1]))
    _counting()(counts, firsts, sums, kinds)
    return sums, kinds


def interpolated(
    counts: Floats,
    contexts: Floats,
    successors: Floats,
    low: Floats,
    ending: Places,
    context: Places,
) -> Floats:
    """See `ngram_sums_numpy.interpolated`."""
    found = np.empty_like(counts)
    _interpolating()(counts, contexts, successors, low, ending, context, found)
    return found


@once
def _summing() -> Callable[..., None]:
    places = array(intp, 1)
    return compiled(_sum, array(float64, 2), places, places, target(2))


@once
def _counting() -> Callable[..., None]:
    return compiled(_count, array(float64, 2), array(intp, 1), target(2), target(2))


@once
def _interpolating() -> Callable[..., None]:
    table, places = array(float64, 2), array(intp, 1)
    return compiled(_interpolate, table, table, table, table, places, places, target(2))


def _sum(counts: Floats, places: Places, firsts: Places, sums: Floats) -> None:
    for r in range(firsts.size):
        stop = firsts[r + 1] if r + 1 < firsts.size else places.size
        for i in range(firsts[r], stop):
            for c in range(sums.shape[1]):
                sums[r, c] += counts[places[i], c]


def _count(counts: Floats, firsts: Places, sums: Floats, kinds: Floats) -> None:
    for r in range(firsts.size):
        stop = firsts[r + 1] if r + 1 < firsts.size else counts.shape[0]
        for i in range(firsts[r], stop):
            for c in range(sums.shape[1]):
                sums[r, c] += counts[i, c]
                kinds[r, c] += 1.0 if counts[i, c] > 0.0 else 0.0


def _interpolate(
    counts: Floats, contexts: Floats, successors: Floats, low: Floats,
    ending: Places, context: Places, found: Floats,
) -> None:  # fmt: skip
    for i in range(found.shape[0]):
        below, before = ending[i], context[i]
        for c in range(found.shape[1]):
            p, kinds = low[below, c], successors[before, c]
            if kinds > 0.0:
                p = (counts[i, c] + kinds * p) / (contexts[before, c] + kinds)
            found[i, c] = max(p, SMALLEST)
