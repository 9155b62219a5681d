"""Normal laws one can check by hand, degenerate ones, and matrices that are no covariance."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from suffice.errors import (
    BadMatrix,
    BadRows,
    BadSetting,
    BadWeights,
    ColumnMismatch,
    DifferentKinds,
    NoPValue,
    NotANumber,
    NotFinite,
    NotLinear,
)
from suffice.estimators.multivariate_normal import MultivariateNormal
from suffice.estimators.randomness import random_generator
from suffice.families.normal import Normal

if TYPE_CHECKING:
    from pathlib import Path

UNIT = Normal([0.0, 0.0], np.eye(2))
TWINS = Normal([1.0, 1.0], [[4.0, 4.0], [4.0, 4.0]])
POINT = Normal([1.0, 2.0], np.zeros((2, 2)))


def test_a_density_in_the_plane_integrates_to_one() -> None:
    law = Normal([0.5, -1.0], [[1.0, 0.7], [0.7, 2.0]])
    steps = np.linspace(-12.0, 12.0, 481)
    plane = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    mass = law.density(plane).sum() * (steps[1] - steps[0]) ** 2
    assert mass == pytest.approx(1.0, abs=1e-9)


def test_draws_are_estimated_back() -> None:
    covariance = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])
    law = Normal([1.0, 2.0, 3.0], covariance)
    rows = law.sample(200_000, np.random.default_rng(0))
    np.testing.assert_allclose(rows.mean(axis=0), law.mean, atol=0.02)
    np.testing.assert_allclose(np.cov(rows.T), covariance, atol=0.03)
    p = np.sort(law.typicality(rows[:4000]))
    assert np.abs(p - (np.arange(4000) + 0.5) / 4000).max() < 1.63 / math.sqrt(4000)


def test_draws_are_those_of_choleskys_factor_on_every_machine() -> None:
    covariance = [[4.0, 2.0], [2.0, 10.0]]
    z = np.random.default_rng(5).standard_normal((3, 2))
    rows = Normal([1.0, 2.0], covariance).sample(3, np.random.default_rng(5))
    np.testing.assert_allclose(rows, [1.0, 2.0] + z @ [[2.0, 1.0], [0.0, 3.0]], rtol=1e-12)


def test_drawing_nothing_gives_no_rows() -> None:
    assert UNIT.sample(0, np.random.default_rng(0)).shape == (0, 2)
    with pytest.raises(BadSetting, match="size=-1"):
        UNIT.sample(-1, np.random.default_rng(0))


def test_the_textbook_conditional() -> None:
    law = Normal([1.0, 2.0, 3.0], [[4.0, 2.0, 0.0], [2.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
    rest = law.conditional({0: 3.0})
    np.testing.assert_allclose(rest.mean, [3.0, 3.0], rtol=1e-14)
    np.testing.assert_allclose(rest.covariance, [[2.0, 1.0], [1.0, 2.0]], rtol=1e-14)
    assert law.conditional({}) is law


def test_divergence_between_two_lines_by_hand() -> None:
    a, b = Normal([0.0], [[1.0]]), Normal([1.0], [[4.0]])
    assert a.kl_divergence(b) == pytest.approx(math.log(2.0) + 2.0 / 8.0 - 0.5, rel=1e-14)
    assert Normal([0.0], [[1e-300]]).kl_divergence(Normal([0.0], [[1e300]])) == pytest.approx(
        math.log(1e300) - 0.5, rel=1e-12
    )


def test_entropy_by_hand() -> None:
    assert UNIT.entropy() == pytest.approx(1.0 + math.log(2.0 * math.pi), rel=1e-15)
    assert TWINS.entropy() == POINT.entropy() == -math.inf


@pytest.mark.parametrize(
    "diagonal", [(1.0, 1e-11), (1e-300, 1e300), (1e-300, 1e-300), (1e300, 1e300)]
)
def test_units_never_make_a_law_singular(diagonal: tuple[float, float]) -> None:
    law = Normal([0.0, 0.0], np.diag(diagonal))
    deviations = np.sqrt(diagonal)
    assert law.rank == 2
    assert law.mahalanobis([3.0 * deviations, deviations * [1, 0]]) == pytest.approx(
        [3.0 * math.sqrt(2.0), 1.0], rel=1e-12
    )
    assert law.entropy() == pytest.approx(UNIT.entropy() + float(np.log(deviations).sum()))
    np.testing.assert_allclose(law.principal_axes()[0], np.sort(deviations)[::-1], rtol=1e-12)
    curve = law.contour(sigmas=2.0, points=9)
    np.testing.assert_allclose(law.mahalanobis(curve), 2.0, rtol=1e-12)


# Degenerate laws


def test_twins_live_on_a_line() -> None:
    rows = [[1.0, 1.0], [3.0, 3.0], [3.0, 3.1]]
    assert TWINS.rank == 1
    # Along the diagonal the variance is 8, and a step of (2, 2) is one standard deviation.
    at_mean = -0.5 * math.log(2.0 * math.pi * 8.0)
    np.testing.assert_allclose(TWINS.log_density(rows), [at_mean, at_mean - 0.5, -np.inf])
    np.testing.assert_allclose(TWINS.mahalanobis(rows), [0.0, 1.0, np.inf], atol=1e-12)
    np.testing.assert_allclose(TWINS.typicality(rows), [1.0, 0.31731050786291415, 0.0], rtol=1e-9)


def test_one_twin_tells_the_other() -> None:
    rest = TWINS.conditional({1: 7.0})
    np.testing.assert_allclose(rest.mean, [7.0], rtol=1e-14)
    assert rest.rank == 0
    assert rest.covariance.tolist() == [[0.0]]
    np.testing.assert_array_equal(rest.log_density([[7.0], [7.1]]), [0.0, -np.inf])


def test_twins_cannot_be_given_different_values() -> None:
    law = Normal(np.zeros(3), [[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    np.testing.assert_allclose(law.conditional({0: 2.0, 1: 2.0}).mean, [1.0], rtol=1e-12)
    with pytest.raises(BadSetting, match="cannot happen"):
        law.conditional({0: 2.0, 1: 2.5})


def test_a_constant_column_is_only_ever_itself() -> None:
    law = Normal([5.0, 0.0], [[0.0, 0.0], [0.0, 1.0]])
    assert np.isneginf(law.log_density([[5.1, 0.0]])[0])
    assert law.log_density([[5.0, 0.0]])[0] == pytest.approx(-0.5 * math.log(2.0 * math.pi))
    assert law.conditional({0: 5.0}) == Normal([0.0], [[1.0]])
    with pytest.raises(BadSetting, match=r"column 0 is given as 6.*5 is the nearest"):
        law.conditional({0: 6.0})
    assert (law.sample(5, np.random.default_rng(0))[:, 0] == 5.0).all()


def test_a_law_without_any_spread_is_a_point() -> None:
    assert POINT.rank == 0
    rows = [[1.0, 2.0], [1.0, 2.5]]
    np.testing.assert_array_equal(POINT.log_density(rows), [0.0, -np.inf])
    np.testing.assert_array_equal(POINT.typicality(rows), [1.0, 0.0])
    np.testing.assert_array_equal(POINT.sample(2, np.random.default_rng(0)), [[1.0, 2.0]] * 2)
    np.testing.assert_array_equal(POINT.contour(mass=0.5, points=2), [[1.0, 2.0]] * 2)
    assert POINT.kl_divergence(Normal([1.0, 2.0], np.zeros((2, 2)))) == 0.0
    assert POINT.kl_divergence(Normal([1.0, 2.5], np.zeros((2, 2)))) == math.inf


def test_a_degenerate_law_at_a_large_offset_still_knows_its_own_rows() -> None:
    factor = np.random.default_rng(1).normal(size=(4, 2))
    law = Normal(np.full(4, 1e8), factor @ factor.T)
    rows = law.sample(500, np.random.default_rng(2))
    assert law.rank == 2
    assert np.isfinite(law.log_density(rows)).all()
    rows[:, 0] += 0.1
    assert np.isneginf(law.log_density(rows)).all()


def test_a_degenerate_law_has_no_linear_form() -> None:
    with pytest.raises(NotLinear, match="rank 1 of 2"):
        TWINS.linear_form()
    assert not TWINS.same_carrier(TWINS)
    assert not UNIT.same_carrier(Normal([0.0, 0.0], 2.0 * np.eye(2)))


def test_highly_correlated_columns_are_not_declared_degenerate() -> None:
    law = Normal([0.0, 0.0], [[1.0, 1.0 - 1e-11], [1.0 - 1e-11, 1.0]])
    assert law.rank == 2
    assert law.conditional({0: 1.0}).covariance[0, 0] == pytest.approx(2e-11, rel=1e-4)


# Far away, and with cells missing


def test_infinite_cells_and_far_rows_are_never_nan() -> None:
    law = Normal([0.0, 0.0], [[1.0, -0.9], [-0.9, 1.0]])
    rows = np.array(
        [[np.inf, 0], [np.inf, -np.inf], [1e200, 1e200], [1e308, -1e308], [np.nan, 1e9]]
    )
    assert not np.isnan(law.log_density(rows)).any()
    assert np.isneginf(law.log_density(rows)[:4]).all()
    assert law.mahalanobis(rows)[2] == pytest.approx(math.sqrt(20.0) * 1e200, rel=1e-9)
    assert law.log_density(rows)[4] == pytest.approx(-0.5e18)
    np.testing.assert_array_equal(law.typicality(rows), np.zeros(5))
    for degenerate in (TWINS, POINT):
        assert np.isneginf(degenerate.log_density(rows[:4] + 1.0)[:2]).all()
        assert not np.isnan(degenerate.log_density(rows)).any()


def test_a_row_with_nothing_in_it_is_perfectly_typical() -> None:
    nothing = [[np.nan, np.nan]]
    for law in (UNIT, TWINS, POINT):
        assert law.log_density(nothing)[0] == 0.0
        assert law.typicality(nothing)[0] == 1.0
        assert law.mahalanobis(nothing)[0] == 0.0


# Shape


def test_a_contour_encloses_the_mass_it_names() -> None:
    law = Normal([1.0, 2.0], [[2.0, 1.0], [1.0, 3.0]])
    curve = law.contour(mass=0.9, points=50)
    np.testing.assert_allclose(curve[0], curve[-1], atol=1e-12)
    np.testing.assert_allclose(law.typicality(curve), 0.1, rtol=1e-10)
    ends = TWINS.contour(mass=0.9, points=50)
    assert TWINS.typicality(ends).min() == pytest.approx(0.1, rel=1e-9)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "mass or sigmas"),
        ({"mass": 0.5, "sigmas": 1.0}, "mass or sigmas"),
        ({"mass": 1.0}, "mass=1"),
        ({"sigmas": -1.0}, "sigmas=-1"),
        ({"sigmas": 1.0, "points": 1}, "points=1"),
    ],
)
def test_contours_that_cannot_be_drawn(settings: dict[str, float], says: str) -> None:
    with pytest.raises(BadSetting, match=says):
        UNIT.contour(**settings)  # type: ignore[arg-type]


def test_a_contour_needs_a_plane() -> None:
    with pytest.raises(BadSetting, match="this law has 3"):
        Normal(np.zeros(3), np.eye(3)).contour(sigmas=1.0)


def test_laws_are_equal_by_value_and_cannot_be_written_to() -> None:
    mean = np.zeros(2)
    law = Normal(mean, np.eye(2))
    mean[0] = 5.0
    assert law == UNIT
    assert hash(law) == hash(Normal([-0.0, 0.0], np.eye(2)))
    assert law != Normal([0.0, 0.0], 2.0 * np.eye(2))
    assert law != "a law"
    with pytest.raises(ValueError, match="read-only"):
        law.mean[0] = 1.0


# What is refused


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        ([[1.0, 0.5], [0.4, 1.0]], r"not symmetric: \[0, 1\] is 0.5 but \[1, 0\] is 0.4"),
        ([[1e-20, 5e-21], [4e-21, 1e-20]], r"not symmetric: \[0, 1\] is 5e-21"),
        ([[1.0, 0.0], [0.0, -2.0]], r"covariance\[1, 1\] is -2"),
        ([[1.0, 2.0], [2.0, 1.0]], r"covariance\[0, 1\] is 2.0, larger than .* 1.0 and 1.0"),
        ([[0.0, 1e-9], [1e-9, 1.0]], r"covariance\[0, 1\] is 1e-09, larger than"),
        ([[1.0, np.nan], [np.nan, 1.0]], r"covariance\[0, 1\] is nan"),
        ([[1.0, 0.0], [0.0, np.inf]], r"covariance\[1, 1\] is inf"),
        ([[1.0, 0.0]], r"shape \(1, 2\)"),
        ([1.0, 1.0], r"shape \(2,\)"),
    ],
)
def test_a_matrix_that_is_no_covariance_is_refused_by_its_entries(
    matrix: list[list[float]], says: str
) -> None:
    with pytest.raises(BadMatrix, match=says):
        Normal([0.0, 0.0], matrix)


def test_an_indefinite_matrix_is_refused_with_its_eigenvalue_and_columns() -> None:
    matrix = np.eye(5)
    for i, j, r in ((1, 2, 0.9), (2, 4, 0.9), (1, 4, -0.9)):
        matrix[i, j] = matrix[j, i] = r
    with pytest.raises(BadMatrix, match=r"eigenvalue -0\.8, mostly in columns 1, 2, 4"):
        Normal(np.zeros(5), matrix)


def test_asymmetry_within_rounding_is_averaged() -> None:
    law = Normal([0.0, 0.0], [[1.0, 0.5 + 1e-12], [0.5 - 1e-12, 1.0]])
    assert law.covariance[0, 1] == law.covariance[1, 0] == pytest.approx(0.5, abs=1e-15)


def test_a_mean_that_is_none() -> None:
    with pytest.raises(BadSetting, match=r"shape \(1, 2\)"):
        Normal([[0.0, 0.0]], np.eye(2))
    with pytest.raises(BadSetting, match=r"shape \(0,\)"):
        Normal([], np.zeros((0, 0)))
    with pytest.raises(NotFinite, match="column 1 is nan"):
        Normal([0.0, np.nan], np.eye(2))
    for mean in (["a", "b"], [1j, 0.0], [[1.0], [1.0, 2.0]]):
        with pytest.raises(NotANumber):
            Normal(mean, np.eye(2))


def test_columns_that_are_not_there() -> None:
    for columns, says in (([2], "no column 2"), ([-1], "no column -1"), ([0, 0], "one twice")):
        with pytest.raises(ColumnMismatch, match=says):
            UNIT.marginal(columns)
    with pytest.raises(ColumnMismatch, match="no position"):
        UNIT.marginal([True])
    with pytest.raises(BadSetting, match="no columns"):
        UNIT.marginal([])
    with pytest.raises(BadSetting, match="every column is given"):
        UNIT.conditional({0: 0.0, 1: 0.0})
    with pytest.raises(NotFinite, match="column 1 is given as nan"):
        UNIT.conditional({1: math.nan})


def test_rows_of_another_width_and_laws_of_another_width() -> None:
    for rows in ([0.0, 0.0], [[0.0]], np.zeros((2, 3))):
        with pytest.raises(BadRows, match="2 columns"):
            UNIT.log_density(rows)
    with pytest.raises(DifferentKinds, match="2 and of 1"):
        UNIT.kl_divergence(Normal([0.0], [[1.0]]))


# MultivariateNormal: parameters, rows and names


HEIGHTS = MultivariateNormal(
    [170.0, 70.0, 40.0],
    [[100.0, 60.0, 0.0], [60.0, 100.0, 10.0], [0.0, 10.0, 150.0]],
    names=["height", "weight", "age"],
)


def distance_from_uniform(p: np.ndarray) -> float:
    """Return Kolmogorov's statistic times √n: above 1.95 once in a thousand."""
    grid = np.arange(len(p) + 1) / len(p)
    ordered = np.sort(p)
    return float(max((grid[1:] - ordered).max(), (ordered - grid[:-1]).max()) * math.sqrt(len(p)))


