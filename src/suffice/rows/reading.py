"""One function for whatever holds rows, and one that finds the cell to blame."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadRows, NotANumber, NotFinite
from suffice.rows.cells import FLOATS, NUMBER, place_of
from suffice.rows.frames import is_from_frame_library, table_of_frame
from suffice.rows.tables import Table, table_of_array, table_of_lists, unmasked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def read_table(data: object) -> Table:
    """Read an array, nested lists, or a pandas, Polars or Arrow frame.

    float32 and float64 arrays are taken as they are, without a copy; everything else that is
    made of numbers becomes a float64 matrix, blanks NaN. What holds strings, booleans or
    categories is kept by column.

    >>> read_table(np.array([[1.5, "red"], [2.0, ""]], dtype=object)).cells
    (array([1.5, 2. ]), array(['red', None], dtype=object))
    """
    if isinstance(data, Table):
        return data
    if type(data) is np.ndarray:
        if data.dtype in FLOATS and data.ndim == 2 and data.size:
            return Table(data, None, (NUMBER,) * data.shape[1])  # nothing to do: the usual case
        return table_of_array(data)
    if hasattr(data, "toarray"):
        raise NotANumber(
            f"sparse rows of type {type(data).__name__} cannot be read: dense rows are needed",
            hint="pass rows.toarray() if it fits into memory; BernoulliNaiveBayes, "
            "MultinomialNaiveBayes and ComplementNaiveBayes take sparse rows as they are",
        )
    if isinstance(data, (list, tuple)):
        return table_of_lists(data)
    if is_from_frame_library(data) or hasattr(data, "__arrow_c_stream__"):
        return table_of_frame(data)
    if isinstance(data, np.ma.MaskedArray):
        return table_of_array(unmasked(data))
    if hasattr(data, "__array__"):
        return table_of_array(np.asarray(data))
    if isinstance(data, (numbers.Number, str, bytes)) or data is None:
        raise BadRows(
            f"Expected 2D array, got scalar array instead: {data!r}. "
            "Reshape your data either using array.reshape(-1, 1) if it is one column, "
            "or array.reshape(1, -1) if it is one row.",
            hint="rows are a table: an array with two dimensions, lists of lists, or a frame",
        )
    raise NotANumber(
        f"rows cannot be read from a {type(data).__name__}",
        hint="pass an array, lists of lists, or a pandas, Polars or Arrow frame",
    )


def refuse_infinite(matrix: NDArray[np.floating[Any]], names: Sequence[str] | None = None) -> None:
    """Find the first infinite cell and refuse it by name; return when there is none.

    Called only after a sum came out non-finite, so it may take its time, but not memory.
    """
    for start in range(0, len(matrix), 4096):
        bad = np.isinf(matrix[start : start + 4096])
        if bad.any():
            row, column = divmod(int(bad.argmax()), matrix.shape[1])
            name = place_of(column, names)
            raise NotFinite.of(start + row, name, float(matrix[start + row, column]))
