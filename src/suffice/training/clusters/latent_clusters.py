"""Hidden classes of a table whose columns are of every kind, and what is said about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from suffice.printing.result_table import Significant
from suffice.training.clusters.found_clusters import Cluster, FoundClusters, most_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.training.clusters.numeric_rows import NumericRows
    from suffice.training.saved_models import Saved

APART = 0.1
"""Distance (total variation) from which on a column sets a cluster apart: one row of ten."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LatentClusters(FoundClusters):
    """Classes of a `LatentClasses`; of a column, a cluster has what `profiles` says."""

    tried_in_words: ClassVar[str] = "numbers of clusters"

    def differences(self, cluster: Cluster) -> list[str]:
        """Return in words what sets a cluster apart, a column a line."""
        apart = [one for one in cluster.columns if one["distance"] >= APART]
        if not apart:
            return ["no column differs much from the others"]
        return most_of([difference_in_words(one) for one in apart])

    def _own_summary(self) -> dict[str, object]:
        return {"families": self.mixture.families_, "smoothing": self.mixture.smoothing}

    def _column_summary(self, column: dict[str, object]) -> dict[str, object]:
        return column

    def _form_in_words(self) -> str:
        counted: dict[str, int] = {}
        for family in self.mixture.families_.values():
            counted[family] = counted.get(family, 0) + 1
        families = ", ".join(f"{count} {family}" for family, count in counted.items())
        return f"Within a cluster, columns are independent: {families}."

    def _rival(self, trials: Sequence[dict[str, object]]) -> tuple[str, dict[str, object]] | None:
        return f"the next, {trials[1]['components']}", trials[1]


def described_classes(rows: NumericRows, saved: Saved) -> FoundClusters:
    """Return what latent classes say about rows, those that they were fitted to or others."""
    profiles = saved.model.profiles()
    return LatentClusters.described(rows, saved, lambda number: tuple(profiles[number]))


def difference_in_words(one: dict[str, Any]) -> str:
    """Return what a column says of a cluster.

    >>> column = {"column": "plan", "level": "gold", "own": 0.8, "others": 0.25, "distance": 0.55}
    >>> difference_in_words(column)
    "plan is 'gold' more often: 80%, others 25%"
    >>> difference_in_words({"column": "age", "level": None, "own": 61.2, "others": 40.0})
    'age is higher: 61.2, others 40.0'
    """
    own, others = one["own"], one["others"]
    trifle = 1e-6 * one.get("sd", 0.0)
    own, others = (0.0 if abs(value) < trifle else value for value in (own, others))
    if one["level"] is None:
        number = Significant(3)
        way = "higher" if own > others else "lower"
        return f"{one['column']} is {way}: {number(own)}, others {number(others)}"
    way = "more" if own > others else "less"
    level = repr(one["level"]) if isinstance(one["level"], str) else one["level"]
    return f"{one['column']} is {level} {way} often: {own:.0%}, others {others:.0%}"
