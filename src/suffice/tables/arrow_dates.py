"""Columns that are dates or times by their Arrow type, and how such columns are written."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from suffice.columns.spellings.spelling import CLOCK, Spelling
from suffice.rows.cells import NUMBER

if TYPE_CHECKING:
    from suffice.tables.arrow_types import NamedColumns


def date_spellings(schema: NamedColumns) -> dict[str, Spelling]:
    """Return how the columns of a schema are written that are dates or times.

    >>> import pyarrow as pa
    >>> schema = pa.schema({"day": pa.date32(), "at": pa.time32("s"), "n": pa.int8()})
    >>> {name: spelling.words for name, spelling in date_spellings(schema).items()}
    {'day': 'dates, in days since 1970', 'at': 'times, in hours'}
    """
    found: dict[str, Spelling] = {}
    fields: Any = schema
    if not hasattr(schema, "field"):  # some givers know names alone
        return found
    types = import_module("pyarrow.types")
    for name in schema.names:
        held = fields.field(name).type
        held = held.value_type if types.is_dictionary(held) else held
        if types.is_date(held) or types.is_timestamp(held):
            found[name] = Spelling(NUMBER, date="ymd", timed=types.is_timestamp(held))
        elif types.is_time(held) or types.is_duration(held):
            found[name] = Spelling(NUMBER, date=CLOCK, timed=True)
    return found
