"""Which of the two schools, and which model, on these rows: `compare`."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting, SufficeError, listed
from suffice.estimators.number_formats import Decimals
from suffice.estimators.text_tables import TableColumn, TextTable
from suffice.evaluation.calibration import Reliability, reliability
from suffice.evaluation.candidates import Candidate, candidates
from suffice.evaluation.cross_validation import HeldOut, held_out, refusal
from suffice.evaluation.crossings import Crossing, crossing
from suffice.evaluation.diagnostics import Diagnostics, diagnose
from suffice.evaluation.labelled_rows import LabelledRows
from suffice.evaluation.learning_curves import LearningCurves, learning_curves, usual_sizes
from suffice.evaluation.recommendation import Recommendation, recommend
from suffice.evaluation.reservations import reservations
from suffice.evaluation.scores import Scores
from suffice.evaluation.splits import checked_folds, checked_seed, stratified_folds
from suffice.rows import is_sparse, read_table

if TYPE_CHECKING:
    from suffice.rows import IntArray

SPLITS, FEWEST_SPLITS, SIZES = 20, 5, 8
TESTED = 1000
WORK = 1e8
"""Cells · classes that learning curves may look at; beyond, there are fewer splits."""
HEADS = {
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "brier": "Brier",
    "calibration_error": "ECE",
}
FIGURES = tuple(
    TableColumn(head, Decimals(3), f"{name}{end}")
    for name, shown in HEADS.items()
    for head, end in ((shown, ""), ("±", "_se"))
)
COLUMNS = (TableColumn("model"), *FIGURES, TableColumn("seconds", Decimals(2)))


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What candidates say of the same held-out rows: print it, or take its parts.

    rows             the rows they were compared on
    folds            the fold of every row
    candidates       all that were asked for, simplest first
    held_out         by name, what each says of every row; without those that failed
    scores           by name, the figures of each
    diagnostics      normality and equal covariances, class by class
    curves           learning curves, or None
    crossings        where curves of the two schools cross
    recommendation   which model, in words, and why
    notes            what was done to rows or models on the way
    """

    rows: LabelledRows
    folds: IntArray
    candidates: tuple[Candidate, ...]
    held_out: dict[str, HeldOut]
    scores: dict[str, Scores]
    diagnostics: Diagnostics
    curves: LearningCurves | None
    crossings: tuple[Crossing, ...]
    recommendation: Recommendation
    notes: tuple[str, ...]

    @property
    def best(self) -> str:
        """The model of least cross-validated log-loss, whatever the margin."""
        return self.recommendation.best

    def estimator(self, name: str | None = None) -> Any:
        """Return a candidate's estimator, not fitted; by default that of `best`."""
        from sklearn.base import clone

        return clone(self.candidate(self.best if name is None else name).estimator)

    def candidate(self, name: str) -> Candidate:
        """Return one of the candidates, by its name or its key."""
        for one in self.candidates:
            if name in (one.name, one.key):
                return one
        raise BadSetting(
            f"there is no candidate {name!r}",
            hint=f"there are {listed(repr(one.name) for one in self.candidates)}",
        )

    def reliability(self, name: str | None = None, of: Any = None) -> Reliability:
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
            "every row judged by models that have not seen it"
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
        said = self.recommendation
        below = "".join(
            f"<p>{escape(head)}</p><ul>"
            + "".join(f"<li>{escape(line)}</li>" for line in lines)
            + "</ul>"
            for head, lines in said.sections
        )
        return (
            self.table.to_html()
            + self.diagnostics.table.to_html()
            + f"<p>{escape(said.advice)}</p>{below}"
        )


