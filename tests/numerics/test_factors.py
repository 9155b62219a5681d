"""Factors against scikit-learn's FactorAnalysis: the same likelihood, or a higher one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import FactorAnalysis

from suffice import GaussianDiscriminant
from suffice.errors import OneClass


@pytest.mark.parametrize(
    ("table", "count"), [(load_wine, 3), (load_digits, 6), (load_breast_cancer, 1)]
)
def test_the_likelihood_is_that_of_factor_analysis(table: Any, count: int) -> None:
    X = table().data
    X = X[:, X.std(axis=0) > 0.0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClass)
        model = GaussianDiscriminant(factors=count).fit(X, np.zeros(len(X), dtype=int))
    theirs = FactorAnalysis(count, tol=1e-10, max_iter=20_000, svd_method="lapack").fit(X)
    # Theirs stops a little short; nothing is floored here.
    assert model.log_density(X).sum() >= theirs.score(X) * len(X) - 1e-6
    assert model.log_density(X).sum() == pytest.approx(theirs.score(X) * len(X), rel=1e-6)
    assert np.allclose(model.covariance_, theirs.get_covariance(), atol=2e-3)
