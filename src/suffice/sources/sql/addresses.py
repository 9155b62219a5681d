"""Tables of databases: by one line of text, or by a connection and a name."""

from __future__ import annotations

import re
import weakref
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from suffice.errors import BadFile, BadRows, BadSetting
from suffice.passwords import LIBPQ_SETTING, without_secrets
from suffice.sources.sql.source import without_context

if TYPE_CHECKING:
    from suffice.sources.sql.source import SqlSource


FORMS = "duckdb://flights.db?table=flights, postgresql://user@host/base?table=flights"
"""Addresses that hints show."""
SERVERS = ("postgresql", "postgres")
"""Schemes of PostgreSQL: libpq knows both."""
ROWS = re.compile(r"[?&](?P<name>table|query)=")
"""Where an address begins to say which rows are meant."""
SECRETS = ("password", "sslpassword")
"""What is never repeated."""


def open_address(address: str, name: str | None = None) -> SqlSource:
    """Return a table, a view or a query of a database as rows to learn from.

    duckdb://flights.db?table=flights                 a file of DuckDB, opened for reading
    postgresql://user@host:5432/base?table=flights    a server, reached as libpq reaches it

    `?query=SELECT …` in place of `?table=…` has to come last: everything behind it is the query, as
    it stands. A dot in the name of a table parts it from its schema. Passwords are better kept out
    of an address, in PGPASSWORD or ~/.pgpass; none is repeated in a refusal.
    """
    scheme = address.partition("://")[0].lower()
    if scheme != "duckdb" and scheme not in SERVERS:
        raise BadSetting(
            f"{scheme}:// addresses are not supported",
            hint=f"files are named by their path, databases as {FORMS}",
        )
    place, rows = _parted(address)
    if scheme in SERVERS:
        _check_user(place)
    table, query = rows.get("table"), rows.get("query")
    shown = without_secrets(place)
    mark = "&" if "?" in shown else "?"
    if table is None and query is None:
        raise BadSetting(
            f"{shown} has many tables",
            hint=f"name one: {shown}{mark}table=NAME, or {mark}query=SELECT …",
        )
    called = without_secrets(name or shown + mark + (f"table={table}" if table else "query=…"))
    if scheme == "duckdb":
        return _of_duckdb(place.partition("://")[2], table, query, called)
    return _of_postgres(place, table, query, called)


def _parted(address: str) -> tuple[str, dict[str, str]]:
    """Return an address without what names the rows, and this."""
    # Behind the first ? only & parts one setting from the next; a password may hold either.
    begin = max(address.find("?"), 0)
    found = ROWS.search(address, begin)
    if found is not None and found["name"] == "table" and "@" in address[found.end() :]:
        last = max(address.find("?", address.rfind("@")), 0)
        later = ROWS.search(address, last) if last else None
        begin, found = (begin, found) if later is None else (last, later)
    while found is not None and found[0][0] == "?" and found.start() > begin:
        found = ROWS.search(address, found.end())
    if found is None:
        return address, {}
    place, name, rest = address[: found.start()], found["name"], address[found.end() :]
    if name == "query":
        return place, {name: rest}
    table, _, others = rest.partition("&")
    mark = "&" if "?" in place else "?"
    return (f"{place}{mark}{others}" if others else place), {name: unquote(table)}


def _check_user(address: str) -> None:
    """Refuse what would be taken apart in the wrong places; it may be a password."""
    user, mark, place = address.partition("://")[2].rpartition("@")
    host = re.split("[/?]", place, maxsplit=1)[0]
    if "%40" in host or (not mark and without_secrets(address).endswith(":…")):
        raise BadSetting(
            f"{without_secrets(address)}: the @ before the host is missing",
            hint="postgresql://user:password@host/base; only within a password an @ may be %40",
        )
    if mark and set(user) & set("/?#"):
        raise BadSetting(
            "what stands before the @ of the address holds one of / ? #",
            hint="write them as %2F %3F %23, or leave the password to PGPASSWORD",
        )


def _of_duckdb(path: str, table: str | None, query: str | None, called: str) -> SqlSource:
    from suffice.sources.sql.duckdb import duckdb_table

    duckdb = _driver("duckdb", "DuckDB", "duckdb")
    place = Path(unquote(path))
    if not place.is_file():
        raise BadFile(
            f"there is no file {without_secrets(f'duckdb://{path}').partition('://')[2]}",
            hint="duckdb://flights.db is a file of this folder, duckdb:///data/flights.db is not",
        )
    try:
        connection = duckdb.connect(str(place), read_only=True)
    except duckdb.Error as error:
        raise BadFile(
            f"{place} cannot be opened: {without_context(error)}",
            hint="is it a DuckDB file, and is no other program writing to it?",
        ) from None
    found = duckdb_table(connection, table, query, called)
    weakref.finalize(found.database, connection.close)
    return found


