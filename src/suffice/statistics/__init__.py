"""What the data said: mergeable, forgettable, exact."""

from suffice.statistics.algebra import Statistics, leave_one_out, total
from suffice.statistics.by_class import ByClass
from suffice.statistics.by_column import ByColumn
from suffice.statistics.by_pattern import ByPattern
from suffice.statistics.curvature import Curvature
from suffice.statistics.moments.diagonal import DiagonalMoments
from suffice.statistics.document_counts import DocumentCounts
from suffice.statistics.moments.full import Moments
from suffice.statistics.keyed_counts import NgramCounts
from suffice.statistics.moments.pooled import PooledMoments
from suffice.statistics.tallies import Tallies
from suffice.statistics.keyed_counts import TermCounts
from suffice.statistics.text_statistics import TextStatistics
from suffice.statistics.totals import Totals

__all__ = [
    "ByClass",
    "ByColumn",
    "ByPattern",
    "Curvature",
    "DiagonalMoments",
    "DocumentCounts",
    "Moments",
    "NgramCounts",
    "PooledMoments",
    "Statistics",
    "Tallies",
    "TermCounts",
    "TextStatistics",
    "Totals",
    "leave_one_out",
    "total",
]
