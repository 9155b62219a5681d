"""Where classes lie, from a sample of their rows, in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[Any]


def sampled_centres(rows: Rows, codes: Codes, size: int, step: int) -> Floats:
    """Return a row of every class plus the mean deviation of its sampled rows from it."""
    drawn = codes[::step]
    present = np.bincount(drawn, minlength=size)
    first = np.zeros(size, dtype=np.intp)
    if not present.all():  # where a class is not in the sample, its first row has to do
        first[codes[::-1]] = np.arange(len(codes), dtype=np.intp)[::-1]
    first[drawn[::-1]] = np.arange(len(drawn), dtype=np.intp)[::-1] * step
    base = rows[first].astype(np.float64)
    base[~np.isfinite(base)] = 0.0
    order = np.argsort(drawn, kind="stable")
    groups = np.flatnonzero(present)
    counts = present[groups][:, np.newaxis]
    starts = np.cumsum(counts) - counts[:, 0]
    with np.errstate(all="ignore"):
        deviations = rows[::step][order] - base[drawn[order]]
        sums = np.add.reduceat(deviations, starts, axis=0)
        if not np.isfinite(sums).all():
            seen = np.isfinite(deviations)
            deviations[~seen] = 0.0
            counts = np.add.reduceat(seen.astype(np.intp), starts, axis=0)
            sums = np.add.reduceat(deviations, starts, axis=0)
        base[groups] += sums / np.maximum(counts, 1)
    base[~np.isfinite(base)] = 0.0
    return base
