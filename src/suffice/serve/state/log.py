"""The log that is the truth, in SQL: what SQLite and PostgreSQL have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile
from suffice.serve.state.entries import LogEntry, LogPosition, hashed_id, now, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VERSION = 1
"""The version of the tables; it rises when older programs could not read what is written."""
NEW, ALREADY, OTHER, FORGOTTEN = "new", "already", "other", "forgotten"
"""What becomes of an entry: written; there before; there before with other rows; forgotten before.
"""
INSERT = (
    "INSERT INTO suffice_log (model, id, time, digest, size, content) SELECT {} WHERE NOT EXISTS "
    "(SELECT 1 FROM suffice_forgotten WHERE model = ? AND id = ?) ON CONFLICT DO NOTHING RETURNING "
)
"""Writes an entry whose id is not there, and was not forgotten; engines know what to return."""
READ_AT_ONCE = 500
"""Entries that are fetched at a time."""


class StateUnavailable(Exception):
    """The log cannot be written or read just now; nothing was learned."""


class StateFull(StateUnavailable):
    """There is no room for the log."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldModel:
    """A model of a state: the file that it began with, and what was made of the log since."""

    base: bytes
    digest: str
    generation: int
    snapshot: bytes | None
    position: LogPosition


class StateLog(ABC):
    """Tables of entries, snapshots, and models; one thread writes.

    place   how it is called in refusals
    """

    place: str
    shared = False
    """Whether other servers may write to it as well."""

    # What engines do in their own ways

    @abstractmethod
    def execute(self, sql: str, *given: object) -> list[tuple[Any, ...]]:
        """Run a statement, with ? for what is given, and return its rows."""

    @contextmanager
    @abstractmethod
    def transaction(self, *, alone: bool = False) -> Iterator[None]:
        """Do everything in the block, durably, or nothing; `alone`: no other server meanwhile."""

    @abstractmethod
    def settled(self) -> int:
        """Return the watermark of now: every entry before it can be seen, or never will be."""

    @abstractmethod
    def insert(self, model: str, entry: LogEntry, packed: bytes) -> bool:
        """Write an entry; False if its id is there already, or was. Its number is set."""

    @abstractmethod
    def after_forgetting(self, *, patient: bool = True) -> None:
        """Remove what the engine still holds of rows that were deleted.

        `patient`: wait for those who read meanwhile.
        """

    @abstractmethod
    def close(self) -> None:
        """Leave everything in order."""

    order: str
    """The column by which entries are read on."""

    # Models

    def check_version(self) -> None:
        """Refuse tables of a newer program."""
        found = self.execute("SELECT value FROM suffice_state WHERE name = 'version'")
        if not found:
            with self.transaction():
                self.execute(
                    "INSERT INTO suffice_state (name, value) VALUES ('version', ?) "
                    "ON CONFLICT DO NOTHING", str(VERSION),
                )  # fmt: skip
            return
        text = str(found[0][0])
        if not text.isdigit() or int(text) > VERSION:
            raise BadFile(
                f"{self.place} is a state of version {text[:20]}, but this program reads {VERSION}",
                hint="pip install --upgrade suffice; the state is left as it is",
            )

    def models(self) -> list[str]:
        """Return the names of all models."""
        found = self.execute("SELECT name FROM suffice_models ORDER BY name")
        return [str(name) for (name,) in found]

    def model_state(self, model: str) -> HeldModel | None:
        """Return a model of the state."""
        found = self.execute(
            "SELECT base, digest, generation FROM suffice_models WHERE name = ?", model
        )
        if not found:
            return None
        base, digest, generation = found[0]
        taken = self.execute(
            "SELECT content, position FROM suffice_snapshots WHERE model = ? AND generation = ?",
            model, generation,
        )  # fmt: skip
        snapshot, position = None, LogPosition()
        if taken:
            snapshot, position = bytes(taken[0][0]), LogPosition.of_text(taken[0][1])
        return HeldModel(bytes(base), str(digest), int(generation), snapshot, position)

    def begin(self, model: str, base: bytes, digest: str) -> None:
        """Add a model to the state."""
        with self.transaction():
            self.execute(
                "INSERT INTO suffice_models (name, base, digest, generation) VALUES (?, ?, ?, 0) "
                "ON CONFLICT DO NOTHING", model, base, digest,
            )  # fmt: skip

    def generation(self, model: str) -> int:
        """Return how often something was forgotten."""
        found = self.execute("SELECT generation FROM suffice_models WHERE name = ?", model)
        return int(found[0][0]) if found else -1

    # Entries

    def append(self, model: str, entries: Sequence[LogEntry]) -> list[str]:
        """Write entries, within a transaction; return what becomes of each."""
        found = []
        for entry in entries:
            packed = entry.packed()
            entry.time = now()
            if self.insert(model, entry, packed):
                found.append(NEW)
                continue
            if self.was_forgotten(model, entry.id):
                found.append(FORGOTTEN)
                continue
            before = self.execute(
                "SELECT digest FROM suffice_log WHERE model = ? AND id = ?", model, entry.id
            )
            known = before[0][0] if before else None
            same = known is None or known == entry.digest(packed)
            found.append(ALREADY if same else OTHER)
        return found

    def take_back(self, entry: LogEntry) -> None:
        """Remove an entry that was refused, within the transaction that wrote it."""
        self.execute("DELETE FROM suffice_log WHERE seq = ?", entry.seq)

    def since(self, model: str, position: LogPosition) -> Iterator[LogEntry]:
        """Yield the entries that were not read before, and advance the position."""
        watermark = self.settled()  # first: what ends later is found again
        rows = self.execute(
            f"SELECT seq, {self.order} FROM suffice_log "  # noqa: S608  # nosec B608  a name of ours
            f"WHERE model = ? AND {self._from_watermark()} ORDER BY seq", model, position.watermark,
        )  # fmt: skip
        new = [int(seq) for seq, _ in rows if int(seq) not in position.recent]
        for start in range(0, len(new), READ_AT_ONCE):
            for entry in self._entries(model, new[start : start + READ_AT_ONCE]):
                position.add(entry)
                yield entry
        position.advance(watermark)

    def _from_watermark(self) -> str:
        return f"{self.order} >= ?"

    def _entries(self, model: str, numbers: Sequence[int]) -> list[LogEntry]:
        marks = ", ".join("?" * len(numbers))
        rows = self.execute(
            f"SELECT id, content, digest, seq, time, {self.order} "  # noqa: S608  # nosec B608
            f"FROM suffice_log WHERE model = ? AND seq IN ({marks}) ORDER BY seq", model, *numbers,
        )  # fmt: skip
        return [unpacked(str(i), c, d, int(s), str(t), int(o)) for i, c, d, s, t, o in rows]

    def entries(self, model: str, until: str | None = None) -> Iterator[LogEntry]:
        """Yield all entries of a model, or those up to a time."""
        asked = "SELECT seq FROM suffice_log WHERE model = ?"
        if until is None:
            rows = self.execute(f"{asked} ORDER BY seq", model)
        else:
            rows = self.execute(f"{asked} AND time <= ? ORDER BY seq", model, until)
        numbers = [int(seq) for (seq,) in rows]
        for start in range(0, len(numbers), READ_AT_ONCE):
            yield from self._entries(model, numbers[start : start + READ_AT_ONCE])

    def entry(self, model: str, identity: str) -> LogEntry | None:
        """Return the entry of an id."""
        found = self.execute(
            "SELECT seq FROM suffice_log WHERE model = ? AND id = ?", model, identity
        )
        return self._entries(model, [int(found[0][0])])[0] if found else None

    def was_forgotten(self, model: str, identity: str) -> bool:
        """Whether the rows of an id were learned once, and forgotten."""
        return bool(
            self.execute(
                "SELECT 1 FROM suffice_forgotten WHERE model = ? AND id = ?",
                model, hashed_id(identity),
            )
        )  # fmt: skip

    def forgotten_since(self, model: str, time: str) -> int:
        """Return how many requests were forgotten, wholly, after a time."""
        found = self.execute(
            "SELECT COUNT(*) FROM suffice_forgotten WHERE model = ? AND time > ?", model, time
        )
        return int(found[0][0])

    # Forgetting, and snapshots

    def remove(self, model: str, entry: LogEntry) -> None:
        """Remove an entry; of its id, only a hash stays."""
        self.execute("DELETE FROM suffice_log WHERE seq = ?", entry.seq)
        self.execute(
            "INSERT INTO suffice_forgotten (model, id, time) VALUES (?, ?, ?) "
            "ON CONFLICT DO NOTHING", model, hashed_id(entry.id), now(),
        )  # fmt: skip

    def rewrite(self, entry: LogEntry) -> None:
        """Write the rows that are left of an entry."""
        self.execute(
            "UPDATE suffice_log SET content = ?, digest = NULL, size = ? WHERE seq = ?",
            entry.packed(), len(entry.rows), entry.seq,
        )  # fmt: skip

    def next_generation(
        self,
        model: str,
        generation: int,
        base: bytes | None,
        snapshot: bytes,
        position: LogPosition,
    ) -> None:
        """Put other models in the places of those that knew what is forgotten now."""
        self.execute("UPDATE suffice_models SET generation = ? WHERE name = ?", generation, model)
        if base is not None:
            self.execute("UPDATE suffice_models SET base = ? WHERE name = ?", base, model)
        self.execute("DELETE FROM suffice_snapshots WHERE model = ?", model)
        self._put(model, generation, snapshot, position)

    def write_snapshot(
        self, model: str, generation: int, snapshot: bytes, position: LogPosition
    ) -> bool:
        """Keep a model with how much of the log is in it, unless something was forgotten since."""
        with self.transaction(alone=True):
            if self.generation(model) != generation:
                return False
            self.execute("DELETE FROM suffice_snapshots WHERE model = ?", model)
            self._put(model, generation, snapshot, position)
        return True

    def _put(self, model: str, generation: int, snapshot: bytes, position: LogPosition) -> None:
        self.execute(
            "INSERT INTO suffice_snapshots (model, generation, position, content) "
            "VALUES (?, ?, ?, ?)", model, generation, position.text(), snapshot,
        )  # fmt: skip
