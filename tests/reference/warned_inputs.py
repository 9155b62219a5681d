"""Inputs that are accepted with a reservation: which warning, and what it says."""

from __future__ import annotations

import unicodedata
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from suffice import (
    BernoulliNaiveBayes,
    GaussianDiscriminant,
    LogisticRegression,
    MultinomialNaiveBayes,
    MultivariateNormal,
    NaiveBayes,
    Perceptron,
    TextClassifier,
    bridge,
)
from tests.reference.refusals import CommandCase
from tests.reference.refused_rows import FRAME, MODELS, X, Y, quietly

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reference.refusals import Cases

CONSTANT = FRAME.assign(blue=2.0)
BLANK = FRAME.assign(blue=np.nan)
APART = FRAME.assign(red=np.where(Y == "yes", 9.0, 1.0) + X[:, 1] / 8.0)
WHOLE = 2**60 + np.arange(12)
FORMS = ("shared", "per-class", "diagonal", "shared-diagonal", "spherical", "auto")


def rows() -> Cases:
    """Return columns and classes that say little."""
    for name, make in MODELS.items():
        if name in ("LogisticRegression sgd", "NaiveBayes mixed", "NaiveBayes multinomial"):
            continue  # sgd takes steps, the others are asked by another name
        yield f"one class: {name}", lambda make=make: make().fit(FRAME, ["only"] * 12)
        yield f"a constant column: {name}", lambda make=make: make().fit(CONSTANT, Y)
        if not name.startswith(("Logistic", "Perceptron", "Multinomial", "Complement")):
            yield f"a column without cells: {name}", lambda make=make: make().fit(BLANK, Y)
    for form in FORMS:
        fit = GaussianDiscriminant(form).fit
        yield f"a copied column: {form}", partial(fit, FRAME.assign(more=FRAME.red), Y)
        yield f"a class of one row: {form}", partial(fit, FRAME[:4], ["a", "a", "a", "b"])
    one = quietly(GaussianDiscriminant("per-class").fit, [[0.0], [5.0], [6.0], [7.5]], [0, 1, 1, 1])
    yield "no p-value: a class of one row", lambda: one.typicality([[100.0]])
    yield (
        "no p-value: alone in its class",
        lambda: one.typicality([[0.0], [5.0], [6.0], [7.5]], [0, 1, 1, 1]),
    )
    yield "a law of too few rows", lambda: MultivariateNormal.fit(X[:2])
    yield "a law of one row", lambda: MultivariateNormal.fit([[1.0, 2.0]])
    yield "a law of a constant column", lambda: MultivariateNormal.fit(CONSTANT)
    law = quietly(MultivariateNormal.fit, np.eye(3)[:2])
    yield "a law without p-values", lambda: law.typicality(np.eye(3))
    yield "a bridge of a constant column", lambda: bridge(CONSTANT, Y)
    yield (
        "an odd weight",
        lambda: GaussianDiscriminant("per-class").fit(FRAME, Y, [1e-9] * 6 + [1.0] * 6),
    )


def logistic() -> Cases:
    """Return regressions without a maximum, or without an end."""
    one = np.arange(12.0)[:, np.newaxis]
    yield "separated", lambda: LogisticRegression().fit(APART, Y)
    yield "separated by order", lambda: LogisticRegression().fit(one, one[:, 0] > 5)
    yield (
        "separated but for a tie",
        lambda: LogisticRegression().fit(
            [[0.0], [1.0], [2.0], [2.0], [3.0], [4.0]], [0, 0, 0, 1, 1, 1]
        ),
    )
    yield (
        "separated, three classes",
        lambda: LogisticRegression().fit(one, np.repeat(list("abc"), 4)),
    )
    yield "separated, perceptron", lambda: Perceptron(random_state=0).fit(APART, Y)
    yield "not separated, perceptron", lambda: Perceptron(epochs=2, random_state=0).fit(FRAME, Y)
    yield "nothing but constants", lambda: LogisticRegression().fit(np.ones((12, 2)), Y)
    yield (
        "columns that add up",
        lambda: LogisticRegression().fit(FRAME.assign(more=FRAME.red - 2.0 * FRAME.blue), Y),
    )
    yield "one pass", lambda: LogisticRegression(max_passes=1).fit(FRAME, Y)


