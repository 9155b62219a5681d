"""Profile-likelihood intervals: the values of one parameter that the rows do not speak against.

A value t belongs to the interval if the best fit with aᵀθ = t is hardly worse than the best fit of
all: 2(loss(t) - loss) ≤ χ²₁'s quantile. Where a likelihood is far from a parabola, as near
separation, Wald's intervals mislead and these do not; of separated classes an end is infinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.engines.threads import pinned
from suffice.errors import (
    DidNotConverge,
    warn,
)
from suffice.linear_algebra import EPSILON
from suffice.models.linear.logistic.inference import checked_level
from suffice.models.linear.logistic.newton import Factor

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.models.linear.logistic.objective import Objective, Point
    from suffice.rows import FloatArray

    Evaluate = Callable[[FloatArray, bool], Point]

NEAR_DECREMENT = 0.05
"""Squared decrement, relative to the drop, from which on the parabola is believed. A choice."""
SETTLED = 1e-9
"""Squared decrement and gap, relative to the drop, at which an end is found: what is left moves it
by about half as much of itself."""
FLAT_RISE = 1e-6
"""A rise of the profile, relative to the drop, that is none. A choice."""
SEPARATED_DISTANCE = 1e3
"""How far out, relative to the best θ, a flat profile stays flat for ever: its rows are certain. A
choice."""
INFINITE_DISTANCE = 1e10
"""How far out, relative to the best θ, an end is infinite in any case. A choice."""
MOST_PASSES = 200
"""Passes over the rows after which the search for one end is given up. A choice."""
SHORTENINGS = 40
"""How often one step is shortened before it is given up. A choice: in `_lower` a step is at most
0.6 of the one before, and in the end 0.6⁴⁰ = 1e-9 of the first."""
HESSIAN_RIDGE = 1e-18
"""Added to the diagonal of Hessians, which is 1 at θ = 0, so that steps stay finite: below ε, and
so without effect wherever anything is known."""
UNSEEN = 1e-7
"""The share of a direction that may lie outside what the rows can tell apart: rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class _Reduced:
    """An objective at a place with the first coordinate s held fixed, to second order.

    step        Newton's step of the other coordinates
    decrement   its λ²: about twice what is to be gained
    tangent     how they follow when s moves by one
    slope       the profile's derivative by s, and its second one
    curvature
    """

    step: FloatArray
    decrement: float
    tangent: FloatArray
    slope: float
    curvature: float

    @classmethod
    def of(cls, point: Point, basis: FloatArray) -> _Reduced:
        assert point.hessian is not None
        with pinned():
            gradient = basis.T @ point.gradient
            hessian = basis.T @ point.hessian @ basis
            # Far out every row may be certain, and the Hessian zero; at θ = 0 it is the identity.
            np.einsum("ii->i", hessian)[:] += HESSIAN_RIDGE
            factor = Factor(hessian[1:, 1:])
            step = factor.solve(-gradient[1:])
            tangent = factor.solve(-hessian[1:, 0])
        return cls(
            step,
            max(-float(gradient[1:] @ step), 0.0),
            tangent,
            float(gradient[0] + hessian[0, 1:] @ step),
            max(float(hessian[0, 0] + hessian[0, 1:] @ tangent), 0.0),
        )


