"""What logistic regression obeys: weights, order, units, labels, scores, and its certificate."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from suffice import LogisticRegression
from suffice.errors import DegenerateData, SufficeWarning
from tests.reference.logistic_tables import is_separated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

seeds = st.integers(0, 2**32 - 1)
classes = st.integers(2, 4)
widths = st.integers(1, 4)
penalties = st.sampled_from([0.0, 0.0, 0.1, 1.0, 30.0])


def overlapping(seed: int, k: int, d: int, most: int = 60) -> tuple[Array, Array]:
    """Return rows of classes that overlap, in units and places of all kinds."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10 * k + 5 * d, 10 * k + 5 * d + most))
    y = rng.permutation(np.arange(n) % k)
    means = rng.normal(size=(k, d)) * rng.choice([0.1, 0.5, 1.0])
    rows = rng.normal(size=(n, d)) + means[y]
    if rng.random() < 0.3:
        rows = np.round(rows)  # ties, and rows that come again
    return rows * 10.0 ** rng.integers(-3, 4, d) + rng.choice([0.0, 10.0], d), y


def fitted(
    X: Any, y: Array, weights: Array | None = None, penalty: float = 0.0, **more: Any
) -> Any:
    """Return the fit; rows without a maximum are none to try a law on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        model = LogisticRegression(penalty, **more).fit(X, y, weights)
    assume(model.separated_ is None)
    assert model.converged_, (model.n_iter_, model.bound_)
    return model


def theta(model: Any) -> Array:
    """Return [θ₀, θ] of every class against the first (k - 1, d + 1)."""
    found = model.against()
    return np.column_stack([found.intercept, found.coef])


def errors_of(model: Any) -> Array:
    """Return the standard errors of θ; of coefficients that have none, 1."""
    found = model.summary().standard_errors
    return np.where(np.isfinite(found), found, 1.0)


def assert_same_fit(found: Any, expected: Any, within: float = 1e-6) -> None:
    """Compare two fits of the same columns, in standard errors, and their standard errors."""
    spread = errors_of(expected)
    apart = np.abs(theta(found) - theta(expected)) / spread
    assert apart.max() < within
    np.testing.assert_allclose(errors_of(found), spread, rtol=1e-5)


# Rows


@given(seeds, classes, widths, penalties)
def test_a_weight_is_a_number_of_rows(seed: int, k: int, d: int, penalty: float) -> None:
    X, y = overlapping(seed, k, d)
    times = np.random.default_rng(seed).integers(0, 4, len(y))
    assume(len(np.unique(y[times > 0])) == k)
    weighted = fitted(X, y, times.astype(float), penalty)
    repeated = fitted(np.repeat(X, times, axis=0), np.repeat(y, times), None, penalty)
    assert_same_fit(weighted, repeated)


@given(seeds, classes, widths, penalties)
def test_the_order_of_rows_does_not_matter(seed: int, k: int, d: int, penalty: float) -> None:
    X, y = overlapping(seed, k, d)
    order = np.random.default_rng(seed).permutation(len(y))
    assert_same_fit(fitted(X[order], y[order], None, penalty), fitted(X, y, None, penalty))


@given(seeds, classes, widths, penalties)
def test_a_row_may_be_cut_into_rows_of_smaller_weights(
    seed: int, k: int, d: int, penalty: float
) -> None:
    X, y = overlapping(seed, k, d)
    rng = np.random.default_rng(seed)
    weights, share = rng.uniform(0.1, 5.0, len(y)), rng.random(len(y))
    whole = fitted(X, y, weights, penalty)
    cut = np.concatenate([weights * share, weights * (1.0 - share)])
    assert_same_fit(fitted(np.vstack([X, X]), np.r_[y, y], cut, penalty), whole)


@given(seeds, classes, widths, st.floats(1e-3, 1e3))
def test_larger_weights_shrink_errors_and_nothing_else(
    seed: int, k: int, d: int, factor: float
) -> None:
    X, y = overlapping(seed, k, d)
    once = fitted(X, y)
    more = fitted(X, y, np.full(len(y), factor))
    assert (np.abs(theta(more) - theta(once)) / errors_of(once)).max() < 1e-6
    np.testing.assert_allclose(errors_of(more) * np.sqrt(factor), errors_of(once), rtol=1e-5)
    bound, half = fitted(X, y, None, 3.0), fitted(X, y, np.full(len(y), factor), 3.0 * factor)
    assert (np.abs(theta(half) - theta(bound)) / errors_of(bound)).max() < 1e-6


@given(seeds, classes, widths, penalties)
def test_rows_of_weight_zero_do_nothing(seed: int, k: int, d: int, penalty: float) -> None:
    X, y = overlapping(seed, k, d)
    rng = np.random.default_rng(seed)
    strange = rng.normal(size=(5, d)) * 1e6
    strange[0] = np.inf
    more = np.vstack([X, strange])
    weights = np.r_[np.ones(len(y)), np.zeros(5)]
    labels = np.r_[y, rng.integers(0, k, 5)]
    assert_same_fit(fitted(more, labels, weights, penalty), fitted(X, y, None, penalty), 1e-7)


# Columns


@given(seeds, classes, widths)
def test_coefficients_change_against_the_columns(seed: int, k: int, d: int) -> None:
    """x' = Ax + b has θ' = A⁻ᵀθ, and the same posterior."""
    X, y = overlapping(seed, k, d)
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0] * 10.0 ** rng.uniform(-3, 3, d)
    Z = (X - X.mean(axis=0)) / X.std(axis=0) @ turn.T + rng.normal(size=d) * 10.0
    before, after = fitted(X, y), fitted(Z, y)
    back = after.against().coef @ turn / X.std(axis=0)
    spread = errors_of(before)[:, 1:]
    assert (np.abs(back - before.against().coef) / spread).max() < 1e-5
    np.testing.assert_allclose(
        after.predict_log_proba(Z), before.predict_log_proba(X), rtol=1e-6, atol=1e-7
    )


@given(seeds, classes, widths, penalties)
def test_units_and_places_of_columns_do_not_matter(
    seed: int, k: int, d: int, penalty: float
) -> None:
    X, y = overlapping(seed, k, d)
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.uniform(-6, 6, d) * rng.choice([-1.0, 1.0], d)
    Z = (X - X.mean(axis=0)) * units + rng.normal(size=d) * np.abs(units) * 100.0
    before, after = fitted(X, y, None, penalty), fitted(Z, y, None, penalty)
    spread = errors_of(before)[:, 1:]
    assert (np.abs(after.against().coef * units - before.against().coef) / spread).max() < 1e-6
    np.testing.assert_allclose(after.predict_proba(Z), before.predict_proba(X), atol=1e-7)


@given(seeds, classes, widths, penalties)
def test_the_order_of_columns_does_not_matter(seed: int, k: int, d: int, penalty: float) -> None:
    X, y = overlapping(seed, k, d)
    order = np.random.default_rng(seed).permutation(d)
    before, after = fitted(X, y, None, penalty), fitted(X[:, order], y, None, penalty)
    spread = errors_of(before)[:, 1:][:, order]
    assert (np.abs(after.against().coef - before.against().coef[:, order]) / spread).max() < 1e-6


@given(seeds, classes, widths, st.floats(0.01, 100.0), st.booleans())
def test_a_column_twice_shares_its_coefficient_by_least_norm(
    seed: int, k: int, d: int, unit: float, turned: bool
) -> None:
    """Of equal columns in other units, each has half of β·s; nothing else changes."""
    X, y = overlapping(seed, k, d)
    place = seed % d
    unit = -unit if turned else unit
    wide = np.column_stack([X, X[:, place] * unit + 7.0])
    before = fitted(X, y)
    with pytest.warns(DegenerateData, match="are linearly dependent"):
        after = LogisticRegression().fit(wide, y)
    assert after.converged_
    np.testing.assert_allclose(after.predict_proba(wide), before.predict_proba(X), atol=1e-7)
    spread = errors_of(before)[:, 1:]
    expected = before.against().coef.copy()
    expected[:, place] /= 2.0
    found = after.against().coef
    assert (np.abs(found[:, :d] - expected) / spread).max() < 1e-6
    assert (np.abs(found[:, d] * unit - expected[:, place]) / spread[:, place]).max() < 1e-6
    told = after.summary().standard_errors[:, 1:]
    assert np.isnan(told[:, [place, d]]).all()
    rest = [j for j in range(d) if j != place]
    np.testing.assert_allclose(told[:, rest], spread[:, rest], rtol=1e-5)


@given(seeds, classes, widths, penalties, st.floats(-1e6, 1e6))
def test_a_constant_column_has_no_coefficient(
    seed: int, k: int, d: int, penalty: float, level: float
) -> None:
    X, y = overlapping(seed, k, d)
    before = fitted(X, y, None, penalty)
    with pytest.warns(DegenerateData, match="never var"):
        after = LogisticRegression(penalty).fit(np.column_stack([np.full(len(y), level), X]), y)
    assert after.converged_
    assert (after.against().coef[:, 0] == 0.0).all()
    apart = after.against().coef[:, 1:] - before.against().coef
    assert (np.abs(apart) / errors_of(before)[:, 1:]).max() < 1e-6


@given(seeds, classes, widths)
def test_another_column_never_makes_the_fit_worse(seed: int, k: int, d: int) -> None:
    X, y = overlapping(seed, k, d)
    wide = np.column_stack([X, np.random.default_rng(seed).normal(size=len(y))])
    small, large = fitted(X, y), fitted(wide, y)
    deviance = small.summary().fit.deviance
    assert large.summary().fit.deviance <= deviance * (1.0 + 1e-12)
    assert deviance <= small.summary().fit.null_deviance * (1.0 + 1e-12)


# Labels


@given(seeds, classes, widths, penalties)
def test_other_names_permute_the_coefficients(seed: int, k: int, d: int, penalty: float) -> None:
    X, y = overlapping(seed, k, d)
    names = np.random.default_rng(seed).permutation(k)
    before, after = fitted(X, y, None, penalty), fitted(X, names[y], None, penalty)
    if k == 2:
        sign = 1.0 if names[0] == 0 else -1.0
        np.testing.assert_allclose(after.coef_, sign * before.coef_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(after.intercept_, sign * before.intercept_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(
        after.predict_log_proba(X)[:, names], before.predict_log_proba(X), rtol=1e-6, atol=1e-7
    )
    compared = after.against(int(names[0]))
    order = [compared.classes.tolist().index(int(name)) for name in names[1:]]
    apart = compared.coef[order] - before.against().coef
    assert (np.abs(apart) / errors_of(before)[:, 1:]).max() < 1e-6
    told = after.summary(reference=int(names[0])).standard_errors[order]
    np.testing.assert_allclose(told, before.summary().standard_errors, rtol=1e-5)


# Containers


@given(seeds, classes, widths, penalties)
def test_sparse_rows_are_rows(seed: int, k: int, d: int, penalty: float) -> None:
    from scipy import sparse

    X, y = overlapping(seed, k, d)
    X = np.where(np.random.default_rng(seed).random(X.shape) < 0.5, X, 0.0)
    dense = fitted(X, y, None, penalty)
    thin = fitted(sparse.csr_array(X), y, None, penalty)
    assert_same_fit(thin, dense)
    np.testing.assert_allclose(
        thin.predict_proba(sparse.csr_array(X)), dense.predict_proba(X), atol=1e-7
    )


@given(seeds, classes, widths, penalties)
def test_single_precision_rows_are_the_same_rows(seed: int, k: int, d: int, penalty: float) -> None:
    X, y = overlapping(seed, k, d)
    single = X.astype(np.float32)
    assert_same_fit(
        fitted(single, y, None, penalty), fitted(single.astype(float), y, None, penalty)
    )


# The maximum


@given(seeds, classes, widths, st.booleans())
def test_residuals_add_up_to_zero_in_every_column(
    seed: int, k: int, d: int, weighted: bool
) -> None:
    """Σ w(y - p) = 0 and Σ w(y - p)x = 0, class by class."""
    X, y = overlapping(seed, k, d)
    weights = np.random.default_rng(seed).uniform(0.1, 3.0, len(y)) if weighted else np.ones(len(y))
    model = fitted(X, y, weights)
    residuals = ((y[:, np.newaxis] == np.arange(k)) - model.predict_proba(X)) * weights[:, None]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert np.abs(residuals.sum(axis=0)).max() < 1e-7 * len(y)
    assert np.abs(Z.T @ residuals).max() < 1e-7 * len(y)


@given(seeds, classes, widths, st.floats(1e-3, 1e3))
def test_a_penalty_balances_the_residuals(seed: int, k: int, d: int, penalty: float) -> None:
    """Σ (y - p)z = penalty·β at the optimum, for β of standardised columns that add up to 0."""
    X, y = overlapping(seed, k, d)
    model = fitted(X, y, None, penalty)
    residuals = (y[:, np.newaxis] == np.arange(k)) - model.predict_proba(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    slopes = model.coef_ * X.std(axis=0)
    pull = penalty * (slopes if k > 2 else np.vstack([-slopes, slopes]))
    assert np.abs(residuals.sum(axis=0)).max() < 1e-7 * len(y)
    assert np.abs(residuals.T @ Z - pull).max() < 1e-7 * len(y)


@given(seeds, classes, widths)
def test_larger_penalties_hold_coefficients_back(seed: int, k: int, d: int) -> None:
    X, y = overlapping(seed, k, d)
    sizes = [
        float(np.square(fitted(X, y, None, penalty).coef_ * X.std(axis=0)).sum())
        for penalty in (0.0, 0.01, 1.0, 100.0, 1e4, 1e12)
    ]
    assert all(b <= a * (1.0 + 1e-7) for a, b in pairwise(sizes))
    assert sizes[-1] < 1e-12


@given(seeds, classes, widths, penalties, st.sampled_from([1e-10, 1e-4, 1e-2, 0.3]))
def test_the_maximum_is_never_beyond_the_bound(
    seed: int, k: int, d: int, penalty: float, tolerance: float
) -> None:
    """The maximum itself comes from long doubles; the certificate has to cover the way there."""
    X, y = overlapping(seed, k, d)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        model = LogisticRegression(penalty, tolerance=tolerance).fit(X, y)
    assume(model.converged_)  # else separated, or too far off for a proof
    best = maximum(X, y, penalty)
    assert np.isfinite(model.bound_)
    apart = np.abs(theta(model)[:, 1:] - best) / errors_of(model)[:, 1:]
    assert apart.max() <= model.bound_ * (1.0 + 1e-6) + 1e-11


def maximum(X: Array, y: Array, penalty: float) -> Array:
    """Return the slopes of the maximum (k - 1, d), in long doubles, by Newton's steps."""
    codes = np.unique(y, return_inverse=True)[1]
    (n, d), m = X.shape, int(codes.max())
    wide = X.astype(np.longdouble)
    spread = wide.std(axis=0)
    Z = np.column_stack([np.ones(n, np.longdouble), (wide - wide.mean(axis=0)) / spread])
    between = np.eye(m) - (1.0 / (m + 1) if m > 1 else 0.0)
    pull = penalty * np.kron(between, np.diag([0.0] + [1.0] * d)).astype(np.longdouble)
    at, own = np.zeros(m * (d + 1), np.longdouble), codes[:, None] == np.arange(1, m + 1)

    def look(at: Array) -> tuple[Any, Array, Array]:
        scores = Z @ at.reshape(m, d + 1).T
        top = np.maximum(scores.max(axis=1), 0.0)
        parts = np.exp(scores - top[:, None])
        whole = parts.sum(axis=1) + np.exp(-top)
        p = parts / whole[:, None]
        loss = (np.log(whole) + top - (scores * own).sum(axis=1)).sum() + at @ pull @ at / 2
        return loss, ((p - own).T @ Z).ravel() + pull @ at, p

    loss, gradient, p = look(at)
    for _ in range(400):
        hessian = pull.astype(float)
        for a in range(m):
            for b in range(m):
                bend = (p[:, a] * ((a == b) - p[:, b])).astype(float)
                block = (Z.astype(float) * bend[:, None]).T @ Z.astype(float)
                hessian[a * (d + 1) : (a + 1) * (d + 1), b * (d + 1) : (b + 1) * (d + 1)] += block
        step = -np.linalg.solve(hessian, gradient.astype(float)).astype(np.longdouble)
        while True:
            new = look(at + step)
            if new[0] <= loss + 1e-15 * abs(loss):
                break
            step = step / 2
        at = at + step
        (loss, gradient, p), size = new, float(np.abs(step).max())
        if size < 1e-16:
            break
    assert size < 1e-14
    found: Array = (at.reshape(m, d + 1)[:, 1:] / spread).astype(float)
    return found


