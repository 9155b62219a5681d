"""Bad input to naive Bayes: refusals with value, place and hint; defined answers to odd rows."""

from __future__ import annotations

import io
import tracemalloc
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from scipy import sparse
from sklearn.base import clone

from suffice import BernoulliNaiveBayes, ComplementNaiveBayes, MultinomialNaiveBayes, NaiveBayes
from suffice.errors import (
    BadLabels,
    BadRows,
    BadSetting,
    BadWeights,
    ColumnMismatch,
    DegenerateData,
    DifferentKinds,
    ForgettingUnseen,
    NotANumber,
    NotFinite,
    OneClass,
    OutsideSupport,
    SufficeError,
)
from suffice.families import Bernoulli, Binned, Complement, Gaussian, GaussianColumns, Multinomial
from suffice.rows.category_codes import MOST_LEVELS

# Counts, which every family can read.
X = np.array([[1.0, 1, 2], [2, 1, 1], [2, 2, 1], [3, 1, 1], [1, 4, 1], [2, 3, 5]])
y = np.array([0, 0, 0, 1, 1, 1])
NAMES = ["red", "blue", "size"]
FRAME = pd.DataFrame(X, columns=NAMES)
FAMILIES = ["gaussian", "shared-gaussian", "predictive-gaussian", "lognormal", "poisson",
            "categorical", "binned", "multinomial"]  # fmt: skip
MODELS = {
    **{family: NaiveBayes(family) for family in FAMILIES},
    "threshold": NaiveBayes(Bernoulli(1.0)),
    "mixed": NaiveBayes({"red": "poisson", "blue": "categorical", "size": "gaussian"}),
    "auto": NaiveBayes(),
    "Bernoulli": BernoulliNaiveBayes(),
    "Multinomial": MultinomialNaiveBayes(),
    "Complement": ComplementNaiveBayes(),
}
COUNTS = {"Multinomial": MultinomialNaiveBayes, "Complement": ComplementNaiveBayes}
WORDS = {"Bernoulli": BernoulliNaiveBayes, **COUNTS}
ASKING = ["predict", "predict_proba", "predict_log_proba", "decision_function", "log_joint",
          "log_density", "typicality", "explain", "estimate_priors"]  # fmt: skip


def model_of(name):
    return clone(MODELS[name])


def spoiled(value, row=2, column=1, rows=X):
    changed = rows.copy() if isinstance(value, float) else rows.astype(object)
    changed[row, column] = value
    return changed


def refused(kind, words, call, *arguments, **more):
    """Check that a call is refused in words, with a hint; return the refusal."""
    with pytest.raises(kind, match=words) as caught:
        call(*arguments, **more)
    error = caught.value
    assert isinstance(error, SufficeError)
    assert error.hint
    assert str(error) == f"{error.problem}\nHint: {error.hint}"
    return error


def answers(model):
    """Return what a model knows and says, to be compared with later."""
    return model.statistics_.weight, model.predict_log_proba(X).tolist(), list(model.classes_)


def quietly(model, rows, labels, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateData)
        return model.fit(rows, labels, **more)


# Cells that cannot belong to their family

CELLS = [
    ("multinomial", -1.0, BadRows, r"row 2, .*: -1 is negative"),
    ("multinomial", np.nan, BadRows, r"row 2, .*: the count is missing"),
    ("multinomial", np.inf, NotFinite, r"row 2, .*: inf is not a finite number"),
    ("multinomial", "two", BadRows, r"row 2, .*: 'two' is not a number, but .* is multinomial"),
    ("poisson", -1.0, BadRows, r"row 2, .*: -1 is negative"),
    ("poisson", 0.5, BadRows, r"row 2, .*: 0\.5 is not a whole number"),
    ("poisson", np.inf, NotFinite, r"row 2, .*: inf"),
    ("poisson", "two", BadRows, r"row 2, .*: 'two' is not a number, but .* is poisson"),
    ("categorical", 0.5, BadRows, r"row 2, .*: 0\.5 is not a whole number"),
    ("categorical", -np.inf, NotFinite, r"row 2, .*: -inf"),
    ("gaussian", np.inf, NotFinite, r"row 2, .*: inf is not a finite number"),
    ("gaussian", "two", BadRows, r"row 2, .*: 'two' is not a number, but .* is gaussian"),
    ("shared-gaussian", -np.inf, NotFinite, r"row 2, .*: -inf"),
    ("shared-gaussian", "two", BadRows, r"row 2, .*: 'two' is not a number"),
    ("predictive-gaussian", -np.inf, NotFinite, r"row 2, .*: -inf"),
    ("predictive-gaussian", "two", BadRows, r"row 2, .*: 'two' is not a number"),
    ("lognormal", np.inf, NotFinite, r"row 2, .*: inf"),
    ("lognormal", "two", BadRows, r"row 2, .*: 'two' is not a number, but .* is lognormal"),
    ("binned", np.inf, NotFinite, r"row 2, .*: inf"),
    ("binned", "two", BadRows, r"row 2, .*: 'two' is not a number, but .* is binned"),
    ("threshold", np.inf, NotFinite, r"row 2, .*: inf"),
    ("threshold", "two", BadRows, r"row 2, .*: 'two' is not a number, but .* is bernoulli"),
    ("Bernoulli", -np.inf, NotFinite, r"row 2, .*: -inf"),
    ("Multinomial", -1.0, BadRows, r"row 2, .*: -1 is negative"),
    ("Multinomial", np.nan, BadRows, r"row 2, .*: the count is missing"),
    ("Complement", -0.5, BadRows, r"row 2, .*: -0\.5 is negative"),
    ("Complement", np.inf, NotFinite, r"row 2, .*: inf"),
    ("Complement", "two", BadRows, r"row 2, .*: 'two' is not a number"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "kind", "words"), CELLS)
