"""Training rows with their folds, and what several members make of them: made once, shared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.pool.coding import UNKNOWN, CodedRows
from suffice.models.pool.column_scores import ColumnScores, log_shares
from suffice.models.pool.recoding import Recoded, Recoding

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray

VALUES, RANKS = "values", "ranks"
"""Numbers as they are (standardised), or their normal scores."""
BLANK_SHARE = 0.02
"""A share of blanks in a column from which on being blank is a feature of its own."""
MOST_INDICATORS = 40
"""Levels of one column that have an indicator: those of most weight. Rarer ones are told by the
column's tallies."""
LEAST_DEVIATION = 0.35
"""Standard deviations of indicators are at least that of a level with a share of one in seven. The
indicator of a level that two rows have would otherwise be seven times as long as others, and a
penalty would hardly hold it back: log-loss .387 instead of .389 on 16 tables of 50 rows, better in
two thirds of 64 draws."""
MANY_FOLDS, FEW_FOLDS = 10, 5
"""Folds that members are judged by: ten up to SMALL rows, where a tenth of the rows is missed."""
SMALL = 100
"""Rows up to which there are MANY_FOLDS."""


def stratified(codes: IntArray, count: int) -> IntArray:
    """Return folds 0 … count - 1 for rows in the order they come, each class spread evenly.

    Rows of a sample come in the order of their hashes, so this is a draw that depends on what the
    rows say and on nothing else.
    """
    order = np.argsort(codes, kind="stable")
    found = np.empty(len(codes), dtype=np.intp)
    found[order] = np.arange(len(codes)) % count
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Indicators:
    """Numbers and indicator columns of levels, standardised: (n, p) for linear members.

    which     VALUES or RANKS
    places    columns of all indicators that are kept
    means, deviations   of numbers and indicators, by the training rows
    blanks    numbers that have an indicator for being blank
    """

    which: str
    places: IntArray
    means: FloatArray
    deviations: FloatArray
    blanks: IntArray

    @classmethod
    def of(cls, rows: CodedRows, weights: FloatArray, which: str) -> Indicators:
        """Look at training rows."""
        numbers = getattr(rows, which)
        total = weights.sum()
        blank = weights @ np.isnan(numbers) / total
        places = _usual_levels(rows, weights)
        raw = cls(which, places, np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.intp))
        cells = raw.raw(rows)
        means = weights @ cells / total
        deviations = np.sqrt(weights @ np.square(cells - means) / total)
        rare = slice(numbers.shape[1], None)
        deviations[rare] = np.maximum(deviations[rare], LEAST_DEVIATION)
        deviations[: numbers.shape[1]][deviations[: numbers.shape[1]] <= 1e-9] = np.inf  # constant
        return cls(which, places, means, deviations, np.flatnonzero(blank > BLANK_SHARE))

    def raw(self, rows: CodedRows) -> FloatArray:
        """Return numbers, blanks as 0, which is their mean; and indicators."""
        numbers = getattr(rows, self.which)
        wide = np.zeros((len(rows), int(rows.level_sizes.sum())))
        starts = np.cumsum(rows.level_sizes) - rows.level_sizes
        at, column = np.nonzero(rows.levels != UNKNOWN)
        wide[at, starts[column] + rows.levels[at, column]] = 1.0
        return np.hstack([np.where(np.isnan(numbers), 0.0, numbers), wide[:, self.places]])

    def features(self, rows: CodedRows) -> FloatArray:
        """Return the features (n, p) of rows."""
        blank = np.isnan(getattr(rows, self.which)[:, self.blanks])
        usual = (self.raw(rows) - self.means) / self.deviations
        return np.hstack([usual, (blank - 0.1) / 0.4])  # a rare indicator, scaled like the others


