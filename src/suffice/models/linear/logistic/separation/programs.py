"""The linear programs behind separation, over as few constraints as decide it.

A cone {β: Zβ ≥ 0} has a largest set of constraints that can all be positive at once: they are
*apart*, the others are *tied* in every direction of the cone. Few rows tell. What is tied among
some constraints stays tied among all, and so does whatever depends on it linearly; a direction
that pulls some apart must be shown to all rows. Both are done after every program, and rows that
object join the next one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.models.linear.logistic.separation.margins import SPANNED, TIED, survey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from suffice.models.linear.logistic.loss import LogisticLoss
    from suffice.models.linear.logistic.separation.margins import Constraints, Survey
    from suffice.rows import FloatArray

    BoolArray = NDArray[np.bool_]

BOX = 1e3
"""|β| in the programs. The solver's tolerances are absolute: in a large box they are small."""

ATTEMPTS = (("highs-ipm", 1e-9), ("highs-ds", 1e-8), ("highs-ipm", 1e-7), ("highs-ds", 1e-7))
"""Methods and tolerances, one after the other. What comes out is checked in any case."""

MOST_CELLS = 20_000_000
"""Cells of the largest program that is tried (160 MB). A choice."""

MOST_WORK = 2e8
"""Multiplications that all programs of one table may take together: a second or two. A program of
s constraints on p coefficients takes about s·p² of them for every few steps of the solver, and is
counted as that: by its shape, so that the same table has the same answer on every machine."""

START = 1000
"""Constraints of the first linear program, or four for each coefficient."""

START_CELLS = 1_000_000
"""Cells of the first linear program, at most."""

INFEASIBLE = 2
"""SciPy's status of a program without solutions."""

QUICK = 20_000
"""Cells of programs that are quick enough to be repeated until all that can be apart is;"""
MOST_ROUNDS = 3
"""and how often larger ones are."""

MOST_COEFFICIENTS = 4000
"""Of more coefficients than this no program decides."""


class Undecided(Exception):
    """The solver gave up, or the program that would decide is too large; the text says which."""


class Budget:
    """The multiplications that programs may still take."""

    def __init__(self, work: float = MOST_WORK) -> None:
        self.left = work

    def spend(self, constraints: int, coefficients: int) -> None:
        """Count one program; one that is beyond what is left is not begun."""
        self.left -= work_of(constraints, coefficients)
        if self.left < 0.0:
            raise Undecided(
                f"linear programs of {constraints:,} rows and {coefficients:,} coefficients would "
                "take too long"
            )


def work_of(constraints: int, coefficients: int) -> float:
    """Return about how many multiplications a program takes for every few steps.

    >>> work_of(1000, 100)
    10000000.0
    """
    return float(constraints) * coefficients * coefficients


@dataclass(frozen=True, slots=True, eq=False)
class Cone:
    """What the linear programs found.

    direction    (m, d + 1): positive on all that is apart, zero if nothing is
    hidden       (m(d + 1), q): a basis of the directions that leave the ties tied; None: no ties
    constraints  those that decided it
    survey       what all rows say about the direction
    """

    direction: FloatArray
    hidden: FloatArray | None
    constraints: Constraints
    survey: Survey


