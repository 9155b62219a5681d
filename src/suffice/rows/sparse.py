"""Sparse matrices and arrays of SciPy, read without densifying them and without a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

import numpy as np

from suffice.errors import BadRows, NotANumber, NotFinite
from suffice.places import CellAt, ColumnAt, Phrase, RowAt
from suffice.rows.bad_cells import refuse_counts
from suffice.rows.sparse_rows import SparseRows
from suffice.rows.tables import refuse_empty

if TYPE_CHECKING:
    from numpy.typing import NDArray


__all__ = ["SparseRows", "is_sparse", "read_sparse", "refuse_counts"]

KEPT = frozenset(np.dtype(kind) for kind in (np.float64, np.float32, np.int64, np.int32))
"""Types of cells that are taken as they are; others become float64."""

CHUNK = 1 << 18
"""Cells whose columns are checked in one go: a core's cache holds them."""

PARTS = 8
"""Pieces of work that the check consists of, for several threads."""

R = TypeVar("R")
Answers: TypeAlias = Callable[[Callable[[int], bool], int, float], list[bool]]
"""How to have `count` pieces of work done, given how many cells they look at."""


def is_sparse(data: object) -> bool:
    """Tell SciPy's sparse matrices and arrays from everything else, without importing SciPy.

    >>> is_sparse(np.eye(2))
    False
    """
    return any(kind.__module__.startswith("scipy.sparse") for kind in type(data).__mro__)


def in_turn(work: Callable[[int], R], count: int, _: float) -> list[R]:
    """Return work(0), …, work(count - 1), one after the other."""
    return [work(part) for part in range(count)]