def forgetting() -> Cases:
    """Return models that have forgotten nearly all, and cells outside of what was learned."""
    thirds = FRAME / 3.0

    def lost(form: str, times: float) -> None:
        """Learn rows that are far wider, and take them back."""
        model = quietly(GaussianDiscriminant(form).fit, thirds, Y)
        model.partial_fit(thirds * times, Y).forget(thirds * times, Y)

    for form in FORMS[:5]:
        yield f"lost digits: {form}", partial(lost, form, 2e9)
        yield f"no digits left: {form}", partial(lost, form, 1e12)
        yield (
            f"squares below the range: {form}",
            partial(GaussianDiscriminant(form).fit, thirds * [1.0, 1e-158, 1.0], Y),
        )

    def forgotten(name: str) -> None:
        """Forget one class of two."""
        model = quietly(MODELS[name]().fit, FRAME, Y)
        model.forget(FRAME[Y == "yes"], Y[Y == "yes"])

    for name in ("GaussianDiscriminant shared", "NaiveBayes gaussian", "MultinomialNaiveBayes"):
        yield f"one class is left: {name}", partial(forgotten, name)
    frame = pd.DataFrame({"n": [0, 1, 1, 0], "x": [0.5, -1.0, 2.0, 0.1]})
    model = quietly(NaiveBayes().fit, frame, [0, 0, 1, 1])
    yield "outside the support: half a category", lambda: model.predict(frame.assign(n=0.5))
    prices = quietly(NaiveBayes("lognormal").fit, FRAME, Y)
    yield "outside the support: a price of zero", lambda: prices.predict(FRAME.assign(red=0.0))
    truths = quietly(NaiveBayes("bernoulli").fit, FRAME > 1, Y)
    yield "outside the support: two", lambda: truths.predict(FRAME)


def labels() -> Cases:
    """Return names that look the same, and numbers that doubles cannot hold."""
    for what, pair in {
        "a blank": ("rose", "rose "), "two blanks": ("a  b", "a b"),
        "an accent": ("caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9")),
    }.items():  # fmt: skip
        yield (
            f"similar labels: {what}",
            lambda pair=pair: GaussianDiscriminant().fit(FRAME, pair * 6),
        )
    whole = pd.DataFrame({"id": WHOLE, "x": X[:, 0]})
    for model in (GaussianDiscriminant(), NaiveBayes("gaussian"), LogisticRegression()):
        yield f"rounded numbers: {type(model).__name__}", partial(model.fit, whole, Y)
    yield "a text of nothing", lambda: TextClassifier().fit(["a"] * 12, Y)
    yield "one class of texts", lambda: TextClassifier().fit(["a", "b"] * 6, ["x"] * 12)
    yield "words never counted", lambda: MultinomialNaiveBayes(smoothing=0).fit(X * [1, 0, 1], Y)
    yield "truths without smoothing", lambda: BernoulliNaiveBayes(smoothing=0).fit(X, Y)


def commands() -> Cases:
    """Return tables that are learned with a word."""
    body = "".join(f"{i * 5 % 7},{i * 3 % 11},{'xz'[i % 2]}\n" for i in range(40))
    tables = {
        "constant": "a,b,y\n" + "".join(f"{i * 5 % 7},1,{'xz'[i % 2]}\n" for i in range(20)),
        "odd": "a,b,y\n" + body.replace("0,0,x\n", "0,n/a?,x\n", 1),
        "some": "a,b,y\n" + body + "7,1,\n8,2, \n",
        "names": "name,a,y\n" + "".join(f"person {i},{i % 5},{'xz'[i % 2]}\n" for i in range(60)),
        "blank": "a,b,y\n" + body.replace("\n3,", "\n,", 2),
        "similar": "a,b,y\n" + body.replace(",x\n", ",z.\n").replace(",z.\n", ",z\u00a0\n", 3),
        "apart": "a,y\n" + "".join(f"{i},{'xz'[i // 10]}\n" for i in range(20)),
    }
    for name, text in tables.items():
        Path(f"{name}.csv").write_text(text, encoding="utf-8")
    for name in tables:
        for model in ("gda", "naive-bayes", "logistic"):
            yield (
                f"fit {name}, {model}",
                CommandCase(f"fit {name}.csv -t y --model {model} -o m.suffice"),
            )


GROUPS: dict[str, Callable[[], Cases]] = {
    "warnings: rows": rows,
    "warnings: logistic": logistic,
    "warnings: forgetting": forgetting,
    "warnings: labels": labels,
    "warnings: commands": commands,
}
