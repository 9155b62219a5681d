"""Covariances of factors: maxima of the likelihood, the same in any units, split or order."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from suffice import GaussianDiscriminant, load
from suffice.errors import BadSetting, DegenerateData
from suffice.models.gaussian.factors.maximum import (
    LEAST_NOISE,
    RankedCorrelations,
    identified,
    low_rank_root,
    most_likely,
    parameters,
)
from tests.searches import examples

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from suffice.models.gaussian.factors.maximum import Factors

    Floats = NDArray[np.float64]

SEEDS = st.integers(0, 10_000)
FORMS = pytest.mark.parametrize("form", ["shared", "per-class"])

# Of a few rows, factors often explain a column whole; that it is said has a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:factors explain:suffice.errors.DegenerateData")


def rows_of(seed: int, n: int = 90, width: int = 6, count: int = 2) -> tuple[Floats, Floats]:
    """Rows of two classes whose columns follow a few factors."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, count)) @ rng.normal(size=(count, width))
    X += rng.normal(size=(n, width)) * rng.uniform(0.6, 1.5, width)
    X[:, 0] += y
    return X, y


def correlations_of(seed: int, n: int, width: int) -> Floats:
    found: Floats = np.corrcoef(rows_of(seed, n, width)[0], rowvar=False)
    return found


def deviance(correlations: Floats, covariance: Floats) -> float:
    trace = float(np.trace(np.linalg.solve(covariance, correlations)))
    return float(np.linalg.slogdet(covariance)[1]) + trace


