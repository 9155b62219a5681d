"""Smoothing and its limit, what is held out, and that every family is a distribution."""

from __future__ import annotations

from itertools import product as combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.sparse import csr_array

from suffice import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    MultinomialNaiveBayes,
    NaiveBayes,
)
from suffice.families import Binned
from suffice.rows import read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData")

CLASSES = np.array(["a", "b", "c"])
seeds = st.integers(0, 2**32 - 1)


def labels(rng: np.random.Generator, size: int) -> Any:
    y = CLASSES[rng.integers(0, 3, size)]
    y[:3] = CLASSES
    return y


# The limit of no smoothing


def count_model(name: str, **settings: Any) -> Any:
    if name == "bernoulli":
        return BernoulliNaiveBayes(**settings)
    if name == "complement":
        return ComplementNaiveBayes(**settings)
    if name == "multinomial":
        return MultinomialNaiveBayes(**settings)
    families: Any = Binned(edges=(0.0, 1.0, 2.0, 3.0, 9.0)) if name == "binned" else name
    return NaiveBayes(families, **settings)


@pytest.mark.parametrize(
    "name", ["bernoulli", "multinomial", "complement", "poisson", "categorical", "binned"]
)
@given(seeds)
def test_no_smoothing_is_the_limit_of_less_and_less(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = labels(rng, 9)
    x = rng.poisson(rng.gamma(0.5, 1.0, 4), (9, 4)).astype(float)
    asked = np.r_[x, rng.poisson(0.7, (12, 4)).astype(float)]
    limit = count_model(name, smoothing=0).fit(x, y).predict_proba(asked)
    near = count_model(name, smoothing=1e-13).fit(x, y).predict_proba(asked)
    assert limit == pytest.approx(near, abs=1e-6)
    assert limit.sum(axis=1) == pytest.approx(np.ones(len(asked)), abs=1e-12)


@given(seeds)
def test_among_impossible_classes_the_least_impossible_remain(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = labels(rng, 8)
    x = rng.poisson(0.6, (8, 4)).astype(float)
    asked = rng.poisson(0.8, (10, 4)).astype(float)
    counts = np.array([x[y == c].sum(axis=0) for c in CLASSES])
    totals = counts.sum(axis=1)
    if not totals.all():
        return  # a class without any word says nothing of the limit of N
    prior = np.array([np.mean(y == c) for c in CLASSES])
    order = asked @ (counts == 0.0).T
    logs = np.log(prior) + asked @ np.log(np.where(counts > 0.0, counts, 1.0)).T
    logs -= np.outer(asked.sum(axis=1), np.log(totals))
    logs[order > order.min(axis=1, keepdims=True)] = -np.inf
    expected = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    model = MultinomialNaiveBayes(smoothing=0).fit(x, y)
    for rows in (asked, csr_array(asked)):
        assert model.predict_proba(rows) == pytest.approx(expected, abs=1e-12)


def test_a_level_never_seen_gets_its_share_in_that_cell_alone() -> None:
    x = np.array([["u"], ["u"], ["v"], ["w"], ["u"]], dtype=object)
    y = ["a", "a", "a", "b", "b"]
    model = NaiveBayes({0: "categorical"}, smoothing=0.5).fit(x, y)
    joint = np.exp(model.log_joint([["u"], ["v"], ["w"], ["never"]]) - np.log(model.priors_))
    three = np.array([[2.5, 1.5], [1.5, 0.5], [0.5, 1.5]]) / [3.0 + 1.5, 2.0 + 1.5]
    assert joint[:3] == pytest.approx(three)
    assert joint[3] == pytest.approx([0.5 / (3.0 + 2.0), 0.5 / (2.0 + 2.0)])
    without = NaiveBayes({0: "categorical"}, smoothing=0).fit(x, y)
    # Impossible for both: the limit compares α·π/N.
    odds = np.array([0.6 / 3.0, 0.4 / 2.0])
    assert without.predict_proba([["never"]])[0] == pytest.approx(odds / odds.sum())


# Held-out smoothing


def folds_of(model: Any, x: Any, y: Any) -> Any:
    """Return the fold of every row: a hash of what it says."""
    chosen = model.learned_.learner.chosen.product
    codes = np.searchsorted(CLASSES, y)
    return (chosen.hashes(chosen.read(read_table(x)), codes, CLASSES.tolist()) % 10).astype(int)


def shares(held: Any, rest: Any, alpha: float) -> float:
    """Return Σ N log of the smoothed share of each event, all events competing."""
    probabilities = (rest + alpha) / (rest.sum() + alpha * len(rest))
    return float(held @ np.log(probabilities))


def tally_likelihood(held: Floats, rest: Floats, alpha: float, levels: list[Any]) -> float:
    """Return Σ_j log of the smoothed shares of levels, each column by itself."""
    total = 0.0
    for j, known in enumerate(levels):
        ours, theirs = ((v[:, j, np.newaxis] == known).sum(axis=0) for v in (held, rest))
        total += shares(ours, theirs, alpha)
    return total


def word_likelihood(held: Floats, rest: Floats, alpha: float) -> float:
    return shares(held.sum(axis=0), rest.sum(axis=0), alpha)


def event_likelihood(held: Floats, rest: Floats, alpha: float, pooled: Floats) -> float:
    """Return Σ x log λ - λ, without the x! that no α changes."""
    rates = (rest.sum(axis=0) + alpha * pooled) / (len(rest) + alpha)
    there = held.sum(axis=0) > 0.0
    logs = np.log(np.where(rates > 0.0, rates, 1.0))
    return float(held.sum(axis=0)[there] @ logs[there] - len(held) * rates.sum())


def explicit_likelihood(name: str, x: Floats, y: Any, fold: Any) -> Callable[[float], float]:
    """Return the held-out log-likelihood as a function of α, fold by fold from the definition."""
    levels = [np.unique(x[:, j]) for j in range(x.shape[1])]

    def likelihood(alpha: float) -> float:
        total = 0.0
        for f in np.unique(fold):
            pooled = x[fold != f].mean(axis=0)
            for c in np.unique(y[fold == f]):
                held, rest = x[(fold == f) & (y == c)], x[(fold != f) & (y == c)]
                if name == "multinomial":
                    total += word_likelihood(held, rest, alpha)
                elif name == "poisson":
                    total += event_likelihood(held, rest, alpha, pooled)
                else:
                    total += tally_likelihood(held, rest, alpha, levels)
        return total

    return likelihood


def repeated_rows(rng: np.random.Generator) -> tuple[Floats, Any]:
    y = labels(rng, 60)
    rates = rng.gamma(0.6, 2.0, (3, 4))
    x: Floats = np.minimum(rng.poisson(rates[np.searchsorted(CLASSES, y)]), 8.0)
    return x, y


@pytest.mark.parametrize("name", ["bernoulli", "categorical", "binned", "multinomial"])
@pytest.mark.parametrize("seed", range(3))
def test_no_other_smoothing_has_a_larger_held_out_likelihood(name: str, seed: int) -> None:
    x, y = repeated_rows(np.random.default_rng(seed))
    if name == "bernoulli":
        x = np.minimum(x, 1.0)
    if name == "binned":
        x = np.minimum(x, 3.0)
        x[3:7] = np.arange(4.0)[:, np.newaxis]  # no bin is empty
    model = count_model(name, smoothing="held-out").fit(x, y)
    # Tallies leave out one row at a time; words of a row come together, so folds.
    fold = folds_of(model, x, y) if name == "multinomial" else np.arange(60)
    likelihood = explicit_likelihood(name, x, y, fold)
    (alpha,) = set(model.smoothing_.values())
    best = likelihood(alpha)
    for other in np.geomspace(1e-8, 1e4, 61):
        assert likelihood(float(other)) <= best + 1e-6 * abs(best)
    if 1e-7 < alpha < 1e3:  # a top, and not the edge of what was tried
        assert likelihood(alpha * 1.02) < best
        assert likelihood(alpha / 1.02) < best


@pytest.mark.parametrize("seed", [0, 3, 5, 8])
def test_the_smoothing_of_events_is_as_good_as_sums_can_tell(seed: int) -> None:
    """Sums do not say how events fall on rows: the best α of rows is better by 0.3 at most."""
    x, y = repeated_rows(np.random.default_rng(seed))
    model = NaiveBayes("poisson", smoothing="held-out").fit(x, y)
    likelihood = explicit_likelihood("poisson", x, y, np.arange(60))
    (alpha,) = set(model.smoothing_.values())
    best = max(likelihood(float(other)) for other in np.geomspace(1e-8, 1e4, 61))
    assert likelihood(alpha) > best - 0.3


def test_the_complement_smooths_what_complements_say_of_each_other() -> None:
    rng = np.random.default_rng(4)
    y = labels(rng, 80)
    x = rng.poisson(rng.gamma(0.3, 1.0, (3, 6))[np.searchsorted(CLASSES, y)]).astype(float)
    model = ComplementNaiveBayes(smoothing="held-out").fit(x, y)
    fold = folds_of(model, x, y)
    (alpha,) = set(model.smoothing_.values())

    def likelihood(a: float) -> float:
        return sum(
            word_likelihood(x[(fold == f) & (y != c)], x[(fold != f) & (y != c)], a)
            for f in range(10)
            for c in CLASSES
        )

    best = likelihood(alpha)
    assert all(likelihood(float(a)) <= best + 1e-6 * abs(best) for a in np.geomspace(1e-8, 1e4, 99))


def test_where_nothing_can_be_held_out_the_rule_is_that_of_laplace() -> None:
    x, y = np.zeros((4, 2)), ["a", "a", "b", "b"]
    model = MultinomialNaiveBayes(smoothing="held-out").fit(x, y)
    assert set(model.smoothing_.values()) == {1.0}
    assert model.predict_proba([[1, 0]])[0] == pytest.approx([0.5, 0.5])


# Held-out temperature


def left_out_scores(model: Any, x: Any, y: Any) -> tuple[Floats, Floats]:
    """Return log p(x | c) up to a constant a row, and log priors, each row left out."""
    log_posterior = model.leave_one_out(x, y).log_posterior
    codes = np.searchsorted(model.classes_, y)
    left = np.broadcast_to(np.bincount(codes), log_posterior.shape).astype(float)
    left[np.arange(len(y)), codes] -= 1.0
    priors = np.log(left / left.sum(axis=1, keepdims=True))
    return log_posterior - priors, priors


@pytest.mark.parametrize("name", ["bernoulli", "multinomial", "gaussian", "mixed"])
@pytest.mark.parametrize("seed", range(3))
def test_the_temperature_is_where_the_left_out_loss_is_lowest(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = labels(rng, 60)
    code = np.searchsorted(CLASSES, y)[:, np.newaxis]
    one = rng.normal(code, 1.5, (60, 1))
    x = np.hstack([one, one + rng.normal(0.0, 0.3, (60, 1)), rng.poisson(1.0 + code, (60, 2))])
    families: Any = {0: "gaussian", 1: "gaussian", 2: "poisson", 3: "poisson"}
    if name in ("bernoulli", "multinomial"):
        x = rng.poisson(1.0 + code, (60, 4)).astype(float)
        x[:, 3] = x[:, 2]  # said twice

    def make(temperature: Any) -> Any:
        if name in ("bernoulli", "multinomial"):
            return count_model(name, temperature=temperature)
        return NaiveBayes("gaussian" if name == "gaussian" else families, temperature=temperature)

    model = make("held-out").fit(x, y)
    scores, priors = left_out_scores(make(None).fit(x, y), x, y)
    codes = np.searchsorted(CLASSES, y)
    own = scores[np.arange(len(y)), codes]

    def loss(log_beta: float) -> float:
        joint = priors + np.exp(log_beta) * scores
        right = priors[np.arange(len(y)), codes] + np.exp(log_beta) * own
        return float(np.sum(np.logaddexp.reduce(joint, axis=1) - right) + log_beta**2 / 2.0)

    def slope(log_beta: float) -> float:
        beta = np.exp(log_beta)
        joint = priors + beta * scores
        p = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
        return float(beta * np.sum((p * scores).sum(axis=1) - own) + log_beta)

    found = float(np.log(model.temperature_))
    assert slope(found) == pytest.approx(0.0, abs=1e-5 * len(y))
    best = optimize.minimize_scalar(loss, bounds=(-8.0, 8.0), method="bounded",
                                    options={"xatol": 1e-9})  # fmt: skip
    assert found == pytest.approx(best.x, abs=1e-5)
    assert model.temperature_ < 1.0  # columns that repeat each other are taken less literally


def test_a_temperature_stays_finite_when_every_row_is_right() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 20)
    x = rng.normal(size=(40, 2)) + np.where(y == "b", 20.0, 0.0)[:, np.newaxis]
    model = NaiveBayes("gaussian", temperature="held-out").fit(x, y)
    assert 0.0 < model.temperature_ < 10.0
    assert model.score(x, y) == 1.0


def test_an_empty_row_gives_the_priors_at_every_temperature() -> None:
    x, y = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 9.0], [4.0, 1.0]]), ["a", "a", "a", "b"]
    for beta in (0.1, 1.0, 3.0):
        model = NaiveBayes("gaussian", temperature=beta).fit(x, y)
        assert model.predict_proba([[np.nan, np.nan]])[0] == pytest.approx([0.75, 0.25])
        density = NaiveBayes("gaussian").fit(x, y).log_density(x)
        assert model.log_density(x) == pytest.approx(density)


