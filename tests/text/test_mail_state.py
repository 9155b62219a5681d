"""A filter on disk holds what its messages say, whatever way it came there."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from suffice.errors import BadFile, BadLabels, BadRows, ForgettingUnseen
from suffice.mail.filter import calibration as mail_sample
from suffice.mail.filter.build import merge_filters, write_filter
from suffice.mail.filter.calibration import (
    calibrate,
    documents_of,
    learner,
    model_of,
    statistics_of,
)
from suffice.mail.filter.count_store import RATIO
from suffice.mail.filter.database import APPLICATION, VERSION
from suffice.mail.filter.message_identity import bare, letter_of
from suffice.mail.filter.state import MailState
from suffice.mail.filter.summary import HAM, LABELS, SPAM
from suffice.mail.filter.verdicts import judged
from suffice.statistics import row_sample
from tests.text.made_mail import message

if TYPE_CHECKING:
    from collections.abc import Iterable

Labelled = list[tuple[bytes, int]]

MAIL: Labelled = [(message(i, LABELS[i % 2]), i % 2) for i in range(12)]
ODD = [
    b"",
    b"\0\0\0",
    b"no header at all",
    b"Subject: \xff\xfe\n\n\xed\xa0\x80",
    b"\n\n" + b"x" * 4000,
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "filter.db"


def from_scratch(messages: Iterable[tuple[bytes, int]]) -> dict[str, Any]:
    """Return the statistics of messages that were never in a file."""
    letters = [(letter_of(raw), code) for raw, code in messages]
    codes = np.array([code for _, code in letters], dtype=np.intp)
    found = learner().summarize(documents_of([letter for letter, _ in letters]), codes, LABELS)
    return found.to_arrays()


def same(state: MailState, expected: dict[str, Any]) -> None:
    """Check that a filter holds these statistics, bit for bit, and says so in its summary."""
    found = statistics_of(state)
    arrays = found.to_arrays()
    assert arrays.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(arrays[name], array, err_msg=name)
    summary = state.summary
    terms = state.terms.every()
    assert summary.width == terms.size
    assert list(summary.totals) == terms.counts.sum(axis=0).tolist()
    for store in (state.terms, state.ngrams):
        sizes = store.sizes()
        assert all(RATIO * later <= run for run, later in pairwise(sizes))
        # What was forgotten since may stand in the largest run and, taken back, in later ones,
        # which are less than a third of it together: two thirds are counts that are there.
        assert 2 * sum(sizes[:1]) <= 3 * store.every().size


operations = st.lists(
    st.tuples(st.sampled_from(["ham", "spam", "forget"]), st.integers(0, len(MAIL) + len(ODD) - 1)),
    max_size=25,
)


@given(operations, st.integers(2, len(MAIL)))
@example(steps=[("ham", 15), ("forget", 15)], fitted=2)
@pytest.mark.slow
def test_learning_moving_and_forgetting_leave_what_a_fit_of_the_rest_would(
    steps: list[tuple[str, int]], fitted: int
) -> None:
    every = [raw for raw, _ in MAIL] + ODD
    known = dict(MAIL[:fitted])
    with TemporaryDirectory() as folder:
        place = Path(folder) / "filter.db"
        write_filter(place, MAIL[:fitted])
        with MailState(place, write=True) as state:
            for what, number in steps:
                raw = every[number]
                if what == "forget":
                    if raw in known:
                        assert state.forget(letter_of(raw)) == LABELS[known.pop(raw)]
                    else:
                        with pytest.raises(ForgettingUnseen):
                            state.forget(letter_of(raw))
                elif known.get(raw) == LABELS.index(what):
                    with pytest.raises(BadLabels):
                        state.learn(letter_of(raw), known[raw])
                else:
                    moved = "moved" if raw in known else "learned"
                    known[raw] = LABELS.index(what)
                    assert state.learn(letter_of(raw), known[raw]) == moved
            codes = list(known.values())
            assert state.summary.documents == (codes.count(HAM), codes.count(SPAM))
            if known:
                same(state, from_scratch(known.items()))


def test_a_message_is_judged_from_its_own_counts_as_by_the_whole_model(place: Path) -> None:
    write_filter(place, MAIL)
    with MailState(place, write=True) as state:
        for number in range(40, 46):
            state.learn(letter_of(message(number, "spam")), SPAM)
        state.forget(letter_of(MAIL[0][0]))
        model, _ = model_of(state)
        others = [message(number, kind) for number in range(20) for kind in LABELS]
        letters = [letter_of(raw) for raw in [*others, *ODD]]
        expected = model.posterior(documents_of(letters))[:, SPAM]
        for letter, probability in zip(letters, expected, strict=True):
            found = judged(state, letter)
            held = judged(state.in_memory(), letter)
            assert held.log_odds == found.log_odds
            np.testing.assert_array_equal(held.weights, found.weights)
            assert found.probability == pytest.approx(probability, rel=1e-9, abs=1e-15)
            whole = found.prior + found.shift + found.bytes + found.weights.sum()
            assert found.log_odds == pytest.approx(whole, rel=1e-9)


def test_reasons_name_the_terms_of_the_message_and_their_share(place: Path) -> None:
    write_filter(place, MAIL)
    with MailState(place) as state:
        letter = letter_of(b"Subject: lunch\n\ncheap pills for bob")
        found = judged(state, letter)
        spam, ham = found.reasons(letter, 100)
        assert {"cheap", "pills"} <= dict(spam).keys()
        assert {"subj_lunch", "bob"} <= dict(ham).keys()
        assert sum(dict(spam).values()) + sum(dict(ham).values()) == pytest.approx(
            found.weights.sum()
        )


def test_filters_merge_into_the_filter_of_all_messages(place: Path, tmp_path: Path) -> None:
    one, other = tmp_path / "one.db", tmp_path / "other.db"
    write_filter(one, MAIL[:7])
    write_filter(other, MAIL[5:])
    summary, shared = merge_filters(place, [one, other])
    assert shared == 2
    assert sum(summary.documents) == len(MAIL) + 2
    with MailState(place, write=True) as state:
        same(state, from_scratch([*MAIL[:7], *MAIL[5:]]))
        # What both had learned is forgotten as often as it was learned.
        state.forget(letter_of(MAIL[5][0]))
        same(state, from_scratch([*MAIL[:5], MAIL[6], *MAIL[6:]]))


def test_the_sample_is_that_of_the_statistics_however_small_it_is(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_sample, "MOST", 6)
    monkeypatch.setattr(mail_sample, "MOST", 6)
    monkeypatch.setattr("suffice.models.text.learner.MOST", 6)
    write_filter(place, MAIL)
    more = [(message(number, "spam"), SPAM) for number in range(100, 110)]
    gone = [MAIL[3], more[2], more[7]]
    with MailState(place, write=True) as state:
        expected = statistics_of(state)
        for raw, code in more:
            state.learn(letter_of(raw), code)
            expected = expected + _statistics(raw, code)
        for raw, code in gone:
            state.forget(letter_of(raw))
            expected = expected - _statistics(raw, code)
        assert expected.sample.limit < row_sample.END
        same(state, expected.to_arrays())


def _statistics(raw: bytes, code: int) -> Any:
    return learner().summarize(documents_of([letter_of(raw)]), np.array([code]), LABELS)


def test_a_policy_leaves_messages_alone_but_knows_how_many_there_are(place: Path) -> None:
    write_filter(place, MAIL)
    letter = letter_of(message(50, "spam"))
    with MailState(place, write=True) as state:
        before = state.summary
        assert state.learn(letter, SPAM, lambda: False) == "skipped"
        assert state.summary.documents == before.documents
        assert state.summary.told == (6, 7)
        assert state.learn(letter, SPAM, lambda: False) == "skipped"
        assert state.summary.told == (6, 7)
        prior = judged(state, letter).prior
        assert prior == pytest.approx(np.log(7 / 6))
        model, _ = model_of(state)
        assert model.log_priors == pytest.approx(np.log([6 / 13, 7 / 13]))
        assert state.learn(letter, SPAM) == "learned"
        assert state.summary.told == state.summary.documents == (6, 7)
        assert state.forget(letter) == "spam"
        assert state.summary.told == (6, 6)


def test_a_message_is_the_same_however_it_was_kept(place: Path) -> None:
    raw = MAIL[0][0]
    write_filter(place, MAIL)
    kept = [
        raw.replace(b"\n", b"\r\n"),
        b"From bob Thu Aug 22 12:36:23 2002\n" + raw + b"\n",
        b"X-Suffice: spam, probability=0.9\n" + raw,
        raw.replace(b"Message-Id", b"X-Spam-Status: Yes,\n hits=9\nMessage-Id"),
    ]
    with MailState(place, write=True) as state:
        for other in kept:
            assert letter_of(other) == letter_of(raw)
            with pytest.raises(BadLabels, match="learned as ham before"):
                state.learn(letter_of(other), HAM)
    body = b"Subject: a\n\nX-Suffice: quoted\n"
    assert bare(body) == body


def test_calibration_is_that_of_all_that_was_learned(place: Path) -> None:
    write_filter(place, MAIL[:6])
    with MailState(place, write=True) as state:
        assert not state.summary.is_stale
        for raw, code in MAIL[6:]:
            state.learn(letter_of(raw), code)
        assert state.summary.is_stale
        calibrate(state)
        assert not state.summary.is_stale
        model = learner().estimate(statistics_of(state))
        assert state.summary.smoothing == model.smoothing
        assert model.calibration is not None
        assert list(state.summary.factors) == model.calibration.factors.tolist()
        assert list(state.summary.shifts) == model.calibration.shifts.tolist()


def test_a_filter_that_has_forgotten_a_class_says_so_and_learns_it_again(place: Path) -> None:
    write_filter(place, [MAIL[0], MAIL[1]])
    with MailState(place, write=True) as state:
        state.forget(letter_of(MAIL[0][0]))
        with pytest.raises(BadFile, match="has not learned any ham"):
            judged(state, letter_of(MAIL[1][0]))
        calibrate(state)
        state.learn(letter_of(MAIL[0][0]), HAM)
        same(state, from_scratch(MAIL[:2]))
        assert judged(state, letter_of(MAIL[1][0])).probability > 0.5


def test_filters_that_have_forgotten_a_class_merge(place: Path, tmp_path: Path) -> None:
    parts = [tmp_path / f"{number}.db" for number in range(2)]
    for part in parts:
        write_filter(part, MAIL[:2])
        with MailState(part, write=True) as state:
            state.forget(letter_of(MAIL[0][0]))
    summary, _ = merge_filters(place, parts)
    assert (summary.documents, summary.missing) == ((0, 2), "ham")
    for part in parts:
        with MailState(part, write=True) as state:
            state.forget(letter_of(MAIL[1][0]))
    merge_filters(place, parts)
    with MailState(place, write=True) as state:
        assert state.summary.documents == (0, 0)
        for raw, code in MAIL:
            state.learn(letter_of(raw), code)
        assert state.summary.is_stale
        same(state, from_scratch(MAIL))


def test_one_kind_of_mail_makes_no_filter(place: Path) -> None:
    with pytest.raises(BadRows, match="no ham to learn from"):
        write_filter(place, [MAIL[1], MAIL[3]])
    with pytest.raises(BadRows, match="no spam to learn from"):
        write_filter(place, [MAIL[0], (MAIL[0][0], SPAM)])
    assert not list(place.parent.iterdir())


def test_messages_there_twice_are_learned_once(place: Path) -> None:
    taken = write_filter(place, [*MAIL, *MAIL[:3], (MAIL[0][0], SPAM)])
    assert (taken.learned, taken.twice, taken.both) == ([6, 6], 3, 1)
    with MailState(place) as state:
        same(state, from_scratch(MAIL))


def damaged(place: Path, at: int, number: int) -> None:
    content = bytearray(place.read_bytes())
    content[at : at + 4] = number.to_bytes(4)
    place.write_bytes(content)


def test_files_that_are_no_filter_are_refused_in_words(place: Path, tmp_path: Path) -> None:
    write_filter(place, MAIL)
    whole = place.read_bytes()
    with pytest.raises(BadFile, match="is a folder"):
        MailState(tmp_path)
    for content, words in (
        (b"", "is empty"),
        (b"PK\x03\x04 and so on", "is not a mail filter"),
        (whole[:50], "is cut off"),
        (whole[:5000], "is cut off"),
        (whole[:-1], "is cut off"),
        (whole[:4096] + b"\xff" * (len(whole) - 4096), "cannot be read"),
    ):
        place.write_bytes(content)
        with pytest.raises(BadFile, match=words) as refusal, MailState(place) as state:
            judged(state, letter_of(b"To: you\n\ncheap"))
        assert str(place) in refusal.value.problem
    place.write_bytes(whole)
    damaged(place, 60, VERSION + 1)
    with pytest.raises(BadFile, match=f"has version {VERSION + 1}"):
        MailState(place)
    place.write_bytes(whole)
    damaged(place, 68, APPLICATION + 1)
    with pytest.raises(BadFile, match="database of another program"):
        MailState(place)


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM about WHERE key = 'width'",
        "UPDATE about SET value = '{' WHERE key = 'width'",
        "INSERT INTO about VALUES ('more', '1')",
        "UPDATE about SET value = '7' WHERE key = 'order'",
        "DROP TABLE about",
    ],
)
def test_a_filter_that_contradicts_itself_is_refused(place: Path, change: str) -> None:
    write_filter(place, MAIL)
    connection = sqlite3.connect(place)
    with connection:
        connection.execute(change)
    connection.close()
    with pytest.raises(BadFile, match=r"filter\.db"), MailState(place) as state:
        judged(state, letter_of(b"To: you\n\ncheap"))


def test_a_disk_that_is_full_is_told_and_nothing_is_half_learned(place: Path) -> None:
    write_filter(place, MAIL)
    with MailState(place, write=True) as state:
        (pages,) = state.connection.execute("PRAGMA page_count").fetchone()
        state.connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(BadFile, match="the disk is full") as refusal:
            _learn_many(state)
        assert "still there" in refusal.value.hint
        learned = [
            (raw, HAM)
            for raw in (message(number, "ham") * 10 for number in range(100, 200))
            if state.learned_as(letter_of(raw))
        ]
        same(state, from_scratch([*MAIL, *learned]))


def _learn_many(state: MailState) -> None:
    for number in range(100, 200):
        state.learn(letter_of(message(number, "ham") * 10), HAM)


def test_who_waits_in_vain_for_another_process_is_told(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_filter(place, MAIL)
    monkeypatch.setattr("suffice.mail.filter.database.PATIENCE", 0.01)
    with MailState(place, write=True) as one, MailState(place, write=True) as other:
        one.connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(BadFile, match="is in use by another process"):
            other.forget(letter_of(MAIL[0][0]))
        one.connection.execute("ROLLBACK")
        assert other.forget(letter_of(MAIL[0][0])) == "ham"


@pytest.mark.slow
def test_a_huge_message_is_learned_by_its_beginning(place: Path) -> None:
    write_filter(place, MAIL)
    huge = b"Subject: lunch\n\n" + b"cheap pills\n" * 8_500_000
    assert len(huge) > 100_000_000
    with MailState(place, write=True) as state:
        letter = letter_of(huge)
        assert len(letter.text) < 2_000_000
        assert state.learn(letter, SPAM) == "learned"
        assert state.forget(letter) == "spam"
        same(state, from_scratch(MAIL))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a filter."""
    place = tmp_path_factory.mktemp("sound") / "filter.db"
    write_filter(place, MAIL)
    return place.read_bytes()


@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(0, 255)), min_size=1, max_size=50))
def test_a_damaged_filter_answers_or_is_refused(
    sound: bytes, changes: list[tuple[float, int]]
) -> None:
    content = bytearray(sound)
    for where, value in changes:
        content[round(where * (len(content) - 1))] = value
    with TemporaryDirectory() as folder:
        place = Path(folder) / "filter.db"
        place.write_bytes(content)
        with suppress(BadFile), MailState(place, write=True) as state:
            state.learn(letter_of(message(99, "spam")), SPAM)
            assert 0.0 <= judged(state, letter_of(b"To: you\n\ncheap pills")).probability <= 1.0
            statistics_of(state)


def test_a_changed_count_is_noticed(place: Path) -> None:
    write_filter(place, MAIL)
    connection = sqlite3.connect(place)
    number, page = connection.execute("SELECT id, entries FROM pages").fetchone()
    with connection:
        changed = page[:12] + bytes([page[12] + 1]) + page[13:]
        connection.execute("UPDATE pages SET entries = ? WHERE id = ?", (changed, number))
    connection.close()
    with MailState(place) as state, pytest.raises(BadFile, match="checksum"):
        statistics_of(state)