def assert_nothing_near_is_better(found: Factors, correlations: Floats, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(5):
        loadings = found.loadings + 1e-3 * rng.normal(size=found.loadings.shape)
        noise = found.noise * np.exp(1e-3 * rng.normal(size=len(found.noise)))
        nearby = loadings @ loadings.T + np.diag(np.clip(noise, LEAST_NOISE, 1.0))
        assert deviance(correlations, nearby) >= found.deviance - 1e-9


@given(SEEDS, st.integers(1, 3), st.integers(4, 9))
def test_a_maximum_of_the_likelihood_to_which_no_step_falls(
    seed: int, count: int, width: int
) -> None:
    R = correlations_of(seed, 60, width)
    found = most_likely(RankedCorrelations.of(R), count)
    covariance = found.loadings @ found.loadings.T + np.diag(found.noise)
    assert found.deviance == pytest.approx(deviance(R, covariance), abs=1e-9)
    assert np.all(np.diff(found.history) <= 1e-10)
    assert_nothing_near_is_better(found, R, seed)
    free = found.noise > LEAST_NOISE * 1.001
    assert np.allclose(np.diagonal(covariance)[free], 1.0, atol=1e-5)


@example(0, 5)  # two maxima, with three columns at the floor and with four
@given(SEEDS, st.integers(3, 20))
def test_rows_fewer_than_columns_are_fitted_by_their_rank(seed: int, n: int) -> None:
    R = correlations_of(seed, n, 80)
    root = low_rank_root(R, 40)
    assert root is not None
    assert len(root) <= n - 1
    assert np.allclose(root.T @ root, R, atol=1e-9)
    low = most_likely(RankedCorrelations(None, root), 2)
    whole = most_likely(RankedCorrelations(R, None), 2)
    # Searches that begin alike on the same function end alike. Few rows may leave columns without
    # noise, at the floor: rounding then decides which columns these are, and each end is a maximum.
    if low.deviance != pytest.approx(whole.deviance, rel=1e-6, abs=1e-6):
        for found in (low, whole):
            assert np.any(found.noise <= LEAST_NOISE * 1.001)
            assert_nothing_near_is_better(found, R, seed)
    assert low_rank_root(np.eye(10), 9) is None


def test_parameters_are_those_of_a_covariance_at_ledermanns_bound() -> None:
    for width in range(1, 40):
        most = identified(width)
        assert parameters(width, most) <= width * (width + 1) / 2
        assert parameters(width, most + 1) > width * (width + 1) / 2


@FORMS
@given(SEEDS)
def test_densities_are_those_of_the_written_out_covariance(form: str, seed: int) -> None:
    X, y = rows_of(seed)
    model = GaussianDiscriminant(form, factors=2).fit(X, y)
    shares = np.bincount(y) / len(y)
    expected = np.column_stack(
        [
            multivariate_normal(model.means_[c], model.covariances_[c]).logpdf(X)
            + np.log(shares[c])
            for c in range(2)
        ]
    )
    norm = np.logaddexp(expected[:, 0], expected[:, 1])
    assert np.allclose(model.predict_log_proba(X), expected - norm[:, np.newaxis], atol=1e-8)
    assert np.allclose(model.log_density(X), norm, atol=1e-8)
    holes = X[:6].copy()
    holes[::2, 1], holes[1::3, 4] = np.nan, np.nan
    law = model._now().fit.normals
    assert np.allclose(law.log_densities(holes), law.full.log_densities(holes), atol=1e-9)
    told, ours = law.squared_distances(holes), law.full.squared_distances(holes)
    assert np.allclose(told[0], ours[0], atol=1e-8)
    assert np.array_equal(told[1], ours[1])


@pytest.mark.slow
@FORMS
@given(SEEDS)
@examples(10)
def test_units_offsets_order_and_splits_change_nothing(form: str, seed: int) -> None:
    X, y = rows_of(seed)
    rng = np.random.default_rng(seed)
    model = GaussianDiscriminant(form, factors=2).fit(X, y)
    expected = model.predict_proba(X)
    unit, offset = 10.0 ** rng.uniform(-4, 4, X.shape[1]), rng.normal(size=X.shape[1]) * 100.0
    moved = X * unit + offset * unit
    other = GaussianDiscriminant(form, factors=2).fit(moved, y)
    assert np.allclose(other.predict_proba(moved), expected, atol=1e-5)
    some = rng.permutation(len(X))
    half = len(X) // 2
    parts = [
        GaussianDiscriminant(form, factors=2).fit(X[part], y[part])
        for part in (some[:half], some[half:])
    ]
    assert np.allclose((parts[0] + parts[1]).predict_proba(X), expected, atol=1e-5)
    grown = GaussianDiscriminant(form, factors=2).fit(X, y).partial_fit(X[:9] + 1.0, y[:9])
    assert np.allclose(grown.forget(X[:9] + 1.0, y[:9]).predict_proba(X), expected, atol=1e-5)


@FORMS
def test_rows_left_out_are_judged_by_refits(form: str) -> None:
    X, y = rows_of(3, n=24)
    found = GaussianDiscriminant(form, factors=1).fit(X, y).leave_one_out(X, y)
    for i in (0, 7, 23):
        kept = np.arange(len(X)) != i
        rest = GaussianDiscriminant(form, factors=1).fit(X[kept], y[kept])
        expected = rest.predict_log_proba(X[i : i + 1])[0]
        assert np.allclose(found.log_posterior[i], expected, atol=1e-5)


@FORMS
def test_the_file_has_them_and_answers_alike(form: str, tmp_path: Path) -> None:
    X, y = rows_of(5)
    for count in (2, "auto"):
        model = GaussianDiscriminant(form, factors=count).fit(X, y)
        place = tmp_path / f"{form}-{count}.suffice"
        model.save(place)
        again = load(place)
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
        assert again.get_params() == model.get_params()
        again.partial_fit(X[:3], y[:3])
        grown = model.partial_fit(X[:3], y[:3])
        assert np.allclose(again.predict_proba(X), grown.predict_proba(X), atol=1e-6)


def test_as_many_as_there_are_by_bic() -> None:
    X, y = rows_of(1, n=600, width=8, count=2)
    assert GaussianDiscriminant(factors="auto").fit(X, y).loadings_.shape == (8, 2)
    own = GaussianDiscriminant("per-class", factors="auto").fit(X, y)
    assert own.loadings_.shape == (2, 8, 2)
    alone = np.random.default_rng(0).normal(size=(400, 6))
    assert GaussianDiscriminant(factors="auto").fit(alone, y[:400]).loadings_.shape == (6, 0)


def test_blanks_are_filled_by_em_and_samples_have_the_covariance() -> None:
    X, y = rows_of(2, n=400)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    whole = GaussianDiscriminant(factors=2).fit(X, y)
    model = GaussianDiscriminant(factors=2).fit(holes, y)
    assert np.abs(model.predict_proba(X) - whole.predict_proba(X)).mean() < 0.05
    low = np.linalg.svd(model.loadings_, compute_uv=False)
    assert len(low) == 2
    drawn, _ = whole.sample(40_000, y=0, random_state=0)
    spread = np.sqrt(np.diagonal(whole.covariance_))
    assert np.abs((np.cov(drawn, rowvar=False) - whole.covariance_) / np.outer(spread, spread)
                  ).max() < 0.05  # fmt: skip


def test_a_column_that_factors_explain_keeps_half_a_per_cent_and_it_is_said() -> None:
    X, y = rows_of(4)
    twice = np.column_stack([X, X[:, 2]])
    with pytest.warns(DegenerateData, match=r"explain all variance of these columns: x2, x6; 0.5"):
        model = GaussianDiscriminant(factors=2).fit(twice, y)
    law = model._now().fit.normals
    variances = np.diagonal(model.covariance_) / np.square(law.scale)
    assert law.noise[0, 2] == pytest.approx(LEAST_NOISE * variances[2], rel=0.02)


def test_a_class_of_one_row_has_the_pooled_variances() -> None:
    X, y = rows_of(6)
    y = y.copy()
    y[0] = 2
    with pytest.warns(DegenerateData, match="1 of 3 classes do not vary in every column"):
        model = GaussianDiscriminant("per-class", factors=1).fit(X, y)
    own = np.diagonal(model.covariances_[2])
    pooled = np.diagonal(GaussianDiscriminant(factors=1).fit(X, y).covariance_)
    assert np.allclose(own, pooled, rtol=1e-4)
    assert np.allclose(model.covariances_[2], np.diag(own))


def test_equal_rows_of_both_classes_say_nothing() -> None:
    X = np.tile([[1.0, 2.0, 3.0], [2.0, 1.0, 5.0], [0.0, 4.0, 4.0], [3.0, 3.0, 1.0]], (2, 1))
    y = np.repeat(["a", "b"], 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateData)
        model = GaussianDiscriminant(factors=1).fit(X, y)
    assert np.allclose(model.predict_proba(X), 0.5)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"factors": 0}, 'factors=0 is not a number.*covariance="shared-diagonal"'),
        ({"factors": 6}, "factors=6 of 6 columns.*fewer than 6"),
        ({"factors": True}, "factors=True is not a number"),
        ({"factors": 1.5}, "factors=1.5 is not a number"),
        ({"factors": "few"}, "factors='few' is not a number"),
        ({"factors": 2, "covariance": "VEV"}, 'does not apply to covariance="VEV"'),
        ({"factors": 2, "covariance": "auto"}, 'does not apply to covariance="auto"'),
        ({"factors": 2, "shrink": 0.1}, "shrink=0.1 does not apply to factors"),
        ({"factors": 2, "predictive": 2.0}, "predictive=2.0 does not apply to factors"),
        ({"factors": 2, "temperature": 0.5}, "temperature=0.5 does not apply to factors"),
        ({"factors": 2, "divisor": "unbiased"}, "divisor='unbiased' does not apply"),
    ],
)
def test_what_has_no_meaning_is_refused(settings: dict[str, object], said: str) -> None:
    X, y = rows_of(0)
    with pytest.raises(BadSetting, match=f"(?s){said}"):
        GaussianDiscriminant(**settings).fit(X, y)  # type: ignore[arg-type]


def test_two_thousand_columns_of_sixty_rows_take_no_matrix_apart() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 2000)) + rng.normal(size=(60, 2000))
    y = np.arange(60) % 2
    X[:, :200] += 0.5 * y[:, np.newaxis]
    model = GaussianDiscriminant(factors="auto").fit(X, y)
    assert model.loadings_.shape == (2000, 3)
    assert model.score(X, y) == 1.0
    assert "full" not in vars(model._now().fit.normals)


def test_rows_with_categories_are_typical_by_their_scatter() -> None:
    X, y = rows_of(7, width=2)
    colours = np.array(["red", "green", "blue"])[np.arange(len(X)) % 3]
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "colour": colours})
    expected = GaussianDiscriminant().fit(frame, y).typicality(frame)
    found = GaussianDiscriminant(factors=2).fit(frame, y).typicality(frame)
    assert np.array_equal(found, expected)