# Every family is a distribution


def densities(model: Any, rows: Any) -> Floats:
    """Return p(x | c), one column a class."""
    found: Floats = np.exp(model.log_joint(rows) - np.log(model.priors_))
    return found


def training(seed: int = 0) -> tuple[Any, Any, np.random.Generator]:
    rng = np.random.default_rng(seed)
    y = labels(rng, 60)
    return rng, y, np.searchsorted(CLASSES, y)[:, np.newaxis]


@pytest.mark.parametrize("alpha", [1.0, 0.0])
def test_masses_add_up_to_one(alpha: float) -> None:
    rng, y, code = training()
    truths = rng.random((60, 3)) < 0.1 + 0.3 * code
    model = BernoulliNaiveBayes(smoothing=alpha).fit(truths, y)
    every = np.array(list(combinations([0.0, 1.0], repeat=3)))
    assert densities(model, every).sum(axis=0) == pytest.approx(np.ones(3))
    levels = rng.integers(0, 3, (60, 2)) * (code + 1)
    model = NaiveBayes("categorical", smoothing=alpha).fit(levels, y)
    every = np.array(list(combinations(*(np.unique(levels[:, j]) for j in range(2)))))
    assert densities(model, every).sum(axis=0) == pytest.approx(np.ones(3))
    events = rng.poisson(0.3 + 2.0 * code, (60, 1))
    model = NaiveBayes("poisson", smoothing=alpha).fit(events, y)
    assert densities(model, np.arange(80.0)[:, np.newaxis]).sum(axis=0) == pytest.approx(np.ones(3))
    model = MultinomialNaiveBayes(smoothing=alpha).fit(rng.poisson(1.0 + code, (60, 3)), y)
    for length in (0, 1, 4):
        every = np.array([v for v in combinations(range(length + 1), repeat=3) if sum(v) == length])
        assert densities(model, every).sum(axis=0) == pytest.approx(np.ones(3))