def _usual_levels(rows: CodedRows, weights: FloatArray) -> IntArray:
    """Return the places of the levels that have an indicator."""
    found: list[int] = []
    start = 0
    for j, size in enumerate(rows.level_sizes.tolist()):
        tally = np.bincount(rows.levels[:, j], weights, minlength=size)
        most = np.sort(np.argsort(-tally, kind="stable")[:MOST_INDICATORS])
        found += (start + most).tolist()
        start += size
    return np.array(found, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class FoldedRows:
    """Training rows, coded; their classes, weights and folds.

    rows, codes, weights   n rows of `size` classes, in an order that depends on the rows alone
    """

    rows: CodedRows
    codes: IntArray
    weights: FloatArray
    size: int

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    @property
    def is_alone(self) -> bool:
        """Whether nothing can be judged: there is one class, or one row."""
        return self.size == 1 or len(self) < 2

    @cached_property
    def count(self) -> int:
        """How many folds there are."""
        few = len(self) > SMALL
        return min(FEW_FOLDS if few else MANY_FOLDS, len(self))

    @cached_property
    def folds(self) -> IntArray:
        """The fold of each row."""
        return stratified(self.codes, self.count)

    @cached_property
    def training_weights(self) -> FloatArray:
        """Weights (folds + 1, n): of each fold's training rows, and last of all rows."""
        held = self.folds == np.arange(self.count)[:, None]
        return np.vstack([np.where(held, 0.0, self.weights), self.weights])

    @cached_property
    def members(self) -> FloatArray:
        """Weights by class (n, k)."""
        found = np.zeros((len(self), self.size))
        found[np.arange(len(self)), self.codes] = self.weights
        return found

    @cached_property
    def log_priors(self) -> FloatArray:
        """Log shares of the classes (k,)."""
        return log_shares(self.members.sum(axis=0))

    @cached_property
    def judged_log_priors(self) -> FloatArray:
        """Log shares (n, k) of the classes among the rows of the other folds."""
        sums = np.stack([self.members[self.folds != f].sum(axis=0) for f in range(self.count)])
        return log_shares(sums)[self.folds]

    @cached_property
    def parts(self) -> tuple[Recoded, ...]:
        """All rows as each fold's training rows code them, and last as all rows do."""
        recoding = Recoding(self.rows)
        found = [recoding.by(weights) for weights in self.training_weights[:-1]]
        return (*found, Recoded(self.rows, np.arange(self.rows.width)))

    @cached_property
    def column_scores(self) -> tuple[ColumnScores, ...]:
        """What columns say, learned from each fold's training rows, and last from all rows."""
        return tuple(
            ColumnScores.of(part.rows, self.codes, weights, self.size)
            for part, weights in zip(self.parts, self.training_weights, strict=True)
        )

    @cached_property
    def all_column_scores(self) -> ColumnScores:
        """What columns say, learned from all rows."""
        if "column_scores" in self.__dict__:
            return self.column_scores[-1]
        return ColumnScores.of(self.rows, self.codes, self.weights, self.size)

    @cached_property
    def _indicators(self) -> dict[str, Indicators]:
        return {which: Indicators.of(self.rows, self.weights, which) for which in (VALUES, RANKS)}

    @cached_property
    def features(self) -> dict[str, FloatArray]:
        """Features (n, p) of the training rows, by VALUES and by RANKS."""
        return {which: one.features(self.rows) for which, one in self._indicators.items()}

    @cached_property
    def fold_features(self) -> dict[str, tuple[FloatArray, ...]]:
        """Features (n, p) of all rows, prepared by each fold's training rows."""
        return {
            which: tuple(
                Indicators.of(
                    part.rows.take(self.folds != fold), self.weights[self.folds != fold], which
                ).features(part.rows)
                for fold, part in enumerate(self.parts[:-1])
            )
            for which in (VALUES, RANKS)
        }

    def without_folds(self) -> FoldedRows:
        """Return the same rows, with what answers need and nothing that only judging needed."""
        found = FoldedRows(self.rows, self.codes, self.weights, self.size)
        kept = {n: v for n, v in self.__dict__.items() if n in ("_indicators", "features")}
        if "column_scores" in self.__dict__:
            kept["all_column_scores"] = self.column_scores[-1]
        found.__dict__.update(kept)
        return found

    def new(self, rows: CodedRows) -> NewRows:
        """Return rows that are to be answered about."""
        return NewRows(self, rows)

    def features_of(self, rows: CodedRows, which: str) -> FloatArray:
        """Return the features (m, p) of other rows."""
        return self._indicators[which].features(rows)


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows that are to be answered about, and what several members make of them."""

    training: FoldedRows
    rows: CodedRows

    @cached_property
    def column_scores(self) -> FloatArray:
        """What columns say (m, d, k)."""
        return self.training.all_column_scores.scores(self.rows)

    @cached_property
    def features(self) -> dict[str, FloatArray]:
        """Features (m, p), by VALUES and by RANKS."""
        return {which: self.training.features_of(self.rows, which) for which in (VALUES, RANKS)}
