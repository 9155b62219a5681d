"""log Γ and normal quantiles are those of SciPy, without its import."""

from __future__ import annotations

import numpy as np
from scipy import special

from suffice.special_functions import log_gamma, normal_quantile


def test_log_gamma_is_scipys() -> None:
    x = np.concatenate([np.logspace(-8.0, 8.0, 4001), np.arange(1, 400) / 2.0])
    expected = special.gammaln(x)
    # Near 1 and 2 it crosses 0, where only absolute errors mean something.
    assert np.max(np.abs(log_gamma(x) - expected) / np.maximum(1.0, np.abs(expected))) < 2e-14
    assert log_gamma([0.0, np.inf]).tolist() == [np.inf, np.inf]
    assert np.isnan(log_gamma(np.nan))


def test_quantiles_of_the_normal_law_are_scipys() -> None:
    tails = np.logspace(-300.0, -1e-3, 4001)
    p = np.concatenate([tails, 1.0 - np.logspace(-15.0, -1e-3, 4001), np.linspace(0.01, 0.99, 999)])
    np.testing.assert_allclose(normal_quantile(p), special.ndtri(p), rtol=4e-15, atol=1e-16)
    assert normal_quantile([0.0, 0.5, 1.0]).tolist() == [-np.inf, 0.0, np.inf]
    assert np.isnan(normal_quantile([-0.1, 1.1, np.nan])).all()
