"""Statistics together with a sample of the rows they are of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from suffice.statistics.by_class import ByClass
from suffice.statistics.folds import Folds
from suffice.statistics.row_sample import RowSample

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.rows import FloatArray, Label


@dataclass(frozen=True, slots=True, eq=False)
class WithRows:
    """For what cannot be read off sums alone, such as a temperature."""

    held: ByClass[Any] | Folds
    sample: RowSample

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels seen, in order."""
        return self.held.labels

    @property
    def weight(self) -> float:
        """How many rows were summarized, each counted with its weight."""
        return self.held.weight

    @property
    def lost(self) -> FloatArray:
        """Per column, the largest possible relative error of any class's variance."""
        return self.held.lost

    def __add__(self, other: Self) -> Self:
        """Merge both."""
        return type(self)(self.held + other.held, self.sample + other.sample)  # type: ignore[operator]

    def __sub__(self, other: Self) -> Self:
        """Forget in both; once nothing is left, the sample begins anew."""
        held, sample = self.held - other.held, self.sample - other.sample  # type: ignore[operator]
        return type(self)(held, sample if held.weight > 0.0 else RowSample({}))

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        return type(self)(self.held.scaled(factor), self.sample.scaled(factor))

    def to_arrays(self) -> dict[str, Any]:
        """Return the whole state as plain arrays."""
        return {f"held/{name}": value for name, value in self.held.to_arrays().items()} | {
            f"sample/{name}": value for name, value in self.sample.to_arrays().items()
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """Return what `to_arrays` was called on."""
        held, sample = (
            {n.removeprefix(start): v for n, v in arrays.items() if n.startswith(start)}
            for start in ("held/", "sample/")
        )
        kind: Any = Folds if "folds" in held else ByClass
        return cls(kind.from_arrays(held), RowSample.from_arrays(sample))
