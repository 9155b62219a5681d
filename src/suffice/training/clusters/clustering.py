"""Clusters of a table, and what is said about them: what `suffice cluster` does."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.columns.shown import shown_by
from suffice.errors import BadRows, BadSetting
from suffice.learning.table_recipe import TableNotes
from suffice.printing.result_table import Decimals, Significant, TableColumn, TextTable
from suffice.printing.terminal_words import wrapped
from suffice.sources.arrow_frames import frame_of
from suffice.training.clusters.latent import (
    LATENT,
    LatentClusters,
    latent_clusters,
    other_columns,
)
from suffice.training.clusters.numeric_rows import NumericRows, cells_of
from suffice.training.clusters.search_progress import SearchProgress
from suffice.training.decimals import STATE as DECIMALS
from suffice.training.decimals import decimals_of
from suffice.training.saved_models import Saved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.estimators.setting_types import Criterion
    from suffice.rows import FloatArray, IntArray
    from suffice.tables.table_reading import TableReading
    from suffice.training.hooks import Hooks
    from suffice.training.table_columns.kept_columns import DroppedColumn

SURE = 0.9
"""A row is called sure of its cluster from this probability on, as a person would."""
APART = 0.5
"""Pooled standard deviations from which on a mean sets a cluster apart: what Cohen (1988) calls a
medium effect."""
MOST_SAID = 4
"""Columns that are said to set a cluster apart; what is printed for programs has all."""
EVIDENCE = ((2.0, "about as good"), (6.0, "somewhat worse"), (10.0, "clearly worse"))
"""What a difference in BIC below each number says, by Kass and Raftery (1995)."""
LONGEST = 6
"""Digits after the point of a mean; with more, an exponent is easier to read."""
SIZES = {"E": "one size", "V": "sizes of their own"}
"""What the first letter of a form says of clusters: their volume."""
SHAPES = {"E": "one shape", "V": "shapes of their own"}
"""What the second letter says."""
DIRECTIONS = {"E": "one direction", "V": "directions of their own"}
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


class Cluster(NamedTuple):
    """One cluster: its rows, its share, how sure they are, and its columns, the telling first."""

    number: int
    rows: int
    share: float
    uncertainty: float
    unsure: int
    columns: tuple[Apart, ...]

    @property
    def apart(self) -> tuple[Apart, ...]:
        """The columns that set it apart."""
        return tuple(one for one in self.columns if abs(one.difference) >= APART)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Clusters:
    """What was found in a table: print it, or take `summary()`.

    saved      the mixture, with what its file says of the table
    rows       what was clustered
    clusters   each, the largest first
    uncertainty, unsure   the mean uncertainty, and how many rows are not `SURE`
    """

    saved: Saved
    rows: NumericRows
    clusters: tuple[Cluster, ...]
    uncertainty: float
    unsure: int

    @property
    def mixture(self) -> Any:
        """The fitted `GaussianMixture`."""
        return self.saved.model

    @property
    def dropped(self) -> tuple[DroppedColumn, ...]:
        """Columns that were left out, each with the reason."""
        return self.rows.dropped

    def summary(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        mixture, size = self.mixture, self.rows.table.size
        return {
            "estimator": type(mixture).__name__,
            "rows": size,
            "blank_rows": self.rows.blank,
            "all_rows": self.rows.whole,
            "columns": list(self.rows.names),
            "dropped": [one._asdict() for one in self.dropped],
            "components": mixture.components_,
            "form": mixture.covariance_form_,
            "form_in_words": self.form,
            "log_likelihood": mixture.log_likelihood_,
            "parameters": mixture.n_parameters_,
            "converged": mixture.converged_,
            "mean_uncertainty": self.uncertainty,
            "unsure_rows": self.unsure,
            "clusters": [
                {
                    "cluster": one.number,
                    "rows": one.rows,
                    "share": one.share,
                    "mean_uncertainty": _plain(one.uncertainty),
                    "unsure_rows": one.unsure,
                    "columns": [column._asdict() for column in one.columns],
                }
                for one in self.clusters
            ],
            "criterion": mixture.criterion,
            "trials": [
                {name: _plain(value) for name, value in trial.items()} for trial in mixture.trials_
            ],
        }

    @property
    def form(self) -> str:
        """The form of the clusters, in words."""
        return form_in_words(
            self.mixture.covariance_form_, len(self.clusters), len(self.rows.names)
        )

    @property
    def title(self) -> str:
        """How many there are, of what."""
        size, width, found = self.rows.table.size, len(self.rows.names), len(self.clusters)
        return (
            f"{found} cluster{'s' * (found != 1)} in {size:,} rows of "
            f"{width} numeric column{'s' * (width != 1)}"
        )

    @property
    def facts(self) -> tuple[str, ...]:
        """Sentences on their form, why that and so many, and how sure rows are of theirs."""
        size = self.rows.table.size
        said = [f"Form: {self.form} ({self.mixture.covariance_form_}).", *self._choice()]
        if len(self.clusters) > 1:
            said.append(
                f"Certainty: the mean uncertainty is {_percent(self.uncertainty)}; {self.unsure:,} "
                f"of {size:,} rows are less than {SURE:.0%} certain of their cluster."
            )
        return tuple(said)

    def __str__(self) -> str:
        """Return it for a person to read."""
        table = TextTable(
            "",
            (
                TableColumn("cluster", Decimals(0)),
                TableColumn("rows", Decimals(0)),
                TableColumn("share", _percent),
                TableColumn("mean uncertainty", _percent),
                TableColumn(f"rows under {SURE:.0%}", Decimals(0)),
            ),
            tuple((c.number, c.rows, c.share, c.uncertainty, c.unsure) for c in self.clusters),
        )
        parts = [self.title, "\n".join(map(wrapped, self.facts)), str(table)]
        if len(self.clusters) > 1:
            said = [
                "What sets each apart, by its means; sd is the standard deviation within clusters:"
            ]
            for one in self.clusters:
                said += [f"cluster {one.number}", *(f"  {line}" for line in differences(one))]
            parts.append("\n".join(said))
        return "\n\n".join(parts)

    def _choice(self) -> list[str]:
        """Return why this number and form, where there was a choice."""
        trials = [trial for trial in self.mixture.trials_ if math.isfinite(trial["criterion"])]
        if len(trials) < 2:
            return []
        name = self.mixture.criterion.upper()
        best = trials[0]
        said = (
            f"Chosen by {name} ({best['criterion']:,.1f}) among {len(self.mixture.trials_)} "
            "mixtures"
        )
        other = next((t for t in trials if t["components"] != best["components"]), None)
        if other is None:
            return [f"{said}."]
        gap = other["criterion"] - best["criterion"]
        words = next((word for most, word in EVIDENCE if gap < most), "far worse")
        rival = f"{other['components']} of form {other['form']}"
        worse = f"has {name} higher by {gap:,.1f}: {words}"
        return [f"{said}; the best of another number, {rival}, {worse}."]


def cluster_rows(
    data: object,
    hooks: Hooks,
    *,
    reading: TableReading,
    model: str = "auto",
    components: Any = "auto",
    covariance: str = "auto",
    criterion: Criterion = "bic",
    drop: Sequence[str] = (),
    seed: int = 0,
) -> Clusters | LatentClusters:
    """Read a table, and find clusters in its numbers, or in columns of every kind.

    Parameters
    ----------
    data : list of paths or addresses
        What `suffice fit` reads.
    model : "auto", "gaussian" or "latent-classes"
        A normal mixture of the numbers, or classes over columns of every kind; "auto" takes these
        where there are columns of text or of true and false, unless a form is asked for.
    components : int, range or "auto"
        How many clusters, or from which number to which.
    covariance, criterion
        As `GaussianMixture` takes them.

    """
    from suffice.estimators.mixtures.gaussian_mixture import GaussianMixture

    rows = NumericRows.read(
        data, reading, drop, hooks, seed=seed, others=other_columns(model, covariance, hooks)
    )
    size = rows.table.size
    what = "cell" if rows.mixed else "number"
    if size < 2:
        raise BadRows(
            f"{rows.place} has {size or 'no'} row{'s' * (size != 1)} with a {what}: nothing to "
            "tell apart",
            hint="give more than one row",
        )
    fewest = components[0] if isinstance(components, range) else components
    if isinstance(fewest, int) and fewest > size:
        raise BadSetting(
            f"{hooks.option('components', str(fewest))}: {rows.place} has {size:,} rows with a "
            f"{what}",
            hint="ask for no more clusters than there are rows",
        )
    if isinstance(components, range):
        components = range(fewest, min(components[-1], size) + 1)
    if rows.mixed or model == LATENT:
        return latent_clusters(rows, hooks, components, criterion, seed)
    mixture = GaussianMixture(components, covariance, criterion=criterion, random_state=seed)
    search = SearchProgress()
    with hooks.progress(f"clustering {rows.place}", search.share, "steps") as search.meter:
        mixture.fit(frame_of(rows.table), journey=search)
    dropped = tuple(one.name for one in rows.dropped)
    decimals = decimals_of(rows.table)
    used = {name: rows.spellings[name] for name in rows.names if name in rows.spellings}
    notes = TableNotes(None, None, dropped, spellings=used).knowing(shown=shown_by(rows.table))
    mixture.take_notes(replace(notes, more={**notes.more, DECIMALS: decimals}))
    return described_mixture(rows, Saved(mixture, notes, decimals))


def described_mixture(rows: NumericRows, saved: Saved) -> Clusters:
    """Return what a mixture says about rows, those that it was fitted to or others."""
    model = saved.model
    cells = cells_of(rows.table)
    frame = frame_of(rows.table)
    codes: IntArray = model.predict(frame)
    unsure: FloatArray = model.uncertainty(frame)
    low = unsure > 1.0 - SURE
    varies = np.nanmin(cells, axis=0) < np.nanmax(cells, axis=0)
    clusters = tuple(
        Cluster(
            number,
            int((codes == number).sum()),
            float(model.weights_[number]),
            float(unsure[codes == number].mean()) if (codes == number).any() else math.nan,
            int(low[codes == number].sum()),
            _columns(model, number, rows.names, varies),
        )
        for number in range(model.components_)
    )
    return Clusters(saved, rows, clusters, float(unsure.mean()), int(low.sum()))


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
    'ellipsoids of sizes of their own, one shape and directions of their own'
    >>> form_in_words("EII", 3, 4), form_in_words("VII", 2, 1), form_in_words("VVV", 1, 4)
    ('balls of one size', 'spreads of their own', 'an ellipsoid of any direction')
    """
    size, shape, direction = tuple(form)
    if width == 1:
        return (
            "a spread"
            if components == 1
            else {"E": "one spread", "V": "spreads of their own"}[size]
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


def differences(cluster: Cluster) -> list[str]:
    """Return in words what sets a cluster apart, a column a line."""
    said = cluster.apart
    if not said:
        return [f"no mean differs by {APART:g} sd; it differs in variances or correlations"]
    more = len(said) - MOST_SAID
    rest = [f"and {more} more column{'s' * (more > 1)}"] if more > 0 else []
    return [*map(str, said[:MOST_SAID]), *rest]


def _format(deviation: float) -> Decimals | Significant:
    """Return how means are written whose column varies so much: to about a tenth of it.

    >>> _format(0.3)(4.9061), _format(500.0)(12345.6), _format(1e-9)(1.5e-8)
    ('4.91', '12,346', '1.500e-08')
    """
    digits = math.ceil(1.0 - math.log10(deviation)) if deviation > 0.0 else LONGEST + 1
    return Decimals(max(0, digits)) if digits <= LONGEST else Significant(4)


def _percent(value: float) -> str:
    """Return a share with one digit after the point."""
    return f"{value:.1%}"


def _plain(value: object) -> Any:
    """Return a value that JSON has a word for."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
