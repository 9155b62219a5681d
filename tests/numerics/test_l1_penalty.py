"""L1 penalties and the elastic net: conditions of the minimum, peers, exact zeros, refusals."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression as Peer

import suffice
from suffice import LogisticRegression
from suffice.errors import BadSetting, DegenerateData, DidNotConverge, SufficeWarning
from suffice.models.linear.l1_quadratic import quadratic_minimum
from suffice.models.linear.logistic import l1
from suffice.models.linear.logistic.l1 import least_shifted

if TYPE_CHECKING:
    from pathlib import Path

seeds = st.integers(0, 2**32 - 1)


def fitted(X: Any, y: Any, weights: Any = None, **settings: Any) -> LogisticRegression:
    """Return a fit that has to converge; constant columns may be told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateData)
        model = LogisticRegression(**settings).fit(X, y, weights)
    assert model.converged_
    return model


def standardised(X: Any, weights: Any, *, intercept: bool) -> tuple[Any, Any]:
    """Return the columns in their own units, and these: deviations, or roots of mean squares."""
    mean = np.average(X, axis=0, weights=weights) if intercept else np.zeros(X.shape[1])
    units = np.sqrt(np.average(np.square(X - mean), axis=0, weights=weights))
    still = units <= 1e-12 * np.abs(X).max(axis=0, initial=0.0)
    return np.where(still, 0.0, (X - mean) / np.where(still, 1.0, units)), np.where(still, 0, units)


def check_conditions(
    model: LogisticRegression, X: Any, y: Any, weights: Any = None, room: float = 1e-8
) -> None:
    """Karush, Kuhn and Tucker's conditions, from posteriors and coefficients alone."""
    weights = np.ones(len(X)) if weights is None else weights
    Z, units = standardised(X, weights, intercept=model.intercept)
    codes = np.searchsorted(model.classes_, y)
    rest = model.predict_proba(X) - np.eye(len(model.classes_))[codes]
    coefficients = model.coef_ * units
    if len(coefficients) == 1:
        rest = rest[:, 1:]
    gradient = (rest * weights[:, np.newaxis]).T @ Z
    first = model.penalty * model.l1_ratio
    gradient += model.penalty * (1.0 - model.l1_ratio) * coefficients
    scale = room * weights.sum()
    zero = coefficients == 0.0
    assert (np.abs(gradient[zero]) <= first + scale).all()
    assert np.abs(gradient + first * np.sign(coefficients))[~zero].max(initial=0.0) <= scale
    assert not coefficients[:, units == 0.0].any()
    if model.intercept:
        assert np.abs(weights @ rest).max() <= scale