def _of_postgres(address: str, table: str | None, query: str | None, called: str) -> SqlSource:
    from suffice.sources.sql.postgres import postgres_table

    psycopg = _driver("psycopg", "PostgreSQL", "postgres")
    place, secrets = _apart(address)
    connection, words = None, ""
    try:
        connection = psycopg.connect(place, autocommit=True, **secrets)
    except (psycopg.Error, ValueError) as error:
        words = without_context(error)
    if connection is None:  # raised out here, so that nothing the driver said hangs on to it
        for secret in secrets.values():
            words = words.replace(secret, "…") if len(secret) > 2 else words
        raise BadRows(
            f"{called}: {words}",
            hint="is the server up, and is the address right? PGPASSWORD may hold the password",
        )
    found = postgres_table(connection, table, query, called)
    weakref.finalize(found.database, connection.close)
    return found


def _apart(address: str) -> tuple[str, dict[str, str]]:
    """Return an address without its passwords, and these as settings of libpq.

    So a password may hold an @, and no message of the driver can repeat a part of it.
    """
    scheme, _, rest = address.partition("://")
    user, mark, place = rest.rpartition("@")
    place, _, settings = place.partition("?")
    user, _, password = user.partition(":")
    secrets = {"password": unquote(password)} if password else {}
    kept: list[str] = []
    last = ""
    for setting in filter(None, settings.split("&")):
        key, _, value = setting.partition("=")
        if key in SECRETS:
            last = key
            secrets[key] = unquote(value)
        elif last and not re.match(LIBPQ_SETTING, setting):  # an & within the password
            secrets[last] += f"&{unquote(setting)}"
        else:
            kept.append(setting)
    end = f"?{'&'.join(kept)}" if kept else ""
    return f"{scheme}://{user}{mark}{place}{end}", secrets


def _driver(module: str, what: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise BadSetting(
            f"{what} needs {module}, which is not installed",
            hint=f"pip install 'suffice[{extra}]'",
        ) from None


def sql_source(
    connection: object,
    table: str | None = None,
    *,
    query: str | None = None,
    adds_up: bool | None = None,
) -> SqlSource:
    """Return a table, a view or a query of a database as a source of rows.

    Parameters
    ----------
    connection : object
        One of DuckDB or of psycopg (PostgreSQL).
    table : str or None, default=None
        The table or view; a dot separates the schema from its name.
    query : str or None, default=None
        A query instead of a table.
    adds_up : bool or None, default=None
        Whether the database computes the sums (True) or its rows are read (False); None does what
        is quicker: PostgreSQL adds up, and only sums travel; DuckDB, in this process, is read.

    Returns
    -------
    SqlSource
        The rows; `source.taken` tells afterwards whether sums or rows were taken.

    See Also
    --------
    open_source : Of a path, a stream or an address.

    Examples
    --------
    >>> import duckdb
    >>> from suffice import GaussianDiscriminant
    >>> connection = duckdb.connect()
    >>> _ = connection.execute("CREATE TABLE t AS SELECT i AS x, i > 4 AS y FROM range(9) r(i)")
    >>> GaussianDiscriminant().fit(sql_source(connection, "t"), target="y").means_.tolist()
    [[2.0], [6.5]]
    >>> there = sql_source(connection, "t", adds_up=True)
    >>> _ = GaussianDiscriminant().fit(there, target="y")
    >>> there.taken
    'sums'
    """
    if (table is None) == (query is None):
        raise BadSetting(
            "name either a table or a query, not both",
            hint='sql_source(connection, "flowers"), or sql_source(connection, query="SELECT …")',
        )
    library = type(connection).__module__.partition(".")[0].lstrip("_")
    if library == "duckdb":
        from suffice.sources.sql.duckdb import duckdb_table

        return duckdb_table(connection, table, query, adds_up=adds_up)
    if library == "psycopg":
        from suffice.sources.sql.postgres import postgres_table

        return postgres_table(connection, table, query, adds_up=adds_up)
    raise BadSetting(
        f"a {type(connection).__name__} is not a connection to DuckDB, nor one of psycopg",
        hint="tables of other databases come through Ibis: ibis.connect(…).table(…)",
    )
