"""Hidden classes of a table whose columns are of every kind, and what is said about them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from suffice.columns.shown import shown_by
from suffice.errors import BadSetting, listed
from suffice.learning.table_recipe import TableNotes
from suffice.printing.result_table import Decimals, Significant, TableColumn, TextTable
from suffice.printing.terminal_words import wrapped
from suffice.sources.arrow_frames import frame_of
from suffice.training.decimals import STATE as DECIMALS
from suffice.training.decimals import decimals_of
from suffice.training.saved_models import Saved

if TYPE_CHECKING:
    from suffice.estimators.setting_types import Criterion
    from suffice.training.clusters.numeric_rows import NumericRows
    from suffice.training.hooks import Hooks
    from suffice.training.table_columns.kept_columns import DroppedColumn

LATENT = "latent-classes"
"""The model of columns of every kind."""
MODELS = ("auto", "gaussian", LATENT)
"""What clusters may be."""
SURE = 0.9
"""A row is called sure of its cluster from this probability on, as a person would."""
APART = 0.1
"""Distance (total variation) from which on a column sets a cluster apart: one row of ten."""
MOST_SAID = 4
"""Columns that are said to set a cluster apart; what is printed for programs has all."""
EVIDENCE = ((2.0, "about as good"), (6.0, "somewhat worse"), (10.0, "clearly worse"))
"""What a difference in BIC below each number says, by Kass and Raftery (1995)."""


class LatentCluster(NamedTuple):
    """One cluster: its rows, its share, how sure they are, and its columns, the telling first."""

    number: int
    rows: int
    share: float
    uncertainty: float
    unsure: int
    columns: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LatentClusters:
    """What was found in a table: print it, or take `summary()`.

    saved      the classes, with what their file says of the table
    rows       what was clustered
    clusters   each, the largest first
    uncertainty, unsure   the mean uncertainty, and how many rows are not `SURE`
    """

    saved: Saved
    rows: NumericRows
    clusters: tuple[LatentCluster, ...]
    uncertainty: float
    unsure: int

    @property
    def mixture(self) -> Any:
        """The fitted `LatentClasses`."""
        return self.saved.model

    @property
    def dropped(self) -> tuple[DroppedColumn, ...]:
        """Columns that were left out, each with the reason."""
        return self.rows.dropped

    def summary(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        model, size = self.mixture, self.rows.table.size
        return {
            "estimator": type(model).__name__,
            "rows": size,
            "blank_rows": self.rows.blank,
            "all_rows": self.rows.whole,
            "columns": list(self.rows.names),
            "families": model.families_,
            "dropped": [one._asdict() for one in self.dropped],
            "components": model.components_,
            "smoothing": model.smoothing,
            "log_likelihood": model.log_likelihood_,
            "parameters": model.n_parameters_,
            "converged": model.converged_,
            "mean_uncertainty": self.uncertainty,
            "unsure_rows": self.unsure,
            "clusters": [
                {
                    "cluster": one.number,
                    "rows": one.rows,
                    "share": one.share,
                    "mean_uncertainty": _plain(one.uncertainty),
                    "unsure_rows": one.unsure,
                    "columns": [
                        {name: _plain(value) for name, value in column.items()}
                        for column in one.columns
                    ],
                }
                for one in self.clusters
            ],
            "criterion": model.criterion,
            "trials": [
                {name: _plain(value) for name, value in trial.items()} for trial in model.trials_
            ],
        }

    @property
    def title(self) -> str:
        """How many there are, of what."""
        size, width, found = self.rows.table.size, len(self.rows.names), len(self.clusters)
        return (
            f"{found} cluster{'s' * (found != 1)} in {size:,} rows of {width} "
            f"column{'s' * (width != 1)}"
        )

    @property
    def facts(self) -> tuple[str, ...]:
        """Sentences on their columns, why so many, and how sure rows are of theirs."""
        said = [f"Within a cluster, columns are independent: {self._families()}."]
        said += self._choice()
        if len(self.clusters) > 1:
            said.append(
                f"Certainty: the mean uncertainty is {_percent(self.uncertainty)}; {self.unsure:,} "
                f"of {self.rows.table.size:,} rows are less than {SURE:.0%} certain of their "
                "cluster."
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
            said = ["What sets each apart, the most informative column first:"]
            for one in self.clusters:
                said += [f"cluster {one.number}", *(f"  {line}" for line in class_differences(one))]
            parts.append("\n".join(said))
        return "\n\n".join(parts)

    def _families(self) -> str:
        """Return how many columns there are of each family, in words."""
        counted: dict[str, int] = {}
        for family in self.mixture.families_.values():
            counted[family] = counted.get(family, 0) + 1
        return ", ".join(f"{count} {family}" for family, count in counted.items())

    def _choice(self) -> list[str]:
        """Return why this number, where there was a choice."""
        trials = [trial for trial in self.mixture.trials_ if math.isfinite(trial["criterion"])]
        if len(trials) < 2:
            return []
        name, best, other = self.mixture.criterion.upper(), trials[0], trials[1]
        gap = other["criterion"] - best["criterion"]
        words = next((word for most, word in EVIDENCE if gap < most), "far worse")
        said = (
            f"Chosen by {name} ({best['criterion']:,.1f}) among {len(self.mixture.trials_)} "
            f"numbers of clusters; the next, {other['components']}, has {name} higher by "
            f"{gap:,.1f}: {words}."
        )
        return [said]


def other_columns(model: str, covariance: str, hooks: Hooks) -> bool | None:
    """Return whether columns of other kinds than numbers are clustered; None: if there are any."""
    if model not in MODELS:
        raise BadSetting(f"model={model!r} is not known", hint=f"choose one of {listed(MODELS)}")
    if model == LATENT and covariance != "auto":
        raise BadSetting(
            f"{hooks.option('covariance', covariance)} is a form of normal clusters, which "
            f"{LATENT} do not have",
            hint=f"leave it out, or ask for {hooks.option('model', 'gaussian')}",
        )
    if model == "auto":
        return None if covariance == "auto" else False
    return model == LATENT


def latent_clusters(
    rows: NumericRows, hooks: Hooks, components: Any, criterion: Criterion, seed: int
) -> LatentClusters:
    """Find hidden classes in rows of every kind."""
    from suffice.estimators.mixtures.latent_classes import LatentClasses

    model = LatentClasses(components, criterion=criterion, random_state=seed)
    frame = frame_of(rows.table)
    with hooks.progress(f"clustering {rows.place}", lambda: None, "steps"):
        model.fit(frame)
    decimals = decimals_of(rows.table)
    dropped = tuple(one.name for one in rows.dropped)
    used = {name: rows.spellings[name] for name in rows.names if name in rows.spellings}
    notes = TableNotes(None, None, dropped, spellings=used).knowing(shown=shown_by(rows.table))
    model.take_notes(replace(notes, more={**notes.more, DECIMALS: decimals}))
    return described_classes(rows, Saved(model, notes, decimals))


def described_classes(rows: NumericRows, saved: Saved) -> LatentClusters:
    """Return what latent classes say about rows, those that they were fitted to or others."""
    model, frame = saved.model, frame_of(rows.table)
    codes, unsure = model.predict(frame), model.uncertainty(frame)
    low, profiles = unsure > 1.0 - SURE, model.profiles()
    clusters = tuple(
        LatentCluster(
            number,
            int((codes == number).sum()),
            float(model.weights_[number]),
            float(unsure[codes == number].mean()) if (codes == number).any() else math.nan,
            int(low[codes == number].sum()),
            tuple(profiles[number]),
        )
        for number in range(model.components_)
    )
    return LatentClusters(saved, rows, clusters, float(unsure.mean()), int(low.sum()))


def class_differences(cluster: LatentCluster) -> list[str]:
    """Return in words what sets a cluster apart, a column a line."""
    apart = [one for one in cluster.columns if one["distance"] >= APART]
    if not apart:
        return ["no column differs much from the others"]
    more = len(apart) - MOST_SAID
    rest = [f"and {more} more column{'s' * (more > 1)}"] if more > 0 else []
    return [*map(difference_in_words, apart[:MOST_SAID]), *rest]


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


def _percent(value: float) -> str:
    """Return a share with one digit after the point."""
    return f"{value:.1%}"


def _plain(value: object) -> Any:
    """Return a value that JSON has a word for."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if hasattr(value, "item") else value
