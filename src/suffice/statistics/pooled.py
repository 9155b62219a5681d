"""One scatter for all classes: k·d + d² numbers, however many classes there are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.errors import ForgettingUnseen
from suffice.kernels.scatter import pooled_scatter
from suffice.linear_algebra import EPSILON, two_sum
from suffice.statistics.algebra import checked_factor
from suffice.statistics.centres import PER_ROW, summed_about_centres, with_weight
from suffice.statistics.labels import labels_from_array, labels_to_array, ordered
from suffice.statistics.moments import (
    PER_OPERATION,
    after_subtraction,
    check_kinds,
    relative_loss,
    relative_reach,
    remaining,
    settled,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray, Label


@dataclass(frozen=True, eq=False)
class PooledMoments:
    """Weight and mean of every class, and the scatter of all rows about their class's mean.

    What Gaussian discriminant analysis with a shared covariance needs, and no more: a
    thousand classes cost a thousand means, not a thousand matrices.

    >>> one = PooledMoments.of_classes(np.array([[0.0], [2.0], [7.0]]), [0, 0, 1], ["a", "b"])
    >>> one.weights, one.scatter
    (array([2., 1.]), array([[2.]]))
    """

    labels: tuple[Label, ...]
    weights: FloatArray
    means: FloatArray
    lows: FloatArray
    scatter: FloatArray
    error: FloatArray

    @classmethod
    def empty(cls, width: int) -> Self:
        """Summarize no rows at all: the identity of `+`."""
        none = np.zeros((0, width))
        return cls((), np.zeros(0), none, none, np.zeros((width, width)), np.zeros(width))

    @classmethod
    def of_classes(
        cls,
        rows: FloatArray,
        codes: IntArray | Sequence[int],
        labels: Sequence[Label],
        weights: FloatArray | None = None,
    ) -> Self:
        """Summarize labelled rows: row i belongs to labels[codes[i]]."""
        rows, codes, weights = with_weight(rows, np.asarray(codes, dtype=np.intp), weights)
        if len(rows) == 0:
            return cls.empty(rows.shape[1])
        totals, means, lows, reaches, scatter = summed_about_centres(
            pooled_scatter, rows, codes, len(labels), weights
        )
        # Rounding is that of the sums about the centres, which a poor guess makes larger.
        error = (PER_OPERATION + PER_ROW * len(rows)) * np.diagonal(scatter)
        scatter -= reaches.T @ reaches
        held = {label: i for i, label in enumerate(labels) if totals[i] > 0.0}
        kept = ordered(held)
        if kept == tuple(labels):
            return cls(kept, totals, means, lows, scatter, error)
        here = [held[label] for label in kept]
        return cls(kept, totals[here], means[here], lows[here], scatter, error)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.error)

    @property
    def weight(self) -> float:
        """How many rows were summarized, each counted with its weight."""
        return float(self.weights.sum())

    @property
    def lost(self) -> FloatArray:
        """Per column, the largest possible relative error of its variance."""
        return relative_loss(self.error, np.diagonal(self.scatter))

    @cached_property
    def places(self) -> dict[Label, int]:
        """Where each label stands."""
        return {label: i for i, label in enumerate(self.labels)}

    def _spread(self, labels: tuple[Label, ...]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return weights, means and lows in the order of `labels`, zeros for those unknown."""
        if labels == self.labels:
            return self.weights, self.means, self.lows
        size, width = len(labels), self.width
        weights, means, lows = np.zeros(size), np.zeros((size, width)), np.zeros((size, width))
        there = [i for i, label in enumerate(labels) if label in self.places]
        here = [self.places[labels[i]] for i in there]
        weights[there], means[there], lows[there] = (
            self.weights[here],
            self.means[here],
            self.lows[here],
        )
        return weights, means, lows

    def __add__(self, other: Self) -> Self:
        """Merge two summaries; a label known to one side only simply appears."""
        check_kinds(self, other)
        if not other.labels:
            return self
        if not self.labels:
            return other
        same = self.labels == other.labels
        labels = self.labels if same else ordered({*self.labels, *other.labels})
        w_a, m_a, l_a = self._spread(labels)
        w_b, m_b, l_b = other._spread(labels)
        weights = w_a + w_b
        both = ((w_a > 0.0) & (w_b > 0.0))[:, np.newaxis]
        share = (w_b / weights)[:, np.newaxis]
        gap = np.where(both, (m_b - m_a) + (l_b - l_a), 0.0)
        fresh = (w_a == 0.0)[:, np.newaxis]
        means, lows = two_sum(np.where(fresh, m_b, m_a), np.where(fresh, l_b, l_a) + gap * share)
        reach = gap * np.sqrt(w_a[:, np.newaxis] * share)
        scatter = self.scatter + other.scatter + reach.T @ reach
        error = self.error + other.error + PER_OPERATION * np.diagonal(scatter)
        return type(self)(labels, weights, means, lows, scatter, error)

    def __sub__(self, other: Self) -> Self:
        """Forget rows merged in before; a class whose weight is gone is gone."""
        check_kinds(self, other)
        if not other.labels:
            return self
        for label in other.labels:
            if label not in self.places:
                raise ForgettingUnseen.of(
                    0.0, float(other.weights[other.places[label]]), f"class {label!r}"
                )
        w_b, m_b, l_b = other._spread(self.labels)
        left = np.array(
            [
                remaining(float(u), float(b), f"class {label!r}")
                for label, u, b in zip(self.labels, self.weights, w_b, strict=True)
            ]
        )
        here = left > 0.0
        held = np.where(here, left, 1.0)[:, np.newaxis]
        gap = np.where((w_b > 0.0)[:, np.newaxis], (self.means - m_b) + (self.lows - l_b), 0.0)
        self._refuse_leftovers(other, gap, ~here)
        if not here.any():
            return self.empty(self.width)
        means, lows = two_sum(self.means, self.lows + gap * (w_b[:, np.newaxis] / held))
        # A class that vanishes whole takes its own scatter with it and moves no mean.
        stretch = np.where(here, w_b * (self.weights / held[:, 0]), 0.0)
        reach = gap * np.sqrt(stretch)[:, np.newaxis]
        scatter = self.scatter - other.scatter - reach.T @ reach
        variances = np.diagonal(self.scatter)
        widest = relative_reach(reach, variances).max(axis=1, initial=0.0)
        pull = float(widest @ np.sqrt(w_b / held[:, 0]))
        error = after_subtraction(self.error + other.error, variances, pull)
        scatter, error = settled(scatter, error, single=bool(np.all(left[here] == 1.0)))
        labels = tuple(label for label, there in zip(self.labels, here, strict=True) if there)
        return type(self)(labels, left[here], means[here], lows[here], scatter, error)

    def _refuse_leftovers(self, other: Self, gap: FloatArray, gone: NDArray[np.bool_]) -> None:
        """Refuse to take a class away whole with rows that are not those that were merged in."""
        bound = self.error + other.error + 1e-9 * np.diagonal(self.scatter)
        rounding = np.square(64.0 * EPSILON * self.means) * self.weights[:, np.newaxis]
        strange = self.weights[:, np.newaxis] * np.square(gap) > bound + rounding
        strange &= gone[:, np.newaxis]
        if gone.all():
            strange |= np.abs(np.diagonal(self.scatter - other.scatter)) > bound + rounding
        if strange.any():
            c, j = (int(v[0]) for v in np.nonzero(strange))
            raise ForgettingUnseen(
                f"the rows to forget have the weight of all of class {self.labels[c]!r}, but "
                f"column {j} has another mean or another spread there",
                hint="subtract only what was merged in before: (a + b) - b",
            )

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        f = checked_factor(factor)
        if f == 0.0:
            return self.empty(self.width)
        return type(self)(
            self.labels, self.weights * f, self.means, self.lows, self.scatter * f, self.error * f
        )

    def embedded(self, places: IntArray, width: int) -> Self:
        """Return the moments of the same rows with more columns, which were all zero."""
        size = len(self.labels)
        means, lows, error = np.zeros((size, width)), np.zeros((size, width)), np.zeros(width)
        scatter = np.zeros((width, width))
        means[:, places], lows[:, places], error[places] = self.means, self.lows, self.error
        scatter[np.ix_(places, places)] = self.scatter
        return type(self)(self.labels, self.weights, means, lows, scatter, error)

    def to_arrays(self) -> dict[str, FloatArray]:
        """Return the whole state as plain arrays."""
        return {
            "labels": labels_to_array(self.labels),  # type: ignore[dict-item]
            "weights": self.weights,
            "means": self.means,
            "lows": self.lows,
            "scatter": self.scatter,
            "error": self.error,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, FloatArray]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        names = ("weights", "means", "lows", "scatter", "error")
        return cls(
            labels_from_array(arrays["labels"]),  # type: ignore[arg-type]
            *(np.asarray(arrays[name]) for name in names),
        )
