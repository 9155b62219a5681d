"""Where the rows are: engines call `summarize` on parts of them and merge what comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.facade import lazy

if TYPE_CHECKING:
    from suffice.engines.parts import collect

__all__ = [
    "collect",
]

_find, __dir__ = lazy(
    __name__,
    {
        "suffice.engines.parts": ["collect"],
    },
)

if not TYPE_CHECKING:  # a type checker knows the names above, and no others
    __getattr__ = _find
