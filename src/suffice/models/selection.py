"""covariance="auto": pool, shrink and its target chosen by leave-one-out log-loss."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.engines.threads import answers
from suffice.families.gaussian import Gaussian
from suffice.families.notes import Note
from suffice.linear_algebra import normalized
from suffice.models.downdates import full_log_densities
from suffice.models.leave_one_out import leave_one_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.families.summary import ClassSummary
    from suffice.rows import FloatArray, IntArray

POOLS = (1.0, 0.65, 0.354, 0.125, 0.0)
SHRINKS = (1.0, 0.75, 0.5, 0.25, 0.0)
"""Friedman's grid, the strongest regularization first: a tie goes to the simpler model."""
JUDGED_BUDGET = 2e11
"""Operations that may be spent on judging rows; beyond, a stratified part of them is judged."""
FEWEST_JUDGED = 400
EXACT_BUDGET = 2e8
"""Operations for one candidate below which its shrinking is judged exactly."""
REFIT_BUDGET = 5e9
"""Operations for all candidates together that rows may cost which only a refit can judge."""

ALONE = Note("a direction is held up by one row", "the row is refitted", classes=(0,))
"""Tells leave-one-out to refit."""


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
    whitening per candidate and class.
    """
    options = list(candidates(divisor))
    judged = _judged(summary, codes, len(options))
    jury = _Jury(summary, rows, codes, weights, log_priors, judged, len(options))
    cells = float(len(judged)) * summary.width * summary.size * len(options)
    said = answers(lambda i: jury.loss(options[i]), len(options), cells)
    found = tuple(zip(options, said, strict=True))
    losses = np.nan_to_num(np.array(said), nan=np.inf, posinf=np.inf)
    # A loss that is better by rounding only is not better.
    best = int(np.flatnonzero(losses <= losses.min() + 1e-12)[0])
    return found[best][0], found


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
        self.summary, self.rows, self.given = summary, rows, log_priors
        self.all_codes, self.all_weights = codes, weights
        self.z = summary.standardized(rows[self.judged].astype(np.float64))
        self.codes, self.weights = codes[self.judged], w[self.judged]
        if log_priors is None:
            left = np.tile(summary.weights, (len(self.judged), 1))
            left[np.arange(len(left)), self.codes] -= self.removed[self.judged]
            self.log_priors = np.log(left / left.sum(axis=1, keepdims=True))
        else:
            self.log_priors = np.tile(log_priors, (len(self.judged), 1))
        cost = options * summary.size * 30.0 * float(summary.active.sum()) ** 3
        self.most_refits = int(REFIT_BUDGET / max(cost, 1.0))

    def loss(self, family: Gaussian) -> float:
        """Return the mean of -log p(y | x), each row judged by a model of all the others.

        Floors are held fixed. A row that holds up a direction by itself needs a refit; if
        these are many, some of them, evenly chosen, stand for all.
        """
        if not len(self.judged):
            return 0.0
        normals, _ = family.estimate(self.summary)
        with np.errstate(all="ignore"):
            found, _ = full_log_densities(
                family,
                self.summary,
                normals,  # type: ignore[arg-type]
                self.z,
                self.codes,
                self.removed[self.judged],
                EXACT_BUDGET,
            )
        safe = ~found.unsafe & np.isfinite(found.log_densities).all(axis=1)
        places = np.flatnonzero(safe)
        total = 0.0
        if len(places):
            scores = normalized(found.log_densities[places] + self.log_priors[places])
            own = scores[np.arange(len(places)), self.codes[places]]
            total = float(-own @ self.weights[places])
        if not safe.all():
            total += self._refitted(family, np.flatnonzero(~safe))
        return total / float(self.weights.sum())

    def _refitted(self, family: Gaussian, places: IntArray) -> float:
        """Return what rows lose, by refits without them.

        Where even one refit for each candidate would cost too much, such rows count as guessed
        by their priors: no reason to prefer a candidate, nor to rule it out.
        """
        if self.most_refits == 0:
            guessed = self.log_priors[places, self.codes[places]]
            return float(-guessed @ self.weights[places])
        some = places[_spread(len(places), self.most_refits)]
        normals, _ = family.estimate(self.summary)
        with np.errstate(invalid="ignore"):
            result = leave_one_out(
                family,
                self.summary,
                normals,
                (ALONE,),
                self.rows,
                self.all_codes,
                self.all_weights,
                self.given,
                chosen=self.judged[some],
                removed=self.removed,
                refit_budget=np.inf,
                exact_budget=np.inf,
            )
        return result.log_loss * float(self.weights[places].sum())
