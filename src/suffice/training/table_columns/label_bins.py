"""A target that is a quantity, cut into classes: where, and what they are called."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.columns.spellings.blank_cells import is_blank
from suffice.columns.spellings.spelling import Spelling
from suffice.errors import BadFile, BadLabels, listed
from suffice.learning.table_recipe import LABEL_BINS
from suffice.rows.cells import NUMBER

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from suffice.learning.table_recipe import TableNotes


@dataclass(frozen=True, slots=True)
class LabelBins:
    """Where a quantity is cut into classes, and how its cells are written.

    at        ascending numbers: each is the least of its class
    spelling  how its texts are written; None for plain numbers

    >>> LabelBins((10.0, 20.5)).names
    ('below 10', '10 to 20.5', '20.5 or more')
    >>> LabelBins((10.0,)).cut(np.array([9.0, 10.0])).tolist()
    ['below 10', '10 or more']
    """

    at: tuple[float, ...]
    spelling: Spelling | None = None

    @classmethod
    def of(
        cls,
        labels: NDArray[np.generic],
        asked: int | tuple[float, ...],
        spelling: Spelling | None,
        place: str,
    ) -> Self:
        """Return the bins that somebody asks for.

        As many rows in each, as far as equal numbers allow that.
        """
        if labels.dtype.kind not in "iuf":
            raise BadLabels(
                f"{place}: {labels[0]!r:.60} is not a number, and only numbers are cut into bins",
                hint="leave --bins out where labels are names of classes",
            )
        spelling = spelling if spelling is not None and spelling.kind == NUMBER else None
        numbers = labels.astype(np.float64)
        if isinstance(asked, tuple):
            return cls(asked, spelling)
        cuts = np.quantile(numbers, np.arange(1, asked) / asked, method="higher")
        found = tuple(float(one) for one in np.unique(cuts) if one > numbers.min())
        if not found:
            raise BadLabels(
                f"{place}: too many rows have the same number to cut it into {asked} bins",
                hint="say where to cut: --bins 10,20,50",
            )
        return cls(found, spelling)

    @property
    def names(self) -> tuple[str, ...]:
        """What the classes are called, from the lowest on."""
        shown = [self._shown(one) for one in self.at]
        between = [f"{one} to {two}" for one, two in pairwise(shown)]
        return (f"below {shown[0]}", *between, f"{shown[-1]} or more")

    def _shown(self, number: float) -> str:
        if self.spelling is not None and self.spelling.date:
            return str(self.spelling.written(number))
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)

    @property
    def said(self) -> str:
        """What is done, in words, after the name of the target."""
        return f"is cut into {len(self.names)} classes: {listed(self.names)}"

    def cut(self, numbers: NDArray[np.generic]) -> NDArray[Any]:
        """Return the classes of numbers."""
        places = np.searchsorted(np.array(self.at), numbers.astype(np.float64), side="right")
        found: NDArray[np.generic] = np.array(self.names, dtype=object)[places]
        return found

    def named(self, cells: NDArray[np.generic], column: str) -> NDArray[Any]:
        """Return the classes of cells of a table: numbers, as they are written, or names.

        Blank ones stay so, and what is none of these is refused.
        """
        known: dict[Hashable, str | None] = {}
        for cell in set(cells.tolist()):
            known[cell] = self._class_of(cell, column)
        return np.array([known[cell] for cell in cells.tolist()], dtype=object)

    def _class_of(self, cell: object, column: str) -> str | None:
        if cell is None or cell != cell or (isinstance(cell, str) and is_blank(cell)):  # noqa: PLR0124
            return None
        if cell in self.names:
            return str(cell)
        number = cell if not isinstance(cell, str) else self._number(cell)
        if not isinstance(number, (int, float)) or not isfinite(number):
            raise BadLabels(
                f"{column}: {cell!r:.60} is neither a number nor one of the classes",
                hint=f"the quantity is cut into {listed(self.names)}",
            )
        return str(self.cut(np.array([float(number)]))[0])

    def _number(self, cell: str) -> float | None:
        if self.spelling is not None and (found := self.spelling.value(cell)) is not None:
            return found
        try:
            return float(cell)
        except ValueError:
            return None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        spelling = None if self.spelling is None else self.spelling.to_dict()
        return {"at": list(self.at), "spelling": spelling}


def label_bins_in(notes: TableNotes) -> LabelBins | None:
    """Return how a model cuts its target, if it does."""
    held: object = notes.more.get(LABEL_BINS)
    if held is None:
        return None
    if not isinstance(held, dict) or held.keys() != {"at", "spelling"}:
        raise _damaged()
    at, spelling = held["at"], held["spelling"]
    if (
        not isinstance(at, (list, tuple))
        or not at
        or not all(type(one) in (int, float) and isfinite(one) for one in at)
        or any(one >= two for one, two in pairwise(at))
    ):
        raise _damaged()
    return LabelBins(
        tuple(map(float, at)), None if spelling is None else Spelling.from_dict(spelling)
    )


def _damaged() -> BadFile:
    return BadFile(
        "the model file does not record how its target is cut", hint="it is damaged: fit again"
    )
