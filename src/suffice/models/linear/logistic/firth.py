"""Firth's correction: the likelihood times Jeffreys' prior, whose maximum is always finite.

Maximise ℓ(θ) + ½ log|I(θ)|, I the Fisher information. It takes the first-order bias out of the
estimates, and separated classes have finite ones (Firth, 1993; Heinze and Schemper, 2002).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.engines.threads import pinned
from suffice.errors import BadSetting
from suffice.linear_algebra import EPSILON, inverse_factor
from suffice.models.linear.logistic.loss import collect_design
from suffice.models.linear.logistic.objective import Objective, Point

if TYPE_CHECKING:
    from suffice.rows import FloatArray

ROUNDING_FLOOR = 1e-6
"""Standard errors by which θ may still be off where rounding leaves no better place. As in
`fit.FLOOR`: no report of an estimate shows as many digits of its error."""

VALUE_ROUNDING = 1e-10
"""Share of the sums under which differences between them say nothing: far above ε, since a
determinant of a matrix that is nearly singular loses digits."""

MEMORY = 20
"""How many steps are remembered: the most that Nocedal and Wright (2006, section 7.2) find of use,
since a step here costs far more than its memory."""

HALVINGS = 20
"""How often a step is halved before it is given up: 2⁻²⁰ = 1e-6 of it is left."""

GROWN = 4.0
"""How many times as long, in standard errors, the step from the next place may be. A place from
which it is longer is a corner in which the information is nearly singular, and out of which no step
by that information leads: the step there is halved, though it brought something."""

MOST_COEFFICIENTS = 6000
"""Coefficients whose covariance is still a matrix to work with (300 MB)."""

MOST_WORK = 4e10
"""Multiplications that one fit may take: about four seconds; to which `ROW_WORK` is added."""
ROW_WORK = 2e6
"""Multiplications that a fit may take more for every row, so that large tables may take as much
longer as they have more rows. A choice: from 20,000 rows on it is more than `MOST_WORK`."""

FEWEST_PASSES = 20
"""Passes within which classes that overlap have their maximum; of separated ones it takes about a
hundred. A fit that may not make so many is not begun."""

PROFILE_WORK = 1e11
"""Multiplications that the profiles of all coefficients may take: ten seconds or so,"""
PROFILE_PASSES = 40
"""if each end of an interval takes so many passes."""


@dataclass(frozen=True, slots=True, eq=False)
class FirthFit:
    """The maximum of the penalised likelihood.

    theta           (m, d + 1), in standardised coordinates
    loss            -ℓ(θ)
    penalized_loss  -ℓ(θ) - ½ log|I(θ)|, the determinant over the coordinates that are free
    information     (m(d + 1), m(d + 1)): I(θ)
    covariance      the same shape: its inverse over the coordinates that are free
    decrement       how many standard errors the next step would have moved θ
    iterations      steps taken
    passes          passes over the rows
    converged       whether the decrement is below the tolerance, or at the floor of rounding
    """

    theta: FloatArray
    loss: float
    penalized_loss: float
    information: FloatArray
    covariance: FloatArray
    decrement: float
    iterations: int
    passes: int
    converged: bool


def fit_firth(
    objective: Objective,
    tolerance: float = 1e-10,
    most: int = 2000,
    start: FloatArray | None = None,
) -> FirthFit:
    """Return the maximum of ℓ + ½ log|I| by Fisher scoring, sped up by the memory of its steps.

    Every step is two passes over the rows: loss and information, then what the determinant adds to
    the gradient; `most` passes are made, or as many as the budget pays for, and `tolerance` is in
    standard errors. `start` (m, d + 1)
    is used only if it is better than θ = 0: a θ that ran away along a separating direction is not.

    The objective has no penalty, and a basis that spans all that rows can tell apart where columns
    are collinear: over the rest the information is zero, and has no determinant.

    >>> from suffice.models.linear.logistic.loss import LogisticLoss
    >>> from suffice.models.linear.logistic.objective import Objective
    >>> rows, codes = np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.array([0, 0, 1, 1])
    >>> loss = LogisticLoss(rows, codes, 2, None, np.zeros(1), np.ones(1))
    >>> slope = fit_firth(Objective(loss)).theta[0, 1]  # each cell of the 2×2 table gets half a row
    >>> round(float(slope - np.log(2.5 / 0.5)), 9)
    0.0
    """
    size = objective.shape[0] * objective.shape[1]
    if size > MOST_COEFFICIENTS:
        raise BadSetting(
            f"Firth's correction of {size} coefficients needs the inverse of a matrix of that size",
            hint=f"it is made for up to {MOST_COEFFICIENTS}: use a penalty, or fewer columns",
        )
    affordable = affordable_passes(len(objective.loss), size)
    if affordable < FEWEST_PASSES:
        raise BadSetting(
            f"Firth's correction of {size:,} coefficients by {len(objective.loss):,} rows would "
            "take too long",
            hint="use a penalty, fewer columns or fewer classes",
        )
    with pinned():
        problem = _Problem(objective, min(most, affordable))
        here = problem.first_pass(np.zeros(objective.shape).ravel())
        if here is None:
            raise BadSetting(
                f"the information about {size} coefficients is singular",
                hint="drop columns that are sums of others, or use a penalty",
            )
        if start is not None and np.isfinite(start).all():
            there = problem.first_pass(objective.place(start))
            if there is not None and there.value < here.value:
                here = there
        return _maximum(problem, here, tolerance)


def affordable_passes(rows: int, size: int) -> int:
    """Return how many passes over rows the budget pays for, with so many coefficients.

    Every pass is a product for each row and pair of coefficients, and a factor or two. It is
    counted by its shape, so that the same table has the same answer on every machine.

    >>> affordable_passes(2000, 201), affordable_passes(2000, 6000)
    (494, 0)
    """
    work = (float(rows) + size) * size * size
    return int((MOST_WORK + ROW_WORK * rows) / work)


def _maximum(problem: _Problem, here: _Point, tolerance: float) -> FirthFit:
    pairs: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=MEMORY)
    slope = problem.slope(here)
    iterations = 0
    while True:
        size = here.errors(slope)
        if size <= tolerance or problem.is_spent:
            return problem.fit(here, size, iterations, size <= tolerance)
        found = _line_search(problem, here, slope, pairs)
        if found is None and pairs:  # the memory misleads: once more without it
            pairs.clear()
            found = _line_search(problem, here, slope, pairs)
        if found is None:  # the floor of rounding, or the passes are spent
            return problem.fit(here, size, iterations, size <= max(tolerance, ROUNDING_FLOOR))
        there, new = found
        moved, change = there.at - here.at, new - slope
        if moved @ change > EPSILON * float(np.abs(moved) @ np.abs(change)):
            pairs.append((moved, change))
        here, slope, iterations = there, new, iterations + 1


def _line_search(
    problem: _Problem,
    here: _Point,
    slope: FloatArray,
    pairs: deque[tuple[FloatArray, FloatArray]],
) -> tuple[_Point, FloatArray] | None:
    """Return the point after a step that brings something, and its slope; None if none does.

    Near the maximum what a step brings is lost in the rounding of the determinant; there the slope
    must become smaller instead.
    """
    step = -_two_loop_recursion(here, slope, pairs)
    promised = -float(slope @ step)
    if promised <= 0.0:
        return None
    near = VALUE_ROUNDING * (1.0 + abs(here.loss) + abs(here.value))
    beyond: tuple[_Point, FloatArray] | None = None
    for _ in range(HALVINGS):
        there = problem.first_pass(here.at + step)
        if there is not None and promised > near and there.value <= here.value - 1e-4 * promised:
            new = problem.slope(there)
            if there.errors(new) <= GROWN * max(here.errors(slope), 1.0):
                return there, new
            beyond = there, new
        elif there is not None and promised <= near and there.value <= here.value + near:
            new = problem.slope(there)
            if there.errors(new) < here.errors(slope):
                return there, new
        if problem.is_spent:
            break
        step, promised = step / 2.0, promised / 2.0
    return beyond


def _two_loop_recursion(
    here: _Point, slope: FloatArray, pairs: deque[tuple[FloatArray, FloatArray]]
) -> FloatArray:
    """Return L-BFGS's estimate of H⁻¹g, with I⁻¹ where θ is now between its two loops."""
    left, shares = slope.copy(), []
    for moved, change in reversed(pairs):
        share = float(moved @ left) / float(moved @ change)
        left -= share * change
        shares.append(share)
    found: FloatArray = here.whitening.T @ (here.whitening @ left)
    for (moved, change), share in zip(pairs, reversed(shares), strict=True):
        found += (share - float(change @ found) / float(moved @ change)) * moved
    return found


