"""Training rows together with one asked row under one label, each of them left out in turn.

What is compared are scores -log p(label | x), all made in the same way from the same union: so an
asked row that is exchangeable with the others has every rank with the same chance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from suffice.errors import BadSetting, BadWeights
from suffice.learning.label_types import check_label_kinds, label_kind
from suffice.learning.labelled_batch import LabelledBatch
from suffice.learning.learners.gaussian import embedded
from suffice.learning.learners.gaussian_answers import LearnedDiscriminant, held_of
from suffice.learning.learners.naive_bayes_answers import LearnedColumns, blocks
from suffice.learning.learners.pool import LearnedPool
from suffice.models.conformal.added_groups import NORMAL_FORMS, AddedGroups
from suffice.models.conformal.added_rows import AddedRows
from suffice.models.conformal.p_values import p_value
from suffice.models.gaussian.averages.row_samples import array_of
from suffice.models.gaussian.learner import GaussianLearner
from suffice.models.naive_bayes.column_blocks import joined_blocks
from suffice.models.naive_bayes.row_samples import blocks_of
from suffice.models.pool.model import training_rows
from suffice.rows import read_table
from suffice.statistics.row_sample import END, WithRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.learning.learned import Learned
    from suffice.rows import FloatArray, IntArray

MOST_REPEATED = 1_000_000
"""Rows that weights may stand for: each is left out by itself. More would take hours."""

ROUNDED = 1e-6
"""By how much, relatively, the score of an asked row that was taken out of a union may be off."""


class Unions(Protocol):
    """Scores of rows in unions of training rows and an asked one."""

    @property
    def codes(self) -> IntArray:
        """The classes of the rows that an asked row is ranked among (n,)."""
        ...

    def __len__(self) -> int:
        """How many rows are asked about."""
        ...

    def pairs(self, c: int, start: int) -> tuple[FloatArray, FloatArray]:
        """Return scores of rows (b, n) and of asked rows (b,), b of them from `start` on."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class DiscriminantUnions:
    """Normal classes: coded rows (n, d), asked ones (m, d); formulas where there are some."""

    learned: LearnedDiscriminant
    rows: FloatArray
    codes: IntArray
    asked: FloatArray
    complete: bool
    ready: AddedRows | AddedGroups | None

    @classmethod
    def of(cls, learned: LearnedDiscriminant, given: LabelledBatch | None, X: object) -> Self:
        """Return unions of the rows of the fit, or of those that the model keeps, with others."""
        if given is None:
            rows, codes, repeats = array_of(learned.statistics.sample, learned.labels)
            complete = learned.statistics.sample.limit == END
            if not getattr(held_of(learned.statistics), "is_complete", True):
                raise BadSetting(
                    "cells of the training rows are blank: the kept rows are not enough to leave "
                    "a row out where cells are blank",
                    hint="give rows=(X_train, y_train)",
                )
            rows, codes = _repeated(rows, codes, repeats)
        else:
            codes = learned.codes_of_fit(given)
            rows, codes = _repeated(given.rows, codes, given.weights)
            complete = True
        table = read_table(X)
        wide = learned.learner.read(table, [learned.labels[0]] * table.size, None, learned)
        if wide.columns != learned.columns:
            columns, ours, _ = learned.columns.widened(wide.columns)
            wider = np.zeros((len(rows), columns.width))
            wider[:, ours] = rows
            rows = wider
            held = embedded(learned, ours, columns)
            learned = replace(learned, columns=columns, statistics=held)
        ready: AddedRows | AddedGroups | None = None
        model = learned.learner.of_model()
        asked = np.asarray(wide.rows)
        if isinstance(model, GaussianLearner) and not np.isnan(rows).any() and len(codes):
            family = model.family
            log_priors = None if model.priors is None else learned.fit.model.log_priors
            fit, held_rows = learned.fit, np.asarray(rows)
            if family.covariance in NORMAL_FORMS and family.predictive is None:
                form = NORMAL_FORMS[family.covariance]
                group = form.of(fit.summary, family.divisor, fit.notes, held_rows, codes)
                if group is not None and len(learned.labels) > 1:
                    ready = AddedGroups((group,), codes, fit.summary.weights, log_priors)
            else:
                ready = AddedRows.of(family, fit, held_rows, codes, log_priors)
        return cls(learned, np.asarray(rows, dtype=np.float64), codes, asked, complete, ready)

    def __len__(self) -> int:
        """How many rows are asked about."""
        return len(self.asked)

    def pairs(self, c: int, start: int) -> tuple[FloatArray, FloatArray]:
        """Return scores of rows (b, n) and of asked rows (b,), b of them from `start` on."""
        if self.ready is None:
            found, own = self._anew(c, start)
            if isinstance(self.learned.learner.of_model(), GaussianLearner):
                own = _exact(own, self._own(self.asked[start : start + 1], c)[0])
            return found[np.newaxis], np.array([own])
        part = self.asked[start : start + self.ready.step]
        blank = np.asarray(np.isnan(part).any(axis=1))
        if isinstance(self.ready, AddedGroups):
            scores, unsafe = self.ready.scores((part,), c)
        else:
            scores, unsafe = self.ready.scores(np.where(blank[:, np.newaxis], 0.0, part), c)
        own_scores = self._own(part, c)
        for i in np.flatnonzero(unsafe | blank):
            scores[i], own = self._anew(c, start + int(i))
            own_scores[i] = _exact(own, own_scores[i])
        return scores, own_scores

    def _own(self, asked: FloatArray, c: int) -> FloatArray:
        """Return the scores of asked rows, left out: what the model says that has not seen them.

        Nothing is rounded away: of a column that the asked row alone moves, say.
        """
        found: FloatArray = -self.learned.model.posterior(asked, log=True)[:, c]
        return found

    def _anew(self, c: int, at: int) -> tuple[FloatArray, float]:
        """Add the row, and leave every row out of the union as leave-one-out does."""
        row = self.asked[at : at + 1]
        union = self.learned.more(_one(self.learned, row, c))
        rows = np.concatenate([self.rows, row])
        found = union.left_out(rows, np.append(self.codes, c), complete=self.complete)
        return _scores(found)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnUnions:
    """Independent columns: rows and asked ones in blocks; the laws of a union from its sums."""

    learned: LearnedColumns
    rows: Any
    codes: IntArray
    asked: Any
    complete: bool
    ready: AddedGroups | None = None

    @classmethod
    def of(cls, learned: LearnedColumns, given: LabelledBatch | None, X: object) -> Self:
        """Return unions of the rows of the fit, or of those that the model keeps, with others."""
        product = learned.learner.chosen.product
        if given is None:
            sample = learned.statistics.sample
            held = [sample.rows[h] for h in sorted(sample.rows)]
            known = {label: c for c, label in enumerate(learned.labels)}
            codes = np.array([known[row.label] for row in held], dtype=np.intp)
            repeats: FloatArray | None = np.array([row.weight for row in held])
            rows, complete = blocks_of(held, product, learned.fit.groups), sample.limit == END
        else:
            codes, repeats, complete = learned.codes_of_fit(given), given.weights, True
            rows = blocks(product, given.rows)
        places, codes = _repeated(np.arange(len(codes)), codes, repeats)
        if len(places) != len(rows):
            rows = rows.take(places)
        ready = _ready_columns(learned, rows, codes)
        return cls(learned, rows, codes, learned.rows(X), complete, ready)

    def __len__(self) -> int:
        """How many rows are asked about."""
        return len(self.asked)

    def pairs(self, c: int, start: int) -> tuple[FloatArray, FloatArray]:
        """Return scores of rows (b, n) and of asked rows (b,), b of them from `start` on."""
        if self.ready is None:
            found, own = self._anew(c, start)
            return found[np.newaxis], np.array([own])
        part = self.asked[start : start + self.ready.step]
        scores, unsafe = self.ready.scores(part.parts, c)
        own_scores = -self.learned.model.posterior(part, log=True)[:, c]
        for i in np.flatnonzero(unsafe):
            scores[i], own = self._anew(c, start + int(i))
            own_scores[i] = _exact(own, own_scores[i])
        return scores, own_scores

    def _anew(self, c: int, start: int) -> tuple[FloatArray, float]:
        """Add the row, and leave every row out of the union as leave-one-out does."""
        learned, label = self.learned, self.learned.labels[c]
        row = self.asked.take(np.array([start]))
        more = learned.learner.summary_of_blocks(row, np.zeros(1, dtype=np.intp), [label])
        union = learned.holding(learned.statistics + more)
        rows = joined_blocks(self.rows, row)
        judged = union.left_out(rows, np.append(self.codes, c), complete=self.complete)
        return _scores(judged)


