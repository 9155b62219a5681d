"""Leave-one-out where cells are missing: the maximum of the likelihood without each row.

Most rows are one of many and move the maximum a little: `left_out_maxima` follows it for all of
them at once. What a row holds up alone it must not leave behind: without the only cell of a class
in a column EM would keep the mean it was started from, and with it the row. Such rows, and all
rows of tables so thin that the likelihood has several maxima, are estimated anew, from where EM
always begins.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting, DidNotConverge
from suffice.linear_algebra import normalized
from suffice.models.gaussian.learner import Fit, GaussianLearner
from suffice.models.gaussian.leave_one_out.maxima import LeftOutMaxima, Removed
from suffice.models.gaussian.missing.pattern_moments import shown_patterns
from suffice.models.gaussian.model import GenerativeModel
from suffice.models.left_out import LeaveOneOut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.family import Gaussian, GaussianStatistics
    from suffice.models.gaussian.missing.e_step import Shown
    from suffice.rows import FloatArray, IntArray, Label

JOINT_ROWS = 3.0
"""Rows that show a pair of columns, for every column: with fewer the likelihood may have several
maxima, and the nearest need not be the one that EM finds from its beginning. Measured on random
tables: differences up to 2(d + 1) rows, none above."""
JOINT_ROWS_HELD = 1.0
"""The same where pooling or shrinking holds covariances: no differences were seen at all."""
FEWEST_CELLS = 3
"""Cells of a class in a column that must be left for its mean to be one of many."""
NEAR_BUDGET = 2e10
"""Operations for following the maximum of all rows together; beyond, EM takes one step."""
ANEW_BUDGET = 4e9
"""Operations for rows that are estimated anew: a few seconds."""
STEP = 1e6
"""What a step of EM costs at least for each covariance, however small the table."""
TYPICAL_STEPS = 10.0
"""Steps along the chord that a row is reckoned to take when the budget is shared out. A choice:
every step is at most half the one before (`maxima.CONTRACTION`)."""
FEW_STEPS = 30
"""Steps from EM's own beginning for rows that must not be followed, beyond the budget."""


def leave_one_out_missing(
    family: Gaussian,
    statistics: GaussianStatistics,
    fit: Fit,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray | None,
    log_priors: FloatArray | None,
) -> LeaveOneOut:
    """Return what each row gets from the maximum of the observed likelihood without it.

    Equal to refits as far as EM itself is exact: it stops when parameters move by 1e-10 standard
    deviations, which leaves log posteriors that are good to about 1e-7.
    """
    if family.is_refitted:
        what = "covariance" if family.factors is None else "factors"
        raise BadSetting(
            f'{what}="{getattr(family, what)}" has no leave-one-out where cells are missing',
            hint="judge it by cross-validation, or fill in cells with impute first",
        )
    found = judged_missing(family, (family,), statistics, fit, rows, codes, weights, log_priors)
    return found[0]


def judged_missing(
    family: Gaussian,
    judges: tuple[Gaussian, ...],
    statistics: GaussianStatistics,
    fit: Fit,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray | None,
    log_priors: FloatArray | None,
) -> list[LeaveOneOut]:
    """Return the same for several settings of the moments to which EM by `family` comes."""
    held = np.ones(len(rows)) if weights is None else weights
    table = _Table(family, statistics, fit, rows, codes, held, log_priors, judges)
    found = np.full((len(rows), len(judges), len(fit.model.labels)), np.nan)
    alone, said = table.alone(), list[str]()
    places = np.flatnonzero(~alone)
    if table.is_regular() and table.cost(len(places)) <= NEAR_BUDGET:
        table.follow(places, found, flat=False)
    _anew(table, found, alone, said)
    approximate = "; ".join(said)
    return [
        LeaveOneOut(normalized(found[:, g]), codes, held, table.vanished, approximate)
        for g in range(len(judges))
    ]


def _anew(table: _Table, found: FloatArray, alone: NDArray[np.bool_], said: list[str]) -> None:
    """Fill in the rows of `found` that are NaN, those first that hold something up alone."""
    left = ANEW_BUDGET
    open_ = np.flatnonzero(np.isnan(found).any(axis=(1, 2)))
    restless = False
    over = []
    for i in open_[np.argsort(~alone[open_], kind="stable")]:
        if left <= 0.0 and not alone[i]:
            over.append(i)
            continue
        steps, moving = table.estimate(int(i), found, None if left > 0.0 else FEW_STEPS)
        left -= table.em_cost * max(1, steps) + table.summary_cost
        restless |= moving
    if over:
        places = np.array(over)
        if table.cost(len(places)) <= NEAR_BUDGET:
            table.follow(places, found, flat=True)
        rest = places[np.isnan(found[places]).any(axis=(1, 2))]
        if len(rest) < len(places):
            said.append("parameters that no row determines were held fixed for rows left out")
        places = rest
        for i in places:
            table.estimate(int(i), found, 1, start=table.fit.parameters)
        if len(places):
            said.append("EM took one step for each row that was left out")
    if restless:
        said.append("EM had not converged for some of the rows left out")


