"""MultivariateNormal fitted to rows with empty cells: the most likely law of what is there."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.errors import BadRows, DegenerateData, NotFinite, TooManyPatterns
from suffice.estimators.multivariate_normal import MultivariateNormal

MIX = np.array([[1.0, 0.5, 0.0, 2.0], [0.0, 1.0, -0.7, 0.0], [0.0, 0.0, 1.0, 0.3], [0, 0, 0, 1.0]])


def rows_with_holes(seed: int, size: int, share: float = 0.25) -> np.ndarray:
    """Return correlated rows of four columns with cells missing at random."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(size, 4)) @ MIX + [1.0, -2.0, 0.0, 10.0]
    rows[rng.random(rows.shape) < share] = np.nan
    return rows[~np.isnan(rows).all(axis=1)]


def expectation_maximization(
    rows: np.ndarray, weights: np.ndarray, steps: int = 2000
) -> tuple[np.ndarray, np.ndarray]:
    """Return the most likely mean and covariance, row by row as the textbook has it."""
    mean, covariance = np.nanmean(rows, axis=0), np.diag(np.nanvar(rows, axis=0))
    for _ in range(steps):
        total, squares = np.zeros_like(mean), np.zeros_like(covariance)
        for row, weight in zip(rows, weights, strict=True):
            o, m = ~np.isnan(row), np.isnan(row)
            slope = covariance[np.ix_(m, o)] @ np.linalg.inv(covariance[np.ix_(o, o)])
            filled = row.copy()
            filled[m] = mean[m] + slope @ (row[o] - mean[o])
            rest = np.zeros_like(covariance)
            rest[np.ix_(m, m)] = covariance[np.ix_(m, m)] - slope @ covariance[np.ix_(o, m)]
            total += weight * filled
            squares += weight * (np.outer(filled, filled) + rest)
        new = total / weights.sum()
        moved = np.abs(new - mean).max()
        mean, old = new, covariance
        covariance = squares / weights.sum() - np.outer(mean, mean)
        if max(moved, np.abs(covariance - old).max()) < 1e-12:
            break
    return mean, covariance


def log_likelihood(law: MultivariateNormal, rows: np.ndarray, weights: np.ndarray) -> float:
    """Return the log density of the cells that are there."""
    return float(weights @ law.log_density(rows))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_fit_with_holes_is_the_textbooks_em(weighted: bool) -> None:
    rows = rows_with_holes(0, 40)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(rows)) if weighted else None
    used = np.ones(len(rows)) if weights is None else weights
    law = MultivariateNormal.fit(rows, sample_weight=weights)
    mean, covariance = expectation_maximization(rows, used)
    np.testing.assert_allclose(law.mean, mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(law.covariance, covariance, rtol=1e-6, atol=1e-6)


def test_no_law_nearby_is_more_likely() -> None:
    rows = rows_with_holes(2, 60)
    weights = np.ones(len(rows))
    law = MultivariateNormal.fit(rows)
    best = log_likelihood(law, rows, weights)
    rng = np.random.default_rng(3)
    for _ in range(20):
        turn = np.eye(4) + 0.01 * rng.normal(size=(4, 4))
        near = MultivariateNormal(
            law.mean + 0.01 * rng.normal(size=4), turn @ law.covariance @ turn.T
        )
        assert log_likelihood(near, rows, weights) < best


def test_the_unbiased_divisor_scales_the_completed_scatter() -> None:
    rows = rows_with_holes(4, 30)
    mle, unbiased = MultivariateNormal.fit(rows), MultivariateNormal.fit(rows, divisor="unbiased")
    size = len(rows)
    np.testing.assert_allclose(unbiased.covariance * (size - 1) / size, mle.covariance, rtol=1e-12)
    np.testing.assert_array_equal(unbiased.mean, mle.mean)
    np.testing.assert_allclose(unbiased.typicality(rows), mle.typicality(rows), rtol=1e-9)


def test_a_weight_of_two_is_two_rows_and_an_empty_row_is_none() -> None:
    rows = rows_with_holes(5, 30)
    counts = np.random.default_rng(6).integers(0, 4, len(rows))
    weighted = MultivariateNormal.fit(rows, sample_weight=counts)
    repeated = MultivariateNormal.fit(np.repeat(rows, counts, axis=0))
    np.testing.assert_allclose(weighted.mean, repeated.mean, rtol=1e-8)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-8, atol=1e-9)
    empty = np.vstack([rows, np.full((5, 4), np.nan)])
    assert MultivariateNormal.fit(empty) == MultivariateNormal.fit(rows)


def test_one_column_with_holes_is_the_law_of_the_cells_that_are_there() -> None:
    cells = [[1.0], [None], [2.0], [6.0], [None]]
    assert MultivariateNormal.fit(cells) == MultivariateNormal.fit([[1.0], [2.0], [6.0]])


