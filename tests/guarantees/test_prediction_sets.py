"""Prediction sets: equal to refits, and they hold what they promise."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris

import suffice
from suffice import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianDiscriminant,
    LogisticRegression,
    MultinomialNaiveBayes,
    NaiveBayes,
    Pool,
    TextClassifier,
)
from suffice.errors import BadLabels, BadSetting, BadWeights
from suffice.estimators.conformal import sets
from suffice.learning.conformal import unions as union_rows
from suffice.models.pool.members import MEMBERS
from suffice.monitoring.kept_cells import kept_numbers
from tests.searches import examples, repeats

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

GAUSSIAN = [
    GaussianDiscriminant(),
    GaussianDiscriminant(divisor="unbiased"),
    GaussianDiscriminant("per-class"),
    GaussianDiscriminant("per-class", divisor="unbiased"),
    GaussianDiscriminant("per-class", pool=0.3),
    GaussianDiscriminant("per-class", pool=0.4, shrink=0.3),
    GaussianDiscriminant(shrink=0.5),
    GaussianDiscriminant("diagonal"),
    GaussianDiscriminant("diagonal", divisor="unbiased"),
    GaussianDiscriminant("shared-diagonal"),
    GaussianDiscriminant("spherical"),
    GaussianDiscriminant(predictive=1.0),
    GaussianDiscriminant("VEV"),
    GaussianDiscriminant("EVI"),
    GaussianDiscriminant(factors=1),
    GaussianDiscriminant(temperature=0.5),
    GaussianDiscriminant(priors={0: 0.5, 1: 0.2, 2: 0.3}),
    NaiveBayes("gaussian"),
    NaiveBayes("shared-gaussian"),
    NaiveBayes("predictive-gaussian"),
    NaiveBayes("gaussian", priors={0: 0.5, 1: 0.2, 2: 0.3}),
]
"""Models of numbers whose settings do not depend on the rows."""
COUNTS = [
    NaiveBayes("poisson"),
    NaiveBayes("categorical"),
    NaiveBayes("multinomial"),
    MultinomialNaiveBayes(),
    MultinomialNaiveBayes(temperature=0.3),
    BernoulliNaiveBayes(),
    ComplementNaiveBayes(),
]
"""Models of counts."""


def named(model: Any) -> str:
    return "".join(str(model).split())


def refitted(
    model: Any, X: Any, y: Any, x: Any, within: str, among: Any = None
) -> NDArray[np.float64]:
    """Return p-values by a refit for every row of every union, `among` some of the rows."""
    found = np.empty((len(x), len(model.classes_)))
    for a in range(len(x)):
        for c, label in enumerate(model.classes_):
            rows, labels = np.vstack([X, x[a : a + 1]]), np.append(y, label)
            scores = np.empty(len(labels))
            for i in range(len(labels)):
                rest = np.arange(len(labels)) != i
                fit = clone(model).fit(rows[rest], labels[rest])
                place = np.flatnonzero(fit.classes_ == labels[i])
                told = fit.predict_log_proba(rows[i : i + 1])[0]
                scores[i] = -told[place[0]] if len(place) else np.inf
            ours = labels == label if within == "class" else np.ones(len(labels), dtype=bool)
            ours &= (
                np.append(np.isin(np.arange(len(y)), among), True) if among is not None else True
            )
            own = scores[-1]
            near = own - 1e-9 * max(1.0, abs(own)) if np.isfinite(own) else own
            found[a, c] = np.mean(scores[ours] >= near)
    return found


def numbers(seed: int, n: int = 15, d: int = 2) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 10.0, size=d) + y[:, None]
    x = rng.normal(size=(1, d)) * rng.choice([1.0, 50.0]) + 1.0
    return X, y, x


@pytest.mark.slow
@pytest.mark.parametrize("model", GAUSSIAN, ids=named)
@pytest.mark.filterwarnings("ignore")
@given(st.integers(0, 2**32), st.sampled_from(["all", "class"]))
@examples(2)
def test_sets_of_numbers_are_those_of_refits(model: Any, seed: int, within: str) -> None:
    X, y, x = numbers(seed)
    fitted = clone(model).fit(X, y)
    found = fitted.prediction_set(x, within=within, rows=(X, y)).p_values
    np.testing.assert_allclose(found, refitted(fitted, X, y, x, within), rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [*map(GaussianDiscriminant, ("VEI", "EVV", "EII")), GaussianDiscriminant(factors=1)],
    ids=named,
)
@pytest.mark.filterwarnings("ignore")
def test_a_column_that_only_the_asked_row_moves_is_constant_without_it(model: Any) -> None:
    X, y, x = numbers(1, d=3)
    X[:, 0], x[:, 0] = 2.0, -1.6
    fitted = clone(model).fit(X, y)
    found = fitted.prediction_set(x, rows=(X, y)).p_values
    np.testing.assert_allclose(found, refitted(fitted, X, y, x, "all"), rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        *map(GaussianDiscriminant, ("shared", "per-class", "diagonal", "VEI", "EEV")),
        GaussianDiscriminant("per-class", pool=0.5, shrink=0.2),
        GaussianDiscriminant(predictive=1.0),
        GaussianDiscriminant(factors=1),
    ],
    ids=named,
)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("moves", ["asked", "training", "along"])
def test_rows_from_the_file_alone_are_left_out_as_by_refits(model: Any, moves: str) -> None:
    """A row that alone moves a column, or leaves a line, takes that with it."""
    X, y, x = numbers(0, d=3)
    X[:, 0] = 2.0 * X[:, 1] if moves == "along" else 2.0
    x[:, 0] = 2.0 if moves == "training" else -1.6
    model = clone(model).set_params(calibration_rows=7)
    for i in range(len(y)):  # of a training row: until it is one of those that are kept
        X[:, 0] = np.where((np.arange(len(y)) == i) & (moves == "training"), 3.7, X[:, 0])
        fitted = clone(model).fit(X, y)
        kept = kept_numbers(fitted.learned_)
        assert kept is not None
        places = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in kept.cells]
        if moves != "training" or i in places:
            break
        X[i, 0] = 2.0
    found = fitted.prediction_set(x).p_values
    alone = clone(model).set_params(calibration_rows=None).fit(X, y)
    np.testing.assert_allclose(found, refitted(alone, X, y, x, "all", places), rtol=0, atol=1e-12)


@pytest.mark.parametrize("model", COUNTS, ids=named)
@pytest.mark.filterwarnings("ignore")
@given(st.integers(0, 2**32), st.sampled_from(["all", "class"]))
@examples(2)
def test_sets_of_counts_are_those_of_refits(model: Any, seed: int, within: str) -> None:
    rng = np.random.default_rng(seed)
    y = np.arange(12) % 2
    X = rng.poisson(1.0 + y[:, None] * np.array([1.0, 0.0, 2.0])).astype(float)
    x = rng.poisson(2.0, size=(2, 3)).astype(float)
    fitted = clone(model).fit(X, y)
    found = fitted.prediction_set(x, within=within, rows=(X, y)).p_values
    np.testing.assert_allclose(found, refitted(fitted, X, y, x, within), rtol=0, atol=1e-12)


@pytest.mark.slow
def test_texts_beside_numbers_are_ranked_as_every_other_row() -> None:
    """Whichever row of a union is the asked one: each has a rank of its own, or shares a higher."""
    said = ["cheap pills now", "meet you at noon", "see you there", "cheap and cheerful"] * 2
    X = np.array([[i % 5 + 0.1 * i, f"{text} {i}"] for i, text in enumerate(said)], dtype=object)
    y = np.array([0, 1, 1, 0] * 2)
    p = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        model = NaiveBayes({0: "gaussian", 1: "words"}).fit(X[rest], y[rest])
        found = model.prediction_set(X[i : i + 1], rows=(X[rest], y[rest]))
        p.append(found.p_values[0, y[i]])
    assert (np.sort(p) >= np.arange(1, len(y) + 1) / len(y) - 1e-12).all()
    assert min(p) < 0.3


@pytest.mark.parametrize("model", [MultinomialNaiveBayes(), BernoulliNaiveBayes()], ids=named)
def test_sparse_rows_have_the_sets_of_dense_ones(model: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = rng.poisson(0.5 + y[:, None], size=(30, 4)).astype(float)
    x = rng.poisson(1.0, size=(3, 4)).astype(float)
    dense = clone(model).fit(X, y).prediction_set(x, rows=(X, y)).p_values
    X, x = csr_array(X), csr_array(x)
    sparse = clone(model).fit(X, y).prediction_set(x, rows=(X, y)).p_values
    np.testing.assert_array_equal(dense, sparse)


@pytest.mark.parametrize(
    "model", [GaussianDiscriminant(), NaiveBayes("gaussian"), LogisticRegression(1.0)], ids=named
)
def test_weights_are_repetitions(model: Any) -> None:
    X, y, x = numbers(3, 30)
    times = np.arange(30) % 3 + 1
    weighted = clone(model).fit(X, y, times).prediction_set(x, rows=(X, y, times))
    X, y = np.repeat(X, times, axis=0), np.repeat(y, times)
    repeated = clone(model).fit(X, y).prediction_set(x, rows=(X, y))
    np.testing.assert_allclose(weighted.p_values, repeated.p_values, atol=1e-12)


def test_blank_cells_and_new_levels_have_sets() -> None:
    rng = np.random.default_rng(0)
    n = 40
    table = [[("u", "v")[i // 2 % 2], float(rng.normal() + i % 2)] for i in range(n)]
    for i in (2, 3, 10, 11):
        table[i][0] = None
    y = [("no", "yes")[i % 2] for i in range(n)]
    for model in (NaiveBayes(), GaussianDiscriminant("diagonal")):
        fitted = model.fit(table, y)
        found = fitted.prediction_set([["w", 0.5], [None, None]], rows=(table, y))
        assert found.p_values.shape == (2, 2)
        assert np.isfinite(found.p_values).all()
        assert all(len(each) >= 1 for each in found.sets)


@pytest.mark.slow
def test_coverage_without_leaving_kept_rows_out_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The asked row is added and kept rows are left out; if they are not, coverage falls."""

    def coverage() -> float:
        rng = np.random.default_rng(0)
        held = size = 0
        for _ in range(repeats(80, 3000)):
            y = np.concatenate([[0, 0, 1, 1], rng.integers(0, 2, 36)])
            X = rng.normal(size=(40, 10)) + 0.4 * y[:, None]
            model = GaussianDiscriminant(calibration_rows=19).fit(X, y)
            asked = rng.integers(0, 2, 8)
            x = rng.normal(size=(8, 10)) + 0.4 * asked[:, None]
            p = model.prediction_set(x).p_values[np.arange(8), asked]
            held, size = held + int((p > 0.1).sum()), size + 8
        return held / size

    assert 0.86 <= coverage() <= 0.94  # se .013: 640 rows, eight a training set

    def not_left_out(self: Any, c: int, start: int) -> Any:
        part = self.asked[start : start + 1]
        union = self.learned.more(union_rows._one(self.learned, part, c))
        told = -union.model.posterior(self.rows, log=True)
        own = -self.learned.model.posterior(part, log=True)
        return told[np.arange(len(self.codes)), self.codes][None], own[:, c]

    monkeypatch.setattr(union_rows.DiscriminantUnions, "pairs", not_left_out)
    assert coverage() < 0.83


