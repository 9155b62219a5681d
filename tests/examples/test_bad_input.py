"""Bad input: each a refusal with the value, the place and a hint, and nothing half done."""

from __future__ import annotations

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from suffice import GaussianDiscriminant
from suffice.errors import (
    BadLabels,
    BadRows,
    BadSetting,
    BadWeights,
    ColumnMismatch,
    DifferentKinds,
    ForgettingUnseen,
    NotANumber,
    NotFinite,
    SufficeError,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
y = np.arange(40) % 2
X[:, 0] += y
FRAME = pd.DataFrame(X, columns=["length", "width", "height"])
FORMS = ["shared", "per-class", "diagonal", "shared-diagonal", "spherical", "auto"]


def spoiled(row, column, value):
    rows = X.astype(object) if not isinstance(value, float) else X.copy()
    rows[row, column] = value
    return rows


def labels_with(value, row=7):
    labels = y.tolist()
    labels[row] = value
    return labels


BAD_ROWS = [
    ("inf", spoiled(17, 1, np.inf), NotFinite, r"row 17, x1: inf is not a finite number"),
    ("minus inf", spoiled(39, 2, -np.inf), NotFinite, r"row 39, x2: -inf"),
    ("float32 inf", spoiled(17, 1, np.inf).astype(np.float32), NotFinite, r"row 17, x1: inf"),
    ("ragged", [*X[:39].tolist(), [1.0, 2.0]], BadRows, r"row 39 has 2 cell.* row 0 has 3"),
    ("no rows", np.empty((0, 3)), BadRows, r"0 sample"),
    ("no columns", np.empty((40, 0)), BadRows, r"0 feature"),
    ("an empty list", [], BadRows, r"Expected 2D array|0 sample"),
    ("one dimension", X[:, 0], BadRows, r"Expected 2D array, got 1D"),
    ("three dimensions", X[np.newaxis], BadRows, r"dim 3"),
    ("a number", 3.5, BadRows, r"scalar"),
    ("nothing", None, BadRows, r"None"),
    ("complex", X + 1j, NotANumber, r"Complex data not supported"),
    ("one complex cell", spoiled(5, 2, 1 + 2j), NotANumber, r"row 5, column 2: Complex"),
    ("objects", spoiled(5, 2, object()), NotANumber, r"row 5, column 2: .*object"),
    ("a list in a cell", spoiled(5, 2, [1, 2]), NotANumber, r"row 5, column 2: .*list"),
    ("dates", np.full((40, 3), np.datetime64("2020-01-01")), NotANumber, r"datetime64"),
    ("a date", spoiled(3, 0, dt.date(2020, 1, 1)), NotANumber, r"row 3, column 0: .*date"),
    ("sparse", sparse.csr_array(X), NotANumber, r"sparse"),
    ("a dictionary", {"a": [1.0]}, NotANumber, r"dict"),
    ("a lazy frame", pl.from_pandas(FRAME).lazy(), BadRows, r"LazyFrame"),
    ("names twice", pd.concat([FRAME, FRAME], axis=1), BadRows, r"named height, length, width"),
    ("odd names", FRAME.rename(columns={"width": 7}), NotANumber, r"column 1 is named 7"),
    ("too few rows", X[:39], BadRows, r"inconsistent numbers of samples: \[39, 40\]"),
]  # fmt: skip
BAD_LABELS = [
    ("none", None, r"y to be passed"),
    ("continuous", np.linspace(0, 1, 40), r"continuous. Row 1 has the label 0\.0256"),
    ("only blanks", [None] * 40, r"none of 40 rows has a label"),
    ("infinite", np.where(np.arange(40) == 7, np.inf, y), r"infinity.*Row 7"),
    ("mixed", labels_with("one"), r"mixed types: row 0 is the number 0, row 7 is the string 'one'"),
    ("mixed with truths", labels_with(True), r"mixed types: .*row 7 is the boolean True"),
    ("two columns", np.column_stack([y, y]), r"shape \(40, 2\)"),
    ("complex", y + 1j, r"[Cc]omplex"),
    ("lists", [[c] * 2 for c in y], r"shape \(40, 2\)"),
    ("unhashable", np.array([{c} for c in y], dtype=object), r"row 0.* not hashable"),
    ("too few", y[:39], r"\[40, 39\]"),
    ("empty", [], r"0 (sample|label)"),
    ("a scalar", 1, r"1d array"),
]
BAD_WEIGHTS = [
    ("negative", np.where(np.arange(40) == 4, -1.0, 1.0), r"row 4: a weight of -1"),
    ("NaN", np.where(np.arange(40) == 4, np.nan, 1.0), r"row 4: a weight of nan"),
    ("infinite", np.where(np.arange(40) == 4, np.inf, 1.0), r"row 4: a weight of inf"),
    ("all zero", np.zeros(40), r"all 40 sample weights are zero"),
    ("too few", np.ones(39), r"\(39,\), expected \(40,\)"),
    ("a table", np.ones((40, 2)), r"\(40, 2\)"),
    ("words", ["a"] * 40, r"list"),
    ("complex", np.ones(40) * 1j, r"ndarray"),
]
BAD_SETTINGS = [
    ({"covariance": "full"}, r"covariance='full' is not known"),
    ({"covariance": "lda"}, r"(?s)'lda' is not known.*LDA is covariance=\"shared\""),
    ({"covariance": None}, r"covariance=None"),
    ({"covariance": ["shared"]}, r"covariance=\['shared'\]"),
    ({"divisor": "n"}, r"divisor='n'"),
    ({"shrink": 1.5}, r"shrink=1\.5 is outside"),
    ({"shrink": -0.1}, r"shrink=-0\.1"),
    ({"shrink": np.nan}, r"shrink=nan"),
    ({"shrink": "some"}, r"shrink='some'"),
    ({"shrink": 0.1, "shrink_target": "identity"}, r"shrink_target='identity'"),
    ({"covariance": "per-class", "pool": 2}, r"pool=2"),
    ({"pool": 0.5}, r'pool=0\.5 does not apply to covariance="shared"'),
    ({"covariance": "diagonal", "shrink": 0.5}, r"shrink=0\.5 does not apply"),
    ({"covariance": "auto", "pool": 0.5}, r'pool=0\.5 does not apply to covariance="auto"'),
    ({"covariance": "auto", "shrink": 0.5}, r'shrink=0\.5 does not apply to covariance="auto"'),
]


def named(cases):
    return [pytest.param(*case[1:], id=case[0]) for case in cases]


def refused(kind, words, call, *arguments, **more):
    with pytest.raises(kind, match=words) as caught:
        call(*arguments, **more)
    assert isinstance(caught.value, SufficeError)
    assert isinstance(caught.value, ValueError)
    assert caught.value.hint
    assert str(caught.value).endswith(f"\nHint: {caught.value.hint}")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("rows", "kind", "words"), named(BAD_ROWS))
