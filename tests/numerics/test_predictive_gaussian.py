"""Gaussian columns averaged over their means and variances: the formula, and rows left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy import stats
from sklearn.datasets import load_digits, load_iris, load_wine

import suffice
from suffice import NaiveBayes
from suffice.errors import BadSetting, NotLinear
from suffice.estimators.sql import to_sql
from suffice.families import Common, PredictiveGaussian
from suffice.models.naive_bayes.families import predictive_gaussian
from suffice.plots import draw_column

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData"),
    pytest.mark.filterwarnings("ignore::suffice.errors.OneClass"),
]
FORMS = ["per-class", "shared"]


def drawn(seed: int, *, blanks: bool = True, lone: bool = True) -> tuple[Any, Any, Any]:
    """Return rows of odd units with blanks, labels (one class of one row) and weights."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 25)), int(rng.integers(1, 4))
    y = np.concatenate([[0, 0, 1, 1], rng.integers(3 if lone else 2, size=n - 4)])
    X = rng.normal(size=(n, d)) * (1.0 + y[:, np.newaxis]) + y[:, np.newaxis]
    X = X * 10.0 ** rng.integers(-5, 6, size=d) + 100.0 * rng.normal(size=d)
    if blanks:
        X[rng.random((n, d)) < 0.15] = np.nan
    weights = rng.integers(1, 4, size=n) / 2.0 if rng.random() < 0.5 else None
    return X, y, weights


def by_hand(X: Any, y: Any, w: Any, family: PredictiveGaussian, new: Any) -> Any:
    """Return log p(x | c) of new rows, column by column, as the formula says."""
    classes, w = np.unique(y), np.ones(len(y)) if w is None else w
    out = np.zeros((len(new), len(classes)))
    for j in range(X.shape[1]):
        seen = ~np.isnan(X[:, j])
        x, own, v = X[seen, j], y[seen], w[seen]
        if not len(x) or np.ptp(x) == 0.0:
            continue
        x, new_j = x - x[0], new[:, j] - x[0]
        g, present = v @ x / v.sum(), np.unique(own)
        held = np.array([v[own == c].sum() for c in classes])
        means = [v[own == c] @ x[own == c] / v[own == c].sum() if c in present else g
                 for c in classes]  # fmt: skip
        scatters = [v[own == c] @ np.square(x[own == c] - m)
                    for c, m in zip(classes, means, strict=True)]  # fmt: skip
        degrees = v.sum() - len(present)
        total = v @ np.square(x - g) / v.sum()
        prior = max(sum(scatters) / degrees if degrees >= 1.0 else total, 1e-20 * total)
        a, kappa = family.strength, family.rows
        inner = [s + kappa * n / (n + kappa) * (m - g) ** 2
                 for s, n, m in zip(scatters, held, means, strict=True)]  # fmt: skip
        for c in range(len(classes)):
            whole = held[c] + kappa
            f = a + (held.sum() if family.variance == "shared" else held[c])
            own_scatter = sum(inner) if family.variance == "shared" else inner[c]
            scale = np.sqrt((a * prior + own_scatter) * (1.0 + 1.0 / whole) / f)
            location = (held[c] * means[c] + kappa * g) / whole
            logs = stats.t.logpdf(new_j, f, location, scale)
            out[:, c] += np.where(np.isnan(new_j), 0.0, logs)
    return out


@pytest.mark.parametrize("form", FORMS)
@given(seed=st.integers(0, 2**32 - 1))
def test_densities_are_those_of_the_formula(form: str, seed: int) -> None:
    X, y, w = drawn(seed)
    rng = np.random.default_rng(seed)
    family = PredictiveGaussian(form, *np.exp(rng.normal(size=2)))
    model = NaiveBayes(family).fit(X, y, w)
    told = by_hand(X, y, w, family, X)
    np.testing.assert_allclose(
        model.log_joint(X) - np.log(model.priors_), told, rtol=1e-7, atol=1e-7
    )


