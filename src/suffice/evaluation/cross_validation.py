"""Every row judged by a model that has not seen it: the same folds for all candidates."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns import Columns
from suffice.columns.filled import FilledColumns
from suffice.errors import BadSetting, SufficeError
from suffice.evaluation.merged_folds import MergedParts, as_learner, is_closed_form
from suffice.learning.learned import Learned
from suffice.learning.learner import Learner
from suffice.learning.table_recipe import filled_table
from suffice.rows import Table, is_sparse, read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.rows import FloatArray, IntArray

    Fitted = tuple[Any, "Preparation"]


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """What a candidate predicts for every row, fitted without the fold that the row is in.

    Parameters
    ----------
    log_posterior : ndarray of float or None
        (n, k), -inf for a class that the training rows did not hold; None where the candidate
        gives no probabilities.
    predicted : ndarray of int
        (n,), by position among the classes.
    seconds : float
        For fitting and answering, all folds together.
    warned : tuple of tuple of str, int, default=()
        What was warned of, and in how many folds.
    notes : tuple of str, default=()
        What was done to the rows first, and what was not done as usual.
    fitted : Learned[Any, Any] or None, default=None
        What was learned from all rows, where judging has done so.

    See Also
    --------
    held_out : Makes it.
    """

    log_posterior: FloatArray | None
    predicted: IntArray
    seconds: float
    warned: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    fitted: Learned | None = None


def held_out(
    model: object, rows: LabelledRows, folds: IntArray, before: Callable[[int], None] | None = None
) -> HeldOut:
    """Cross-validate an estimator or a learner; a closed-form one by merging, without refits.

    A pool is fitted once: it judges each of its rows by its own folds, of a tenth or a fifth of
    the rows.

    Parameters
    ----------
    model : object
        An estimator or a learner, not fitted.
    rows : LabelledRows
        Rows with labels.
    folds : ndarray of int
        The fold (n,) of every row.
    before : callable or None, default=None
        Called before each fold with the number of folds done; it may raise, to stop.

    Returns
    -------
    HeldOut
        What the model predicts for every row, fitted without the fold that the row is in.

    See Also
    --------
    stratified_folds : Makes folds.

    Examples
    --------
    >>> from suffice import GaussianDiscriminant
    >>> from suffice.evaluation.labelled_rows import LabelledRows
    >>> rows = LabelledRows.read([[1.0], [2.0], [5.0], [6.0]], ["low", "low", "high", "high"])
    >>> held_out(GaussianDiscriminant(), rows, np.array([0, 1, 0, 1])).predicted
    array([1, 1, 0, 0])
    """
    model = as_learner(model)
    if isinstance(model, Learner) and model.name == POOL:
        return _judged_by_itself(model, rows)
    size, k = int(folds.max()) + 1, len(rows.classes)
    parts = [np.flatnonzero(folds == f) for f in range(size)]
    log_posterior = np.full((len(rows), k), -np.inf)
    predicted = np.empty(len(rows), dtype=np.intp)
    has_odds = True
    said: dict[str, int] = {}
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        training = trainings(model, rows, parts)
        note = "" if is_closed_form(model) else Preparation.of(model, rows).note
    for f, places in enumerate(parts):
        if before is not None:
            before(f)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            one, preparation = training(f)
            held = rows.take(places)
            found, log_odds = judged(one, preparation, held)
            predicted[places] = found
            if log_odds is None:
                has_odds = False
            else:
                log_posterior[places] = log_odds
        for text in {str(warning.message) for warning in caught}:
            said[text] = said.get(text, 0) + 1
    seconds = time.perf_counter() - begun
    notes = tuple(text for text in (note, preparation.remark) if text)
    return HeldOut(
        log_posterior if has_odds else None, predicted, seconds, tuple(said.items()), notes
    )


POOL = "Pool"
"""The name of the learner that judges its own rows."""
OWN_FOLDS = "judged by its own folds"
"""What is said of a pool, whose folds are not those of the other candidates."""
SHOWN_SHARE = 0.005
"""The least share of a member that is told: half a percent, as whole ones are shown."""


def _judged_by_itself(model: Learner, rows: LabelledRows) -> HeldOut:
    """Fit a pool, and take what it says of each row by members that have not seen it."""
    begun = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted, _ = fitted_on(model, rows)
        posterior = fitted.judged(rows.X, rows.y)
    known = positions(fitted.classes, rows)
    log_posterior = np.full((len(rows), len(rows.classes)), -np.inf)
    with np.errstate(divide="ignore"):
        log_posterior[:, known] = np.log(posterior)
    said = dict.fromkeys(str(warning.message) for warning in caught)
    return HeldOut(
        log_posterior,
        known[posterior.argmax(axis=1)],
        time.perf_counter() - begun,
        notes=(OWN_FOLDS, _shares(fitted), *said),
        fitted=fitted,
    )


def _shares(pool: Learned) -> str:
    """Return the members of a pool, by their share in the sum."""
    shares = zip(pool.model.members, pool.model.shares.tolist(), strict=True)
    parts = sorted(shares, key=lambda pair: -pair[1])
    return ", ".join(f"{name} {100.0 * v:.0f} %" for name, v in parts if v >= SHOWN_SHARE)


def trainings(model: Any, rows: LabelledRows, parts: list[IntArray]) -> Callable[[int], Fitted]:
    """Return what fits a model on all parts but one, by the place of that one."""
    model = as_learner(model)
    if is_closed_form(model):
        merged = MergedParts.without_one(model, rows, parts)
        preparation = Preparation(remark=merged.note)
        return lambda f: (merged.fitted(f), preparation)

    def fitted(f: int) -> Fitted:
        others = np.sort(np.concatenate([p for i, p in enumerate(parts) if i != f]))
        return fitted_on(model, rows.take(others))

    return fitted


def judged(
    model: Any, preparation: Preparation, held: LabelledRows
) -> tuple[IntArray, FloatArray | None]:
    """Return the place of each row's predicted class, and log p(y | x) if the model has it.

    A class that the model has never seen has -inf.
    """
    X = preparation.rows(held.X)
    log_odds = answers(model, X)
    if log_odds is None:
        return positions(model.predict(X), held), None
    ours = isinstance(model, Learned)
    if np.isnan(log_odds).any():
        name = model.learner.name if ours else type(model).__name__
        raise BadSetting(
            f"{name} gives probabilities that are not numbers",
            hint="leave it out, or look at what it was trained on",
        )
    known = positions(model.classes if ours else model.classes_, held)
    log_posterior = np.full((len(held), len(held.classes)), -np.inf)
    log_posterior[:, known] = log_odds
    return known[log_odds.argmax(axis=1)], log_posterior


def fitted_on(model: object, rows: LabelledRows) -> Fitted:
    """Return a clone of an estimator fitted on rows, prepared as it needs them.

    Of a learner, what it has learned: that needs no scikit-learn.
    """
    if isinstance(model, Learner):
        preparation = Preparation.of(model, rows)
        learned = model.first(model.read(preparation.rows(rows.X), rows.y, rows.weights))
        learned.fit  # noqa: B018  before any warning
        learned.warn()
        learned.warn_of_one_class()
        return learned, preparation
    from sklearn.base import clone
    from sklearn.utils.validation import has_fit_parameter

    fresh = clone(model)
    preparation = Preparation.of(fresh, rows)
    X = preparation.rows(rows.X)
    if rows.weights is None:
        return fresh.fit(X, rows.y), preparation
    if not has_fit_parameter(fresh, "sample_weight"):
        raise BadSetting(
            f"{type(fresh).__name__} takes no weights",
            hint="leave sample_weight out, or compare models that take it",
        )
    return fresh.fit(X, rows.y, sample_weight=rows.weights), preparation


def answers(model: object, X: object) -> FloatArray | None:
    """Return log p(y | x), or None where a model gives no probabilities."""
    if isinstance(model, Learned):
        return model.posterior(X, log=True) if model.offers("posterior") else None
    with np.errstate(divide="ignore"):
        if hasattr(model, "predict_log_proba"):
            return np.asarray(model.predict_log_proba(X), dtype=np.float64)
        if hasattr(model, "predict_proba"):
            found: FloatArray = np.log(np.asarray(model.predict_proba(X), dtype=np.float64))
            return found
    return None


def positions(labels: object, rows: LabelledRows) -> IntArray:
    """Return where labels stand among the classes of the rows."""
    known = {label: c for c, label in enumerate(rows.classes.tolist())}
    return np.array([known[label] for label in np.asarray(labels).tolist()], dtype=np.intp)


def refusal(error: Exception) -> str:
    """Return in one line why a candidate could not be judged."""
    if isinstance(error, SufficeError):
        return error.problem.splitlines()[0]
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


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
        kind = getattr(model, "learner_kind", type(model))
        ours = issubclass(kind, Learner)
        as_it_is = ours and kind.takes_blanks
        if as_it_is or is_sparse(rows.X) or hasattr(model, "steps"):
            return cls()
        table = read_table(rows.X)
        blanks_stay = not ours and all(k == "number" for k in table.kinds) and _takes_blanks(model)
        filled = None if blanks_stay else FilledColumns.of(rows.X, rows.weights)
        if ours or all(kind == "number" for kind in table.kinds):
            return cls(filled)
        done = rows.X if filled is None else filled.transform(rows.X)
        return cls(filled, Columns.infer(read_table(done)))

    def rows(self, X: object) -> Any:
        """Return rows as the candidate takes them."""
        done = X
        if self.filled is not None:
            table = isinstance(X, Table)
            done = filled_table(self.filled, X) if table else self.filled.transform(X)
        return done if self.columns is None else self.columns.encode(read_table(done))

    def applied(self, rows: LabelledRows) -> LabelledRows:
        """Return labelled rows as the candidate takes them."""
        return replace(rows, X=self.rows(rows.X))

    @property
    def note(self) -> str:
        """What was done, in words; empty where nothing was."""
        return "" if self.filled is None else self.filled.note


def _takes_blanks(model: object) -> bool:
    from sklearn.utils import get_tags

    return bool(get_tags(model).input_tags.allow_nan)
