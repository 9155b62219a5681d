"""Mail and messages that somebody has sorted, split at random, and what of the test part is new."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.near_duplicates import repeated
from suffice.mail.words import message_texts, read_message
from suffice.models.text.documents import Documents
from tests.reference import enron, newsgroups, spamassassin
from tests.reference.data_sets import FOLDER
from tests.reference.event_models import texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMS = FOLDER / "data" / "text" / "sms_spam" / "SMSSpamCollection.tsv.gz"
SEED, SHARE = 229, 0.7
LIMIT = 3_000
"""Bytes that the language model looks at; documents hold one more where they go on."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """Messages in a fixed order, and which of them are spam.

    raws   as they came; of SpamAssassin, mail with its header
    texts  what terms are taken from
    """

    name: str
    raws: list[bytes]
    texts: list[str]
    spam: NDArray[np.bool_]
    mail: bool = False

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The messages in the order of the draw: the training part, then the test part."""
        return np.random.default_rng(SEED).permutation(len(self.raws))

    @property
    def training(self) -> NDArray[np.intp]:
        """The messages that are learned."""
        return self.order[: round(SHARE * len(self.raws))]

    @property
    def test(self) -> NDArray[np.intp]:
        """The messages that are judged."""
        return self.order[round(SHARE * len(self.raws)) :]

    @cached_property
    def new(self) -> NDArray[np.bool_]:
        """Which messages of the test part repeat none of the training part."""
        plain = [_read(raw) for raw in self.raws] if self.mail else self.texts
        return ~repeated([plain[i] for i in self.test], [plain[i] for i in self.training])

    def documents(self, places: NDArray[np.intp]) -> Documents:
        """Return messages as the default filter sees them: text for terms, and first bytes."""
        if not self.mail:
            return Documents.of([self.texts[i] for i in places], LIMIT)
        return Documents(
            [self.texts[i] for i in places], [self.raws[i][: LIMIT + 1] for i in places]
        )

    def labels(self, places: NDArray[np.intp]) -> list[str]:
        """Return what messages are, in words."""
        return ["spam" if self.spam[i] else "ham" for i in places]

    def every(self, step: int) -> Corpus:
        """Return every so many-th message: what a test has time for."""
        return Corpus(
            self.name, self.raws[::step], self.texts[::step], self.spam[::step], self.mail
        )


def _read(raw: bytes) -> str:
    """Return what a person reads of a mail: its subject and its text, and not the header."""
    message = read_message(raw)
    return f"{message.subject}\n{message.text}"


def sms() -> Corpus:
    """Return the SMS Spam Collection, in the order of its file."""
    lines = gzip.decompress(SMS.read_bytes()).decode("utf-8").splitlines()
    labels, _, found = zip(*(line.partition("\t") for line in lines), strict=True)
    return Corpus(
        "SMS", [text.encode() for text in found], list(found), np.array(labels) == "spam"
    )  # fmt: skip


def spam_assassin() -> Corpus:
    """Return the public corpus of SpamAssassin, raw mail, by path."""
    found = spamassassin.messages()
    raws = list(found.values())
    spam = np.array([name.startswith("spam") for name in found])
    return Corpus("SpamAssassin", raws, list(message_texts(raws)), spam, mail=True)


def spam_assassin_without_headers() -> Corpus:
    """Return the same mail as a subject and text alone.

    Headers also tell when and where a collection was made: this is what is left without that.
    """
    mail = spam_assassin()
    found = [f"Subject: {_read(raw)}" for raw in mail.raws]
    raws = [text.replace("\n", "\n\n", 1).encode("utf-8", "replace") for text in found]
    return Corpus("SpamAssassin without headers", raws, found, mail.spam)


def enron_spam() -> Corpus:
    """Return all six sets of Enron-Spam, by path; a message is plain text."""
    found = sorted((path, text) for path, text in texts(enron.ARCHIVE) if len(path) == 3)
    return Corpus(
        "Enron", [text.encode("latin-1") for _, text in found], [text for _, text in found],
        np.array([path[1] == "spam" for path, _ in found]),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Posts:
    """20 Newsgroups as its authors have split it: texts and groups of both parts."""

    training: list[str]
    groups: list[str]
    test: list[str]
    test_groups: list[str]


def posts() -> Posts:
    """Return the posts by date, headers included."""
    found = sorted(texts(newsgroups.ARCHIVE))
    old = [(path[1], text) for path, text in found if path[0].endswith("train")]
    late = [(path[1], text) for path, text in found if path[0].endswith("test")]
    return Posts(
        [t for _, t in old], [g for g, _ in old], [t for _, t in late], [g for g, _ in late]
    )
