"""The one door for user data: tables, labels and weights, read once and named when refused.

    read_table(data)          -> Table     a float matrix, or one array per column
    read_labels(y)            -> Labels    the distinct labels, sorted, and a code for every row
    read_weights(w, size)     -> weights   or None, when every row counts once
    read_sparse(data)         -> SparseRows: the stored cells of a sparse matrix, not copied

Everything behind this door may rely on what is written in the docstrings, and checks no more.
Whether cells are finite is *not* asked here: that test is folded into the sums, and only when a
sum is not finite does `refuse_infinite` look for the culprit; `refuse_counts` does the same for
cells that count something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.facade import lazy

if TYPE_CHECKING:
    from suffice.rows.bad_cells import refuse_counts
    from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER, FloatArray, IntArray, Label
    from suffice.rows.labels import Labels, check_lengths, read_labels, sorted_levels
    from suffice.rows.reading import read_table, read_weights, refuse_infinite
    from suffice.rows.sparse import is_sparse, read_sparse
    from suffice.rows.sparse_rows import SparseRows
    from suffice.rows.tables import Table

__all__ = [
    "BOOLEAN",
    "CATEGORY",
    "NUMBER",
    "FloatArray",
    "IntArray",
    "Label",
    "Labels",
    "SparseRows",
    "Table",
    "check_lengths",
    "is_sparse",
    "read_labels",
    "read_sparse",
    "read_table",
    "read_weights",
    "refuse_counts",
    "refuse_infinite",
    "sorted_levels",
]

_find, __dir__ = lazy(
    __name__,
    {
        "suffice.rows.bad_cells": ["refuse_counts"],
        "suffice.rows.cells": ["BOOLEAN", "CATEGORY", "FloatArray", "IntArray", "Label", "NUMBER"],
        "suffice.rows.labels": ["Labels", "check_lengths", "read_labels", "sorted_levels"],
        "suffice.rows.reading": ["read_table", "read_weights", "refuse_infinite"],
        "suffice.rows.sparse": ["is_sparse", "read_sparse"],
        "suffice.rows.sparse_rows": ["SparseRows"],
        "suffice.rows.tables": ["Table"],
    },
)

if not TYPE_CHECKING:  # a type checker knows the names above, and no others
    __getattr__ = _find
