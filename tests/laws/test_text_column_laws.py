"""A column of texts is a column like any other: it adds up, and is taken back."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice import NaiveBayes
from suffice.estimators.sql import to_sql
from suffice.families import TextBytes, TextWords
from suffice.models.text.language import Language
from suffice.rows.text_cells import TextCells
from suffice.testing import check_statistics
from tests.reference.text_tables import MADE, tickets, visits
from tests.searches import examples

WORDS = st.lists(st.sampled_from(["ab", "cd", "ef", "gh?", "ij"]), max_size=4).map(" ".join)
CELLS = st.one_of(st.none(), WORDS)


KINDS = ("words", "bytes")


def _alphas(law: Any) -> Any:
    """Return the smoothing of each column; bytes have none."""
    return np.array([law.alpha(j) for j in range(law.width)])


def _rows(texts: list[Any], numbers: list[Any]) -> Any:
    found = np.empty((len(texts), 2), dtype=object)
    found[:, 0], found[:, 1] = texts, numbers
    return found


@pytest.mark.parametrize("family", [TextWords(ngrams=(1, 2)), TextBytes(order=3)])
def test_counts_of_columns_obey_the_laws_of_statistics(family: Any) -> None:
    cells = np.array([["a b", None], ["b", "c c"], [None, "a"], ["a b c", ""]], dtype=object)

    def summarize(rows: Any, weights: Any = None) -> Any:
        block = TextCells(np.asarray(rows, dtype=object).reshape(-1, 2))
        w = None if weights is None else np.asarray(weights, dtype=np.float64)
        return family.summarize(block, np.zeros(len(block), dtype=np.intp), 1, w)[0]

    check_statistics(summarize, cells)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@examples(25)
@given(
    st.lists(st.tuples(CELLS, st.integers(0, 3), st.sampled_from("xy")), min_size=6, max_size=20),
    st.integers(1, 5),
)
def test_merging_and_forgetting_give_the_model_of_the_rows_that_are_left(
    kind: str, rows: list[tuple[Any, int, str]], cut: int
) -> None:
    texts, numbers, labels = (list(part) for part in zip(*rows, strict=True))
    texts[0], texts[1], labels[0], labels[1], labels[2] = "ab cd", "ef", "x", "y", "x"
    cut = min(cut + 2, len(rows))
    X, y = _rows(texts, numbers), np.array(labels)
    families = {0: kind, 1: "poisson"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class of one row, and such
        first = NaiveBayes(families).fit(X[:cut], y[:cut])
        whole = NaiveBayes(families).fit(X, y)
        if cut < len(rows):
            second = NaiveBayes(families).fit(X[cut:], y[cut:])
            together = first + second
            np.testing.assert_allclose(
                together.predict_proba(X), whole.predict_proba(X), rtol=1e-9, atol=1e-12
            )
            together.forget(X[cut:], y[cut:])
            np.testing.assert_allclose(
                together.predict_proba(X), first.predict_proba(X), rtol=1e-6, atol=1e-9
            )


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_and_batches_does_not_matter(kind: str) -> None:
    table = tickets(size=300, training=200)
    X, y = table.rows(tuple(table.columns), test=False), table.y(test=False)
    asked = table.rows(tuple(table.columns), test=True)
    families = {0: kind}
    order = np.random.default_rng(3).permutation(len(y))
    one = NaiveBayes(families).fit(X, y)
    other = NaiveBayes(families).fit(X[order], y[order])
    batches = NaiveBayes(families)
    for part in np.array_split(np.arange(len(y)), 4):
        batches.partial_fit(X[part], y[part], classes=np.unique(y))
    for model in (other, batches):
        np.testing.assert_allclose(
            model.predict_proba(asked), one.predict_proba(asked), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("kind", KINDS)
def test_leaving_one_out_is_fitting_without_it_but_for_what_was_chosen(kind: str) -> None:
    table = visits(size=80, training=60)
    names = tuple(table.columns)
    X, y = table.rows(names, test=False), table.y(test=False)
    families = {0: kind, 1: "words", 2: "shared-gaussian", 3: "categorical"}
    model = NaiveBayes(families).fit(X, y)
    found = model.leave_one_out(X, y).log_posterior
    learned = model._now()
    for i in (0, 7, 23):
        left = np.delete(np.arange(len(y)), i)
        fit = NaiveBayes(families).fit(X[left], y[left])._now()
        ours = learned.fit.model
        # Smoothing, belief and temperature are settings of the whole: they stay.
        laws = tuple(
            law.weighed(_alphas(mine), mine.factors, mine.shifts)
            if hasattr(law, "term_scores")
            else law
            for law, mine in zip(fit.fit.model.laws, ours.laws, strict=True)
        )
        without = replace(fit.fit.model, laws=laws, temperature=ours.temperature)
        rows = fit.rows(X[i : i + 1])
        np.testing.assert_allclose(found[i], without.posterior(rows, log=True)[0], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_blank_text_says_nothing_and_a_file_answers_as_the_model_does(
    kind: str, tmp_path: Any
) -> None:
    table = visits(size=400, training=300)
    names = tuple(table.columns)
    X, y = table.rows(names, test=False), table.y(test=False)
    model = NaiveBayes({0: kind, 1: kind}).fit(X, y)
    nothing = np.full((1, 4), None, dtype=object)
    np.testing.assert_allclose(
        model.predict_proba(nothing)[0], np.bincount(np.unique(y, return_inverse=True)[1]) / len(y)
    )
    model.save(tmp_path / "visits.suffice")
    again = suffice.load(tmp_path / "visits.suffice")
    asked = table.rows(names, test=True)
    np.testing.assert_array_equal(again.predict_proba(asked), model.predict_proba(asked))
    again.forget(X[:50], y[:50])
    without = NaiveBayes({0: kind, 1: kind}).fit(X[50:], y[50:])
    np.testing.assert_allclose(
        again.predict_proba(asked), without.predict_proba(asked), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("kind", KINDS)
def test_words_add_up_to_what_their_column_says(kind: str) -> None:
    table = tickets(size=300, training=200)
    names = tuple(table.columns)
    model = NaiveBayes({0: kind}).fit(table.rows(names, test=False), table.y(test=False))
    asked = table.rows(names, test=True)[:5]
    found = model.explain(asked, of="open", against="closed")
    odds = np.diff(model.predict_log_proba(asked), axis=1)[:, 0]
    np.testing.assert_allclose(found.log_odds, odds, atol=1e-9)
    law, beta = model._now().fit.model.laws, model.temperature_
    texts = next(one for one in law if hasattr(one, "term_scores"))
    shift = beta * (texts.shifts[0, 1] - texts.shifts[0, 0])
    for i in range(len(asked)):
        said = sum(odds for _, odds in found.words_of("x0", i))
        np.testing.assert_allclose(said + shift, found.contributions[i, 0], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", MADE)
def test_texts_and_columns_together_are_better_than_either_alone(make: Any, kind: str) -> None:
    table = make(size=2500, training=600)

    def losses(names: tuple[str, ...]) -> Any:
        families = {j: kind for j, name in enumerate(names) if name in table.texts}
        model = NaiveBayes(families).fit(table.rows(names, test=False), table.y(test=False))
        y = table.y(test=True)
        found = model.predict_log_proba(table.rows(names, test=True))
        return -found[np.arange(len(y)), np.searchsorted(model.classes_, y)]

    together = losses(tuple(table.columns))
    for alone in (losses(table.texts), losses(table.others)):
        assert together.mean() < alone.mean()


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_done_with_texts_is_refused_with_the_reason(kind: str) -> None:
    X = _rows(["a b", "c", "a", "c d"], [1.0, 2.0, 1.5, 2.5])
    model = NaiveBayes({0: kind, 1: "gaussian"}).fit(X, ["x", "y", "x", "y"])
    alone = NaiveBayes({0: kind}).fit(X[:, :1], ["x", "y", "x", "y"])
    assert alone.sample(2)[0].shape == (2, 1)  # texts can be drawn, though they have no density
    with pytest.raises(suffice.errors.NotADensity, match="no density"):
        model.log_density(X)
    with pytest.raises(suffice.errors.BadSetting, match=f"its {kind} do not show how typical"):
        model.typicality(X)
    with pytest.raises(suffice.errors.NotANumber, match="is not text"):
        NaiveBayes({0: kind}).fit([[1.0], [2.0]], ["x", "y"])
    with pytest.raises(suffice.errors.BadSetting, match=f"known by their {kind}"):
        to_sql(model, table="t")


def test_settings_without_meaning_are_refused() -> None:
    with pytest.raises(suffice.errors.BadSetting, match="complement"):
        TextWords(event="complement")
    with pytest.raises(suffice.errors.BadSetting, match="n-grams of 8 symbols"):
        TextBytes(order=8)
    with pytest.raises(suffice.errors.BadSetting, match="first 0 bytes"):
        TextBytes(limit=0)
    with pytest.raises(suffice.errors.BadSetting, match="not a family"):
        NaiveBayes({0: "common bytes"}).fit([["a"], ["b"]], ["x", "y"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("within", ["auto", None])
def test_other_columns_are_drawn_as_without_texts(within: object, kind: str) -> None:
    rng = np.random.default_rng(4)
    y = np.repeat(["x", "y"], 60)
    numbers = rng.normal(3.0 * (y == "y"))
    levels = np.where(rng.random(120) < 0.3, "red", "blue").tolist()
    texts = [f"word{i} of {label}" for i, label in enumerate(y)]
    X = pd.DataFrame({"note": texts, "size": numbers, "colour": levels})
    model = NaiveBayes({"note": kind, "size": "gaussian", "colour": "categorical"}).fit(X, y)
    drawn, labels = model.sample(400, random_state=1, within=within)
    assert all(text.count("of") == 1 for text in drawn["note"]) or kind == "bytes"
    assert set(drawn["colour"]) == {"red", "blue"}
    plain = NaiveBayes({"size": "gaussian", "colour": "categorical"}).fit(X.iloc[:, 1:], y)
    again, others = plain.sample(400, random_state=1, within=within)
    assert labels.tolist() == others.tolist()
    pd.testing.assert_frame_equal(drawn[["size", "colour"]], again)
    assert model.predict(drawn).shape == (400,)  # what is drawn is read again


@examples(40)
@given(
    st.lists(st.tuples(st.text(max_size=12) | st.none(), st.sampled_from("xy")), min_size=4,
             max_size=12),
    st.integers(1, 7), st.sampled_from([None, 1, 3, 3000]),
    st.lists(st.text(max_size=14), min_size=1, max_size=3),
)  # fmt: skip
def test_bytes_of_a_column_are_scored_as_the_language_model_does(
    rows: list[tuple[Any, str]], order: int, limit: int | None, asked: list[str]
) -> None:
    rows = [("ab", "x"), ("ba", "y"), *rows]
    X = _rows([text for text, _ in rows], [0.0] * len(rows))[:, :1]
    y = [label for _, label in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NaiveBayes({0: TextBytes(order, limit)}).fit(X, y)
    language = Language(order, limit)
    kept = [(text, label) for text, label in rows if text]
    counts = language.summarize(
        [_utf8(text) for text, _ in kept], np.array(["xy".index(c) for _, c in kept]), 2
    )
    law = language.estimate(counts)
    held: Any = model._now().fit.model
    for text in filter(None, asked):
        start = [_utf8(text)]
        logs = law.log_density(start)[0]
        length = float(law.lengths(start)[0])
        own = held.laws[0].factors[0] * (logs[1] - logs[0]) / np.sqrt(length)
        expected = held.log_priors[1] - held.log_priors[0]
        shifts = held.laws[0].shifts[0]
        expected += held.temperature * (own + shifts[1] - shifts[0])
        odds = np.diff(model.predict_log_proba([[text]]))[0, 0]
        np.testing.assert_allclose(odds, expected, rtol=1e-9, atol=1e-9)


def _utf8(text: str) -> bytes:
    """Return a text as a table keeps it: half a surrogate pair is no letter."""
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text).encode()


def test_codes_that_share_no_word_are_told_apart_by_their_bytes() -> None:
    rng = np.random.default_rng(7)

    def code(label: str) -> str:
        digits = "".join(rng.choice(list("0123456789"), 6))
        return f"AX{digits[:4]}-{digits[4:]}" if label == "x" else f"{digits[:3]}AX{digits[3:]}"

    y = np.repeat(["x", "y"], 60)
    X = _rows([code(label) for label in y], [0.0] * 120)[:, :1]
    learned, asked = np.arange(120) % 2 == 0, np.arange(120) % 2 == 1
    by_bytes = NaiveBayes({0: "bytes"}).fit(X[learned], y[learned])
    by_words = NaiveBayes({0: "words"}).fit(X[learned], y[learned])
    assert by_bytes.score(X[asked], y[asked]) == 1.0
    assert by_words.score(X[asked], y[asked]) < 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_text_is_a_blank_cell(kind: str) -> None:
    X = _rows(["a b", "", "a", "c d"], [1.0, 2.0, 1.5, 2.5])
    y = ["x", "y", "x", "y"]
    blank = X.copy()
    blank[1, 0] = None
    one, other = (NaiveBayes({0: kind, 1: "gaussian"}).fit(rows, y) for rows in (X, blank))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(blank))