def test_densities_integrate_to_one() -> None:
    rng, y, code = training(1)
    x = rng.normal(3.0 * code, 1.0 + code, (60, 1))
    grid = np.linspace(-60.0, 70.0, 200_001)
    for families in ("gaussian", "shared-gaussian"):
        found = densities(NaiveBayes(families).fit(x, y), grid[:, np.newaxis])
        assert np.trapezoid(found, grid, axis=0) == pytest.approx(np.ones(3), abs=1e-9)
    positive = np.exp(x / 4.0)
    logs = np.linspace(-20.0, 20.0, 100_001)
    found = densities(NaiveBayes("lognormal").fit(positive, y), np.exp(logs)[:, np.newaxis])
    total = np.trapezoid(found * np.exp(logs)[:, np.newaxis], logs, axis=0)
    assert total == pytest.approx(np.ones(3), abs=1e-9)
    binned = NaiveBayes(Binned(bins=6)).fit(x, y)
    edges = np.linspace(x.min(), x.max(), 60_001)
    middles, width = (edges[:-1] + edges[1:]) / 2.0, np.diff(edges)
    total = width @ densities(binned, middles[:, np.newaxis])
    assert total == pytest.approx(np.ones(3), abs=1e-3)  # bins end between the edges


def test_densities_are_those_of_the_textbooks() -> None:
    rng, y, code = training(2)
    counts = rng.poisson(1.0 + code, (60, 4)).astype(float)
    model = MultinomialNaiveBayes().fit(counts, y)
    theta = np.array([counts[y == c].sum(axis=0) + 1.0 for c in CLASSES])
    theta /= theta.sum(axis=1, keepdims=True)
    expected = np.stack([stats.multinomial.logpmf(counts, counts.sum(axis=1), p) for p in theta], 1)
    for rows in (counts, csr_array(counts)):
        assert model.log_joint(rows) - np.log(model.priors_) == pytest.approx(expected, abs=1e-9)
    pooled = counts.mean(axis=0)
    model = NaiveBayes("poisson", smoothing=0.5).fit(counts, y)
    for c, label in enumerate(CLASSES):
        own = counts[y == label]
        rate = (own.sum(axis=0) + 0.5 * pooled) / (len(own) + 0.5)
        expected = stats.poisson.logpmf(counts, rate).sum(axis=1)
        found = model.log_joint(counts)[:, c] - np.log(model.priors_[c])
        assert found == pytest.approx(expected, abs=1e-9)
    x = rng.lognormal(code, 0.5, (60, 2))
    for families, of in (("gaussian", stats.norm), ("lognormal", stats.lognorm)):
        model = NaiveBayes(families).fit(x, y)
        for c, label in enumerate(CLASSES):
            own = x[y == label] if families == "gaussian" else np.log(x[y == label])
            mean, sd = own.mean(axis=0), own.std(axis=0)
            law = of(mean, sd) if families == "gaussian" else of(sd, scale=np.exp(mean))
            expected = law.logpdf(x).sum(axis=1)
            found = model.log_joint(x)[:, c] - np.log(model.priors_[c])
            assert found == pytest.approx(expected, abs=1e-9)


