"""The bridge's test: level over 2,000 draws of normal classes, power over 300 of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.evidence import Figure
from tests.reference.bridge import p_values

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = "python -m benchmarks.evidence --only bridge"
DRAWS, OTHERS = 2000, 300
BOOTSTRAPPED, SAMPLES = 200, 99


def rejected(kind: str, size: int, distance: float, draws: int, **settings: int) -> float:
    """Return the share of samples that the test rejects at 5 %."""
    return float(np.mean(p_values(kind, size, distance, draws, **settings) <= 0.05))


def measure() -> Iterator[Figure]:
    """Yield levels, powers, and what χ² and the bootstrap do outside the range of χ²."""
    for size in (500, 2000):
        for distance in (2.0, 3.0):
            share = rejected("normal", size, distance, DRAWS)
            yield Figure(
                f"normal classes, Δ = {distance:g}, 3 columns, {size:,} rows: rejected at 5 %",
                f"{share:.2%} of {DRAWS:,} draws",
                "3.5 % to 6.5 %",
                0.035 <= share <= 0.065,
                COMMAND,
            )
    share = rejected("normal", 1000, 2.0, DRAWS // 2, count=3)
    yield Figure(
        "three normal classes, Δ = 2 and 2.8, 3 columns, 1,000 rows: rejected at 5 %",
        f"{share:.2%} of {DRAWS // 2:,} draws",
        "3.5 % to 6.5 %",
        0.035 <= share <= 0.065,
        COMMAND,
    )
    for kind, told in (
        ("unequal covariances", "normal, Δ = 2, one class 1.5 times as wide"),
        ("poisson", "Poisson columns, rates 1 and 4"),
        ("exponential", "exponential columns, scales 1 and 3"),
    ):
        for size in (500, 2000):
            share = rejected(kind, size, 2.0, OTHERS)
            yield Figure(
                f"{told}, 3 columns, {size:,} rows: rejected at 5 %",
                f"{share:.1%} of {OTHERS} draws",
                "at least 90 %",
                share >= 0.9,
                COMMAND,
            )
    for distance in (1.0, 4.0):
        plain = rejected("normal", 500, distance, DRAWS)
        drawn = rejected("normal", 500, distance, BOOTSTRAPPED, bootstrap=SAMPLES)
        yield Figure(
            f"normal classes, Δ = {distance:g}, 500 rows, outside the range of χ²: rejected at 5 %",
            f"{plain:.2%} by χ², {drawn:.1%} of {BOOTSTRAPPED} draws by {SAMPLES} bootstrap draws",
            "at most 10 % by bootstrap",
            drawn <= 0.1,
            COMMAND,
        )
