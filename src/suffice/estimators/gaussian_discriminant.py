"""Gaussian discriminant analysis: LDA, QDA and what lies between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator, ClassifierMixin

from suffice.estimators.fisher_coordinates import FisherCoordinates
from suffice.estimators.gaussian_answers import GaussianAnswers
from suffice.estimators.gaussian_learning import GaussianLearning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.rows import Label


class GaussianDiscriminant(
    GaussianLearning,
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

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing cells are legal, and whether there is a transform."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        if self.covariance != "shared":
            tags.transformer_tags = None
        return tags
