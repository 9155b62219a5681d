"""Rows taken back from what was learned: together, or one by one where that is known better."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import ForgettingUnseen
from suffice.learning.labelled_batch import some_rows
from suffice.models.gaussian.forgetting import NoDigitsLeft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.learning.learned import Learned

MOST_ROWS = 1_000
"""Rows that are taken back one by one. A choice: a tenth of a second, where together they would be
refused."""


def taken_back(learned: Learned[Any, Any], X: object, y: object, weights: object = None) -> Any:
    """Return what is left of `learned` without some rows; refuse what cannot have been learned.

    The sums of one row say exactly which cells it has, those of several do not: what stays may be
    known to be constant only if they go one by one. So that is tried before they are refused.
    """
    learner = learned.learner
    gone = learned.gone_with(X, y, weights)
    try:
        return learned.forgetting(gone, learner.forgetting(learned))
    except NoDigitsLeft as refusal:
        batch = learner.read(X, y, weights, learned)
        size = len(batch.codes)
        if not 1 < size <= MOST_ROWS:
            raise
        try:
            left = learned.statistics
            *others, last = (learner.learned(row).statistics for row in _one_by_one(batch))
            for statistics in others:
                left = left - statistics
            nearly = learned.holding(left)
            return learned.forgetting(gone, lambda _: learner.forgetting(nearly)(last))
        except ForgettingUnseen:
            raise refusal from None


def _one_by_one(batch: LabelledBatch) -> Iterator[LabelledBatch]:
    """Yield every row of a batch as a batch of its own."""
    for i, code in enumerate(batch.codes.tolist()):
        place = np.array([i])
        yield replace(
            batch,
            rows=some_rows(batch.rows, place),
            codes=np.zeros(1, dtype=np.intp),
            classes=batch.classes[code : code + 1],
            labels=(batch.labels[code],),
            weights=None if batch.weights is None else batch.weights[place],
            places=None,
            without=None,
        )
