"""Priors of unlabelled rows with intervals that cover, and p-values that are uniform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array

from suffice import BernoulliNaiveBayes, MultinomialNaiveBayes, NaiveBayes
from suffice.families import Binned

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARE = 0.3
TRAINING, NEW, DRAWS = 120, 400, 80
MANY = 6000
WORDS = np.array([[0.4, 0.3, 0.2, 0.1], [0.2, 0.2, 0.3, 0.3]])
LEVELS = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])


def rows(name: str, rng: np.random.Generator, codes: NDArray[np.intp]) -> Any:
    """Return rows of two classes, of which a family knows the truth but for its parameters."""
    size, second = len(codes), codes[:, np.newaxis]
    if name == "bernoulli":
        return (rng.random((size, 4)) < np.array([[0.3, 0.5, 0.2, 0.6], [0.6, 0.3, 0.4, 0.3]])[
            codes]).astype(float)  # fmt: skip
    if name == "poisson":
        return rng.poisson(np.array([[1.0, 2.0, 0.7], [2.0, 1.2, 1.5]])[codes]).astype(float)
    if name == "multinomial":
        return np.stack([rng.multinomial(6, WORDS[code]) for code in codes]).astype(float)
    if name == "categorical":
        below = np.cumsum(LEVELS, axis=1)[codes][:, np.newaxis]
        return (rng.random((size, 3))[:, :, np.newaxis] > below).sum(axis=2).astype(float)
    if name == "lognormal":
        return np.exp(rows("gaussian", rng, codes) / 2.0)
    if name == "gaussian":
        return rng.normal(second * [1.2, 0.4], 1.0 + 0.5 * second, (size, 2))
    if name == "binned":  # flat between the edges, as the family has it
        pieces = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
        below = np.cumsum(pieces, axis=1)[codes][:, np.newaxis]
        place = (rng.random((size, 3))[:, :, np.newaxis] > below).sum(axis=2)
        return place + rng.random((size, 3))
    return rng.normal(second * [1.3, 0.6], 1.0, (size, 2))


def model_of(name: str, **settings: Any) -> Any:
    if name == "bernoulli":
        return BernoulliNaiveBayes(**settings)
    if name == "multinomial":
        return MultinomialNaiveBayes(**settings)
    family: Any = Binned(edges=(0.0, 1.0, 2.0, 3.0)) if name == "binned" else name
    return NaiveBayes(family, **settings)


FAMILIES = [
    "bernoulli",
    "poisson",
    "multinomial",
    "categorical",
    "gaussian",
    "shared-gaussian",
    "lognormal",
    "binned",
]
every_family = pytest.mark.parametrize("name", FAMILIES)


# Priors


@every_family
def test_intervals_of_priors_cover_the_truth(name: str) -> None:
    """Without what estimating p(x | y) adds, they cover 64 to 71 % of the time."""
    covered = 0
    scores = []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        y = np.arange(TRAINING) % 2
        model = model_of(name).fit(rows(name, rng, y), y)
        new = (rng.random(NEW) < SHARE).astype(np.intp)
        found = model.estimate_priors(rows(name, rng, new))
        low, high = found.intervals[1]
        covered += low <= SHARE <= high
        if found.standard_errors[1] > 0.0:
            scores.append((found.priors[1] - SHARE) / found.standard_errors[1])
    assert 0.86 <= covered / DRAWS <= 1.0
    # Nor are they wider than they need to be.
    assert 0.7 <= float(np.std(scores)) <= 1.3


@every_family
def test_the_variance_from_estimation_is_that_of_refits(name: str) -> None:
    """The variance of ΣΣω log p(x | c) over many training sets, against the formula."""
    rng = np.random.default_rng(1)
    size, times = 400, 300
    asked = rows(name, rng, np.arange(30) % 2)
    omegas = rng.normal(size=(2, 30)) * rng.exponential(size=(2, 1)) + 0.2
    y = np.arange(size) % 2
    found, formula = [], []
    for _ in range(times):
        model = model_of(name).fit(rows(name, rng, y), y)
        blocks = model.learned_.rows(asked)
        law = model.model_.laws[0]
        densities = model.log_joint(asked) - np.log(model.priors_)
        found.append(float(np.sum(omegas.T * densities)))
        formula.append(law.estimation_variance(blocks.parts[0], omegas))
    # The standard error of a variance from 300 draws is 8 %; the formula is first order in 1/n.
    assert float(np.mean(formula)) == pytest.approx(np.var(found), rel=0.3)


def test_sparse_rows_and_missing_cells_have_the_same_priors() -> None:
    rng = np.random.default_rng(2)
    y = np.arange(TRAINING) % 2
    new = (rng.random(NEW) < SHARE).astype(np.intp)
    for kind, name in ((BernoulliNaiveBayes, "bernoulli"), (MultinomialNaiveBayes, "multinomial")):
        x, asked = rows(name, rng, y), rows(name, rng, new)
        dense, sparse = kind().fit(x, y), kind().fit(csr_array(x), y)
        one, two = dense.estimate_priors(asked), sparse.estimate_priors(csr_array(asked))
        assert one.priors[1] == pytest.approx(two.priors[1], abs=1e-9)
        assert one.standard_errors[1] == pytest.approx(two.standard_errors[1], rel=1e-9)
    x, asked = rows("gaussian", rng, y), rows("gaussian", rng, new)
    model = NaiveBayes("gaussian").fit(x, y)
    before = model.estimate_priors(asked)
    empty = np.full((100, 2), np.nan)  # rows that say nothing change nothing
    after = model.estimate_priors(np.r_[asked, empty])
    assert after.priors[1] == pytest.approx(before.priors[1], abs=1e-9)
    assert after.standard_errors[1] == pytest.approx(before.standard_errors[1], rel=1e-6)


def test_a_class_that_is_not_there_has_a_one_sided_interval() -> None:
    rng = np.random.default_rng(3)
    y = np.arange(200) % 2
    model = NaiveBayes("gaussian").fit(rng.normal(6.0 * y[:, np.newaxis], 1.0, (200, 2)), y)
    found = model.estimate_priors(rng.normal(0.0, 1.0, (300, 2)))
    assert found.priors[1] <= 1e-6
    low, high = found.intervals[1]
    assert low == 0.0
    assert 0.0 < high < 0.05


# Typicality


def own_p_values(model: Any, label: Any, size: int = 300, hide: Any = None) -> Any:
    """Return the p-values, under a class, of rows drawn from it.

    p-values allow for what few rows leave unknown, and draws from the fitted law have none of
    that: only with many rows are both the same.
    """
    drawn, _ = model.sample(size, y=label, random_state=11)
    if hide is not None:
        drawn[:, hide] = np.nan
    place = model.classes_.tolist().index(label)
    return model.typicality(drawn)[:, place]


@pytest.mark.parametrize("name", ["gaussian", "shared-gaussian", "lognormal"])
@pytest.mark.parametrize("hide", [None, [0], [1, 2]])
def test_p_values_are_uniform_under_the_class(name: str, hide: Any) -> None:
    rng = np.random.default_rng(4)
    y = np.arange(MANY) % 2
    x = np.exp(rng.normal(y[:, np.newaxis], 0.5, (MANY, 3)))
    found = own_p_values(NaiveBayes(name).fit(x, y), 1, hide=hide)
    assert stats.kstest(found, "uniform").pvalue > 1e-3


def test_p_values_of_mixed_rows_are_uniform_under_the_class() -> None:
    rng = np.random.default_rng(5)
    y = np.arange(MANY) % 2
    x = np.column_stack(
        [rows("gaussian", rng, y), rows("poisson", rng, y), rows("bernoulli", rng, y)]
    )
    kinds = ["gaussian"] * 2 + ["poisson"] * 3 + ["bernoulli"] * 4
    model = NaiveBayes(dict(enumerate(kinds))).fit(x, y)
    for label in (0, 1):
        assert stats.kstest(own_p_values(model, label), "uniform").pvalue > 1e-3


@pytest.mark.parametrize("name", ["bernoulli", "poisson", "categorical", "multinomial"])
def test_p_values_of_masses_are_at_most_uniform(name: str) -> None:
    """Ties count against the row, so small p-values are never too frequent."""
    rng = np.random.default_rng(6)
    y = np.arange(MANY) % 2
    model = model_of(name).fit(rows(name, rng, y), y)
    found = own_p_values(model, 0)
    for level in (0.05, 0.2, 0.5):
        assert np.mean(found <= level) <= level + 4.0 * np.sqrt(level * (1.0 - level) / 300)
    assert np.mean(found <= 0.5) > 0.1


def test_two_groups_of_words_have_a_length_each() -> None:
    rng = np.random.default_rng(7)
    y = np.arange(MANY) % 2
    x = np.column_stack([rows("multinomial", rng, y), 3.0 * rows("multinomial", rng, y)])
    families = {(0, 1, 2, 3): "multinomial", (4, 5, 6, 7): "multinomial"}
    found = own_p_values(NaiveBayes(families).fit(x, y), 0, size=40)
    assert stats.kstest(found, "uniform").pvalue > 1e-3


def test_what_is_far_from_all_is_typical_of_none_whatever_the_priors() -> None:
    rng = np.random.default_rng(8)
    y = np.arange(MANY) % 2
    model = NaiveBayes("gaussian").fit(rows("gaussian", rng, y), y)
    far = [[50.0, 0.0], [1e100, 0.0], [1e200, -1e200], [1e307, 0.0]]
    assert np.all(model.typicality(far) <= 2e-4)
    asked = rows("gaussian", rng, y)[:20]
    other = model.with_priors({0: 1.0, 1: 0.0})
    assert np.array_equal(other.typicality(asked), model.typicality(asked))