def test_parameters_are_found_under_both_names() -> None:
    assert HEIGHTS.mean is HEIGHTS.mean_
    assert HEIGHTS.covariance is HEIGHTS.covariance_
    assert HEIGHTS.n_features_in_ == 3
    assert HEIGHTS.feature_names_in_.tolist() == ["height", "weight", "age"]
    assert not hasattr(MultivariateNormal([0.0], [[1.0]]), "feature_names_in_")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_is_matched_by_name(library: str) -> None:
    frames = pytest.importorskip(library)
    rows = np.random.default_rng(0).normal([1.0, 2.0, 3.0], size=(50, 3))
    frame = frames.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "c": rows[:, 2]})
    law = MultivariateNormal.fit(frame)
    assert law.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(law.log_density(frame[["c", "a", "b"]]), law.log_density(rows))
    with pytest.raises(ColumnMismatch, match="missing"):
        law.log_density(frame[["a", "b"]])
    assert law == MultivariateNormal.fit(frame)
    assert law != MultivariateNormal.fit(rows)


def test_columns_are_chosen_by_name_or_position() -> None:
    assert HEIGHTS.marginal("age") == HEIGHTS.marginal([2]) == HEIGHTS.marginal(["age"])
    swapped = HEIGHTS.marginal(["weight", 0])
    assert swapped.feature_names_in_.tolist() == ["weight", "height"]
    np.testing.assert_array_equal(swapped.mean, [70.0, 170.0])
    rest = HEIGHTS.conditional({"height": 180.0})
    assert rest == HEIGHTS.conditional({0: 180})
    assert rest.feature_names_in_.tolist() == ["weight", "age"]
    np.testing.assert_allclose(rest.mean, [76.0, 40.0], rtol=1e-14)
    np.testing.assert_allclose(rest.covariance, [[64.0, 10.0], [10.0, 150.0]], rtol=1e-13)
    assert HEIGHTS.conditional({}) is HEIGHTS


