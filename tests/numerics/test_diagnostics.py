"""Mardia's and Box's tests: published values, a slow twin, invariance, level, and small classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from suffice.evaluation import LabelledRows, box_m, diagnose, mardia
from suffice.evaluation.diagnostics import assumed

if TYPE_CHECKING:
    from numpy.typing import NDArray

DRAWS = 400


@pytest.fixture(scope="module")
def iris() -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    X, y = load_iris(return_X_y=True)
    return X, y


def test_setosa_is_as_published(iris: tuple[NDArray[np.float64], NDArray[np.intp]]) -> None:
    """R's MVN package: skewness 25.664, p = .1772; kurtosis 1.295 (both without corrections)."""
    X, y = iris
    found = mardia(X[y == 0])
    assert found is not None
    assert 50.0 * found.skewness / 6.0 == pytest.approx(25.6643445196298, abs=1e-9)
    assert (found.kurtosis - 24.0) / np.sqrt(8 * 24 / 50) == pytest.approx(
        1.29499223711605, abs=1e-9
    )


def test_box_m_of_iris_is_as_published(
    iris: tuple[NDArray[np.float64], NDArray[np.intp]],
) -> None:
    """R's heplots and biotools: χ² = 140.94 on 20 degrees of freedom."""
    X, y = iris
    found = box_m([X[y == c] for c in range(3)])
    assert found is not None
    assert found.chi_square == pytest.approx(140.94, abs=0.005)
    assert found.statistic == pytest.approx(146.66325, abs=1e-4)
    assert found.degrees_of_freedom == 20
    assert found.p_value < 1e-15


@given(st.integers(0, 2**32 - 1), st.integers(12, 60), st.integers(1, 5))
def test_skewness_and_kurtosis_are_their_definitions(seed: int, size: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.exponential(size=(size, width)) @ rng.normal(size=(width, width))
    found = mardia(rows)
    assert found is not None
    gaps = rows - rows.mean(axis=0)
    products = gaps @ np.linalg.pinv(gaps.T @ gaps / size) @ gaps.T
    assert found.skewness == pytest.approx((products**3).mean(), rel=1e-6)
    assert found.kurtosis == pytest.approx((np.diagonal(products) ** 2).mean(), rel=1e-6)


def test_many_rows_and_many_columns_take_different_ways_to_the_same_skewness() -> None:
    from suffice.evaluation.normality import _third

    rng = np.random.default_rng(1)
    z, w = rng.normal(size=(1500, 3)), rng.integers(1, 4, 1500).astype(float)
    pairs = float(w @ ((z @ z.T) ** 3) @ w)
    assert _third(z, w) == pytest.approx(pairs, rel=1e-10)
    wide, few = rng.normal(size=(40, 30)), np.ones(40)
    assert _third(wide, few) == pytest.approx(float(((wide @ wide.T) ** 3).sum()), rel=1e-10)


def test_units_offsets_and_repeated_columns_do_not_matter(
    iris: tuple[NDArray[np.float64], NDArray[np.intp]],
) -> None:
    X, y = iris
    plain = mardia(X[y == 1])
    odd = np.column_stack([X * [1e-120, 1.0, 1e6, 1e120], 3.0 * X[:, 1] - 1.0, np.ones(150)])
    turned = mardia(odd[y == 1])
    assert plain is not None
    assert turned is not None
    assert turned.rank == 4
    assert turned.skewness == pytest.approx(plain.skewness, rel=1e-8)
    assert turned.kurtosis_p == pytest.approx(plain.kurtosis_p, rel=1e-6)
    one, other = (box_m([part[y == c] for c in range(3)]) for part in (X, odd))
    assert one is not None
    assert other is not None
    assert other.chi_square == pytest.approx(one.chi_square, rel=1e-8)
    assert other.rank == 4


def test_a_weight_is_a_repetition(iris: tuple[NDArray[np.float64], NDArray[np.intp]]) -> None:
    X, y = iris
    weights = np.random.default_rng(0).integers(1, 4, 150).astype(float)
    often = np.repeat(np.arange(150), weights.astype(int))
    a, b = mardia(X[y == 2], weights[y == 2]), mardia(X[often][y[often] == 2])
    assert a is not None
    assert b is not None
    assert a.skewness_p == pytest.approx(b.skewness_p, rel=1e-9)
    assert a.kurtosis_p == pytest.approx(b.kurtosis_p, rel=1e-9)
    groups = [X[y == c] for c in range(3)]
    one = box_m(groups, [weights[y == c] for c in range(3)])
    other = box_m([X[often][y[often] == c] for c in range(3)])
    assert one is not None
    assert other is not None
    assert one.chi_square == pytest.approx(other.chi_square, rel=1e-9)


@pytest.mark.parametrize(("size", "width"), [(30, 2), (60, 4), (200, 6)])
def test_normal_rows_are_rejected_about_as_often_as_they_say(size: int, width: int) -> None:
    rng = np.random.default_rng([size, width])
    skewed, long, unequal = 0, 0, 0
    for _ in range(DRAWS):
        groups = [rng.normal(size=(size, width)) for _ in range(3)]
        found, box = mardia(groups[0]), box_m(groups)
        assert found is not None
        assert box is not None
        skewed += found.skewness_p < 0.05
        long += found.kurtosis_p < 0.05
        unequal += box.p_value < 0.05
    for rejected in (skewed, long, unequal):
        # Four standard errors of a share of .05 among 400 are .044; χ² is an approximation.
        assert 0.01 < rejected / DRAWS < 0.10


def test_exponential_rows_and_unequal_spreads_are_noticed() -> None:
    rng = np.random.default_rng(7)
    found = mardia(rng.exponential(size=(100, 3)))
    assert found is not None
    assert max(found.skewness_p, found.kurtosis_p) < 1e-6
    box = box_m([rng.normal(size=(60, 3)), 2.0 * rng.normal(size=(60, 3))])
    assert box is not None
    assert box.p_value < 1e-6


def test_classes_that_are_too_small_have_no_figures_and_no_nan() -> None:
    rng = np.random.default_rng(2)
    sizes = {"large": 80, "middle": 40, "three": 3, "one": 1}
    y = np.repeat(list(sizes), list(sizes.values()))
    X = rng.normal(size=(len(y), 4))
    found = diagnose(LabelledRows.read(X, y))
    by_label = {one.label: one for one in found.classes}
    assert by_label["one"].mardia is None
    assert by_label["three"].mardia is None
    assert by_label["large"].mardia is not None
    assert found.box is not None
    assert found.box.groups == 2
    assert "nan" not in str(found).lower()
    assert "without 2 classes too small" in str(found).replace("\n", " ")


def test_text_and_blanks_are_left_out_and_said_to_be() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    frame = pandas.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90), "c": ["x"] * 90})
    frame.loc[:4, "a"] = np.nan
    found = diagnose(LabelledRows.read(frame, np.arange(90) % 2))
    assert found.columns == ("a", "b")
    assert "leave out 5 rows" in str(found)
    assert assumed(found)
    words = diagnose(LabelledRows.read(frame[["c"]], np.arange(90) % 2))
    assert words.columns == ()
    assert words.box is None
    assert "no numeric columns" in str(words)
    assert assumed(words) == []


def test_a_class_full_of_outliers_is_reported() -> None:
    rng = np.random.default_rng(6)
    X = rng.standard_t(2.0, size=(300, 2))
    found = diagnose(LabelledRows.read(X, np.arange(300) % 2))
    assert all(one.outliers is not None and one.outliers > 0.01 for one in found.classes)
    assert any("Outliers" in line for line in assumed(found))
