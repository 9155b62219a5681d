"""Newton's method, and what comes near it when a Hessian of all rows costs too much.

All three minimise a convex objective; every evaluation of it is one pass over the rows, which
may be in memory, in files or on a cluster, as long as the curvatures of their parts add up.
Decrements λ are in units of standard errors: λ² = gᵀH⁻¹g, and no coefficient is more than about λ
of its standard errors away from the optimum.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.engines.threads import pinned
from suffice.linear_algebra import EPSILON

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.models.linear.logistic.objective import Point
    from suffice.rows import FloatArray

    Evaluate = Callable[[FloatArray, bool], Point]
    Solve = Callable[[FloatArray], FloatArray]

ARMIJO = 1e-4
"""The share of the promised decrease that a step has to bring (Armijo): the usual one (Nocedal and
Wright 2006, section 3.1)."""

MEMORY = 12
"""Pairs of steps and changes of the gradient that L-BFGS remembers: between 3 and 20 do well
(Nocedal and Wright 2006, section 7.2)."""

TIMID = 0.8
"""The share of the slope that is left after a step much shorter than one that was too long, from
which on a step between the two is tried: else a search creeps along a wall."""

HALVINGS = 40
"""How often a step is shortened before it is given up, each time to 0.7 or less. A choice;"""
FEW_HALVINGS = 3
"""and how often where what it could bring is lost in rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """Where a search ended: the point, its decrement λ, and how many passes it took."""

    point: Point
    decrement: float
    passes: int


FEW_COLUMNS = 64
"""Columns up to which L⁻¹ itself is taken: of 64 it costs 0.1 ms a step more than LAPACK's
solutions, and loading these 80 ms."""


class Factor:
    """A positive definite matrix, factored once on the scale where its diagonal is one.

    A matrix that is not positive definite to the last digit gets as much added to its diagonal as
    it takes: near separation a Hessian has directions that are nearly flat, and a long step along
    them is what is wanted.
    """

    def __init__(self, matrix: FloatArray) -> None:
        diagonal = np.diagonal(matrix)
        self._scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        scaled = matrix * self._scale * self._scale[:, np.newaxis]
        self.exact = bool((diagonal > 0.0).all())
        added = 0.0
        kind = InvertedRoot if len(matrix) <= FEW_COLUMNS else SolvedRoot
        with pinned():
            while True:
                try:
                    self._root: InvertedRoot | SolvedRoot = kind(scaled)
                    break
                except np.linalg.LinAlgError:
                    self.exact = False
                    added = 16.0 * len(matrix) * EPSILON if added == 0.0 else 10.0 * added
                    np.einsum("ii->i", scaled)[:] = 1.0 + added

    def solve(self, vector: FloatArray) -> FloatArray:
        """Return the matrix's inverse times a vector."""
        with np.errstate(over="ignore", invalid="ignore"):  # of a Hessian that is nearly nothing
            found: FloatArray = self._root.solve(vector * self._scale) * self._scale
        return found

    def trace_of_inverse(self) -> float:
        """Return the trace of the inverse, for a sixth of what the inverse itself takes."""
        with pinned():
            inverse = self._root.inverse()
        if inverse is None:
            return np.inf
        with np.errstate(over="ignore"):  # of a Hessian that is nearly nothing: no bound is known
            return float(np.square(inverse * self._scale).sum())

    def inverse(self) -> FloatArray:
        """Return the inverse itself."""
        with pinned():
            found: FloatArray = self._root.solve(np.diag(self._scale))
        return found * self._scale[:, np.newaxis]


class InvertedRoot:
    """L⁻¹ of a small matrix LLᵀ, by NumPy alone: loading SciPy costs more than many such searches.

    Raises LinAlgError where the matrix is not positive definite.
    """

    def __init__(self, matrix: FloatArray) -> None:
        root = np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
        self._inverse: FloatArray = np.tril(np.linalg.inv(root))

    def solve(self, vector: FloatArray) -> FloatArray:
        """Return the matrix's inverse times a vector, or a few."""
        found: FloatArray = self._inverse.T @ (self._inverse @ vector)
        return found

    def inverse(self) -> FloatArray:
        """Return L⁻¹."""
        return self._inverse


