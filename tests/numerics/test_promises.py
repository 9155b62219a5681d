"""The nine numerical promises, each as a property: from units and far points to forgetting."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from suffice import GaussianDiscriminant
from suffice.errors import (
    DegenerateData,
    ForgettingUnseen,
    LostDigits,
    OneClass,
    SufficeError,
    SufficeWarning,
    UnitsMatter,
)

FULL = [
    {"covariance": "shared"},
    {"covariance": "shared", "divisor": "unbiased", "shrink": 0.3},
    {"covariance": "shared", "shrink": 0.5, "shrink_target": "scaled"},
    {"covariance": "per-class"},
    {"covariance": "per-class", "pool": 0.4, "shrink": 0.2},
    {"covariance": "per-class", "shrink": 0.7, "shrink_target": "scaled", "divisor": "unbiased"},
]
DIAGONAL = [
    {"covariance": "diagonal"},
    {"covariance": "diagonal", "divisor": "unbiased"},
    {"covariance": "shared-diagonal"},
]
UNIT_FREE = [*FULL, *DIAGONAL]
ALL = [*UNIT_FREE, {"covariance": "spherical"}]
AUTO = {"covariance": "auto"}
FAR = [1e155, 1e200, 1e300, 1.7e308]


def classes_of(seed, n=90, d=3, k=3, gap=1.5):
    """Rows of k overlapping classes, each with a covariance of its own."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    turns = rng.normal(size=(k, d, d)) / np.sqrt(d) + np.eye(d)
    X = np.einsum("nij,nj->ni", turns[y], rng.normal(size=(n, d)))
    return X + gap * rng.normal(size=(k, d))[y], y


