"""The numbers of components by which rows that were left out are classified best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.linear_algebra import log_sum_exp
from suffice.models.mixture.classes import RowsByClass, fit_classes
from suffice.rows.row_hashes import content_hashes, joined_hashes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.models.mixture.fitting import MixtureSettings
    from suffice.rows import FloatArray, IntArray, Label

FOLDS = 5
"""Parts of the rows that are left out in turn. A choice: all is fitted as often."""
WORST = float(-np.log(1e-6))
"""The loss of a row, at most: one that a mixture of few rows is sure about, and wrong, would
otherwise decide alone."""
TIE = 1e-9
"""Losses nearer than this are the same, and fewer components are taken."""


def folds_of(rows: FloatArray, codes: IntArray, size: int) -> IntArray:
    """Return in which part each row is left out (n,); `FOLDS`: in none.

    Of each class as many in every part, by a hash of what rows say: their order plays no part, and
    equal rows are left out together. The only row of a class is never left out.

    >>> folds_of(np.array([[1.0], [2.0], [3.0]]), np.array([0, 0, 1]), 2).tolist()
    [1, 0, 5]
    """
    hashes = joined_hashes([content_hashes(rows, range(rows.shape[1]))])
    parts = np.full(len(rows), FOLDS, dtype=np.intp)
    for c in range(size):
        own = np.flatnonzero(codes == c)
        different, ranks = np.unique(hashes[own], return_inverse=True)
        if len(different) > 1:
            parts[own] = ranks.ravel() % FOLDS
    return parts


@dataclass(frozen=True, eq=False)
class LeftOutDensities:
    """Log p(x | y) of left-out rows (numbers, n, k), if every class has the same number; NaN: none.

    `log_priors` (n, k) are those of the rows that were not left out, `codes` and `weights` (n,)
    those of the rows that were.
    """

    log_densities: FloatArray
    log_priors: FloatArray
    codes: IntArray
    weights: FloatArray

    def loss(self, chosen: Sequence[int]) -> float:
        """Return the mean -log p(y | x) if each class has the number at such a place; inf: none."""
        own = np.stack([self.log_densities[i, :, k] for k, i in enumerate(chosen)], axis=1)
        if np.isnan(own).any():
            return np.inf
        joint = own + self.log_priors
        with np.errstate(invalid="ignore"):
            logs = joint[np.arange(len(joint)), self.codes] - log_sum_exp(joint)
        losses = np.minimum(-np.nan_to_num(logs, nan=-np.inf), WORST)
        return float(np.average(losses, weights=self.weights))

    def best(self, *, shared: bool) -> tuple[list[int], float]:
        """Return the places of the best numbers, and their loss.

        First the best number that is the same for all; then one class after the other, the others
        held, until nothing is gained: where one form holds for all classes, the former alone.
        """
        numbers, _, size = self.log_densities.shape
        chosen, least = [0] * size, self.loss([0] * size)
        for i in range(1, numbers):
            loss = self.loss([i] * size)
            if loss < least - TIE:
                chosen, least = [i] * size, loss
        gained = not shared
        while gained:
            gained = False
            for k in range(size):
                for i in range(numbers):
                    tried = [*chosen[:k], i, *chosen[k + 1 :]]
                    loss = self.loss(tried)
                    if loss < least - TIE or (i < chosen[k] and loss <= least + TIE):
                        chosen, least, gained = tried, loss, True
        return chosen, least


def left_out_numbers(
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray | None,
    labels: Sequence[Label],
    numbers: Sequence[tuple[int, ...]],
    covariance: object,
    settings: MixtureSettings,
    *,
    shared: bool,
    log_priors: FloatArray | None = None,
) -> list[tuple[int, ...]]:
    """Return for each class the one number of components that left-out rows ask for.

    Each part of the rows is left out, and classes are fitted anew to the others, with every number
    and, of several forms, the one of least BIC among these. `log_priors` are those that are given;
    otherwise they are the shares of the rows that were not left out.
    """
    held = left_out_densities(
        rows, codes, weights, labels, numbers, covariance, settings, shared=shared,
        log_priors=log_priors,
    )  # fmt: skip
    if held is None:
        return [one[:1] for one in numbers]
    chosen, _ = held.best(shared=shared)
    return [(one[min(i, len(one) - 1)],) for one, i in zip(numbers, chosen, strict=True)]


def left_out_densities(
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray | None,
    labels: Sequence[Label],
    numbers: Sequence[tuple[int, ...]],
    covariance: object,
    settings: MixtureSettings,
    *,
    shared: bool,
    log_priors: FloatArray | None = None,
) -> LeftOutDensities | None:
    """Return what left-out rows are under classes of every number; None if none can be left out."""
    size, most = len(labels), max(len(one) for one in numbers)
    there = ~np.isnan(rows).all(axis=1)
    parts = np.where(there, folds_of(rows, codes, size), FOLDS)
    held = np.ones(len(rows)) if weights is None else weights
    asked = np.concatenate([np.flatnonzero(parts == part) for part in range(FOLDS)])
    if not len(asked) or size < 2:
        return None
    found = np.full((most, len(rows), size), np.nan)
    priors = np.empty((len(rows), size))
    for part in range(FOLDS):
        out, rest = np.flatnonzero(parts == part), np.flatnonzero(parts != part)
        if not len(out):
            continue
        own = None if weights is None else weights[rest]
        by_class = RowsByClass.of(rows[rest], codes[rest], size, own)
        shares = np.bincount(codes[rest], weights=held[rest], minlength=size)
        priors[out] = np.log(shares / shares.sum()) if log_priors is None else log_priors
        distinct = [len(one.sample.rows) for one in by_class.surveys]
        for i in range(most):
            chosen = [one[min(i, len(one) - 1)] for one in numbers]
            fits = [n <= many for n, many in zip(chosen, distinct, strict=True)]
            if shared and not all(fits):
                continue
            # Of a class that has too few rows for so many, one component stands for none.
            some = [(n if fit else 1,) for n, fit in zip(chosen, fits, strict=True)]
            fitted = fit_classes(by_class, labels, some, covariance, settings, shared=shared)
            densities: Any = fitted.laws.log_densities(rows[out])
            found[i][np.ix_(out, np.flatnonzero(fits))] = densities[:, fits]
    return LeftOutDensities(found[:, asked], priors[asked], codes[asked], held[asked])
