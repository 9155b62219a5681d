"""What texts said, class by class, with a sample of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import DifferentKinds
from suffice.statistics.by_class import ByClass
from suffice.statistics.row_sample import END, RowSample

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from suffice.rows import FloatArray, Label
    from suffice.statistics.algebra import Array


@dataclass(frozen=True, slots=True, eq=False)
class TextStatistics:
    """Counts of terms, counts of n-grams of bytes, or both, and some of the documents.

    The sample is for what no sum can say: how far the probabilities of documents that were not
    learned are to be believed.

    >>> from suffice.statistics.keyed_counts import TermCounts
    >>> one = TermCounts.of(np.array([7, 9], dtype=np.uint64), np.ones(2), 1.0)
    >>> statistics = TextStatistics(ByClass({"ham": one}), None, RowSample({}))
    >>> (statistics + statistics).weights
    array([2.])
    """

    terms: ByClass[Any] | None
    ngrams: ByClass[Any] | None
    sample: RowSample

    @property
    def _counts(self) -> ByClass[Any]:
        found = self.terms if self.ngrams is None else self.ngrams
        assert found is not None
        return found

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels seen, in order."""
        return self._counts.labels

    @property
    def weight(self) -> float:
        """How many documents were summarized, each counted with its weight."""
        return self._counts.weight

    @property
    def weights(self) -> FloatArray:
        """The same for each class."""
        return np.array([self._counts.groups[label].weight for label in self.labels])

    @property
    def keeps_documents(self) -> bool:
        """Whether documents are sampled; all that were may have been forgotten since."""
        return bool(self.sample.rows) or self.sample.limit < END

    @property
    def lost(self) -> FloatArray:
        """Nothing: counts keep their digits."""
        return np.zeros(0)

    def __add__(self, other: Self) -> Self:
        """Merge all three."""
        terms, ngrams = self._both(other, lambda ours, theirs: ours + theirs)
        return type(self)(terms, ngrams, self.sample + other.sample)

    def __sub__(self, other: Self) -> Self:
        """Forget in all three; once nothing is left, the sample begins anew."""
        terms, ngrams = self._both(other, lambda ours, theirs: ours - theirs)
        left = type(self)(terms, ngrams, self.sample - other.sample)
        if left.weight == 0.0:
            return type(self)(terms, ngrams, RowSample({}))
        left.sample.refuse_excess(dict(zip(left.labels, left.weights.tolist(), strict=True)))
        return left

    def _both(self, other: Self, joined: Callable[[Any, Any], object]) -> list[Any]:
        """Return what becomes of the terms of two sides, and of their n-grams."""
        found: list[object] = []
        for name in ("terms", "ngrams"):
            ours, theirs = getattr(self, name), getattr(other, name)
            if (ours is None) != (theirs is None):
                raise DifferentKinds(
                    f"one side has counted {name} and the other has not",
                    hint="summarize all documents by the same event models",
                )
            found.append(None if ours is None else joined(ours, theirs))
        return found

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        return type(self)(
            None if self.terms is None else self.terms.scaled(factor),
            None if self.ngrams is None else self.ngrams.scaled(factor),
            self.sample.scaled(factor),
        )

    def to_arrays(self) -> dict[str, Array]:
        """Return the whole state as plain arrays."""
        found: dict[str, Array] = {}
        for name in ("terms", "ngrams", "sample"):
            part = getattr(self, name)
            if part is not None:
                found |= {f"{name}/{key}": value for key, value in part.to_arrays().items()}
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        parts: dict[str, dict[str, Array]] = {"terms": {}, "ngrams": {}, "sample": {}}
        for name, value in arrays.items():
            head, _, rest = name.partition("/")
            parts[head][rest] = value
        terms, ngrams = (
            ByClass.from_arrays(parts[name]) if parts[name] else None
            for name in ("terms", "ngrams")
        )
        if terms is None and ngrams is None:
            raise ValueError("neither terms nor n-grams")
        return cls(terms, ngrams, RowSample.from_arrays(parts["sample"]))