def test_rows_that_cannot_be_read_are_refused(form, rows, kind, words):
    model = GaussianDiscriminant(form)
    refused(kind, words, model.fit, rows, y)
    refused(kind, words, model.partial_fit, rows, y)
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(("labels", "words"), named(BAD_LABELS))
def test_labels_that_name_no_classes_are_refused(labels, words):
    model = GaussianDiscriminant()
    kind = SufficeError if "[40, 39]" in words.replace("\\", "") else BadLabels
    refused(kind, words, model.fit, X, labels)
    refused(kind, words, model.partial_fit, X, labels)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(("weights", "words"), named(BAD_WEIGHTS))
def test_weights_that_count_no_rows_are_refused(weights, words):
    model = GaussianDiscriminant()
    refused(BadWeights, words, model.fit, X, y, sample_weight=weights)
    refused(BadWeights, words, model.partial_fit, X, y, sample_weight=weights)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(("settings", "words"), BAD_SETTINGS)
def test_settings_without_a_meaning_are_refused_at_fit_and_not_before(settings, words):
    model = GaussianDiscriminant(**settings)
    refused(BadSetting, words, model.fit, X, y)
    refused(BadSetting, words, model.partial_fit, X, y)


ASKING = [
    "predict", "predict_proba", "predict_log_proba", "decision_function", "log_joint",
    "log_density", "typicality", "explain", "impute", "estimate_priors", "transform",
]  # fmt: skip


