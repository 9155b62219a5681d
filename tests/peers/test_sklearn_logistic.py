"""scikit-learn's tests of logistic regression, on ours."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_sample_weight

import suffice
from suffice.errors import DidNotConverge, SufficeWarning
from tests.peers.loading import Absent, Adapter, NoSuchSetting, adapted


class LogisticRegression(Adapter, ClassifierMixin, BaseEstimator):
    """Every solver is the one that ends at the maximum.

    scikit-learn penalises coefficients as they are, we penalise them in standard deviations of
    their columns: the same where those are all alike, and elsewhere another, named difference.
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "lbfgs",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: Any = None,
        penalty: Any = "deprecated",
    ) -> None:
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.penalty = penalty

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        if self.dual:
            raise NoSuchSetting("a dual problem")
        if self.penalty != "deprecated" or self.l1_ratio is None:
            raise NoSuchSetting("settings that scikit-learn itself is about to drop")
        if self.class_weight is not None:
            given = 1.0 if sample_weight is None else np.asarray(sample_weight)
            sample_weight = given * compute_sample_weight(self.class_weight, y)
        if not (self.warm_start and hasattr(self, "model_")):
            self.model_ = suffice.LogisticRegression(warm_start=self.warm_start)
        about = None if self.fit_intercept else 0.0
        spread = _spread(X, sample_weight, about)
        # Theirs: l1_ratio·|w|/C + ½(1 - l1_ratio)·w²/C. Ours are of w times a standard deviation.
        first = self.l1_ratio / np.sqrt(spread)
        second = (1.0 - self.l1_ratio) / spread
        self.model_.set_params(
            intercept=self.fit_intercept,
            penalty=0.0 if np.isinf(self.C) else (first + second) / self.C,
            l1_ratio=first / (first + second),
            max_passes=max(self.max_iter, 1),
            tolerance=min(self.tol, 1e-6),
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.model_.fit(X, y, sample_weight)
        if any(issubclass(warning.category, DidNotConverge) for warning in caught):
            warnings.warn("not converged", ConvergenceWarning, stacklevel=2)
        for warning in caught:
            if not issubclass(warning.category, SufficeWarning):
                warnings.warn_explicit(
                    warning.message, warning.category, warning.filename, warning.lineno
                )
        self.coef_, self.intercept_ = self.model_.coef_, self.model_.intercept_
        if len(self.classes_) > 2 and not self.l1_ratio:  # theirs add up to zero over the classes
            self.coef_ = self.coef_ - self.coef_.mean(axis=0)
            self.intercept_ = self.intercept_ - self.intercept_.mean()
        self.n_iter_ = np.array([self.model_.n_iter_], dtype=np.int32)
        self.n_features_in_ = self.model_.n_features_in_
        return self

    @property
    def classes_(self) -> Any:
        return self.model_.classes_

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self.model_.predict_proba(X)

    def predict_log_proba(self, X: Any) -> Any:
        return self.model_.predict_log_proba(X)

    def decision_function(self, X: Any) -> Any:
        return self.model_.decision_function(X)


def _spread(X: Any, weights: Any, about: float | None) -> float:
    """Return the mean square about the means (or about 0) if all columns have the same, else 1."""
    rows = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=float)
    centre = np.average(rows, axis=0, weights=weights) if about is None else about
    squares = np.average((rows - centre) ** 2, axis=0, weights=weights)
    return float(squares[0]) if np.allclose(squares, squares[0], rtol=1e-9) else 1.0


class LogisticRegressionCV(Absent):
    """Penalties are compared by `suffice.compare`, not by a class of their own."""


def _no_path(*arguments: Any, **settings: Any) -> Any:
    raise NoSuchSetting("a private function of scikit-learn's")


DIFFERENCES: dict[str, tuple[str, ...]] = {
    "the penalty is on coefficients in standard deviations, so that units do not matter": (
        "test_logistic_glmnet",
    ),
    "one solver takes what it is given, so there are no wrong pairs of solver and setting": (
        "test_check_solver_option[LogisticRegression]",
        "test_l1_ratio_non_elasticnet",
        "test_large_sparse_matrix[liblinear",
        "test_large_sparse_matrix[sag",
        "test_liblinear_with_large_values",
        "test_newton_cholesky_fallback_to_lbfgs",
        "test_liblinear_multiclass_raises[LogisticRegression]",
    ),
    "a fitted model is not written to": ("test_sparsify", "test_write_parameters"),
    "a private function of scikit-learn's": ("test_logreg_predict_proba_multinomial",),
    "it begins where GDA ends, and three passes may do": ("test_max_iter[max_iter3",),
    "the first pass looks and the second takes a step, so there are two at least": (
        "test_max_iter[max_iter0",
    ),
    "passes are counted, not steps: two fits of one pass are not one of two": (
        "test_warm_start_newton_solver",
    ),
    "at least one pass is made": ("test_zero_max_iter",),
    "coefficients are doubles, whatever the cells are": (
        "test_dtype_match[True-lbfgs",
        "test_dtype_match[True-newton-cg",
        "test_dtype_match[True-newton-cholesky",
        "test_dtype_match[True-sag",
        "test_dtype_match[False-lbfgs",
        "test_dtype_match[False-newton-cg",
        "test_dtype_match[False-newton-cholesky",
        "test_dtype_match[False-sag",
    ),
    "there are no threads to choose and no callbacks": (
        "test_logisticregression_warns_with_n_jobs",
        "test_logistic_regression_callback_support",
        "test_logistic_regression_callback_fitted_estimator",
        "test_logistic_regression_callback_support_warning",
    ),
}

globals().update(
    adapted(
        "sklearn.linear_model.tests.test_logistic",
        {
            "sklearn.linear_model": {
                "LogisticRegression": LogisticRegression,
                "LogisticRegressionCV": LogisticRegressionCV,
            },
            "sklearn.linear_model._logistic": {
                "_logistic_regression_path": _no_path,
                "_log_reg_scoring_path": _no_path,
            },
        },
        DIFFERENCES,
    )
)