class Profile:
    """The profiles of an objective around its minimum.

    `evaluate` gives value, gradient and Hessian at a place (`Objective.evaluate`; any smooth
    objective with one minimum will do, and a Hessian that is merely close costs more passes).
    `at` is the minimum, or a place near it. The coordinates are those in which the Hessian at 0
    is the identity: nothing depends on units, and what the rows cannot tell apart is known there
    also when the classes are separated.

    >>> from suffice.models.linear.logistic.loss import LogisticLoss
    >>> from suffice.models.linear.logistic.objective import Objective
    >>> rows, codes = np.array([[-2.0], [-1.0], [0.0], [1.0]]), np.array([0, 1, 0, 1])
    >>> loss = LogisticLoss(rows, codes, 2, None, np.zeros(1), np.ones(1))
    >>> slopes = Profile(Objective(loss).evaluate, np.zeros(2))
    >>> low, high = slopes.interval(np.array([0.0, 1.0]))
    >>> round(low, 4), round(high, 4)
    (-0.9598, 4.0108)
    """

    def __init__(self, evaluate: Evaluate, at: FloatArray) -> None:
        self._evaluate = evaluate
        origin = evaluate(np.zeros_like(at), True)
        assert origin.hessian is not None
        diagonal = np.diagonal(origin.hessian)
        self._scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        with pinned():
            values, vectors = np.linalg.eigh(
                origin.hessian * self._scale * self._scale[:, np.newaxis]
            )
        kept = values > len(at) * 16.0 * EPSILON * values[-1]
        self._vectors = vectors[:, kept]
        self._basis = self._scale[:, np.newaxis] * self._vectors / np.sqrt(values[kept])
        self._ignorance = origin.value
        self._best = self._polished(evaluate(at, True))

    def interval(self, direction: FloatArray, level: float = 0.95) -> tuple[float, float]:
        """Return the ends of the interval of directionᵀθ.

        A direction that the rows cannot tell apart from nothing has every value in its interval.
        """
        from scipy.special import chdtri

        drop = 0.5 * float(chdtri(1.0, 1.0 - checked_level(level)))
        along = self._basis.T @ direction
        length = float(np.linalg.norm(along))
        if length == 0.0 or self._is_unseen(direction):
            return -np.inf, np.inf
        basis = _reflected(self._basis, along / length)
        start = _Reduced.of(self._best, basis)
        middle = float(direction @ self._best.at)
        low = self._end(basis, start, drop, -1.0)
        high = self._end(basis, start, drop, 1.0)
        return middle - length * low, middle + length * high

    def statistic(self, direction: FloatArray) -> float:
        """Return the likelihood-ratio statistic of directionᵀθ = 0: 2(loss(0) - loss).

        NaN for a direction that the rows cannot tell apart from nothing.
        """
        along = self._basis.T @ direction
        length = float(np.linalg.norm(along))
        if length == 0.0 or self._is_unseen(direction):
            return np.nan
        basis = _reflected(self._basis, along / length)
        here, left = self._best, -float(direction @ self._best.at) / length
        share = 1.0
        for _ in range(MOST_PASSES):
            seen = _Reduced.of(here, basis)
            if left == 0.0:
                if seen.decrement <= 1e-12 + 4.0 * EPSILON * abs(here.value):
                    break
                lower = self._lower(here, basis[:, 1:] @ seen.step, seen.decrement)
                if lower is None:
                    break
                here = lower
                continue
            # The others follow; where all would leave what can be computed, a part of the way.
            follow = basis[:, 0] + basis[:, 1:] @ seen.tangent
            there = self._evaluate(here.at + share * left * follow, True)
            if np.isfinite(there.value):
                here, left, share = there, (1.0 - share) * left, 1.0
            else:
                share *= 0.5
        return max(2.0 * (here.value - self._best.value), 0.0)

    def _is_unseen(self, direction: FloatArray) -> bool:
        seen = self._scale * direction
        outside = seen - self._vectors @ (self._vectors.T @ seen)
        return bool(np.linalg.norm(outside) > UNSEEN * np.linalg.norm(seen))

    def _polished(self, here: Point) -> Point:
        """Return the minimum itself: of separated classes, so far out that nothing is left."""
        drop = 1e-10
        for _ in range(MOST_PASSES):
            assert here.hessian is not None
            with pinned():
                gradient = self._basis.T @ here.gradient
                hessian = self._basis.T @ here.hessian @ self._basis
                np.einsum("ii->i", hessian)[:] += HESSIAN_RIDGE
                step = Factor(hessian).solve(-gradient)
            decrement = max(-float(gradient @ step), 0.0)
            if decrement <= drop + 4.0 * EPSILON * abs(here.value):
                break
            there = self._lower(here, self._basis @ step, decrement)
            if there is None:
                break
            here = there
        return here

    def _lower(self, here: Point, step: FloatArray, decrement: float) -> Point | None:
        """Return a lower point along a step, or None at the floor of rounding."""
        share = 1.0
        for _ in range(SHORTENINGS):
            there = self._evaluate(here.at + share * step, True)
            if there.value <= here.value - 1e-4 * share * decrement:
                return there
            # Far out a loss is made of straight lines: its minimum is near where they meet.
            slope = float(there.gradient @ step)
            bottom = share * slope - there.value + here.value
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                met = np.divide(bottom, slope + decrement)
            share *= float(np.clip(met / share, 0.02, 0.6)) if np.isfinite(met) else 0.1
        return None

    def _end(self, basis: FloatArray, seen: _Reduced, drop: float, side: float) -> float:
        """Return how far the interval reaches to one side, in units of the first coordinate."""
        here, s, inside, outside = self._best, 0.0, 0.0, np.inf
        target = here.value + drop
        rounding = 64.0 * EPSILON * abs(target)
        size = 1.0 + float(np.abs(here.at).max(initial=0.0))
        size *= 1.0 + drop / max(self._ignorance, 1e-300)  # what little weight can tell at all
        for _ in range(MOST_PASSES):
            # What the best fit with this s is worth: here, less what is still to be gained.
            gap = target - (here.value - 0.5 * seen.decrement)
            believed = seen.decrement <= NEAR_DECREMENT * drop + rounding
            if here.value < target:
                inside = max(inside, s)
                # λ² is what is to be gained on the tail of an exponential.
                flat = here.value - seen.decrement - self._best.value <= FLAT_RISE * drop + rounding
                if (
                    self._away(here)
                    > (SEPARATED_DISTANCE if flat else 0.5 * INFINITE_DISTANCE) * size
                ):
                    return np.inf
            elif believed and here.value - 2.0 * seen.decrement > target:
                outside = min(outside, s)
            change = _root(side * seen.slope, seen.curvature, gap)
            close = abs(gap) <= SETTLED * drop + rounding
            if close and seen.decrement <= SETTLED * drop + rounding:
                return s + change
            if np.isfinite(outside) and outside - inside <= 4.0 * EPSILON * outside:
                return inside
            if not believed:
                step = basis[:, 1:] @ seen.step
                lower = self._lower(here, step, seen.decrement)
                if lower is None:
                    break
                here, seen = lower, _Reduced.of(lower, basis)
                continue
            if gap > 0.5 * drop and s > 0.0:
                change = max(change, 9.0 * s)  # hardly anything has happened yet: leap
            if not inside < s + change < outside:
                change = 0.5 * (inside + outside) - s if np.isfinite(outside) else 9.0 * (s + 1.0)
            follow = side * (basis[:, 0] + basis[:, 1:] @ seen.tangent)
            change = min(change, INFINITE_DISTANCE * size / float(np.abs(follow).max()))
            step = basis[:, 1:] @ seen.step + change * follow
            there, share = self._near(here, step, target + 0.5 * drop, target + drop)
            s += share * change
            here, seen = there, _Reduced.of(there, basis)
        if here.value < target and self._away(here) > SEPARATED_DISTANCE * size:
            return np.inf  # rounding kept it from going on
        warn("the end of a profile interval was found only approximately", DidNotConverge)
        return s if here.value < target else inside

    def _away(self, here: Point) -> float:
        return float(np.abs(here.at - self._best.at).max())

    def _near(
        self, here: Point, step: FloatArray, aim: float, highest: float
    ) -> tuple[Point, float]:
        """Return a point along a step, and its share of it: not higher than the highest allowed.

        From further out, tangents lead back to where the value is the one aimed at.
        """
        share = 1.0
        aim, highest = (aim, highest) if here.value < highest else (here.value, here.value)
        for _ in range(SHORTENINGS):
            there = self._evaluate(here.at + share * step, True)
            if there.value <= highest:
                break
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                back = np.divide(there.value - aim, float(there.gradient @ step) * share)
            share *= float(np.clip(1.0 - back, 1e-9, 0.9)) if np.isfinite(back) else 0.1
        return there, share


