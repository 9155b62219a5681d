"""Streams of rows, mixtures of mixtures, and mixtures of fewer components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import GaussianMixture, load
from suffice.errors import (
    BadSetting,
    ColumnMismatch,
    DifferentKinds,
    NotFinite,
    SufficeError,
)
from suffice.models.mixture.stepwise import START_ROWS, HiddenMoments, step_rows
from tests.searches import examples, quick

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CENTRES = np.array([[0.0, 0.0], [5.0, 2.0], [0.0, 6.0]])
FORMS = [("VVV", "EEE"), ("VVI", "EII"), ("VVV", "EEI")]
"""Forms of two mixtures that are added up."""


def drawn(seed: int, size: int, blank: float = 0.0) -> Floats:
    rng = np.random.default_rng(seed)
    rows = CENTRES[rng.integers(0, 3, size)] + rng.normal(size=(size, 2)) * [1.0, 1.3] + 1e5
    rows[rng.random(rows.shape) < blank] = np.nan
    return rows


def streamed(model: GaussianMixture, rows: Floats, cuts: Any) -> GaussianMixture:
    for part in np.split(rows, cuts):
        model.partial_fit(part)
    return model


@pytest.mark.slow
@pytest.mark.parametrize("form", ["VVV", "EEI"])
@pytest.mark.parametrize("blank", [0.0, 0.1])
def test_a_stream_comes_near_to_all_rows_at_once(form: str, blank: float) -> None:
    rows, fresh = drawn(1, 20_000, blank), drawn(2, 4_000, blank)
    stream = streamed(GaussianMixture(3, form), rows, range(500, 20_000, 500))
    whole = GaussianMixture(3, form).fit(rows)
    assert whole.score(fresh) - stream.score(fresh) < 0.005
    first = GaussianMixture(3, form).fit(rows[:START_ROWS])
    assert stream.log_likelihood_ / 20_000 == pytest.approx(whole.log_likelihood_ / 20_000, abs=0.1)
    assert stream.score(fresh) > first.score(fresh)  # it has learned since


@pytest.mark.parametrize("form", ["VVV", "EEI"])
@pytest.mark.parametrize("far", quick([1e80, 1e160, -1e300], 1e160))
def test_rows_too_far_to_be_squared_are_refused_and_change_nothing(
    form: str, far: float, tmp_path: Path
) -> None:
    """A file of them could not be opened again: it held NaN, or squares beyond 1e150."""
    rows = drawn(4, 1_600)
    stream = GaussianMixture(2, form).partial_fit(rows[:1_200])
    bad = rows[1_200:1_210].copy()
    bad[7, 1] = far
    with pytest.raises(NotFinite, match="column 1 is too large to be squared"):
        stream.partial_fit(bad)
    stream.partial_fit(rows[1_200:])
    untroubled = GaussianMixture(2, form).partial_fit(rows[:1_200]).partial_fit(rows[1_200:])
    np.testing.assert_array_equal(stream.means_, untroubled.means_)
    stream.save(tmp_path / "m.suffice")
    np.testing.assert_array_equal(load(tmp_path / "m.suffice").means_, stream.means_)


@examples(3)
@given(seed=st.integers(0, 99), cuts=st.sets(st.integers(1, 1299), max_size=4))
def test_however_a_stream_is_cut_it_comes_to_the_same_mixture(seed: int, cuts: set[int]) -> None:
    rows = drawn(seed, 1300, 0.02)
    whole = GaussianMixture(3, "EEE").partial_fit(rows)
    parts = streamed(GaussianMixture(3, "EEE"), rows, sorted(cuts))
    np.testing.assert_array_equal(parts.means_, whole.means_)
    np.testing.assert_array_equal(parts.covariances_, whole.covariances_)


def test_a_stream_that_has_not_begun_is_the_fit_to_its_rows() -> None:
    rows = drawn(3, 300)
    model = GaussianMixture(3, "VVV").partial_fit(rows[:1])
    assert model.n_features_in_ == 2
    with pytest.raises(SufficeError, match="too few"):
        model.predict(rows)
    model.partial_fit(rows[1:200])
    np.testing.assert_allclose(
        model.means_, GaussianMixture(3, "VVV").fit(rows[:200]).means_, rtol=1e-9
    )
    model.partial_fit(rows[200:])
    np.testing.assert_allclose(model.means_, GaussianMixture(3, "VVV").fit(rows).means_, rtol=1e-9)
    with pytest.raises(ColumnMismatch):
        model.partial_fit(np.zeros((3, 3)))


def test_a_stream_goes_on_after_a_fit_and_after_a_file(tmp_path: Path) -> None:
    rows = drawn(4, 3000)
    rows[:, 1] -= 1e5
    model = GaussianMixture(3, "VEI", noise=True).fit(rows[:1000])
    model.partial_fit(rows[1000:2050])  # 50 rows wait for the next step
    model.save(tmp_path / "m.suffice")
    later = load(tmp_path / "m.suffice")
    np.testing.assert_array_equal(later.means_, model.means_)
    model.partial_fit(rows[2050:])
    later.partial_fit(rows[2050:])
    np.testing.assert_allclose(later.means_, model.means_, rtol=1e-12)
    np.testing.assert_allclose(later.covariances_, model.covariances_, rtol=1e-9)
    waiting = GaussianMixture(2, "EEE").partial_fit(rows[:400])
    waiting.save(tmp_path / "w.suffice")
    again = load(tmp_path / "w.suffice").partial_fit(rows[400:1700])
    whole = GaussianMixture(2, "EEE").partial_fit(rows[:1700])
    np.testing.assert_allclose(again.means_, whole.means_, rtol=1e-12)


def test_no_component_is_estimated_from_too_few_rows() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(960, 2)), rng.normal(size=(40, 2)) + 30.0
    model = GaussianMixture(2, "VVV").partial_fit(rng.permutation(np.vstack([one, other])))
    before, before_mean = model.covariances_[1], model.means_[1]
    many = step_rows(2, 2)
    for seed in range(200):  # of the second component one row in a thousand comes, always the same
        more = np.random.default_rng(seed).normal(size=(many, 2))
        if seed % 10 == 0:
            more[0] = before_mean
        model.partial_fit(more)
    assert np.isfinite(model.score(one))
    assert model._stream.held[1] * model._stream.worth < 6.0
    assert np.linalg.eigvalsh(model.covariances_[1])[0] > 0.3 * np.linalg.eigvalsh(before)[0]


@examples(10)
@given(seed=st.integers(0, 1000), diagonal=st.booleans(), factor=st.floats(0.0, 3.0))
def test_hidden_moments_add_up_and_fade(seed: int, diagonal: bool, factor: float) -> None:
    rng = np.random.default_rng(seed)
    rows, shares = rng.normal(size=(30, 2)), rng.random((30, 3))

    def moments(some: slice, times: float = 1.0) -> HiddenMoments:
        held = shares[some].sum(axis=0) * times
        means = (shares[some].T @ rows[some]) * times / held[:, np.newaxis]
        gaps = rows[some] - means[:, np.newaxis]
        scatters = times * np.einsum("nk,kni,knj->kij", shares[some], gaps, gaps)
        if diagonal:
            scatters = np.einsum("kii->ki", scatters)
        return HiddenMoments(held, means, scatters, 0.5 * times)

    whole, parts = moments(slice(None)), moments(slice(0, 11)) + moments(slice(11, None))
    np.testing.assert_allclose(parts.means, whole.means)
    np.testing.assert_allclose(parts.scatters, whole.scatters)
    assert parts.noise == 1.0
    np.testing.assert_allclose(whole.scaled(factor).scatters, factor * whole.scatters)


# Mixtures of mixtures


@pytest.mark.parametrize("forms", quick(FORMS, FORMS[1]))
@pytest.mark.parametrize("noise", [False, True])
def test_a_sum_is_the_mixture_of_both_by_weight(forms: tuple[str, str], noise: bool) -> None:
    one = GaussianMixture(2, forms[0], noise=noise).fit(drawn(1, 300))
    other = GaussianMixture(3, forms[1]).fit(drawn(2, 100) + np.array([3.0, 0.0]))
    total = one + other
    assert total.components_ == 5
    rows = drawn(3, 50)
    expected = np.logaddexp(
        np.log(0.75) + one.score_samples(rows), np.log(0.25) + other.score_samples(rows)
    )
    np.testing.assert_allclose(total.score_samples(rows), expected, rtol=1e-9, atol=1e-9)
    assert total.weights_.sum() == pytest.approx(1.0)
    assert np.isfinite(total.bic(rows))
    with pytest.raises(BadSetting, match="made from others and not fitted"):
        _ = total.log_likelihood_


def test_columns_of_a_sum_are_found_by_name(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(drawn(1, 200), columns=["a", "b"])
    one = GaussianMixture(2, "VVV").fit(frame)
    other = GaussianMixture(2, "VVV").fit(frame[["b", "a"]])
    total = one + other
    np.testing.assert_allclose(total.score_samples(frame), one.score_samples(frame), rtol=1e-6)
    with pytest.raises(DifferentKinds):
        one + GaussianMixture(2, "VVV").fit(frame.rename(columns={"a": "c"}))
    total.reduced(3).save(tmp_path / "m.suffice")
    assert load(tmp_path / "m.suffice").components_ == 3
    with pytest.raises(TypeError):
        one + 3


@examples(8)
@given(seed=st.integers(0, 1000), fewer=st.integers(1, 4))
def test_reducing_keeps_mean_and_covariance(seed: int, fewer: int) -> None:
    rows = drawn(seed, 200) * [1.0, 1e-6]
    model = GaussianMixture(4, "EEE").fit(rows)
    small = model.reduced(fewer)
    assert small.components_ == fewer

    def moments(mixture: GaussianMixture) -> tuple[Floats, Floats]:
        shares, means = mixture.weights_, mixture.means_
        centre = shares @ means
        gaps = means - centre
        spread = np.einsum("k,kij->ij", shares, mixture.covariances_)
        return centre, spread + (gaps * shares[:, np.newaxis]).T @ gaps

    for ours, theirs in zip(moments(small), moments(model), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    for wrong in (0, 5):
        with pytest.raises(BadSetting):
            model.reduced(wrong)


def test_what_is_merged_first_are_components_that_are_alike() -> None:
    near = GaussianMixture(3, "VVV").fit(drawn(1, 600))
    again = near + GaussianMixture(3, "VVV").fit(drawn(2, 600))
    small = again.reduced(3)
    truth = np.sort(CENTRES + 1e5, axis=0)
    np.testing.assert_allclose(np.sort(small.means_, axis=0), truth, atol=0.3)
    fresh = drawn(5, 2000)
    assert small.score(fresh) > again.score(fresh) - 0.02
