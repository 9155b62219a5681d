"""An average of densities lies between them: nothing known is density one, no probability above."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import (
    GaussianDiscriminant,
    GaussianMixture,
    LatentClasses,
    MixtureDiscriminant,
    NaiveBayes,
    TextClassifier,
)
from suffice.linear_algebra import log_average
from tests.searches import examples

if TYPE_CHECKING:
    from collections.abc import Callable

MADE: dict[str, Callable[[int], Any]] = {
    "shared": lambda _: GaussianDiscriminant("shared"),
    "per-class": lambda _: GaussianDiscriminant("per-class"),
    "spherical": lambda _: GaussianDiscriminant("spherical"),
    "gaussian": lambda _: NaiveBayes("gaussian"),
    "predictive": lambda _: NaiveBayes("predictive-gaussian"),
    "mixture": lambda k: GaussianMixture(k, "EEE", max_iter=5),
    "classes that are mixtures": lambda _: MixtureDiscriminant(2, "EEI", max_iter=5),
    "hidden classes": lambda k: LatentClasses(k, starts=1, max_iter=5),
}


@examples(40)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 9))
def test_an_average_lies_between_its_terms(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    logs = rng.normal(scale=rng.choice([1e-16, 1.0, 1e3]), size=(20, size))
    logs[:5] = logs[:5, :1]  # the same in every class
    logs[5] = -np.inf
    shares = rng.dirichlet(np.ones(size))
    found = log_average(logs, np.log(shares))
    np.testing.assert_array_equal(found[:6], logs[:6, 0])
    assert (found >= logs.min(axis=1)).all()
    assert (found <= logs.max(axis=1)).all()
    right = np.logaddexp.reduce(logs[6:] + np.log(shares), axis=1)
    np.testing.assert_allclose(found[6:], right, atol=1e-12)
    absent = np.append(np.log(shares), -np.inf)  # a share of zero has no say
    wide = np.column_stack([logs, np.full(20, 1e3)])
    np.testing.assert_allclose(log_average(wide, absent), found, rtol=1e-14, atol=1e-13)


@pytest.mark.parametrize("name", MADE)
@examples(3)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 6))
def test_a_row_without_a_cell_has_density_one(name: str, seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 2))
    rows[rng.random(rows.shape) < 0.1] = np.nan
    rows[: 3 * size] = rng.normal(size=(3 * size, 2))
    labels = np.r_[np.repeat(np.arange(size), 3), rng.integers(0, size, 60 - 3 * size)]
    blank = np.full((1, 2), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MADE[name](size).fit(rows, labels)
    density = model.score_samples if hasattr(model, "score_samples") else model.log_density
    assert density(blank)[0] == 0.0


@examples(5)
@given(seed=st.integers(0, 2**32 - 1), smoothing=st.sampled_from([0.0, 1e-9, 1.0]))
def test_no_row_of_categories_is_more_than_certain(seed: int, smoothing: float) -> None:
    rng = np.random.default_rng(seed)
    rows = np.where(rng.random((50, 2)) < 0.9, "a", "b").astype(object)
    rows[rng.random(rows.shape) < 0.5] = None
    rows[0], labels = ["a", "a"], rng.integers(0, 5, 50)
    model = NaiveBayes("categorical", smoothing=smoothing).fit(rows, labels)
    assert model.log_density(rows).max() == 0.0  # some rows are blank, and certain
    hidden = LatentClasses(3, "categorical", smoothing=smoothing, starts=1, max_iter=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert hidden.fit(rows).score_samples(rows).max() == 0.0


def test_a_text_without_a_word_has_density_one() -> None:
    texts = ["cheap pills", "lunch at noon", "pills", "noon", "cheap lunch", "a word"]
    labels = ["spam", "ham", "spam", "ham", "eggs", "eggs"]
    model = TextClassifier("multinomial").fit(texts, labels)
    assert model.log_density([""])[0] == 0.0