def first_survey(loss: LogisticLoss, theta: FloatArray) -> Survey:
    """Return what rows say about θ, with the constraints that the first program begins with."""
    most = max(min(max(START, 4 * theta.size), START_CELLS // theta.size), 1)
    return survey(loss, scaled(theta), most=most)


def find_cone(loss: LogisticLoss, start: Constraints, budget: Budget) -> Cone:
    """Return what is apart and what is tied among all rows, starting from a few of them."""
    m, width = loss.shape
    if m * width > MOST_COEFFICIENTS:
        raise Undecided(f"{m * width} coefficients are too many for a linear program")
    held = start
    while True:
        if len(held) * m * width > MOST_CELLS:
            raise Undecided(f"{len(held)} rows of {width - 1} columns did not settle the question")
        matrix = held.matrix(m)
        sizes = np.linalg.norm(matrix, axis=1)
        beta, tied, whole = _widest(matrix, sizes, budget)
        if not whole:
            direction = scaled(beta).reshape(m, width)
            found = survey(loss, direction, None, held, most=max(len(held) // 2, 500))
            if not is_refused(found.worst, direction):
                return Cone(direction, None, held, found)
            held = held + found.worst
            continue
        hidden = None
        if tied.any():
            # Rows of one length: one that is far away must not make the others look like none.
            held_sizes = np.where(sizes[tied] > 0.0, sizes[tied], 1.0)  # zeros, without intercept
            hidden = null_space(matrix[tied] / held_sizes[:, np.newaxis])
            beta = hidden @ (hidden.T @ beta)
        direction = scaled(beta).reshape(m, width)
        found = survey(loss, direction, hidden, held, most=max(len(held) // 2, 500))
        if found.objections == 0:
            if (matrix @ direction.ravel() < -TIED * sizes * np.linalg.norm(direction)).any():
                raise Undecided("the linear program has no reliable solution")
            return Cone(direction, hidden, held, found)
        # With those that nearly object: else they are the next to do so.
        held = held + found.worst


def is_refused(worst: Constraints, direction: FloatArray) -> bool:
    """Whether some constraint has a negative margin: those with the smallest come first."""
    sizes = np.linalg.norm(worst.rows, axis=1) * np.linalg.norm(direction)
    return bool((worst.urgency < -TIED * sizes).any())


def _widest(
    matrix: FloatArray, sizes: FloatArray, budget: Budget
) -> tuple[FloatArray, BoolArray, bool]:
    """Return a direction that pulls apart all that can be, and which constraints are tied (s,).

    The first program maximises the sum of the margins, with |β| ≤ 1; it is small, and enough where
    nothing is apart. Otherwise a larger one maximises Σ min(margin, 1/BOX) over those that are not
    apart yet, which no single row can dominate. What is found adds up: in a cone a sum of
    directions is positive wherever one of them is. Large programs are not repeated for long: the
    third answer is whether all that can be apart is; if not, some that seem tied may not be.
    """
    total = np.zeros(matrix.shape[1])
    left = np.ones(len(matrix), dtype=bool)
    rounds = 0
    while left.any():
        if rounds >= MOST_ROUNDS and matrix.size > QUICK:
            return total, left, False
        beta = _largest_margin_sum(matrix, left, sizes, budget, capped=bool(total.any()))
        rounds += 1
        if beta is None:
            break
        total = scaled(total + beta)
        left &= matrix @ total <= TIED * sizes * np.linalg.norm(total)
    return total, left, True


def _largest_margin_sum(
    matrix: FloatArray, left: BoolArray, sizes: FloatArray, budget: Budget, capped: bool
) -> FloatArray | None:
    """Return β with the largest sum of margins over what is left, Zβ ≥ 0, |β| ≤ 1; None for zero.

    Without a positive value the dual is a proof: multipliers u > 0 with Σ u z = 0 over what is
    left (Stiemke), looked at here, so that no tolerance of the solver decides.
    """
    size = matrix.shape[1]
    program = _capped(matrix, left) if capped else _summed(matrix, left)
    for found in solutions(budget, size, **program):
        beta: FloatArray = found.x[:size] / BOX
        # A cone that reaches beyond its tip reaches the box, or the cap.
        outside = np.abs(beta).max() > 0.5 or found.x[size:].max(initial=0.0) > 0.5
        gains = matrix[left] @ beta > TIED * sizes[left] * np.linalg.norm(beta)
        if outside and gains.any():
            return beta
        # Outside and without gain: gaps too small to count, or a direction no row can see.
        duals = -found.ineqlin.marginals[left] + (0.0 if capped else 1.0)
        if outside or is_balanced(matrix[left], duals):
            return None
    raise Undecided("the linear program has no reliable solution")


def _summed(matrix: FloatArray, left: BoolArray) -> dict[str, object]:
    """Return the program: largest Σ zᵀβ over what is left."""
    count, size = matrix.shape
    return {
        "c": -matrix[left].sum(axis=0),
        "A_ub": -matrix,
        "b_ub": np.zeros(count),
        "bounds": np.tile([-BOX, BOX], (size, 1)),
    }


def _capped(matrix: FloatArray, left: BoolArray) -> dict[str, object]:
    """Return the program: largest Σ t, t ≤ zᵀβ and 0 ≤ t ≤ 1, over what is left."""
    from scipy import sparse

    count, size = matrix.shape
    caps = sparse.eye_array(count, format="csc")[:, left]
    many = caps.shape[1]
    box, unit = np.tile([-BOX, BOX], (size, 1)), np.tile([0.0, 1.0], (many, 1))
    return {
        "c": np.concatenate((np.zeros(size), -np.ones(many))),
        "A_ub": sparse.hstack([sparse.csc_array(-matrix), caps], format="csc"),
        "b_ub": np.zeros(count),
        "bounds": np.concatenate((box, unit)),
    }


def is_balanced(matrix: FloatArray, duals: FloatArray) -> bool:
    """Whether Σ u z = 0 has a solution u > 0, next to the solver's.

    The nearest by ratios: where classes hardly overlap, multipliers differ by many powers of ten.
    """
    weighted = matrix * duals[:, np.newaxis]
    share = np.linalg.lstsq(weighted, np.ones(len(duals)), rcond=SPANNED)[0]
    return bool((1.0 - weighted @ share).min() > 0.0)


def solutions(budget: Budget, coefficients: int, **program: Any) -> Iterator[Any]:
    """Yield SciPy's solutions of a linear program, by one method after the other.

    The simplex method can go in circles where tolerances are small: its steps are limited.
    """
    from scipy.optimize import linprog

    steps = 1000 + 20 * sum(program["A_ub"].shape)
    for method, tolerance in ATTEMPTS:
        budget.spend(program["A_ub"].shape[0], coefficients)
        options = {
            "primal_feasibility_tolerance": tolerance,
            "dual_feasibility_tolerance": tolerance,
            "maxiter": steps,
        }
        found = linprog(method=method, options=options, **program)
        if found.status == 0:
            yield found
        elif found.status == INFEASIBLE:
            return


def null_space(matrix: FloatArray) -> FloatArray:
    """Return an orthonormal basis (p, q) of the directions on which all rows vanish.

    >>> null_space(np.array([[1.0, 0.0], [2.0, 0.0]])).shape
    (2, 1)
    """
    r = np.linalg.qr(matrix, mode="r")
    _, values, rows = np.linalg.svd(r, full_matrices=True)
    rank = int((values > SPANNED * values.max(initial=0.0)).sum())
    found: FloatArray = rows[rank:].T
    return found


def scaled(beta: FloatArray) -> FloatArray:
    """Return β with 1 as its largest entry; zero stays zero.

    >>> scaled(np.array([1.0, -4.0]))
    array([ 0.25, -1.  ])
    """
    top = np.abs(beta).max(initial=0.0)
    return beta / top if top > 0.0 else beta
