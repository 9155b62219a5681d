"""Metrics, folds and merged training sets: what must hold for all rows."""

from __future__ import annotations

import warnings
from inspect import signature
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import accuracy_score, brier_score_loss
from sklearn.metrics import log_loss as peer_log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from suffice import (
    BernoulliNaiveBayes,
    GaussianDiscriminant,
    LogisticRegression,
    MultinomialNaiveBayes,
    NaiveBayes,
)
from suffice.errors import BadSetting, NotFinite
from suffice.evaluation import (
    LabelledRows,
    accuracy,
    brier,
    calibration_error,
    held_out,
    learning_curves,
    log_loss,
    reliability,
    shrinkage_losses,
    stratified_folds,
)
from suffice.evaluation.metrics import CLIP

seeds = st.integers(0, 2**32 - 1)


def drawn(seed: int, classes: int, size: int = 60) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    posterior = rng.dirichlet(np.full(classes, 0.7), size)
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, size - classes)])
    return posterior, codes, rng.integers(1, 4, size).astype(float)


@given(seeds, st.integers(2, 5), st.booleans())
def test_metrics_are_those_of_scikit_learn(seed: int, classes: int, weighted: bool) -> None:
    posterior, codes, weights = drawn(seed, classes)
    w = weights if weighted else None
    logs = np.log(posterior)
    labels = list(range(classes))
    predicted = posterior.argmax(axis=1)
    assert accuracy(predicted, codes, w) == pytest.approx(
        accuracy_score(codes, predicted, sample_weight=w), abs=1e-12
    )
    assert log_loss(logs, codes, w) == pytest.approx(
        peer_log_loss(codes, posterior, sample_weight=w, labels=labels), abs=1e-10
    )
    if classes == 2:
        theirs = brier_score_loss(codes, posterior[:, 1], sample_weight=w)
    elif "labels" in signature(brier_score_loss).parameters:
        theirs = brier_score_loss(codes, posterior, sample_weight=w, labels=labels)
    else:  # before 1.7 it is for two classes
        theirs = np.average(np.square(posterior - np.eye(classes)[codes]).sum(axis=1), weights=w)
    assert brier(logs, codes, w) == pytest.approx(theirs, abs=1e-12)


@given(seeds, st.integers(2, 4))
def test_a_weight_is_a_repetition_in_every_metric(seed: int, classes: int) -> None:
    posterior, codes, weights = drawn(seed, classes)
    logs = np.log(posterior)
    often = np.repeat(np.arange(len(codes)), weights.astype(int))
    for metric in (log_loss, brier, calibration_error):
        assert metric(logs, codes, weights) == pytest.approx(
            metric(logs[often], codes[often]), abs=1e-12
        )
    a, b = reliability(logs, codes, weights, of=1), reliability(logs[often], codes[often], of=1)
    np.testing.assert_allclose(a.low, b.low, atol=1e-12)
    np.testing.assert_allclose(a.rows, b.rows)


def test_a_row_that_was_ruled_out_costs_the_clip_and_no_more() -> None:
    with np.errstate(divide="ignore"):
        logs = np.log([[1.0, 0.0], [0.5, 0.5]])
    assert log_loss(logs, np.array([1, 0])) == pytest.approx((-np.log(CLIP) + np.log(2.0)) / 2.0)
    assert brier(logs, np.array([1, 0])) == pytest.approx((1.0 + 0.25) / 2.0)


def test_probabilities_that_come_true_have_no_calibration_error() -> None:
    logs = np.log(np.tile([0.75, 0.25], (400, 1)))
    codes = np.repeat([0, 0, 0, 1], 100)
    assert calibration_error(logs, codes) == pytest.approx(0.0, abs=1e-12)
    assert calibration_error(logs, 1 - codes) == pytest.approx(0.5)
    found = reliability(logs, codes, of=1)
    assert found.predicted.tolist() == pytest.approx([0.25])
    assert found.low[0] < 0.25 < found.high[0]
    assert found.error == pytest.approx(0.0, abs=1e-12)