def test_choices_that_cannot_be_made() -> None:
    for column in ("hight", 3, -1, 1.0, True, None):
        with pytest.raises(ColumnMismatch, match=r"no column.*\n.*height, weight, age"):
            HEIGHTS.marginal([column])  # type: ignore[list-item]
    with pytest.raises(ColumnMismatch, match="twice"):
        HEIGHTS.conditional({"height": 180.0, 0: 180.0})
    with pytest.raises(NotANumber, match="height is given as 'tall'"):
        HEIGHTS.conditional({"height": "tall"})  # type: ignore[dict-item]
    with pytest.raises(BadSetting, match="which column has which value"):
        HEIGHTS.conditional([180.0])  # type: ignore[arg-type]
    with pytest.raises(BadSetting, match="do not name 2"):
        MultivariateNormal([0.0, 0.0], np.eye(2), names=["a"])


def test_rows_must_be_a_table_unless_there_is_one_column() -> None:
    with pytest.raises(BadRows, match="2D"):
        HEIGHTS.log_density([170.0, 70.0, 40.0])
    with pytest.raises(ColumnMismatch, match="2 features"):
        HEIGHTS.log_density([[170.0, 70.0]])
    line = MultivariateNormal([0.0], [[4.0]])
    for rows in ([2.0, -4.0], (2.0, -4.0), np.array([2.0, -4.0]), [[2.0], [-4.0]]):
        np.testing.assert_allclose(line.mahalanobis(rows), [1.0, 2.0])


