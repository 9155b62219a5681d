"""Separation, told in the user's words: which classes, which columns, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from suffice.errors import SeparationWarning, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.linear.logistic.separation.separation import Separation


@dataclass(frozen=True, slots=True)
class SeparatedClasses:
    """Classes between which no row lies: the likelihood has no maximum.

    kind        "complete" (a plane parts all rows) or "quasi-complete" (some lie on the plane)
    pairs       the pairs of classes that are parted
    columns     the columns that part them
    rows_apart  how many rows are clear of the plane, and
    rows_tied   how many lie on it
    reason      the same in words
    """

    kind: str
    pairs: tuple[tuple[Any, Any], ...]
    columns: tuple[str, ...]
    rows_apart: int
    rows_tied: int
    reason: str

    category = SeparationWarning

    @classmethod
    def of(cls, found: Separation, classes: NDArray[Any], names: Sequence[str]) -> Self:
        """Name classes and columns."""
        labels = classes.tolist()
        return cls(
            found.kind,
            tuple((labels[a], labels[b]) for a, b in found.pairs),
            tuple(names[j] for j in found.columns),
            found.rows_apart,
            found.rows_tied,
            found.reason,
        )

    def warning(self) -> str:
        """Return what happened and how to go on."""
        pairs = listed(f"{a!r} from {b!r}" for a, b in self.pairs)
        by = f" by {listed(self.columns)}" if self.columns else ""
        return (
            f"{self.kind} separation of {pairs}{by}: the likelihood has no maximum. θ is finite "
            "and predicts, but its size means nothing and it has no standard errors. "
            'Hint: correction="firth" or a penalty gives finite estimates'
        )
