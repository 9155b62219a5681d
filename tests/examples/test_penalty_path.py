"""LogisticRegression("auto") and ("average"): what they answer, refuse, keep and go on with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import cross_val_score

import suffice
from suffice import LogisticRegression
from suffice.errors import BadFile, BadSetting, OneClass
from suffice.estimators.sql import to_sql
from suffice.learning import collect as collecting
from suffice.models.linear.penalty_path import walk
from suffice.storage.describe import describe
from suffice.storage.model_diff import differences
from suffice.storage.model_file import read_model

if TYPE_CHECKING:
    from pathlib import Path

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, y = X.iloc[:150, :8], y.iloc[:150]


@pytest.mark.parametrize("penalty", ["auto", "average"])
def test_rows_decide_about_the_penalty(penalty: str) -> None:
    model = LogisticRegression(penalty).fit(X[:100], y[:100])
    assert model.penalty_ == model.path_.penalty
    assert len(model.path_.penalties) >= 3
    told = model.predict_log_proba(X[100:])
    loss = -told[np.arange(50), y[100:]].mean()
    plain = LogisticRegression(1e-4).fit(X[:100], y[:100]).predict_log_proba(X[100:])
    assert loss < -plain[np.arange(50), y[100:]].mean()
    assert "log-loss" in str(model.path_)
    assert "<table" in model.path_._repr_html_()


def test_a_chosen_penalty_is_a_fit_with_it() -> None:
    model = LogisticRegression("auto").fit(X, y)
    alone = LogisticRegression(model.penalty_).fit(X, y)
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.covariance_, alone.covariance_, rtol=1e-6)
    assert model.converged_
    notes = str(model.summary())
    assert "the penalty was chosen among" in notes
    assert alone.penalty_ == model.penalty_
    with pytest.raises(AttributeError, match="no path of penalties"):
        alone.path_  # noqa: B018


def test_an_average_has_no_coefficients_and_says_why() -> None:
    model = LogisticRegression("average").fit(X, y)
    for name in ("coef_", "intercept_", "covariance_", "converged_", "bound_", "n_iter_"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match="average of softmaxes"):
            getattr(model, name)
    for ask in (model.against, lambda: model.explain(X)):
        with pytest.raises(BadSetting, match="average of softmaxes"):
            ask()
    with pytest.raises(AttributeError, match="average of softmaxes"):
        model.summary()
    with pytest.raises(BadSetting, match="cannot be written as SQL"):
        to_sql(model)
    odds = model.decision_function(X)
    p = model.predict_proba(X)
    np.testing.assert_allclose(odds, np.log(p[:, 1] / p[:, 0]), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), (odds > 0.0).astype(int))


def test_an_average_of_three_classes_has_scores_that_add_up_to_nothing() -> None:
    rows, labels = load_iris(return_X_y=True)
    model = LogisticRegression("average").fit(rows, labels)
    np.testing.assert_allclose(model.decision_function(rows).sum(axis=1), 0.0, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0)


@pytest.mark.parametrize("penalty", ["auto", "average"])
@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"solver": "sgd"}, "judged by exact fits"),
        ({"warm_start": True}, "strongest penalty"),
        ({"correction": "firth"}, "itself a penalty"),
    ],
)
def test_settings_that_do_not_go_with_a_path(
    penalty: str, settings: dict[str, Any], told: str
) -> None:
    with pytest.raises(BadSetting, match=told):
        LogisticRegression(penalty, **settings).fit(X, y)


@pytest.mark.parametrize("penalty", ["best", "", "AUTO", None, -1.0])
def test_no_other_word_is_a_penalty(penalty: Any) -> None:
    with pytest.raises(BadSetting, match='"auto", "average"'):
        LogisticRegression(penalty).fit(X, y)


def test_a_stream_goes_on_with_the_chosen_penalty() -> None:
    model = LogisticRegression("auto").fit(X[:100], y[:100])
    chosen = model.penalty_
    model.partial_fit(X[100:], y[100:])
    alone = LogisticRegression(chosen).fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-6)
    assert model.penalty_ == chosen
    with pytest.raises(BadSetting, match="for a stream, give a number"):
        LogisticRegression("auto").partial_fit(X, y)
    with pytest.raises(BadSetting, match="an average has no single θ"):
        LogisticRegression("average").fit(X, y).partial_fit(X, y)


@pytest.mark.parametrize("penalty", ["auto", "average"])
def test_what_is_saved_comes_back(penalty: str, tmp_path: Path) -> None:
    model = LogisticRegression(penalty).fit(X, y)
    model.save(tmp_path / "model")
    back = suffice.load(tmp_path / "model")
    assert back.get_params() == model.get_params()
    assert back.path_.judged == model.path_.judged
    np.testing.assert_array_equal(back.path_.losses, model.path_.losses)
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    said = str(describe(read_model(tmp_path / "model")))
    assert ("averaged over" if penalty == "average" else "chosen by the log-loss") in said


def test_files_of_a_given_penalty_know_nothing_of_paths(tmp_path: Path) -> None:
    LogisticRegression(1.0).fit(X, y).save(tmp_path / "model")
    assert "path" not in read_model(tmp_path / "model").state


def test_averages_cannot_be_compared_by_coefficients(tmp_path: Path) -> None:
    for name, penalty in (("one", "average"), ("two", "auto")):
        LogisticRegression(penalty).fit(X, y).save(tmp_path / name)
    one, two = (read_model(tmp_path / name) for name in ("one", "two"))
    with pytest.raises(suffice.errors.SufficeError, match="no estimates in common"):
        differences(one, two)
    with pytest.raises(BadSetting, match="no coefficients to compare"):
        differences(one, one)


def test_a_path_that_its_model_does_not_have_is_refused(tmp_path: Path) -> None:
    model = LogisticRegression("auto").fit(X, y)
    model.penalty = 3.0
    model.save(tmp_path / "model")
    with pytest.raises(BadFile, match="is not what the settings ask for"):
        suffice.load(tmp_path / "model")
    learned = LogisticRegression("auto").fit(X, y).learned_
    third = LogisticRegression("auto").fit(X, np.arange(150) % 2).learned_
    mixed = replace(learned.statistics, path=third.statistics.path)
    LogisticRegression.of_learned(learned.holding(mixed)).save(tmp_path / "model")
    with pytest.raises(BadFile, match="another penalty than its path"):
        suffice.load(tmp_path / "model")


@pytest.mark.parametrize("penalty", ["auto", "average"])
def test_categories_have_every_level_and_blanks_are_refused(penalty: str) -> None:
    frame = X[["mean radius"]].assign(size=np.where(X["mean area"] > 600, "large", "small"))
    model = LogisticRegression(penalty).fit(frame, y)
    assert model.coefficient_names_ == ("mean radius", "size=large", "size=small")
    with pytest.raises(suffice.errors.SufficeError):
        LogisticRegression(penalty).fit(X.mask(X < 12.0), y)


@pytest.mark.parametrize("penalty", ["auto", "average"])
def test_one_class_has_no_path(penalty: str) -> None:
    with pytest.warns(OneClass):
        model = LogisticRegression(penalty).fit(X, np.zeros(150))
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((150, 1)))
    assert not hasattr(model, "path_")


@pytest.mark.parametrize("penalty", ["auto", "average"])
def test_two_rows_have_an_answer(penalty: str) -> None:
    model = LogisticRegression(penalty).fit([[0.0], [1.0]], ["a", "b"])
    assert model.path_.judged[0] == "nothing"
    assert model.penalty_ == 1000.0
    np.testing.assert_allclose(model.predict_proba([[0.5]]), [[0.5, 0.5]])


def test_more_rows_than_are_judged_are_learned_from_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "MOST_JUDGED", 60)
    model = LogisticRegression("auto").fit(X, y)
    assert model.path_.sampled == 150
    assert 60 <= model.path_.rows <= 70
    assert "a sample: 150 rows" in str(model.path_)
    alone = LogisticRegression(model.penalty_).fit(X, y)
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-6)


@pytest.mark.parametrize("penalty", ["auto", "average"])
def test_a_source_is_judged_by_some_of_its_rows(
    penalty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "MOST_CELLS", 0)  # pass by pass, as if it were large
    X.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    there = LogisticRegression(penalty).fit(tmp_path / "rows.parquet", target="y")
    here = LogisticRegression(penalty).fit(X, y)
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), atol=1e-6)
    assert there.penalty_ == here.penalty_


def test_scikit_learn_takes_it_as_any_other() -> None:
    model = clone(LogisticRegression("average"))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.8
    assert pd.Series(model.fit(X, y).predict(X)).isin([0, 1]).all()
