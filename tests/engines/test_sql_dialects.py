"""Whatever a name, a text or a number is, a database reads it as it was meant."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from suffice.errors import BadSetting
from suffice.sql.dialects import DIALECTS, dialect_named

shared_connection = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))


def asked(connection: Any, query: str) -> tuple[Any, list[str]]:
    """Return the one cell of an answer, and the names of its columns."""
    found = connection.execute(query.encode() if _is_postgres(connection) else query)
    return found.fetchall()[0][0], [column[0] for column in found.description]


def _is_postgres(connection: Any) -> bool:
    return type(connection).__module__.startswith("psycopg")


def dialect_of(connection: Any) -> Any:
    """Return the dialect of a connection."""
    return DIALECTS["postgres" if _is_postgres(connection) else "duckdb"]


@shared_connection
@given(text=anything)
@example(text="'; DROP TABLE t; --")
@example(text="back\\slash' and ''quotes\\")
@example(text="$$ E'\\'' $1 %s {0} ?")
def test_texts_come_back_as_they_were(any_database: Any, text: str) -> None:
    query = f"SELECT {dialect_of(any_database).literal(text)}"
    assert asked(any_database, query)[0] == text


@shared_connection
@given(name=anything.filter(lambda name: 0 < len(name.encode()) <= 63))
@example(name='"; DROP TABLE t; --')
@example(name='select "a""b" from')
def test_names_come_back_as_they_were(any_database: Any, name: str) -> None:
    quoted = dialect_of(any_database).identifier(name)
    assert asked(any_database, f"SELECT 1 AS {quoted}")[1] == [name]


@shared_connection
@given(number=st.floats(allow_nan=False))
def test_numbers_come_back_bit_for_bit(any_database: Any, number: float) -> None:
    query = f"SELECT {dialect_of(any_database).number(number)}"
    found = asked(any_database, query)[0]
    assert found == number
    assert isinstance(found, float)


def test_nul_has_no_place_in_names_nor_in_texts_of_postgres(duckdb: Any) -> None:
    for dialect in DIALECTS.values():
        for name in ("", "a\x00b"):
            with pytest.raises(BadSetting, match="cannot be the name"):
                dialect.identifier(name)
    with pytest.raises(BadSetting, match="NUL"):
        DIALECTS["postgres"].literal("a\x00b")
    assert asked(duckdb, f"SELECT {DIALECTS['duckdb'].literal('a' + chr(0) + 'b')}")[0] == "a\x00b"


def test_other_dialects_and_labels_are_refused() -> None:
    with pytest.raises(BadSetting, match="duckdb, postgres, spark"):
        dialect_named("oracle")
    with pytest.raises(BadSetting, match="cannot be written as SQL"):
        DIALECTS["duckdb"].label((1, 2))
