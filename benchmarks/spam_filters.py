"""Filters that learn one part of a corpus and judge the other: ours, bogofilter, scikit-learn's.

Each answers with the probability that a message is spam, or with the class alone: a linear support
vector machine has no probabilities.
"""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice import TextClassifier
from suffice.mail.filter.build import write_filter
from suffice.mail.filter.message_identity import letter_of
from suffice.mail.filter.state import MailState
from suffice.mail.filter.verdicts import judged
from suffice.models.text.language import Language
from suffice.models.text.learner import TextLearner
from suffice.models.text.terms import Terms
from suffice.models.text.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from benchmarks.corpora import Corpus

    FloatArray = NDArray[np.float64]

EVENTS = ("bernoulli", "multinomial", "boolean", "complement", "language")
DEFAULT, MAIL = "both (the default filter)", "suffice mail"
BOGOFILTER, SVC = "bogofilter", "Tfidf + LinearSVC"


@dataclass(frozen=True, eq=False)
class Answer:
    """What a filter says of the test part: spam or not, and with what probability if it has one."""

    spam: NDArray[np.bool_]
    probability: FloatArray | None

    @classmethod
    def of(cls, probability: FloatArray) -> Answer:
        """Return the answer of a filter that calls spam what is more likely spam than not."""
        return cls(probability > 0.5, probability)


def ours(corpus: Corpus) -> Iterator[tuple[str, Answer]]:
    """Yield every event model with its defaults, and the two together that are the filter."""
    labels = corpus.labels(corpus.training)
    for event in EVENTS:
        rows: list[Any] = corpus.raws if event == "language" and corpus.mail else corpus.texts
        model = TextClassifier(event).fit([rows[i] for i in corpus.training], labels)
        found = model.predict_proba([rows[i] for i in corpus.test])[:, 1]
        yield event, Answer.of(found)
    yield DEFAULT, default(corpus)
    if corpus.mail:
        yield MAIL, mail_filter(corpus)


def default(corpus: Corpus) -> Answer:
    """Return what `TextClassifier()` says.

    A mail is seen in two ways: what a person reads of it, and the first bytes as they came.
    """
    if not corpus.mail:
        model = TextClassifier().fit(
            [corpus.texts[i] for i in corpus.training], corpus.labels(corpus.training)
        )
        return Answer.of(model.predict_proba([corpus.texts[i] for i in corpus.test])[:, 1])
    learner = TextLearner(Terms("boolean", Tokens((1, 2))), Language(5, 3000))
    codes = corpus.spam[corpus.training].astype(np.intp)
    learned = learner.summarize(corpus.documents(corpus.training), codes, ["ham", "spam"])
    found = learner.estimate(learned).posterior(corpus.documents(corpus.test))
    return Answer.of(found[:, 1])


def mail_filter(corpus: Corpus) -> Answer:
    """Return what the filter in a file says, which leaves out what others have noted on a mail."""
    order = corpus.training[np.argsort(corpus.spam[corpus.training], kind="stable")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "filter.db"
        write_filter(path, ((corpus.raws[i], int(corpus.spam[i])) for i in order))
        with MailState(path) as state:
            found = [judged(state, letter_of(corpus.raws[i])).probability for i in corpus.test]
    return Answer.of(np.array(found))


def bogofilter(corpus: Corpus) -> Answer:
    """Return what bogofilter says with its defaults, but for one cut-off at a spamicity of a half.

    Its usual cut-off, 0.99, blocks less ham and misses more spam. An SMS is the body of a message
    with an empty header; other messages are as they are.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = b"" if corpus.mail or corpus.raws[0].startswith(b"Subject:") else b"\n"
        for i, raw in enumerate(corpus.raws):
            (folder / str(i)).write_bytes(before + raw)

        def run(places: NDArray[np.intp], *options: str) -> list[str]:
            return subprocess.run(
                ["bogofilter", "-C", "-d", name, *options, "-b"],
                input="".join(f"{folder / str(i)}\n" for i in places),
                capture_output=True, text=True, check=False,
            ).stdout.split()  # fmt: skip

        learned = corpus.training
        run(learned[~corpus.spam[learned]], "-n")
        run(learned[corpus.spam[learned]], "-s")
        told = run(corpus.test, "-T", "-o", "0.5,0.5")  # a file, a letter and the spamicity
    assert [Path(file).name for file in told[::3]] == [str(i) for i in corpus.test]
    return Answer(np.array(told[1::3]) == "S", np.array(told[2::3], dtype=np.float64))


def scikit_learn(corpus: Corpus) -> Iterator[tuple[str, Answer]]:
    """Yield pipelines of scikit-learn; of mail, each on the better of two texts by its errors.

    The texts of a mail are the words that ours are taken from, and the bytes as they came.
    """
    found = dict(_pipelines(corpus, corpus.texts))
    if corpus.mail:
        truth = corpus.spam[corpus.test]
        raws = [raw.decode("latin-1") for raw in corpus.raws]
        for name, answer in _pipelines(corpus, raws):
            if (answer.spam != truth).sum() < (found[name].spam != truth).sum():
                found[name] = answer
    yield from found.items()


def _pipelines(corpus: Corpus, texts: list[str]) -> Iterator[tuple[str, Answer]]:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.svm import LinearSVC

    words = CountVectorizer()
    counts = words.fit_transform([texts[i] for i in corpus.training])
    others = words.transform([texts[i] for i in corpus.test])
    y = corpus.spam[corpus.training]
    for alpha in (1.0, 0.1):
        bayes = MultinomialNB(alpha=alpha).fit(counts, y)
        yield f"Count + MultinomialNB, α = {alpha:g}", Answer.of(bayes.predict_proba(others)[:, 1])
    weights = TfidfTransformer(sublinear_tf=True).fit(counts)  # with counts: a TfidfVectorizer
    counts, others = weights.transform(counts), weights.transform(others)
    logistic = LogisticRegression(C=100.0, max_iter=1000).fit(counts, y)
    yield "Tfidf + LogisticRegression, C = 100", Answer.of(logistic.predict_proba(others)[:, 1])
    yield SVC, Answer(LinearSVC().fit(counts, y).predict(others), None)