@given(seeds, classes, st.integers(1, 3))
def test_there_is_a_maximum_or_a_separation(seed: int, k: int, d: int) -> None:
    """Few rows on a small grid are separated or not, both often; a linear program tells which."""
    rng = np.random.default_rng(seed)
    n, reach = int(rng.integers(k, 30)), int(rng.integers(1, 6))
    X = rng.integers(-reach, reach + 1, (n, d)).astype(float)
    y = np.r_[np.arange(k), rng.integers(0, k, n - k)]
    if rng.random() < 0.5:
        y = np.argsort(np.argsort(X @ rng.normal(size=d) + rng.normal(size=n) * 0.5)) * k // n
    weights = rng.choice([0.1, 1.0, 30.0], n) if rng.random() < 0.5 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        model = LogisticRegression().fit(X, y, weights)
    spread = X.std(axis=0)
    parted = is_separated((X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0), y)
    assert (model.separated_ is not None) is parted
    assert model.converged_ is not parted
    if model.separated_ is not None:
        rows = model.separated_.rows_apart, model.separated_.rows_tied
        assert sum(rows) == n
        assert rows[0] > 0
        assert model.separated_.pairs
        # Rows of a complete separation are told apart by θ, with their place in no doubt.
        if model.separated_.kind == "complete":
            assert (model.predict(X) == y).all()
            assert model.predict_proba(X)[np.arange(n), y].min() > 0.999