def compare(
    X: object,
    y: object,
    *,
    models: Any = None,
    folds: int = 10,
    curves: bool = True,
    random_state: int = 0,
    sample_weight: object = None,
) -> Comparison:
    """Compare the two schools on the same folds of these rows, and recommend a model.

    | setting       | default | meaning                                                          |
    |---------------|---------|------------------------------------------------------------------|
    | models        | None    | the usual ones of both schools; {name: estimator} are compared   |
    |               |         | beside them; a list of names ("gda") or of (name, estimator)     |
    |               |         | is compared alone                                                |
    | folds         | 10      | stratified; those of scikit-learn's StratifiedKFold with shuffle |
    | curves        | True    | learning curves, and where those of the two schools cross        |
    | random_state  | 0       | the seed of folds and splits                                     |
    | sample_weight | None    | repetitions of rows                                              |

    Rows may hold text and blanks. Closed-form models are cross-validated by merging the statistics
    of folds, without refits; "logistic" has a penalty of 1e-4, so that it exists where a plane
    parts the classes. Print what comes back, or take `table`, `best`, `curves`, `diagnostics` and
    `recommendation` from it.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = compare(X, y, models=["gda", "naive-bayes", "logistic"], curves=False)
    >>> found.best
    'GDA (shared covariance)'
    >>> found.to_frame()[["model", "accuracy", "log_loss"]].round(3)
                         model  accuracy  log_loss
    0  GDA (shared covariance)     0.980     0.059
    1      naive Bayes (mixed)     0.953     0.143
    2                  softmax     0.980     0.214
    """
    rows = LabelledRows.read(X, y, sample_weight)
    seed = checked_seed(random_state)
    asked = candidates(models, rows)
    split = stratified_folds(rows.codes, checked_folds(folds, len(rows)), seed)
    held: dict[str, HeldOut] = {}
    failed: dict[str, Exception] = {}
    for one in asked:
        try:
            held[one.name] = held_out(one.estimator, rows, split)
        except Exception as error:  # noqa: BLE001 - the other candidates are still worth having
            failed[one.name] = error
    if not any(found.log_posterior is not None for found in held.values()):
        _refuse(held, failed)
    scores = {name: Scores.of(found, rows, split) for name, found in held.items()}
    found = diagnose(rows)
    notes = [f"{name} could not be judged: {refusal(error)}" for name, error in failed.items()]
    grown = None
    if curves:
        try:
            grown = _curves([one for one in asked if one.name in held], rows, seed)
        except SufficeError as error:
            notes.append(f"There are no learning curves: {refusal(error)}")
    crossed = _crossings(asked, grown)
    losses = {n: s.log_loss for n, s in scores.items() if s.log_loss is not None}
    said = recommend(asked, losses, found, crossed)
    said = reservations(said, rows, held, scores, asked)
    return Comparison(
        rows, split, asked, held, scores, found, grown, crossed, said, _notes(asked, held, notes)
    )


def _refuse(held: dict[str, HeldOut], failed: dict[str, Exception]) -> None:
    if failed:
        raise next(iter(failed.values()))
    raise BadSetting(
        f"{listed(held)} give no probabilities: nothing can be recommended by log-loss",
        hint="add a model with predict_proba",
    )


def _curves(asked: list[Candidate], rows: LabelledRows, seed: int) -> LearningCurves | None:
    drawn = [one for one in asked if one.curve] or asked[:3]
    sizes = usual_sizes(len(rows), len(rows.classes), most=4000, at_most=SIZES)
    width = rows.X.shape[1] if is_sparse(rows.X) else read_table(rows.X).width
    work = float(sizes.sum()) * width * len(rows.classes)
    splits = int(np.clip(WORK / work, FEWEST_SPLITS, SPLITS))
    models = {one.name: one.estimator for one in drawn}
    return learning_curves(
        models, rows, sizes=sizes, repeats=splits, random_state=seed, most_tested=TESTED
    )


def _crossings(asked: tuple[Candidate, ...], curves: LearningCurves | None) -> tuple[Crossing, ...]:
    """Return where the curve of logistic regression comes below those of the other school."""
    if curves is None:
        return ()
    keys = {one.key: one.name for one in asked if one.name in curves.names}
    if "logistic" not in keys:
        return ()
    return tuple(
        crossing(curves, keys[key], keys["logistic"])
        for key in ("naive-bayes-shared", "gda")
        if key in keys
    )


def _notes(
    asked: tuple[Candidate, ...], held: dict[str, HeldOut], said: list[str]
) -> tuple[str, ...]:
    """Return what is to be known of the table: what was done, and to which models."""
    found = [
        (
            "± is the standard error over folds. Log-loss counts no probability below 1e-15. "
            "ECE is the expected calibration error, in 10 bins of all held-out rows."
        )
    ]
    for note in dict.fromkeys(note for one in held.values() for note in one.notes):
        named = [name for name, one in held.items() if note in one.notes]
        found.append(f"{listed(named)}: {note}.")
    if any(one.key == "logistic" and one.name in held for one in asked):
        name = next(one.name for one in asked if one.key == "logistic")
        found.append(f"{name} has a penalty of 1e-4: as good as none, and it exists always.")
    return (*found, *(f"{text}." for text in said))
