"""One scatter for all classes: k·d + d² numbers, however many classes there are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.errors import ForgettingUnseen
from suffice.kernels.dense.double_double import minus
from suffice.kernels.dense.scatter import additions, pooled_scatter
from suffice.linear_algebra import EPSILON
from suffice.statistics.algebra import checked_factor, differences
from suffice.statistics.labels import ordered
from suffice.statistics.moments.centres import (
    PER_ADDITION,
    SMALL_SQUARE,
    error_of_sums,
    raise_to_zero,
    rows_of_classes,
    summed_about_centres,
    underflow,
    with_weight,
)
from suffice.statistics.moments.few_rows import FEW, classes_summed_precisely
from suffice.statistics.moments.operations import merged, more_of_means, slack_after, subtracted
from suffice.statistics.moments.parts import (
    Classes,
    Combined,
    SecondMoments,
    combined,
    scaled_pair,
    wider,
)
from suffice.statistics.moments.plain_merges import pooled_merged_quickly
from suffice.statistics.moments.rounding import (
    PER_OPERATION,
    PRECISE,
    Sums,
    implied_sum_error,
)
from suffice.statistics.moments.steps import steps_of
from suffice.statistics.moments.what_is_left import (
    Usual,
    check_kinds,
    possible,
    refuse_leftover_classes,
    usual_after,
    usual_cells,
    vouched,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.rows import FloatArray, IntArray, Label


@dataclass(frozen=True, eq=False)
class PooledMoments(SecondMoments):
    """Weight and mean of every class, and the scatter of all rows about their class's mean.

    What Gaussian discriminant analysis with a shared covariance needs, and no more: a
    thousand classes cost a thousand means, not a thousand matrices. The other fields are those
    of `Moments`; `sum_error`, `anchors` and `weights_error` are kept class by class, and `error`
    bounds the squares of all classes about their anchors.

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
    scatter_low: FloatArray | None = None
    sum_error: FloatArray | None = None
    anchors: FloatArray | None = None
    weights_low: FloatArray | None = None
    weights_error: FloatArray | None = None
    usual: FloatArray | None = None
    unusual: FloatArray | None = None
    steps: FloatArray | None = None

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
        if len(rows) <= FEW:
            return cls._of_few(rows, codes, labels, weights)
        totals, means, lows, reaches, scatter = summed_about_centres(
            pooled_scatter, rows, codes, len(labels), weights
        )
        size, (length, width) = len(labels), rows.shape
        most = rows_of_classes(codes, size, totals, weights).max()
        # Of the products of all rows, and of the sums of each class.
        chain = max(additions(length, length, width, 1), additions(most, length, width, size))
        relative = PER_OPERATION + PER_ADDITION * chain
        squares, shift = np.diagonal(scatter), np.square(reaches).sum(axis=0)
        error = error_of_sums(relative, squares, np.sqrt(shift)) + PER_ADDITION * size * shift
        if squares.min(initial=1.0) < SMALL_SQUARE:
            drift = np.abs(reaches).max(axis=0, initial=0.0)
            error += underflow(totals.sum(keepdims=True), squares[np.newaxis], drift)[0]
        scatter -= reaches.T @ reaches
        raise_to_zero(scatter)
        slack = None if weights is None else relative * totals
        held = {label: i for i, label in enumerate(labels) if totals[i] > 0.0}
        kept = ordered(held)
        usual, unusual = usual_cells(rows, codes, len(labels), weights) or (None, None)
        if unusual is not None:
            unusual = unusual.sum(axis=0)
        if kept == tuple(labels):
            return cls(
                kept, totals, means, lows, scatter, error, weights_error=slack,
                usual=usual, unusual=unusual, steps=steps_of(rows, weights),
            )  # fmt: skip
        here = [held[label] for label in kept]
        slack = None if slack is None else slack[here]
        return cls(kept, totals[here], means[here], lows[here], scatter, error, weights_error=slack)

    @classmethod
    def _of_few(
        cls, rows: FloatArray, codes: IntArray, labels: Sequence[Label], weights: FloatArray | None
    ) -> Self:
        """Summarize no more than 32 rows, in two doubles."""
        few = classes_summed_precisely(rows, codes, weights)
        places = {labels[code]: place for place, code in enumerate(few.present.tolist())}
        kept = ordered(places)
        here = [places[label] for label in kept]
        lows = few.weights[1][here]
        single = len(rows) == 1
        usual, unusual = (
            (None, None) if single else (usual_cells(rows, None, 1, weights) or (None, None))
        )
        return cls(
            kept,
            few.weights[0][here],
            few.means[0][here],
            few.means[1][here],
            few.squares[0],
            few.error,
            few.squares[1],
            few.sum_error[here],
            weights_low=lows if lows.any() else None,
            usual=usual,
            unusual=None if unusual is None else unusual[0],
            steps=steps_of(rows, weights),
        )

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.error)

    @property
    def weight(self) -> float:
        """How many rows were summarized, each counted with its weight."""
        return float(self.weights.sum())

    @property
    def _weight_of_means(self) -> FloatArray:
        return self.weights[:, np.newaxis]

    @property
    def _bound(self) -> FloatArray:
        if not self.labels or (self.anchors is None and self.sum_error is None):
            return self.error  # of one batch, about its own means
        held = self._spread(self.labels)
        return self.error + more_of_means(held.weights[0], held.means, held.sums)

    @cached_property
    def places(self) -> dict[Label, int]:
        """Where each label stands."""
        return {label: i for i, label in enumerate(self.labels)}

    def _spread(self, labels: tuple[Label, ...]) -> Classes:
        """Return what is known of classes in the order of `labels`, zeros for those unknown."""
        sum_error = self.sum_error
        if sum_error is None:
            held, variances = self.weights[:, np.newaxis], self._variances
            sum_error = implied_sum_error(held, variances, self.error)
        anchors = self.means if self.anchors is None else self.anchors
        none = np.zeros(len(self.labels))
        low = none if self.weights_low is None else self.weights_low
        slack = none if self.weights_error is None else self.weights_error
        parts = [self.weights, low, self.means, self.lows, anchors, sum_error, slack]
        if labels != self.labels:
            there = [i for i, label in enumerate(labels) if label in self.places]
            here = [self.places[labels[i]] for i in there]
            parts = [wider(p[here], there, (len(labels), *p.shape[1:])) for p in parts]
        weights, low, means, lows, anchors, sum_error, slack = parts
        error: object = 0.0 if self.weights_error is None else slack[:, np.newaxis]
        sums = Sums(anchors, sum_error, self.error, error)
        return Classes((weights, low), (means, lows), sums)

    def __add__(self, other: Self) -> Self:
        """Merge two summaries; a label known to one side only simply appears."""
        check_kinds(self, other)
        if not other.labels:
            return self
        if not self.labels:
            return other
        same = self.labels == other.labels
        quick = pooled_merged_quickly(self, other) if same else None
        if quick is not None:
            return self._of(self.labels, quick, usual_after(self, other))
        labels = self.labels if same else ordered({*self.labels, *other.labels})
        ours, theirs = self._spread(labels), other._spread(labels)
        return self._of(labels, merged(ours, theirs, self, other), usual_after(self, other))

    def _of(self, labels: tuple[Label, ...], found: Combined, usual: Usual) -> Self:
        """Return moments of what a merge or a subtraction has left."""
        low = found.weights[1] if found.weights[1].any() else None
        return type(self)(
            labels, found.weights[0], *found.means, found.scatter[0], found.error,
            found.scatter[1], found.sum_error, found.anchors, low, found.weights_error, *usual,
        )  # fmt: skip

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
        ours, theirs = self._spread(self.labels), other._spread(self.labels)
        fast = combined(-1.0, ours, theirs, self, other)
        if fast is not None:
            fast = fast._replace(weights_error=slack_after(ours, theirs, fast.weights))
            return possible(self._of(self.labels, fast, usual_after(self, other, -1.0)))
        w_b = theirs.weights[0]
        left = differences(self.weights, w_b, lambda c: f"class {self.labels[c]!r}", exact=False)
        here = left > 0.0
        if not here.all():
            gap = minus(ours.means, theirs.means)[0]
            refuse_leftover_classes(self, other, gap, ~here & (w_b > 0.0))
        if not here.any():
            return self.empty(self.width)
        usual = usual_after(self, other, -1.0)
        labels = tuple(label for label, there in zip(self.labels, here, strict=True) if there)
        return possible(self._of(labels, subtracted(ours, theirs, self, other, here, usual), usual))

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        f = checked_factor(factor)
        if f == 0.0:
            return self.empty(self.width)
        low = np.zeros_like(self.weights) if self.weights_low is None else self.weights_low
        weights, weights_low = scaled_pair((self.weights, low), f)
        error, scatter_low = self.error * f, None
        if self.scatter_low is None:
            scatter = self.scatter * f
            error += EPSILON * np.diagonal(scatter) * self._is_rough
        else:
            scatter, scatter_low = scaled_pair((self.scatter, self.scatter_low), f)
            error += 2.0 * PRECISE * np.diagonal(scatter)
        fractional = bool(weights_low.any())
        slack = None if self.weights_error is None else self.weights_error * f
        if fractional:
            slack = PRECISE * weights + (0.0 if slack is None else slack)
        return type(self)(
            self.labels, weights, self.means, self.lows, scatter, error, scatter_low,
            None if self.sum_error is None else self.sum_error * f, self.anchors,
            weights_low if fractional else None, slack, self.usual,
            None if self.unusual is None else self.unusual * f,
        )  # fmt: skip

    def vouched(self) -> Self:
        """Return the same with bounds as of one batch: someone vouches for these numbers."""
        error = PER_OPERATION * self._variances
        anew = replace(self, error=error, sum_error=None, anchors=None, weights_error=None)
        return vouched(anew, self)