@given(seeds, st.integers(2, 5), st.integers(2, 10), st.integers(0, 1000))
def test_folds_are_those_of_scikit_learn(seed: int, classes: int, folds: int, state: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.permutation(
        np.concatenate([np.arange(10) % classes, rng.integers(classes, size=30)])
    )
    found = stratified_folds(codes, folds, state)
    assume(np.bincount(codes).max() >= folds)  # scikit-learn refuses more folds than that
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
        peers = StratifiedKFold(folds, shuffle=True, random_state=state).split(codes, codes)
        for f, (_, test) in enumerate(peers):
            np.testing.assert_array_equal(np.flatnonzero(found == f), test)


@given(seeds, st.integers(1, 9), st.integers(2, 30))
def test_folds_share_out_every_class_also_where_all_are_small(
    seed: int, classes: int, folds: int
) -> None:
    codes = np.random.default_rng(seed).integers(classes, size=30)
    found = stratified_folds(codes, folds, 0)
    assert np.ptp(np.bincount(found, minlength=folds)) <= 1
    for c in np.unique(codes):
        assert np.ptp(np.bincount(found[codes == c], minlength=folds)) <= 1


@pytest.mark.parametrize(("folds", "state"), [(1, 0), (True, 0), (7, 0), (2, -1), (2, None)])
def test_folds_that_cannot_be_made_are_refused(folds: Any, state: Any) -> None:
    with pytest.raises(BadSetting):
        stratified_folds(np.array([0, 1, 0, 1, 0, 1]), folds, state)


CLOSED = [
    GaussianDiscriminant(),
    GaussianDiscriminant("per-class"),
    GaussianDiscriminant("auto"),
    GaussianDiscriminant("shared-diagonal"),
    GaussianDiscriminant(shrink=0.3, priors={0: 0.2, 1: 0.3, 2: 0.5}),
    NaiveBayes(),
    NaiveBayes("shared-gaussian"),
    NaiveBayes("select"),
    NaiveBayes("binned", smoothing="held-out", temperature="held-out"),
]


@pytest.mark.parametrize("model", CLOSED, ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_merged_folds_are_refits(model: Any, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    codes = np.arange(120) % 3
    X = rng.normal(size=(120, 4)) @ rng.normal(size=(4, 4)) + codes[:, np.newaxis]
    weights = rng.integers(1, 4, 120).astype(float) if weighted else None
    rows = LabelledRows.read(X, codes, weights)
    folds = stratified_folds(codes, 5, 0)
    found = held_out(model, rows, folds).log_posterior
    assert found is not None
    for f in range(5):
        train, test = folds != f, folds == f
        w = None if weights is None else weights[train]
        refit = clone(model).fit(X[train], codes[train], sample_weight=w)
        np.testing.assert_allclose(
            np.exp(found[test]), refit.predict_proba(X[test]), rtol=0.0, atol=1e-9
        )


@pytest.mark.parametrize("model", [BernoulliNaiveBayes(), MultinomialNaiveBayes()], ids=str)
def test_folds_of_sparse_counts_are_merged_as_well(model: Any) -> None:
    from scipy.sparse import csr_array

    rng = np.random.default_rng(5)
    codes = np.arange(60) % 2
    counts = csr_array(rng.poisson(np.where(codes, 0.3, 0.8)[:, np.newaxis], (60, 12)))
    folds = stratified_folds(codes, 4, 1)
    found = held_out(model, LabelledRows.read(counts, codes), folds).log_posterior
    assert found is not None
    for f in range(4):
        refit = clone(model).fit(counts[folds != f], codes[folds != f])
        own = refit.predict_log_proba(counts[folds == f])
        np.testing.assert_allclose(found[folds == f], own, atol=1e-9)


def test_many_shrinkages_from_merged_folds_are_refits() -> None:
    rng = np.random.default_rng(9)
    codes = np.arange(150) % 3
    X = rng.normal(size=(150, 5)) @ rng.normal(size=(5, 5)) + codes[:, np.newaxis]
    rows = LabelledRows.read(X, np.array(["a", "b", "c"])[codes])
    found = shrinkage_losses(rows, [0.0, 0.3, 1.0], folds=5, random_state=2)
    folds = stratified_folds(codes, 5, 2)
    for s, shrink in enumerate(found.shrinks):
        for f in range(5):
            train, test = folds != f, folds == f
            refit = GaussianDiscriminant(shrink=float(shrink)).fit(X[train], codes[train])
            loss = log_loss(refit.predict_log_proba(X[test]), codes[test])
            assert found.losses[s, f] == pytest.approx(loss, rel=1e-9)
    assert found.best in found.shrinks
    X[3, 1] = np.nan
    with pytest.raises(NotFinite, match="row 3, x1"):
        shrinkage_losses(LabelledRows.read(X, codes), [0.5])


def test_levels_that_only_the_held_out_fold_has_change_nothing() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    words = np.array(["red", "green"], dtype=object)[rng.integers(2, size=40)]
    words[7] = "once"
    frame = pandas.DataFrame({"size": rng.normal(size=40), "word": words})
    y = np.array(["a", "b"], dtype=object)[np.arange(40) % 2]
    folds = stratified_folds(np.arange(40) % 2, 4, 0)
    rows = LabelledRows.read(frame, y)
    for model in (GaussianDiscriminant(), NaiveBayes()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = held_out(model, rows, folds).log_posterior
            assert found is not None
            train, test = folds != folds[7], folds == folds[7]
            refit = clone(model).fit(frame[train], y[train])
        gaps = np.abs(np.exp(found[test]) - refit.predict_proba(frame[test])).max(axis=1)
        new = np.flatnonzero(test) == 7
        assert gaps[~new].max() < 1e-9
        # A row of no known level lies where no row has ever been: rounding weighs more there.
        assert gaps[new].max() < 1e-5


def test_a_learning_curve_of_sums_is_that_of_refits() -> None:
    rng = np.random.default_rng(8)
    codes = np.arange(200) % 2
    X = rng.normal(size=(200, 3)) + codes[:, np.newaxis]
    rows = LabelledRows.read(X, codes)

    models = {
        "merged": GaussianDiscriminant("per-class"),
        # A pipeline is not a sum: it is fitted for every size.
        "refitted": make_pipeline(GaussianDiscriminant("per-class")),
        "logistic": LogisticRegression(1e-4, standard_errors=False),
    }
    found = learning_curves(models, rows, sizes=[10, 40, 120], repeats=4)
    np.testing.assert_allclose(found.errors[0], found.errors[1], atol=1e-12)
    np.testing.assert_allclose(found.losses[0], found.losses[1], atol=1e-9)
    assert (found.band("logistic")[1] <= found.band("logistic")[2]).all()
