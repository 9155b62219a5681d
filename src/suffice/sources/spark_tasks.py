"""What Spark's workers do: rows become summaries, summaries one of theirs, and refusals text."""

from __future__ import annotations

import binascii
import json
import pickle
import re
from base64 import b64decode, b64encode
from dataclasses import fields
from importlib import import_module
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Final, TypeVar

from suffice import errors
from suffice.engines.parts import Mergeable
from suffice.errors import SufficeError
from suffice.places import CellAt, CellsAt, ColumnAt, PartAt, Phrase, Place, RowAt, portable
from suffice.sources.arrow_streams import ArrowSource
from suffice.sources.local import chunk_rows
from suffice.sources.partitions import merged, summary_of_partition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from suffice.sources.source import Chunk, Wanted

S = TypeVar("S", bound=Mergeable)

PARTIALS = "bucket long, part long, many long, payload binary"
"""The columns of partial summaries: which neighbours, the first partition, how many, and what."""


def of_partition(
    summarize: Callable[[Chunk], S], wanted: Wanted, near: int
) -> Callable[[Iterable[object]], Iterator[object]]:
    """Return the function that turns the batches of a partition into its summary.

    It travels with `summarize` inside, and with no rows. `near` is how many neighbours share a
    bucket.
    """

    def task(batches: Iterable[Any]) -> Iterator[object]:
        named = (batch.rename_columns(list(wanted.all)) for batch in batches)
        first = next(named, None)
        if first is None:
            return
        part = partition()
        rows = chain([first], named)
        stream = ArrowSource(first.schema, lambda _: rows, f"partition {part}", once=True)
        full = chunk_rows(len(wanted.all))
        found = summary_of_partition(summarize, stream.parts(wanted)[0], full)
        if found is not None:
            yield _record(part // near, part, 1, found)

    return task


def of_partials(batches: Iterable[Any]) -> Iterator[object]:
    """Yield the merged summaries of neighbours; they come in the order of their partitions."""
    rows = (row for batch in batches for row in batch.to_pylist())
    for bucket, near in groupby(rows, key=lambda row: row["bucket"]):
        parts: list[int] = []
        found = merged(_unpickled(near, parts))
        yield _record(bucket, parts[0], len(parts), found)


def _unpickled(rows: Iterable[dict[str, Any]], parts: list[int]) -> Iterator[Any]:
    """Yield summaries, and tell of which partitions: none waits for the others in memory."""
    for row in rows:
        parts.append(row["part"])
        yield pickle.loads(row["payload"])  # noqa: S301  written by the task before


def _record(bucket: int, part: int, many: int, found: object) -> Any:
    pa = import_module("pyarrow")
    payload = pickle.dumps(found, protocol=5)
    numbers = {"bucket": bucket, "part": part, "many": many}
    columns = {name: pa.array([number], pa.int64()) for name, number in numbers.items()}
    return pa.record_batch({**columns, "payload": pa.array([payload], pa.binary())})


def partition() -> int:
    """Return which partition the task at work has."""
    context: Any = import_module("pyspark").TaskContext.get()
    return int(context.partitionId())


# Refusals. Where a task may return what it refuses, that is a result (`partitions.py`). Where it
# may not, as in answers that an engine asks for when it likes, the engine tells the driver nothing
# but the text of a traceback. A note of the refusal stands in there: its fields, in a form that no
# sentence has.

MARK: Final = "suffice-refusal:"
"""What stands before the fields: a word that no sentence of ours has."""
NOTE: Final = re.compile(f"{MARK}([A-Za-z0-9+/=]+)")
"""A refusal in the text of a traceback."""
PLACES: Final = {one.__name__: one for one in (CellAt, CellsAt, ColumnAt, PartAt, Place, RowAt)}
"""What a sentence may name."""


def carrying(error: SufficeError) -> SufficeError:
    """Return a refusal whose traceback carries its fields.

    >>> from suffice.errors import NotFinite
    >>> error = NotFinite.of(1, "income", float("inf")).at(Place("partition 3", 1, 20))
    >>> found = carried(f"Traceback ... {carrying(error).__notes__[0]} at org.apache.spark")
    >>> type(found).__name__, found.row, found.column, found.value, found.place.first_row
    ('NotFinite', 1, 'income', inf, 1)
    >>> str(found) == str(error)
    True
    """
    made: Any = error.__reduce__()[1]
    kind, words, hint, place, within = made
    told = [kind.__name__, _plain(words), hint, _plain(place), _plain(within)]
    error.add_note(MARK + b64encode(json.dumps(told).encode()).decode())
    return error


def carried(text: str) -> SufficeError | None:
    """Return the refusal that the text of a traceback carries; None where it carries none."""
    found = NOTE.search(text)
    if found is None:
        return None
    try:
        name, words, hint, place, within = json.loads(b64decode(found[1], validate=True))
        kind = getattr(errors, name)
        if not issubclass(kind, SufficeError):
            return None
        told: SufficeError = kind(
            _restored(words), hint=hint, place=_restored(place), within=_restored(within)
        )
    except (ValueError, TypeError, AttributeError, KeyError, IndexError, binascii.Error):
        return None  # cut off, or a cell that looks like it: then it is text like any other
    return told


def _plain(value: Any) -> Any:
    """Return a field as JSON has it; of a cell of any other type, how it is written."""
    value = portable(value)
    if isinstance(value, Phrase):
        return {"Phrase": [value.template, {k: _plain(v) for k, v in value.fields.items()}]}
    if isinstance(value, tuple):
        return {"tuple": [_plain(one) for one in value]}
    name = type(value).__name__
    if name in PLACES:
        return {name: [_plain(getattr(value, one.name)) for one in fields(value)]}
    if value is None or isinstance(value, bool):
        return value
    for plain in (str, int, float):  # NumPy's own doubles are floats
        if isinstance(value, plain):
            return plain(value)
    return repr(value)


def _restored(value: object) -> Any:
    if not isinstance(value, dict):
        return value
    ((name, held),) = value.items()
    if name == "Phrase":
        return Phrase(held[0], **{k: _restored(v) for k, v in held[1].items()})
    parts = [_restored(one) for one in held]
    return tuple(parts) if name == "tuple" else PLACES[name](*parts)
