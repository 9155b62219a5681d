"""Shrinkage chosen from the data: covariance="auto", and the whole path of shrinkages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.engines.threads import answers, pinned
from suffice.errors import BadSetting
from suffice.linear_algebra import correlation_scaled, normalized
from suffice.models.gaussian.class_moments import ClassSummary
from suffice.models.gaussian.family import Gaussian
from suffice.models.gaussian.floors import EIGENVALUE_FLOOR, VARIANCE_FLOOR
from suffice.models.gaussian.learner import GaussianLearner
from suffice.models.gaussian.leave_one_out.downdates import full_log_densities
from suffice.models.gaussian.leave_one_out.leave_one_out import summed_without
from suffice.models.gaussian.model import GenerativeModel
from suffice.models.linear.form import LinearForm

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray, Label
    from suffice.statistics import ByPattern, PooledMoments


POOLS = (1.0, 0.65, 0.354, 0.125, 0.0)
"""Shares of the pooled covariance that are tried, the strongest regularization first: the grid of
Friedman (1989, Regularized Discriminant Analysis, JASA 84), his λ."""
SHRINKS = (1.0, 0.75, 0.5, 0.25, 0.0)
"""Shares of the shrinkage target that are tried: the same grid, his γ. Strongest first here too: a
tie goes to the simpler model."""
JUDGED_BUDGET = 2e11
"""Operations that may be spent on judging rows; beyond, a stratified part of them is judged."""
FEWEST_JUDGED = 400
"""Rows that are judged at least, whatever they cost. A choice: the standard error of a share of 400
rows is at most √(¼/400) = 2.5 %."""
EXACT_BUDGET = 4e8
"""Operations for all candidates together by which shrinking is judged exactly, row by row."""
REFIT_BUDGET = 2e8
"""Operations for one candidate that rows may cost which only a refit can judge, row by row."""
FOLDS = 10
"""Where these do not suffice, rows are judged by models of the other folds, all of them."""
FOLD_BUDGET = 2e10
"""Operations for the folds of all candidates together; beyond, such rows count as guessed."""
GRID_BUDGET = 1e11
"""Operations for all candidates' covariances beyond which not every candidate is judged."""
REFIT = 1e6
"""What a refit costs at least, however narrow the table."""
WORST = 1e6
"""A row that loses more tells of a floor, which its removal has laid, and not of the candidate."""


def candidates(divisor: str) -> Iterator[Gaussian]:
    """Yield every setting that is compared, simplest first."""
    start = Gaussian("per-class", divisor=divisor)
    for pool in POOLS:
        for shrink in SHRINKS:
            for target in ("scaled", "diagonal") if shrink > 0.0 else ("diagonal",):
                yield replace(start, pool=pool, shrink=shrink, shrink_target=target)


def choose(
    summary: ClassSummary,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray | None,
    log_priors: FloatArray | None,
    divisor: str,
) -> tuple[Gaussian, tuple[tuple[Gaussian, float], ...]]:
    """Return the setting of least leave-one-out log-loss, and the loss of every candidate.

    All candidates are estimated from the same moments: no pass over the rows but one
    whitening per candidate and class. Where even that costs much, not all are judged: see
    `_by_neighbours`.
    """
    options = list(candidates(divisor))
    judged = _judged(summary, codes, len(options))
    jury = _Jury(summary, rows, codes, weights, log_priors, judged, len(options))
    width = float(summary.active.sum())
    if len(options) * summary.size * 10.0 * width**3 <= GRID_BUDGET:
        return jury.verdict(options)
    return _by_neighbours(jury, options)


def _by_neighbours(
    jury: _Jury, options: list[Gaussian]
) -> tuple[Gaussian, tuple[tuple[Gaussian, float], ...]]:
    """Judge what is pooled all the way, and then the neighbours of the best until it stays best."""
    known = [option for option in options if option.pool == 1.0]
    while True:
        best, found = jury.verdict(known)
        here = _steps(best)
        near = [
            option
            for option in options
            if option not in known
            and sum(abs(i - j) for i, j in zip(_steps(option), here, strict=True)) <= 1
        ]
        if not near:
            return best, found
        known = [option for option in options if option in known or option in near]