def test_a_cell_that_cannot_belong_to_its_family_is_refused_by_place_and_value(
    name, value, kind, words
):
    bad = spoiled(value)
    fresh = model_of(name)
    refused(kind, words, fresh.fit, bad, y)
    refused(kind, words, fresh.partial_fit, bad, y)
    assert not hasattr(fresh, "classes_")
    assert not hasattr(fresh, "n_features_in_")
    model = quietly(model_of(name), FRAME, y)
    before = answers(model)
    named = pd.DataFrame(bad, columns=NAMES).infer_objects()
    for learn in (model.fit, model.partial_fit, model.forget):
        error = refused(SufficeError, r"row 2, blue: ", learn, named, y)
        assert str(value).removesuffix(".0") in error.problem or "missing" in error.problem
        assert answers(model) == before
    for question in ASKING:
        if name == "Complement" and question.startswith(("log_", "typ", "est")):
            continue
        error = refused(SufficeError, r"row 2, blue: ", getattr(model, question), named)
        assert str(value).removesuffix(".0") in error.problem or "missing" in error.problem


def test_an_infinite_count_is_not_advised_to_be_left_empty():
    for model in (MultinomialNaiveBayes(), ComplementNaiveBayes()):
        for rows in (spoiled(np.inf), sparse.csr_array(spoiled(np.inf))):
            error = refused(NotFinite, "row 2, .*: inf", model.fit, rows, y)
            assert "marginalised" not in error.hint  # a missing count is refused as well


@pytest.mark.parametrize("value", [0.0, -3.0])
def test_log_normal_columns_are_learned_from_positive_cells_alone(value):
    refused(BadRows, rf"row 2, .*: {value:g} is not positive", NaiveBayes("lognormal").fit,
            spoiled(value), y)  # fmt: skip
    model = NaiveBayes("lognormal").fit(X, y)
    refused(BadRows, "is not positive", model.partial_fit, spoiled(value), y)


def test_the_row_that_is_named_is_the_callers_row():
    weights = np.array([0, 0, 1, 1, 1, 1])
    model = NaiveBayes("poisson")
    refused(BadRows, r"row 4, .*: 0\.5", model.fit, spoiled(0.5, row=4), y, sample_weight=weights)
    weightless = model.fit(spoiled(0.5, row=1), y, sample_weight=weights)
    assert weightless.statistics_.weight == 4.0
    refused(BadRows, r"row 4, .*: 0\.5", model.leave_one_out, spoiled(0.5, row=4), y,
            sample_weight=weights)  # fmt: skip
    thin = MultinomialNaiveBayes().fit(sparse.csr_array(X), y, sample_weight=weights)
    refused(NotFinite, r"row 4, .*: inf", thin.leave_one_out,
            sparse.csr_array(spoiled(np.inf, row=4)), y, sample_weight=weights)  # fmt: skip


def test_a_threshold_is_a_number():
    for value in (np.nan, np.inf, "0", True, [0.0]):
        refused(BadSetting, r"threshold=", BernoulliNaiveBayes(value).fit, X, y)
    refused(BadRows, r"row 0, column 2: 2 is neither 1 nor 0", NaiveBayes("bernoulli").fit, X, y)


# Sparse rows

SPARSE = [
    (-1.0, BadRows, r"row 2, column 1: -1 is negative"),
    (np.nan, NotFinite, r"row 2, column 1: .*NaN"),
    (np.inf, NotFinite, r"row 2, column 1: inf"),
    (-np.inf, NotFinite, r"row 2, column 1: -inf"),
]


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize(("value", "kind", "words"), SPARSE)
@pytest.mark.parametrize("fitted_on", ["dense", "sparse"])
def test_sparse_cells_that_count_nothing_are_refused(name, value, kind, words, fitted_on):
    if name == "Bernoulli" and value == -1.0:
        return  # below the threshold, like any other number
    bad = sparse.csr_array(spoiled(value))
    refused(kind, words, WORDS[name]().fit, bad, y)
    model = WORDS[name]().fit(X if fitted_on == "dense" else sparse.csr_array(X), y)
    before = answers(model)
    for learn in (model.partial_fit, model.forget, model.leave_one_out):
        refused(kind, words, learn, bad, y)
        assert answers(model) == before
    for question in ASKING:
        if name == "Complement" and question.startswith(("log_", "typ", "est")):
            continue
        refused(kind, words, getattr(model, question), bad)
    refused(kind, words, model.to_logistic().predict_proba, bad)


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array])
def test_counts_below_zero_are_refused_also_where_a_word_counts_once(name, hold):
    bad, words = hold(spoiled(-1.0)), r"row 2, column 1: -1 is negative"
    refused(BadRows, words, COUNTS[name](boolean=True).fit, bad, y)
    refused(BadRows, words, COUNTS[name](boolean=True).fit(hold(X), y).predict, bad)


@pytest.mark.parametrize("value", [-1.0, 0.0, 0.3])
def test_dense_and_sparse_cells_count_alike_by_the_threshold(value):
    rows = spoiled(value)
    dense, thin = (
        BernoulliNaiveBayes(0.5).fit(hold(rows), y) for hold in (np.asarray, sparse.csr_array)
    )
    np.testing.assert_allclose(
        dense.predict_log_proba(rows), thin.predict_log_proba(sparse.csr_array(rows)), rtol=1e-12
    )


def test_sparse_rows_need_a_threshold_that_zero_is_not_above():
    words = r"threshold=-1 would make every cell that is not stored a 1"
    refused(BadSetting, words, BernoulliNaiveBayes(-1.0).fit, sparse.csr_array(X), y)
    model = BernoulliNaiveBayes(-1.0).fit(X, y)
    refused(BadSetting, words, model.predict, sparse.csr_array(X))
    refused(BadSetting, words, model.partial_fit, sparse.csr_array(X), y)


