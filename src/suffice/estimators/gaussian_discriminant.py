"""Gaussian discriminant analysis: LDA, QDA and what lies between."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from suffice.errors import (
    DifferentKinds,
    ForgettingUnseen,
    NotFinite,
    SufficeError,
    listed,
)
from suffice.estimators.fisher_coordinates import FisherCoordinates
from suffice.estimators.gaussian_answers import GaussianAnswers
from suffice.estimators.incremental import (
    Batch,
    State,
    check_label_kinds,
    joined_dtype,
    label_kind,
    merged_state,
    naming_cells,
    read_batch,
)
from suffice.families.gaussian import Gaussian
from suffice.models.imputation import imputed
from suffice.models.learner import GaussianLearner, checked_log_priors
from suffice.models.selection import choose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.rows import Label


class GaussianDiscriminant(
    GaussianAnswers,
    FisherCoordinates,
    ClassifierMixin,
    BaseEstimator,
):
    """Normal classes, by Bayes' rule a classifier; LDA and QDA are two of its settings.

    | setting       | default    | meaning                                                      |
    |---------------|------------|--------------------------------------------------------------|
    | covariance    | "shared"   | "shared" (GDA, LDA), "per-class" (QDA), "diagonal",          |
    |               |            | "shared-diagonal", "spherical"; "auto" chooses by            |
    |               |            | leave-one-out among pooled and shrunk per-class ones         |
    | pool          | None       | 0 … 1, per-class only: how much of the pooled scatter enters |
    | shrink        | None       | 0 … 1, shared and per-class: off-diagonals toward the target |
    | shrink_target | "diagonal" | "diagonal": the class's own; "scaled": the shared, rescaled  |
    | priors        | None       | {label: probability}; None is the class frequencies          |
    | divisor       | "mle"      | "mle" (1/n), "unbiased" (n - k, n_k - 1: R's)                |

    Everything is learned from sums: `partial_fit` adds rows, `forget` takes them back, `+`
    merges two models, and a label never seen before is simply a new class. Missing cells
    (NaN) are legal at fit (EM) and at predict (marginalised).

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianDiscriminant().fit(X, y)
    >>> model.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    >>> model.leave_one_out(X, y).error
    0.02
    """

    def __init__(
        self,
        covariance: str = "shared",
        *,
        pool: float | None = None,
        shrink: float | None = None,
        shrink_target: str = "diagonal",
        priors: Mapping[Label, float] | None = None,
        divisor: str = "mle",
    ) -> None:
        self.covariance = covariance
        self.pool = pool
        self.shrink = shrink
        self.shrink_target = shrink_target
        self.priors = priors
        self.divisor = divisor

    # Learning

    def fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:
        """Learn from rows and labels, forgetting everything learned before."""
        self._family(None)  # settings first: a bad one is refused before any row is read
        batch = read_batch(self, X, y, sample_weight, None)
        before = self._known()
        self._become(self._summarized(batch, None))
        try:
            fit = self._fit
        except SufficeError:
            self._become(before)  # a refusal leaves the estimator as it was
            raise
        self._warn(fit)
        return self

    def partial_fit(
        self,
        X: object,
        y: object = None,
        classes: object = None,  # noqa: ARG002  scikit-learn's callers pass it
        sample_weight: object = None,
    ) -> Self:
        """Learn from more rows; `classes` is accepted and never needed.

        Nothing is estimated until it is asked for, so that a stream of small batches costs
        what adding up costs. covariance="auto" chooses on the first batch and stays with it.
        """
        self._family(None)
        known = self._known()
        batch = read_batch(self, X, y, sample_weight, None if known is None else known.columns)
        self._become(self._summarized(batch, known))
        return self

    def forget(self, X: object, y: object = None, sample_weight: object = None) -> Self:
        """Take back rows that were learned before, exactly.

        What cannot have been learned is refused and leaves the model as it was. If everything
        is taken back, the estimator is as if never fitted.
        """
        state = self._require()
        batch = read_batch(self, X, y, sample_weight, state.columns)
        check_label_kinds(state.kind, label_kind(batch.classes))
        if batch.columns.width != state.columns.width:
            raise ForgettingUnseen(
                "the rows to forget hold levels that were never learned",
                hint="forget only rows that were learned before",
            )
        learner = self._learner(state.chosen)
        gone = self._summary(batch, learner)
        left = learner.forget(state.statistics, gone, state.columns.is_coded)
        self._become(state.with_statistics(left))
        return self

    def __add__(self, other: GaussianDiscriminant) -> GaussianDiscriminant:
        """Return a model of all rows that either has learned from."""
        if not isinstance(other, GaussianDiscriminant):
            return NotImplemented
        ours, theirs = self.get_params(), other.get_params()
        different = [name for name in ours if ours[name] != theirs[name]]
        if different:
            raise DifferentKinds(
                "models with different settings cannot be merged: "
                + listed(f"{n}={ours[n]!r} and {theirs[n]!r}" for n in different),
                hint="give both the same settings",
            )
        merged = copy.copy(self)
        merged._become(merged_state(self._require(), other._require(), lambda a, b: a + b))
        return merged

    def __radd__(self, other: object) -> GaussianDiscriminant:
        """Let `sum(models)` start from nothing."""
        if isinstance(other, int) and other == 0:
            return self
        return NotImplemented

    def with_priors(self, priors: Mapping[Label, float]) -> GaussianDiscriminant:
        """Return a copy with other priors; densities and covariances are untouched."""
        state = self._require()
        checked_log_priors(priors, state.statistics.labels)
        changed = copy.copy(self)
        changed.priors = dict(priors)
        changed._state = state.with_statistics(state.statistics)
        return changed

    def _summarized(self, batch: Batch, known: State | None) -> State:
        """Return the state after one more batch."""
        kind = label_kind(batch.classes)
        if known is not None:
            check_label_kinds(known.kind, kind)
        chosen = known.chosen if known is not None else None
        if self.covariance == "auto" and chosen is None:
            chosen = self._choose(batch)
        learner = self._learner(chosen)
        added = self._summary(batch, learner)
        if known is None or not known.statistics.labels:
            return State(batch.columns, added, batch.classes.dtype, kind, batch.frame, chosen)
        held = known.statistics
        if batch.columns != known.columns:
            _, ours, _ = known.columns.widened(batch.columns)
            held = held.embedded(ours, batch.columns.width)
        dtype = joined_dtype(known.dtype, batch.classes.dtype)
        return known.with_statistics(held + added, columns=batch.columns, dtype=dtype)

    def _summary(self, batch: Batch, learner: GaussianLearner) -> Any:
        try:
            return learner.summarize(batch.rows, batch.codes, batch.labels, batch.weights)
        except NotFinite as error:
            raise naming_cells(error, batch.rows, batch.columns, batch.places) from None

    def _choose(self, batch: Batch) -> Gaussian:
        """Choose pool, shrink and target by leave-one-out on one batch."""
        learner = GaussianLearner(Gaussian("per-class", divisor=self.divisor))
        statistics = self._summary(batch, learner)
        labels, rows, codes = statistics.labels, batch.rows, batch.codes
        if not np.isnan(rows).any():
            fit = learner.fit(statistics)
        else:
            # Selection only: missing cells as one normal of all classes' shape expects them.
            shared = GaussianLearner(Gaussian("shared", divisor=self.divisor))
            filler = shared.fit(self._summary(batch, shared)).model
            places = {label: i for i, label in enumerate(filler.labels)}
            own = np.array([places[label] for label in batch.labels])[codes]
            rows = imputed(filler, rows, own)
            fit = learner.fit(learner.summarize(rows, codes, batch.labels, batch.weights))
        order = {label: i for i, label in enumerate(labels)}
        codes = np.array([order[label] for label in batch.labels], dtype=np.intp)[codes]
        given = None if self.priors is None else checked_log_priors(self.priors, labels)
        family, _ = choose(fit.summary, rows, codes, batch.weights, given, self.divisor)
        return family

    # scikit-learn's questions

    def __sklearn_is_fitted__(self) -> bool:
        """Whether anything was learned."""
        state = self._known()
        return state is not None and bool(state.statistics.labels)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing cells are legal, and whether there is a transform."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        if self.covariance != "shared":
            tags.transformer_tags = None
        return tags
