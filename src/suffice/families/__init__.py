"""Settings and what they become: which statistics suffice, and the densities made from them."""

from suffice.families.gaussian import Gaussian
from suffice.families.normal import Normal

__all__ = ["Gaussian", "Normal"]
