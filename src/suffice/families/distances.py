"""Distances from a mean, each in the law of the cells that a row has."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.rows import FloatArray, IntArray


class Distances(NamedTuple):
    """How far rows are from the mean, each in the law of the cells that it has."""

    distance: FloatArray
    """Mahalanobis distances (n,); inf off the support."""
    observed: IntArray
    """How many cells each row has."""
    rank: IntArray
    """In how many directions those cells vary."""
    log_volume: FloatArray
    """½ log of the pseudo-determinant of those cells' covariance."""

    @classmethod
    def zero(cls, size: int) -> Self:
        """Return the distances of `size` rows without any cell."""
        return cls(
            np.zeros(size),
            np.zeros(size, dtype=np.intp),
            np.zeros(size, dtype=np.intp),
            np.zeros(size),
        )


def patterns(rows: FloatArray) -> Iterator[tuple[slice | IntArray, IntArray]]:
    """Yield which rows share a pattern of missing cells, and which cells those rows have."""
    missing = np.isnan(rows)
    if not missing.any():
        yield slice(None), np.arange(rows.shape[1])
        return
    packed = np.packbits(missing, axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}")[:, 0]
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes))
    for row, places in zip(first, np.split(order, ends[:-1]), strict=True):
        yield places, np.flatnonzero(~missing[row])
