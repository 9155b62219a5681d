"""Separation: classes that a plane parts, so that no maximum of the likelihood exists.

Along a direction β whose margins z̃ᵀ(β_y - β_a) are nowhere negative, and somewhere positive, the
likelihood rises for ever (Albert and Anderson, 1984). Whether there is one is a question about
signs. Large coefficients do not answer it; linear programs do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from suffice.engines.threads import pinned
from suffice.linear_algebra import inverse_factor
from suffice.models.linear.logistic.loss import collect_design
from suffice.models.linear.logistic.separation.classes import parted_cone, runaway_cone
from suffice.models.linear.logistic.separation.columns import sparse_direction, spread
from suffice.models.linear.logistic.separation.margins import TIED, margins_along, survey
from suffice.models.linear.logistic.separation.programs import (
    Budget,
    Cone,
    Undecided,
    find_cone,
    first_survey,
    scaled,
    work_of,
)

if TYPE_CHECKING:
    from suffice.models.linear.logistic.loss import LogisticLoss
    from suffice.models.linear.logistic.separation.margins import Constraints, Survey
    from suffice.rows import FloatArray

DEAR_WORK = 5e6
"""Multiplications of the first linear program from which a proof without one is tried first. A
choice: a fortieth of `programs.MOST_WORK`."""

MOST_PRODUCTS = 4_000_000_000
"""Products in the Gram matrix of all rows, at most: a second or less. A choice."""

INDEPENDENT_DISTANCE = 1e-5
"""Rows at least this far from the plane of others, in units of their length, are independent:
squared, 1e-10, it is still far above the rounding of a Gram matrix."""

AHEAD = 20.0
"""Log odds by which a separated row's own class leads where θ is cut off: p = 1 - 2e-9."""


@dataclass(frozen=True, slots=True, eq=False)
class Separation:
    """A proof that the classes do not overlap: the likelihood grows along `direction` for ever.

    kind        "complete": every row has a positive margin to every rival class; or
                "quasi-complete": some are on the boundary, in every such direction (or, of
                large tables, in the one that was found: others are not looked for for ever)
    direction   (m, d + 1), in standardised coordinates, its largest entry ±1. As many rows as can
                be have a positive margin along it, and it uses few columns
    pairs       classes (a, b), a > b, of which some row of one has a positive margin to the other
    columns     the columns it uses, counted from 0 without the intercept
    rows_apart  rows with a positive margin to some rival
    rows_tied   rows on the boundary with all of them
    reason      the same in words
    """

    kind: Literal["complete", "quasi-complete"]
    direction: FloatArray
    pairs: tuple[tuple[int, int], ...]
    columns: tuple[int, ...]
    rows_apart: int
    rows_tied: int
    reason: str


def find_separation(loss: LogisticLoss, theta: FloatArray, margin: float) -> Separation | None:
    """Return how the classes are separated, or None if they overlap.

    `theta` is where a fit without a maximum ended, `margin` its smallest one: if all are positive,
    θ itself is the proof. If not, linear programs decide, over the rows with the smallest margins
    first (`separation_programs`); where these are dear, the direction in which θ ran away may be
    proof enough (`separation_directions`). Margins within 1e-11 of ‖z̃‖‖β‖ are ties. Where no
    program decides within its budget, `Undecided` is raised: the answer is not known.

    >>> from suffice.models.linear.logistic.loss import LogisticLoss
    >>> rows, codes = np.arange(10.0)[:, np.newaxis], np.repeat([0, 1], 5)
    >>> loss = LogisticLoss(rows, codes, 2, None, np.array([4.5]), np.array([0.35]))
    >>> found = find_separation(loss, np.array([[0.0, 30.0]]), 10.5)
    >>> found.kind, found.columns, found.rows_apart
    ('complete', (0,), 10)
    """
    with pinned():
        return _through_zero(loss, _separation_of(loss, theta, margin))


def shown_separation(loss: LogisticLoss, theta: FloatArray) -> Separation | None:
    """Return the separation that a search shows on its way, where nothing more can be apart.

    None says nothing: the search is not far enough, there is none, or it would take a program.
    """
    with pinned():
        found = runaway_cone(loss, theta)
        if found is None or not found[1]:
            return None
        cone = found[0]
        direction = sparse_direction(loss, cone)
        return _through_zero(loss, _described(loss, direction, cone.survey, False))


def _through_zero(loss: LogisticLoss, found: Separation | None) -> Separation | None:
    """Return a separation by planes through x = 0, where there is no intercept to see another."""
    if found is None or loss.intercept:
        return found
    direction = found.direction.copy()
    direction[:, 0] = 0.0
    return replace(found, direction=scaled(direction))


