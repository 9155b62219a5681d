"""How good a named model is on rows it has not seen: leaving each out, or by folds of a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.columns import Columns
from suffice.rows.cells import CATEGORY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.evaluation.quality import Quality
    from suffice.evaluation.work_progress import TimeLimit
    from suffice.learning.learned import Learned
    from suffice.rows.tables import Table
    from suffice.training.fit_rows import RowsMet
    from suffice.training.hooks import Hooks
    from suffice.training.training_rows import TrainingRows

CHEAP = 2e9
"""Multiplications that leaving every row out may take: about half a second."""
JUDGED_CELLS = 200_000
"""Cells that folds are made of; of a larger table, rows are drawn. A choice: of ten columns that is
20,000 rows, whose share of right answers is uncertain by at most √(0.25/20,000) = 0.004."""
LEAST_JUDGED = 1000
"""Rows that are drawn however many columns there are."""
FOLDS, REFITS = 10, 5
"""Folds of a model whose rows cannot be left out one by one: where training sets are merged, as
many as `compare` has; where each is a fit of its own, half of that."""
CHOSEN = {
    "covariance": "auto", "families": "select", "smoothing": "held-out", "temperature": "held-out",
}  # fmt: skip
"""Settings that let the data decide. A row that is left out has taken part in that decision: such
a model is judged by folds, each of which decides anew."""


def most_judged(width: int) -> int:
    """Return how many rows of so many columns are judged by folds.

    >>> most_judged(10), most_judged(1000)
    (20000, 1000)
    """
    return max(LEAST_JUDGED, JUDGED_CELLS // max(1, width))


def judge(
    model: Learned,
    rows: TrainingRows,
    met: RowsMet,
    hooks: Hooks,
    *,
    seed: int,
    seconds: float,
    limit: float | None,
) -> Quality | None:
    """Return how good a fitted model is; None, and a note why, where that cannot be found out.

    `met` are rows that were read again to fit it, which took `seconds`.
    """
    from suffice.evaluation.work_progress import TimeLimit

    if met.resumed:
        hooks.note("how good it is was not measured, because the run was resumed")
        return None
    allowed = TimeLimit(limit)
    try:
        if _leaves_one_out(model, rows):
            from suffice.evaluation.quality import judged_by_leaving_one_out

            given = rows.table if rows.given is None else rows.given
            return judged_by_leaving_one_out(model, given, rows.labels)
        table, labels = (rows.table, rows.labels) if met.drawn is None else met.drawn
        found = _by_folds(model, table, labels, hooks, seed, allowed, seconds)
    except Exception as error:  # noqa: BLE001  the model is there, and as good as it is
        from suffice.evaluation.cross_validation import refusal

        hooks.note(f"how good it is could not be measured: {refusal(error)}")
        return None
    if found is None:
        hooks.note(
            f"how good it is was not measured within {allowed}; {hooks.option('time_limit')} "
            "gives more"
        )
    return found


def _leaves_one_out(model: Learned, rows: TrainingRows) -> bool:
    """Whether leaving out every row is exact, and cheap."""
    if not rows.whole or not model.offers("leave_one_out") or rows.text_columns:
        return False  # how far texts are believed was decided by the rows
    settings = model.learner.settings()
    if model.unlabelled is not None and model.unlabelled.is_used:
        return False  # its sums are not those of labelled rows alone
    if any(isinstance(settings.get(key), str) and settings[key] == CHOSEN[key] for key in CHOSEN):
        return False
    width = float(Columns.infer(rows.table).width)
    full = "covariance" in settings
    if full and _has_blanks(rows.table):
        return False  # each row would need steps of EM
    return rows.table.size * width ** (2 if full else 1) * len(model.labels) <= CHEAP


def _has_blanks(table: Table) -> bool:
    return any(
        bool(np.isnan(np.asarray(table.column(j), dtype=np.float64)).any())
        for j, kind in enumerate(table.kinds)
        if kind != CATEGORY
    )


def _by_folds(
    model: Learned,
    table: Table,
    labels: NDArray[np.generic],
    hooks: Hooks,
    seed: int,
    limit: TimeLimit,
    seconds: float,
) -> Quality | None:
    """Judge a model on folds of these rows, or of some of them."""
    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.evaluation.merged_folds import is_closed_form
    from suffice.evaluation.quality import judged_by_folds

    learner = model.learner.deciding(None)
    most = most_judged(table.width)
    if table.size > most:
        some = np.sort(np.random.default_rng(seed).choice(table.size, most, replace=False))
        seconds *= most / table.size
        table, labels = table.rows(some), labels[some]
    rows = LabelledRows.read(table, labels)
    folds = min(FOLDS if is_closed_form(learner) else REFITS, len(rows))
    return judged_by_folds(learner, rows, folds, seed, limit, hooks.progress, seconds)
