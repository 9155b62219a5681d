"""One function for whatever holds rows, one for weights, and one that finds the cell to blame."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadRows, BadWeights, NotANumber, NotFinite
from suffice.places import Phrase, RowAt
from suffice.rows.cells import FLOATS, NUMBER, column_at
from suffice.rows.frames import is_from_frame_library, table_of_frame
from suffice.rows.tables import Table, table_of_array, table_of_lists, unmasked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.rows.cells import FloatArray


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


def refuse_infinite(matrix: NDArray[np.floating], names: Sequence[str] | None = None) -> None:
    """Find the first infinite cell and refuse it by name; return when there is none.

    Called only after a sum came out non-finite, so it may take its time, but not memory.
    """
    for start in range(0, len(matrix), 4096):
        bad = np.isinf(matrix[start : start + 4096])
        if bad.any():
            row, column = divmod(int(bad.argmax()), matrix.shape[1])
            value = float(matrix[start + row, column])
            raise NotFinite.of(start + row, column_at(column, names), value)


def read_weights(weights: object, size: int) -> FloatArray | None:
    """Return one finite weight ≥ 0 per row, or None when every row counts once.

    >>> read_weights([1, 2, 0], 3)
    array([1., 2., 0.])
    >>> read_weights(None, 3) is None
    True
    """
    if weights is None:
        return None
    if isinstance(weights, np.ma.MaskedArray) and np.ma.getmaskarray(weights).any():
        row = int(np.ma.getmaskarray(weights).ravel().argmax())
        raise BadWeights(
            Phrase("{row}: the weight is masked", row=RowAt(row)),
            hint="weights.filled(0.0) leaves such rows out, weights.data uses the values below "
            "the mask",
        )
    try:
        given = np.asarray(weights)
        if given.dtype.kind == "c":
            raise TypeError
        values = given.astype(np.float64)
    except (TypeError, ValueError):
        raise BadWeights(
            f"weights cannot be read from {type(weights).__name__}",
            hint="pass one real number ≥ 0 for every row",
        ) from None
    if values.ndim == 0:
        values = np.full(size, float(values))
    if values.ndim != 1:
        raise BadWeights(
            f"Sample weights must be 1D array or scalar, got shape {values.shape}",
            hint="pass one number for every row: weights.ravel()",
        )
    if len(values) != size:
        raise BadWeights(
            f"sample_weight.shape == {values.shape}, expected ({size},)!",
            hint="pass one weight for every row",
        )
    low, high = (float(values.min()), float(values.max())) if size else (0.0, 0.0)
    if not (low >= 0.0 and high < math.inf):  # NaN fails the first comparison
        bad = ~((values >= 0.0) & np.isfinite(values))
        row = int(bad.argmax())
        said = "{row}: a weight of {value:g} is not valid (Negative or not finite)"
        raise BadWeights(
            Phrase(said, row=RowAt(row), value=float(values[row])),
            hint="weights are finite and ≥ 0; 0 leaves the row out",
        )
    with np.errstate(over="ignore"):
        total = values.sum()
    if not total < math.inf:
        raise BadWeights(
            f"the weights, of up to {high:g}, add up to more than a double can hold",
            hint="divide all of them by a power of ten: only their ratios matter much",
        )
    if high == 0.0:
        raise BadWeights(
            f"all {size} sample weights are zero: "
            "Sample weights must contain at least one non-zero number.",
            hint="at least one row needs a weight above 0",
        )
    return None if low == high == 1.0 else values
