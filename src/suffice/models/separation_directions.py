"""Separation as a search shows it that ran away: a direction made exact, without a program.

Where classes are separated every step of Newton's adds about 1 to the margins that can grow for
ever, while the others stay where they are: after some steps there is a gap between the two. Which
constraints lie below the gap is a guess; what follows from it is proved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.models.newton import Factor
from suffice.models.separation_columns import MOST_COEFFICIENTS
from suffice.models.separation_margins import Constraints, margins_along, survey
from suffice.models.separation_programs import Cone, is_balanced, is_refused, null_space, scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.logistic_loss import LogisticLoss
    from suffice.rows import FloatArray

    BoolArray = NDArray[np.bool_]

GAPS = 4
"""How many of the widest gaps between margins are tried."""

LEAST, MOST = 2.0, 50.0
"""Margins below and above are surely those of ties, and surely growing: e⁻⁵⁰ is beyond rounding."""

MOST_WORK = 2e9
"""Multiplications that one factorisation may take: some tenths of a second."""

RIDGE, TURNS = 1e-12, 4
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
    ordered = np.sort(margins[margins <= MOST])
    ordered = np.append(ordered, margins[margins > MOST].min(initial=np.inf))
    steps = np.diff(np.log(np.maximum(ordered, LEAST)))
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
    for _ in range(TURNS):
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
