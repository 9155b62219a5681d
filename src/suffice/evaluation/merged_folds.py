"""Training sets of closed-form models as sums of parts: each row is summarized once.

A model that needs no more than sums is cross-validated without refitting: one statistic for each
fold, and every training set is a merge of the others (prefixes meet suffixes, nothing is
subtracted). Learning curves are running sums.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.estimators.learning import Learning
from suffice.estimators.state import State, label_kind
from suffice.rows.sparse import SparseRows
from suffice.statistics import leave_one_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from suffice.estimators.batches import Batch
    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.rows import IntArray

CHOICE_BUDGET = 3e8
"""Settings · rows · classes · columns², beyond which "auto" chooses once, not for every fold.

45 settings are judged by leave-one-out; at the budget that takes some seconds.
"""
SETTINGS = 45


def is_closed_form(model: object) -> bool:
    """Whether a model is made of sums, so that training sets can be merged."""
    return isinstance(model, Learning)


@dataclass(frozen=True, slots=True, eq=False)
class MergedParts:
    """Rows read once and cut into parts, for one closed-form model.

    model    the estimator, not fitted
    batch    all rows, as the model reads them
    parts    which rows belong to each part
    """

    model: Any
    batch: Batch
    parts: tuple[IntArray, ...]

    @classmethod
    def of(cls, model: Any, rows: LabelledRows, parts: Sequence[IntArray]) -> MergedParts:
        """Read the rows once, for all training sets."""
        model._check_settings()
        return cls(model, model._read(rows.X, rows.y, rows.weights, None), tuple(parts))

    @property
    def chooses_once(self) -> bool:
        """Whether what is chosen from the data is chosen on the first training set alone."""
        if getattr(self.model, "covariance", None) != "auto":
            return False
        n, width = self.batch.rows.shape
        return float(SETTINGS * n * width**2 * len(self.batch.labels)) > CHOICE_BUDGET

    def without_one(self) -> Iterator[Any]:
        """Yield, for each part, the estimator as if fitted on all the others."""
        others = [
            np.sort(np.concatenate([p for i, p in enumerate(self.parts) if i != f]))
            for f in range(len(self.parts))
        ]
        yield from self._fitted(others, leave_one_out)

    def running(self) -> Iterator[Any]:
        """Yield, for each part, the estimator as if fitted on it and all before it."""
        prefixes = [np.concatenate(self.parts[: i + 1]) for i in range(len(self.parts))]
        yield from self._fitted(prefixes, lambda sums: list(accumulate(sums, add)))

    def _fitted(self, trainings: list[IntArray], merged: Any) -> Iterator[Any]:
        choices: list[Any] = []
        for places in trainings:
            again = self.chooses_once and choices
            choices.append(choices[0] if again else self._chosen(places))
        sums: list[tuple[Any, list[Any]]] = []  # statistics of each choice: mostly there is one
        for chosen in choices:
            held = next((found for other, found in sums if other == chosen), None)
            if held is None:
                learner = self.model._learner(chosen)
                held = next((f for other, f in sums if self._same_sums(other, chosen)), None)
                if held is None:
                    held = merged(
                        [self.model._summary(part(self.batch, p), learner) for p in self.parts]
                    )
                sums.append((chosen, held))
        for f, chosen in enumerate(choices):
            statistics = next(found for other, found in sums if other == chosen)[f]
            yield self._estimated(statistics, chosen)

    def _chosen(self, places: IntArray) -> Any:
        """Return what the model decides on the rows of one training set."""
        model = self.model
        if hasattr(model, "covariance") and model.covariance != "auto":
            return None
        return model._choose(part(self.batch, places))

    def _same_sums(self, one: Any, other: Any) -> bool:
        """Whether two choices need the same statistics: pooling and shrinking come after them."""
        return hasattr(self.model, "covariance") and one is not None and other is not None

    def _estimated(self, statistics: Any, chosen: Any) -> Any:
        batch = self.batch
        fitted = copy.copy(self.model)
        kind = label_kind(batch.classes)
        fitted._become(
            State(batch.columns, statistics, batch.classes.dtype, kind, batch.frame, chosen)
        )
        fitted._warn(fitted._fit)
        fitted._warn_of_one_class()
        return fitted


def part(batch: Batch, places: IntArray) -> Batch:
    """Return some rows of a batch, with the labels that they have."""
    seen, codes = np.unique(batch.codes[places], return_inverse=True)
    return replace(
        batch,
        rows=_rows(batch.rows, places),
        codes=codes.astype(np.intp, copy=False),
        classes=batch.classes[seen],
        labels=tuple(batch.labels[c] for c in seen),
        weights=None if batch.weights is None else batch.weights[places],
        places=None,
    )


def _rows(rows: Any, places: IntArray) -> Any:
    """Return some rows of a matrix, of a table, or of sparse counts."""
    if isinstance(rows, np.ndarray):
        return rows[places]
    if isinstance(rows, SparseRows):
        return rows.take(places)
    matrix = None if rows.matrix is None else rows.matrix[places]
    cells = None if rows.cells is None else tuple(column[places] for column in rows.cells)
    return replace(rows, matrix=matrix, cells=cells)