@dataclass(frozen=True, eq=False)
class _Table:
    """The rows (n, d) of a fit, and what it takes to be without one of them."""

    family: Gaussian
    statistics: Any
    fit: Fit
    rows: FloatArray
    codes: IntArray
    weights: FloatArray
    given: FloatArray | None
    judges: tuple[Gaussian, ...]

    @property
    def vanished(self) -> NDArray[np.bool_]:
        """Which rows are all that their class has."""
        held = self.fit.summary.weights[self.codes]
        gone: NDArray[np.bool_] = held - self.weights <= 1e-12 * held
        return gone

    @property
    def step_cost(self) -> float:
        """Operations of one E-step: a regression for every pattern of every covariance."""
        groups = 1 if self.family.covariance == "shared" else len(self.fit.model.labels)
        regression = 4.0 * float(self.rows.shape[1]) ** 3 + 4e3
        return groups * len(self.statistics.groups) * regression

    @property
    def em_cost(self) -> float:
        """Operations of one step of EM."""
        return max(STEP * len(self._sets()), self.step_cost)

    @property
    def summary_cost(self) -> float:
        """Operations of summing up all other rows."""
        return float(self.rows.size) * float(self.rows.shape[1])

    def cost(self, count: int) -> float:
        """Operations for following the maximum of so many rows."""
        return TYPICAL_STEPS * count * self.step_cost

    @property
    def active(self) -> IntArray:
        """The columns that vary."""
        return np.flatnonzero(self.fit.summary.active)

    def alone(self) -> NDArray[np.bool_]:
        """Which rows hold something up that only an estimate anew can take away.

        All of a class's cells in a column, or a pair of columns that no other row shows together.
        """
        seen = ~np.isnan(self.rows)
        found = self.vanished.copy()
        for c in range(len(self.fit.model.labels)):
            own = self.codes == c
            cells = self.weights[own] @ seen[own]
            left = cells - self.weights[own, np.newaxis]
            found[own] |= np.any(seen[own] & (left <= 1e-12 * cells), axis=1)
        for members in self._sets():
            own = np.isin(self.codes, members)
            shown = seen[own].astype(np.float64)
            pairs = shown.T @ shown
            # Few rows show a pair that is shown once: only they are looked at pair by pair.
            rare = pairs == 1.0
            found[own] |= np.einsum("ij,jk,ik->i", shown, rare.astype(np.float64), shown) > 0.0
        return found

    def _sets(self) -> list[IntArray]:
        """Return the classes of each covariance."""
        size = len(self.fit.model.labels)
        if self.family.covariance == "shared":
            return [np.arange(size)]
        return [np.array([c]) for c in range(size)]

    def is_regular(self) -> bool:
        """Tell whether the likelihood has one maximum, and so many rows that none moves it far."""
        family, act = self.family, self.active
        if self.fit.parameters is None or not len(act):
            return False
        seen = ~np.isnan(self.rows[:, act])
        for c in range(len(self.fit.model.labels)):
            if seen[self.codes == c].sum(axis=0).min() <= FEWEST_CELLS:
                return False
        held = bool(family.pool or family.shrink or family.predictive)
        enough = JOINT_ROWS_HELD if held else JOINT_ROWS
        for members in self._sets():
            shown = seen[np.isin(self.codes, members)].astype(np.float64)
            if (shown.T @ shown).min() <= enough * (len(act) + 1):
                return False
        least = 1.0 if family.divisor == "unbiased" else 0.0
        return bool((self.fit.summary.weights > 2.0 * least + self.weights.max()).all())

    # Maxima close by

    def follow(self, places: IntArray, found: FloatArray, *, flat: bool) -> None:
        """Write log joint densities of rows whose maxima are near that of the whole table."""
        assert self.fit.parameters is not None
        act, observed = self.active, self.fit.summary
        means, covariances = self.fit.parameters
        means, covariances = means[:, act], covariances[:, act[:, np.newaxis], act]
        for classes, maxima in self._maxima():
            own = places[np.isin(self.codes[places], classes)]
            if not len(own):
                continue
            cells = observed.standardized(self.rows[own].astype(np.float64))[:, act]
            patterns = _pattern_of(cells, self.codes[own], classes, maxima)
            codes = np.searchsorted(classes, self.codes[own])
            removed = Removed(cells, codes, self.weights[own], patterns)
            shared = len(maxima.groups) == 1 and len(classes) > 1
            moments, done = maxima.moments_at_maxima(
                means[classes], covariances if shared else covariances[classes], removed, flat=flat
            )
            for i in np.flatnonzero(done):
                rest = self._without(
                    classes, moments.weights[i], moments.means[i], moments.scatters[i]
                )
                found[own[i]] = self._judged(rest, int(own[i]))

    def _maxima(self) -> Iterator[tuple[IntArray, LeftOutMaxima]]:
        """Yield classes whose parameters depend on each other, with their map."""
        family, labels = self.family, self.fit.model.labels
        observed = self.fit.summary
        groups = [
            (members, tuple(shown_patterns(self.statistics, labels, members, observed)))
            for members in self._sets()
        ]
        apart = family.covariance != "shared" and not (family.pool or family.predictive)
        if apart and not (family.shrink and family.shrink_target == "scaled"):
            for members, shown in groups:
                inner = ((np.zeros(1, dtype=np.intp), shown),)
                yield members, LeftOutMaxima(family, observed.weights[members], inner)
            return
        yield np.arange(len(labels)), LeftOutMaxima(family, observed.weights, tuple(groups))

    def _without(
        self, classes: IntArray, weights: FloatArray, means: FloatArray, scatters: FloatArray
    ) -> ClassSummary:
        """Return the completed moments of all classes, some of which have changed."""
        whole, act = self.fit.summary, self.active
        new_weights, new_means = whole.weights.copy(), whole.means.copy()
        new_weights[classes] = weights
        new_means[np.ix_(classes, act)] = means
        inner = np.ix_(act, act)
        new_scatters = None
        if whole.scatters is None:
            scatter = np.zeros_like(whole.scatter)
            scatter[inner] = scatters[0]
        else:
            new_scatters = whole.scatters.copy()
            for c, own in zip(classes, scatters, strict=True):
                new_scatters[c][inner] = own
            scatter = new_scatters.sum(axis=0)
        counts = np.broadcast_to(new_weights[:, np.newaxis], new_means.shape)
        return replace(
            whole,
            weights=new_weights,
            means=new_means,
            scatter=scatter,
            scatters=new_scatters,
            counts=counts,
        )

    def _judged(self, rest: ClassSummary, place: int) -> FloatArray:
        log_priors = np.log(rest.weights / rest.weight) if self.given is None else self.given
        return self._said(rest, place, self.fit.model.labels, log_priors)

    def _said(
        self, rest: ClassSummary, place: int, labels: tuple[Label, ...], log_priors: FloatArray
    ) -> FloatArray:
        """Return the log posteriors of a row (g, k), by every setting that judges."""
        row = self.rows[place : place + 1].astype(np.float64)
        found = []
        for judge in self.judges:
            densities, _ = judge.estimate(rest)
            model = GenerativeModel(labels, log_priors, densities, rest.weights)
            found.append(model.posterior(row, log=True)[0])
        return np.array(found)

    # Estimates anew

    def estimate(
        self,
        place: int,
        found: FloatArray,
        most_steps: int | None,
        start: tuple[FloatArray, FloatArray] | None = None,
    ) -> tuple[int, bool]:
        """Write the log posterior of a row from an estimate without it; how long that took.

        Returns EM's steps, and whether it was still moving.
        """
        labels = self.fit.model.labels
        others = np.arange(len(self.rows)) != place
        learner = GaussianLearner(self.family)
        result = found[place]
        result[:] = -np.inf
        if not others.any():
            result[:] = 0.0
            return 0, False
        left = learner.summarize(
            self.rows[others], self.codes[others], labels, self.weights[others]
        )
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", DidNotConverge)
            whole = len(left.labels) == len(labels)
            rest = learner.fit(left, start=start if whole else None, most_steps=most_steps)
        kept = [labels.index(label) for label in left.labels]
        log_priors = rest.model.log_priors if self.given is None else self.given[kept]
        result[:, kept] = self._said(rest.summary, place, rest.model.labels, log_priors)
        return rest.steps, bool(told)


def _pattern_of(
    cells: FloatArray, codes: IntArray, classes: IntArray, maxima: LeftOutMaxima
) -> IntArray:
    """Return which of its group's patterns each row has (n,)."""
    width = cells.shape[1]
    seen = ~np.isnan(cells)
    found = np.full(len(cells), -1)
    for members, shown in maxima.groups:
        known = {_mask(part, width): p for p, part in enumerate(shown)}
        for i in np.flatnonzero(np.isin(codes, classes[members])):
            found[i] = known[seen[i].tobytes()]
    return found


def _mask(shown: Shown, width: int) -> bytes:
    mask = np.zeros(width, dtype=bool)
    mask[shown.places] = True
    return mask.tobytes()
