"""Which of the two schools, and which model, on these rows: `compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.errors import BadSetting, SufficeError, listed
from suffice.evaluation.candidates import Candidate, beside_texts, candidates, takes_usual
from suffice.evaluation.comparison_results import Comparison
from suffice.evaluation.cross_validation import HeldOut, held_out, refusal
from suffice.evaluation.diagnostics import diagnose, undiagnosed
from suffice.evaluation.labelled_rows import LabelledRows, rows_here
from suffice.evaluation.merged_folds import checked_folds, checked_seed, stratified_folds
from suffice.evaluation.metrics import FoldScores
from suffice.evaluation.recommendation import recommend, reservations
from suffice.evaluation.work_limits import (
    CurvePlan,
    Extent,
    affordable,
    affordable_folds,
    by_cost,
)
from suffice.evaluation.work_progress import OutOfTime, SilentProgress, TimeLimit
from suffice.rows import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.evaluation.curves import Crossing, LearningCurves
    from suffice.evaluation.work_progress import ShowsProgress
    from suffice.rows import IntArray

__all__ = ["Comparison", "compare"]

TESTED = 1000
"""Rows that a learning curve is judged on, in every split."""


def compare(
    X: object,
    y: object = None,
    *,
    target: str | None = None,
    models: object = None,
    folds: int | None = None,
    curves: bool = True,
    diagnostics: bool = True,
    random_state: int = 0,
    sample_weight: object = None,
    time_limit: float | None = None,
    texts: Sequence[str] = (),
    progress: ShowsProgress = SilentProgress,
) -> Comparison:
    """Compare the two schools on the same folds of these rows, and recommend a model.

    Of a source with more rows than memory holds, some are drawn from all over it, and a note says
    how many.

    Rows may hold text and blanks. Closed-form models are cross-validated by merging the statistics
    of folds, without refits; "logistic" has a penalty of 1e-4, so that it exists where a plane
    parts the classes. A pool is fitted once, and judged by folds of its own. It is recommended
    unless the best single model's log-loss is lower by more than one standard error. Large or wide
    tables have fewer splits or some models left out, and a note says so: the shape of the table
    decides, and the clock only if there is a time limit. A model that fails does not end the
    comparison: a note says why it could not be judged. Print what comes back, or take `table`,
    `best`, `curves`, `diagnostics` and `recommendation` from it.

    Parameters
    ----------
    X : array-like
        Rows (n, d), a frame, or a source: a path, a glob, an Arrow stream, a table of a database or
        of a cluster.
    y : array-like, optional
        Labels (n,), where they are not a column of X.
    target : str, optional
        The column of labels, where X is a frame or a source: a path, a glob, an Arrow stream, a
        table of a database or of a cluster; `sample_weight` may then name a column too.
    models : dict or list, optional
        The usual ones of both schools, and a pool of models of at most 2,048 rows; {name:
        estimator} are compared beside them; a list of names ("gda") or of (name, estimator) is
        compared alone; "single" is the usual ones without the pool.
    folds : int, optional
        10, or fewer where there are fewer rows or it would take long; stratified: those of
        scikit-learn's StratifiedKFold with shuffle.
    curves : bool, default True
        Learning curves, and where those of the two schools cross.
    diagnostics : bool, default True
        Whether the columns look normal, class by class.
    random_state : int, default 0
        The seed of folds and splits.
    sample_weight : array-like, optional
        Repetitions of rows.
    time_limit : float, optional
        Seconds after which no other model or fold is begun; models are tried in the order of the
        work they are, and one always is.
    texts : Sequence[str], default ()
        Columns that hold texts, by name: naive Bayes reads their words beside all other columns,
        and the other models do not see them.
    progress : callable, optional
        Called when some work begins: `suffice.training.ShowsProgress`.

    Returns
    -------
    Comparison
        Scores, learning curves, diagnostics and a recommendation; print it, or take its parts.

    See Also
    --------
    train : From a table as it is to the model that is recommended.
    audit : Which labels are probably wrong.

    Examples
    --------
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
    seed = checked_seed(random_state)
    here = rows_here(X, y, target, sample_weight, seed)
    rows = LabelledRows.read(here.X, here.y, here.weights)
    worded = _texts(texts, rows)
    plain = rows.without(worded)
    asked = beside_texts(candidates(models, plain), worded, rows)
    extent = Extent.of(plain)
    notes = list(here.notes)
    if takes_usual(models):
        asked, few = affordable(asked, extent)
        notes += few
    if folds is None:
        folds, few = affordable_folds(asked, extent)
        notes += few
    split = stratified_folds(rows.codes, checked_folds(folds, len(rows)), seed)
    limit = TimeLimit(time_limit)
    held, failed, late = _tried(by_cost(asked, extent), rows, split, limit, progress)
    held = {one.name: held[one.name] for one in asked if one.name in held}
    if late:
        notes.append(f"{listed(late)} could not be evaluated: {limit} was reached")
    if not any(found.log_posterior is not None for found in held.values()):
        _refuse(held, failed)
    scores = {name: FoldScores.of(found, rows, split) for name, found in held.items()}
    found = diagnose(plain) if diagnostics else undiagnosed(plain)
    notes += [f"{name} could not be evaluated: {refusal(error)}" for name, error in failed.items()]
    grown = None
    if curves:
        known = [one for one in asked if one.name in held]
        grown, said = _curves(known, plain, extent, seed, limit, progress)
        notes += said
    crossed = _crossings(asked, grown)
    losses = {n: s.log_loss for n, s in scores.items() if s.log_loss is not None}
    advice = recommend(asked, losses, found, crossed)
    advice = reservations(advice, rows, held, scores, asked)
    told = _notes(asked, held, notes)
    return Comparison(rows, split, asked, held, scores, found, grown, crossed, advice, told, late)