def fitted(setting, X, y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        return GaussianDiscriminant(**setting).fit(X, y, **more)


def narrowest(model):
    """Return the smallest eigenvalue of any class's correlation matrix."""
    found = []
    for covariance in model.covariances_:
        deviations = np.sqrt(np.diagonal(covariance))
        found.append(np.linalg.eigvalsh(covariance / deviations / deviations[:, np.newaxis])[0])
    return min(found)


def ids(setting):
    return "-".join(str(value) for value in setting.values())


# 1. Units and offsets do not matter


@pytest.mark.parametrize("setting", UNIT_FREE, ids=ids)
@given(
    seed=st.integers(0, 2**32 - 1),
    exponents=st.lists(st.floats(-149.0, 149.0), min_size=3, max_size=3),
    offsets=st.lists(st.floats(-8.0, 8.0), min_size=3, max_size=3),
    missing=st.booleans(),
)
def test_units_and_offsets_do_not_matter(setting, seed, exponents, offsets, missing):
    X, y = classes_of(seed)
    if missing:
        X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
        X[np.isnan(X).all(axis=1)] = 0.0
    deviations = np.nanstd(X, axis=0)
    scale = 10.0 ** np.array(exponents) / deviations
    shift = np.sign(offsets) * (10.0 ** np.abs(offsets) - 1.0) * deviations * scale
    moved = X * scale + shift
    plain, other = fitted(setting, X, y), fitted(setting, moved, y)
    # What the inputs' own rounding does: cells move by eps·offset, in standard deviations of the
    # column, and by 1/√λ as many of a class's narrowest direction.
    narrow = narrowest(plain)
    blur = 2.2e-16 * 10.0 ** np.abs(offsets).max() / np.sqrt(narrow)
    a, b = plain.predict_log_proba(X), other.predict_log_proba(moved)
    steep = 1.0 + np.abs(a).max()
    # A scatter is known to eps of itself, hence its narrowest direction to eps/λ of that.
    rounding = 64.0 * 2.2e-16 / narrow
    exact = (1e-8 if missing else 1e-10) + rounding
    np.testing.assert_allclose(b, a, rtol=0.0, atol=exact * steep + 300 * steep * blur)
    sure = np.sort(a, axis=1)[:, -1] - np.sort(a, axis=1)[:, -2] > 1e-3
    np.testing.assert_array_equal(other.predict(moved)[sure], plain.predict(X)[sure])
    inside = ~np.isnan(X)
    jacobian = inside @ np.log(scale)
    np.testing.assert_allclose(
        other.log_density(moved) + jacobian, plain.log_density(X), rtol=1e-6, atol=1e-5
    )


@pytest.mark.parametrize("exponent", [-150, -90, -30, 30, 90, 150])
@pytest.mark.parametrize("setting", [*UNIT_FREE, AUTO], ids=ids)
def test_extreme_units_are_as_good_as_any(setting, exponent):
    X, y = classes_of(7)
    unit = 10.0 ** np.array([exponent, 0, -exponent])
    unit /= X.std(axis=0)
    plain, other = fitted(setting, X, y), fitted(setting, X * unit, y)
    np.testing.assert_allclose(
        other.predict_log_proba(X * unit), plain.predict_log_proba(X), rtol=1e-7, atol=1e-8
    )
    np.testing.assert_allclose(other.typicality(X * unit), plain.typicality(X), atol=1e-8)
    loo, moved_loo = plain.leave_one_out(X, y), other.leave_one_out(X * unit, y)
    np.testing.assert_allclose(moved_loo.log_posterior, loo.log_posterior, rtol=1e-7, atol=1e-7)
    contributions = plain.explain(X).contributions
    np.testing.assert_allclose(
        other.explain(X * unit).contributions, contributions, rtol=1e-7, atol=1e-7
    )


@pytest.mark.parametrize("setting", [*UNIT_FREE, AUTO], ids=ids)
def test_an_offset_of_a_hundred_million_deviations_costs_only_the_inputs_rounding(setting):
    X, y = classes_of(11, n=400)
    plain, other = fitted(setting, X, y), fitted(setting, X + 1e8, y)
    np.testing.assert_allclose(other.predict_proba(X + 1e8), plain.predict_proba(X), atol=3e-6)
    assert other.score(X + 1e8, y) == plain.score(X, y)
    np.testing.assert_allclose(
        other.leave_one_out(X + 1e8, y).log_loss, plain.leave_one_out(X, y).log_loss, rtol=1e-5
    )


def test_the_spherical_form_depends_on_units_but_not_on_a_common_one():
    X, y = classes_of(3)
    plain = fitted({"covariance": "spherical"}, X, y)
    for factor in (1e-140, 1e-20, 1e20, 1e140):
        other = fitted({"covariance": "spherical"}, X * factor, y)
        np.testing.assert_allclose(
            other.predict_log_proba(X * factor), plain.predict_log_proba(X), rtol=1e-9, atol=1e-9
        )
    stretched = X * [1000.0, 1.0, 1.0]
    other = fitted({"covariance": "spherical"}, stretched, y)
    assert np.abs(other.predict_proba(stretched) - plain.predict_proba(X)).max() > 0.01


@pytest.mark.parametrize("setting", UNIT_FREE, ids=ids)
def test_full_rank_data_are_not_touched_however_ill_conditioned(setting):
    rng = np.random.default_rng(5)
    base = rng.normal(size=(300, 4))
    base[:, 3] = base[:, 0] + 1e-3 * base[:, 3]
    X = base * [1e-8, 1.0, 1e8, 1e-4]
    y = np.arange(300) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GaussianDiscriminant(**setting).fit(X, y)
    if setting == {"covariance": "shared"}:
        within = sum(np.cov(X[y == c].T, bias=True) for c in (0, 1)) / 2
        np.testing.assert_allclose(model.covariance_, within, rtol=1e-9)


# 2. Second moments are kept about the mean


@pytest.mark.parametrize("setting", UNIT_FREE, ids=ids)
def test_many_small_batches_far_from_zero_merge_without_loss(setting):
    X, y = classes_of(2, n=500)
    X = X + 1e8
    whole = fitted(setting, X, y)
    parts = GaussianDiscriminant(**setting)
    for start in range(0, 500, 7):
        parts.partial_fit(X[start : start + 7], y[start : start + 7])
    np.testing.assert_allclose(parts.covariances_, whole.covariances_, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(parts.means_, whole.means_, rtol=1e-15)


# 3. Never NaN, never a crash on legal data


def far_rows(d, rng):
    """Rows too far for squares: in all cells, in one, of both signs, and with holes."""
    for size in FAR:
        signs = np.where(rng.random((6, d)) < 0.5, -1.0, 1.0)
        yield signs * size
        one = rng.normal(size=(d, d))
        np.fill_diagonal(one, np.where(np.arange(d) % 2, -size, size))
        yield one
        mixed = signs * 10.0 ** rng.uniform(100, 305, size=(6, d))
        yield mixed
        holes = signs * size
        holes[np.arange(6), np.arange(6) % d] = np.nan
        yield holes


def check_answers(model, rows):
    """No answer about these rows is NaN; the posterior is one; the best class has a fair share."""
    log_proba, proba = model.predict_log_proba(rows), model.predict_proba(rows)
    k = len(model.classes_)
    assert not np.isnan(log_proba).any()
    assert not np.isnan(proba).any()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.exp(log_proba), proba, rtol=1e-9, atol=1e-12)
    assert (log_proba.max(axis=1) >= -np.log(k) - 1e-9).all()
    assert (log_proba <= 0.0).all()
    best = model.classes_[log_proba.argmax(axis=1)]
    chosen = np.searchsorted(model.classes_, model.predict(rows))
    picked = np.take_along_axis(log_proba, chosen[:, np.newaxis], axis=1)[:, 0]
    np.testing.assert_allclose(picked, log_proba.max(axis=1), atol=1e-12)
    assert len(best) == len(rows)
    assert not np.isnan(model.decision_function(rows)).any()
    assert not np.isnan(model.log_joint(rows)).any()
    assert not np.isnan(model.log_density(rows)).any()
    assert not np.isnan(model.typicality(rows)).any()


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("setting", ALL, ids=ids)
def test_points_beyond_the_range_of_squares_get_the_limit(setting, k):
    rng = np.random.default_rng(k)
    X, y = classes_of(k, k=k)
    model = fitted(setting, X, y)
    for rows in far_rows(3, rng):
        check_answers(model, rows)
    log_proba = model.predict_log_proba(np.array([[1e200, -1e200, 1e200]]))
    if setting["covariance"] not in ("shared", "shared-diagonal"):
        assert log_proba[0].max() == 0.0
        assert np.isneginf(sorted(log_proba[0])[:-1]).all()


@pytest.mark.parametrize("setting", ALL, ids=ids)
def test_far_points_have_typicality_zero_and_evidence_minus_infinity(setting):
    X, y = classes_of(1)
    model = fitted(setting, X, y)
    rows = np.array([[1e200, 0.0, 0.0], [np.nan, -1e300, 1.0]])
    assert (model.typicality(rows) <= 1e-4).all()
    assert np.isneginf(model.log_density(rows)).all()


@pytest.mark.parametrize("setting", ALL, ids=ids)
def test_log_probabilities_stay_finite_and_ordered_out_to_1e150(setting):
    X, y = classes_of(4)
    model = fitted(setting, X, y)
    rng = np.random.default_rng(0)
    for _ in range(5):
        ray = rng.normal(size=3)
        steps = np.concatenate([[50.0, 500.0], 10.0 ** np.arange(4, 151, 6)])
        found = model.predict_log_proba(np.multiply.outer(steps, ray))
        assert np.isfinite(found).all()
        losers = found[:, found[-1] < 0.0]
        assert losers.shape[1] == 2
        assert (np.diff(losers[2:], axis=0) < 0.0).all()


@pytest.mark.parametrize("setting", ALL, ids=ids)
def test_the_limit_agrees_with_what_is_still_in_range(setting):
    X, y = classes_of(9)
    model = fitted(setting, X, y)
    rays = np.random.default_rng(3).normal(size=(40, 3))
    near = model.predict(rays * 1e140)
    for size in (1e154, 1e160, 1e250, 1e307):
        np.testing.assert_array_equal(model.predict(rays * size), near)


@pytest.mark.parametrize("setting", ALL, ids=ids)
def test_far_rows_do_not_upset_the_other_answers(setting):
    X, y = classes_of(5)
    model = fitted(setting, X, y)
    for rows in far_rows(3, np.random.default_rng(5)):
        assert not np.isnan(model.impute(rows)).any()
        assert not np.isnan(list(model.estimate_priors(np.vstack([X, rows])).priors.values())).any()
        if hasattr(model, "transform"):
            assert not np.isnan(model.transform(rows)).any()


def spoiled_data(how):
    """Return rows and labels with something degenerate about them."""
    X, y = classes_of(6, n=60, d=4)
    if how == "constant":
        X[:, 1] = 0.1
    elif how == "duplicated":
        X[:, 1] = X[:, 0]
    elif how == "sum":
        X[:, 3] = X[:, 0] - 3.0 * X[:, 1] + 7.0
    elif how == "constant within":
        X[:, 1] = np.array([0.3, 0.5, 0.7])[y]
    elif how in ("one row", "two rows"):
        more = 1 if how == "one row" else 2
        X, y = np.vstack([X, X[:more] + 3.0]), np.append(y, [3] * more)
    else:
        X, y = X[:6].repeat(3, axis=1) + np.arange(12) ** 2 * X[:6, :1], np.arange(6) % 3
    return X, y


@pytest.mark.parametrize("setting", ALL, ids=ids)
@pytest.mark.parametrize(
    "spoiled", ["constant", "duplicated", "sum", "constant within", "one row", "two rows", "wide"]
)
def test_degenerate_data_give_a_model_and_a_warning(setting, spoiled):
    X, y = spoiled_data(spoiled)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = GaussianDiscriminant(**setting).fit(X, y)
    if setting["covariance"] == "spherical":  # which says that units matter, where they are apart
        said = [w for w in said if not issubclass(w.category, UnitsMatter)]
    assert all(issubclass(w.category, DegenerateData) for w in said)
    full = setting["covariance"] in ("shared", "per-class")
    rank_deficient = spoiled in ("duplicated", "sum", "constant within", "wide")
    if spoiled == "constant" or (full and rank_deficient and not setting.get("shrink")):
        assert said
    if setting == {"covariance": "per-class"} and spoiled in ("one row", "two rows"):
        assert "(class 3)" in str(said[0].message)
    fresh = np.random.default_rng(1).normal(size=(20, X.shape[1])) * 3.0
    holed = np.where(np.random.default_rng(2).random(fresh.shape) < 0.3, np.nan, fresh)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        for rows in (X, fresh, holed):
            for answer in (
                model.predict_log_proba(rows), model.predict_proba(rows), model.log_joint(rows),
                model.explain(rows).contributions, model.impute(rows),
            ):  # fmt: skip
                assert np.isfinite(answer).all()
        assert np.isfinite(model.sample(50, random_state=0)[0]).all()
        loo = model.leave_one_out(X, y)
        assert not np.isnan(loo.log_posterior).any()
        assert np.isfinite(loo.log_loss)
        assert not np.isnan(model.estimate_priors(fresh).priors[0])
    assert np.isfinite(model.covariances_).all()
    if spoiled in ("constant", "duplicated", "sum"):
        clean = {"constant": [0, 2, 3], "duplicated": [0, 2, 3], "sum": [0, 1, 2]}[spoiled]
        if full and not setting.get("shrink"):
            lean = fitted(setting, X[:, clean], y)
            np.testing.assert_allclose(
                model.predict_log_proba(X), lean.predict_log_proba(X[:, clean]), atol=1e-4
            )


@pytest.mark.parametrize("setting", [*ALL, AUTO], ids=ids)
def test_the_smallest_data_sets_that_there_are_give_a_model(setting):
    for X, y in (
        ([[1.0]], ["a"]),
        ([[1.0], [2.0]], ["a", "b"]),
        ([[1.0], [1.0]], ["a", "b"]),
        ([[0.0], [0.0], [0.0]], ["a", "a", "b"]),
        ([[0.0, 1.0], [0.0, 2.0], [5.0, 1.0]], ["a", "b", "b"]),
        ([[np.nan], [np.nan]], ["a", "b"]),
        ([[np.nan, 1.0], [2.0, np.nan], [1.0, 3.0]], ["a", "b", "b"]),
    ):
        model = fitted(setting, X, y)
        for rows in (X, np.zeros((1, len(X[0]))), np.full((1, len(X[0])), np.nan)):
            proba = model.predict_proba(rows)
            assert np.isfinite(proba).all(), (X, y)
            np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize("setting", [*ALL, AUTO], ids=ids)
def test_one_class_is_a_warning_and_a_certainty(setting):
    X, _ = classes_of(0)
    with pytest.warns(OneClass, match="only one class, 'sole'"):
        model = GaussianDiscriminant(**setting).fit(X, ["sole"] * len(X))
    rows = np.vstack([X, np.full((1, 3), 1e200), np.full((1, 3), np.nan)])
    np.testing.assert_array_equal(model.predict_proba(rows), np.ones((len(rows), 1)))
    np.testing.assert_array_equal(model.predict_log_proba(rows), np.zeros((len(rows), 1)))
    assert set(model.predict(rows)) == {"sole"}
    assert np.isfinite(model.log_density(X)).all()


@pytest.mark.parametrize("form", ["shared", "per-class", "diagonal", "shared-diagonal"])
def test_warnings_name_the_columns_as_the_user_does(form):
    X, y = classes_of(8)
    frame = pd.DataFrame(X, columns=["height", "weight", "age"]).assign(shoe=39.5)
    frame["colour"] = "red"
    with pytest.warns(DegenerateData, match=r"shoe, colour=red; they are left out"):
        GaussianDiscriminant(form).fit(frame, y)
    frame = pd.DataFrame(X, columns=["height", "weight", "age"]).assign(again=X[:, 0])
    if form in ("shared", "per-class"):
        with pytest.warns(DegenerateData, match=r"height, again"):
            GaussianDiscriminant(form).fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianDiscriminant(form).fit(frame[["height", "weight", "age"]], y)


# 4. Logs outside, the limit and not NaN


@pytest.mark.parametrize("setting", ALL, ids=ids)
def test_a_prior_of_zero_gives_the_limit(setting):
    X, y = classes_of(12)
    model = fitted({**setting, "priors": {0: 0.0, 1: 0.25, 2: 0.75}}, X, y)
    for rows in (X, X * 1e200, np.where(np.arange(3) == 1, np.nan, X)):
        log_proba = model.predict_log_proba(rows)
        assert np.isneginf(log_proba[:, 0]).all()
        assert not np.isnan(log_proba).any()
        np.testing.assert_array_equal(model.predict_proba(rows)[:, 0], 0.0)
        assert 0 not in model.predict(rows)
    assert 0 not in model.sample(200, random_state=0)[1]
    sole = fitted({**setting, "priors": {0: 0.0, 1: 1.0, 2: 0.0}}, X, y)
    np.testing.assert_array_equal(sole.predict_proba(X), np.tile([0.0, 1.0, 0.0], (len(X), 1)))


# 5. A weight of 2 is two rows, a weight of 0 is not a row


@pytest.mark.parametrize("setting", ALL, ids=ids)
@given(seed=st.integers(0, 2**32 - 1), missing=st.booleans())
def test_a_weight_is_a_number_of_rows(setting, seed, missing):
    X, y = classes_of(seed, n=60)
    rng = np.random.default_rng(seed)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    weights = rng.integers(0, 4, size=60)
    weights[:9] = 1
    repeated = np.repeat(np.arange(60), weights)
    heavy = fitted(setting, X, y, sample_weight=weights)
    many = fitted(setting, X[repeated], y[repeated])
    tolerance = 1e-6 if missing else 1e-9
    np.testing.assert_allclose(
        heavy.covariances_, many.covariances_, rtol=tolerance, atol=tolerance
    )
    np.testing.assert_allclose(
        heavy.predict_log_proba(X), many.predict_log_proba(X), rtol=tolerance, atol=tolerance * 100
    )


@pytest.mark.parametrize("setting", [*ALL, AUTO], ids=ids)
def test_rows_without_weight_are_never_looked_at(setting):
    X, y = classes_of(13)
    plain = fitted(setting, X, y)
    spoiled = np.vstack([X[:40], [[np.inf, np.nan, 1e308]], X[40:], [[-np.inf] * 3]])
    labels = np.concatenate([y[:40], [99], y[40:], [-5]])
    weights = np.ones(len(labels))
    weights[[40, -1]] = 0.0
    model = fitted(setting, spoiled, labels, sample_weight=weights)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), rtol=1e-9)