# Samples follow the densities


DRAWS = 20_000


def assert_frequencies(found: Any, expected: Any) -> None:
    """Frequencies of DRAWS draws lie within five standard errors."""
    error = np.sqrt(np.maximum(expected * (1.0 - expected), 1e-4) / DRAWS)
    assert np.all(np.abs(np.asarray(found) - expected) <= 5.0 * error)


@pytest.mark.parametrize("alpha", [1.0, 0.0])
def test_draws_of_counts_and_levels_follow_their_masses(alpha: float) -> None:
    rng, y, code = training(3)
    model = BernoulliNaiveBayes(smoothing=alpha).fit(rng.random((60, 3)) < 0.1 + 0.4 * code, y)
    rows, _ = model.sample(DRAWS, y="b", random_state=0)
    every = np.array(list(combinations([0.0, 1.0], repeat=3)))
    found = [(rows == row).all(axis=1).mean() for row in every]
    assert_frequencies(found, densities(model, every)[:, 1])
    levels = np.array(["u", "v", "w", "x"], dtype=object)[rng.integers(0, 2, (60, 1)) + code]
    model = NaiveBayes({0: "categorical"}, smoothing=alpha).fit(levels, y)
    rows, _ = model.sample(DRAWS, y="c", random_state=0)
    found = [np.mean(rows[:, 0] == level) for level in "uvwx"]
    assert_frequencies(found, densities(model, [[v] for v in "uvwx"])[:, 2])
    model = NaiveBayes("poisson", smoothing=alpha).fit(rng.poisson(0.2 + 2.0 * code, (60, 1)), y)
    rows, _ = model.sample(DRAWS, y="c", random_state=0)
    found = [np.mean(rows[:, 0] == k) for k in range(12)]
    assert_frequencies(found, densities(model, np.arange(12.0)[:, np.newaxis])[:, 2])
    counts = rng.poisson(0.5 + code, (60, 3))
    model = MultinomialNaiveBayes(smoothing=alpha).fit(counts, y)
    rows, _ = model.sample(DRAWS, y="b", random_state=0, lengths=3)
    every = np.array([v for v in combinations(range(4), repeat=3) if sum(v) == 3])
    found = [(rows == row).all(axis=1).mean() for row in every]
    assert_frequencies(found, densities(model, every)[:, 1])
    rows, _ = model.sample(DRAWS, y="b", random_state=0)
    mean = counts[y == "b"].sum(axis=1).mean()
    found = [np.mean(rows.sum(axis=1) == k) for k in range(10)]
    assert_frequencies(found, stats.poisson.pmf(np.arange(10), mean))


