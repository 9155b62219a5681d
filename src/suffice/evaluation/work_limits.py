"""What a comparison costs, and what is left out of it so that it ends within some ten seconds.

Work is counted in multiplications, by the shape of the table alone: the same rows get the same
comparison on every machine. Whatever is left out or cut short is said in a note.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns import Columns
from suffice.errors import listed
from suffice.evaluation.merged_folds import REFITTING, SETTINGS, rows_to_choose_on
from suffice.rows import NUMBER, is_sparse, read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.evaluation.candidates import Candidate
    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.rows import IntArray

FOLDS = (10, 5, 3)
"""Folds that are tried in turn where their number is not given."""
MOST_WORK = 4e10
"""Multiplications that cross-validating all candidates may take: about ten seconds."""
CURVE_WORK = 2e10
"""Multiplications that all learning curves together may take."""
SPLITS, FEWEST_SPLITS = 15, 5
"""Splits of each learning curve, and the fewest that have a band worth drawing. Choices: intervals
by Student's t are 2.1 standard errors wide on either side with 15, and 2.8 with 5."""
SIZES, LARGEST_SIZE = 8, 4000
"""Points of each curve, and rows of the largest. Choices: from 6 to 4,000, eight points are a
factor of about 2.5 apart."""
FEWER_SIZES, SMALLER_SIZE = 4, 400
"""The same where that would take long: half the points, and a tenth of the rows."""
OVERHEAD = 2e7
"""What one fit costs besides its sums: checks, and rows taken out of a frame."""
STEPS, STEP = 200.0, 2e6
"""Steps of EM where hardly a number is blank and rows are few for the columns, and what one costs
besides its sums."""
NEWTON_STEPS = 4
"""Passes of Newton's method that a fit is taken to need. A choice for an estimate of work, not a
limit."""
USUAL = frozenset(
    ("naive-bayes-shared", "gda", "naive-bayes", "logistic-penalty", "logistic", "gda-auto", "qda")
)
"""Candidates whose work is known, by their keys."""
FACTORING = 10
"""Times d³ that a covariance of d columns takes: eigenvalues, a factor, its inverse."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The shape of a table, as far as it decides how long models take.

    width      columns, every level of a category counted
    patterns   how many different sets of numbers are blank in a row; 0 where none is
    blank      the largest share of a column that is blank: EM creeps the more is missing
    """

    rows: int
    classes: int
    width: int
    patterns: int = 0
    blank: float = 0.0

    @classmethod
    def of(cls, rows: LabelledRows) -> Extent:
        """Measure a table."""
        k = len(rows.classes)
        if is_sparse(rows.X):
            return cls(len(rows), k, int(rows.X.shape[1]))
        table = read_table(rows.X)
        width = Columns.infer(table).width
        numbers = [j for j in range(table.width) if table.kinds[j] == NUMBER]
        blanks = [np.isnan(np.asarray(table.column(j), dtype=np.float64)) for j in numbers]
        shares = [float(column.mean()) for column in blanks if not column.all()]
        if not any(shares):
            return cls(len(rows), k, width)
        patterns = np.unique(np.packbits(np.column_stack(blanks), axis=1), axis=0)
        return cls(len(rows), k, width, len(patterns), max(shares))

    def fitting(self, key: str, rows: int) -> float:
        """Return the work of training one of the usual candidates on some of the rows."""
        d, k = float(self.width), float(self.classes)
        if key in ("gda", "qda", "gda-auto"):
            groups = 1.0 if key == "gda" else 2.0 * k
            work = OVERHEAD + rows * d**2 + groups * FACTORING * d**3
            return work + groups * self._expecting(rows) if self.patterns else work
        if key in ("logistic", "logistic-penalty"):
            parameters = d * (k - 1.0)
            newton = rows * min(parameters, rows) * parameters
            return 2.0 * OVERHEAD + 2e5 * parameters + NEWTON_STEPS * newton
        return OVERHEAD + rows * d * k

    def _expecting(self, rows: int) -> float:
        """Return the work of one covariance by EM."""
        steps = STEPS / float((1.0 - self.blank) ** 1.5)
        return min(steps, 1000.0) * (0.4 * min(self.patterns, rows) * float(self.width) ** 3 + STEP)

    @property
    def choosing(self) -> float:
        """The work of choosing among the settings of "auto" once."""
        d, k = float(self.width), float(self.classes)
        rows = rows_to_choose_on(self.rows, self.classes, self.width)
        return SETTINGS * k * (rows * (d**2 + REFITTING) + FACTORING * d**3)