def _separation_of(loss: LogisticLoss, theta: FloatArray, margin: float) -> Separation | None:
    at = theta if np.isfinite(theta).all() else np.zeros(loss.shape)
    first = first_survey(loss, at)
    independent = _independent(loss)
    if margin > 0.0 and first.tied == 0:
        cone = Cone(scaled(at), None, first.worst, first)
    elif independent is not None:
        cone = Cone(independent, None, first.worst, survey(loss, independent))
    else:
        cone = _decided(loss, at, first.worst)
    if cone.survey.rows_apart == 0:
        return None
    direction = sparse_direction(loss, cone)
    return _described(loss, direction, cone.survey, independent is not None)


def _decided(loss: LogisticLoss, theta: FloatArray, worst: Constraints) -> Cone:
    """Return the cone by the cheapest proof there is."""
    found, budget = None, Budget()
    if work_of(len(worst), theta.size) > DEAR_WORK:
        found = runaway_cone(loss, theta)
        if found is None and loss.size > 2:
            found = parted_cone(loss, theta, budget)
            if found is not None:  # what it left open is as much work for any other program
                return found[0]
        if found is not None and found[1]:
            return found[0]
    try:
        return find_cone(loss, worst, budget)
    except Undecided:
        if found is None:
            raise
        return found[0]


def finite_theta(loss: LogisticLoss, theta: FloatArray, separation: Separation) -> FloatArray:
    """Return θ + c·direction, finite, with which separated rows are classified without doubt.

    c ≥ 0 is the smallest with which a row's own class leads each rival it is apart from by at
    least 20 in log odds. Rows on the boundary keep the scores that θ gives them.

    >>> from suffice.models.linear.logistic.loss import LogisticLoss
    >>> rows, codes = np.array([[1.0], [3.0]]), np.array([0, 1])
    >>> loss = LogisticLoss(rows, codes, 2, None, np.array([2.0]), np.array([1.0]))
    >>> found = find_separation(loss, np.zeros((1, 2)), 0.0)
    >>> finite_theta(loss, np.zeros((1, 2)), found)
    array([[ 0., 20.]])
    """
    length = float(np.linalg.norm(separation.direction))

    def farthest_of_block(some: slice, design: FloatArray) -> _Farthest:
        codes = loss.codes[some]
        along = margins_along(separation.direction, design, codes)
        apart = along > TIED * length * np.linalg.norm(design, axis=1, keepdims=True)
        behind = AHEAD - margins_along(theta, design, codes)[apart]
        return _Farthest(float((behind / along[apart]).max(initial=0.0)))

    return theta + collect_design(loss, farthest_of_block).value * separation.direction


@dataclass(frozen=True, slots=True)
class _Farthest:
    """The largest of numbers, merged by `+`."""

    value: float

    def __add__(self, other: Self) -> Self:
        return self if self.value >= other.value else other


def _independent(loss: LogisticLoss) -> FloatArray | None:
    """Return a direction that parts rows that are linearly independent, whatever their labels are.

    None if they are not, or not clearly, or too many for this shortcut.
    """
    n, (m, width) = len(loss.codes), loss.shape
    if n > width or n * n * width > MOST_PRODUCTS:
        return None
    design = loss.design(slice(0, n))
    rows = design / np.linalg.norm(design, axis=1, keepdims=True)
    factor = inverse_factor(rows @ rows.T)
    # The diagonal is how far each row is from the plane of those before it.
    if factor is None or np.diagonal(factor[0]).min() < INDEPENDENT_DISTANCE:
        return None
    targets = np.where(loss.codes[:, np.newaxis] == np.arange(1, m + 1), 1.0, -1.0)
    return scaled((factor[1].T @ (factor[1] @ targets)).T @ rows)


def _described(
    loss: LogisticLoss, direction: FloatArray, found: Survey, independent: bool
) -> Separation:
    n, d = len(loss.codes), loss.shape[1] - 1
    pulled = found.pulled + found.pulled.T
    complete = found.tied == 0
    if independent:
        reason = f"{n} linearly independent rows can be separated in any way with {d} columns"
    elif complete:
        reason = f"all {n} rows are on the right side of a boundary"
    elif found.rows_apart == n:
        reason = f"all {n} rows are separated from some of the other classes, but not from all"
    else:
        reason = (
            f"{found.rows_apart} of {n} rows are off a boundary on their own side, the others on it"
        )
    return Separation(
        "complete" if complete else "quasi-complete",
        direction,
        tuple((int(a), int(b)) for a, b in zip(*np.nonzero(np.tril(pulled)), strict=True)),
        tuple(int(j) for j in np.flatnonzero(spread(direction))),
        found.rows_apart,
        n - found.rows_apart,
        reason,
    )
