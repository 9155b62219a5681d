"""Profile-likelihood intervals: against brute force, R, linear programming, and their own laws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq, linprog, minimize
from scipy.special import chdtri, logsumexp

from suffice.models.linear.logistic.fit import standardised_loss
from suffice.models.linear.logistic.objective import Objective
from suffice.models.linear.logistic.profile_intervals import Profile, profile_intervals

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.rows import FloatArray, IntArray

    Problem = tuple[FloatArray, IntArray, int, FloatArray | None]


def intervals(
    rows: FloatArray,
    codes: IntArray,
    size: int,
    weights: FloatArray | None = None,
    penalty: float = 0.0,
    **asked: Any,
) -> tuple[FloatArray, FloatArray]:
    objective = Objective(standardised_loss(rows, codes, size, weights), penalty)
    return profile_intervals(objective, np.zeros(objective.loss.shape), **asked)


def drawn(seed: int) -> Problem:
    """Return a small problem that is not separated, as a rule: two or three classes."""
    rng = np.random.default_rng(seed)
    size, d, n = 2 + seed % 2, 1 + seed % 3, int(rng.integers(30, 80))
    rows = rng.normal(size=(n, d))
    scores = np.column_stack((np.zeros(n), rows @ rng.normal(size=(d, size - 1))))
    codes = np.argmax(scores + rng.gumbel(size=(n, size)), axis=1)
    return rows, codes, size, None if seed % 2 else rng.uniform(0.3, 2.0, n)


def plain_loss(problem: Problem) -> Callable[[FloatArray], tuple[float, FloatArray]]:
    """Return the loss in the user's units, written down without any of ours."""
    rows, codes, size, weights = problem
    n, d = rows.shape
    w = np.ones(n) if weights is None else weights
    filled = np.column_stack((np.ones(n), rows))

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        scores = np.column_stack((np.zeros(n), filled @ theta.reshape(size - 1, d + 1).T))
        total = logsumexp(scores, axis=1)
        apart = np.exp(scores - total[:, np.newaxis])
        apart[np.arange(n), codes] -= 1.0
        gradient = ((apart * w[:, np.newaxis]).T @ filled)[1:]
        return float(w @ (total - scores[np.arange(n), codes])), gradient.ravel()

    return loss


def by_brute_force(problem: Problem, place: int, level: float) -> list[float]:
    """Return the interval of one entry of θ: refitted by BFGS, its ends by bisection."""
    loss = plain_loss(problem)
    p = (problem[2] - 1) * (problem[0].shape[1] + 1)
    others = np.arange(p) != place
    options = {"gtol": 1e-9, "maxiter": 5_000}

    def refitted(t: float, start: FloatArray) -> Any:
        def held(free: FloatArray) -> tuple[float, FloatArray]:
            theta = np.empty(p)
            theta[place], theta[others] = t, free
            value, gradient = loss(theta)
            return value, gradient[others]

        return minimize(held, start, jac=True, method="BFGS", options=options)

    best = minimize(loss, np.zeros(p), jac=True, method="BFGS", options=options)
    target = best.fun + chdtri(1, 1.0 - level) / 2.0
    ends = []
    for side in (-1.0, 1.0):
        reach = 0.5
        while refitted(best.x[place] + side * reach, best.x[others]).fun < target:
            reach *= 2.0
        far = best.x[place] + side * reach
        ends.append(
            brentq(
                lambda t: refitted(t, best.x[others]).fun - target,
                *sorted((best.x[place], far)),
                xtol=1e-12,
            )
        )
    return ends


@pytest.mark.parametrize("seed", range(12))
def test_ends_are_those_of_refitting_by_brute_force(seed: int) -> None:
    problem = drawn(seed)
    level = (0.95, 0.5, 0.999)[seed % 3]
    low, high = intervals(*problem, level=level)
    place = seed % low.size
    expected = by_brute_force(problem, place, level)
    np.testing.assert_allclose([low.flat[place], high.flat[place]], expected, rtol=0.0, atol=1e-7)


BUDWORM = np.array([1.0, 4, 9, 13, 18, 20, 0, 2, 6, 10, 12, 16])
"""Moths dead of twenty, by six doses, males first (Venables and Ripley 2002, page 190)."""


