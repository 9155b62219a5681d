"""Statistics of normal classes that are given by their parameters, and not by rows."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.errors import BadSetting, SufficeError
from suffice.families.gaussian import DIAGONAL_FORMS
from suffice.families.normal import Normal
from suffice.statistics import ByClass, ByPattern, DiagonalMoments, Moments, PooledMoments
from suffice.statistics.moments.rounding import PER_OPERATION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.families.gaussian import Gaussian, GaussianStatistics
    from suffice.rows import FloatArray, Label


class GivenClasses(NamedTuple):
    """Labels (k), weights (k,), means (k, d) and covariances (k, d, d) of normal classes."""

    labels: tuple[Label, ...]
    weights: FloatArray
    means: FloatArray
    covariances: FloatArray

    @classmethod
    def read(
        cls,
        means: Any,
        covariance: Any,
        weights: Any,
    ) -> GivenClasses:
        """Return the parameters as arrays, checked as those of normal laws are."""
        if not isinstance(means, Mapping) or not means:
            raise BadSetting(
                f"means are {means!r:.60}, not the means of classes by label",
                hint="use for instance means={'ham': [0.0, 0.0], 'spam': [2.0, 1.0]}",
            )
        labels = tuple(means)
        laws = []
        for label in labels:
            own = _of(covariance, label, "covariance")
            try:
                laws.append(Normal(means[label], own))
            except SufficeError as error:
                raise BadSetting(f"class {label!r}: {error.problem}", hint=error.hint) from None
            if laws[-1].width != laws[0].width:
                raise BadSetting(
                    f"the mean of class {label!r} has {laws[-1].width} numbers, "
                    f"that of class {labels[0]!r} {laws[0].width}",
                    hint="give one number for each column",
                )
        worth = np.array([_weight(_of(weights, label, "weights"), label) for label in labels])
        return cls(
            labels,
            worth,
            np.array([law.mean for law in laws]),
            np.array([law.covariance for law in laws]),
        )

    def in_order(self, order: Sequence[int]) -> GivenClasses:
        """Return the classes in another order."""
        places = list(order)
        return GivenClasses(
            tuple(self.labels[place] for place in places),
            self.weights[places],
            self.means[places],
            self.covariances[places],
        )


def _of(given: Any, label: Label, name: str) -> Any:
    """Return what is given for a class, or for all of them."""
    if not isinstance(given, Mapping):
        return given
    if label not in given:
        raise BadSetting(
            f"{name} of class {label!r} is missing", hint=f"give {name} for every class, or one"
        )
    return given[label]


def _weight(given: Any, label: Label) -> float:
    number = isinstance(given, Real) and not isinstance(given, bool)
    if not number or not 0.0 < float(given) < np.inf:
        raise BadSetting(
            f"class {label!r} is worth {given!r} rows", hint="use a number of rows above 0"
        )
    return float(given)


UNCHANGED = 1e-9
"""How far, in standard deviations squared, a form may move a covariance that it is to hold.

Rounding moves it by some 1e-15, and a floor for directions without variance by no more than this;
a form that can't hold it at all, such as a spherical one, moves it by far more."""


def statistics_of_parameters(family: Gaussian, given: GivenClasses) -> GaussianStatistics:
    """Return the statistics of which the family's estimates are these parameters."""
    labels, weights, means, covariances = given
    width = means.shape[1]
    shared = family.covariance in ("shared", "shared-diagonal")
    lost: Any = 0.0
    if family.divisor == "unbiased":
        lost = len(labels) / weights.sum() if shared else 1.0 / weights
    factors = weights * (1.0 - lost)
    if (factors <= 0.0).any():
        c = int(np.argmin(factors))
        raise BadSetting(
            f"a weight of {weights[c]:g} of class {labels[c]!r} has no unbiased covariance",
            hint='use a larger weight, or divisor="mle"',
        )
    scatters = factors[:, np.newaxis, np.newaxis] * covariances
    squares = np.diagonal(scatters, axis1=1, axis2=2)
    zero = np.zeros(width)
    if family.covariance in DIAGONAL_FORMS:
        return ByClass(
            {
                label: DiagonalMoments(
                    float(weights[c]),
                    np.full(width, weights[c]),
                    means[c],
                    zero,
                    squares[c].copy(),
                    PER_OPERATION * squares[c],
                )
                for c, label in enumerate(labels)
            }
        )
    whole: Any
    if family.covariance == "shared":
        whole = PooledMoments(
            tuple(labels),
            weights,
            means,
            np.zeros_like(means),
            scatters.sum(axis=0),
            PER_OPERATION * squares.sum(axis=0),
        )
    else:
        whole = ByClass(
            {
                label: Moments(
                    float(weights[c]), means[c], zero, scatters[c], PER_OPERATION * squares[c]
                )
                for c, label in enumerate(labels)
            }
        )
    return ByPattern.complete(width, whole)


def check_held(
    found: FloatArray, covariances: FloatArray, labels: Sequence[Label], form: str
) -> None:
    """Refuse covariances (k, d, d) that the form has changed: it can't hold them."""
    scale = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0))
    unit = np.where(scale > 0.0, scale, 1.0)
    moved = np.abs(found - covariances) / (unit[:, :, np.newaxis] * unit[:, np.newaxis, :])
    constant = scale == 0.0  # what never varies gets a stand-in
    moved[constant[:, :, np.newaxis] | constant[:, np.newaxis, :]] = 0.0
    worst = moved.max(axis=(1, 2), initial=0.0)
    if (worst > UNCHANGED).any():
        c = int(np.argmax(worst))
        raise BadSetting(
            f'covariance="{form}" cannot hold the covariance of class {labels[c]!r}: it would be '
            f"another, by {worst[c]:.2g} of a variance",
            hint='use covariance="per-class" without pool and shrink',
        )
