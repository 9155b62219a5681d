"""Models with what their files say of the table: read to learn more, and written again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.learning.learned import Learned
from suffice.learning.stored import LEARNERS, learned_of
from suffice.learning.table_recipe import STATE, TableNotes
from suffice.training.opened_files import open_classifier

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from suffice.rows.tables import Table
    from suffice.storage.model_file import StoredModel


MIXTURE = "GaussianMixture"
"""The mixture of normal components, which may have noise."""
MIXTURES = (MIXTURE, "LatentClasses")
"""The estimators of classes that nobody has named."""


@dataclass(slots=True, eq=False)
class Saved:
    """What was learned, and what its file says about its table: what commands work with.

    model      a `Learned`; of a mixture, whose classes nobody has named, the estimator
    decimals   digits after the point, of columns where they are known
    """

    model: Any
    notes: TableNotes
    decimals: dict[str, int] = field(default_factory=dict)
    _dressed: Any = None

    @property
    def estimator(self) -> Any:
        """The same as an estimator: whoever asks for it pays for importing scikit-learn."""
        if not isinstance(self.model, Learned):
            return self.model
        if self._dressed is None:
            from suffice.estimators.saving import estimator_of

            self._dressed = estimator_of(self.model)
        return self._dressed

    @property
    def name(self) -> str:
        """What kind of estimator it is."""
        model = self.model
        return model.learner.name if isinstance(model, Learned) else type(model).__name__

    @property
    def classes(self) -> NDArray[np.generic]:
        """The labels, in order."""
        model = self.model
        if self.is_hidden:
            return np.arange(model.components_)
        found: NDArray[np.generic] = model.classes if isinstance(model, Learned) else model.classes_
        return found

    @property
    def is_hidden(self) -> bool:
        """Whether its classes are clusters, which nobody has named."""
        return self.name in MIXTURES

    @property
    def columns(self) -> Any:
        """The columns of the table, before anything was filled or coded."""
        if self.notes.filled is not None:
            return self.notes.filled.columns
        return self.model.schema

    def offers(self, what: str) -> bool:
        """Whether it can be asked for something, by the name of the method."""
        model = self.model
        return model.offers(what) if isinstance(model, Learned) else hasattr(model, what)

    def written(self, name: str, cell: object) -> object:
        """Return a cell of a column as the table has it: a date, a decimal comma, yes and no."""
        spelling = self.notes.spellings.get(name)
        return cell if spelling is None else spelling.written(cell, self.decimals.get(name))

    def learn(self, rows: Table, labels: NDArray[np.generic]) -> None:
        """Learn more rows."""
        model = self.model
        model.learner.check_stream(model)
        self.model = model.more(model.learner.read(rows, labels, None, model))

    def forget(self, rows: Table, labels: NDArray[np.generic]) -> None:
        """Take back rows of what is made of sums."""
        from suffice.learning.taken_back import taken_back  # nothing else here needs it

        self.model = taken_back(self.model, rows, labels)
        self.model.warn_of_small_sample()

    def stored(self, *, statistics: bool = True) -> StoredModel:
        """Return what a file holds of it; without statistics, what is needed to answer."""
        from suffice.training.decimals import STATE as DECIMALS

        model = self.model if self._dressed is None else self._dressed
        found: StoredModel = model.stored(statistics=statistics)
        known = {**self.notes.to_dict(), DECIMALS: dict(self.decimals)}
        return replace(
            found,
            state={**found.state, STATE: known},
            about={**found.about, "target": self.notes.target},
        )


def load_saved(path: Path, *, hidden: bool = False) -> Saved:
    """Return a model that can learn, with everything that this needs.

    `hidden` says whether its classes may be clusters, which nobody has named.
    """
    from suffice.training.decimals import decimals_in

    stored, notes = open_classifier(path)
    if stored.estimator in MIXTURES and not hidden:
        raise BadSetting(
            f"{path} is a {stored.estimator}: this command needs named classes",
            hint="suffice predict, sample, outliers, explain, inspect, diff and sql read "
            "it; in Python, partial_fit learns more",
        )
    if stored.estimator in MIXTURES:  # which are asked, and not saved again: no library of frames
        stored = replace(stored, state={**stored.state, "frame": None})
    return Saved(model_of(path, stored), notes, decimals_in(stored.state))


def model_of(path: Path, stored: StoredModel) -> Any:
    """Return what was learned; of a mixture, the estimator."""
    if stored.estimator in LEARNERS:
        return learned_of(path, stored)
    from suffice.estimators.saving import restored

    return restored(path, stored)
