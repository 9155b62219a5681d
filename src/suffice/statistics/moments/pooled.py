"""One scatter for all classes: k·d + d² numbers, however many classes there are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import ForgettingUnseen
from suffice.kernels.dense.double_double import (
    Pair,
    minus,
    plus,
)
from suffice.kernels.dense.scatter import additions, pooled_scatter
from suffice.linear_algebra import EPSILON, two_sum
from suffice.statistics.algebra import checked_factor, differences
from suffice.statistics.labels import labels_from_array, labels_to_array, ordered
from suffice.statistics.moments.centres import (
    PER_ADDITION,
    SMALL_SQUARE,
    error_of_sums,
    rows_of_classes,
    summed_about_centres,
    underflow,
    with_weight,
)
from suffice.statistics.moments.few_rows import FEW, classes_summed_precisely
from suffice.statistics.moments.parts import (
    Classes,
    Combined,
    combined,
    errors_of_moving,
    kept_parts,
    moved_means,
    plus_squares,
    scaled_pair,
    squares_of,
    wider,
)
from suffice.statistics.moments.rounding import (
    FIRM,
    PER_OPERATION,
    PER_PRECISE_SQUARE,
    PRECISE,
    Sums,
    added,
    added_plainly,
    are_rough,
    bound_of,
    far_away,
    implied_sum_error,
    over_classes,
)
from suffice.statistics.moments.what_is_left import (
    Usual,
    check_kinds,
    last_digits,
    refuse_unbounded,
    relative_loss,
    settled_mean,
    usual_after,
    usual_cells,
    vanished,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray, Label


@dataclass(frozen=True, eq=False)
class PooledMoments:
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
        slack = None if weights is None else relative * totals
        held = {label: i for i, label in enumerate(labels) if totals[i] > 0.0}
        kept = ordered(held)
        usual, unusual = usual_cells(rows, codes, len(labels), weights) or (None, None)
        if unusual is not None:
            unusual = unusual.sum(axis=0)
        if kept == tuple(labels):
            return cls(
                kept, totals, means, lows, scatter, error, weights_error=slack,
                usual=usual, unusual=unusual,
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
    def bound(self) -> FloatArray:
        """Per column, the largest possible error of its variance as `scatter` has it."""
        return self._bound + 0.5 * EPSILON * np.diagonal(self.scatter)

    @property
    def lost(self) -> FloatArray:
        """Per column, the largest possible relative error of its variance."""
        return relative_loss(self._bound, np.diagonal(self.scatter))

    @property
    def _bound(self) -> FloatArray:
        if not self.labels or (self.anchors is None and self.sum_error is None):
            return self.error  # of one batch, about its own means
        held = self._spread(self.labels)
        return self.error + self._more(held.weights[0], held.means, held.sums)

    @staticmethod
    def _more(weights: FloatArray, means: Pair, sums: Sums) -> FloatArray:
        """Return what the errors of weights and means add to e, in the bound of S."""
        away = np.abs((means[0] - sums.anchor) + means[1])
        held = weights[:, np.newaxis]
        return over_classes(bound_of(held, away, sums.sum_error, sums.weight_error))

    @property
    def _is_rough(self) -> bool:
        """Whether these are sums in plain doubles, with the error that such sums have."""
        return self.scatter_low is None and bool(self.error.any())

    @cached_property
    def places(self) -> dict[Label, int]:
        """Where each label stands."""
        return {label: i for i, label in enumerate(self.labels)}

    def _spread(self, labels: tuple[Label, ...]) -> Classes:
        """Return what is known of classes in the order of `labels`, zeros for those unknown."""
        sum_error = self.sum_error
        if sum_error is None:
            held, variances = self.weights[:, np.newaxis], np.diagonal(self.scatter)
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
        error: Any = 0.0 if self.weights_error is None else slack[:, np.newaxis]
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
        labels = self.labels if same else ordered({*self.labels, *other.labels})
        ours, theirs = self._spread(labels), other._spread(labels)
        if self._is_rough and other._is_rough:
            merged = self._plainly(other, labels, ours, theirs)
            if are_rough(self.error, other.error, np.diagonal(merged.scatter)):
                return merged
        found = combined(1.0, ours, theirs, self, other)
        if found is not None:
            return self._of_combined(other, labels, found, ours, theirs, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            merged = self._precisely(other, labels, ours, theirs)
            # Squares beyond all doubles are infinite here, and refused when they are estimated.
            if np.isfinite(merged.error).all():
                return merged
            return self._plainly(other, labels, ours, theirs)

    def _plainly(
        self, other: Self, labels: tuple[Label, ...], ours: Classes, theirs: Classes
    ) -> Self:
        """Merge in plain doubles: between the parts of one large batch nothing more is gained."""
        w_a, w_b = ours.weights[0], theirs.weights[0]
        weights, weights_low = plus(ours.weights, theirs.weights)
        (m_a, l_a), (m_b, l_b) = ours.means, theirs.means
        with np.errstate(over="ignore", invalid="ignore"):
            both = ((w_a > 0.0) & (w_b > 0.0))[:, np.newaxis]
            share = (w_b / weights)[:, np.newaxis]
            gap = np.where(both, (m_b - m_a) + (l_b - l_a), 0.0)
            fresh = (w_a == 0.0)[:, np.newaxis]
            means = np.asarray(np.where(fresh, m_b, m_a), dtype=np.float64)
            means, lows = two_sum(means, np.where(fresh, l_b, l_a) + gap * share)
            reach = gap * np.sqrt(w_a[:, np.newaxis] * share)
            scatter = self.scatter + other.scatter + reach.T @ reach
            rounding = (PER_OPERATION + EPSILON / 2.0 * len(labels)) * np.diagonal(scatter)
            error, sum_error = added_plainly(
                ours.sums, theirs.sums, weights[:, np.newaxis], w_b[:, np.newaxis], gap, means,
                rounding,
            )  # fmt: skip
        slack = np.broadcast_to(
            ours.sums.weight_error + theirs.sums.weight_error, (len(labels), 1)
        )[:, 0]
        return type(self)(
            labels, weights, means, lows, scatter, error, None, sum_error, None,
            weights_low if weights_low.any() else None, slack if slack.any() else None,
            *usual_after(self, other),
        )  # fmt: skip

    def _precisely(
        self, other: Self, labels: tuple[Label, ...], ours: Classes, theirs: Classes
    ) -> Self:
        """Merge in two doubles: what is rounded then is far below the last digit."""
        w_a, w_b = ours.weights[0], theirs.weights[0]
        weights = plus(ours.weights, theirs.weights)
        both, fresh = np.flatnonzero((w_a > 0.0) & (w_b > 0.0)), w_a == 0.0
        means: Pair = (ours.means[0].copy(), ours.means[1].copy())
        means[0][fresh], means[1][fresh] = theirs.means[0][fresh], theirs.means[1][fresh]
        gap = minus((theirs.means[0][both], theirs.means[1][both]), ours.at(both)[1])
        reach = moved_means(means, ours, theirs, weights, gap, both)
        square, rough = squares_of(reach)
        scatter = plus(plus_squares(self, other), square)
        # A class that one side does not know has the anchor of the other.
        heavy = (w_a >= w_b)[:, np.newaxis]
        firm = (np.maximum(w_a, w_b) >= FIRM)[:, np.newaxis]
        known = np.where(heavy, ours.sums.anchor, theirs.sums.anchor)
        anchors = np.where(firm, known, means[0])
        rounding = PER_PRECISE_SQUARE * (np.diagonal(self.scatter) + np.diagonal(other.scatter))
        rounding = rounding + rough
        moving = errors_of_moving(ours, theirs, weights[0], gap, both)
        held = weights[0][:, np.newaxis]
        error, sum_error = added(ours.sums, theirs.sums, means, anchors, held, moving, rounding)
        slack = np.broadcast_to(
            ours.sums.weight_error + theirs.sums.weight_error, (len(labels), 1)
        )[:, 0]
        return self._made(
            labels, weights, means, scatter, error, sum_error, anchors, slack,
            usual_after(self, other),
        )  # fmt: skip

    def _made(
        self,
        labels: tuple[Label, ...],
        weights: Pair,
        means: Pair,
        scatter: Pair,
        error: FloatArray,
        sum_error: FloatArray,
        anchors: FloatArray,
        slack: FloatArray,
        usual: Usual,
    ) -> Self:
        """Return moments after an operation in two doubles, with anchors near the means."""
        fractional = bool(weights[1].any())
        if fractional:
            slack = slack + PRECISE * weights[0]
        found = type(self)(
            labels, weights[0], *means, scatter[0], error, scatter[1], sum_error, anchors,
            weights[1] if fractional else None, slack if slack.any() else None, *usual,
        )  # fmt: skip
        # Only the scatter of all classes is known: four standard deviations within them.
        far = far_away(found.weight, means[0] - anchors, np.diagonal(scatter[0]))
        if not far.any():
            return found
        nearer = np.where(far, means[0], anchors)
        sum_error, more = found._spread(labels).sums.about(nearer)
        more = over_classes(more)
        return replace(found, anchors=nearer, sum_error=sum_error, error=error + more)

    def _of_combined(
        self,
        other: Self,
        labels: tuple[Label, ...],
        found: Combined,
        ours: Classes,
        theirs: Classes,
        sign: float,
    ) -> Self:
        """Return moments of what a compiled loop has merged or subtracted."""
        slack = _slack(ours, theirs)
        fractional = bool(found.weights[1].any())
        if fractional:
            slack = PRECISE * found.weights[0] + (0.0 if slack is None else slack)
        return type(self)(
            labels, found.weights[0], *found.means, found.scatter[0], found.error,
            found.scatter[1], found.sum_error, found.anchors,
            found.weights[1] if fractional else None, slack, *usual_after(self, other, sign),
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
        found = combined(-1.0, ours, theirs, self, other)
        if found is not None:
            return self._of_combined(other, self.labels, found, ours, theirs, -1.0)
        w_b = theirs.weights[0]
        left = differences(self.weights, w_b, lambda c: f"class {self.labels[c]!r}", exact=False)
        here = left > 0.0
        gap = minus(ours.means, theirs.means)
        self._refuse_leftovers(other, np.where((w_b > 0.0)[:, np.newaxis], gap[0], 0.0), ~here)
        if not here.any():
            return self.empty(self.width)
        weights = minus(ours.weights, theirs.weights)
        touched = np.flatnonzero(here & (w_b > 0.0))
        means: Pair = (self.means.copy(), self.lows.copy())
        with np.errstate(over="ignore", invalid="ignore"):
            gap = gap[0][touched], gap[1][touched]
            reach = moved_means(means, ours, theirs, weights, gap, touched)
            square, rough = squares_of(reach)
            high, low = plus(plus_squares(self, other, -1.0), (-square[0], -square[1]))
            rounding = PER_PRECISE_SQUARE * (np.diagonal(self.scatter) + np.diagonal(other.scatter))
            moving = errors_of_moving(ours, theirs, weights[0], gap, touched)
            anchors, held = ours.sums.anchor, np.where(here, weights[0], 1.0)
            error, sum_error = added(
                ours.sums, theirs.sums, means, anchors, held[:, np.newaxis], moving,
                rounding + rough,
            )  # fmt: skip
            # A class that vanishes whole takes its own scatter with it and moves no mean; what its
            # mean was wrong by stays behind among the squares.
            lone = ~here[:, np.newaxis]
            for side in () if here.all() else (ours, theirs):
                away = np.abs((side.means[0] - side.sums.anchor) + side.means[1]) * lone
                slack = side.sums.weight_error * lone
                more = bound_of(
                    self.weights[:, np.newaxis], away, side.sums.sum_error * lone, slack
                )
                error = error + over_classes(more)
        refuse_unbounded(error, "forgetting these rows")
        kept = np.flatnonzero(here)
        slack = np.broadcast_to(ours.sums.weight_error + theirs.sums.weight_error, (len(here), 1))[
            kept
        ]
        weights = weights[0][kept], weights[1][kept]
        means = means[0][kept], means[1][kept]
        anchors, sum_error = anchors[kept], sum_error[kept]
        bound = error + self._more(weights[0], means, Sums(anchors, sum_error, error, slack))
        usual, unusual = usual_after(self, other, -1.0)
        gone, constant = vanished(
            np.diagonal(high),
            bound,
            np.diagonal(self.scatter),
            unusual,
            last_digits(weights[0][:, np.newaxis], means[0]).min(axis=0),
            single=bool(np.all(weights[0] == 1.0)),
        )
        if gone.any():
            for part in (high, low):
                part[gone] = 0.0
                part[:, gone] = 0.0
            means = settled_mean(means, constant, usual, unusual)
            anchors = np.where(constant, means[0], anchors)
            error, sum_error = np.where(constant, 0.0, error), np.where(constant, 0.0, sum_error)
        labels = tuple(label for label, there in zip(self.labels, here, strict=True) if there)
        return self._made(
            labels, weights, means, (high, low), error, sum_error, anchors, slack[:, 0],
            (usual, unusual),
        )  # fmt: skip

    def _refuse_leftovers(self, other: Self, gap: FloatArray, gone: NDArray[np.bool_]) -> None:
        """Refuse to take a class away whole with rows that are not those that were merged in."""
        bound = self.bound + other.bound + 1e-9 * np.diagonal(self.scatter)
        with np.errstate(over="ignore"):  # what is beyond all doubles is strange enough
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
        error = PER_OPERATION * np.diagonal(self.scatter)
        return type(self)(
            self.labels, self.weights, self.means, self.lows, self.scatter, error,
            self.scatter_low, weights_low=self.weights_low,
            usual=self.usual, unusual=self.unusual,
        )  # fmt: skip

    def embedded(self, places: IntArray, width: int) -> Self:
        """Return the moments of the same rows with more columns, which were all zero."""
        square, flat = np.ix_(places, places), (len(self.labels), width)
        columns = (slice(None), places)
        return type(self)(
            self.labels,
            self.weights,
            wider(self.means, columns, flat),
            wider(self.lows, columns, flat),
            wider(self.scatter, square, (width, width)),
            wider(self.error, places, width),
            None if self.scatter_low is None else wider(self.scatter_low, square, (width, width)),
            None if self.sum_error is None else wider(self.sum_error, columns, flat),
            None if self.anchors is None else wider(self.anchors, columns, flat),
            self.weights_low,
            self.weights_error,
            None if self.usual is None else wider(self.usual, places, width),
            None if self.unusual is None else wider(self.unusual, places, width),
        )

    def to_arrays(self) -> dict[str, FloatArray]:
        """Return the whole state as plain arrays; parts that are not kept are not there."""
        names = ("scatter_low", "sum_error", "anchors", "weights_low", "weights_error",
                 "usual", "unusual")  # fmt: skip
        arrays: dict[str, Any] = {
            "labels": labels_to_array(self.labels),
            "weights": self.weights,
            "means": self.means,
            "lows": self.lows,
            "scatter": self.scatter,
            "error": self.error,
        }
        return arrays | kept_parts(self, names)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, FloatArray]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        given = {name: np.asarray(array) for name, array in arrays.items() if name != "labels"}
        return cls(labels_from_array(arrays["labels"]), **given)  # type: ignore[arg-type]


def _slack(ours: Classes, theirs: Classes) -> FloatArray | None:
    """Return the error (k,) of weights after an operation, or None where there is none."""
    slack = ours.sums.weight_error + theirs.sums.weight_error
    return None if isinstance(slack, float) or not slack.any() else slack[:, 0]