def _ready_columns(learned: LearnedColumns, rows: Any, codes: IntArray) -> AddedGroups | None:
    """Return formulas where every family has one, and nothing is chosen by the rows again."""
    learner, model = learned.learner.of_model(), learned.fit.model
    settings = learner.smoothing, learner.found_temperature
    if any(isinstance(each, str) for each in settings) or learner.has_texts or not len(codes):
        return None
    given = model.log_priors if learned.learner.has_fixed_priors else None
    return AddedGroups.of(learned.fit, rows.parts, codes, given)


def unions_of(learned: Learned, given: LabelledBatch | None, X: object) -> Unions | None:
    """Return unions of training rows with asked ones; None where a model is not a sum of rows."""
    if isinstance(learned, LearnedDiscriminant):
        return DiscriminantUnions.of(learned, given, X)
    if isinstance(learned, LearnedColumns):
        return ColumnUnions.of(learned, given, X)
    return None


def read_training(learned: Learned, X: object, y: object, weights: object) -> Any:
    """Read rows of the fit, and refuse those that cannot be: other columns, or other classes."""
    batch = learned.learner.read(X, y, weights, learned)
    check_label_kinds(learned.kind, label_kind(batch.classes))
    if batch.columns != learned.columns:
        raise BadSetting(
            "these training rows have categories that were never learned",
            hint="rows=(X_train, y_train) are exactly the rows of the fit",
        )
    return batch


