"""Rows that are hard on engines: blanks of both kinds, far columns, decimals, names that bite."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from suffice import GaussianDiscriminant, NaiveBayes

LEARNERS = {
    "shared": GaussianDiscriminant(),
    "per class": GaussianDiscriminant("per-class"),
    "diagonal": GaussianDiscriminant("diagonal"),
    "naive Bayes": NaiveBayes(),
}
TARGET = "the `label`"
PARTS = (0, 200, 200, 330, 400)
"""Where the partitions begin and end: the second is empty, the third has a class of its own."""


def hostile_rows() -> pa.Table:
    """Return four hundred rows of every kind; one class lives in one partition only."""
    rng = np.random.default_rng(11)
    size = PARTS[-1]
    labels = rng.choice(["ash", "beech"], size)
    labels[PARTS[2] + 5 : PARTS[3] : 3] = "cedar"
    gaps = rng.normal(size=size) + (labels == "ash")
    gaps[::17] = np.nan
    prices = [Decimal(int(cents)).scaleb(-2) for cents in rng.integers(100, 9999, size)]
    return pa.table(
        {
            "far": 1e8 + rng.integers(-1, 2, size),
            "ga.ps": pa.array(gaps, mask=np.arange(size) % 13 == 0),  # NaN stays beside null
            'price "net"': pa.array(prices, pa.decimal128(12, 2)),
            TARGET: labels,
            "count": pa.array(rng.poisson(3.0, size), pa.int32()),
            "COUNT": pa.array(rng.normal(size=size), pa.float32()),
            "a colour": rng.choice(["red", "light blue", "grün"], size),
            "wild`": rng.random(size) < 0.5,
        }
    )


def parts_of(table: pa.Table) -> list[pa.Table]:
    """Return the rows of every partition."""
    return [table.slice(a, b - a) for a, b in pairwise(PARTS)]


def as_array_rows(table: pa.Table) -> tuple[Any, Any]:
    """Return the same rows as a frame in memory, and the labels."""
    place = table.column_names.index('price "net"')
    floats = table.column(place).cast(pa.float64())
    frame = table.set_column(place, 'price "net"', floats).to_pandas()
    return frame, frame.pop(TARGET)
