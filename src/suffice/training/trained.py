"""What training gives: the model, what was decided about the table, and its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.storage.describe import describe

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.columns.filled import FilledColumns
    from suffice.evaluation.quality import Quality
    from suffice.storage.model_file import StoredModel
    from suffice.training.model_choice import ModelChoice
    from suffice.training.saved_models import Saved
    from suffice.training.table_columns.kept_columns import DroppedColumn


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trained:
    """A model that `suffice.train` has made of a table, and what was decided on the way.

    Attributes
    ----------
    saved
        The fitted estimator with what its file says of the table.
    table
        What there was to learn from, in words: rows and columns by kind.
    held
        How many rows were looked at before the model learned.
    width
        How many columns were learned from.
    dropped
        Columns that were left out, each with the reason.
    choice
        How the model was chosen, with the log-loss of each that was compared; None if it was named.
    judged
        How good it is on rows that it has not seen; None where that could not be found out, and a
        note says why.
    unlabelled
        How many rows without a label were left out.
    notes
        All that was said on the way, in order.
    """

    saved: Saved
    table: str
    held: int
    width: int
    dropped: tuple[DroppedColumn, ...]
    choice: ModelChoice | None
    judged: Quality | None
    unlabelled: int
    notes: tuple[str, ...]

    @property
    def estimator(self) -> Any:
        """The fitted estimator. It takes rows of the same table, with their blanks."""
        return self.saved.estimator

    @property
    def target(self) -> str | None:
        """The column of labels; None for labels that came beside the rows."""
        return self.saved.notes.target

    @property
    def filled(self) -> dict[str, float]:
        """By column that had blank cells: what they were filled with. Empty for most models."""
        held: FilledColumns | None = self.saved.notes.filled
        if held is None:
            return {}
        pairs = zip(held.columns.names, held.means, held.blank, strict=True)
        return {name: mean for name, mean, blank in pairs if blank and mean is not None}

    def save(self, path: str | Path, *, statistics: bool = True) -> None:
        """Write the model to a file, whole or not at all: the file that `suffice fit` writes.

        Without statistics it is smaller and answers, but cannot learn, forget or merge.
        """
        from suffice.learning.stored import saving
        from suffice.storage.model_file import write_model

        with saving(path):
            write_model(path, self.saved.stored(statistics=statistics))

    def rows(self, stored: StoredModel | None = None) -> int:
        """Return how many rows were learned; `stored` is its file, if that is at hand."""
        return int(describe(self.saved.stored() if stored is None else stored).rows or self.held)

    def summary(self, stored: StoredModel | None = None) -> dict[str, Any]:
        """Return what was learned, and why so, as plain values; `stored` if it is at hand."""
        described = describe(self.saved.stored() if stored is None else stored)
        account = described.to_dict()
        return {
            "estimator": account["estimator"],
            "target": self.target,
            "rows": int(described.rows or self.held),
            "columns": self.width,
            "dropped": [one.name for one in self.dropped],
            "classes": [_plain(label) for label in self.saved.classes],
            "settings": account["settings"],
            "log_loss": None if self.choice is None else dict(self.choice.losses),
            "judged": None if self.judged is None else self.judged.to_dict(),
        }

    def described(self, rows: int) -> str:
        """Return in one line what was learned from what."""
        classes = len(self.saved.classes)
        of = "" if self.target is None else f" of {self.target}"
        kind = self.saved.name
        return f"{kind} of {rows:,} rows, {self.table}; {classes} classes{of}"

    def __repr__(self) -> str:
        return f"Trained({self.described(self.rows())})"


def _plain(label: object) -> object:
    return label.item() if hasattr(label, "item") else label
