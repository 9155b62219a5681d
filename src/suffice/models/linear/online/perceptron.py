"""The perceptron: θ changes only where it is wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from suffice.errors import BadWeights
from suffice.kernels.compilation import part_of
from suffice.kernels.online.rules import correct_mistakes
from suffice.models.linear.online.rule import OnlineRule, as_given, shuffled
from suffice.models.linear.online.seen_rows import (
    SeenRows,
    every_class,
    linear_form,
    refuse_spoiled,
    rows_of_theta,
    with_labels,
)
from suffice.rows.sparse_rows import SparseRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.models.linear.form import LinearForm
    from suffice.rows import FloatArray, IntArray, Label

BLOCK = 1 << 17
"""Cells whose margins are looked at in one go: a megabyte, which stays in the cache."""


@dataclass(frozen=True, eq=False)
class OnlinePerceptron(OnlineRule):
    """The perceptron as far as it has come. A label that was never seen starts with θ = 0.

    drift    as theta: θ - drift / weight is the mean of θ over all rows gone through
    weight   the weight of the rows gone through, each time counted
    updates  how many mistakes there were
    """

    drift: FloatArray
    weight: float = 0.0
    updates: int = 0

    companion: ClassVar = "drift"

    @property
    def mean(self) -> FloatArray:
        """The mean of θ over all rows gone through, each time as it was after the row."""
        return self.theta - self.drift / self.weight if self.weight else self.theta

    def form(self, average: bool = True) -> LinearForm:
        """Return the classifier in the user's units: by the mean of θ, or by the last θ."""
        return linear_form(self.mean if average else self.theta, self.labels, self.seen.scale)

    def visit(
        self,
        rows: FloatArray | SparseRows,
        codes: IntArray,
        labels: tuple[Label, ...],
        weights: FloatArray | None = None,
        order: IntArray | None = None,
    ) -> Self:
        """See `OnlineRule.visit`: a row that is not on its own side moves θ."""
        if len(self.labels) < 2:
            return self
        scale, theta, drift = self.seen.scale, self.theta.copy(), self.drift.copy()
        order = np.arange(len(rows)) if order is None else order
        places = self.seen.positions(labels, codes)
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            updates, weight = correct_mistakes(
                rows, scale.origin, scale.inverse, order, places, weights, theta, drift, self.weight
            )
        refuse_spoiled(theta, rows, weights)
        if not np.isfinite(drift).all():
            raise BadWeights(
                f"the weights, of {weight:g} together, have products beyond all doubles",
                hint="divide all of them by a power of ten: only their ratios matter",
            )
        return replace(
            self, theta=theta, drift=drift, weight=weight, updates=self.updates + updates
        )

    def _relabelled(self, theta: FloatArray, seen: SeenRows) -> FloatArray:
        # With one row for two classes a mistake moves θ by z; with two rows it moves their
        # difference by 2z.
        known = self.labels
        every = every_class(2.0 * theta if len(known) == 2 else theta, len(known))
        if rows_of_theta(len(seen.labels)) == 1:
            return np.zeros((1, every.shape[1]))  # it was zero, for there was one class
        return with_labels(every, known, seen.labels)


@dataclass(frozen=True, eq=False)
class PerceptronFit:
    """What the perceptron has come to over rows that were gone through again and again.

    form       the classifier, in the user's units
    updates    how many mistakes were corrected
    epochs     how often it went through all rows
    separated  whether the form puts every row on its own side; None where that is not known
    margin     if so, how far the nearest row is from the boundary, in standardised columns
    online     the state, to learn more from
    """

    form: LinearForm
    updates: int
    epochs: int
    separated: bool | None
    margin: float | None
    online: OnlinePerceptron


def fit_perceptron(
    rows: FloatArray | SparseRows,
    codes: IntArray,
    labels: tuple[Label, ...],
    weights: FloatArray | None = None,
    *,
    epochs: int = 100,
    average: bool = True,
    rng: np.random.Generator | None = None,
) -> PerceptronFit:
    """Go through the rows until none is wrong, or so many times; row i is of labels[codes[i]].

    A row that does not score its own class above all others adds (1, z) to θ of its own class and
    takes it from the best of the others; of two classes it is θ := θ + (y - h(x))·(1, z). If some
    θ separates the rows with margin γ, and no (1, z) is longer than R, there are at most (R/γ)²
    mistakes (Novikoff 1962). A row of weight 2 is two rows.

    average  the answer is the mean of θ over all rows of all epochs (Freund and Schapire 1999);
             the last θ where that separates the rows and the mean does not
    rng      draws the order of the rows anew for each epoch; None takes them as they come

    >>> rows, codes = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> fit = fit_perceptron(rows, codes, ("low", "high"))
    >>> fit.separated, fit.updates, fit.epochs
    (True, 2, 2)
    """
    online = OnlinePerceptron.start(rows.shape[1]).observe(rows, codes, labels, weights)
    orders = as_given(len(rows)) if rng is None else shuffled(rows, codes, labels, rng)
    cells = rows.stored if isinstance(rows, SparseRows) else rows.size
    done = 0
    if len(online.labels) > 1:
        for order in orders:
            before = online.updates
            with part_of(cells * (done + 1)):
                online = online.visit(rows, codes, labels, weights, order)
            done += 1
            if online.updates == before or done == epochs:
                break
    places = online.seen.positions(labels, codes)
    for averaged in (True, False) if average else (False,):
        form = online.form(averaged)
        margin = _smallest_margin(form, online, averaged, rows, places)
        if margin > 0.0:
            found = margin if np.isfinite(margin) else None  # no boundary, no distance from it
            return PerceptronFit(form, online.updates, done, True, found, online)
    return PerceptronFit(online.form(average), online.updates, done, False, None, online)


def _smallest_margin(
    form: LinearForm,
    online: OnlinePerceptron,
    averaged: bool,
    rows: FloatArray | SparseRows,
    places: IntArray,
) -> float:
    """Return how far the worst row is on its side of its nearest boundary, in standard columns."""
    size = len(form.labels)
    slopes = every_class(online.mean if averaged else online.theta, size)[:, 1:]
    norms = np.array([np.linalg.norm(slopes - own, axis=1) for own in slopes])
    smallest = np.inf
    for some in _blocks(rows, size):
        own = places[some]
        at = np.arange(len(own))
        scores = form.scores(rows[some])
        gaps = scores[at, own][:, np.newaxis] - scores
        lengths = norms[own]
        # Two classes that differ in their intercepts alone have no boundary to be near to.
        apart = np.copysign(np.inf, np.where(gaps > 0.0, gaps, -1.0))
        np.divide(gaps, lengths, out=apart, where=lengths > 0.0)
        apart[at, own] = np.inf
        smallest = min(smallest, float(apart.min()))
    return smallest


def _blocks(rows: FloatArray | SparseRows, size: int) -> Iterator[slice]:
    """Yield slices of rows: few at a time where they are dense, many where they are sparse."""
    width = size if isinstance(rows, SparseRows) else max(rows.shape[1], size)
    step = len(rows) if isinstance(rows, SparseRows) else max(BLOCK // width, 1)
    for start in range(0, len(rows), step):
        yield slice(start, start + step)