@pytest.mark.parametrize("question", ASKING)
@pytest.mark.parametrize("form", FORMS)
def test_questions_about_bad_rows_are_refused(form, question):
    model = GaussianDiscriminant(form).fit(FRAME, y)
    if not hasattr(model, question):
        return
    ask = getattr(model, question)
    refused(NotFinite, r"row 2, width: inf is not a finite", ask, spoiled(2, 1, np.inf))
    endless = FRAME.assign(width=np.where(np.arange(40) == 2, -np.inf, 0.0))
    refused(NotFinite, r"row 2, width: -inf", ask, endless)
    refused(
        ColumnMismatch, r"X has 2 features, but GaussianDiscriminant is expecting 3", ask, X[:, :2]
    )
    refused(ColumnMismatch, r"did you mean 'width'", ask, FRAME.rename(columns={"width": "widht"}))
    refused(ColumnMismatch, r"now missing:\n- height", ask, FRAME[["length", "width"]])
    wordy = FRAME.astype(object).assign(width=[1.0, "wide"] + [2.0] * 38)
    refused(NotANumber, r"row 1, width: 'wide' is not a number", ask, wordy)
    refused(NotANumber, r"Complex", ask, X + 1j)
    refused(BadRows, r"0 sample", ask, X[:0])
    refused(BadRows, r"Expected 2D", ask, X[0])


@pytest.mark.parametrize("form", FORMS)
def test_a_refused_batch_leaves_the_model_as_it_was(form):
    model = GaussianDiscriminant(form).fit(FRAME, y)
    before, weight = model.predict_log_proba(X), model.statistics_.weight
    bad = [
        (spoiled(3, 1, np.inf), y, None),
        (X, [np.nan] * 40, None),
        (X, labels_with("two"), None),
        (X, y.astype(str), None),
        (X, y.astype(bool), None),
        (X[:, :2], y, None),
        (FRAME.rename(columns={"width": "depth"}), y, None),
        (X, y, -np.ones(40)),
        (X, y[:30], None),
        (FRAME.assign(width="wide"), y, None),
    ]
    for rows, labels, weights in bad:
        for learn in (model.partial_fit, model.forget):
            refused(SufficeError, "Hint", learn, rows, labels, sample_weight=weights)
            assert model.statistics_.weight == weight
            np.testing.assert_array_equal(model.predict_log_proba(X), before)
            assert list(model.feature_names_in_) == ["length", "width", "height"]


@pytest.mark.parametrize("form", FORMS)
def test_a_refused_fit_leaves_the_model_as_it_was(form):
    model = GaussianDiscriminant(form).fit(FRAME, y)
    before = model.predict_log_proba(X)
    refused(NotFinite, "row 3", model.fit, spoiled(3, 1, np.inf), y)
    refused(BadLabels, "row 7", model.fit, X, labels_with("two"))
    np.testing.assert_array_equal(model.predict_log_proba(X), before)
    model.set_params(priors={0: 0.5, 1: 0.5})
    given = model.predict_log_proba(X)
    refused(BadSetting, "priors", model.fit, X, y + 5)
    np.testing.assert_array_equal(model.predict_log_proba(X), given)
    fresh = GaussianDiscriminant(form, priors={"no": 1.0})
    refused(BadSetting, "'no', which is not a class", fresh.fit, X, y)
    assert not hasattr(fresh, "classes_")