@dataclass(frozen=True, slots=True, eq=False)
class FirthObjective(Objective):
    """-ℓ - ½ log|I| as an objective to take profiles of, with I for its Hessian.

    level  ½ log|I| at θ = 0, of which the values are counted, so that they are near those of -ℓ
    """

    level: float = 0.0

    @classmethod
    def of(cls, objective: Objective) -> Self:
        """Return that of the rows of a fit; refused where profiles of it would take too long."""
        rows, size = len(objective.loss), objective.shape[0] * objective.shape[1]
        if 2.0 * PROFILE_PASSES * size * (rows + size) * float(size) ** 2 > PROFILE_WORK:
            raise BadSetting(
                f"profiles of {size:,} coefficients by {rows:,} rows, with Firth's correction, "
                "would take too long",
                hint="summary() without rows has Wald's intervals",
            )
        here = _Problem(objective, 1).first_pass(np.zeros(size))
        level = 0.0 if here is None else here.loss - here.value
        return cls(objective.loss, 0.0, objective.basis, level)

    def evaluate(self, at: FloatArray, hessian: bool) -> Point:  # noqa: ARG002  it comes for nothing
        """Return value, gradient and information at a place: two passes over the rows."""
        with pinned():
            problem = _Problem(self, 2)
            here = problem.first_pass(at)
            if here is None:  # nearly singular: as bad as can be
                none = np.zeros_like(at)
                return Point(at, np.inf, none, np.diag(none), -np.inf)
            slope, information = problem.slope(here), self.inside(here.information)
            return Point(at, here.value + self.level, slope, information, -np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """θ in the coordinates of the basis, and what the first of two passes says about it."""

    at: FloatArray
    loss: float
    value: float
    gradient: FloatArray
    information: FloatArray
    whitening: FloatArray
    """L⁻¹ of I = LLᵀ, in the coordinates of the basis."""

    def errors(self, slope: FloatArray) -> float:
        """Return by how many standard errors a step along this slope would move θ."""
        return float(np.linalg.norm(self.whitening @ slope))


class _Problem:
    """-ℓ - ½ log|I| over the coordinates that are free, and how often rows were looked at."""

    def __init__(self, objective: Objective, most: int) -> None:
        self.objective = objective
        self.most = most
        self.passes = 0

    @property
    def is_spent(self) -> bool:
        """Whether as many passes were made as may be: the one that is under way is ended."""
        return self.passes >= self.most

    def first_pass(self, at: FloatArray) -> _Point | None:
        """Return what the first pass says; None where the information is singular to rounding."""
        self.passes += 1
        found = self.objective.loss.curvature(self.objective.theta(at))
        assert found.hessian is not None
        matrix = self.objective.inside(found.hessian)
        diagonal = np.diagonal(matrix)
        if not np.isfinite(found.loss) or not (diagonal > 0.0).all():
            return None
        # On the scale where the diagonal is one: near separation it spans many powers of ten.
        scale = 1.0 / np.sqrt(diagonal)
        factored = inverse_factor(matrix * scale * scale[:, np.newaxis])
        if factored is None:
            return None
        log_root = float(np.log(np.diagonal(factored[0])).sum() - np.log(scale).sum())
        return _Point(
            at,
            found.loss,
            found.loss - log_root,
            self.objective.place(found.gradient),
            found.hessian,
            factored[1] * scale,
        )

    def slope(self, here: _Point) -> FloatArray:
        """Return the gradient of -ℓ - ½ log|I|: the second pass.

        With G_ab = z̃ᵀ[I⁻¹]_ab z̃ and q_a = G_aa - 2(Gp)_a, what a row adds to the derivative of
        ½ log|I| in its score η_c is ½ w p_c (q_c - Σ_a p_a q_a).
        """
        self.passes += 1
        loss = self.objective.loss
        (m, width), size = loss.shape, len(here.at)
        theta, weights = self.objective.theta(here.at), loss.weights
        # z̃ᵀ roots has rows u_a with G_ab = u_a·u_b.
        roots = self._over_columns(here.whitening).transpose(2, 1, 0).reshape(width, m * size)

        def summarize(some: slice, design: FloatArray) -> FloatArray:
            p = _shares(design @ theta.T)
            u = (design @ roots).reshape(len(design), m, size)
            g_p = np.einsum("nas,ns->na", u, np.einsum("nbs,nb->ns", u, p))
            q = np.einsum("nas,nas->na", u, u) - 2.0 * g_p
            residual = 0.5 * p * (q - (p * q).sum(axis=1, keepdims=True))
            if weights is not None:
                residual *= weights[some, np.newaxis]
            found: FloatArray = residual.T @ design
            return found

        gradient = collect_design(loss, summarize, width=m * size)
        return here.gradient - self.objective.place(gradient)

    def fit(self, here: _Point, decrement: float, iterations: int, converged: bool) -> FirthFit:
        """Return the answer."""
        roots = self._over_columns(here.whitening).reshape(len(here.at), -1)
        return FirthFit(
            self.objective.theta(here.at),
            here.loss,
            here.value,
            here.information,
            roots.T @ roots,
            decrement,
            iterations,
            self.passes,
            converged,
        )

    def _over_columns(self, rows: FloatArray) -> FloatArray:
        """Return rows over the free coordinates as rows over θ (s, m, d + 1)."""
        return np.stack([self.objective.theta(row) for row in rows])


def _shares(scores: FloatArray) -> FloatArray:
    """Return p of every class but the first (n, m) from their scores."""
    top = np.maximum(scores.max(axis=1, keepdims=True), 0.0)
    raised = np.exp(scores - top)
    found: FloatArray = raised / (raised.sum(axis=1, keepdims=True) + np.exp(-top))
    return found
