"""How typical rows are of the class that they are most typical of, and how often rows are."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadRows, NoPValue, SimilarLabels, SufficeWarning
from suffice.learning.label_types import class_array
from suffice.models.typicality.outlier_rates import OutlierRates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.learning.learned import Learned
    from suffice.rows import FloatArray, IntArray, Table

TRIED = 4096
"""Training rows whose typicality is counted: the share of outliers, one in a hundred, is then known
to a sixth of its size."""
CELLS = 1 << 18
"""Cells that are judged for that, once for each class: about a second for the slowest families.
Wide tables and those of many classes have fewer rows judged, `FEWEST` at least."""
FEWEST = 128
"""Rows that are judged in any case."""
MOST_CHOSEN_ANEW, FOLDS = 1000, 10
"""Rows up to which families of columns are chosen anew without a tenth of the rows. With families
that all 89 rows had chosen, 2.1 % of wine's fresh rows were flagged at .01, else 1.5 %; of a
thousand rows a tenth hardly changes any family."""


def most_typical(
    learned: Any, table: Table, labels: Sequence[object] | None = None
) -> tuple[IntArray, FloatArray]:
    """Return of each row the class it is most typical of, and how typical it is.

    `labels` are those of rows that were in the fit, None for a row that was not: the others are
    taken out of the model first, each by itself. A class of a row or two, or of too few for its
    covariance matrix, would have nearly every row for its own: rows are judged by the others,
    if there are any.
    """
    with warnings.catch_warnings():
        # A class of one row has p = 1 for all: a warning for each chunk would say no more.
        warnings.simplefilter("ignore", NoPValue)
        warnings.simplefilter(
            "ignore", SimilarLabels
        )  # they have been told, when they were learned
        found = np.asarray(learned.typicality(table))
        there = np.array([label is not None for label in labels or ()], dtype=bool)
        if there.any():
            rows = table.rows(np.flatnonzero(there))
            known = [label for label in labels or () if label is not None]
            found[there] = learned.typicality(rows, class_array(tuple(known), learned.dtype))
    best = np.where(_too_few(learned), -1.0, found).argmax(axis=1)
    return best, np.take_along_axis(found, best[:, np.newaxis], 1)[:, 0]


def calibrated(
    learned: object, table: Table, labels: Sequence[object] | None = None
) -> tuple[IntArray, FloatArray]:
    """Return `most_typical`, by how far out the rows of the fit lay, where the model knows."""
    best, found = most_typical(learned, table, labels)
    notes = getattr(learned, "notes", None)  # clusters have none
    rates = None if notes is None else notes.rates
    return best, found if rates is None else rates.calibrated(found)


def _too_few(learned: Any) -> NDArray[np.bool_]:
    """Say which classes have too few rows to tell a row that is not theirs; none if all have."""
    if not hasattr(learned, "model"):  # of clusters, each with its approximate number of rows
        return np.zeros(learned.components_, dtype=bool)
    weights = learned.model.weights
    family = getattr(learned, "family_in_use", None)  # of normal classes
    form = getattr(family, "covariance", "diagonal")
    least = 2.0
    if form.startswith("shared") or getattr(family, "pool", None):
        least = 0.0
    elif form == "per-class" or getattr(family, "is_tied", False):
        least = learned.columns.width + 1.0
    few: NDArray[np.bool_] = weights <= least
    return few & ~few.all()


def rates_of(learned: Learned, table: Table, labels: NDArray[np.generic]) -> OutlierRates:
    """Return how typical training rows are, each of a model of all the others.

    In small tables the families of columns are chosen anew without each part of the rows: whether
    a column looks normal or log-normal is decided by its farthest rows, and what they have decided
    themselves makes them look nearer than a new row would.
    """
    if table.size <= MOST_CHOSEN_ANEW and _chooses_by_looks(learned.learner):
        return OutlierRates.of(_with_families_of_others(learned, table, labels))
    rows = tried(table, len(learned.labels))
    chosen = labels[rows].tolist()
    return OutlierRates.of(most_typical(learned, table.rows(rows), chosen)[1])


def _chooses_by_looks(learner: object) -> bool:
    """Whether rows have decided about families of columns, by a look at them."""
    asked = getattr(learner, "families", None)
    if asked is None:
        return False
    from suffice.models.naive_bayes.families_by_looks import AUTO  # other models need it not

    return isinstance(asked, dict) or (isinstance(asked, str) and asked == AUTO)


def _with_families_of_others(
    learned: Learned, table: Table, labels: NDArray[np.generic]
) -> FloatArray:
    """Return how typical each row is of a model of the others, families of other parts' rows."""
    learner = replace(learned.learner, chosen=None)
    folds = np.random.default_rng(0).permutation(table.size) % min(FOLDS, table.size)
    found = np.empty(table.size)
    alike: list[tuple[Any, list[IntArray]]] = []  # what others have decided, and for which parts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)  # of the whole they have been told
        whole = learner.read(table, labels)
        for fold in range(int(folds.max()) + 1):
            own, others = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            if not len(others):
                return most_typical(learned, table, labels.tolist())[1]
            batch = learner.read(table.rows(others), labels[others])
            chosen = learner.choose(batch).chosen
            parts = next((held for other, held in alike if other.product == chosen.product), None)
            if parts is None:
                alike.append((chosen, parts := []))
            parts.append(own)
        for chosen, parts in alike:
            model = learned
            if chosen.product != learned.learner.chosen.product:
                with suppress(BadRows):  # one fraction, and a column does not count any more
                    model = learner.deciding(chosen).first(whole)
            rows = np.concatenate(parts)
            found[rows] = most_typical(model, table.rows(rows), labels[rows].tolist())[1]
    return found


def rates_of_new(learned: Learned, table: Table) -> OutlierRates:
    """Return how typical rows are that a model has not learned yet."""
    return OutlierRates.of(most_typical(learned, table.rows(tried(table, len(learned.labels))))[1])


def tried(table: Table, classes: int) -> IntArray:
    """Return which rows are judged: some from all over the table."""
    most = min(TRIED, max(FEWEST, CELLS // max(1, table.width * classes)))
    if table.size <= most:
        return np.arange(table.size)
    return np.sort(np.random.default_rng(0).choice(table.size, most, replace=False))