@pytest.mark.parametrize("form", FORMS)
def test_forgetting_what_was_never_learned_is_refused_by_name(form):
    model = GaussianDiscriminant(form).fit(X, y)
    refused(ForgettingUnseen, r"weight 1 .*weight 0.* 7|7", model.forget, X[:1], [7])
    refused(
        ForgettingUnseen, r"weight 40|weight 80", model.forget, np.vstack([X, X]), np.append(y, y)
    )
    refused(SufficeError, "not fitted yet", GaussianDiscriminant(form).forget, X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_forgetting_levels_that_were_never_learned_is_refused():
    frame = FRAME.assign(kind=np.where(y, "a", "b"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianDiscriminant().fit(frame, np.arange(40) % 4 > 1)
    refused(
        ForgettingUnseen,
        "never learned",
        model.forget,
        frame.assign(kind="c"),
        np.arange(40) % 4 > 1,
    )


def test_models_that_do_not_fit_together_are_not_merged():
    model = GaussianDiscriminant().fit(FRAME, y)
    others = [
        GaussianDiscriminant("per-class").fit(FRAME, y),
        GaussianDiscriminant(divisor="unbiased").fit(FRAME, y),
        GaussianDiscriminant().fit(FRAME[["length", "width"]], y),
        GaussianDiscriminant().fit(FRAME.rename(columns={"width": "depth"}), y),
        GaussianDiscriminant().fit(X, y.astype(str)),
        GaussianDiscriminant().fit(X[:, :2], y),
    ]
    for other in others:
        refused(SufficeError, "Hint", lambda other=other: model + other)
    refused(DifferentKinds, r"covariance='shared' and 'per-class'", lambda: model + others[0])
    refused(SufficeError, "not fitted yet", lambda: model + GaussianDiscriminant())
    with pytest.raises(TypeError):
        model + 3


def test_questions_that_make_no_sense_are_refused():
    model = GaussianDiscriminant().fit(X, y)
    refused(BadSetting, r"-1", model.sample, -1)
    refused(BadSetting, r"2\.5", model.sample, 2.5)
    refused(BadSetting, r"no class 9", model.sample, 3, y=9)
    refused(BadSetting, r"'seed' is not a seed", model.sample, 3, random_state="seed")
    refused(BadSetting, r"no class 9", model.explain, X, of=9)
    refused(BadSetting, r"no class 9", model.explain, X, against=9)
    refused(BadSetting, r"against itself", model.explain, X, of=1, against=1)
    refused(BadSetting, r"no class 9", model.to_logistic().against, 9)
    refused(BadLabels, r"9 is not a class", model.typicality, X, [9] * 40)
    refused(BadLabels, r"9 is not a class", model.impute, X, [9] * 40)
    refused(BadSetting, r"weight 39.* 40", model.leave_one_out, X[1:], y[1:])
    refused(BadLabels, r"not a class", model.leave_one_out, X, y + 1)
    refused(SufficeError, r"\[40, 39\]", model.leave_one_out, X, y[1:])
    refused(SufficeError, r"\[40, 39\]|39.*40|40.*39", model.typicality, X, y[1:])
    refused(SufficeError, r"\[40, 39\]|39.*40|40.*39", model.impute, X, y[1:])
    refused(BadSetting, r"draws=-1|-1", model.impute, X, draws=-1)


@pytest.mark.parametrize("form", ["shared", "per-class", "diagonal", "spherical"])
def test_all_the_weight_cannot_be_forgotten_with_other_rows(form):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    model = GaussianDiscriminant(form).fit(X, y)
    before = model.predict_proba(X)
    for wrong in (5.0 * X, X + 1.0):
        with pytest.raises(SufficeError, match="Hint"):
            model.forget(wrong, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("question", ["predict", "predict_proba", "log_density"])
def test_a_number_is_no_table_of_one_row(question):
    model = GaussianDiscriminant().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    for wrong in (np.array(1.0), np.array([1.0])):
        with pytest.raises(SufficeError, match="Hint"):
            getattr(model, question)(wrong)