def full_p_values(
    unions: Unions, size: int, *, within_class: bool, draws: np.random.Generator | None = None
) -> FloatArray:
    """Return the conformal p-value of every asked row under every class (m, k)."""
    found = np.empty((len(unions), size))
    codes = unions.codes
    for c in range(size):
        ours = codes == c
        start = 0
        while start < len(unions):
            scores, own = unions.pairs(c, start)
            if within_class:
                scores = scores[:, ours]
            draw = None if draws is None else draws.random(len(own))
            found[start : start + len(own), c] = p_value(scores, own, draw)
            start += len(own)
    return found


def keeps_rows(learned: Learned) -> bool:
    """Whether a sample of the training rows is part of what was learned."""
    return isinstance(learned.statistics, WithRows) and bool(learned.statistics.sample.rows)


def kept_rows_of_pool(learned: Learned) -> tuple[Any, Any, Any] | None:
    """Return the rows that a pool keeps, their labels and weights; None of other models."""
    if not isinstance(learned, LearnedPool):
        return None
    kinds = tuple(column.kind for column in learned.columns.columns)
    table, codes, weights = training_rows(learned.statistics.sample, kinds, learned.labels)
    names = learned.columns.names if learned.columns.named else None
    return replace(table, names=names), learned.classes[codes], weights


def _scores(found: Any) -> tuple[FloatArray, float]:
    """Return -log posteriors of rows' own labels: infinite where their class is gone."""
    own = found.log_posterior[np.arange(len(found.codes)), found.codes]
    scores = np.where(found.vanished, np.inf, -own)
    return scores[:-1], float(scores[-1])


def _exact(left_out: float, told: float) -> float:
    """Return the score of an asked row: left out of its union, or as told by the model without it.

    They differ by rounding. Where that is little, rows that are equal have to have equal scores; it
    is much where the asked row alone moves a column, which nobody can take out again.
    """
    near = abs(left_out - told) <= ROUNDED * max(1.0, abs(told))
    return left_out if near else float(told)


def _one(learned: LearnedDiscriminant, row: FloatArray, c: int) -> LabelledBatch:
    """Return one coded row under a label as a batch."""
    return LabelledBatch(
        learned.columns,
        row,
        np.zeros(1, dtype=np.intp),
        learned.classes[c : c + 1],
        (learned.labels[c],),
        None,
        learned.frame,
    )


def _repeated(
    rows: NDArray[np.generic], codes: IntArray, weights: FloatArray | None
) -> tuple[NDArray[Any], IntArray]:
    """Return rows as often as their weights say, which have to be whole."""
    if weights is None:
        return rows, codes
    times = whole_weights(weights)
    if times.max(initial=1) == 1:
        return rows, codes
    return np.repeat(rows, times, axis=0), np.repeat(codes, times)


def whole_weights(weights: FloatArray) -> NDArray[np.int64]:
    """Return weights as repetitions, or refuse those that are none."""
    near = np.round(weights)
    bad = np.flatnonzero(np.abs(weights - near) > 1e-9 * np.maximum(1.0, near))
    if len(bad):
        raise BadWeights(
            f"a row has weight {weights[bad[0]]:g}: prediction sets count rows, and fractions "
            "of a row cannot be ranked",
            hint="weights are how often a row was seen; rows that should count for another "
            "population (covariate shift) are not exchangeable, so nothing can be guaranteed",
        )
    if near.sum() > MOST_REPEATED:
        raise BadWeights(
            f"weights stand for {near.sum():,.0f} rows, each of which would be left out",
            hint=f"give at most {MOST_REPEATED:,}, such as a random part of the rows",
        )
    return near.astype(np.int64)
