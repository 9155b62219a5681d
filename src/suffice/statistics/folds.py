"""Statistics kept apart by fold: cross-validation without reading the rows again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import ForgettingUnseen
from suffice.statistics.by_class import ByClass
from suffice.statistics.labels import ordered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.rows import FloatArray, Label
    from suffice.statistics.algebra import Array

FOLDS = 10
"""Parts that rows are dealt into: the customary ten of cross-validation. Model files hold as
many."""


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """One `ByClass` for each fold, the fold of a row being a hash of what it says.

    Not of where it stands: so batches in any order have the same folds, and what is to be
    forgotten is found in the fold that has it.
    """

    parts: tuple[ByClass[Any], ...]

    @property
    def whole(self) -> ByClass[Any]:
        """The statistics of all rows."""
        return reduce(add, self.parts)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels seen in any fold, in order."""
        return ordered({label for part in self.parts for label in part.groups})

    @property
    def weight(self) -> float:
        """How many rows were summarized, each counted with its weight."""
        return float(sum(part.weight for part in self.parts))

    @property
    def lost(self) -> FloatArray:
        """Per column, the largest possible relative error of any class's variance."""
        return self.whole.lost

    def __add__(self, other: Self) -> Self:
        """Merge fold by fold."""
        return type(self)(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def __sub__(self, other: Self) -> Self:
        """Forget fold by fold."""
        parts = []
        for fold, (a, b) in enumerate(zip(self.parts, other.parts, strict=True)):
            try:
                parts.append(a - b)
            except ForgettingUnseen as refusal:
                raise refusal.within(f"fold {fold}") from None
        return type(self)(tuple(parts))

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        return type(self)(tuple(part.scaled(factor) for part in self.parts))

    def to_arrays(self) -> dict[str, Array]:
        """Return the whole state as plain arrays, the folds numbered."""
        arrays: dict[str, Array] = {"folds": np.array(len(self.parts))}
        for fold, part in enumerate(self.parts):
            arrays |= {f"{fold}/{name}": value for name, value in part.to_arrays().items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        held: dict[int, dict[str, Array]] = {}
        for name, value in arrays.items():
            fold, slash, rest = name.partition("/")
            if slash:
                held.setdefault(int(fold), {})[rest] = value
        return cls(tuple(ByClass.from_arrays(held[i]) for i in range(int(arrays["folds"]))))
