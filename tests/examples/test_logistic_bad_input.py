"""Bad input to LogisticRegression: refusals with value, place and hint; defined answers else."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes
from suffice.errors import (
    BadLabels,
    BadRows,
    BadSetting,
    BadWeights,
    ColumnMismatch,
    DegenerateData,
    NotANumber,
    NotFinite,
    OneClass,
    SeparationWarning,
    SufficeError,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
y3 = np.where(X[:, 1] + rng.normal(size=60) > 0.5, 2, y)
NAMES = ["red", "blue", "size"]
FRAME = pd.DataFrame(X, columns=NAMES)
SETTINGS = {"exact": {}, "penalised": {"penalty": 1.0}, "steps": {"solver": "sgd"}}
ASKING = ["predict", "predict_proba", "predict_log_proba", "decision_function", "explain"]


def refused(kind, words, call, *arguments, **more):
    """Check that a call is refused in words, with a hint; return the refusal."""
    with pytest.raises(kind, match=words) as caught:
        call(*arguments, **more)
    error = caught.value
    assert isinstance(error, SufficeError)
    assert error.hint
    assert str(error) == f"{error.problem}\nHint: {error.hint}"
    return error


def quietly(call, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments)


def spoiled(value, row=7, column=1):
    changed = X.copy() if isinstance(value, float) else X.astype(object)
    changed[row, column] = value
    return changed


def every_setting(test):
    return pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)(test)


# Cells that are not numbers

HOLD = {
    "array": np.asarray,
    "single precision": lambda rows: np.asarray(rows, dtype=np.float32),
    "list": lambda rows: np.asarray(rows).tolist(),
    "frame": lambda rows: pd.DataFrame(rows, columns=NAMES),
    "polars": lambda rows: pl.DataFrame(np.asarray(rows), schema=NAMES),
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
}


@every_setting
@pytest.mark.parametrize("hold", HOLD.values(), ids=HOLD)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_by_row_and_column(settings, hold, value):
    bad = hold(spoiled(value))
    named = hasattr(bad, "columns")
    words = rf"^row 7, {'blue' if named else 'x1'}: {value:g} is not a finite number"
    weights = np.where(np.arange(60) % 7 == 1, 0.0, 2.0)  # rows 1, 8, 15, …: before and after
    model = LogisticRegression(**settings)
    for learn in (model.fit, model.partial_fit):
        for more in ({}, {"sample_weight": weights}):
            error = refused(NotFinite, words, learn, bad, y, **more)
            if np.isnan(value):
                assert 'LogisticRegression(missing="indicator")' in error.hint
                assert "GaussianDiscriminant and NaiveBayes take them" in error.hint
            else:
                assert error.hint == "correct the cell or drop the row"
    assert not hasattr(model, "classes_")
    for labels in (y, y3):
        model = quietly(clone(model).fit, hold(X), labels)
        for question in ASKING:
            error = refused(NotFinite, words, getattr(model, question), bad)
            assert ("indicator" in error.hint) == bool(np.isnan(value))


def test_a_cell_of_a_row_without_weight_is_not_looked_at():
    weights = np.where(np.arange(60) == 7, 0.0, 1.0)
    for hold in (np.asarray, sparse.csr_array):
        model = LogisticRegression().fit(hold(spoiled(np.nan)), y, weights)
        kept = weights > 0
        np.testing.assert_allclose(
            model.coef_, LogisticRegression().fit(X[kept], y[kept]).coef_, rtol=1e-8
        )


def test_the_first_of_several_bad_cells_is_named_among_many_rows():
    rows = np.tile(X, (2000, 1))
    labels = np.tile(y, 2000)
    for row in (119_998, 119_999):
        rows[row, 2] = np.nan
    for hold in (np.asarray, sparse.csr_array):
        refused(NotFinite, r"row 119998, x2: nan", LogisticRegression().fit, hold(rows), labels)
    model = LogisticRegression().fit(X, y)
    refused(NotFinite, r"row 119998, x2: nan", model.predict_proba, rows)


def test_blanks_in_frames_are_refused_too():
    for library in (pd.DataFrame, pl.DataFrame):
        frame = library({"n": [1.0, None, 3.0, 4.0], "t": [True, False, True, None]})
        refused(NotFinite, r"row 1, n: nan", LogisticRegression().fit, frame, [0, 1, 1, 0])
        truths = frame[["t"]]
        refused(NotFinite, r"row 3, t: nan", LogisticRegression().fit, truths, [0, 1, 1, 0])


def test_an_implied_model_cannot_skip_a_cell_either():
    gaussian = GaussianDiscriminant().fit(FRAME, y3)
    bad = FRAME.copy()
    bad.iloc[7, 1] = np.nan
    assert np.isfinite(gaussian.predict_proba(bad)).all()
    for question in ASKING:
        refused(NotFinite, r"row 7, blue: nan", getattr(gaussian.to_logistic(), question), bad)
    naive = NaiveBayes("shared-gaussian").fit(FRAME, y3)
    for question in ASKING:
        refused(BadSetting, r"row 7, blue is missing", getattr(naive.to_logistic(), question), bad)


@every_setting
def test_words_are_no_numbers_where_numbers_were(settings):
    model = quietly(LogisticRegression(**settings).fit, FRAME, y)
    words = FRAME.assign(blue=["four"] + ["5"] * 59)
    for question in ASKING:
        refused(NotANumber, r"row 0, blue: 'four' is not a number", getattr(model, question), words)
    refused(NotANumber, r"row 0, blue: 'four' is not a number", model.partial_fit, words, y)
    refused(NotANumber, r"row 0, x0: 'a' is not a number", model.set_params().fit(X, y).predict,
            [["a", "b", "c"]])  # fmt: skip


def test_numbers_are_no_words_where_words_were():
    frame = FRAME.assign(blue=np.array(["x", "y"])[np.arange(60) % 2])
    model = LogisticRegression().fit(frame, y)
    refused(NotANumber, r"row 0, blue: .* holds other categories", model.predict, FRAME)
    refused(NotANumber, r"blue held categories", model.predict, sparse.csr_array(X))
    plain = LogisticRegression().fit(sparse.csr_array(X), y)
    refused(NotANumber, r"hold categories", plain.predict, frame)


@pytest.mark.parametrize(
    ("rows", "kind", "words"),
    [
        (X[:, 0], BadRows, r"2D array, got 1D array instead: shape \(60,\)"),
        (X[np.newaxis], BadRows, r"dim 3"),
        (X[:0], BadRows, r"0 sample\(s\)"),
        (X[:, :0], BadRows, r"0 feature\(s\)"),
        (sparse.csr_array(X[:0]), BadRows, r"0 sample\(s\)"),
        (sparse.csr_array(X[:, :0]), BadRows, r"0 feature\(s\)"),
        (None, BadRows, r"None"),
        (5.0, BadRows, r"scalar"),
        ([[1.0], [1.0, 2.0]], BadRows, r"row 1|1"),
        (X + 1j, NotANumber, r"Complex data not supported"),
        ([[1 + 2j]], NotANumber, r"Complex data not supported"),
        ([[{}]], NotANumber, r"dict"),
        (sparse.csr_array(X) + 1j * sparse.csr_array(X), BadRows, r"[Cc]omplex"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(rows, kind, words):
    tall = isinstance(rows, list) or getattr(rows, "ndim", 0) == 2
    size = np.shape(rows)[0] if hasattr(rows, "shape") else len(rows) if tall else 60
    for learn in (LogisticRegression().fit, LogisticRegression().partial_fit):
        refused(kind, words, learn, rows, y[:size] if tall else y)
    refused(BadRows, r"\w", LogisticRegression().fit(X, y).predict, rows)


@every_setting
def test_other_columns_than_those_of_the_fit_are_refused(settings):
    model = quietly(LogisticRegression(**settings).fit, FRAME, y)
    for question in (*ASKING, "score", "partial_fit"):
        ask, more = getattr(model, question), [y] if question in ("score", "partial_fit") else []
        refused(ColumnMismatch, r"X has 2 features.* expecting 3", ask, X[:, :2], *more)
        refused(ColumnMismatch, r"X has 2 features", ask, sparse.csr_array(X[:, :2]), *more)
        renamed = FRAME.rename(columns={"blue": "blues"})
        error = refused(ColumnMismatch, r"unseen at fit time:\n- blues", ask, renamed, *more)
        assert error.hint == "'blues': did you mean 'blue'?"
    refused(ColumnMismatch, r"now missing:\n- blue", model.predict, FRAME[["red", "size"]])


# Labels and weights


@every_setting
@pytest.mark.parametrize(
    ("labels", "kind", "words"),
    [
        (None, BadLabels, r"requires y to be passed, but the target y is None"),
        (y[1:], BadRows, r"\[60, 59\]"),
        (np.where(y == 1, np.nan, 0.0), BadLabels, r"Row \d+ has no label"),
        ([None] + ["a"] * 59, BadLabels, r"Row 0 has no label"),
        (X[:, 0], BadLabels, r"Unknown label type: continuous"),
        (np.c_[y, y], BadLabels, r"multioutput"),
        (np.where(y == 1, np.inf, 0.0), BadLabels, r"inf"),
    ],
)
def test_labels_that_name_no_classes_are_refused(settings, labels, kind, words):
    for learn in (LogisticRegression(**settings).fit, LogisticRegression(**settings).partial_fit):
        refused(kind, words, learn, X, labels)


@every_setting
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.zeros(60), r"all 60 sample weights are zero"),
        ([0] * 60, r"all 60 sample weights are zero"),
        (-np.ones(60), r"row 0: a weight of -1"),
        (np.where(np.arange(60) == 4, np.nan, 1.0), r"row 4: a weight of nan"),
        (np.where(np.arange(60) == 4, np.inf, 1.0), r"row 4: a weight of inf"),
        (np.ones(3), r"\(3,\), expected \(60,\)"),
        (["a"] * 60, r"weights cannot be read"),
        (np.ones((60, 2)), r"\(60, 2\)|2D|1D"),
    ],
)
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array])
def test_weights_that_count_no_rows_are_refused(settings, weights, words, hold):
    for learn in (LogisticRegression(**settings).fit, LogisticRegression(**settings).partial_fit):
        refused(BadWeights, words, learn, hold(X), y, sample_weight=weights)


@every_setting
def test_one_class_is_warned_of_and_certain(settings):
    model = LogisticRegression(**settings)
    with pytest.warns(OneClass, match="only one class, 'a'"):
        model.fit(X, ["a"] * 60)
    assert list(model.classes_) == ["a"]
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((60, 1)))
    np.testing.assert_array_equal(model.predict_log_proba(X), np.zeros((60, 1)))
    assert set(model.predict(X)) == {"a"}
    assert np.isfinite(model.decision_function(X)).all()
    assert not model.coef_.any()
    refused(BadSetting, r"with one class there are no odds", model.explain, X)
    if settings != SETTINGS["steps"]:
        refused(BadSetting, r"with one class there are no odds", model.summary)
        assert model.converged_
    # Weights may leave one class as well.
    with pytest.warns(OneClass, match="only one class, 1"):
        LogisticRegression(**settings).fit(X, y, (y == 1).astype(float))
    model.partial_fit(X, np.array(["a", "b"])[y])
    assert list(model.classes_) == ["a", "b"]


def test_labels_not_seen_are_counted_as_mistakes_and_refused_elsewhere():
    model = LogisticRegression().fit(X, y)
    assert model.score(X, y + 5) == 0.0
    refused(BadSetting, r"there is no class 9", model.against, 9)
    refused(BadSetting, r"there is no class 9", model.explain, X, of=9)
    refused(BadSetting, r"there is no class 'b'", model.explain, X, against="b")
    refused(BadSetting, r"1 against itself", model.explain, X, of=1, against=1)
    refused(BadSetting, r"there is no class 9", model.summary, reference=9)
    refused(BadLabels, r"integers before and are text now", model.partial_fit, X, y.astype(str))
    refused(BadSetting, r"classes", model.summary, X, y + 5)


# Columns that say nothing, or the same


@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array, pd.DataFrame])
@pytest.mark.parametrize("constant", [0.0, 7.0, -1e-9, 1e12])
@pytest.mark.parametrize("labels", [y, y3])
@every_setting
def test_a_constant_column_is_named_and_has_a_coefficient_of_zero(settings, labels, constant, hold):
    if settings == SETTINGS["steps"] and constant and hold is sparse.csr_array:
        return  # sparse rows are not centred there: the column is a second intercept
    rows = np.insert(X, 1, constant, axis=1)
    bad = pd.DataFrame(rows, columns=list("abcd")) if hold is pd.DataFrame else hold(rows)
    name = "b" if hold is pd.DataFrame else "x1"
    model = LogisticRegression(**settings, random_state=0)
    with pytest.warns(DegenerateData, match=rf"^{name} never varies: its coefficient is 0$"):
        model.fit(bad, labels)
    np.testing.assert_array_equal(model.coef_[:, 1], 0.0)
    if settings == SETTINGS["steps"]:
        return
    plain = LogisticRegression(**settings).fit(X, labels)
    np.testing.assert_allclose(np.delete(model.coef_, 1, axis=1), plain.coef_, rtol=1e-7)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, rtol=1e-7, atol=1e-8)
    assert model.converged_
    summary = model.summary()
    assert np.isnan(summary.standard_errors[:, 2]).all()
    np.testing.assert_allclose(
        np.delete(summary.standard_errors, 2, axis=1), plain.summary().standard_errors, rtol=1e-6
    )
    assert f"not estimable individually: {name}" in str(summary)


@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("labels", [y, y3])
def test_a_column_given_twice_shares_its_coefficient_by_least_norm(labels, hold):
    model = LogisticRegression()
    with pytest.warns(DegenerateData, match=r"^x0, x3 are linearly dependent: .* smallest norm"):
        model.fit(hold(np.c_[X, X[:, 0]]), labels)
    plain = LogisticRegression().fit(X, labels)
    np.testing.assert_allclose(model.coef_[:, 0], plain.coef_[:, 0] / 2, rtol=1e-7)
    np.testing.assert_allclose(model.coef_[:, 3], plain.coef_[:, 0] / 2, rtol=1e-7)
    np.testing.assert_allclose(model.coef_[:, 1:3], plain.coef_[:, 1:], rtol=1e-6)
    assert model.converged_
    summary = model.summary()
    assert np.isnan(summary.standard_errors[:, [1, 4]]).all()
    assert np.isfinite(summary.standard_errors[:, [0, 2, 3]]).all()
    assert summary.fit.degrees == plain.summary().fit.degrees
    assert "not estimable individually: x0, x3" in str(summary)


def test_least_norm_is_measured_in_deviations_of_the_columns():
    rows = np.c_[X, 1000.0 * X[:, 0] + 5.0]
    model = quietly(LogisticRegression().fit, rows, y)
    shares = model.coef_[0, [0, 3]] * rows.std(axis=0)[[0, 3]]
    assert shares[0] == pytest.approx(shares[1], rel=1e-6)
    plain = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(rows), plain.predict_proba(X), atol=1e-8)


def test_columns_that_add_up_to_another_are_all_named():
    rows = np.c_[X, X[:, 0] - 2.0 * X[:, 1], np.ones(60)]
    with pytest.warns(
        DegenerateData,
        match=r"^x4 never varies: its coefficient is 0\. x0, x1, x3 are linearly dependent",
    ):
        model = LogisticRegression().fit(rows, y3)
    plain = LogisticRegression().fit(X, y3)
    np.testing.assert_allclose(model.predict_proba(rows), plain.predict_proba(X), atol=1e-8)
    # θ is the shortest of all that predict the same, in deviations of the columns.
    sd = rows.std(axis=0)[[0, 1, 3]]
    flat = np.array([1.0, -2.0, -1.0]) / np.linalg.norm([1.0, -2.0, -1.0])
    held = model.against().coef[:, [0, 1, 3]]
    # Adding c·flat to the slopes changes no score; the norm is least where the sum below is 0.
    np.testing.assert_allclose((held * sd**2) @ flat, 0.0, atol=1e-6)


def test_a_penalty_shares_among_equal_columns_without_a_word():
    model = LogisticRegression(penalty=1.0).fit(np.c_[X, X[:, 0]], y)
    assert model.coef_[0, 0] == pytest.approx(model.coef_[0, 3], rel=1e-9)
    assert model.converged_


def test_nothing_but_constants_leaves_the_shares_of_the_classes():
    with pytest.warns(DegenerateData, match="x0, x1 never vary: their coefficients are 0"):
        model = LogisticRegression().fit(np.ones((60, 2)), y3)
    shares = np.bincount(y3) / 60
    np.testing.assert_allclose(model.predict_proba([[1.0, 1.0], [3.0, -8.0]]), [shares] * 2)
    assert model.summary().fit.deviance == pytest.approx(model.summary().fit.null_deviance)


@every_setting
def test_sparse_rows_without_a_cell_leave_the_shares_of_the_classes(settings):
    empty = sparse.csr_array((60, 3))
    with pytest.warns(DegenerateData, match="x0, x1, x2 never vary"):
        model = LogisticRegression(**settings, random_state=0).fit(empty, y3)
    assert not model.coef_.any()
    near = 0.1 if settings == SETTINGS["steps"] else 1e-9
    np.testing.assert_allclose(model.predict_proba(empty)[0], np.bincount(y3) / 60, atol=near)


@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("labels", [y, y3])
def test_more_columns_than_rows_are_separated_and_said_so(hold, labels):
    wide = np.random.default_rng(1).normal(size=(60, 200))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = LogisticRegression().fit(hold(wide), labels)
    kinds = {warning.category for warning in told}
    assert kinds == {DegenerateData, SeparationWarning}
    for warning in told:
        assert warning.filename == __file__
    assert not model.converged_
    assert model.separated_.kind == "complete"
    assert model.score(hold(wide), labels) == 1.0
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict_log_proba(hold(wide))).all()
    refused(BadSetting, r"the classes are separated", model.summary)
    assert LogisticRegression(penalty=1.0).fit(hold(wide), labels).separated_ is None


@every_setting
def test_as_few_rows_as_can_be_are_enough(settings):
    model = quietly(LogisticRegression(**settings, random_state=0).fit, X[:2], ["a", "b"])
    assert list(model.predict(X[:2])) == ["a", "b"]
    assert np.isfinite(model.predict_log_proba(X[:2])).all()
    same = quietly(clone(model).fit, [[1.0, 2.0], [1.0, 2.0]], ["a", "b"])
    near = 0.05 if settings == SETTINGS["steps"] else 1e-9
    np.testing.assert_allclose(same.predict_proba([[1.0, 2.0]]), [[0.5, 0.5]], atol=near)
    assert quietly(clone(model).fit, X[:1], ["a"]).predict(X[:1]) == ["a"]


# Numbers of any size


@pytest.mark.parametrize("labels", [y, y3])
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("unit", [1e150, 1e50, 1e-50, 1e-150])
@pytest.mark.parametrize("settings", [{}, {"penalty": 1.0}])
def test_units_do_not_matter(labels, hold, unit, settings):
    units = np.array([unit, 1.0, 1.0 / unit])
    plain = LogisticRegression(**settings).fit(X, labels)
    model = LogisticRegression(**settings).fit(hold(X * units), labels)
    np.testing.assert_allclose(model.coef_ * units, plain.coef_, rtol=1e-7)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, rtol=1e-7)
    np.testing.assert_allclose(model.predict_proba(X * units), plain.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(
        model.explain(X * units).log_odds, plain.explain(X).log_odds, rtol=1e-6, atol=1e-8
    )
    np.testing.assert_allclose(model.summary().z, plain.summary().z, rtol=1e-6)
    assert model.converged_


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_a_column_far_from_zero_is_one_like_others(offset):
    plain, model = LogisticRegression().fit(X, y), LogisticRegression().fit(X + offset, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-15 * offset * 1e3)
    np.testing.assert_allclose(model.predict_proba(X + offset), plain.predict_proba(X), atol=1e-7)


@every_setting
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array, pd.DataFrame])
@pytest.mark.parametrize("unit", [1e156, 1e200, 1e300])
def test_spreads_too_large_to_be_squared_are_refused_by_column(settings, hold, unit):
    rows = hold(X * [1.0, unit, 1.0])
    rows = rows.set_axis(NAMES, axis=1) if hold is pd.DataFrame else rows
    words = rf"the spread of {'blue' if hold is pd.DataFrame else 'x1'} is too large to be squared"
    model = LogisticRegression(**settings)
    for learn in (model.fit, model.partial_fit):
        error = refused(NotFinite, words, learn, rows, y)
        assert "power of ten" in error.hint


@every_setting
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("unit", [1e-170, 1e-200, 1e-300, 1e-310, 5e-324])
def test_spreads_too_small_to_be_squared_are_refused_by_column(settings, hold, unit):
    rows = hold(X * [1.0, unit, 1.0])
    words = r"the spread of x1 is too small to be squared"
    error = refused(NotFinite, words, LogisticRegression(**settings).fit, rows, y)
    assert "power of ten" in error.hint


@pytest.mark.parametrize("labels", [y, y3])
@pytest.mark.parametrize("far", [1e30, 1e150, 1e300, 1.7e308])
def test_rows_far_out_have_a_class_and_no_nan(labels, far):
    model = LogisticRegression().fit(X, labels)
    rows = far * np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]])
    proba = model.predict_proba(rows)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    scores = (rows / far) @ model.coef_.T
    scores = np.c_[0 * scores, scores] if scores.shape[1] == 1 else scores
    winners = model.classes_[scores.argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(rows), winners)
    np.testing.assert_array_equal(proba.max(axis=1), 1.0)
    log_proba = model.predict_log_proba(rows)
    assert not np.isnan(log_proba).any()
    decisions = model.decision_function(rows)
    assert not np.isnan(decisions).any()
    chosen = decisions.argmax(axis=1) if decisions.ndim == 2 else (decisions > 0).astype(int)
    np.testing.assert_array_equal(model.classes_[chosen], winners)
    np.testing.assert_array_equal(model.predict(sparse.csr_array(rows)), winners)
    stored = model.decision_function(sparse.csr_array(rows))
    np.testing.assert_allclose(stored, decisions, rtol=1e-12)


def test_what_columns_contribute_is_refused_where_it_overflows():
    model = LogisticRegression().fit(1e-3 * X, y)
    refused(BadRows, r"row 1 is too extreme", model.explain, [[1.0, 1, 1], [1.7e308, 0, 0]])


# Settings


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        *(("penalty", v, r"penalty=.* is not a finite number of at least 0")
          for v in (-1, np.nan, np.inf, "l2", None, True, 1j, 10**400, [1.0])),
        *(("tolerance", v, r"tolerance=.* is not a finite number")
          for v in (-1e-9, np.nan, np.inf, "small", None)),
        *(("max_passes", v, r"max_passes=.* is not a whole number of at least 1")
          for v in (0, -1, 2.5, np.inf, "many", None, True)),
        *(("solver", v, r"solver=.* is not known")
          for v in ("lbfgs", "SGD", None, 1, ["sgd"], np.array(["auto"]))),
        *(("correction", v, r"correction=.* is not known") for v in ("Firth", "", 1, True)),
        *(("standard_errors", v, r"standard_errors=.* is not known") for v in ("yes", 1, 0.0)),
        *(("warm_start", v, r"warm_start=.* is not known") for v in ("no", 1, None)),
    ],
)  # fmt: skip
def test_settings_without_a_meaning_are_refused_before_rows_are_read(setting, value, words):
    model = LogisticRegression(**{setting: value})
    refused(BadSetting, words, model.fit, None, None)
    if setting != "correction":  # where there is one, there is no partial_fit
        refused(BadSetting, words, model.partial_fit, None, None)


@pytest.mark.parametrize("seed", ["seed", -1, 1.5, True])
def test_what_is_no_seed_is_refused(seed):
    model = LogisticRegression(solver="sgd", random_state=seed)
    refused(BadSetting, r"is not a seed", model.fit, X, y)


def test_settings_that_do_not_go_together_are_refused():
    firth = LogisticRegression(1.0, correction="firth")
    refused(BadSetting, r"cannot be combined with penalty=1\.0", firth.fit, X, y)
    steps = LogisticRegression(solver="sgd", correction="firth")
    refused(BadSetting, r"solver='sgd'", steps.fit, X, y)
    warm = LogisticRegression(solver="sgd", warm_start=True)
    error = refused(BadSetting, r"warm_start=True cannot be combined", warm.fit, X, y)
    assert "partial_fit" in error.hint


def test_settings_of_numpy_are_settings():
    plain = LogisticRegression(0.5, max_passes=50, warm_start=True).fit(X, y)
    numpy = LogisticRegression(np.float32(0.5), max_passes=np.int64(50), warm_start=np.True_)
    np.testing.assert_array_equal(numpy.fit(X, y).coef_, plain.coef_)


# Summaries


def test_a_summary_of_other_rows_is_refused():
    model = LogisticRegression().fit(X, y)
    words = r"these are not the rows of the fit"
    refused(BadSetting, words, model.summary, X[:40], y[:40])
    refused(BadSetting, words, model.summary, X, 1 - y)
    refused(BadSetting, words, model.summary, X[::-1], y)
    refused(BadSetting, words, model.summary, X, y, np.full(60, 2.0))
    refused(BadSetting, words, model.summary, X + 1.0, y)
    refused(BadSetting, r"classes 0, 1, 2.* fit had 0, 1", model.summary, X, y3)
    refused(ColumnMismatch, r"X has 2 features", model.summary, X[:, :2], y)
    refused(NotFinite, r"row 7, x1: nan", model.summary, spoiled(np.nan), y)
    refused(BadLabels, r"y is None", model.summary, X)
    refused(BadSetting, r"labels or weights, but no rows", model.summary, y=y)
    refused(BadSetting, r"labels or weights, but no rows", model.summary, sample_weight=np.ones(60))
    model.summary(X, y)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"level": 1.5}, r"level=1\.5"),
        ({"level": 95}, r"level=95"),
        ({"level": 0.0}, r"level=0"),
        ({"level": "high"}, r"level='high'"),
        ({"level": np.nan}, r"level=nan"),
        ({"intervals": "bootstrap"}, r"intervals='bootstrap' is not known"),
        ({"intervals": None}, r"intervals=None is not known"),
        ({"intervals": "profile"}, r"profile intervals need the rows of the fit again"),
        ({"reference": "x"}, r"there is no class 'x'"),
    ],
)
def test_summaries_that_cannot_be_are_refused(asked, words):
    refused(BadSetting, words, LogisticRegression().fit(X, y).summary, **asked)


def test_a_stream_has_no_summary():
    for model in (
        LogisticRegression().partial_fit(X, y),
        LogisticRegression(solver="sgd").fit(X, y),
    ):
        for attribute in ("converged_", "bound_", "n_iter_", "separated_", "covariance_"):
            assert not hasattr(model, attribute)
        with pytest.raises(AttributeError, match=r"not found by maximum likelihood\nHint: "):
            model.summary(X, y)


# Before a fit, and after one that was refused


@pytest.mark.parametrize("question", [*ASKING, "score"])
def test_nothing_is_answered_before_a_fit(question):
    more = [y] if question == "score" else []
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(LogisticRegression(), question)(X, *more)
    for attribute in ("coef_", "intercept_", "classes_", "converged_", "coefficient_names_"):
        assert not hasattr(LogisticRegression(), attribute)
    for ask in (LogisticRegression().summary, LogisticRegression().against):
        with pytest.raises(NotFittedError):
            ask()


@every_setting
@pytest.mark.parametrize("begun", ["fit", "partial_fit"])
def test_what_is_refused_leaves_the_estimator_as_it_was(settings, begun):
    model = LogisticRegression(**settings, random_state=0)
    getattr(model, begun)(FRAME, y)
    before = model.__dict__.copy()
    proba = model.predict_proba(X)
    huge = X * [1.0, 1e200, 1.0]
    for rows, labels, weights in (
        (spoiled(np.nan), y, None),
        (sparse.csr_array(spoiled(np.inf)), y, None),
        (huge, y, None),
        (X, None, None),
        (X, y[1:], None),
        (X, X[:, 0], None),
        (X, y, np.zeros(60)),
        (X[:0], y[:0], None),
        (X[:, 0], y, None),
    ):
        for learn in (model.fit, model.partial_fit):
            refused(SufficeError, r"\w", learn, rows, labels, sample_weight=weights)
            assert model.__dict__ == before
    np.testing.assert_array_equal(model.predict_proba(X), proba)
    model.partial_fit(FRAME, y)


def test_rows_are_read_and_never_written():
    rows, labels, weights = X.copy(), y.copy(), np.ones(60)
    for array in (rows, labels, weights):
        array.flags.writeable = False
    for settings in SETTINGS.values():
        model = quietly(LogisticRegression(**settings).fit, rows, labels, weights)
        model.partial_fit(rows, labels, sample_weight=weights)
        for question in ASKING:
            getattr(model, question)(rows)
    np.testing.assert_array_equal(rows, X)
