"""Covariances of all classes are factored by one call, and are what one after the other gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.linear_algebra import inverse_factor, lower_inverse, smallest_eigenvalue_bound
from suffice.models.gaussian import floors
from tests.searches import examples


def covariances_of(seed: int, size: int, width: int, flat: int) -> list[np.ndarray]:
    """Return covariances, of which some have a direction without any variance."""
    rng = np.random.default_rng(seed)
    found = []
    for c in range(size):
        roots = rng.normal(size=(width, width)) * 10.0 ** rng.uniform(-3, 3, size=(width, 1))
        if c < flat:
            roots[:, 0] = 0.0
        found.append(roots @ roots.T)
    return found


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 5), st.integers(0, 6))
@examples(60)
def test_factors_are_those_of_one_class_after_the_other(
    seed: int, size: int, width: int, flat: int
) -> None:
    covariances = covariances_of(seed, size, width, flat)
    weights = np.arange(1.0, size + 1.0)
    total = np.mean(covariances, axis=0) + np.eye(width)
    pooled = floors.pooled_covariance(total, lambda: total)
    factors, whitenings, acted = floors.class_covariances(covariances, weights, pooled)
    for c in range(size):
        factor, whitening, one = floors.class_covariance(covariances[c], float(weights[c]), pooled)
        assert (c in acted) == one
        np.testing.assert_array_equal(factors[c], factor)
        np.testing.assert_array_equal(whitenings[c], whitening)


def test_a_class_that_is_floored_does_not_change_its_neighbours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    covariances = covariances_of(3, 6, 4, 1)
    pooled = floors.pooled_covariance(np.eye(4), lambda: np.eye(4))
    weights = np.full(6, 9.0)
    together = floors.class_covariances(covariances, weights, pooled)
    monkeypatch.setattr(floors, "AT_ONCE", 1)  # each by itself
    apart = floors.class_covariances(covariances, weights, pooled)
    assert together[2] == apart[2] == [0]
    for one, other in zip(together[:2], apart[:2], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("width", [1, 3, 64, 65])
def test_inverses_of_a_stack_are_lower_triangular(width: int) -> None:
    stack = np.stack(covariances_of(1, 3, width, 0)) + np.eye(width) * 1e3
    found = inverse_factor(stack)
    assert found is not None
    for factor, inverse, matrix in zip(*found, stack, strict=True):
        np.testing.assert_array_equal(inverse, np.tril(inverse))
        np.testing.assert_array_equal(inverse, lower_inverse(factor))
        np.testing.assert_allclose(factor @ factor.T, matrix, rtol=1e-10, atol=1e-6)
    least = min(np.linalg.eigvalsh(matrix)[0] for matrix in stack)
    assert smallest_eigenvalue_bound(found[1]) <= least * (1.0 + 1e-9)
