"""What must hold for every normal law, whatever its rank and whatever the units."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from suffice.models.gaussian.law.normal import Normal

seeds = st.integers(0, 2**32 - 1)
exponents = st.integers(-150, 150)


def drawn_law(rng: np.random.Generator, width: int, rank: int, *, offset: float = 1.0) -> Normal:
    """Return a law with the given rank, correlations of all sizes and a mean off zero."""
    factor = rng.normal(size=(width, rank)) @ np.diag(rng.uniform(0.5, 1.5, rank))
    return Normal(offset * rng.normal(size=width), factor @ factor.T)


def full(seed: int, width: int) -> tuple[Normal, np.random.Generator]:
    """Return a well-conditioned law."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(width, width)))[0]
    return Normal(rng.normal(size=width), basis * rng.uniform(0.3, 3.0, width) @ basis.T), rng


@given(seeds, st.integers(2, 6), st.data())
def test_a_joint_density_is_a_marginal_times_a_conditional(
    seed: int, width: int, data: st.DataObject
) -> None:
    law, rng = full(seed, width)
    given_columns = data.draw(st.permutations(range(width)))[: data.draw(st.integers(1, width - 1))]
    others = [j for j in range(width) if j not in given_columns]
    row = law.sample(1, rng) * 2.0
    rest = law.conditional({j: float(row[0, j]) for j in given_columns})
    parts = law.marginal(given_columns).log_density(row[:, given_columns]) + rest.log_density(
        row[:, others]
    )
    assert parts[0] == pytest.approx(law.log_density(row)[0], rel=1e-10, abs=1e-10)


