"""A mail filter as a file of SQLite: what it is known by, how it is opened, what is refused."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from suffice.errors import BadFile
from suffice.mail.filter import count_store as mail_counts

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC: Final = b"SQLite format 3\0"
"""How every file of SQLite begins."""
APPLICATION: Final = 0x73756666
"""`suff`, where SQLite keeps the name of the program that a file belongs to."""
VERSION: Final = 1
"""Of what the file holds; smaller ones stay readable."""
PATIENCE: Final = 60.0
"""Seconds to wait for another process that is writing."""
TABLES: Final = (
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE seen (digest BLOB NOT NULL, label INTEGER NOT NULL, times INTEGER NOT NULL,
    PRIMARY KEY (digest, label)) WITHOUT ROWID""",
    """CREATE TABLE sample (hash INTEGER PRIMARY KEY, label INTEGER NOT NULL,
    weight INTEGER NOT NULL, text BLOB NOT NULL, start BLOB NOT NULL)""",
    *mail_counts.TABLES,
)
"""What a new filter is made with: settings, letters learned, the sample for calibration, counts."""
MADE = "suffice mail fit makes one"
"""The hint for files that are no mail filters."""


def is_database(path: str | Path) -> bool:
    """Return whether a file begins as those of SQLite do; False where there is none.

    >>> is_database("nowhere")
    False
    """
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def checked(path: str | Path) -> None:
    """Refuse a file that is not a mail filter, is cut off, or comes from a newer program."""
    place = Path(path)
    if place.is_dir():
        raise BadFile(f"{path} is a folder, not a mail filter", hint=MADE)
    with place.open("rb") as file:
        head = file.read(100)
        size = file.seek(0, os.SEEK_END)
    if not head:
        raise BadFile(f"{path} is empty, not a mail filter", hint=MADE)
    if head[: len(MAGIC)] != MAGIC[: len(head)]:
        raise BadFile(f"{path} is not a mail filter", hint=MADE)
    cut = BadFile(
        f"{path} is cut off: it has {size:,} bytes",
        hint="copy it again, with the file that ends in -wal if there is one; or fit a new one",
    )
    if len(head) < 100:
        raise cut
    version, application = (int.from_bytes(head[at : at + 4]) for at in (60, 68))
    if application != APPLICATION:
        raise BadFile(f"{path} is a database of another program, not a mail filter", hint=MADE)
    if version > VERSION:
        raise BadFile(
            f"{path} has version {version}, but this program reads up to {VERSION}",
            hint="pip install --upgrade suffice",
        )
    page = int.from_bytes(head[16:18])
    whole = (65536 if page == 1 else page) * int.from_bytes(head[28:32])
    # While changes wait in the other file, this one may be shorter than it will be.
    if size < whole and not _waiting(place.resolve()):
        raise cut


def opened(path: str | Path, *, write: bool) -> sqlite3.Connection:
    """Return a connection to a mail filter; every transaction is begun by hand."""
    place = Path(os.path.realpath(path))  # SQLite has its other files where the file itself is
    checked(path)
    with refusals(path):
        # A file that may not be written to is opened for reading. Whoever closes it last brings in
        # what waits in the file beside it; a reader that could not would leave that lying about.
        connection = _connected(place, "mode=rw")
        try:
            if write:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=FULL")
            else:
                connection.execute("PRAGMA query_only=ON")
            connection.execute("SELECT count(*) FROM about")
        except BaseException as error:
            connection.close()
            # In a folder that may not be written to, nobody can be writing either.
            name = getattr(error, "sqlite_errorname", None) or ""
            if write or not name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
                raise
            if _waiting(place):
                raise
            return _connected(place, "immutable=1")
        return connection


def made(path: str | Path) -> sqlite3.Connection:
    """Return a connection to a new, empty filter; nothing of it is safe before `finished`."""
    connection = sqlite3.connect(path, isolation_level=None)
    for setting in ("journal_mode=OFF", "synchronous=OFF", f"application_id={APPLICATION}",
                    f"user_version={VERSION}"):  # fmt: skip
        connection.execute(f"PRAGMA {setting}")
    for table in TABLES:
        connection.execute(table)
    return connection


def finished(connection: sqlite3.Connection) -> None:
    """Let a new filter be one that every later change is safe in, and close it."""
    connection.execute("PRAGMA journal_mode=WAL")
    connection.close()


@contextmanager
def transaction(connection: sqlite3.Connection, *, write: bool = True) -> Iterator[None]:
    """Do all of the block or nothing; a writer waits for others, a reader sees one moment."""
    connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def refusals(path: str | Path) -> Iterator[None]:
    """Say in words what SQLite refuses."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        problem, hint = _words(getattr(error, "sqlite_errorname", "") or "", str(error))
        raise BadFile(f"{path} {problem}", hint=hint) from None


KEPT = "what was learned before is still there"
"""What a user fears when a change has failed: changes are transactions, so nothing is lost."""
WORDS: Final = {
    "SQLITE_FULL": ("cannot grow: the disk is full", f"make room; {KEPT}"),
    "SQLITE_IOERR": ("cannot be written or read: a disk error", f"is it full? {KEPT}"),
    "SQLITE_BUSY": ("is in use by another process", f"try again when that is done; {KEPT}"),
    "SQLITE_LOCKED": ("is in use by another process", f"try again when that is done; {KEPT}"),
    "SQLITE_READONLY": ("may not be written to", "change its permissions, or those of its folder"),
    "SQLITE_CANTOPEN": (
        "cannot be opened",
        "check that you may read and write the file and its folder",
    ),
    "SQLITE_PERM": ("may not be opened", "change its permissions"),
}
"""Problem and hint for SQLite's errors, by how their names begin."""
DAMAGED = "it is damaged: take a copy that was saved, or fit a new one"
"""For every other error of SQLite: the file itself cannot be read."""


def _words(name: str, said: str) -> tuple[str, str]:
    for start, words in WORDS.items():
        if name.startswith(start):
            return words
    return f"cannot be read: {' '.join(said.split())[:100]}", DAMAGED


def _connected(place: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{place.absolute().as_uri()}?{how}", uri=True, timeout=PATIENCE, isolation_level=None
    )


def _waiting(place: Path) -> bool:
    """Return whether changes may wait to be brought into a file."""
    try:
        return place.with_name(f"{place.name}-wal").stat().st_size > 0
    except OSError:
        return False
