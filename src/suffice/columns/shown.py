"""What the numbers of a column were like: digits after the point, the smallest, the largest."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import BadFile, BadSetting
from suffice.rows import NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from suffice.rows import FloatArray, Table

MOST = 6
"""Digits after the point that are counted; a column with more has as many as it likes."""


@dataclass(frozen=True, slots=True)
class ColumnShown:
    """What a column of numbers has shown; 0 digits are whole numbers.

    It grows with the rows, and adding up two of them is the same in any order. It cannot shrink:
    which row held the largest number is not known any more.

    digits      after the point; None for more than are counted
    low, high   the smallest number, and the largest
    rows        how many numbers there were
    zeros       how many of them were 0
    total       their sum

    >>> ColumnShown.of(np.array([2.5, np.nan, 7.0])) + ColumnShown.of(np.array([0.0, 3.0]))
    ColumnShown(digits=1, low=0.0, high=7.0, rows=4, zeros=1, total=12.5)
    """

    digits: int | None
    low: float
    high: float
    rows: int = 0
    zeros: int = 0
    total: float = 0.0

    @classmethod
    def of(cls, values: FloatArray) -> Self | None:
        """Return what numbers (n,) show; None where all are blank."""
        values = values[np.isfinite(values)]
        if not len(values):
            return None
        low, high = float(values.min()) + 0.0, float(values.max()) + 0.0
        with np.errstate(over="ignore"):
            total = float(np.nan_to_num(values.sum()))
        return cls(_digits(values), low, high, len(values), int((values == 0.0).sum()), total)

    def __add__(self, other: ColumnShown) -> ColumnShown:
        """Return what both have shown."""
        known = None not in (self.digits, other.digits)
        digits = max(self.digits or 0, other.digits or 0) if known else None
        return ColumnShown(
            digits,
            min(self.low, other.low),
            max(self.high, other.high),
            self.rows + other.rows,
            self.zeros + other.zeros,
            self.total + other.total,
        )

    @property
    def unit(self) -> float:
        """From one possible number to the next; 0 where all are possible."""
        return 0.0 if self.digits is None else 10.0**-self.digits

    @property
    def mean(self) -> float:
        """The mean of all numbers."""
        return self.total / max(1, self.rows)

    @property
    def share_of_zeros(self) -> float:
        """How often an amount, which is never negative, is 0; 0 for other columns."""
        return self.zeros / self.rows if self.low == 0.0 and self.zeros < self.rows else 0.0

    def kept(self, values: FloatArray) -> FloatArray:
        """Return numbers as the column has them: rounded, and nowhere beyond its bounds."""
        if self.digits is not None:
            values = np.round(values, self.digits)
        # A negative number that rounds to zero is no negative zero.
        return np.clip(values, self.low, self.high) + 0.0


def shown_by(table: Table) -> dict[str, ColumnShown]:
    """Return what each column of numbers of a table has shown, by name."""
    names = table.names or tuple(f"x{j}" for j in range(table.width))
    found = {}
    for j, kind in enumerate(table.kinds):
        if kind == NUMBER:
            shown = ColumnShown.of(np.asarray(table.column(j), dtype=np.float64))
            if shown is not None:
                found[names[j]] = shown
    return found


def digits_shown(table: Table, shown: Mapping[str, ColumnShown]) -> dict[str, int]:
    """Return digits after the point by name, of columns where they are few; blanks need none."""
    if table.names is None:
        return {}
    numbers = [name for name, kind in zip(table.names, table.kinds, strict=True) if kind == NUMBER]
    found = {name: shown[name].digits if name in shown else 0 for name in numbers}
    return {name: digits for name, digits in found.items() if digits is not None}


def shown_by_both(
    ours: Mapping[str, ColumnShown], theirs: Mapping[str, ColumnShown]
) -> dict[str, ColumnShown]:
    """Return what columns have shown in either of two tables."""
    found = {**theirs, **ours}
    return {name: one + theirs[name] if name in theirs else one for name, one in found.items()}


def shown_to(held: Mapping[str, ColumnShown]) -> dict[str, object]:
    """Return it as what a file holds."""
    return {
        name: [one.digits, one.low, one.high, one.rows, one.zeros, one.total]
        for name, one in held.items()
    }


def shown_from(held: Any) -> dict[str, ColumnShown]:
    """Return what a file says, or refuse what no column can have shown."""
    pairs = held.items() if isinstance(held, dict) else [(None, None)]
    if not all(isinstance(name, str) and _is_sound(one) for name, one in pairs):
        raise BadFile(
            "the model file does not record the values of its columns",
            hint="it is damaged: fit again",
        )
    return {name: ColumnShown(*one) for name, one in held.items()}


def _is_sound(one: object) -> bool:
    """Whether these can be the fields of what a column has shown."""
    if not isinstance(one, (list, tuple)) or len(one) != 6:
        return False
    digits, low, high, rows, zeros, total = one
    if not (digits is None or (type(digits) is int and 0 <= digits <= MOST)):
        return False
    if not all(type(v) is float and isfinite(v) for v in (low, high, total)) or low > high:
        return False
    return type(rows) is int and type(zeros) is int and 0 <= zeros <= rows


def _digits(values: FloatArray) -> int | None:
    """Return how many digits after the point numbers need; None for more than are counted."""
    for digits in range(MOST + 1):
        with np.errstate(all="ignore"):  # numbers too large to have any are as they are
            if bool((np.round(values, digits) == values).all()):
                return digits
    return None


def shown_within(
    within: object, known: Mapping[str, ColumnShown] | None, read: Callable[[], Table]
) -> Mapping[str, ColumnShown] | None:
    """Return what drawn numbers have to keep to, by column; None: to nothing.

    `within` is what `sample` is told: "auto", "training", None, or rows, which `read` gives as a
    table. `known` is what the training rows showed; None where nobody knows.
    """
    if within is None:
        return None
    if not isinstance(within, str):
        return shown_by(read())
    if within not in ("auto", "training"):
        raise BadSetting(
            f"within={within!r} is not a rule", hint='use "auto", "training", None, or rows'
        )
    if known is None and within == "training":
        raise BadSetting(
            "the model has not recorded the values of its columns",
            hint="models of suffice.train and suffice fit do; or give the rows: within=X",
        )
    return known
