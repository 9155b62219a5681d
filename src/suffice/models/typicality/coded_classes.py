"""How typical rows with categories are of normal classes.

A normal class codes a category as columns of zeros and ones, which are as far from normal as can
be: a level that one row in a hundred has lies ten standard deviations out. So numbers are judged
by the normal law of the class, and categories by how often the class had them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.typicality.column_laws import (
    ClassColumns,
    say_unknown,
    tally_atoms,
    unknown_classes,
)
from suffice.models.typicality.lattice_sums import NOTHING, lattice_tails
from suffice.models.typicality.naive_bayes import constant_columns, continuous_parts, own_weights
from suffice.models.typicality.normal_classes import normal_p_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.family import Gaussian
    from suffice.models.gaussian.learner import Fit
    from suffice.models.typicality.lattice_sums import Atoms, Part
    from suffice.rows import FloatArray, IntArray


def coded_typicality(
    family: Gaussian,
    fit: Fit,
    rows: FloatArray,
    coded: Sequence[slice],
    codes: IntArray | None,
    gone: FloatArray | None,
) -> FloatArray:
    """Return `typicality` for rows in which the columns of each slice code one category.

    Where columns are independent, categories are summands like the others. Where they are not,
    the p-value is twice the smaller of two: that of the numbers, and the smallest of the
    categories times their number. That is right, if on the safe side, however they depend on
    each other.
    """
    weights = np.ones(len(rows)) if gone is None else gone
    found = _p_values(family, fit, rows, coded, codes, weights)
    # A single row says something of its class: which levels it had. None says nothing.
    known = np.ones(found.shape, dtype=bool)
    held = fit.summary.weights
    if codes is not None:
        known[np.arange(len(rows)), codes] = held[codes] - weights > 1e-12 * held[codes]
    say_unknown(*unknown_classes(known, held, codes, weights))
    return found


def _p_values(
    family: Gaussian,
    fit: Fit,
    rows: FloatArray,
    coded: Sequence[slice],
    codes: IntArray | None,
    weights: FloatArray,
) -> FloatArray:
    numbers = np.ones(rows.shape[1], dtype=bool)
    for places in coded:
        numbers[places] = False
    summary = fit.summary.of_columns(numbers)
    out = np.empty((len(rows), summary.size))
    if family.covariance in ("diagonal", "shared-diagonal"):
        columns = ClassColumns.of(summary, shared=family.covariance == "shared-diagonal")
        z = columns.standardized(rows[:, numbers])
        for c in range(summary.size):
            parts: list[Part] = [*_levels(fit.summary, rows, coded, c, codes, weights)]
            if numbers.any():
                pivots = columns.pivots(z, c, codes, weights)
                parts += [*continuous_parts(pivots), *constant_columns(pivots)]
            out[:, c] = lattice_tails(len(rows), parts)
        return out
    for c in range(summary.size):
        parts = [*_levels(fit.summary, rows, coded, c, codes, weights)]
        single = np.stack([lattice_tails(len(rows), [part]) for part in parts])
        out[:, c] = np.minimum(single.min(axis=0) * len(parts), 1.0)
    if not numbers.any():
        return out
    # p-values are of the scatter itself; of so few columns there may be no factors.
    family = replace(family, factors=None)
    densities, notes = family.estimate(summary)
    inner = replace(
        fit, model=replace(fit.model, densities=densities), summary=summary, notes=notes
    )
    found, _ = normal_p_values(family, inner, rows[:, numbers], codes, weights)
    return np.minimum(np.minimum(found, out) * 2.0, 1.0)


def _levels(
    summary: ClassSummary,
    rows: FloatArray,
    coded: Sequence[slice],
    code: int,
    codes: IntArray | None,
    gone: FloatArray,
) -> list[Atoms]:
    """Return the laws of the categories: means of zeros and ones are tallies."""
    weights = own_weights(code, codes, gone)
    found = []
    for places in coded:
        cells, held = rows[:, places], summary.counts[code, places]
        means = summary.origin[places] + (
            summary.origin_low[places] + summary.means[code, places] * summary.scale[places]
        )
        counts = np.clip(held * means, 0.0, held)
        counts = np.where(counts > 1e-9 * held, counts, 0.0)
        if cells.shape[1] == 1:  # a truth: what is not true is false
            there = np.where(np.isnan(cells[:, 0]), NOTHING, cells[:, 0] > 0.5).astype(np.intp)
            rest = np.maximum(held - counts, 0.0)
            counts = np.concatenate([np.where(rest > 1e-9 * held, rest, 0.0), counts])
        else:
            there = np.where((cells > 0.5).any(axis=1), cells.argmax(axis=1), cells.shape[1])
        found.append(tally_atoms(counts, there, weights))
    return found
