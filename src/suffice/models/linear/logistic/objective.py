"""What is minimised: a loss over rows, a penalty, and the directions that rows can tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from suffice.models.linear.logistic.loss import LogisticLoss
    from suffice.rows import FloatArray
    from suffice.statistics.curvature import Curvature


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A place, flat, and what the objective is like there; a positive margin: no minimum exists."""

    at: FloatArray
    value: float
    gradient: FloatArray
    hessian: FloatArray | None
    margin: float


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """Loss + ½·penalty·Σ(s_jβ_j)², as a function of the coordinates that are free.

    Of a loss without an intercept there is none among the coordinates either.

    basis    (d, r) orthonormal: β = γ·basisᵀ. None is every column by itself. Columns that others
             add up to leave directions which no row can tell apart; without them, and starting
             from a β inside the basis, the minimum is the one of least norm.
    penalty  on slopes in units of their column's standard deviation; intercepts are free. Of more
             than two classes it is the least of Σ_c ‖β_c‖² over what is added to all of them, so
             that no class is special; of two it is ‖β₁ - β₀‖², as everybody has it.
    """

    loss: LogisticLoss
    penalty: float = 0.0
    basis: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the free coordinates (m, r + 1), or (m, r) without an intercept."""
        m, width = self.loss.shape
        slopes = width - 1 if self.basis is None else self.basis.shape[1]
        return m, slopes + self.loss.intercept

    def theta(self, at: FloatArray) -> FloatArray:
        """Return θ (m, d + 1) at a place."""
        free = at.reshape(self.shape)
        if not self.loss.intercept:
            slopes = free if self.basis is None else free @ self.basis.T
            return np.concatenate((np.zeros((len(free), 1)), slopes), axis=1)
        if self.basis is None:
            return free
        return np.concatenate((free[:, :1], free[:, 1:] @ self.basis.T), axis=1)

    def place(self, theta: FloatArray) -> FloatArray:
        """Return the place of θ, or of what of it lies inside the basis."""
        if not self.loss.intercept:
            theta = theta[:, 1:] if self.basis is None else theta[:, 1:] @ self.basis
        elif self.basis is not None:
            theta = np.concatenate((theta[:, :1], theta[:, 1:] @ self.basis), axis=1)
        return np.ascontiguousarray(theta).ravel()

    def evaluate(self, at: FloatArray, hessian: bool) -> Point:
        """Return value, gradient and (if asked for) Hessian at a place: one pass over the rows."""
        return self.point_of(at, self.loss.curvature(self.theta(at), hessian))

    def point_of(self, at: FloatArray, found: Curvature) -> Point:
        """Return what a curvature over the rows says about a place."""
        gradient = self.place(found.gradient)
        hessian = None if found.hessian is None else self.inside(found.hessian)
        value = found.loss
        if self.penalty:
            slope = self.penalty_gradient(at)
            value += 0.5 * float(slope @ at)
            gradient = gradient + slope
            if hessian is not None:
                hessian = hessian + self.penalty_matrix()
        # With a penalty there is a minimum, whatever the margins are.
        margin = -np.inf if self.penalty else found.margin
        return Point(at, value, gradient, hessian, margin)

    def inside(self, hessian: FloatArray) -> FloatArray:
        """Return a Hessian over θ in free coordinates."""
        full = self.columns
        if full is None:
            return hessian
        m, width = self.loss.shape
        blocks = hessian.reshape(m, width, m, width)
        size = m * full.shape[1]
        found: FloatArray = np.einsum("ja,cjek,kb->caeb", full, blocks, full, optimize=True)
        return found.reshape(size, size)

    @property
    def columns(self) -> FloatArray | None:
        """The free coordinates of a class as columns over its θ (d + 1, ·); None: θ itself."""
        if self.basis is None and self.loss.intercept:
            return None
        width = self.loss.shape[1]
        basis = np.eye(width - 1) if self.basis is None else self.basis
        first = int(self.loss.intercept)
        full = np.zeros((width, basis.shape[1] + first))
        full[0, :first], full[1:, first:] = 1.0, basis
        return full

    def penalty_gradient(self, at: FloatArray) -> FloatArray:
        """Return the penalty's gradient at a place."""
        free = at.reshape(self.shape)
        slope = self.penalty * (self.between @ free)
        if self.loss.intercept:
            slope[:, 0] = 0.0
        return slope.ravel()

    def penalty_matrix(self) -> FloatArray:
        """Return the penalty's Hessian."""
        m, width = self.shape
        found = np.zeros((m, width, m, width))
        slopes = np.arange(int(self.loss.intercept), width)
        found[:, slopes, :, slopes] = self.penalty * self.between
        return found.reshape(m * width, m * width)

    @property
    def between(self) -> FloatArray:
        """How the penalty couples classes."""
        m = self.shape[0]
        return np.eye(m) - np.float64(1.0 / (m + 1) if m > 1 else 0.0)
