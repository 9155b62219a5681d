"""Families of columns by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.errors import BadSetting, listed
from suffice.models.gaussian.family import Gaussian
from suffice.models.naive_bayes.families.bernoulli import Bernoulli
from suffice.models.naive_bayes.families.binned import Binned
from suffice.models.naive_bayes.families.categorical import Categorical
from suffice.models.naive_bayes.families.gaussian import FORMS, GaussianColumns
from suffice.models.naive_bayes.families.lognormal import LogNormal
from suffice.models.naive_bayes.families.multinomial import Multinomial
from suffice.models.naive_bayes.families.poisson import Poisson
from suffice.models.naive_bayes.families.predictive_gaussian import PredictiveGaussian
from suffice.models.naive_bayes.families.same_in_all_classes import Common
from suffice.models.naive_bayes.families.texts.bytes import TextBytes
from suffice.models.naive_bayes.families.texts.words import TextWords

if TYPE_CHECKING:
    from suffice.models.naive_bayes.families.protocol import ColumnFamily

NAMED: dict[str, Any] = {
    "bernoulli": Bernoulli(),
    "binned": Binned(),
    "bytes": TextBytes(),
    "categorical": Categorical(),
    "gaussian": GaussianColumns(),
    "shared-gaussian": GaussianColumns("shared"),
    "lognormal": LogNormal(),
    "shared-lognormal": LogNormal("shared"),
    "multinomial": Multinomial(),
    "poisson": Poisson(),
    "predictive-gaussian": PredictiveGaussian(),
    "shared-predictive-gaussian": PredictiveGaussian("shared"),
    "words": TextWords(),
}
"""Families by their names in settings, with their default settings."""

COMMON = "common "
"""Before the name of a family: one law for all classes."""
SINGLE = frozenset(name for name, family in NAMED.items() if family.is_single)
"""Families of single columns, of ours."""


def family_named(asked: object, place: str) -> ColumnFamily:
    """Return the family that a setting asks for, by name or as it is; `place` is for refusals.

    "common" before a name asks for one law for all classes.
    """
    if isinstance(asked, Gaussian):
        for variance, form in FORMS.items():
            if asked.covariance == form and asked.divisor == "mle":
                return GaussianColumns(variance)
    found: Any = NAMED.get(asked) if isinstance(asked, str) else None
    if isinstance(asked, str) and found is None and asked.startswith(COMMON):
        inner = NAMED.get(asked.removeprefix(COMMON))
        found = Common(inner) if inner is not None and inner.is_single else None
    if found is None and type(asked) in {Common, *map(type, NAMED.values())}:
        found = asked
    if found is None:
        raise BadSetting(
            f"{asked!r:.60} is not a family for {place}",
            hint=f"choose one of {listed(NAMED)}, or an object of suffice.families",
        )
    family: ColumnFamily = found
    return family