# Closed forms


@given(st.lists(st.integers(1, 500), min_size=4, max_size=4), st.booleans())
def test_one_binary_column_has_the_log_odds_ratio(counts: list[int], weighted: bool) -> None:
    """θ = log(ad/bc), and its variance is the sum of 1/n over the four cells."""
    (a, b), (c, d) = counts[:2], counts[2:]
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array(["no", "yes", "no", "yes"])
    if weighted:
        model = fitted(X, y, np.array(counts, dtype=float))
    else:
        model = fitted(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    odds = np.log(a) + np.log(d) - np.log(b) - np.log(c)
    error = np.sqrt(sum(1.0 / n for n in counts))
    assert model.coef_[0, 0] == pytest.approx(odds, abs=1e-7 * error)
    assert model.intercept_[0] == pytest.approx(np.log(b) - np.log(a), abs=1e-7 * error)
    covariance = [[1 / a + 1 / b, -1 / a - 1 / b], [-1 / a - 1 / b, error**2]]
    np.testing.assert_allclose(model.covariance_, covariance, rtol=1e-6)


@given(st.integers(2, 4), st.integers(2, 4), seeds)
def test_a_saturated_model_has_the_shares_of_the_table(levels: int, k: int, seed: int) -> None:
    """Then any pair of classes by itself has the same odds as among the others, too."""
    counts = np.random.default_rng(seed).integers(1, 60, (levels, k))
    X = np.repeat([f"level {i}" for i in range(levels)], counts.sum(axis=1))[:, np.newaxis]
    y = np.concatenate([np.repeat(np.arange(k), row) for row in counts])
    asked = np.array([[f"level {i}"] for i in range(levels)])
    model = fitted(X.astype(object), y)
    shares = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(asked.astype(object)), shares, rtol=1e-6)
    pair = y < 2
    alone = fitted(X[pair].astype(object), y[pair])
    spread = errors_of(alone)[0]
    assert (np.abs(theta(alone)[0] - theta(model)[0]) / spread).max() < 1e-6
    np.testing.assert_allclose(errors_of(model)[0], spread, rtol=1e-5)


@given(st.lists(st.integers(1, 1000), min_size=2, max_size=6))
def test_without_columns_that_vary_the_posterior_is_the_shares(counts: list[int]) -> None:
    y = np.repeat(np.arange(len(counts)), counts)
    model = fitted(np.full((len(y), 2), 3.0), y)
    shares = np.array(counts) / len(y)
    np.testing.assert_allclose(model.predict_proba([[3.0, 3.0]])[0], shares, rtol=1e-7)
