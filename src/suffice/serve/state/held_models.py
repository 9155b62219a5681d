"""Models of a state: what a base and a log become, and what is left when rows are forgotten.

What is known of each besides itself says when a snapshot is due.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from suffice.errors import BadFile, ForgettingUnseen
from suffice.learning.taken_back import taken_back
from suffice.rows.cells import CATEGORY
from suffice.serve.served_model import ServedModel
from suffice.serve.state.entries import label_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from suffice.learning.learned import Learned
    from suffice.rows.tables import Table
    from suffice.serve.state.entries import LogEntry, LogPosition, Row
    from suffice.serve.state.log import HeldModel, StateLog

ROWS_AT_ONCE = 4096
"""Rows of the log that are learned as one batch, when it is read again."""

MOST_WAITING = 1024
"""Rows that wait until somebody looks at their model: one batch of so many costs little more than
one of a few, and whoever looks does not wait for long."""
ENORMOUS = 1e60
"""Numbers beyond this may add up to what cannot be estimated: then that is tried before they are
acknowledged. One row must not keep a model from answering."""


def learned_entries(model: ServedModel, entries: Sequence[LogEntry]) -> ServedModel:
    """Return a model that has learned entries too, as one batch."""
    rows, labels = _rows_of(entries)
    if not rows:
        return model
    table = model.reader.table_of_plain(rows)
    learned = model.learned
    batch = learned.learner.read(model.filled(table), label_array(labels), None, learned)
    after = model.becoming(learned.more(batch), [table])
    if _has_enormous(rows):
        _ = after.learned.model  # sums may hold what no model can be made of: refused now
    return after


@dataclass(frozen=True, slots=True, eq=False)
class WaitingEntries:
    """Entries of the log that a model is certain to learn, when somebody looks at it."""

    model: ServedModel
    entries: tuple[LogEntry, ...]
    size: int

    def __call__(self) -> Learned:
        """Learn them, as one batch."""
        return learned_entries(self.model, self.entries).learned


def learned_later(model: ServedModel, entries: Sequence[LogEntry]) -> ServedModel:
    """Return a model that knows entries too: at once, or as soon as somebody looks.

    The second where nothing can keep it from learning them: their classes and categories are
    known, the learner has read them, and their numbers are no larger than others.
    """
    later = model.later
    before = later if isinstance(later, WaitingEntries) else WaitingEntries(model, (), 0)
    known = before.model.learned
    size = before.size + sum(len(entry.rows) for entry in entries)
    waiting = WaitingEntries(before.model, (*before.entries, *entries), size)
    room = min(MOST_WAITING, known.learner.certain_rows(known))
    if size <= room and _certain(model, known, entries):
        return model.becoming_later(waiting)
    return learned_entries(waiting.model, waiting.entries)


def _rows_of(entries: Sequence[LogEntry]) -> tuple[list[Row], list[object]]:
    rows = [row for entry in entries for row in entry.rows]
    return rows, [label for entry in entries for label in entry.labels]


def _has_enormous(rows: Sequence[Row]) -> bool:
    return any(type(cell) is float and abs(cell) > ENORMOUS for row in rows for cell in row)


def _certain(model: ServedModel, known: Learned, entries: Sequence[LogEntry]) -> bool:
    """Whether nothing can keep a model from learning entries."""
    rows, labels = _rows_of(entries)
    if not rows or _has_enormous(rows):
        return False
    if known.unlabelled is not None and known.unlabelled.is_used:
        return False  # statistics are more than sums then
    if not {*map(type, labels)} <= {*map(type, model.classes)} or not {*labels} <= {*model.classes}:
        return False
    table = model.reader.table_of_plain(rows)
    batch = known.learner.read(model.filled(table), label_array(labels), None, known)
    known.learner.prepared(batch.rows)  # refuses what cannot be learned
    return bool(batch.columns == known.columns) and model.reader.knowing(table) is model.reader


def learned_log(model: ServedModel, entries: Iterable[LogEntry]) -> ServedModel:
    """Return a model that has learned a log, some rows at a time."""
    some: list[LogEntry] = []
    size = 0
    for entry in entries:
        some.append(entry)
        size += len(entry.rows)
        if size >= ROWS_AT_ONCE:
            model = learned_entries(model, some)
            some, size = [], 0
    return learned_entries(model, some)


def opened_model(log: StateLog, name: str, held: HeldModel) -> tuple[ServedModel, int]:
    """Return the model of now, and how many rows of it the log holds beyond the snapshot."""
    data = held.base if held.snapshot is None else held.snapshot
    model = ServedModel.of_bytes(name, data, f"{name} in {log.place}")
    read = 0

    def beyond() -> Iterator[LogEntry]:
        nonlocal read
        for entry in log.since(name, held.position):
            read += len(entry.rows)
            yield entry

    return learned_log(model, beyond()), read


def check_same_file(held: HeldModel, digest: str, name: str, place: str) -> None:
    """Refuse to go on with the state of another model file."""
    if held.digest != digest:
        raise BadFile(
            f"{place} holds a model {name!r} that started from another file",
            hint="leave the file out to go on with what the state holds, or name another --state",
        )


@dataclass(slots=True, eq=False)
class Forgetting:
    """Rows that are to be forgotten: entries that go, entries that are left with fewer rows, rest.

    removed    whole entries
    rewritten  entries with the rows that stay
    gone       rows of the log that go, with their labels
    rest       rows that are not in the log: those of the base
    """

    removed: list[LogEntry]
    rewritten: list[LogEntry]
    gone: tuple[list[Row], list[object]]
    rest: tuple[list[Row], list[object]]

    @classmethod
    def of_entry(cls, entry: LogEntry) -> Forgetting:
        """Forget what came with one request."""
        return cls([entry], [], (entry.rows, entry.labels), ([], []))

    @classmethod
    def of_rows(
        cls, rows: Sequence[Row], labels: Sequence[object], log: Iterable[LogEntry]
    ) -> Forgetting:
        """Find rows in the log, each as often as it is to be forgotten."""
        wanted = Counter(zip(map(tuple, rows), labels, strict=True))
        found = cls([], [], ([], []), ([], []))
        for entry in log:
            kept: list[int] = []
            for i, pair in enumerate(zip(map(tuple, entry.rows), entry.labels, strict=True)):
                if wanted[pair] > 0:
                    wanted[pair] -= 1
                    found.gone[0].append(entry.rows[i])
                    found.gone[1].append(entry.labels[i])
                else:
                    kept.append(i)
            if not kept:
                found.removed.append(entry)
            elif len(kept) < len(entry.rows):
                left = [entry.rows[i] for i in kept], [entry.labels[i] for i in kept]
                found.rewritten.append(replace(entry, rows=left[0], labels=left[1]))
        for (row, label), count in wanted.items():
            found.rest[0].extend([row] * count)
            found.rest[1].extend([label] * count)
        return found

    @property
    def size(self) -> int:
        """How many rows go."""
        return len(self.gone[0]) + len(self.rest[0])


def without_rows(model: ServedModel, rows: Sequence[Row], labels: Sequence[object]) -> ServedModel:
    """Return a model from which rows were taken back."""
    table = model.reader.table_of_plain(rows)
    left = taken_back(model.learned, model.filled(table), label_array(labels))
    if not left.labels:
        raise ForgettingUnseen(
            f"these are all the rows that {model.name} has learned: nothing would remain",
            hint="stop the server and delete its state instead",
        )
    return model.becoming(left)


def is_new_to(base: ServedModel, rows: Sequence[Row], labels: Sequence[object]) -> bool:
    """Whether rows hold classes or categories that the base does not know.

    Subtracting would leave their names behind: the model is made anew from the log.
    """
    if not set(labels) <= set(base.classes):
        return True
    reader = base.reader
    return any(
        not {row[j] for row in rows} <= (reader.levels[j] or frozenset()) | {None}
        for j, kind in enumerate(reader.kinds)
        if kind == CATEGORY and reader.levels[j] is not None
    )


def new_categories(model: ServedModel, table_rows: Sequence[Row]) -> list[str]:
    """Return the categories of rows that a model does not know, each with its column."""
    reader = model.reader
    return [
        f"{name}={cell}"
        for j, (name, kind) in enumerate(zip(reader.names, reader.kinds, strict=True))
        if kind == CATEGORY and reader.levels[j] is not None
        for cell in dict.fromkeys(row[j] for row in table_rows)
        if cell is not None and cell not in (reader.levels[j] or ())
    ]


def table_of(model: ServedModel, rows: Sequence[Row]) -> Table:
    """Return rows of the log as a table."""
    return model.reader.table_of_plain(rows)


SNAPSHOT_ROWS = 20_000
"""Rows after which a snapshot is made: a server that starts reads no more of the log than that, and
what was learned while the last one was written."""
SNAPSHOT_SECONDS = 300.0
"""Seconds after which one is made in any case, if something was learned."""


@dataclass(slots=True, eq=False)
class Snapshot:
    """A model file with its place in the log; it has no content before it was packed."""

    model: str
    generation: int
    position: LogPosition
    content: bytes | None = None


@dataclass(slots=True, eq=False)
class HeldPosition:
    """What is known of a model besides itself.

    base        the model that the log began with
    position    how much of the log is in the model
    generation  how often something was forgotten
    rows_since  rows of the log beyond the last snapshot. Those that were read to open the model
                count: a server that is killed again and again would else read all that it has
                learned since a snapshot which none of its lives is long enough to reach
    """

    base: ServedModel
    position: LogPosition
    generation: int
    rows_since: int
    time_since: float = field(default_factory=time.monotonic)
    making: bool = False

    def is_due(self) -> bool:
        """Whether a snapshot is to be made."""
        late = time.monotonic() - self.time_since > SNAPSHOT_SECONDS
        return self.rows_since >= SNAPSHOT_ROWS or bool(self.rows_since and late)

    def begun(self, name: str) -> Snapshot:
        """Return a snapshot that is to be packed; rows are counted from here."""
        self.making, self.rows_since = True, 0
        self.time_since = time.monotonic()
        return Snapshot(name, self.generation, self.position.copy())
