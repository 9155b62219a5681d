"""P-values by fits without some of the rows: jackknife+ and CV+."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from suffice.learning.zero_weights import taken
from suffice.models.conformal.one_step import OneStep
from suffice.models.conformal.p_values import p_value
from suffice.rows.tables import Table

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray

FOLDS = 10
"""Fits without a part of the rows: nine tenths of the rows are left to learn from."""
SEED = 0
"""Of the folds: they do not depend on what rows say, and are the same in every call."""
CELLS = 4_000_000
"""Scores that are compared in one go. A choice: 32 MB."""


def some_of(rows: Any, places: IntArray) -> Any:
    """Return some rows of whatever rows may be, tables that a file has kept among them."""
    return rows.rows(places) if isinstance(rows, Table) else taken(rows, places)


def size_of(rows: Any) -> int:
    """Return how many rows there are."""
    if isinstance(rows, Table):
        return rows.size
    return len(rows) if isinstance(rows, (list, tuple)) else int(rows.shape[0])


def linear_p_values(
    estimator: Any,
    X_train: Any,
    codes: IntArray,
    X: Any,
    *,
    within_class: bool,
    draws: np.random.Generator | None,
) -> FloatArray | None:
    """Return p-values (m, k) of logistic regression by one step; None where that is no answer.

    One step is for maxima of a penalised likelihood of numbers, with an intercept, in which no row
    has much leverage.
    """
    plain = (
        type(estimator).__name__ == "LogisticRegression"
        and not estimator.l1_ratio
        and estimator.correction is None
        and estimator.solver != "sgd"
        and estimator.intercept
        and estimator.penalty != "average"
        and len(estimator.classes_) > 1
    )
    if not plain:
        return None
    try:
        rows, asked = np.asarray(X_train, dtype=np.float64), np.asarray(X, dtype=np.float64)
        weights, penalty = estimator.coef_, float(estimator.penalty_)
    except (TypeError, ValueError, AttributeError):
        return None
    if rows.ndim != 2 or weights.shape[1] != rows.shape[1]:
        return None
    spread = rows.std(axis=0)
    unit = np.where(spread > 0.0, spread, 1.0)
    centre = rows.mean(axis=0)
    theta = np.column_stack([estimator.intercept_ + weights @ centre, weights * unit])
    if len(estimator.classes_) > 2:
        theta = theta[1:] - theta[:1]
    active = np.concatenate([[True], spread > 0.0])
    design = _design(rows, centre, unit)[:, active]
    penalties = np.concatenate([[0.0], np.full(rows.shape[1], penalty)])[active]
    step = OneStep.of(design, codes, theta[:, active], penalties)
    if step is None:
        return None
    found = np.empty((len(asked), len(estimator.classes_)))
    for start in range(0, len(asked), step.step):
        part = slice(start, start + step.step)
        scores = step.asked(_design(asked[part], centre, unit)[:, active])
        found[part] = _ranked(step.own, scores, codes, within_class, draws)
    return found


def _design(rows: FloatArray, centre: FloatArray, unit: FloatArray) -> FloatArray:
    return np.column_stack([np.ones(len(rows)), (rows - centre) / unit])


def fold_p_values(
    estimator: Any,
    X_train: Any,
    y_train: Any,
    codes: IntArray,
    X: Any,
    *,
    within_class: bool,
    draws: np.random.Generator | None,
) -> tuple[FloatArray, int]:
    """Return p-values (m, k) by refits without each of some folds, and how many there were."""
    n, size = len(codes), len(estimator.classes_)
    folds = min(FOLDS, n)
    fold = np.random.default_rng(SEED).permutation(n) % folds
    own = np.empty(n)
    asked = []
    for f in range(folds):
        kept, out = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        if len(kept) == 0:
            own[out] = 0.0
            asked.append(np.zeros((len(estimator.predict(X)), size)))
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of parts of the rows: the fit has told them
            model = clone(estimator).fit(some_of(X_train, kept), some_of(y_train, kept))
            own[out] = _scores(model, some_of(X_train, out), estimator.classes_)[
                np.arange(len(out)), codes[out]
            ]
            asked.append(_scores(model, X, estimator.classes_))
    by_fold = np.stack(asked)  # (folds, m, k)
    m = by_fold.shape[1]
    found = np.empty((m, size))
    step = max(1, CELLS // (n * size))
    for start in range(0, m, step):
        scores = by_fold[fold, start : start + step].transpose(1, 0, 2)
        found[start : start + step] = _ranked(own, scores, codes, within_class, draws)
    return found, folds


def _scores(model: Any, X: Any, classes: Any) -> FloatArray:
    """Return -log p (m, k) in the order of classes: infinite for those that a part has not seen."""
    told = -model.predict_log_proba(X)
    found = np.full((len(told), len(classes)), np.inf)
    known = {label: c for c, label in enumerate(classes.tolist())}
    found[:, [known[label] for label in model.classes_.tolist()]] = told
    return found


def _ranked(
    own: FloatArray,
    asked: FloatArray,
    codes: IntArray,
    within_class: bool,
    draws: np.random.Generator | None,
) -> FloatArray:
    """Return p-values (b, k): the share of rows whose score is at least that of the asked row.

    `asked` is (b, n, k): the asked row's score by the fit without each row of n.
    """
    m, _, size = asked.shape
    found = np.empty((m, size))
    for c in range(size):
        some = codes == c if within_class else slice(None)
        draw = None if draws is None else draws.random(m)
        scores = np.broadcast_to(own[some], (m, len(own[some])))
        found[:, c] = p_value(scores, asked[:, some, c], draw)
    return found