def test_ties_broken_at_random_are_uniform() -> None:
    rng = np.random.default_rng(0)
    p = []
    for _ in range(repeats(60, 1000)):
        y = rng.integers(0, 2, 25)
        y[:4] = [0, 0, 1, 1]
        X = rng.integers(0, 2, size=(25, 2)).astype(float)  # many ties
        asked = rng.integers(0, 2, 5)
        x = rng.integers(0, 2, size=(5, 2)).astype(float)
        model = BernoulliNaiveBayes().fit(X, y)
        found = model.prediction_set(x, rows=(X, y), randomized=True, random_state=rng)
        p.append(found.p_values[np.arange(5), asked])
    told = np.concatenate(p)
    spread = 3.5 * np.sqrt(0.25 / len(told)) * 1.6  # rows that share a training set
    assert abs((told > 0.5).mean() - 0.5) < spread


def test_a_class_of_few_rows_is_in_every_set() -> None:
    X, y, _ = numbers(0, 60)
    y = np.where(np.arange(60) < 5, 2, y % 2)
    model = GaussianDiscriminant().fit(X, y)
    found = model.prediction_set(X[:20], 0.9, "class", rows=(X, y))
    assert all(2 in each for each in found.sets)
    assert "Too few rows for 0.9, so these are in every set: 2" in found.promise


