"""One column: its kind and levels, and the numbers its cells become."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from itertools import repeat
from math import isnan
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from suffice.errors import BadSetting, NotANumber, listed
from suffice.rows import BOOLEAN, CATEGORY, NUMBER

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from suffice.rows import FloatArray


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name (None in arrays), its kind, and the levels of a category."""

    name: str | None
    kind: str
    levels: tuple[Hashable, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in (NUMBER, BOOLEAN, CATEGORY):
            raise BadSetting(
                f"a column cannot be of the kind {self.kind!r}",
                hint=f"use {NUMBER!r}, {BOOLEAN!r} or {CATEGORY!r}",
            )
        if self.levels and self.kind != CATEGORY:
            raise BadSetting(f"a {self.kind} has no levels", hint=f"use kind={CATEGORY!r}")
        if len(set(self.levels)) < len(self.levels) or None in self.levels[:-1]:
            raise BadSetting(
                f"levels {listed(map(repr, self.levels))} repeat, or None is not the last",
                hint="list each level once, and blank (None) at the end",
            )

    @property
    def width(self) -> int:
        """How many coded columns it becomes."""
        return len(self.levels) if self.kind == CATEGORY else 1


def coded_levels(column: Column) -> tuple[Hashable, ...]:
    """Return a name for each coded column of one column; a number has but one."""
    return column.levels if column.kind == CATEGORY else (None,)


def encode_levels(
    column: Column, kind: str, cells: NDArray[np.generic], name: str, group: FloatArray
) -> None:
    """Write ones where the levels are; `group` begins at the column's first level."""
    codes = {level: code for code, level in enumerate(column.levels)}
    values: list[Any] = cells.tolist()
    if kind == NUMBER and cells.dtype.kind == "f":
        values = [None if isnan(value) else value for value in values]
    if kind != CATEGORY and not any(isinstance(level, numbers.Real) for level in codes):
        given = next((row for row, v in enumerate(values) if v is not None), None)
        if given is not None:
            _refuse_cell(given, name, values[given], f"a {kind}: {name} holds other categories")
    try:
        places = np.fromiter(map(codes.__getitem__, values), np.intp, len(values))
        group[np.arange(len(values)), places] = 1.0
    except KeyError:  # levels that are not among these: what none of them is, is all zeros
        places = np.fromiter(map(codes.get, values, repeat(-1)), np.intp, len(values))
        rows = np.flatnonzero(places >= 0)
        group[rows, places[rows]] = 1.0


def numbers_of(column: Column, kind: str, cells: NDArray[np.generic], name: str) -> FloatArray:
    """Return the cells of a column that is known to hold numbers, or booleans, as floats."""
    if kind == CATEGORY:
        allowed = numbers.Real if column.kind == NUMBER else bool
        for row, value in enumerate(cells):
            if not (value is None or isinstance(value, allowed)):
                _refuse_cell(row, name, value, f"not a {column.kind}")
    elif kind == NUMBER and column.kind == BOOLEAN:
        bad = ~((cells == 0.0) | (cells == 1.0) | np.isnan(cells))
        if bad.any():
            row = int(bad.argmax())
            _refuse_cell(row, name, float(cells[row]), "neither true (1) nor false (0)")
    return np.asarray(cells, dtype=np.float64)  # None becomes NaN


def _refuse_cell(row: int, name: str, value: object, what: str) -> NoReturn:
    raise NotANumber.of_cell(
        row,
        name,
        f"{value!r} is {what}",
        value=value,
        hint="pass the column with the same type as in training",
    )
