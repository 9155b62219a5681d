"""Class sums of sparse rows (placeholder until the two-core version lands in this file)."""

from __future__ import annotations

from typing import Any

from suffice.kernels.sparse import class_sums


def collect_class_sums(
    rows: Any, codes: Any, size: int, weights: Any, threshold: float | None
) -> tuple[Any, Any, float]:
    """Return (totals (k,), sums (k, d), smallest cell)."""
    return class_sums(rows, codes, size, weights, threshold)
