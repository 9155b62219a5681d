"""The fourteen forms: each is the maximum of the likelihood in its form, in any units it allows."""

from __future__ import annotations

import itertools
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import GaussianDiscriminant, load
from suffice.errors import BadSetting, DegenerateData, UnitsMatter
from suffice.models.gaussian.forms import (
    LETTERS,
    SPOKEN,
    TIED_FORMS,
    UNIT_FORMS,
    letters_of,
    parameter_count,
)
from suffice.models.gaussian.forms.covariances import tied_covariances

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SEEDS = st.integers(0, 10_000)


def scatters_of(seed: int, size: int = 3, width: int = 3) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    weights = rng.uniform(5.0, 50.0, size)
    roots = rng.normal(size=(size, width, width + 4)) * rng.uniform(0.3, 3.0, (size, width, 1))
    return weights, roots @ roots.transpose(0, 2, 1) * weights[:, np.newaxis, np.newaxis]


def loss(weights: Floats, scatters: Floats, covariances: Floats) -> float:
    """Return -2 log-likelihood, up to a constant."""
    logs = np.linalg.slogdet(covariances)[1]
    traces = np.einsum("kij,kji->k", np.linalg.inv(covariances), scatters)
    return float(weights @ logs + traces.sum())


def nearby(form: str, covariances: Floats, rng: np.random.Generator) -> Floats:
    """Return other covariances of the same form, near some."""
    size, width = covariances.shape[:2]
    volume, shape, axes = tuple(form)
    lengths, turns = np.linalg.eigh(covariances)
    if axes in "IE" and form != "EEE":
        turns = np.broadcast_to(_common_turns(form, covariances), turns.shape).copy()
        lengths = np.einsum("kji,kjl,kli->ki", turns, covariances, turns)
    step = 1e-3
    grow = rng.normal(size=(size, 1)) if volume == "V" else np.full((size, 1), rng.normal())
    bend = {
        "I": np.zeros((size, width)),
        "E": np.broadcast_to(rng.normal(size=width), (size, width)),
        "V": rng.normal(size=(size, width)),
    }[shape]
    bend = bend - bend.mean(axis=1, keepdims=True)
    lengths = lengths * np.exp(step * (grow + bend))
    skew = rng.normal(size=(size, width, width))
    if axes == "E":
        skew = np.broadcast_to(skew[0], skew.shape)
    rotations = np.eye(width) + step * (skew - skew.transpose(0, 2, 1))
    rotations = (
        np.linalg.qr(rotations)[0]
        if axes != "I"
        else np.broadcast_to(np.eye(width), rotations.shape)
    )
    rotations = rotations * np.sign(np.diagonal(rotations, axis1=1, axis2=2))[:, np.newaxis]
    moved = rotations @ turns
    return np.einsum("kji,ki,kli->kjl", moved, lengths, moved)


def _common_turns(form: str, covariances: Floats) -> Floats:
    """Return axes that all covariances have: those of a combination of them."""
    if form.endswith("I"):
        return np.eye(covariances.shape[1])
    mix = np.tensordot(np.linspace(1.0, 2.0, len(covariances)), covariances, axes=1)
    return np.asarray(np.linalg.eigh(mix)[1])


@pytest.mark.parametrize("form", LETTERS)
@given(seed=SEEDS)
def test_no_covariance_of_the_form_nearby_is_more_likely(form: str, seed: int) -> None:
    weights, scatters = scatters_of(seed)
    best = tied_covariances(form, weights, scatters)
    least = loss(weights, scatters, best.covariances)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        other = nearby(form, best.covariances, rng)
        assert loss(weights, scatters, other) >= least - 1e-9 * abs(least)


@given(seed=SEEDS)
def test_forms_have_the_likelihoods_that_follow_from_what_contains_what(seed: int) -> None:
    weights, scatters = scatters_of(seed)
    losses = {
        name: loss(weights, scatters, np.array(tied_covariances(name, weights, scatters)[0]))
        for name in LETTERS
    }
    order = {"I": 0, "E": 1, "V": 2}
    for form, other in itertools.product(LETTERS, repeat=2):
        inside = all(order[a] <= order[b] for a, b in zip(form, other, strict=True))
        searched = "VE" in (form[1:], other[1:])  # axes are a local search
        if inside and not searched:
            assert losses[other] <= losses[form] + 1e-8 * abs(losses[form])