@pytest.mark.parametrize("name", WORDS)
def test_sparse_rows_of_another_shape_are_refused(name):
    model = WORDS[name]().fit(sparse.csr_array(X), y)
    words = rf"X has 2 features, but {name}NaiveBayes is expecting 3"
    for rows in (X[:, :2], sparse.csr_array(X[:, :2])):
        refused(ColumnMismatch, words, model.predict, rows)
        refused(ColumnMismatch, words, model.partial_fit, rows, y)
        refused(ColumnMismatch, words, model.forget, rows, y)
    refused(BadRows, "Expected 2D", model.predict, sparse.coo_array(X[0]))
    refused(BadRows, "0 sample", model.predict, sparse.csr_array((0, 3)))
    refused(NotANumber, "Complex", model.fit, sparse.csr_array(X + 1j), y)
    refused(NotANumber, "sparse", NaiveBayes().fit, sparse.csr_array(X), y)
    for form in ("csc", "coo", "lil", "dok"):
        found = model.predict_proba(sparse.csr_array(X).asformat(form))
        np.testing.assert_allclose(found, model.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("hold", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_of_every_format_may_have_no_weight(form, hold):
    weights = [1, 0, 2, 1, 0, 1]
    rows = hold(X).asformat(form)
    for kind in WORDS.values():
        found = kind().fit(rows, y, sample_weight=weights).predict_proba(rows)
        plain = kind().fit(X, y, sample_weight=weights).predict_proba(X)
        np.testing.assert_allclose(found, plain, rtol=1e-12)


# Rows that are odd, and have an answer


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("smoothing", [0, 1.0, "held-out"])
def test_an_empty_document_has_an_answer(name, smoothing):
    model = WORDS[name](smoothing=smoothing).fit(X, y, sample_weight=[1, 1, 2, 1, 1, 2])
    for rows in (np.zeros((2, 3)), sparse.csr_array((2, 3))):
        proba = model.predict_proba(rows)
        assert np.isfinite(proba).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        if name != "Bernoulli":
            np.testing.assert_allclose(proba, 0.5)
    # Documents that are all empty say nothing but how many there are.
    for empty in (np.zeros((4, 3)), sparse.csr_array((4, 3))):
        fitted = WORDS[name](smoothing=smoothing).fit(empty, ["a", "b", "b", "b"])
        found = fitted.predict_proba(np.zeros((1, 3)))
        if name == "Bernoulli":  # three empty documents are emptier than one
            assert found[0, 1] >= 0.75 - 1e-12
        else:
            np.testing.assert_allclose(
                found, [[0.5, 0.5] if name == "Complement" else [0.25, 0.75]]
            )


@pytest.mark.parametrize("name", MODELS)
def test_batches_without_rows_are_refused(name):
    fresh, model = model_of(name), quietly(model_of(name), FRAME, y)
    before = answers(model)
    refused(BadRows, "0 sample", fresh.partial_fit, X[:0], [])
    assert not hasattr(fresh, "classes_")
    for rows in (X[:0], FRAME[:0], []):
        for learn in (model.fit, model.partial_fit, model.forget):
            refused(BadRows, r"0 sample|Expected 2D", learn, rows, [])
    refused(BadRows, "0 sample", model.predict, X[:0])
    assert answers(model) == before


@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "multinomial"] + ["bernoulli"])
def test_a_column_without_any_cell_says_nothing(family):
    blank = np.column_stack([np.full(6, np.nan), X[:, 2]])
    with pytest.warns(DegenerateData, match=r"columns without any cell: x0"):
        model = NaiveBayes({0: family, 1: "gaussian"}).fit(blank, y)
    alone = NaiveBayes("gaussian").fit(X[:, [2]], y)
    for cell in (np.nan, 1.0):
        rows = np.column_stack([np.full(6, cell), X[:, 2]])
        np.testing.assert_allclose(
            model.predict_log_proba(rows),
            alone.predict_log_proba(X[:, [2]]),
            rtol=1e-10,
            atol=1e-14,
        )
        assert np.isfinite(model.log_density(rows)).all()
        np.testing.assert_allclose(model.explain(rows).contributions[:, 0], 0.0, atol=1e-12)
    drawn, _ = model.sample(5, random_state=0)
    assert pd.isna(drawn[:, 0]).all()  # nobody knows what would be there
    assert np.isfinite(model.leave_one_out(blank, y).log_posterior).all()


@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "multinomial"] + ["bernoulli"])
def test_a_column_of_one_level_leaves_the_odds_to_the_others(family):
    rows = np.column_stack([np.ones(6), X[:, 2]])
    model = quietly(NaiveBayes({0: family, 1: "gaussian"}), rows, y)
    alone = NaiveBayes("gaussian").fit(X[:, [2]], y)
    np.testing.assert_allclose(
        model.predict_log_proba(rows), alone.predict_log_proba(X[:, [2]]), rtol=1e-10, atol=1e-14
    )
    assert np.isfinite(
        model.predict_log_proba([[7.0 if family != "bernoulli" else 0.0, 1.0]])
    ).all()
    assert np.isfinite(model.sample(3, random_state=0)[0]).all()


@pytest.mark.parametrize(
    "blank", [None, np.nan, pd.NA, pd.NaT, "", float("nan"), np.float32("nan"), Decimal("nan")]
)
def test_a_category_that_is_no_value_is_missing(blank):
    column = ["red", blank, "blue", "red", blank, "red"]
    frame = pd.DataFrame({"colour": pd.Series(column, dtype=object), "n": X[:, 2]})
    families = {"colour": "categorical", "n": "gaussian"}
    model = NaiveBayes(families).fit(frame, y)
    assert list(model.parameters_["colour"][0]) == ["blue", "red"]
    assert model.parameters_["colour"][0] == pytest.approx({"blue": 1 / 2, "red": 1 / 2})
    there = NaiveBayes({0: "gaussian"}).fit(X[:, [2]], y)
    np.testing.assert_allclose(
        model.predict_log_proba(frame)[[1, 4]], there.predict_log_proba(X[[1, 4]][:, [2]])
    )