class SolvedRoot:
    """L of a matrix LLᵀ, and what LAPACK solves with it.

    Raises LinAlgError where the matrix is not positive definite.
    """

    def __init__(self, matrix: FloatArray) -> None:
        from scipy.linalg import cho_factor

        self._factor = cho_factor(matrix, lower=True, check_finite=False)

    def solve(self, vector: FloatArray) -> FloatArray:
        """Return the matrix's inverse times a vector, or a few."""
        from scipy.linalg import cho_solve

        found: FloatArray = cho_solve(self._factor, vector, check_finite=False, overwrite_b=True)
        return found

    def inverse(self) -> FloatArray | None:
        """Return L⁻¹, or None where a pivot is lost."""
        from scipy.linalg.lapack import dtrtri

        root, failed = dtrtri(self._factor[0], lower=1)
        # L⁻¹ is lower triangular; what LAPACK left above the diagonal is none of it.
        return None if failed else np.asarray(np.tril(root))


def newton(
    evaluate: Evaluate, start: Point, tolerance: float, most: int, patience: int = 0
) -> Minimum:
    """Return the minimum by Newton's steps, halved where they bring too little.

    Stops as well where θ separates the classes (there is no minimum then), at the floor of
    rounding, and after `most` passes; the caller can see which by the decrement. `patience` are
    steps after which one that hardly shortens the decrement ends the search too.
    """
    here, passes, steps, before = start, 1, 0, np.inf
    while True:
        factor = Factor(_hessian_of(here))
        step = factor.solve(-here.gradient)
        decrement = _root(-(here.gradient @ step))
        ended = decrement <= tolerance or here.margin > 0.0 or passes >= most
        if ended or (patience and steps >= patience and decrement > 0.5 * before):
            return Minimum(here, decrement, passes)
        steps += 1
        there, tried = _line_search(evaluate, here, step, hessian=True)
        passes += tried
        if there is None:  # the floor of rounding
            return Minimum(here, decrement, passes)
        here, before = there, decrement


def descend(
    evaluate: Evaluate,
    start: Point,
    solve: Solve,
    tolerance: float,
    most: int,
    memory: int = MEMORY,
) -> Minimum:
    """Return the minimum by L-BFGS, preconditioned: only gradients of all rows are looked at.

    `solve` stands for the inverse of a Hessian near enough to the true one: that of a sample.
    It is rescaled as the search goes on, by the newest pair of step and slope.
    """
    here, passes = start, 1
    pairs: deque[tuple[FloatArray, FloatArray, float]] = deque(maxlen=memory)
    scale = 1.0
    decrement = np.inf
    while True:
        preconditioned = solve(here.gradient)
        step = -_two_loop_recursion(here.gradient, pairs, solve, scale, preconditioned)
        # Whichever of the two estimates of H⁻¹ thinks worse of the place.
        decrement = max(_root(here.gradient @ preconditioned), _root(-(here.gradient @ step)))
        if decrement <= tolerance or here.margin > 0.0 or passes >= most:
            return Minimum(here, decrement, passes)
        there, tried = _line_search(evaluate, here, step, hessian=False)
        passes += tried
        if there is None:
            if not pairs:
                return Minimum(here, decrement, passes)
            pairs.clear()  # the memory misleads: once more without it
            continue
        moved, change = there.at - here.at, there.gradient - here.gradient
        along = float(moved @ change)
        if along > EPSILON * float(np.abs(moved) @ np.abs(change)):
            pairs.append((moved, change, 1.0 / along))
            scale = along / float(change @ solve(change))
        here = there


def conjugate(
    evaluate: Callable[[FloatArray], tuple[Point, Solve]],
    start: tuple[Point, Solve],
    solve: Solve,
    tolerance: float,
    most: int,
) -> Minimum:
    """Return the minimum by Newton's steps, each solved for by conjugate gradients.

    `evaluate` returns a point and the product with its Hessian, for problems whose Hessian is too
    large to be written down. `solve` is a preconditioner. Early steps are solved roughly, later
    ones the better the nearer the minimum is: convergence stays faster than linear.
    """
    (here, product), passes = start, 1
    first = np.inf
    while True:
        preconditioned = solve(here.gradient)
        rough = _root(here.gradient @ preconditioned)
        first = min(first, rough) if np.isfinite(first) else rough
        accuracy = min(0.25, float(np.sqrt(rough / first)) * 0.25) if first > 0.0 else 0.0
        step, products = _solved(product, here.gradient, solve, accuracy)
        decrement = _root(-(here.gradient @ step))
        passes += products
        if decrement <= tolerance or here.margin > 0.0 or passes >= most:
            return Minimum(here, decrement, passes)
        kept: dict[int, tuple[Point, Solve]] = {}

        def evaluate_and_keep(at: FloatArray, _: bool, kept: Any = kept) -> Point:
            found = evaluate(at)
            kept[0] = found
            return found[0]

        there, tried = _line_search(evaluate_and_keep, here, step, hessian=False)
        passes += tried
        if there is None:
            return Minimum(here, decrement, passes)
        here, product = kept[0]


