"""The log in an SQLite file, of one server: what it has acknowledged, it knows."""

from __future__ import annotations

import os
import sqlite3
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile, FileInUse
from suffice.serve.state.entries import hashed_id
from suffice.serve.state.log import INSERT, StateFull, StateLog, StateUnavailable
from suffice.storage.atomic_writes import flush_folder
from suffice.storage.locks import locked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from suffice.serve.state.entries import LogEntry

FILE = "log.sqlite"
"""The name of the file in the folder of a state."""
TABLES = """
CREATE TABLE IF NOT EXISTS suffice_state (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS suffice_models (
  name TEXT PRIMARY KEY, base BLOB NOT NULL, digest TEXT NOT NULL, generation INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS suffice_log (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT NOT NULL, id TEXT NOT NULL,
  time TEXT NOT NULL, digest TEXT, size INTEGER NOT NULL, content BLOB NOT NULL,
  UNIQUE (model, id));
CREATE TABLE IF NOT EXISTS suffice_snapshots (
  model TEXT PRIMARY KEY, generation INTEGER NOT NULL, position TEXT NOT NULL,
  content BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS suffice_forgotten (
  model TEXT NOT NULL, id TEXT NOT NULL, time TEXT NOT NULL, PRIMARY KEY (model, id));
"""
"""What the file holds. A number of the log is never given twice, whatever was forgotten."""
INSERTED = INSERT.format("?, ?, ?, ?, ?, ?") + "seq"
"""Writes an entry, and returns its number."""
FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
"""What SQLite says where there is no room: a full disk, a quota, a limit."""
BUSY = 10_000
"""Milliseconds to wait for whoever reads the file at this moment: a replay."""


class SqliteLog(StateLog):
    """A log in a folder, of one server at a time; others may read it.

    Every transaction is synced before it ends (WAL, synchronous=FULL), and what is deleted is
    overwritten (secure_delete).
    """

    order = "seq"

    def __init__(self, folder: Path, *, reading: bool = False) -> None:
        self.place = str(folder)
        self._held = ExitStack()
        path = folder / FILE
        if reading:
            if not path.is_file():
                raise BadFile(f"{folder} holds no state", hint=f"it would have a file {FILE}")
        else:
            try:
                if not folder.is_dir():
                    folder.mkdir(mode=0o700)
                    flush_folder(folder.parent)
                self._held.enter_context(locked(path, 0.0))
            except FileNotFoundError:  # the folder above: the usual words
                raise
            except FileInUse:
                raise FileInUse(
                    f"{folder} belongs to a running server",
                    hint="stop it first, or name another folder; several servers share a "
                    "state in PostgreSQL",
                ) from None
            except OSError as error:
                raise _no_place(folder, error) from None
        try:
            self._connection = self._opened(path, reading)
        except (sqlite3.DatabaseError, StateUnavailable) as error:
            self._held.close()
            raise BadFile(
                f"{path} is not a state that can be read: {error}", hint="restore it from a copy"
            ) from None
        except OSError as error:
            self._held.close()
            raise _no_place(folder, error) from None
        except BaseException:
            self._held.close()
            raise

    def _opened(self, path: Path, reading: bool) -> sqlite3.Connection:
        if not reading and not path.exists():  # by nobody else
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            flush_folder(path.parent)
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={'ro' if reading else 'rw'}", uri=True,
            isolation_level=None, check_same_thread=False, timeout=BUSY / 1000,
        )  # fmt: skip
        self._connection, self._path = connection, path
        self._file = _identity(path)
        try:
            if not reading:
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.executescript(f"BEGIN IMMEDIATE; {TABLES} COMMIT;")
            self.check_version()
        except BaseException:
            connection.close()
            raise
        return connection

    def execute(self, sql: str, *given: object) -> list[tuple[Any, ...]]:
        """Run a statement, with ? for what is given, and return its rows."""
        try:
            return self._connection.execute(sql, given).fetchall()
        except sqlite3.DatabaseError as error:  # a damaged file among them
            raise _unavailable(error) from error

    @contextmanager
    def transaction(self, *, alone: bool = False) -> Iterator[None]:
        """Do everything in the block, durably, or nothing."""
        del alone  # there is no other server
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            if _identity(self._path) != self._file:
                raise StateUnavailable(f"{self._path} was moved or deleted; start the server anew")
            self.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
            raise

    def settled(self) -> int:
        """Return the number after the last: one connection writes, and numbers rise."""
        found = self.execute("SELECT COALESCE(MAX(seq), 0) + 1 FROM suffice_log")
        return int(found[0][0])

    def insert(self, model: str, entry: LogEntry, packed: bytes) -> bool:
        """Write an entry; False if its id is there already, or was."""
        found = self.execute(
            INSERTED, model, entry.id, entry.time, entry.digest(packed), len(entry.rows), packed,
            model, hashed_id(entry.id),
        )  # fmt: skip
        if not found:
            return False
        entry.seq = entry.order = int(found[0][0])
        return True

    def after_forgetting(self, *, patient: bool = True) -> None:
        """Write all pages to the file, and cut off the one beside it, which holds older ones."""
        self.execute(f"PRAGMA busy_timeout = {BUSY if patient else 0}")
        try:
            found = self.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self.execute(f"PRAGMA busy_timeout = {BUSY}")
        if found[0][0]:
            raise StateUnavailable(
                "rows were forgotten, but another reader of the state keeps older pages alive"
            )

    def close(self) -> None:
        """Leave one file behind, and let go of it."""
        with suppress(sqlite3.Error, StateUnavailable):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()
        self._held.close()


def _identity(path: Path) -> tuple[int, int] | None:
    """Return which file is at a place: what is written to one that was deleted is not kept."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _no_place(folder: Path, error: OSError) -> BadFile:
    return BadFile(
        f"{folder} cannot hold a state: {(error.strerror or str(error)).lower()}",
        hint="name a folder with --state that this user may write to",
    )


def _unavailable(error: sqlite3.DatabaseError) -> StateUnavailable:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in FULL:
        return StateFull("there is no disk space for the log")
    return StateUnavailable(str(error))
