"""What a comparison found: figures, diagnostics, curves, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting, listed
from suffice.evaluation.metrics import Reliability, reliability
from suffice.printing.result_table import Decimals, TableColumn, TextTable

if TYPE_CHECKING:
    from suffice.evaluation.candidates import Candidate
    from suffice.evaluation.cross_validation import HeldOut
    from suffice.evaluation.curves import Crossing, LearningCurves
    from suffice.evaluation.diagnostics import Diagnostics
    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.evaluation.metrics import FoldScores
    from suffice.evaluation.recommendation import Recommendation
    from suffice.rows import IntArray


HEADS = {
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "brier": "Brier",
    "calibration_error": "ECE",
}
"""Metrics as the heads of columns."""
FIGURES = tuple(
    TableColumn(head, Decimals(3), f"{name}{end}")
    for name, shown in HEADS.items()
    for head, end in ((shown, ""), ("±", "_se"))
)
"""Scores and their standard errors, with three decimals: that of a share, at most √(0.25/n), is
above 0.001 up to n = 250,000 rows."""
COLUMNS = (TableColumn("model"), *FIGURES, TableColumn("seconds", Decimals(2)))
"""The whole table; hundredths of a second are a choice."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What `compare` has found: print it, or take its parts.

    Parameters
    ----------
    rows : LabelledRows
        The rows they were compared on.
    folds : ndarray of int
        The fold of every row.
    candidates : tuple of Candidate
        All that were asked for, simplest first.
    held_out : dict of str to HeldOut
        By name, what each says of every row; without those that failed.
    scores : dict of str to FoldScores
        By name, the figures of each.
    diagnostics : Diagnostics
        Normality and equal covariances, class by class.
    curves : LearningCurves or None
        Learning curves, or None.
    crossings : tuple of Crossing
        Where curves of the two schools cross.
    recommendation : Recommendation
        Which model, in words, and why.
    notes : tuple of str
        What was done to rows or models on the way.
    late : tuple of str, default=()
        Candidates that were not judged, for the time was over.

    See Also
    --------
    suffice.compare : Makes it.
    """

    rows: LabelledRows
    folds: IntArray
    candidates: tuple[Candidate, ...]
    held_out: dict[str, HeldOut]
    scores: dict[str, FoldScores]
    diagnostics: Diagnostics
    curves: LearningCurves | None
    crossings: tuple[Crossing, ...]
    recommendation: Recommendation
    notes: tuple[str, ...]
    late: tuple[str, ...] = ()

    @property
    def best(self) -> str:
        """The model that is recommended: the pool, unless the best single one is clearly better.

        See `suffice.evaluation.best_model.best_of`, the one rule of all commands.
        """
        return self.recommendation.model

    def estimator(self, name: str | None = None) -> Any:
        """Return a candidate's estimator, not fitted; by default that of `best`.

        It takes the rows that were compared, as they are: where a model cannot take blank numbers
        or categories, it comes as a `PreparedClassifier`, which fills and codes them.
        """
        from suffice.evaluation.prepared_classifier import prepared

        model = self.candidate(self.best if name is None else name).estimator
        return prepared(model, self.rows)

    def candidate(self, name: str) -> Candidate:
        """Return one of the candidates, by its name or its key."""
        for one in self.candidates:
            if name in (one.name, one.key):
                return one
        raise BadSetting(
            f"there is no candidate {name!r}",
            hint=f"there are {listed(repr(one.name) for one in self.candidates)}",
        )

    def reliability(self, name: str | None = None, of: object = None) -> Reliability:
        """Return predicted probabilities beside observed shares of a candidate's held-out rows.

        `of` names the class; by default the second of two, or the likeliest one of more.
        """
        one = self.candidate(self.best if name is None else name).name
        held = self.held_out.get(one)
        if held is None or held.log_posterior is None:
            raise BadSetting(f"{one} gives no probabilities", hint="ask about another candidate")
        labels = self.rows.classes.tolist()
        place = 1 if of is None and len(labels) == 2 else None
        if of is not None:
            if of not in labels:
                raise BadSetting(
                    f"there is no class {of!r}", hint=f"the classes are {listed(labels)}"
                )
            place = labels.index(of)
        return reliability(held.log_posterior, self.rows.codes, self.rows.weights, of=place)

    # Figures

    @property
    def table(self) -> TextTable:
        """The figures of every candidate, the least log-loss first."""
        ordered = sorted(self.scores, key=self._order)
        ordered += [one.name for one in self.candidates if one.name not in self.scores]
        empty = (None,) * (len(COLUMNS) - 1)
        cells = tuple(
            (name, *(self.scores[name].cells() if name in self.scores else empty))
            for name in ordered
        )
        k = int(self.folds.max()) + 1
        title = (
            f"{len(self.rows):,} rows, {len(self.rows.classes)} classes, {k} folds: "
            "every row predicted by models that have not seen it"
        )
        return TextTable(title, COLUMNS, cells, self.notes)

    def _order(self, name: str) -> tuple[float, float]:
        found = self.scores[name]
        loss = np.inf if found.log_loss is None else float(found.log_loss.mean())
        return loss, -float(found.accuracy.mean())

    def to_frame(self, library: str | None = None) -> Any:
        """Return the table as a frame of pandas or polars: numbers as numbers."""
        return self.table.to_frame(library)

    def __str__(self) -> str:
        """Return table, diagnostics and recommendation as text."""
        return "\n\n".join([str(self.table), str(self.diagnostics), str(self.recommendation)])

    def __repr__(self) -> str:
        return (
            f"Comparison({len(self.rows)} rows, {len(self.rows.classes)} classes, "
            f"{len(self.candidates)} candidates, best={self.best!r})"
        )

    def _repr_html_(self) -> str:
        from html import escape  # which loads the names of two thousand characters

        said = self.recommendation
        below = "".join(
            f"<p>{escape(head)}</p><ul>"
            + "".join(f"<li>{escape(line)}</li>" for line in lines)
            + "</ul>"
            for head, lines in said.sections
        )
        good = "" if said.judged is None else f"<p>{escape(str(said.judged))}.</p>"
        return (
            self.table.to_html()
            + self.diagnostics.table.to_html()
            + f"<p>{escape(said.advice)}</p>{good}{below}"
        )
