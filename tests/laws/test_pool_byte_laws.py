"""Texts beside a pool, byte by byte: the laws of words hold for them, and rows choose."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice import Pool
from suffice.errors import BadFile
from suffice.models.pool.text_readings import READINGS
from suffice.storage.model_file import read_model
from tests.reference.model_file_mutations import opened, written
from tests.reference.text_tables import serials, tickets, visits
from tests.searches import examples

MEMBERS = ["naive Bayes"]
FEW = ["class shares"]


def _table(size: int, training: int, make: Any = serials) -> tuple[Any, Any, Any, Any, list[int]]:
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
@pytest.mark.parametrize("make", [serials, visits])
@examples(3)
@given(st.integers(0, 2**32 - 1), st.integers(20, 40))
def test_parts_merged_and_forgotten_are_the_rows_that_are_left(
    make: Any, seed: int, cut: int
) -> None:
    X, y, asked, _, places = _table(70, 50, make)
    texts = dict.fromkeys(places, "bytes")
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
def test_rows_that_are_left_out_choose_bytes_where_spelling_tells_and_words_where_words_do() -> (
    None
):
    for make, best in ((serials, "bytes"), (tickets, "words")):
        X, y, asked, true, texts = _table(1400, 400, make)
        pools = {how: Pool(FEW, {texts[0]: how}).fit(X, y) for how in READINGS}
        chosen = Pool(FEW, texts).fit(X, y)
        assert list(chosen.readings_.values()) == [best]
        losses = {how: _loss(pool, asked, true) for how, pool in pools.items()}
        assert min(losses, key=losses.__getitem__) == best
        np.testing.assert_array_equal(chosen.predict_proba(asked), pools[best].predict_proba(asked))
        assert chosen.log_loss_ == pools[best].log_loss_


@pytest.mark.slow
def test_it_is_judged_as_new_rows_judge_it() -> None:
    hidden = []
    for make in (serials, tickets, visits):
        _, _, X, y, texts = _table(1500, 0, make)
        for seed in range(6):
            order = np.random.default_rng(seed).permutation(len(y))
            some, rest = order[:200], order[200:]
            pool = Pool(FEW, dict.fromkeys(texts, "bytes")).fit(X[some], y[some])
            hidden.append(_loss(pool, X[rest], y[rest]) - pool.log_loss_)
    assert np.mean(hidden) <= 0.02


def test_words_add_up_to_what_their_column_says() -> None:
    X, y, asked, _, texts = _table(130, 100)
    pool = Pool(FEW, {texts[0]: "bytes"}).fit(X, y)
    found = pool.explain(asked[:5], of="new", against="old")
    odds = np.diff(pool.predict_log_proba(asked[:5]), axis=1)[:, 0]
    np.testing.assert_allclose(found.log_odds, -odds, atol=1e-9)
    said = [dict(found.words_of("x0", i)) for i in range(5)]
    # The shift of a class is no word's, and the same in every row.
    rest = found.contributions[:, 0] - [sum(words.values()) for words in said]
    np.testing.assert_allclose(rest, rest[0], atol=1e-9)
    assert all(set(asked[i, 0].split()) < set(said[i]) for i in range(5))


def test_a_row_whose_texts_are_blank_has_the_answer_of_its_other_columns() -> None:
    X, y, asked, _, texts = _table(130, 100)
    pool = Pool(FEW, dict.fromkeys(texts, "bytes")).fit(X, y)
    blank = asked.copy()
    blank[:, texts] = None
    shares = [float((y == label).mean()) for label in pool.classes_]
    found = pool.predict_proba(blank)
    np.testing.assert_allclose(found, np.tile(shares, (len(blank), 1)), rtol=1e-9)


def test_a_file_answers_and_learns_as_the_pool_does_and_a_lie_is_refused(tmp_path: Any) -> None:
    X, y, asked, _, _ = _table(130, 100)
    pool = Pool(FEW, {"x0": "bytes"}).fit(X, y)
    place = tmp_path / "pool.suffice"
    pool.save(place)
    again = suffice.load(place)
    assert again.texts == {"x0": "bytes"}
    np.testing.assert_array_equal(again.predict_proba(asked), pool.predict_proba(asked))
    assert again.forget(X[:40], y[:40]).readings_ == {"x0": "bytes"}
    for lie in (["letters"], ["bytes", "bytes"], []):
        content, arrays = opened(place.read_bytes())
        held = content["state"]["model"]["fields"]["texts"]["fields"]["readings"]
        held["items"] = lie
        place_of_lie = tmp_path / "lie.suffice"
        place_of_lie.write_bytes(written(content, arrays))
        with pytest.raises(BadFile, match="texts"):
            read_model(place_of_lie)
