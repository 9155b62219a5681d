"""Words as events: two studies repeated, with fewer sizes and splits than the evidence has."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.reference import enron, newsgroups
from tests.reference.event_models import (
    BERNOULLI,
    MULTINOMIAL,
    documents_with,
    information,
    peer,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIZES = (1_000, 10_000, 50_000)


@pytest.fixture(scope="module")
def _words(shared: Path, require: Callable[[object, str], None]) -> None:
    for archive in (newsgroups.ARCHIVE, enron.ARCHIVE):
        require(archive.is_file(), f"no reference data: {archive} is not there")


@cache
def official(least: int = 1) -> newsgroups.Curve:
    return newsgroups.curve(newsgroups.posts().training, SIZES, least=least)


@pytest.mark.usefixtures("_words")
def test_every_size_of_vocabulary_gives_the_answers_of_scikit_learn() -> None:
    theirs = newsgroups.curve(newsgroups.posts().training, SIZES, make=peer)
    assert official().sizes == theirs.sizes == (*SIZES, 130_108)
    for name in newsgroups.MODELS:
        np.testing.assert_array_equal(official().right[name], theirs.right[name])


@pytest.mark.usefixtures("_words")
def test_accuracy_with_all_words_is_what_is_known() -> None:
    known = newsgroups.WHOLE_VOCABULARY
    found = newsgroups.curve(newsgroups.posts().training, (), models=tuple(known))
    assert {name: round(float(found.accuracy(name)[-1]), 4) for name in known} == known


@pytest.mark.usefixtures("_words")
def test_bernoulli_falls_as_the_vocabulary_grows() -> None:
    for least in (1, 2):
        fall, error = newsgroups.mean_and_error(official(least).fallen(BERNOULLI))
        assert fall > 2.0 * error


@pytest.mark.usefixtures("_words")
def test_multinomial_does_not_fall_until_words_seen_once_are_added() -> None:
    fall, error = newsgroups.mean_and_error(official(least=2).fallen(MULTINOMIAL))
    assert fall <= 2.0 * error
    # With them it falls too, but by less than Bernoulli does.
    less = official().fallen(BERNOULLI) - official().fallen(MULTINOMIAL)
    gap, error = newsgroups.mean_and_error(less)
    assert gap > 2.0 * error


@pytest.mark.usefixtures("_words")
def test_multinomial_errs_less_at_every_size() -> None:
    for least in (1, 2):
        found = official(least)
        assert (found.accuracy(MULTINOMIAL) > found.accuracy(BERNOULLI)).all()


@pytest.mark.usefixtures("_words")
@pytest.mark.slow
def test_filters_that_learn_as_mail_comes_recall_what_another_run_did() -> None:
    found = [enron.recalls(number) for number in enron.SETS]
    for name, known in enron.REPLICATION.items():
        each = np.array([recalls[name] for recalls in found])
        off = np.abs(each.mean(axis=0) - enron.MEANS[name])
        assert (off <= enron.TOLERANCE[name]).all(), name
        # One mailbox may differ by as much as the order of tied words can make it.
        assert np.abs(each - known).max() <= 0.15, name


def test_information_is_what_scikit_learn_calls_mutual_information() -> None:
    from scipy.sparse import csr_array
    from sklearn.metrics import mutual_info_score

    rng = np.random.default_rng(3)
    labels = rng.choice(["a", "b", "c"], 200)
    there = rng.random((200, 6)) < np.where(labels == "a", 0.7, 0.1)[:, np.newaxis]
    there[:, 4], there[:, 5] = labels == "b", True
    found = information(*documents_with(csr_array(there * 3.0), labels))
    known = [mutual_info_score(labels, column) / np.log(2.0) for column in there.T]
    np.testing.assert_allclose(found, known, atol=1e-11)
    assert found[5] == 0.0