def _steps(option: Gaussian) -> tuple[int, int, int]:
    """Return where a candidate stands in the grid."""
    target = int(bool(option.shrink) and option.shrink_target == "diagonal")
    return POOLS.index(option.pool or 0.0), SHRINKS.index(option.shrink or 0.0), target


def _judged(summary: ClassSummary, codes: IntArray, options: int) -> IntArray:
    """Return which rows are judged: all of them, or an even share of every class."""
    width = max(1, int(summary.active.sum()))
    most = int(JUDGED_BUDGET / (4.0 * options * summary.size * width**2))
    most = max(FEWEST_JUDGED, most)
    if len(codes) <= most:
        return np.arange(len(codes), dtype=np.intp)
    order = np.argsort(codes, kind="stable")
    return np.sort(order[_spread(len(codes), most)])


def _spread(length: int, most: int) -> IntArray:
    """Return at most `most` places, evenly over 0 … length - 1."""
    return np.linspace(0, length - 1, min(most, length)).round().astype(np.intp)


class _Jury:
    """The rows by which candidates are judged, and what each candidate loses on them."""

    def __init__(
        self,
        summary: ClassSummary,
        rows: FloatArray,
        codes: IntArray,
        weights: FloatArray | None,
        log_priors: FloatArray | None,
        judged: IntArray,
        options: int,
    ) -> None:
        w = np.ones(len(codes)) if weights is None else weights
        # A weight of 3 means three rows: one of them is taken out, and judged by the others.
        self.removed = np.minimum(w, 1.0)
        # A row that is all its class has can be judged by nobody.
        held = summary.weights[codes[judged]]
        self.judged = judged[held - self.removed[judged] > 1e-12 * held]
        self.summary, self.rows = summary, rows
        self.all_codes, self.all_weights = codes, weights
        self.z = summary.standardized(rows[self.judged].astype(np.float64))
        self.codes, self.weights = codes[self.judged], w[self.judged]
        self.others: dict[bytes, tuple[ClassSummary, NDArray[np.bool_]]] = {}
        if log_priors is None:
            left = np.tile(summary.weights, (len(self.judged), 1))
            left[np.arange(len(left)), self.codes] -= self.removed[self.judged]
            self.log_priors = np.log(left / left.sum(axis=1, keepdims=True))
        else:
            self.log_priors = np.tile(log_priors, (len(self.judged), 1))
        self.options = options
        cost = max(REFIT, summary.size * 30.0 * float(summary.active.sum()) ** 3)
        self.most_refits = int(REFIT_BUDGET / cost)
        self.most_folds = int(FOLD_BUDGET / (cost * options))
        self.certain: dict[Gaussian, tuple[float, IntArray]] = {}
        self.losses: dict[Gaussian, float] = {}

    def verdict(
        self, options: list[Gaussian]
    ) -> tuple[Gaussian, tuple[tuple[Gaussian, float], ...]]:
        """Return the best candidate, and what each one loses.

        That is the mean of -log p(y | x), each row judged by a model of all the others. Floors
        are held fixed. A row that holds up a direction by itself needs a refit: those are done
        for candidates that may still be the best; where they are too many, by folds. A loss
        stands for all rows: no candidate is preferred for what a few of them say.
        """
        new = [option for option in options if option not in self.certain]
        cells = float(self.z.size) * self.summary.size * len(new)
        said = answers(lambda i: self._certain(new[i]), len(new), cells)
        self.certain.update(zip(new, said, strict=True))
        weight = max(float(self.weights.sum()), np.finfo(np.float64).tiny)
        least = min((self.losses[option] for option in options if option in self.losses),
                    default=np.inf)  # fmt: skip
        for option in sorted(new, key=lambda option: self.certain[option][0]):
            lost, places = self.certain[option]
            refit = len(places) > 0 and lost / weight <= least
            lost += self._refitted(option, places) if refit else self._guessed(places)
            self.losses[option] = lost / weight
            least = min(least, lost / weight)
        # A loss that is better by rounding only is not better.
        losses = [self.losses[option] for option in options]
        best = next(option for option in options if self.losses[option] <= min(losses) + 1e-12)
        return best, tuple(zip(options, losses, strict=True))

    def _certain(self, family: Gaussian) -> tuple[float, IntArray]:
        """Return what rows lose that need no refit, added up, and which rows need one."""
        if not len(self.judged):
            return 0.0, self.judged
        normals, _ = family.estimate(self.summary)
        with np.errstate(all="ignore"):
            found, _ = full_log_densities(
                family,
                self.summary,
                normals,  # type: ignore[arg-type]
                self.z,
                self.codes,
                self.removed[self.judged],
                EXACT_BUDGET / self.options,
                hold_floors=True,
            )
        safe = ~found.unsafe & np.isfinite(found.log_densities).all(axis=1)
        places = np.flatnonzero(safe)
        if not len(places):
            return 0.0, np.flatnonzero(~safe)
        scores = normalized(found.log_densities[places] + self.log_priors[places])
        own = scores[np.arange(len(places)), self.codes[places]]
        return float(np.minimum(-own, WORST) @ self.weights[places]), np.flatnonzero(~safe)

    def _guessed(self, places: IntArray) -> float:
        """Return what rows lose whose class is guessed by its prior."""
        return float(-self.log_priors[places, self.codes[places]] @ self.weights[places])

    def _refitted(self, family: Gaussian, places: IntArray) -> float:
        """Return what rows lose, by refits without them, from moments summed once for all.

        Rows that are too many to be refitted one by one are judged by folds, from a little less
        than all other rows: that can only speak against a candidate. Where even folds would cost
        too much, such rows count as guessed by their priors: no reason to prefer a candidate.
        """
        if len(places) <= self.most_refits:
            parts = [places[i : i + 1] for i in range(len(places))]
        elif min(self.most_folds, FOLDS) >= 2:
            parts = self._folds(places, min(self.most_folds, FOLDS))
        else:
            return self._guessed(places)
        return sum(self._lost_without(family, part) for part in parts)

    def _lost_without(self, family: Gaussian, places: IntArray) -> float:
        """Return what some rows lose, added up, under a model of the others."""
        rest, there = self._without(places)
        rows = self.rows[self.judged[places]].astype(np.float64)
        with np.errstate(all="ignore"):
            normals, _ = family.estimate(rest)
            even = np.zeros(rest.size)
            model = GenerativeModel(tuple(range(rest.size)), even, normals, rest.weights)
            scores = np.full((len(places), len(there)), -np.inf)
            scores[:, there] = model.posterior(rows, log=True)
            found = normalized(scores + self.log_priors[places])
        lost = -found[np.arange(len(places)), self.codes[places]]
        lost = np.minimum(np.nan_to_num(lost, nan=WORST, posinf=WORST), WORST)
        return float(lost @ self.weights[places])

    def _folds(self, places: IntArray, count: int) -> list[IntArray]:
        """Part rows into folds, those of a class evenly over all of them."""
        order = places[np.argsort(self.codes[places], kind="stable")]
        return [order[start::count] for start in range(count)]

    def _without(self, places: IntArray) -> tuple[ClassSummary, NDArray[np.bool_]]:
        """Return the moments of all rows but some, and which classes they have."""
        key = places.tobytes()
        if key not in self.others:
            gone = np.zeros(len(self.all_codes))
            gone[self.judged[places]] = self.removed[self.judged[places]]
            held = np.ones(len(self.all_codes)) if self.all_weights is None else self.all_weights
            self.others[key] = summed_without(
                Gaussian("per-class"), self.rows, self.all_codes, held, gone
            )
        return self.others[key]