def test_a_column_of_several_types_is_categorical():
    frame = pd.DataFrame({"it": [1, "x", 2.0, "x", None, True]})
    model = NaiveBayes().fit(frame, y)
    assert model.families_ == {"it": "categorical"}
    assert set(model.parameters_["it"][0]) == {1, 2, "x"}  # True is 1, as everywhere in Python
    broken = pd.DataFrame({"it": [1, "x", 2.5, "x", None, True]})
    refused(BadRows, r"row 2, it: 2\.5 is not a whole number", NaiveBayes().fit, broken, y)
    assert model.predict(frame).shape == (6,)
    for family in ("gaussian", "poisson", "bernoulli", "binned"):
        refused(BadRows, r"row 1, it: 'x' is not a number", NaiveBayes(family).fit, frame, y)


def test_more_levels_than_a_column_can_have_are_refused_before_memory_ends(monkeypatch):
    # A tenth of what may be, and of the memory: what a level costs does not depend on how many.
    assert MOST_LEVELS == 1_000_000
    monkeypatch.setattr("suffice.rows.category_codes.MOST_LEVELS", 100_000)
    size = 107_000
    labels = np.arange(size) % 2
    numbers = np.arange(size, dtype=float)[:, np.newaxis]
    words = r"x?column 0 has more than 100,000 different levels"
    error = refused(BadRows, words, NaiveBayes("categorical").fit, numbers, labels)
    assert "drop it" in error.hint
    names = pa.table({"id": pa.array(np.arange(size)).cast(pa.string())})
    tracemalloc.start()
    refused(BadRows, r"id has more than 100,000 different levels", NaiveBayes().fit, names, labels)
    assert tracemalloc.get_traced_memory()[1] < 60e6
    tracemalloc.stop()


def test_levels_that_grow_batch_by_batch_are_bounded_too(monkeypatch):
    import suffice.rows.category_codes
    import suffice.statistics.tallies

    for module in (suffice.rows.category_codes, suffice.statistics.tallies):
        monkeypatch.setattr(module, "MOST_LEVELS", 100)
    model = NaiveBayes("categorical")
    for start in range(0, 100, 50):
        rows = np.arange(start, start + 50)[:, np.newaxis]
        model.partial_fit(rows, np.arange(50) % 2)
    before = model.statistics_.weight
    more = np.arange(100, 150)[:, np.newaxis]
    refused(BadRows, "more than 100 different levels", model.partial_fit, more, np.arange(50) % 2)
    assert model.statistics_.weight == before
    other = NaiveBayes("categorical").fit(more, np.arange(50) % 2)
    refused(BadRows, "more than 100 different levels", lambda: model + other)


# Numbers at the end of their range


@pytest.mark.parametrize("name", COUNTS)
def test_counts_that_add_up_to_more_than_a_number_holds_are_refused(name):
    big = X * 3e307  # each column adds up to more than 1.8e308
    for rows in (big, sparse.csr_array(big)):
        refused(NotFinite, r"column 0: .*(add up|too large)", COUNTS[name]().fit, rows, y)
    heavy = np.full(6, 1e308)
    refused(BadWeights, r"1e\+308, add up to more", COUNTS[name]().fit, X, y, sample_weight=heavy)
    single = COUNTS[name]().fit((X * 3e37).astype(np.float32), y)  # sums beyond single precision
    double = COUNTS[name]().fit((X * 3e37).astype(np.float32).astype(float), y)
    np.testing.assert_array_equal(single.predict_log_proba(X), double.predict_log_proba(X))
    whole = COUNTS[name]().fit(np.full((6, 3), 100, dtype=np.int8), y)
    np.testing.assert_allclose(whole.predict_proba(X), 0.5)


@pytest.mark.parametrize("family", ["gaussian", "shared-gaussian"])
def test_numbers_too_far_apart_to_be_squared_are_refused_by_column(family):
    model = NaiveBayes(family).fit(FRAME, y)
    before = answers(model)
    far = FRAME.assign(blue=np.where(np.arange(6) == 2, 1e200, 1.0))
    refused(NotFinite, r"spread of blue is too large", NaiveBayes(family).fit, far, y)
    refused(NotFinite, r"spread of blue is too large", model.partial_fit, far, y)
    assert answers(model) == before


@pytest.mark.parametrize("name", [n for n in MODELS if n not in ("Complement", "categorical")])
@pytest.mark.parametrize("far", [1e100, 1e155, 1e300, 1.7e308])
def test_far_rows_have_answers_without_nan_or_are_refused(name, far):
    model = quietly(model_of(name), FRAME, y)
    rows = np.array([[far, 1.0, 1.0], [far, far, far]])
    if far > 1e300 and (name in ("poisson", "mixed") or "ultinomial" in name):
        for question in ASKING:
            refused(NotFinite, r"row 0, .*e\+\d+ is too large to be counted",
                    getattr(model, question), rows)  # fmt: skip
        return
    assert np.isfinite(model.predict_proba(rows)).all()
    assert not np.isnan(model.log_joint(rows)).any()
    assert not np.isnan(model.log_density(rows)).any()
    assert not any(np.isnan(p) for p in model.estimate_priors(rows).priors.values())
    if "ultinomial" not in name:  # nobody draws documents of so many words
        assert not np.isnan(model.typicality(rows)).any()


# Columns