@given(seeds, st.integers(2, 6), st.data())
def test_a_degenerate_law_splits_into_the_ranks_of_its_parts(
    seed: int, width: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    law = drawn_law(rng, width, data.draw(st.integers(0, width)))
    known = data.draw(st.integers(1, width - 1))
    row = law.sample(1, rng)
    front, rest = law.marginal(range(known)), law.conditional(dict(enumerate(row[0, :known])))
    assert front.rank + rest.rank == law.rank
    assert np.isfinite(law.log_density(row)).all()
    assert np.isfinite(front.log_density(row[:, :known])).all()
    assert np.isfinite(rest.log_density(row[:, known:])).all()
    # Squared distances add up whatever the rank; volumes need not, for they are of subspaces.
    squares = front.mahalanobis(row[:, :known]) ** 2 + rest.mahalanobis(row[:, known:]) ** 2
    np.testing.assert_allclose(squares, law.mahalanobis(row) ** 2, rtol=1e-6, atol=1e-6)


@given(seeds, st.integers(1, 5), st.lists(exponents, min_size=5, max_size=5))
def test_distances_and_p_values_do_not_depend_on_units_or_offsets(
    seed: int, width: int, powers: list[int]
) -> None:
    law, rng = full(seed, width)
    factors = 10.0 ** np.array(powers[:width], dtype=float) * np.where(
        rng.random(width) < 0.5, -1, 1
    )
    shifts = factors * rng.uniform(-1e3, 1e3, width)
    moved = Normal(factors * law.mean + shifts, law.covariance * factors[:, np.newaxis] * factors)
    rows = law.sample(20, rng)
    rows[rng.random(rows.shape) < 0.2] = np.nan
    there = factors * rows + shifts
    np.testing.assert_allclose(
        moved.mahalanobis(there), law.mahalanobis(rows), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(moved.typicality(there), law.typicality(rows), rtol=1e-9, atol=1e-9)
    seen = ~np.isnan(rows)
    stretched = law.log_density(rows) - seen @ np.log(np.abs(factors))
    np.testing.assert_allclose(moved.log_density(there), stretched, rtol=1e-9, atol=1e-9)


@given(seeds, st.integers(2, 5), st.data(), st.lists(exponents, min_size=5, max_size=5))
def test_missing_directions_stay_missing_in_all_units(
    seed: int, width: int, data: st.DataObject, powers: list[int]
) -> None:
    rng = np.random.default_rng(seed)
    law = drawn_law(rng, width, data.draw(st.integers(1, width - 1)))
    factors = 10.0 ** np.array(powers[:width], dtype=float)
    moved = Normal(factors * law.mean, law.covariance * factors[:, np.newaxis] * factors)
    rows = law.sample(10, rng)
    assert moved.rank == law.rank
    np.testing.assert_allclose(
        moved.mahalanobis(factors * rows), law.mahalanobis(rows), rtol=1e-6, atol=1e-6
    )
    off = rows + 0.01 * np.sqrt(np.diagonal(law.covariance)) * rng.choice([-1.0, 1.0], rows.shape)
    assume(np.isinf(law.mahalanobis(off)).all())
    assert np.isneginf(moved.log_density(factors * off)).all()
    assert not moved.typicality(factors * off).any()


@given(seeds, st.integers(1, 5))
def test_a_large_offset_costs_only_the_digits_of_the_rows(seed: int, width: int) -> None:
    law, rng = full(seed, width)
    rows = law.sample(10, rng)
    far = Normal(law.mean + 1e8, law.covariance)
    np.testing.assert_allclose(far.mahalanobis(rows + 1e8), law.mahalanobis(rows), atol=1e-6)


@given(seeds, st.integers(1, 5))
def test_a_missing_cell_is_integrated_out(seed: int, width: int) -> None:
    law, rng = full(seed, width)
    rows = law.sample(12, rng)
    rows[rng.random(rows.shape) < 0.4] = np.nan
    for row, log_density, typicality in zip(
        rows, law.log_density(rows), law.typicality(rows), strict=True
    ):
        seen = np.flatnonzero(~np.isnan(row))
        if len(seen) == 0:
            assert (log_density, typicality) == (0.0, 1.0)
            continue
        part = law.marginal(seen)
        assert log_density == pytest.approx(part.log_density(row[np.newaxis, seen])[0], rel=1e-12)
        assert typicality == pytest.approx(part.typicality(row[np.newaxis, seen])[0], rel=1e-12)


@given(seeds, seeds, st.integers(1, 5))
def test_no_law_diverges_negatively_and_none_from_itself(a: int, b: int, width: int) -> None:
    left, right = full(a, width)[0], full(b, width)[0]
    assert left.kl_divergence(right) >= 0.0
    assert left.kl_divergence(Normal(left.mean, left.covariance)) == 0.0
    near = Normal(left.mean * (1.0 + 1e-9), left.covariance * (1.0 + 1e-9))
    assert 0.0 <= left.kl_divergence(near) < 1e-15
    inverse = np.linalg.inv(right.covariance)
    gap = right.mean - left.mean
    plain = 0.5 * (
        np.trace(inverse @ left.covariance)
        + gap @ inverse @ gap
        - width
        + np.linalg.slogdet(right.covariance)[1]
        - np.linalg.slogdet(left.covariance)[1]
    )
    assert left.kl_divergence(right) == pytest.approx(plain, rel=1e-8, abs=1e-10)


@given(seeds, st.integers(2, 5), st.data())
def test_divergence_is_invariant_and_infinite_between_different_supports(
    seed: int, width: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    rank = data.draw(st.integers(1, width - 1))
    lift = rng.normal(size=(width, rank))
    inner = [rng.normal(size=(rank, rank + 2)) for _ in range(2)]
    small = [Normal(rng.normal(size=rank), g @ g.T) for g in inner]
    large = [Normal(lift @ s.mean, lift @ s.covariance @ lift.T) for s in small]
    assume(all(law.rank == rank for law in large))
    assert large[0].kl_divergence(large[1]) == pytest.approx(
        small[0].kl_divergence(small[1]), rel=1e-4
    )
    elsewhere = Normal(large[1].mean + rng.normal(size=width), large[1].covariance)
    whole = Normal(large[1].mean, np.eye(width))
    assert large[0].kl_divergence(elsewhere) == math.inf
    assert large[0].kl_divergence(whole) == math.inf
    assert whole.kl_divergence(large[0]) == math.inf


@given(seeds, st.integers(1, 6))
def test_principal_axes_rebuild_the_covariance_with_settled_signs(seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    law = drawn_law(rng, width, int(rng.integers(0, width + 1)))
    lengths, axes = law.principal_axes()
    assert (np.diff(lengths) <= 0.0).all()
    np.testing.assert_allclose(axes @ axes.T, np.eye(width), atol=1e-12)
    size = max(1.0, float(np.abs(law.covariance).max()))
    np.testing.assert_allclose(axes.T * lengths**2 @ axes, law.covariance, atol=1e-11 * size)
    assert (axes[np.arange(width), np.argmax(np.abs(axes), axis=1)] > 0.0).all()


@given(seeds, st.integers(1, 5))
def test_the_log_ratio_of_two_laws_with_one_covariance_is_linear(seed: int, width: int) -> None:
    law, rng = full(seed, width)
    other = Normal(rng.normal(size=width), law.covariance)
    assert law.same_carrier(other)
    (w1, b1), (w0, b0) = law.linear_form(), other.linear_form()
    rows = rng.normal(size=(10, width))
    np.testing.assert_allclose(
        rows @ (w1 - w0) + b1 - b0, law.log_density(rows) - other.log_density(rows), atol=1e-9
    )
