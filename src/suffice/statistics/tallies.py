"""Weight per category, column by column; categories just appear."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.errors import BadRows, DifferentKinds, ForgettingUnseen
from suffice.places import ColumnAt, Phrase
from suffice.rows import sorted_levels
from suffice.rows.category_codes import MOST_LEVELS, CodedColumns, refuse_long_levels
from suffice.statistics.algebra import are_whole, checked_factor, differences, refuse_excess
from suffice.statistics.labels import labels_from_array, labels_to_array
from suffice.statistics.moments.what_is_left import remaining

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray, Label
    from suffice.statistics.algebra import Array

Levels = tuple[tuple["Label", ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tallies:
    """How often each level of each column was seen; a cell that is missing is not counted.

    `held` is one array for all columns, in the order of `levels`. A level whose weight is gone
    is gone: it may still stand there with weight zero, but counts for nothing.

    >>> from suffice.rows import read_table
    >>> from suffice.rows.category_codes import coded_columns
    >>> a = Tallies.of(coded_columns(read_table([["red"], ["blue"]]), [0]))
    >>> b = Tallies.of(coded_columns(read_table([["green"], ["red"]]), [0]))
    >>> (a + b).levels, (a + b).held
    ((('blue', 'green', 'red'),), array([1., 1., 2.]))
    """

    weight: float
    levels: Levels
    held: FloatArray

    @classmethod
    def empty(cls, width: int) -> Self:
        """Summarize no rows at all: the identity of `+`."""
        return cls(0.0, ((),) * width, np.zeros(0))

    @classmethod
    def of(cls, rows: CodedColumns, weights: object = None) -> Self:
        """Summarize one batch; rows of weight zero are not looked at."""
        w = None if weights is None else np.asarray(weights, dtype=np.float64)
        if w is not None and not w.all():
            rows, w = rows[np.flatnonzero(w > 0.0)], w[w > 0.0]
        return cls.of_classes(rows, np.zeros(len(rows), dtype=np.intp), 1, w)[0]

    @classmethod
    def of_classes(
        cls, rows: CodedColumns, codes: IntArray, size: int, weights: FloatArray | None
    ) -> list[Self]:
        """Summarize one batch of rows separately for each code 0 … size - 1."""
        totals = np.bincount(codes, weights, minlength=size).astype(np.float64)
        tables = []
        for j, levels in enumerate(rows.levels):
            # One more place for what is missing (BLANK, -1), which is then dropped.
            count = len(levels) + 1
            places = codes * count + (rows.codes[:, j] + 1)
            table = np.bincount(places, weights, minlength=size * count).reshape(size, count)
            tables.append(table[:, 1:].astype(np.float64))
        joined = np.concatenate(tables, axis=1) if tables else np.zeros((size, 0))
        return [cls(float(totals[c]), rows.levels, joined[c]) for c in range(size)]

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.levels)

    @property
    def starts(self) -> IntArray:
        """Where each column's levels begin in `held`, and where the last one's end."""
        return np.cumsum([0, *(len(levels) for levels in self.levels)], dtype=np.intp)

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Which columns have any cell."""
        return np.array([part.any() for part in self.by_column()], dtype=bool)

    @property
    def lost(self) -> FloatArray:
        """Nothing: counts keep their digits."""
        return np.zeros(self.width)

    def column(self, index: int) -> FloatArray:
        """Return the weights of one column's levels."""
        starts = self.starts
        return self.held[starts[index] : starts[index + 1]]

    def by_column(self) -> list[FloatArray]:
        """Return the weights of the levels of every column: there may be thousands."""
        ends = self.starts.tolist()
        return [self.held[start:stop] for start, stop in pairwise(ends)]

    def in_levels(self, levels: Levels) -> FloatArray:
        """Return the weights laid out for other levels, which hold all of these."""
        if levels is self.levels or levels == self.levels:
            return self.held
        out = []
        for own, held, union in zip(self.levels, self.by_column(), levels, strict=True):
            at = {level: place for place, level in enumerate(union)}
            part = np.zeros(len(union))
            part[[at[level] for level in own]] = held
            out.append(part)
        return np.concatenate(out) if out else np.zeros(0)

    def trimmed(self) -> Self:
        """Return the same without levels of weight zero."""
        if self.held.all():
            return self
        kept = iter((self.held > 0.0).tolist())
        levels = tuple(tuple(v for v in column if next(kept)) for column in self.levels)
        return type(self)(self.weight, levels, self.held[self.held > 0.0])

    def __add__(self, other: Self) -> Self:
        """Merge: levels that only one side has simply appear."""
        levels = united(self, other)
        held = self.in_levels(levels) + other.in_levels(levels)
        return type(self)(self.weight + other.weight, levels, held)

    def __sub__(self, other: Self) -> Self:
        """Forget rows merged in before: exactly, where weights are whole numbers."""
        if other.weight == 0.0:
            return self
        levels = united(self, other)
        ours, theirs = self.in_levels(levels), other.in_levels(levels)
        name = partial(_named, levels)
        held = differences(ours, theirs, name, exact=are_whole(ours, theirs))
        weight = remaining(self.weight, other.weight)
        if weight == 0.0:
            if held.any():
                said = (
                    "the rows to forget weigh as much as all learned rows, but would leave "
                    "some of {where}"
                )
                raise ForgettingUnseen(
                    Phrase(said, where=name(int(np.argmax(held > 0.0)))),
                    hint="only rows that were learned before can be removed",
                )
            return self.empty(self.width)
        found = type(self)(weight, levels, held)
        seen = np.array([part.sum() for part in found.by_column()])
        refuse_excess(seen, weight, "with more cells than rows", _column)
        return found.trimmed()

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        f = checked_factor(factor)
        if f == 0.0:
            return self.empty(self.width)
        return type(self)(self.weight * f, self.levels, self.held * f)

    def to_arrays(self) -> dict[str, Array]:
        """Return the whole state as plain arrays."""
        kept = self.trimmed()
        return {
            "weight": np.asarray(kept.weight),
            "levels": labels_to_array(chain.from_iterable(kept.levels)),
            "sizes": np.array([len(levels) for levels in kept.levels], dtype=np.int64),
            "held": kept.held,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        flat = iter(labels_from_array(arrays["levels"]))
        levels = tuple(tuple(next(flat) for _ in range(size)) for size in arrays["sizes"])
        return cls(float(arrays["weight"]), levels, np.asarray(arrays["held"]))


def united(left: Tallies, right: Tallies) -> Levels:
    """Return the levels of both, sorted, column by column."""
    if left.levels is right.levels or left.levels == right.levels:
        return left.levels
    if left.width != right.width:
        raise DifferentKinds(
            f"tallies of {left.width} and of {right.width} columns cannot be merged",
            hint="merge models of the same columns",
        )
    columns = []
    for j, (ours, theirs) in enumerate(zip(left.levels, right.levels, strict=True)):
        if ours == theirs:
            columns.append(ours)
            continue
        both = list(dict.fromkeys((*ours, *theirs)))
        if len(both) > MOST_LEVELS:
            said = "{column} of the categories has more than {most:,} different levels"
            raise BadRows(
                Phrase(said, column=ColumnAt(j), most=MOST_LEVELS),
                hint="put its levels into fewer groups, or drop the column",
            )
        refuse_long_levels(both, f"column {j} of the categories")
        columns.append(tuple(both[place] for place in sorted_levels(both)))
    return tuple(columns)


def _named(levels: Levels, place: int) -> Phrase:
    """Return how a place in `held` is called in a refusal."""
    column = 0
    while place >= len(levels[column]):
        place -= len(levels[column])
        column += 1
    level = repr(levels[column][place])
    return Phrase("level {level} of {column}", level=level, column=_column(column))


def _column(place: int) -> ColumnAt:
    return ColumnAt(place, kind="categorical")
