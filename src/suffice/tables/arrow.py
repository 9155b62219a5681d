"""Parquet, Arrow and Feather files: typed already, read batch by batch through pyarrow."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from suffice.columns.spellings.spelling import read_cells, spelling_of
from suffice.errors import NotANumber, NotFinite
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER
from suffice.rows.frames import table_of_frame
from suffice.rows.tables import Table, table_of_columns
from suffice.tables.allowances import Allowance, checked_names
from suffice.tables.arrow_checks import (
    BatchChecks,
    arrow_at_work,
    checked_text,
    holds_words,
    plain_cells,
    portions,
    words_of,
)
from suffice.tables.arrow_dates import date_spellings
from suffice.tables.arrow_messages import CheckedMessages
from suffice.tables.csv.cells import ColumnEvidence
from suffice.tables.csv.typed_cells import typed_cells
from suffice.tables.parquet_footer import Footer
from suffice.tables.parquet_pages import PageChecks, text_sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from suffice.columns.spellings.spelling import Spelling
    from suffice.tables.arrow_types import (
        ArrowBatch,
        ArrowCells,
        ArrowField,
        ArrowSchema,
        ArrowType,
    )
    from suffice.tables.table_bytes import TableBytes

    Read = Callable[[int], Iterator[ArrowBatch]]

PARQUET, ARROW, STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
"""How Parquet files, Arrow files and Arrow streams begin."""


def is_arrow(beginning: bytes) -> bool:
    """Whether a file that begins so is one of these."""
    return beginning.startswith((PARQUET, ARROW, STREAM))


class ArrowTable:
    """A table whose columns have types of their own.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> from pyarrow import feather
    >>> from suffice.tables.table_bytes import TableBytes
    >>> place = Path(tempfile.mkdtemp()) / "a.arrow"
    >>> feather.write_feather(pa.table({"size": [1, 2], "colour": ["red", None]}), place)
    >>> table = ArrowTable(TableBytes(place))
    >>> table.names, [seen.kind for seen in table.evidence()]
    (('size', 'colour'), ['number', 'category'])
    """

    def __init__(self, source: TableBytes) -> None:
        self._source = source
        self.name = source.name
        self._pa = import_module("pyarrow")
        with arrow_at_work(self.name):
            with self._opened() as (schema, _):
                self._schema = schema
            self.names = checked_names(self._schema.names, self.name)

    @property
    def is_lasting(self) -> bool:
        """Whether it is a file."""
        return self._source.is_lasting

    @property
    def stored(self) -> int:
        """How many bytes there are, packed as they are; 0 where that is not known."""
        return self._source.size

    def share(self) -> float | None:
        """Return which part of the file has been read; None where that is not known."""
        return self._source.share

    def evidence(self, *_: object) -> list[ColumnEvidence]:
        """Return what the cells of each column are; of one without a type, nothing is known."""
        found = [ColumnEvidence() for _ in self.names]
        for seen, field in zip(found, self._schema, strict=True):
            if not self._pa.types.is_null(field.type):
                seen.see_kind(self._kind(field.type))
        return found

    @property
    def dates(self) -> dict[str, Spelling]:
        """Which columns are dates or times by their type, and how such are written."""
        return date_spellings(self._schema)

    def _kind(self, given: ArrowType) -> str:
        types = self._pa.types
        while types.is_dictionary(given) or types.is_run_end_encoded(given):
            given = given.value_type
        if types.is_boolean(given):
            return BOOLEAN
        number = types.is_integer(given) or types.is_floating(given) or types.is_decimal(given)
        number = number or types.is_temporal(given)
        return NUMBER if number or types.is_null(given) else CATEGORY

    def tables(self, names: Sequence[str], kinds: Sequence[str], size: int) -> Iterator[Table]:
        """Yield the rows of some columns, about `size` at a time, as these kinds."""
        start = 1
        wanted = list(dict.fromkeys(names))
        for name in wanted:
            self._refuse_type(self._schema.field(name))
        with (
            arrow_at_work(self.name, lambda: f" beyond row {start - 1}"),
            self._opened(wanted) as (_, read),
        ):
            for batch in read(size):
                for place in range(0, batch.num_rows, size):
                    for part in portions(
                        batch.slice(place, size), f"{self.name}, beyond row {start - 1}"
                    ):
                        yield self._table(part, names, kinds, start)
                        start += part.num_rows

    def _table(
        self, batch: ArrowBatch, names: Sequence[str], kinds: Sequence[str], start: int
    ) -> Table:
        columns, whole = [], []
        for name, kind in zip(names, kinds, strict=True):
            field, cells = batch.schema.field(name), plain_cells(batch.column(name))
            found, values, is_whole = self._column(cells, name)
            spelling = spelling_of(kind)
            if found != CATEGORY and spelling is not None and spelling.kind == CATEGORY:
                found, is_whole = CATEGORY, False
                values = typed_cells(values.tolist(), kind, field.name, str)
            elif found == CATEGORY and kind != CATEGORY:

                def line(row: int) -> str:
                    return f"{self.name}, row {start + row}"

                text = ["" if cell is None else str(cell) for cell in values]
                values = typed_cells(text, kind, field.name, line)
            elif found == NUMBER and spelling is not None and spelling.is_serial:
                values = self._serial(values, spelling, field.name, start)
                is_whole = False
            elif found == NUMBER and values.dtype.kind == "f":
                self._refuse_infinite(values, field.name, start)
            columns.append((str(kind) if found == CATEGORY else found, values))
            whole.append(is_whole)
        return table_of_columns(columns, tuple(names), None, whole)

    def _column(self, cells: ArrowCells, name: str) -> tuple[str, NDArray[np.generic], bool]:
        """Return the kind and the cells of one column, and whether they are whole by their type."""
        pa, given = self._pa, cells.type
        if holds_words(given):
            return CATEGORY, words_of(cells), False
        if pa.types.is_null(given):
            cells = cells.cast(pa.float64())
        one = table_of_frame(pa.table({name: cells}))
        return one.kinds[0], one.exact(0), one.is_whole(0)

    def _serial(
        self, values: NDArray[np.generic], spelling: Spelling, name: str, start: int
    ) -> NDArray[np.generic]:
        """Return numbers that stand for dates as these; columns of a type of dates stay."""
        if name in self.dates:
            return values

        def refusal(row: int) -> NotANumber:
            return NotANumber(
                f"{self.name}, row {start + row}, {name}: {values[row]!s:.60} does not match the "
                f"notation of its column: {spelling.words}",
                hint="give the column a type of dates, or leave the cell empty",
            )

        return read_cells(values.tolist(), spelling, refusal)

    def _refuse_type(self, field: ArrowField) -> None:
        types = self._pa.types
        held = field.type.value_type if types.is_dictionary(field.type) else field.type
        held = getattr(held, "storage_type", held)  # of an extension, such as a UUID
        bytes_alone = types.is_binary(held) or types.is_large_binary(held)
        fixed = types.is_fixed_size_binary(held)
        nested = types.is_nested(held) and not types.is_run_end_encoded(held)
        if nested or types.is_interval(held) or bytes_alone or fixed:
            raise NotANumber(
                f"{self.name}, {field.name}: a column of type {held!s:.60} holds neither numbers "
                "nor categories",
                hint="lists and structs: make columns of their parts; --drop leaves the column out",
            )

    def _refuse_infinite(self, values: NDArray[np.generic], name: str, start: int) -> None:
        bad = np.isinf(values)
        if bad.any():
            row = int(bad.argmax())
            raise NotFinite(
                f"{self.name}, row {start + row}, {name}: {values[row]:g} is not a finite number",
                hint="drop the row, or leave the cell empty: missing values are marginalised",
            )

    @contextmanager
    def _opened(self, names: Sequence[str] = ()) -> Iterator[tuple[ArrowSchema, Read]]:
        """Yield the schema, and the function that reads batches of some columns, checked."""
        size = self._source.size
        allowed = Allowance(self.name, size)
        with self._source.open() as opened:
            if self._source.beginning.startswith(PARQUET):
                held = cast("IO[bytes]", _NoMoreThanThere(opened, size))
                yield self._parquet(held, names, allowed)
                return
            ipc = import_module("pyarrow.ipc")
            messages = CheckedMessages(_NoMoreThanThere(opened, size), size, self.name, allowed)
            places = [] if not names else sorted(map(self._schema.get_field_index, names))
            messages.width = len(places)
            stream = ipc.open_stream(
                self._pa.PythonFile(messages, mode="r"),
                options=ipc.IpcReadOptions(included_fields=places, use_threads=False),
            )
            checks = BatchChecks(self.name, allowed)

            def read(_: int) -> Iterator[ArrowBatch]:
                for number, batch in enumerate(stream):
                    yield checks.checked(batch, names, f"batch {number}")

            yield stream.schema, read

    def _parquet(
        self, file: IO[bytes], names: Sequence[str], allowed: Allowance
    ) -> tuple[ArrowSchema, Read]:
        """Return the schema of a file of Parquet, and the function that reads batches of it."""
        parquet = import_module("pyarrow.parquet")
        first = parquet.ParquetFile(self._pa.PythonFile(file, mode="r"))
        held, schema = first.metadata, first.schema_arrow

        def read(size: int) -> Iterator[ArrowBatch]:
            footer = Footer(file, self._source.size, self.name)
            sizes, all_rows = text_sizes(held, schema, footer), held.num_rows
            coded = sizes.coded(names, all_rows, held.num_row_groups)
            checks = PageChecks(file, footer, held, allowed, coded)
            rows = min(size, checks.rows_at_once(names, range(held.num_row_groups)))
            again = parquet.ParquetFile(
                self._pa.PythonFile(file, mode="r"), metadata=held, read_dictionary=coded
            )
            rows = sizes.rows_at_once(names, all_rows, rows)
            yield from map(checked_text, again.iter_batches(rows, columns=list(names)))

        return schema, read


class _NoMoreThanThere:
    """A file that is never asked for more bytes than it has: Python would take memory for all."""

    def __init__(self, held: IO[bytes], size: int) -> None:
        self._held = held
        self._size = size
        self.seek, self.tell = held.seek, held.tell

    def close(self) -> None:
        """Do nothing: whoever opened the file closes it."""

    @property
    def closed(self) -> bool:
        return self._held.closed

    def read(self, size: int = -1, /) -> bytes:
        rest = max(0, self._size - self._held.tell())
        return self._held.read(rest if size < 0 else min(size, rest))
