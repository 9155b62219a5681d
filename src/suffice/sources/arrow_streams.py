"""Whatever hands out Arrow; what comes only once is set aside, so that it can be read again."""

from __future__ import annotations

import errno
import shutil
import tempfile
import weakref
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from suffice.errors import BadFile, BadRows
from suffice.sources.chunks import chunks_of
from suffice.sources.local import LocalSource, chunk_rows
from suffice.tables.allowances import refuse_same_names
from suffice.tables.arrow_checks import arrow_at_work
from suffice.tables.arrow_dates import date_spellings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import ModuleType

    from suffice.columns.spellings.spelling import Spelling
    from suffice.sources.local import Part
    from suffice.sources.source import Chunk, Source, Wanted
    from suffice.tables.arrow_types import ArrowBatch, NamedColumns


class ArrowSource(LocalSource):
    """Record batches that `read()` begins anew; with `once` it can do so a single time.

    Batches are cut and joined so that chunks have the same rows however the giver cut them.
    """

    def __init__(
        self,
        schema: NamedColumns,
        read: Callable[[list[str]], Iterable[ArrowBatch]],
        name: str,
        *,
        once: bool = False,
        size: int | None = None,
    ) -> None:
        self.schema = schema
        self.names = tuple(schema.names)
        refuse_same_names(self.names, name)
        self.name = name
        self.once = once
        self._read = read
        self._size = size
        self._gone = False

    @property
    def size(self) -> int | None:
        """How many rows there are, where that is known without reading them."""
        return self._size

    @property
    def dates(self) -> Mapping[str, Spelling]:
        """Which columns are dates or times by their type."""
        return date_spellings(self.schema)

    def parts(self, wanted: Wanted) -> Sequence[Part]:
        """Return the whole as one part."""
        return [lambda: self._chunks(wanted)]

    def batches(self, names: list[str]) -> Iterator[ArrowBatch]:
        """Yield the rows of some columns as the giver cut them."""
        if self._gone:
            raise BadRows(
                f"{self.name} can be read only once, and has been read already",
                hint="create it again, or give a table or a file",
            )
        self._gone = self.once
        for batch in self._read(names):
            held = batch.select(names)
            # Whoever handed it over made it in this process: that its buffers are as long as it
            # says is all that is asked, which takes no look at the rows.
            with arrow_at_work(self.name):
                held.validate()
            yield held

    def _chunks(self, wanted: Wanted) -> Iterator[Chunk]:
        names = list(wanted.all)
        even = even_batches(self.batches(names), chunk_rows(len(names)))
        yield from chunks_of(even, wanted, self.name)


def even_batches(batches: Iterator[ArrowBatch], size: int) -> Iterator[ArrowBatch]:
    """Yield the same rows in batches of `size`, the last one shorter."""
    pa = import_module("pyarrow")
    held: list[ArrowBatch] = []
    rows = 0
    for given in batches:
        batch = given
        while rows + batch.num_rows >= size:
            held.append(batch.slice(0, size - rows))
            batch = batch.slice(size - rows)
            yield _one(pa, held)
            held, rows = [], 0
        if batch.num_rows:
            held.append(batch)
            rows += batch.num_rows
    if held:
        yield _one(pa, held)


def _one(pa: ModuleType, batches: list[ArrowBatch]) -> ArrowBatch:
    if len(batches) == 1:
        return batches[0]
    if any(batch.schema != batches[0].schema for batch in batches):
        batches = _alike(pa, batches)
    table = pa.Table.from_batches(batches).combine_chunks()
    batch: ArrowBatch = table.to_batches()[0]
    return batch


def _alike(pa: ModuleType, batches: list[ArrowBatch]) -> list[ArrowBatch]:
    """Return batches of one type each column: PostgreSQL's numbers are decimals where they have to.

    So they are in all batches if the others are whole, too; else they are doubles.
    """
    columns = []
    for name in batches[0].schema.names:
        parts = [batch.column(name) for batch in batches]
        kinds = {str(part.type): part.type for part in parts}
        if len(kinds) > 1:
            wide = next((kind for kind in kinds.values() if pa.types.is_decimal(kind)), None)
            try:
                parts = [part.cast(wide or pa.float64()) for part in parts]
            except pa.ArrowException:
                parts = [part.cast(pa.float64(), safe=False) for part in parts]
        columns.append(parts)
    names = batches[0].schema.names
    return [pa.RecordBatch.from_arrays(list(row), names) for row in zip(*columns, strict=True)]


SPARE = 1 << 28
"""Bytes of the disk that are left alone."""


def spooled(source: Source, wanted: Wanted) -> ArrowSource:
    """Return the rows of a stream as a source that can be read again and again.

    They go to a temporary Arrow file, the wanted columns only, which is gone when nobody holds the
    source any more. More than the disk has room for is refused.
    """
    if not isinstance(source, ArrowSource):
        raise BadFile(
            f"{source.name} can be read only once, and is needed more than once",
            hint="write it to a file, and give its path",
        )
    pa = import_module("pyarrow")
    folder = tempfile.mkdtemp(prefix="suffice-")
    place = Path(folder) / "rows.arrow"
    schema, size = None, 0
    try:
        with pa.OSFile(str(place), "wb") as file:
            writer = None
            for batch in source.batches(list(wanted.all)):
                if writer is None:
                    schema = batch.schema
                    writer = pa.ipc.new_file(file, schema)
                if shutil.disk_usage(folder).free < batch.nbytes + SPARE:
                    raise OSError(errno.ENOSPC, "no space left on device")
                writer.write_batch(batch)
                size += batch.num_rows
            if writer is not None:
                writer.close()
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise BadFile(
            f"{source.name} can be read only once and is larger than the free space in "
            f"{tempfile.gettempdir()} "
            f"({error.strerror or error})",
            hint="write it to a file and give its path, or set TMPDIR to a larger disk",
        ) from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise

    def read(names: list[str]) -> Iterator[ArrowBatch]:
        if schema is None:
            return
        with pa.memory_map(str(place)) as held:
            reader = pa.ipc.open_file(held)
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number).select(names)

    found = ArrowSource(
        schema if schema is not None else source.schema, read, source.name, size=size
    )
    weakref.finalize(found, shutil.rmtree, folder, ignore_errors=True)
    return found
