"""Boosted trees: small trees one after the other, each for what the ones before it leave.

A tree asks at most two questions of a row. How many trees there are is not chosen: the answers
after 5, 10, 20, 40 and 80 of them are averaged, by how well each judges rows that it has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from suffice.models.pool.averages import LEAST, cross_fitted, softmax
from suffice.models.pool.column_scores import log_shares
from suffice.models.pool.member import Judged
from suffice.models.pool.trees.splits import Splits, most_splits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.pool.folded_rows import FoldedRows, NewRows
    from suffice.models.pool.member import Answer
    from suffice.rows import FloatArray, IntArray

    BoolArray = NDArray[np.bool_]

STAGES = (5, 10, 20, 40, 80)
"""Numbers of trees whose answers are averaged."""
RATE = 0.1
"""The share of a tree's answer that is added: the usual one. More trees make up for less."""
SHRINKAGE = 1.0
"""What the curvature of a leaf is raised by: about four rows that say nothing."""
ROWS_SHARE = 0.8
"""The share of the rows that a tree learns from."""
COLUMNS_SHARE = 0.5
"""The share of the columns that a tree may ask about."""
SEED = 21
"""Of the draws of rows and columns. Any number will do."""
MOST_WORK = 6e9
"""Multiplications of all trees in all folds, beyond which the member is left out: two seconds."""


ASIDE = 40
"""Questions that what else is done with a row and a score is worth: exponentials, sums, leaves."""


class _Tree(NamedTuple):
    """One tree for each score (s,): a question, another for either answer, and four values.

    first, no, yes   questions, by their places
    values           (4, s): after no and no, no and yes, yes and no, yes and yes
    """

    first: IntArray
    no: IntArray
    yes: IntArray
    values: FloatArray

    def added(self, answers: BoolArray) -> FloatArray:
        """Return what is added to the scores (m, s) of rows with answers (q, m)."""
        first = answers[self.first]
        second = np.where(first, answers[self.yes], answers[self.no])
        leaves = 2 * first + second
        found: FloatArray = self.values[leaves, np.arange(len(leaves))[:, None]].T
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Boosted:
    """Trees, and where they start: log shares of the classes (k,).

    Of two classes one score is enough, the log odds; of more, each class has one.
    """

    start: FloatArray
    trees: tuple[_Tree, ...]

    @classmethod
    def of(cls, splits: Splits, answers: BoolArray, members: FloatArray, start: FloatArray) -> Self:
        """Learn from answers (n, q), and weights by class (n, k)."""
        if not len(splits.column):
            return cls(start, ())
        rng = np.random.default_rng(SEED)
        weights = members.sum(axis=1)
        sides, by_row = answers.T.astype(np.float64), np.ascontiguousarray(answers.T)
        scores = np.tile(start, (len(members), 1))
        trees = []
        for _ in range(STAGES[-1]):
            drawn = rng.random(len(members)) < ROWS_SHARE
            offered = rng.random(int(splits.column.max()) + 1) < COLUMNS_SHARE
            offered[rng.integers(len(offered))] = True
            p = softmax(scores)
            slopes = (members - weights[:, None] * p) * drawn[:, None]
            curves = (weights[:, None] * p * (1.0 - p)) * drawn[:, None]
            if len(start) == 2:
                slopes, curves = slopes[:, 1:], curves[:, 1:]
            tree = _grown(sides, slopes, curves, offered[splits.column])
            trees.append(tree)
            scores += _by_class(tree.added(by_row), len(start))
        return cls(start, tuple(trees))

    def posteriors(self, answers: BoolArray) -> FloatArray:
        """Return the posteriors (G, m, k) of every stage, for rows with answers (m, q)."""
        by_row = np.ascontiguousarray(answers.T)
        scores = np.tile(self.start, (len(answers), 1))
        found = np.empty((len(STAGES), *scores.shape))
        if not self.trees:
            found[:] = softmax(scores)
        for place, tree in enumerate(self.trees, 1):
            scores += _by_class(tree.added(by_row), len(self.start))
            if place in STAGES:
                found[STAGES.index(place)] = softmax(scores)
        return found


