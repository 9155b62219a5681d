"""Rows that judge settings of covariances: each by a model of all the others, none for another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.engines.threads import answers
from suffice.linear_algebra import normalized
from suffice.models.gaussian.family import Gaussian
from suffice.models.gaussian.leave_one_out.downdates import full_log_densities
from suffice.models.gaussian.leave_one_out.grid_downdates import grid_log_densities
from suffice.models.gaussian.model import GenerativeModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.leave_one_out.shrunk_downdates import Downdated
    from suffice.rows import FloatArray, IntArray


POOLS = (1.0, 0.65, 0.354, 0.125, 0.0)
"""Shares of the pooled covariance that are tried, the strongest regularization first: the grid of
Friedman (1989, Regularized Discriminant Analysis, JASA 84), his λ."""
SHRINKS = (1.0, 0.75, 0.5, 0.25, 0.0)
"""Shares of the shrinkage target that are tried: the same grid, his γ. Strongest first here too: a
tie goes to the simpler model."""
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


class Jury:
    """The rows by which settings are judged, and what each setting loses on them.

    `rows` are those that the summary is of, or some of them if not `complete`.
    """

    def __init__(
        self,
        summary: ClassSummary,
        rows: FloatArray,
        codes: IntArray,
        weights: FloatArray | None,
        log_priors: FloatArray | None,
        judged: IntArray,
        options: int,
        *,
        complete: bool = True,
    ) -> None:
        w = np.ones(len(codes)) if weights is None else weights
        # A weight of 3 means three rows: one of them is taken out, and judged by the others.
        self.removed = np.minimum(w, 1.0)
        # A row that is all its class has can be judged by nobody.
        held = summary.weights[codes[judged]]
        self.judged = judged[held - self.removed[judged] > 1e-12 * held]
        self.summary, self.rows, self.complete = summary, rows, complete
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
        self.certain: dict[Gaussian, FloatArray] = {}
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
        self.judge(new)
        certain = {option: self.certain_loss(option) for option in new}
        weight = max(float(self.weights.sum()), np.finfo(np.float64).tiny)
        least = min((self.losses[option] for option in options if option in self.losses),
                    default=np.inf)  # fmt: skip
        for option in sorted(new, key=certain.__getitem__):
            loss = certain[option]
            if np.isnan(self.certain[option]).any():
                loss = self.loss_of(self.log_posteriors(option, refit=loss / weight <= least))
            self.losses[option] = loss / weight
            least = min(least, self.losses[option])
        # A loss that is better by rounding only is not better.
        losses = [self.losses[option] for option in options]
        best = next(option for option in options if self.losses[option] <= min(losses) + 1e-12)
        return best, tuple(zip(options, losses, strict=True))

    def judge(self, options: list[Gaussian]) -> None:
        """Find out what settings say about the rows that need no refit."""
        self.certain.update(self._at_once(options))
        options = [option for option in options if option not in self.certain]
        cells = float(self.z.size) * self.summary.size * len(options)
        said = answers(lambda i: self._certain(options[i]), len(options), cells)
        self.certain.update(zip(options, said, strict=True))

    def certain_loss(self, family: Gaussian) -> float:
        """Return what rows lose that need no refit, added up."""
        return self.loss_of(self.certain[family])

    def loss_of(self, log_posteriors: FloatArray) -> float:
        """Return what rows lose by log posteriors (rows, k), added up; NaN is not judged yet."""
        own = -log_posteriors[np.arange(len(self.codes)), self.codes]
        return float(np.where(np.isnan(own), 0.0, np.minimum(own, WORST)) @ self.weights)

    def log_posteriors(self, family: Gaussian, *, refit: bool) -> FloatArray:
        """Return the log posteriors (rows, k) of all rows, refitted ones too if `refit`.

        Rows that are too many to be refitted one by one are judged by folds, from a little less
        than all other rows: that can only speak against a candidate. Where even folds would cost
        too much, such rows count as guessed by their priors: no reason to prefer a candidate.
        """
        found = self.certain[family].copy()
        places = np.flatnonzero(np.isnan(found).any(axis=1))
        found[places] = self.log_priors[places]
        if not refit or not len(places):
            return found
        if len(places) <= self.most_refits or not self.complete:
            parts = [places[i : i + 1] for i in range(len(places))][: max(1, self.most_refits)]
        elif min(self.most_folds, FOLDS) >= 2:
            parts = self._folds(places, min(self.most_folds, FOLDS))
        else:
            return found
        for part in parts:
            found[part] = self._said_without(family, part)
        return found

    def _at_once(self, options: list[Gaussian]) -> dict[Gaussian, FloatArray]:
        """Return what `_certain` would, for settings that no floor is near: side by side."""
        cost = float(self.z.size) * self.summary.size * float(self.summary.active.sum()) ** 2
        if cost > EXACT_BUDGET / self.options or not len(self.judged):
            return {}
        removed = self.removed[self.judged]
        families, found = grid_log_densities(options, self.summary, self.z, self.codes, removed)
        return dict(zip(families, self._posteriors(found), strict=True))

    def _certain(self, family: Gaussian) -> FloatArray:
        """Return log posteriors (rows, k), NaN for rows that need a refit."""
        if not len(self.judged):
            return np.full((0, self.summary.size), np.nan)
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
        return self._posteriors(found)

    def _posteriors(self, found: Downdated) -> FloatArray:
        """Return log posteriors (…, rows, k) by Bayes' rule, NaN for rows that need a refit."""
        out = np.full(found.log_densities.shape, np.nan)
        safe = ~found.unsafe & np.isfinite(found.log_densities).all(axis=-1)
        out[safe] = normalized((found.log_densities + self.log_priors)[safe])
        return out

    def _said_without(self, family: Gaussian, places: IntArray) -> FloatArray:
        """Return the log posteriors of some rows under a model of the others."""
        rest, there = self._without(places)
        rows = self.rows[self.judged[places]].astype(np.float64)
        if not self.complete:
            rows = self.z[places]
        with np.errstate(all="ignore"):
            normals, _ = family.estimate(rest)
            even = np.zeros(rest.size)
            model = GenerativeModel(tuple(range(rest.size)), even, normals, rest.weights)
            scores = np.full((len(places), len(there)), -np.inf)
            scores[:, there] = model.posterior(rows, log=True)
            found = normalized(scores + self.log_priors[places])
        return np.maximum(np.nan_to_num(found, nan=-WORST, neginf=-WORST), -WORST)

    def _folds(self, places: IntArray, count: int) -> list[IntArray]:
        """Part rows into folds, those of a class evenly over all of them."""
        order = places[np.argsort(self.codes[places], kind="stable")]
        return [order[start::count] for start in range(count)]

    def _without(self, places: IntArray) -> tuple[ClassSummary, NDArray[np.bool_]]:
        """Return the moments of all rows but some, and which classes they have."""
        from suffice.models.gaussian.leave_one_out.leave_one_out import summed_without, without_row

        key = places.tobytes()
        if key in self.others:
            return self.others[key]
        if not self.complete:
            i = int(places[0])
            weight = float(self.removed[self.judged[i]])
            rest, there = without_row(self.summary, self.z[i], int(self.codes[i]), weight)
            assert rest is not None  # there are more rows than these
            self.others[key] = rest, there
            return self.others[key]
        gone = np.zeros(len(self.all_codes))
        gone[self.judged[places]] = self.removed[self.judged[places]]
        held = np.ones(len(self.all_codes)) if self.all_weights is None else self.all_weights
        self.others[key] = summed_without(
            Gaussian("per-class"), self.rows, self.all_codes, held, gone
        )
        return self.others[key]