def test_fewer_rows_than_the_coverage_takes_exclude_nothing() -> None:
    X, y, x = numbers(0, 9)
    found = GaussianDiscriminant("diagonal").fit(X, y).prediction_set(x, 0.95, rows=(X, y))
    assert found.sets == [(0, 1, 2)]
    assert "every set has all classes" in found.promise


def test_the_likeliest_class_is_in_the_set() -> None:
    X, y = load_iris(return_X_y=True)
    model = GaussianDiscriminant().fit(X, y)
    found = model.prediction_set(X, 0.5, rows=(X, y))
    assert (found.p_values <= 0.5).all(axis=1).any()  # of some rows nothing else would be
    assert all(p in each for p, each in zip(model.predict(X), found.sets, strict=True))
    assert found.holds(y).mean() >= 0.5


@pytest.mark.filterwarnings("ignore::suffice.errors.SmallSample")
@pytest.mark.parametrize(
    "model",
    [
        GaussianDiscriminant(calibration_rows=20),
        GaussianDiscriminant("diagonal", calibration_rows=20),
        NaiveBayes(calibration_rows=20),
        BernoulliNaiveBayes(calibration_rows=20),
        MultinomialNaiveBayes(calibration_rows=20),
        ComplementNaiveBayes(calibration_rows=20),
    ],
    ids=named,
)
def test_kept_rows_merge_forget_and_are_stored(model: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    y = np.array(["a", "b"])[np.arange(60) % 2]
    X = rng.poisson(1.0 + (y == "b")[:, None] * np.array([2.0, 0.0, 1.0])).astype(float)
    x = rng.poisson(2.0, size=(4, 3)).astype(float)
    whole = clone(model).fit(X, y)
    told = whole.prediction_set(x).p_values
    assert len(whole.statistics_.sample.rows) <= 20
    merged = clone(model).fit(X[:30], y[:30]) + clone(model).fit(X[30:], y[30:])
    np.testing.assert_allclose(merged.prediction_set(x).p_values, told, atol=1e-12)
    whole.save(tmp_path / "kept.suffice")
    loaded = suffice.load(tmp_path / "kept.suffice")
    np.testing.assert_array_equal(loaded.prediction_set(x).p_values, told)
    merged.forget(X[30:], y[30:])
    kept = merged.statistics_.sample
    first = clone(model).fit(X[:30], y[:30]).statistics_.sample
    assert set(kept.rows) <= set(first.rows)
    assert "kept rows" in merged.prediction_set(x).promise


def test_a_row_far_away_is_ranked_as_by_refits() -> None:
    X, y, _ = numbers(5)
    far = np.array([[1e7, -1e7]])
    for form in ("shared", "per-class", "diagonal"):
        model = GaussianDiscriminant(form).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = refitted(model, X, y, far, "all")
        found = model.prediction_set(far, rows=(X, y)).p_values
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.filterwarnings("ignore::suffice.errors.SeparationWarning")
def test_others_have_sets_by_fits_without_rows() -> None:
    X, y = load_iris(return_X_y=True)
    for model in (LogisticRegression(1.0), LogisticRegression(1.0, l1_ratio=0.5)):
        fitted = model.fit(X[::3], y[::3])
        found = fitted.prediction_set(X[1::3], rows=(X[::3], y[::3]))
        assert found.holds(y[1::3]).mean() >= 0.85
        assert found.sizes.mean() < 1.5
    texts = ["cheap pills", "buy cheap", "meet you", "see you", "cheap now", "you and me"] * 4
    labels = ["spam", "spam", "ham", "ham", "spam", "ham"] * 4
    words = TextClassifier().fit(texts, labels)
    told = words.prediction_set(["cheap"], rows=(texts, labels))
    assert told.sets == [("spam",)]
    assert "CV+" in told.promise
    assert "0.8 is guaranteed" in told.promise


def test_one_step_is_near_refits() -> None:
    X, y, x = numbers(2, 60)
    model = LogisticRegression(5.0).fit(X, y)
    found = model.prediction_set(x, rows=(X, y)).p_values
    own, asked = np.empty(60), np.empty((60, 3))
    for i in range(60):
        rest = np.arange(60) != i
        fit = clone(model).fit(X[rest], y[rest])
        own[i] = -fit.predict_log_proba(X[i : i + 1])[0, y[i]]
        asked[i] = -fit.predict_log_proba(x)[0]
    expected = (1 + (own[:, None] >= asked).sum(axis=0)) / 61
    np.testing.assert_allclose(found[0], expected, atol=2.5 / 61)


def test_blank_cells_of_asked_rows_are_filled_as_predict_fills_them() -> None:
    """Each fold fills them with the means of the rows that it learns from, as a fit does."""
    X, y, _ = numbers(2, 60)
    asked = np.array([[np.nan, X[0, 1]], [np.nan, np.nan], X[0]])
    model = LogisticRegression(1.0, missing="indicator").fit(X, y)
    found = model.prediction_set(asked, rows=(X, y))
    assert found.promise.startswith("CV+ of 10 folds")
    fold = np.random.default_rng(sets.SEED).permutation(len(y)) % sets.FOLDS
    at_least = np.ones((3, 3))
    for f in range(sets.FOLDS):
        kept = fold != f
        whole = LogisticRegression(1.0).fit(X[kept], y[kept])
        filled = np.where(np.isnan(asked), X[kept].mean(axis=0), asked)
        own = -whole.predict_log_proba(X[~kept])[np.arange((~kept).sum()), y[~kept]]
        at_least += (own >= -whole.predict_log_proba(filled)[:, :, np.newaxis]).sum(axis=2)
    np.testing.assert_allclose(found.p_values, at_least / (len(y) + 1), rtol=1e-12)


@pytest.mark.parametrize(
    "names", [("no", "yes"), (3, 7), (False, True), (("a", 1), ("b", 2)), (2.0, 4.0)], ids=str
)
def test_sets_say_whether_they_hold_labels_of_any_kind(names: Any) -> None:
    X, y, _ = numbers(2, 40)
    labels = np.empty(40, dtype=object)
    for i in range(40):
        labels[i] = names[y[i] % 2]
    model = GaussianDiscriminant().fit(X, labels)
    found = model.prediction_set(X, 0.8, rows=(X, labels))
    told = [labels[i] in each for i, each in enumerate(found.sets)]
    assert np.mean(told) >= 0.8
    assert found.holds(labels).tolist() == told
    assert found.holds(labels.tolist()).tolist() == told
    with pytest.raises(BadSetting, match="39 labels for 40 sets"):
        found.holds(labels[:-1])


def test_a_pool_has_sets_from_its_file_alone(tmp_path: Path) -> None:
    X, y, x = numbers(4, 36)
    pool = Pool([next(iter(MEMBERS))]).fit(X, y)
    pool.save(tmp_path / "pool.suffice")
    loaded = suffice.load(tmp_path / "pool.suffice")
    found = loaded.prediction_set(x)
    assert found.p_values.shape == (1, 3)
    assert "CV+" in found.promise


X0 = np.array([[0.0], [1.0], [2.0], [3.0]])
Y0 = ["a", "a", "b", "b"]


@pytest.mark.parametrize("coverage", [0.0, 1.0, 1.5, -0.1, "much", True, float("nan")])
def test_a_coverage_is_a_share(coverage: Any) -> None:
    model = GaussianDiscriminant().fit(X0, Y0)
    with pytest.raises(BadSetting, match="is not a share between 0 and 1"):
        model.prediction_set(X0, coverage, rows=(X0, Y0))


def test_what_cannot_be_ranked_is_refused() -> None:
    model = GaussianDiscriminant().fit(X0, Y0)
    with pytest.raises(BadSetting, match="none are given or stored"):
        model.prediction_set(X0)
    with pytest.raises(BadSetting, match="within='row'"):
        model.prediction_set(X0, within="row", rows=(X0, Y0))
    with pytest.raises(BadSetting, match="not the rows and labels"):
        model.prediction_set(X0, rows=X0)
    with pytest.raises(BadSetting, match="weight 3"):
        model.prediction_set(X0, rows=(X0[:3], Y0[:3]))
    with pytest.raises(BadLabels, match="not a class of this model"):
        model.prediction_set(X0, rows=(X0, ["a", "a", "b", "c"]))
    half = GaussianDiscriminant().fit(X0, Y0, [0.5, 1.5, 1, 1])
    with pytest.raises(BadWeights, match="covariate shift"):
        half.prediction_set(X0, rows=(X0, Y0, [0.5, 1.5, 1, 1]))
    with pytest.raises(BadSetting, match="calibration_rows=0"):
        GaussianDiscriminant(calibration_rows=0).fit(X0, Y0)
    with pytest.raises(BadSetting, match="calibration_rows=5000"):
        NaiveBayes(calibration_rows=5000).fit(X0, Y0)


def test_many_rows_with_blank_cells_are_left_out_by_folds() -> None:
    """A refit is a search there: for many asked rows that would take hours."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 3)) + y[:, None]
    X[::11, 1] = np.nan
    model = GaussianDiscriminant().fit(X, y)
    few, many = (model.prediction_set(X[:size], rows=(X, y)) for size in (2, 60))
    assert few.promise.startswith("Full conformal")
    assert many.promise.startswith("CV+ of 10 folds")
