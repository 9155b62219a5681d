"""Which columns hold texts, and which models read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.errors import listed
from suffice.rows.cells import CATEGORY
from suffice.rows.text_cells import looks_like_texts
from suffice.tables.table_reading import TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.learning.learned import Learned
    from suffice.rows.tables import Table
    from suffice.training.hooks import Hooks

AUTO, WORDS = "auto", "words"
"""The setting of naive Bayes by which columns have the families that they look like, and the family
of columns of texts unless something else is asked for."""
TEXT_FAMILIES = (WORDS, "bytes")
"""The families of columns of texts, by name."""
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
    """Say which columns are read as text, by what, where that is known, and what leaves one out.

    `hooks.families` is what is asked of the families of columns; None lets rows that are left out
    decide whether a text is read by its words or by its bytes.
    """
    by: dict[str, list[str]] = {}
    for name in names:
        by.setdefault(_read_by(name, hooks.families), []).append(name)
    for how, some in by.items():
        one = len(some) == 1
        read = "is read as text" if one else "are read as text"
        if how in TEXT_FAMILIES:
            read += f", by its {how}" if one else f", by their {how}"
        elif how:
            read = f"{'is' if one else 'are'} read by the family {how}"
        change = f"{hooks.column(some[0], 'ignore')} leaves {'it' if one else some[0]} out"
        hooks.note(f"{listed(some)} {read}; {change}")


def say_bytes(learned: Learned, hooks: Hooks) -> None:
    """Say which columns of texts a pool reads by their bytes: left-out rows decided it."""
    from suffice.models.pool.text_readings import BYTES

    beside = learned.model.texts
    if beside is None:
        return
    pairs = zip(beside.places, beside.read_by, strict=True)
    names = [learned.columns.names[place] for place, how in pairs if how == BYTES]
    if names:
        its = "its" if len(names) == 1 else "their"
        is_ = "is" if len(names) == 1 else "are"
        hooks.note(f"{listed(names)} {is_} read by {its} bytes, which told more than {its} words")


def _read_by(name: str, families: object) -> str:
    """Return the family of a column of texts, by the setting `families`; "" is not decided yet."""
    if families is None:
        return ""
    for key, family in families.items() if isinstance(families, dict) else ():
        if name == key or (isinstance(key, tuple) and name in key):
            return family if isinstance(family, str) else str(getattr(family, "name", WORDS))
    return families if families in TEXT_FAMILIES else WORDS


def families_of(
    texts: tuple[str, ...], names: tuple[str, ...], given: object
) -> dict[Any, object] | object:
    """Return the setting `families` of naive Bayes by which columns of texts are read as texts.

    A family that is given for all columns is that of all others, and one of texts that of texts.
    """
    if not texts:
        return given
    named: dict[Any, object] = dict.fromkeys(texts, WORDS)
    if isinstance(given, dict):
        told = {part for key in given for part in (key if isinstance(key, tuple) else (key,))}
        return {name: family for name, family in named.items() if name not in told} | given
    if given is None or (isinstance(given, str) and given == AUTO):
        return named
    if (given if isinstance(given, str) else getattr(given, "name", "")) in TEXT_FAMILIES:
        return dict.fromkeys(texts, given)
    return {**dict.fromkeys(names, given), **named}
