"""`score` takes every kind of label that `fit` takes."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from suffice import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianDiscriminant,
    LogisticRegression,
    MultinomialNaiveBayes,
    NaiveBayes,
    Perceptron,
    TextClassifier,
)
from suffice.errors import BadLabels, SufficeError

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.random.default_rng(0).normal(size=(30, 2))
COUNTS = np.random.default_rng(1).poisson(2.0, (30, 3)).astype(float)
SIDES = (X[:, 0] > 0.0).astype(int)
TEXTS = [f"word{side} and {i % 3}" for i, side in enumerate(SIDES)]


def objects(pair: tuple[Any, Any]) -> Any:
    found = np.empty(30, dtype=object)
    for i, side in enumerate(SIDES):
        found[i] = pair[side]
    return found


LABELS: dict[str, Any] = {
    "tuples": objects(((1, 2), (3, 4))),
    "a list of tuples": [((1, 2), (3, 4))[side] for side in SIDES],
    "decimals": objects((Decimal(1), Decimal(2))),
    "bytes": objects((b"a", b"b")),
    "an array of bytes": np.array([b"a", b"b"])[SIDES],
    "frozen sets": objects((frozenset([1]), frozenset([2]))),
    "days": np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")[SIDES],
    "text": np.array(["a", "b"])[SIDES],
    "integers": 3 * SIDES,
    "floats": 2.0 * SIDES,
    "booleans": SIDES.astype(bool),
}
MODELS: dict[str, tuple[Callable[[], Any], Any]] = {
    "GaussianDiscriminant": (GaussianDiscriminant, X),
    "NaiveBayes": (lambda: NaiveBayes("gaussian"), X),
    "BernoulliNaiveBayes": (lambda: BernoulliNaiveBayes(threshold=1.0), COUNTS),
    "MultinomialNaiveBayes": (MultinomialNaiveBayes, COUNTS),
    "ComplementNaiveBayes": (ComplementNaiveBayes, COUNTS),
    "LogisticRegression": (lambda: LogisticRegression(1.0), X),
    "Perceptron": (Perceptron, X),
    "TextClassifier": (TextClassifier, TEXTS),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", MODELS)
def test_score_is_the_share_of_right_answers_for_labels_of_any_kind(name: str, kind: str) -> None:
    make, x = MODELS[name]
    y = LABELS[kind]
    try:
        model = make().fit(x, y)
    except BadLabels:
        pytest.skip("fit does not take such labels")
    right = np.array([a == b for a, b in zip(model.predict(x), y, strict=True)])
    assert model.score(x, y) == right.mean()
    weights = np.arange(30.0)
    assert model.score(x, y, sample_weight=weights) == pytest.approx(
        np.average(right, weights=weights)
    )


@pytest.mark.parametrize("name", MODELS)
def test_score_refuses_what_cannot_be_compared(name: str) -> None:
    make, x = MODELS[name]
    model = make().fit(x, SIDES)
    for y in (["a"] * 30, SIDES[1:], np.full(30, np.nan), None):
        with pytest.raises(SufficeError):
            model.score(x, y)
    assert model.score(x, np.full(30, 7)) == 0.0  # a class it has never seen