def test_words_and_blank_labels_without_weight_are_never_looked_at():
    X, y = classes_of(14, n=30)
    rows = [*X.tolist(), ["n/a", None, "?"], [1j, object(), 2.0]]
    labels = [*y.tolist(), None, "other"]
    weights = [1.0] * 30 + [0.0, 0.0]
    plain = GaussianDiscriminant().fit(X, y)
    model = GaussianDiscriminant().fit(rows, labels, sample_weight=weights)
    np.testing.assert_allclose(model.means_, plain.means_)
    np.testing.assert_array_equal(model.classes_, plain.classes_)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["kind"] = np.where(X[:, 0] > 0, "big", "small")
    more = pd.concat([frame, frame.iloc[:1].assign(kind="unheard of")])
    model = GaussianDiscriminant().fit(more, [*y, 0], sample_weight=[1.0] * 30 + [0.0])
    assert model.schema.columns[3].levels == ("big", "small")


def test_a_refusal_counts_rows_as_the_caller_does():
    X, y = classes_of(15, n=30)
    X[20, 1] = np.inf
    weights = np.ones(30)
    weights[[3, 8, 25]] = 0.0
    with pytest.raises(SufficeError, match=r"row 20, x1"):
        GaussianDiscriminant().fit(X, y, sample_weight=weights)
    labels = [*y[:20].tolist(), "other", *y[21:].tolist()]
    with pytest.raises(SufficeError, match="row 20"):
        GaussianDiscriminant().fit(np.zeros((30, 2)), labels, sample_weight=weights)


