"""Prediction sets: by unions of rows where models are sums, by rows left out of fits elsewhere."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from suffice.errors import BadLabels, BadSetting, listed
from suffice.learning.conformal.prediction_sets import (
    CLASS,
    PredictionSets,
    Promise,
    checked,
    prediction_sets,
)
from suffice.learning.conformal.unions import (
    full_p_values,
    keeps_rows,
    kept_rows_of_pool,
    read_training,
    unions_of,
    whole_weights,
)
from suffice.learning.labelled_batch import taken
from suffice.learning.learners.gaussian_answers import held_of
from suffice.learning.randomness import random_generator
from suffice.models.conformal.one_step import OneStep
from suffice.models.conformal.p_values import p_value
from suffice.models.naive_bayes.families.binned import Binned
from suffice.rows import check_lengths, read_labels, read_weights
from suffice.rows.tables import Table
from suffice.statistics.row_sample import END

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.learning.conformal.unions import Unions
    from suffice.learning.learned import Learned
    from suffice.rows import FloatArray, IntArray

FOLDS = 10
"""Fits without a part of the rows: nine tenths of the rows are left to learn from."""
SEED = 0
"""Of the folds: they do not depend on what rows say, and are the same in every call."""
CELLS = 4_000_000
"""Scores that are compared in one go. A choice: 32 MB."""


def some_of(rows: object, places: IntArray) -> Any:
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
    if np.isnan(rows).any() or np.isnan(asked).any():  # filled before the fit sees them
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


def _scores(model: Any, X: Any, classes: NDArray[np.generic]) -> FloatArray:
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


MOST_REFITS = 20_000
"""Refits that unions may take where no formula takes a row out: about a minute."""
MOST_WITH_BLANKS = 5_000
"""The same where cells are blank, and a refit is a search: a second to a minute."""
FULL = "Full conformal"
"""The name of the method by unions."""


def prediction_set(
    estimator: Any,
    X: object,
    coverage: float = 0.9,
    within: str = "all",
    *,
    rows: tuple[Any, ...] | None = None,
    randomized: bool = False,
    random_state: object = 0,
) -> PredictionSets:
    """Return, for every row, the classes that cannot be excluded.

    Parameters
    ----------
    X : rows to ask about
    coverage : float
        The share of rows whose set holds the true class, at least: between 0 and 1.
    within : "all" or "class"
        The coverage holds over all rows, or in every class by itself, for which sets are
        larger.
    rows : (X_train, y_train) or (X_train, y_train, sample_weight)
        The rows of the fit, whole. Without them, those that the model keeps
        (`calibration_rows`). Weights are repetitions.
    randomized : bool
        Break ties at random: the coverage is then met exactly, and not only at least.
    random_state : int, Generator or RandomState
        For ties.

    Returns
    -------
    PredictionSets
        `sets` (a tuple of labels a row), `p_values` (rows × `classes_`) and `promise`, in
        words.

    Notes
    -----
    Gaussian discriminants and naive Bayes are *full conformal*: the asked row is added under
    each label, each training row is taken out again, and the scores -log p(label | x) are
    ranked. That holds whatever the distribution is, if the asked row is exchangeable with the
    training rows. Others are judged by fits without some of the rows (jackknife+, CV+), which
    guarantee 1 - 2α, and in practice have 1 - α. The likeliest class is always in the set:
    "none of these" is what `typicality` says.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianDiscriminant
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianDiscriminant().fit(X[::2], y[::2])
    >>> found = model.prediction_set(X[[71, 77]], coverage=0.98, rows=(X[::2], y[::2]))
    >>> found.sets
    [(1,), (1, 2)]
    """
    level = checked(coverage, within)
    if not hasattr(estimator, "predict_proba"):
        raise BadSetting(
            f"{type(estimator).__name__} gives no probabilities, which are needed to rank rows",
            hint="LogisticRegression, GaussianDiscriminant and NaiveBayes give them",
        )
    best = np.asarray(estimator.predict_proba(X).argmax(axis=1))
    draws = random_generator(random_state) if randomized else None
    ranked = within == CLASS
    learned: Any = getattr(estimator, "learned_", None)
    given = kept_rows_of_pool(learned) if rows is None else _checked_rows(rows)
    unions = _unions(learned, given, X)
    if unions is not None and _affordable(learned, unions):
        found = full_p_values(unions, len(estimator.classes_), within_class=ranked, draws=draws)
        codes, promise = unions.codes, _full_promise(learned, given is None)
    elif given is None:
        raise BadSetting(
            "this model has no formula for leaving rows out, and refits need all training rows",
            hint="give rows=(X_train, y_train)",
        )
    else:
        found, codes, promise = _by_left_out_fits(estimator, given, X, ranked, draws)
    weights = np.bincount(codes, minlength=len(estimator.classes_)).astype(np.float64)
    return prediction_sets(found, best, estimator.classes_, weights, level, within, promise)


def _unions(learned: Any, given: tuple[Any, Any, Any] | None, X: object) -> Unions | None:
    """Return unions of training rows with asked ones; None where a model is not a sum of rows."""
    if given is None and (learned is None or not keeps_rows(learned)):
        raise BadSetting(
            "new rows are ranked among training rows, but none are given or stored",
            hint="rows=(X_train, y_train), or fit with calibration_rows (--calibration-rows)",
        )
    if learned is None or not hasattr(learned, "left_out"):
        if given is None:
            raise BadSetting(
                "sets of this model are made by fits without some of the rows",
                hint="give rows=(X_train, y_train)",
            )
        return None
    return unions_of(learned, None if given is None else read_training(learned, *given), X)


def _affordable(learned: Learned, unions: Unions) -> bool:
    """Whether unions can be made: most forms have formulas, some are refitted for every row.

    So are laws of rows with blank cells, unless columns are independent.
    """
    family = getattr(learned.learner.of_model(), "family", None)
    refitted = getattr(family, "is_refitted", False)
    blank = not getattr(held_of(learned.statistics), "is_complete", True)
    if not refitted and not blank:
        return True
    refits = len(unions) * len(learned.labels) * (len(unions.codes) + 1)
    if blank:
        return not refitted and refits <= MOST_WITH_BLANKS
    return refits <= MOST_REFITS


def _full_promise(learned: Learned, kept: bool) -> Promise:
    """Return what is promised where the asked row was one of the union."""
    why = []
    learner = learned.learner
    if learner.needs_choice and getattr(learner, "covariance", "") == "auto":
        why.append(
            "pool and shrink were chosen from the training rows, and not chosen again for each "
            "new row"
        )
    asked = getattr(learner, "families", None)
    if isinstance(asked, str) and asked in ("auto", "select"):
        why.append("the families of columns were chosen from the training rows")
    product = getattr(learner.chosen, "product", None)
    if product is not None and any(isinstance(f, Binned) for f in product.families):
        why.append("edges of bins were chosen from the training rows, unless they were given")
    if kept and learned.statistics.sample.limit < END:
        rows = len(learned.statistics.sample.rows)
        return Promise(f"{FULL} among {rows:,} kept rows", approximate=tuple(why))
    return Promise(FULL, approximate=tuple(why))


def _by_left_out_fits(
    estimator: Any, given: tuple[object, object, object], X: object, ranked: bool, draws: Any
) -> tuple[FloatArray, IntArray, Promise]:
    """Return p-values by fits without some of the rows, the classes of rows, and the promise."""
    X_train, y_train, weights = given
    labels = read_labels(y_train)
    size = len(labels.codes)
    check_lengths(size_of(X_train), size)
    held = read_weights(weights, size)
    if held is not None:
        places = np.repeat(np.arange(size), whole_weights(held))
        X_train, y_train = some_of(X_train, places), some_of(y_train, places)
    codes = _codes_of(estimator.classes_, y_train)
    found = linear_p_values(estimator, X_train, codes, X, within_class=ranked, draws=draws)
    if found is not None:
        why = ("rows are left out by one Newton step and not by a refit",)
        return found, codes, Promise("Jackknife+ by one step", guaranteed=None, approximate=why)
    found, folds = fold_p_values(
        estimator, X_train, y_train, codes, X, within_class=ranked, draws=draws
    )
    return found, codes, Promise(f"CV+ of {folds} folds", guaranteed=2.0)


def _codes_of(classes: NDArray[np.generic], y: object) -> IntArray:
    """Return the places of labels among the classes of the model."""
    labels = read_labels(y)
    known = {label: c for c, label in enumerate(classes.tolist())}
    strange = [label for label in labels.classes.tolist() if label not in known]
    if strange:
        raise BadLabels(
            f"{listed(map(repr, strange))} is not a class of this model",
            hint=f"the classes are {listed(known)}",
        )
    order = np.array([known[label] for label in labels.classes.tolist()], dtype=np.intp)
    found: IntArray = order[labels.codes]
    return found


def _checked_rows(rows: object) -> tuple[object, object, object]:
    """Return rows, labels and weights, or refuse what is neither two nor three things."""
    if not isinstance(rows, (tuple, list)) or len(rows) not in (2, 3):
        raise BadSetting(
            f"rows is a {type(rows).__name__}, not the rows and labels of the fit",
            hint="rows=(X_train, y_train), or (X_train, y_train, sample_weight)",
        )
    return rows[0], rows[1], rows[2] if len(rows) == 3 else None
