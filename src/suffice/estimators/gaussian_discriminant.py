"""Gaussian discriminant analysis: LDA, QDA and what lies between."""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.metaestimators import available_if

from suffice.errors import (
    Approximation,
    BadLabels,
    BadSetting,
    DifferentKinds,
    ForgettingUnseen,
    NotFinite,
    OneClass,
    listed,
)
from suffice.estimators.gaussian_answers import GaussianAnswers
from suffice.estimators.incremental import (
    Batch,
    NotFitted,
    State,
    check_label_kinds,
    class_array,
    joined_dtype,
    label_kind,
    merged_state,
    naming_cells,
    read_batch,
)
from suffice.families.gaussian import Gaussian
from suffice.models.discriminants import Discriminants, discriminants
from suffice.models.learner import Fit, GaussianLearner, checked_log_priors, warn_of
from suffice.models.selection import choose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice.models.generative import GenerativeModel
    from suffice.rows import FloatArray, Label


def _has_coordinates(estimator: GaussianDiscriminant) -> bool:
    if estimator.covariance == "shared":
        return True
    raise AttributeError(
        f'covariance="{estimator.covariance}" has no discriminant coordinates\n'
        'Hint: covariance="shared" has'
    )


def _conditional_transform(kind: type[Any]) -> type[Any]:
    """Hide what only Fisher's coordinates have, unless the covariance is shared.

    scikit-learn wraps `transform` when the class is made, for `set_output`, and the wrapper is
    there for every instance: the condition has to be put around it afterwards.
    """
    for name in ("transform", "fit_transform", "set_output", "get_feature_names_out"):
        setattr(kind, name, available_if(_has_coordinates)(getattr(kind, name)))
    return kind


