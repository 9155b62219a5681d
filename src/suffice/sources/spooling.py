"""Rows that come only once, set aside so that they can be read again."""

from __future__ import annotations

import errno
import shutil
import tempfile
import weakref
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile
from suffice.sources.arrow_streams import ArrowSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.sources.source import Source, Wanted

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
    pa: Any = import_module("pyarrow")
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
            f"{source.name} comes only once and is larger than the room in {tempfile.gettempdir()} "
            f"({error.strerror or error})",
            hint="write it to a file and give its path, or name a larger place by TMPDIR",
        ) from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise

    def read(names: list[str]) -> Iterator[Any]:
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