def _solved(
    product: Solve, gradient: FloatArray, solve: Solve, accuracy: float
) -> tuple[FloatArray, int]:
    """Return the step -H⁻¹g, to a relative accuracy, and the number of products it took."""
    step, rest = np.zeros_like(gradient), -gradient
    preconditioned = solve(rest)
    direction, size = preconditioned.copy(), float(rest @ preconditioned)
    enough, count = accuracy * accuracy * size, 0
    while size > enough and size > 0.0 and count < 10 * len(gradient):
        image = product(direction)
        count += 1
        curve = float(direction @ image)
        if curve <= 0.0:  # flat to the last digit
            break
        far = size / curve
        step += far * direction
        rest -= far * image
        preconditioned = solve(rest)
        size, before = float(rest @ preconditioned), size
        direction = preconditioned + (size / before) * direction
    return (step if step.any() else -solve(gradient)), count


def _two_loop_recursion(
    gradient: FloatArray,
    pairs: deque[tuple[FloatArray, FloatArray, float]],
    solve: Solve,
    scale: float,
    preconditioned: FloatArray,
) -> FloatArray:
    """Return L-BFGS's estimate of H⁻¹g from what is remembered (two loops)."""
    if not pairs:
        return preconditioned
    left, shares = gradient.copy(), []
    for moved, change, inverse in reversed(pairs):
        share = inverse * float(moved @ left)
        left -= share * change
        shares.append(share)
    found = scale * solve(left)
    for (moved, change, inverse), share in zip(pairs, reversed(shares), strict=True):
        found += (share - inverse * float(change @ found)) * moved
    return found


def _line_search(
    evaluate: Evaluate, here: Point, step: FloatArray, hessian: bool
) -> tuple[Point | None, int]:
    """Return the point after a step, shortened until it brings enough; None if none does.

    Near the minimum the values differ by rounding only; there the slope along the step decides
    alone (Hager and Zhang): of a convex function it rises from below zero to above.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        slope = float(here.gradient @ step)
    noise = 64.0 * EPSILON * abs(here.value)
    if not -np.inf < slope < 0.0:
        return None, 0
    length, failed = 1.0, np.inf
    accepted: Point | None = None
    for tried in range(1, HALVINGS + 1):
        there = evaluate(here.at + length * step, hessian)
        if accepted is not None:  # whether a longer step was better than the one that would do
            return (there if there.value < accepted.value else accepted), tried
        if not np.isfinite(there.value):
            failed, length = length, length * 0.1
            continue
        gain, new = here.value - there.value, float(there.gradient @ step)
        blurred = -slope * length <= noise
        if gain >= -ARMIJO * length * slope and not blurred:
            if new > TIMID * slope or failed < 16.0 * length or np.isinf(failed):
                return there, tried
            accepted, length = there, float(np.sqrt(length * failed))
            continue
        if gain >= -noise and new <= -0.9 * slope:
            return there, tried
        best = length * slope / (slope - new) if new > 0.0 else 0.5 * length
        # Where all is nearly flat a step may be many powers of ten too long.
        least = 0.25 if -gain <= 10.0 * abs(here.value) else 1e-3
        failed = length
        length = min(max(best, least * length), 0.7 * length)
        if blurred and tried >= FEW_HALVINGS:
            break
    return accepted, tried


def _root(square: Any) -> float:
    number = float(square)
    return math.sqrt(number) if number > 0.0 else 0.0 if number <= 0.0 else math.inf


def _hessian_of(point: Point) -> FloatArray:
    assert point.hessian is not None
    return point.hessian
