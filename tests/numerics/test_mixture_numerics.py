"""Mixtures where others fail: far rows, offsets, units, float32, repeated columns, few rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture as Peer

from suffice import GaussianMixture
from suffice.errors import (
    BadRows,
    BadSetting,
    BadWeights,
    DegenerateData,
    DidNotConverge,
    UnitsMatter,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def two(seed: int = 0, size: int = 200) -> Floats:
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(size, 2)), rng.normal(size=(size // 2, 2)) * 0.5 + 5.0])


def quiet(model: GaussianMixture, rows: object) -> GaussianMixture:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateData)
        warnings.simplefilter("ignore", UnitsMatter)
        return model.fit(rows)


@pytest.mark.parametrize("form", ["EII", "VVI", "EEE", "VEV", "VVV"])
def test_far_rows_have_answers(form: str) -> None:
    model = GaussianMixture(2, form).fit(two())
    far = np.array([[1e155, 0.0], [1e200, -1e200], [-1e300, 1e300]])
    shares = model.predict_proba(far)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert not np.isnan(model.score_samples(far)).any()
    assert (model.typicality(far) == 0.0).all()
    assert set(model.predict(far)) <= {0, 1}


@pytest.mark.parametrize("form", ["EII", "EEI", "VVI", "EEE", "VVV"])
@pytest.mark.parametrize("offset", [1e8, -1e10])
def test_offsets_do_not_matter(form: str, offset: float) -> None:
    rows = np.round(two(), 3)
    shifted = rows + offset
    here, there = GaussianMixture(2, form).fit(shifted - offset), GaussianMixture(2, form)
    there.fit(shifted)
    assert np.array_equal(there.predict(shifted), here.predict(shifted - offset))
    np.testing.assert_allclose(there.covariances_, here.covariances_, rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e9])
@pytest.mark.parametrize("form", ["VVI", "EEE", "VVV", "VII"])
def test_units_do_not_matter(form: str, unit: float) -> None:
    rows = two()
    here, there = GaussianMixture(2, form).fit(rows), GaussianMixture(2, form).fit(rows * unit)
    np.testing.assert_allclose(there.covariances_ / unit**2, here.covariances_, rtol=1e-6)


def test_single_precision_loses_nothing() -> None:
    rows = two().astype(np.float32)
    single = GaussianMixture(2, "VVV").fit(rows + np.float32(1e4))
    double = GaussianMixture(2, "VVV").fit((rows + np.float32(1e4)).astype(np.float64))
    np.testing.assert_array_equal(single.covariances_, double.covariances_)
    # Two rows, two components: there is no spread, and what stands in is the prior's, not 112.
    with pytest.warns(DegenerateData):
        pair = GaussianMixture(2, "VII").fit(np.array([[9999], [0]], dtype=np.float32))
    np.testing.assert_allclose(np.sort(pair.means_.ravel()), [0.0, 9999.0], atol=100.0)
    assert np.array_equal(np.sort(pair.predict([[9999.0], [0.0]])), [0, 1])


@pytest.mark.parametrize("form", ["EEE", "VVV", "VVI"])
def test_columns_that_repeat_or_never_vary_change_no_cluster(form: str) -> None:
    rows = two()
    plain = GaussianMixture(2, form).fit(rows)
    constant = np.column_stack([rows, np.full(len(rows), 7.0)])
    with pytest.warns(DegenerateData, match="never vary"):
        more = GaussianMixture(2, form).fit(constant)
    assert np.array_equal(more.predict(constant), plain.predict(rows))
    assert more.n_parameters_ == plain.n_parameters_
    if form != "VVI":
        twice = np.column_stack([rows, rows[:, 0]])
        with pytest.warns(DegenerateData, match="sums of others"):
            again = GaussianMixture(2, form).fit(twice)
        assert np.array_equal(again.predict(twice), plain.predict(rows))


def test_a_cluster_of_one_row_and_more_components_than_rows() -> None:
    rows = np.vstack([two(), [[60.0, -60.0]]])
    shared = GaussianMixture(3, "EEE").fit(rows)
    assert np.bincount(shared.predict(rows)).min() == 1
    with pytest.warns(DegenerateData, match="collapses"):
        alone = GaussianMixture(3, "VVV").fit(rows)
    assert np.isfinite(alone.score_samples(rows)).all()
    few = np.repeat([[0.0, 1.0], [2.0, 3.0], [9.0, 1.0]], 20, axis=0)
    with pytest.raises(BadSetting, match="3 different rows"):
        GaussianMixture(4, "EII").fit(few)
    assert GaussianMixture("auto", "EII").fit(np.vstack([few, two()])).components_ > 1


def test_mixtures_that_all_collapse_on_their_last_steps_leave_one_under_a_prior() -> None:
    """Columns of zeros and ones have few rows, on which components become points."""
    for seed in (1, 4, 11):
        rng = np.random.default_rng(seed)
        X = (rng.random((32, 3)) < [0.3, 0.5, 0.7]).astype(float)
        w = rng.integers(1, 4, 32) / 2.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = GaussianMixture(range(1, 3), "EVI", noise=True).fit(X, sample_weight=w)
        assert np.isfinite(found.score_samples(X)).all()


def test_bad_input_is_refused_or_defined() -> None:
    rows = two()
    for components in (0, -1, 2.5, True, "many", []):
        with pytest.raises(BadSetting, match="components"):
            GaussianMixture(components).fit(rows)
    with pytest.raises(BadSetting, match="n_samples=3"):
        GaussianMixture(5, "EII").fit(rows[:3])
    with pytest.raises(BadRows, match="all rows are equal"):
        GaussianMixture("auto").fit(np.ones((5, 2)))
    blank = rows.copy()
    blank[7] = np.nan
    weights = np.ones(len(rows))
    weights[3] = 0.0
    some = GaussianMixture(2, "VVV").fit(blank, sample_weight=weights)
    rest = GaussianMixture(2, "VVV").fit(np.delete(rows, [3, 7], axis=0))
    np.testing.assert_allclose(some.means_, rest.means_, rtol=1e-9)
    assert some.predict_proba(blank[[7]])[0] == pytest.approx(some.weights_)
    with pytest.raises(BadWeights, match="weights are zero"):
        GaussianMixture(2, "VVV").fit(rows, sample_weight=np.zeros(len(rows)))
    with pytest.warns(DidNotConverge, match="3 steps"):
        short = GaussianMixture(4, "VVV", max_iter=3, start=np.arange(len(rows)) % 4).fit(rows)
    assert not short.converged_
    assert short.n_iter_ == 3


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_the_highest_maximum_that_is_known_of_iris_is_found(seed: int | None) -> None:
    """It is no collapse: its least variance is that of species, which its clusters nearly are."""
    X, species = load_iris(return_X_y=True)
    model = GaussianMixture(3, "VVV", random_state=seed).fit(X)
    peers = (Peer(3, random_state=s, tol=1e-9, max_iter=2000).fit(X).score(X) for s in range(3))
    assert model.score(X) >= max(peers) - 1e-6
    assert model.score(X) == pytest.approx(-1.20124, abs=1e-4)
    least = np.linalg.eigvalsh(model.covariances_)[:, 0]
    own = [np.linalg.eigvalsh(np.cov(X[species == c].T, bias=True))[0] for c in range(3)]
    assert least.min() > 0.5 * min(own)
