"""Normal clusters of the numbers of a table, and what is said about them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from suffice.models.mixture.factored.factor_forms import factors_of, is_one
from suffice.printing.result_table import Decimals, Significant
from suffice.training.clusters.found_clusters import Cluster, FoundClusters, most_of
from suffice.training.clusters.numeric_rows import cells_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.training.clusters.numeric_rows import NumericRows
    from suffice.training.saved_models import Saved

APART = 0.5
"""Pooled standard deviations from which on a mean sets a cluster apart: what Cohen (1988) calls a
medium effect."""
LONGEST = 6
"""Digits after the point of a mean; with more, an exponent is easier to read."""
SIZES = {"E": "one size", "V": "different sizes"}
"""What the first letter of a form says of clusters: their volume."""
SHAPES = {"E": "one shape", "V": "different shapes"}
"""What the second letter says."""
DIRECTIONS = {"E": "one direction", "V": "different directions"}
"""What the third letter says."""


class Apart(NamedTuple):
    """How far a cluster's mean of a column is from that of the others, in pooled sd."""

    column: str
    mean: float
    others: float
    difference: float

    def __str__(self) -> str:
        way = "higher" if self.difference > 0.0 else "lower"
        number = _format((self.mean - self.others) / self.difference)
        values = f"{number(self.mean)}, others {number(self.others)}"
        return f"{self.column} is {way}: {values} ({Significant(2)(abs(self.difference))} sd)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Clusters(FoundClusters):
    """Components of a `GaussianMixture`; of a column, a cluster has an `Apart`."""

    columns_in_words: ClassVar[str] = "numeric column"
    apart_in_words: ClassVar[str] = "By its means; sd is the standard deviation within clusters."

    @property
    def form(self) -> str:
        """The form of the clusters, in words."""
        return form_in_words(
            self.mixture.covariance_form_, len(self.clusters), len(self.rows.names)
        )

    def differences(self, cluster: Cluster) -> list[str]:
        """Return in words what sets a cluster apart, a column a line."""
        said = [one for one in cluster.columns if abs(one.difference) >= APART]
        if not said:
            among = "it lies among them, or differs in variances or correlations"
            return [f"no mean is {APART:g} sd from that of the others together: {among}"]
        return most_of([str(one) for one in said])

    def _own_summary(self) -> dict[str, object]:
        return {"form": self.mixture.covariance_form_, "form_in_words": self.form}

    def _column_summary(self, column: Apart) -> dict[str, object]:
        return column._asdict()

    def _form_in_words(self) -> str:
        return f"Form: {self.form} ({self.mixture.covariance_form_})."

    def _rival(self, trials: Sequence[dict[str, object]]) -> tuple[str, dict[str, object]] | None:
        best = trials[0]["components"]
        other = next((trial for trial in trials if trial["components"] != best), None)
        if other is None:
            return None
        rival = f"{other['components']} of form {other['form']}"
        return f"the best of another number, {rival}", other


def described_mixture(rows: NumericRows, saved: Saved) -> FoundClusters:
    """Return what a mixture says about rows, those that it was fitted to or others."""
    cells = cells_of(rows.table)
    varies = np.nanmin(cells, axis=0) < np.nanmax(cells, axis=0)
    return Clusters.described(
        rows, saved, lambda number: _columns(saved.model, number, rows.names, varies)
    )


def _columns(model: Any, number: int, names: Sequence[str], varies: Any) -> tuple[Apart, ...]:
    """Return how a cluster's means differ from those of the others, the furthest first."""
    shares, means = model.weights_, model.means_
    if len(shares) == 1:
        return ()
    pooled = np.sqrt(shares @ np.diagonal(model.covariances_, axis1=1, axis2=2))
    away = np.delete(shares, number)
    others = away @ np.delete(means, number, axis=0) / away.sum()
    found = [
        Apart(name, float(means[number, j]), float(others[j]), float(difference))
        for j, name in enumerate(names)
        if varies[j] and pooled[j] > 0.0
        for difference in [(means[number, j] - others[j]) / pooled[j]]
    ]
    return tuple(sorted(found, key=lambda one: -abs(one.difference)))


def form_in_words(form: str, components: int, width: int) -> str:
    """Return what three letters say of clusters.

    >>> form_in_words("VEV", 3, 4)
    'ellipsoids of different sizes, one shape and different directions'
    >>> form_in_words("EII", 3, 4), form_in_words("VII", 2, 1), form_in_words("VVV", 1, 4)
    ('balls of one size', 'different spreads', 'an ellipsoid of any direction')
    >>> form_in_words("CCU-1", 3, 4)
    '1 factor and a variance of each column, the same in all clusters'
    """
    factors = factors_of(form)
    if factors is not None:
        many = f"{factors} factor{'s' * (factors != 1)}"
        if is_one(form) or components == 1:
            return f"{many} and a variance of each column, the same in all clusters"
        return f"{many} and a variance of each column, in every cluster its own"
    size, shape, direction = tuple(form)
    if width == 1:
        return (
            "a spread" if components == 1 else {"E": "one spread", "V": "different spreads"}[size]
        )
    if components == 1:
        if shape == "I":
            return "a ball"
        return f"an ellipsoid {'along the columns' if direction == 'I' else 'of any direction'}"
    if shape == "I":
        return f"balls of {SIZES[size]}"
    if direction == "I":
        return f"ellipsoids along the columns, of {SIZES[size]} and {SHAPES[shape]}"
    return f"ellipsoids of {SIZES[size]}, {SHAPES[shape]} and {DIRECTIONS[direction]}"


def _format(deviation: float) -> Decimals | Significant:
    """Return how means are written whose column varies so much: to about a tenth of it.

    >>> _format(0.3)(4.9061), _format(500.0)(12345.6), _format(1e-9)(1.5e-8)
    ('4.91', '12,346', '1.500e-08')
    """
    digits = math.ceil(1.0 - math.log10(deviation)) if deviation > 0.0 else LONGEST + 1
    return Decimals(max(0, digits)) if digits <= LONGEST else Significant(4)
