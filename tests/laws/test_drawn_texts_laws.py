"""Texts that are drawn: the law of their class, nothing it has not shown, the same by a seed."""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice import NaiveBayes
from suffice.families import TextBytes, TextWords
from tests.reference.text_tables import tickets, visits
from tests.searches import examples

DRAWN = 6000


def _texts_of(model: Any, label: str, size: int = DRAWN) -> list[str]:
    found, _ = model.sample(size, y=label, random_state=3)
    return [row[0] for row in found.tolist()]


def _shares(texts: list[str], *, once: bool, words: int = 1) -> Counter[str]:
    """Return how many texts have each word, or how often it is among all."""
    held: Counter[str] = Counter()
    for text in texts:
        parts = text.split()
        runs = [" ".join(parts[i : i + words]) for i in range(len(parts) - words + 1)]
        held.update(set(runs) if once else runs)
    total = len(texts) if once else max(1, sum(held.values()))
    return Counter({word: n / total for word, n in held.items()})


@pytest.mark.slow
@pytest.mark.parametrize("event", ["boolean", "bernoulli", "multinomial"])
@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2)])
def test_words_of_drawn_texts_come_as_often_as_in_those_that_were_learned(
    event: str, ngrams: tuple[int, int]
) -> None:
    made = tickets(size=900, training=900)
    texts, y = np.array(made.columns["message"], dtype=object), np.array(made.labels)
    model = NaiveBayes({0: TextWords(event, ngrams)}).fit(texts[:, np.newaxis], y)
    for label in model.classes_:
        own = texts[y == label].tolist()
        once = event != "multinomial"
        true, drawn = _shares(own, once=once), _shares(_texts_of(model, label), once=once)
        assert set(drawn) <= set(true)
        for word, share in true.items():
            # Three standard errors of the drawn ones, and 1 % for the law of lengths.
            assert abs(drawn[word] - share) <= 3.0 * np.sqrt(share * (1 - share) / DRAWN) + 0.01
        lengths = [len(set(text.split()) if once else text.split()) for text in own]
        found = [len(text.split()) for text in _texts_of(model, label)]
        assert {min(found), max(found)} <= set(lengths)
        assert abs(np.mean(found) - np.mean(lengths)) <= 4.0 * np.std(lengths) / np.sqrt(DRAWN)


@pytest.mark.slow
def test_drawn_texts_learned_again_say_what_the_learned_ones_say() -> None:
    """They are a sample of the law, and so have its noise twice."""
    made = tickets(size=1500, training=1000)
    X, y = made.rows(("message",), test=False), made.y(test=False)
    asked, true = made.rows(("message",), test=True), made.y(test=True)
    for family, room in ((TextWords(), 0.05), (TextBytes(3), 0.08)):
        model = NaiveBayes({0: family}).fit(X, y)
        drawn, labels = model.sample(1000, random_state=0)
        again = NaiveBayes({0: family}).fit(drawn, labels)
        losses = [
            -np.log(one.predict_proba(asked)[np.arange(len(true)), (true == "open").astype(int)])
            for one in (model, again)
        ]
        assert losses[1].mean() <= losses[0].mean() + room


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2, 3])
def test_bytes_of_drawn_texts_come_as_often_as_in_those_that_were_learned(order: int) -> None:
    rng = np.random.default_rng(1)
    words = ["ne", "a", "Evian", "12 $", "oui", "ja"]
    texts = [" ".join(rng.choice(words, rng.integers(2, 6))) for _ in range(800)]
    y = np.repeat(["a", "b"], 400)
    model = NaiveBayes({0: TextBytes(order)}).fit(np.array(texts, dtype=object)[:, np.newaxis], y)
    own = texts[:400]
    found = _texts_of(model, "a", 2000)
    for run in range(1, min(order, 2) + 1):
        shares = []
        for some in (own, found):
            pairs = Counter(t[i : i + run] for t in some for i in range(len(t) - run + 1))
            total = sum(pairs.values())
            shares.append(Counter({pair: n / total for pair, n in pairs.items()}))
        for pair, share in shares[0].items():
            assert abs(shares[1][pair] - share) <= 0.02