def test_infinite_cells_are_refused_by_name_and_empty_ones_are_not() -> None:
    with pytest.raises(NotFinite, match="row 1"):
        HEIGHTS.log_density([[170.0, 70.0, 40.0], [170.0, np.inf, 40.0]])
    with pytest.raises(NotFinite, match=r"row 0, column 1"):
        MultivariateNormal.fit([[0.0, -np.inf], [1.0, 2.0]])
    np.testing.assert_allclose(HEIGHTS.mahalanobis([[180.0, None, np.nan]]), [1.0])


# Fitting a MultivariateNormal


def test_fitting_divides_as_asked() -> None:
    rows = np.random.default_rng(0).normal(size=(40, 3)) @ [[1, 2, 0], [0, 1, 0], [1, 0, 3]]
    mle, unbiased = MultivariateNormal.fit(rows), MultivariateNormal.fit(rows, divisor="unbiased")
    np.testing.assert_allclose(mle.mean_, rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(mle.covariance_, np.cov(rows.T, ddof=0), rtol=1e-12)
    np.testing.assert_allclose(unbiased.covariance_, np.cov(rows.T), rtol=1e-12)
    # The scatter is the same, and so are the p-values.
    np.testing.assert_allclose(unbiased.typicality(rows), mle.typicality(rows), rtol=1e-10)
    with pytest.raises(BadSetting, match="divisor='n'"):
        MultivariateNormal.fit(rows, divisor="n")


def test_a_weight_of_two_is_two_rows_and_of_zero_none() -> None:
    rows = np.random.default_rng(1).normal(size=(12, 2))
    counts = np.array([1, 2, 0, 1, 3, 1, 1, 0, 1, 1, 2, 1])
    spoiled = np.where(counts[:, np.newaxis] == 0, np.inf, rows)
    weighted = MultivariateNormal.fit(spoiled, sample_weight=counts)
    repeated = MultivariateNormal.fit(np.repeat(rows, counts, axis=0))
    np.testing.assert_allclose(weighted.covariance_, repeated.covariance_, rtol=1e-12)
    np.testing.assert_allclose(weighted.typicality(rows), repeated.typicality(rows), rtol=1e-9)
    with pytest.raises(BadWeights):
        MultivariateNormal.fit(rows, sample_weight=-counts)


def test_draws_are_fitted_back_and_repeat_with_their_seed() -> None:
    rows = HEIGHTS.sample(100_000, random_state=7)
    np.testing.assert_array_equal(rows, HEIGHTS.sample(100_000, random_state=7))
    back = MultivariateNormal.fit(rows)
    assert MultivariateNormal(HEIGHTS.mean, HEIGHTS.covariance).kl_divergence(back) < 5e-4
    with pytest.raises(BadSetting, match=r"size=1\.5"):
        HEIGHTS.sample(1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_a_fit_does_not_depend_on_units_or_offsets(scale: float) -> None:
    rows = np.random.default_rng(2).normal(size=(60, 4)) @ np.tri(4)
    plain, far = MultivariateNormal.fit(rows), MultivariateNormal.fit((rows + 1e6) * scale)
    np.testing.assert_allclose(
        far.mahalanobis((rows + 1e6) * scale), plain.mahalanobis(rows), rtol=1e-7
    )
    np.testing.assert_allclose(
        far.typicality((rows + 1e6) * scale), plain.typicality(rows), rtol=1e-6
    )


def test_constant_and_repeated_columns_are_fitted_as_they_are() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 50)) + 1e4
    rows = np.column_stack([a, b, np.full(50, 0.1), a, a + b])
    law = MultivariateNormal.fit(rows)
    assert law.rank == 2
    assert np.isfinite(law.log_density(rows)).all()
    pair = MultivariateNormal.fit(rows[:, :2])
    np.testing.assert_allclose(law.typicality(rows), pair.typicality(rows[:, :2]), rtol=1e-5)
    off = rows.copy()
    off[:, 3] += 0.01
    assert not law.typicality(off).any()


