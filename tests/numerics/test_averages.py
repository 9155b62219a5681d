"""Averages over settings and temperatures: by hand from refits, and through every change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from suffice import BernoulliNaiveBayes, GaussianDiscriminant, NaiveBayes
from suffice.errors import BadSetting, NotLinear, SmallSample
from suffice.estimators.sql import to_sql
from suffice.models.gaussian.averages.grid import left_out_scores
from suffice.models.gaussian.averages.row_samples import array_of
from suffice.models.gaussian.averages.shares import (
    LEAST_SHARE,
    LOG_TEMPERATURES,
    LeftOutScores,
    averaged_without_themselves,
    fitted_shares,
)
from suffice.models.gaussian.family import Gaussian
from suffice.models.gaussian.jury import candidates
from suffice.models.gaussian.learner import GaussianLearner
from suffice.models.gaussian.predictive.posterior import STRENGTHS

AVERAGED: list[dict[str, Any]] = [
    {"predictive": "auto"},
    {"predictive": "auto", "prior_rows": 1.0},
    {"covariance": "per-class", "predictive": "auto", "temperature": "left-out"},
    {"covariance": "diagonal", "predictive": "auto"},
    {"covariance": "spherical", "temperature": "left-out"},
    {"temperature": "left-out"},
    {"covariance": "auto", "average": True},
    {"covariance": "auto", "average": True, "temperature": "left-out"},
]


def rows(seed: int, size: int = 40, width: int = 3, classes: int = 2) -> tuple[Any, Any]:
    """Return correlated rows that overlap, every class at least five times."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(classes).repeat(5), rng.integers(classes, size=size - 5 * classes)]
    x = rng.normal(size=(size, width)) @ rng.normal(size=(width, width))
    return x + y[:, np.newaxis] * rng.normal(size=width), y


def by_refits(
    made: Any, settings: list[dict[str, Any]], x: Any, y: Any, betas: Any
) -> tuple[Any, Any]:
    """Return losses (g, b) over refits without each row, and log p(x | c) of rows (g, n, k)."""
    n, k = len(x), len(np.unique(y))
    losses = np.zeros((len(settings), len(betas)))
    whole = np.empty((len(settings), n, k))
    for g, kept in enumerate(settings):
        model = made(**kept).fit(x, y)
        whole[g] = model.log_joint(x) - np.log(model.priors_)
        for i in range(n):
            rest = np.arange(n) != i
            other = made(**kept).fit(x[rest], y[rest])
            joint = other.log_joint(x[i : i + 1])[0]
            logs, priors = joint - np.log(other.priors_), np.log(other.priors_)
            for b, beta in enumerate(betas):
                score = priors + beta * logs
                losses[g, b] -= score[y[i]] - np.logaddexp.reduce(score)
    return losses, whole


def averaged(losses: Any, whole: Any, priors: Any, betas: Any) -> Any:
    """Return Σ share·p, the shares exp(-losses - ½(log β)²)."""
    lost = losses + (np.square(np.log(betas)) / 2.0 if len(betas) > 1 else 0.0)
    shares = np.exp(lost.min() - lost)
    shares /= shares.sum()
    out = np.zeros(whole.shape[1:])
    for g in range(len(losses)):
        for b, beta in enumerate(betas):
            score = np.log(priors) + beta * whole[g]
            score -= np.logaddexp.reduce(score, axis=1)[:, np.newaxis]
            out += shares[g, b] * np.exp(score)
    return out


ROOM = 2.0 * LEAST_SHARE * 300
"""What leaving out the smallest shares may change a probability by."""


@pytest.mark.parametrize("form", ["shared", "per-class", "diagonal"])
def test_strengths_are_averaged_by_what_refits_lose(form: str) -> None:
    x, y = rows(0, size=24)
    settings = [{"covariance": form, "predictive": a} for a in STRENGTHS]
    losses, whole = by_refits(GaussianDiscriminant, settings, x, y, [1.0])
    model = GaussianDiscriminant(form, predictive="auto").fit(x, y)
    expected = averaged(losses, whole, model.priors_, [1.0])
    np.testing.assert_allclose(model.predict_proba(x), expected, atol=ROOM)
    assert len(model.shares_) > 1
    assert abs(sum(share for _, _, share in model.shares_) - 1.0) < 1e-12


@pytest.mark.parametrize("form", ["shared", "per-class", "diagonal", "spherical"])
def test_temperatures_are_averaged_by_what_refits_lose(form: str) -> None:
    x, y = rows(1, size=30)
    betas = np.exp(LOG_TEMPERATURES)
    losses, whole = by_refits(GaussianDiscriminant, [{"covariance": form}], x, y, betas)
    model = GaussianDiscriminant(form, temperature="left-out").fit(x, y)
    expected = averaged(losses, whole, model.priors_, betas)
    np.testing.assert_allclose(model.predict_proba(x), expected, atol=ROOM)
    assert 0.0 < model.temperature_ <= np.exp(0.2) + 1e-12


