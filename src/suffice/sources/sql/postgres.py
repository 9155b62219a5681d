"""PostgreSQL over psycopg: tables, views and queries, added up by the server."""

# ruff: noqa: S608  every name and every text in these queries is quoted by the dialect
from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from suffice.errors import BadRows
from suffice.rows.cells import BOOLEAN, CATEGORY, DOUBLES, NUMBER
from suffice.sources.local import MOST_ROWS
from suffice.sources.sql.columns import OTHER, SqlColumn, connection_gone, without_context
from suffice.sources.sql.source import SqlSource
from suffice.sql.dialects import dialect_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from suffice.tables.arrow_types import ArrowBatch

BOOL, BIGINT, INTEGERS, FLOATS, NUMERIC, UUID = 16, 20, (20, 21, 23), (700, 701), 1700, 2950
"""The numbers (OIDs) by which PostgreSQL tells types, from its catalog `pg_type`."""
BPCHAR = 1042
"""The same of char(n), which is padded with blanks."""
TEXTS = (18, 19, 25, BPCHAR, 1043)
"""The same of all kinds of text."""
KNOWN = (BOOL, *INTEGERS, *FLOATS, NUMERIC, *TEXTS)
"""Types that are read without asking the server for their names."""
MOST = 10**76
"""What Arrow's decimals stay below."""
SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
"""All queries of one reading see the same rows, whatever others write meanwhile."""


class PostgresTable:
    """A table, a view or a query of a PostgreSQL server."""

    here = False

    def __init__(self, connection: Any, rows: str, name: str) -> None:
        self._connection = connection
        self.name = name
        self.dialect = dialect_named("postgres")
        self.rows = rows
        with self.snapshot(), self._cursor(f"SELECT * FROM {rows} LIMIT 0") as cursor:
            described = [(column.name, column.type_code) for column in cursor.description]
        types = self._types({code for _, code in described})
        self.columns = tuple(_column(title, code, types) for title, code in described)
        written = {
            code for _, code in described if code == BPCHAR or types.get(code, ("", False))[1]
        }
        if written:
            # Read as what is written: drivers know nothing of these types, or make objects of them,
            # and the blanks that fill a char(n) up are no part of it.
            quoted = self.dialect.identifier
            chosen = [
                f"CAST({quoted(t)} AS text) AS {quoted(t)}" if code in written else quoted(t)
                for t, code in described
            ]
            self.rows = f"(SELECT {', '.join(chosen)} FROM {rows}) AS suffice_texts"

    def run(self, query: str) -> Any:
        """Return the answer as an Arrow table."""
        with self._cursor(query) as cursor:
            return _table(cursor, cursor.fetchall())

    def batches(self, query: str) -> Iterator[ArrowBatch]:
        """Yield the answer as Arrow record batches, by a cursor of the server."""
        with (
            self.snapshot(),
            refusals(self.name, self._connection),
            self._connection.cursor(name="suffice_rows") as cursor,
        ):
            cursor.execute(query, binary=True)
            while rows := cursor.fetchmany(MOST_ROWS // 8):
                yield from _table(cursor, rows).to_batches()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all queries inside see the same rows, unless a transaction is open already."""
        psycopg = import_module("psycopg")
        idle = self._connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        with refusals(self.name, self._connection), self._connection.transaction():
            if idle:
                self._connection.execute(SNAPSHOT)
            yield

    @contextmanager
    def _cursor(self, query: str) -> Iterator[Any]:
        with refusals(self.name, self._connection), self._connection.cursor() as cursor:
            cursor.execute(query.encode(), binary=True, prepare=False)
            yield cursor

    def _types(self, codes: set[int]) -> dict[int, tuple[str, bool]]:
        """Return the names of types that are not `KNOWN`, and whether they are read as text.

        Those of enumerations and UUIDs, and whatever an extension calls strings, such as citext.
        """
        others = sorted(codes - set(KNOWN))
        if not others:
            return {}
        query = (
            "SELECT oid::bigint, format_type(oid, NULL)::text, "
            f"typtype = 'e' OR oid = {UUID} OR (typcategory = 'S' AND oid >= 16384) "
            f"FROM pg_catalog.pg_type WHERE oid IN ({', '.join(map(str, others))})"
        )
        with self.snapshot(), self._cursor(query) as cursor:
            found = {code: (name, texts) for code, name, texts in cursor.fetchall()}
        return {code: found.get(code, (f"number {code}", False)) for code in others}


def postgres_table(
    connection: object,
    table: str | None,
    query: str | None,
    name: str | None = None,
    adds_up: bool | None = None,
) -> SqlSource:
    """Return a table, or what a query returns, as a source."""
    called = name or table or "the query"
    if query is None:
        assert table is not None
        rows = dialect_named("postgres").table(table)
    else:
        rows = f"({query.strip().rstrip(';')}\n) AS suffice_rows"
    return SqlSource(PostgresTable(connection, rows, called), adds_up=adds_up)


def _column(name: str, code: int, types: dict[int, tuple[str, bool]]) -> SqlColumn:
    if code == BOOL:
        return SqlColumn(name, BOOLEAN)
    if code in INTEGERS:
        return SqlColumn(name, NUMBER, whole=True, exact=code != BIGINT)
    if code in FLOATS or code == NUMERIC:
        return SqlColumn(name, NUMBER, floating=True, exact=code != NUMERIC)
    if code in TEXTS or types[code][1]:
        return SqlColumn(name, CATEGORY)
    return SqlColumn(name, OTHER, type=types[code][0])


def _table(cursor: Any, rows: Sequence[Sequence[Any]]) -> Any:
    pa = import_module("pyarrow")
    types = {BOOL: pa.bool_(), **dict.fromkeys(INTEGERS, pa.int64()), 700: pa.float32()}
    types |= {701: pa.float64(), NUMERIC: pa.float64(), **dict.fromkeys(TEXTS, pa.string())}
    arrays, names = [], []
    for place, column in enumerate(cursor.description):
        cells = [row[place] for row in rows]
        kind = types.get(column.type_code)
        if column.type_code == NUMERIC and _are_codes(cells):
            kind = pa.decimal256(76, 0)
        elif column.type_code == NUMERIC:
            cells = [None if cell is None else float(cell) for cell in cells]
        arrays.append(pa.array(cells, kind))
        names.append(column.name)
    return pa.Table.from_arrays(arrays, names=names)


def _are_codes(cells: Sequence[Any]) -> bool:
    """Whether decimals are whole numbers, and some of them no doubles."""
    there = [cell for cell in cells if cell is not None]
    if not any(abs(cell) > DOUBLES for cell in there if cell.is_finite()):
        return False
    return all(cell.is_finite() and cell == cell // 1 and abs(cell) < MOST for cell in there)


@contextmanager
def refusals(name: str, connection: Any) -> Iterator[None]:
    """Turn what PostgreSQL refuses into a refusal that names the table."""
    psycopg = import_module("psycopg")
    try:
        yield
    except psycopg.Error as error:
        # The server says so once; afterwards the driver does.
        if isinstance(error, psycopg.OperationalError) and connection.closed:
            raise connection_gone(name, "PostgreSQL", error) from None
        raise BadRows(
            f"{name}: PostgreSQL refuses: {without_context(error)}",
            hint="does the table exist, may it be read, and is the query right?",
        ) from None
