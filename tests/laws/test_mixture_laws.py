"""Mixtures: EM never loses likelihood, and knows neither order, split, unit nor repetition."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from suffice import GaussianMixture, load
from suffice.errors import BadSetting, DegenerateData, DidNotConverge, SufficeError, UnitsMatter
from suffice.kernels.mixture.steps import mixture_sums
from suffice.models.gaussian.forms import LETTERS, UNIT_FORMS
from suffice.models.mixture.coordinates import Coordinates, MixtureRows
from suffice.models.mixture.maximization import ComponentPrior, Maximization
from suffice.models.mixture.sums import Components, Expectation
from tests.searches import examples, quick

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

TWO = [[0.0, 0.0], [6.0, 3.0]]


def drawn(
    seed: int, size: int = 120, means: Any = TWO, blank: float = 0.0
) -> tuple[Floats, NDArray[np.intp]]:
    """Return rows of components that are apart, and which each is of."""
    rng = np.random.default_rng(seed)
    centres = np.asarray(means, dtype=np.float64)
    codes = rng.integers(0, len(centres), size)
    width = centres.shape[1]
    turns = rng.normal(size=(len(centres), width, width)) * 0.4 + 0.6 * np.eye(width)
    rows = centres[codes] + np.einsum("nij,nj->ni", turns[codes], rng.normal(size=(size, width)))
    rows[rng.random(rows.shape) < blank] = np.nan
    return rows, codes


def quiet(model: GaussianMixture, *rows: Any, **named: Any) -> GaussianMixture:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateData)
        warnings.simplefilter("ignore", UnitsMatter)
        return model.fit(*rows, **named)


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("outside", quick([-np.inf, -5.0], -5.0))
@pytest.mark.parametrize("apart", quick([1.0, 20.0], 20.0))
def test_the_compiled_step_is_the_plain_one(diagonal: bool, outside: float, apart: float) -> None:
    """Components that are far apart have few rows of a block each: these wait for one another."""
    rng = np.random.default_rng(0)
    for size, width in ((700, 5), (1, 1), (7, 2), (255, 3), (256, 4), (261, 8), (530, 33)):
        means, constants = apart * rng.normal(size=(3, width)), rng.normal(size=3)
        frame = np.stack(
            [rng.normal(size=width), 1e-17 * np.ones(width), rng.uniform(0.5, 2.0, width)]
        )
        rows = rng.normal(size=(size, width)) + means[rng.integers(0, 3, size)]
        rows = rows * frame[2] + frame[0]
        turns = rng.normal(size=(3, width, width)) / np.sqrt(width)
        whitenings = np.tril(turns) + 2.0 * np.eye(width)
        if diagonal:
            whitenings = np.ascontiguousarray(whitenings[:, range(width), range(width)])
        for weights in (np.empty(0), rng.uniform(0.1, 2.0, size)):
            given = rows, frame, weights, means, whitenings, constants, outside
            for plain, fast in zip(
                mixture_sums.plain(*given), mixture_sums.compiled(*given), strict=True
            ):
                np.testing.assert_allclose(fast, plain, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("form", LETTERS)
@examples(2)
@given(seed=st.integers(0, 10_000), blank=st.sampled_from([0.0, 0.15]))
def test_no_step_loses_likelihood(form: str, seed: int, blank: float) -> None:
    rows, _ = drawn(seed, 80, blank=blank)
    for prior in (False, True):
        model = quiet(GaussianMixture(3, form, prior=prior, tol=1e-10), rows)
        history = model.history_
        assert np.diff(history).min(initial=0.0) >= -1e-12 * np.abs(history).max()


@examples(4)
@given(seed=st.integers(0, 10_000))
def test_the_same_rows_in_any_order_have_the_same_mixture(seed: int) -> None:
    rows, _ = drawn(seed, means=[[0.0, 0.0], [9.0, 3.0]])
    order = np.random.default_rng(seed).permutation(len(rows))
    one = quiet(GaussianMixture(2, "VVV"), rows)
    other = quiet(GaussianMixture(2, "VVV"), rows[order])
    assert np.array_equal(other.predict(rows), one.predict(rows))
    np.testing.assert_allclose(other.covariances_, one.covariances_, atol=1e-8)
    np.testing.assert_allclose(other.weights_, one.weights_, atol=1e-8)


@examples(4)
@given(seed=st.integers(0, 10_000), blank=st.sampled_from([0.0, 0.1]))
def test_weights_are_repetitions(seed: int, blank: float) -> None:
    rows, _ = drawn(seed, 60, means=[[0.0, 0.0], [9.0, 3.0]], blank=blank)
    times = np.random.default_rng(seed).integers(0, 4, len(rows))
    weighted = quiet(GaussianMixture(2, "EEE", tol=1e-11), rows, sample_weight=times)
    repeated = quiet(GaussianMixture(2, "EEE", tol=1e-11), np.repeat(rows, times, axis=0))
    np.testing.assert_allclose(weighted.means_, repeated.means_, atol=1e-6)
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_, rel=1e-9)
    assert weighted.bic(rows, sample_weight=times) == pytest.approx(
        repeated.bic(np.repeat(rows, times, axis=0)), rel=1e-9
    )


@examples(5)
@given(seed=st.integers(0, 10_000), blank=st.sampled_from([0.0, 0.3]))
def test_sums_of_parts_add_up(seed: int, blank: float) -> None:
    rows, _ = drawn(seed, 50, blank=blank)
    survey = MixtureRows(rows, None).survey(1000)
    coordinates = Coordinates.of(survey.summary(), "VVV", complete=survey.complete)
    components = Components(np.array([0.5, 0.5]), np.zeros((2, 2)), np.stack([np.eye(2)] * 2))
    step = Expectation(components, coordinates)
    whole, parts = step(rows, None), step(rows[:20], None) + step(rows[20:], None)
    assert whole.likelihood == pytest.approx(parts.likelihood, rel=1e-12)
    assert set(whole.patterns) == set(parts.patterns)
    for key, sums in whole.patterns.items():
        np.testing.assert_allclose(sums.seconds, parts.patterns[key].seconds, atol=1e-10)


def test_blank_cells_are_integrated_out() -> None:
    rows, _ = drawn(3, 150, means=[[0, 0, 0], [5, 5, 0]], blank=0.2)
    model = GaussianMixture(2, "VVV", tol=1e-12).fit(rows)

    def likelihood(shares: Floats, means: Floats, covariances: Floats) -> float:
        total = 0.0
        for row in rows:
            seen = ~np.isnan(row)
            if seen.any():
                parts = [
                    share * multivariate_normal.pdf(row[seen], m[seen], c[np.ix_(seen, seen)])
                    for share, m, c in zip(shares, means, covariances, strict=True)
                ]
                total += float(np.log(np.sum(parts)))
        return total

    shares, means, covariances = model.weights_, model.means_, model.covariances_
    most = likelihood(shares, means, covariances)
    assert model.log_likelihood_ == pytest.approx(most, rel=1e-10)
    assert model.score_samples(rows).sum() == pytest.approx(most, rel=1e-10)
    rng = np.random.default_rng(0)
    for _ in range(4):
        step = 1e-2 * rng.normal(size=means.shape)
        assert likelihood(shares, means + step, covariances) < most
        grow = 1.0 + 1e-2 * rng.normal(size=(2, 1, 1))
        assert likelihood(shares, means, covariances * grow) < most
    filled = model.impute(rows)
    assert not np.isnan(filled[~np.isnan(rows).all(axis=1)]).any()
    assert np.array_equal(filled[~np.isnan(rows)], rows[~np.isnan(rows)])


@pytest.mark.parametrize("form", [form for form in LETTERS if form not in UNIT_FORMS])
def test_units_and_offsets_do_not_change_clusters(form: str) -> None:
    rows, _ = drawn(5)
    units = np.array([1e-6, 1e5])
    plain = quiet(GaussianMixture(2, form), rows)
    scaled = quiet(GaussianMixture(2, form, start=plain.predict(rows)), rows * units + 1e4 * units)
    again = quiet(GaussianMixture(2, form, start=plain.predict(rows)), rows)
    np.testing.assert_allclose(
        scaled.predict_proba(rows * units + 1e4 * units), again.predict_proba(rows), atol=1e-6
    )
    change = len(rows) * np.log(units).sum()
    assert scaled.log_likelihood_ + change == pytest.approx(again.log_likelihood_, rel=1e-6)


def test_narrow_numbers_are_those_of_wide_ones() -> None:
    rows, _ = drawn(6)
    narrow = rows.astype(np.float32)
    one, two = GaussianMixture(2, "VVV").fit(narrow), GaussianMixture(2, "VVV").fit(narrow * 1.0)
    np.testing.assert_allclose(one.covariances_, two.covariances_, rtol=1e-6)
    far = quiet(GaussianMixture(2, "VVV"), np.array([[9999.0], [0.0]], dtype=np.float32))
    assert np.isfinite(far.covariances_).all()
    assert sorted(far.predict([[0.0], [9999.0]])) == [0, 1]


def test_rows_very_far_away_have_an_answer() -> None:
    rows, _ = drawn(7)
    model = GaussianMixture(2, "VVV").fit(rows)
    proba = model.predict_proba([[1e155, 1e155], [1e200, -1e200]])
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize("form", ["VVV", "EEE", "VVI", "EEI", "VII"])
def test_the_prior_is_that_of_fraley_and_raftery(form: str) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 3))
    survey = MixtureRows(rows, None).survey(1000)
    coordinates = Coordinates.of(survey.summary(), form, complete=survey.complete)
    k, d, n_k, kappa, nu = 2, 3, np.array([15.0, 25.0]), 0.01, 5.0
    means = rng.normal(size=(k, d))
    roots = rng.normal(size=(k, d, 9))
    scatters = roots @ roots.transpose(0, 2, 1)
    prior = ComponentPrior.of(form, k, coordinates)
    given = np.einsum("kii->ki", scatters) if form.endswith("I") else scatters
    found = Maximization(form, coordinates, prior).of_moments(n_k, means, given, n_k / 40.0)
    pull = (kappa * n_k / (kappa + n_k))[:, None, None]
    r = scatters + pull * means[:, :, None] * means[:, None]
    spread = coordinates.total / k ** (2.0 / d)
    variances = np.diagonal(spread)
    expected: Any = {
        "VVV": (spread + r) / (nu + n_k + d + 2.0)[:, None, None],
        "EEE": [(spread + r.sum(axis=0)) / (nu + n_k.sum() + d + k + 1.0)] * k,
        "VVI": (variances + np.einsum("kii->ki", r)) / (nu + n_k + 3.0)[:, None],
        "EEI": [(variances + np.einsum("kii->i", r)) / (nu + n_k.sum() + k + 2.0)] * k,
        "VII": np.repeat(
            ((variances.mean() + np.einsum("kii->k", r)) / (nu + n_k * d + d + 2.0))[:, None], d, 1
        ),
    }[form]
    np.testing.assert_allclose(found.covariances, expected, rtol=1e-10)
    np.testing.assert_allclose(found.means, means * (n_k / (n_k + kappa))[:, None])


def test_a_component_that_would_collapse_is_held_by_the_prior_and_that_is_said() -> None:
    rng = np.random.default_rng(1)
    rows = np.vstack([rng.normal(size=(30, 2)), np.full((3, 2), 50.0)])
    with pytest.warns(DegenerateData, match="Fraley and Raftery"):
        model = GaussianMixture(2, "VVV").fit(rows)
    assert set(model.predict(rows[-3:])) == {1}
    assert np.diff(model.history_).min(initial=0.0) >= -1e-9
    assert np.linalg.eigvalsh(model.covariances_).min() > 0.0


@pytest.mark.parametrize("form", ["EEE", "VVV", "VEV", "VVI"])
def test_copies_and_constants_of_columns_change_no_cluster(form: str) -> None:
    rows, codes = drawn(8)
    plain = quiet(GaussianMixture(2, form), rows).predict(rows)
    constant = quiet(GaussianMixture(2, form), np.column_stack([rows, np.ones(len(rows))]))
    assert np.array_equal(constant.predict(np.column_stack([rows, np.ones(len(rows))])), plain)
    twice = np.column_stack([rows, rows[:, 0]])
    copied = quiet(GaussianMixture(2, form), twice).predict(twice)
    truth = max(np.mean(plain == codes), np.mean(plain != codes))
    assert max(np.mean(copied == codes), np.mean(copied != codes)) >= truth - 0.1


def test_noise_takes_what_belongs_to_none() -> None:
    rng = np.random.default_rng(2)
    rows, _ = drawn(9, 200)
    rows = np.vstack([rows, rng.uniform(-60, 60, (12, 2))])
    model = GaussianMixture(2, "VVV", noise=True).fit(rows)
    labels = model.predict(rows)
    assert np.mean(labels[-12:] == -1) > 0.7
    assert np.mean(labels[:-12] == -1) < 0.05
    assert model.predict_proba(rows).shape == (212, 3)
    assert model.weights_.sum() == pytest.approx(1.0)
    assert np.diff(model.history_).min(initial=0.0) >= -1e-9
    widths = np.ptp(rows, axis=0)
    volume = GaussianMixture(2, "VVV", noise=float(widths.prod())).fit(rows)
    assert volume.log_likelihood_ == pytest.approx(model.log_likelihood_, rel=1e-9)


def test_parts_of_a_mixture_are_its_own_laws(tmp_path: Path) -> None:
    rows, _ = drawn(10, means=[[0, 0, 0], [4, 4, 1]])
    for form in ("VVV", "EEE", "VVI"):
        model = GaussianMixture(2, form).fit(rows)
        some = model.marginal([0, 2])
        for row in rows[:5]:
            left = model.conditional({0: row[0], 2: row[2]})
            together = some.score_samples([row[[0, 2]]]) + left.score_samples([row[[1]]])
            np.testing.assert_allclose(together, model.score_samples([row]), rtol=1e-9)
        with pytest.raises(BadSetting, match="not fitted itself"):
            some.bic(rows[:, [0, 2]])
        model.save(tmp_path / "m.suffice")
        again = load(tmp_path / "m.suffice")
        assert np.array_equal(again.predict_proba(rows), model.predict_proba(rows))
        assert again.bic(rows) == model.bic(rows)
        assert again.trials_ == model.trials_
        np.testing.assert_array_equal(again.history_, model.history_)


def test_bic_icl_and_uncertainty_are_what_they_say() -> None:
    rows, _ = drawn(11)
    model = GaussianMixture(range(1, 4), ["EEE", "VVV"]).fit(rows)
    proba = model.predict_proba(rows)
    np.testing.assert_allclose(model.uncertainty(rows), 1.0 - proba.max(axis=1), atol=1e-12)
    likelihood = model.score_samples(rows).sum()
    assert likelihood == pytest.approx(model.log_likelihood_, rel=1e-10)
    count = model.n_parameters_
    assert model.bic(rows) == pytest.approx(-2.0 * likelihood + count * np.log(len(rows)))
    assert model.aic(rows) == pytest.approx(-2.0 * likelihood + 2.0 * count)
    assert model.icl(rows) == pytest.approx(model.bic(rows) - 2.0 * np.log(proba.max(axis=1)).sum())
    assert model.trials_[0]["criterion"] == pytest.approx(model.bic(rows))
    assert (model.components_, len(model.trials_)) == (2, 6)
    sure = GaussianMixture(range(1, 4), ["EEE", "VVV"], criterion="icl").fit(rows)
    assert sure.trials_[0]["criterion"] == pytest.approx(sure.icl(rows))
    explained = model.explain(rows[:3], of=0, against=1)
    odds = -np.diff(np.log(model.predict_proba(rows[:3])), axis=1)[:, 0]
    np.testing.assert_allclose(
        explained.baseline + explained.contributions.sum(axis=1), odds, rtol=1e-6
    )
    assert (model.typicality(rows).max(axis=1) < 0.01).mean() < 0.06


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"components": 0}, "components=0"),
        ({"components": 2.5}, "components=2.5"),
        ({"components": 99}, "n_samples=8"),
        ({"components": 7}, "6 different"),
        ({"covariance": "full"}, "covariance='full' is not known"),
        ({"criterion": "cv"}, "criterion='cv'"),
        ({"noise": -1.0}, "noise=-1.0 is not a volume"),
        ({"tol": -1.0}, "tol=-1.0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"start": [0, 1]}, "start has shape"),
        ({"start": [0, 0, 0, 0, 1, 1, 2, 2]}, "start has 3 components"),
        ({"start": np.full((8, 2), 0.7)}, "sum of 1"),
    ],
    ids=str,
)
def test_settings_without_meaning_are_refused(change: dict[str, Any], said: str) -> None:
    rows = [[0.0], [0.0], [1.0], [2.0], [0.5], [9.0], [9.5], [9.0]]
    with pytest.raises(SufficeError, match=said) as caught:
        GaussianMixture(**{"components": 2, "covariance": "VVV", **change}).fit(rows)
    assert "Hint:" in str(caught.value)


def test_rows_that_say_nothing_are_refused_or_left_out() -> None:
    with pytest.raises(SufficeError, match="no column varies"):
        GaussianMixture(1, "VVV").fit([[1.0, 2.0]] * 5)
    with pytest.raises(SufficeError, match="all rows are blank"):
        GaussianMixture(1, "VVV").fit([[1.0], [np.nan]], sample_weight=[0.0, 1.0])
    rows, _ = drawn(12, 40)
    more = np.vstack([rows, np.full((1, 2), np.nan), [[99.0, 99.0]]])
    weights = np.ones(42)
    weights[-1] = 0.0
    with_blank = GaussianMixture(2, "EEE").fit(more, sample_weight=weights)
    plain = GaussianMixture(2, "EEE").fit(rows)
    assert with_blank.log_likelihood_ == pytest.approx(plain.log_likelihood_, rel=1e-7)
    assert with_blank.bic(more, sample_weight=weights) == pytest.approx(plain.bic(rows), rel=1e-7)
    np.testing.assert_allclose(
        with_blank.predict_proba(more[[40]])[0], with_blank.weights_, rtol=1e-9
    )
    with pytest.warns(DidNotConverge, match="after 2 steps"):
        GaussianMixture(3, "VVV", max_iter=2, prior=True).fit(rows)
