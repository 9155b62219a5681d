"""p-values of fresh rows are uniform, however few rows a class was learned from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from suffice import GaussianDiscriminant


def fresh_p_values(covariance, draws, *, n, d, k=2, gaps=False, training=False, seed=0):
    """Return p-values of rows under their own class, over many small fits."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(d, d))
    found = []
    for _ in range(draws):
        y = np.arange(n * k) % k
        X = rng.normal(size=(n * k, d)) @ mixing + 3.0 * y[:, np.newaxis]
        model = GaussianDiscriminant(covariance).fit(X, y)
        if training:
            chosen = rng.integers(0, n * k, 4)
            p = model.typicality(X[chosen], y[chosen])[np.arange(4), y[chosen]]
        else:
            new = np.arange(4) % k
            Z = rng.normal(size=(4, d)) @ mixing + 3.0 * new[:, np.newaxis]
            if gaps:
                Z[rng.random(Z.shape) < 0.3] = np.nan
            p = model.typicality(Z)[np.arange(4), new]
        found.append(p)
    return np.concatenate(found)


@pytest.mark.parametrize("covariance", ["shared", "per-class"])
def test_p_values_of_fresh_rows_are_uniform_at_thirty_rows_of_ten_columns(covariance):
    p = fresh_p_values(covariance, 500, n=30, d=10)
    assert kstest(p, "uniform").pvalue > 0.01


@pytest.mark.parametrize("covariance", ["shared", "per-class"])
def test_p_values_of_rows_in_the_fit_are_uniform_too(covariance):
    p = fresh_p_values(covariance, 500, n=30, d=10, training=True, seed=1)
    assert kstest(p, "uniform").pvalue > 0.01


def test_p_values_with_missing_cells_are_uniform():
    p = fresh_p_values("per-class", 400, n=30, d=5, gaps=True, seed=2)
    p = p[p < 1.0]  # rows without any cell have p = 1
    assert kstest(p, "uniform").pvalue > 0.01


def test_treating_estimates_as_given_would_not_be_uniform():
    """The chi-squared p-values that fitted parameters seem to invite are far too small."""
    from scipy.stats import chi2

    rng = np.random.default_rng(3)
    p = []
    for _ in range(200):
        X = rng.normal(size=(30, 10))
        with np.errstate(all="ignore"):
            covariance = np.cov(X.T, bias=True)
        z = rng.normal(size=10) - X.mean(axis=0)
        p.append(chi2.sf(z @ np.linalg.solve(covariance, z), 10))
    assert np.mean(np.array(p) < 0.05) > 0.2