def test_categories_and_single_rows() -> None:
    with pytest.raises(NotANumber, match="x1"):
        MultivariateNormal.fit([[1.0, "red"], [2.0, "blue"]])
    with pytest.raises(BadRows, match="weight of 1"):
        MultivariateNormal.fit([[1.0, 2.0]], divisor="unbiased")
    assert MultivariateNormal.fit([[1.0, 2.0]]).rank == 0


# Exact p-values


def test_fresh_rows_have_uniform_p_values_even_with_thirty_rows_of_ten_columns() -> None:
    rng = np.random.default_rng(4)
    mix = rng.normal(size=(10, 10))
    fresh, chi_squared = [], []
    for _ in range(4000):
        rows = rng.normal(size=(31, 10)) @ mix + 5.0
        law = MultivariateNormal.fit(rows[:30])
        fresh.append(law.typicality(rows[30:])[0])
        chi_squared.append(law._law.typicality(rows[30:])[0])
    assert distance_from_uniform(np.array(fresh)) < 1.95
    assert distance_from_uniform(np.array(chi_squared)) > 10.0


def test_training_rows_have_uniform_p_values_of_their_own() -> None:
    rng = np.random.default_rng(5)
    p = []
    for _ in range(4000):
        rows = rng.normal(size=(30, 10))
        p.append(MultivariateNormal.fit(rows).typicality(rows[:1], training=True)[0])
    assert distance_from_uniform(np.array(p)) < 1.95


