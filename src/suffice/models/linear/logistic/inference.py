"""From estimates and their covariance to z, p and intervals; from losses to how well a fit fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from suffice.errors import BadSetting

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from suffice.rows import FloatArray


class Wald(NamedTuple):
    """Wald's figures, one for each estimate; NaN marks an answer that does not exist.

    z       the estimate in standard errors
    p       the chance of a |z| as large where the truth is 0
    low     the interval's ends
    high
    """

    z: FloatArray
    p: FloatArray
    low: FloatArray
    high: FloatArray


def checked_level(level: float) -> float:
    """Return the level of an interval, refused unless it is a share between 0 and 1."""
    if isinstance(level, (bool, np.bool_)) or not isinstance(level, (int, float, np.number)):
        raise BadSetting(f"level={level!r} is not a number", hint="use level=0.95 for 95 %")
    if not 0.0 < level < 1.0:
        hint = f"say level={level / 100.0:g}" if 1.0 < level < 100.0 else "use level=0.95 for 95 %"
        raise BadSetting(f"level={level:g} is not between 0 and 1", hint=hint)
    return float(level)


def wald(estimates: ArrayLike, variances: ArrayLike, level: float = 0.95) -> Wald:
    """Return z, p = 2Φ(-|z|) and estimate ± Φ⁻¹((1 + level)/2)·√variance.

    The tail is computed as a tail: 2(1 - Φ(|z|)) would be 0 from |z| = 8.3 on. A coefficient that
    is not estimable comes with a variance that is NaN or infinite; it gets no figures.

    >>> figures = wald([1.96, 1.0], [1.0, np.inf])
    >>> figures.p.round(4), figures.high.round(2)
    (array([0.05,  nan]), array([3.92,  nan]))
    """
    from scipy.special import ndtr, ndtri

    quantile = -float(ndtri((1.0 - checked_level(level)) / 2.0))
    b = np.asarray(estimates, dtype=np.float64)
    v = np.asarray(variances, dtype=np.float64)
    known = np.isfinite(b) & np.isfinite(v) & (v >= 0.0)
    errors = np.sqrt(np.where(known, v, np.nan))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # An estimate of 0 without error is no evidence of anything: 0/0 stays absent.
        z = np.where(known, b, np.nan) / errors
    return Wald(z, 2.0 * ndtr(-np.abs(z)), b - quantile * errors, b + quantile * errors)


def ratio_test(estimates: ArrayLike, statistics: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the signed roots of likelihood-ratio statistics of one degree, and their p-values.

    >>> ratio_test([-2.0, 1.0], [3.841458820694124, np.nan])
    (array([-1.95996398,         nan]), array([0.05,  nan]))
    """
    from scipy.special import ndtr

    z = np.copysign(np.sqrt(np.asarray(statistics, dtype=np.float64)), estimates)
    return z, 2.0 * ndtr(-np.abs(z))


@dataclass(frozen=True, slots=True)
class FitFigures:
    """How well a fit of classes fits, compared with one that knows their shares alone.

    Losses are sums of w·(-log p); None stands for what does not exist.

    weight          how many rows there were, each counted with its weight
    parameters      how many were estimated freely, intercepts included; None where a penalty or a
                    correction held them back, and nobody can count them
    degrees         how many more they are than those of the null model
    statistic       the likelihood-ratio statistic against it, null deviance - deviance
    p_value         the chance of one as large where no column says anything, by χ²(degrees)
    """

    loss: float
    null_loss: float
    weight: float
    parameters: int | None
    degrees: int | None

    @classmethod
    def of(
        cls,
        loss: float,
        null_loss: float,
        weight: float,
        parameters: int | None,
        classes: int,
        intercept: bool = True,
    ) -> Self:
        """Return the figures of a fit; the null model has an intercept for each class but one.

        Without an intercept it has no parameter at all: classes are as likely as each other.

        >>> FitFigures.of(8.0, 10.0, 20.0, 3, classes=2).aic
        22.0
        """
        free = (classes - 1) * intercept
        degrees = None if parameters is None else max(parameters - free, 0)
        return cls(float(loss), float(null_loss), float(weight), parameters, degrees)

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood, Σ w·log p(y | x)."""
        return 0.0 - self.loss

    @property
    def deviance(self) -> float:
        """Twice the loss: a saturated model of single rows has the loss 0."""
        return 2.0 * self.loss

    @property
    def null_deviance(self) -> float:
        """The deviance of the model that knows the shares of the classes alone."""
        return 2.0 * self.null_loss

    @property
    def aic(self) -> float | None:
        """Akaike's criterion, deviance + 2·parameters."""
        return None if self.parameters is None else self.deviance + 2.0 * self.parameters

    @property
    def bic(self) -> float | None:
        """Schwarz's criterion, deviance + log(weight)·parameters."""
        if self.parameters is None or self.weight <= 0.0:
            return None
        return self.deviance + float(np.log(self.weight)) * self.parameters

    @property
    def mcfadden(self) -> float | None:
        """McFadden's pseudo-R², 1 - loss/null loss; a single class leaves nothing to explain."""
        return None if self.null_loss <= 0.0 else 1.0 - self.loss / self.null_loss

    @property
    def cox_snell(self) -> float | None:
        """Cox and Snell's pseudo-R², 1 - exp(2(loss - null loss)/weight)."""
        if self.weight <= 0.0:
            return None
        with np.errstate(over="ignore"):
            return 0.0 - float(np.expm1(2.0 * (self.loss - self.null_loss) / self.weight))

    @property
    def nagelkerke(self) -> float | None:
        """Cox and Snell's, divided by the largest value it can have: 1 for a perfect fit."""
        found = self.cox_snell
        if found is None:
            return None
        largest = 0.0 - float(np.expm1(-2.0 * self.null_loss / self.weight))
        return found / largest if largest > 0.0 else None

    @property
    def statistic(self) -> float:
        """The likelihood-ratio statistic; rounding may not take it below 0."""
        return max(2.0 * (self.null_loss - self.loss), 0.0)

    @property
    def p_value(self) -> float | None:
        """Its p-value; without degrees of freedom there is nothing to test."""
        if not self.degrees:
            return None
        from scipy.special import chdtrc

        return float(chdtrc(self.degrees, self.statistic))