def test_draws_of_measurements_follow_their_densities() -> None:
    rng, y, code = training(4)
    x = rng.lognormal(0.5 * code, 0.5, (60, 1))
    for families, of in (("gaussian", stats.norm), ("lognormal", stats.lognorm)):
        model = NaiveBayes(families).fit(x, y)
        told = model.parameters_["x0"]["b"]
        first, second = told.values()
        law = (
            of(first, np.sqrt(second))
            if families == "gaussian"
            else of(np.sqrt(second), scale=np.exp(first))
        )
        rows, _ = model.sample(DRAWS, y="b", random_state=1)
        assert stats.kstest(rows[:, 0], law.cdf).pvalue > 1e-3
    binned = NaiveBayes(Binned(bins=5)).fit(x, y)
    rows, _ = binned.sample(DRAWS, y="b", random_state=1)
    for (low, high), mass in binned.parameters_["x0"]["b"].items():
        inside = rows[(rows[:, 0] >= low) & (rows[:, 0] < high), 0]
        assert_frequencies(len(inside) / DRAWS, np.array(mass))
        assert stats.kstest(inside, stats.uniform(low, high - low).cdf).pvalue > 1e-4


def test_classes_are_drawn_by_their_priors() -> None:
    rng, y, code = training(5)
    x = rng.normal(code, 1.0, (60, 1))
    model = NaiveBayes("gaussian", priors={"a": 0.7, "b": 0.3, "c": 0.0}).fit(x, y)
    _, drawn = model.sample(DRAWS, random_state=0)
    assert_frequencies([np.mean(drawn == c) for c in CLASSES], np.array([0.7, 0.3, 0.0]))
