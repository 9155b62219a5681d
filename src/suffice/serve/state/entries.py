"""What the log holds: rows with their labels, under the id of the request that brought them."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from suffice.errors import BadFile
from suffice.rows.cells import CATEGORY, NUMBER
from suffice.training.target_labels import label_kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from suffice.rows.tables import Table

    Row = tuple[Any, ...]

COPY = "restore the state from a copy"
"""What helps where the log is damaged."""
LONGEST_ID = 200
"""Characters of the id of a request: a UUID has 36."""


class Packed(msgspec.Struct):
    """Rows and labels as the log has them: cells in the order of the model's columns."""

    rows: list[list[Any]]
    labels: list[Any]


@dataclass(slots=True, eq=False)
class LogEntry:
    """Rows of one request, in the log or on their way there.

    id       of the request
    rows     cells in the order of the columns: numbers, texts, truths, None for blanks
    labels   one for each row
    seq      its number in the log, None before
    time     when it was written
    """

    id: str
    rows: list[Row]
    labels: list[Any]
    seq: int | None = None
    time: str = ""
    order: int = 0
    """By which the log is read on: of SQLite the number, of PostgreSQL the transaction."""

    def packed(self) -> bytes:
        """Return rows and labels as bytes."""
        return msgspec.json.encode(Packed([list(row) for row in self.rows], self.labels))

    def digest(self, packed: bytes) -> str:
        """Return what tells these rows from others that come under the same id."""
        return hashlib.sha256(packed).hexdigest()


def unpacked(
    identity: str, data: object, digest: object, seq: int, time: str, order: int
) -> LogEntry:
    """Return an entry as it was; one that does not say what its digest says is refused."""
    held = None
    if isinstance(data, bytes) and digest in (None, hashlib.sha256(data).hexdigest()):
        with suppress(msgspec.MsgspecError):
            held = msgspec.json.decode(data, type=Packed)
    if held is None or len(held.rows) != len(held.labels):
        raise BadFile(f"entry {seq} of the log is damaged", hint=COPY)
    return LogEntry(identity, [tuple(row) for row in held.rows], held.labels, seq, time, order)


def now() -> str:
    """Return the time as the log has it: UTC, in an order in which texts are compared."""
    return written_time(datetime.now(UTC))


def written_time(moment: datetime) -> str:
    """Return a time as the log has it.

    >>> written_time(datetime(2026, 11, 16, 12, tzinfo=UTC))
    '2026-11-16T12:00:00.000000Z'
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def hashed_id(identity: str) -> str:
    """Return what is kept of the id of a request that was forgotten: nobody can read it."""
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()


def cells_of(table: Table) -> list[Row]:
    """Return the rows of a table as the log has them."""
    columns: list[list[object]] = []
    for j, kind in enumerate(table.kinds):
        cells = table.column(j).tolist()
        if kind == NUMBER:
            cells = [None if cell is None or cell != cell else cell for cell in cells]  # noqa: PLR0124
        columns.append(cells)
    return list(zip(*columns, strict=True))


def label_array(labels: Sequence[object]) -> NDArray[np.generic]:
    """Return labels as an array, in the type in which they were learned first."""
    if label_kind_of(labels) == CATEGORY:
        return np.array([str(label) for label in labels], dtype=object)
    return np.array(list(labels))


@dataclass(slots=True)
class LogPosition:
    """How far a log has been read.

    Entries before the watermark are all there, or will never be. From it on, those that are
    `recent` have been read: transactions end in another order than they begin.
    """

    watermark: int = 0
    recent: dict[int, int] = field(default_factory=dict)

    def add(self, entry: LogEntry) -> None:
        """Know that an entry was read."""
        assert entry.seq is not None
        self.recent[entry.seq] = entry.order

    def advance(self, watermark: int) -> None:
        """Raise the watermark: what lies before it need not be remembered one by one."""
        self.watermark = max(self.watermark, watermark)
        self.recent = {s: o for s, o in self.recent.items() if o >= self.watermark}

    def copy(self) -> LogPosition:
        """Return the same, which does not change with this."""
        return LogPosition(self.watermark, dict(self.recent))

    def text(self) -> str:
        """Return it as a text."""
        return msgspec.json.encode([self.watermark, sorted(self.recent.items())]).decode()

    @classmethod
    def of_text(cls, text: str) -> LogPosition:
        """Return what `text` has written."""
        try:
            watermark, recent = msgspec.json.decode(text, type=tuple[int, list[tuple[int, int]]])
        except msgspec.MsgspecError:
            raise BadFile("the snapshot of the state is damaged", hint=COPY) from None
        return cls(watermark, dict(recent))

    def new(self, entries: Iterable[LogEntry]) -> list[LogEntry]:
        """Return those that were not read before."""
        return [entry for entry in entries if entry.seq not in self.recent]
