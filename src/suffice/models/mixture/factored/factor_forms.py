"""Forms of components that a few factors explain, beside mclust's fourteen.

Named as McNicholas and Murphy (2008) do, with the number of factors: in UUU-2 every component has
two factors and variances of its own, in CCU-2 all share both.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.errors import BadSetting
from suffice.models.gaussian.factors.maximum import (
    LEAST_NOISE,
    MOST_STEPS,
    RankedCorrelations,
    identified,
    most_likely,
    parameters,
)
from suffice.models.gaussian.forms import letters_of, parameter_count

if TYPE_CHECKING:
    from suffice.rows import FloatArray

OWN, SHARED = "UUU-", "CCU-"
"""How the names of such forms begin: loadings and variances unconstrained, or common to all."""
AUTO = "auto"
"""The word for as many factors as BIC finds worth their parameters, none among them."""
MOST_TRIED = 4
"""Factors up to which "auto" tries, in every component. A choice: each number is a form by itself,
and is tried with every number of components."""
STEPS_AGAIN = 20
"""Steps of the search in an M-step that goes on from the one before, where there are several
covariances. A choice: a step that raises the expected likelihood without maximising it raises the
likelihood too. A single covariance is sought to the end, for that costs little."""
MOST_NAMED = 9_999
"""Factors that a name may have. A choice: beyond, nothing is written on purpose."""
ONE_COVARIANCE = ("EII", "EEI", "EEE")
"""Of mclust's forms those in which all components have the same covariance."""


class FactorSearch(NamedTuple):
    """Where the search for the factors of components has ended: the next begins there."""

    covariances: FloatArray
    noise: FloatArray


def factors_of(form: str) -> int | None:
    """Return how many factors a form has; None of mclust's.

    >>> factors_of("UUU-3"), factors_of("VVV"), factors_of("UUU-x")
    (3, None, None)
    """
    number = form[len(OWN) :]
    known = form.startswith((OWN, SHARED)) and number.isascii() and number.isdigit()
    plain = known and len(number) <= len(str(MOST_NAMED)) and str(int(number)) == number
    return int(number) if plain else None


def is_one(form: str) -> bool:
    """Whether all components of a form have the same covariance.

    >>> is_one("CCU-1"), is_one("EEE"), is_one("UUU-1")
    (True, True, False)
    """
    return form in ONE_COVARIANCE or form.startswith(SHARED)


def form_parameters(form: str, components: int, width: int) -> int:
    """Return how many free numbers means, shares and covariances of a form have.

    >>> form_parameters("UUU-1", 2, 4), form_parameters("CCU-1", 2, 4), form_parameters("VVV", 2, 4)
    (25, 17, 29)
    """
    count = factors_of(form)
    if count is None:
        return parameter_count(form, components, width)
    each = parameters(width, min(count, max(0, width - 1)))
    return components * width + components - 1 + each * (1 if is_one(form) else components)


def check_factors(factors: object, covariance: object) -> None:
    """Refuse numbers of factors that are none, and forms that have none."""
    if factors is None:
        return
    whole = isinstance(factors, Integral) and not isinstance(factors, bool)
    if factors != AUTO and not (whole and 1 <= int(factors) <= MOST_NAMED):  # type: ignore[call-overload]
        raise BadSetting(
            f"factors={factors!r:.50} is not a number of factors",
            hint='use a whole number from 1, or "auto"; without factors columns are independent: '
            'covariance="diagonal"',
        )
    given = letters_of(covariance) if isinstance(covariance, str) else covariance
    if given not in ("auto", "EEE", "VVV"):
        raise BadSetting(
            f"factors={factors!r} does not apply to covariance={covariance!r:.50}",
            hint='factors work with covariance="per-class", each component with its own, "shared", '
            'one for all, or "auto", the better of both',
        )


def factor_forms(factors: Any, covariance: Any, width: int) -> tuple[str, ...]:
    """Return the forms that a number of factors and a covariance mean, for so many columns.

    >>> factor_forms(2, "per-class", 5), factor_forms("auto", "shared", 4)
    (('UUU-2',), ('CCU-0', 'CCU-1'))
    """
    check_factors(factors, covariance)
    if factors != AUTO and int(factors) >= width:
        raise BadSetting(
            f"factors={factors} of {width} column{'s' * (width != 1)} are too many: as many "
            "factors as columns describe any covariance",
            hint=f"use fewer than {width} factors, or leave factors out"
            if width > 1
            else "leave factors out",
        )
    numbers = [int(factors)] if factors != AUTO else range(min(identified(width), MOST_TRIED) + 1)
    kinds = {"EEE": (SHARED,), "VVV": (OWN,)}.get(letters_of(covariance), (OWN, SHARED))
    return tuple(f"{kind}{number}" for number in numbers for kind in kinds)


def factor_covariances(
    form: str, weights: FloatArray, scatters: FloatArray, last: FactorSearch | None
) -> FactorSearch:
    """Return covariances (k, a, a) of factors for weights (k,) and scatters (k, a, a).

    The most likely ones, but never less likely than the `last`: a column keeps a share of its
    variance to itself, and what that allows moves from step to step.
    """
    if is_one(form):
        held, parts = np.array([weights.sum()]), scatters.sum(axis=0)[np.newaxis]
    else:
        held, parts = weights, scatters
    found, noises = [], []
    for m, (weight, part) in enumerate(zip(held, parts, strict=True)):
        covariance = part / weight
        before = None if last is None else (last.covariances[m], last.noise[m])
        most = MOST_STEPS if before is None or len(parts) == 1 else STEPS_AGAIN
        sigma, noise = _of_covariance(covariance, factors_of(form) or 0, before, most)
        found.append(sigma)
        noises.append(noise)
    every = np.broadcast_to(np.stack(found), (len(weights), *scatters.shape[1:]))
    return FactorSearch(np.array(every), np.stack(noises))


def _of_covariance(
    covariance: FloatArray,
    count: int,
    before: tuple[FloatArray, FloatArray] | None,
    most_steps: int,
) -> tuple[FloatArray, FloatArray]:
    """Return the most likely ΛΛᵀ + Ψ of one covariance, and its Ψ, in units of the columns."""
    variances = np.maximum(np.diagonal(covariance), np.finfo(np.float64).tiny)
    deviations = np.sqrt(variances)
    scaled = covariance / deviations[:, np.newaxis] / deviations
    scaled = np.clip((scaled + scaled.T) / 2.0, -1.0, 1.0)
    np.fill_diagonal(scaled, 1.0)
    start = None
    if before is not None:
        with np.errstate(over="ignore"):
            start = np.clip(before[1] / variances, LEAST_NOISE, 1.0)
    law = most_likely(RankedCorrelations.of(scaled), count, start, most_steps)
    noise = law.noise * variances
    rooted = law.loadings * deviations[:, np.newaxis]
    sigma = rooted @ rooted.T + np.diag(noise)
    if before is not None and _deviance(before[0], covariance) < _deviance(sigma, covariance):
        return before
    return sigma, noise


def _deviance(sigma: FloatArray, covariance: FloatArray) -> float:
    """Return log|Σ| + tr(Σ⁻¹C); infinite where Σ is singular."""
    sign, log_volume = np.linalg.slogdet(sigma)
    if sign <= 0.0 or not np.isfinite(log_volume):
        return np.inf
    return float(log_volume + np.trace(np.linalg.solve(sigma, covariance)))
