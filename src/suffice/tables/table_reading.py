"""How tables of text are written, where somebody says so."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Self

from suffice.errors import BadSetting, listed
from suffice.tables.encodings import encoding_of

if TYPE_CHECKING:
    from collections.abc import Mapping

IGNORED = ("id", "ignore")
"""What a column is that is not learned from: what names rows, and whatever else."""
DATES = ("date", "date-dmy", "date-mdy", "date-ymd")
"""What a column of dates is: by itself, or with what stands first, the day, the month or the
year."""
ORDERED = "ordered"
"""What a column is whose categories have an order of their own: low, medium, high."""
TEXT = "text"
"""What a column is whose cells are texts, known by their words or bytes."""
AS_WRITTEN = ("category", ORDERED, TEXT)
"""What columns are whose cells stay as they are written, digits too."""
COLUMN_KINDS = ("number", *AS_WRITTEN, *DATES, *IGNORED)
"""What somebody may say that a column is."""


MOST_BINS = 50
"""Classes into which a target is cut, at most: as many as whole numbers may name."""


def bins_of(given: object) -> int | tuple[float, ...] | None:
    """Return what somebody says of bins: a number of them, or where they begin.

    >>> bins_of("4"), bins_of("10,20"), bins_of([10, 20]), bins_of(None)
    (4, (10.0, 20.0), (10.0, 20.0), None)
    """
    if given is None or (isinstance(given, int) and not isinstance(given, bool)):
        return given
    try:
        if isinstance(given, str):
            parts = given.split(",")
            return (
                int(given)
                if len(parts) == 1 and given.strip().isdigit()
                else tuple(map(float, parts))
            )
        return tuple(map(float, given))  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise BadSetting(
            f"bins cannot be {given!r:.60}", hint="use a number, or where bins begin: 10,20,50"
        ) from None


class TableGuess(str):
    """What was decided about a table, in words; `option` is the setting that changes it, if any."""

    __slots__ = ("option",)
    option: str

    def __new__(cls, words: str, option: str = "encoding") -> Self:
        """Return words that know what changes what they say."""
        found = super().__new__(cls, words)
        found.option = option
        return found


@dataclass(frozen=True, slots=True)
class TableReading:
    """How a table of text is written; what is None is detected.

    delimiter   the character between cells
    header      whether the first line names the columns
    decimal     what sets decimals off, "." or ","
    columns     what columns are, by name, where somebody says so: one of COLUMN_KINDS
    encoding    how characters are written, by any name that Python knows: "windows-1252"
    sheet       which sheet of a workbook, by its name or its number from 1 on
    bins        into how many classes of as many rows a target that is a quantity is cut, or where
    """

    delimiter: str | None = None
    header: bool | None = None
    decimal: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    encoding: str | None = None
    sheet: str | None = None
    bins: int | tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.encoding is not None:
            encoding_of(self.encoding)
        if self.decimal not in (None, ".", ","):
            raise BadSetting(
                f"the decimal mark cannot be {self.decimal!r:.20}", hint="use '.' or ','"
            )
        for name, kind in self.columns.items():
            if kind not in COLUMN_KINDS:
                raise BadSetting(
                    f"{name}: a column cannot be {kind!r:.40}",
                    hint=f"choose one of: {', '.join(COLUMN_KINDS)}",
                )

        if isinstance(self.bins, int) and not 2 <= self.bins <= MOST_BINS:
            raise BadSetting(
                f"a target is cut into 2 to {MOST_BINS} bins, not {self.bins}",
                hint="several numbers are the places where it is cut: 10,20,50",
            )
        if isinstance(self.bins, tuple) and not (
            0 < len(self.bins) < MOST_BINS
            and all(map(isfinite, self.bins))
            and all(one < two for one, two in pairwise(self.bins))
        ):
            raise BadSetting(
                f"bins cannot begin at {listed(self.bins)}",
                hint="give numbers in ascending order, such as 10,20,50",
            )

    @property
    def ignored(self) -> tuple[str, ...]:
        """The columns that are not to be learned from."""
        return tuple(name for name, kind in self.columns.items() if kind in IGNORED)
