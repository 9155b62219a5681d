"""Components of a few factors: against scikit-learn, by laws, in files and streams."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.decomposition import FactorAnalysis

import suffice
from suffice import GaussianMixture, MixtureDiscriminant
from suffice.errors import BadSetting
from suffice.models.mixture.factored.factor_forms import factors_of, form_parameters
from tests.searches import examples

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def drawn(size: int, seed: int, width: int = 8, count: int = 2) -> tuple[Floats, Any]:
    """Rows of two factor laws, which differ in means, loadings and variances."""
    law = np.random.default_rng(5)
    loadings = 1.2 * law.normal(size=(2, width, count))
    means, noise = law.normal(size=(2, width)), law.uniform(0.2, 1.0, size=(2, width))
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 2, size)
    factors = rng.normal(size=(size, count))
    rows = means[kinds] + np.einsum("nij,nj->ni", loadings[kinds], factors)
    return rows + np.sqrt(noise[kinds]) * rng.normal(size=(size, width)), kinds


X, KINDS = drawn(500, 1)


def several(count: int) -> Floats:
    """Rows of one law of so many factors."""
    rows, kinds = drawn(400, 4, 12, count)
    return rows[kinds == 1]


TABLES = {
    "wine": (lambda: load_wine().data, 3),
    "one law": (lambda: X[KINDS == 0], 2),
    "another": (lambda: several(3), 3),
}


@pytest.mark.parametrize("name", TABLES)
def test_one_component_is_factor_analysis(name: str) -> None:
    rows, count = TABLES[name][0](), TABLES[name][1]
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    model = GaussianMixture(1, "per-class", factors=count).fit(rows)
    theirs = FactorAnalysis(count, tol=1e-10, max_iter=50_000, svd_method="lapack").fit(rows)
    assert theirs.noise_variance_.min() > 0.006  # ours keeps half a percent for each column
    assert model.log_likelihood_ == pytest.approx(theirs.score(rows) * len(rows), abs=1e-6)
    np.testing.assert_allclose(model.covariances_[0], theirs.get_covariance(), atol=1e-4)


@pytest.mark.slow
@examples(8)
@given(
    seed=st.integers(0, 999),
    components=st.integers(1, 3),
    count=st.integers(1, 3),
    covariance=st.sampled_from(["per-class", "shared"]),
    blank=st.sampled_from([0.0, 0.1]),
    prior=st.booleans(),
)
def test_no_step_loses_likelihood(
    seed: int, components: int, count: int, covariance: str, blank: float, prior: bool
) -> None:
    rng = np.random.default_rng(seed)
    rows = drawn(120, seed, 5)[0]
    rows[rng.random(rows.shape) < blank] = np.nan
    model = GaussianMixture(components, covariance, factors=count, prior=prior)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows)
    steps = np.diff(model.history_)
    assert (steps >= -1e-9 * np.abs(model.history_[:-1])).all()
    assert model.n_parameters_ == form_parameters(model.covariance_form_, components, 5)


def test_a_mixture_of_factors_beats_one_law_on_rows_of_two() -> None:
    fresh = drawn(500, 2)[0]
    one = GaussianMixture(1, "per-class", factors=2).fit(X)
    two = GaussianMixture(2, "per-class", factors=2).fit(X)
    assert two.score(fresh) > one.score(fresh) + 0.5
    assert two.bic(X) < one.bic(X)
    assert two.bic(X) < GaussianMixture(2, "VVV").fit(X).bic(X)
    assert two.log_likelihood_ >= one.log_likelihood_
    alike = np.mean(two.predict(X) == KINDS)
    assert max(alike, 1.0 - alike) > 0.95


@pytest.mark.slow
def test_bic_finds_how_many_factors() -> None:
    model = GaussianMixture([1, 2], "per-class", factors="auto").fit(X)
    assert (model.components_, model.covariance_form_) == (2, "UUU-2")
    assert {trial["form"] for trial in model.trials_} == {f"UUU-{q}" for q in range(5)}
    classes = MixtureDiscriminant(1, "auto", factors="auto").fit(X, KINDS)
    assert classes.covariance_forms_ == {0: "UUU-2", 1: "UUU-2"} or set(
        map(factors_of, classes.covariance_forms_.values())
    ) == {2}


@pytest.mark.parametrize("shared", [False, True])
def test_no_factors_are_independent_columns(shared: bool) -> None:
    """One component of no factors is a diagonal covariance, and as many as columns less one all."""
    form, diagonal = ("CCU-0", "EEI") if shared else ("UUU-0", "VVI")
    ours = MixtureDiscriminant(2, form, shared=shared).fit(X, KINDS)
    theirs = MixtureDiscriminant(2, diagonal, shared=shared).fit(X, KINDS)
    assert ours.log_likelihood_ == pytest.approx(theirs.log_likelihood_, abs=1e-3)
    assert ours.n_parameters_ == theirs.n_parameters_


@pytest.mark.parametrize("shared", [False, True])
def test_classes_of_factors_in_files_and_streams(shared: bool, tmp_path: Path) -> None:
    covariance = "shared" if shared else "per-class"
    rows, kinds = drawn(3000, 6)
    model = MixtureDiscriminant(1, covariance, factors=2, shared=shared).fit(X, KINDS)
    whole = MixtureDiscriminant(1, covariance, factors=2, shared=shared).fit(rows, kinds)
    if shared:  # one covariance for both classes, of two factors
        matrices = np.concatenate(list(model.covariances_.values()))
        np.testing.assert_allclose(matrices[0], matrices[1])
    model.save(tmp_path / "m.suffice")
    later = suffice.load(tmp_path / "m.suffice")
    assert later.get_params() == model.get_params()
    np.testing.assert_array_equal(later.predict_proba(rows), model.predict_proba(rows))
    for one in (model, later):
        one.partial_fit(rows, kinds)
    np.testing.assert_array_equal(later.predict_proba(rows), model.predict_proba(rows))
    assert model.score(rows, kinds) > whole.score(rows, kinds) - 0.01
    made, labels = model.sample(4000, random_state=0)
    own = np.cov(made[labels == 1].T)
    np.testing.assert_allclose(own, model.covariances_[1][0], atol=0.5)
    fresh, truth = drawn(2000, 7)
    if not shared:
        p = model.typicality(fresh)[np.arange(2000), truth]
        assert (p < 0.05).mean() == pytest.approx(0.05, abs=0.02)


def test_mixtures_of_factors_answer_as_others_do(tmp_path: Path) -> None:
    model = GaussianMixture(2, "per-class", factors=2, noise=True).fit(X)
    model.save(tmp_path / "m.suffice")
    again = suffice.load(tmp_path / "m.suffice")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert (again.factors, again.covariance_form_) == (2, "UUU-2")
    assert model.marginal([0, 1]).score_samples(X[:3, :2]).shape == (3,)
    holes = X.copy()
    holes[::3, 2] = np.nan
    filled = GaussianMixture(2, "per-class", factors=2).fit(holes).impute(holes)
    assert np.corrcoef(filled[::3, 2], X[::3, 2])[0, 1] > 0.6
    stream = GaussianMixture(2, "per-class", factors=2).partial_fit(drawn(1500, 8)[0])
    assert stream.score(X) > model.score(X) - 0.5
    total = model + stream
    assert total.reduced(2).components_ == 2


def test_more_columns_than_rows_and_columns_that_are_sums_of_others() -> None:
    wide, kinds = drawn(60, 9, 100, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MixtureDiscriminant(1, "shared", factors=2, shared=True).fit(wide, kinds)
        assert np.isfinite(model.predict_proba(wide)).all()
        sums = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X))])
        mixture = GaussianMixture(2, "per-class", factors=3).fit(sums)
    assert np.isfinite(mixture.score_samples(sums)).all()
    assert np.isfinite(mixture.score_samples(np.full((1, 10), 1e100))).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"factors": 0}, "factors=0 is not a number of factors"),
        ({"factors": 2.5}, "factors=2.5 is not a number of factors"),
        ({"factors": True}, "factors=True is not a number of factors"),
        ({"factors": "some"}, "factors='some' is not a number of factors"),
        ({"factors": 8}, "factors=8 of 8 columns are too many"),
        ({"factors": 10**9}, "is not a number of factors"),
        ({"factors": 2, "covariance": "VEV"}, "factors=2 does not apply to covariance='VEV'"),
        ({"factors": 2, "covariance": "diagonal"}, "does not apply to covariance='diagonal'"),
    ],
)
def test_what_has_no_meaning_is_refused(settings: dict[str, Any], words: str) -> None:
    for model in (GaussianMixture(2, **settings), MixtureDiscriminant(2, **settings)):
        with pytest.raises(BadSetting, match=words):
            model.fit(X, KINDS)
