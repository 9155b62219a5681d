"""What is chosen: by one rule, whoever asks, and with an estimator that takes the rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier

from suffice import LogisticRegression, Perceptron, compare, load
from suffice.errors import SufficeWarning
from suffice.evaluation.prepared_classifier import PreparedClassifier

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("numbers", "blank numbers", "truths", "blank truths", "texts", "blank texts", "all")
LABELS = {
    "text": lambda codes: np.array(["no", "yes", "perhaps"])[codes],
    "whole": lambda codes: np.array([7, -1, 3])[codes],
    "truth": lambda codes: codes > 0,
}
KEYS = (
    "naive-bayes-shared",
    "gda",
    "naive-bayes",
    "logistic-penalty",
    "logistic",
    "gda-auto",
    "qda",
)


def table(kind: str, seed: int = 0, rows: int = 60) -> tuple[pd.DataFrame, Any]:
    """Return rows of one kind of column, and codes of three classes."""
    rng = np.random.default_rng(seed)
    codes = np.resize([0, 1, 2], rows)
    numbers = rng.normal(size=(rows, 3)) + codes[:, np.newaxis]
    truths = (rng.random((rows, 2)) < 0.2 + 0.25 * codes[:, np.newaxis]).astype(object)
    texts = np.array(list("abcd"), object)[(codes[:, np.newaxis] + rng.integers(2, size=(rows, 2)))]
    parts = {"numbers": numbers, "truths": truths, "texts": texts}
    found = {}
    for name, cells in parts.items():
        if kind not in ("all", name, f"blank {name}"):
            continue
        given = cells.astype(object) if name != "numbers" else cells.copy()
        if kind != name:
            given[rng.random(cells.shape) < 0.15] = np.nan if name == "numbers" else None
        for j in range(given.shape[1]):
            column = given[:, j]
            whole = name == "truths" and kind == name
            found[f"{name}{j}"] = column.astype(bool) if whole else column
    return pd.DataFrame(found), codes


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@pytest.mark.parametrize(
    ("kind", "labels"),
    # What becomes of columns does not depend on labels: the latter are tried where all kinds are.
    [*((kind, "text") for kind in KINDS), ("all", "whole"), ("all", "truth")],
)
@pytest.mark.slow
def test_every_estimator_takes_the_rows_it_was_compared_on(kind: str, labels: str) -> None:
    X, codes = table(kind)
    y = LABELS[labels](codes)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    given = [*KEYS, ("tree", tree), ("plane", Perceptron(random_state=0))]
    for rows in (X, pl.from_pandas(X)) if (kind, labels) == ("all", "text") else (X,):
        found = compare(rows, y, models=given, folds=2, curves=False)
        assert {*KEYS, "tree"} <= {one.key for one in found.candidates if one.name in found.scores}
        for one in (found.best, *(c.name for c in found.candidates)):
            model = found.estimator(one)
            assert not hasattr(model, "classes_")
            fitted = clone(model).fit(rows, y)
            answers = fitted.predict(rows)
            assert answers.shape == (len(y),)
            assert set(answers.tolist()) <= set(y.tolist())
            if hasattr(model, "predict_proba"):
                shares = fitted.predict_proba(rows)
                np.testing.assert_allclose(shares.sum(axis=1), 1.0)


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
def test_a_prepared_model_is_that_of_the_commands_and_can_be_saved(tmp_path: Path) -> None:
    X, codes = table("all")
    y = LABELS["text"](codes)
    model = compare(X, y, models=["logistic-penalty"], folds=2, curves=False).estimator()
    assert isinstance(model, PreparedClassifier)
    model.fit(X, y, sample_weight=np.ones(len(y)))
    plain = model.estimator_
    assert isinstance(plain, LogisticRegression)
    np.testing.assert_array_equal(plain.predict_proba(X), model.predict_proba(X))
    plain.save(tmp_path / "m.suffice")
    np.testing.assert_array_equal(
        load(tmp_path / "m.suffice").predict_proba(X), model.predict_proba(X)
    )
    other, _ = table("all", seed=1)  # other cells are blank
    assert np.isfinite(model.predict_proba(other)).all()
    assert list(model.feature_names_in_) == list(X.columns)


def test_rows_without_blanks_need_no_preparation() -> None:
    X, y = load_iris(return_X_y=True)
    found = compare(X, y, models=["logistic"], folds=2, curves=False)
    assert isinstance(found.estimator(), LogisticRegression)


@pytest.mark.parametrize("load_table", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.slow
def test_there_is_one_rule_of_choice_on_known_tables(load_table: Any) -> None:
    X, y = load_table(return_X_y=True)
    _check_choice(X[::2], y[::2])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_there_is_one_rule_of_choice(kind: str) -> None:
    _check_choice(*table(kind, seed=2, rows=45))


def compare_quietly(X: Any, y: Any, models: Any = None) -> Any:
    """Compare in three folds, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        return compare(X, y, models=models, folds=3, curves=False)


def _check_choice(X: Any, y: Any) -> None:
    found = compare_quietly(X, y)
    losses = {n: s.log_loss.mean() for n, s in found.scores.items() if s.log_loss is not None}
    pool, single = "pool of models", min((n for n in losses if n[:4] != "pool"), key=losses.get)
    gaps = found.scores[pool].log_loss - found.scores[single].log_loss
    error = np.sqrt(gaps.var(ddof=1) * (1.0 / 3.0 + 0.5))  # Nadeau and Bengio, 3 folds
    assert found.best in (pool, single)
    assert (found.best == pool) == (gaps.mean() <= max(error, 0.0005))
    said = found.recommendation
    assert said.model == said.best == found.best
    assert said.advice.startswith(f"Use {'the ' * (found.best == pool)}{found.best}")
    alone = compare_quietly(X, y, "single")
    assert losses[single] == pytest.approx(alone.scores[alone.best].log_loss.mean(), abs=1e-9)
    kept = found.candidate(found.best).estimator
    chosen = found.estimator()
    chosen = chosen.estimator if isinstance(chosen, PreparedClassifier) else chosen
    assert (type(chosen), chosen.get_params()) == (type(kept), kept.get_params())
