"""From labelled rows to the maximum of the likelihood, by the cheapest way there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.linear.logistic.newton import Factor, Minimum, conjugate, descend, newton
from suffice.models.linear.logistic.objective import Objective
from suffice.models.linear.logistic.preconditioners import (
    blocks_inverse,
    bound_inverse,
    for_all_rows,
    product_inverse,
    row_norm_lower_bound,
    row_norm_upper_bound,
    sampled_hessian,
)
from suffice.models.linear.logistic.start import are_independent, basis_of, gda_start

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.models.linear.logistic.loss import LogisticLoss
    from suffice.models.linear.logistic.objective import Point
    from suffice.models.linear.logistic.start import Start
    from suffice.rows import FloatArray

SAMPLE = 20_480
"""Rows whose Hessian stands for that of all, at least: twenty blocks of `loss.BLOCK` rows;"""
PER_COLUMN = 20
"""and rows of the sample for each column. A choice: eigenvalues of a covariance of 20d rows,
relative to the true one, lie between (1 ∓ √(1/20))², 0.60 and 1.50 (Marchenko and Pastur 1967):
near enough for a preconditioner."""

FEWEST_SAMPLES = 4
"""Samples that all rows must be worth, for a sample to pay. A choice."""

SMALL_WORK = 4e8
"""(n + p)·p², the multiplications of one Hessian, up to which Newton's steps over all rows are the
quickest way. A choice: a step takes some hundredths of a second;"""
MODERATE_WORK = 1e10
"""and up to which they are quick enough, for two classes without a sample: a second or two."""

FEW_ROWS = 5_000
"""Rows of a sample where there are many parameters, at least;"""
PER_PARAMETER = 4
"""and rows for each of them. A choice: fewer than `PER_COLUMN`, since with many parameters every
row costs more."""

MANY_PARAMETERS = 3_000
"""Parameters from which no Hessian is written down unless it is asked for: it takes 72 MB."""

MANY_COLUMNS = 2_500
"""Columns from which not even their correlations are: 50 MB, and as many products for every row."""

ROUNDS = (25, 25, 50, 100)
"""Passes after which an idea of the Hessian is exchanged for a newer one; the last is repeated. A
choice: the nearer the minimum, the less it changes."""

NEWTON_WORK = 1e10
"""Multiplications that Newton's steps may take where it is not known whether a maximum exists: a
second or two. Where one is known to exist they lead to it, however many there are."""

ENDING_PASSES = 50
"""Passes, by the Hessian of all rows, in which a maximum that is near is found. A choice."""

PATIENT_STEPS = 30
"""Newton's steps after which those that hardly help end the search: there may be no maximum.
Choices, all three;"""
FEW_STEPS = 5
"""and after which they end the search from where it began;"""
MOST_STEPS = 200
"""and how many passes they may take."""

MOST_PASSES = 1_000
"""Passes over the rows, at most. A choice."""

NEAR_DECREMENT = 1e-4
"""The decrement, in standard errors, from which the Hessian is computed: it will hardly change any
more;"""
SAME_HESSIAN = 1e-7
"""and how much it may, relatively, until the end: seven digits of a covariance are enough."""


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """Where the search ended, and what it learned on the way.

    hessian  that of all rows, at the end (to seven digits); None where it was not needed
    lower    one that is surely not above it: that of a sample, at the end; None where `hessian` is
    """

    objective: Objective
    found: Minimum
    hessian: FloatArray | None
    lower: FloatArray | None


def search(
    loss: LogisticLoss,
    penalty: float,
    start: FloatArray | None,
    tolerance: float,
    with_hessian: bool,
    most: int = MOST_PASSES,
    patient: bool = False,
) -> Search:
    """Return the maximum of the likelihood, however it is best looked for.

    start         θ to begin with; None is the one that GDA implies
    with_hessian  whether the Hessian of all rows is wanted as well
    patient       whether it is known that there is a maximum, so that the search must not give up
    """
    m, width = loss.shape
    n, p = len(loss), m * width
    if not loss.intercept:
        return _without_intercept(loss, penalty, start, tolerance, with_hessian, most, patient)
    if width > MANY_COLUMNS or (loss.is_sparse and p > MANY_PARAMETERS):
        return _wide(loss, penalty, start, tolerance, with_hessian, most)
    sample = loss.sampled(max(SAMPLE, PER_COLUMN * width))
    if len(sample) * FEWEST_SAMPLES > n or (sample.class_weights < width).any():
        sample = loss
    first = gda_start(sample)
    objective = Objective(loss, penalty, _basis(loss, sample, first, penalty))
    begin = objective.place(first.theta if start is None else start)
    cost = float(n + p) * p**2
    if cost <= (SMALL_WORK if sample is loss else 0.1 * SMALL_WORK):
        return _by_newton(objective, begin, tolerance, most, patient)
    if m == 1 and sample is not loss:
        return _by_sample(objective, sample, begin, tolerance, with_hessian, most)
    if m == 1 and cost <= MODERATE_WORK:
        return _by_newton(objective, begin, tolerance, most, patient)
    return _by_product(objective, first, begin, tolerance, with_hessian, most, cost, patient)


def _without_intercept(
    loss: LogisticLoss,
    penalty: float,
    start: FloatArray | None,
    tolerance: float,
    with_hessian: bool,
    most: int,
    patient: bool,
) -> Search:
    """No intercept: Newton's steps from θ = 0, by conjugate gradients where there is too much.

    What stands for the Hessian elsewhere is about centred columns.
    """
    p = loss.shape[0] * loss.shape[1]
    if loss.shape[1] > MANY_COLUMNS or float(len(loss) + p) * p**2 > MODERATE_WORK:
        return _wide(loss, penalty, start, tolerance, with_hessian, most)
    objective = objective_of(loss, penalty)
    begin = objective.place(np.zeros(loss.shape) if start is None else start)
    return _by_newton(objective, begin, tolerance, most, patient)


def objective_of(loss: LogisticLoss, penalty: float) -> Objective:
    """Return the objective over rows, in the directions that they can tell apart."""
    if loss.shape[1] > MANY_COLUMNS:
        return Objective(loss, penalty)
    return Objective(loss, penalty, _basis(loss, loss, gda_start(loss), penalty))


def _basis(
    loss: LogisticLoss, sample: LogisticLoss, first: Start, penalty: float
) -> FloatArray | None:
    """Return the directions that rows can tell apart; a penalty tells all apart."""
    if penalty > 0.0 or are_independent(first.correlations):
        return None
    whole = first if sample is loss else gda_start(loss)
    return basis_of(whole.correlations, loss.inverse > 0.0)


def _by_newton(
    objective: Objective, begin: FloatArray, tolerance: float, most: int, patient: bool
) -> Search:
    """Newton's steps from where they were asked to begin; else from the class frequencies.

    A start in a flat place, where hardly a row is in doubt, is worse than none: from the class
    frequencies Newton's method nearly always finds its way.
    """
    most = min(most, MOST_STEPS)
    found = newton(objective.evaluate, _better(objective, begin, True), tolerance, most, FEW_STEPS)
    point, passes = found.point, found.passes
    if found.decrement > tolerance and point.margin <= 0.0 and passes < most:
        plain = objective.evaluate(objective.place(_frequencies(objective.loss)), True)
        patience = 0 if objective.penalty or patient else PATIENT_STEPS
        again = newton(objective.evaluate, plain, tolerance, most - passes, patience)
        better = again.point.value <= point.value or again.decrement <= tolerance
        found = again if better else found
        found = Minimum(found.point, found.decrement, passes + again.passes)
    return Search(objective, found, found.point.hessian, None)


def _better(objective: Objective, begin: FloatArray, hessian: bool) -> Point:
    """Look at a start; one that is worse than the class frequencies alone is not used."""
    there = objective.evaluate(begin, hessian)
    if there.value <= objective.loss.null_loss:
        return there
    return objective.evaluate(objective.place(_frequencies(objective.loss)), hessian)


def _frequencies(loss: LogisticLoss) -> FloatArray:
    """Return the θ that knows the class frequencies alone; without an intercept, nothing."""
    theta = np.zeros(loss.shape)
    if not loss.intercept:
        return theta
    theta[:, 0] = np.log(loss.class_weights[1:] / loss.class_weights[0])
    return theta


def _by_sample(
    objective: Objective,
    sample: LogisticLoss,
    begin: FloatArray,
    tolerance: float,
    with_hessian: bool,
    most: int,
) -> Search:
    """Newton's steps over a sample; then all rows, looked at by their gradients only."""
    share = sample.weight / objective.loss.weight
    small = Objective(sample, objective.penalty * share, objective.basis)
    near = newton(small.evaluate, _better(small, begin, True), 0.1, 30, PATIENT_STEPS)
    assert near.point.hessian is not None
    factor = Factor(for_all_rows(small, near.point.hessian, share))
    here = _better(objective, near.point.at, False)
    found = descend(
        objective.evaluate, here, factor.solve, NEAR_DECREMENT if with_hessian else tolerance, most
    )
    if with_hessian:
        return _finished(objective, found, tolerance, most)
    return Search(objective, found, None, sampled_hessian(objective, sample, found.point.at))


