"""Language models of bytes: probabilities by hand, by definition, left out, drawn, explained."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import BadSetting, DifferentKinds, ForgettingUnseen
from suffice.kernels import compilation
from suffice.kernels.ngrams import counts, scores
from suffice.kernels.ngrams.texts import BOS, EOT, Texts
from suffice.models.text.language import Language
from suffice.models.text.witten_bell import levels_of
from suffice.statistics.keyed_counts import NgramCounts
from tests.twins import plain

CLOSE = 1e-12

orders = st.integers(1, 7)
limits = st.none() | st.integers(1, 6)
few_letters = st.lists(st.sampled_from([0, 97, 98]), max_size=9).map(bytes)
documents = few_letters | st.binary(max_size=6)
batches = st.lists(documents, max_size=5)


def plain_log_density(learned: list[bytes], order: int, limit: int | None, text: bytes) -> float:
    """Return log p by the definition, looking through all that was learned at every symbol."""

    def symbols(document: bytes) -> list[int]:
        cut = limit is not None and len(document) > limit
        return [BOS] * (order - 1) + list(document[:limit]) + ([] if cut else [EOT])

    known, found = [symbols(document) for document in learned], 0.0
    own = symbols(text)
    for i in range(order - 1, len(own)):
        p = 1.0 / 257.0
        for length in range(order):
            context = own[i - length : i]
            after = [
                other[j]
                for other in known
                for j in range(order - 1, len(other))
                if other[j - length : j] == context
            ]
            if after:
                kinds = len(set(after))
                p = (after.count(own[i]) + kinds * p) / (len(after) + kinds)
        found += math.log(p)
    return found


def laws_of(groups: list[list[bytes]], order: int, limit: int | None = None) -> Any:
    family = Language(order, limit)
    return family.estimate([NgramCounts.of(group, order, limit) for group in groups])


# By hand, and by the definition


def test_an_example_of_order_two_by_hand() -> None:
    # ⊢aba⊣: a twice, b once, ⊣ once; after a: b, ⊣; after b: a; after ⊢: a.
    laws = laws_of([[b"aba"]], 2)
    bottom = 1 / 257
    a, b, end, other = (
        (2 + 3 * bottom) / 7,
        (1 + 3 * bottom) / 7,
        (1 + 3 * bottom) / 7,
        3 * bottom / 7,
    )
    first = (1 + a) / 2
    assert laws.probabilities()[97, 0] == pytest.approx(first, rel=CLOSE)
    assert laws.probabilities(b"a")[98, 0] == pytest.approx((1 + 2 * b) / 4, rel=CLOSE)
    assert laws.probabilities(b"ba")[256, 0] == pytest.approx((1 + 2 * end) / 4, rel=CLOSE)
    assert laws.probabilities(b"a")[120, 0] == pytest.approx(2 * other / 4, rel=CLOSE)
    assert laws.probabilities(b"x")[97, 0] == pytest.approx(a, rel=CLOSE)
    whole = first * (1 + 2 * b) / 4 * (1 + a) / 2 * (1 + 2 * end) / 4
    assert laws.log_density([b"aba"])[0, 0] == pytest.approx(math.log(whole), rel=CLOSE)


@given(st.lists(batches, min_size=1, max_size=3), batches, orders, limits)
def test_densities_are_those_of_the_definition(
    groups: list[list[bytes]], texts: list[bytes], order: int, limit: int | None
) -> None:
    found = laws_of(groups, order, limit).log_density(texts)
    expected = [[plain_log_density(g, order, limit, text) for g in groups] for text in texts]
    assert found.shape == (len(texts), len(groups))
    np.testing.assert_allclose(found, np.array(expected).reshape(found.shape), rtol=CLOSE)


@given(st.lists(batches, min_size=1, max_size=3), documents, orders)
def test_probabilities_of_the_257_symbols_sum_to_one(
    groups: list[list[bytes]], before: bytes, order: int
) -> None:
    found = laws_of(groups, order).probabilities(before)
    assert found.shape == (257, len(groups))
    assert (found > 0.0).all()
    np.testing.assert_allclose(found.sum(axis=0), 1.0, rtol=CLOSE)


@given(batches, documents, orders)
def test_a_text_is_as_probable_as_its_symbols_one_after_the_other(
    learned: list[bytes], text: bytes, order: int
) -> None:
    laws = laws_of([learned], order)
    logs = [math.log(laws.probabilities(text[:i])[text[i], 0]) for i in range(len(text))]
    logs.append(math.log(laws.probabilities(text)[256, 0]))
    assert laws.log_density([text])[0, 0] == pytest.approx(sum(logs), rel=CLOSE)


@given(batches, documents, orders)
def test_a_text_ends_or_goes_on(learned: list[bytes], text: bytes, order: int) -> None:
    laws = laws_of([learned], order)

    def begin(starts: list[bytes]) -> float:
        cut = Language(order, limit=len(starts[0])).estimate(laws.groups)
        texts = [start + b"and more" for start in starts]
        return float(np.exp(cut.log_density(texts)[:, 0]).sum())

    ends = float(np.exp(laws.log_density([text])[0, 0]))
    goes_on = begin([text + bytes([byte]) for byte in range(256)])
    assert (begin([text]) if text else 1.0) == pytest.approx(ends + goes_on, rel=1e-10)


def test_lengths_count_the_end_unless_the_document_is_cut() -> None:
    groups = [NgramCounts.of([b"ab"], 3)]
    texts = [b"ab", b"abc", b""]
    assert Language(3).estimate(groups).lengths(texts).tolist() == [3, 4, 1]
    assert Language(3, limit=2).estimate(groups).lengths(texts).tolist() == [3, 2, 1]


def test_a_class_without_documents_finds_all_texts_of_a_length_alike() -> None:
    found = laws_of([[b"ham"], []], 5).log_density([b"ham", b"xyz", b""])
    np.testing.assert_allclose(found[:, 1], np.log(1 / 257) * np.array([4, 4, 1]), rtol=CLOSE)
    assert laws_of([[]], 5).log_density([]).shape == (0, 1)


def test_huge_weights_leave_densities_finite() -> None:
    counts = NgramCounts.of([b"aaaa"], 5).scaled(1e300)
    assert np.isfinite(Language().estimate([counts]).log_density([b"bbbb", b"aaaa", b""])).all()


# Merging, forgetting, weights


@given(batches, batches, documents, orders)
def test_merged_counts_give_the_law_of_all_documents(
    x: list[bytes], y: list[bytes], text: bytes, order: int
) -> None:
    a, b = NgramCounts.of(x, order), NgramCounts.of(y, order)
    family = Language(order)
    together = laws_of([[*y, *x]], order).log_density([text])
    assert np.array_equal(family.estimate([a + b]).log_density([text]), together)
    forgotten = family.estimate([(a + b) - b]).log_density([text])
    assert np.array_equal(forgotten, family.estimate([a]).log_density([text]))


# Left out


def refitted(
    texts: list[bytes], codes: Any, weights: Any, size: int, family: Language
) -> np.ndarray[Any, Any]:
    """Forget each document in turn, and estimate again."""
    groups = family.summarize(texts, codes, size, weights)
    found = np.empty((len(texts), size))
    for i, (text, code) in enumerate(zip(texts, codes, strict=True)):
        rest = list(groups)
        own = NgramCounts.of([text], family.order, family.limit, [weights[i]])
        rest[code] = rest[code] - own
        found[i] = family.estimate(rest).log_density([text])[0]
    return found


@given(st.lists(documents, min_size=1, max_size=6), orders, limits, st.data())
def test_a_document_left_out_is_one_forgotten_before_the_fit(
    texts: list[bytes], order: int, limit: int | None, data: st.DataObject
) -> None:
    family, many = Language(order, limit), len(texts)
    codes = np.array(data.draw(st.lists(st.integers(0, 2), min_size=many, max_size=many)))
    weight = st.sampled_from([0.0, 1.0, 2.0, 3.0]) | st.sampled_from([0.1, 0.2, 0.7])
    weights = np.array(data.draw(st.lists(weight, min_size=many, max_size=many)))
    laws = family.estimate(family.summarize(texts, codes, 3, weights))
    expected = refitted(texts, codes, weights, 3, family)
    np.testing.assert_allclose(laws.left_out(texts, codes, weights), expected, rtol=CLOSE)


def test_what_was_not_counted_cannot_be_left_out_but_may_be_unlabelled() -> None:
    laws = laws_of([[b"ham", b"hat"], [b"spam"]], 4)
    with pytest.raises(ForgettingUnseen, match="document 1 was never counted in class 1"):
        laws.left_out([b"ham", b"hat"], np.array([0, 1]))
    with pytest.raises(ForgettingUnseen, match="document 0 was never counted in class 0"):
        laws.left_out([b"ham"], np.array([0]), np.array([2.0]))
    found = laws.left_out([b"ham", b"new"], np.array([0, -1]))
    assert np.array_equal(found[1], laws.log_density([b"new"])[0])
    assert found[0, 1] == laws.log_density([b"ham"])[0, 1]
    assert found[0, 0] < laws.log_density([b"ham"])[0, 0]


# Twins


@given(st.lists(batches, min_size=1, max_size=3), batches, orders, limits)
@pytest.mark.slow
def test_both_twins_score_alike(
    groups: list[list[bytes]], texts: list[bytes], order: int, limit: int | None
) -> None:
    pytest.importorskip("numba")
    from suffice.kernels.ngrams import scores_numba

    laws = laws_of(groups, order, limit)
    given_texts = Texts.of([*texts, *groups[0]], limit)
    one, other = (np.empty((given_texts.size, len(groups))) for _ in range(2))
    scores.ngram_scores.plain(given_texts, laws.table, one)
    scores_numba.ngram_scores(given_texts, laws.table, other)
    np.testing.assert_allclose(one, other, rtol=CLOSE)


@given(st.lists(batches, min_size=1, max_size=3), orders)
def test_both_twins_sum_and_interpolate_alike(groups: list[list[bytes]], order: int) -> None:
    pytest.importorskip("numba")
    from suffice.kernels.ngrams import counts_numba

    levels = levels_of([NgramCounts.of(group, order) for group in groups])
    low = np.full((1, len(groups)), 1 / 257)
    for below, level in pairwise(levels):
        parts = below.contexts, below.successors, low, level.ending, level.context
        one, other = (
            twin.interpolated(level.counts, *parts) for twin in (plain(counts), counts_numba)
        )
        np.testing.assert_allclose(one, other, rtol=CLOSE)
        firsts = np.arange(0, len(level.keys), 3)
        places = np.arange(len(level.keys))[::-1].copy()
        sums = [
            [
                twin.run_sums(level.counts, places, firsts),
                *twin.successor_sums(level.counts, firsts),
            ]
            for twin in (plain(counts), counts_numba)
        ]
        for left, right in zip(*sums, strict=True):
            assert np.array_equal(left, right)
        low = one


def test_many_threads_and_compiled_loops_give_the_same_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("numba")
    rng = np.random.default_rng(5)
    texts = [
        rng.choice(np.frombuffer(b"ab cd\x00", np.uint8), rng.integers(0, 3000)).tobytes()
        for _ in range(200)
    ]
    codes, family = rng.integers(0, 2, 200), Language(4, limit=2500)

    def answers() -> Any:
        laws = family.estimate(family.summarize(texts, codes, 2))
        return laws.log_density(texts), laws.left_out(texts, codes)

    found = answers()
    monkeypatch.setenv("SUFFICE_THREADS", "1")
    monkeypatch.setattr(compilation, "WORTH_COMPILING", 10**12)
    for one, other in zip(found, answers(), strict=True):
        np.testing.assert_allclose(one, other, rtol=CLOSE)


@pytest.mark.process
def test_a_single_message_needs_no_compiler() -> None:
    program = (
        "import sys, numpy as np\n"
        "from suffice.models.text.language import Language\n"
        "family = Language()\n"
        "groups = family.summarize([b'ham', b'spam'] * 500, np.arange(1000) % 2, 2)\n"
        "laws = family.estimate(groups)\n"
        "laws.log_density([b'a message' * 1000]); laws.left_out([b'ham'], np.array([0]))\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


# Drawing and explaining


def test_drawn_texts_follow_the_law() -> None:
    laws = laws_of([[b"ab", b"b", b"aab"], [b"zz"]], 2)
    size = 4000
    drawn = laws.sample(np.zeros(size, dtype=np.intp), np.random.default_rng(11))
    kinds = [b"", b"a", b"b", b"ab", b"aab", b"bb", b"aaab", b"abb"]
    shares = np.exp(laws.log_density(kinds)[:, 0])
    counts = np.array([drawn.count(kind) for kind in kinds])
    expected = size * np.append(shares, 1.0 - shares.sum())
    observed = np.append(counts, size - counts.sum())
    assert expected.min() > 5.0
    chi_square = ((observed - expected) ** 2 / expected).sum()
    assert chi_square < 26.1  # beyond it lies a share of .001, at 8 degrees of freedom


def test_drawn_texts_of_an_unknown_language_are_uniform_bytes_until_the_end() -> None:
    laws = laws_of([[]], 3)
    drawn = laws.sample(np.zeros(400, dtype=np.intp), np.random.default_rng(2), most=50)
    assert max(map(len, drawn)) == 50
    values = np.frombuffer(b"".join(drawn), np.uint8)
    counts = np.bincount(values, minlength=256)
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 330.5  # .001 at 255
    assert sum(len(text) < 50 for text in drawn) == pytest.approx(
        400 * (1 - (256 / 257) ** 50), abs=40
    )


@given(st.lists(batches, min_size=2, max_size=3), documents, orders, limits)
def test_contributions_of_bytes_sum_to_the_log_odds(
    groups: list[list[bytes]], text: bytes, order: int, limit: int | None
) -> None:
    laws = laws_of(groups, order, limit)
    added = laws.explain(text, 1, 0)
    logs = laws.log_density([text])[0]
    assert len(added) == laws.lengths([text])[0]
    assert added.sum() == pytest.approx(logs[1] - logs[0], abs=CLOSE * np.abs(logs).max())


def test_an_explanation_names_the_bytes_that_tell() -> None:
    laws = laws_of([[b"the meeting", b"the report"], [b"the pills", b"the watches"]], 4)
    added = laws.explain(b"the pills", 1, 0)
    assert np.abs(added[:3]).max() < 0.5
    assert added[4:9].sum() > 5.0
    with pytest.raises(BadSetting, match="no class 2 among 2"):
        laws.explain(b"the pills", 2, 0)


# Refusals


def test_settings_and_counts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(BadSetting, match="symbols cannot be counted"):
        Language(order=8)
    with pytest.raises(BadSetting, match="bytes of a document"):
        Language(limit=0)
    with pytest.raises(BadSetting, match="no class"):
        Language().estimate([])
    with pytest.raises(DifferentKinds, match="of 3 symbols are not a model of order 5"):
        Language().estimate([NgramCounts.empty(5), NgramCounts.empty(3)])
