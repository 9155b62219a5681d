"""covariance="auto": pool, shrink and its target chosen by leave-one-out log-loss."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.families.gaussian import Gaussian
from suffice.models.leave_one_out import leave_one_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.families.summary import ClassSummary
    from suffice.rows import FloatArray, IntArray

POOLS = (1.0, 0.65, 0.354, 0.125, 0.0)
SHRINKS = (1.0, 0.75, 0.5, 0.25, 0.0)
"""Friedman's grid, the strongest regularization first: a tie goes to the simpler model."""
JUDGED_BUDGET = 2e11
"""Operations that may be spent on judging rows; beyond, a stratified part of them is judged."""
FEWEST_JUDGED = 400


def candidates(divisor: str) -> Iterator[Gaussian]:
    """Yield every setting that is compared, simplest first."""
    start = Gaussian("per-class", divisor=divisor)
    for pool in POOLS:
        for shrink in SHRINKS:
            for target in ("scaled", "diagonal") if shrink > 0.0 else ("diagonal",):
                yield replace(start, pool=pool, shrink=shrink, shrink_target=target)


def choose(
    summary: ClassSummary,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray | None,
    log_priors: FloatArray | None,
    divisor: str,
) -> tuple[Gaussian, tuple[tuple[Gaussian, float], ...]]:
    """Return the setting of least leave-one-out log-loss, and the loss of every candidate.

    All candidates are estimated from the same moments: no pass over the rows but one
    whitening per candidate and class.
    """
    options = list(candidates(divisor))
    judged = _judged(summary, codes, len(options))
    width = int(summary.active.sum())
    cheap = float(len(judged)) * summary.size * width**3 * 30.0
    found = []
    for family in options:
        normals, notes = family.estimate(summary)
        result = leave_one_out(
            family,
            summary,
            normals,
            notes,
            rows,
            codes,
            weights,
            log_priors,
            chosen=judged,
            refit_budget=2e9 if cheap <= 2e9 else 0.0,
            exact_budget=2e8,
        )
        found.append((family, result.log_loss))
    losses = np.array([loss for _, loss in found])
    # A loss that is better by rounding only is not better.
    best = int(np.flatnonzero(losses <= np.nanmin(losses) + 1e-12)[0]) if len(losses) else 0
    return found[best][0], tuple(found)


def _judged(summary: ClassSummary, codes: IntArray, options: int) -> IntArray:
    """Return which rows are judged: all of them, or an even share of every class."""
    width = max(1, int(summary.active.sum()))
    most = int(JUDGED_BUDGET / (4.0 * options * summary.size * width**2))
    most = max(FEWEST_JUDGED, most)
    if len(codes) <= most:
        return np.arange(len(codes), dtype=np.intp)
    order = np.argsort(codes, kind="stable")
    return np.sort(order[np.linspace(0, len(codes) - 1, most).round().astype(np.intp)])
