"""Several linear classifiers whose probabilities are averaged: no linear classifier any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.linear_algebra import log_sum_exp

if TYPE_CHECKING:
    from suffice.models.linear.form import LinearForm
    from suffice.rows import FloatArray, IntArray, Label
    from suffice.rows.sparse_rows import SparseRows


@dataclass(frozen=True, eq=False)
class AveragedForm:
    """p(y | x) = Σ_g shares[g]·p_g(y | x), over linear forms of the same classes and columns.

    >>> from suffice.models.linear.form import LinearForm
    >>> flat = LinearForm(("no", "yes"), np.zeros((2, 1)), np.zeros(2), np.zeros(1))
    >>> steep = LinearForm(("no", "yes"), np.array([[0.0], [50.0]]), np.zeros(2), np.zeros(1))
    >>> AveragedForm(("no", "yes"), np.array([0.5, 0.5]), (flat, steep)).posterior(
    ...     np.array([[9.0]]))
    array([[0.25, 0.75]])
    """

    labels: tuple[Label, ...]
    shares: FloatArray
    members: tuple[LinearForm, ...]

    @property
    def origin(self) -> FloatArray:
        """The place that columns are counted from; the same for all members."""
        return self.members[0].origin

    def posterior(self, rows: FloatArray | SparseRows, *, log: bool = False) -> FloatArray:
        """Return p(y | x), or its logarithm, one column a class."""
        if log:
            told = np.stack([form.posterior(rows, log=True) for form in self.members], axis=-1)
            held = (told + np.log(self.shares)).reshape(-1, len(self.shares))
            return log_sum_exp(held).reshape(told.shape[:2])
        found = np.zeros((len(rows), len(self.labels)))
        for share, form in zip(self.shares, self.members, strict=True):
            found += share * form.posterior(rows)
        return found

    def log_posterior(self, rows: FloatArray | SparseRows) -> FloatArray:
        """Return log p(y | x), one column a class."""
        return self.posterior(rows, log=True)

    def codes(self, rows: FloatArray | SparseRows) -> IntArray:
        """Return the position of the likeliest class of each row (the first, in a tie)."""
        found: IntArray = self.posterior(rows, log=True).argmax(axis=1)
        return found

    def decisions(self, rows: FloatArray | SparseRows) -> FloatArray:
        """Return log odds: one a row for two classes, else (n, k), adding up to zero in a row."""
        logs = self.posterior(rows, log=True)
        with np.errstate(invalid="ignore"):
            if len(self.labels) == 2:
                return logs[:, 1] - logs[:, 0]
            found: FloatArray = logs - logs.mean(axis=1, keepdims=True)
        return found
