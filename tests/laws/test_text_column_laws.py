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
from suffice.families import TextWords
from suffice.rows.text_cells import TextCells
from suffice.testing import check_statistics
from tests.reference.text_tables import MADE, tickets, visits
from tests.searches import examples

WORDS = st.lists(st.sampled_from(["ab", "cd", "ef", "gh?", "ij"]), max_size=4).map(" ".join)
CELLS = st.one_of(st.none(), WORDS)


def _rows(texts: list[Any], numbers: list[Any]) -> Any:
    found = np.empty((len(texts), 2), dtype=object)
    found[:, 0], found[:, 1] = texts, numbers
    return found


def test_terms_of_columns_obey_the_laws_of_statistics() -> None:
    family = TextWords(ngrams=(1, 2))
    cells = np.array([["a b", None], ["b", "c c"], [None, "a"], ["a b c", ""]], dtype=object)

    def summarize(rows: Any, weights: Any = None) -> Any:
        block = TextCells(np.asarray(rows, dtype=object).reshape(-1, 2))
        w = None if weights is None else np.asarray(weights, dtype=np.float64)
        return family.summarize(block, np.zeros(len(block), dtype=np.intp), 1, w)[0]

    check_statistics(summarize, cells)


@pytest.mark.slow
@examples(25)
@given(
    st.lists(st.tuples(CELLS, st.integers(0, 3), st.sampled_from("xy")), min_size=6, max_size=20),
    st.integers(1, 5),
)
def test_merging_and_forgetting_give_the_model_of_the_rows_that_are_left(
    rows: list[tuple[Any, int, str]], cut: int
) -> None:
    texts, numbers, labels = (list(part) for part in zip(*rows, strict=True))
    texts[0], texts[1], labels[0], labels[1], labels[2] = "ab cd", "ef", "x", "y", "x"
    cut = min(cut + 2, len(rows))
    X, y = _rows(texts, numbers), np.array(labels)
    families = {0: "words", 1: "poisson"}
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


def test_the_order_of_rows_and_batches_does_not_matter() -> None:
    table = tickets(size=300, training=200)
    X, y = table.rows(tuple(table.columns), test=False), table.y(test=False)
    asked = table.rows(tuple(table.columns), test=True)
    families = {0: "words"}
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


def test_leaving_one_out_is_fitting_without_it_but_for_what_was_chosen() -> None:
    table = visits(size=80, training=60)
    names = tuple(table.columns)
    X, y = table.rows(names, test=False), table.y(test=False)
    families = {0: "words", 1: "words", 2: "shared-gaussian", 3: "categorical"}
    model = NaiveBayes(families).fit(X, y)
    found = model.leave_one_out(X, y).log_posterior
    learned = model._now()
    for i in (0, 7, 23):
        left = np.delete(np.arange(len(y)), i)
        fit = NaiveBayes(families).fit(X[left], y[left])._now()
        ours = learned.fit.model
        # Smoothing, belief and temperature are settings of the whole: they stay.
        laws = tuple(
            law.weighed(mine.alphas, mine.factors, mine.shifts)
            if hasattr(law, "term_scores")
            else law
            for law, mine in zip(fit.fit.model.laws, ours.laws, strict=True)
        )
        without = replace(fit.fit.model, laws=laws, temperature=ours.temperature)
        rows = fit.rows(X[i : i + 1])
        np.testing.assert_allclose(found[i], without.posterior(rows, log=True)[0], atol=1e-9)


@pytest.mark.slow
def test_a_blank_text_says_nothing_and_a_file_answers_as_the_model_does(tmp_path: Any) -> None:
    table = visits(size=400, training=300)
    names = tuple(table.columns)
    X, y = table.rows(names, test=False), table.y(test=False)
    model = NaiveBayes({0: "words", 1: "words"}).fit(X, y)
    nothing = np.full((1, 4), None, dtype=object)
    np.testing.assert_allclose(
        model.predict_proba(nothing)[0], np.bincount(np.unique(y, return_inverse=True)[1]) / len(y)
    )
    model.save(tmp_path / "visits.suffice")
    again = suffice.load(tmp_path / "visits.suffice")
    asked = table.rows(names, test=True)
    np.testing.assert_array_equal(again.predict_proba(asked), model.predict_proba(asked))
    again.forget(X[:50], y[:50])
    without = NaiveBayes({0: "words", 1: "words"}).fit(X[50:], y[50:])
    np.testing.assert_allclose(
        again.predict_proba(asked), without.predict_proba(asked), rtol=1e-6, atol=1e-9
    )


