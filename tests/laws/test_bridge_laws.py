"""The bridge's laws: linear scores are log joints, and θ, its errors and T know no units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import (
    BernoulliNaiveBayes,
    GaussianDiscriminant,
    MultinomialNaiveBayes,
    NaiveBayes,
)
from suffice.families import Gaussian
from suffice.models import GaussianLearner
from suffice.models.bridge import Bridge, bridge_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

LEARNER = GaussianLearner(Gaussian())

seeds = st.integers(0, 2**32 - 1)
counts_of_classes = st.integers(2, 4)
widths = st.integers(1, 3)


def classes(rng: np.random.Generator, size: int, count: int) -> Array:
    """Return labels of which each class has its share."""
    return rng.permutation(np.arange(size) % count)


def normal_rows(seed: int, count: int, width: int) -> tuple[Array, Array]:
    """Return rows of overlapping normal classes."""
    rng = np.random.default_rng(seed)
    labels = classes(rng, 40 * count, count)
    means = rng.standard_normal((count, width))
    turn = np.linalg.qr(rng.standard_normal((width, width)))[0] * rng.uniform(0.2, 5.0, width)
    return (rng.standard_normal((len(labels), width)) + means[labels]) @ turn, labels


def bridged(rows: Array, labels: Array, weights: Array | None = None) -> Bridge:
    names = tuple(range(int(labels.max()) + 1))
    fit = LEARNER.fit(LEARNER.summarize(rows, labels, names, weights))
    return bridge_of(fit, rows, labels, weights)


def assert_close(found: Any, expected: Any, relative: float = 1e-6) -> None:
    """Compare numbers relative to the largest of them, a matrix by its own variances."""
    found, expected = np.asarray(found), np.asarray(expected)
    if expected.ndim == 2:
        roots = np.sqrt(np.diagonal(expected))
        found, expected = (each / roots[:, np.newaxis] / roots for each in (found, expected))
    assert found == pytest.approx(expected, rel=relative, abs=relative * np.abs(expected).max())


def assert_same_test(one: Bridge, other: Bridge) -> None:
    """Compare two statistics by what chance makes of them: one for each degree of freedom."""
    degrees = one.test.degrees_of_freedom
    assert degrees == other.test.degrees_of_freedom
    assert one.test.statistic == pytest.approx(other.test.statistic, rel=1e-6, abs=1e-6 * degrees)


def assert_same(one: Bridge, other: Bridge) -> None:
    """Compare all that two bridges say about every pair."""
    assert_same_test(one, other)
    for of in range(len(one.labels)):
        for against in range(of):
            assert_close(one.estimate(of, against), other.estimate(of, against))
            assert_close(one.covariance(of, against), other.covariance(of, against))
            assert_close(one.robust_covariance(of, against), other.robust_covariance(of, against))


# The identity


def drawn(kind: str, rng: np.random.Generator, count: int, width: int) -> tuple[Array, Array]:
    """Return rows that a family of that kind can have made."""
    labels = classes(rng, 12 * count, count)
    shape = (len(labels), width)
    if kind in {"shared", "shared-diagonal"}:
        return rng.standard_normal(shape) * 10.0 ** rng.uniform(-3, 3, width) + labels[
            :, None
        ], labels
    if kind == "bernoulli":
        return (rng.random(shape) < rng.random((count, width))[labels]).astype(float), labels
    rates = rng.uniform(0.2, 6.0, (count, width))
    return rng.poisson(rates[labels]).astype(float), labels


MODELS: dict[str, Any] = {
    "shared": lambda: GaussianDiscriminant("shared"),
    "shared-diagonal": lambda: GaussianDiscriminant("shared-diagonal"),
    "bernoulli": BernoulliNaiveBayes,
    "multinomial": MultinomialNaiveBayes,
    "poisson": lambda: NaiveBayes("poisson"),
}


@pytest.mark.parametrize("kind", MODELS)
@given(seed=seeds, count=counts_of_classes, width=widths)
def test_log_joint_minus_linear_scores_is_one_number_a_row(
    kind: str, seed: int, count: int, width: int
) -> None:
    rng = np.random.default_rng(seed)
    rows, labels = drawn(kind, rng, count, width)
    model = MODELS[kind]().fit(rows, labels)
    new, _ = drawn(kind, rng, count, width)
    implied = model.to_logistic().against()
    linear = np.zeros((len(new), count))
    linear[:, 1:] = new @ implied.coef.T + implied.intercept
    left = model.log_joint(new) - linear
    size = max(1.0, float(np.abs(linear).max()), float(np.abs(model.log_joint(new)).max()))
    assert np.ptp(left, axis=1).max() <= 1e-9 * size


# Invariance


@given(seeds, counts_of_classes, widths)
def test_theta_turns_with_the_columns_and_the_test_does_not(
    seed: int, count: int, width: int
) -> None:
    rows, labels = normal_rows(seed, count, width)
    rng = np.random.default_rng([seed, 1])
    turn = np.linalg.qr(rng.standard_normal((width, width)))[0] * rng.uniform(0.5, 2.0, width)
    shift = 10.0 * rng.standard_normal(width)
    before, after = bridged(rows, labels), bridged(rows @ turn + shift, labels)
    assert_same_test(after, before)
    # θ₀ + θ·x = θ₀' + θ'·(xA + b): θ = Aθ' and θ₀ = θ₀' + b·θ'.
    back = np.zeros((width + 1, width + 1))
    back[0, 0] = 1.0
    back[0, 1:] = shift
    back[1:, 1:] = turn
    for of in range(1, count):
        against = of - 1
        assert_close(back @ after.estimate(of, against), before.estimate(of, against))
        for matrix in ("covariance", "robust_covariance", "difference_covariance"):
            turned = back @ getattr(after, matrix)(of, against) @ back.T
            assert_close(turned, getattr(before, matrix)(of, against))


@given(seeds, widths, st.floats(-6.0, 6.0), st.floats(-1e4, 1e4))
def test_units_and_offsets_do_not_matter(
    seed: int, width: int, power: float, offset: float
) -> None:
    rows, labels = normal_rows(seed, 2, width)
    unit = 10.0**power
    before, after = bridged(rows, labels), bridged((rows + offset) * unit, labels)
    assert_same_test(after, before)
    assert_close(after.estimate(1)[1:] * unit, before.estimate(1)[1:])
    errors = [np.sqrt(np.diagonal(found.covariance(1)))[1:] for found in (before, after)]
    assert_close(errors[1] * unit, errors[0])


@given(seeds, counts_of_classes, widths)
def test_the_order_of_rows_does_not_matter(seed: int, count: int, width: int) -> None:
    rows, labels = normal_rows(seed, count, width)
    order = np.random.default_rng([seed, 2]).permutation(len(rows))
    assert_same(bridged(rows[order], labels[order]), bridged(rows, labels))


@given(seeds, counts_of_classes, widths)
def test_weights_count_repetitions(seed: int, count: int, width: int) -> None:
    rows, labels = normal_rows(seed, count, width)
    times = np.random.default_rng([seed, 3]).integers(1, 4, len(rows))
    repeated = bridged(np.repeat(rows, times, axis=0), np.repeat(labels, times))
    assert_same(bridged(rows, labels, times.astype(float)), repeated)


@given(seeds, st.integers(2, 4), widths)
def test_the_class_that_comes_first_does_not_matter(seed: int, count: int, width: int) -> None:
    rows, labels = normal_rows(seed, count, width)
    names = np.random.default_rng([seed, 4]).permutation(count)
    before, after = bridged(rows, labels), bridged(rows, names[labels])
    assert_same_test(after, before)
    for of in range(1, count):
        pair, renamed = (of, of - 1), (int(names[of]), int(names[of - 1]))
        assert_close(after.estimate(*renamed), before.estimate(*pair))
        for matrix in ("covariance", "robust_covariance", "difference_covariance"):
            assert_close(getattr(after, matrix)(*renamed), getattr(before, matrix)(*pair))


@given(seeds, widths)
def test_comparing_the_other_way_round_changes_signs_alone(seed: int, width: int) -> None:
    found = bridged(*normal_rows(seed, 3, width))
    assert_close(found.estimate(1, 2), -found.estimate(2, 1), 1e-12)
    assert_close(found.covariance(1, 2), found.covariance(2, 1), 1e-12)
    assert_close(found.robust_covariance(1, 2), found.robust_covariance(2, 1), 1e-12)
