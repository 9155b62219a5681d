"""A path of penalties: its solutions are fits, and its losses are those of refits without a row."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from suffice import LogisticRegression
from suffice.models.linear.logistic.fit import fit_logistic, standardised_loss
from suffice.models.linear.logistic.newton import newton
from suffice.models.linear.logistic.objective import Objective
from suffice.models.linear.penalty_path import left_out_rows as steps
from suffice.models.linear.penalty_path import solutions
from suffice.models.linear.penalty_path.fold_fits import FoldFits, fold_places
from suffice.models.linear.penalty_path.left_out_rows import left_out_rows
from suffice.models.linear.penalty_path.solutions import PenalisedLoss
from suffice.models.linear.penalty_path.walk import PENALTIES, SAFE_LEVERAGE, walked
from suffice.rows import read_sparse
from tests.searches import repeats

TABLES = {"iris": load_iris, "wine": load_wine, "tumours": load_breast_cancer}


def table(name, size=50, seed=0, permuted=False):
    X, y = TABLES[name](return_X_y=True)
    rng = np.random.default_rng(seed)
    some = rng.permutation(len(y))[:size]
    codes = np.unique(y[some], return_inverse=True)[1]
    return X[some], rng.permutation(codes) if permuted else codes


def drawn(n, d, k, seed=0, steep=0.7):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, size=d) + 5.0
    scores = (rows - rows.mean(axis=0)) / rows.std(axis=0) @ rng.normal(size=(d, k)) * steep
    return rows, np.argmax(scores + rng.gumbel(size=(n, k)), axis=1)


def refit_losses(rows, codes, penalty, weights=None):
    """Losses of every row by a fit of all others, standardised by themselves."""
    labels, losses = tuple(range(codes.max() + 1)), np.empty(len(codes))
    for i in range(len(codes)):
        kept = np.arange(len(codes)) != i
        own = None if weights is None else weights[kept]
        found = fit_logistic(rows[kept], codes[kept], labels, own, penalty, standard_errors=False)
        losses[i] = -found.form.log_posterior(rows[i : i + 1])[0, codes[i]]
    return losses


def held_refit(loss, penalty, i):
    """Log p(y | x) of a row by a fit of all others, in the units of all."""
    kept = np.arange(len(loss.codes)) != i
    weights = None if loss.weights is None else loss.weights[kept]
    others = type(loss)(
        loss.rows[kept], loss.codes[kept], loss.size, weights, loss.origin, loss.inverse
    )
    objective = Objective(others, penalty)
    here = objective.evaluate(np.zeros(objective.shape).ravel(), True)
    theta = objective.theta(newton(objective.evaluate, here, 1e-9, 200).point.at)
    scores = np.concatenate([[0.0], (loss.design(slice(i, i + 1)) @ theta.T)[0]])
    return scores - np.log(np.exp(scores).sum())


@pytest.mark.parametrize(
    ("n", "d", "k", "penalty", "tolerance"),
    [(50, 5, 2, 0.01, 0.005), (50, 5, 2, 10.0, 0.0005), (50, 20, 3, 100.0, 0.001),
     (50, 20, 3, 10.0, 0.004), (120, 5, 3, 0.1, 0.002), (120, 10, 5, 10.0, 0.002)],
)  # fmt: skip
@pytest.mark.parametrize("weighted", [False, True])
def test_steps_away_from_a_row_are_refits_without_it(n, d, k, penalty, tolerance, weighted):
    rows, codes = drawn(n, d, k, seed=n + d + k, steep=0.3)
    weights = np.random.default_rng(1).integers(1, 4, size=n) / 2.0 if weighted else None
    fit = PenalisedLoss(standardised_loss(rows, codes, k, weights))
    found = fit.minimum(penalty, fit.first, 1e-9)
    told = left_out_rows(found.inner, penalty, found.within, found.hessian)
    refitted = np.array([held_refit(fit.loss, penalty, i) for i in range(n)])
    own = np.arange(n), codes
    assert told.leverage < 0.5
    assert abs(np.mean(told.log_posterior[own] - refitted[own])) < tolerance
    assert np.abs(np.exp(told.log_posterior) - np.exp(refitted)).max() < 25.0 * tolerance


def test_a_second_step_is_nearer_than_the_first(monkeypatch):
    rows, codes = table("wine", permuted=True)
    fit = PenalisedLoss(standardised_loss(rows, codes, 3, None))
    found = fit.minimum(3.0, fit.first, 1e-9)
    exact = np.array([held_refit(fit.loss, 3.0, i) for i in range(50)])
    two = left_out_rows(found.inner, 3.0, found.within, found.hessian).log_posterior
    monkeypatch.setattr(steps, "SECOND_STEPS", 0.0)
    one = left_out_rows(found.inner, 3.0, found.within, found.hessian).log_posterior
    assert np.abs(two - exact).mean() < 0.5 * np.abs(one - exact).mean()


def test_rows_in_blocks_are_rows_at_once(monkeypatch):
    rows, codes = drawn(60, 4, 3)
    fit = PenalisedLoss(standardised_loss(rows, codes, 3, None))
    found = fit.minimum(5.0, fit.first, 1e-9)
    at_once = left_out_rows(found.inner, 5.0, found.within, found.hessian)
    monkeypatch.setattr(steps, "BLOCK_CELLS", 700)
    in_blocks = left_out_rows(found.inner, 5.0, found.within, found.hessian)
    np.testing.assert_allclose(in_blocks.log_posterior, at_once.log_posterior, atol=1e-12)
    assert in_blocks.leverage == pytest.approx(at_once.leverage)


def test_a_row_that_decides_alone_is_not_stepped_away_from():
    rows = np.append(np.zeros(20), 1.0)[:, np.newaxis]  # one row alone has the only 1
    codes = np.append(np.arange(20) % 2, 1)
    fit = PenalisedLoss(standardised_loss(rows, codes, 2, None))
    found = fit.minimum(1e-4, fit.first, 1e-9)
    told = left_out_rows(fit.loss, 1e-4, found.theta, found.hessian, most=0.4)
    assert told.leverage > 0.4
    assert told.log_posterior is None


@pytest.mark.slow
@pytest.mark.parametrize("permuted", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_judged_losses_are_those_of_refits(name, permuted):
    for seed in range(repeats(1, 3)):
        rows, codes = table(name, seed=seed, permuted=permuted)
        path = walked(rows, codes, codes.max() + 1).path
        stepped = [g for g, way in enumerate(path.judged) if way == "left-out"]
        assert stepped
        for g in {*stepped[1::3], stepped[-1]}:
            exact = refit_losses(rows, codes, path.penalties[g]).mean()
            assert abs(path.losses[g] - exact) <= 0.01, (path.penalties[g], seed)


@pytest.mark.parametrize("permuted", [False, True])
def test_losses_of_folds_are_those_of_fits_by_hand(permuted):
    rows, codes = table("tumours", permuted=permuted)
    walk = walked(rows, codes, 2)
    places = fold_places(rows, codes, 10)
    assert "folds" in walk.path.judged
    for g, way in enumerate(walk.path.judged):
        if way != "folds":
            continue
        losses = np.empty(50)
        for fold in range(10):
            held = places == fold
            model = LogisticRegression(walk.path.penalties[g]).fit(rows[~held], codes[~held])
            told = model.predict_log_proba(rows[held])
            losses[held] = -told[np.arange(held.sum()), codes[held]]
        assert walk.path.losses[g] == pytest.approx(losses.mean(), abs=1e-5)
        assert walk.path.errors[g] == pytest.approx(losses.std() / 50**0.5, rel=1e-3)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "d", "k"), [(60, 4, 2), (80, 6, 4), (40, 60, 2)])
def test_solutions_on_the_path_are_separate_fits(n, d, k, intercept):
    rows, codes = drawn(n, d, k)
    walk = walked(rows, codes, k, intercept=intercept)
    for penalty, theta in zip(walk.path.penalties, walk.thetas, strict=True):
        alone = fit_logistic(
            rows, codes, tuple(range(k)), None, penalty, intercept=intercept, tolerance=1e-10
        )
        np.testing.assert_allclose(theta, alone.theta, atol=1e-8)


def test_many_parameters_have_the_same_solutions_by_gradients(monkeypatch):
    rows, codes = drawn(90, 8, 4)
    newton_walk = walked(rows, codes, 4)
    monkeypatch.setattr(solutions, "NEWTON_PARAMETERS", 0)
    walk = walked(rows, codes, 4)
    assert set(walk.path.judged) == {"folds"}
    for one, other in zip(walk.thetas, newton_walk.thetas, strict=False):
        np.testing.assert_allclose(one, other, atol=1e-7)


def test_sparse_rows_have_the_path_of_dense_ones():
    rng = np.random.default_rng(3)
    dense = rng.poisson(0.3, size=(70, 12)).astype(float)
    codes = (dense[:, 0] + dense[:, 1] + rng.normal(size=70) > 0.6).astype(int)
    ours, theirs = walked(read_sparse(csr_array(dense)), codes, 2), walked(dense, codes, 2)
    np.testing.assert_allclose(ours.path.losses, theirs.path.losses, atol=1e-6)
    assert ours.path.judged == theirs.path.judged


def test_steps_are_for_small_leverages_and_classes_of_some_rows():
    rows, codes = drawn(60, 3, 2)
    assert set(walked(rows, codes, 2).path.judged) == {"left-out"}
    few = np.where(np.arange(60) < 3, 2, codes)  # a class of three rows
    assert set(walked(rows, few, 3).path.judged) == {"folds"}
    wide, codes = drawn(40, 30, 2)
    walk = walked(wide, codes, 2)
    for penalty, way, theta in zip(walk.path.penalties, walk.path.judged, walk.thetas, strict=True):
        fit = PenalisedLoss(standardised_loss(wide, codes, 2, None))
        found = fit.minimum(penalty, theta, 1e-9)
        leverage = left_out_rows(found.inner, penalty, found.within, found.hessian).leverage
        assert (way == "left-out") == (leverage < SAFE_LEVERAGE)
    assert {"left-out", "folds"} == set(walk.path.judged)


def test_a_path_ends_when_it_is_clearly_worse_twice():
    rng = np.random.default_rng(5)
    rows, codes = rng.normal(size=(80, 30)), rng.permutation(np.arange(80) % 2)
    walk = walked(rows, codes, 2)
    path, own = walk.path, (np.arange(80), codes)
    assert len(path.penalties) < len(PENALTIES)
    best = -walk.held_out[path.chosen][own]
    worse = []
    for told in walk.held_out[path.chosen + 1 :]:
        apart = -told[own] - best
        worse.append(bool(apart.mean() > apart.std() / 80**0.5))
    assert worse[-2:] == [True, True]
    assert not any(first and second for first, second in pairwise(worse[:-1]))


def test_a_row_alone_in_its_class_is_not_judged():
    rows, codes = drawn(30, 2, 2)
    codes[0] = 2
    path = walked(rows, codes, 3).path
    assert path.rows == 29
    assert np.isfinite(path.losses).all()
    lone = walked(rows[:3], np.arange(3), 3).path
    assert lone.rows == 0
    assert lone.penalty == 1000.0
    assert set(lone.judged) == {"nothing"}


def test_folds_are_made_once_and_do_not_depend_on_the_order_of_rows():
    rows, codes = drawn(50, 3, 2)
    folds = FoldFits.of(rows, codes, 2, None, True)
    assert sorted(np.concatenate([fold.held for fold in folds.folds])) == list(range(50))
    order = np.random.default_rng(1).permutation(50)
    np.testing.assert_array_equal(
        fold_places(rows[order], codes[order], 10), fold_places(rows, codes, 10)[order]
    )


def test_a_test_of_fresh_rows_agrees_with_the_judged_loss():
    gaps = []
    for seed in range(8):
        rows, codes = drawn(2000, 6, 3, seed=seed, steep=0.8)
        model = LogisticRegression("average").fit(rows[:100], codes[:100])
        told = model.predict_log_proba(rows[100:])
        fresh = -told[np.arange(1900), codes[100:]].mean()
        gaps.append(model.path_.losses.min() - fresh)
    assert abs(np.mean(gaps)) < 0.03


@pytest.mark.parametrize("name", TABLES)
def test_permuted_labels_have_no_gain(name):
    gains = []
    for seed in range(20):
        rows, codes = table(name, seed=seed, permuted=True)
        counts = np.bincount(codes)
        shares = -np.log((counts[codes] - 1.0) / 49.0).mean()  # the class shares, a row left out
        walk = walked(rows, codes, len(counts))
        told = sum(
            share * np.exp(held)
            for share, held in zip(walk.path.shares, walk.held_out, strict=True)
        )
        gains.append(shares + np.log(told[np.arange(50), codes]).mean())
    assert np.mean(gains) <= 0.03