def test_covariances_are_averaged_by_what_refits_lose() -> None:
    x, y = rows(2, size=24)
    settings = [
        {"covariance": "per-class", "pool": f.pool, "shrink": f.shrink,
         "shrink_target": f.shrink_target}
        for f in candidates("mle")
    ]  # fmt: skip
    losses, whole = by_refits(GaussianDiscriminant, settings, x, y, [1.0])
    model = GaussianDiscriminant("auto", average=True).fit(x, y)
    expected = averaged(losses, whole, model.priors_, [1.0])
    np.testing.assert_allclose(model.predict_proba(x), expected, atol=ROOM)


@pytest.mark.slow
@pytest.mark.parametrize("kept", AVERAGED, ids=str)
def test_rows_judge_as_refits_of_everything_do(kept: dict[str, Any]) -> None:
    """Shares included: the row's own loss must not be in them, and that is enough.

    With true and with permuted labels, for every third row. Measured over 8 tables a setting, all
    rows: +.005 at most in the mean, .015 for a single table (with the own loss in the shares
    -.010 and .050).
    """
    gaps = []
    asked = range(0, 50, 3)
    for permuted in (False, True):
        x, y = rows(3, size=50)
        if permuted:
            y = np.random.default_rng(3).permutation(y)
        judged = GaussianDiscriminant(**kept).fit(x, y).leave_one_out(x, y)
        gap = 0.0
        for i in asked:
            rest = np.arange(50) != i
            other = GaussianDiscriminant(**kept).fit(x[rest], y[rest])
            gap += other.predict_log_proba(x[i : i + 1])[0, y[i]] - judged.log_posterior[i, y[i]]
        gaps.append(gap / len(asked))
    assert abs(np.mean(gaps)) <= 0.01
    assert np.abs(gaps).max() <= 0.02


def test_shares_that_know_the_row_would_be_too_good() -> None:
    """Without taking the row's own loss out, labels that mean nothing would look learned."""
    rng = np.random.default_rng(0)
    n, g = 30, 40
    y = rng.integers(2, size=n)
    logs = tuple(rng.normal(size=(n, 2)) for _ in range(g))
    scores = LeftOutScores(logs, np.full((n, 2), np.log(0.5)), y, np.ones(n), np.ones(n, bool))
    shares = fitted_shares(scores, np.ones(1))
    here = np.arange(n)
    naive = averaged_without_themselves(scores, np.ones(1), shares, np.zeros(n))[here, y]
    honest = averaged_without_themselves(scores, np.ones(1), shares, np.ones(n))[here, y]
    assert -honest.mean() > -naive.mean() + 0.005


# Learning, merging, forgetting: chosen again, never silently old


@pytest.mark.parametrize("kept", AVERAGED, ids=str)
def test_shares_are_those_of_all_rows_however_they_came(kept: dict[str, Any]) -> None:
    x, y = rows(4, size=60)
    whole = GaussianDiscriminant(**kept).fit(x, y)
    parts = [GaussianDiscriminant(**kept).fit(x[s], y[s]) for s in (slice(0, 25), slice(25, 60))]
    streamed = GaussianDiscriminant(**kept).partial_fit(x[:25], y[:25])
    before = streamed.shares_
    streamed.partial_fit(x[25:], y[25:])
    assert streamed.shares_ != before
    more = GaussianDiscriminant(**kept).fit(np.vstack([x, x[:7] + 0.1]), np.r_[y, y[:7]])
    more.forget(x[:7] + 0.1, y[:7])
    for other in (parts[0] + parts[1], streamed, more):
        np.testing.assert_allclose(other.predict_proba(x), whole.predict_proba(x), atol=1e-7)
        assert len(other.shares_) == len(whole.shares_)


def test_levels_that_come_later_leave_sampled_rows_findable() -> None:
    rng = np.random.default_rng(5)
    n = 90
    y = np.arange(n) % 2
    frame = pd.DataFrame(
        {"a": rng.normal(size=n) + y, "colour": rng.choice(["red", "blue"], size=n)}
    )
    late = pd.DataFrame({"a": rng.normal(size=8), "colour": ["grün", None] * 4})
    model = GaussianDiscriminant(predictive="auto", temperature="left-out").fit(frame, y)
    plain = model.predict_proba(frame)
    model.partial_fit(late, np.arange(8) % 2)
    assert model.predict_proba(frame).shape == plain.shape
    model.forget(late, np.arange(8) % 2)
    assert len(model.statistics_.sample.rows) == n
    model.forget(frame.iloc[:5], y[:5])
    again = GaussianDiscriminant(predictive="auto", temperature="left-out")
    again.fit(frame.iloc[5:], y[5:])
    np.testing.assert_allclose(model.predict_proba(frame), again.predict_proba(frame), atol=1e-6)


