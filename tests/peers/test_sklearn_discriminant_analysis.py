"""scikit-learn's tests of LDA and QDA, on GaussianDiscriminant."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from suffice import GaussianDiscriminant
from tests.peers.loading import Adapter, NoSuchSetting, adapted


class Discriminant(Adapter, ClassifierMixin, BaseEstimator):
    """What LDA and QDA have in common: priors in the order of the classes."""

    def _fitted(self, X: Any, y: Any, **settings: Any) -> GaussianDiscriminant:
        priors = None
        if self.priors is not None:
            priors = dict(zip(np.unique(y).tolist(), np.asarray(self.priors).tolist(), strict=True))
        if self.covariance_estimator is not None:
            raise NoSuchSetting("covariance_estimator")
        self.fitted_ = GaussianDiscriminant(priors=priors, **settings).fit(X, y)
        return self.fitted_

    def __getattr__(self, name: str) -> Any:
        if name in {"means_", "priors_", "classes_", "explained_variance_ratio_", "n_features_in_"}:
            return getattr(self.fitted_, name)
        raise AttributeError(name)

    def predict(self, X: Any) -> Any:
        return self.fitted_.predict(X)

    def decision_function(self, X: Any) -> Any:
        return self.fitted_.decision_function(X)

    def predict_proba(self, X: Any) -> Any:
        return self.fitted_.predict_proba(X)

    def predict_log_proba(self, X: Any) -> Any:
        return self.fitted_.predict_log_proba(X)


class LinearDiscriminantAnalysis(Discriminant):
    """One covariance for all classes; every solver is the same one here."""

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def fit(self, X: Any, y: Any) -> Any:
        if self.shrinkage == "auto":
            raise NoSuchSetting("shrinkage by the formula of Ledoit and Wolf")
        fitted = self._fitted(X, y, covariance="shared", shrink=self.shrinkage)
        linear = fitted.to_logistic()
        self.coef_, self.intercept_ = linear.coef_, linear.intercept_
        self.covariance_ = fitted.covariance_
        return self

    def transform(self, X: Any) -> Any:
        return self.fitted_.transform(X)[:, : self.n_components]

    def get_feature_names_out(self) -> Any:
        names = self.fitted_.get_feature_names_out()
        return np.array(
            [name.replace("gaussiandiscriminant", "lineardiscriminantanalysis") for name in names],
            dtype=object,
        )


class QuadraticDiscriminantAnalysis(Discriminant):
    """A covariance for each class, by its n - 1 rows."""

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def fit(self, X: Any, y: Any) -> Any:
        if self.reg_param:
            raise NoSuchSetting("reg_param adds an absolute number to variances")
        fitted = self._fitted(X, y, covariance="per-class", shrink=self.shrinkage)
        self.covariance_ = list(fitted.covariances_)
        return self


SOLVERS = [
    (solver, shrinkage) for solver in ("svd", "lsqr", "eigen") for shrinkage in (None, 0, 0.43)
]
"""Without "auto": the formula of Ledoit and Wolf needs sums of fourth powers."""

DIFFERENCES: dict[str, tuple[str, ...]] = {
    "a covariance comes from the sums, not from an estimator that reads the rows": (
        "test_lda_predict",
        "test_lda_shrinkage",
        "test_lda_ledoitwolf",
        "test_qda_covariance_estimator",
        "test_qda_ledoitwolf",
        "test_qda_shrinkage_performance",
    ),
    "priors that do not add up to one are refused, not rescaled": ("test_lda_priors",),
    "every way of solving has coordinates, as many as there are": (
        "test_lda_transform",
        "test_lda_dimension_warning",
    ),
    "covariances are there without being asked for": (
        "test_lda_store_covariance",
        "test_qda_store_covariance",
    ),
    "sums and parameters are doubles, whatever the cells are": ("test_lda_dtype_match[float32",),
    "a class of one row is fitted, and warned of": (
        "test_qda[",
        "test_raises_value_error_on_same_number_of_classes_and_samples",
        "test_raises_value_error_on_one_sample_per_class",
    ),
    "a direction without variance is floored and warned of, not refused": (
        "test_qda_regularization",
    ),
    "whitening is by one triangular factor, not by rotations and scalings": ("test_qda_coefs",),
}

globals().update(
    adapted(
        "sklearn.tests.test_discriminant_analysis",
        {
            "sklearn.discriminant_analysis": {
                "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis,
                "QuadraticDiscriminantAnalysis": QuadraticDiscriminantAnalysis,
            }
        },
        DIFFERENCES,
        {"solver_shrinkage": SOLVERS},
    )
)
