"""Published tables, reproduced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.datasets import load_iris

from suffice import GaussianDiscriminant
from tests.reference.known_tables import ERRORS, REDUCED_RANK, counted, reduced_rank_errors

if TYPE_CHECKING:
    from pathlib import Path

LD1 = (0.82937764, 1.53447307, -2.20121166, -2.81046031)
LD2 = (-0.02410215, -2.16452123, 0.93192121, -2.83918785)
SINGULAR_VALUES = (48.6426438, 4.5799827)


@pytest.mark.parametrize(("name", "form", "divisor"), ERRORS)
def test_errors_are_the_published_ones(name: str, form: str, divisor: str, shared: Path) -> None:
    train, test = counted(name, form, divisor)
    known_train, known_test = ERRORS[name, form, divisor]
    assert known_train in (None, train)
    assert test == known_test


def test_two_coordinates_classify_vowels_best(shared: Path) -> None:
    found = reduced_rank_errors()
    np.testing.assert_allclose(found, REDUCED_RANK, atol=5e-5)
    assert int(np.argmin(found)) == 1


def test_discriminant_coordinates_of_iris_are_those_of_r() -> None:
    X, y = load_iris(return_X_y=True)
    model = GaussianDiscriminant(divisor="unbiased").fit(X, y)
    for found, known in zip(model.scalings_.T, (LD1, LD2), strict=True):
        sign = np.sign(found[0] * known[0])
        np.testing.assert_allclose(sign * found, known, atol=5e-9)
    np.testing.assert_allclose(model.explained_variance_ratio_, (0.99121, 0.00879), atol=5e-6)


def test_ratios_between_and_within_iris_are_those_of_r() -> None:
    """R's svd is √(n/(k - 1)) times the spread of the class means along each coordinate."""
    X, y = load_iris(return_X_y=True)
    model = GaussianDiscriminant(divisor="unbiased").fit(X, y)
    coordinates = model.transform(X)
    centres = np.stack([coordinates[y == c].mean(axis=0) for c in range(3)])
    spread = np.sqrt(np.mean(np.square(centres - centres.mean(axis=0)), axis=0))
    np.testing.assert_allclose(np.sqrt(150 / 2) * spread, SINGULAR_VALUES, atol=5e-8)


def test_fisher_told_setosa_from_versicolor_by_this_compound() -> None:
    X, y = load_iris(return_X_y=True)
    two = y < 2
    weights = GaussianDiscriminant().fit(X[two], y[two]).to_logistic().coef_[0]
    np.testing.assert_allclose(
        weights / weights[0], (1.0, 5.9038048, -7.1299813, -10.1036641), atol=5e-8
    )


@pytest.mark.parametrize(
    ("form", "resubstituted", "left_out"), [("shared", 3, 3), ("per-class", 3, 4)]
)
def test_iris_is_misjudged_as_often_as_in_r(form: str, resubstituted: int, left_out: int) -> None:
    X, y = load_iris(return_X_y=True)
    model = GaussianDiscriminant(form, divisor="unbiased").fit(X, y)
    assert int((model.predict(X) != y).sum()) == resubstituted
    assert int(model.leave_one_out(X, y).wrong.sum()) == left_out
