"""The four event models of words against their definitions, and against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from suffice import MultinomialNaiveBayes, TextClassifier, TextVectorizer
from suffice.errors import BadSetting
from suffice.models.text.term_events import EVENTS
from suffice.models.text.terms import Terms
from suffice.models.text.tokens import Tokens

PATTERN = r"[\w'-]+|[$£€!?%*#@]+"
WORDS = ["free", "Lunch", "at", "one", "ünï", "$$", "see", "don't"]
every_event = pytest.mark.parametrize("event", EVENTS)
events = st.sampled_from(EVENTS)
alphas = st.sampled_from([1e-300, 1e-3, 0.3, 1.0, 7.0, 1e100])
texts = st.lists(st.sampled_from(WORDS[:5]), max_size=4).map(" ".join)


def corpus(seed: int = 0, size: int = 60) -> tuple[list[str], Any]:
    rng = np.random.default_rng(seed)
    codes = np.concatenate([[0, 1, 2], rng.integers(0, 3, size - 3)])
    tilts = rng.dirichlet(np.ones(len(WORDS)), 3)
    return [" ".join(rng.choice(WORDS, rng.integers(0, 9), p=tilts[c])) for c in codes], codes


def counted(tokens: Tokens, event: str, document: str) -> list[str]:
    found = tokens.tokens_of(document)
    return found if event == "multinomial" else sorted(set(found))


def defined(
    event: str, documents: list[str], codes: Any, asked: list[str], alpha: float, tokens: Tokens
) -> Any:
    """Return the scores of three classes as the definition says, with a table of all terms."""
    cut = [counted(tokens, event, document) for document in documents]
    vocabulary = sorted({term for terms in cut for term in terms})
    places = {term: j for j, term in enumerate(vocabulary)}
    counts, sizes = np.zeros((3, len(vocabulary))), np.zeros(3)
    for terms, c in zip(cut, codes, strict=True):
        sizes[c] += 1
        for term in terms:
            counts[c, places[term]] += 1
    frequencies = np.zeros((len(asked), len(vocabulary)))
    for i, document in enumerate(asked):
        for term in counted(tokens, event, document):
            if term in places:
                frequencies[i, places[term]] += 1
    if not vocabulary:
        return np.zeros((len(asked), 3))
    if event == "bernoulli":
        there = np.log(counts + alpha) - np.log(sizes[:, np.newaxis] + 2 * alpha)
        gone = np.log(sizes[:, np.newaxis] - counts + alpha) - np.log(
            sizes[:, np.newaxis] + 2 * alpha
        )
        return frequencies @ there.T + (1.0 - frequencies) @ gone.T
    sign = 1.0
    if event == "complement":
        counts, sign = counts.sum(axis=0) - counts, -1.0
    spread = np.log(counts.sum(axis=1, keepdims=True) + alpha * len(vocabulary))
    return sign * frequencies @ (np.log(counts + alpha) - spread).T


@given(st.lists(st.tuples(texts, st.integers(0, 2)), min_size=1, max_size=7),
       st.lists(texts, max_size=3), events, alphas)  # fmt: skip
def test_scores_are_those_of_the_definition(
    learned: list[tuple[str, int]], new: list[str], event: str, alpha: float
) -> None:
    documents, codes = [text for text, _ in learned], np.array([c for _, c in learned])
    tokens = Tokens((1, 2))
    family = Terms(event, tokens)
    laws = family.estimate(family.summarize(documents, codes, 3))
    asked = [*new, *documents, "", "never seen"]
    scores, lengths = laws.scores(asked, alpha)
    expected = defined(event, documents, codes, asked, alpha, tokens)
    np.testing.assert_allclose(scores, expected, rtol=1e-10, atol=1e-10)
    known = {term for document in documents for term in tokens.tokens_of(document)}
    for document, length in zip(asked, lengths, strict=True):
        terms = counted(tokens, event, document)
        assert length == sum(term in known for term in terms) + (event == "bernoulli")


@given(st.lists(st.tuples(texts, st.integers(0, 2)), min_size=1, max_size=7), events, alphas)
def test_a_document_left_out_is_one_that_was_never_learned(
    learned: list[tuple[str, int]], event: str, alpha: float
) -> None:
    documents, codes = [text for text, _ in learned], np.array([c for _, c in learned])
    tokens = Tokens((1, 2))
    family = Terms(event, tokens)
    laws = family.estimate(family.summarize(documents, codes, 3))
    left_out = laws.left_out(documents, codes, np.ones(len(documents)))
    expected = [
        defined(event, documents[:i] + documents[i + 1 :], np.delete(codes, i), [text], alpha,
                tokens)[0]
        for i, text in enumerate(documents)
    ]  # fmt: skip
    np.testing.assert_allclose(left_out.at(alpha), expected, rtol=1e-10, atol=1e-10)


@every_event
def test_a_document_of_weight_three_is_left_out_with_all_its_repetitions(event: str) -> None:
    documents, codes = corpus(3, 20)
    weights = 1.0 + np.arange(20) % 3
    tokens = Tokens()
    family = Terms(event, tokens)
    laws = family.estimate(family.summarize(documents, codes, 3, weights))
    found = laws.left_out(documents, codes, weights).at(0.5)
    for i in range(20):
        rest = [j for j in range(20) for _ in range(int(weights[j])) if j != i]
        some = [documents[j] for j in rest]
        expected = defined(event, some, codes[rest], [documents[i]], 0.5, tokens)
        np.testing.assert_allclose(found[[i]], expected, rtol=1e-10, atol=1e-10)


# scikit-learn, and our own models of counts


def peer(event: str, alpha: float) -> Any:
    if event == "bernoulli":
        return BernoulliNB(alpha=alpha)
    return ComplementNB(alpha=alpha) if event == "complement" else MultinomialNB(alpha=alpha)


@every_event
@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_it_says_what_scikit_learn_says(event: str, ngrams: tuple[int, int], alpha: float) -> None:
    documents, codes = corpus()
    new, _ = corpus(1)
    once = event != "multinomial"
    counter = CountVectorizer(token_pattern=PATTERN, ngram_range=ngrams, binary=once)
    theirs = peer(event, alpha).fit(counter.fit_transform(documents), codes)
    model = TextClassifier(event, ngrams=ngrams, smoothing=alpha, calibrated=False)
    found = model.fit(documents, codes).predict_log_proba(new)
    expected = theirs.predict_joint_log_proba(counter.transform(new))
    if event == "complement":  # which has no priors, and says so by leaving them out
        expected = expected + np.log(model.priors_)
    expected = expected - np.logaddexp.reduce(expected, axis=1)[:, np.newaxis]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_it_says_what_our_model_of_counts_says() -> None:
    documents, codes = corpus()
    new, _ = corpus(1)
    vectorizer = TextVectorizer(ngrams=(1, 2))
    counts = MultinomialNaiveBayes(smoothing=0.3).fit(vectorizer.fit_transform(documents), codes)
    model = TextClassifier("multinomial", smoothing=0.3, calibrated=False).fit(documents, codes)
    expected = counts.predict_log_proba(vectorizer.transform(new))
    np.testing.assert_allclose(model.predict_log_proba(new), expected, rtol=1e-9, atol=1e-9)


def test_an_event_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BadSetting, match="event='poisson' is not known"):
        Terms("poisson")
    with pytest.raises(BadSetting, match="no class to learn"):
        Terms().estimate([])
