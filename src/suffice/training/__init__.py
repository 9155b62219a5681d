"""What is decided about a table before and while a model learns from it.

train            a table, wherever it is, becomes a model: what `suffice fit` does
Trained          the model, what was decided, and its file
ModelChoice      how a model was chosen among several
Quality        how good it is on rows that it has not seen
DroppedColumn    a column that was left out, and why
ShowsProgress    how whoever waits is told how far it is
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.facade import lazy

if TYPE_CHECKING:
    from suffice.evaluation.quality import Quality
    from suffice.evaluation.work_progress import ShowsProgress
    from suffice.training.model_choice import ModelChoice
    from suffice.training.table_columns.kept_columns import DroppedColumn
    from suffice.training.trained import Trained
    from suffice.training.training import train

__all__ = ["DroppedColumn", "ModelChoice", "Quality", "ShowsProgress", "Trained", "train"]

_find, __dir__ = lazy(
    __name__,
    {
        "suffice.evaluation.quality": ["Quality"],
        "suffice.evaluation.work_progress": ["ShowsProgress"],
        "suffice.training.model_choice": ["ModelChoice"],
        "suffice.training.training": ["train"],
        "suffice.training.trained": ["Trained"],
        "suffice.training.training_rows": ["DroppedColumn"],
    },
)

if not TYPE_CHECKING:  # a type checker knows the names above, and no others
    __getattr__ = _find
