"""Rows that weigh far more than others: the others keep their digits, and nothing becomes NaN."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import suffice
from suffice import GaussianDiscriminant, GaussianMixture, LogisticRegression, NaiveBayes
from suffice.errors import SufficeError
from suffice.kernels.dense import few_rows_numba
from suffice.models.pool.members import MEMBERS
from suffice.special_functions import log_gamma_rise
from suffice.statistics import DiagonalMoments, Moments, PooledMoments
from suffice.statistics.moments import few_rows
from tests.searches import examples, quick

if TYPE_CHECKING:
    from collections.abc import Callable

DIGITS = 1e-12
"""What a scatter may be wrong by, whatever one row weighs: the sums of a hundred rows in plain
doubles have a bound of 1.2e-14, and the mean of one that is 1e30 times as heavy rounds it again."""

MADE: dict[str, Callable[[], Any]] = {
    "shared": lambda: GaussianDiscriminant("shared"),
    "per-class": lambda: GaussianDiscriminant("per-class"),
    "diagonal": lambda: GaussianDiscriminant("diagonal"),
    "spherical": lambda: GaussianDiscriminant("spherical"),
    "auto": lambda: GaussianDiscriminant("auto"),
    "VVE": lambda: GaussianDiscriminant("VVE"),
    "EVI": lambda: GaussianDiscriminant("EVI"),
    "factors": lambda: GaussianDiscriminant("per-class", factors=1),
    "predictive": lambda: GaussianDiscriminant("per-class", predictive=2.0),
    "gaussian": lambda: NaiveBayes("gaussian"),
    "predictive-gaussian": lambda: NaiveBayes("predictive-gaussian"),
    "lognormal": lambda: NaiveBayes("lognormal"),
    "poisson": lambda: NaiveBayes("poisson"),
    "mixture": lambda: GaussianMixture(2, "EEE", max_iter=5),
    "logistic": LogisticRegression,
}
QUESTIONS = ("predict_proba", "log_density", "typicality", "explain", "score_samples")


def _scatter(cells: Any, weights: Any) -> Fraction:
    w, x = [Fraction(v) for v in weights], [Fraction(v) for v in cells]
    mean = sum(a * b for a, b in zip(w, x, strict=True)) / sum(w)
    return sum((a * (b - mean) ** 2 for a, b in zip(w, x, strict=True)), Fraction(0))


@examples(20)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.sampled_from([2, 9, 32, 33, 100]),
    power=st.integers(-30, 30),
    offset=st.sampled_from([0.0, 1e6]),
)
@example(4, 10, 16, 0.0)  # about the plain mean of the rows, nothing was left of their variance
def test_one_heavy_row_leaves_the_variance_of_the_others_its_digits(
    seed: int, size: int, power: int, offset: float
) -> None:
    rng = np.random.default_rng(seed)
    rows, weights = rng.normal(size=(size, 2)) + offset, rng.uniform(0.5, 2.0, size)
    weights[rng.integers(size)] *= 10.0**power
    codes = np.zeros(size, dtype=np.intp)
    for one in (
        Moments.of(rows, weights),
        DiagonalMoments.of(rows, weights),
        PooledMoments.of_classes(rows, codes, ["a"], weights),
    ):
        found = np.diagonal(one.scatter) if one.scatter.ndim == 2 else one.scatter
        for j in range(2):
            right = _scatter(rows[:, j], weights)
            error = abs(Fraction(float(found[j])) - right)
            assert error <= Fraction(float(one.bound[j]))
            assert error <= Fraction(DIGITS) * right
            assert one.lost[j] < DIGITS


@examples(20)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 32), spread=st.integers(0, 300))
def test_variances_of_any_weights_are_not_negative_and_within_their_bound(
    seed: int, size: int, spread: int
) -> None:
    rng = np.random.default_rng(seed)
    rows, weights = rng.normal(size=(size, 2)), 10.0 ** rng.uniform(-spread, spread, size)
    for one in (
        Moments.of(np.tile(rows, (2, 1)), np.tile(weights, 2)),
        Moments.of(rows, weights),
        DiagonalMoments.of(rows, weights),
        PooledMoments.of_classes(rows, np.arange(size) % 2, ["a", "b"], weights),
    ):
        variances = np.diagonal(one.scatter) if one.scatter.ndim == 2 else one.scatter
        assert (variances >= 0.0).all()
        assert (one.lost >= 0.0).all()


@pytest.mark.slow  # it compiles
@examples(20)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 32), spread=st.integers(0, 30))
def test_the_compiled_sums_of_few_weighted_rows_are_the_plain_ones(
    seed: int, size: int, spread: int
) -> None:
    rng = np.random.default_rng(seed)
    rows, codes = rng.normal(size=(size, 3)), np.arange(size) % 2
    weights = 10.0 ** rng.uniform(-spread, spread, size)
    held = np.bincount(codes, weights, minlength=2)
    plain = few_rows.few_centres(rows, codes, 2, weights, held[:, np.newaxis])
    compiled = few_rows_numba.few_products(rows, codes, weights, held)
    if compiled is None:  # left to NumPy
        return
    means, squares, error, _ = compiled
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(few_rows, "_twin", lambda: None)
        given_up = few_rows.classes_summed_precisely(rows, codes, weights)
    totals = few_rows_numba.few_products(rows, codes, weights, given_up.weights[0])
    assert totals is not None
    np.testing.assert_array_equal(totals[0][0], given_up.means[0])
    np.testing.assert_array_equal(totals[1][0], given_up.squares[0])
    np.testing.assert_array_equal(totals[2], given_up.error)
    np.testing.assert_allclose(means[0], plain, rtol=1e-9, atol=1e-9)
    assert np.isfinite(squares).all()
    assert np.isfinite(error).all()


@pytest.mark.parametrize("name", MADE)
@examples(3)
@example(seed=2400, spread=300)
@given(seed=st.integers(0, 2**32 - 1), spread=st.sampled_from([20, 100, 300]))
def test_weights_of_all_sizes_have_answers_or_a_refusal(name: str, seed: int, spread: int) -> None:
    rng = np.random.default_rng(seed)
    labels = np.arange(24) % 2
    rows = np.round(np.abs(rng.normal(size=(24, 3)) + 2.0 * labels[:, np.newaxis]), 2) + 1.0
    if name == "poisson":
        rows = np.round(rows)
    weights = 10.0 ** rng.uniform(-spread, spread, 24)
    model = MADE[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(rows, labels, sample_weight=weights)
        except SufficeError:
            return
        for question in (*QUESTIONS, "leave_one_out"):
            ask = getattr(model, question, None)
            given = (rows, labels, weights) if question == "leave_one_out" else (rows,)
            if ask is None:
                continue
            try:
                found = ask(*given)
            except SufficeError:
                continue
            for part in ("contributions", "log_posterior"):
                found = getattr(found, part, found)
            assert not np.isnan(found).any(), question


@examples(20)
@given(h=st.floats(1e-3, 1e12), a=st.sampled_from([0.5, 1.0, 5.0, 20.0]))
def test_differences_of_log_gamma_keep_their_digits(h: float, a: float) -> None:
    if a == 0.5:  # Γ(h + ½)² Γ(h)⁻² = h exactly in the limit; twice the step is one of a = 1
        whole = float(log_gamma_rise(h, 0.5) + log_gamma_rise(h + 0.5, 0.5))
        assert whole == pytest.approx(float(np.log(h)), rel=1e-6, abs=1e-6)
        return
    right = float(np.log(h + np.arange(int(a))).sum())
    assert float(log_gamma_rise(h, a)) == pytest.approx(right, rel=1e-7, abs=1e-6)


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("weight", quick([1e20, 1e100, 1e300], 1e100))
def test_a_row_that_outweighs_all_others_leaves_members_of_a_pool_with_answers(
    member: str, weight: float
) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 2)), np.arange(24) % 2
    X[:, 1] = np.round(X[:, 1])
    heavy = rng.uniform(0.1, 10.0, 24)
    heavy[0] = weight
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = suffice.Pool([member]).fit(X, y, sample_weight=heavy)
        said = model.predict_proba(X)
    assert np.isfinite(said).all()
    np.testing.assert_allclose(said.sum(axis=1), 1.0)
