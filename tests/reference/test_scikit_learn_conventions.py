"""The estimators wear scikit-learn's conventions: its own checks, and what people do with it."""

from __future__ import annotations

import io
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

from suffice import GaussianDiscriminant, GaussianMixture, LatentClasses, LogisticRegression, Pool
from suffice.errors import ColumnMismatch, NotLinear, SufficeError, SufficeWarning

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])

SETTINGS = [
    {},
    {"divisor": "unbiased"},
    {"shrink": 0.3},
    {"shrink": 1.0},
    {"shrink": 0.5, "shrink_target": "scaled", "divisor": "unbiased"},
    {"covariance": "per-class"},
    {"covariance": "per-class", "divisor": "unbiased"},
    {"covariance": "per-class", "pool": 0.5},
    {"covariance": "per-class", "pool": 1.0, "divisor": "unbiased"},
    {"covariance": "per-class", "pool": 0.2, "shrink": 0.4},
    {"covariance": "per-class", "shrink": 0.6, "shrink_target": "scaled"},
    {"covariance": "diagonal"},
    {"covariance": "diagonal", "divisor": "unbiased"},
    {"covariance": "shared-diagonal"},
    {"covariance": "shared-diagonal", "divisor": "unbiased"},
    {"covariance": "spherical"},
    {"covariance": "spherical", "divisor": "unbiased"},
    {"covariance": "auto"},
    {"covariance": "auto", "divisor": "unbiased"},
    {"predictive": 1.0},
    {"predictive": "auto", "prior_rows": 0.5},
    {"covariance": "per-class", "predictive": "auto", "temperature": "left-out"},
    {"covariance": "diagonal", "predictive": "auto"},
    {"covariance": "spherical", "temperature": "left-out"},
    {"covariance": "auto", "average": True, "temperature": "left-out"},
]
POOL = [{"members": ["naive Bayes", "logistic", "GDA"]}]
MIXTURE = [{"components": 2, "covariance": "VVI"}]
LATENT = [{"components": 2, "starts": 2}]
LOGISTIC = [{}, {"penalty": 1.0}, {"correction": "firth"}, {"solver": "sgd"}]
STEPS = "a step for a row of weight 2 is not two steps, as with scikit-learn's SGDClassifier"
FORMS = ["shared", "per-class", "diagonal", "shared-diagonal", "spherical", "auto"]


def name_of(setting):
    return "-".join(str(value) for value in setting.values()) or "default"


def checks():
    kinds = (
        (GaussianDiscriminant, SETTINGS),
        (GaussianMixture, MIXTURE),
        (LatentClasses, LATENT),
        (LogisticRegression, LOGISTIC),
        (Pool, POOL),
    )
    for kind, settings in kinds:
        for setting in settings:
            for estimator, check in estimator_checks_generator(kind(**setting)):
                name = getattr(check, "func", check).__name__
                steps = "sgd" in setting.values() and "sample_weight_equivalence" in name
                marks = [pytest.mark.xfail(reason=STEPS, strict=True)] if steps else []
                called = f"{kind.__name__}-{name_of(setting)}-{name}"
                yield pytest.param(estimator, check, id=called, marks=marks)


@pytest.mark.parametrize("setting", LOGISTIC, ids=name_of)
def test_logistic_regression_is_a_classifier_that_takes_sparse_rows(setting):
    model = LogisticRegression(**setting)
    tags = get_tags(model)
    assert is_classifier(model)
    assert tags.input_tags.sparse
    assert not tags.input_tags.allow_nan
    assert hasattr(model, "partial_fit") is ("correction" not in setting)
    names = {
        getattr(check, "func", check).__name__ for _, check in estimator_checks_generator(model)
    }
    assert {
        "check_estimator_sparse_array",
        "check_sample_weight_equivalence_on_sparse_data",
    } <= names


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("form", FORMS)
def test_a_transform_is_there_only_for_a_shared_covariance(form):
    model = GaussianDiscriminant(form)
    for fitted in (model, clone(model).fit(X, y)):
        for name in ("transform", "fit_transform", "set_output", "get_feature_names_out"):
            assert hasattr(fitted, name) is (form == "shared"), name
    assert is_classifier(model)
    with pytest.raises(NotFittedError):
        GaussianDiscriminant().transform(X)


def test_settings_decide_afresh_whether_there_is_a_transform():
    model = GaussianDiscriminant("per-class")
    assert not hasattr(model, "transform")
    assert hasattr(model.set_params(covariance="shared"), "transform")


