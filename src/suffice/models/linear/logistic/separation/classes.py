"""Separation without large programs: class by class, and along the way a search ran off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.linear.logistic.newton import Factor
from suffice.models.linear.logistic.separation.columns import MOST_COEFFICIENTS
from suffice.models.linear.logistic.separation.margins import (
    TIED,
    Constraints,
    margins_along,
    survey,
)
from suffice.models.linear.logistic.separation.programs import (
    Budget,
    Cone,
    Undecided,
    find_cone,
    first_survey,
    is_balanced,
    is_refused,
    null_space,
    scaled,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.linear.logistic.loss import LogisticLoss
    from suffice.rows import FloatArray, IntArray

    BoolArray = NDArray[np.bool_]


SHARE = 0.5
"""Of the programs' budget, what may go to single classes. A choice: as much for them as for the
rest."""
TURNS = 4
"""How many times its part of that one class may take: some are decided at once."""
FIXED = 100
"""Coefficients that a program costs as much time as, beside its own: they are few here."""

OPEN_WORK = 5e6
"""Multiplications for what the single classes leave open: more seldom shows anything new."""

FARTHEST = 1e5
"""How many times as long as another a direction may be that is added to it: margins are told from
ties to eleven digits."""


def parted_cone(loss: LogisticLoss, theta: FloatArray, budget: Budget) -> tuple[Cone, bool] | None:
    """Return a cone found class by class, and whether no more can be apart than is; or None.

    `theta` (m, d + 1) is where a search ended: its worst margins are where the programs begin.
    None says nothing: no class was shown to be parted from all others.
    """
    n, k = len(loss.codes), loss.size
    if float(n) * max(loss.shape) > MOST_CELLS:
        return None
    every = np.concatenate((np.zeros((1, loss.shape[1])), theta))
    clear, partly = _one_by_one(loss, every, budget)
    if not clear and not partly:
        return None
    left = np.array([c for c in range(k) if c not in clear], dtype=np.intp)
    base = _summed(loss, clear)
    whole, rest = False, _summed(loss, partly)
    try:
        rest = _among(loss, every, left, Budget(min(OPEN_WORK, budget.left)))
        whole = True
    except Undecided:
        pass
    direction = _added(loss, base, rest)
    if direction is None:
        direction, whole = base if clear else rest, False
    design = loss.design(slice(0, n))
    margins = margins_along(direction, design, loss.codes)
    sizes = np.linalg.norm(design, axis=1, keepdims=True) * np.linalg.norm(direction)
    others = np.arange(k) != loss.codes[:, np.newaxis]
    cone = beyond(loss, direction, design, margins, others & (margins <= TIED * sizes))
    return None if cone is None else (cone, whole)


def _one_by_one(
    loss: LogisticLoss, every: FloatArray, budget: Budget
) -> tuple[dict[int, FloatArray], dict[int, FloatArray]]:
    """Return the planes between a class and all others: those clear of all rows, and the rest."""
    clear: dict[int, FloatArray] = {}
    partly: dict[int, FloatArray] = {}
    width = loss.shape[1]
    left = SHARE * budget.left * width / (width + FIXED)
    most = TURNS * left / loss.size
    for c in range(loss.size):
        own = Budget(min(left, most))
        given = own.left
        two = replace(loss, codes=(loss.codes == c).astype(np.intp), size=2)
        ahead = every[c] - (every.sum(axis=0) - every[c]) / (loss.size - 1)
        try:
            cone = find_cone(two, first_survey(two, ahead[np.newaxis]).worst, own)
        except Undecided:
            continue
        finally:
            spent = given - max(own.left, 0.0)
            left, budget.left = left - spent, budget.left - spent
        if cone.survey.rows_apart:
            (partly if cone.survey.tied else clear)[c] = cone.direction[0]
    return clear, partly


def _summed(loss: LogisticLoss, planes: dict[int, FloatArray]) -> FloatArray:
    """Return the direction (m, d + 1) that has a class ahead along its own plane."""
    every = np.zeros((loss.size, loss.shape[1]))
    for c, plane in planes.items():
        every[c] = plane
    found: FloatArray = every[1:] - every[0]
    return found


def _among(loss: LogisticLoss, every: FloatArray, classes: IntArray, budget: Budget) -> FloatArray:
    """Return the direction (m, d + 1) of the cone of some classes among themselves."""
    full = np.zeros((loss.size, loss.shape[1]))
    if len(classes) > 1:
        some = np.flatnonzero(np.isin(loss.codes, classes))
        few = replace(
            loss,
            rows=loss.rows[some],
            codes=np.searchsorted(classes, loss.codes[some]),
            size=len(classes),
            weights=None if loss.weights is None else loss.weights[some],
        )
        theta = every[classes[1:]] - every[classes[0]]
        cone = find_cone(few, first_survey(few, theta).worst, budget)
        full[classes[1:]] = cone.direction
    found: FloatArray = full[1:] - full[0]
    return found


def _added(loss: LogisticLoss, base: FloatArray, rest: FloatArray) -> FloatArray | None:
    """Return a sum of both with no margin below 0, where the rest has some that the base lifts."""
    if not base.any() or not rest.any():
        return base + rest
    least = survey(loss, base).least
    worst = survey(loss, rest, most=1).worst
    behind = -float(worst.urgency.min(initial=0.0))
    times = max(2.0 * behind / least, 1.0)
    return scaled(times * base + rest) if times <= FARTHEST else None


GAPS = 4
"""How many of the widest gaps between margins are tried. A choice."""

TIED_MARGIN, GROWING_MARGIN = 2.0, 50.0
"""Margins below and above are surely those of ties, and surely growing: e⁻⁵⁰ is beyond rounding."""

MOST_WORK = 2e9
"""Multiplications that one factorisation may take: some tenths of a second."""

RIDGE, REFINEMENTS = 1e-12, 4
"""What is added to a Gram matrix of rows of length 1, relatively, and how often it is used."""

MOST_CELLS = 20_000_000
"""Cells of the matrix that is factored, and of all rows, at most."""


def runaway_cone(loss: LogisticLoss, theta: FloatArray) -> tuple[Cone, bool] | None:
    """Return the cone along which θ ran away, and whether no more can be apart than is; or None.

    With T the constraints below a gap, the part of θ at right angles to all of T leaves T tied. If
    all other margins along it are positive, or none negative, it separates. If Σ_T u z = 0 has a
    solution u > 0, nothing in T can be pulled apart (Stiemke): the shares that rivals have at θ
    are nearly one, since the gradient is nearly zero.
    """
    n, (m, width) = len(loss.codes), loss.shape
    if float(n) * max(width, m) > MOST_CELLS or not np.isfinite(theta).all():
        return None
    design = loss.design(slice(0, n))
    margins = margins_along(theta, design, loss.codes)
    others = np.arange(m + 1) != loss.codes[:, np.newaxis]
    partial: Cone | None = None
    for bound in _gaps(margins[others]):
        below = others & (margins <= bound)
        cone = beyond(loss, theta, design, margins, below)
        if cone is None:
            continue
        if _is_tied(loss, design, margins, below):
            return cone, True
        if partial is None or cone.survey.tied < partial.survey.tied:
            partial = cone
    return None if partial is None else (partial, False)


def _gaps(margins: FloatArray) -> list[float]:
    """Return the margins at which the widest gaps begin, by ratios, the widest first."""
    ordered = np.sort(margins[margins <= GROWING_MARGIN])
    ordered = np.append(ordered, margins[margins > GROWING_MARGIN].min(initial=np.inf))
    steps = np.diff(np.log(np.maximum(ordered, TIED_MARGIN)))
    widest = np.argsort(-steps, kind="stable")[:GAPS]
    return [float(ordered[place]) for place in widest if steps[place] > 0.0]


def beyond(
    loss: LogisticLoss,
    theta: FloatArray,
    design: FloatArray,
    margins: FloatArray,
    below: BoolArray,
) -> Cone | None:
    """Return the cone of the part of θ that no constraint below sees; None if it is no proof."""
    m, width = loss.shape
    held = _constraints(loss, design, margins, below)
    count, size = len(held), m * width
    if float(count) * size * min(count, size) > MOST_WORK or count * size > MOST_CELLS:
        return None
    matrix = held.matrix(m)
    sizes = np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix /= np.where(sizes > 0.0, sizes, 1.0)  # a row of zeros, without an intercept
    hidden = None
    if count and size <= MOST_COEFFICIENTS:
        hidden = null_space(matrix)
        beta = hidden @ (hidden.T @ theta.ravel())
    elif count > size:  # a Gram matrix of the rows would be larger than what they span
        free = null_space(matrix)
        beta = free @ (free.T @ theta.ravel())
    else:
        beta = _projected(theta.ravel(), matrix) if count else theta.ravel()
    direction = scaled(beta).reshape(m, width)
    found = survey(loss, direction, hidden, held, most=2 * size)
    refused = is_refused(found.worst, direction) or (hidden is not None and found.objections > 0)
    if refused or found.rows_apart == 0:
        return None
    return Cone(direction, hidden, held if hidden is None else held + found.worst, found)


def _projected(beta: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return the part of β at right angles to the rows of a matrix (s, p), s ≤ p.

    By the Gram matrix of the rows, with a ridge that lets them depend on each other: every turn
    takes away all but ridge/(σ² + ridge) of what is left along a singular direction.
    """
    gram = matrix @ matrix.T
    gram[np.diag_indices(len(gram))] += RIDGE * len(gram)
    factor = Factor(gram)
    for _ in range(REFINEMENTS):
        beta = beta - factor.solve(matrix @ beta) @ matrix
    return beta


def _is_tied(loss: LogisticLoss, design: FloatArray, margins: FloatArray, below: BoolArray) -> bool:
    """Whether multipliers prove that no constraint below the gap can be pulled apart."""
    m, width = loss.shape
    count = int(below.sum())
    if count == 0:
        return True
    if float(count) * (m * width) ** 2 > MOST_WORK or count * m * width > MOST_CELLS:
        return False
    shares = np.exp(-margins - np.max(-margins, axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    if loss.weights is not None:
        shares *= loss.weights[:, np.newaxis]
    matrix = _constraints(loss, design, shares, below).matrix(m)
    return is_balanced(matrix, np.maximum(shares[below], np.finfo(np.float64).tiny))


def _constraints(
    loss: LogisticLoss, design: FloatArray, urgency: FloatArray, some: BoolArray
) -> Constraints:
    at, rival = np.nonzero(some)
    k = loss.shape[0] + 1
    return Constraints(design[at], loss.codes[at], rival, at * k + rival, urgency[at, rival])