def test_p_values_stay_uniform_with_missing_cells_marginally_and_given_other_columns() -> None:
    rng = np.random.default_rng(6)
    mix = rng.normal(size=(5, 5))
    holed, part, rest = [], [], []
    for _ in range(3000):
        rows = rng.normal(size=(13, 5)) @ mix
        law, new = MultivariateNormal.fit(rows[:12]), rows[12]
        holed.append(law.typicality([[new[0], None, new[2], new[3], None]])[0])
        part.append(law.marginal([4, 1]).typicality([new[[4, 1]]])[0])
        rest.append(law.conditional({1: new[1], 3: new[3]}).typicality([new[[0, 2, 4]]])[0])
    for p in (holed, part, rest):
        assert distance_from_uniform(np.array(p)) < 1.95


def test_too_few_rows_have_no_p_value_and_say_so() -> None:
    rows = np.random.default_rng(7).normal(size=(4, 5))
    law = MultivariateNormal.fit(rows)
    with pytest.warns(NoPValue, match=r"4 row\(s\).*5 columns.*3 degrees"):
        assert np.isnan(law.typicality(rows)).all()
    nearly = [[None] * 5, [0.1, 0.2, None, None, None]]
    p = law.typicality(nearly)
    assert p[0] == 1.0
    assert 0.0 < p[1] < 1.0
    light = MultivariateNormal.fit(rows, sample_weight=0.1)
    assert light.typicality([[None] * 5])[0] == 1.0
    with pytest.warns(NoPValue, match="0 degrees"):
        assert np.isnan(light.typicality(rows, training=True)).all()
    with pytest.warns(NoPValue):
        assert np.isnan(MultivariateNormal.fit(rows[:1]).typicality(rows)).all()