def test_words_add_up_to_what_their_column_says() -> None:
    table = tickets(size=300, training=200)
    names = tuple(table.columns)
    model = NaiveBayes({0: "words"}).fit(table.rows(names, test=False), table.y(test=False))
    asked = table.rows(names, test=True)[:5]
    found = model.explain(asked, of="open", against="closed")
    odds = np.diff(model.predict_log_proba(asked), axis=1)[:, 0]
    np.testing.assert_allclose(found.log_odds, odds, atol=1e-9)
    law, beta = model._now().fit.model.laws, model.temperature_
    words = next(one for one in law if hasattr(one, "term_scores"))
    shift = beta * (words.shifts[0, 1] - words.shifts[0, 0])
    for i in range(len(asked)):
        said = sum(odds for _, odds in found.words_of("x0", i))
        np.testing.assert_allclose(said + shift, found.contributions[i, 0], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("make", MADE)
def test_texts_and_columns_together_are_better_than_either_alone(make: Any) -> None:
    table = make(size=2500, training=600)

    def losses(names: tuple[str, ...]) -> Any:
        families = {j: "words" for j, name in enumerate(names) if name in table.texts}
        model = NaiveBayes(families).fit(table.rows(names, test=False), table.y(test=False))
        y = table.y(test=True)
        found = model.predict_log_proba(table.rows(names, test=True))
        return -found[np.arange(len(y)), np.searchsorted(model.classes_, y)]

    together = losses(tuple(table.columns))
    for alone in (losses(table.texts), losses(table.others)):
        assert together.mean() < alone.mean()


def test_what_cannot_be_done_with_texts_is_refused_with_the_reason() -> None:
    X = _rows(["a b", "c", "a", "c d"], [1.0, 2.0, 1.5, 2.5])
    model = NaiveBayes({0: "words", 1: "gaussian"}).fit(X, ["x", "y", "x", "y"])
    alone = NaiveBayes({0: "words"}).fit(X[:, :1], ["x", "y", "x", "y"])
    with pytest.raises(suffice.errors.NotADensity, match="nothing else to draw"):
        alone.sample(2)
    with pytest.raises(suffice.errors.NotADensity, match="no density"):
        model.log_density(X)
    with pytest.raises(suffice.errors.BadSetting, match="do not show how typical"):
        model.typicality(X)
    with pytest.raises(suffice.errors.NotANumber, match="is not text"):
        NaiveBayes({0: "words"}).fit([[1.0], [2.0]], ["x", "y"])
    with pytest.raises(suffice.errors.BadSetting, match="complement"):
        TextWords(event="complement")


@pytest.mark.parametrize("within", ["auto", None])
def test_other_columns_are_drawn_as_without_texts_which_stay_blank(within: object) -> None:
    rng = np.random.default_rng(4)
    y = np.repeat(["x", "y"], 60)
    numbers = rng.normal(3.0 * (y == "y"))
    levels = np.where(rng.random(120) < 0.3, "red", "blue").tolist()
    texts = [f"word{i} of {label}" for i, label in enumerate(y)]
    X = pd.DataFrame({"note": texts, "size": numbers, "colour": levels})
    model = NaiveBayes({"note": "words", "size": "gaussian", "colour": "categorical"}).fit(X, y)
    drawn, labels = model.sample(400, random_state=1, within=within)
    assert drawn["note"].isna().all()
    assert set(drawn["colour"]) == {"red", "blue"}
    plain = NaiveBayes({"size": "gaussian", "colour": "categorical"}).fit(X.iloc[:, 1:], y)
    again, others = plain.sample(400, random_state=1, within=within)
    assert labels.tolist() == others.tolist()
    pd.testing.assert_frame_equal(drawn[["size", "colour"]], again)
    assert model.predict(drawn).shape == (400,)  # what is drawn is read again