def test_a_sample_stands_for_many_rows_and_says_when_few_are_left() -> None:
    x, y = rows(6, size=3000)
    model = GaussianDiscriminant(temperature="left-out").fit(x, y)
    assert len(model.statistics_.sample.rows) == 2048
    with pytest.warns(SmallSample):
        model.forget(x[:2800], y[:2800])


def test_settings_changed_after_the_rows_were_read_are_refused() -> None:
    x, y = rows(7)
    model = GaussianDiscriminant().fit(x, y)
    model.set_params(temperature="left-out")
    with pytest.raises(BadSetting, match="fit again"):
        model.predict(x)
    model = GaussianDiscriminant(temperature="left-out").fit(x, y)
    plain = GaussianDiscriminant().fit(x, y)
    model.set_params(temperature=None)  # more was kept than is needed now
    np.testing.assert_array_equal(model.predict_proba(x), plain.predict_proba(x))
    with pytest.raises(BadSetting, match="sample"):
        model.partial_fit(x, y)
    with pytest.raises(BadSetting, match="sample"):
        model.forget(x[:2], y[:2])


# Temperatures


def test_a_temperature_is_an_exponent_on_the_likelihood_and_not_on_priors() -> None:
    x, y = rows(8)
    plain = GaussianDiscriminant().fit(x, y)
    model = GaussianDiscriminant(temperature=0.4).fit(x, y)
    logs = plain.log_joint(x) - np.log(plain.priors_)
    score = np.log(plain.priors_) + 0.4 * logs
    expected = np.exp(score - np.logaddexp.reduce(score, axis=1)[:, np.newaxis])
    np.testing.assert_allclose(model.predict_proba(x), expected, atol=1e-12)
    np.testing.assert_allclose(model.log_density(x), plain.log_density(x), rtol=1e-12)
    np.testing.assert_allclose(model.to_logistic().predict_proba(x), expected, atol=1e-12)
    blank = np.full((1, 3), np.nan)
    np.testing.assert_allclose(model.predict_proba(blank), [plain.priors_], atol=1e-12)
    found = model.explain(x, of=1, against=0)
    total = found.baseline + found.contributions.sum(axis=1)
    np.testing.assert_allclose(total, np.log(expected[:, 1] / expected[:, 0]), atol=1e-9)


@pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData")
def test_a_class_of_one_row_leaves_temperatures_at_one_or_below() -> None:
    x, y = rows(9)
    x, y = np.vstack([x, [9.0, 9.0, 9.0]]), np.r_[y, 7]
    for model in (
        GaussianDiscriminant("shared", temperature="left-out").fit(x, y),
        NaiveBayes("gaussian", temperature="left-out").fit(x, y),
    ):
        assert np.isfinite(model.predict_log_proba(x)).all()
        assert model.temperature_ <= 1.0
    assert max(beta for _, beta, _ in GaussianDiscriminant(
        temperature="left-out").fit(x, y).shares_) <= 1.0  # fmt: skip


@pytest.mark.parametrize("size", [50, 120])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_the_average_is_judged_nearly_as_good_as_the_best_of_its_grid(load: Any, size: int) -> None:
    """Every row is judged, by every setting; the average loses .02 more than the best at most."""
    x, y = load(return_X_y=True)
    some = np.random.default_rng(10).permutation(len(y))[:size]
    x, y = x[some], y[some]
    model = GaussianDiscriminant("auto", average=True).fit(x, y)
    statistics = model.statistics_
    summary = GaussianLearner(Gaussian("per-class")).fit(statistics.held).summary
    table, codes, weights = array_of(statistics.sample, (0, 1, 2)[: len(set(y))])
    families = tuple(candidates("mle"))
    scores = left_out_scores(families, summary, table, codes, weights, None, complete=True)
    assert scores.kept.all()
    lost = scores.losses(np.ones(1))[:, 0].mean(axis=1)
    shares = fitted_shares(scores, np.ones(1))
    average = averaged_without_themselves(scores, np.ones(1), shares, np.zeros(size))
    assert -average[np.arange(size), codes].mean() <= lost.min() + 0.02
    found = {family: share for family, _, share in model.shares_}
    expected = {f: s for f, s in zip(families, shares[:, 0], strict=True) if s > 0.0}
    assert found.keys() == expected.keys()
    np.testing.assert_allclose(list(found.values()), sorted(expected.values())[::-1], rtol=1e-6)