@pytest.mark.parametrize("name", MODELS)
def test_columns_that_the_model_does_not_know_are_refused(name):
    model = quietly(model_of(name), FRAME, y)
    before = answers(model)
    kind = type(model).__name__
    calls = [getattr(model, q) for q in ("predict", "predict_proba", "explain")]
    for ask in [*calls, *(lambda r, f=f: f(r, y) for f in (model.partial_fit, model.forget))]:
        refused(ColumnMismatch, rf"X has 2 features, but {kind} is expecting 3", ask, X[:, :2])
        refused(ColumnMismatch, r"did you mean 'blue'", ask, FRAME.rename(columns={"blue": "bleu"}))
        refused(ColumnMismatch, r"now missing:\n- size", ask, FRAME[["red", "blue"]])
        refused(ColumnMismatch, r"unseen at fit time:\n- extra", ask, FRAME.assign(extra=1.0))
        refused(BadRows, "Expected 2D", ask, X[0])
        refused(NotANumber, "Complex", ask, X + 1j)
    assert answers(model) == before
    np.testing.assert_array_equal(model.predict_proba(FRAME[NAMES[::-1]]), model.predict_proba(X))


BAD_FAMILIES = [
    ("gauss", r"families='gauss' is not known"),
    ("complement", r"families='complement'"),
    (None, r"None is not a family for all columns"),
    (["gaussian"] * 3, r"\['gaussian'.* is not a family for all columns"),
    (5, r"5 is not a family"),
    (Gaussian("shared"), r"Gaussian\(covariance='shared'.* is not a family"),
    (Complement(), r"Complement\(.*is not a family"),
    (GaussianColumns, r"class.*is not a family"),
    ({"blue": "gauss"}, r"'gauss' is not a family for column 'blue'"),
    ({"blue": "auto"}, r"'auto' is not a family for column 'blue'"),
    ({"blue": None}, r"None is not a family for column 'blue'"),
    ({"green": "gaussian"}, r"families names 'green', which is not a column"),
    ({7: "gaussian"}, r"families names 7, which is not a column"),
    ({-1: "gaussian"}, r"families names -1, which is not a column"),
    ({True: "gaussian"}, r"families names True, which is not a column"),
    ({"blue": "gaussian", 1: "poisson"}, r"families names 'blue' twice"),
    ({("red", "blue"): "multinomial", "red": "poisson"}, r"families names 'red' twice"),
    ({("red", "red"): "multinomial"}, r"families names 'red' twice"),
]


@pytest.mark.parametrize(("families", "words"), BAD_FAMILIES)
def test_families_that_there_are_not_are_refused(families, words):
    fresh = NaiveBayes(families)
    error = refused(BadSetting, words, fresh.fit, FRAME, y)
    assert error.hint.startswith(("choose one of", "the columns are red, blue, size", "give each"))
    refused(BadSetting, words, fresh.partial_fit, FRAME, y)
    assert not hasattr(fresh, "classes_")


def test_families_with_settings_that_make_no_sense_are_refused():
    for bins in (0, -1, 2.5, "many", True):
        refused(BadSetting, "bins=", Binned, bins)
    for edges in ((1,), (1, 1), (2, 1), (0, np.inf), (0, np.nan), 5, "ab", ("a", "b"), ()):
        refused(BadSetting, "edges=", lambda edges=edges: Binned(edges=edges))
    refused(BadSetting, "variance='own'", GaussianColumns, "own")
    refused(BadSetting, "threshold='x'", Bernoulli, "x")
    refused(BadSetting, "boolean='yes'", Multinomial, "yes")


# Settings

NUMBERS = [-1, -1e-300, np.nan, np.inf, 1e300, "some", "held_out", None, True, [1.0], np.ones(1)]


@pytest.mark.parametrize("name", ["mixed", "Bernoulli", "Multinomial", "Complement"])
def test_settings_without_a_meaning_are_refused_at_fit_and_not_before(name):
    bad = [{"smoothing": value} for value in NUMBERS]
    if name != "Complement":
        bad += [{"temperature": value} for value in (0, -1, np.nan, np.inf, "some", True, [1.0])]
    if name in COUNTS:
        bad += [{"boolean": value} for value in ("yes", 2, None)]
    fitted = model_of(name).fit(FRAME, y)
    for settings in bad:
        ((setting, value),) = settings.items()
        model = model_of(name).set_params(**settings)
        words = rf"{setting}="
        refused(BadSetting, words, model.fit, FRAME, y)
        refused(BadSetting, words, model.partial_fit, FRAME, y)
        assert not hasattr(model, "classes_")
        if value is not True and not isinstance(value, np.ndarray):  # these equal what was there
            changed = clone(fitted).fit(FRAME, y).set_params(**settings)
            refused(BadSetting, words, changed.predict, FRAME)


BAD_PRIORS = [
    ([0.5, 0.5], r"priors are given as a list"),
    (np.array([0.5, 0.5]), r"priors are given as a ndarray"),
    ("uniform", r"priors are given as a str"),
    ({0: 0.5}, r"priors are missing for 1"),
    ({0: 0.5, 1: 0.6}, r"add up to 1\.1"),
    ({0: -0.5, 1: 1.5}, r"the prior of 0 is -0\.5: a probability that is negative"),
    ({0: 2, 1: -1}, r"the prior of 1 is -1: a probability that is negative"),
    ({0: np.nan, 1: 1.0}, r"the prior of 0 is nan: a probability that is not a number"),
    ({0: "much", 1: 0.5}, r"the prior of 0 is 'much'"),
    ({0: 0.5, 1: 0.5, 2: 0.0}, r"priors name 2, which is not a class"),
    ({"0": 0.5, "1": 0.5}, r"priors"),
]