CHARACTERS = st.text(
    st.characters(exclude_categories=("Cs",)) | st.sampled_from("é\t\x00£\x85日🎈"), min_size=1
)


@examples(40)
@given(st.lists(CHARACTERS, min_size=2, max_size=12), st.integers(1, 7), st.integers(0, 99))
def test_bytes_write_no_character_that_their_class_has_not_shown(
    texts: list[str], order: int, seed: int
) -> None:
    y = np.arange(len(texts)) % 2
    X = np.array(texts, dtype=object)[:, np.newaxis]
    model = NaiveBayes({0: TextBytes(order)}).fit(X, y)
    drawn, labels = model.sample(20, random_state=seed)
    for text, label in zip(drawn[:, 0].tolist(), labels.tolist(), strict=True):
        own = [one for one, other in zip(texts, y.tolist(), strict=True) if other == label]
        text.encode("utf-8")
        known = set("".join(own))
        strange = set(text) - known
        assert not any(unicodedata.category(one) == "Cc" for one in strange)
        assert not strange or order < 4
        assert min(map(len, own)) <= len(text) <= max(map(len, own))


@examples(20)
@given(
    st.lists(st.text("ab é日 ", min_size=1, max_size=30), min_size=4, max_size=9),
    st.integers(1, 9), st.integers(0, 99),
)  # fmt: skip
def test_texts_that_are_cut_at_the_limit_are_written_whole(
    texts: list[str], limit: int, seed: int
) -> None:
    X = np.array(texts, dtype=object)[:, np.newaxis]
    model = NaiveBayes({0: TextBytes(4, limit)}).fit(X, np.arange(len(texts)) % 2)
    for text in model.sample(20, random_state=seed)[0][:, 0].tolist():
        assert len(text) <= max(map(len, texts))
        assert set(text) <= set("".join(texts))


@pytest.mark.parametrize("kind", ["words", "bytes"])
def test_a_file_and_a_merged_model_draw_the_same_by_a_seed(kind: str, tmp_path: Any) -> None:
    made = visits(size=120, training=120)
    frame, y = pd.DataFrame(made.columns), np.array(made.labels)
    families = dict.fromkeys(made.texts, kind)
    model = NaiveBayes(families).fit(frame, y)
    drawn, labels = model.sample(30, random_state=7)
    model.save(tmp_path / "model")
    again, same = suffice.load(tmp_path / "model").sample(30, random_state=7)
    assert labels.tolist() == same.tolist()
    assert again["note"].tolist() == drawn["note"].tolist()
    parts = [NaiveBayes(families).fit(frame.iloc[some], y[some])
             for some in (slice(0, 70), slice(70, None))]  # fmt: skip
    merged, _ = (parts[1] + parts[0]).sample(30, random_state=7)
    assert merged["note"].tolist() == drawn["note"].tolist()
    other, _ = model.sample(30, random_state=8)
    assert other["note"].tolist() != drawn["note"].tolist()


def test_words_that_are_forgotten_are_drawn_no_more() -> None:
    rows = [["red apple"], ["green apple"], ["red pear"], ["red plum"]]
    X, y = np.array(rows * 5, dtype=object), np.array(["x", "y", "x", "x"] * 5)
    model = NaiveBayes("words").fit(X, y)
    gone = np.array([row[0] == "red plum" for row in X.tolist()])
    model.forget(X[gone], y[gone])
    words = {word for text in _texts_of(model, "x", 200) for word in text.split()}
    assert words == {"red", "apple", "pear"}


@pytest.mark.parametrize("kind", ["words", "bytes"])
def test_a_class_without_texts_has_blank_ones(kind: str) -> None:
    X = np.array([["one two", 1.0], ["two", 2.0], [None, 3.0], [None, 4.0]], dtype=object)
    model = NaiveBayes({0: kind, 1: "gaussian"}).fit(X, ["x", "x", "y", "y"])
    drawn, labels = model.sample(40, random_state=0)
    assert {text is None for text in drawn[labels == "y", 0]} == {True}
    assert {text is None for text in drawn[labels == "x", 0]} == {False}