@pytest.mark.parametrize("form", [form for form in LETTERS if form not in UNIT_FORMS])
def test_units_do_not_change_the_other_eight(form: str) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(90, 3)) @ rng.normal(size=(3, 3)), np.arange(90) % 3
    X[y == 1] *= 2.0
    units = np.array([1e-6, 1.0, 1e5])
    plain = GaussianDiscriminant(form).fit(X, y)
    scaled = GaussianDiscriminant(form).fit(X * units + 1e3 * units, y)
    np.testing.assert_allclose(
        scaled.predict_proba(X * units + 1e3 * units), plain.predict_proba(X), atol=1e-9
    )


@pytest.mark.parametrize("form", UNIT_FORMS)
def test_units_far_apart_are_named_where_they_matter(form: str) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)) * [1.0, 50.0], np.arange(60) % 2
    with pytest.warns(UnitsMatter, match="x1, x0"):
        GaussianDiscriminant(form).fit(X, y)
    near = GaussianDiscriminant(form).fit(X / [1.0, 10.0], y)  # fivefold: no warning
    # The same unit change of all columns changes nothing.
    far = GaussianDiscriminant(form).fit(X / [1.0, 10.0] * 1e-4, y)
    np.testing.assert_allclose(
        far.predict_proba(X / [1.0, 10.0] * 1e-4), near.predict_proba(X / [1.0, 10.0]), atol=1e-10
    )


def test_numbers_of_parameters_are_those_of_the_letters() -> None:
    assert [parameter_count(form, 3, 4) for form in LETTERS] == [
        15, 17, 18, 20, 24, 26, 24, 26, 30, 32, 36, 38, 42, 44,
    ]  # fmt: skip
    assert parameter_count("shared", 3, 4) == parameter_count("EEE", 3, 4)


@pytest.mark.parametrize(("letters", "word"), SPOKEN.items())
def test_letters_and_words_are_one_form(letters: str, word: str) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    one, other = GaussianDiscriminant(letters).fit(X, y), GaussianDiscriminant(word).fit(X, y)
    assert np.array_equal(one.covariances_, other.covariances_)
    assert one.settings_ == other.settings_
    assert letters_of(word) == letters


@pytest.mark.parametrize("form", TIED_FORMS)
def test_tied_classes_do_what_others_do(form: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 3)) + 2.0 * y[:, np.newaxis]
    whole = GaussianDiscriminant(form).fit(X, y)
    parts = GaussianDiscriminant(form).fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    both = GaussianDiscriminant(form).fit(X[:50], y[:50]) + GaussianDiscriminant(form).fit(
        X[50:], y[50:]
    )
    relieved = GaussianDiscriminant(form).fit(np.r_[X, X[:5] + 1.0], np.r_[y, y[:5]])
    relieved.forget(X[:5] + 1.0, y[:5])
    for other in (parts, both, relieved):
        np.testing.assert_allclose(other.covariances_, whole.covariances_, rtol=0, atol=1e-8)
    whole.save(tmp_path / "m.suffice")
    again = load(tmp_path / "m.suffice")
    assert np.array_equal(again.predict_proba(X), whole.predict_proba(X))
    explained = whole.explain(X[:4], of=1, against=0)
    odds = np.diff(whole.predict_log_proba(X[:4]), axis=1)[:, 0]
    np.testing.assert_allclose(
        explained.baseline + explained.contributions.sum(axis=1), odds, rtol=1e-8
    )
    drawn, labels = whole.sample(4000, random_state=0)
    for c in (0, 1):
        spread = np.sqrt(np.diagonal(whole.covariances_[c]))
        gap = (drawn[labels == c].mean(axis=0) - whole.means_[c]) / spread
        assert np.abs(gap).max() < 0.1
    # Judged by the class's own scatter: what is tied plays no part.
    np.testing.assert_allclose(
        whole.typicality(X, y), GaussianDiscriminant("VVV").fit(X, y).typicality(X, y)
    )


