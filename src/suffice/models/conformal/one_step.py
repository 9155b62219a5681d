"""Logistic regression without each of its rows, by one Newton step; and what that says of others.

The Hessian at the maximum is factored once. A step away from row i moves θ by
H⁻¹(x̃_i ⊗ (I - A_iM_i)⁻¹(p_i - e_y)), of which every asked row can be scored: jackknife+ without
refits. It is first order: near to refits where no row has much leverage, and no more than that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.linear_algebra import normalized

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray

MOST_COEFFICIENTS = 1_000
"""Coefficients whose Hessian is inverted: a tenth of a second."""
MOST_MOVES = 50_000_000
"""Rows times coefficients whose moves are held (400 MB)."""
MOST_LEVERAGE = 0.5
"""The largest leverage of a row up to which one step is said: its log-loss is then within about
1 % of that of refits; at .7 it is 5 % too good, and coverage would suffer."""
CELLS = 2_000_000
"""Scores that are made in one go (16 MB). A choice."""


@dataclass(frozen=True, slots=True, eq=False)
class OneStep:
    """Scores of rows without themselves, and how far θ moves without each (n, m, p)."""

    own: FloatArray
    moves: FloatArray
    theta: FloatArray

    @classmethod
    def of(
        cls, design: FloatArray, codes: IntArray, theta: FloatArray, penalties: FloatArray
    ) -> Self | None:
        """Return what rows (n, p) say without themselves; None where a step is no answer.

        `theta` (k - 1, p) compares each class with the first, and `penalties` (p,) are half the
        factors of its squares.
        """
        m, width = theta.shape
        n = len(design)
        if m * width > MOST_COEFFICIENTS or n * m * width > MOST_MOVES:
            return None
        scores = np.concatenate([np.zeros((n, 1)), design @ theta.T], axis=1)
        shares = np.exp(normalized(scores))[:, 1:]
        pull = shares.copy()
        known = np.flatnonzero(codes > 0)
        pull[known, codes[known] - 1] -= 1.0
        bends = -shares[:, :, np.newaxis] * shares[:, np.newaxis]
        np.einsum("iaa->ia", bends)[...] += shares
        hessian = np.empty((m, width, m, width))
        for a in range(m):
            for b in range(a + 1):
                part = design.T @ (bends[:, a, b, np.newaxis] * design)
                hessian[a, :, b, :] = part
                hessian[b, :, a, :] = part
        between = np.eye(m) - (1.0 / (m + 1) if m > 1 else 0.0)
        hessian += np.einsum("ab,jl->ajbl", between, np.diag(penalties))
        flat = hessian.reshape(m * width, m * width)
        unit = np.sqrt(np.maximum(np.diagonal(flat), np.finfo(np.float64).tiny))
        try:
            inverse = np.linalg.inv(flat / unit / unit[:, np.newaxis]) / unit / unit[:, np.newaxis]
        except np.linalg.LinAlgError:
            return None
        found = inverse.reshape(m, width, m, width)
        spreads = np.empty((n, m, m))
        for a in range(m):
            for b in range(m):
                spreads[:, a, b] = np.einsum("ij,ij->i", design @ found[a, :, b, :], design)
        along = bends @ spreads
        leverage = np.abs(np.linalg.eigvals(along)).max(initial=0.0)
        if not leverage <= MOST_LEVERAGE:
            return None
        push = np.linalg.solve(np.eye(m) - along, pull[:, :, np.newaxis])[:, :, 0]
        moves = (push[:, :, np.newaxis] * design[:, np.newaxis]).reshape(n, -1) @ inverse
        scores[:, 1:] += np.einsum("iab,ib->ia", spreads, push)
        own = -normalized(scores)[np.arange(n), codes]
        return cls(own, moves.reshape(n, m, width), theta)

    @property
    def step(self) -> int:
        """How many rows are asked about at a time."""
        return max(1, CELLS // (len(self.moves) * (len(self.theta) + 1)))

    def asked(self, design: FloatArray) -> FloatArray:
        """Return -log p of every class (b, n, k) for asked rows, by θ without each row of n."""
        n, m, width = self.moves.shape
        moved = design @ self.moves.reshape(n * m, width).T
        scores = np.zeros((len(design), n, m + 1))
        scores[:, :, 1:] = moved.reshape(len(design), n, m)
        scores[:, :, 1:] += (design @ self.theta.T)[:, np.newaxis]
        return -normalized(scores.reshape(-1, m + 1)).reshape(scores.shape)
