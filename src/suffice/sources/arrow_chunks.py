"""Record batches of Arrow as chunks: numbers without a detour, whatever else as frames are read."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadLabels, BadRows, BadWeights, NotANumber, SufficeError
from suffice.tables.arrow_checks import holds_words, plain_cells, words_of
from suffice.kernels.dense.columns_apart import ColumnsApart
from suffice.rows.cells import BOOLEAN, CATEGORY, DOUBLES, NUMBER, object_array
from suffice.rows.frames import table_of_frame
from suffice.rows.tables import table_of_columns
from suffice.sources.column_tables import ColumnTable
from suffice.sources.source import Chunk, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from suffice.rows.tables import Table


def kind_of_type(given: Any) -> str:
    """Return what a column of an Arrow type holds; dates and the like are categories until read."""
    types: Any = import_module("pyarrow").types
    if types.is_dictionary(given):
        given = given.value_type
    if types.is_boolean(given):
        return BOOLEAN
    number = types.is_integer(given) or types.is_floating(given) or types.is_decimal(given)
    return NUMBER if number or types.is_null(given) else CATEGORY


def chunks_of(batches: Iterable[Any], wanted: Wanted, name: str) -> Iterator[Chunk]:
    """Yield record batches as chunks; empty ones are left out."""
    start = 1
    for batch in batches:
        stop = start + batch.num_rows
        place = f"{name}, rows {start} to {stop - 1}"
        found = chunk_of(batch, wanted, place) if stop > start else None
        # Nothing is kept while the next batch is read: it can take the same memory, still warm.
        del batch
        if found is not None:
            yield found
        del found
        start = stop


def chunk_of(batch: Any, wanted: Wanted, place: str) -> Chunk:
    """Return a record batch as a chunk: columns by name, labels and weights beside them."""
    given = [batch.column(name) for name in wanted.names]
    columns = [_column(cells, name, place) for cells, name in zip(given, wanted.names, strict=True)]
    types: Any = import_module("pyarrow").types
    whole = tuple(types.is_integer(cells.type) for cells in given)
    labels = None if wanted.target is None else _labels(batch.column(wanted.target), wanted, place)
    weights = None if wanted.weight is None else _weights(batch.column(wanted.weight), place)
    return Chunk(_table(columns, wanted.names, whole), labels, weights, place)


def _table(
    columns: list[tuple[str, NDArray[Any]]], names: tuple[str, ...], whole: tuple[bool, ...]
) -> Table:
    """Return columns as a table; numbers of one type stay where they are."""
    cells = [values for _, values in columns]
    if all(kind == NUMBER for kind, _ in columns) and ColumnsApart.fits(cells):
        return ColumnTable.of(cells, names, whole if any(whole) else None)
    return table_of_columns(columns, names, None, whole)


def _column(cells: Any, name: str, place: str) -> tuple[str, NDArray[Any]]:
    """Return the kind and the cells of one column."""
    pa: Any = import_module("pyarrow")
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
        raise BadRows(
            f"{place}, {name}: a text is not UTF-8", hint="write the column again, as text"
        ) from None
    except SufficeError as error:
        raise NotANumber(f"{place}: {error.problem}", hint=error.hint) from None
    return table.kinds[0], table.exact(0)


def _is_beyond(cells: Any) -> bool:
    """Whether integers may be no doubles."""
    if cells.type.bit_width < 64:
        return False
    ends = import_module("pyarrow.compute").min_max(cells).as_py()
    return any(end is not None and abs(end) > DOUBLES for end in ends.values())


def numbers_of(cells: Any) -> NDArray[Any]:
    """Return a column of numbers: float32 stays so, null is NaN."""
    pa: Any = import_module("pyarrow")
    kept = pa.types.is_float32(cells.type) or pa.types.is_float64(cells.type)
    if cells.null_count or not kept:
        cells = cells.cast(cells.type if kept else pa.float64(), safe=False)
    return np.asarray(cells.to_numpy(zero_copy_only=False))


def _labels(cells: Any, wanted: Wanted, place: str) -> Any:
    if cells.null_count:
        row = int(np.asarray(cells.is_null().to_numpy(zero_copy_only=False)).argmax())
        raise BadLabels(
            f"{place}: row {row + 1} of these has no {wanted.target}",
            hint="leave out rows without a label: nothing can be learned from them here",
        )
    types: Any = import_module("pyarrow").types
    if types.is_integer(cells.type) or types.is_floating(cells.type):
        return cells.to_numpy(zero_copy_only=False)
    return whole_decimals(cells)


def whole_decimals(cells: Any) -> Any:
    """Return labels of a decimal type as the integers that they are; others as they came."""
    if not import_module("pyarrow").types.is_decimal(cells.type):
        return cells
    found = cells.to_pylist()
    if any(cell is None or cell != int(cell) for cell in found):
        return cells
    return object_array(map(int, found))


def _weights(cells: Any, place: str) -> NDArray[Any]:
    pa: Any = import_module("pyarrow")
    if not (pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)):
        raise BadWeights(
            f"{place}: weights of type {cells.type} are no numbers", hint="name another column"
        )
    return numbers_of(cells).astype(np.float64, copy=False)