@pytest.mark.parametrize("form", FORMS)
def test_it_works_at_the_end_of_a_pipeline(form):
    pipeline = make_pipeline(StandardScaler(), GaussianDiscriminant(form)).fit(X, y)
    alone = GaussianDiscriminant(form).fit(StandardScaler().fit_transform(X), y)
    assert pipeline.score(X, y) == alone.score(StandardScaler().fit_transform(X), y) > 0.8
    np.testing.assert_array_equal(pipeline.classes_, [0, 1, 2])


def test_it_works_as_a_first_step_in_front_of_another_classifier():
    pipeline = make_pipeline(GaussianDiscriminant(), TheirLogisticRegression()).fit(X, y)
    assert pipeline.score(X, y) > 0.95
    assert pipeline[0].transform(X).shape == (150, 2)


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
def test_weights_reach_it_through_a_pipeline():
    weights = np.where(np.arange(150) % 5 == 0, 0.0, 1.0 + np.arange(150) % 3)
    pipeline = make_pipeline(StandardScaler(), GaussianDiscriminant("per-class"))
    pipeline.fit(X, y, gaussiandiscriminant__sample_weight=weights)
    repeated = np.repeat(np.arange(150), weights.astype(int))
    scaler = StandardScaler().fit(X)
    plain = GaussianDiscriminant("per-class").fit(scaler.transform(X[repeated]), y[repeated])
    np.testing.assert_allclose(
        pipeline.predict_log_proba(X), plain.predict_log_proba(scaler.transform(X)), rtol=1e-9
    )


def test_weights_are_routed_as_metadata():
    with sklearn.config_context(enable_metadata_routing=True):
        model = (
            GaussianDiscriminant()
            .set_fit_request(sample_weight=True)
            .set_score_request(sample_weight=True)
        )
        weights = 1.0 + np.arange(150) % 2
        scores = cross_val_score(model, X, y, params={"sample_weight": weights}, cv=3)
    assert scores.mean() > 0.9


