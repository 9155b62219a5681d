"""Single rows may wait to be learned: nobody who looks can tell."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from suffice import GaussianDiscriminant
from suffice.errors import (
    BadLabels,
    BadRows,
    BadSetting,
    BadWeights,
    ColumnMismatch,
    DifferentKinds,
    NotANumber,
    NotFinite,
)
from suffice.learning import waiting_rows as single_rows

pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.UnitsMatter")

RNG = np.random.default_rng(3)
Y = np.arange(90) % 3
X = RNG.normal(size=(90, 4)) * [1.0, 2.0, 0.5, 30.0] + Y[:, np.newaxis] + 100.0
FORMS = ["shared", "per-class", "diagonal", "shared-diagonal", "spherical", "auto"]
every_form = pytest.mark.parametrize("form", FORMS)


def begun(form: str = "shared", size: int = 30) -> GaussianDiscriminant:
    return GaussianDiscriminant(form).fit(X[:size], Y[:size])


def learn(model: Any, rows: Any = range(30, 90)) -> Any:
    """Learn rows one by one, in a way that lets them wait."""
    for i in rows:
        model.partial_fit(X[i : i + 1], Y[i : i + 1])
    return model


def learn_at_once(model: Any, rows: Any = range(30, 90)) -> Any:
    """Learn rows one by one, with a weight: such rows never wait."""
    for i in rows:
        model.partial_fit(X[i : i + 1], Y[i : i + 1], sample_weight=[1.0])
    return model


def waiting(model: Any) -> int:
    return 0 if model._waiting is None else len(model._waiting.given()[0])


def numbers(statistics: Any) -> dict[str, Any]:
    """Return moments, and not what says how well they are known, which differs."""
    arrays = statistics.to_arrays()
    apart = ("error", "low", "lows", "anchor", "anchors", "usual", "_kept")
    return {name: held for name, held in arrays.items() if not name.endswith(apart)}


def assert_same(model: Any, other: Any, tolerance: float = 1e-11) -> None:
    assert model.classes_.tolist() == other.classes_.tolist()
    assert model.classes_.dtype == other.classes_.dtype
    ours, theirs = numbers(model.statistics_), numbers(other.statistics_)
    assert ours.keys() == theirs.keys()
    for name, held in ours.items():
        if held.dtype.kind == "f":
            scale = np.abs(theirs[name]).max(initial=0.0)
            np.testing.assert_allclose(held, theirs[name], rtol=tolerance, atol=tolerance * scale)
        else:
            np.testing.assert_array_equal(held, theirs[name])


# Nobody can tell


@every_form
def test_rows_that_waited_are_learned_as_if_they_had_not(form):
    model = learn(begun(form))
    assert waiting(model) == 60
    assert_same(model, learn_at_once(begun(form)))
    assert waiting(model) == 0
    if form != "auto":  # which chooses on the first batch
        whole = GaussianDiscriminant(form).fit(X, Y)
        assert model.predict_proba(X) == pytest.approx(whole.predict_proba(X), abs=1e-9)


LOOKS = {
    "predict": lambda m: m.predict(X),
    "predict one row": lambda m: m.predict(X[:1]),
    "predict_proba": lambda m: m.predict_proba(X),
    "predict_proba of one row": lambda m: m.predict_proba(X[:1]),
    "predict_log_proba": lambda m: m.predict_log_proba(X),
    "decision_function": lambda m: m.decision_function(X),
    "log_joint": lambda m: m.log_joint(X),
    "log_density": lambda m: m.log_density(X),
    "score": lambda m: m.score(X, Y),
    "typicality": lambda m: m.typicality(X),
    "sample": lambda m: m.sample(3, random_state=0)[0],
    "impute": lambda m: m.impute([[np.nan, 100.0, 100.0, 100.0]]),
    "explain": lambda m: m.explain(X).contributions,
    "to_logistic": lambda m: m.to_logistic().coef_,
    "estimate_priors": lambda m: [*m.estimate_priors(X).standard_errors.values()],
    "leave_one_out": lambda m: m.leave_one_out(X, Y).log_posterior,
    "transform": lambda m: m.transform(X),
    "scalings_": lambda m: m.scalings_,
    "means_": lambda m: m.means_,
    "covariance_": lambda m: m.covariance_,
    "covariances_": lambda m: m.covariances_,
    "priors_": lambda m: m.priors_,
    "classes_": lambda m: m.classes_,
    "statistics_": lambda m: m.statistics_.weight,
    "model_": lambda m: m.model_.weights,
    "with_priors": lambda m: m.with_priors({0: 0.2, 1: 0.3, 2: 0.5}).predict_proba(X),
    "forget": lambda m: m.forget(X[60:], Y[60:]).means_,
    "forget a row that waits": lambda m: m.forget(X[89:], Y[89:]).means_,
    "partial_fit": lambda m: m.partial_fit(X, Y).means_,
    "merge": lambda m: (m + begun()).means_,
    "be merged": lambda m: (begun() + m).means_,
    "sum": lambda m: sum([m, begun()]).means_,
    "pickle": lambda m: pickle.loads(pickle.dumps(m)).means_,
    "copy": lambda m: copy.copy(m).means_,
    "deepcopy": lambda m: copy.deepcopy(m).means_,
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS.keys())
def test_whoever_looks_sees_every_row(look):
    model = learn(begun())
    look(model)  # before any other look
    seen = look(learn(begun()))
    np.testing.assert_allclose(seen, look(learn_at_once(begun())), rtol=1e-8, atol=1e-10)
    assert waiting(model) == 0


def test_what_was_seen_before_is_not_seen_again():
    model, plain = begun(), begun()
    for i in range(30, 90):
        learn(model, [i])
        learn_at_once(plain, [i])
        for _ in range(2):  # the second answer is kept ready for the third
            seen, expected = model.predict_proba(X[:1]), plain.predict_proba(X[:1])
            np.testing.assert_allclose(seen, expected, rtol=1e-9)


def test_a_row_with_a_weight_counts_by_it():
    model = learn(begun(), range(30, 40))
    model.partial_fit(X[40:41], [1], sample_weight=[2.5])
    with pytest.raises(BadWeights, match="zero"):
        model.partial_fit(X[41:42], [1], sample_weight=[0.0])
    assert waiting(model) == 0
    assert model.statistics_.weight == 42.5


@given(st.lists(st.tuples(st.sampled_from("rrrrrrblfnc"), st.integers(0, 80)), max_size=40))
def test_any_mixture_of_calls_is_as_if_nothing_ever_waited(calls):
    lean, plain = begun(), begun()
    learned: list[int] = []
    for call, i in calls:
        if call == "r":
            learn(lean, [i])
            learn_at_once(plain, [i])
            learned.append(i)
        elif call == "b":
            for model in (lean, plain):
                model.partial_fit(X[i : i + 5], Y[i : i + 5])
        elif call == "l":
            assert lean.statistics_.weight == plain.statistics_.weight
        elif call == "f" and learned:
            gone = learned.pop()
            for model in (lean, plain):
                model.forget(X[gone : gone + 1], Y[gone : gone + 1])
        elif call == "n":  # a row with a missing cell
            row = X[i : i + 1].copy()
            row[0, i % 4] = np.nan
            lean.partial_fit(row, [1])
            plain.partial_fit(row, [1], sample_weight=[1.0])
        elif call == "c":
            lean = pickle.loads(pickle.dumps(lean))
    assert_same(lean, plain, 1e-9)


def test_more_rows_than_fit_into_the_buffer_are_learned():
    model, size = begun(), single_rows.MOST_ROWS + single_rows.FIRST_ROWS + 7
    times = np.arange(size) % 90
    learn(model, times)
    assert 0 < waiting(model) < size
    assert_same(model, begun().partial_fit(X[times], Y[times]))


@pytest.mark.slow
def test_few_rows_wait_where_they_are_long():
    width = single_rows.MOST_CELLS // 3
    rows = RNG.normal(size=(12, width))
    y = np.arange(12) % 2
    model = GaussianDiscriminant("diagonal").partial_fit(rows[:2], y[:2])
    most = 0
    for i in range(2, 12):
        model.partial_fit(rows[i : i + 1], y[i : i + 1])
        most = max(most, waiting(model))
    assert most == 3
    assert_same(model, GaussianDiscriminant("diagonal").partial_fit(rows, y))


def test_a_row_that_waits_is_a_copy():
    model, row, label = begun(), X[40:41].copy(), Y[40:41].copy()
    model.partial_fit(row, label)
    assert waiting(model) == 1
    row[:] = np.nan
    label[:] = 77
    assert_same(model, learn_at_once(begun(), [40]))


def test_rows_need_not_be_contiguous():
    turned = np.asfortranarray(X)
    wide = np.repeat(X, 2, axis=1)[:, ::2]
    model = begun()
    for i in range(30, 90):
        model.partial_fit((turned if i % 2 else wide)[i : i + 1], Y[i : i + 1])
    assert waiting(model) == 60
    assert_same(model, learn_at_once(begun()))


# Labels


def of_objects(labels: Any) -> Any:
    return np.array(labels, dtype=object)


LABELS = {
    "int64": Y,
    "int32": Y.astype(np.int32),
    "uint8": Y.astype(np.uint8),
    "bool": Y > 0,
    "float": Y.astype(float),
    "float32": Y.astype(np.float32),
    "text": np.array(["ham", "spam", "eggs"])[Y],
    "text objects": of_objects(["ham", "spam", "eggs"])[Y],
}
WAYS = {
    "a slice": lambda y, i: y[i : i + 1],
    "a list of it": lambda y, i: [y[i]],
    "a tuple of it": lambda y, i: (y[i],),
    "a plain value": lambda y, i: [y.tolist()[i]],
}


@pytest.mark.parametrize("given_as", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize("kind", LABELS)
def test_labels_keep_their_type(kind, given_as):
    y = LABELS[kind]
    lean, plain = GaussianDiscriminant().fit(X[:30], y[:30]), None
    plain = copy.deepcopy(lean)
    for i in range(30, 90):
        lean.partial_fit(X[i : i + 1], given_as(y, i))
        plain.partial_fit(X[i : i + 1], given_as(y, i), sample_weight=[1.0])
    assert waiting(lean) >= 59  # the first may change the type: int32 and a list of int
    assert_same(lean, plain)
    assert lean.predict(X).dtype == plain.predict(X).dtype
    assert lean.learned_.dtype == plain.learned_.dtype


def test_shorter_text_is_the_same_text():
    names = np.array(["ham", "spam", "eggs"])
    model = GaussianDiscriminant().fit(X[:30], names[Y[:30]])
    for i in range(30, 90):
        model.partial_fit(X[i : i + 1], np.array([str(names[Y[i]])]))
    assert waiting(model) == 60
    assert model.classes_.tolist() == ["eggs", "ham", "spam"]
    assert_same(model, GaussianDiscriminant().fit(X, names[Y]))


@pytest.mark.parametrize(
    ("known", "label"),
    [
        (Y, True),
        (Y, np.True_),
        (Y, "1"),
        (Y, 1.0),
        (Y > 0, 1),
        (Y.astype(float), 1),
        (Y.astype(str), 1),
        (of_objects(Y.astype(str)), 1),
        (of_objects(Y), True),
    ],
)
@pytest.mark.parametrize(
    "pack", [lambda v: [v], lambda v: np.array([v]), lambda v: of_objects([v])]
)
def test_a_label_of_another_kind_is_refused_by_the_call_that_brings_it(known, label, pack):
    model = GaussianDiscriminant().fit(X[:30], known[:30])
    plain = copy.deepcopy(model)
    model.partial_fit(X[40:41], known[40:41])
    with pytest.raises(BadLabels, match="labels were"):
        model.partial_fit(X[41:42], pack(label))
    assert_same(model, plain.partial_fit(X[40:41], known[40:41], sample_weight=[1.0]))


def test_a_new_label_is_a_new_class():
    model = learn(begun(), range(30, 60)).partial_fit(X[60:61], [7])
    learn(model, range(61, 90))
    other = learn_at_once(begun(), range(30, 60)).partial_fit(X[60:61], [7], sample_weight=[1.0])
    assert_same(model, learn_at_once(other, range(61, 90)))
    assert model.classes_.tolist() == [0, 1, 2, 7]


def test_tuples_name_classes_too():
    y = np.empty(90, dtype=object)
    y[:] = [("a", i % 2) for i in range(90)]
    model = GaussianDiscriminant().fit(X[:30], y[:30])
    for i in range(30, 90):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert waiting(model) == 0  # among objects, True is 1
    assert model.classes_.tolist() == [("a", 0), ("a", 1)]
    assert model.means_ == pytest.approx(GaussianDiscriminant().fit(X, y).means_)


# Refusals


def row_with(value: float) -> Any:
    row = X[40:41].copy()
    row[0, 2] = value
    return row


def of_list() -> Any:
    label = np.empty(1, dtype=object)
    label[0] = [1, 2]
    return label


BAD = {
    "words": (np.array([["a", "b", "c", "d"]]), [1], NotANumber, "x0|row 0"),
    "complex": (X[40:41] + 1j, [1], NotANumber, "Complex"),
    "an array of two labels": (X[40:41], np.array([1, 1]), BadRows, "inconsistent numbers"),
    "an object that is a list": (X[40:41], of_list(), BadLabels, "label"),
    "inf": (row_with(np.inf), [1], NotFinite, "row 0, x2: inf"),
    "minus inf": (row_with(-np.inf), [1], NotFinite, "row 0, x2: -inf"),
    "too short": (X[40:41, :3], [1], ColumnMismatch, "X has 3 features"),
    "too long": (np.ones((1, 5)), [1], ColumnMismatch, "X has 5 features"),
    "one dimension": (X[40], [1], BadRows, "Expected 2D array"),
    "no row": (X[:0], [1], BadRows, "0 sample"),
    "no label": (X[40:41], None, BadLabels, "y is None"),
    "two labels": (X[40:41], [1, 1], BadRows, "inconsistent numbers of samples"),
    "no labels": (X[40:41], [], BadLabels, "0 labels"),
    "a blank label": (X[40:41], [None], BadLabels, "NaN"),
    "a label that is nan": (X[40:41], [np.nan], BadLabels, "NaN"),
    "half a label": (X[40:41], [0.5], BadLabels, "continuous"),
    "a list as a label": (X[40:41], [[1, 2]], BadLabels, "label"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("before", [0, 5])
def test_a_bad_row_is_refused_by_the_call_that_brings_it(case, before):
    rows, labels, kind, words = BAD[case]
    model = learn(begun(), range(30, 30 + before))
    with pytest.raises(kind, match=words):
        model.partial_fit(rows, labels)
    learn(model, range(50, 60))
    expected = learn_at_once(begun(), [*range(30, 30 + before), *range(50, 60)])
    assert_same(model, expected)


def test_a_list_among_labels_of_text_is_refused():
    model = GaussianDiscriminant().fit(X[:30], of_objects(Y.astype(str))[:30])
    model.partial_fit(X[40:41], ["1"])
    assert waiting(model) == 1
    with pytest.raises(BadLabels, match="label"):
        model.partial_fit(X[40:41], of_list())
    assert model.statistics_.weight == 31.0


def test_a_label_in_a_column_is_told_about():
    model = learn(begun(), range(30, 40))
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model.partial_fit(X[40:41], Y[40:41, np.newaxis])
    assert_same(model, learn_at_once(begun(), range(30, 41)))


def test_a_missing_cell_is_learned_at_once():
    row = row_with(np.nan)
    model = learn(begun(), range(30, 40)).partial_fit(row, [1])
    assert waiting(model) == 0
    plain = learn_at_once(begun(), range(30, 40)).partial_fit(row, [1], sample_weight=[1.0])
    assert_same(model, plain)
    assert model.predict_proba(X) == pytest.approx(plain.predict_proba(X), abs=1e-9)


@pytest.mark.parametrize("value", [1e160, 1e300, np.finfo(float).max])
def test_a_row_too_large_to_be_squared_does_not_wait(value):
    rows = np.repeat(row_with(value), 2, axis=1)
    for row in (row_with(value), rows[:, ::2]):
        model, plain = learn(begun(), range(30, 40)), learn_at_once(begun(), range(30, 40))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            model.partial_fit(row, [1])
            plain.partial_fit(row, [1], sample_weight=[1.0])
        assert waiting(model) == 0
        assert model.statistics_.weight == plain.statistics_.weight == 41.0
        for each in (model, plain):
            with pytest.raises(NotFinite, match="too large to be squared"):
                each.predict(X)


@pytest.mark.parametrize(
    "row", [X[40:41].astype(np.float32), X[40:41].tolist(), np.ma.array(X[40:41])], ids=type
)
def test_what_is_no_plain_row_of_doubles_does_not_wait(row):
    model = begun().partial_fit(row, [1])
    assert waiting(model) == 0
    assert model.statistics_.weight == 31.0


# Settings


def test_a_bad_setting_is_refused_by_the_next_row():
    model = learn(begun(), range(30, 40)).set_params(covariance="nonsense")
    with pytest.raises(BadSetting, match="nonsense"):
        learn(model, [40])
    model.set_params(covariance="shared")
    assert_same(learn(model, [41]), learn_at_once(begun(), [*range(30, 40), 41]))


@pytest.mark.parametrize("other", ["diagonal", "per-class", "nonsense"])
def test_rows_are_learned_under_the_settings_they_came_under(other):
    model = learn(begun(), range(30, 40)).set_params(covariance=other)
    assert model.statistics_.weight == 40.0
    with pytest.raises(BadSetting):
        model.predict(X)
    assert_same(model.set_params(covariance="shared"), learn_at_once(begun(), range(30, 40)))


@pytest.mark.parametrize("rows", [range(30, 40), range(0)], ids=["some wait", "none waits"])
def test_a_form_that_needs_other_statistics_is_refused_by_the_next_row(rows):
    model = learn(begun(), rows).set_params(covariance="diagonal")
    plain = learn_at_once(begun(), rows).set_params(covariance="diagonal")
    with pytest.raises(Exception) as expected:
        learn_at_once(plain, [40])
    with pytest.raises(type(expected.value)) as refused:
        learn(model, [40])
    assert str(refused.value) == str(expected.value)


def test_priors_may_change_between_rows():
    priors = {0: 0.5, 1: 0.25, 2: 0.25}
    model = GaussianDiscriminant(priors=priors).fit(X[:30], Y[:30])
    learn(model, range(30, 50))
    priors[0], priors[1] = 0.25, 0.5  # in place
    learn(model, range(50, 90))
    assert model.priors_.tolist() == pytest.approx([0.25, 0.5, 0.25])
    assert len(model.predict(X[:1])) == 1
    learn(model, [0])
    model.priors = np.array([0.2, 0.3, 0.5])
    learn(model, [1])
    for ask in (lambda: model.predict(X), lambda: model.predict(X[:1])):
        with pytest.raises(BadSetting, match="ndarray"):
            ask()
    model.priors = None
    assert len(model.predict(X[:1])) == 1
    model.priors = np.array([0.2, 0.3, 0.5])
    with pytest.raises(BadSetting, match="ndarray"):
        model.predict(X[:1])
    model.priors = None
    assert_same(model, learn_at_once(begun(), [*range(30, 90), 0, 1]))


# Copies


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "with_priors": lambda model: model.with_priors({0: 0.5, 1: 0.2, 2: 0.3}),
}


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES.keys())
def test_a_copy_and_its_model_go_their_own_ways(make):
    model = learn(begun(), range(30, 40))
    twin = make(model)
    learn(model, range(40, 50))
    learn(twin, range(60, 90))
    learn(model, range(50, 60))
    assert_same(model, learn_at_once(begun(), range(30, 60)))
    assert_same(twin, learn_at_once(begun(), [*range(30, 40), *range(60, 90)]))


def test_a_clone_has_learned_nothing():
    model = learn(begun())
    twin = clone(model)
    assert waiting(model) == 60
    assert waiting(twin) == 0
    with pytest.raises(ValueError, match="not fitted"):
        twin.predict(X)
    check_is_fitted(model)


def test_a_sum_leaves_its_parts_alone():
    left, right = learn(begun(), range(30, 40)), learn(begun(), range(40, 50))
    both = left + right
    learn(left, range(50, 60))
    learn(both, range(60, 70))
    assert both.statistics_.weight == 90.0
    assert_same(left, learn_at_once(begun(), [*range(30, 40), *range(50, 60)]))
    assert_same(right, learn_at_once(begun(), range(40, 50)))


def test_models_of_different_settings_are_refused_with_their_rows_kept():
    model = learn(begun(), range(30, 40))
    with pytest.raises(DifferentKinds, match="covariance"):
        model + begun("diagonal")
    assert_same(model, learn_at_once(begun(), range(30, 40)))


# Fitting again


def test_fit_drops_what_waits():
    model = learn(begun())
    assert_same(model.fit(X[:30], Y[:30]), begun())


def test_a_refused_fit_keeps_what_waits():
    model = learn(begun())
    spread = np.repeat([[1e300, 1.0, 1.0, 1.0], [-1e300, 1.0, 1.0, 1.0]], 3, axis=0)
    for rows, labels in ((spread, [0, 1] * 3), (row_with(np.inf), [1])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            with pytest.raises(NotFinite):
                model.fit(rows, labels)
    model.priors = {0: 1.0}
    with pytest.raises(BadSetting, match="priors are missing for"):
        model.fit(X, Y)  # refused when it is estimated
    model.priors = None
    assert waiting(model) == 60
    assert_same(model, learn_at_once(begun()))


def test_the_first_row_of_all_does_not_wait():
    model = GaussianDiscriminant("diagonal").partial_fit(X[:1], Y[:1])
    assert waiting(model) == 0
    model.forget(X[:1], Y[:1])
    model.partial_fit(X[1:2], Y[1:2])
    assert waiting(model) == 0
    assert model.classes_.tolist() == [1]
    learn(model, [4, 7])
    assert waiting(model) == 2
    assert_same(model, GaussianDiscriminant("diagonal").partial_fit(X[1:8:3], Y[1:8:3]))


def test_an_interruption_loses_no_row(monkeypatch):
    model = learn(begun())

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(model.as_learner()), "read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.predict(X)
        with pytest.raises(KeyboardInterrupt):
            pickle.dumps(model)
    assert_same(model, learn_at_once(begun()))


# Columns


def test_rows_of_a_model_with_names_wait_by_position():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = GaussianDiscriminant().fit(frame[:30], Y[:30])
    learn(model)
    assert waiting(model) == 60
    assert list(model.feature_names_in_) == list("abcd")
    assert isinstance(model.sample(2, random_state=0)[0], pd.DataFrame)
    assert_same(model, GaussianDiscriminant().fit(frame, Y))
    learn(model, [0])
    assert_same(
        model.partial_fit(frame[1:2], Y[1:2]), learn_at_once(begun(), [*range(30, 90), 0, 1])
    )


def test_rows_of_categories_do_not_wait():
    frame = pd.DataFrame({"size": X[:, 0], "colour": np.array(["red", "blue"])[np.arange(90) % 2]})
    model = GaussianDiscriminant().fit(frame[:30], Y[:30])
    with pytest.raises(ValueError, match="colour"):
        model.partial_fit(np.array([[1.0, 2.0]]), [1])
    model.partial_fit(frame[30:31], Y[30:31])
    assert waiting(model) == 0


def test_a_state_full_of_patterns_lets_no_row_wait(monkeypatch):
    monkeypatch.setattr("suffice.statistics.by_pattern.MOST_PATTERNS", 2)
    monkeypatch.setattr("suffice.learning.learners.gaussian.MOST_PATTERNS", 2)
    rows = X[:30].copy()
    rows[::2, 0] = rows[1::2, 1] = np.nan
    model = GaussianDiscriminant().fit(rows, Y[:30])
    with pytest.raises(ValueError, match="patterns"):
        model.partial_fit(X[30:31], Y[30:31])
    assert waiting(model) == 0
    assert model.statistics_.weight == 30.0
