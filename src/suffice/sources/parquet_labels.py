"""Columns of labels in Parquet files, as far as their footers tell of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def are_all_labelled(paths: Iterable[Path], column: str) -> bool:
    """Whether every row has a label of text or a whole number, by the statistics of the files.

    False where they do not say so: then somebody has to look at the rows.
    """
    parquet: Any = import_module("pyarrow.parquet")
    return all(_is_labelled(parquet.read_metadata(path), column) for path in paths)


def _is_labelled(held: Any, column: str) -> bool:
    types: Any = import_module("pyarrow").types
    given = held.schema.to_arrow_schema().field(column).type
    given = given.value_type if types.is_dictionary(given) else given
    named = types.is_string(given) or types.is_large_string(given)
    if not (named or types.is_signed_integer(given)):
        return False
    place = {held.schema.column(j).path: j for j in range(held.num_columns)}.get(column)
    if place is None:
        return False
    for group in range(held.num_row_groups):
        told = held.row_group(group).column(place).statistics
        if told is None or not told.has_null_count or told.null_count:
            return False
    return True
