"""Drawn blocks go back to the user as the columns that they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns import PlainColumns
from suffice.estimators.frames import frame_of_cells
from suffice.rows.cells import BOOLEAN
from suffice.rows.category_codes import CodedColumns
from suffice.rows.sparse import SparseRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.column_blocks import Blocks
    from suffice.models.naive_bayes.product import Product


def rows_given_back(
    rows: Blocks, product: Product, columns: Any, library: Any, blank: Sequence[int] = ()
) -> Any:
    """Return drawn rows: a frame of the library that was read, or an array.

    Columns in which nothing was ever seen stay blank.
    """
    if isinstance(rows.parts[0], SparseRows) and isinstance(columns, PlainColumns):
        return _sparse_array(rows.parts[0])
    kinds = [getattr(column, "kind", "number") for column in columns.columns]
    found: dict[int, NDArray[Any]] = {}
    for part, group in zip(rows.parts, product.columns, strict=True):
        block = part.toarray() if isinstance(part, SparseRows) else part
        for place, j in enumerate(group):
            found[j] = _column(block, place, kinds[j])
            if j in blank:
                found[j] = np.full(len(rows), np.nan)
    cells = [found[j] for j in range(len(kinds))]
    if library is None or not columns.named:
        return _array(cells)
    return frame_of_cells(dict(zip(columns.names, cells, strict=True)), library)


def _sparse_array(rows: SparseRows) -> Any:
    """Return sparse rows as SciPy's: what was learned from sparse rows is drawn as such."""
    from scipy.sparse import csr_array

    return csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape)


def _column(block: Any, place: int, kind: str) -> NDArray[Any]:
    """Return one column of a block: numbers, truths, or levels."""
    if isinstance(block, CodedColumns):
        levels = np.fromiter((*block.levels[place], None), dtype=object)
        cells = levels[block.codes[:, place]]
        if kind == BOOLEAN:
            return np.array([None if v is None else bool(v) for v in cells], dtype=object)
        if all(isinstance(v, (int, float)) for v in cells.tolist()):
            return cells.astype(np.float64)
        return cells
    numbers: NDArray[Any] = block[:, place]
    return numbers > 0.5 if kind == BOOLEAN else numbers


def _array(cells: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return columns side by side: as floats if all are numbers, else as objects."""
    if all(column.dtype.kind in "fb" for column in cells):
        return np.column_stack([column.astype(np.float64) for column in cells])
    out = np.empty((len(cells[0]), len(cells)), dtype=object)
    for j, column in enumerate(cells):
        out[:, j] = column
    return out
