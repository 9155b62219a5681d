"""A proof that the maximum of a likelihood exists, and how far away it can be at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.models.linear.logistic.newton import Factor
from suffice.models.linear.logistic.preconditioners import row_norm_upper_bound

if TYPE_CHECKING:
    from suffice.models.linear.logistic.search import Search
    from suffice.rows import FloatArray


PROOF_PRODUCT = 0.5
"""What λρ may be for a proof: any number below 1 will do, and half leaves room for rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """λ and ρ at a point: if λρ < 1 the maximum exists, is the only one, and is near.

    λ² = gᵀH⁻¹g, ρ = max ‖x̃ ⊗ (e_a - e_b)‖ in the norm of H⁻¹, over rows and pairs of classes. The
    loss is self-concordant along every line with constant ρ, hence
    ‖θ̂ - θ‖_H ≤ -log(1 - λρ)/ρ, which bounds |θ̂_j - θ_j| in standard errors. A smaller H gives a
    larger λ and ρ, so the Hessian of a part of the rows proves as much.
    """

    decrement: float
    norm: float

    @classmethod
    def of(cls, found: Search) -> Self | None:
        """Return that of a search's end; None where no Hessian is at hand."""
        hessian = found.hessian if found.hessian is not None else found.lower
        if hessian is None:
            return None
        factor = Factor(hessian)
        gradient = found.found.point.gradient
        decrement = max(float(gradient @ factor.solve(gradient)), 0.0) ** 0.5
        if not factor.exact:
            return cls(decrement, np.inf)
        norm = row_norm_upper_bound(found.objective, factor, found.objective.loss.farthest)
        if decrement * norm > PROOF_PRODUCT:  # a look at the rows themselves
            norm = row_norm_upper_bound(found.objective, factor, found.objective.loss.reach)
        return cls(decrement, norm)

    @property
    def proves(self) -> bool:
        """Whether the maximum exists, surely."""
        # Where classes are separated λρ comes down to 1, and rounding may bring it below; where
        # there is a maximum, a step or two bring it to nearly nothing.
        return self.decrement * self.norm <= PROOF_PRODUCT

    @property
    def bound(self) -> float:
        """How many standard errors any coefficient can be away from the optimum."""
        if not self.proves:
            return np.inf
        if self.norm == 0.0:
            return self.decrement
        return float(-np.log1p(-self.decrement * self.norm) / self.norm)


def covariance_of(found: Search) -> FloatArray | None:
    """Return H⁻¹ over θ (m(d + 1), m(d + 1)), from the Hessian of all rows."""
    if found.hessian is None:
        return None
    inverse = Factor(found.hessian).inverse()
    full = found.objective.columns
    if full is None:
        return inverse
    m, free = found.objective.shape
    blocks = inverse.reshape(m, free, m, free)
    size = m * len(full)
    spread: FloatArray = np.einsum("ja,caeb,kb->cjek", full, blocks, full, optimize=True)
    return spread.reshape(size, size)
