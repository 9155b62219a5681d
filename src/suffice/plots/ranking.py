"""Rows in the order of their scores: what is counted at every threshold, ties at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadLabels, BadRows, NotFinite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ranking:
    """How many positives and negatives score at least so much, for every score there is.

    The first entry is the threshold above all scores: nothing is found. Rows that tie enter
    together, since no threshold parts them; between two entries a curve is straight.
    """

    found: FloatArray
    wrongly: FloatArray

    @classmethod
    def of(cls, scores: ArrayLike, positive: NDArray[np.bool_]) -> Ranking:
        """Count rows from the highest score down.

        >>> ranking = Ranking.of([0.9, 0.4, 0.4, 0.1], np.array([True, True, False, False]))
        >>> ranking.found, ranking.wrongly
        (array([0., 1., 2., 2.]), array([0., 0., 1., 2.]))
        """
        values = np.asarray(scores, dtype=np.float64)
        if values.ndim != 1 or len(values) != len(positive):
            raise BadRows(
                f"scores of shape {values.shape} for {len(positive)} labels",
                hint="give one score for each row, the higher the likelier",
            )
        if len(values) == 0:
            raise BadRows("there are no rows to rank", hint="give at least one of each class")
        if np.isnan(values).any():
            raise NotFinite(
                f"row {int(np.isnan(values).argmax())} has no score (NaN)",
                hint="drop the row, or score it",
            )
        if positive.all() or not positive.any():
            raise BadLabels(
                f"all {len(values)} rows are {'positive' if positive.all() else 'negative'}: "
                "there is nothing to tell apart",
                hint="a curve needs rows of both kinds",
            )
        order = np.argsort(-values, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(values[order]) != 0.0), len(values) - 1)
        hits = np.cumsum(positive[order])[ends].astype(np.float64)
        return cls(np.append(0.0, hits), np.append(0.0, ends + 1.0 - hits))

    @property
    def true_rate(self) -> FloatArray:
        """The share of positives that are found: recall."""
        return self.found / self.found[-1]

    @property
    def false_rate(self) -> FloatArray:
        """The share of negatives that are taken for positives."""
        return self.wrongly / self.wrongly[-1]

    @property
    def precision(self) -> FloatArray:
        """The share of positives among what is found, from the first threshold on."""
        precision: FloatArray = self.found[1:] / (self.found + self.wrongly)[1:]
        return precision

    @property
    def area(self) -> float:
        """The area under the ROC curve: P(positive scores more) + ½ P(tie).

        >>> Ranking.of([0.9, 0.4, 0.4, 0.1], np.array([True, True, False, False])).area
        0.875
        """
        middle = (self.true_rate[1:] + self.true_rate[:-1]) / 2.0
        return float(np.diff(self.false_rate) @ middle)

    @property
    def average_precision(self) -> float:
        """The precision averaged over what each threshold adds to recall."""
        return float(np.diff(self.true_rate) @ self.precision)

    @property
    def prevalence(self) -> float:
        """The share of positives among all rows: the precision of a blind guess."""
        return float(self.found[-1] / (self.found[-1] + self.wrongly[-1]))