@pytest.mark.parametrize("kept", AVERAGED, ids=str)
def test_explanations_of_averages_add_up(kept: dict[str, Any]) -> None:
    x, y = rows(11, size=45, classes=3)
    model = GaussianDiscriminant(**kept).fit(x, y)
    found = model.explain(x, of=2, against=0)
    logs = model.predict_log_proba(x)
    total = found.baseline + found.contributions.sum(axis=1)
    np.testing.assert_allclose(total, logs[:, 2] - logs[:, 0], atol=1e-9)


def test_what_an_average_says_of_densities_is_a_mixture() -> None:
    x, y = rows(12)
    model = GaussianDiscriminant(predictive="auto").fit(x, y)
    mixture = sum(
        share * np.exp(GaussianDiscriminant(predictive=f.predictive).fit(x, y).log_joint(x))
        for f, _, share in model.shares_
    )
    np.testing.assert_allclose(np.exp(model.log_joint(x)), mixture, rtol=1e-9)
    drawn, labels = model.sample(4000, random_state=0)
    assert abs((labels == 1).mean() - model.priors_[1]) < 0.04
    medians = np.median(drawn[labels == 1], axis=0)
    spread = np.sqrt(np.diag(model.covariances_[1]))
    assert (np.abs(medians - model.means_[1]) < 0.1 * spread).all()
    holes = x[:5].copy()
    holes[:, 1] = np.nan
    assert np.isfinite(model.impute(holes)).all()
    assert model.typicality(x).shape == (len(x), 2)
    shift = model.estimate_priors(x[y == 1])
    assert shift.priors[1] > 0.6


def test_sql_and_sources() -> None:
    """A database cannot write t or averages; rows that are elsewhere are sampled as they are."""
    x, y = rows(15)
    frame = pd.DataFrame(x, columns=["a", "b", "c"]).assign(kind=np.array(["u", "v"])[y])
    for kept in ({"predictive": 1.0}, {"temperature": "left-out"}):
        model = GaussianDiscriminant(**kept).fit(frame[["a", "b", "c"]], frame["kind"])
        with pytest.raises(BadSetting, match="SQL"):
            to_sql(model)
        elsewhere = GaussianDiscriminant(**kept).fit(frame, target="kind")
        np.testing.assert_allclose(
            elsewhere.predict_proba(frame[["a", "b", "c"]]),
            model.predict_proba(frame[["a", "b", "c"]]),
            atol=1e-9,
        )
    naive = NaiveBayes("gaussian", temperature="left-out").fit(frame[["a", "b", "c"]], y)
    with pytest.raises(BadSetting, match="SQL"):
        to_sql(naive)


# Naive Bayes


def test_naive_bayes_averages_by_what_refits_lose() -> None:
    x, y = rows(13, size=30)
    betas = np.exp(LOG_TEMPERATURES)
    losses, whole = by_refits(NaiveBayes, [{"families": "gaussian"}], x, y, betas)
    model = NaiveBayes("gaussian", temperature="left-out").fit(x, y)
    expected = averaged(losses, whole, model.priors_, betas)
    np.testing.assert_allclose(model.predict_proba(x), expected, atol=ROOM)
    parts = [NaiveBayes("gaussian", temperature="left-out").fit(x[s], y[s])
             for s in (slice(0, 12), slice(12, 30))]  # fmt: skip
    merged = parts[0] + parts[1]
    np.testing.assert_allclose(merged.predict_proba(x), model.predict_proba(x), atol=1e-9)
    merged.partial_fit(x[:4] + 1.0, y[:4]).forget(x[:4] + 1.0, y[:4])
    np.testing.assert_allclose(merged.predict_proba(x), model.predict_proba(x), atol=1e-7)
    found = model.explain(x, of=1, against=0)
    logs = model.predict_log_proba(x)
    total = found.baseline + found.contributions.sum(axis=1)
    np.testing.assert_allclose(total, logs[:, 1] - logs[:, 0], atol=1e-9)
    judged = model.leave_one_out(x, y)
    lost = 0.0
    for i in range(30):
        rest = np.arange(30) != i
        other = NaiveBayes("gaussian", temperature="left-out").fit(x[rest], y[rest])
        lost -= other.predict_log_proba(x[i : i + 1])[0, y[i]] / 30
    assert abs(judged.log_loss - lost) <= 0.01


def test_naive_bayes_with_impossible_events_averages_finite_temperatures() -> None:
    rng = np.random.default_rng(14)
    x = (rng.random((60, 5)) < 0.3).astype(float)
    y = np.arange(60) % 2
    x[y == 0, 0] = 0.0
    model = BernoulliNaiveBayes(smoothing=0, temperature="left-out").fit(x, y)
    assert np.isfinite(model.predict_proba(x)).all()
    with pytest.raises(NotLinear, match="average"):
        BernoulliNaiveBayes(temperature="left-out").fit(x, y).to_logistic()
