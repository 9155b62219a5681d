"""Spam filters beside each other: every event model, bogofilter and scikit-learn's pipelines.

    python -m benchmarks.evidence --only spam      some minutes

Three corpora, one of them without headers too: 70 % of each is learned and 30 % judged, drawn once.
Then the same answers again without those messages of the test part that repeat one of the training
part (benchmarks/near_duplicates.py). Settings are the defaults. Nothing is chosen by the test part,
except that scikit-learn's pipelines get the better of two texts of a mail.
"""

from __future__ import annotations

import shutil
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.corpora import enron_spam, sms, spam_assassin, spam_assassin_without_headers
from benchmarks.evidence import Figure
from benchmarks.spam_filters import (
    BOGOFILTER,
    DEFAULT,
    MAIL,
    SVC,
    Answer,
    bogofilter,
    ours,
    scikit_learn,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from benchmarks.corpora import Corpus

    BoolArray = NDArray[np.bool_]

COMMAND = "python -m benchmarks.evidence --only spam"
CLIP = 1e-6
"""Probabilities are kept so far from 0 and 1 when their logarithms are taken."""

HALF = 5e-6


class Goal(NamedTuple):
    """What the default filter has to reach on a whole test part."""

    errors: int
    log_loss: float | None


GOALS = {
    "SMS": Goal(16, None),  # an accuracy of .990
    "SpamAssassin": Goal(8, 0.015),
    "Enron": Goal(62, 0.020),
}


class Score(NamedTuple):
    """How an answer compares with the truth."""

    size: int
    blocked_ham: int
    missed_spam: int
    log_loss: float | None

    @classmethod
    def of(cls, answer: Answer, truth: BoolArray, judged: BoolArray) -> Score:
        """Return the score of some of the messages."""
        said, truth = answer.spam[judged], truth[judged]
        loss = None
        if answer.probability is not None:
            p = np.clip(answer.probability[judged], CLIP, 1.0 - CLIP)
            loss = -float(np.log(np.where(truth, p, 1.0 - p)).mean())
        return cls(len(truth), int((said & ~truth).sum()), int((~said & truth).sum()), loss)

    @property
    def errors(self) -> int:
        """The messages that are judged wrongly."""
        return self.blocked_ham + self.missed_spam

    @property
    def accuracy(self) -> float:
        """The share of messages that are judged rightly."""
        return 1.0 - self.errors / self.size

    def __str__(self) -> str:
        """Return the score as a reader wants it."""
        loss = "none" if self.log_loss is None else f"{self.log_loss:.4f}"
        wrong = f"{self.errors} ({self.blocked_ham} + {self.missed_spam})"
        return f"{wrong}, accuracy {self.accuracy:.4f}, log-loss {loss}"


def measure() -> Iterator[Figure]:
    """Yield the table of each corpus, and below it what the default filter has to reach."""
    for make in (sms, spam_assassin, spam_assassin_without_headers, enron_spam):
        yield from _of(make())


def _of(corpus: Corpus) -> Iterator[Figure]:
    truth, new = corpus.spam[corpus.test], corpus.new
    every = np.ones(len(truth), dtype=bool)
    found: dict[str, Answer] = {}
    for name, answer in _answers(corpus):
        found[name] = answer
        yield Figure(
            f"{corpus.name}, {name}: errors (ham blocked + spam missed) of {len(truth):,}; "
            f"of the {new.sum():,} that repeat nothing learned",
            f"{Score.of(answer, truth, every)}; {Score.of(answer, truth, new)}",
            "none: told for comparison", True, COMMAND,
        )  # fmt: skip
    if BOGOFILTER in found:
        yield _undecided(corpus.name, found[BOGOFILTER], truth, every)
    for own in (DEFAULT, MAIL):
        if own not in found or corpus.name not in GOALS:
            continue
        yield from _goals(f"{corpus.name}, {own}", Score.of(found[own], truth, every), corpus.name)
        for peer in (BOGOFILTER, SVC):
            if peer in found:
                what = f"{corpus.name}, nothing repeated: {own} is ahead of {peer}"
                yield _ahead(what, found[own], found[peer], truth, new)


def _answers(corpus: Corpus) -> Iterator[tuple[str, Answer]]:
    theirs = [(BOGOFILTER, bogofilter(corpus))] if shutil.which("bogofilter") else []
    return chain(ours(corpus), theirs, scikit_learn(corpus))


def _undecided(name: str, answer: Answer, truth: BoolArray, every: BoolArray) -> Figure:
    """Tell how much of a count of errors is what a spamicity of a half is taken for."""
    assert answer.probability is not None
    half = np.abs(answer.probability - 0.5) < HALF
    lenient, strict = (
        Score.of(Answer(np.where(half, said, answer.spam), None), truth, every).errors
        for said in (False, True)
    )
    return Figure(
        f"{name}, {BOGOFILTER}: messages whose spamicity is a half to five digits",
        f"{half.sum()}; {lenient} errors if all of them are called ham, {strict} if spam",
        "none: told for comparison", True, COMMAND,
    )  # fmt: skip


def _goals(what: str, score: Score, corpus: str) -> Iterator[Figure]:
    goal = GOALS[corpus]
    yield Figure(
        f"{what}: errors", f"{score.errors} of {score.size:,}", f"at most {goal.errors}",
        score.errors <= goal.errors, COMMAND,
    )  # fmt: skip
    if goal.log_loss is not None and score.log_loss is not None:
        yield Figure(
            f"{what}: log-loss", f"{score.log_loss:.4f}", f"at most {goal.log_loss:.3f}",
            score.log_loss <= goal.log_loss, COMMAND,
        )  # fmt: skip


def _ahead(what: str, own: Answer, theirs: Answer, truth: BoolArray, new: BoolArray) -> Figure:
    """Compare two filters message by message, by McNemar's exact test."""
    mine, other, p = discordant(own, theirs, truth, new)
    return Figure(
        what,
        f"{mine} wrong by ours alone, {other} by the other alone; "
        f"McNemar's p {f'= {p:.3f}' if p >= 0.001 else '< 0.001'}",
        "fewer errors", mine < other, COMMAND,
    )  # fmt: skip


def discordant(
    own: Answer, theirs: Answer, truth: BoolArray, judged: BoolArray
) -> tuple[int, int, float]:
    """Return how many messages each of two filters alone has wrong, and McNemar's exact p."""
    from scipy.stats import binomtest

    wrong, other_wrong = (own.spam != truth) & judged, (theirs.spam != truth) & judged
    mine, other = int((wrong & ~other_wrong).sum()), int((other_wrong & ~wrong).sum())
    p = float(binomtest(mine, mine + other).pvalue) if mine + other else 1.0
    return mine, other, p