def read_sparse(data: Any, answers: Answers = in_turn) -> SparseRows:
    """Read a sparse matrix or array of SciPy; the caller's own is never changed.

    Compressed rows (CSR) of float64, float32, int64 or int32 are taken without a copy; of other
    types only the cells are copied, as float64. Other formats are converted. Cells that are stored
    in several parts are added up, on a copy. SciPy checks the columns of a matrix only when asked
    to, so they are checked here, in one pass; an engine that has threads passes its `answers`.

    >>> from scipy.sparse import csr_array
    >>> matrix = csr_array([[0.0, 1.5], [2.5, 0.0]])
    >>> rows = read_sparse(matrix)
    >>> rows.data is matrix.data, rows.indices is matrix.indices
    (True, True)
    """
    if data.ndim != 2:
        raise BadRows(
            f"Expected 2D array, got {data.ndim}D sparse array instead: shape {data.shape}",
            hint="rows are a table: array.reshape(1, -1) if it is one row",
        )
    if 0 in data.shape:
        refuse_empty(*data.shape)
    kind = data.dtype.kind
    if kind not in "fiub":
        raise NotANumber(
            f"Complex data not supported: the sparse rows are {data.dtype}"
            if kind == "c"
            else f"sparse rows of dtype {data.dtype} are not numbers",
            hint="pass a sparse matrix of real numbers",
        )
    matrix = data if data.format == "csr" else data.tocsr()
    cells = np.require(matrix.data, requirements=("C", "A"))
    if cells.dtype not in KEPT:
        cells = cells.astype(np.float64)
    rows = SparseRows(cells, _whole(matrix.indices), _whole(matrix.indptr), int(matrix.shape[1]))
    _check_pointers(rows, int(matrix.shape[0]))
    first, stored = int(rows.indptr[0]), rows.stored
    count = PARTS if stored > CHUNK else 1
    edges = [first + stored * part // count for part in range(count + 1)]
    rising = answers(
        lambda part: _check_columns(rows, edges[part], edges[part + 1]), count, float(stored)
    )
    return rows if all(rising) or not _repeats(rows) else _added_up(rows)


def _whole(places: NDArray[Any]) -> NDArray[np.integer]:
    """Return columns or pointers as int32 or int64: SciPy has made them so, without a copy."""
    places = np.require(places, requirements=("C", "A"))  # contiguous, aligned
    return places if places.dtype in (np.int32, np.int64) else places.astype(np.int64)


def _check_pointers(rows: SparseRows, size: int) -> None:
    """Refuse a matrix whose pointers do not fit its cells, as one changed by hand may be."""
    indptr = rows.indptr
    if len(indptr) != size + 1 or indptr[0] < 0 or (indptr[1:] < indptr[:-1]).any():
        _refuse(f"its indptr is not {size + 1} non-decreasing numbers")
    held = min(len(rows.data), len(rows.indices))
    if indptr[-1] > held:
        _refuse(f"its indptr ends at {indptr[-1]}, but {held} cells are stored")


def _check_columns(rows: SparseRows, first: int, last: int) -> bool:
    """Refuse columns of some cells that do not exist; return whether they rise in every row."""
    # As unsigned numbers, negative ones are the largest of all: one comparison finds both.
    columns = rows.indices.view(f"u{rows.indices.itemsize}")
    starts = [*range(first, last, CHUNK), last]
    begins = np.searchsorted(rows.indptr, starts, side="right")
    rises = True
    for number, start in enumerate(starts[:-1]):
        # One column more: the last is compared with the first of the next chunk.
        part = columns[start : min(starts[number + 1] + 1, int(rows.indptr[-1]))]
        if part.max() >= rows.width:
            place = start + int((part >= rows.width).argmax())
            row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
            said = "{row} has a cell in column {column} of {width}"
            column = int(rows.indices[place])
            _refuse(Phrase(said, row=RowAt(row), column=column, width=rows.width))
        if rises:
            falls = part[1:] <= part[:-1]
            new_rows = rows.indptr[begins[number] : begins[number + 1]] - (start + 1)
            falls[new_rows[new_rows < len(falls)]] = False  # from row to row columns may fall
            rises = not falls.any()
    return rises


def _repeats(rows: SparseRows) -> bool:
    """Return whether a column comes up twice in a row; the columns may lie in any order."""
    step = max(CHUNK * len(rows) // max(rows.stored, 1), 1)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        keys = part.row_numbers().astype(np.int64) * rows.width + part.places
        keys.sort()
        if (keys[1:] == keys[:-1]).any():
            return True
    return False


def _added_up(rows: SparseRows) -> SparseRows:
    """Return a copy in which each cell is stored once."""
    from scipy import sparse

    first = int(rows.indptr[0])
    parts = rows.cells.copy(), rows.places.copy(), rows.indptr - first
    matrix = sparse.csr_array(parts, shape=rows.shape)
    matrix.sum_duplicates()
    return SparseRows(matrix.data, matrix.indices, matrix.indptr, rows.width)


def _refuse(problem: str | Phrase) -> NoReturn:
    raise BadRows(
        Phrase("the sparse matrix is damaged: {problem}", problem=problem),
        hint="matrix.check_format(full_check=True) checks it; build the matrix again",
    )


MOST_COUNT = 1e300
"""Counts above this are refused: sums and scores of them would leave the range of a double."""


def refuse_huge(cells: NDArray[Any], place: Callable[[int], CellAt]) -> None:
    """Refuse the first cell that is too large to be counted; `place` finds a cell by number."""
    bad = cells.ravel() > MOST_COUNT
    if bad.any():
        at = int(bad.argmax())
        cell, value = place(at), float(cells.ravel()[at])
        raise NotFinite.of_cell(
            cell.row,
            cell.column,
            f"{value:g} is too large to be counted",
            value=value,
            hint="divide the counts by a power of ten, or use another family",
        )


def refuse_huge_stored(rows: SparseRows) -> None:
    """Refuse a stored cell that is too large to be counted, once a sum has shown that one is."""
    numbers = rows.row_numbers()
    refuse_huge(rows.cells, lambda at: CellAt(int(numbers[at]), ColumnAt(int(rows.places[at]))))


def refuse_stored(rows: SparseRows, smallest: float, *, signed: bool) -> None:
    """Refuse stored cells that cannot be meant, once a kernel has seen that there are some.

    `smallest` is NaN where a cell is not finite. Where cells are `signed`, negative ones are
    as good as any: they lie below the threshold.
    """
    if smallest >= 0.0 or (signed and smallest < 0.0):
        return
    if not signed:
        refuse_counts(rows)
        return
    bad = ~np.isfinite(rows.cells)
    if bad.any():
        at = int(bad.argmax())
        row, value = int(rows.row_numbers()[at]), float(rows.cells[at])
        raise NotFinite.of_cell(
            row,
            ColumnAt(int(rows.places[at])),
            f"{value:g} is not a finite number (Input contains NaN or infinity)",
            value=value,
            hint="leave the cell out of the sparse rows, or drop the row; dense rows may have "
            "missing cells",
        )
