"""Several kinds of columns side by side, each summarized in its own way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import DifferentKinds, ForgettingUnseen
from suffice.places import PartAt
from suffice.statistics.algebra import checked_factor
from suffice.statistics.moments.diagonal import DiagonalMoments
from suffice.statistics.moments.what_is_left import remaining
from suffice.statistics.tallies import Tallies
from suffice.statistics.totals import Totals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.rows import FloatArray
    from suffice.statistics.algebra import Array
    from suffice.statistics.column_terms import ColumnNgrams, ColumnTerms

    Part = ColumnNgrams | ColumnTerms | DiagonalMoments | Tallies | Totals

KINDS: dict[str, object] = {kind.__name__: kind for kind in (DiagonalMoments, Tallies, Totals)}
"""Statistics of blocks of columns by their names, as arrays keep them."""


@dataclass(frozen=True, slots=True, eq=False)
class ByColumn:
    """Statistics of the same rows, one part for each group of columns.

    Which columns belong to which part is a setting of the family, not something the data said.

    >>> from suffice.statistics import Totals
    >>> both = ByColumn(2.0, (Totals.of([[1.0], [3.0]]), DiagonalMoments.of([[0.0], [4.0]])))
    >>> (both + both).parts[1].scatter
    array([16.])
    """

    weight: float
    parts: tuple[Part, ...]

    def __add__(self, other: Self) -> Self:
        """Merge part by part."""
        self._check(other)
        both = zip(self.parts, other.parts, strict=True)
        parts: Any = tuple(a + b for a, b in both)  # type: ignore[operator]
        return type(self)(self.weight + other.weight, parts)

    def __sub__(self, other: Self) -> Self:
        """Forget part by part."""
        self._check(other)
        if other.weight == 0.0:
            return self
        parts: list[Any] = []
        for place, (a, b) in enumerate(zip(self.parts, other.parts, strict=True)):
            try:
                parts.append(a - b)  # type: ignore[operator]
            except ForgettingUnseen as refusal:
                raise refusal.within(PartAt(place)) from None
        return type(self)(remaining(self.weight, other.weight), tuple(parts))

    def _check(self, other: Self) -> None:
        ours, theirs = ([type(part).__name__ for part in s.parts] for s in (self, other))
        if ours != theirs:
            raise DifferentKinds(
                f"columns were summarized as {ours} and as {theirs}",
                hint="give the columns the same families in both",
            )

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        f = checked_factor(factor)
        return type(self)(self.weight * f, tuple(part.scaled(f) for part in self.parts))

    @property
    def lost(self) -> FloatArray:
        """Per column, part after part, the largest possible relative error of its variance."""
        return np.concatenate([part.lost for part in self.parts] or [np.zeros(0)])

    def to_arrays(self) -> dict[str, Array]:
        """Return the whole state as plain arrays, the parts numbered."""
        arrays: dict[str, Array] = {
            "weight": np.asarray(self.weight),
            "kinds": np.array([type(part).__name__ for part in self.parts], dtype="U16"),
        }
        for place, part in enumerate(self.parts):
            arrays |= {f"{place}/{name}": value for name, value in part.to_arrays().items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        kinds = arrays["kinds"].tolist()
        held: list[dict[str, Array]] = [{} for _ in kinds]
        for name, value in arrays.items():
            place, slash, rest = name.partition("/")
            if slash:
                held[int(place)][rest] = value
        parts = [_kind(kind).from_arrays(own) for kind, own in zip(kinds, held, strict=True)]
        return cls(float(arrays["weight"]), tuple(parts))


def _kind(name: str) -> Any:
    """Return the statistics of that name; those of texts are found where they are needed."""
    if name in ("ColumnNgrams", "ColumnTerms"):
        from suffice.statistics import column_terms

        return getattr(column_terms, name)
    return KINDS[name]
