"""Posts of twenty groups: every event model, and TF-IDF with normal classes beside SVD and LDA.

    python -m benchmarks.evidence --only newsgroups      some minutes

20 Newsgroups is split by date as its authors split it, with headers. Normal classes of TF-IDF
weights are tried on messages too, split as in benchmarks/evidence_spam.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.corpora import posts, sms, spam_assassin
from benchmarks.evidence import Figure
from suffice import GaussianDiscriminant, TextClassifier, TextVectorizer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from benchmarks.corpora import Corpus, Posts

COMMAND = "python -m benchmarks.evidence --only newsgroups"
EVENTS = ("bernoulli", "multinomial", "boolean", "complement", "language", "both")
BEST, GOAL = "complement", 0.845
CLIP = 1e-6
SHRINK = (0.1, 0.5)
"""How far the covariance is shrunk: chosen by a part of what is learned."""
HELD_OUT = 0.3


class Sorted(NamedTuple):
    """Texts with their labels, and texts to judge with theirs; words to keep as columns.

    How many words was chosen once, by the same part of the training texts as the shrinkage.
    """

    name: str
    training: list[str]
    labels: NDArray[np.str_]
    test: list[str]
    test_labels: NDArray[np.str_]
    terms: int


def measure() -> Iterator[Figure]:
    """Yield every event model on posts, then normal classes on posts and on messages."""
    found = posts()
    yield from _events(found)
    yield _two_ways(
        Sorted("20 Newsgroups", found.training, np.array(found.groups), found.test,
               np.array(found.test_groups), 5_000)
    )  # fmt: skip
    yield _two_ways(_messages(sms(), 1_000))
    yield _two_ways(_messages(spam_assassin(), 2_000))


def _events(found: Posts) -> Iterator[Figure]:
    truth = np.array(found.test_groups)
    for event in EVENTS:
        model = TextClassifier(event).fit(found.training, found.groups)
        p = model.predict_proba(found.test)
        accuracy = float((model.classes_[p.argmax(axis=1)] == truth).mean())
        right = p[np.arange(len(truth)), np.searchsorted(model.classes_, truth)]
        loss = -float(np.log(np.maximum(right, CLIP)).mean())
        told = f"accuracy {accuracy:.4f}, log-loss {loss:.3f}"
        if event != "language":
            told += f", α = {model.smoothing_:.2g}"
        best = event == BEST
        yield Figure(
            f"20 Newsgroups by date, TextClassifier({event!r})", told,
            f"at least {GOAL}" if best else "none: told for comparison",
            not best or accuracy >= GOAL, COMMAND,
        )  # fmt: skip
        if best:
            yield _merged(found, p)


def _merged(found: Posts, whole: NDArray[np.float64]) -> Figure:
    """Learn two halves apart, merge, and compare with what one pass over all posts says."""
    halves = [
        TextClassifier(BEST).fit(found.training[part], found.groups[part])
        for part in (slice(0, None, 2), slice(1, None, 2))
    ]
    merged = (halves[0] + halves[1]).predict_proba(found.test)
    off = float(np.abs(merged - whole).max())
    return Figure(
        f"{BEST!r} learned in two halves and merged: the same probabilities",
        f"largest difference {off:.1g}", "1e-9", off <= 1e-9, COMMAND,
    )  # fmt: skip


def _messages(corpus: Corpus, terms: int) -> Sorted:
    learned, judged = corpus.training, corpus.test
    return Sorted(
        corpus.name, [corpus.texts[i] for i in learned], np.array(corpus.labels(learned)),
        [corpus.texts[i] for i in judged], np.array(corpus.labels(judged)), terms,
    )  # fmt: skip


def _two_ways(data: Sorted) -> Figure:
    shrink, right = _normal_classes(data)
    other = _peer(data)
    alone, other_alone = int((right & ~other).sum()), int((other & ~right).sum())
    return Figure(
        f"{data.name}: TF-IDF of {data.terms:,} words + GaussianDiscriminant(shrink={shrink}) "
        f"against scikit-learn's Tfidf + SVD 200 + LDA",
        f"accuracy {right.mean():.4f} against {other.mean():.4f} "
        f"({alone} right by ours alone, {other_alone} by the other alone)",
        "more accurate", bool(right.mean() > other.mean()), COMMAND,
    )  # fmt: skip


def _normal_classes(data: Sorted) -> tuple[float, NDArray[np.bool_]]:
    """Return the shrinkage that a part of what is learned prefers, and which answers are right."""
    order = np.random.default_rng(0).permutation(len(data.training))
    cut = round((1.0 - HELD_OUT) * len(order))

    def weighed(learned: list[str], judged: list[str]) -> list[NDArray[np.float32]]:
        words = TextVectorizer(
            weighting="tf-idf", sublinear_tf=True, max_terms=data.terms, dtype=np.float32
        )
        return [words.fit_transform(learned).toarray(), words.transform(judged).toarray()]

    some, others = order[:cut], order[cut:]
    X, Z = weighed([data.training[i] for i in some], [data.training[i] for i in others])
    model = GaussianDiscriminant(shrink=SHRINK[0]).fit(X, data.labels[some])
    right = [model.set_params(shrink=s).score(Z, data.labels[others]) for s in SHRINK]
    shrink = SHRINK[int(np.argmax(right))]
    X, Z = weighed(data.training, data.test)
    model = GaussianDiscriminant(shrink=shrink).fit(X, data.labels)
    return shrink, model.predict(Z) == data.test_labels


def _peer(data: Sorted) -> NDArray[np.bool_]:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from threadpoolctl import threadpool_limits

    model = make_pipeline(
        TfidfVectorizer(sublinear_tf=True),
        TruncatedSVD(200, random_state=0),
        LinearDiscriminantAnalysis(),
    )
    with threadpool_limits(1):  # where cores are busy, several threads of its SVD take minutes
        model.fit(data.training, data.labels)
    return np.asarray(model.predict(data.test) == data.test_labels)
