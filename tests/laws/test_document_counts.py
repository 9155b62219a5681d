"""Document counts: merged, forgotten, scaled and stored, over vocabularies that grow apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import BadRows, ForgettingUnseen
from suffice.statistics import DocumentCounts
from suffice.testing import (
    assert_same,
    check_arrays_round_trip,
    check_associative,
    check_commutative,
    check_forgetting,
    check_forgetting_unseen,
    check_identity,
    check_leave_one_out,
    check_scaling,
    check_scaling_is_repetition,
    check_statistics,
)

words = st.sampled_from(["to", "be", "or", "not", "é", "\0", "to be", "x\0"])
documents = st.lists(st.lists(words, max_size=6), max_size=6)
weighted = documents.flatmap(
    lambda held: st.tuples(
        st.just(held),
        st.none() | st.lists(st.sampled_from([0.0, 0.25, 1.0, 2.5]), min_size=len(held),
                             max_size=len(held)),
    )
)  # fmt: skip
counts = weighted.map(lambda pair: DocumentCounts.of(*pair))


def as_table(held):
    """Return documents as an array of objects: rows that the published laws can cut and repeat."""
    table = np.empty(len(held), dtype=object)
    table[:] = held
    return table


@given(counts, counts, counts)
def test_order_and_grouping_do_not_matter(a, b, c):
    check_identity(a, DocumentCounts.empty())
    check_commutative(a, b)
    check_associative(a, b, c)
    check_leave_one_out([a, b, c])


@given(counts, counts, st.floats(0.1, 4.0), st.floats(0.1, 4.0))
def test_what_was_merged_can_be_forgotten_faded_and_stored(a, b, first, second):
    check_forgetting(a, b)
    check_forgetting_unseen(a, b)
    check_scaling(a, b, first, second)
    check_arrays_round_trip(a + b)


@given(documents, documents)
def test_merging_is_summarizing_together_and_exact(x, y):
    both = DocumentCounts.of(x) + DocumentCounts.of(y)
    together = DocumentCounts.of(x + y)
    assert_same(both, together, relative=0.0)
    assert list(both.terms) == list(together.terms)
    left = both - DocumentCounts.of(y)
    assert_same(left, DocumentCounts.of(x), relative=0.0)
    check_scaling_is_repetition(DocumentCounts.of, as_table(x))


def test_the_published_check_passes():
    rng = np.random.default_rng(0)
    held = [list(rng.choice(list("abcdefg"), rng.integers(0, 5))) for _ in range(40)]
    held = [[str(word) for word in row] for row in held]
    check_statistics(DocumentCounts.of, as_table(held))


def test_sparse_rows_are_summarized_as_lists_are():
    found = DocumentCounts.of_rows(np.array([0, 2, 2, 3]), np.array([0, 2, 2]), ["a", "b", "c"])
    assert found.weight == 3.0
    assert_same(found, DocumentCounts.of([["a", "c"], [], ["c"]]), relative=0.0)
    assert found.trimmed().terms == ["a", "c"]
    wide = DocumentCounts.of_rows(np.array([0, 1]), np.array([1]), range(4))
    assert (wide + wide).held.tolist() == [0, 2, 0, 0]
    assert (wide + wide).terms == range(4)


def test_what_was_never_merged_is_refused_by_name():
    a = DocumentCounts.of([["to"], ["be"]])
    with pytest.raises(ForgettingUnseen, match=r"weight 1 .* weight 0 of term 'or'"):
        a - DocumentCounts.of([["or"]])
    with pytest.raises(ForgettingUnseen, match="weight 3"):
        a - DocumentCounts.of([[], [], []])
    with pytest.raises(ForgettingUnseen, match="leave 1 documents with the term 'be', of 0"):
        a - DocumentCounts.of([["to"], []])
    with pytest.raises(BadRows, match="term 'be' was counted"):
        a.in_terms(["to", "or"])
