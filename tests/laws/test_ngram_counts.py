"""What counts of n-grams obey, and that the compiled loops count as their NumPy twins do."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.engines.uneven_blocks import count_by_class
from suffice.errors import (
    BadLabels,
    BadRows,
    BadSetting,
    BadWeights,
    DifferentKinds,
    ForgettingUnseen,
)
from suffice.kernels import compilation
from suffice.kernels.ngrams import counts
from suffice.kernels.ngrams.texts import BITS, BOS, EOT, Texts
from suffice.statistics.keyed_counts import NgramCounts
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
from tests.twins import plain

counts_plain = plain(counts)

orders = st.integers(1, 7)
limits = st.none() | st.integers(1, 6)
letters = st.sampled_from([b"", b"\x00", b"\x00\x00", b"a", b"ab", b"ba", b"\xff"])
documents = st.lists(letters, max_size=6).map(b"".join) | st.binary(max_size=12)
batches = st.lists(documents, max_size=5)
fractions = st.sampled_from([0.1, 0.2, 0.3, 0.1 + 0.2, 0.7, 1.0, 3.0, 0.0])


def rows(texts: list[bytes]) -> Any:
    """Return documents as rows of one cell, as the laws want them."""
    found = np.empty(len(texts), dtype=object)
    found[:] = texts
    return found


def counting(order: int, limit: int | None = None) -> Any:
    return lambda texts, weights=None: NgramCounts.of(list(texts), order, limit, weights)


def plain_counts(texts: list[bytes], order: int, limit: int | None) -> Counter[int]:
    """Count as the definition says, symbol by symbol."""
    found: Counter[int] = Counter()
    for text in texts:
        symbols = [BOS] * (order - 1) + list(text[:limit])
        if limit is None or len(text) <= limit:
            symbols.append(EOT)
        for end in range(order, len(symbols) + 1):
            key = 0
            for symbol in symbols[end - order : end]:
                key = key * 2**BITS + symbol
            found[key] += 1
    return found


# What is counted


@given(batches, orders, limits)
def test_every_symbol_ends_one_full_ngram(
    texts: list[bytes], order: int, limit: int | None
) -> None:
    counts = NgramCounts.of(texts, order, limit)
    expected = plain_counts(texts, order, limit)
    assert counts.keys.tolist() == sorted(expected)
    assert counts.counts.tolist() == [expected[key] for key in sorted(expected)]
    assert counts.weight == len(texts)
    assert counts.keys.dtype == np.uint64


def test_a_document_as_long_as_the_limit_is_whole_and_a_longer_one_is_cut() -> None:
    assert NgramCounts.of([b"ab"], 1, 2).keys.tolist() == [97, 98, EOT]
    assert NgramCounts.of([b"abc"], 1, 2).keys.tolist() == [97, 98]
    assert NgramCounts.of([b""], 1, 2).keys.tolist() == [EOT]


# Laws


@given(batches, batches, batches, orders, limits)
def test_counts_are_exact_however_they_are_merged(
    x: list[bytes], y: list[bytes], z: list[bytes], order: int, limit: int | None
) -> None:
    summarize = counting(order, limit)
    a, b, c = summarize(x), summarize(y), summarize(z)
    check_identity(a, NgramCounts.empty(order), relative=0.0)
    check_commutative(a, b, relative=0.0)
    check_associative(a, b, c, relative=0.0)
    check_batches_add_up(summarize, rows(x), rows(y), relative=0.0)
    check_leave_one_out([a, b, c], relative=0.0)
    check_scaling(a, b, relative=0.0)
    check_arrays_round_trip(a + b)


@given(batches, batches, orders)
def test_what_was_merged_can_be_forgotten_to_the_last_ngram(
    x: list[bytes], y: list[bytes], order: int
) -> None:
    a, b = NgramCounts.of(x, order), NgramCounts.of(y, order)
    check_forgetting(a, b, relative=0.0)
    check_forgetting_unseen(a, b)
    check_forgetting_unseen(a, a + b)
    assert ((a + b) - b).keys.tolist() == a.keys.tolist()


@given(batches, st.data(), orders)
def test_a_weight_is_a_repetition(texts: list[bytes], data: st.DataObject, order: int) -> None:
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(texts), max_size=len(texts)))
    check_weights_are_repetitions(counting(order), rows(texts), times, relative=0.0)
    check_scaling_is_repetition(counting(order), rows(texts), 3, relative=0.0)


@given(batches, batches, st.data(), orders)
def test_fractional_weights_merge_and_are_forgotten_up_to_rounding(
    x: list[bytes], y: list[bytes], data: st.DataObject, order: int
) -> None:
    u, v = (
        np.array(data.draw(st.lists(fractions, min_size=len(t), max_size=len(t)))) for t in (x, y)
    )
    summarize = counting(order)
    a, b = summarize(x, u), summarize(y, v)
    both = summarize([*x, *y], np.concatenate([u, v]))
    assert_same(a + b, both, law="merging is counting together")
    assert_same(both - b, a, held=[both], law="what was counted together is forgotten apart")
    check_forgetting(a, b)
    check_scaling(a, b, 0.3, 0.7)


@given(batches, orders, limits, st.integers(1, 3), st.randoms())
def test_counts_by_class_have_no_order_and_do_not_depend_on_the_cut(
    texts: list[bytes], order: int, limit: int | None, size: int, random: Any
) -> None:
    codes = np.array([random.randrange(size) for _ in texts], dtype=np.intp)
    found = count_by_class(Texts.of(texts, limit), order, codes, size)
    shuffled = random.sample(range(len(texts)), len(texts))
    again = count_by_class(
        Texts.of([texts[i] for i in shuffled], limit), order, codes[shuffled], size
    )
    assert len(found) == size
    for c in range(size):
        own = [text for text, code in zip(texts, codes, strict=True) if code == c]
        assert_same(found[c], NgramCounts.of(own, order, limit), relative=0.0)
        assert_same(found[c], again[c], relative=0.0)


def test_counts_by_many_threads_are_the_counts_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    rng = np.random.default_rng(3)
    texts = [rng.integers(97, 105, rng.integers(0, 4000), dtype=np.uint8) for _ in range(300)]
    documents = [text.tobytes() for text in texts]
    codes, weights = rng.integers(0, 3, 300), rng.integers(0, 3, 300).astype(float)
    found = count_by_class(Texts.of(documents), 5, codes, 3, weights)
    monkeypatch.setenv("SUFFICE_THREADS", "1")
    monkeypatch.setattr(compilation, "WORTH_COMPILING", 10**12)
    alone = count_by_class(Texts.of(documents), 5, codes, 3, weights)
    for one, other in zip(found, alone, strict=True):
        assert_same(one, other, relative=0.0)


# Refusals


def test_what_was_never_counted_cannot_be_forgotten() -> None:
    held = NgramCounts.of([b"ham", b"hat"], 3)
    with pytest.raises(ForgettingUnseen, match="weight 1 from statistics of weight 0 of n-gram"):
        held - NgramCounts.of([b"spam"], 3)
    with pytest.raises(ForgettingUnseen, match="weight 2 from statistics of weight 1 of n-gram"):
        held - NgramCounts.of([b"ham", b"ham"], 3)
    with pytest.raises(ForgettingUnseen, match="would leave 1 of n-gram"):
        NgramCounts.of([b"aa", b"aaa"], 1) - NgramCounts.of([b"aa", b"aa"], 1)


def test_orders_and_limits_out_of_range_are_refused() -> None:
    for order in (0, 8, -1, 2.0, True, None):
        with pytest.raises(BadSetting, match="symbols cannot be counted"):
            NgramCounts.of([b"a"], order)  # type: ignore[arg-type]
    for limit in (0, -1, 2.5, True):
        with pytest.raises(BadSetting, match="bytes of a document"):
            NgramCounts.of([b"a"], 2, limit)  # type: ignore[arg-type]


def test_different_orders_do_not_add_up() -> None:
    with pytest.raises(DifferentKinds, match="of 2 and of 3 symbols"):
        NgramCounts.of([b"a"], 2) + NgramCounts.of([b"a"], 3)


def test_texts_are_not_bytes_and_a_document_is_not_a_list() -> None:
    with pytest.raises(BadRows, match="document 1 is a str"):
        NgramCounts.of([b"a", "b"], 2)  # type: ignore[list-item]
    with pytest.raises(BadRows, match="a single bytes"):
        NgramCounts.of(b"a", 2)  # type: ignore[arg-type]
    views = [bytearray(b"a"), memoryview(b"a"), memoryview(b"axaxa")[::5]]
    assert NgramCounts.of(views, 2).counts.tolist() == [3.0, 3.0]  # type: ignore[arg-type]


def test_each_document_has_one_weight_and_one_class() -> None:
    with pytest.raises(BadWeights, match=r"1 documents have weights of shape \(2,\)"):
        NgramCounts.of([b"a"], 2, weights=[1.0, 2.0])
    texts = Texts.of([b"a", b"b"])
    with pytest.raises(BadLabels, match="2 documents have 3 classes"):
        count_by_class(texts, 2, np.array([0, 1, 0]), 2)
    with pytest.raises(BadWeights, match="2 documents have 1 weights"):
        count_by_class(texts, 2, np.array([0, 1]), 2, np.ones(1))


# Twins


@given(batches, orders, limits, st.randoms())
def test_both_twins_make_count_sort_and_merge_alike(
    texts: list[bytes], order: int, limit: int | None, random: Any
) -> None:
    pytest.importorskip("numba")
    from suffice.kernels.ngrams import counts_numba

    some = random.sample(range(len(texts)), len(texts) // 2)
    for side in (Texts.of(texts, limit), Texts.of(texts, limit).taken(some)):
        keys = counts_plain.ngram_keys(side, order)
        assert counts_numba.ngram_keys(side, order).tolist() == keys.tolist()
        bits = BITS * order
        one, other = (twin.sort_keys(keys, bits) for twin in (counts_plain, counts_numba))
        assert one[0].tolist() == other[0].tolist()
        assert one[1].tolist() == other[1].tolist()
        one, other = (twin.count_keys(keys.copy(), bits) for twin in (counts_plain, counts_numba))
        assert one[0].tolist() == other[0].tolist()
        assert one[1].tolist() == other[1].tolist()
        more, less = keys[::2].copy(), keys[1::3].copy()
        pair = *counts_plain.count_keys(more, bits), *counts_plain.count_keys(less, bits)
        one, other = (twin.merge_counts(*pair) for twin in (counts_plain, counts_numba))
        assert one[0].tolist() == other[0].tolist()
        assert one[1].tolist() == other[1].tolist()


@given(st.lists(st.integers(0, 2**64 - 1), max_size=50))
def test_numbers_of_all_64_bits_are_sorted(numbers: list[int]) -> None:
    pytest.importorskip("numba")
    from suffice.kernels.ngrams import counts_numba

    keys = np.array(numbers, dtype=np.uint64)
    for twin in (counts_plain, counts_numba):
        found, order = twin.sort_keys(keys, 64)
        assert found.tolist() == sorted(numbers)
        assert keys[order].tolist() == sorted(numbers)


def test_few_documents_are_counted_without_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    from suffice.kernels.ngrams import counts_numba

    def refused(*_: object) -> None:
        raise AssertionError("compiled")

    monkeypatch.setattr(counts_numba, "ngram_keys", refused)
    counts.count_ngrams(Texts.of([b"a" * 100_000]), 5, None)
    with pytest.raises(AssertionError, match="compiled"):
        counts.count_ngrams(Texts.of([b"a" * 200_000]), 5, None)
