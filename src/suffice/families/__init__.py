"""Settings and what they become: which statistics suffice, and the densities made from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.facade import lazy

if TYPE_CHECKING:
    from suffice.models.gaussian.family import Gaussian
    from suffice.models.gaussian.law.normal import Normal
    from suffice.models.naive_bayes.families.bernoulli import Bernoulli
    from suffice.models.naive_bayes.families.binned import Binned
    from suffice.models.naive_bayes.families.categorical import Categorical
    from suffice.models.naive_bayes.families.complement import Complement
    from suffice.models.naive_bayes.families.gaussian import GaussianColumns
    from suffice.models.naive_bayes.families.linear_laws import LinearLaws
    from suffice.models.naive_bayes.families.lognormal import LogNormal
    from suffice.models.naive_bayes.families.multinomial import Multinomial
    from suffice.models.naive_bayes.families.poisson import Poisson
    from suffice.models.naive_bayes.families.predictive_gaussian import PredictiveGaussian
    from suffice.models.naive_bayes.families.protocol import BaseFamily, BaseLaws
    from suffice.models.naive_bayes.families.same_in_all_classes import Common
    from suffice.models.naive_bayes.families.texts.bytes import TextBytes
    from suffice.models.naive_bayes.families.texts.words import TextWords
    from suffice.models.naive_bayes.product import Product
    from suffice.models.naive_bayes.registered_families import register_family

__all__ = [
    "BaseFamily",
    "BaseLaws",
    "Bernoulli",
    "Binned",
    "Categorical",
    "Common",
    "Complement",
    "Gaussian",
    "GaussianColumns",
    "LinearLaws",
    "LogNormal",
    "Multinomial",
    "Normal",
    "Poisson",
    "PredictiveGaussian",
    "Product",
    "TextBytes",
    "TextWords",
    "register_family",
]

_find, __dir__ = lazy(
    __name__,
    {
        "suffice.models.gaussian.family": ["Gaussian"],
        "suffice.models.gaussian.law.normal": ["Normal"],
        "suffice.models.naive_bayes.families.bernoulli": ["Bernoulli"],
        "suffice.models.naive_bayes.families.binned": ["Binned"],
        "suffice.models.naive_bayes.families.categorical": ["Categorical"],
        "suffice.models.naive_bayes.families.complement": ["Complement"],
        "suffice.models.naive_bayes.families.gaussian": ["GaussianColumns"],
        "suffice.models.naive_bayes.families.linear_laws": ["LinearLaws"],
        "suffice.models.naive_bayes.families.lognormal": ["LogNormal"],
        "suffice.models.naive_bayes.families.multinomial": ["Multinomial"],
        "suffice.models.naive_bayes.families.poisson": ["Poisson"],
        "suffice.models.naive_bayes.families.predictive_gaussian": ["PredictiveGaussian"],
        "suffice.models.naive_bayes.families.same_in_all_classes": ["Common"],
        "suffice.models.naive_bayes.families.protocol": ["BaseFamily", "BaseLaws"],
        "suffice.models.naive_bayes.product": ["Product"],
        "suffice.models.naive_bayes.registered_families": ["register_family"],
        "suffice.models.naive_bayes.families.texts.bytes": ["TextBytes"],
        "suffice.models.naive_bayes.families.texts.words": ["TextWords"],
    },
)

if not TYPE_CHECKING:  # a type checker knows the names above, and no others
    __getattr__ = _find
