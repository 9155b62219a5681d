"""One summary per pattern of missing cells: what EM needs, without reading rows again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np

from suffice.errors import ForgettingUnseen, NotFinite, TooManyPatterns
from suffice.places import among
from suffice.statistics.algebra import checked_factor
from suffice.statistics.by_class import ByClass
from suffice.statistics.labels import ordered
from suffice.statistics.moments.full import Moments
from suffice.statistics.moments.pooled import PooledMoments
from suffice.statistics.moments.what_is_left import check_kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray, Label
    from suffice.statistics.algebra import Array

S = TypeVar("S", Moments, PooledMoments, "ByClass[Moments]")

MOST_PATTERNS = 1000
"""More patterns than this are refused: the state would outgrow the rows."""

KINDS: dict[str, Any] = {"Moments": Moments, "PooledMoments": PooledMoments, "ByClass": ByClass}
"""Statistics of a pattern by their names, as arrays keep them."""


@dataclass(frozen=True, slots=True, eq=False)
class ByPattern(Generic[S]):
    """For each pattern of missing cells, the statistics of the observed coordinates.

    A pattern is a bytes object, one byte a column, 1 where the cell is there. Complete
    rows are the pattern of ones; for them this is the plain statistics in a thin coat.

    >>> x = np.array([[1.0, 2.0], [3.0, np.nan]])
    >>> by = ByPattern.of(x, lambda rows, chosen: Moments.of(rows))
    >>> [list(pattern) for pattern in by.groups]
    [[1, 1], [1, 0]]
    """

    width: int
    groups: Mapping[bytes, S]

    @classmethod
    def of(cls, rows: FloatArray, summarize: Callable[[FloatArray, IntArray | None], S]) -> Self:
        """Group rows by which cells are NaN; `summarize` gets the observed cells of each group.

        Its second argument says which rows they are; None means all of them.
        """
        missing = np.isnan(rows)
        width = rows.shape[1]
        if not missing.any():
            return cls.complete(width, summarize(rows, None))
        packed = np.packbits(~missing, axis=1)
        _, first, codes, counts = np.unique(
            packed, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        check_patterns(len(first))
        order = np.argsort(codes.ravel(), kind="stable")
        groups: dict[bytes, S] = {}
        for start, chosen in zip(first, np.split(order, np.cumsum(counts)[:-1]), strict=True):
            seen = ~missing[start]
            try:
                found = summarize(rows[chosen][:, seen], chosen)
            except NotFinite as error:  # columns are counted among those that are seen
                raise error.each(partial(among, np.flatnonzero(seen).tolist())) from None
            groups[seen.astype(np.uint8).tobytes()] = found
        return cls(width, _in_order(groups))

    @classmethod
    def complete(cls, width: int, statistics: S) -> Self:
        """Return statistics of complete rows as the one pattern without gaps."""
        if statistics.weight == 0.0:
            return cls.empty(width)
        return cls(width, {b"\x01" * width: statistics})

    @classmethod
    def empty(cls, width: int) -> Self:
        """Summarize no rows at all: the identity of `+`."""
        return cls(width, {})

    @property
    def is_complete(self) -> bool:
        """Whether no cell is missing."""
        return not self.groups or (len(self.groups) == 1 and b"\x01" * self.width in self.groups)

    @property
    def weight(self) -> float:
        """How many rows were summarized, each counted with its weight."""
        return float(sum(group.weight for group in self.groups.values()))

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels seen under any pattern, in order; none where rows have no labels."""
        groups = self.groups.values()
        return ordered({label for group in groups for label in getattr(group, "labels", ())})

    @property
    def lost(self) -> FloatArray:
        """Per column, the largest possible relative error of a variance under any pattern."""
        losses = np.zeros(self.width)
        for seen, group in self.items():
            losses[seen] = np.maximum(losses[seen], group.lost)
        return losses

    def items(self) -> Iterator[tuple[NDArray[np.bool_], S]]:
        """Yield each pattern as a mask of observed columns, with its statistics."""
        for pattern, group in self.groups.items():
            yield np.frombuffer(pattern, dtype=np.uint8).astype(bool), group

    def __add__(self, other: Self) -> Self:
        """Merge pattern by pattern."""
        check_kinds(self, other)
        groups = dict(self.groups)
        for pattern, group in other.groups.items():
            groups[pattern] = groups[pattern] + group if pattern in groups else group
        check_patterns(len(groups))
        return type(self)(self.width, _in_order(groups))

    def __sub__(self, other: Self) -> Self:
        """Forget pattern by pattern; a pattern whose weight is gone is gone."""
        check_kinds(self, other)
        groups = dict(self.groups)
        for pattern, group in other.groups.items():
            if group.weight == 0.0:
                continue
            if pattern not in groups:
                cells = pattern.count(0)
                place = f"rows with those {cells} cells missing"
                raise ForgettingUnseen.of(0.0, group.weight, place)
            try:
                left = groups[pattern] - group
            except ForgettingUnseen as refusal:  # columns are counted among those that are seen
                seen = np.flatnonzero(np.frombuffer(pattern, dtype=np.uint8)).tolist()
                raise refusal.each(partial(among, seen)) from None
            if left.weight > 0.0:
                groups[pattern] = left
            else:
                del groups[pattern]
        return type(self)(self.width, groups)

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        if checked_factor(factor) == 0.0:
            return self.empty(self.width)
        return type(self)(self.width, {p: g.scaled(factor) for p, g in self.groups.items()})

    def embedded(self, places: IntArray, width: int) -> Self:
        """Return the statistics of the same rows with more columns, which were all zero."""
        groups: dict[bytes, S] = {}
        for seen, group in self.items():
            mask = np.ones(width, dtype=bool)
            mask[places] = seen
            inner = (np.cumsum(mask) - 1)[places[seen]]
            groups[mask.astype(np.uint8).tobytes()] = group.embedded(inner, int(mask.sum()))
        return type(self)(width, _in_order(groups))

    def to_arrays(self) -> dict[str, Array]:
        """Return the whole state as plain arrays; `3/mean` belongs to the fourth pattern."""
        arrays: dict[str, Array] = {
            f"{i}/{name}": array
            for i, group in enumerate(self.groups.values())
            for name, array in group.to_arrays().items()
        }
        kinds = {type(group).__name__ for group in self.groups.values()} or {"Moments"}
        patterns = np.frombuffer(b"".join(self.groups), dtype=np.uint8)
        arrays["patterns"] = patterns.reshape(len(self.groups), self.width)
        arrays["inner"] = np.array(kinds.pop())
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        patterns = np.asarray(arrays["patterns"], dtype=np.uint8)
        kind = KINDS[str(arrays["inner"])]
        held: list[dict[str, Array]] = [{} for _ in patterns]
        for name, array in arrays.items():
            place, slash, rest = name.partition("/")
            if slash:
                held[int(place)][rest] = array
        pairs = zip(patterns, held, strict=True)
        groups = {pattern.tobytes(): kind.from_arrays(own) for pattern, own in pairs}
        return cls(patterns.shape[1], groups)


def _in_order(groups: dict[bytes, S]) -> dict[bytes, S]:
    """Return patterns from the fullest on: the order must not tell who was merged first."""
    return dict(sorted(groups.items(), reverse=True))


def check_patterns(count: int) -> None:
    """Refuse more patterns than the state should hold."""
    if count > MOST_PATTERNS:
        raise TooManyPatterns(
            f"the rows have {count} patterns of missing cells, at most {MOST_PATTERNS} are kept",
            hint='use covariance="diagonal", which needs no patterns, or drop or impute the '
            "emptiest columns",
        )