@dataclass(frozen=True, eq=False)
class ShrinkagePath:
    """Linear classifiers, one for each shrinkage: `weights` (s, k, d), `offsets` (s, k).

    Shrinking toward the diagonal does not turn the eigenvectors of the correlation matrix:
    (1 - γ)R + γI has the eigenvalues (1 - γ)λ + γ. So one decomposition serves all γ.
    """

    labels: tuple[Label, ...]
    shrinks: FloatArray
    weights: FloatArray
    offsets: FloatArray
    origin: FloatArray

    def __len__(self) -> int:
        """How many shrinkages there are."""
        return len(self.shrinks)

    def __getitem__(self, place: int) -> LinearForm:
        """Return one classifier."""
        return LinearForm(self.labels, self.weights[place], self.offsets[place], self.origin)

    def log_posteriors(self, rows: FloatArray) -> FloatArray:
        """Return log p(y | x) under every shrinkage, (s, n, k)."""
        s, k, d = self.weights.shape
        # Shrinkages last: sums over few classes are slow along the last axis.
        by_class = self.weights.transpose(1, 0, 2).reshape(k * s, d)
        with pinned():
            scores = ((rows - self.origin) @ by_class.T).reshape(len(rows), k, s)
        scores += self.offsets.T
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return scores.transpose(2, 0, 1)


