"""scikit-learn's tests of naive Bayes, on ours."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

import suffice
from suffice.errors import DegenerateData
from tests.peers.loading import Adapter, NoSuchSetting, adapted


class NaiveBayesAdapter(Adapter, ClassifierMixin, BaseEstimator):
    """Priors in the order of the classes; the rest is asked of the estimator behind."""

    def _model(self) -> Any:
        raise NotImplementedError

    def _given_priors(self) -> Any:
        raise NotImplementedError

    def _with_priors(self, model: Any, y: Any) -> Any:
        given, classes = self._given_priors(), np.unique(y).tolist()
        if isinstance(given, str):
            given = np.full(len(classes), 1 / len(classes))
        if given is not None:
            if len(given) != len(classes):
                raise NoSuchSetting("Hint: priors by position, for other classes")
            model.set_params(priors=dict(zip(classes, np.asarray(given).tolist(), strict=True)))
        return model

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", suffice.errors.SufficeWarning)
            self.model_ = self._with_priors(self._model(), y).fit(X, y, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        if not hasattr(self, "model_"):
            self.model_ = self._with_priors(self._model(), y if classes is None else classes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateData)
            self.model_.partial_fit(X, y, classes, sample_weight)
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self.model_.predict_proba(X)

    def predict_log_proba(self, X: Any) -> Any:
        return self.model_.predict_log_proba(X)

    def predict_joint_log_proba(self, X: Any) -> Any:
        return self.model_.log_joint(X)

    def _sums(self) -> list[Any]:
        """The statistics of each class."""
        groups = self.model_.statistics_.groups
        return [groups[label] for label in self.classes_.tolist()]

    @property
    def classes_(self) -> Any:
        return self.model_.classes_

    @property
    def class_count_(self) -> Any:
        return np.array([group.weight for group in self._sums()])

    @property
    def class_prior_(self) -> Any:
        return self.model_.priors_

    @property
    def class_log_prior_(self) -> Any:
        return np.log(self.model_.priors_)


class GaussianNB(NaiveBayesAdapter):
    """Normal columns."""

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _model(self) -> Any:
        if self.var_smoothing != 1e-9:
            raise NoSuchSetting(
                "var_smoothing adds the same number to the variances of all columns"
            )
        return suffice.NaiveBayes("gaussian")

    def _given_priors(self) -> Any:
        return self.priors

    def _parameter(self, name: str) -> Any:
        columns = self.model_.parameters_.values()
        return np.array([[column[c][name] for column in columns] for c in self.classes_.tolist()])

    @property
    def theta_(self) -> Any:
        return self._parameter("mean")

    @property
    def var_(self) -> Any:
        return self._parameter("variance")


class Discrete(NaiveBayesAdapter):
    """Counts of any kind."""

    def _smoothing(self) -> float:
        if np.ndim(self.alpha):
            raise NoSuchSetting("Hint: one alpha for all columns")
        # "force_alpha=False" lifts a tiny alpha to 1e-10; ours is exact at 0, so nothing is lifted.
        return self.alpha

    def _given_priors(self) -> Any:
        if self.class_prior is not None:
            return self.class_prior
        return None if self.fit_prior else "uniform"

    @property
    def feature_count_(self) -> Any:
        return np.array([group.parts[0].sums for group in self._sums()])

    @property
    def feature_log_prob_(self) -> Any:
        return self.model_.feature_log_prob_


class BernoulliNB(Discrete):
    """Each column is there or not."""

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _model(self) -> Any:
        return suffice.BernoulliNaiveBayes(self.binarize, smoothing=self._smoothing())


class MultinomialNB(Discrete):
    """Words drawn one after the other."""

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _model(self) -> Any:
        return suffice.MultinomialNaiveBayes(smoothing=self._smoothing())


class ComplementNB(Discrete):
    """How unlike the other classes a row is; class frequencies are no part of it."""

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _model(self) -> Any:
        if self.norm:
            raise NoSuchSetting("norm")
        return suffice.ComplementNaiveBayes(smoothing=self._smoothing())

    def _with_priors(self, model: Any, y: Any) -> Any:
        return model

    @property
    def class_log_prior_(self) -> Any:
        counts = self.class_count_
        if self._given_priors() is not None:
            raise NoSuchSetting("priors of a form without a density")
        return np.log(counts / counts.sum())

    @property
    def feature_all_(self) -> Any:
        return self.feature_count_.sum(axis=0)


class CategoricalNB(Discrete):
    """Levels that the data have shown; there is none that nobody has seen."""

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def _model(self) -> Any:
        if self.min_categories is not None:
            raise NoSuchSetting("Hint: min_categories")
        return suffice.NaiveBayes("categorical", smoothing=self._smoothing())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().fit(self._codes(X), y, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        return super().partial_fit(self._codes(X), y, classes, sample_weight)

    def _codes(self, X: Any) -> Any:
        """scikit-learn cuts decimals off; here they are refused, so that nothing is lost."""
        return np.asarray(X, dtype=float).astype(int)

    @property
    def category_count_(self) -> Any:
        """Per column (k, levels), levels in their order."""
        return [
            np.array(
                [[_tally(group, j).get(level, 0.0) for level in levels] for group in self._sums()]
            )
            for j, levels in enumerate(self._levels())
        ]

    @property
    def n_categories_(self) -> Any:
        return np.array([len(levels) for levels in self._levels()])

    def _levels(self) -> list[list[Any]]:
        columns = self.model_.parameters_.values()
        return [sorted(next(iter(column.values()))) for column in columns]

    @property
    def feature_log_prob_(self) -> Any:
        return [
            np.log([list(column[c].values()) for c in self.classes_.tolist()])
            for column in self.model_.parameters_.values()
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags


def _tally(group: Any, column: int) -> dict[Any, float]:
    """How often each level of a column was seen."""
    tallies = group.parts[0]
    first = sum(len(levels) for levels in tallies.levels[:column])
    levels = tallies.levels[column]
    return dict(zip(levels, tallies.held[first : first + len(levels)].tolist(), strict=True))


DIFFERENCES: dict[str, tuple[str, ...]] = {
    "a class may come at any time, so none is announced and none is strange": (
        "test_gnb",
        "test_NB_partial_fit_no_first_classes",
        "test_discretenb_provide_prior[BernoulliNB]",
        "test_discretenb_provide_prior[CategoricalNB]",
        "test_discretenb_provide_prior[MultinomialNB]",
    ),
    "a private function of scikit-learn's": (
        "test_gnb_check_update_with_no_data",
        "test_check_alpha",
    ),
    "complement naive Bayes has no density, so neither priors nor a joint probability": (
        "test_discretenb_uniform_prior[ComplementNB]",
        "test_discretenb_provide_prior[ComplementNB]",
        "test_discretenb_provide_prior_with_partial_fit[ComplementNB]",
        "test_predict_joint_proba[ComplementNB]",
    ),
    "no second normalisation of complement weights": ("test_cnb",),
    "levels are those that were seen, not all whole numbers up to the largest": (
        "test_categoricalnb",
        "test_categoricalnb_with_min_categories",
    ),
    "alpha = 0 is exact, as the limit, and nothing is lifted or warned of": ("test_alpha[",),
    "one alpha for all columns": ("test_alpha_vector",),
    "variances are not widened by one number for all columns, which would depend on their units": (
        "test_check_accuracy_on_digits",
    ),
}

globals().update(
    adapted(
        "sklearn.tests.test_naive_bayes",
        {
            "sklearn.naive_bayes": {
                "BernoulliNB": BernoulliNB,
                "CategoricalNB": CategoricalNB,
                "ComplementNB": ComplementNB,
                "GaussianNB": GaussianNB,
                "MultinomialNB": MultinomialNB,
            }
        },
        DIFFERENCES,
    )
)