@pytest.mark.parametrize("form", FORMS)
@given(seed=st.integers(0, 2**32 - 1))
def test_rows_left_out_are_refits_without_them(form: str, seed: int) -> None:
    X, y, w = drawn(seed)
    family = PredictiveGaussian(form, 2.0, 0.5)
    model = NaiveBayes(family).fit(X, y, w)
    found = model.leave_one_out(X, y, w)
    for i in range(len(y)):
        kept = np.arange(len(y)) != i
        own = None if w is None else w[kept]
        refit = NaiveBayes(family).fit(X[kept], y[kept], own)
        told = refit.predict_log_proba(X[i : i + 1])[0]
        ours = found.log_posterior[i]
        if len(refit.classes_) < len(model.classes_):
            ours = ours[np.isin(model.classes_, refit.classes_)]
        np.testing.assert_allclose(ours, told, atol=1e-7)


@pytest.mark.parametrize("form", FORMS)
def test_an_outlier_by_millions_of_deviations_is_left_out_exactly(form: str) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    X[4, 0] = 1e9
    model = NaiveBayes(PredictiveGaussian(form)).fit(X, y)
    found = model.leave_one_out(X, y).log_posterior
    for i in (3, 4, 5):
        kept = np.arange(20) != i
        refit = NaiveBayes(PredictiveGaussian(form)).fit(X[kept], y[kept])
        np.testing.assert_allclose(found[i], refit.predict_log_proba(X[[i]])[0], atol=1e-7)


def test_a_column_that_is_constant_without_a_row_is_left_out_with_it() -> None:
    X, y = np.zeros((12, 2)), np.arange(12) % 2
    X[:, 1] = np.random.default_rng(0).normal(size=12)
    X[7, 0] = 5.0
    model = NaiveBayes("predictive-gaussian").fit(X, y)
    kept = np.arange(12) != 7
    refit = NaiveBayes("predictive-gaussian").fit(X[kept], y[kept])
    np.testing.assert_allclose(
        model.leave_one_out(X, y).log_posterior[7], refit.predict_log_proba(X[[7]])[0], atol=1e-9
    )


def test_blocks_of_rows_are_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes("predictive-gaussian").fit(X, y)
    at_once = model.leave_one_out(X, y).log_posterior
    monkeypatch.setattr(predictive_gaussian, "CELLS", 50)
    np.testing.assert_allclose(model.leave_one_out(X, y).log_posterior, at_once, atol=1e-12)


def test_many_rows_bring_the_plug_in_density() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200_000, 1)), np.arange(200_000) % 2
    ours, plain = NaiveBayes("predictive-gaussian").fit(X, y), NaiveBayes("gaussian").fit(X, y)
    new = np.linspace(-3.0, 3.0, 7)[:, np.newaxis]
    np.testing.assert_allclose(ours.log_density(new), plain.log_density(new), atol=1e-3)


def test_few_rows_have_honest_probabilities() -> None:
    gains = []
    for load in (load_iris, load_wine, load_digits):
        X, y = load(return_X_y=True)
        for seed in range(4):
            order = np.random.default_rng(seed).permutation(len(y))
            train, test = order[:60], order[60:]
            losses = []
            for family in ("gaussian", "predictive-gaussian"):
                model = NaiveBayes(family).fit(X[train], y[train])
                known = np.isin(y[test], model.classes_)
                told = model.predict_log_proba(X[test][known])
                places = np.searchsorted(model.classes_, y[test][known])
                losses.append(-np.maximum(told, -36.0)[np.arange(len(told)), places].mean())
            gains.append(losses[0] - losses[1])
    assert np.mean(gains) > 0.2
    assert np.mean(np.array(gains) > 0.0) > 0.7