# 6. Unknown labels are never mislabelled


@pytest.mark.parametrize("setting", ALL, ids=ids)
def test_a_new_label_is_a_new_class(setting):
    X, y = classes_of(16)
    names = np.array(["ham", "spam", "eggs"])[y]
    model = GaussianDiscriminant(**setting).partial_fit(X[names != "eggs"], names[names != "eggs"])
    assert list(model.classes_) == ["ham", "spam"]
    model.partial_fit(X[names == "eggs"], ["SPAM"] * int((names == "eggs").sum()))
    assert list(model.classes_) == ["SPAM", "ham", "spam"]
    np.testing.assert_allclose(model.priors_, 1 / 3)
    whole = fitted(setting, X, np.where(names == "eggs", "SPAM", names))
    np.testing.assert_allclose(
        model.predict_proba(X), whole.predict_proba(X), rtol=1e-8, atol=1e-12
    )


# 7. The covariance shown is the one used


@pytest.mark.parametrize("divisor", ["mle", "unbiased"])
@pytest.mark.parametrize("setting", [*ALL, AUTO], ids=ids)
def test_the_posterior_follows_from_the_parameters_that_are_shown(setting, divisor):
    X, y = classes_of(17)
    priors = {0: 0.2, 1: 0.5, 2: 0.3}
    model = fitted({**setting, "divisor": divisor, "priors": priors}, X, y)
    log_joint = np.column_stack(
        [
            np.log(model.priors_[c])
            + multivariate_normal(model.means_[c], model.covariances_[c]).logpdf(X)
            for c in range(3)
        ]
    )
    np.testing.assert_allclose(model.log_joint(X), log_joint, rtol=1e-9, atol=1e-9)
    posterior = np.exp(log_joint) / np.exp(log_joint).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), posterior, rtol=1e-8, atol=1e-12)
    if setting["covariance"].startswith("shared"):
        np.testing.assert_array_equal(model.covariance_, model.covariances_[0])
    else:
        assert not hasattr(model, "covariance_")