def test_given_parameters_have_no_training_rows() -> None:
    for law in (HEIGHTS, MultivariateNormal.fit(np.eye(3)).conditional({0: 0.5})):
        with pytest.raises(BadSetting, match="training=True"):
            law.typicality(np.zeros((1, law.n_features_in_)), training=True)


def test_far_training_rows_have_p_value_zero_without_overflow() -> None:
    law = MultivariateNormal.fit(np.random.default_rng(9).normal(size=(20, 2)))
    rows = [[1e153, 0.0], [1e200, 0.0], [0.0, 1e300]]
    for training in (False, True):
        np.testing.assert_array_equal(law.typicality(rows, training=training), np.zeros(3))


def test_a_very_far_condition_leaves_p_values_finite() -> None:
    law = MultivariateNormal.fit(np.random.default_rng(11).normal(size=(20, 2)))
    rest = law.conditional({0: 1e200})
    assert not np.isnan(rest.typicality([[0.0], [1e300]])).any()


def test_as_many_rows_as_directions_leave_every_training_row_at_the_edge() -> None:
    rows = np.random.default_rng(10).normal(size=(4, 3))
    law = MultivariateNormal.fit(rows)
    np.testing.assert_allclose(law.typicality(rows, training=True), np.ones(4))
    assert ((law.typicality(rows) > 0.0) & (law.typicality(rows) < 1.0)).all()