def _texts(texts: Sequence[str], rows: LabelledRows) -> tuple[str, ...]:
    """Return the columns that hold texts, or refuse one that is not there."""
    if not texts:
        return ()
    names = read_table(rows.X).names or ()
    lacking = [name for name in texts if name not in names]
    if lacking:
        raise BadSetting(
            f"texts names {listed(map(repr, lacking))}, which is not a column",
            hint=f"the columns are {listed(names)}",
        )
    return tuple(texts)


def _tried(
    asked: Sequence[Candidate],
    rows: LabelledRows,
    split: IntArray,
    limit: TimeLimit,
    progress: ShowsProgress,
) -> tuple[dict[str, HeldOut], dict[str, Exception], tuple[str, ...]]:
    """Return what candidates say of held-out rows, why others failed, and who came too late."""
    held: dict[str, HeldOut] = {}
    failed: dict[str, Exception] = {}
    late: list[str] = []
    folds = int(split.max()) + 1
    work = folds * len(asked)
    with progress("comparing models", lambda: meter.rows / work, "folds") as meter:
        for place, one in enumerate(asked):

            def before(fold: int, first: int = place * folds) -> None:
                meter.more(first + fold - meter.rows)
                if held and limit.reached:
                    raise OutOfTime

            try:
                before(0)
                seen = rows.without(one.without)
                held[one.name] = held_out(one.model, seen, split, before)
            except OutOfTime:
                late.append(one.name)
            except Exception as error:  # noqa: BLE001 - the other candidates are still worth having
                failed[one.name] = error
    return held, failed, tuple(late)


def _refuse(held: dict[str, HeldOut], failed: dict[str, Exception]) -> None:
    """Refuse where no candidate has probabilities: there is nothing to recommend."""
    if held:
        raise BadSetting(
            f"{listed(held)} give no probabilities, so none can be recommended by log-loss",
            hint="add a model with predict_proba",
        )
    name, error = next(iter(failed.items()))
    if isinstance(error, SufficeError):
        raise error
    raise BadSetting(
        f"no model could be judged; {name}: {refusal(error)}",
        hint="look at the rows, or compare other models",
    ) from error


def _curves(
    asked: Sequence[Candidate],
    rows: LabelledRows,
    extent: Extent,
    seed: int,
    limit: TimeLimit,
    progress: ShowsProgress,
) -> tuple[LearningCurves | None, list[str]]:
    """Return learning curves, or None, and what is to be said of them."""
    if limit.reached:
        return None, [f"There are no learning curves: {limit} was reached"]
    from suffice.evaluation.curves import learning_curves

    plan = CurvePlan.of([one for one in asked if one.curve] or asked[:3], extent)
    models = {one.name: one.model for one in plan.drawn}
    try:
        found = learning_curves(
            models,
            rows,
            sizes=plan.sizes,
            repeats=plan.splits,
            random_state=seed,
            most_tested=TESTED,
            limit=limit,
            progress=progress,
        )
    except SufficeError as error:
        return None, [f"There are no learning curves: {refusal(error)}"]
    return found, [*plan.notes, *found.notes]


def _crossings(asked: Sequence[Candidate], curves: LearningCurves | None) -> tuple[Crossing, ...]:
    """Return where the curve of logistic regression comes below those of the other school."""
    if curves is None:
        return ()
    from suffice.evaluation.curves import crossing

    keys = {one.key: one.name for one in asked if one.name in curves.names}
    if "logistic" not in keys:
        return ()
    return tuple(
        crossing(curves, keys[key], keys["logistic"])
        for key in ("naive-bayes-shared", "gda")
        if key in keys
    )


def _notes(
    asked: Sequence[Candidate], held: dict[str, HeldOut], said: list[str]
) -> tuple[str, ...]:
    """Return what is to be known of the table: what was done, and to which models."""
    found = [
        (
            "± is the standard error over folds. Log-loss cuts probabilities off at 2.2e-16. "
            "ECE is the expected calibration error, in 10 bins of all held-out rows."
        )
    ]
    for note in dict.fromkeys(note for one in held.values() for note in one.notes):
        named = [name for name, one in held.items() if note in one.notes]
        found.append(f"{listed(named)}: {note}.")
    silent = [name for name, one in held.items() if one.log_posterior is None]
    if silent:
        found.append(
            f"{listed(silent)}: no predict_proba, so only accuracy is known, not log-loss, Brier "
            "score or calibration; it cannot be recommended."
        )
    if any(one.key == "logistic" and one.name in held for one in asked):
        name = next(one.name for one in asked if one.key == "logistic")
        found.append(f"{name} has a penalty of 1e-4: a tiny one, so that a solution always exists.")
    return (*found, *(f"{text.rstrip('.')}." for text in said))