def test_a_grid_is_searched_over_form_and_shrinkage():
    grid = [
        {"covariance": ["shared"], "shrink": [None, 0.1, 0.9]},
        {"covariance": ["per-class"], "pool": [0.0, 0.5], "shrink": [0.0, 0.5]},
        {"covariance": ["diagonal", "shared-diagonal", "spherical"]},
    ]
    search = GridSearchCV(GaussianDiscriminant(), grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.95
    assert len(search.cv_results_["params"]) == 10
    assert search.predict(X[:1]) == [0]


def test_cross_validation_scores_and_predicts():
    assert cross_val_score(GaussianDiscriminant(), X, NAMES[y], cv=5).mean() > 0.95
    scores = cross_val_score(GaussianDiscriminant("auto"), X, y, cv=3, scoring="neg_log_loss")
    assert scores.mean() > -0.15
    proba = cross_val_predict(GaussianDiscriminant(), X, y, cv=3, method="predict_proba")
    assert proba.shape == (150, 3)


def test_a_clone_has_the_settings_and_nothing_learned():
    priors = {0: 0.2, 1: 0.3, 2: 0.5}
    model = GaussianDiscriminant("per-class", pool=0.2, shrink=0.1, priors=priors).fit(X, y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "n_features_in_")
    with pytest.raises(NotFittedError):
        copy.predict(X)


def test_settings_are_shown_where_they_differ_from_the_defaults():
    assert repr(GaussianDiscriminant()) == "GaussianDiscriminant()"
    shown = repr(GaussianDiscriminant("per-class", pool=0.5))
    assert shown == "GaussianDiscriminant(covariance='per-class', pool=0.5)"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("missing", [False, True])
def test_a_fitted_estimator_survives_pickle_and_joblib(form, missing):
    rows = X.copy()
    if missing:
        rows[::7, 1] = np.nan
    frame = pd.DataFrame(rows, columns=["a", "b", "c", "d"])
    model = GaussianDiscriminant(form).fit(frame, NAMES[y])
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    for back in (pickle.loads(pickle.dumps(model)), joblib.load(file)):
        np.testing.assert_array_equal(back.predict_proba(frame), model.predict_proba(frame))
        back.partial_fit(frame, NAMES[y]).forget(frame, NAMES[y])
        np.testing.assert_allclose(back.means_, model.means_, rtol=1e-12)
        assert isinstance(back.sample(3, random_state=0)[0], pd.DataFrame)


def test_coordinates_come_back_in_the_container_asked_for():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"], index=np.arange(150) + 1000)
    model = GaussianDiscriminant().fit(frame, y)
    names = ["gaussiandiscriminant0", "gaussiandiscriminant1"]
    assert list(model.get_feature_names_out()) == names
    plain = model.transform(frame)
    assert isinstance(plain, np.ndarray)
    found = clone(model).set_output(transform="pandas").fit_transform(frame, y)
    assert isinstance(found, pd.DataFrame)
    assert list(found.columns) == names
    assert list(found.index) == list(frame.index)
    np.testing.assert_allclose(found.to_numpy(), plain)
    assert isinstance(model.set_output(transform="polars").transform(frame), pl.DataFrame)


@pytest.mark.parametrize(
    "question",
    ["predict", "predict_proba", "predict_log_proba", "decision_function", "log_joint",
     "log_density", "typicality", "transform", "explain", "impute", "estimate_priors"],
)  # fmt: skip
def test_questions_before_fit_are_refused_in_scikit_learns_terms_and_ours(question):
    for kind in (NotFittedError, SufficeError):
        with pytest.raises(kind, match="not fitted yet\nHint: "):
            getattr(GaussianDiscriminant(), question)(X)
    for attribute in ("classes_", "means_", "priors_", "covariances_", "statistics_", "model_"):
        assert not hasattr(GaussianDiscriminant(), attribute)


def test_partial_fit_accepts_classes_and_never_needs_them():
    told = GaussianDiscriminant().partial_fit(X[:120], y[:120], classes=[0, 1, 2])
    by_position = GaussianDiscriminant().partial_fit(X[:120], y[:120], np.arange(3))
    untold = GaussianDiscriminant().partial_fit(X[:120], y[:120])
    for model in (told, by_position, untold):
        model.partial_fit(X[120:], y[120:])
        np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    whole = GaussianDiscriminant().fit(X, y)
    np.testing.assert_allclose(untold.predict_proba(X), whole.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(told.predict_proba(X), untold.predict_proba(X))


def test_a_column_of_labels_is_read_with_a_word_about_its_shape():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = GaussianDiscriminant().fit(X, y[:, np.newaxis])
    np.testing.assert_array_equal(model.predict(X), GaussianDiscriminant().fit(X, y).predict(X))


def test_fitting_again_with_other_columns_starts_afresh():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = GaussianDiscriminant().fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    model.fit(X[:, :2], NAMES[y])
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    assert list(model.classes_) == list(NAMES)
    with pytest.raises(ColumnMismatch, match="X has 4 features"):
        model.predict(X)


def test_frames_are_matched_by_name():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = GaussianDiscriminant().fit(frame, y)
    expected = model.predict_proba(frame)
    np.testing.assert_array_equal(model.predict_proba(frame[["c", "a", "d", "b"]]), expected)
    np.testing.assert_array_equal(model.predict_proba(pl.from_pandas(frame)), expected)
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    with pytest.raises(ColumnMismatch, match="did you mean 'd'"):
        model.predict(frame.rename(columns={"d": "dd"}))


@pytest.mark.parametrize(
    ("labels", "kind"),
    [(y, "i"), (y.astype(np.int8), "i"), (y.astype(float), "f"), (NAMES[y], "U"),
     (NAMES[y].astype(object), "O"), (y > 0, "b")],
)  # fmt: skip
def test_labels_come_back_in_the_type_they_had(labels, kind):
    model = GaussianDiscriminant().fit(X, labels)
    assert model.classes_.dtype.kind == kind
    assert model.predict(X).dtype == model.classes_.dtype
    if kind != "O":
        assert model.classes_.dtype == np.asarray(labels).dtype
    assert model.score(X, labels) > 0.95


def test_a_setting_changed_after_the_fit_takes_effect_or_is_refused():
    model = GaussianDiscriminant("per-class").fit(X, y)
    before = model.predict_proba(X)
    pooled = model.set_params(pool=1.0).predict_proba(X)
    assert np.abs(pooled - before).max() > 1e-3
    np.testing.assert_allclose(pooled, GaussianDiscriminant().fit(X, y).predict_proba(X), atol=1e-9)
    model.set_params(pool=None, priors={0: 0.0, 1: 0.5, 2: 0.5})
    assert not model.predict_proba(X)[:, 0].any()
    with pytest.raises(SufficeError, match="fit again"):
        model.set_params(covariance="diagonal", priors=None).predict(X)


def test_two_flat_classes_are_a_logistic_regression_to_scikit_learn_too():
    model = GaussianDiscriminant().fit(X[50:], y[50:])
    implied = model.to_logistic()
    np.testing.assert_allclose(
        X @ implied.coef_[0] + implied.intercept_, model.decision_function(X), rtol=1e-8, atol=1e-8
    )
    with pytest.raises(NotLinear):
        GaussianDiscriminant("per-class").fit(X, y).to_logistic()


def test_no_check_needs_more_than_our_own_warnings_ignored():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianDiscriminant("auto").fit(X, y)
    assert issubclass(SufficeWarning, UserWarning)