# MultivariateNormal: comparing, showing, keeping


def test_divergence_pairs_columns_by_name() -> None:
    turned = HEIGHTS.marginal(["age", "height", "weight"])
    assert HEIGHTS.kl_divergence(turned) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(DifferentKinds, match="height, weight, age"):
        HEIGHTS.kl_divergence(MultivariateNormal([0.0], [[1.0]], names=["depth"]))


def test_a_law_survives_pickling_and_shows_itself() -> None:
    law = MultivariateNormal.fit(np.random.default_rng(8).normal(size=(20, 6)))
    copy = pickle.loads(pickle.dumps(law))
    assert copy == law
    assert hash(copy) == hash(law)
    assert repr(law) == "MultivariateNormal(6 columns, rank 6, weight=20)"
    assert "names=['age']" in repr(HEIGHTS.marginal("age"))
    assert law != "a law"


def test_contour_axes_entropy_and_density_are_those_of_the_law_inside() -> None:
    plane, inside = HEIGHTS.marginal([0, 1]), Normal([170.0, 70.0], [[100.0, 60.0], [60.0, 100.0]])
    np.testing.assert_allclose(plane.contour(sigmas=1.0), inside.contour(sigmas=1.0))
    np.testing.assert_allclose(plane.principal_axes()[1], inside.principal_axes()[1])
    assert plane.entropy() == pytest.approx(inside.entropy())
    np.testing.assert_allclose(plane.density([[170, 70]]), inside.density([[170, 70]]))


def test_every_kind_of_random_state_is_understood() -> None:
    generator = np.random.default_rng(0)
    assert random_generator(generator) is generator
    assert random_generator(None).random() != random_generator(None).random()
    assert random_generator(np.int64(3)).random() == random_generator(3).random()
    first, second = np.random.RandomState(0), np.random.RandomState(0)
    draws = random_generator(first).random()
    assert draws == random_generator(second).random()
    assert draws != random_generator(first).random()
    for bad in (-1, 1.5, "seed", True):
        with pytest.raises(BadSetting, match="no seed"):
            random_generator(bad)


def test_densities_and_draws_need_no_scipy(root: Path) -> None:
    program = """
import sys
import numpy as np
from suffice.families.normal import Normal
law = Normal([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
law.log_density(law.sample(10, np.random.default_rng(0)))
law.conditional({0: 1.0}).kl_divergence(law.marginal([1]))
law.contour(mass=0.9)
print(*(name for name in sys.modules if name.partition(".")[0] in {"scipy", "sklearn", "pandas"}))
"""
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=root / "src",
    )
    assert ran.stdout.strip() == ""
