"""Whether two models hold the same statistics, to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.statistics import ByClass
from suffice.statistics.by_column import ByColumn
from suffice.statistics.by_pattern import ByPattern
from suffice.statistics.moments.diagonal import DiagonalMoments
from suffice.statistics.moments.full import Moments
from suffice.statistics.moments.pooled import PooledMoments

CLOSE = 1e-12


def assert_alike(one: Any, other: Any, close: float = CLOSE) -> None:
    """Compare statistics: counts exactly, moments relative to √(S_ii S_jj)."""
    assert type(one) is type(other)
    if isinstance(one, ByClass):
        assert one.labels == other.labels
        for label in one.labels:
            assert_alike(one.groups[label], other.groups[label], close)
    elif isinstance(one, ByPattern):
        assert one.groups.keys() == other.groups.keys()
        for pattern, group in one.groups.items():
            assert_alike(group, other.groups[pattern], close)
    elif isinstance(one, ByColumn):
        for ours, theirs in zip(one.parts, other.parts, strict=True):
            assert_alike(ours, theirs, close)
    elif isinstance(one, Moments):
        _moments(one.mean, one.low, one.scatter, other.mean, other.low, other.scatter, close, one)
        assert np.isclose(one.weight, other.weight, rtol=close)
    elif isinstance(one, PooledMoments):
        assert one.labels == other.labels
        np.testing.assert_allclose(one.weights, other.weights, rtol=close)
        _moments(
            one.means, one.lows, one.scatter, other.means, other.lows, other.scatter, close, one
        )
    elif isinstance(one, DiagonalMoments):
        np.testing.assert_allclose(one.counts, other.counts, rtol=close)
        apart = (one.mean - other.mean) + (one.low - other.low)
        spread = np.sqrt(one.scatter / np.maximum(one.counts, 1.0))
        assert (np.abs(apart) <= close * (spread + np.abs(one.mean) * 1e-16 / close)).all()
        np.testing.assert_allclose(one.scatter, other.scatter, rtol=close, atol=0.0)
    else:
        _counts(one.to_arrays(), other.to_arrays(), close)


def _counts(ours: Any, theirs: Any, close: float) -> None:
    assert ours.keys() == theirs.keys()
    for name, held in ours.items():
        if np.asarray(held).dtype.kind == "f":
            np.testing.assert_allclose(held, theirs[name], rtol=close)
        else:
            np.testing.assert_array_equal(held, theirs[name])


def _moments(
    mean: Any, low: Any, scatter: Any, mean_: Any, low_: Any, scatter_: Any, close: float, held: Any
) -> None:
    deviations = np.sqrt(np.diagonal(scatter))
    scale = np.outer(deviations, deviations)
    assert (np.abs(scatter - scatter_) <= close * scale).all(), np.abs(scatter - scatter_) / scale
    apart = np.abs((mean - mean_) + (low - low_))
    room = close * deviations / np.sqrt(max(held.weight, 1.0)) + 1e-16 * np.abs(mean)
    assert (apart <= room).all()
