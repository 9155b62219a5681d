"""What a sample of rows is after forgetting: one row in so many of those that stay, and said so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice.errors import SmallSample
from suffice.statistics.row_sample import END, FEW, MOST, RowSample, SampledRow, WithRows
from suffice.statistics.text_statistics import TextStatistics

hashes = st.lists(st.integers(0, END - 1), unique=True, max_size=30)


def sample(held: list[int]) -> RowSample:
    return RowSample({h: SampledRow(((float(h),),), "a", 1.0) for h in held})


@given(hashes, hashes, st.integers(1, END))
def test_what_stays_is_what_a_sample_of_the_rows_that_stay_has_below_the_limit(
    stays: list[int], goes: list[int], limit: int
) -> None:
    goes = [h for h in goes if h not in stays]
    whole = RowSample((sample(stays) + sample(goes)).rows, END)
    cut = RowSample({h: row for h, row in whole.rows.items() if h < limit}, limit)
    left = cut - sample(goes)
    assert set(left.rows) == {h for h in stays if h < limit}
    assert left.limit == limit  # rows beyond it are not kept: they cannot come back


@given(hashes, hashes, hashes)
def test_rows_learned_after_forgetting_are_sampled_like_those_before(
    first: list[int], goes: list[int], later: list[int]
) -> None:
    goes = [h for h in goes if h not in first]
    later = [h for h in later if h not in {*first, *goes}]
    before = RowSample(sample(first).rows, END // 2)
    before = RowSample({h: row for h, row in before.rows.items() if h < END // 2}, END // 2)
    one = ((before + sample(goes)) - sample(goes)) + sample(later)
    other = (before + sample(later) + sample(goes)) - sample(goes)
    assert set(one.rows) == set(other.rows) == {h for h in {*first, *later} if h < END // 2}


def _rows(size: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=size)
    return rng.normal(size=(size, 2)) + y[:, np.newaxis], y


def test_forgetting_that_leaves_a_small_sample_says_so() -> None:
    X, y = _rows(3 * MOST)
    model = suffice.NaiveBayes("gaussian", temperature="held-out").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.forget(X[: 2 * MOST], y[: 2 * MOST])  # a third of the sample is left: enough
    with pytest.warns(SmallSample, match=r"\d+ are left, of 300 that are learned"):
        model.forget(X[2 * MOST : -300], y[2 * MOST : -300])
    assert 0 < len(model.statistics_.sample.rows) < FEW
    assert model.temperature_ > 0.0


def test_a_sample_begins_anew_once_everything_is_forgotten() -> None:
    X, y = _rows(2 * MOST)
    learner = suffice.NaiveBayes("gaussian", temperature="held-out").fit(X, y)
    statistics = learner.statistics_
    assert isinstance(statistics, WithRows)
    assert statistics.sample.limit < END
    gone = statistics - statistics
    assert (gone.sample.limit, len(gone.sample.rows)) == (END, 0)
    assert len((gone + statistics).sample.rows) == MOST
    texts = suffice.TextClassifier("boolean").fit(["a b", "c d"], [0, 1]).statistics_
    cut = TextStatistics(texts.terms, texts.ngrams, RowSample(texts.sample.rows, END - 1))
    assert (cut - cut).sample.limit == END
