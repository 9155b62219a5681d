"""What counts of terms, and statistics of texts, obey."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import DifferentKinds, ForgettingUnseen
from suffice.models.text.documents import Documents
from suffice.models.text.language import Language
from suffice.models.text.learner import TextLearner
from suffice.models.text.terms import Terms
from suffice.models.text.tokens import Tokens
from suffice.statistics.keyed_counts import NgramCounts, TermCounts
from suffice.statistics.row_sample import MOST
from suffice.statistics.text_statistics import TextStatistics
from suffice.testing import (
    assert_same,
    check_arrays_round_trip,
    check_associative,
    check_batches_add_up,
    check_commutative,
    check_forgetting,
    check_forgetting_unseen,
    check_identity,
    check_leave_one_out,
    check_scaling,
    check_scaling_is_repetition,
    check_weights_are_repetitions,
)

words = st.sampled_from(["spam", "Ham", "£££", "a", "ünï", "\x00", "\ud83d", "\ude00", "𠀀", "\n"])
texts = st.lists(words, max_size=5).map(" ".join) | st.text(max_size=8)
documents = texts | texts.map(lambda t: t.encode("utf-8", "surrogatepass")) | st.binary(max_size=6)
batches = st.lists(documents, max_size=5)
LABELS = ("ham", "spam", "unsure")
LEARNERS = {
    "both": TextLearner(Terms("boolean", Tokens((1, 2))), Language(3, 4)),
    "multinomial": TextLearner(Terms("multinomial", Tokens((1, 1), lower=False)), None),
    "language": TextLearner(None, Language(2), 1.0, calibrated=False),
}
learners = st.sampled_from(sorted(LEARNERS))
kinds = st.sampled_from(["boolean", "multinomial"])


def rows(some: list[str | bytes]) -> Any:
    """Return documents as rows of one cell, as the laws want them."""
    found = np.empty(len(some), dtype=object)
    found[:] = some
    return found


def label_of(document: str | bytes) -> int:
    """Return a label that follows from the document, so that repeating one repeats the other."""
    return len(document) % len(LABELS)


def counting(event: str) -> Any:
    def summarize(some: Any, weights: Any = None) -> TermCounts:
        given = None if weights is None else np.asarray(weights, dtype=np.float64)
        codes = np.zeros(len(some), dtype=np.intp)
        return Terms(event, Tokens((1, 2))).summarize(list(some), codes, 1, given)[0]

    return summarize


def summarizing(name: str) -> Any:
    def summarize(some: Any, weights: Any = None) -> TextStatistics:
        given = None if weights is None else np.asarray(weights, dtype=np.float64)
        codes = np.array([label_of(document) for document in some], dtype=np.intp)
        learner = LEARNERS[name]
        limit = 0 if learner.language is None else learner.language.limit
        return learner.summarize(Documents.of(list(some), limit), codes, LABELS, given)

    return summarize


# Counts of terms


@given(batches, kinds)
def test_a_term_counts_as_often_as_its_documents_have_it(some: list[Any], event: str) -> None:
    from suffice.models.text.tokens import term_hash

    expected: Counter[int] = Counter()
    for document in some:
        found = Tokens((1, 2)).tokens_of(document)
        expected.update(map(term_hash, set(found) if event == "boolean" else found))
    counts = counting(event)(some)
    assert dict(zip(counts.keys.tolist(), counts.counts.tolist(), strict=True)) == expected
    assert counts.keys.tolist() == sorted(expected)
    assert counts.weight == len(some)


@given(batches, batches, batches, kinds)
def test_counts_of_terms_are_exact_however_they_are_merged(
    x: list[Any], y: list[Any], z: list[Any], event: str
) -> None:
    summarize = counting(event)
    a, b, c = summarize(x), summarize(y), summarize(z)
    check_identity(a, TermCounts.empty(), relative=0.0)
    check_commutative(a, b, relative=0.0)
    check_associative(a, b, c, relative=0.0)
    check_batches_add_up(summarize, rows(x), rows(y), relative=0.0)
    check_leave_one_out([a, b, c], relative=0.0)
    check_scaling(a, b, relative=0.0)
    check_arrays_round_trip(a + b)


@given(batches, batches, kinds)
def test_terms_that_were_merged_can_be_forgotten(x: list[Any], y: list[Any], event: str) -> None:
    a, b = counting(event)(x), counting(event)(y)
    check_forgetting(a, b, relative=0.0)
    check_forgetting_unseen(a, b)
    check_forgetting_unseen(a, a + b)
    assert ((a + b) - b).keys.tolist() == a.keys.tolist()


@given(batches, st.data(), kinds)
def test_the_weight_of_terms_is_a_repetition(
    some: list[Any], data: st.DataObject, event: str
) -> None:
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(some), max_size=len(some)))
    check_weights_are_repetitions(counting(event), rows(some), times, relative=0.0)
    check_scaling_is_repetition(counting(event), rows(some), 3, relative=0.0)


def test_terms_that_were_never_counted_cannot_be_forgotten() -> None:
    held = counting("multinomial")(["ham ham", "hat"])
    with pytest.raises(ForgettingUnseen, match=r"of the term [0-9a-f]{16}"):
        held - counting("multinomial")(["spam"])
    with pytest.raises(ForgettingUnseen, match="would leave 1 of the term"):
        counting("multinomial")(["a", "a a"]) - counting("multinomial")(["a", "a"])


def test_terms_and_ngrams_do_not_add_up() -> None:
    with pytest.raises(DifferentKinds, match="TermCounts and NgramCounts"):
        TermCounts.empty() + NgramCounts.empty(3)  # type: ignore[operator]


# Statistics of texts


def content(statistics: TextStatistics) -> Any:
    """Return all that statistics hold as plain values, to be compared."""
    parts = [
        part and {label: (g.weight, g.keys.tolist(), g.counts.tolist())
                  for label, g in part.groups.items()}
        for part in (statistics.terms, statistics.ngrams)
    ]  # fmt: skip
    return parts, dict(statistics.sample.rows), statistics.sample.limit


def assert_equal(left: TextStatistics, right: TextStatistics) -> None:
    assert content(left) == content(right)


@given(batches, batches, batches, learners)
def test_texts_merge_in_any_order_and_grouping(
    x: list[Any], y: list[Any], z: list[Any], name: str
) -> None:
    summarize = summarizing(name)
    a, b, c, nothing = (summarize(some) for some in (x, y, z, []))
    assert_equal(a + nothing, a)
    assert_equal(nothing + a, a)
    assert_equal(a + b, b + a)
    assert_equal((a + b) + c, a + (b + c))
    assert_equal(a + b, summarize([*x, *y]))
    assert_equal(TextStatistics.from_arrays((a + b).to_arrays()), a + b)
    assert (a + b).weight == len(x) + len(y) == sum((a + b).weights)


@given(batches, batches, learners)
def test_texts_that_were_merged_can_be_forgotten(x: list[Any], y: list[Any], name: str) -> None:
    a, b = summarizing(name)(x), summarizing(name)(y)
    assert_equal((a + b) - b, a)
    assert_equal(a - a, summarizing(name)([]))
    if y:
        with pytest.raises(ForgettingUnseen):
            a - (a + b)


@given(batches, st.data(), learners)
def test_the_weight_of_a_text_is_a_repetition(
    some: list[Any], data: st.DataObject, name: str
) -> None:
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(some), max_size=len(some)))
    summarize = summarizing(name)
    repeated = [text for text, n in zip(some, times, strict=True) for _ in range(n)]
    assert_equal(summarize(some, times), summarize(repeated))
    assert_equal(summarize(some).scaled(2.0), summarize([*some, *some]))
    assert_equal(summarize(some).scaled(0.0), summarize([]))


def test_the_sample_is_of_the_documents_with_the_smallest_hashes() -> None:
    some = [f"document {i}" for i in range(MOST + 500)]
    summarize = summarizing("both")
    whole = summarize(some)
    assert len(whole.sample.rows) == MOST
    assert_equal(summarize(some[:700]) + summarize(some[700:]), whole)
    assert_equal(summarize(some[::-1]), whole)
    left = whole - summarize(some[:100])
    assert left.sample.limit == whole.sample.limit
    assert len(left.sample.rows) < MOST
    assert_same(left.terms, summarize(some[100:]).terms, relative=0.0)


def test_statistics_of_other_event_models_do_not_add_up() -> None:
    both, terms = summarizing("both")(["a"]), summarizing("multinomial")(["a"])
    for one, other in ((both, terms), (terms, both)):
        with pytest.raises(DifferentKinds, match="has counted ngrams and the other has not"):
            one + other
        with pytest.raises(DifferentKinds, match="has counted ngrams and the other has not"):
            one - other


@given(documents, documents)
def test_documents_of_other_terms_or_bytes_have_other_hashes(one: Any, other: Any) -> None:
    found = Documents.of([one, other], None)
    same = found.starts[0] == found.starts[1] and (
        Tokens().tokens_of(one) == Tokens().tokens_of(other)
    )
    first, second = found.hashes()
    assert same or first != second
    assert first == Documents.of([one], None).hashes()[0]