def table(
    rng: np.random.Generator, size: int, width: int, classes: int, *, thin: bool
) -> tuple[Any, Any]:
    """Return rows of unlike units in which columns are constant, repeated or add up from others."""
    X = rng.normal(size=(size, width)) * 10.0 ** rng.integers(-3, 4, size=width)
    X += X.std(axis=0) * rng.normal(size=width) * 3.0
    y = np.argmax(
        X / X.std(axis=0) @ rng.normal(size=(width, classes)) + rng.gumbel(size=(size, classes)), 1
    )
    y[:classes] = np.arange(classes)
    if thin and width > 3:
        X[:, 0] = 7.0
        X[:, 1] = X[:, 2]
        X[:, 3] = X[:, 2] - 2.0 * X[:, -1]
    return X, y


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("thin", [False, True])
@given(
    seed=seeds,
    penalty=st.sampled_from([1e-2, 0.1, 1.0, 5.0, 30.0]),
    ratio=st.sampled_from([0.1, 0.5, 0.95, 1.0]),
    intercept=st.booleans(),
    weighted=st.booleans(),
)
def test_conditions_of_the_minimum_hold(
    classes: int, thin: bool, seed: int, penalty: float, ratio: float, intercept: bool,
    weighted: bool,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    X, y = table(rng, int(rng.integers(8, 60)), int(rng.integers(1, 9)), classes, thin=thin)
    weights = rng.choice([0.25, 1.0, 3.0], size=len(X)) if weighted else None
    model = fitted(X, y, weights, penalty=penalty, l1_ratio=ratio, intercept=intercept)
    check_conditions(model, X, y, weights)


@given(seed=seeds, classes=st.integers(2, 4))
def test_columns_that_are_looked_at_in_turn_lead_to_the_same_minimum(
    seed: int, classes: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y = table(rng, 50, 30, classes, thin=True)
    settings = {"penalty": float(rng.choice([0.5, 2.0])), "l1_ratio": float(rng.choice([0.7, 1]))}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(l1, "WHOLE", 0)
        patch.setattr(l1, "FIRST_COLUMNS", 3)
        model = fitted(X, y, **settings)
    check_conditions(model, X, y)
    whole = fitted(X, y, **settings)
    assert model.predict_proba(X) == pytest.approx(whole.predict_proba(X), abs=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_wide_sparse_rows_are_not_filled_and_lead_to_the_same_minimum(classes: int) -> None:
    rng = np.random.default_rng(classes)
    X = rng.poisson(0.02, size=(300, 3_000)).astype(float)
    y = np.argmax(
        X[:, :20] @ rng.normal(size=(20, classes)) * 3 + rng.gumbel(size=(300, classes)), 1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        sparse = LogisticRegression(4.0, l1_ratio=1.0).fit(csr_array(X), y)
        dense = LogisticRegression(4.0, l1_ratio=1.0).fit(X, y)
    check_conditions(sparse, X, y)
    assert 0 < np.count_nonzero(sparse.coef_) < 600
    assert sparse.predict_proba(X) == pytest.approx(dense.predict_proba(X), abs=1e-6)


# Peers


@pytest.mark.parametrize("ratio", [0.5, 1.0])
@pytest.mark.parametrize("penalty", [1.0, 10.0])
@pytest.mark.parametrize("data", ["two classes", "three classes", "weights"])
def test_coefficients_are_those_of_scikit_learn(data: str, penalty: float, ratio: float) -> None:
    X, y = load_iris(return_X_y=True)
    weights = None
    if data != "three classes":
        X, y = X[50:], y[50:]
    if data == "weights":
        weights = np.random.default_rng(0).choice([1.0, 2.0], size=len(X))
    Z, units = standardised(X, weights, intercept=True)
    peer = Peer(C=1.0 / penalty, l1_ratio=ratio, solver="saga", tol=1e-10, max_iter=500_000)
    peer.fit(Z, y, weights)
    model = fitted(X, y, weights, penalty=penalty, l1_ratio=ratio)
    assert model.coef_ * units == pytest.approx(peer.coef_, abs=2e-6)
    assert np.array_equal(model.coef_ == 0.0, np.abs(peer.coef_) < 1e-9)
    assert model.predict_proba(X) == pytest.approx(peer.predict_proba(Z), abs=1e-6)


def test_the_lasso_without_an_intercept_is_that_of_liblinear() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    Z, units = standardised(X, None, intercept=False)
    peer = Peer(C=0.2, l1_ratio=1.0, solver="liblinear", fit_intercept=False, tol=1e-12,
                max_iter=100_000).fit(Z, y)  # fmt: skip
    model = fitted(X, y, penalty=5.0, l1_ratio=1.0, intercept=False)
    assert model.coef_ * units == pytest.approx(peer.coef_, abs=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_without_its_l1_part_the_penalty_is_that_of_squares(classes: int) -> None:
    X, y = table(np.random.default_rng(3), 60, 4, classes, thin=False)
    plain = LogisticRegression(2.0).fit(X, y)
    near = fitted(X, y, penalty=2.0, l1_ratio=1e-9)
    assert near.predict_proba(X) == pytest.approx(plain.predict_proba(X), abs=1e-7)
    assert near.coef_ == pytest.approx(plain.coef_, rel=1e-5)


# Exact zeros


@pytest.mark.parametrize("classes", [2, 3, 5])
@given(seeds)
def test_the_penalty_from_which_on_all_are_zero_is_the_largest_gradient(
    classes: int, seed: int
) -> None:
    X, y = table(np.random.default_rng(seed), 40, 4, classes, thin=False)
    Z, _ = standardised(X, None, intercept=True)
    members = np.eye(classes)[y]
    gradient = np.abs((members - members.mean(axis=0)).T @ Z)
    largest = float(gradient[1:].max() if classes == 2 else gradient.max())
    none = fitted(X, y, penalty=largest * 1.0001, l1_ratio=1.0)
    assert not none.coef_.any()
    assert none.predict_proba(X) == pytest.approx(
        np.broadcast_to(members.mean(axis=0), (len(X), classes)), abs=1e-9
    )
    some = fitted(X, y, penalty=largest * 0.99, l1_ratio=1.0)
    assert some.coef_.any()


@given(seeds)
def test_units_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = table(rng, 50, 4, 3, thin=False)
    units = 2.0 ** rng.integers(-20, 20, size=4)
    one, two = (fitted(rows, y, penalty=2.0, l1_ratio=1.0) for rows in (X, X * units))
    assert np.array_equal(one.coef_ == 0.0, two.coef_ == 0.0)
    assert two.coef_ * units == pytest.approx(one.coef_, rel=1e-6, abs=1e-9)


def test_weights_are_repetitions() -> None:
    rng = np.random.default_rng(5)
    X, y = table(rng, 40, 5, 3, thin=False)
    times = rng.integers(1, 4, size=40)
    one = fitted(X, y, times.astype(float), penalty=1.0, l1_ratio=0.8)
    two = fitted(np.repeat(X, times, axis=0), np.repeat(y, times), penalty=1.0, l1_ratio=0.8)
    assert one.coef_ == pytest.approx(two.coef_, rel=1e-6, abs=1e-9)
    heavy = fitted(X, y, times * 1e30, penalty=1e30, l1_ratio=0.8)
    assert heavy.coef_ == pytest.approx(one.coef_, rel=1e-6, abs=1e-9)


def test_categories_have_a_coefficient_for_every_level() -> None:
    rng = np.random.default_rng(6)
    colours = rng.choice(["red", "green", "blue"], size=200)
    y = rng.random(200) < np.where(colours == "red", 0.8, 0.3)
    frame = pd.DataFrame({"colour": colours, "noise": rng.normal(size=200)})
    model = LogisticRegression(6.0, l1_ratio=1.0).fit(frame, y)
    found = dict(zip(model.coefficient_names_, model.coef_[0], strict=True))
    assert found["colour=red"] > 0.0
    assert found["noise"] == 0.0
    assert set(found) == {"colour=blue", "colour=green", "colour=red", "noise"}


@given(seeds, st.integers(1, 6), st.sampled_from([0.0, 0.3, 2.0]))
def test_shifts_of_a_column_are_those_of_the_least_penalty(
    seed: int, size: int, second: float
) -> None:
    rng = np.random.default_rng(seed)
    slopes = rng.integers(-3, 4, size=(size, 5)) * rng.choice([1.0, 0.1])
    found = least_shifted(slopes, 1.0, second)
    assert found[1:] - found[0] == pytest.approx(slopes, abs=1e-12)

    def penalty(shift: Any) -> Any:
        moved = found + shift
        return np.abs(moved).sum(axis=0) + 0.5 * second * np.square(moved).sum(axis=0)

    for shift in (*np.linspace(-4, 4, 41), 1e-3, -1e-3):
        assert (penalty(0.0) <= penalty(shift) + 1e-12).all()


@given(seeds, st.integers(1, 12), st.integers(1, 12))
def test_a_second_order_model_is_minimised_exactly(seed: int, size: int, rank: int) -> None:
    """Of any rank: the gradient lies where H does, as that of a model always does."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, rank))
    bend, slope = root @ root.T, 3.0 * root @ rng.normal(size=rank)
    weights = np.where(rng.random(size) < 0.2, 0.0, rng.random(size))
    x = quadratic_minimum(bend, slope, weights, rng.normal(size=size))
    pull = bend @ x + slope
    assert np.abs(pull + weights * np.sign(x))[x != 0.0].max(initial=0.0) < 1e-7
    assert (np.abs(pull) <= weights + 1e-7)[x == 0.0].all()


# Files, searches that go on, refusals


@pytest.mark.parametrize("classes", [2, 3])
def test_a_file_keeps_zeros(classes: int, tmp_path: Path) -> None:
    X, y = table(np.random.default_rng(7), 50, 5, classes, thin=False)
    model = fitted(X, y, penalty=4.0, l1_ratio=1.0)
    for statistics in (True, False):
        model.save(tmp_path / "model", statistics=statistics)
        again = suffice.load(tmp_path / "model")
        assert again.l1_ratio == 1.0
        assert np.array_equal(again.coef_, model.coef_)
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
        again.set_params(l1_ratio=0.0)
        assert np.array_equal(again.coef_, model.coef_), "what was found stays what it is"


def test_a_search_begins_where_the_last_one_ended() -> None:
    X, y = table(np.random.default_rng(8), 200, 6, 3, thin=False)
    model = LogisticRegression(2.0, l1_ratio=1.0, warm_start=True).fit(X, y)
    passes = model.n_iter_
    model.set_params(penalty=1.9).fit(X, y)
    assert model.n_iter_ < passes
    check_conditions(model, X, y)


def test_too_few_passes_are_told() -> None:
    X, y = table(np.random.default_rng(9), 50, 5, 3, thin=False)
    with pytest.warns(DidNotConverge):
        model = LogisticRegression(0.1, l1_ratio=1.0, max_passes=2).fit(X, y)
    assert not model.converged_


def test_a_penalty_of_nothing_is_none() -> None:
    X, y = table(np.random.default_rng(10), 80, 2, 2, thin=False)
    plain, none = LogisticRegression().fit(X, y), LogisticRegression(l1_ratio=1.0).fit(X, y)
    assert np.array_equal(plain.coef_, none.coef_)
    assert str(plain.summary()) == str(none.summary())


def test_one_class_has_no_coefficients() -> None:
    with pytest.warns(suffice.errors.OneClass):
        model = LogisticRegression(1.0, l1_ratio=1.0).fit([[1.0], [2.0]], ["a", "a"])
    assert model.predict([[3.0]]).tolist() == ["a"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"l1_ratio": 1.5}, "l1_ratio=1.5 is not a number from 0 to 1"),
        ({"l1_ratio": -0.1}, "l1_ratio=-0.1 is not a number from 0 to 1"),
        ({"l1_ratio": True}, "l1_ratio=True is not a number"),
        ({"l1_ratio": "l1"}, "l1_ratio='l1' is not a number"),
        ({"l1_ratio": float("nan")}, "l1_ratio=nan is not a number"),
        ({"l1_ratio": 1.0, "solver": "sgd"}, 'cannot be combined with solver="sgd"'),
        (
            {"l1_ratio": 1.0, "standard_errors": True},
            "cannot be combined with standard_errors=True",
        ),
        (
            {"l1_ratio": 1.0, "correction": "firth"},
            "correction='firth' cannot be combined with penalty",
        ),
        (
            {"l1_ratio": 1.0, "penalty": "auto"},
            "l1_ratio=1.0 cannot be combined with penalty='auto'",
        ),
        ({"l1_ratio": 0.5, "penalty": "average"}, "cannot be combined with penalty='average'"),
    ],
)
def test_settings_that_have_no_meaning_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(BadSetting) as found:
        LogisticRegression(**{"penalty": 1.0, **settings}).fit([[0.0], [1.0]], [0, 1])
    assert words in str(found.value)
    assert "Hint: " in str(found.value)


def test_what_needs_a_normal_law_is_refused_with_the_reason() -> None:
    X, y = table(np.random.default_rng(11), 50, 3, 2, thin=False)
    model = fitted(X, y, penalty=1.0, l1_ratio=1.0)
    for ask in (model.summary, lambda: model.summary(X, y), lambda: model.summary(
        X, y, intervals="profile")):  # fmt: skip
        with pytest.raises(BadSetting, match="is not normally distributed"):
            ask()
    with pytest.raises(AttributeError, match="l1_ratio=0"):
        _ = model.covariance_
    with pytest.raises(BadSetting, match="cannot be combined with partial_fit"):
        model.partial_fit(X, y)
    assert np.isinf(model.bound_)


def test_rows_beyond_memory_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from suffice.learning.learners import logistic

    rng = np.random.default_rng(12)
    frame = pd.DataFrame({"x": rng.normal(size=50), "y": rng.integers(0, 2, size=50)})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    here = LogisticRegression(1.0, l1_ratio=1.0).fit(tmp_path / "rows.csv", target="y")
    assert here.converged_  # few rows are read at once
    monkeypatch.setattr(logistic, "rows_that_fit", lambda *_: None)
    with pytest.raises(BadSetting, match=r"l1_ratio=1\.0 needs all rows at once"):
        LogisticRegression(1.0, l1_ratio=1.0).fit(tmp_path / "rows.csv", target="y")
