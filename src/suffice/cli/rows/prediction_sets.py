"""Prediction sets beside predictions: what `predict --coverage` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.cli.terminal.messages import note
from suffice.errors import BadSetting
from suffice.learning.conformal.prediction_sets import checked
from suffice.training.target_labels import label_text

if TYPE_CHECKING:
    from suffice.rows.tables import Table
    from suffice.training.saved_models import Saved

BETWEEN = " | "
"""What stands between the classes of a set in a table; in JSON a set is a list."""


class PrintedSets:
    """Makes sets of the rows of a table, chunk by chunk, and counts what they hold."""

    def __init__(self, saved: Saved, coverage: float, within: str, *, as_json: bool) -> None:
        checked(coverage, within)  # before any row is read
        self._saved, self._coverage, self._within = saved, coverage, within
        self._json = as_json
        self._promise = ""
        self._sizes = self._rows = self._held = self._known = 0
        if not hasattr(saved.estimator, "prediction_set"):
            raise BadSetting(
                f"a {saved.name} has no prediction sets",
                hint="gda, qda, naive-bayes and pools have them: fit one with --model",
            )

    def about(self, table: Table, cells: Any) -> tuple[tuple[str, ...], tuple[Any, ...]]:
        """Return the sets of some rows as named columns; `cells` are labels, where known."""
        found = self._saved.estimator.prediction_set(table, self._coverage, self._within)
        self._promise = found.promise
        names = [[label_text(label) or "" for label in each] for each in found.sets]
        self._rows += len(names)
        self._sizes += int(found.sizes.sum())
        if cells is not None:
            pairs = [(label_text(c), each) for c, each in zip(cells, names, strict=True)]
            known = [(label, each) for label, each in pairs if label is not None]
            self._known += len(known)
            self._held += sum(label in each for label, each in known)
        shown = np.empty(len(names), dtype=object)
        for i, each in enumerate(names):
            shown[i] = list(found.sets[i]) if self._json else BETWEEN.join(each)
        return ("set", "set_size"), (shown, found.sizes)

    def report(self, target: str | None) -> None:
        """Say what is promised, and how often sets held the label where that is known."""
        note(f"{self._sizes / max(1, self._rows):.3g} classes a set. {self._promise}")
        if self._known:
            share = self._held / self._known
            note(f"{self._held} of {self._known} sets hold {target} ({share:.1%})")
