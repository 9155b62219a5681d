"""The same in numba: every row is looked up, weighed and counted while it is at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import float64, int32

from suffice.kernels.compilation import array, compiled, once, target

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.kernels.latent.steps import Floats, LevelSums, Places


def level_sums(
    places: Places, table: Floats, base: Floats, weights: Floats, keep: bool
) -> LevelSums:
    """See `steps.level_sums`."""
    size = table.shape[1]
    kept = np.empty((len(places) if keep else 0, size))
    totals, held, counts = np.zeros(2), np.zeros(size), np.zeros_like(table)
    given = np.ascontiguousarray(np.atleast_2d(base))
    cells = np.ascontiguousarray(places)
    looked_up = np.ascontiguousarray(table)
    _loop()(cells, looked_up, given, np.ascontiguousarray(weights), totals, held, counts, kept)
    return float(totals[0]), float(totals[1]), held, counts, kept


@once
def _loop() -> Callable[..., None]:
    inputs = (array(int32, 2), array(float64, 2), array(float64, 2), array(float64, 1))
    return compiled(_steps, *inputs, target(1), target(1), target(2), target(2))


def _steps(  # noqa: PLR0912  one row after the other, in one loop
    places: Places,
    table: Floats,
    base: Floats,
    weights: Floats,
    totals: Floats,
    held: Floats,
    counts: Floats,
    kept: Floats,
) -> None:
    n, width = places.shape
    size = table.shape[1]
    scores = np.empty(size)
    likelihood = 0.0
    sure = 0.0
    for i in range(n):
        at = i if base.shape[0] == n else 0
        for c in range(size):
            scores[c] = base[at, c]
        for j in range(width):
            place = places[i, j]
            for c in range(size):
                scores[c] += table[place, c]
        top = -np.inf
        for c in range(size):
            top = max(top, scores[c])
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        if top == -np.inf:  # impossible in every class
            likelihood = -np.inf
            for c in range(size):
                scores[c] = 0.0
        else:
            total = 0.0
            for c in range(size):
                scores[c] = np.exp(scores[c] - top)
                total += scores[c]
            log = np.log(total)
            likelihood += weight * (log + top)
            sure -= weight * log
            for c in range(size):
                scores[c] /= total
        if kept.shape[0] > 0:
            for c in range(size):
                kept[i, c] = scores[c]
        for c in range(size):
            scores[c] *= weight
            held[c] += scores[c]
        for j in range(width):
            place = places[i, j]
            for c in range(size):
                counts[place, c] += scores[c]
    totals[0] = likelihood
    totals[1] = sure