def affordable(
    asked: Sequence[Candidate], extent: Extent
) -> tuple[tuple[Candidate, ...], list[str]]:
    """Return the usual candidates that can be cross-validated soon enough, and who was left out."""
    left = [one for one in asked if _work([one], extent, FOLDS[-1]) > MOST_WORK]
    kept = tuple(one for one in asked if one not in left)
    if not left:
        return kept, []
    blanks = f" and {extent.patterns:,} patterns of blanks" if extent.patterns else ""
    keys = listed(one.key for one in left)
    note = (
        f"{listed(one.name for one in left)} left out: {extent.rows:,} rows of {extent.classes:,} "
        f"classes and {extent.width:,} columns (levels of categories counted){blanks} would take "
        f"long. They are compared if they are named: {keys}"
    )
    return kept, [note]


def by_cost(asked: Sequence[Candidate], extent: Extent) -> list[Candidate]:
    """Return candidates in the order in which they are tried: the least work first.

    A pool is more work than any single model of ours. Of models that are not ours nothing is
    known: they come last.
    """

    def work(one: Candidate) -> tuple[int, float]:
        if one.key in USUAL:
            return 0, _work([one], extent, FOLDS[0])
        return (1 if one.is_pool else 2), 0.0

    return sorted(asked, key=work)


def affordable_folds(asked: Sequence[Candidate], extent: Extent) -> tuple[int, list[str]]:
    """Return how many folds there are where none are asked for, and a note if they are few."""
    usual = FOLDS[0]
    if extent.rows < usual:
        return extent.rows, [f"There are {extent.rows} folds: there are no more rows"]
    found = next((f for f in FOLDS if _work(asked, extent, f) <= MOST_WORK), FOLDS[-1])
    if found == usual:
        return usual, []
    return found, [f"{found} folds are used: {usual} would take long, unless asked for"]


def _work(asked: Sequence[Candidate], extent: Extent, folds: int) -> float:
    """Return the work of cross-validating candidates; a pool limits its own, and has no refits."""
    train = extent.rows * (folds - 1) // folds
    work = folds * sum(extent.fitting(one.key, train) for one in asked if not one.is_pool)
    return work + extent.choosing * sum(one.key == "gda-auto" for one in asked)


@dataclass(frozen=True, slots=True, eq=False)
class CurvePlan:
    """Which learning curves are made: of which candidates, sizes and splits, and what to say."""

    drawn: tuple[Candidate, ...]
    sizes: IntArray
    splits: int
    notes: tuple[str, ...]

    @classmethod
    def of(cls, drawn: Sequence[Candidate], extent: Extent) -> CurvePlan:
        """Plan them: fewer splits where that is enough, then fewer sizes, then fewer curves."""
        from suffice.evaluation.curves import usual_sizes

        n, k = extent.rows, extent.classes
        sizes = usual_sizes(n, k, most=LARGEST_SIZE, at_most=SIZES)
        splits = _splits(drawn, sizes, extent)
        if splits >= FEWEST_SPLITS:
            few = f"Learning curves have {splits} splits, not {SPLITS}: more would take long"
            return cls(tuple(drawn), sizes, splits, (few,) if splits < SPLITS else ())
        smaller = usual_sizes(n, k, most=SMALLER_SIZE, at_most=FEWER_SIZES)
        # Few rows for many classes: the usual sizes begin beyond.
        sizes = smaller if smaller[0] >= sizes[0] else sizes
        kept = list(drawn)
        while len(kept) > 1 and _splits(kept, sizes, extent) < FEWEST_SPLITS:
            kept.remove(max(kept, key=lambda one: _growing(one, sizes, extent)))
        end = f"end at {sizes[-1]:,} rows"
        notes = [f"Learning curves have {FEWEST_SPLITS} splits and {end}: more would take long"]
        gone = [one.name for one in drawn if one not in kept]
        if gone:
            notes.append(f"{listed(gone)} would take too long for a learning curve, so it has none")
        return cls(tuple(kept), sizes, FEWEST_SPLITS, tuple(notes))


def _growing(one: Candidate, sizes: Any, extent: Extent) -> float:
    return float(sum(extent.fitting(one.key, int(m)) for m in sizes))


def _splits(drawn: Sequence[Candidate], sizes: IntArray, extent: Extent) -> int:
    """Return for how many splits the work suffices, at most the usual number."""
    work = sum(_growing(one, sizes, extent) for one in drawn)
    return int(min(SPLITS, CURVE_WORK // max(work, 1.0)))
