"""A path of shrinkages is what single fits give, one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from suffice import GaussianDiscriminant
from suffice.errors import BadSetting
from suffice.families import Gaussian
from suffice.models import GaussianLearner, shrinkage_path
from suffice.statistics import leave_one_out, total


def drawn(seed=0, n=90, d=4, k=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 1e4 + y[:, None], y


@pytest.mark.parametrize("divisor", ["mle", "unbiased"])
@pytest.mark.parametrize("priors", [None, {0: 0.5, 1: 0.3, 2: 0.2}])
def test_every_point_of_the_path_is_a_fit(divisor, priors):
    X, y = drawn()
    learner = GaussianLearner(Gaussian("shared"))
    shrinks = [0.0, 0.1, 0.7, 1.0]
    path = shrinkage_path(
        learner.summarize(X, y, [0, 1, 2]), shrinks, priors=priors, divisor=divisor
    )
    found = path.log_posteriors(X)
    for s, shrink in enumerate(shrinks):
        model = GaussianDiscriminant(shrink=shrink, divisor=divisor, priors=priors).fit(X, y)
        np.testing.assert_allclose(found[s], model.predict_log_proba(X), atol=1e-8)
        np.testing.assert_allclose(path[s].log_posterior(X), found[s], atol=1e-10)
    assert len(path) == 4


def test_folds_are_merged_and_never_refitted():
    X, y = drawn(1)
    folds = np.arange(len(X)) % 5
    learner = GaussianLearner(Gaussian("shared"))
    parts = [learner.summarize(X[folds == f], y[folds == f], [0, 1, 2]) for f in range(5)]
    for f, statistics in enumerate(leave_one_out(parts)):
        path = shrinkage_path(statistics, [0.3])
        model = GaussianDiscriminant(shrink=0.3).fit(X[folds != f], y[folds != f])
        np.testing.assert_allclose(path.log_posteriors(X)[0], model.predict_log_proba(X), atol=1e-8)
    assert total(parts).weight == len(X)


def test_what_is_no_shrinkage_or_has_no_path_is_refused():
    X, y = drawn()
    statistics = GaussianLearner(Gaussian("shared")).summarize(X, y, [0, 1, 2])
    with pytest.raises(BadSetting, match="0 … 1"):
        shrinkage_path(statistics, [0.5, 2.0])
    with pytest.raises(BadSetting, match="pooled"):
        shrinkage_path(GaussianLearner(Gaussian("per-class")).summarize(X, y, [0, 1, 2]), [0.5])
