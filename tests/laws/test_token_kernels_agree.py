"""Terms and their counts: the compiled loops and plain Python agree on any text."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.engines import threads
from suffice.errors import BadSetting
from suffice.kernels.compilation import WORTH_COMPILING, part_of
from suffice.kernels.tokens.characters import PATTERN, character_kinds
from suffice.models.text import counting
from suffice.text import Tokens, Vocabulary, count_terms, hash_terms, term_hash, term_hashes

pytest.importorskip("numba", reason="numba is not installed: there is nothing to compare")

from suffice.kernels.tokens import documents_numba, vocabulary_numba

ODD = [
    "", " ", "\0", "a\0b", "İstanbul", "ΟΔΟΣ Σ ΣΑΣ.", "e\u0301te\u0301", "\ud800x\udfff",
    "\U0001f469\u200d\U0001f467 zwj", "\ud83d\ude00", "don't-stop", "£50!!", "€€ %%% $$$", "ß ẞ ǅ",
    "naïve \uff26\uff35", "x" * 3000, "a!b?c-d'e", "٣٤ ²³ ½", "_a_ __", "\U00010400\U0001d7d8",
    "eightlet", "eightletters eightlette", "\x85\u2028z",
]  # fmt: skip
"""Final sigma, a dotted capital I, combining marks, joined emoji, lone surrogates, long words."""

characters = st.characters(codec=None)
text = st.one_of(
    st.sampled_from(ODD),
    st.text(characters, max_size=40),
    st.text(st.sampled_from("aAbB'-_ $£é!ΣİЖ\0\ud800"), max_size=60),
    st.lists(st.sampled_from(["to", "be", "or", "not", "To", "!!"]), max_size=30).map(" ".join),
)
document = st.one_of(
    text,
    st.binary(max_size=40),
    text.map(lambda t: t.encode("utf-8", "surrogatepass")),
)
documents = st.lists(document, max_size=8)
settings_of_tokens = st.builds(
    Tokens, st.sampled_from([(1, 1), (1, 2), (2, 2), (1, 3), (2, 4), (3, 3)]), st.booleans()
)


def compiled():
    """Let inputs of any size count as large ones."""
    return part_of(WORTH_COMPILING)


def expected_rows(given_documents, tokens, key):
    """Return the counts of every document by key, by the plain reference."""
    return [Counter(map(key, tokens.tokens_of(each))) for each in given_documents]


def rows_of(indptr, keys, counts):
    """Return sparse rows as dictionaries, having checked that each key stands once, in order."""
    found = []
    for start, stop in pairwise(indptr):
        row = keys[start:stop].tolist()
        assert row == sorted(set(row))
        found.append(dict(zip(row, counts[start:stop].tolist(), strict=True)))
    return found


@pytest.mark.parametrize("small", [True, False])
@given(documents, settings_of_tokens, st.booleans())
def test_counts_are_those_of_the_reference(small, given_documents, tokens, boolean):
    with part_of(0) if small else compiled():
        found = count_terms(given_documents, tokens, boolean=boolean)
    order = dict.fromkeys(t for each in given_documents for t in tokens.tokens_of(each))
    assert found.vocabulary.terms == list(order)
    expected = expected_rows(given_documents, tokens, found.vocabulary.number)
    if boolean:
        expected = [dict.fromkeys(row, 1) for row in expected]
    assert rows_of(*found[:3]) == expected
    assert len(found.indptr) == len(given_documents) + 1


@pytest.mark.parametrize("small", [True, False])
@given(documents, settings_of_tokens, st.sampled_from([1, 7, 1000, 2**20, 2**40]), st.booleans())
def test_hashes_are_those_of_the_reference(small, given_documents, tokens, size, boolean):
    with part_of(0) if small else compiled():
        full = term_hashes(given_documents, tokens, boolean=boolean)
        columns = hash_terms(given_documents, tokens, size, boolean=boolean)
    assert full.hashes.dtype == np.uint64
    for found, key in ((full, term_hash), (columns, lambda term: term_hash(term) % size)):
        expected = expected_rows(given_documents, tokens, key)
        if boolean:
            expected = [dict.fromkeys(row, 1) for row in expected]
        assert rows_of(*found) == expected


@pytest.mark.parametrize("small", [True, False])
@given(documents, documents, settings_of_tokens, settings_of_tokens)
def test_a_vocabulary_may_be_fixed_or_grow(small, first, second, tokens, others):
    with part_of(0) if small else compiled():
        start = count_terms(first, tokens).vocabulary
        fixed = count_terms(second, others, start)
        grown = count_terms(second, others, start, grow=True)
        listed = count_terms(second, others, Vocabulary(start.terms))
    assert fixed.vocabulary is start
    terms = [others.tokens_of(each) for each in second]
    known = [Counter(start.number(t) for t in row if t in start) for row in terms]
    assert rows_of(*fixed[:3]) == rows_of(*listed[:3]) == known
    new = [term for row in terms for term in row]
    assert grown.vocabulary.terms == list(dict.fromkeys([*start.terms, *new]))
    assert rows_of(*grown[:3]) == expected_rows(second, others, grown.vocabulary.number)


@given(documents, documents, settings_of_tokens, settings_of_tokens, st.booleans(), st.booleans())
def test_the_terms_of_one_vocabulary_come_before_what_is_new_in_another(
    first, second, tokens, others, one_small, other_small
):
    with part_of(0) if one_small else compiled():
        a = count_terms(first, tokens).vocabulary
    with part_of(0) if other_small else compiled():
        b = count_terms(second, others).vocabulary
    before = list(a.terms)
    both = a + b
    assert both.terms == list(dict.fromkeys([*a.terms, *b.terms]))
    assert a.terms == before
    assert (both + b) == both == a.add(b.terms)
    with compiled():  # what was merged is found again by the loops
        assert len(count_terms([" ".join(both.terms)], Tokens(lower=False), both).indices) == sum(
            " " not in term for term in both.terms
        )


@given(documents, documents, documents)
def test_merging_vocabularies_is_associative_and_the_empty_one_changes_nothing(x, y, z):
    with compiled():
        a, b, c = (count_terms(some, Tokens((1, 2))).vocabulary for some in (x, y, z))
    assert (a + b) + c == a + (b + c)
    assert a + Vocabulary() == a == Vocabulary() + a


@pytest.mark.slow
@pytest.mark.parametrize("ngrams", [(1, 1), pytest.param((1, 2), marks=pytest.mark.slow), (2, 3)])
@pytest.mark.parametrize("cores", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_numbers_do_not_depend_on_threads(ngrams, cores, monkeypatch):
    rng = np.random.default_rng(0)
    words = np.array([*(f"w{i}" for i in range(3000)), *ODD[:8]], dtype=object)
    texts = [" ".join(rng.choice(words, rng.integers(0, 400))) for _ in range(600)]
    assert sum(map(len, texts)) > threads.SMALL
    tokens, answers = Tokens(ngrams), {}
    start = Vocabulary(["w7", "w2999", "w5 w6", "never"])
    for many in (1, cores):
        for module in (threads, counting):
            monkeypatch.setattr(module, "workers", lambda many=many: many)
        with compiled():
            new = count_terms(texts, tokens)
            grown = count_terms(texts, tokens, start, grow=True)
            fixed = count_terms(texts, tokens, new.vocabulary.pruned(np.arange(len(new[3])), 500))
            answers[many] = [new, grown, fixed, hash_terms(texts, tokens, 999),
                             term_hashes(texts, tokens)]  # fmt: skip
    for one, other in zip(answers[1], answers[cores], strict=True):
        for left, right in zip(one[:3], other[:3], strict=True):
            assert left.dtype == right.dtype
            assert np.array_equal(left, right)
        assert one[3:] == other[3:]
    new = answers[cores][0]
    order = dict.fromkeys(t for each in texts for t in tokens.tokens_of(each))
    assert new.vocabulary.terms == list(order)


def test_the_kind_of_every_character_is_that_of_the_pattern():
    kinds = character_kinds()
    for code in range(sys.maxunicode + 1):
        assert bool(kinds[code]) == (PATTERN.fullmatch(chr(code)) is not None), hex(code)


@pytest.mark.parametrize("small", [True, False])
def test_words_of_equal_hash_stay_two_words(small, monkeypatch):
    # No two words of equal hash are known; so every word gets the same.
    def alike(buffer, starts, stops, hashes):
        hashes[:] = 5

    monkeypatch.setattr(documents_numba, "_word_loop", lambda: alike)
    texts = ["a b eightlet eightlets eightlett a", "b eightlets eightletters"]
    with part_of(0) if small else compiled():
        found = count_terms(texts)
    assert found.vocabulary.terms == list(dict.fromkeys(" ".join(texts).split()))
    assert found.counts.tolist() == [2, 1, 1, 1, 1, 1, 1, 1]


def test_long_rows_are_sorted_whatever_their_order():
    rng = np.random.default_rng(1)
    for size in (0, 1, 24, 1000, 40_000):
        up = np.arange(size, dtype=np.uint64) * np.uint64(2**40)
        organ = np.concatenate([up[::2], up[1::2][::-1]])
        for keys in (up, up[::-1], organ, rng.permutation(up)):
            ours, counts = keys.copy(), (keys >> np.uint64(40)).astype(np.int32)
            documents_numba.sort_rows(ours, counts, np.array([size]))
            assert np.array_equal(ours, up)
            assert np.array_equal(counts, np.arange(size))


def test_the_hash_of_a_term_never_changes():
    assert term_hash("spam") == 0x5F1341281F9D8BF5
    assert term_hash("viagra prices") == 0x74AADDCBC38933B1
    assert term_hash("unbeschränkt-£") == 0x292F6F9AE1E67395


@pytest.mark.parametrize("odd", ["", " ", "a  b", "a ", "a\0", "\ud800", 5, None])
def test_what_can_be_no_term_is_refused(odd):
    for make in (lambda: Vocabulary(["a", odd]), lambda: Vocabulary(["a"]).add([odd])):
        with pytest.raises(BadSetting, match="is not a term"):
            make()
    assert Vocabulary([]).terms == []


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2)])
def test_a_document_longer_than_many_blocks_is_counted_as_a_short_one(ngrams, monkeypatch):
    monkeypatch.setattr(documents_numba, "BLOCK_CHARACTERS", 64)
    monkeypatch.setattr(vocabulary_numba, "WORDS_AT_ONCE", 16)
    monkeypatch.setattr(documents_numba, "SORTED_KEYS", 8)
    rng = np.random.default_rng(2)
    long = " ".join(f"w{number}!" for number in rng.integers(0, 300, 2000))
    texts, tokens = ["a b", long, "b w7", "é " + long, ""], Tokens(ngrams)
    small = count_terms(texts, tokens), term_hashes(texts, tokens)
    with compiled():
        large = count_terms(texts, tokens), term_hashes(texts, tokens)
    for one, other in zip(small, large, strict=True):
        for left, right in zip(one[:3], other[:3], strict=True):
            assert np.array_equal(left, right)
    assert small[0].vocabulary == large[0].vocabulary
