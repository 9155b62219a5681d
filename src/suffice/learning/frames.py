"""Rows go back to the user as they came: as a frame of the same library, or as an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadRows
from suffice.rows import Table
from suffice.rows.frames import eager_frame

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from suffice.columns import Columns
    from suffice.rows import FloatArray


def frame_library(X: object) -> str | None:
    """Return the name of the library a frame came from, so that samples can be given back in kind.

    The name and not the module: what was learned is to be pickled.
    """
    if isinstance(X, (np.ndarray, list, tuple, Table)):
        return None
    import narwhals as nw

    frame = eager_frame(X)
    return frame.implementation.name.lower() if isinstance(frame, nw.DataFrame) else None


def split_off(X: object, names: tuple[str | None, ...]) -> tuple[object, list[object]] | None:
    """Return a frame that is here without some of its columns, and these; None for what is not.

    A name that is None stands for no column.
    """
    import narwhals as nw

    from suffice.tables.table_file import missing_columns

    frame = eager_frame(X)
    if not isinstance(frame, nw.DataFrame):
        return None
    gone = [name for name in names if name is not None]
    lacking = [name for name in gone if name not in frame.columns]
    if lacking:
        raise missing_columns("the frame", lacking, [str(name) for name in frame.columns])
    held = [None if name is None else frame.get_column(name).to_native() for name in names]
    return frame.drop(gone).to_native(), held


def back_to_frame(
    columns: Columns, matrix: FloatArray, library: Any, dated: Collection[str] = ()
) -> Any:
    """Return coded rows as what the user gave: a frame of the same library, or an array.

    In a frame the columns that are `dated` have a type of dates.
    """
    if library is None or not columns.named:
        if columns.is_plain:
            return matrix
        decoded = columns.decode(matrix)
        result = np.empty((len(matrix), len(decoded)), dtype=object)
        for j, cells in enumerate(decoded):
            result[:, j] = cells
        return result
    return frame_of_cells(
        dict(zip(columns.names, columns.decode(matrix), strict=True)), library, dated
    )


def frame_of_cells(
    cells: Mapping[str, NDArray[np.generic]], library: str, dated: Collection[str] = ()
) -> object:
    """Return columns as a frame of a library, or refuse what it has no place for.

    Columns that are `dated` are days since 1970, and dates in the frame: a number would be read as
    one of those that stand for dates in the table. Text and numbers in one column, or half a
    character, may have been learned from elsewhere.
    """
    import narwhals as nw

    cells = {name: _dates(held) if name in dated else held for name, held in cells.items()}
    data = {name: held.tolist() if held.dtype == object else held for name, held in cells.items()}
    try:
        return nw.from_dict(data, backend=library).to_native()  # type: ignore[arg-type]
    except Exception as error:  # noqa: BLE001  each library has its own
        why = " ".join(str(error).split())[:80] or type(error).__name__
        raise BadRows(
            f"{library} has no frame for these rows: {why}",
            hint="levels of a column should be of one type; or fit on an array",
        ) from None


FIRST, LAST = -719_162.0, 2_932_896.0
"""Days of the years 1 and 9999, the first and the last of the calendar, since 1970."""
MILLISECONDS = 86_400_000.0
"""Of a day."""


def _dates(days: NDArray[np.generic]) -> NDArray[np.datetime64]:
    """Return days since 1970 as dates; blank ones as no date."""
    held = np.clip(days.astype(np.float64), FIRST, LAST)
    blank = np.isnan(held)
    found = np.where(blank, 0.0, np.round(held * MILLISECONDS)).astype("datetime64[ms]")
    found[blank] = np.datetime64("NaT")
    return found
