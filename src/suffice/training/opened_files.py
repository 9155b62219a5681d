"""Model files as they are: nothing is loaded that is not needed to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.errors import BadSetting
from suffice.learning.table_recipe import TableNotes
from suffice.storage.model_file import StoredModel, read_model

if TYPE_CHECKING:
    from pathlib import Path

LAW = "MultivariateNormal"
"""The estimator without classes: most commands have nothing to ask it."""


def open_model(path: Path) -> tuple[StoredModel, TableNotes]:
    """Return what a file holds; nothing is loaded that is not needed to answer."""
    stored = read_model(path)
    return stored, TableNotes.from_state(stored.state) or TableNotes()


def open_classifier(path: Path) -> tuple[StoredModel, TableNotes]:
    """Return what a file holds, if it has classes: a law of rows has none."""
    stored, notes = open_model(path)
    if stored.estimator == LAW:
        raise BadSetting(
            f"{path} is a {LAW}, a distribution of rows without classes",
            hint="suffice inspect describes it; in Python, suffice.load reads it",
        )
    return stored, notes
