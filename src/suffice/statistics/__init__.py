"""What the data said: mergeable, forgettable, exact."""

from suffice.statistics.algebra import Statistics, leave_one_out, total
from suffice.statistics.by_class import ByClass
from suffice.statistics.by_pattern import ByPattern
from suffice.statistics.diagonal import DiagonalMoments
from suffice.statistics.moments import Moments
from suffice.statistics.pooled import PooledMoments

__all__ = [
    "ByClass",
    "ByPattern",
    "DiagonalMoments",
    "Moments",
    "PooledMoments",
    "Statistics",
    "leave_one_out",
    "total",
]
