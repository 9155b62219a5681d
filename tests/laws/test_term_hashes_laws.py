"""Numbers of terms, made of many documents at once, and where they are looked up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.kernels.tokens import hashes, spread_keys
from suffice.kernels.tokens.hashes import LONG, terms_of_documents
from suffice.kernels.tokens.spread_keys import SpreadKeys
from suffice.kernels.tokens.term_hash import term_hash
from suffice.models.text.tokens import Tokens

words = st.one_of(
    st.sampled_from(["be", "don't", "£50", "€€", "ΣΑΣ.", "İ", "\ud800", "\0", "naïve", "日本"]),
    st.integers(1, 3 * LONG).map(lambda size: "x" * size),
    st.text(max_size=12),
)
texts = st.lists(words, max_size=12).map(" ".join)
documents = texts | texts.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary()
tokens = st.builds(Tokens, st.sampled_from([(1, 1), (1, 2), (2, 2), (2, 4)]), st.booleans())


@given(st.lists(documents, max_size=8), tokens, st.sampled_from([1, 20, 1 << 18]))
def test_terms_of_blocks_are_those_of_each_document_in_order(
    given_documents: list[str | bytes], how: Tokens, block: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashes, "BLOCK", block)
        found = list(terms_of_documents(given_documents, how.ngrams, how.lower))
    terms = [how.tokens_of(document) for document in given_documents]
    keys = np.concatenate([np.empty(0, np.uint64), *(keys for keys, _ in found)])
    sizes = np.concatenate([np.empty(0, np.int64), *(sizes for _, sizes in found)])
    assert keys.tolist() == [term_hash(term) for some in terms for term in some]
    assert sizes.tolist() == [len(some) for some in terms]


numbers = st.integers(0, 2**64 - 1) | st.integers(0, 50) | st.integers(2**64 - 50, 2**64 - 1)


@given(st.lists(numbers, unique=True), st.lists(numbers), st.sampled_from([0, 2, 64]))
def test_keys_are_found_where_they_are_however_crowded_they_lie(
    known: list[int], others: list[int], crowded: int
) -> None:
    known.sort()
    asked = [*others, *known]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spread_keys, "CROWDED", crowded)
        found = SpreadKeys.of(np.array(known, dtype=np.uint64)).places(
            np.array(asked, dtype=np.uint64)
        )
    places = {key: place for place, key in enumerate(known)}
    assert found.tolist() == [places.get(key, -1) for key in asked]


def test_terms_that_somebody_has_chosen_to_lie_together_are_found_by_halving() -> None:
    keys = SpreadKeys.of(np.arange(100_000, dtype=np.uint64))
    assert keys.crowd == 100_000
    assert keys.places(np.array([99_999, 100_000], dtype=np.uint64)).tolist() == [99_999, -1]
