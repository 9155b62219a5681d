"""Formulas for rows of unions: equal to leave-one-out of every union, made anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone

from suffice import (
    BernoulliNaiveBayes,
    GaussianDiscriminant,
    MultinomialNaiveBayes,
    NaiveBayes,
)
from suffice.families import Bernoulli, Binned, LogNormal
from suffice.learning.conformal.unions import read_training, unions_of
from tests.searches import examples

PRIORS = {"a": 0.5, "b": 0.2, "c": 0.3}
COUNTS = [
    NaiveBayes("poisson"),
    NaiveBayes("poisson", smoothing=0.2),
    NaiveBayes("poisson", priors=PRIORS, temperature=0.4),
    NaiveBayes("categorical"),
    NaiveBayes("categorical", smoothing=3.0, priors=PRIORS),
    NaiveBayes(Bernoulli(threshold=1.0)),
    NaiveBayes(Binned(edges=(-1.0, 1.0, 2.0, 9.0))),
    NaiveBayes({0: "poisson", 1: "categorical", 2: "gaussian"}),
    NaiveBayes("gaussian"),
]
"""Laws of counts whose cells may be blank."""
WORDS = [
    MultinomialNaiveBayes(),
    MultinomialNaiveBayes(smoothing=0.1, temperature=0.3),
    BernoulliNaiveBayes(),
    MultinomialNaiveBayes(priors=PRIORS),
]
"""Laws of counts that are all there, dense or sparse."""
NUMBERS = [
    NaiveBayes("shared-gaussian"),
    NaiveBayes(LogNormal()),
    NaiveBayes(LogNormal("shared"), priors=PRIORS),
    *(
        GaussianDiscriminant(form, divisor=divisor)
        for form in ("diagonal", "shared-diagonal", "spherical", "shared", "per-class")
        for divisor in ("mle", "unbiased")
    ),
    GaussianDiscriminant("spherical", priors=PRIORS),
]
"""Laws of numbers."""


def named(model: Any) -> str:
    return "".join(str(model).split())


def agree(model: Any, X: Any, y: Any, x: Any, weights: Any = None, *, kept: bool = False) -> None:
    """Compare all scores of all unions; formulas have to be there."""
    fitted = clone(model).fit(X, y) if weights is None else clone(model).fit(X, y, weights)
    learned = fitted.learned_
    rows = None if kept else read_training(learned, X, y, weights)
    quick: Any = unions_of(learned, rows, x)
    assert quick.ready is not None
    anew = replace(quick, ready=None)
    for c in range(len(fitted.classes_)):
        scores, own = quick.pairs(c, 0)
        for i in range(len(scores)):
            expected, asked = anew.pairs(c, i)
            np.testing.assert_allclose(scores[i], expected[0], rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(own[i], asked[0], rtol=1e-9, atol=1e-9)


def counted(seed: int, n: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.array(list("abc"))[np.concatenate([np.arange(9) % 3, rng.integers(0, 3, n - 9)])]
    X = rng.poisson(1.0 + 2.0 * (y == "b")[:, None] * rng.random(3), size=(n, 3)).astype(float)
    X[:3] = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]  # no column is constant
    return X, y, rng.poisson(2.0, size=(3, 3)).astype(float)


@pytest.mark.parametrize("model", COUNTS, ids=named)
@pytest.mark.filterwarnings("ignore")
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.1]), st.booleans())
@examples(4)
def test_formulas_are_leave_one_out_of_unions(
    model: Any, seed: int, blank: float, weighted: bool
) -> None:
    X, y, x = counted(seed, 40)
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < blank] = np.nan
    x[rng.random(x.shape) < 3.0 * blank] = np.nan
    x[0, 1] = 77.0  # a level that was never seen, a count far away
    weights = rng.integers(1, 3, len(y)) if weighted else None
    agree(model, X, y, x, weights)


@pytest.mark.parametrize("model", WORDS, ids=named)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.filterwarnings("ignore")
@given(st.integers(0, 2**32))
@examples(4)
def test_words_of_unions_are_left_out_exactly(model: Any, sparse: bool, seed: int) -> None:
    X, y, x = counted(seed, 30)
    x[1] = 0.0  # a row without any word
    agree(model, csr_array(X) if sparse else X, y, csr_array(x) if sparse else x)


@pytest.mark.parametrize("model", NUMBERS, ids=named)
@pytest.mark.filterwarnings("ignore")
@given(st.integers(0, 2**32), st.sampled_from([1.0, 30.0]), st.booleans())
@examples(4)
def test_normal_columns_of_unions_are_left_out_exactly(
    model: Any, seed: int, far: float, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    y = np.array(list("abc"))[np.arange(36) % 3]
    units = rng.uniform(0.1, 10.0, size=3)
    X = np.exp(0.3 * rng.normal(size=(36, 3)) + 0.2 * (y == "b")[:, None]) * units
    x = np.exp(0.3 * rng.normal(size=(2, 3))) * units * far
    agree(model, X, y, x, rng.integers(1, 3, 36) if weighted else None)


@pytest.mark.parametrize(
    "model", [NaiveBayes(), NaiveBayes("poisson"), GaussianDiscriminant("diagonal")], ids=named
)
@pytest.mark.filterwarnings("ignore")
@given(st.integers(0, 2**32))
@examples(3)
def test_kept_rows_are_left_out_of_all_sums(model: Any, seed: int) -> None:
    X, y, x = counted(seed, 40)
    agree(model.set_params(calibration_rows=15), X, y, x, kept=True)


@pytest.mark.filterwarnings("ignore")
@given(st.integers(0, 2**32))
@examples(5)
def test_a_row_that_was_all_its_class_had_is_infinitely_strange(seed: int) -> None:
    X, y, x = counted(seed, 20)
    y = np.where(np.arange(20) == 7, "c", np.where(y == "c", "a", y))
    for model in (NaiveBayes("poisson"), NaiveBayes("categorical"), MultinomialNaiveBayes()):
        fitted = clone(model).fit(X, y)
        quick: Any = unions_of(fitted.learned_, read_training(fitted.learned_, X, y, None), x)
        assert np.isinf(quick.pairs(0, 0)[0][:, 7]).all()
        assert np.isfinite(quick.pairs(2, 0)[0][:, 7]).all()  # there is one more row of it
        agree(model, X, y, x)


def test_what_rows_choose_is_chosen_again() -> None:
    """Smoothing and temperature that rows chose change with every union: no formula is for that."""
    X, y, x = counted(0, 40)
    for model in (
        NaiveBayes("poisson", smoothing="held-out"),
        NaiveBayes("poisson", temperature="held-out"),
        NaiveBayes("poisson", smoothing=0.0),
    ):
        fitted = model.fit(X, y)
        quick: Any = unions_of(fitted.learned_, read_training(fitted.learned_, X, y, None), x)
        assert quick.ready is None
