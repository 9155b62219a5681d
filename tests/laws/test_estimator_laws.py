"""What holds for every Gaussian discriminant, whatever its settings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from suffice import GaussianDiscriminant
from suffice.errors import DegenerateData, OneClass, UnitsMatter
from tests.searches import examples

SETTINGS: dict[str, dict[str, Any]] = {
    "shared": {},
    "shared, shrunk": {"shrink": 0.3},
    "shared, unbiased": {"divisor": "unbiased"},
    "per-class": {"covariance": "per-class"},
    "per-class, pooled": {"covariance": "per-class", "pool": 0.4, "divisor": "unbiased"},
    "per-class, both": {
        "covariance": "per-class", "pool": 0.2, "shrink": 0.5, "shrink_target": "scaled",
    },
    "diagonal": {"covariance": "diagonal"},
    "shared-diagonal": {"covariance": "shared-diagonal"},
    "spherical": {"covariance": "spherical"},
}  # fmt: skip
LINEAR = ["shared", "shared, shrunk", "shared-diagonal"]

every_setting = pytest.mark.parametrize("setting", SETTINGS)
seeds = st.integers(0, 2**32 - 1)
few = examples(5)


def model_of(setting: str, **more: Any) -> GaussianDiscriminant:
    return GaussianDiscriminant(**{**SETTINGS[setting], **more})


def drawn(
    seed: int, *, size: int = 60, width: int = 3, missing: bool = False
) -> tuple[Any, Any, np.random.Generator]:
    """Return rows of three classes of unequal size and shape, far from zero."""
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[rng.permutation(np.arange(size) % 6 // 2 * (np.arange(size) % 2))]
    y[:6] = ["a", "a", "b", "b", "c", "c"]
    mixing = rng.normal(size=(3, width, width))
    codes = np.searchsorted(["a", "b", "c"], y)
    x = rng.normal(size=(size, width)) + np.einsum("nj,nij->ni", rng.normal(size=(size, width)),
                                                   mixing[codes])  # fmt: skip
    x += 2.0 * rng.normal(size=(3, width))[codes] + 50.0
    if missing:
        x[rng.random(x.shape) < 0.1] = np.nan
    return x, y, rng


def assert_agree(left: Any, right: Any, x: Any, tolerance: float = 1e-9) -> None:
    """The same classes, the same posteriors, the same densities."""
    assert list(left.classes_) == list(right.classes_)
    assert left.predict_proba(x) == pytest.approx(right.predict_proba(x), abs=tolerance)
    assert left.log_joint(x) == pytest.approx(right.log_joint(x), rel=tolerance, abs=tolerance)


# Any order, any split, any way of counting


@every_setting
@few
@given(seeds)
def test_the_order_of_rows_does_not_matter(setting: str, seed: int) -> None:
    x, y, rng = drawn(seed)
    order = rng.permutation(len(x))
    assert_agree(model_of(setting).fit(x, y), model_of(setting).fit(x[order], y[order]), x)


@every_setting
@few
@given(seeds, st.integers(1, 6))
def test_any_split_learned_in_turn_is_one_fit(setting: str, seed: int, parts: int) -> None:
    x, y, rng = drawn(seed)
    model = model_of(setting)
    edges = np.unique(rng.integers(1, len(x), size=parts))
    for part in np.split(np.arange(len(x)), edges):
        model.partial_fit(x[part], y[part])
    assert_agree(model, model_of(setting).fit(x, y), x)


@every_setting
@few
@given(seeds)
@example(116738)  # a part whose columns happen to be more than tenfold apart
def test_two_models_add_up_to_the_model_of_both(setting: str, seed: int) -> None:
    x, y, rng = drawn(seed)
    cut = int(rng.integers(1, len(x)))
    with warnings.catch_warnings():
        for category in (DegenerateData, OneClass, UnitsMatter):  # few rows may be in a part
            warnings.simplefilter("ignore", category)
        one = model_of(setting).fit(x[:cut], y[:cut])
        two = model_of(setting).fit(x[cut:], y[cut:])
    whole = model_of(setting).fit(x, y)
    assert_agree(one + two, whole, x)
    assert_agree(two + one, whole, x)
    assert_agree(sum([one, two]), whole, x)


@every_setting
@few
@given(seeds)
def test_a_weight_of_two_is_two_rows_and_of_zero_none(setting: str, seed: int) -> None:
    x, y, rng = drawn(seed)
    times = rng.integers(0, 3, size=len(x))
    times[:6] = 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateData)  # zeros may leave a class few rows
        weighted = model_of(setting).fit(x, y, sample_weight=times)
        repeated = model_of(setting).fit(np.repeat(x, times, axis=0), np.repeat(y, times))
    assert_agree(weighted, repeated, x)


@every_setting
@few
@given(seeds)
@example(943)
def test_what_was_learned_can_be_forgotten(setting: str, seed: int) -> None:
    x, y, rng = drawn(seed)
    gone = rng.random(len(x)) < 0.4
    gone[:6] = False
    if not gone.any():
        gone[-1] = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateData)  # a class may be left with few rows
        model = model_of(setting).fit(x, y).forget(x[gone], y[gone])
        again = model_of(setting).fit(x[~gone], y[~gone])
    assert_agree(model, again, x, 1e-8)


@every_setting
def test_forgetting_everything_leaves_an_estimator_as_new(setting: str) -> None:
    x, y, _ = drawn(0)
    model = model_of(setting).fit(x, y).forget(x, y)
    with pytest.raises(ValueError, match="not fitted"):
        model.predict(x)
    assert_agree(model.partial_fit(x, y), model_of(setting).fit(x, y), x)


@every_setting
def test_a_label_never_seen_is_a_new_class(setting: str) -> None:
    x, y, _ = drawn(1)
    first = y != "b"
    model = model_of(setting).fit(x[first], y[first])
    assert list(model.classes_) == ["a", "c"]
    model.partial_fit(x[~first], y[~first])
    assert_agree(model, model_of(setting).fit(x, y), x)
    assert list(model.forget(x[~first], y[~first]).classes_) == ["a", "c"]


@pytest.mark.parametrize("setting", ["shared", "per-class", "diagonal", "shared-diagonal"])
@few
@given(seeds)
@example(210920)  # a class of three complete rows in three columns
@example(1_046_486_059)  # a class that gaps leave without a direction, and that is said
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData")
def test_missing_cells_keep_every_law(setting: str, seed: int) -> None:
    x, y, rng = drawn(seed, size=90, missing=True)
    x[:6] = np.where(np.isnan(x[:6]), 50.0, x[:6])
    whole = model_of(setting).fit(x, y)
    order = rng.permutation(len(x))
    split = model_of(setting).fit(x[order[:50]], y[order[:50]])
    split.partial_fit(x[order[50:]], y[order[50:]])
    assert_agree(split, whole, x, 1e-6)
    split.partial_fit(x[:20], y[:20]).forget(x[:20], y[:20])
    assert_agree(split, whole, x, 1e-6)


@few
@given(seeds, st.integers(2, 4))
@example(43, 3)
def test_a_class_that_gaps_leave_without_a_maximum_is_soon_found_to_lack_a_direction(
    seed: int, width: int
) -> None:
    """Its complete rows lie in a plane: EM creeps there, unless it is seen where that leads."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(40 + width + 1, width)) @ rng.normal(size=(width, width))
    x[-1] *= 3.0
    x[-1, 0] = np.nan
    y = np.array(["a"] * 40 + ["b"] * (width + 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateData)
        model = model_of("per-class").fit(x, y)  # DidNotConverge would be an error
    assert np.isfinite(model.log_joint(x)).all()


# Any container


@every_setting
def test_float32_rows_give_the_model_of_their_float64_copies(setting: str) -> None:
    x, y, _ = drawn(2)
    narrow = x.astype(np.float32)
    one, two = model_of(setting).fit(narrow, y), model_of(setting).fit(narrow.astype(float), y)
    assert np.array_equal(one.means_, two.means_)
    assert one.predict_proba(narrow) == pytest.approx(
        two.predict_proba(narrow.astype(float)), abs=1e-5
    )
    assert one.predict_proba(narrow.astype(float)) == pytest.approx(
        two.predict_proba(narrow.astype(float)), abs=1e-12
    )


def containers(x: Any, names: list[str]) -> dict[str, Any]:
    columns = {name: x[:, j] for j, name in enumerate(names)}
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    return {
        "lists": x.tolist(),
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "pyarrow": pa.table(columns),
        "by columns": np.asfortranarray(x),
        "every other": np.repeat(x, 2, axis=0)[::2],
    }


@every_setting
def test_every_container_gives_the_same_answers(setting: str) -> None:
    x, y, _ = drawn(3)
    plain = model_of(setting).fit(x, y)
    for name, table in containers(x, ["u", "v", "w"]).items():
        model = model_of(setting).fit(table, y.tolist() if name == "lists" else y)
        found = model.predict_proba(table)
        assert found == pytest.approx(plain.predict_proba(x), abs=1e-12), name
        assert list(model.predict(table)) == list(plain.predict(x)), name


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_are_found_by_name_not_by_place(library: str) -> None:
    x, y, _ = drawn(4)
    model = GaussianDiscriminant().fit(containers(x, ["u", "v", "w"])[library], y)
    turned = containers(x[:, [2, 0, 1]], ["w", "u", "v"])[library]
    expected = GaussianDiscriminant().fit(x, y).partial_fit(x, y)
    model.partial_fit(turned, y)
    assert model.predict_proba(turned) == pytest.approx(expected.predict_proba(x), abs=1e-9)


def with_levels(seed: int) -> tuple[Any, Any]:
    """Return a frame with a category whose level "violet" is rare and late, and labels."""
    import pandas as pd

    x, y, rng = drawn(seed, size=120)
    colour = np.where(rng.random(120) < 0.5, "red", "green").astype(object)
    colour[100:110] = "violet"
    return pd.DataFrame({"size": x[:, 0], "colour": colour, "age": x[:, 1]}), y


@pytest.mark.parametrize("form", ["shared", "per-class", "diagonal"])
@pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData")
def test_a_new_level_of_a_category_appears_in_partial_fit_and_in_plus(form: str) -> None:
    frame, y = with_levels(5)
    model = GaussianDiscriminant(form)
    whole = model_of("shared", covariance=form).fit(frame, y).predict_proba(frame)
    early = GaussianDiscriminant(form).fit(frame[:100], y[:100])
    late = GaussianDiscriminant(form).fit(frame[100:], y[100:])
    assert (early + late).predict_proba(frame) == pytest.approx(whole, abs=1e-7)
    assert (late + early).predict_proba(frame) == pytest.approx(whole, abs=1e-7)
    model.partial_fit(frame[:100], y[:100]).partial_fit(frame[100:], y[100:])
    assert model.predict_proba(frame) == pytest.approx(whole, abs=1e-7)


# What the answers mean


@every_setting
@few
@given(seeds, st.floats(1.0, 1e6))
def test_posteriors_sum_to_one_near_and_far(setting: str, seed: int, away: float) -> None:
    x, y, rng = drawn(seed)
    model = model_of(setting).fit(x, y)
    asked = np.r_[x, x + away * rng.normal(size=x.shape)]
    proba = model.predict_proba(asked)
    assert proba.sum(axis=1) == pytest.approx(np.ones(len(asked)), abs=1e-12)
    assert np.all(proba >= 0.0)
    assert list(model.predict(asked)) == list(model.classes_[proba.argmax(axis=1)])


@pytest.mark.parametrize("setting", LINEAR)
@few
@given(seeds)
def test_log_joint_minus_linear_scores_is_one_number_a_row(setting: str, seed: int) -> None:
    x, y, _ = drawn(seed)
    model = model_of(setting).fit(x, y)
    form = model.model_.linear_form()
    rest = model.log_joint(x) - form.scores(x)
    assert np.ptp(rest, axis=1) == pytest.approx(np.zeros(len(x)), abs=1e-9)


@pytest.mark.parametrize("setting", LINEAR)
@few
@given(seeds)
def test_the_implied_logistic_model_has_the_same_probabilities(setting: str, seed: int) -> None:
    x, y, _ = drawn(seed)
    model = model_of(setting).fit(x, y)
    logistic = model.to_logistic()
    assert logistic.predict_proba(x) == pytest.approx(model.predict_proba(x), abs=1e-10)
    log_posterior = model.predict_log_proba(x)
    scores = x @ logistic.coef_.T + logistic.intercept_
    centred = log_posterior - log_posterior.mean(axis=1, keepdims=True)
    assert scores == pytest.approx(centred, abs=1e-8)
    for reference in (None, "c"):
        found = logistic.against(reference)
        place = 0 if reference is None else 2
        odds = np.delete(log_posterior - log_posterior[:, [place]], place, axis=1)
        assert x @ found.coef.T + found.intercept == pytest.approx(odds, abs=1e-8)


@every_setting
@few
@given(seeds)
def test_explanations_add_up_to_the_log_odds_in_any_units(setting: str, seed: int) -> None:
    x, y, rng = drawn(seed)
    model = model_of(setting).fit(x, y)
    told = model.explain(x, of="a", against="b")
    log_posterior = model.predict_log_proba(x)
    odds = log_posterior[:, 0] - log_posterior[:, 1]
    size = np.abs(odds).max() + 1.0
    assert told.log_odds == pytest.approx(odds, abs=1e-9 * size)
    if told.pairs is not None:
        assert told.pairs.sum(axis=2) == pytest.approx(told.contributions, abs=1e-9 * size)
    # Spherical classes are the one form that depends on units, but not on a common factor.
    scale = 7.0 if setting == "spherical" else rng.uniform(0.1, 10.0, size=3)
    units = x * scale + rng.normal(size=3)
    again = model_of(setting).fit(units, y).explain(units, of="a", against="b")
    assert again.contributions == pytest.approx(told.contributions, abs=1e-8 * size)
    assert again.baseline == pytest.approx(told.baseline, abs=1e-8 * size)


@every_setting
def test_what_is_sampled_is_estimated_back(setting: str) -> None:
    x, y, _ = drawn(6)
    model = model_of(setting).fit(x, y)
    rows, labels = model.sample(40_000, random_state=0)
    again = model_of(setting).fit(rows, labels)
    assert list(again.classes_) == list(model.classes_)
    assert again.priors_ == pytest.approx(model.priors_, abs=0.015)
    sd = np.sqrt(np.einsum("kii->ki", model.covariances_))
    counts = 40_000 * model.priors_[:, np.newaxis]
    assert np.all(np.abs(again.means_ - model.means_) < 5.0 * sd / np.sqrt(counts))
    if "shrunk" not in setting and "pooled" not in setting and "both" not in setting:
        scaled = (again.covariances_ - model.covariances_) / sd[:, :, None] / sd[:, None, :]
        assert np.abs(scaled).max() < 0.1


# Priors


@every_setting
def test_other_priors_leave_the_covariances_as_they_were(setting: str) -> None:
    x, y, _ = drawn(7)
    model = model_of(setting).fit(x, y)
    priors = {"a": 0.6, "b": 0.3, "c": 0.1}
    other = model.with_priors(priors)
    assert np.array_equal(other.covariances_, model.covariances_)
    assert np.array_equal(other.means_, model.means_)
    assert other.priors_ == pytest.approx([0.6, 0.3, 0.1])
    moved = other.log_joint(x) - model.log_joint(x)
    shift = np.log(other.priors_) - np.log(model.priors_)
    assert moved == pytest.approx(np.broadcast_to(shift, moved.shape), abs=1e-9)
    assert model.priors is None


@every_setting
def test_priors_set_after_fit_take_effect(setting: str) -> None:
    x, y, _ = drawn(8)
    priors = {"a": 0.1, "b": 0.1, "c": 0.8}
    model = model_of(setting).fit(x, y)
    model.predict_proba(x)
    model.set_params(priors=priors)
    assert_agree(model, model_of(setting, priors=priors).fit(x, y), x)
    model.set_params(priors=None)
    assert_agree(model, model_of(setting).fit(x, y), x)
