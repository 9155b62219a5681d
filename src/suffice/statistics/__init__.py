"""What the data said: mergeable, forgettable, exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.facade import lazy

if TYPE_CHECKING:
    from suffice.statistics.algebra import Statistics, leave_one_out, total
    from suffice.statistics.by_class import ByClass
    from suffice.statistics.by_column import ByColumn
    from suffice.statistics.by_pattern import ByPattern
    from suffice.statistics.column_terms import ColumnNgrams, ColumnTerms
    from suffice.statistics.curvature import Curvature
    from suffice.statistics.document_counts import DocumentCounts
    from suffice.statistics.keyed_counts import NgramCounts, TermCounts
    from suffice.statistics.moments.diagonal import DiagonalMoments
    from suffice.statistics.moments.full import Moments
    from suffice.statistics.moments.pooled import PooledMoments
    from suffice.statistics.quantile_bins import QuantileBins
    from suffice.statistics.tallies import Tallies
    from suffice.statistics.text_statistics import TextStatistics
    from suffice.statistics.totals import Totals

__all__ = [
    "ByClass",
    "ByColumn",
    "ByPattern",
    "ColumnNgrams",
    "ColumnTerms",
    "Curvature",
    "DiagonalMoments",
    "DocumentCounts",
    "Moments",
    "NgramCounts",
    "PooledMoments",
    "QuantileBins",
    "Statistics",
    "Tallies",
    "TermCounts",
    "TextStatistics",
    "Totals",
    "leave_one_out",
    "total",
]

_find, __dir__ = lazy(
    __name__,
    {
        "suffice.statistics.algebra": ["Statistics", "leave_one_out", "total"],
        "suffice.statistics.by_class": ["ByClass"],
        "suffice.statistics.by_column": ["ByColumn"],
        "suffice.statistics.by_pattern": ["ByPattern"],
        "suffice.statistics.column_terms": ["ColumnNgrams", "ColumnTerms"],
        "suffice.statistics.curvature": ["Curvature"],
        "suffice.statistics.document_counts": ["DocumentCounts"],
        "suffice.statistics.keyed_counts": ["NgramCounts", "TermCounts"],
        "suffice.statistics.moments.diagonal": ["DiagonalMoments"],
        "suffice.statistics.moments.full": ["Moments"],
        "suffice.statistics.moments.pooled": ["PooledMoments"],
        "suffice.statistics.quantile_bins": ["QuantileBins"],
        "suffice.statistics.tallies": ["Tallies"],
        "suffice.statistics.text_statistics": ["TextStatistics"],
        "suffice.statistics.totals": ["Totals"],
    },
)

if not TYPE_CHECKING:  # a type checker knows the names above, and no others
    __getattr__ = _find
