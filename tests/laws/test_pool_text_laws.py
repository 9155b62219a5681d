"""Texts beside a pool: they add up, are taken back, are judged by rows that saw nothing of them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice import NaiveBayes, Pool
from suffice.errors import BadFile, BadSetting
from suffice.storage.model_file import read_model
from tests.reference.model_file_mutations import opened, written
from tests.reference.text_tables import MADE, tickets, visits
from tests.searches import examples

if TYPE_CHECKING:
    from pathlib import Path

MEMBERS = ["naive Bayes"]
"""A quick one: what is tried here is not the members."""

FEW = ["class shares"]


def _table(size: int, training: int, make: Any = tickets) -> tuple[Any, Any, Any, Any, list[int]]:
    """Return rows and labels to learn from, and to judge by, and which columns are texts."""
    table = make(size=size, training=training)
    names = tuple(table.columns)
    texts = [j for j, name in enumerate(names) if name in table.texts]
    parts = [(table.rows(names, test=test), table.y(test=test)) for test in (False, True)]
    return (*parts[0], *parts[1], texts)


def _loss(model: Any, X: Any, y: Any) -> float:
    found = model.predict_log_proba(X)
    return float(-found[np.arange(len(y)), np.searchsorted(model.classes_, y)].mean())


@pytest.mark.slow
@examples(4)
@given(st.integers(0, 2**32 - 1), st.integers(20, 40))
def test_parts_merged_and_forgotten_are_the_rows_that_are_left(seed: int, cut: int) -> None:
    X, y, asked, _, texts = _table(70, 50, visits)
    order = np.random.default_rng(seed).permutation(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = Pool(FEW, texts).fit(X, y)
        parts = [Pool(FEW, texts).fit(X[some], y[some]) for some in (order[:cut], order[cut:])]
        together = parts[1] + parts[0]
        np.testing.assert_allclose(
            together.predict_proba(asked), whole.predict_proba(asked), rtol=1e-9, atol=1e-12
        )
        together.forget(X[order[cut:]], y[order[cut:]])
    np.testing.assert_allclose(
        together.predict_proba(asked), parts[0].predict_proba(asked), rtol=1e-9, atol=1e-12
    )


@pytest.mark.slow
def test_nothing_is_gained_from_texts_of_labels_that_say_nothing() -> None:
    gains = []
    for seed in range(12):
        X, y, _, _, texts = _table(120, 100)
        y = np.random.default_rng(seed).permutation(y)
        shares = np.bincount(np.unique(y, return_inverse=True)[1]) / len(y)
        blind = float(-(shares * np.log(shares)).sum())
        gains.append(blind - Pool(["class shares"], texts).fit(X, y).log_loss_)
    assert np.mean(gains) <= 0.01


@pytest.mark.slow
def test_it_is_judged_as_new_rows_judge_it() -> None:
    hidden = []
    for make in MADE:
        _, _, X, y, texts = _table(1500, 0, make)
        for seed in range(4):
            order = np.random.default_rng(seed).permutation(len(y))
            some, rest = order[:200], order[200:]
            pool = Pool(["class shares"], texts).fit(X[some], y[some])
            hidden.append(_loss(pool, X[rest], y[rest]) - pool.log_loss_)
    assert np.mean(hidden) <= 0.02


@pytest.mark.slow
@pytest.mark.parametrize("make", MADE)
def test_texts_and_columns_are_better_than_either_and_than_naive_bayes_of_both(make: Any) -> None:
    X, y, asked, true, texts = _table(2000, 400, make)
    pool = _loss(Pool(MEMBERS, texts).fit(X, y), asked, true)
    without = [j for j in range(X.shape[1]) if j not in texts]
    assert pool < _loss(Pool(MEMBERS).fit(X[:, without], y), asked[:, without], true)
    assert pool < _loss(Pool(MEMBERS).fit(X[:, texts], y), asked[:, texts], true)
    assert pool < _loss(NaiveBayes(dict.fromkeys(texts, "words")).fit(X, y), asked, true) + 0.005


def test_words_add_up_to_what_their_column_says() -> None:
    X, y, asked, _, texts = _table(130, 100)
    pool = Pool(MEMBERS, texts).fit(X, y)
    found = pool.explain(asked[:5], of="open", against="closed")
    odds = np.diff(pool.predict_log_proba(asked[:5]), axis=1)[:, 0]
    np.testing.assert_allclose(found.log_odds, odds, atol=1e-9)
    # What is said before any word is looked at is no word's, and with one text it is one number.
    text = Pool(["class shares"], texts).fit(X, y)
    found = text.explain(asked[:5], of="open", against="closed")
    words = [sum(odds for _, odds in found.words_of("x0", i)) for i in range(5)]
    rest = found.contributions[:, 0] - words
    np.testing.assert_allclose(rest, rest[0], atol=1e-9)
    assert np.ptp(words) > 0.1


def test_a_row_whose_texts_are_blank_has_the_answer_of_its_other_columns() -> None:
    X, y, asked, _, texts = _table(130, 100)
    blank = asked.copy()
    blank[:, texts] = None
    pool = Pool(MEMBERS, texts).fit(X, y)
    learned = pool.learned_
    said = learned.model.posteriors(learned.rows(blank))  # no member reads texts
    expected = learned.model.combination.posterior(list(said.values()))
    np.testing.assert_allclose(pool.predict_proba(blank), expected, rtol=1e-12)
    assert not np.allclose(pool.predict_proba(asked), expected, rtol=1e-3)


@pytest.mark.slow
def test_texts_are_found_by_looks_and_none_where_there_are_none() -> None:
    X, y, asked, _, texts = _table(130, 100)
    assert list(Pool(MEMBERS).fit(X, y).texts_) == ["x0"]
    told = Pool(MEMBERS, texts).fit(X, y)
    np.testing.assert_array_equal(
        told.predict_proba(asked), Pool(MEMBERS).fit(X, y).predict_proba(asked)
    )
    assert Pool(MEMBERS, []).fit(X, y).texts_ == {}
    assert Pool(MEMBERS).fit(X[:, 1:], y).texts_ == {}


def test_a_file_answers_and_learns_as_the_pool_does_and_a_lie_is_refused(tmp_path: Any) -> None:
    X, y, asked, _, texts = _table(130, 100)
    pool = Pool(MEMBERS, texts).fit(X, y)
    place = tmp_path / "pool.suffice"
    pool.save(place)
    again = suffice.load(place)
    np.testing.assert_array_equal(again.predict_proba(asked), pool.predict_proba(asked))
    assert again.forget(X[:40], y[:40]).texts_.keys() == {"x0"}
    for name, lie in (("places", [1]), ("places", [0, 0]), ("places", [9]), ("belief", -1.0)):
        content, arrays = opened(place.read_bytes())
        fields = content["state"]["model"]["fields"]["texts"]["fields"]
        held = fields[name]
        fields[name] = {**held, "items": lie} if isinstance(held, dict) else lie
        place_of_lie = tmp_path / "lie.suffice"
        place_of_lie.write_bytes(written(content, arrays))
        with pytest.raises(BadFile, match="texts"):
            read_model(place_of_lie)


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ("x0", "is not known"),
        ([True], "is not known"),
        (["nothing"], "is not a column"),
        ([7], "of 3 columns"),
        (["x1"], "contains no text"),
        ({"x1": "bytes"}, "contains no text"),
        ({"x0": "letters"}, "by 'letters', which is not known"),
        ({"x0": "words", 0: "bytes"}, "by words and by bytes"),
        ({True: "bytes"}, "is not known"),
    ],
)
def test_what_names_no_texts_is_refused(texts: Any, words: str) -> None:
    X, y, _, _, _ = _table(40, 30)
    with pytest.raises(BadSetting, match=words):
        Pool(MEMBERS, texts).fit(X, y)
    with pytest.raises(BadSetting, match=words):  # and not when it is first asked
        Pool(MEMBERS, texts).partial_fit(X, y)


def test_a_column_of_texts_named_twice_is_read_once(tmp_path: Path) -> None:
    X, y, asked, _, texts = _table(60, 50, visits)
    once = Pool(FEW, sorted(texts)).fit(X, y)
    twice = Pool(FEW, [f"x{j}" for j in texts] + sorted(texts, reverse=True)).fit(X, y)
    np.testing.assert_array_equal(twice.predict_proba(asked), once.predict_proba(asked))
    twice.save(tmp_path / "pool")
    back = suffice.load(tmp_path / "pool")
    np.testing.assert_array_equal(back.predict_proba(asked), once.predict_proba(asked))