def _by_class(added: FloatArray, size: int) -> FloatArray:
    """Return what is added to the score of each class (m, k)."""
    if size == 2:
        return np.hstack([-0.5 * added, 0.5 * added])
    return added * ((size - 1.0) / size)


def _grown(sides: FloatArray, slopes: FloatArray, curves: FloatArray, offered: BoolArray) -> _Tree:
    """Return the tree that lowers the loss most, question by question.

    sides            (q, n), 1 where the answer is yes
    slopes, curves   (n, s) of the log-likelihood in the scores
    offered          (q,) which questions may be asked
    """
    size = slopes.shape[1]
    both = np.hstack([slopes, curves])
    yes, all_rows = sides @ both, both.sum(axis=0)
    first = _best(yes, all_rows, offered)
    asked = sides[first].T
    taken = np.hstack([asked, asked]) * both
    yes_yes, of_yes = sides @ taken, taken.sum(axis=0)
    no_yes, of_no = yes - yes_yes, all_rows - of_yes
    after_no, after_yes = _best(no_yes, of_no, offered), _best(yes_yes, of_yes, offered)
    values = np.empty((4, size))
    for place, (sums, total, question) in enumerate(
        ((no_yes, of_no, after_no), (yes_yes, of_yes, after_yes))
    ):
        at = np.arange(size)
        slope, curve = sums[question, at], np.maximum(sums[question, size + at], 0.0)
        rest = np.maximum(total[size:] - curve, 0.0)
        values[2 * place] = (total[:size] - slope) / (rest + SHRINKAGE)
        values[2 * place + 1] = slope / (curve + SHRINKAGE)
    return _Tree(first, after_no, after_yes, RATE * values)


def _best(yes: FloatArray, total: FloatArray, offered: BoolArray) -> IntArray:
    """Return the question (s,) of most gain, from sums (q, 2s) over rows that say yes."""
    size = yes.shape[1] // 2
    slopes, curves = yes[:, :size], np.maximum(yes[:, size:], 0.0)
    rest = np.maximum(total[size:] - curves, 0.0)
    gain = np.square(slopes) / (curves + SHRINKAGE)
    gain += np.square(total[:size] - slopes) / (rest + SHRINKAGE)
    gain[~offered] = -1.0
    found: IntArray = gain.argmax(axis=0)
    return found


class BoostedTreesMember:
    """Boosted trees of two questions, averaged over how many there are."""

    name = "boosted trees"

    def affordable(self, rows: FoldedRows) -> bool:
        """Whether all trees of all folds take two seconds at most."""
        scores = 1 if rows.size == 2 else rows.size
        cells = len(rows) * (most_splits(rows.rows) + ASIDE)
        work = 4.0 * cells * scores * STAGES[-1] * (rows.count + 1)
        return rows.rows.width > 0 and work <= MOST_WORK

    def settings(self, rows: FoldedRows) -> int:  # noqa: ARG002
        """The stages."""
        return len(STAGES)

    def judge(self, rows: FoldedRows) -> Judged:
        """Judge each fold by trees that grew on the others."""
        found = np.empty((len(STAGES), len(rows), rows.size))
        for fold in range(rows.count):
            held, weights = rows.folds == fold, rows.training_weights[fold]
            coded = rows.parts[fold].rows
            members = rows.members * (weights > 0.0)[:, None]
            splits = Splits.of(coded, weights)
            answers = splits.answers(coded)
            model = _Boosted.of(splits, answers, members, log_shares(members.sum(axis=0)))
            found[:, held] = model.posteriors(answers[held])
        log_posteriors = np.log(np.maximum(found, LEAST))
        grid, posterior = cross_fitted(log_posteriors, rows.codes, rows.weights, rows.folds)
        return Judged(posterior, grid)

    def ready(self, rows: FoldedRows, grid: FloatArray) -> Answer:
        """Grow trees on all rows."""
        splits = Splits.of(rows.rows, rows.weights)
        model = _Boosted.of(splits, splits.answers(rows.rows), rows.members, rows.log_priors)

        def answer(new: NewRows) -> FloatArray:
            found: FloatArray = np.tensordot(grid, model.posteriors(splits.answers(new.rows)), 1)
            return found

        return answer