def test_budworms_have_the_intervals_of_r() -> None:
    dose, male = np.tile(np.arange(6.0), 2), np.repeat([1.0, 0.0], 6)
    rows = np.tile(np.column_stack((male, dose)), (2, 1))
    codes, weights = np.repeat([1, 0], 12), np.concatenate((BUDWORM, 20.0 - BUDWORM))
    seen = weights > 0.0
    low, high = intervals(rows[seen], codes[seen], 2, weights[seen])
    # R's confint: it interpolates the profile by a spline, which costs it the fifth digit.
    assert low[0, 2] == pytest.approx(0.8228708, rel=5e-5)
    assert high[0, 2] == pytest.approx(1.3390581, rel=5e-5)


def test_three_classes_are_compared_with_any_of_them() -> None:
    rows, codes, _, weights = drawn(5)
    first = intervals(rows, codes, 3, weights, reference=1)
    turned = np.array([1, 0, 2])[codes]
    for ours, expected in zip(first, intervals(rows, turned, 3, weights), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-8, atol=1e-9)


def test_two_classes_exchanged_exchange_the_ends() -> None:
    rows, codes, _, weights = drawn(4)
    low, high = intervals(rows, codes, 2, weights)
    for reference, labels in ((1, codes), (0, 1 - codes)):
        ends = intervals(rows, labels, 2, weights, reference=reference)
        np.testing.assert_allclose(ends[0], -high, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(ends[1], -low, rtol=1e-8, atol=1e-9)


@given(st.integers(0, 50), st.integers(-120, 120), st.integers(-8, 6))
def test_units_and_offsets_do_not_matter(seed: int, power: int, offset: int) -> None:
    rows, codes, size, weights = drawn(seed)
    here = intervals(rows, codes, size, weights)
    unit = -(10.0**power)
    moved = rows.copy()
    moved[:, 0] = unit * (rows[:, 0] + 10.0**offset)
    there = intervals(moved, codes, size, weights)
    scale = np.abs(here[1] - here[0]).max()
    # What the offset costs the column's own digits it costs the intervals.
    apart = scale * max(1e-8, 1e-14 * 10.0**offset)
    for ours, expected in zip((there[1], there[0]), here, strict=True):
        np.testing.assert_allclose(ours[:, 1] * unit, expected[:, 1], rtol=1e-8, atol=apart)
    for ours, expected in zip(there, here, strict=True):
        np.testing.assert_allclose(ours[:, 2:], expected[:, 2:], rtol=1e-8, atol=apart)


@given(st.integers(0, 50))
def test_a_weight_of_two_is_two_rows(seed: int) -> None:
    rows, codes, size, _ = drawn(seed)
    twice = 1 + np.arange(len(rows)) % 2
    weighed = intervals(rows, codes, size, twice.astype(float))
    repeated = intervals(np.repeat(rows, twice, axis=0), np.repeat(codes, twice), size)
    np.testing.assert_allclose(weighed, repeated, rtol=1e-8, atol=1e-9)


@given(st.integers(0, 50), st.floats(0.05, 0.9), st.floats(0.905, 0.9999))
def test_a_higher_level_gives_a_wider_interval(seed: int, one: float, more: float) -> None:
    problem = drawn(seed)
    low, high = intervals(*problem, level=one)
    lower, higher = intervals(*problem, level=more)
    assert (lower < low).all()
    assert (low < high).all()
    assert (high < higher).all()


def test_the_start_makes_no_difference() -> None:
    rows, codes, size, weights = drawn(3)
    objective = Objective(standardised_loss(rows, codes, size, weights))
    expected = intervals(rows, codes, size, weights)
    for away in (0.5, 40.0):
        start = np.full(objective.loss.shape, away)
        np.testing.assert_allclose(profile_intervals(objective, start), expected, rtol=1e-8)


def infinite_ends(rows: FloatArray, codes: IntArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Return which ends are infinite: whether a direction that no row is against leads there."""
    n, d = rows.shape
    filled = np.column_stack((np.ones(n), rows))
    width = d + 1
    against = []
    for x, own in zip(filled, codes, strict=True):
        for other in range(size):
            if other != own:
                lead = np.zeros((size, width))
                lead[own], lead[other] = x, -x
                against.append(-lead[1:].ravel())
    found = []
    for side in (-1.0, 1.0):
        ends = np.empty((size - 1) * width)
        for j in range(len(ends)):
            goal = np.zeros(len(ends))
            goal[j] = -side
            best = linprog(
                goal, A_ub=np.array(against), b_ub=np.zeros(len(against)), bounds=(-1, 1)
            )
            ends[j] = -best.fun
        found.append(ends.reshape(size - 1, width) > 1e-6)
    return found[0], found[1]


@st.composite
def lattices(draw: st.DrawFn) -> tuple[FloatArray, IntArray, int]:
    """Return few rows on few places: separated, nearly so, or not at all."""
    size = draw(st.integers(2, 3))
    n, d = draw(st.integers(size, 12)), draw(st.integers(1, 2))
    cells = draw(st.lists(st.integers(-2, 2), min_size=n * d, max_size=n * d))
    codes = draw(st.lists(st.integers(0, size - 1), min_size=n, max_size=n))
    return np.array(cells, dtype=float).reshape(n, d), np.array(codes), size


@given(lattices())
def test_ends_are_infinite_just_where_linear_programming_says_so(
    problem: tuple[FloatArray, IntArray, int],
) -> None:
    rows, codes, size = problem
    assume(len(np.unique(codes)) == size)
    filled = np.column_stack((np.ones(len(rows)), rows))
    assume(np.linalg.matrix_rank(filled) == filled.shape[1])
    low, high = intervals(rows, codes, size)
    below, above = infinite_ends(rows, codes, size)
    np.testing.assert_array_equal(np.isinf(low), below)
    np.testing.assert_array_equal(np.isinf(high), above)
    assert (low < high).all()


def test_of_separated_classes_the_finite_end_can_be_computed_by_hand() -> None:
    # Loss log(1 + e^{θ₀}) + log(1 + e^{-θ₀ - θ₁}): the second goes to 0 for any θ₀ as θ₁ grows.
    low, high = intervals(np.array([[0.0], [1.0]]), np.array([0, 1]), 2)
    drop = chdtri(1, 0.05) / 2.0
    assert high[0, 0] == pytest.approx(np.log(np.expm1(drop)), rel=1e-9)
    # For a given slope both halves are the same: 2·log(1 + e^{-θ₁/2}) = drop.
    assert low[0, 1] == pytest.approx(-2.0 * np.log(np.expm1(drop / 2.0)), rel=1e-9)
    assert low[0, 0] == -np.inf
    assert high[0, 1] == np.inf


def test_one_light_row_against_makes_a_far_end_and_no_infinite_one() -> None:
    rows, codes = np.array([[-2.0], [-1.0], [1.0], [2.0], [1.5]]), np.array([0, 0, 1, 1, 0])
    light = 1e-6
    low, high = intervals(rows, codes, 2, np.array([1.0, 1.0, 1.0, 1.0, light]))
    # Far out the light row alone is wrong. The boundary goes to x = 1, where the row of class 1
    # is just not wrong: loss light·½θ₁, up to logarithms.
    drop = chdtri(1, 0.05) / 2.0
    assert high[0, 1] == pytest.approx(drop / (0.5 * light), rel=1e-4)
    assert 0.0 < low[0, 1] < 1.0


def test_what_rows_cannot_tell_apart_has_every_value() -> None:
    rows, codes, _, weights = drawn(2)
    twice = np.column_stack((rows, 2.0 * rows[:, 0], np.full(len(rows), 7.0)))
    low, high = intervals(twice, codes, 2, weights)
    expected = intervals(rows, codes, 2, weights)
    assert (low[0, [1, 4, 5]] == -np.inf).all()
    assert (high[0, [1, 4, 5]] == np.inf).all()
    known = [0, 2, 3]
    np.testing.assert_allclose(low[0, known], expected[0][0, known], rtol=1e-8)
    np.testing.assert_allclose(high[0, known], expected[1][0, known], rtol=1e-8)


def test_a_penalty_makes_every_end_finite() -> None:
    rows, codes = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    low, high = intervals(rows, codes, 2, penalty=1e-6)
    # Far out the penalty alone counts, ½·penalty·(s·θ₁)²; a boundary at 0 makes no loss.
    drop = chdtri(1, 0.05) / 2.0
    assert np.isfinite(low).all()
    assert high[0, 1] == pytest.approx(np.sqrt(2.0 * drop / 1e-6 / 2.5), rel=1e-2)


def test_an_objective_need_not_be_a_loss_over_rows() -> None:
    from suffice.models.linear.logistic.objective import Point

    bend = np.array([[2.0, 0.5], [0.5, 1.0]])

    def parabola(at: FloatArray, hessian: bool) -> Point:
        away = at - [3.0, -1.0]
        return Point(at, 0.5 * float(away @ bend @ away), bend @ away, bend, 0.0)

    direction = np.array([1.0, 2.0])
    error = np.sqrt(direction @ np.linalg.inv(bend) @ direction)
    ends = Profile(parabola, np.zeros(2)).interval(direction)
    np.testing.assert_allclose(ends, 1.0 + np.array([-1, 1]) * 1.959963984540054 * error, rtol=1e-9)
