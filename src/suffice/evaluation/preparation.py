"""Rows as a candidate can take them: blanks filled, and categories coded, where it must be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from suffice.columns import Columns
from suffice.columns.filled import FilledColumns
from suffice.estimators.shared.learning import Learning
from suffice.estimators.linear.linear_classifier import LinearClassifier
from suffice.rows import is_sparse, read_table

if TYPE_CHECKING:
    from suffice.evaluation.labelled_rows import LabelledRows


@dataclass(frozen=True, slots=True, eq=False)
class Preparation:
    """What is done to rows before one candidate sees them; learned from training rows alone.

    filled    means for blank numbers, or None where they may stay
    columns   the coding of categories as zeros and ones, or None where they may stay
    remark    what else was not done as usual when the candidate was trained
    """

    filled: FilledColumns | None = None
    columns: Columns | None = None
    remark: str = ""

    @classmethod
    def of(cls, model: Any, rows: LabelledRows) -> Preparation:
        """Learn it from training rows.

        Generative models of ours take everything as it is. Linear ones code categories
        themselves and have blanks filled. Other estimators get plain numbers, except a Pipeline,
        whose first step is there to do this.
        """
        if isinstance(model, Learning) or is_sparse(rows.X) or hasattr(model, "steps"):
            return cls()
        table = read_table(rows.X)
        ours = isinstance(model, LinearClassifier)
        blanks_stay = not ours and all(k == "number" for k in table.kinds) and _takes_blanks(model)
        filled = None if blanks_stay else FilledColumns.of(rows.X, rows.weights)
        if ours or all(kind == "number" for kind in table.kinds):
            return cls(filled)
        done = rows.X if filled is None else filled.transform(rows.X)
        return cls(filled, Columns.infer(read_table(done)))

    def rows(self, X: Any) -> Any:
        """Return rows as the candidate takes them."""
        done = X if self.filled is None else self.filled.transform(X)
        return done if self.columns is None else self.columns.encode(read_table(done))

    def applied(self, rows: LabelledRows) -> LabelledRows:
        """Return labelled rows as the candidate takes them."""
        return replace(rows, X=self.rows(rows.X))

    @property
    def note(self) -> str:
        """What was done, in words; empty where nothing was."""
        return "" if self.filled is None else self.filled.note


def _takes_blanks(model: Any) -> bool:
    from sklearn.utils import get_tags

    return bool(get_tags(model).input_tags.allow_nan)