def _root(slope: float, curvature: float, gap: float) -> float:
    """Return the x in front with slope·x + ½curvature·x² = gap; without one, the bottom."""
    under = slope * slope + 2.0 * curvature * gap
    if under < 0.0:
        return -slope / curvature
    below = slope + float(np.sqrt(under))
    return 2.0 * gap / below if below > 0.0 else np.inf if gap > 0.0 else 0.0


def _reflected(basis: FloatArray, first: FloatArray) -> FloatArray:
    """Return a basis whose first vector goes along `first`, by a Householder reflection."""
    mirror = first.copy()
    mirror[0] += np.copysign(1.0, first[0])
    mirror /= np.linalg.norm(mirror)
    sign = -np.copysign(1.0, first[0])
    found: FloatArray = basis - np.outer(basis @ mirror, 2.0 * mirror)
    found[:, 0] *= sign
    return found


class Profiles(NamedTuple):
    """What profiles tell of [θ₀, θ] in the user's units, (k - 1, d + 1) each.

    low        the intervals' ends
    high
    statistic  the likelihood-ratio statistic of the hypothesis that it is 0; NaN if not asked for
    """

    low: FloatArray
    high: FloatArray
    statistic: FloatArray


def profile_intervals(
    objective: Objective, theta: FloatArray, level: float = 0.95, reference: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the intervals of [θ₀, θ], in the user's units: (k - 1, d + 1) each.

    One row for each class but the reference, intercepts (at x = 0) first. `theta` is the fit
    in standardised columns, against class 0. A column that does not vary, or that others add up
    to, has every value in its interval.
    """
    return profiles_of(objective, theta, level, reference, tested=False)[:2]


def profiles_of(
    objective: Objective, theta: FloatArray, level: float, reference: int, *, tested: bool
) -> Profiles:
    """Return the intervals of `profile_intervals`, and if asked for the tests by the same profiles.

    A test takes about as long as one end of an interval.
    """
    loss = objective.loss
    m, width = theta.shape
    profile = Profile(objective.evaluate, objective.place(theta))
    low, high = np.full((2, m, width), np.inf)
    found = Profiles(-low, high, np.full((m, width), np.nan))
    others = [c for c in range(m + 1) if c != reference]
    for row, c in enumerate(others):
        for j in range(width):
            if (not j and not loss.intercept) or (j and not loss.inverse[j - 1] > 0.0):
                continue
            direction = np.zeros((m + 1, width))
            if j:
                direction[c, j] = loss.inverse[j - 1]
            else:
                direction[c] = np.concatenate(([1.0], -loss.origin * loss.inverse))
            direction[reference] = -direction[c]
            one = direction[1:]
            place = objective.place(one)
            if np.abs(objective.theta(place) - one).max() > UNSEEN * np.abs(one).max():
                continue
            found.low[row, j], found.high[row, j] = profile.interval(place, level)
            if tested:
                found.statistic[row, j] = profile.statistic(place)
    return found
