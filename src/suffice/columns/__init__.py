"""The frozen schema: name, kind and levels of every column, and the numbers they become.

    numbers      1 coded column     the number, NaN when missing
    booleans     1 coded column     0 or 1, NaN when missing
    categories   1 per level        one-hot; blank is a level of its own (None), always the last

A level that was never seen is coded as all zeros: it speaks for no level.
Fitting, predicting, sampling and explaining all code and decode by the same object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.facade import lazy

if TYPE_CHECKING:
    from suffice.columns.column import Column
    from suffice.columns.schema import Columns, PlainColumns

__all__ = [
    "Column",
    "Columns",
    "PlainColumns",
]

_find, __dir__ = lazy(
    __name__,
    {
        "suffice.columns.column": ["Column"],
        "suffice.columns.schema": ["Columns", "PlainColumns"],
    },
)

if not TYPE_CHECKING:  # a type checker knows the names above, and no others
    __getattr__ = _find
