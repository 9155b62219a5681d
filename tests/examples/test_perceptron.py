"""The perceptron: the notes' rule, mistakes and margins, streams, and bad input."""

from __future__ import annotations

import pickle
from itertools import groupby

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn import linear_model
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from suffice import Perceptron
from suffice.errors import (
    BadLabels,
    BadRows,
    BadSetting,
    BadWeights,
    ColumnMismatch,
    NotFinite,
    OneClass,
    SufficeError,
)
from suffice.models.linear.online.perceptron import OnlinePerceptron, fit_perceptron
from suffice.models.linear.online.rule import shuffled
from suffice.rows import read_sparse

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
SIDES = np.array([-1.0, 1.0])


def separable(size, width, gap, seed):
    """Return rows of two classes that a plane through their middle keeps `gap` apart."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(size, width))
    direction = rng.normal(size=width)
    direction /= np.linalg.norm(direction)
    codes = (rows @ direction > 0).astype(np.intp)
    return rows + gap * np.outer(SIDES[codes], direction), codes, direction


def standardised(rows):
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


# The rule


def test_the_notes_rule_by_hand():
    # Mean 0 and deviation 1: nothing is standardised. θ starts at 0, where every row is a tie.
    rows, codes = np.array([[1.0], [1.0], [-1.0], [-1.0]]), np.array([1, 1, 0, 0])
    fit = fit_perceptron(rows, codes, ("no", "yes"), average=False)
    # x = 1 is wrong: θ = (1, 1); then it scores 2. x = -1 scores 0, a tie: θ = (0, 2). Then all
    # are right.
    assert (fit.updates, fit.epochs, fit.separated) == (2, 2, True)
    np.testing.assert_allclose(fit.form.weights, [[0.0], [2.0]])
    np.testing.assert_allclose(fit.form.offsets, [0.0, 0.0])
    assert fit.margin == pytest.approx(1.0)


def test_the_average_by_hand():
    rows, codes = np.array([[1.0], [1.0], [-1.0], [-1.0]]), np.array([1, 1, 0, 0])
    fit = fit_perceptron(rows, codes, ("no", "yes"))
    # After each of the eight visits: (1, 1) twice, then (0, 2) six times.
    np.testing.assert_allclose(fit.form.weights[1], [(2 * 1 + 6 * 2) / 8])
    np.testing.assert_allclose(fit.form.offsets[1], 2 / 8)


def test_of_three_classes_the_best_rival_pays():
    # Standardised as they are: mean 0, deviation 1 in the first column; the second is constant.
    rows, codes = np.array([[-1.0, 7.0], [1.0, 7.0]]), np.array([0, 2])
    state = OnlinePerceptron.start(2).observe(rows, codes, ("a", "b", "c"))
    state = state.visit(rows[:1], codes[:1], ("a", "b", "c"))
    np.testing.assert_array_equal(state.theta, [[1, -1, 0], [-1, 1, 0], [0, 0, 0]])
    # The second row scores 0 in every class: a mistake, and the first of the others pays.
    state = state.visit(rows[1:], codes[1:], ("a", "b", "c"))
    np.testing.assert_array_equal(state.theta, [[0, -2, 0], [-1, 1, 0], [1, 1, 0]])


@given(
    width=st.sampled_from([1, 2, 5]),
    gap=st.sampled_from([0.05, 0.3, 1.0]),
    shuffle=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_there_are_no_more_mistakes_than_novikoff_allows(width, gap, shuffle, seed):
    rows, codes, direction = separable(60, width, gap, seed)
    assume(len(set(codes)) == 2)
    rng = np.random.default_rng(seed) if shuffle else None
    fit = fit_perceptron(rows, codes, (0, 1), epochs=100_000, rng=rng)
    # The plane through zero, written for (1, z) with z standardised.
    plane = np.concatenate([[direction @ rows.mean(axis=0)], direction * rows.std(axis=0)])
    design = np.column_stack([np.ones(len(rows)), standardised(rows)])
    gamma = (SIDES[codes] * (design @ plane)).min() / np.linalg.norm(plane)
    reach = np.linalg.norm(design, axis=1).max()
    assert fit.separated
    assert fit.updates <= (reach / gamma) ** 2
    # No plane is further from its nearest row than half the least distance between the classes.
    z = standardised(rows)
    apart = np.linalg.norm(z[codes == 1][:, np.newaxis] - z[codes == 0], axis=2).min()
    assert 0 < fit.margin <= 0.5 * apart * (1 + 1e-9)


@given(
    classes=st.sampled_from([2, 3, 5]),
    sparse=st.booleans(),
    average=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_what_is_called_separated_is(classes, sparse, average, seed):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(classes, 4)) * 3
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, 40)])
    rows = centres[codes] + rng.normal(size=(len(codes), 4))
    held = read_sparse(csr_array(rows)) if sparse else rows
    fit = fit_perceptron(held, codes, tuple(range(classes)), epochs=50, average=average, rng=rng)
    scores = fit.form.scores(held)
    own = scores[np.arange(len(codes)), codes]
    rest = np.where(np.arange(classes) == codes[:, np.newaxis], -np.inf, scores)
    assert fit.separated == bool((own > rest.max(axis=1)).all())
    if not fit.separated:
        assert fit.margin is None
        assert fit.epochs == 50
        return
    # Distances from the planes between classes, in standardised columns.
    scale = fit.online.seen.scale
    slopes = fit.form.weights / np.where(scale.inverse > 0, scale.inverse, np.inf)
    distances = [
        (scores[i, c] - scores[i, a]) / np.linalg.norm(slopes[c] - slopes[a])
        for i, c in enumerate(codes)
        for a in range(classes)
        if a != c
    ]
    assert fit.margin == pytest.approx(min(distances), rel=1e-9)


def test_the_last_theta_answers_where_the_mean_does_not_separate():
    found = 0
    for seed in range(30):
        rows, codes, _ = separable(30, 2, 0.02, seed)
        fit = fit_perceptron(rows, codes, (0, 1), epochs=10_000, rng=np.random.default_rng(seed))
        assert fit.separated
        np.testing.assert_array_equal(fit.form.codes(rows), codes)
        found += not np.array_equal(fit.online.form(True).codes(rows), codes)
    assert found > 0


def test_classes_that_no_plane_parts_take_all_epochs():
    rows, codes = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), [0, 0, 1, 1]
    model = Perceptron(epochs=7, random_state=0).fit(rows, codes)
    assert (model.n_epochs_, model.separated_, model.margin_) == (7, False, None)
    assert 0 < model.n_updates_ <= 28


@given(
    width=st.sampled_from([1, 3, 9]),
    levels=st.sampled_from([2, 100]),
    sparse=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_orders_go_by_what_rows_say_and_keep_equal_rows_together(width, levels, sparse, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, levels, (80, width)).astype(float)
    codes, mixed = rng.integers(0, 3, 80), rng.permutation(80)
    seen = []
    for some in (np.arange(80), mixed):
        held = read_sparse(csr_array(rows[some])) if sparse else rows[some]
        orders = shuffled(held, codes[some], ("a", "b", "c"), np.random.default_rng(0))
        for order, _ in zip(orders, range(2), strict=False):
            assert sorted(order) == list(range(80))
            seen.append([*zip(codes[some][order], *rows[some][order].T, strict=True)])
    assert seen[:2] == seen[2:]
    for order in seen:
        assert len(list(groupby(order))) == len(set(order))
    assert seen[0] != seen[1] or len(set(seen[0])) < 5


# The estimator


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.slow
def test_it_predicts_about_as_well_as_a_flat_boundary_can(load):
    rows, labels = load(return_X_y=True)

    def accuracy(make):
        return np.mean([cross_val_score(make(seed), rows, labels, cv=5) for seed in range(5)])

    ours = accuracy(lambda seed: Perceptron(random_state=seed))
    peer = accuracy(
        lambda seed: make_pipeline(StandardScaler(), linear_model.Perceptron(random_state=seed))
    )
    assert ours > 0.95
    assert ours > peer - 0.015  # about a standard error of an accuracy over 178 rows


def test_scores_coefficients_and_predictions_belong_together():
    for labels, shape in ((NAMES[y][50:], (1, 4)), (NAMES[y], (3, 4))):
        rows = X[len(X) - len(labels) :]
        model = Perceptron(random_state=1, epochs=20).fit(rows, labels)
        assert model.coef_.shape == shape
        assert model.intercept_.shape == shape[:1]
        scores = rows @ model.coef_.T + model.intercept_
        found = model.decision_function(rows)
        np.testing.assert_allclose(scores if shape[0] > 1 else scores[:, 0], found, rtol=1e-9)
        codes = found.argmax(axis=1) if shape[0] > 1 else (found > 0).astype(int)
        np.testing.assert_array_equal(model.predict(rows), model.classes_[codes])
        explained = model.explain(rows[:5])
        assert explained.contributions.shape == (5, 4)


def test_units_and_offsets_make_no_difference():
    plain = Perceptron(random_state=0, epochs=20).fit(X, y)
    odd = X * [1e6, 1e-6, 1.0, 1e80] + [1e6, 0.0, 1e6, 0.0]
    found = Perceptron(random_state=0, shuffle=False, epochs=20).fit(odd, y)
    same = Perceptron(random_state=0, shuffle=False, epochs=20).fit(X, y)
    np.testing.assert_allclose(
        found.decision_function(odd), same.decision_function(X), rtol=1e-5, atol=1e-5
    )
    assert plain.score(X, y) > 0.95


@pytest.mark.parametrize("sparse", [False, True])
def test_a_weight_of_two_is_two_rows_and_order_makes_no_difference(sparse):
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, 150)
    repeated = rng.permutation(np.repeat(np.arange(150), weights))
    form = csr_array if sparse else np.asarray
    weighted = Perceptron(random_state=3, epochs=9).fit(form(X), y, weights)
    plain = Perceptron(random_state=3, epochs=9).fit(form(X[repeated]), y[repeated])
    np.testing.assert_allclose(weighted.coef_, plain.coef_, rtol=1e-9)
    np.testing.assert_allclose(weighted.intercept_, plain.intercept_, rtol=1e-9)
    assert weighted.n_updates_ == plain.n_updates_


def test_without_shuffling_rows_are_taken_as_they_come():
    order = np.random.default_rng(0).permutation(150)
    settings = {"shuffle": False, "epochs": 3}
    one, other = (Perceptron(**settings).fit(X[o], y[o]) for o in (np.arange(150), order))
    assert np.abs(one.coef_ - other.coef_).max() > 1e-3
    again = Perceptron(**settings).fit(X[order], y[order])
    np.testing.assert_array_equal(again.coef_, other.coef_)


def test_a_seed_makes_the_same_model_and_another_seed_another():
    first, again, other = (Perceptron(epochs=5, random_state=s).fit(X, y).coef_ for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-3


def test_single_precision_and_lists_are_read_too():
    model = Perceptron(random_state=0).fit(X[:100].astype(np.float32), y[:100])
    assert model.separated_
    assert Perceptron(random_state=0).fit(X[:100].tolist(), y[:100].tolist()).separated_


def test_columns_of_a_frame_have_names_and_categories_levels():
    frame = pd.DataFrame({"size": X[:100, 0], "kind": np.where(y[:100] == 1, "x", "z")})
    model = Perceptron(random_state=0).fit(frame, NAMES[y[:100]])
    assert model.separated_
    assert list(model.feature_names_in_) == ["size", "kind"]
    assert model.coefficient_names_ == ("size", "kind=x", "kind=z")
    assert model.coef_.shape == (1, 3)
    swapped = pl.from_pandas(frame[["kind", "size"]])
    np.testing.assert_array_equal(model.predict(swapped), NAMES[y[:100]])
    unseen = frame.assign(kind="never")
    assert np.isfinite(model.decision_function(unseen)).all()
    with pytest.raises(ColumnMismatch):
        model.predict(frame.rename(columns={"size": "length"}))


def test_sparse_rows_are_not_filled():
    rng = np.random.default_rng(0)
    wide = 2_000_000  # filled, the rows would take 3 GB
    columns = rng.integers(0, wide, (200, 20))
    labels = np.arange(200) % 2
    columns[:, 0] = labels
    rows = csr_array((np.ones(4000), (np.repeat(np.arange(200), 20), columns.ravel())), (200, wide))
    model = Perceptron(random_state=0).fit(rows, labels)
    assert model.separated_
    np.testing.assert_array_equal(model.predict(rows), labels)


# Streams


def test_a_stream_learns_and_a_new_class_may_come_at_any_time():
    rng = np.random.default_rng(0)
    model = Perceptron(random_state=0)
    model.partial_fit(X[:50], NAMES[y[:50]])
    assert list(model.classes_) == ["setosa"]
    assert list(model.predict(X[:2])) == ["setosa"] * 2
    model.partial_fit(X[50:100], NAMES[y[50:100]])
    assert list(model.classes_) == ["setosa", "versicolor"]
    assert model.coef_.shape == (1, 4)
    for _ in range(30):
        order = rng.permutation(150)
        for start in range(0, 150, 50):
            some = order[start : start + 50]
            model.partial_fit(X[some], NAMES[y[some]], classes=NAMES)
    assert list(model.classes_) == list(NAMES)
    assert model.coef_.shape == (3, 4)
    assert model.n_epochs_ == 92
    assert (model.separated_, model.margin_) == (None, None)
    assert model.score(X, NAMES[y]) > 0.94


def test_one_pass_of_a_stream_is_one_epoch_of_a_fit():
    fit = Perceptron(epochs=1, shuffle=False).fit(X, y)
    stream = Perceptron(shuffle=False).partial_fit(X, y)
    np.testing.assert_allclose(stream.coef_, fit.coef_, rtol=1e-12)
    assert stream.n_updates_ == fit.n_updates_


def test_a_stream_goes_on_from_a_fit():
    model = Perceptron(random_state=0, epochs=5).fit(X, y)
    before = model.n_updates_
    model.partial_fit(X[::-1], y[::-1])
    assert model.n_epochs_ == 6
    assert model.n_updates_ > before
    assert model.separated_ is None


def test_a_stream_learns_new_levels_of_a_category():
    first = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "kind": ["u", "v", "u", "v"]})
    second = pd.DataFrame({"a": [1.5, 2.5, 3.5, 4.5], "kind": ["u", "w", "u", "w"]})
    labels = ["n", "y", "n", "y"]
    model = Perceptron(random_state=0).partial_fit(first, labels)
    assert model.coef_.shape == (1, 3)
    for _ in range(5):
        model.partial_fit(second, labels)
    assert model.coefficient_names_ == ("a", "kind=u", "kind=v", "kind=w")
    assert list(model.predict(second)) == labels
    assert list(model.predict(first)) == labels


def test_the_scale_of_a_stream_may_change_without_a_jump():
    model = Perceptron(shuffle=False).partial_fit(X[:100], y[:100])
    before = model.decision_function(X[:100])
    state = model.learned_.statistics.found.online
    after = state.observe(X[:100] * 1000, y[:100], (0, 1)).form().decisions(X[:100])
    np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-9)


# scikit-learn


def checks():
    for setting, marks in (({}, ()), ({"average": False}, pytest.mark.slow)):
        for estimator, check in estimator_checks_generator(Perceptron(**setting)):
            name = getattr(check, "func", check).__name__
            yield pytest.param(estimator, check, id=f"{setting}-{name}", marks=marks)


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def test_it_works_with_pipelines_searches_clones_and_pickles():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), Perceptron(random_state=0)),
        {"perceptron__average": [True, False], "perceptron__epochs": [1, 20]},
        cv=3,
        error_score="raise",
    ).fit(X, y)
    assert search.best_score_ > 0.9
    model = Perceptron(random_state=0).fit(X, y)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.decision_function(X), model.decision_function(X))
    back.partial_fit(X, y)
    assert not hasattr(clone(model), "coef_")
    assert repr(Perceptron(epochs=3)) == "Perceptron(epochs=3)"


# Bad input


def test_there_are_no_probabilities():
    model = Perceptron(random_state=0).fit(X, y)
    for name in ("predict_proba", "predict_log_proba"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=f"no {name}[\\s\\S]*Hint: LogisticRegression"):
            getattr(model, name)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_cell_that_is_not_finite_is_refused_by_name(value, sparse):
    rows = X.copy()
    rows[17, 1] = value
    held = csr_array(rows) if sparse else rows
    told = r"row 17, x1: (nan|-?inf) is not a finite number[\s\S]*Hint: "
    for call in (Perceptron().fit, Perceptron().partial_fit):
        with pytest.raises(NotFinite, match=told):
            call(held, y)
    model = Perceptron(random_state=0).fit(csr_array(X) if sparse else X, y)
    for question in (model.predict, model.decision_function):
        with pytest.raises(NotFinite, match=told):
            question(held)


def test_a_row_is_blamed_by_the_callers_number_and_a_row_without_weight_not_at_all():
    rows, weights = X.copy(), np.ones(150)
    rows[5, 0] = rows[17, 1] = np.nan
    weights[5] = 0.0
    with pytest.raises(NotFinite, match="row 17, x1"):
        Perceptron().fit(rows, y, weights)
    weights[17] = 0.0
    assert np.isfinite(Perceptron(epochs=3).fit(rows, y, weights).coef_).all()
    frame = pd.DataFrame(rows, columns=["a", "b", "c", "d"])
    with pytest.raises(NotFinite, match="row 5, a: nan"):
        Perceptron().fit(frame, y)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"epochs": 0}, "epochs=0"),
        ({"epochs": 2.5}, r"epochs=2\.5"),
        ({"epochs": True}, "epochs=True"),
        ({"average": "yes"}, "average='yes'"),
        ({"shuffle": 1}, "shuffle=1"),
        ({"random_state": -1}, "random_state=-1"),
    ],
)
def test_settings_without_a_meaning_are_refused(settings, told):
    for call in (Perceptron(**settings).fit, Perceptron(**settings).partial_fit):
        with pytest.raises(BadSetting, match=f"{told}[\\s\\S]*Hint: "):
            call(X, y)


def test_a_refusal_leaves_the_model_as_it_was():
    model = Perceptron(random_state=0).fit(X, y)
    before = model.coef_
    bad = X.copy()
    bad[3, 3] = np.nan
    for call in (model.fit, model.partial_fit):
        with pytest.raises(NotFinite):
            call(bad, y)
    with pytest.raises(BadLabels, match="integers before and are text"):
        model.partial_fit(X, NAMES[y])
    with pytest.raises(ColumnMismatch, match="X has 3 features"):
        model.partial_fit(X[:, :3], y)
    with pytest.raises(BadWeights):
        model.fit(X, y, -np.ones(150))
    with pytest.raises(BadRows):
        model.fit(X[:0], y[:0])
    np.testing.assert_array_equal(model.coef_, before)


def test_one_class_is_told_and_predicted():
    with pytest.warns(OneClass, match="only one class, 'a'"):
        model = Perceptron().fit(X, ["a"] * 150)
    assert set(model.predict(X)) == {"a"}
    assert (model.n_updates_, model.n_epochs_, model.margin_) == (0, 0, None)
    assert not model.decision_function(X).any()


def test_constant_columns_say_nothing():
    rows = np.column_stack([X[:100], np.full(100, 3.25)])
    model = Perceptron(random_state=0).fit(rows, y[:100])
    assert model.separated_
    assert model.coef_[0, 4] == 0.0
    assert np.isfinite(Perceptron(epochs=2).fit(np.ones((4, 1)), [0, 1, 0, 1]).intercept_).all()


def test_nothing_is_answered_before_a_fit():
    model = Perceptron()
    for kind in (NotFittedError, SufficeError):
        with pytest.raises(kind, match="not fitted yet"):
            model.predict(X)
    for name in ("classes_", "coef_", "n_updates_", "n_epochs_", "separated_", "margin_"):
        assert not hasattr(model, name)


def test_weights_whose_products_are_beyond_all_doubles_are_refused():
    X, y = np.random.default_rng(1).normal(size=(30, 2)), np.arange(30) % 2
    with pytest.raises(BadWeights, match="have products beyond all doubles"):
        Perceptron().fit(X, y, sample_weight=np.where(np.arange(30) < 15, 1e-305, 1e305))
