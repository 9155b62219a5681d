"""Which of many long documents calibrate a filter, and that they stand for all."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.kernels.ngrams import left_out
from suffice.mail.filter import build
from suffice.mail.filter.build import write_filter
from suffice.mail.filter.calibration import documents_of, learner, statistics_of
from suffice.mail.filter.message_identity import TOKENS, letter_of
from suffice.mail.filter.state import MailState
from suffice.mail.filter.summary import LABELS
from suffice.mail.filter.verdicts import judged, judged_together
from suffice.models.text import left_out_documents
from suffice.models.text.language import Language
from suffice.models.text.learner import text_log_priors
from suffice.models.text.left_out_documents import DOUBTFUL, OTHERS, LeftOutDocuments
from tests.text.made_mail import message

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.models.text.model import TextModel
    from suffice.statistics.text_statistics import TextStatistics

WRONG = 5
"""One message in so many is of the other kind than it says."""


def made(size: int) -> list[tuple[bytes, int]]:
    kinds = [i % 2 if i % WRONG else 1 - i % 2 for i in range(size)]
    return [(message(i, LABELS[kind]), i % 2) for i, kind in enumerate(kinds)]


def summarized(messages: list[tuple[bytes, int]]) -> TextStatistics:
    codes = np.array([code for _, code in messages], dtype=np.intp)
    found = documents_of([letter_of(raw) for raw, _ in messages])
    return learner().summarize(found, codes, LABELS)


def numbers(model: TextModel) -> list[float]:
    assert model.calibration is not None
    return [
        model.smoothing,
        *model.calibration.factors.tolist(),
        *model.calibration.shifts.tolist(),
    ]


def few_tell(patch: pytest.MonkeyPatch, doubtful: int, others: int) -> None:
    """Let any documents be long, and so many of them be judged."""
    patch.setattr(left_out_documents, "MUCH", 0)
    patch.setattr(left_out_documents, "DOUBTFUL", doubtful)
    patch.setattr(left_out_documents, "OTHERS", others)
    patch.setattr(left_out_documents, "AT_ONCE", 7)


def held_of(statistics: TextStatistics) -> LeftOutDocuments:
    weights, labels = statistics.weights, statistics.labels
    log_priors = text_log_priors(weights, labels, None)
    held = LeftOutDocuments.of(statistics.sample, labels, log_priors)
    assert held is not None
    return held


def test_those_that_tell_are_all_there_and_others_stand_for_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    statistics = summarized(made(200))
    held, model = held_of(statistics), learner().estimate(statistics)
    few_tell(monkeypatch, 60, 20)
    assert model.terms is not None
    assert held.are_long
    chosen = held.telling(model.terms)
    assert chosen.documents.size == 80
    assert chosen.counted.sum() == pytest.approx(held.counted.sum())
    assert sorted(set(chosen.counted.tolist())) == [1.0, (200 - 60) / 20]
    # Whom its terms put into the other class is asked, with a weight of one.
    told = dict(zip(chosen.documents.texts, chosen.counted.tolist(), strict=True))
    scores = model.terms.left_out(held.documents.texts, held.codes, held.weights).at(0.1)
    for text, code, score in zip(held.documents.texts, held.codes, scores, strict=True):
        if score.argmax() != code:
            assert told[text] == 1.0


def test_a_calibration_by_some_is_near_that_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    statistics = summarized(made(600))
    expected = numbers(learner().estimate(statistics))
    few_tell(monkeypatch, 150, 100)
    found = numbers(learner().estimate(statistics))
    assert found != expected
    assert found == pytest.approx(expected, rel=0.1, abs=0.1)


def test_short_documents_and_few_of_them_are_all_judged() -> None:
    held = held_of(summarized(made(DOUBTFUL + OTHERS + 1)))
    assert held.documents.size > DOUBTFUL + OTHERS
    assert not held.are_long
    long = [(raw + b"x" * 3000, code) for raw, code in made(DOUBTFUL + OTHERS + 1)]
    assert held_of(summarized(long)).are_long
    assert not held_of(summarized(long[1:])).are_long


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 3000))
@pytest.mark.slow
def test_a_filter_is_the_same_to_the_bit_whatever_the_order_and_the_batches(
    tmp_path_factory: pytest.TempPathFactory, seed: int, size: int, batch: int
) -> None:
    rng = random.Random(seed)
    messages = made(size + 1)
    place, other = (tmp_path_factory.mktemp("order") / "filter.db" for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        few_tell(patch, 6, 4)
        write_filter(place, messages)
        patch.setattr(build, "BATCH", batch)
        write_filter(other, rng.sample(messages, len(messages)))
    with MailState(place) as one, MailState(other) as two:
        assert one.summary == two.summary
        expected, found = statistics_of(one).to_arrays(), statistics_of(two).to_arrays()
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array, err_msg=name)


@pytest.fixture(scope="module")
def mail_filter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("together") / "filter.db"
    write_filter(place, made(30))
    return place


@given(st.data())
def test_letters_are_judged_together_as_each_by_itself(
    mail_filter: Path, data: st.DataObject
) -> None:
    drawn = st.binary(max_size=80) | st.integers(0, 60).map(lambda i: message(i, LABELS[i % 2]))
    letters = [letter_of(raw) for raw in data.draw(st.lists(drawn, max_size=6))]
    with MailState(mail_filter) as state:
        for asked in (state, state.in_memory()):
            together = judged_together(asked, letters)
            assert len(together) == len(letters)
            for letter, found in zip(letters, together, strict=True):
                alone = judged(asked, letter)
                assert found.log_odds == pytest.approx(alone.log_odds, rel=1e-12, abs=1e-12)
                assert found.keys.tolist() == alone.keys.tolist()
                for some, others in zip(
                    found.reasons(letter, 99), alone.reasons(letter, 99), strict=True
                ):
                    assert dict(some) == pytest.approx(dict(others))
                    assert {term for term, _ in some} <= set(TOKENS.tokens_of(letter.text))


@given(st.data(), st.sampled_from([1, 30, 1 << 18]))
def test_documents_are_left_out_alike_in_blocks_of_any_size(
    data: st.DataObject, block: int
) -> None:
    drawn = st.lists(st.sampled_from([97, 98, 0]), max_size=40).map(bytes)
    some = data.draw(st.lists(drawn, min_size=1, max_size=12))
    codes = np.array([i % 3 for i in range(len(some))])
    for order in (5, 7):
        laws = Language(order).estimate(Language(order).summarize(some, codes, 3))
        expected = laws.left_out(some, codes)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(left_out, "BLOCK", block)
            patch.setattr(left_out, "ROOM", 0)  # places are sorted by themselves
            np.testing.assert_allclose(laws.left_out(some, codes), expected, rtol=1e-12)
