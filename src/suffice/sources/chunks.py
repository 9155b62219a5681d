"""Record batches of Arrow and frames of other libraries as chunks of rows."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import BadLabels, BadRows, BadWeights, NotANumber, SufficeError
from suffice.kernels.dense.columns_apart import ColumnsApart
from suffice.places import Phrase, Place
from suffice.rows.cells import BOOLEAN, CATEGORY, DOUBLES, NUMBER, object_array
from suffice.rows.frames import table_of_frame
from suffice.rows.tables import Table, table_of_columns
from suffice.sources.local import chunk_rows
from suffice.sources.source import Chunk, Wanted
from suffice.tables.arrow_checks import holds_words, plain_cells, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from suffice.tables.arrow_types import ArrowBatch, ArrowCells, ArrowType


def kind_of_type(given: ArrowType) -> str:
    """Return what a column of an Arrow type holds; dates and the like are categories until read."""
    types = import_module("pyarrow").types
    if types.is_dictionary(given):
        given = given.value_type
    if types.is_boolean(given):
        return BOOLEAN
    number = types.is_integer(given) or types.is_floating(given) or types.is_decimal(given)
    return NUMBER if number or types.is_null(given) else CATEGORY


def chunks_of(batches: Iterable[ArrowBatch], wanted: Wanted, name: str) -> Iterator[Chunk]:
    """Yield record batches as chunks; empty ones are left out."""
    start = 1
    for batch in batches:
        stop = start + batch.num_rows
        place = Place(name, start, stop - 1)
        found = chunk_of(batch, wanted, place) if stop > start else None
        # Nothing is kept while the next batch is read: it can take the same memory, still warm.
        del batch
        if found is not None:
            yield found
        del found
        start = stop


def chunk_of(batch: ArrowBatch, wanted: Wanted, place: Place) -> Chunk:
    """Return a record batch as a chunk: columns by name, labels and weights beside them."""
    given = [batch.column(name) for name in wanted.names]
    columns = [_column(cells, name, place) for cells, name in zip(given, wanted.names, strict=True)]
    types = import_module("pyarrow").types
    whole = tuple(types.is_integer(cells.type) for cells in given)
    labels = None if wanted.target is None else _labels(batch.column(wanted.target), wanted, place)
    weights = None if wanted.weight is None else _weights(batch.column(wanted.weight), place)
    return Chunk(_table(columns, wanted.names, whole), labels, weights, place)


def _table(
    columns: list[tuple[str, NDArray[np.generic]]], names: tuple[str, ...], whole: tuple[bool, ...]
) -> Table:
    """Return columns as a table; numbers of one type stay where they are."""
    cells = [values for _, values in columns]
    if all(kind == NUMBER for kind, _ in columns) and ColumnsApart.fits(cells):
        return ColumnTable.of(cells, names, whole if any(whole) else None)
    return table_of_columns(columns, names, None, whole)


def _column(cells: ArrowCells, name: str, place: Place) -> tuple[str, NDArray[np.generic]]:
    """Return the kind and the cells of one column."""
    pa = import_module("pyarrow")
    given = cells.type
    if pa.types.is_floating(given) or (pa.types.is_integer(given) and not _is_beyond(cells)):
        return NUMBER, numbers_of(cells)
    if pa.types.is_null(given):
        return NUMBER, numbers_of(cells.cast(pa.float64()))
    try:
        cells = plain_cells(cells)
        if holds_words(given):
            return CATEGORY, words_of(cells)
        table = table_of_frame(pa.table({name: cells}))
    except UnicodeError:
        said = Phrase("{place}, {column}: a text is not UTF-8", place=place, column=name)
        raise BadRows(said, hint="write the column again, as text") from None
    except SufficeError as error:
        raise NotANumber(error.problem, hint=error.hint, place=place) from None
    return table.kinds[0], table.exact(0)


def _is_beyond(cells: ArrowCells) -> bool:
    """Whether integers may be no doubles."""
    if cells.type.bit_width < 64:
        return False
    ends = import_module("pyarrow.compute").min_max(cells).as_py()
    return any(end is not None and abs(end) > DOUBLES for end in ends.values())


def numbers_of(cells: ArrowCells) -> NDArray[np.generic]:
    """Return a column of numbers: float32 stays so, null is NaN."""
    pa = import_module("pyarrow")
    kept = pa.types.is_float32(cells.type) or pa.types.is_float64(cells.type)
    if cells.null_count or not kept:
        cells = cells.cast(cells.type if kept else pa.float64(), safe=False)
    return np.asarray(cells.to_numpy(zero_copy_only=False))


def _labels(cells: ArrowCells, wanted: Wanted, place: Place) -> object:
    types = import_module("pyarrow").types
    floating = types.is_floating(cells.type)
    if cells.null_count or floating:  # NaN is not a label either
        marks = cells.is_null(nan_is_null=floating).to_numpy(zero_copy_only=False)
        blank = np.asarray(marks, dtype=bool)
        if blank.any():
            raise BadLabels(
                f"row {int(blank.argmax()) + 1} of these has no {wanted.target}",
                hint="leave out rows without a label: they cannot be used for training",
                place=place,
            )
    if types.is_integer(cells.type) or floating:
        return cells.to_numpy(zero_copy_only=False)
    return whole_decimals(cells)


def whole_decimals(cells: ArrowCells) -> object:
    """Return labels of a decimal type as the integers that they are; others as they came."""
    if not import_module("pyarrow").types.is_decimal(cells.type):
        return cells
    found = cells.to_pylist()
    if any(cell is None or cell != int(cell) for cell in found):
        return cells
    return object_array(map(int, found))


def _weights(cells: ArrowCells, place: Place) -> NDArray[np.generic]:
    pa = import_module("pyarrow")
    if not (pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)):
        raise BadWeights(
            f"weights of type {cells.type} are not numbers", hint="name another column", place=place
        )
    return numbers_of(cells).astype(np.float64, copy=False)


class ColumnTable(Table):
    """A table like any other, but for `apart`: its columns as they came, without a copy.

    `matrix` is put together when somebody first asks for it. Sums of many rows are not made of it.

    >>> import numpy as np
    >>> table = ColumnTable.of([np.array([1.0, 2.0]), np.array([3.0, 4.0])], ("a", "b"))
    >>> table.size, table.apart.shape
    (2, (2, 2))
    >>> table.matrix
    array([[1., 3.],
           [2., 4.]])
    """

    __slots__ = ("apart",)
    apart: ColumnsApart | None

    @classmethod
    def of(
        cls,
        columns: Sequence[NDArray[np.floating]],
        names: tuple[str, ...] | None,
        whole: tuple[bool, ...] | None = None,
    ) -> Self:
        """Return the table of columns that `ColumnsApart.fits`."""
        table = cls.__new__(cls)
        held = {
            "apart": ColumnsApart(columns),
            "cells": None,
            "kinds": (NUMBER,) * len(columns),
            "names": names,
            "levels": None,
            "whole": whole,
            "bare": None,
        }
        for name, value in held.items():
            object.__setattr__(table, name, value)
        return table

    def __getattr__(self, name: str) -> object:
        """Return what was not there yet: the matrix; of a copy of the table, no columns apart."""
        if name == "apart":
            return None
        if name != "matrix" or self.apart is None:
            raise AttributeError(name)
        object.__setattr__(self, "matrix", self.apart.stacked)
        return self.apart.stacked

    @property
    def size(self) -> int:
        """How many rows there are."""
        return super().size if self.apart is None else len(self.apart)

    def column(self, index: int) -> NDArray[np.generic]:
        """Return the cells of one column."""
        return super().column(index) if self.apart is None else self.apart.columns[index]


def chunks_of_frame(frame: Any, wanted: Wanted, name: str, start: int = 1) -> Iterator[Chunk]:
    """Yield the rows of a pandas or Polars frame as chunks; `start` is the place of its first."""
    import narwhals as nw

    whole = nw.from_native(frame, eager_only=True)
    step = chunk_rows(len(wanted.all))
    for first in range(0, len(whole), step):
        rows = whole[first : first + step]
        last = start + first + len(rows) - 1
        yield chunk_of_frame(rows.to_native(), wanted, Place(name, start + first, last))


def chunk_of_frame(frame: Any, wanted: Wanted, place: Place) -> Chunk:
    """Return a frame as a chunk: columns by name, labels and weights beside them."""
    try:
        table = table_of_frame(frame[list(wanted.names)])
    except SufficeError as error:
        raise NotANumber(error.problem, hint=error.hint, place=place) from None
    labels = None if wanted.target is None else _frame_labels(frame[wanted.target], wanted, place)
    weights = None if wanted.weight is None else _frame_weights(frame[wanted.weight], wanted, place)
    return Chunk(table, labels, weights, place)


def _frame_labels(column: Any, wanted: Wanted, place: Place) -> object:
    import narwhals as nw

    series = nw.from_native(column, series_only=True)
    blank = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if series.dtype.is_float():  # NaN is not a label either
        blank |= np.asarray(series.is_nan().fill_null(False).to_numpy(), dtype=bool)
    if blank.any():
        raise BadLabels(
            f"row {int(blank.argmax()) + 1} of these has no {wanted.target}",
            hint="leave out rows without a label: they cannot be used for training",
            place=place,
        )
    return column


def _frame_weights(column: Any, wanted: Wanted, place: Place) -> NDArray[np.generic]:
    import narwhals as nw

    series = nw.from_native(column, series_only=True)
    if not series.dtype.is_numeric():
        raise BadWeights(
            f"{wanted.weight} holds no numbers",
            hint="name another column of weights",
            place=place,
        )
    return np.asarray(series.cast(nw.Float64()).to_numpy(), dtype=np.float64)
