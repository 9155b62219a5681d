"""Which columns hold texts, and which models read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.errors import listed
from suffice.rows.cells import CATEGORY
from suffice.rows.text_cells import looks_like_texts
from suffice.tables.table_reading import TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.rows.tables import Table
    from suffice.training.hooks import Hooks

WORDS = "words"
"""The family of columns of texts."""
FREE_TEXT = "free text, which this model does not read"
"""Why a column of texts is left out of a model of numbers and categories."""
READING = ("naive-bayes", "auto", "best")
"""Models, and ways to choose one, that read texts beside other columns."""


def text_columns(table: Table, declared: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns that hold texts: those declared so, and those that look like it.

    A column looks like one of texts if its cells are nearly all different, and most of them are
    several words of letters. Of a column that is declared something else nobody asks that.
    """
    found = []
    for j, name in enumerate(table.names or ()):
        if table.kinds[j] != CATEGORY:
            continue
        kind = declared.get(name)
        if kind == TEXT or (kind is None and looks_like_texts(table.column(j))):
            found.append(name)
    return tuple(found)


def say_texts(names: tuple[str, ...], hooks: Hooks) -> None:
    """Say which columns are read as text, and what leaves one out."""
    one = len(names) == 1
    read = "is read as text, by its words" if one else "are read as text, by their words"
    change = f"{hooks.column(names[0], 'ignore')} leaves {'it' if one else names[0]} out"
    hooks.note(f"{listed(names)} {read}; {change}")


def families_of(texts: tuple[str, ...], given: object) -> object:
    """Return the setting `families` of naive Bayes by which columns of texts are read as texts."""
    if not texts:
        return given
    named = dict.fromkeys(texts, WORDS)
    return {**named, **given} if isinstance(given, dict) else named
