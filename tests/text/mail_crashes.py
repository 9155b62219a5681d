"""A process that teaches a filter is killed again and again; what it has said stays true."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from suffice.mail.filter.calibration import documents_of, learner, statistics_of
from suffice.mail.filter.message_identity import letter_of
from suffice.mail.filter.state import MailState
from suffice.mail.filter.summary import LABELS
from tests.text.made_mail import mbox, message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

OFTEN = 20
"""One in so many crashes is followed by a comparison of everything."""
PATIENCE = 300.0


@dataclass
class Crashes:
    """What was found: how often it was killed, messages learned, and what was wrong."""

    kills: int = 0
    learned: int = 0
    unacknowledged: int = 0
    troubles: list[str] = field(default_factory=list)


def check(state: MailState, messages: Sequence[tuple[bytes, int]]) -> None:
    """Check that a filter holds these messages and nothing else, bit for bit."""
    letters = [letter_of(raw) for raw, _ in messages]
    codes = np.array([code for _, code in messages], dtype=np.intp)
    expected = learner().summarize(documents_of(letters), codes, LABELS).to_arrays()
    found = statistics_of(state).to_arrays()
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)
    assert state.summary.width == state.terms.every().size


def crashed(
    place: Path,
    before: Sequence[tuple[bytes, int]],
    *,
    messages: int,
    kills: int,
    environment: dict[str, str],
    seed: int = 0,
) -> Crashes:
    """Teach a filter many messages in processes that are killed at random moments."""
    rng, found = random.Random(seed), Crashes()
    known = list(before)
    each = messages // kills
    for number in range(kills):
        code = number % 2
        rest = [message(found.learned + i, LABELS[code]) for i in range(4 * each)]
        rest = rest[: messages - found.learned]
        said = _killed(place, rest, LABELS[code], environment, rng, each)
        found.kills += 1
        try:
            there = _learned(place, known, rest, code)
        except (sqlite3.Error, AssertionError, ValueError) as error:
            found.troubles.append(f"kill {number + 1}: {type(error).__name__}: {error}")
            break
        if not said <= there <= said + 1:
            found.troubles.append(f"kill {number + 1}: {said} acknowledged, {there} there")
        found.unacknowledged += there - said
        found.learned += there
        known += [(raw, code) for raw in rest[:there]]
        if number % OFTEN == OFTEN - 1 or number == kills - 1:
            with MailState(place) as state:
                check(state, known)
    return found


def _killed(
    place: Path, rest: Sequence[bytes], kind: str, environment: dict[str, str], rng: random.Random,
    each: int,
) -> int:  # fmt: skip
    """Let a process learn, kill it, and return how many messages it has acknowledged."""
    command = [sys.executable, "-m", "suffice.cli", "mail", "correct", str(place), "-", f"--{kind}"]
    child = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    guard = threading.Timer(PATIENCE, child.kill)
    guard.start()
    with child:
        try:
            child.stdin.write(mbox(list(rest)))
            child.stdin.close()
            said = 0
            wanted = rng.randint(0, 2 * each)
            while said < wanted and child.stdout.readline():
                said += 1
            time.sleep(rng.uniform(0.0, 0.01 if said else 1.0))
        finally:
            child.kill()
            guard.cancel()
        # What is half a line was not yet said.
        said += child.stdout.read().count(b"\n")
    return said


def _learned(
    place: Path, known: Sequence[tuple[bytes, int]], rest: Sequence[bytes], code: int
) -> int:
    """Return how many of the rest are there: the first ones, each of them wholly."""
    with MailState(place) as state:
        (verdict,) = state.connection.execute("PRAGMA quick_check").fetchone()
        assert verdict == "ok", verdict
        there = 0
        while there < len(rest) and state.learned_as(letter_of(rest[there])) == {code: 1}:
            there += 1
        seen = state.connection.execute("SELECT count(*) FROM seen").fetchone()[0]
        assert seen == len(known) + there
        codes = [c for _, c in known] + [code] * there
        assert state.summary.documents == (codes.count(0), codes.count(1))
        terms = state.terms.every()
        assert list(state.summary.totals) == terms.counts.sum(axis=0).tolist()
        assert state.summary.width == terms.size
        counted = [0, 0]
        for letter, c in [(letter_of(raw), code) for raw in rest[:there]]:
            counted[c] += len(letter.terms())
        for raw, c in known:
            counted[c] += _terms(raw)
        assert terms.counts.sum(axis=0).tolist() == counted
        assert (state.ngrams.every().counts >= 0).all()
    return there


_known_terms: dict[bytes, int] = {}


def _terms(raw: bytes) -> int:
    """Return how many terms a message has; it is asked again after every crash."""
    if raw not in _known_terms:
        _known_terms[raw] = len(letter_of(raw).terms())
    return _known_terms[raw]