@pytest.mark.parametrize(("priors", "words"), BAD_PRIORS)
@pytest.mark.parametrize("name", ["mixed", "Bernoulli", "Multinomial"])
def test_priors_that_are_none_are_refused(name, priors, words):
    model = model_of(name).set_params(priors=priors)
    refused(BadSetting, words, model.fit, FRAME, y)
    assert not hasattr(model, "classes_")
    fitted = model_of(name).fit(FRAME, y)
    before = answers(fitted)
    refused(BadSetting, words, fitted.with_priors, priors)
    assert answers(fitted) == before


# Labels and weights


BAD_LABELS = [
    (None, r"y to be passed"),
    (np.linspace(0, 1, 6), r"continuous. Row 1 has the label 0\.2"),
    ([np.nan] * 6, r"none of 6 rows has a label"),
    ([None] * 6, r"none of 6 rows has a label"),
    ([0, 1, "one", 0, 1, 1], r"mixed types: row 0 is the number 0, row 2 is the string 'one'"),
    (np.column_stack([y, y]), r"shape \(6, 2\)"),
    (y + 1j, r"[Cc]omplex"),
    (y[:5], r"\[6, 5\]"),
]


@pytest.mark.parametrize(("labels", "words"), BAD_LABELS)
@pytest.mark.parametrize("name", ["mixed", "Bernoulli", "Multinomial", "Complement"])
def test_labels_that_name_no_classes_are_refused(name, labels, words):
    model = model_of(name)
    kind = BadRows if "6, 5" in words else BadLabels
    refused(kind, words, model.fit, FRAME, labels)
    refused(kind, words, model.partial_fit, FRAME, labels)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    "labels",
    [
        y, y.astype(np.int8), y.astype(np.uint16), y.astype(float), y.astype(bool), y.astype(str),
        y.astype(str).astype(object), [f"klass {c} ü" for c in y], pd.Series(y, index=range(6, 12)),
        pd.Categorical(y.astype(str)), pl.Series(y.astype(str)), pa.array(y.astype(str)), y - 7,
        pd.array(y, dtype="Int64"), pd.array(y.astype(str), dtype="string"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["mixed", "Bernoulli", "Multinomial", "Complement"])
def test_labels_of_every_type_come_back_as_they_were(name, labels):
    model = model_of(name).fit(FRAME, labels)
    plain = np.asarray(labels)
    assert model.classes_.tolist() == np.unique(plain).tolist()
    assert set(model.predict(FRAME).tolist()) <= set(plain.tolist())
    np.testing.assert_array_equal(
        model.predict_proba(FRAME), model_of(name).fit(FRAME, y).predict_proba(FRAME)
    )


@pytest.mark.parametrize("name", ["mixed", "Bernoulli", "Multinomial", "Complement"])
def test_labels_of_another_type_are_refused_later(name):
    model = model_of(name).fit(FRAME, y)
    before = answers(model)
    for other in (y.astype(str), y.astype(bool), y.astype(float)):
        for learn in (model.partial_fit, model.forget, model.leave_one_out):
            refused(BadLabels, r"labels were integers before and are", learn, FRAME, other)
    assert answers(model) == before


@pytest.mark.parametrize("name", ["mixed", "Bernoulli", "Multinomial", "Complement"])
def test_weights_that_count_no_rows_are_refused(name):
    model = model_of(name)
    for weights, words in [
        (np.where(np.arange(6) == 4, -1.0, 1.0), r"row 4: a weight of -1"),
        (np.where(np.arange(6) == 4, np.nan, 1.0), r"row 4: a weight of nan"),
        (np.zeros(6), r"all 6 sample weights are zero"),
        (np.ones(5), r"\(5,\), expected \(6,\)"),
        (["a"] * 6, r"weights cannot be read"),
    ]:
        refused(BadWeights, words, model.fit, FRAME, y, sample_weight=weights)
    assert not hasattr(model, "classes_")


def test_one_class_is_told_of():
    with pytest.warns(OneClass, match="only one class, 'a'"):
        model = MultinomialNaiveBayes().fit(X, ["a"] * 6)
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((6, 1)))
    refused(BadSetting, "with one class there are no odds", model.explain, X)


# Forgetting, merging, leaving out


@pytest.mark.parametrize("name", MODELS)
def test_what_was_never_learned_is_not_forgotten(name):
    model = quietly(model_of(name), FRAME, y)
    before = answers(model)
    refused(ForgettingUnseen, r"class 7", model.forget, FRAME[:1], [7])
    twice = pd.concat([FRAME, FRAME])
    refused(ForgettingUnseen, r"weight", model.forget, twice, np.append(y, y))
    if name != "Bernoulli":  # which finds the same in all these rows
        refused(ForgettingUnseen, r"class [01]|weight", model.forget, FRAME, 1 - y)
    assert answers(model) == before
    refused(SufficeError, "not fitted yet", model_of(name).forget, FRAME, y)


def test_what_is_not_forgotten_is_named_by_its_column():
    frame = pd.DataFrame(
        {"size": [1.5, 2.5, 3.5, 4.5], "colour": ["a", "b", "a", "b"], "calls": [20, 30, 25, 11],
         "paid": [True, False, True, True]}
    )  # fmt: skip
    families = {"size": "gaussian", "colour": "categorical", "calls": "poisson"}
    model = NaiveBayes(families).fit(frame, [0, 0, 1, 1])
    one = frame[:1]
    for wrong, words in [
        (one.assign(colour="z"), r"level 'z' of colour"),
        (one.assign(calls=99), r"of calls"),
        (one.assign(size=1e6), r"leave size"),
    ]:
        refused(ForgettingUnseen, words, model.forget, wrong, [0])