@_conditional_transform
class GaussianDiscriminant(
    GaussianAnswers,
    ClassNamePrefixFeaturesOutMixin,
    ClassifierMixin,
    TransformerMixin,
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
        self._become(self._summarized(batch, None))
        self._warn(self._fit)
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
        left = learner.forget(state.statistics, gone)
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
            from suffice.models.imputation import imputed

            places = {label: i for i, label in enumerate(filler.labels)}
            own = np.array([places[label] for label in batch.labels])[codes]
            rows = imputed(filler, rows, own)
            fit = learner.fit(learner.summarize(rows, codes, batch.labels, batch.weights))
        order = {label: i for i, label in enumerate(labels)}
        codes = np.array([order[label] for label in batch.labels], dtype=np.intp)[codes]
        given = None if self.priors is None else checked_log_priors(self.priors, labels)
        family, _ = choose(fit.summary, rows, codes, batch.weights, given, self.divisor)
        return family

    # State and estimates

    def _known(self) -> State | None:
        return getattr(self, "_state", None)

    def _require(self) -> State:
        state = self._known()
        if state is None or not state.statistics.labels:
            raise NotFitted.of(self)
        return state

    def _become(self, state: State) -> None:
        self._state = state
        self.n_features_in_ = len(state.columns.columns)
        if state.columns.named:
            self.feature_names_in_ = np.array(state.columns.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

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

    def _family(self, chosen: Gaussian | None) -> Gaussian:
        """Return the settings as a family, checked."""
        if self.covariance != "auto":
            return Gaussian(
                self.covariance, self.pool, self.shrink, self.shrink_target, self.divisor
            )
        for name in ("pool", "shrink"):
            if getattr(self, name) is not None:
                raise BadSetting(
                    f'{name}={getattr(self, name)!r} does not belong to covariance="auto"',
                    hint=f'"auto" chooses {name} itself; with covariance="per-class" you do',
                )
        if chosen is None:
            return Gaussian("per-class", divisor=self.divisor)
        return Gaussian("per-class", chosen.pool, chosen.shrink, chosen.shrink_target, self.divisor)

    def _learner(self, chosen: Gaussian | None) -> GaussianLearner:
        return GaussianLearner(self._family(chosen), self.priors)

    @property
    def _fit(self) -> Fit:
        """The estimate of the current statistics under the current settings."""
        state = self._require()
        key = (self.covariance, self.pool, self.shrink, self.shrink_target, self.divisor)
        priors = None if self.priors is None else tuple(sorted(self.priors.items(), key=repr))
        found = state.cache.get("fit")
        if found is not None and found[0] == (key, priors):
            fit: Fit = found[1]
            return fit
        family = self._family(state.chosen)
        if not family.accepts(state.statistics):
            raise BadSetting(
                f'covariance="{self.covariance}" needs other statistics than were collected',
                hint="fit again: the form was changed after the rows were read",
            )
        fit = GaussianLearner(family, self.priors).fit(state.statistics)
        state.cache.clear()
        state.cache["fit"] = ((key, priors), fit)
        return fit

    def _warn(self, fit: Fit) -> None:
        state = self._require()
        warn_of(fit.notes, state.columns.coded_names, fit.model.labels)
        if len(fit.model.labels) == 1:
            warnings.warn(
                f"there is only one class, {fit.model.labels[0]!r}: its posterior is 1 everywhere",
                OneClass,
                stacklevel=3,
            )

    # What was learned

    @property
    def statistics_(self) -> Any:
        """What the data said: mergeable, forgettable."""
        return self._require().statistics

    @property
    def model_(self) -> GenerativeModel:
        """Priors and class densities."""
        return self._fit.model

    @property
    def settings_(self) -> Gaussian:
        """The family in use; for covariance="auto" what was chosen."""
        return self._family(self._require().chosen)

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in order, in their own type."""
        state = self._require()
        held = state.cache.get("classes")
        if held is None:
            held = state.cache["classes"] = class_array(state.statistics.labels, state.dtype)
        found: NDArray[Any] = held
        return found

    @property
    def priors_(self) -> FloatArray:
        """p(y), in the order of `classes_`."""
        priors: FloatArray = np.exp(self._fit.model.log_priors)
        return priors

    @property
    def means_(self) -> FloatArray:
        """The class means (k, d)."""
        return self._fit.normals.class_means

    @property
    def covariance_(self) -> FloatArray:
        """The covariance that is used, where all classes share one."""
        normals = self._fit.normals
        if not normals.is_shared:
            raise AttributeError(
                f'covariance="{self.covariance}" has one covariance per class\n'
                "Hint: they are in covariances_"
            )
        found: FloatArray = normals.covariances[0]
        return found

    @property
    def covariances_(self) -> FloatArray:
        """The covariances that are used (k, d, d), repeated where they are shared."""
        found = self._fit.normals.covariances
        return np.broadcast_to(found, (len(self.classes_), *found.shape[1:]))

    # Fisher's coordinates

    def _discriminants(self) -> Discriminants:
        state, model = self._require(), self._fit.model
        held = state.cache.get("discriminants")
        if held is None or held[0] is not model:
            held = state.cache["discriminants"] = (model, discriminants(model))
        found: Discriminants = held[1]
        return found

    def transform(self, X: object) -> FloatArray:
        """Return Fisher's discriminant coordinates, at most k - 1; missing cells as expected."""
        rows = self._rows(X)
        if np.isnan(rows).any():
            rows = self._filled(rows)
        if not np.isfinite(rows).all():
            raise naming_cells(NotFinite.of_range(()), rows, self._require().columns)
        return self._discriminants().coordinates(rows)

    @property
    def scalings_(self) -> FloatArray:
        """The coordinates' loadings (d, k - 1), in the user's units."""
        _has_coordinates(self)
        return self._discriminants().scalings

    @property
    def explained_variance_ratio_(self) -> FloatArray:
        """The share of the differences between classes in each coordinate."""
        _has_coordinates(self)
        return self._discriminants().explained

    @property
    def _n_features_out(self) -> int:
        return int(self._discriminants().scalings.shape[1])

    def _approximate(self, said: str) -> None:
        if said:
            warnings.warn(said, Approximation, stacklevel=3)

    def _codes(self, labels: tuple[Label, ...], codes: Any) -> Any:
        """Translate codes of a batch into positions in `classes_`."""
        known = {label: i for i, label in enumerate(self._require().statistics.labels)}
        unknown = [label for label in labels if label not in known]
        if unknown:
            raise BadLabels(
                f"{listed(map(repr, unknown))} is no class of this model",
                hint=f"the classes are {listed(known)}",
            )
        return np.array([known[label] for label in labels], dtype=np.intp)[codes]