@pytest.mark.parametrize("form", FORMS)
def test_far_cells_have_finite_scores(form: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes(PredictiveGaussian(form)).fit(X, y)
    far = np.array([[1e300, 1e-300, -1e308, 5.0], [1e160] * 4])
    assert np.isfinite(model.predict_log_proba(far)).all()
    assert np.isfinite(model.log_density(far)).all()


@pytest.mark.parametrize("form", FORMS)
def test_samples_are_of_the_law(form: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes(PredictiveGaussian(form, strength=3.0)).fit(X[::6], y[::6])
    rows, labels = model.sample(30_000, random_state=0)
    parameters = model.parameters_["x0"][1]
    own = np.asarray(rows)[labels == 1, 0]
    t = stats.t(parameters["degrees"], parameters["location"], parameters["scale"])
    assert stats.kstest(own, t.cdf).pvalue > 1e-3


def test_explanations_add_up_and_lines_are_refused() -> None:
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes("predictive-gaussian").fit(X, y)
    told = model.explain(X[:5], of=2, against=0)
    logs = model.predict_log_proba(X[:5])
    np.testing.assert_allclose(told.log_odds, logs[:, 2] - logs[:, 0], atol=1e-9)
    with pytest.raises(NotLinear, match="Student t"):
        model.to_logistic()


def test_typicality_is_that_of_normal_columns() -> None:
    X, y = load_iris(return_X_y=True)
    ours, plain = (NaiveBayes(f).fit(X, y) for f in ("predictive-gaussian", "gaussian"))
    np.testing.assert_array_equal(ours.typicality(X[:5]), plain.typicality(X[:5]))


@pytest.mark.parametrize("form", FORMS)
def test_databases_say_the_same(form: str) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.set_axis(["a", "b", "c", "d"], axis=1).mask(
        np.random.default_rng(0).random(X.shape) < 0.1
    )
    model = NaiveBayes(PredictiveGaussian(form)).fit(X, y)
    connection = duckdb.connect()
    connection.register("new_rows", X)
    said = connection.sql(to_sql(model, proba=True)).df()
    np.testing.assert_allclose(
        said[["p_0", "p_1", "p_2"]].to_numpy(), model.predict_proba(X), atol=1e-9
    )


@pytest.mark.parametrize("form", FORMS)
def test_models_merge_forget_and_come_back(form: str, tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    family = PredictiveGaussian(form, 2.0, 0.5)
    whole = NaiveBayes(family, temperature="held-out").fit(X, y)
    halves = [NaiveBayes(family, temperature="held-out").fit(X[k::2], y[k::2]) for k in (0, 1)]
    merged = halves[0] + halves[1]
    np.testing.assert_allclose(merged.predict_proba(X), whole.predict_proba(X), atol=1e-6)
    merged.forget(X[1::2], y[1::2])
    np.testing.assert_allclose(merged.predict_proba(X), halves[0].predict_proba(X), atol=1e-5)
    whole.save(tmp_path / "model")
    back = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(back.predict_proba(X), whole.predict_proba(X))
    assert back.families == family


def test_one_law_for_all_classes_says_nothing() -> None:
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes({0: Common(PredictiveGaussian())}).fit(X, y)
    assert not model.explain(X[:3]).contributions[:, 0].any()


def test_a_column_is_drawn() -> None:
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes("predictive-gaussian").fit(X, y)
    axes = draw_column(Figure().add_subplot(), model, 0, X, y)
    line = axes.get_lines()[0]
    at, heights = line.get_xdata(), line.get_ydata()
    parameters = model.parameters_["x0"][0]
    t = stats.t(parameters["degrees"], parameters["location"], parameters["scale"])
    np.testing.assert_allclose(heights, t.pdf(at), rtol=1e-9)


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.inf, "4", None, True])
@pytest.mark.parametrize("name", ["strength", "rows"])
def test_priors_of_no_rows_are_refused(name: str, wrong: Any) -> None:
    with pytest.raises(BadSetting, match=name):
        PredictiveGaussian(**{name: wrong})


def test_words_and_frames_are_read_as_gaussian_columns_read_them() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, None, 4.0], "flag": [True, False, True, True]})
    model = NaiveBayes("predictive-gaussian").fit(frame, list("aabb"))
    assert set(model.families_.values()) == {"predictive-gaussian"}
    with pytest.raises(suffice.errors.SufficeError):
        NaiveBayes("predictive-gaussian").fit(pd.DataFrame({"x": list("abcd")}), list("aabb"))
