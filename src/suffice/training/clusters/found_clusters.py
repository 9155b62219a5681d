"""Clusters that were found in a table, of whatever kind, and what is said about all of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from suffice.columns.shown import shown_by
from suffice.learning.table_recipe import TableNotes
from suffice.printing.result_table import Decimals, TableColumn, TextTable
from suffice.printing.terminal_words import wrapped
from suffice.sources.arrow_frames import frame_of
from suffice.training.decimals import STATE as DECIMALS
from suffice.training.decimals import decimals_of
from suffice.training.saved_models import Saved

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from suffice.rows import FloatArray, IntArray
    from suffice.training.clusters.numeric_rows import NumericRows
    from suffice.training.table_columns.kept_columns import DroppedColumn

SURE = 0.9
"""A row is called sure of its cluster from this probability on, as a person would."""
MOST_SAID = 4
"""Columns that are said to set a cluster apart; what is printed for programs has all."""
EVIDENCE = ((2.0, "about as good"), (6.0, "somewhat worse"), (10.0, "clearly worse"))
"""What a difference in BIC below each number says, by Kass and Raftery (1995)."""


class Cluster(NamedTuple):
    """One cluster: its rows, its share, how sure they are, and its columns, the telling first."""

    number: int
    rows: int
    share: float
    uncertainty: float
    unsure: int
    columns: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FoundClusters(ABC):
    """What was found in a table: print it, or take `summary()`.

    saved      the model, with what its file says of the table
    rows       what was clustered
    clusters   each, the largest first
    uncertainty, unsure   the mean uncertainty, and how many rows are not `SURE`
    """

    saved: Saved
    rows: NumericRows
    clusters: tuple[Cluster, ...]
    uncertainty: float
    unsure: int

    columns_in_words: ClassVar[str] = "column"
    """What one of the columns is called."""
    apart_in_words: ClassVar[str] = "The most informative column first."
    """By what columns set clusters apart."""
    tried_in_words: ClassVar[str] = "mixtures"
    """What there was a choice of."""

    @classmethod
    def described(
        cls, rows: NumericRows, saved: Saved, columns: Callable[[int], tuple[object, ...]]
    ) -> FoundClusters:
        """Return what a model says about rows, those that it was fitted to or others.

        `columns` says of a cluster, by its number, what sets it apart.
        """
        model, frame = saved.model, frame_of(rows.table)
        codes: IntArray = model.predict(frame)
        unsure: FloatArray = model.uncertainty(frame)
        low = unsure > 1.0 - SURE
        clusters = []
        for number in range(model.components_):
            own = codes == number
            mean = float(unsure[own].mean()) if own.any() else math.nan
            share = float(model.weights_[number])
            size = int(own.sum())
            found = columns(number)
            clusters.append(Cluster(number, size, share, mean, int(low[own].sum()), found))
        return cls(saved, rows, tuple(clusters), float(unsure.mean()), int(low.sum()))

    @property
    def mixture(self) -> Any:
        """The fitted model."""
        return self.saved.model

    @property
    def dropped(self) -> tuple[DroppedColumn, ...]:
        """Columns that were left out, each with the reason."""
        return self.rows.dropped

    def summary(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        model = self.mixture
        return {
            "estimator": type(model).__name__,
            "rows": self.rows.table.size,
            "blank_rows": self.rows.blank,
            "all_rows": self.rows.whole,
            "columns": list(self.rows.names),
            "dropped": [one._asdict() for one in self.dropped],
            "components": model.components_,
            **self._own_summary(),
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
                    "columns": [_plainly(self._column_summary(column)) for column in one.columns],
                }
                for one in self.clusters
            ],
            "criterion": model.criterion,
            "trials": [_plainly(trial) for trial in model.trials_],
        }

    @abstractmethod
    def _own_summary(self) -> dict[str, object]:
        """Return what only clusters of this kind have, as plain values."""

    @abstractmethod
    def _column_summary(self, column: Any) -> dict[str, object]:
        """Return what a column says of a cluster, by name."""

    @abstractmethod
    def differences(self, cluster: Cluster) -> list[str]:
        """Return in words what sets a cluster apart, a column a line."""

    @abstractmethod
    def _form_in_words(self) -> str:
        """Return a sentence on what a cluster is."""

    @abstractmethod
    def _rival(self, trials: Sequence[dict[str, object]]) -> tuple[str, dict[str, object]] | None:
        """Return the next best of another number, in words, and its trial."""

    @property
    def title(self) -> str:
        """How many there are, of what."""
        size, width, found = self.rows.table.size, len(self.rows.names), len(self.clusters)
        return (
            f"{found} cluster{'s' * (found != 1)} in {size:,} rows of "
            f"{width} {self.columns_in_words}{'s' * (width != 1)}"
        )

    @property
    def facts(self) -> tuple[str, ...]:
        """Sentences on what they are, why so many, and how sure rows are of theirs."""
        said = [self._form_in_words(), *self._choice()]
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
            how = self.apart_in_words
            said = [f"What sets each apart, {how[0].lower()}{how[1:].rstrip('.')}:"]
            for one in self.clusters:
                said += [f"cluster {one.number}", *(f"  {s}" for s in self.differences(one))]
            parts.append("\n".join(said))
        return "\n\n".join(parts)

    def _choice(self) -> list[str]:
        """Return why this one, where there was a choice."""
        trials = [trial for trial in self.mixture.trials_ if math.isfinite(trial["criterion"])]
        if len(trials) < 2:
            return []
        name, best = self.mixture.criterion.upper(), trials[0]
        said = (
            f"Chosen by {name} ({best['criterion']:,.1f}) among {len(self.mixture.trials_)} "
            f"{self.tried_in_words}"
        )
        rival = self._rival(trials)
        if rival is None:
            return [f"{said}."]
        which, other = rival
        gap = other["criterion"] - best["criterion"]
        words = next((word for most, word in EVIDENCE if gap < most), "far worse")
        return [f"{said}; {which}, has {name} higher by {gap:,.1f}: {words}."]


def noted(rows: NumericRows, model: Any) -> Saved:
    """Let a fitted model know of its table what its file says of it."""
    dropped, decimals = tuple(one.name for one in rows.dropped), decimals_of(rows.table)
    used = {name: rows.spellings[name] for name in rows.names if name in rows.spellings}
    notes = TableNotes(None, None, dropped, spellings=used).knowing(shown=shown_by(rows.table))
    model.take_notes(replace(notes, more={**notes.more, DECIMALS: decimals}))
    return Saved(model, notes, decimals)


def most_of(said: Sequence[str]) -> list[str]:
    """Return the first lines, and how many more there are.

    >>> most_of(["a", "b", "c", "d", "e"])
    ['a', 'b', 'c', 'd', 'and 1 more column']
    """
    more = len(said) - MOST_SAID
    rest = [f"and {more} more column{'s' * (more > 1)}"] if more > 0 else []
    return [*said[:MOST_SAID], *rest]


def _percent(value: float) -> str:
    """Return a share with one digit after the point."""
    return f"{value:.1%}"


def _plainly(values: dict[str, object]) -> dict[str, object]:
    """Return values that JSON has words for."""
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: object) -> object:
    """Return a value that JSON has a word for."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if hasattr(value, "item") else value
