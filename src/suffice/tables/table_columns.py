"""The columns of a table, whatever it is written in: how many there may be, each with its name."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from suffice.errors import BadFile, BadRows, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_COLUMNS = 1 << 16
"""Columns of one table, at most: three times the genes of a human.

Whatever is done once for each column takes seconds then; a covariance would take 34 GB."""


def checked_names(
    names: Sequence[str], place: str, hint: str = "rename one of them"
) -> tuple[str, ...]:
    """Return the names of the columns of a table, if there are any, not too many, each once.

    `place` says whose they are; `hint` is what to do about two of one name.
    """
    if len(names) > MOST_COLUMNS:
        raise too_wide(place, len(names))
    if not names:
        raise BadFile(f"{place} has no columns", hint="write it again, with some")
    refuse_same_names(names, place, hint)
    return tuple(names)


def refuse_same_names(names: Sequence[str], place: str, hint: str = "rename one of them") -> None:
    """Refuse columns that have one name: nobody knows which of them is meant."""
    if len(set(names)) < len(names):
        twice = sorted(name for name, times in Counter(names).items() if times > 1)
        raise BadRows(f"{place}: more than one column is named {listed(twice)}", hint=hint)


def too_wide(place: str, width: int) -> BadRows:
    """Return the refusal of a table with more columns than any should have."""
    return BadRows(
        f"{place}: {width:,} columns, where {MOST_COLUMNS:,} are the most that are read",
        hint="is the table written sideways, or without line breaks? Else keep the columns that "
        "matter",
    )
