"""Settings and what they become: which statistics suffice, and the densities made from them."""

from suffice.families.bernoulli import Bernoulli
from suffice.families.binned import Binned
from suffice.families.categorical import Categorical
from suffice.families.complement import Complement
from suffice.models.gaussian.family import Gaussian
from suffice.families.gaussian_columns import GaussianColumns, LogNormal
from suffice.families.multinomial import Multinomial
from suffice.models.gaussian.law.normal import Normal
from suffice.families.one_law import Common
from suffice.families.poisson import Poisson
from suffice.families.product import Product

__all__ = [
    "Bernoulli",
    "Binned",
    "Categorical",
    "Common",
    "Complement",
    "Gaussian",
    "GaussianColumns",
    "LogNormal",
    "Multinomial",
    "Normal",
    "Poisson",
    "Product",
]
