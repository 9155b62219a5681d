"""Objects inside the objects of JSON: their names become names of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.errors import BadRows

if TYPE_CHECKING:
    from collections.abc import Mapping

DEEPEST = 16
"""Objects inside each other, at most. Names grow with each of them: a megabyte of JSON that is a
thousand deep would have a gigabyte of names."""
BETWEEN = "."
"""What stands between the names, as in `pandas.json_normalize`."""


def flat(row: Mapping[str, object], where: str) -> dict[str, object]:
    """Return an object without objects in it; `where` it is, in words, for refusals.

    An object without names in it mentions nothing.

    >>> flat({"id": 7, "customer": {"age": 31, "home": {"city": "Ulm"}}}, "line 1")
    {'id': 7, 'customer.age': 31, 'customer.home.city': 'Ulm'}
    """
    found: dict[str, object] = {}
    _into(found, row, "", where, 1)
    return found


def _into(
    found: dict[str, object], part: Mapping[str, object], before: str, where: str, depth: int
) -> None:
    if depth > DEEPEST:
        raise BadRows(
            f"{where}, {before:.60}: objects are nested more than {DEEPEST} deep",
            hint="a table has a name for each column; write what is meant by such names",
        )
    for name, value in part.items():
        full = before + name
        if isinstance(value, dict):
            _into(found, value, full + BETWEEN, where, depth + 1)
        elif full in found:
            raise BadRows(
                f"{where}: the name {full!r:.60} is repeated",
                hint=f"names inside objects are joined by {BETWEEN!r}; rename one of the two",
            )
        else:
            found[full] = value
