"""What taking out one row does to the moments of its class, and densities without it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from suffice.families.gaussian import Gaussian
    from suffice.families.summary import ClassSummary
    from suffice.rows import FloatArray, IntArray

LEVERAGE = 1e-8
"""Removal that leaves less than this of a direction is done by refitting."""


@dataclass(frozen=True, slots=True, eq=False)
class Downdated:
    """Log densities (n, k), up to a term common to all classes, and rows not to be trusted."""

    log_densities: FloatArray
    unsafe: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Removal:
    """What taking out row i does to weights and divisors; arrays over rows."""

    rows: FloatArray
    codes: IntArray
    stretch: FloatArray  # W_c/W_c': how far the row moves away from its class's new mean
    downdate: FloatArray  # a = wW_c/W_c', the factor of δδᵀ
    own_divisor: FloatArray
    pooled_divisor: FloatArray
    unsafe: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        family: Gaussian,
        summary: ClassSummary,
        rows: FloatArray,
        codes: IntArray,
        weights: FloatArray,
    ) -> Removal:
        """Return it for every row."""
        divisors, divisor = family.divisors(summary)
        held = summary.weights[codes]
        left = held - weights
        stretch = held / left
        # A class that loses its last or second row has no covariance of its own any more.
        unsafe = left <= weights * (1.0 + 1e-12)
        return cls(
            rows,
            codes,
            stretch,
            weights * stretch,
            divisors[codes] - weights,
            divisor - weights,
            unsafe,
        )
