"""Separation of many classes, one class against the rest at a time: small programs first.

A plane between one class and all others is a direction for all classes together. A class that such
a plane parts from all rows of the others takes no part in what remains: whatever else is apart or
tied is so among the other classes alone, with their rows alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.linear.logistic.separation.margins import TIED, margins_along, survey
from suffice.models.linear.logistic.separation.programs import (
    Budget,
    Undecided,
    find_cone,
    first_survey,
    scaled,
)
from suffice.models.linear.logistic.separation.separation import MOST_CELLS, beyond

if TYPE_CHECKING:
    from suffice.models.linear.logistic.loss import LogisticLoss
    from suffice.models.linear.logistic.separation.programs import Cone
    from suffice.rows import FloatArray, IntArray

SHARE = 0.5
"""Of the programs' budget, what may go to single classes."""
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