@pytest.mark.parametrize("form", TIED_FORMS)
def test_rows_left_out_are_judged_by_refits(form: str) -> None:
    rng = np.random.default_rng(4)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 2)) * [1.0, 8.0] + 2.0 * y[:, np.newaxis]
    model = GaussianDiscriminant(form).fit(X, y)
    left_out = model.leave_one_out(X, y)
    for i in (0, 7, 39):
        others = np.arange(40) != i
        refit = GaussianDiscriminant(form).fit(X[others], y[others])
        np.testing.assert_allclose(
            left_out.log_posterior[i], refit.predict_log_proba(X[[i]])[0], rtol=1e-9
        )
    X[3, 1] = np.nan
    with pytest.raises(BadSetting, match="no leave-one-out where cells are missing"):
        GaussianDiscriminant(form).fit(X, y).leave_one_out(X, y)


@pytest.mark.parametrize("form", TIED_FORMS)
def test_blanks_are_the_maximum_of_the_observed_likelihood(form: str) -> None:
    rng = np.random.default_rng(5)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3)) + 2.0 * y[:, np.newaxis]
    X[rng.random(X.shape) < 0.15] = np.nan
    model = GaussianDiscriminant(form, priors={0: 0.5, 1: 0.5}).fit(X, y)

    def likelihood(means: Floats, covariances: Floats) -> float:
        total = 0.0
        for c in (0, 1):
            for row in X[y == c]:
                seen = ~np.isnan(row)
                gap, block = (row - means[c])[seen], covariances[c][np.ix_(seen, seen)]
                total -= np.linalg.slogdet(block)[1] + gap @ np.linalg.solve(block, gap)
        return total

    means, covariances = model.means_, np.array(model.covariances_)
    most = likelihood(means, covariances)
    for _ in range(3):
        other = nearby(form, covariances, rng)
        assert likelihood(means, other) < most
        assert likelihood(means + 1e-3 * rng.normal(size=means.shape), covariances) < most


@pytest.mark.parametrize("form", TIED_FORMS)
def test_classes_of_too_few_rows_and_copies_of_columns_have_answers(form: str) -> None:
    rng = np.random.default_rng(6)
    y = np.array([0] * 30 + [1] * 2 + [2])
    X = rng.normal(size=(33, 3)) + 3.0 * y[:, np.newaxis]
    for rows in (X, np.column_stack([X, X[:, 0]]), np.column_stack([X, np.ones(33)])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateData)
            model = GaussianDiscriminant(form).fit(rows, y)
        proba = model.predict_proba(rows)
        assert np.isfinite(proba).all()
        assert np.mean(model.predict(rows) == y) > 0.7


@pytest.mark.parametrize(
    "settings", [{"divisor": "unbiased"}, {"predictive": 1.0}, {"pool": 0.5}, {"shrink": 0.1}]
)
def test_settings_that_tied_forms_have_not_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(BadSetting, match='does not apply to covariance="VEV"'):
        GaussianDiscriminant("VEV", **settings).fit([[0.0], [1.0], [2.0]], [0, 0, 1])  # type: ignore[arg-type]


@given(st.integers(0, 2**32 - 1), st.sampled_from(["EEV", "VEV"]), st.integers(1, 3))
def test_directions_in_which_a_class_does_not_vary_have_no_axes(
    seed: int, form: str, rows: int
) -> None:
    """Fewer rows than columns: eigenvectors of nothing are what the last bits make of them."""
    rng = np.random.default_rng(seed)
    scatters = np.array([(x := rng.normal(size=(n, 4))).T @ x for n in (9, 12, rows)])
    weights = np.array([9.0, 12.0, rows])
    found = tied_covariances(form, weights, scatters).covariances
    turned = scatters.copy()
    turned[2] += 1e-15 * np.abs(scatters[2]).max() * (x := rng.normal(size=(4, 4))) @ x.T
    again = tied_covariances(form, weights, turned).covariances
    np.testing.assert_allclose(again, found, rtol=1e-6, atol=1e-8 * np.abs(found).max())
    # It is a maximum as any other choice of axes is: determinants stay those of the form.
    sizes = np.linalg.slogdet(found)[1]
    if form == "EEV":
        np.testing.assert_allclose(sizes, sizes[0], rtol=1e-9, atol=1e-9)
