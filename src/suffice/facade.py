"""Packages whose names are found when they are first used: a command loads what it needs only."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def lazy(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package (PEP 562).

    Parameters
    ----------
    package
        Its `__name__`.
    homes
        By module, the names that the package offers from there. The same names stand in its
        `__all__` and, for type checkers, among the imports under TYPE_CHECKING.

    Examples
    --------
    >>> find, _ = lazy("suffice.statistics", {"suffice.statistics.totals": ["Totals"]})
    >>> find("Totals").__name__
    'Totals'
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found: object = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[package], name, found)  # asked for once
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return find, names
