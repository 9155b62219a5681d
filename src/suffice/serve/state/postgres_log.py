"""The log in PostgreSQL: several servers share it, and see what the others have learned."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile, BadSetting
from suffice.passwords import without_secrets
from suffice.serve.state.entries import hashed_id
from suffice.serve.state.log import INSERT, StateFull, StateLog, StateUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.serve.state.entries import LogEntry

TABLES = """
CREATE TABLE IF NOT EXISTS suffice_state (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS suffice_models (
  name TEXT PRIMARY KEY, base BYTEA NOT NULL, digest TEXT NOT NULL, generation BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS suffice_log (
  seq BIGSERIAL PRIMARY KEY, model TEXT NOT NULL, id TEXT NOT NULL,
  time TEXT NOT NULL, digest TEXT, size BIGINT NOT NULL, content BYTEA NOT NULL,
  xid XID8 NOT NULL DEFAULT pg_current_xact_id(), UNIQUE (model, id));
CREATE INDEX IF NOT EXISTS suffice_log_xid ON suffice_log (model, xid);
CREATE TABLE IF NOT EXISTS suffice_snapshots (
  model TEXT PRIMARY KEY, generation BIGINT NOT NULL, position TEXT NOT NULL,
  content BYTEA NOT NULL);
CREATE TABLE IF NOT EXISTS suffice_forgotten (
  model TEXT NOT NULL, id TEXT NOT NULL, time TEXT NOT NULL, PRIMARY KEY (model, id));
"""
"""What the database holds: as in SQLite, and the transaction that wrote each entry.
Transactions end in another order than they get their numbers: `xid` says which may still come."""
INSERTED = (
    INSERT.format("?::text, ?::text, ?::text, ?::text, ?::bigint, ?::bytea")
    + "seq, xid::text::bigint"
)
"""Writes an entry, and returns its number and transaction."""
OLDEST = 130_000
"""The server's version that has `pg_current_xact_id`: 13."""
LOCK = 0x5FF1CE
"""The advisory lock that learning shares, and that whoever forgets has alone."""
PATIENCE = 10_000
"""Milliseconds to wait for another server that forgets."""


class PostgresLog(StateLog):
    """A log in a database that several servers use."""

    order = "xid::text::bigint"
    shared = True

    def __init__(self, address: str, *, reading: bool = False) -> None:
        self.place = without_secrets(address)
        self._address, self._reading = address, reading
        try:
            self._psycopg = import_module("psycopg")
        except ModuleNotFoundError:
            raise BadSetting(
                "PostgreSQL needs psycopg, which is not installed",
                hint="pip install 'suffice[postgres]'",
            ) from None
        self._connection: Any = None
        try:
            self._connect()
        except StateUnavailable as error:
            raise BadFile(
                f"{self.place} cannot be used: {error}",
                hint="is the server there, and the address right?",
            ) from None

    def _connect(self) -> None:
        try:
            connection = self._psycopg.connect(self._address, autocommit=True, connect_timeout=5)
        except self._psycopg.Error as error:
            raise StateUnavailable(" ".join(str(error).split())) from None
        if connection.info.server_version < OLDEST:
            connection.close()
            raise BadSetting(
                f"{self.place} is PostgreSQL {connection.info.server_version // 10_000}",
                hint="13 or newer is needed",
            )
        self._connection = connection
        self.execute(f"SET lock_timeout = {PATIENCE}")
        if self._reading:
            if not self.execute("SELECT to_regclass('suffice_state')")[0][0]:
                raise BadFile(f"{self.place} holds no state", hint="suffice serve makes one")
            self.execute("SET default_transaction_read_only = on")
        else:
            self.execute("SET synchronous_commit = on")
            with self.transaction(alone=True):  # two servers may begin at once
                self.execute(TABLES)
                self._settle_copies()
        self.check_version()

    def _settle_copies(self) -> None:
        """Know entries that were copied from another server, whose transactions are not of here."""
        now = self.execute("SELECT pg_current_xact_id()::text::bigint")[0][0]
        later = "SELECT 1 FROM suffice_log WHERE xid > ?::text::xid8 LIMIT 1"
        strange = self.execute(later, now)
        if strange:
            self.execute("UPDATE suffice_log SET xid = '0'")
            self.execute("DELETE FROM suffice_snapshots")

    def execute(self, sql: str, *given: object) -> list[tuple[Any, ...]]:
        """Run a statement, with ? for what is given, and return its rows."""
        if self._connection is None or self._connection.closed:
            self._connection = None
            self._connect()
        psycopg = self._psycopg
        try:
            found = self._connection.execute(sql.replace("?", "%s"), given or None)
            return found.fetchall() if found.description else []
        except psycopg.errors.DiskFull as error:
            raise StateFull("there is no disk space for the log") from error
        except psycopg.Error as error:
            raise StateUnavailable(" ".join(str(error).split())) from error

    @contextmanager
    def transaction(self, *, alone: bool = False) -> Iterator[None]:
        """Do everything in the block, durably, or nothing; `alone`: no other server meanwhile."""
        self.execute("BEGIN")
        try:
            share = "" if alone else "_shared"
            self.execute(f"SELECT pg_advisory_xact_lock{share}({LOCK})")
            yield
            self.execute("COMMIT")
        except BaseException:
            if self._connection is not None and not self._connection.closed:
                with suppress(self._psycopg.Error):
                    self._connection.execute("ROLLBACK")
            raise

    def settled(self) -> int:
        """Return the first transaction that may still be running."""
        found = self.execute("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
        return int(found[0][0])

    def _from_watermark(self) -> str:
        return "xid >= ?::text::xid8"

    def insert(self, model: str, entry: LogEntry, packed: bytes) -> bool:
        """Write an entry; False if its id is there already, or was, by whichever server."""
        found = self.execute(
            INSERTED, model, entry.id, entry.time, entry.digest(packed), len(entry.rows), packed,
            model, hashed_id(entry.id),
        )  # fmt: skip
        if not found:
            return False
        entry.seq, entry.order = int(found[0][0]), int(found[0][1])
        return True

    def after_forgetting(self, *, patient: bool = True) -> None:
        """Let the database clear the pages; its own log and copies keep what they keep."""
        del patient  # it waits for nobody
        for table in ("suffice_log", "suffice_snapshots", "suffice_models"):
            self.execute(f"VACUUM {table}")

    def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            self._connection.close()
