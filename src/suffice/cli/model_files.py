"""Model files as commands use them: what was learned, and how its table is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.cli.table_notes import STATE, TableNotes
from suffice.files.stored_models import StoredModel, read_model, write_model

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """An estimator out of a file, and what the file says about its table."""

    estimator: Any
    notes: TableNotes

    @property
    def columns(self) -> Any:
        """The columns of the table, before anything was filled or coded."""
        return table_columns(self.notes, self.estimator._require())


def open_model(path: Path) -> tuple[StoredModel, TableNotes]:
    """Return what a file holds; nothing is loaded that is not needed to answer."""
    stored = read_model(path)
    return stored, TableNotes.from_state(stored.state)


def load_saved(path: Path) -> Saved:
    """Return a model that can learn, with everything that this needs."""
    from suffice.estimators.persistence import load

    notes = open_model(path)[1]
    return Saved(load(path), notes)


def save(path: Path, saved: Saved, *, statistics: bool = True) -> None:
    """Write a model, whole or not at all."""
    model = saved.estimator
    settings = model.get_params(deep=False)
    state = {**model._stored_state(statistics), STATE: saved.notes.to_dict()}
    about = {**model._about(), "target": saved.notes.target}
    write_model(path, StoredModel(type(model).__name__, settings, state, about))


def table_columns(notes: TableNotes, state: Any) -> Any:
    """Return the columns that a table should have."""
    if notes.filled is not None:
        return notes.filled.columns
    design = getattr(state, "design", None)  # of linear classifiers
    return state.columns if design is None else design.columns
