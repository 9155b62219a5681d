"""Ng and Jordan's problems: errors at both ends of the curves, as far as few splits can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.naive_bayes import CategoricalNB

from suffice import LogisticRegression
from suffice.evaluation import crossing
from tests.reference.ng_jordan import (
    LOGISTIC,
    NAIVE_BAYES,
    PENALTY,
    PROBLEMS,
    WITHIN,
    codes_of,
    curves,
    early_logistic,
    naive_bayes,
    peer_logistic,
    rows_of,
)

if TYPE_CHECKING:
    from pathlib import Path

SPLITS = {"pima": 50, "bupa": 50, "vote": 40, "lymphography": 40, "sick, categories": 40}
"""How many splits there are; beyond 1,000 training rows there are five."""


@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.slow
def test_errors_at_both_ends_are_those_of_the_table(shared: Path, name: str) -> None:
    problem = PROBLEMS[name]
    sizes = np.array([problem.smallest, problem.largest])
    found = curves(name, SPLITS[name], sizes)
    for end, known in ((0, problem.first), (1, problem.last)):
        errors = np.nanmean(found.errors[:, end], axis=1)
        assert np.abs(errors - known).max() <= WITHIN, (end, errors, known)


@pytest.mark.slow
def test_logistic_overtakes_naive_bayes_on_pima_and_the_band_says_how_surely(
    shared: Path,
) -> None:
    found = curves("pima", 25, np.array([6, 20, 50, 100, 200, 400]))
    crossed = crossing(found, NAIVE_BAYES, LOGISTIC)
    assert crossed.size in (50, 100, 200)  # the table has 100
    assert crossed.low is not None
    assert crossed.high is not None
    assert crossed.low <= crossed.size <= crossed.high


def test_naive_bayes_is_the_one_of_the_table(shared: Path) -> None:
    """CategoricalNB(alpha=1) with all levels known, as the table was made."""
    rows = rows_of("lymphography")
    words = rows.X.select_dtypes("category")
    train = rows.take(np.arange(0, 142, 4))
    model = naive_bayes(words).fit(words.iloc[::4], train.y)
    levels = [len(words[name].cat.categories) for name in words]
    peer = CategoricalNB(min_categories=levels).fit(codes_of(words.iloc[::4]), train.y)
    np.testing.assert_allclose(
        model.predict_proba(words), peer.predict_proba(codes_of(words)), atol=1e-10
    )


@pytest.mark.slow
def test_with_six_rows_logistic_errs_as_scikit_learn_does_when_run_to_its_end(
    shared: Path,
) -> None:
    """On promoters the table has .366 and this .40: scikit-learn stopped early there."""
    others = {"peer": peer_logistic(), "early": early_logistic()}
    found = curves("promoters", 25, np.array([6]), others).errors[:, 0]
    np.testing.assert_allclose(found[1], found[2], atol=0.01)
    assert abs(found[3].mean() - PROBLEMS["promoters"].first[1]) <= WITHIN


def test_the_penalty_is_that_of_a_large_c(shared: Path) -> None:
    rows = rows_of("pima")
    X = rows.X.to_numpy(float)[:300]
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = LogisticRegression(PENALTY).fit(z, rows.codes[:300])
    theirs = PeerLogistic(C=1.0 / PENALTY, tol=1e-10, max_iter=5000).fit(z, rows.codes[:300])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