def test_models_that_do_not_fit_together_are_not_merged():
    model = model_of("mixed").fit(FRAME, y)
    families = model.families
    for other, words in [
        (NaiveBayes({**families, "red": "gaussian"}).fit(FRAME, y), r"families="),
        (NaiveBayes(families, smoothing=2.0).fit(FRAME, y), r"smoothing=1\.0 and 2\.0"),
        (NaiveBayes(families, temperature=0.5).fit(FRAME, y), r"temperature=None and 0\.5"),
        (NaiveBayes(families, priors={0: 0.5, 1: 0.5}).fit(FRAME, y), r"priors=None and "),
        (NaiveBayes(families).fit(FRAME.assign(more=1), y), r"columns are not the same"),
        (NaiveBayes(families).fit(FRAME[NAMES[::-1]], y), r"columns are not the same"),
    ]:
        refused(DifferentKinds, words, lambda other=other: model + other)
    text = NaiveBayes(families).fit(FRAME, y.astype(str))
    refused(BadLabels, r"integers before and are text", lambda: model + text)
    refused(SufficeError, "not fitted yet", lambda: model + NaiveBayes(families))
    for other in (3, "model", MultinomialNaiveBayes().fit(FRAME, y)):
        with pytest.raises((TypeError, DifferentKinds)):
            model + other


def test_families_and_edges_that_were_chosen_differently_are_not_merged():
    reds = (FRAME["red"].astype(int), X[:, 0] - 1.5)
    halves = [NaiveBayes().fit(FRAME.assign(red=red), y) for red in reds]
    error = refused(DifferentKinds, r"red is Categorical\(\) in one and Gauss", lambda: sum(halves))
    assert "name the families" in error.hint
    edges = [NaiveBayes("binned").fit(rows, y) for rows in (FRAME, FRAME + 1)]
    refused(DifferentKinds, r"red is Binned.* in one and Binned.* in the other", lambda: sum(edges))
    counts = [kind.fit(X, y) for kind in (BernoulliNaiveBayes(0.0), BernoulliNaiveBayes(1.0))]
    refused(DifferentKinds, r"threshold=0\.0 and 1\.0", lambda: counts[0] + counts[1])
    once = [MultinomialNaiveBayes(boolean=b).fit(X, y) for b in (False, True)]
    refused(DifferentKinds, r"boolean=False and True", lambda: once[0] + once[1])


@pytest.mark.parametrize("name", ["mixed", "Bernoulli", "Multinomial", "Complement"])
def test_leaving_one_out_needs_the_rows_of_the_fit(name):
    model = model_of(name).fit(FRAME, y)
    refused(BadLabels, r"2 is not a class of this model", model.leave_one_out, FRAME, y + 1)
    refused(
        BadSetting, r"weight 5, the model was fitted on 6", model.leave_one_out, FRAME[1:], y[1:]
    )
    refused(SufficeError, r"\[6, 5\]", model.leave_one_out, FRAME, y[1:])
    refused(BadLabels, r"y to be passed", model.leave_one_out, FRAME, None)
    refused(SufficeError, "not fitted yet", model_of(name).leave_one_out, FRAME, y)


def test_a_violation_of_what_was_chosen_is_refused_later():
    frame = pd.DataFrame({"n": [0, 1, 1, 0], "text": list("abba"), "x": [0.5, -1.0, 2.0, 0.1],
                          "flag": [True, False, True, True]})  # fmt: skip
    model = NaiveBayes().fit(frame, [0, 0, 1, 1])
    families = {"n": "categorical", "text": "categorical", "x": "gaussian", "flag": "bernoulli"}
    assert model.families_ == families
    later = frame.assign(n=0.5)  # nobody asked for categories: it is one that was never seen
    with pytest.warns(OutsideSupport, match=r"n \(row 0, 1, 2, 3\)"):
        unseen = model.predict_proba(later)
    np.testing.assert_array_equal(unseen, model.predict_proba(frame.assign(n=99)))
    refused(
        BadRows, r"row 0, n: 0\.5 is not a whole number", model.partial_fit, later, [0, 0, 1, 1]
    )
    for change, words in [
        ({"n": "1"}, r"row 0, n: '1' is text"),
        ({"text": 7}, r"row 0, text: 7\.?0? is a number"),
        ({"x": "much"}, r"row 0, x: 'much' is not a number"),
        ({"flag": 2}, r"row 0, flag: 2 is neither 1 nor 0"),
        ({"flag": "yes"}, r"row 0, flag: 'yes' is"),
    ]:
        for ask in (model.predict, lambda rows: model.partial_fit(rows, [0, 0, 1, 1])):
            refused(BadRows, words, ask, frame.assign(**change))
    assert model.statistics_.weight == 4.0


# Questions


def test_questions_that_make_no_sense_are_refused():
    model = model_of("mixed").fit(FRAME, y)
    for n in (-1, 2.5, "3", None, np.nan):
        refused(BadSetting, "cannot draw", model.sample, n)
    refused(BadSetting, r"no class 9", model.sample, 3, y=9)
    refused(BadSetting, r"'seed' is not a seed", model.sample, 3, random_state="seed")
    refused(BadSetting, r"lengths", model.sample, 3, lengths=2)
    refused(BadSetting, r"no class 9", model.explain, FRAME, of=9)
    refused(BadSetting, r"no class 9", model.explain, FRAME, against=9)
    refused(BadSetting, r"against itself", model.explain, FRAME, of=1, against=1)
    refused(BadSetting, r"no row 7 among 6", model.explain(FRAME).reasons, 7)
    words = MultinomialNaiveBayes().fit(X, y)
    refused(BadSetting, r"no class 9", words.to_logistic().against, 9)
    for lengths in (-1, 1.5, [1, 2], "long", np.inf, [1, 2, np.nan]):
        refused(BadSetting, "lengths=", words.sample, 3, lengths=lengths)
    long, _ = words.sample(1, lengths=10**12, random_state=0)  # of three different words
    assert long.sum() == 10**12
    impossible = MultinomialNaiveBayes(smoothing=0).fit([[1, 0], [0, 1]], [0, 1])
    refused(BadSetting, r"row 0 is impossible", impossible.explain, [[2, 1]])
    refused(BadRows, r"row 0 holds 0\.5", words.typicality, [[0.5, 1, 1]])
    refused(BadRows, r"drawn words", words.typicality, [[1e12, 1, 1]])


