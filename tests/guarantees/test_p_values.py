"""p-values of a watch are those of scipy.stats, which is not imported for them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from suffice.monitoring.p_values import of_chi_square, of_counts, of_t, of_two_means
from tests.searches import examples

COUNTS = st.lists(st.integers(0, 3000), min_size=4, max_size=4)


@given(COUNTS, st.booleans())
@examples(50)
def test_fishers_exact_test(cells: list[int], more: bool) -> None:
    table = np.array(cells, dtype=np.float64).reshape(2, 2)
    wanted = stats.fisher_exact(table, alternative="greater" if more else "two-sided")[1]
    assert of_counts(table, more=more) == pytest.approx(wanted, rel=1e-6, abs=1e-200)


def test_of_many_counts_shares_are_compared_as_normal_ones() -> None:
    table = np.array([[1e9, 1e9], [1e9 + 3e4, 1e9]])
    wanted = stats.chi2_contingency(table, correction=False)[1]
    assert of_counts(table) == pytest.approx(wanted, rel=1e-6)
    assert of_counts(np.array([[1e12, 1e12], [1e12, 2e12]])) == 0.0


@given(st.integers(0, 2**32), st.integers(2, 60), st.integers(2, 60))
@examples(25)
def test_two_means_t_and_chi_square(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), 2.0 * rng.normal(size=m)
    found = of_two_means(
        np.array([a.mean(), b.mean()]),
        np.array([a.var(ddof=1), b.var(ddof=1)]),
        np.array([n, m], dtype=float),
    )
    assert found == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue, rel=1e-9)
    t = 3.0 * float(rng.normal())
    assert of_t(t, n) == pytest.approx(2.0 * stats.t.sf(abs(t), n), rel=1e-9)
    assert of_chi_square(t * t, n) == pytest.approx(stats.chi2.sf(t * t, n), rel=1e-9)


def test_no_spread_at_all() -> None:
    rows = np.array([5.0, 5.0])
    assert of_two_means(np.array([1.0, 1.0]), np.zeros(2), rows) == 1.0
    assert of_two_means(np.array([1.0, 2.0]), np.zeros(2), rows) == 0.0
