"""A model of every kind and setting, for the tests of model files: what a file has to carry."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
from scipy.sparse import csr_array

import suffice
from suffice.columns.filled import FilledColumns
from suffice.columns.shown import shown_by
from suffice.errors import SufficeWarning
from suffice.families import (
    Bernoulli,
    Categorical,
    Common,
    Multinomial,
    Poisson,
    TextBytes,
    TextWords,
)
from suffice.learning.table_recipe import TableNotes
from suffice.models.typicality.outlier_rates import OutlierRates
from suffice.rows import read_table
from suffice.statistics.quantile_bins import ColumnBins
from tests.searches import quick

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.random import Generator

Rows = tuple[Any, Any]


@dataclass(frozen=True)
class Case:
    """An estimator, rows for it, and what it can do besides predicting."""

    model: Callable[[], Any]
    rows: Callable[[Generator, int], Rows]
    streams: bool = False
    learns: bool = True
    forgets: bool = True
    alone: bool = True
    """Whether it answers without its statistics."""


def numbers(
    rng: Generator, size: int, *, classes: Any = ("a", "b", "c"), gaps: bool = False
) -> Rows:
    """Return rows of three columns, far from zero."""
    codes = np.concatenate(
        [np.arange(len(classes)).repeat(2), rng.integers(len(classes), size=size)]
    )
    x = rng.normal(size=(len(codes), 3)) @ rng.normal(size=(3, 3))
    x += 2.0 * np.arange(len(classes))[codes, np.newaxis] + 50.0
    if gaps:
        x[2 * len(classes) :][rng.random((size, 3)) < 0.15] = np.nan
    return x, np.array(classes)[codes]


def gappy(rng: Generator, size: int) -> Rows:
    """Return rows of numbers with empty cells."""
    return numbers(rng, size, gaps=True)


def one_class(rng: Generator, size: int) -> Rows:
    """Return rows of a single class."""
    return numbers(rng, size, classes=("only",))


def counts(rng: Generator, size: int) -> Rows:
    """Return rows of small counts."""
    _, y = numbers(rng, size)
    lam = 1.0 + np.searchsorted(["a", "b", "c"], y)
    return rng.poisson(lam[:, np.newaxis] * [0.5, 1.0, 0.1, 2.0]).astype(float), y


def sparse_counts(rng: Generator, size: int) -> Rows:
    """Return the same as sparse rows."""
    x, y = counts(rng, size)
    return csr_array(x), y


def constant(rng: Generator, size: int) -> Rows:
    """Return rows of which a column never varies, and one adds up from the others."""
    x, y = numbers(rng, size)
    return np.column_stack([x, x.sum(axis=1), np.full(len(x), 7.0)]), y


def separated(rng: Generator, size: int) -> Rows:
    """Return rows of two classes that a plane parts."""
    x, y = numbers(rng, size, classes=(False, True))
    return x + 100.0 * y[:, np.newaxis], y


def _cells(rng: Generator, size: int) -> tuple[dict[str, list[Any]], Any]:
    x, y = numbers(rng, size, gaps=True)
    words = np.array(["red", "blue", "grün", None], dtype=object)
    return {
        "age": [None if np.isnan(v) else float(v) for v in x[:, 0]],
        "colour": list(words[rng.integers(4, size=len(y))]),
        "calls": [int(v) for v in rng.poisson(1.0 + np.searchsorted(["a", "b", "c"], y))],
        "member": [bool(v) for v in rng.random(len(y)) < 0.5],
    }, y


def pandas_frame(rng: Generator, size: int) -> Rows:
    """Return a frame of numbers, words, counts and truths, with blanks."""
    cells, y = _cells(rng, size)
    frame = pd.DataFrame(cells)
    frame["colour"] = pd.Categorical(frame["colour"], ["never", "red", "blue", "grün"])
    return frame, pd.Series(y)


def polars_frame(rng: Generator, size: int) -> Rows:
    """Return the same in Polars."""
    cells, y = _cells(rng, size)
    return pl.DataFrame(cells), pl.Series(y)


def whole_frame(rng: Generator, size: int) -> Rows:
    """Return a frame without numeric blanks."""
    cells, y = _cells(rng, size)
    cells["age"] = [40.0 if v is None else v for v in cells["age"]]
    return pd.DataFrame(cells), y


def texts(rng: Generator, size: int) -> Rows:
    """Return a frame of documents in two numeric columns of text, some blank, and a column."""
    _, y = numbers(rng, size)
    words = np.array(["free", "lunch", "at", "ONE", "ünï", "pills", "$$$", "see", "\n", "日本語"])

    def written(label: str) -> str:
        tilt = np.where(np.arange(10) % 3 == "abc".index(label), 3.0, 1.0)
        return " ".join(rng.choice(words, size=rng.integers(6), p=tilt / tilt.sum()))

    frame = pd.DataFrame({"subject": [written(c) for c in y], "body": [written(c) for c in y]})
    frame["size"] = rng.normal(size=len(y))
    return frame.assign(subject=frame["subject"].replace("", None)), y


def labelled(*classes: Any) -> Callable[[Generator, int], Rows]:
    """Return a source of rows with these labels."""

    def rows(rng: Generator, size: int) -> Rows:
        x, y = numbers(rng, size)
        codes = np.searchsorted(["a", "b", "c"], y) % len(classes)
        held = np.empty(len(classes), dtype=object)
        held[:] = classes
        return x, held[codes].tolist() if isinstance(classes[0], str | None) else np.array(classes)[
            codes
        ]

    return rows


def partly_labelled(rows: Callable[[Generator, int], Rows]) -> Callable[[Generator, int], Rows]:
    """Return a source of the same rows, of which every third from the seventh has no label."""

    def blanked(rng: Generator, size: int) -> Rows:
        x, y = rows(rng, size)
        return x, [None if i > 5 and i % 3 == 0 else label for i, label in enumerate(list(y))]

    return blanked


GDA, NB, LOGISTIC = suffice.GaussianDiscriminant, suffice.NaiveBayes, suffice.LogisticRegression
FEW = {"age": "gaussian", "colour": "categorical", "calls": "poisson", "member": "bernoulli"}

CASES: dict[str, Case] = {
    "shared": Case(GDA, numbers),
    "shared, shrunk": Case(lambda: GDA(shrink=0.3, divisor="unbiased"), numbers),
    "per-class": Case(lambda: GDA("per-class"), numbers),
    "per-class, pooled": Case(
        lambda: GDA("per-class", pool=0.2, shrink=0.5, shrink_target="scaled"), numbers
    ),
    "diagonal": Case(lambda: GDA("diagonal"), numbers),
    "shared-diagonal": Case(lambda: GDA("shared-diagonal"), numbers),
    "spherical": Case(lambda: GDA("spherical"), numbers),
    "auto": Case(lambda: GDA("auto"), numbers),
    "predictive": Case(lambda: GDA(predictive=2.0), numbers),
    "predictive, diagonal": Case(lambda: GDA("diagonal", predictive="auto"), gappy),
    "averaged": Case(lambda: GDA("auto", average=True, temperature="left-out"), numbers),
    "tied forms": Case(lambda: GDA("VEV"), numbers),
    "factors": Case(lambda: GDA(factors=1), numbers),
    "factors of classes": Case(lambda: GDA("per-class", factors="auto"), numbers),
    "kept rows": Case(lambda: GDA("per-class", calibration_rows=8), numbers),
    "unlabelled": Case(
        lambda: GDA(unlabelled=0.5), partly_labelled(numbers), learns=False, forgets=False
    ),
    "unlabelled, by the labelled": Case(
        lambda: GDA("diagonal", unlabelled="auto"),
        partly_labelled(numbers), learns=False, forgets=False,
    ),
    "latent classes": Case(lambda: suffice.LatentClasses(2), pandas_frame, forgets=False),
    "latent classes, named": Case(
        lambda: suffice.LatentClasses(2, "gaussian"), gappy, forgets=False
    ),
    "shared, gaps": Case(GDA, gappy),
    "per-class, gaps": Case(lambda: GDA("per-class"), gappy),
    "diagonal, gaps": Case(lambda: GDA("diagonal"), gappy),
    "priors": Case(lambda: GDA(priors={"a": 0.5, "b": 0.25, "c": 0.25}), numbers),
    "a prior of zero": Case(lambda: GDA(priors={"a": 0.5, "b": 0.5, "c": 0.0}), numbers),
    "constant": Case(GDA, constant),
    "one class": Case(GDA, one_class),
    "pandas": Case(GDA, whole_frame),
    "polars": Case(lambda: GDA("per-class"), polars_frame),
    "truths": Case(GDA, labelled(False, True)),
    "integers": Case(GDA, labelled(3, 1, 2)),
    "small integers": Case(GDA, labelled(np.int8(3), np.int8(1))),
    "fractions": Case(GDA, labelled(1.0, 2.0)),
    "a blank label": Case(GDA, labelled("x", "", "ü\n\0")),
    "naive Bayes": Case(NB, pandas_frame),
    "naive Bayes, polars": Case(NB, polars_frame),
    "naive Bayes, numbers": Case(NB, gappy),
    "named families": Case(lambda: NB(FEW), pandas_frame),
    "families as objects": Case(
        lambda: NB(
            {"age": Common(suffice.families.GaussianColumns("shared")), "colour": Categorical(),
             "calls": Poisson(), "member": Bernoulli()}
        ),
        pandas_frame,
    ),
    "binned": Case(lambda: NB({"age": "binned"}), pandas_frame),
    "log-normal": Case(lambda: NB({"age": "shared-lognormal", "calls": "binned"}), pandas_frame),
    "constant, diagonal": Case(lambda: GDA("diagonal"), constant),
    "constant, naive": Case(lambda: NB("gaussian"), constant),
    "select": Case(lambda: NB("select"), pandas_frame),
    "held out": Case(lambda: NB(smoothing="held-out", temperature="held-out"), pandas_frame),
    "left out": Case(lambda: NB(temperature="left-out"), pandas_frame),
    "naive Bayes, kept rows": Case(lambda: NB(calibration_rows=8), pandas_frame),
    "naive Bayes, unlabelled": Case(
        lambda: NB(unlabelled=0.3), partly_labelled(pandas_frame), learns=False, forgets=False
    ),
    "sparse, unlabelled": Case(
        lambda: suffice.MultinomialNaiveBayes(unlabelled="auto"),
        partly_labelled(sparse_counts), learns=False, forgets=False,
    ),
    "predictive columns": Case(lambda: NB("predictive-gaussian"), gappy),
    "columns of texts": Case(lambda: NB({"subject": "words", "body": "words"}), texts),
    "columns of texts, an event": Case(
        lambda: NB({"subject": TextWords("multinomial", (1, 1)), "body": TextWords(lower=False)}),
        texts,
    ),
    "columns of texts, bytes": Case(
        lambda: NB({"subject": "bytes", "body": TextBytes(order=3, limit=9)}), texts
    ),
    "unsmoothed": Case(lambda: NB(FEW, smoothing=0), pandas_frame),
    "words": Case(lambda: NB({(0, 1): Multinomial(), 2: "poisson", 3: "bernoulli"}), lambda r, n: (
        np.minimum(counts(r, n)[0], [9, 9, 9, 1]), counts(r, n)[1])),
    "one class, naive": Case(NB, one_class),
    "Bernoulli": Case(lambda: suffice.BernoulliNaiveBayes(threshold=1.0), counts),
    "Bernoulli, sparse": Case(suffice.BernoulliNaiveBayes, sparse_counts),
    "multinomial": Case(suffice.MultinomialNaiveBayes, counts),
    "multinomial, sparse": Case(
        lambda: suffice.MultinomialNaiveBayes(smoothing="held-out"), sparse_counts
    ),
    "multinomial, unsmoothed": Case(lambda: suffice.MultinomialNaiveBayes(smoothing=0), counts),
    "complement": Case(suffice.ComplementNaiveBayes, sparse_counts),
    "texts": Case(suffice.TextClassifier, texts),
    "texts, priors": Case(
        lambda: suffice.TextClassifier("multinomial", priors={"a": 0.5, "b": 0.5, "c": 0.0}), texts
    ),
    "texts, language": Case(
        lambda: suffice.TextClassifier("language", order=3, limit=10, calibrated=False), texts
    ),
    "texts, Bernoulli": Case(
        lambda: suffice.TextClassifier("bernoulli", ngrams=(1, 1), lower=False), texts
    ),
    "texts, complement": Case(
        lambda: suffice.TextClassifier("complement", smoothing=0.5, calibrated=False), texts
    ),
    "logistic": Case(LOGISTIC, numbers, forgets=False),
    "logistic, two classes": Case(LOGISTIC, labelled(0, 1), forgets=False),
    "logistic, frame": Case(LOGISTIC, whole_frame, forgets=False),
    "logistic, constant": Case(LOGISTIC, constant, forgets=False),
    "logistic, separated": Case(LOGISTIC, separated, forgets=False),
    "logistic, penalty": Case(lambda: LOGISTIC(penalty=1.0), separated, forgets=False),
    "logistic, lasso": Case(
        lambda: LOGISTIC(penalty=1.0, l1_ratio=1.0), numbers, learns=False, forgets=False
    ),
    "logistic, firth": Case(
        lambda: LOGISTIC(correction="firth"), separated, learns=False, forgets=False
    ),
    "logistic, no intercept": Case(
        lambda: LOGISTIC(intercept=False), whole_frame, learns=False, forgets=False
    ),
    "logistic, sgd": Case(lambda: LOGISTIC(solver="sgd", random_state=0), numbers, forgets=False),
    "logistic, path": Case(lambda: LOGISTIC("auto"), numbers, forgets=False),
    "logistic, averaged": Case(
        lambda: LOGISTIC("average"), separated, learns=False, forgets=False
    ),
    "logistic, sparse": Case(lambda: LOGISTIC(penalty=1.0), sparse_counts, forgets=False),
    "logistic, stream": Case(LOGISTIC, numbers, streams=True, forgets=False),
    "logistic, plain errors": Case(lambda: LOGISTIC(standard_errors=False), numbers, forgets=False),
    "logistic, one class": Case(LOGISTIC, one_class, forgets=False),
    "pool": Case(
        lambda: suffice.Pool(["weighted naive Bayes", "GDA", "kernel logistic"]),
        pandas_frame, alone=False,
    ),
    "pool, named": Case(
        lambda: suffice.Pool(["naive Bayes", "logistic"]), polars_frame, alone=False
    ),
    "pool, gaps": Case(
        lambda: suffice.Pool(("GDA on ranks", "forest")), gappy, alone=False
    ),
    "pool, texts": Case(
        lambda: suffice.Pool(["naive Bayes"], ["subject", "body"]), texts, alone=False
    ),
    "pool, one class": Case(suffice.Pool, one_class, alone=False),
    "perceptron": Case(lambda: suffice.Perceptron(random_state=0), separated, forgets=False),
    "perceptron, words": Case(
        lambda: suffice.Perceptron(epochs=3, random_state=0), whole_frame, forgets=False
    ),
    "perceptron, stream": Case(
        lambda: suffice.Perceptron(random_state=1, average=False),
        numbers, streams=True, forgets=False,
    ),
}  # fmt: skip
COMPONENTS: dict[str, Case] = {
    "mixture": Case(lambda: suffice.GaussianMixture(2), numbers),
    "mixture, noise": Case(lambda: suffice.GaussianMixture(2, "VVI", noise=True), gappy),
    "mixtures of classes": Case(lambda: suffice.MixtureDiscriminant("auto"), numbers),
    "mixtures of classes, shared": Case(
        lambda: suffice.MixtureDiscriminant(2, "EEE", shared=True), gappy
    ),
}
"""Models of components, whose files have no statistics."""


def fitted(name: str, rng: Generator, size: int = 24) -> tuple[Any, Rows]:
    """Return the model of a case, and the rows it learned."""
    case = (CASES | COMPONENTS)[name]
    X, y = case.rows(rng, size)
    model = case.model()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        (model.partial_fit if case.streams else model.fit)(X, y)
    return model, (X, y)


def noted(rng: Generator, size: int = 24) -> tuple[str, Any, Rows]:
    """Return a logistic model that fills blanks, as `suffice fit` makes it, and its raw rows."""
    cells, y = _cells(rng, size)
    frame = pd.DataFrame(cells)
    filled = FilledColumns.of(frame)
    model = LOGISTIC(penalty=1.0).fit(filled.transform(frame), y)
    model.take_notes(TableNotes("kind", filled, ("name",)))
    return "logistic, filled", model, (frame, y)


def spread(rng: Generator, size: int = 24) -> tuple[str, Any, Rows]:
    """Return a model whose file says how its columns are spread and what they have shown."""
    frame, y = whole_frame(rng, size)
    table = read_table(frame)
    model = NB(FEW).fit(frame, y)
    model.take_notes(
        TableNotes("kind").knowing(
            bins=ColumnBins.cut(table),
            rates=OutlierRates.of(rng.random(len(y))),
            shown=shown_by(table),
        )
    )
    return "naive Bayes, spread", model, (frame, y)


def laws(rng: Generator, size: int = 24) -> list[tuple[str, Any, Any]]:
    """Return normal laws: given, fitted, degenerate and conditional, with rows for each."""
    x, _ = numbers(rng, size)
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    whole = suffice.MultivariateNormal.fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        flat = suffice.MultivariateNormal.fit(constant(rng, size)[0])
    given = suffice.MultivariateNormal([1.0, 2.0], [[2.0, 0.5], [0.5, 1.0]])
    return [
        ("given law", given, x[:, :2]),
        ("fitted law", whole, frame),
        ("degenerate law", flat, np.column_stack([x, x.sum(axis=1), np.full(len(x), 7.0)])),
        ("conditional law", whole.conditional({"b": 51.0}), frame[["a", "c"]]),
    ]


OFTEN = (
    "shared", "per-class, gaps", "auto", "predictive", "tied forms", "factors", "one class",
    "pandas", "polars", "naive Bayes", "families as objects", "multinomial, sparse", "complement",
    "texts", "logistic", "logistic, path", "logistic, stream", "perceptron", "pool, one class",
)  # fmt: skip
"""Cases that `make check` tries: one of each kind of learner, of rows, and of what is left out."""


def of_cases(names: Iterable[str] = CASES) -> list[Any]:
    """Return these cases as parameters of a test; those that are not tried often are slow."""
    names = list(names)
    return quick(names, *(name for name in OFTEN if name in names))