@pytest.mark.parametrize("question", ASKING)
@pytest.mark.parametrize("name", ["auto", "Bernoulli", "Multinomial", "Complement"])
def test_questions_before_the_fit_are_refused(name, question):
    if name == "Complement" and question.startswith(("log_", "typ", "est")):
        assert not hasattr(model_of(name), question)  # fitted or not
    else:
        refused(SufficeError, "not fitted yet", getattr(model_of(name), question), X)
    for attribute in ("classes_", "priors_", "parameters_", "smoothing_", "families_", "model_"):
        assert not hasattr(model_of(name), attribute)


# As a table comes from the world

CSV = """id,colour,size,n,ok,when,price,note
1,red,3.5,2,True,2020-01-01,10,
2,blue,,3,False,2020-02-01,12.5,
3,,2.5,,True,2020-03-01,,
4,red,1e3,7,,2020-04-01,99,
5,green,-2,1,False,2020-05-01,1,
6,blue,0,0,True,,5,
"""
SIDES = ["a", "b", "a", "b", "a", "b"]
READERS = {
    "pandas": lambda: pd.read_csv(io.StringIO(CSV), parse_dates=["when"]),
    "pandas, nullable": lambda: READERS["pandas"]().convert_dtypes(),
    "pandas, arrow": lambda: READERS["pandas"]().convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.read_csv(io.StringIO(CSV), try_parse_dates=True),
    "arrow": lambda: pyarrow.csv.read_csv(io.BytesIO(CSV.encode())),
}  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
def test_a_messy_table_is_read_with_its_dates(reader):
    frame = READERS[reader]()
    with pytest.warns(DegenerateData, match="columns without any cell: note"):
        assert "when" in NaiveBayes().fit(frame, SIDES).families_
    names = [name for name in CSV.partition("\n")[0].split(",") if name != "when"]
    kept = frame.select(names) if reader in ("polars", "arrow") else frame[names]
    with pytest.warns(DegenerateData, match="columns without any cell: note"):
        model = NaiveBayes().fit(kept, SIDES)
    expected = {"id": "categorical", "colour": "categorical", "size": "gaussian",
                "n": "categorical", "ok": "bernoulli", "price": "lognormal"}  # fmt: skip
    assert {name: model.families_[name] for name in expected} == expected
    plain = pd.read_csv(io.StringIO(CSV))[list(expected)]
    same = NaiveBayes().fit(plain, SIDES)
    np.testing.assert_allclose(model.predict_proba(kept), same.predict_proba(plain), rtol=1e-12)
    assert type(model.sample(2, random_state=0)[0]) is type(kept)


def test_tables_with_columns_that_are_no_columns_are_refused():
    frame = pd.read_csv(io.StringIO(CSV)).drop(columns=["note", "when"])
    fit = NaiveBayes().fit
    refused(BadRows, r"more than one column is named n", fit,
            pd.concat([frame, frame[["n"]]], axis=1), SIDES)  # fmt: skip
    refused(NotANumber, r"column 2 is named 7", fit, frame.rename(columns={"size": 7}), SIDES)
    refused(BadRows, r"Expected 2D", fit, frame["n"], SIDES)
    refused(BadRows, r"LazyFrame", fit, pl.from_pandas(frame).lazy(), SIDES)
    for cell in ([1, 2], {"a": 1}, object(), 1 + 2j):
        column = pd.Series([cell] * 6, dtype=object)
        refused(NotANumber, r"row 0, odd: ", fit, frame.assign(odd=column), SIDES)
    for column in ([[1]] * 6, [{"a": 1}] * 6):
        refused(NotANumber, r"odd: a column of type", fit, pl.DataFrame({"odd": column}), SIDES)
    refused(NotFinite, r"row 0, odd: inf", fit, frame.assign(odd=[10**400, 1, 2, 3, 4, 5]), SIDES)


def test_categories_that_were_declared_but_not_shown_have_no_share():
    levels = ["red", "blue", "green", "violet"]
    shown = pd.DataFrame({"colour": pd.Categorical(["red", "blue", None, "red"], levels)})
    model = NaiveBayes().fit(shown, [0, 0, 1, 1])
    assert list(model.parameters_["colour"][0]) == ["blue", "red"]
    asked = pd.DataFrame({"colour": pd.Categorical(["violet", "green"], levels)})
    np.testing.assert_array_equal(*model.predict_proba(asked))
    enumerated = pl.DataFrame({"colour": ["red", "blue", None, "red"]},
                              schema={"colour": pl.Enum(levels)})  # fmt: skip
    np.testing.assert_array_equal(
        NaiveBayes().fit(enumerated, [0, 0, 1, 1]).predict_proba(enumerated),
        model.predict_proba(shown),
    )


def test_truths_with_blanks_are_truths():
    for column in (
        pd.array([True, None, False, True], dtype="boolean"),
        pd.Series([True, None, False, True], dtype=object),
    ):
        model = NaiveBayes().fit(pd.DataFrame({"ok": column}), [0, 0, 1, 1])
        assert model.families_ == {"ok": "bernoulli"}
        assert model.parameters_["ok"][0] == pytest.approx({"probability": 2 / 3})
        assert model.parameters_["ok"][1] == pytest.approx({"probability": 2 / 4})
