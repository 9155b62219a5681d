"""Logistic and softmax regression: p(y | x) by itself, without a word about p(x)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from suffice.errors import BadSetting, NotLinear
from suffice.estimators.concurrency import lock_of
from suffice.estimators.linear.linear_classifier import LinearClassifier
from suffice.estimators.linear.logistic_summary import (
    LogisticSummary,
    figures_of,
    notes_of,
    variances_of,
)
from suffice.learning.answers import place_of
from suffice.learning.label_types import label_kind
from suffice.learning.labelled_batch import naming
from suffice.learning.learners.logistic import KeptLogistic, LogisticClassifierLearner
from suffice.models.linear.logistic.profile_intervals import profiles_of
from suffice.models.linear.logistic.refit import refitted

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.columns.design import Design
    from suffice.learning.learned import Learned
    from suffice.learning.learner import Learner
    from suffice.learning.learners.logistic import LearnedLogistic
    from suffice.learning.results import SeparatedClasses
    from suffice.models.linear.form import LinearForm
    from suffice.models.linear.logistic.result import LogisticFit
    from suffice.models.linear.penalty_path.path import PenaltyPath
    from suffice.rows import FloatArray, Label


class LogisticRegression(LinearClassifier):
    """Logistic regression, and softmax regression where there are more than two classes.

    `penalty="auto"` goes down a path from 1000 to 0.01 and takes the penalty whose fits lose least
    for rows that are left out; `penalty_` is it, and `path_` has all of them. `penalty="average"`
    keeps the average of their probabilities, weighted by exp(-rows·loss): usually a little better,
    but no linear form any more, so there are no coefficients. Rows are left out by one Newton step
    where that is good enough, and by folds elsewhere; of more than 2,048 rows a sample is judged.

    There is no silent penalty. Columns are standardised on the way, coefficients come back in the
    user's units; a fit that is not certain to be within `tolerance` of the maximum says so, and
    so does one whose maximum does not exist.

    Categories have a column for each level but the first, which the others are compared with; with
    a penalty, for every level. Levels that are declared but in no row are left out, as R does; one
    that was not in the rows of the fit speaks for no class. Without an intercept the first category
    has a column for every level, and s_j is the root of the column's mean square. Blank cells are
    refused unless `missing` says how to fill them: p(y | x) says nothing about x, so it cannot do
    without a part of it.

    Parameters
    ----------
    penalty : float or "auto" or "average", default 0.0
        ½·penalty·Σ(s_jβ_j)² is added to the sum of losses, s_j being the column's standard
        deviation; 0 is maximum likelihood. "auto": the one of least log-loss for rows left out;
        "average": probabilities averaged over a path of penalties.
    l1_ratio : float, default 0.0
        The share of the penalty that is penalty·Σ|s_jβ_j| instead, and makes coefficients exactly
        zero: 1 is the lasso.
    solver : {"auto", "sgd"}, default "auto"
        The quickest way to the maximum; "sgd" goes row by row.
    correction : {"firth"}, optional
        "firth": finite and less biased, for separated classes too.
    intercept : bool, default True
        False: scores are 0 at x = 0, and columns are not centred.
    tolerance : float, default 1e-08
        How near to the maximum, in standard errors.
    max_passes : int, default 1000
        Over the rows, at most; a look and a step are always made.
    standard_errors : bool, optional
        True, False; None computes them where that costs little.
    warm_start : bool, default False
        Begin where the last fit ended.
    random_state : int or Generator, optional
        The order of rows, for "sgd".
    missing : {"indicator"}, optional
        What becomes of blank cells of numbers: None refuses them; "indicator" fills them with the
        mean of their column, and adds a column of zeros and ones that says where they were.

    See Also
    --------
    GaussianDiscriminant : One normal law for each class; LDA and QDA are two of its settings.
    bridge : Compare the θ of both.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = LogisticRegression().fit(X[50:], y[50:])
    >>> model.coef_.round(4)
    array([[-2.4652, -6.6809,  9.4294, 18.2861]])
    >>> model.converged_
    True
    """

    learner_kind: ClassVar[type[Learner]] = LogisticClassifierLearner

    if TYPE_CHECKING:

        def _now(self) -> LearnedLogistic: ...

    def __init__(
        self,
        penalty: float | Literal["auto", "average"] = 0.0,
        *,
        l1_ratio: float = 0.0,
        solver: Literal["auto", "sgd"] = "auto",
        correction: Literal["firth"] | None = None,
        intercept: bool = True,
        tolerance: float = 1e-8,
        max_passes: int = 1000,
        standard_errors: bool | None = None,
        warm_start: bool = False,
        random_state: object = None,
        missing: Literal["indicator"] | None = None,
    ) -> None:
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.solver = solver
        self.correction = correction
        self.intercept = intercept
        self.tolerance = tolerance
        self.max_passes = max_passes
        self.standard_errors = standard_errors
        self.warm_start = warm_start
        self.random_state = random_state
        self.missing = missing

    # Learning

    def fit(  # type: ignore[override]
        self,
        X: object,
        y: object = None,
        sample_weight: object = None,
        *,
        target: str | None = None,
    ) -> Self:
        """Learn from rows and labels, by maximum likelihood.

        Rows may also be somewhere else: a path, a glob, an Arrow stream, a table of a database or
        of a cluster. Then `target` names the column of labels, and `sample_weight` that of weights;
        every step of the search is one pass over the rows, wherever they are.
        """
        return super().fit(X, y, sample_weight, target=target)

    def _fit_here(self, learner: Any, X: object, y: object, weights: object) -> Self:
        """Learn from rows that are here, with their blank cells filled where that is asked for."""
        filled = learner.filled(X, weights)
        if filled is None:
            return super()._fit_here(learner, X, y, weights)
        from suffice.learning.table_recipe import TableNotes

        super()._fit_here(learner, filled.transform(X), y, weights)
        self.take_notes(TableNotes(filled=filled))
        return self

    def _become(self, learned: Learned) -> None:
        """Take rows as they come: columns that say where cells were blank are added here."""
        super()._become(learned)
        if learned.notes is not None and learned.notes.filled is not None:
            self.n_features_in_ = len(learned.notes.filled.columns.columns)
            if learned.notes.filled.columns.named:
                self.feature_names_in_ = np.array(learned.notes.filled.columns.names, dtype=object)

    @available_if(lambda self: self.correction is None)
    def partial_fit(
        self,
        X: object,
        y: object = None,
        classes: object = None,  # noqa: ARG002  scikit-learn's callers pass it
        sample_weight: object = None,
    ) -> Self:
        """Take one step of stochastic gradient ascent for each row, in their order.

        For streams: nothing is kept of the rows but θ and the moments of the columns. A label
        never seen before is a new class, a level never seen before a new column; `classes` is
        accepted and never needed. After `fit` the steps go on from the maximum that it found, as
        short as they are after so many rows.
        """
        return self._learn_more(X, y, sample_weight, here=True)

    # What was found

    @property
    def penalty_(self) -> float:
        """The penalty of the fit: the one given, or the one of least loss on `path_`."""
        path = None if self._learned is None else self._now().statistics.path
        return self._maximum("penalty").penalty if path is None else path.penalty

    @property
    def path_(self) -> PenaltyPath:
        """Penalties, the log-loss of each for rows left out, and how these were judged."""
        path = self._now().statistics.path
        if path is None:
            raise AttributeError(
                "there is no path of penalties\n"
                'Hint: LogisticRegression("auto") and LogisticRegression("average") have one, '
                "fitted to two classes or more"
            )
        return path

    @property
    def coef_(self) -> FloatArray:
        """The weights of the columns, (1, d) for two classes, else (k, d).

        With an L1 penalty those of more than two classes are the ones that it leaves, of which some
        are exactly zero; else they add up to zero over the classes.
        """
        found = self._now().statistics.found
        if found is not None and found.l1_ratio > 0.0 and found.size > 2:
            return found.sparse_weights
        return super().coef_

    @property
    def separated_(self) -> SeparatedClasses | None:
        """How the classes are separated; None where they overlap."""
        self._maximum("separation")
        return self._now().separated

    def _maximum(self, what: str) -> LogisticFit:
        found = self._now().statistics.found
        if found is None:
            self._attribute(what)
            raise AttributeError(
                f"there is no {what}: θ was not found by maximum likelihood\n"
                "Hint: only models found by fit() have it, not streams or implied models"
            )
        return found

    @property
    def converged_(self) -> bool:
        """Whether θ is certain to be the maximum of the likelihood, but for `bound_`."""
        return self._maximum("convergence").converged

    @property
    def bound_(self) -> float:
        """How many of its standard errors any coefficient can be away from the maximum.

        Infinite where no Hessian was at hand to prove it: without standard errors, where there
        are too many coefficients; and with an L1 penalty, where `converged_` says that the
        conditions of a minimum hold.
        """
        return self._maximum("bound").bound

    @property
    def n_iter_(self) -> int:
        """How many passes over the rows were made."""
        return self._maximum("number of passes").passes

    def summary(
        self,
        X: object = None,
        y: object = None,
        sample_weight: object = None,
        *,
        reference: Label | None = None,
        level: float = 0.95,
        intervals: str = "wald",
        exponentiate: bool = False,
    ) -> LogisticSummary:
        """Return coefficients with standard errors, tests and intervals, and how well they fit.

        Each class is compared with the `reference`, the first one unless named. The rows of the
        fit are needed again, X and y, where the standard errors were not computed at the fit, and
        for `intervals="profile"`, whose ends are those of the profile likelihood: with Firth's
        correction of the penalised one, and tests are then by its ratio instead of Wald's.
        `exponentiate=True` shows odds ratios.
        """
        learned, found = self._now(), self._maximum("summary")
        kept, names, classes = learned.statistics, learned.design.names, learned.classes
        if found.l1_ratio > 0.0:
            raise BadSetting(
                f"there is no summary with l1_ratio={found.l1_ratio:g}: a coefficient that may "
                "be exactly zero is not normally distributed, so a standard error has no meaning",
                hint="coef_ has the coefficients; l1_ratio=0 has standard errors",
            )
        place = 0 if reference is None else place_of(reference, found.labels)
        if intervals not in ("wald", "profile"):
            raise BadSetting(
                f"intervals={intervals!r} is not known", hint='choose "wald" or "profile"'
            )
        if X is None and not (y is None and sample_weight is None):
            raise BadSetting(
                "there are labels or weights, but no rows",
                hint="give all that was given to fit, summary(X, y, sample_weight), or nothing",
            )
        if len(found.labels) == 1:
            raise BadSetting(
                "with one class there are no odds to summarize", hint="fit rows of a second class"
            )
        if found.separation is not None and intervals == "wald":
            raise BadSetting(
                "the classes are separated: the likelihood has no maximum, and standard errors "
                "have no meaning",
                hint='correction="firth" has finite estimates with standard errors; '
                'intervals="profile" has ends where the likelihood has them',
            )
        profile = None
        firth = found.correction is not None  # whose tests are those of its own profiles
        if X is not None:
            notes = learned.notes if learned.learner.missing is not None else None
            filled = None if notes is None else notes.filled
            X = X if filled is None else filled.transform(X)
            batch = learned.learner.read(X, y, sample_weight, learned)
            found, objective = naming(
                batch,
                partial(refitted, found, batch.rows, batch.codes, batch.labels, batch.weights),
            )
            with lock_of(self):
                held = self._required()
                if held.statistics is kept:  # and nothing else was learned meanwhile
                    self._become(held.holding(replace(kept, found=found)))
            if intervals == "profile":
                profile = profiles_of(objective, found.theta, level, place, tested=firth)
        elif intervals == "profile":
            raise BadSetting(
                "profile intervals need the rows of the fit again",
                hint='summary(X, y, intervals="profile")',
            )
        others = [c for c in range(len(found.labels)) if c != place]
        return LogisticSummary.of(
            names,
            classes[place],
            classes[others].tolist(),
            np.array([found.estimate(c, place) for c in others]),
            variances_of(found, others, place),
            figures_of(found),
            level=level,
            profile=None if profile is None else profile[:2],
            ratios=profile.statistic if profile is not None and firth else None,
            exponentiate=exponentiate,
            rows=None if kept.seen is None else kept.seen.size,
            converged=found.converged or found.separation is not None,  # that is said in a note
            notes=notes_of(found, names, kept.path),
            intercept=found.intercept,
        )

    @property
    def covariance_(self) -> FloatArray:
        """The covariance of [θ₀, θ] of two classes, the second against the first (d + 1, d + 1).

        Without an intercept it is that of θ alone, (d, d).
        """
        found = self._maximum("covariance")
        if len(found.labels) != 2:
            raise AttributeError(
                f"there are {len(found.labels)} classes\nHint: summary() compares them pair by pair"
            )
        if not found.converged:
            raise AttributeError(
                "there is no covariance: θ is not the maximum of the likelihood\n"
                'Hint: separated classes have one with correction="firth"; max_passes may be raised'
            )
        try:
            covariance = found.covariance(1)
            return covariance if found.intercept else covariance[1:, 1:]
        except BadSetting as error:
            raise AttributeError(str(error)) from None


def implied_logistic(
    form: LinearForm,
    classes: NDArray[np.generic],
    design: Design,
    reader: Callable[[object], object] | None = None,
) -> LogisticRegression:
    """Return a LogisticRegression with the θ of a form that Bayes' rule arrived at.

    Where log p(x | y) is linear in x but for what all classes share, Bayes' rule gives
    p(y = 1 | x) = 1/(1 + exp(-(θ·x + θ₀))) exactly. `reader` turns X into what θ multiplies.
    """
    learned = LogisticClassifierLearner().keeping(
        design, KeptLogistic(form), classes.dtype, label_kind(classes), None, None, reader
    )
    return LogisticRegression.of_learned(learned)


def implied(estimator: Any) -> LogisticRegression:
    """Return `estimator.to_logistic()` for an attribute: where there is none, neither is that."""
    try:
        found: LogisticRegression = estimator.to_logistic()
    except NotLinear as error:
        raise AttributeError(str(error)) from None
    return found
