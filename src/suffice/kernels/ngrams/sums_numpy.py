"""Sums over runs of n-grams, and their interpolation, in NumPy: the twin that is always there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

SMALLEST = float(np.finfo(np.float64).tiny)
"""A probability is no smaller, whatever the weights are: its logarithm is finite."""


def run_sums(counts: Floats, places: Places, firsts: Places) -> Floats:
    """Return Σ counts[places[i]] (r, k) over the runs of i that begin at `firsts`."""
    sums: Floats = np.add.reduceat(counts[places], firsts, axis=0)
    return sums


def successor_sums(counts: Floats, firsts: Places) -> tuple[Floats, Floats]:
    """Return c and T (r, k) of runs of rows: the sum of counts, and how many are not zero."""
    kinds = np.add.reduceat((counts > 0.0).astype(np.float64), firsts, axis=0)
    return np.add.reduceat(counts, firsts, axis=0), kinds


def interpolated(
    counts: Floats,
    contexts: Floats,
    successors: Floats,
    low: Floats,
    ending: Places,
    context: Places,
) -> Floats:
    """Return P(b | ctx) (n, k) from c(ctx, b), c(ctx), T(ctx) and P(b | ctx⁻)."""
    shorter, kinds = low[ending], successors[context]
    total = contexts[context] + kinds
    found = np.divide(counts + kinds * shorter, total, out=shorter.copy(), where=kinds > 0.0)
    return np.maximum(found, SMALLEST)