def _finished(objective: Objective, found: Minimum, tolerance: float, most: int) -> Search:
    """Look at the Hessian of all rows once, near the maximum, and end by its help."""
    here = objective.evaluate(found.point.at, True)
    assert here.hessian is not None
    factor = Factor(here.hessian)
    last = descend(objective.evaluate, here, factor.solve, tolerance, max(most - found.passes, 2))
    passes, hessian = found.passes + last.passes, here.hessian
    moved = last.point.at - here.at
    distance = max(float(moved @ hessian @ moved), 0.0) ** 0.5
    if (
        distance * row_norm_upper_bound(objective, factor, objective.loss.reach) > SAME_HESSIAN
    ):  # the curvature is another there
        again = objective.evaluate(last.point.at, True).hessian
        assert again is not None
        hessian, passes = again, passes + 1
    return Search(objective, Minimum(last.point, last.decrement, passes), hessian, None)


def _by_product(
    objective: Objective,
    first: Start,
    begin: FloatArray,
    tolerance: float,
    with_hessian: bool,
    most: int,
    cost: float,
    patient: bool,
) -> Search:
    """Many parameters: only gradients of all rows, preconditioned by small matrices.

    First by the Hessian as a product of two, classes and columns; then by a block for each class,
    made anew as θ moves on. Rounds that hardly help end it: by Newton's steps, if they are
    affordable (`cost` is that of one), and without them where perhaps there is no maximum.
    """
    loss = objective.loss
    enough = NEAR_DECREMENT if with_hessian else tolerance
    few = loss.sampled(max(FEW_ROWS, PER_PARAMETER * begin.size))
    columns = first.correlations
    if objective.basis is not None:
        columns = objective.basis.T @ columns @ objective.basis
    exists = objective.penalty > 0.0 or patient
    found, passes, rounds = Minimum(_better(objective, begin, False), np.inf, 1), 0, 0
    while True:
        solve = _preconditioner(objective, few, columns, found.point.at, rounds)
        left, before = min(ROUNDS[min(rounds, len(ROUNDS) - 1)], most - passes), found.decrement
        found = descend(objective.evaluate, found.point, solve, enough, left)
        passes, rounds = passes + found.passes, rounds + 1
        short = found.passes < left  # it ended by itself, if only at the floor of rounding
        if short or found.point.margin > 0.0 or passes >= most:
            break
        if rounds <= len(ROUNDS) or found.decrement <= 0.5 * before:
            continue
        steps = PATIENT_STEPS if exists else int(min(NEWTON_WORK / cost, PATIENT_STEPS))
        if cost <= MODERATE_WORK and steps > 1:
            here = objective.evaluate(found.point.at, True)
            patience = 0 if exists else steps
            last = newton(
                objective.evaluate, here, tolerance, min(most - passes, MOST_STEPS), patience
            )
            found = Minimum(last.point, last.decrement, passes + last.passes)
            return Search(objective, found, last.point.hessian, None)
        if not exists:
            break
    found = Minimum(found.point, found.decrement, passes)
    if with_hessian:
        return _finished(objective, found, tolerance, most if exists else passes + ENDING_PASSES)
    return Search(objective, found, None, _lower(objective, few, found))


