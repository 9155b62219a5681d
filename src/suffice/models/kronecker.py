"""A Hessian as a product of two small ones: how classes are spread, and how columns are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from suffice.rows import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Kronecker:
    """(A ⊗ S + penalty·M ⊗ I)⁻¹, for centred columns with correlations S and free intercepts.

    The Hessian of softmax regression is Σ w (diag(p) - ppᵀ) ⊗ z̃z̃ᵀ. Where p and z̃ were
    independent it would be A ⊗ S, A the sum of w (diag(p) - ppᵀ): near enough to start from, for
    the price of k² + d² numbers.
    """

    classes: FloatArray
    """U with UᵀMU = 1 and UᵀAU diagonal (m, m)."""
    columns: FloatArray
    """The eigenvectors of S (d, d)."""
    strengths: FloatArray
    """a_i·s_j + penalty (m, d)."""
    intercepts: FloatArray
    """A⁻¹ (m, m)."""

    @classmethod
    def of(
        cls, between: FloatArray, spread: FloatArray, columns: FloatArray, penalty: float
    ) -> Self:
        """Return it from M, A, S and the penalty."""
        from scipy.linalg import eigh

        values, vectors = eigh(spread, between)
        floor = 1e-10 * float(values.max(initial=0.0)) or 1.0
        values = np.maximum(values, floor)
        strengths, axes = np.linalg.eigh(columns)
        strengths = np.maximum(strengths, 1e-10)
        steepness = values[:, np.newaxis] * strengths + penalty
        inverse = (vectors / values) @ vectors.T
        return cls(vectors, axes, steepness, inverse)

    def solve(self, vector: FloatArray) -> FloatArray:
        """Return the inverse times a vector, flat, intercepts first in each class."""
        m, width = self.strengths.shape
        table = vector.reshape(m, width + 1)
        found = np.empty_like(table)
        found[:, 0] = self.intercepts @ table[:, 0]
        turned = (self.classes.T @ table[:, 1:] @ self.columns) / self.strengths
        found[:, 1:] = self.classes @ turned @ self.columns.T
        return found.ravel()