@pytest.mark.parametrize("setting", ALL, ids=ids)
def test_priors_never_change_the_covariance_and_take_effect_after_the_fit(setting):
    X, y = classes_of(18)
    plain = fitted(setting, X, y)
    priors = {0: 0.7, 1: 0.1, 2: 0.2}
    given = fitted({**setting, "priors": priors}, X, y)
    np.testing.assert_array_equal(given.covariances_, plain.covariances_)
    np.testing.assert_array_equal(given.means_, plain.means_)
    changed = plain.with_priors(priors)
    np.testing.assert_array_equal(changed.predict_proba(X), given.predict_proba(X))
    assert np.abs(changed.predict_proba(X) - plain.predict_proba(X)).max() > 0.05
    np.testing.assert_allclose(changed.priors_, [0.7, 0.1, 0.2], rtol=1e-15)
    later = fitted(setting, X, y).set_params(priors=priors)
    np.testing.assert_array_equal(later.predict_proba(X), given.predict_proba(X))
    np.testing.assert_allclose(plain.priors_, 1 / 3, rtol=1e-15)


# 8. float32 stays float32 in memory


@pytest.mark.parametrize("form", ["shared", "per-class", "diagonal", "spherical"])
def test_no_copy_of_float32_rows_is_made(form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300_000, 20)).astype(np.float32)
    y = (np.arange(300_000) % 3).astype(np.intp)
    X[:, 0] += y
    model = GaussianDiscriminant(form).fit(X, y)  # imports, pools, compiled kernels
    model.predict(X)
    tracemalloc.start()
    try:
        model.fit(X, y)
        _, fit_peak = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        codes = model.predict(X)
        _, predict_peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # A copy in float64 would be twice the input; blocks in flight are a matter of threads.
    assert fit_peak < 0.9 * X.nbytes, f"{fit_peak / X.nbytes:.2f} of the input"
    assert predict_peak - codes.nbytes < 0.9 * X.nbytes, f"{predict_peak / X.nbytes:.2f}"
    assert model.means_.dtype == model.predict_proba(X[:5]).dtype == np.float64


