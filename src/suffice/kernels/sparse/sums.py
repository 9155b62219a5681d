"""Sums by class and scores of sparse rows, in the way that suits the size.

A cell counts as f(x): itself where `threshold` is None, else 1 above the threshold and 0 up to it.
Cells that are not stored are 0, so a threshold is ≥ 0. Nothing is refused here: each function
returns the smallest of all cells it has seen, which costs no pass of its own. That is 0 when
every stored cell is finite and ≥ 0, negative when one is negative, NaN when one is not finite.

    rows       SparseRows, in any order within a row, each column once
    codes      (n,) intp, the class of each row, 0..size-1
    weights    (n,) float64 ≥ 0, or None for ones; a row of weight 0 is not looked at
    table      (d, ≥ k) float64, the scores of each column; `score_table` makes the quick ones
    offsets    (k,) float64, what each class has before any cell
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.kernels.compilation import pays
from suffice.kernels.sparse import sums_numpy as sparse_numpy
from suffice.kernels.sparse.score_table import score_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from suffice.rows.sparse_rows import SparseRows

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]

__all__ = ["class_sums", "score_table", "sparse_scores", "sparse_winners"]


def class_sums(
    rows: SparseRows, codes: Codes, size: int, weights: Floats | None, threshold: float | None
) -> tuple[Floats, Floats, float]:
    """Return (totals (k,), sums (k, d), smallest cell): Σw and Σw f(x) of every class."""
    if pays(rows.cells):
        from suffice.kernels.sparse import sums_numba as sparse_numba

        return sparse_numba.class_sums(rows, codes, size, weights, threshold)
    return sparse_numpy.class_sums(rows, codes, size, weights, threshold)


def sparse_scores(
    rows: SparseRows, table: Floats, offsets: Floats, threshold: float | None, out: Floats
) -> float:
    """Write offset + Σ_j f(x_j)·table[j] of every class into `out` (n, k); return the smallest.

    A cell that counts 0 adds nothing, not even where the table is infinite.
    """
    if pays(rows.cells):
        from suffice.kernels.sparse import sums_numba as sparse_numba

        return sparse_numba.sparse_scores(rows, table, offsets, threshold, out)
    return sparse_numpy.sparse_scores(rows, table, offsets, threshold, out)


def sparse_winners(
    rows: SparseRows, table: Floats, offsets: Floats, threshold: float | None, out: Codes
) -> float:
    """Write the class of the best score into `out` (n,), the first of equals; return the smallest.

    The scores themselves are not kept.
    """
    if pays(rows.cells):
        from suffice.kernels.sparse import sums_numba as sparse_numba

        return sparse_numba.sparse_winners(rows, table, offsets, threshold, out)
    return sparse_numpy.sparse_winners(rows, table, offsets, threshold, out)
