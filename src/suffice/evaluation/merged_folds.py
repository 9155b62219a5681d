"""Folds, stratified by class, and training sets as sums of them: each row is summarized once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from numbers import Integral
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns import Columns
from suffice.errors import BadSetting
from suffice.evaluation.metrics import CLIP
from suffice.learning.label_types import label_kind
from suffice.learning.learner import Learner
from suffice.learning.learners.gaussian import GaussianClassifierLearner
from suffice.models.gaussian.auto_covariance import shrinkage_path
from suffice.models.gaussian.family import Gaussian
from suffice.models.gaussian.learner import GaussianLearner
from suffice.rows import read_table
from suffice.rows.bad_cells import refuse_blanks
from suffice.rows.sparse import SparseRows
from suffice.statistics import leave_one_out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.learning.learned import Learned
    from suffice.rows import FloatArray, IntArray


SETTINGS = 45
"""Settings among which "auto" chooses, each judged by leave-one-out."""
CHOICE_BUDGET = 1e8
"""Settings · rows · classes · columns², beyond which "auto" chooses once, not for every fold."""
CHOICE_WORK, REFITTING = 1.5e10, 3000.0
"""What choosing once may cost, and what refits of single rows add to the columns² of each."""
FEWEST, FEWEST_OF_CLASS = 1000, 20
"""Rows that a choice is made on at least, in all and of every class."""
FEW_ROWS = 500
"""Rows up to which the rows of every training set are added up: merging parts costs as much as
adding up hundreds of rows."""


def is_closed_form(model: object) -> bool:
    """Whether a model is made of sums, so that training sets can be merged."""
    kind: Any = getattr(model, "learner_kind", type(model))  # an estimator of ours has one
    return issubclass(kind, Learner) and kind.adds_up


def as_learner(model: Any) -> Any:
    """Return an estimator of ours as its learner, which needs no scikit-learn; others stay."""
    return model.as_learner() if hasattr(model, "learner_kind") else model


def rows_to_choose_on(rows: int, classes: int, width: int) -> int:
    """Return how many rows "auto" chooses on: all of them, or as many as are quick.

    >>> rows_to_choose_on(500, 2, 30), rows_to_choose_on(45_000, 2, 108)
    (500, 11365)
    """
    quick = int(CHOICE_WORK / (SETTINGS * classes * (width**2 + REFITTING)))
    return min(rows, max(quick, FEWEST, FEWEST_OF_CLASS * classes))


class MergedParts:
    """Rows read once and cut into parts, for one closed-form model; training sets are merges.

    Made by `without_one` or `running`. Nothing is estimated before `fitted` asks for it, so that
    a training set on which the model fails does not take the others with it.
    """

    def __init__(
        self,
        learner: Learner,
        rows: LabelledRows,
        parts: Sequence[IntArray],
        trainings: Sequence[IntArray],
        merged: Callable[[list[Any]], list[object]],
    ) -> None:
        self.learner = learner
        self.batch: LabelledBatch = self.learner.read(rows.X, rows.y, rows.weights)
        self.parts, self.trainings, self.merged = tuple(parts), tuple(trainings), merged
        self.choices: dict[int, Learner] = {}
        self.sums: list[tuple[Learner, list[object]]] = []  # mostly there is one choice

    @classmethod
    def without_one(
        cls, learner: Learner, rows: LabelledRows, parts: Sequence[IntArray]
    ) -> MergedParts:
        """Return training sets that hold all parts but one: the folds of cross-validation."""
        others = [
            np.sort(np.concatenate([p for i, p in enumerate(parts) if i != f]))
            for f in range(len(parts))
        ]
        return cls(learner, rows, parts, others, leave_one_out)

    @classmethod
    def running(
        cls, learner: Learner, rows: LabelledRows, parts: Sequence[IntArray]
    ) -> MergedParts:
        """Return training sets that hold a part and all before it: a learning curve."""
        prefixes = [np.concatenate(parts[: i + 1]) for i in range(len(parts))]
        return cls(learner, rows, parts, prefixes, lambda sums: list(accumulate(sums, add)))

    @cached_property
    def chooses_once(self) -> bool:
        """Whether what is chosen from the data is chosen on the first training set alone."""
        if not self._may_be_covariances or not self.learner.needs_choice:
            return False
        n, width = self.batch.rows.shape
        if not self.batch.columns.is_plain or np.isnan(self.batch.rows).any():
            return True  # many rows can be judged by a refit only
        return float(SETTINGS * n * width**2 * len(self.batch.labels)) > CHOICE_BUDGET

    @property
    def note(self) -> str:
        """What was not done as usual, in words; empty where nothing was."""
        if not self.chooses_once:
            return ""
        chosen, outside = len(self._places_to_choose_on(0)), len(self.trainings[0])
        some = "the" if chosen == outside else f"{chosen:,} of the {outside:,}"
        return f"pool, shrink and target were chosen once, on {some} rows outside the first fold"

    def fitted(self, f: int) -> Learned:
        """Return what is learned from one of the training sets."""
        learner = self._decided(f)
        batch = self.batch
        kind = label_kind(batch.classes)
        learned = learner.keeping(
            batch.columns, self._sums(learner, f), batch.classes.dtype, kind, batch.frame
        )
        learned.warn()
        learned.warn_of_one_class()
        return learned

    @property
    def _may_be_covariances(self) -> bool:
        return isinstance(self.learner, GaussianClassifierLearner)

    def _decided(self, f: int) -> Learner:
        """Return the learner with what is decided on the rows of one training set."""
        place = 0 if self.chooses_once else f
        if place not in self.choices:
            learner = self.learner
            if learner.needs_choice:
                learner = learner.choose(part(self.batch, self._places_to_choose_on(place)))
            self.choices[place] = learner
        return self.choices[place]

    def _places_to_choose_on(self, place: int) -> IntArray:
        """Return the rows of a training set, or an even share of every class of a large one."""
        places = self.trainings[place]
        if not self.chooses_once:
            return places
        width, labels = self.batch.rows.shape[1], self.batch.labels
        most = rows_to_choose_on(len(places), len(labels), width)
        if most == len(places):
            return places
        mixed = np.random.default_rng(0).permutation(places)
        codes = self.batch.codes[mixed]
        by_class = np.argsort(codes, kind="stable")
        even = by_class[np.linspace(0, len(places) - 1, most).round().astype(np.intp)]
        first = [np.flatnonzero(codes == c)[:FEWEST_OF_CLASS] for c in range(len(labels))]
        return np.unique(mixed[np.concatenate([even, *first])])

    def _sums(self, learner: Learner, f: int) -> object:
        """Return the statistics of one training set; few rows without merging, which is slower."""
        if len(self.batch.codes) <= FEW_ROWS:
            return learner.summarize(part(self.batch, self.trainings[f]))
        return self._merged_sums(learner)[f]

    def _merged_sums(self, learner: Learner) -> list[object]:
        """Return the statistics of every training set; those of a choice are summed up once."""
        for other, found in self.sums:
            # Pooling and shrinking come after the sums.
            if self._may_be_covariances or other.chosen == learner.chosen:
                return found
        merged = self.merged([learner.summarize(part(self.batch, p)) for p in self.parts])
        self.sums.append((learner, merged))
        return merged


def part(batch: LabelledBatch, places: IntArray) -> LabelledBatch:
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


def _rows(rows: Any, places: IntArray) -> object:
    """Return some rows of a matrix, of a table, of sparse counts, or some documents."""
    if isinstance(rows, np.ndarray):
        return rows[places]
    if hasattr(rows, "taken"):  # documents
        return rows.taken(places)
    if isinstance(rows, SparseRows):
        return rows.take(places)
    matrix = None if rows.matrix is None else rows.matrix[places]
    cells = None if rows.cells is None else tuple(column[places] for column in rows.cells)
    return replace(rows, matrix=matrix, cells=cells)


def stratified_folds(codes: IntArray, folds: int = 10, random_state: int = 0) -> IntArray:
    """Return the fold of every row: each fold has its share of each class.

    The same folds as scikit-learn's StratifiedKFold(folds, shuffle=True, random_state=seed), so
    that a comparison can be checked by hand. A class with fewer rows than folds is absent from
    some, which is not an error here.

    Parameters
    ----------
    codes : ndarray of int
        The place (n,) of the class of every row.
    folds : int, default=10
        How many folds.
    random_state : int, default=0
        The seed.

    Returns
    -------
    ndarray of int
        The fold (n,) of every row.

    See Also
    --------
    held_out : Uses them.

    Examples
    --------
    >>> stratified_folds(np.array([0, 0, 0, 1, 1, 1]), 3).tolist()
    [2, 1, 0, 2, 0, 1]
    """
    folds = checked_folds(folds, len(codes))
    rng = np.random.RandomState(checked_seed(random_state))
    # Classes are taken in the order in which they appear: so are the draws for them.
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))[place]
    by_class = np.sort(order)
    shares = np.array([np.bincount(by_class[f::folds], minlength=len(first)) for f in range(folds)])
    found = np.empty(len(codes), dtype=np.intp)
    for c in range(len(first)):
        drawn = np.arange(folds).repeat(shares[:, c])
        rng.shuffle(drawn)
        found[order == c] = drawn
    return found


def checked_folds(folds: object, rows: int) -> int:
    """Return a number of folds that rows can be cut into, or refuse it."""
    if isinstance(folds, bool) or not isinstance(folds, Integral) or int(folds) < 2:
        raise BadSetting(
            f"folds={folds!r} is not a number of folds",
            hint="use a whole number from 2 on, such as 10",
        )
    if int(folds) > rows:
        raise BadSetting(
            f"{rows} rows cannot be cut into {folds} folds",
            hint=f"folds={min(rows, 3)} or more rows",
        )
    return int(folds)


def checked_seed(random_state: object) -> int:
    """Return a seed, or refuse what is none: a comparison must be repeatable."""
    if (
        isinstance(random_state, bool)
        or not isinstance(random_state, Integral)
        or int(random_state) < 0
    ):
        raise BadSetting(
            f"random_state={random_state!r} is not a seed",
            hint="use a whole number of at least 0: the same folds are drawn again for every model",
        )
    return int(random_state)


@dataclass(frozen=True, slots=True, eq=False)
class ShrinkageLosses:
    """Held-out log-loss of every shrinkage in every fold: (shrinkages, folds).

    Parameters
    ----------
    shrinks : ndarray of float
        The shrinkages.
    losses : ndarray of float
        Held-out log-loss (shrinkages, folds).

    See Also
    --------
    shrinkage_losses : Makes it.
    """

    shrinks: FloatArray
    losses: FloatArray

    @property
    def best(self) -> float:
        """The shrinkage of least mean log-loss; of equals the strongest, which is the simplest."""
        means = self.losses.mean(axis=1)
        return float(self.shrinks[np.flatnonzero(means <= means.min() + 1e-12)].max())


def shrinkage_losses(
    rows: LabelledRows,
    shrinks: Sequence[float] | FloatArray,
    *,
    folds: int = 10,
    random_state: int = 0,
) -> ShrinkageLosses:
    """Cross-validate GaussianDiscriminant(shrink=γ) for many γ, without a single refit.

    One statistic for each fold, training sets by merging, and one eigendecomposition for each
    training set, which serves all γ.

    Parameters
    ----------
    rows : LabelledRows
        Rows with labels, without blanks.
    shrinks : sequence of float or ndarray of float
        The values of γ.
    folds : int, default=10
        How many folds.
    random_state : int, default=0
        The seed of the folds.

    Returns
    -------
    ShrinkageLosses
        The held-out log-loss of each γ in each fold.

    See Also
    --------
    stratified_folds : The folds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.evaluation import LabelledRows
    >>> rows = LabelledRows.read(*load_iris(return_X_y=True))
    >>> found = shrinkage_losses(rows, [0.0, 0.1, 0.5, 1.0])
    >>> found.losses.mean(axis=1).round(3).tolist(), found.best
    ([0.059, 0.059, 0.077, 0.15], 0.1)
    """
    k = checked_folds(folds, len(rows))
    split = stratified_folds(rows.codes, k, random_state)
    table = read_table(rows.X)
    columns = Columns.infer(table)
    matrix = np.ascontiguousarray(columns.encode(table), dtype=np.float64)
    refuse_blanks(matrix, columns.coded_names)
    labels = range(len(rows.classes))
    learner = GaussianLearner(Gaussian("shared"))
    places = [np.flatnonzero(split == f) for f in range(k)]
    w = rows.weights

    def own(p: IntArray) -> FloatArray | None:
        return None if w is None else w[p]

    parts = [learner.summarize(matrix[p], rows.codes[p], list(labels), own(p)) for p in places]
    grid = np.asarray(shrinks, dtype=np.float64)
    losses = np.empty((len(grid), k))
    for f, statistics in enumerate(leave_one_out(parts)):
        p = places[f]
        path = shrinkage_path(statistics, grid)  # type: ignore[arg-type]
        found = path.log_posteriors(matrix[p])
        known = np.full(len(rows.classes), -1)
        known[np.array(path.labels, dtype=np.intp)] = np.arange(len(path.labels))
        at = known[rows.codes[p]]
        lost = -np.maximum(found[:, np.arange(len(p)), at], np.log(CLIP))
        lost[:, at < 0] = -np.log(CLIP)  # a class that the training rows did not hold
        losses[:, f] = np.average(lost, axis=1, weights=own(p))
    return ShrinkageLosses(grid, losses)
