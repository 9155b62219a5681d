"""The normal law against SciPy's, wherever SciPy's is right, and where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import BadMatrix
from suffice.models.gaussian.law.normal import Normal

scipy_stats = pytest.importorskip("scipy.stats")

seeds = st.integers(0, 2**32 - 1)


def well_conditioned(rng: np.random.Generator, width: int) -> np.ndarray:
    basis = np.linalg.qr(rng.normal(size=(width, width)))[0]
    return basis * rng.uniform(0.2, 5.0, width) @ basis.T


@given(seeds, st.integers(1, 8))
def test_density_and_entropy_are_those_of_scipy(seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    mean, covariance = rng.normal(size=width), well_conditioned(rng, width)
    ours, theirs = (
        Normal(mean, covariance),
        scipy_stats.multivariate_normal(mean, covariance),
    )
    rows = rng.normal(size=(20, width)) * 3.0
    expected = np.atleast_1d(theirs.logpdf(rows))
    np.testing.assert_allclose(ours.log_density(rows), expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(ours.density(rows), np.exp(expected), rtol=1e-9)
    assert ours.entropy() == pytest.approx(float(theirs.entropy()), rel=1e-11, abs=1e-11)


@given(seeds, st.integers(1, 8))
def test_typicality_is_the_upper_tail_of_chi_squared(seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    mean, covariance = rng.normal(size=width), well_conditioned(rng, width)
    rows = rng.normal(size=(20, width)) * 3.0
    gaps = rows - mean
    squares = np.einsum("ij,ij->i", gaps @ np.linalg.inv(covariance), gaps)
    law = Normal(mean, covariance)
    np.testing.assert_allclose(law.mahalanobis(rows), np.sqrt(squares), rtol=1e-10)
    np.testing.assert_allclose(
        law.typicality(rows), scipy_stats.chi2.sf(squares, width), rtol=1e-9, atol=1e-300
    )


@given(seeds, st.integers(2, 6), st.data())
def test_degenerate_densities_are_those_of_scipy(
    seed: int, width: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    rank = data.draw(st.integers(1, width - 1))
    basis = np.linalg.qr(rng.normal(size=(width, width)))[0][:, :rank]
    factor = basis * rng.uniform(0.5, 2.0, rank)
    law = Normal(np.zeros(width), factor @ factor.T)
    rows = rng.normal(size=(10, rank)) @ factor.T
    theirs = scipy_stats.multivariate_normal(
        np.zeros(width), factor @ factor.T, allow_singular=True
    )
    expected = np.atleast_1d(theirs.logpdf(rows))
    assert law.rank == rank
    np.testing.assert_allclose(law.log_density(rows), expected, rtol=1e-7, atol=1e-7)


def test_a_marginal_has_the_density_scipy_gives_it() -> None:
    rng = np.random.default_rng(3)
    mean, covariance = rng.normal(size=5), well_conditioned(rng, 5)
    rows = rng.normal(size=(50, 2))
    theirs = scipy_stats.multivariate_normal(mean[[3, 1]], covariance[np.ix_([3, 1], [3, 1])])
    ours = Normal(mean, covariance).marginal([3, 1])
    np.testing.assert_allclose(ours.log_density(rows), theirs.logpdf(rows), rtol=1e-11)


def test_a_small_variance_is_not_a_missing_direction() -> None:
    law = Normal([0.0, 0.0], np.diag([1.0, 1e-11]))
    assert law.rank == 2
    expected = scipy_stats.norm.logpdf([0.3]) + scipy_stats.norm.logpdf([2e-6], scale=1e-11**0.5)
    np.testing.assert_allclose(law.log_density([[0.3, 2e-6]]), expected, rtol=1e-12)


def test_an_asymmetric_matrix_is_refused_where_scipy_reads_one_triangle() -> None:
    lopsided = np.array([[1.0, 0.5], [0.0, 1.0]])
    for matrix, above, below in ((lopsided, 0.5, 0.0), (lopsided.T, 0.0, 0.5)):
        with pytest.raises(BadMatrix, match=rf"\[0, 1\] is {above} but \[1, 0\] is {below}"):
            Normal([0.0, 0.0], matrix)
