"""What a mixture is asked for, read and checked."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.models.mixture.factored.factor_forms import check_factors, factor_forms
from suffice.models.mixture.fitting import MOST_COMPONENTS, MixtureSettings, forms_to_try

if TYPE_CHECKING:
    from suffice.models.mixture.survey import RowSurvey
    from suffice.rows import FloatArray

CRITERIA = ("bic", "icl")
"""What number and form may be chosen by."""
MANY = 1 << 62
"""Rows that there are taken to be before they have been counted: more than anybody asks for."""


def whole(name: str, value: Any, least: int) -> int:
    """Return a whole number of at least so many, or say what is wrong with it."""
    try:
        found = operator.index(value)
    except TypeError:
        found = least - 1
    if isinstance(value, bool) or found < least:
        raise BadSetting(
            f"{name}={value!r} is not a whole number of at least {least}",
            hint=f"use a number, such as {max(least, 3)}{' or auto' * (name == 'components')}",
        )
    return found


def numbers_to_try(components: Any, size: int) -> tuple[int, ...]:
    """Return which numbers of components a setting means, in order."""
    if isinstance(components, str) and components == "auto":
        return tuple(range(1, min(MOST_COMPONENTS, size) + 1))
    several = isinstance(components, Sequence | range) and not isinstance(components, str)
    given = list(components) if several else [components]
    found = sorted({whole("components", one, 1) for one in given})
    if not found:
        raise BadSetting("the list of components is empty", hint='use a number, or "auto"')
    if found[0] > size:
        raise BadSetting(
            f"components={found[0]}, and there are n_samples={size} rows that are not blank and "
            "have a weight",
            hint="use no more components than there are rows",
        )
    return tuple(k for k in found if k <= size)


def read_settings(
    estimator: Any, width: int, survey: RowSurvey | None, start: FloatArray | None = None
) -> MixtureSettings:
    """Return the settings of an estimator for so many columns, checked.

    Before rows are looked at (no `survey`), they are taken to be many.
    """
    size = MANY if survey is None else survey.size
    components = numbers_to_try(estimator.components, size)
    if start is not None:
        components = (start.shape[1],)
    check_factors(estimator.factors, estimator.covariance)
    if estimator.factors is None:
        forms = forms_to_try(estimator.covariance, size, width)
    else:
        known = MANY if survey is None else width
        forms = factor_forms(estimator.factors, estimator.covariance, known)
    if estimator.criterion not in CRITERIA:
        raise BadSetting(
            f"criterion={estimator.criterion!r} is not known", hint='choose "bic" or "icl"'
        )
    tolerance(estimator.tol)
    if estimator.prior not in (True, False):
        raise BadSetting(f"prior={estimator.prior!r} is neither True nor False", hint="prior=True")
    return MixtureSettings(
        components,
        forms,
        noise_volume(estimator.noise, survey),
        bool(estimator.prior),
        estimator.criterion,
        float(estimator.tol),
        whole("max_iter", estimator.max_iter, 1),
        0 if estimator.random_state is None else seed_of(estimator.random_state),
    )


def tolerance(value: Any) -> float:
    """Return a tolerance, or say what is wrong with it."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0.0 <= float(value) < np.inf:
        raise BadSetting(f"tol={value!r} is not a tolerance", hint="use a number such as 1e-8")
    return float(value)


def seed_of(random_state: object) -> int:
    """Return a seed: a number itself, or one that a generator draws."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return whole("random_state", random_state, 0)


def noise_volume(noise: object, survey: RowSurvey | None) -> float | None:
    """Return the log of the volume over which noise is spread; None: there is no noise."""
    if noise is False or noise is None:
        return None
    if noise is True:
        return 0.0 if survey is None else survey.box()
    if not isinstance(noise, Real) or not 0.0 < float(noise) < np.inf:
        raise BadSetting(
            f"noise={noise!r} is not a volume",
            hint="use True to spread noise over the box around all rows, or a number for another "
            "volume",
        )
    return float(np.log(float(noise)))