def _preconditioner(
    objective: Objective, few: LogisticLoss, columns: FloatArray, at: FloatArray, rounds: int
) -> Callable[[FloatArray], FloatArray]:
    """Return what stands for the inverse of the Hessian in one of the rounds."""
    if rounds == 0 and objective.shape[0] > 1:
        return bound_inverse(objective, columns)
    if rounds == 0 or (objective.shape[0] == 1 and at.size > MANY_PARAMETERS):
        return product_inverse(objective, few, columns, at)
    if objective.shape[0] > 1:
        return blocks_inverse(objective, few, at)
    hessian = sampled_hessian(objective, few, at)
    return Factor(for_all_rows(objective, hessian, few.weight / objective.loss.weight)).solve


def _lower(objective: Objective, few: LogisticLoss, found: Minimum) -> FloatArray | None:
    """Return the Hessian of some rows, where it can prove that the maximum exists."""
    size = found.point.at.size
    if objective.penalty > 0.0 or size > MANY_PARAMETERS or found.point.margin > 0.0:
        return None
    hopeless = found.decrement * row_norm_lower_bound(objective, few, found.point.at) > 1.0
    return None if hopeless else sampled_hessian(objective, few, found.point.at)


def _wide(
    loss: LogisticLoss,
    penalty: float,
    start: FloatArray | None,
    tolerance: float,
    with_hessian: bool,
    most: int,
) -> Search:
    """So many columns: Newton's steps by conjugate gradients, from the class frequencies."""
    objective = Objective(loss, penalty)

    def evaluate(at: FloatArray) -> tuple[Point, Callable[[FloatArray], FloatArray]]:
        found, scores = loss.scored(objective.theta(at))

        def product(direction: FloatArray) -> FloatArray:
            image = objective.place(loss.product_at(scores, objective.theta(direction)))
            return image + objective.penalty_gradient(direction)

        return objective.point_of(at, found), product

    begin = evaluate(objective.place(_frequencies(loss) if start is None else start))
    found = conjugate(evaluate, begin, lambda v: v.copy(), tolerance, 10 * most)
    hessian = objective.evaluate(found.point.at, True).hessian if with_hessian else None
    return Search(objective, found, hessian, None)