def shrinkage_path(
    statistics: ByPattern[PooledMoments],
    shrinks: Sequence[float] | FloatArray,
    *,
    priors: Mapping[Label, float] | None = None,
    divisor: str = "mle",
) -> ShrinkagePath:
    """Return the classifiers that covariance="shared" gives at each of many shrinkages.

    With `suffice.statistics.leave_one_out` over folds this cross-validates them all.

    >>> import numpy as np
    >>> learner = GaussianLearner(Gaussian("shared"))
    >>> x = np.random.default_rng(0).normal(size=(30, 3))
    >>> path = shrinkage_path(learner.summarize(x, np.arange(30) % 2, ["a", "b"]), [0.0, 0.5, 1.0])
    >>> path.log_posteriors(x).shape
    (3, 30, 2)
    """
    grid = np.asarray(shrinks, dtype=np.float64)
    if grid.ndim != 1 or not np.all((grid >= 0.0) & (grid <= 1.0)):
        raise BadSetting(f"shrinks={shrinks!r} are not all in 0 … 1", hint="0 is no shrinking")
    family = Gaussian("shared", divisor=divisor)
    if not family.accepts(statistics) or not statistics.is_complete:
        raise BadSetting(
            "a shrinkage path needs the pooled moments of complete rows",
            hint='collect them with Gaussian("shared"); impute missing cells first',
        )
    labels = statistics.labels
    summary = ClassSummary.of(statistics, labels)
    log_priors = GaussianLearner(family, priors).log_priors(labels, summary.weights)
    act = summary.active
    with pinned():
        covariance = family.pooled(summary)
        deviations = np.sqrt(np.maximum(np.diagonal(covariance), VARIANCE_FLOOR))
        correlation = correlation_scaled(covariance, deviations)
        np.fill_diagonal(correlation, 1.0)
        values, vectors = np.linalg.eigh(correlation)
        turned = (summary.means[:, act] / deviations) @ vectors  # (k, a)
        shrunk = (1.0 - grid[:, np.newaxis]) * values + grid[:, np.newaxis]
        shrunk = np.maximum(shrunk, EIGENVALUE_FLOOR)
        solved = turned / shrunk[:, np.newaxis, :]  # (s, k, a)
        back = (vectors / deviations[:, np.newaxis]).T / summary.scale[act]  # (a, a)
        weights = np.zeros((len(grid), len(labels), summary.width))
        weights[:, :, act] = (solved.reshape(-1, len(deviations)) @ back).reshape(
            len(grid), len(labels), -1
        )
    offsets = log_priors - (solved * turned).sum(axis=2) / 2.0 - weights @ summary.origin_low
    return ShrinkagePath(labels, grid, weights, offsets, summary.origin)
