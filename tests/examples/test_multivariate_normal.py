"""MultivariateNormal: parameters, rows and names; fitting; showing and keeping."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from suffice.errors import (
    BadRows,
    BadSetting,
    BadWeights,
    ColumnMismatch,
    DegenerateData,
    DifferentKinds,
    NotANumber,
    NotFinite,
)
from suffice.estimators.multivariate_normal import MultivariateNormal
from suffice.learning.randomness import random_generator
from suffice.models.gaussian.law.normal import Normal

HEIGHTS = MultivariateNormal(
    [170.0, 70.0, 40.0],
    [[100.0, 60.0, 0.0], [60.0, 100.0, 10.0], [0.0, 10.0, 150.0]],
    names=["height", "weight", "age"],
)


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


# Fitting


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
    with pytest.warns(DegenerateData):
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
    with pytest.warns(DegenerateData, match="rows vary in 0 of 2 directions"):
        assert MultivariateNormal.fit([[1.0, 2.0]]).rank == 0


def test_a_degenerate_fit_names_the_columns_and_says_where_the_density_lives() -> None:
    frames = pytest.importorskip("pandas")
    a, b, c = np.random.default_rng(3).normal(size=(3, 50))
    frame = frames.DataFrame({"a": a, "b": b, "flat": 2.0, "c": c, "sum": a - 2.0 * b})
    with pytest.warns(DegenerateData) as said:
        law = MultivariateNormal.fit(frame)
    assert law.rank == 3
    (told,) = said
    assert str(told.message) == (
        "rows vary in 3 of 5 directions (flat never varies; a, b, sum are tied to each other): "
        "the density is defined on that subspace only, and is 0 elsewhere"
    )
    assert told.filename == __file__


def test_too_few_rows_for_the_columns_are_said_to_be_too_few() -> None:
    with pytest.warns(DegenerateData, match="3 of 5 directions.*a weight of 4 cannot show more"):
        MultivariateNormal.fit(np.random.default_rng(7).normal(size=(4, 5)))


@pytest.mark.parametrize("hole", [0.0, np.nan])
def test_numbers_too_large_to_be_squared_are_refused_by_name(hole: float) -> None:
    frames = pytest.importorskip("pandas")
    rows = np.random.default_rng(0).normal(size=(20, 3)) * [1.0, 1e160, 1.0]
    rows[3, 0] = hole
    with pytest.raises(NotFinite, match="the spread of income is too large"):
        MultivariateNormal.fit(frames.DataFrame(rows, columns=["age", "income", "height"]))
    with pytest.raises(NotFinite, match="the spread of column 1 is too large"):
        MultivariateNormal.fit(rows)


# Comparing, showing, keeping


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
        with pytest.raises(BadSetting, match="not a seed"):
            random_generator(bad)