def test_units_and_offsets_do_not_matter_with_holes_either() -> None:
    rows = rows_with_holes(7, 50)
    scale, offset = np.array([1e-120, 1.0, 1e120, 1e3]), np.array([1e3, -1e4, 0.0, 1e5])
    moved = (rows + offset) * scale
    plain, far = MultivariateNormal.fit(rows), MultivariateNormal.fit(moved)
    np.testing.assert_allclose(far.mahalanobis(moved), plain.mahalanobis(rows), rtol=1e-6)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_empty_cells_of_a_frame_are_holes(library: str) -> None:
    frames = pytest.importorskip(library)
    rows = rows_with_holes(8, 40)
    cells = {
        name: [None if np.isnan(v) else float(v) for v in rows[:, j]]
        for j, name in enumerate("abcd")
    }
    law = MultivariateNormal.fit(frames.DataFrame(cells))
    np.testing.assert_array_equal(law.covariance, MultivariateNormal.fit(rows).covariance)
    assert law.feature_names_in_.tolist() == ["a", "b", "c", "d"]


def test_constant_and_collinear_columns_with_holes_stay_degenerate() -> None:
    rng = np.random.default_rng(9)
    a, b = rng.normal(size=(2, 80))
    whole = np.column_stack([a, b, 3.0 * a - b, np.full(80, 0.1)]) + 100.0
    holed = whole.copy()
    holed[rng.random(whole.shape) < 0.15] = np.nan
    with pytest.warns(DegenerateData, match=r"2 of 4 .*column 3 never varies; column 0, column 1"):
        law = MultivariateNormal.fit(holed)
    assert law.rank == 2
    assert np.isfinite(law.log_density(whole)).all()
    off = whole.copy()
    off[:, 2] += 0.001
    assert np.isneginf(law.log_density(off)).all()


def test_nearly_collinear_columns_with_holes_are_not_declared_degenerate() -> None:
    rng = np.random.default_rng(13)
    a, b = rng.normal(size=(2, 80))
    rows = np.column_stack([a, b, a + 1e-4 * rng.normal(size=80)])
    rows[:5, 0] = rows[5:9, 1] = np.nan
    law = MultivariateNormal.fit(rows)
    assert law.rank == 3
    assert law.conditional({0: 0.0}).covariance[1, 1] == pytest.approx(1e-8, rel=0.5)


def test_holes_in_columns_that_never_vary_leave_a_point() -> None:
    with pytest.warns(DegenerateData, match="0 of 2 directions"):
        law = MultivariateNormal.fit([[1.0, None], [1.0, 2.0], [None, 2.0]])
    np.testing.assert_array_equal(law.mean, [1.0, 2.0])
    assert law.rank == 0


def test_a_column_that_was_never_seen_is_refused_by_name() -> None:
    frames = pytest.importorskip("pandas")
    rows = rows_with_holes(10, 20)
    rows[:, 2] = np.nan
    with pytest.raises(BadRows, match=r"no row has a value of c.*\nHint: drop the column"):
        MultivariateNormal.fit(frames.DataFrame(rows, columns=list("abcd")))
    with pytest.raises(BadRows, match="no row has a value of column 2"):
        MultivariateNormal.fit(rows)
    seen = np.where(np.arange(len(rows)) == 3, 0.0, np.nan)
    weights = np.where(np.arange(len(rows)) == 3, 0.0, 1.0)
    rows[:, 2] = seen
    with pytest.raises(BadRows, match="column 2"):
        MultivariateNormal.fit(rows, sample_weight=weights)


def test_infinite_cells_beside_empty_ones_are_refused_by_place() -> None:
    with pytest.raises(NotFinite, match="row 2, column 0"):
        MultivariateNormal.fit([[1.0, None], [2.0, 3.0], [np.inf, 1.0]])


def test_more_patterns_than_can_be_kept_are_refused() -> None:
    rows = np.random.default_rng(11).normal(size=(3000, 12))
    rows[np.random.default_rng(12).random(rows.shape) < 0.5] = np.nan
    with pytest.raises(TooManyPatterns, match="patterns of missing cells"):
        MultivariateNormal.fit(rows)


@pytest.mark.slow
def test_p_values_are_nearly_uniform_when_cells_were_missing() -> None:
    p = []
    for seed in range(200):
        rows = rows_with_holes(100 + seed, 61, share=0.1)
        law = MultivariateNormal.fit(rows[:-1])
        p.append(law.typicality(rows[-1:])[0])
    # Missing cells make the law a little less certain than the p-values take it to be.
    assert 0.02 < np.mean(np.array(p) < 0.05) < 0.10
    assert 0.4 < np.mean(p) < 0.55
