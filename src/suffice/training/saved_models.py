"""Models with what their files say of the table: read to learn more, and written again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from suffice.errors import BadSetting
from suffice.estimators.shared.table_recipe import STATE, TableNotes
from suffice.storage.model_file import StoredModel, read_model

if TYPE_CHECKING:
    from pathlib import Path

LAW = "MultivariateNormal"
"""The estimator without classes: most commands have nothing to ask it."""
MIXTURE = "GaussianMixture"
"""The estimator of classes that nobody has named."""


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """An estimator, and what its file says about its table.

    decimals   digits after the point, of columns where they are known
    """

    estimator: Any
    notes: TableNotes
    decimals: dict[str, int] = field(default_factory=dict)

    @property
    def columns(self) -> Any:
        """The columns of the table, before anything was filled or coded."""
        if self.notes.filled is not None:
            return self.notes.filled.columns
        state = self.estimator._require()
        design = getattr(state, "design", None)  # of linear classifiers
        return state.columns if design is None else design.columns

    def stored(self, *, statistics: bool = True) -> StoredModel:
        """Return what a file holds of it; without statistics, what is needed to answer."""
        from suffice.training.decimals import STATE as DECIMALS

        found: StoredModel = self.estimator._stored(statistics)
        known = {**self.notes.to_dict(), DECIMALS: dict(self.decimals)}
        return replace(
            found,
            state={**found.state, STATE: known},
            about={**found.about, "target": self.notes.target},
        )


def open_model(path: Path) -> tuple[StoredModel, TableNotes]:
    """Return what a file holds; nothing is loaded that is not needed to answer."""
    stored = read_model(path)
    return stored, TableNotes.from_state(stored.state) or TableNotes()


def open_classifier(path: Path) -> tuple[StoredModel, TableNotes]:
    """Return what a file holds, if it has classes: a law of rows has none."""
    stored, notes = open_model(path)
    if stored.estimator == LAW:
        raise BadSetting(
            f"{path} is a {LAW}, a law of rows without classes",
            hint="suffice inspect tells what it holds; in Python, suffice.load gives it back",
        )
    return stored, notes


def load_saved(path: Path) -> Saved:
    """Return a model that can learn, with everything that this needs."""
    from suffice.estimators.shared.saving import restored
    from suffice.training.decimals import decimals_in

    stored, notes = open_classifier(path)
    if stored.estimator == MIXTURE:
        raise BadSetting(
            f"{path} is a {MIXTURE}: this command knows classes that have names",
            hint="suffice predict, inspect, diff and sql read it; in Python, suffice.load gives it "
            "back: sample, typicality, explain",
        )
    return Saved(restored(path, stored), notes, decimals_in(stored.state))
