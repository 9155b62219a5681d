"""What logistic regression found: θ in the user's units, and how sure it is of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadSetting
from suffice.models.linear.form import LinearForm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.linear.logistic.separation.separation import Separation
    from suffice.rows import FloatArray, Label


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """What logistic regression found: θ, how sure it is of it, and how it got there.

    Everything is kept in standardised columns, z = (x - origin)·inverse, with the first class as
    the reference; `form`, `estimate` and `covariance` speak in the user's units.

    theta        (m, d + 1), intercepts first
    covariance_  (m(d + 1), m(d + 1)) of θ, class by class; None where it was not asked for, or
                 where there is none
    estimable    (d,): which columns have a coefficient of their own; others are constant, or add
                 up from others, and share the coefficient of least norm
    has_intercept  whether the score at x = 0 is estimable: not so where x₂ = 2x₁ + 5
    intercept    whether there is one: without, scores at x = 0 are 0
    l1_ratio     the share of the penalty that is on |β|, and not on its square
    loss         -log-likelihood, without the penalty; null_loss that of a model without columns
    decrement    λ, in standard errors: no coefficient is further from the optimum than `bound` of
                 its own standard errors
    bound        inf where no Hessian was at hand to prove one
    converged    whether θ is the maximum: λ is within the tolerance, and the maximum exists surely
    separation   how the classes are separated; None where they overlap, or where it is not known
    undecided    why it is not known whether they overlap; None where it is. There is no certainty
                 that θ is near anything then, and there are no standard errors
    """

    labels: tuple[Label, ...]
    theta: FloatArray
    origin: FloatArray
    inverse: FloatArray
    estimable: NDArray[np.bool_]
    has_intercept: bool
    covariance_: FloatArray | None
    loss: float
    null_loss: float
    weight: float
    rank: int
    penalty: float
    decrement: float
    bound: float
    converged: bool
    passes: int
    separation: Separation | None = None
    correction: str | None = None
    undecided: str | None = None
    intercept: bool = True
    l1_ratio: float = 0.0

    @property
    def size(self) -> int:
        """How many classes there are."""
        return len(self.labels)

    @cached_property
    def form(self) -> LinearForm:
        """The linear classifier, in the user's units; the first class scores 0."""
        weights = np.zeros((self.size, len(self.origin)))
        offsets = np.zeros(self.size)
        weights[1:] = self.theta[:, 1:] * self.inverse
        offsets[1:] = self.theta[:, 0]
        return LinearForm(self.labels, weights, offsets, self.origin)

    @property
    def shares(self) -> tuple[float, float]:
        """What Σ|b| and ½Σb² are multiplied by in the penalty, in standardised columns."""
        return self.penalty * self.l1_ratio, self.penalty * (1.0 - self.l1_ratio)

    @property
    def sparse_weights(self) -> FloatArray:
        """The coefficients of each class that an L1 penalty leaves, in the user's units (k, d).

        Those that it has made zero are exactly that. Without such a penalty none are meant.
        """
        from suffice.models.linear.logistic.l1 import least_shifted

        return least_shifted(self.theta[:, 1:], *self.shares) * self.inverse

    def with_weights_scaled(self, factor: int) -> LogisticFit:
        """Return the fit of the same rows, each 2ᶠ times as heavy, under a penalty as heavy."""
        if factor == 0:
            return self
        covariance = self.covariance_
        if covariance is not None:
            with np.errstate(over="ignore"):  # of rows that weigh next to nothing: no error known
                covariance = np.ldexp(covariance, -factor)
        return replace(
            self,
            covariance_=covariance,
            loss=float(np.ldexp(self.loss, factor)),
            null_loss=float(np.ldexp(self.null_loss, factor)),
            weight=float(np.ldexp(self.weight, factor)),
            penalty=float(np.ldexp(self.penalty, factor)),
        )

    def estimate(self, c: int, reference: int = 0) -> FloatArray:
        """Return [θ₀, θ] of class c against the reference, in the user's units (d + 1,)."""
        form = self.form
        found = np.empty(len(self.origin) + 1)
        found[1:] = form.weights[c] - form.weights[reference]
        found[0] = form.offsets[c] - form.offsets[reference] - found[1:] @ self.origin
        return found

    def covariance(self, c: int, reference: int = 0) -> FloatArray:
        """Return the covariance of `estimate` (d + 1, d + 1); inf for what is not estimable."""
        if self.covariance_ is None:
            raise BadSetting(
                "there are no standard errors here",
                hint="coefficients that a penalty has made zero have none: use l1_ratio=0"
                if self.l1_ratio > 0.0
                else "the classes are separated: use correction='firth'"
                if self.separation is not None
                else "it is not known whether the likelihood has a maximum: use a penalty"
                if self.undecided is not None
                else "fit with standard_errors=True",
            )
        m, width = self.theta.shape
        blocks = self.covariance_.reshape(m, width, m, width)
        signs = [(k - 1, s) for k, s in ((c, 1.0), (reference, -1.0)) if k > 0]
        held = sum(
            (s * t * blocks[a, :, b, :] for a, s in signs for b, t in signs),
            np.zeros((width, width)),
        )
        units = in_units(self.origin, self.inverse)
        found: FloatArray = units @ held @ units.T
        lost = np.flatnonzero(~np.concatenate(([self.has_intercept], self.estimable)))
        if lost.size:
            found[lost] = found[:, lost] = 0.0
            found[lost, lost] = np.inf
        return found


def estimable_columns(
    basis: FloatArray | None, inverse: FloatArray, penalty: float
) -> NDArray[np.bool_]:
    """Return which columns no combination of others can stand for."""
    if penalty > 0.0 or basis is None:
        return inverse > 0.0
    inside = np.square(basis).sum(axis=1)  # 1 where the column lies in the basis wholly
    found: NDArray[np.bool_] = inside > 1.0 - 1e-6
    return found


def is_inside(basis: FloatArray | None, vector: FloatArray) -> bool:
    """Whether a combination of slopes is one that rows can tell: it has no part outside."""
    if basis is None:
        return True
    outside = vector - basis @ (basis.T @ vector)
    return bool(np.linalg.norm(outside) <= 1e-7 * np.linalg.norm(vector))


def in_units(origin: FloatArray, inverse: FloatArray) -> FloatArray:
    """Return the matrix from θ in standardised columns to θ in the user's units, intercept first.

    β_j/s_j is a slope in the user's units; the intercept is that at x = 0.
    """
    units = np.diag(np.concatenate(([1.0], inverse)))
    units[0, 1:] = -origin * inverse
    return units
