"""Rows go back to the user as they came: as a frame of the same library, or as an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from suffice.columns import Columns
    from suffice.rows import FloatArray


def frame_library(X: Any) -> str | None:
    """Return the name of the library a frame came from, so that samples can be given back in kind.

    The name and not the module: what was learned is to be pickled.
    """
    if isinstance(X, (np.ndarray, list, tuple)):
        return None
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return str(frame.implementation.value) if isinstance(frame, nw.DataFrame) else None


def split_off(X: Any, names: tuple[str | None, ...]) -> tuple[Any, list[Any]] | None:
    """Return a frame that is here without some of its columns, and these; None for what is not.

    A name that is None stands for no column.
    """
    import narwhals as nw

    from suffice.files.tables import missing_columns

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    gone = [name for name in names if name is not None]
    lacking = [name for name in gone if name not in frame.columns]
    if lacking:
        raise missing_columns("the frame", lacking, [str(name) for name in frame.columns])
    held = [None if name is None else frame.get_column(name).to_native() for name in names]
    return frame.drop(gone).to_native(), held


def back_to_frame(columns: Columns, matrix: FloatArray, library: Any) -> Any:
    """Return coded rows as what the user gave: a frame of the same library, or an array."""
    if library is None or not columns.named:
        if columns.is_plain:
            return matrix
        decoded = columns.decode(matrix)
        result = np.empty((len(matrix), len(decoded)), dtype=object)
        for j, cells in enumerate(decoded):
            result[:, j] = cells
        return result
    import narwhals as nw

    data = {
        name: cells.tolist() if cells.dtype == object else cells
        for name, cells in zip(columns.names, columns.decode(matrix), strict=True)
    }
    return nw.from_dict(data, backend=library).to_native()
