"""The fewest columns that part the classes: those to name.

Of all directions with the same rows apart, the one with the smallest Σ_j (max_c β_cj - min_c β_cj),
β₀ = 0, uses few columns, as small sums of absolute values do, and does not depend on which class
is the reference. Then columns are left out as long as the rest still does it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.models.linear.logistic.separation.margins import SPANNED, survey
from suffice.models.linear.logistic.separation.programs import (
    MOST_CELLS,
    Budget,
    Undecided,
    null_space,
    scaled,
    solutions,
)

if TYPE_CHECKING:
    from suffice.models.linear.logistic.loss import LogisticLoss
    from suffice.models.linear.logistic.separation.margins import Constraints
    from suffice.models.linear.logistic.separation.programs import Cone
    from suffice.rows import FloatArray, IntArray

FEW_COLUMNS = 16
"""Columns up to which a smaller set is looked for: more than can be read say nothing. A choice."""

MOST_COEFFICIENTS = 300
"""Of more coefficients than this no program chooses: the direction is named as it is."""

NAMING_WORK = 1e8
"""Multiplications that looking for fewer columns may take; the fewest found by then are named."""

ROUNDS = 60
"""So many programs, each with more rows, for one set of columns."""

USED = 1e-9
"""Coefficients up to this share of the largest are zero."""


def spread(direction: FloatArray) -> FloatArray:
    """Return max_c β_cj - min_c β_cj of each column (d,), the reference counted in.

    >>> spread(np.array([[5.0, 1.0, 0.0], [5.0, -2.0, 0.0]]))
    array([3., 0.])
    """
    slopes = direction[:, 1:]
    found: FloatArray = slopes.max(axis=0, initial=0.0) - slopes.min(axis=0, initial=0.0)
    return found


def sparse_direction(loss: LogisticLoss, cone: Cone) -> FloatArray:
    """Return a direction that pulls the same rows apart with as few columns as can be found.

    Where they are few the answer is minimal: without any one of its columns the rest would not do.
    A smaller set of quite different columns may exist; finding it is a matter of trying all.
    """
    if cone.direction.size > MOST_COEFFICIENTS:
        return cone.direction
    search = _Search(loss, cone)
    best = search.direction(np.arange(loss.shape[1] - 1))
    if best is None:
        return cone.direction
    order = _used(best)
    count = 0
    while count < min(len(order), FEW_COLUMNS + 1):
        found = search.direction(order[:count])
        if found is not None:
            best = found
            break
        count = max(2 * count, 1)
    if len(_used(best)) <= FEW_COLUMNS:
        for column in _used(best)[::-1]:
            rest = _used(best)
            found = search.direction(rest[rest != column])
            best = best if found is None else found
    return best


def _used(direction: FloatArray) -> IntArray:
    """Return the columns with a coefficient, the largest first."""
    sizes = spread(direction)
    order = np.argsort(-sizes, kind="stable")
    found: IntArray = order[sizes[order] > USED * np.abs(direction).max()]
    return found


class _Search:
    """The linear program for a set of columns, with the rows that earlier sets needed."""

    def __init__(self, loss: LogisticLoss, cone: Cone) -> None:
        self.loss, self.cone, self.budget = loss, cone, Budget(NAMING_WORK)
        m = loss.shape[0]
        # The least margin asked for: neither lost in the solver's tolerance, nor with β too large.
        self.gap = min(1.0, 1e4 * cone.survey.least)
        hidden = cone.hidden
        if hidden is None:
            self.held, self.ties = cone.constraints, np.zeros((0, cone.direction.size))
        else:
            # Apart are those of the constraints that hidden directions can move.
            self.held = _movable(cone.constraints, hidden, m)
            self.ties = null_space(hidden.T).T

    def direction(self, columns: IntArray) -> FloatArray | None:
        """Return the sparsest direction with these columns alone, or None if there is none."""
        m, width = self.loss.shape
        free = (np.arange(m)[:, np.newaxis] * width + np.append(0, columns + 1)).ravel()
        for _ in range(ROUNDS):
            if len(self.held) * m * width > MOST_CELLS:
                return None
            try:
                slopes = self._program(
                    self.held.matrix(m)[:, free], self.ties[:, free], len(columns)
                )
            except Undecided:  # the work is spent: what was found so far is named
                return None
            if slopes is None:
                return None
            beta = np.zeros(m * width)
            beta[free] = slopes
            direction = beta.reshape(m, width)
            most = max(len(self.held) // 2, 200)
            below = self.gap * (1.0 - 1e-6)
            found = survey(self.loss, direction, self.cone.hidden, self.held, below, most)
            if found.objections == 0:
                return self._checked(direction)
            self.held = self.held + found.worst
        return None

    def _program(self, matrix: FloatArray, ties: FloatArray, d: int) -> FloatArray | None:
        """Return β over the free entries: least spread, margins of at least the gap, ties tied."""
        from scipy import sparse

        count, size = matrix.shape
        m = size // (d + 1)
        # Which column an entry of β belongs to; intercepts have none, and cost nothing.
        entries = sparse.csr_array(np.tile(np.eye(d + 1)[:, 1:], (m, 1)))
        slopes = entries.sum(axis=1) > 0
        each, unit = entries[slopes], sparse.eye_array(size, format="csr")[slopes]
        upper = sparse.vstack(
            [
                sparse.hstack([sparse.csr_array(-matrix), sparse.csr_array((count, 2 * d))]),
                sparse.hstack([unit, -each, 0.0 * each]),  # β_cj ≤ high_j
                sparse.hstack([-unit, 0.0 * each, each]),  # low_j ≤ β_cj
            ],
            format="csc",
        )
        programs = solutions(
            self.budget,
            size,
            c=np.concatenate((np.zeros(size), np.ones(d), -np.ones(d))),
            A_ub=upper,
            b_ub=np.concatenate((np.full(count, -self.gap), np.zeros(2 * m * d))),
            A_eq=np.concatenate((ties, np.zeros((len(ties), 2 * d))), axis=1),
            b_eq=np.zeros(len(ties)),
            bounds=[(None, None)] * size + [(0.0, None)] * d + [(None, 0.0)] * d,
        )
        found = next(programs, None)
        if found is None:
            return None
        beta: FloatArray = found.x[:size]
        if len(ties):
            hidden = null_space(ties)
            beta = hidden @ (hidden.T @ beta)
        return beta

    def _checked(self, direction: FloatArray) -> FloatArray | None:
        """Return the direction without what is zero, if the same rows are still apart."""
        direction = scaled(direction)
        direction[:, 1:] = np.where(spread(direction) > USED, direction[:, 1:], 0.0)
        found = survey(self.loss, direction, self.cone.hidden)
        same = np.array_equal(found.pulled, self.cone.survey.pulled)
        return direction if same and found.objections == 0 else None


def _movable(constraints: Constraints, hidden: FloatArray, m: int) -> Constraints:
    """Return the constraints whose margins can change while the ties stay tied."""
    moved = np.linalg.norm(constraints.matrix(m) @ hidden, axis=1)
    sizes = np.linalg.norm(constraints.rows, axis=1)
    return constraints[moved > SPANNED * sizes]
