"""Where a pool stands beside single models: how it is judged, and when it is chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris

import suffice
from suffice.errors import BadSetting
from suffice.evaluation import LabelledRows, compare, held_out
from suffice.evaluation.best_model import best_of, from_the_pool
from suffice.evaluation.candidates import Candidate, usual_candidates
from suffice.tables.table_reading import TableReading
from suffice.training.hooks import Hooks
from suffice.training.model_choice import choose
from suffice.training.rows_here import rows_beside_labels

MEMBERS = ["GDA", "naive Bayes"]


def mixed(size: int = 80, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Return rows with text and blanks, some of them twice, and labels of two classes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=size)
    frame = pd.DataFrame(
        {
            "size": (rng.normal(size=size) + codes).round(1),
            "colour": rng.choice(["red", "blue"], size),
        }
    )
    frame.loc[::7, "size"] = np.nan
    frame = pd.concat([frame, frame.head(10)], ignore_index=True)
    return frame, np.array(["no", "yes"])[np.append(codes, codes[:10])]


def losses_of(probabilities: Any, y: Any, classes: Any) -> Any:
    return -np.log(probabilities[np.arange(len(y)), np.searchsorted(classes, y)])


# The pool judges its rows


def test_judged_probabilities_are_those_of_the_figures() -> None:
    X, y = mixed()
    pool = suffice.Pool(MEMBERS).fit(X, y)
    found = pool.judged_probabilities(X, y)
    assert found.shape == (90, 2)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert losses_of(found, y, pool.classes_).mean() == pytest.approx(pool.log_loss_)
    right = pool.classes_[found.argmax(axis=1)] == y
    assert right.mean() == pytest.approx(pool.accuracy_)
    assert not np.allclose(found, pool.predict_proba(X), atol=1e-3)


def test_rows_may_come_in_any_order_and_from_a_file(tmp_path: Any) -> None:
    X, y = mixed()
    pool = suffice.Pool(MEMBERS).fit(X, y)
    whole = pool.judged_probabilities(X, y)
    some = np.random.default_rng(1).permutation(len(y))[:30]
    found = pool.judged_probabilities(X.iloc[some], y[some])
    np.testing.assert_array_equal(found, whole[some])
    np.testing.assert_array_equal(whole[:10], whole[80:])  # the same rows, judged together
    pool.save(tmp_path / "m.suffice")
    again = suffice.load(tmp_path / "m.suffice").judged_probabilities(X, y)
    np.testing.assert_allclose(again, whole, rtol=1e-9)


def test_rows_that_were_not_judged_are_refused() -> None:
    X, y = mixed()
    pool = suffice.Pool(MEMBERS).fit(X, y)
    with pytest.raises(BadSetting, match="row 0 with its label was not in the fit"):
        pool.judged_probabilities(X.assign(size=9.9), y)
    other = np.where(y == "no", "yes", "no")
    with pytest.raises(BadSetting, match="was not in the fit"):
        pool.judged_probabilities(X, other)
    with pytest.raises(BadSetting, match="was not in the fit"):
        pool.judged_probabilities(X, np.full(len(y), "perhaps"))
    rng = np.random.default_rng(0)
    many = rng.normal(size=(2049, 2))
    large = suffice.Pool(["naive Bayes"]).fit(many, many[:, 0] > 0.0)
    with pytest.raises(BadSetting, match="with more than 2,048 rows a pool evaluates a sample"):
        large.judged_probabilities(many, many[:, 0] > 0.0)


def test_a_pool_is_held_out_by_its_own_folds() -> None:
    X, y = mixed()
    rows = LabelledRows.read(X, y)
    model = suffice.Pool(MEMBERS)
    folds = np.arange(len(y)) % 5
    held = held_out(model, rows, folds)
    pool = suffice.Pool(MEMBERS).fit(X, y)
    assert held.log_posterior is not None
    np.testing.assert_allclose(np.exp(held.log_posterior), pool.judged_probabilities(X, y))
    assert held.notes[0] == "judged by its own folds"
    assert "GDA " in held.notes[1]
    assert held.notes[1].endswith(" %")
    assert not hasattr(model, "classes_")
    np.testing.assert_array_equal(held.fitted.posterior(X), pool.predict_proba(X))


# The rule


def both() -> list[Candidate]:
    """Return two single models and a pool."""
    return [
        Candidate("gda", "GDA", suffice.GaussianDiscriminant(), "generative", 0),
        Candidate("naive-bayes", "Bayes", suffice.NaiveBayes(), "generative", 1),
        Candidate("pool", "pool of models", suffice.Pool(), "", 2),
    ]


@pytest.mark.parametrize(
    ("single", "pool", "chosen"),
    [
        ([0.2, 0.3, 0.2, 0.3], [0.1, 0.2, 0.1, 0.2], "pool of models"),  # the pool is better
        ([0.2, 0.3, 0.2, 0.3], [0.3, 0.4, 0.3, 0.4], "GDA"),  # it is worse, without noise
        ([0.1, 0.5, 0.1, 0.5], [0.4, 0.3, 0.4, 0.3], "pool of models"),  # worse within noise
        ([0.2, 0.2, 0.2, 0.2], [0.2004] * 4, "pool of models"),  # worse by nothing that matters
        ([0.2, 0.2, 0.2, 0.2], [0.2006] * 4, "GDA"),
    ],
)
def test_a_pool_is_chosen_unless_a_single_model_is_better_beyond_noise(
    single: list[float], pool: list[float], chosen: str
) -> None:
    losses = {"GDA": single, "Bayes": [0.9] * 4, "pool of models": pool}
    assert best_of(both(), {n: np.array(v) for n, v in losses.items()}).name == chosen


def test_one_standard_error_is_that_of_nadeau_and_bengio() -> None:
    gaps = np.array([0.0, 0.2])  # mean .1, variance .02; 1/K + n_test/n_train = 1.5
    losses = {"GDA": np.zeros(2), "Bayes": np.ones(2), "pool of models": gaps}
    assert best_of(both(), losses).name == "pool of models"  # √(.02 · 1.5) = .173
    assert best_of(both(), {**losses, "pool of models": gaps + 0.074}).name == "GDA"
    assert best_of(both(), {**losses, "pool of models": gaps + 0.073}).name == "pool of models"
    said = from_the_pool(both(), losses)
    assert said == "the best single model, GDA, has a log-loss lower by 0.100 ± 0.173"


def test_without_a_pool_or_with_nothing_else_the_least_loss_decides() -> None:
    losses = {n: np.array(v) for n, v in {"GDA": [0.3, 0.4], "Bayes": [0.2, 0.6]}.items()}
    assert best_of(both()[:2], losses).name == "GDA"
    assert from_the_pool(both()[:2], losses) == ""
    pool = {"pool of models": np.array([0.1, 0.2])}
    assert best_of(both()[2:], pool).name == "pool of models"


# Where there is one


@pytest.mark.parametrize(("size", "there"), [(9, False), (10, True), (2048, True), (2049, False)])
def test_a_pool_is_tried_on_few_rows(size: int, there: bool) -> None:
    rng = np.random.default_rng(0)
    rows = LabelledRows.read(rng.normal(size=(size, 2)), np.arange(size) % 2)
    assert any(one.is_pool for one in usual_candidates(rows)) == there


def test_sparse_rows_have_no_pool() -> None:
    rows = LabelledRows.read(csr_matrix(np.eye(20)), np.arange(20) % 2)
    assert not any(one.is_pool for one in usual_candidates(rows))


def test_single_is_all_but_the_pool() -> None:
    X, y = load_iris(return_X_y=True)
    rows = LabelledRows.read(X, y)
    singles = [one.key for one in usual_candidates(rows)][:-1]
    found = compare(X, y, models="single", folds=3, curves=False)
    assert [one.key for one in found.candidates] == singles
    assert not found.candidate(found.best).is_pool


@pytest.mark.slow
def test_a_large_table_is_never_a_pool() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2100, 2))
    found = suffice.train(X, X[:, 0] + rng.normal(size=2100) > 0.0)
    assert found.choice is not None
    assert "pool of models" not in found.choice.losses
    assert not isinstance(found.estimator, suffice.Pool)


@pytest.mark.slow
def test_what_was_judged_is_what_is_fitted() -> None:
    X, y = mixed()
    hooks = Hooks()
    rows = rows_beside_labels(X, y, (), hooks, TableReading(), texts=False)
    chosen = choose(rows, 0, hooks)
    assert chosen.learner.name == "Pool", hooks.notes
    assert chosen.judged is not None
    assert chosen.judged.how == "judged by its own folds"
    assert chosen.judged.log_loss == pytest.approx(chosen.choice.losses["pool of models"])
    assert hooks.notes[-2].startswith("chose pool of models: its log-loss on held-out rows is ")
    assert "; the best single model, " in hooks.notes[-2]
    assert hooks.notes[-1] == "a pool keeps its rows: anyone with the file can read them"
    single = choose(rows, 0, Hooks(), single=True)
    assert single.learner.name != "Pool"
    assert single.learned is None
    pool = suffice.train(X, y).estimator
    np.testing.assert_allclose(
        pool.predict_proba(X), suffice.Pool().fit(X, y).predict_proba(X), rtol=1e-9
    )
