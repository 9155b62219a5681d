"""EM over rows without a label: their classes are guessed, counted in part, and guessed again.

Each step gives every row to the classes in the shares that the model has for it (E), adds what
that makes to the statistics of the labelled rows, λ times, and estimates again (M). Nothing here
knows a kind of model: it asks a learner to summarize, and what was learned for posteriors.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import SufficeError, SufficeWarning
from suffice.learning.labelled_batch import some_rows
from suffice.learning.unlabelled.record import AUTO, FEW, Unlabelled, checked_unlabelled
from suffice.statistics.row_sample import RowSample

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.learning.learned import Learned
    from suffice.rows import FloatArray, IntArray

    Losses = dict[tuple[float, int], FloatArray]

WEIGHTS = (0.03, 0.1, 0.3, 1.0)
"""What a row without a label may count: from hardly anything to as much as the others."""
STEPS = (1, 2, 4, 8)
"""After how many steps it is asked whether they helped: on texts a small weight gains at first and
loses everything later, so that the number matters as much as the weight."""
FEW_TO_JUDGE = 10
"""Labelled rows a class below which "auto" asks about `FEW_WEIGHT` and one step alone. With six a
class there is not enough to choose by: of several weights and steps the best is best by luck."""
FEW_WEIGHT = 0.1
"""Their weight. On ten draws of each of ten tables, of single weights and of steps up to two, and
whether the right class has to become likelier or not, this and one step had lower log-loss on most
(7), and the smallest of the largest errors; on the ten other tables log-loss is lower on 7 too."""
PARTS = 10
"""Parts of the labelled rows that are left out in turn, at most; of few rows each is a part."""
INCOMPLETE = 5
"""The same where cells are blank: each step has steps of its own, for what may stand there."""
SMALL = 200_000
"""Cells, times classes, of rows without a label up to which EM is done anew for each part, weight
and number of steps: 320 steps of a fraction of a millisecond to a few."""
TOGETHER = 100_000
"""Rows, each in several classes, that are summarized at once. A choice: some megabytes."""
WORST = float(-np.log(1e-6))
"""The loss of a row, at most: one that a model of few rows is sure about, and wrong, would
otherwise decide alone."""


def with_unlabelled(learned: Learned, batch: LabelledBatch, alone: Learned) -> Learned:
    """Return what is learned from labelled rows and from those of the batch that have no label.

    `alone` is what labelled rows teach where the others have not even been looked at to choose laws
    of columns: what has to be bettered, and the answer where they do not help.
    """
    asked = checked_unlabelled(learned.learner.unlabelled)
    assert batch.without is not None
    held = {label: float(w) for label, w in zip(learned.labels, learned.class_weights, strict=True)}
    record = Unlabelled(batch.without.count, asked=asked, labelled=held)
    if len(learned.labels) < 2:  # each of them is of the one class there is
        return replace(alone, unlabelled=replace(record, gain=0.0, error=0.0))
    with warnings.catch_warnings():  # what is degenerate is told of the model that is kept
        warnings.simplefilter("ignore", SufficeWarning)
        return _spread(learned, batch, record, alone)


def _spread(learned: Learned, batch: LabelledBatch, record: Unlabelled, alone: Learned) -> Learned:
    own = has_own_priors(learned)
    start = _with_own_priors(learned, record) if own else learned
    judged = start if alone is learned else _with_own_priors(alone, record) if own else alone
    em, record = SoftRows.of(start, batch, judged), replace(record, own_priors=own)
    if record.asked != AUTO:
        weight, steps = float(record.asked), STEPS[-1]
        gain, error = em.judged(weight, steps)
    else:
        weight, steps, gain, error, likelier = em.chosen()
        if not (_is_more(gain, error) and likelier):  # one standard error in favour of none
            return replace(alone, unlabelled=replace(record, gain=gain, error=error))
    record = replace(record, gain=gain, error=error)
    end = em.after(weight, steps)
    record = replace(record, weight=weight, steps=steps)
    return replace(end, learner=learned.learner, unlabelled=record).knowing(end.fit)


def cells_of(rows: object) -> int:
    """Return how many cells rows have; documents, which are long, have many."""
    if hasattr(rows, "cells"):
        return int(rows.cells)
    return int(rows.size) if isinstance(rows, np.ndarray) else SMALL


def _is_more(gain: float | None, error: float | None) -> bool:
    """Whether a gain is more than its standard error."""
    return gain is not None and error is not None and gain > error


def has_own_priors(learned: Learned) -> bool:
    """Whether the shares of classes are left to the labelled rows: they are few, and not given."""
    takes = hasattr(learned.learner, "priors") and learned.learner.priors is None
    few = float(np.sum(learned.class_weights)) < FEW * len(learned.labels)
    return bool(takes and few and not getattr(learned.learner, "has_fixed_priors", False))


def _with_own_priors(learned: Learned, record: Unlabelled) -> Learned:
    """Return it with the shares of labelled rows as priors that stay."""
    shares = replace(record, weight=1.0, own_priors=True).priors(learned.labels)
    learner: Any = learned.learner
    return replace(learned, learner=replace(learner, priors=shares))


@dataclass(frozen=True, slots=True, eq=False)
class SoftRows:
    """Labelled rows and others, made ready for many steps.

    start     what was learned from labelled rows
    alone     the same, where the others have not been looked at to choose laws of columns
    rows      rows without a label, as the model takes them, and their weights (n,)
    labelled  rows with one, their classes in the order of the model, and their weights (m,)
    """

    start: Learned
    alone: Learned
    rows: Any
    weights: FloatArray
    batch: LabelledBatch
    labelled: Any
    codes: IntArray
    held: FloatArray

    @classmethod
    def of(cls, start: Learned, batch: LabelledBatch, alone: Learned) -> SoftRows:
        """Read the rows of a batch."""
        learner, without = start.learner, batch.without
        assert without is not None
        places = {label: i for i, label in enumerate(start.labels)}
        order = np.array([places[label] for label in batch.labels], dtype=np.intp)
        try:
            rows = learner.prepared(without.rows)
        except SufficeError as error:
            raise error.filled(rows=without.places) from None
        return cls(
            start,
            alone,
            rows,
            np.ones(without.count) if without.weights is None else without.weights,
            batch,
            learner.prepared(batch.rows),
            order[batch.codes],
            np.ones(len(batch.codes)) if batch.weights is None else batch.weights,
        )

    def path(self, weight: float, most: int, start: Learned | None = None) -> Iterator[Learned]:
        """Go through the steps of EM, rows without a label counting `weight`."""
        start = self.start if start is None else start
        learner, batch = start.learner, self.batch
        now = start
        for _ in range(most):
            shares = now.model.posterior(self.rows) * (weight * self.weights)[:, np.newaxis]
            shares[shares < learner.faint * weight * self.weights[:, np.newaxis]] = 0.0
            said = self.said(start, shares)
            dtype = start.dtype
            now = start + learner.keeping(batch.columns, said, dtype, start.kind, batch.frame)
            yield now

    def said(self, start: Learned, shares: FloatArray) -> Any:
        """Return the statistics of rows that are of each class in `shares` (n, k).

        Some classes at a time, so that rows which are of many classes are not copied too often.
        """
        found = None
        most = max(1, TOGETHER // max(1, len(shares)))
        for first in range(0, len(start.labels), most):
            classes, places = np.nonzero(shares[:, first : first + most].T)
            if not len(places):
                continue
            weights = shares[places, first + classes]
            rows, labels = some_rows(self.rows, places), start.labels[first : first + most]
            part = start.learner.said(rows, classes, labels, weights, self.batch)
            if hasattr(part, "sample"):  # nobody knows the label of these rows
                part = replace(part, sample=RowSample({}))
            found = part if found is None else found + part
        return found

    def after(self, weight: float, steps: int) -> Learned:
        """Return what is learned after so many steps."""
        *_, end = self.path(weight, steps)
        return end

    # How much of it, and for how long

    @property
    def is_small(self) -> bool:
        """Whether every weight and number of steps can be tried on rows that EM has not seen."""
        cells = cells_of(self.rows) * len(self.start.labels)
        return cells <= SMALL and self.start.learner.reruns >= PARTS

    @property
    def is_little(self) -> bool:
        """Whether there are too few labelled rows to choose by."""
        return float(self.held.sum()) < FEW_TO_JUDGE * len(self.start.labels)

    @property
    def tried(self) -> tuple[tuple[float, ...], int]:
        """Which weights may be chosen, and how many steps at most."""
        return ((FEW_WEIGHT,), STEPS[0]) if self.is_little else (WEIGHTS, STEPS[-1])

    @property
    def parts(self) -> int:
        """How many parts of the labelled rows are left out in turn."""
        if not self.is_small:
            return self.start.learner.reruns
        incomplete = not getattr(self.start.statistics, "is_complete", True)
        return INCOMPLETE if incomplete else PARTS

    def judged(self, weight: float, steps: int) -> tuple[float | None, float | None]:
        """Return the gain of a weight that was given, and its standard error."""
        if self.parts:
            losses = self.reruns((weight,), steps, self.parts)
            return self.gain(losses[0, 0], losses[weight, steps])
        return self.gain(self.losses(self.alone), self.losses(self.after(weight, steps)))

    def chosen(self) -> tuple[float, int, float | None, float | None, bool]:
        """Return weight and steps of the least left-out loss, its gain, and the error of that.

        Of few cells EM is done anew without each part of the labelled rows. Of more, each row is
        taken out of the sums, first order, and only what is best then is checked by EM anew. The
        last says whether the right class is no less probable than without: a log-loss can become
        lower by being less sure of what is wrong alone, and then errors are more.
        """
        reruns = self.start.learner.reruns
        weights, most = self.tried
        losses = self.reruns(weights, most, self.parts) if self.is_small else self.first_order()
        best = min((key for key in losses if key[0]), key=lambda key: self.mean(losses[key]))
        gain, error = self.gain(losses[0, 0], losses[best])
        if not self.is_small and reruns and _is_more(gain, error):
            losses = self.reruns((best[0],), best[1], reruns)
            gain, error = self.gain(losses[0, 0], losses[best])
        rise, _ = self.gain(-np.exp(-losses[0, 0]), -np.exp(-losses[best]))
        return (*best, gain, error, rise is None or rise >= 0.0)

    def first_order(self) -> Losses:
        """Return the losses of labelled rows at every weight and number of steps.

        Each row is taken out of the sums; the shares of the others, which it has helped to make,
        are held. The key of no rows without a label is (0, 0).
        """
        found: Losses = {(0.0, 0): self.losses(self.alone)}
        weights, most = self.tried
        for weight in weights:
            for step, now in enumerate(self.path(weight, most), 1):
                if step in STEPS:
                    found[weight, step] = self.losses(now)
        return found

    def losses(self, learned: Learned) -> FloatArray:
        """Return -log p(y | x) of labelled rows, each taken out of the statistics (m,).

        NaN where a row was all its class had.
        """
        given = self.labelled
        if learned is self.alone and learned is not self.start:
            given = learned.learner.prepared(self.batch.rows)
        found = learned.left_out_losses(given, self.codes, self.held)
        return np.minimum(found, WORST)

    def reruns(self, weights: Sequence[float], most: int, parts: int) -> Losses:
        """Return the same, exactly: EM is done anew without each part of the labelled rows.

        Rows are left out one by one if there are no more of them than parts. NaN for the only
        row of a class, which stays.
        """
        batch, learner, size = self.batch, self.start.learner, len(self.codes)
        order = np.argsort(self.codes, kind="stable")
        part = np.empty(size, dtype=np.intp)
        part[order] = np.arange(size) % parts
        part[np.bincount(self.codes)[self.codes] < 2] = parts
        keys = [(0.0, 0), *((w, step) for w in weights for step in {*STEPS, most} if step <= most)]
        found = {key: np.full(size, np.nan) for key in keys}
        for one in range(parts):
            own, rest = np.flatnonzero(part == one), np.flatnonzero(part != one)
            if not len(own):
                continue
            held = None if batch.weights is None else batch.weights[rest]
            codes, fewer = batch.codes[rest], some_rows(batch.rows, rest)
            left = replace(batch, rows=fewer, codes=codes, weights=held, places=None, without=None)
            start = learner.learned(left)
            given = some_rows(batch.rows, own)
            asked = learner.prepared(given)
            if self.alone is self.start:
                found[0.0, 0][own] = self._asked(start, asked, own)
            else:
                plain = self.alone.learner
                found[0.0, 0][own] = self._asked(plain.learned(left), plain.prepared(given), own)
            for weight in weights:
                for step, now in enumerate(self.path(weight, most, start), 1):
                    if (weight, step) in found:
                        found[weight, step][own] = self._asked(now, asked, own)
        return found

    def _asked(self, learned: Learned, rows: object, places: IntArray) -> FloatArray:
        """Return the losses of some labelled rows that were not learned."""
        log_posterior = learned.model.posterior(rows, log=True)
        found: FloatArray = -log_posterior[np.arange(len(places)), self.codes[places]]
        return np.minimum(found, WORST)

    def mean(self, losses: FloatArray) -> float:
        """Return the mean loss, by weight."""
        there = ~np.isnan(losses)
        return float(np.average(losses[there], weights=self.held[there])) if there.any() else 0.0

    def gain(self, alone: FloatArray, found: FloatArray) -> tuple[float | None, float | None]:
        """Return by how much the mean loss is lower, and the standard error of that."""
        there = ~np.isnan(alone) & ~np.isnan(found)
        if there.sum() < 2:
            return None, None
        gains, weights = (alone - found)[there], self.held[there] / self.held[there].sum()
        mean = float(weights @ gains)
        spread = float(weights @ np.square(gains - mean))
        size = 1.0 / float(weights @ weights)
        return mean, float(np.sqrt(spread / max(size - 1.0, 1e-9)))