@pytest.mark.parametrize("setting", ALL, ids=ids)
def test_float32_rows_are_summed_in_float64(setting):
    X, y = classes_of(19, n=3000)
    single = X.astype(np.float32)
    model, exact = fitted(setting, single, y), fitted(setting, single.astype(np.float64), y)
    np.testing.assert_allclose(model.covariances_, exact.covariances_, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(model.means_, exact.means_, rtol=1e-6, atol=1e-7)
    shifted = (X + 1e4).astype(np.float32)
    model, exact = fitted(setting, shifted, y), fitted(setting, shifted.astype(np.float64), y)
    np.testing.assert_allclose(model.covariances_, exact.covariances_, rtol=1e-4, atol=1e-5)


# 9. Forgetting is honest


@pytest.mark.parametrize("setting", ALL, ids=ids)
@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(20, 80), missing=st.booleans())
def test_what_was_learned_can_be_forgotten(setting, seed, cut, missing):
    X, y = classes_of(seed)
    if missing:  # enough rows for EM to have one clear answer
        cut = max(cut, 65)
        X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
    with warnings.catch_warnings():
        # Few rows of a pattern may be left, and few digits with them: it says so, by a bound.
        warnings.simplefilter("ignore", LostDigits)
        model = fitted(setting, X, y).forget(X[cut:], y[cut:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        left = fitted(setting, X[:cut], y[:cut])
        np.testing.assert_array_equal(model.classes_, left.classes_)
        np.testing.assert_allclose(model.priors_, left.priors_, rtol=1e-14)
        np.testing.assert_allclose(model.means_, left.means_, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(model.covariances_, left.covariances_, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("setting", ALL, ids=ids)
def test_forgetting_everything_leaves_an_estimator_as_if_never_fitted(setting):
    X, y = classes_of(20)
    model = fitted(setting, X, y).forget(X, y)
    assert not hasattr(model, "classes_")
    with pytest.raises(SufficeError, match="not fitted yet"):
        model.predict(X)
    model.partial_fit(X, y)
    np.testing.assert_allclose(model.means_, fitted(setting, X, y).means_, rtol=1e-12)


@pytest.mark.parametrize("setting", ALL, ids=ids)
def test_what_was_never_learned_is_not_forgotten(setting):
    X, y = classes_of(21)
    model = fitted(setting, X, y)
    before = model.predict_log_proba(X)
    for rows, labels, weights in (
        (X[:3], [7, 7, 7], None),
        (X[:2], y[:2], [1e6, 1e6]),
        (np.vstack([X, X]), np.concatenate([y, y]), None),
        (X[y == 0] * 100.0, y[y == 0], None),
        (X[:1] + 1e6, y[:1], None),
    ):
        with pytest.raises(ForgettingUnseen, match="Hint: "):
            model.forget(rows, labels, sample_weight=weights)
        np.testing.assert_array_equal(model.predict_log_proba(X), before)


@pytest.mark.parametrize("setting", ALL, ids=ids)
def test_lost_digits_are_said_and_the_last_ones_are_not_given_up(setting):
    X, y = classes_of(22)
    wide = np.random.default_rng(0).normal(size=(60, 3)) * 1e5
    model = fitted(setting, X, y).partial_fit(wide, np.arange(60) % 3)
    with pytest.warns(LostDigits, match="digits"):
        model.forget(wide, np.arange(60) % 3)
    np.testing.assert_allclose(
        model.covariances_, fitted(setting, X, y).covariances_, rtol=1e-4, atol=1e-4
    )
    wider = wide * 1e3
    model = fitted(setting, X, y).partial_fit(wider, np.arange(60) % 3)
    with pytest.raises(ForgettingUnseen, match="no reliable digits"):
        model.forget(wider, np.arange(60) % 3)


@pytest.mark.parametrize(
    "form", ["shared", "per-class", "diagonal", "shared-diagonal", "spherical"]
)
@pytest.mark.parametrize("seed", range(4))
def test_weights_that_add_up_to_one_leave_no_degree_of_freedom(form: str, seed: int) -> None:
    """1 - 1 may be 1e-16, and a scatter that is divided by it a variance of 1e15."""
    rng = np.random.default_rng(seed)
    parts = int(rng.integers(6, 12))
    x = rng.normal(size=(2 * parts, 2))
    y, w = np.repeat([0, 1], parts), rng.uniform(0.2, 1.0, 2 * parts)
    w /= np.repeat([w[:parts].sum(), w[parts:].sum()], parts)
    w[[0, -1]] += 1e-15  # one, and no rounding below it
    if not form.startswith("shared"):
        w[y == 1] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianDiscriminant(form, divisor="unbiased").fit(x, y, sample_weight=w)
    found = model.covariance_ if form.startswith("shared") else model.covariances_
    # Whatever stands in for a variance that can't be known comes from the spread of the rows.
    assert np.abs(found).max() <= 4.0 * np.square(np.ptp(x, axis=0)).max()
