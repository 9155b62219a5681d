"""Settings without a meaning, of every estimator; documents, normal laws and model files."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import suffice
from suffice import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianDiscriminant,
    LogisticRegression,
    MultinomialNaiveBayes,
    MultivariateNormal,
    NaiveBayes,
    Perceptron,
    TextClassifier,
    TextVectorizer,
)
from tests.reference.refused_rows import BAD_PRIORS, FRAME, NAMES, X, Y, fitted, quietly

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reference.refusals import Cases

SHARES: list[dict[str, Any]] = [{"priors": priors} for priors in BAD_PRIORS.values()]
SETTINGS: dict[Any, list[dict[str, Any]]] = {
    GaussianDiscriminant: [
        {"covariance": "full"}, {"covariance": None}, {"covariance": ["shared"]},
        {"divisor": "n"}, {"divisor": None}, {"shrink": 1.5}, {"shrink": -0.1},
        {"shrink": np.nan}, {"shrink": "some"}, {"shrink": 0.1, "shrink_target": "identity"},
        {"covariance": "per-class", "pool": 2}, {"covariance": "per-class", "pool": "half"},
        {"pool": 0.5}, {"covariance": "diagonal", "shrink": 0.5},
        {"covariance": "spherical", "pool": 0.5}, {"covariance": "auto", "pool": 0.5},
        {"covariance": "auto", "shrink": 0.5}, *SHARES,
        {"predictive": 0.0}, {"predictive": "some"}, {"prior_rows": 1.0},
        {"predictive": 1.0, "prior_rows": -1.0}, {"predictive": 1.0, "shrink": 0.5},
        {"predictive": 1.0, "divisor": "unbiased"}, {"covariance": "auto", "predictive": "auto"},
        {"average": True}, {"covariance": "auto", "average": "yes"}, {"temperature": "held-out"},
    ],
    NaiveBayes: [
        {"families": "gauss"}, {"families": None}, {"families": 3}, {"families": []},
        {"families": {"red": "poisson"}}, {"families": {"rde": "poisson"}},
        {"families": {"red": "poissin", "blue": "poisson", "size": "poisson"}},
        {"families": {0: "poisson", 7: "gaussian"}}, {"families": ["poisson", "gaussian"]},
        {"families": "bernoulli"},
        {"smoothing": -1.0}, {"smoothing": np.nan}, {"smoothing": np.inf},
        {"smoothing": "laplace"}, {"smoothing": None}, {"smoothing": True},
        {"temperature": 0.0}, {"temperature": -1.0}, {"temperature": np.inf},
        {"temperature": "warm"}, *SHARES,
    ],
    BernoulliNaiveBayes: [
        {"threshold": np.nan}, {"threshold": np.inf}, {"threshold": "0"}, {"threshold": True},
        {"threshold": [0.0]}, {"smoothing": -1.0}, {"smoothing": "some"},
        {"temperature": -1.0}, *SHARES[:2],
    ],
    MultinomialNaiveBayes: [
        {"boolean": "yes"}, {"boolean": 2}, {"smoothing": -1.0}, {"smoothing": "some"},
        {"temperature": "hot"}, *SHARES[:2],
    ],
    ComplementNaiveBayes: [{"boolean": "yes"}, {"smoothing": -1.0}, {"smoothing": "some"}],
    LogisticRegression: [
        {"penalty": -1.0}, {"penalty": np.nan}, {"penalty": np.inf}, {"penalty": "l2"},
        {"solver": "lbfgs"}, {"solver": None}, {"correction": "jeffreys"},
        {"correction": "firth", "penalty": 1.0}, {"correction": "firth", "solver": "sgd"},
        {"tolerance": 0.0}, {"tolerance": -1.0}, {"tolerance": "small"}, {"tolerance": np.nan},
        {"max_passes": 0}, {"max_passes": 2.5}, {"max_passes": "many"},
        {"standard_errors": "yes"}, {"warm_start": "yes"}, {"solver": "sgd", "random_state": "x"},
        {"penalty": "auto", "solver": "sgd"}, {"penalty": "average", "warm_start": True},
        {"penalty": "auto", "correction": "firth"},
    ],
    Perceptron: [
        {"epochs": 0}, {"epochs": 2.5}, {"epochs": "many"}, {"average": "yes"},
        {"shuffle": "yes"}, {"random_state": "seed"}, {"random_state": -1},
    ],
}  # fmt: skip
TEXTS = [
    f"{a} {b} {i}" for i in range(6)
    for a, b in (("cheap", "pills"), ("lunch", "at one"), ("cheap", "lunch"), ("see", "agenda"))
]  # fmt: skip
KINDS = ["spam", "ham"] * 12
TEXT_SETTINGS: list[dict[str, Any]] = [
    {"event": "poisson"}, {"ngrams": (2, 1)}, {"ngrams": 3}, {"order": 8}, {"order": 0},
    {"limit": 0}, {"limit": 2.5}, {"smoothing": 0}, {"smoothing": "auto"}, {"smoothing": np.inf},
    {"smoothing": True}, {"smoothing": None}, {"calibrated": "yes"}, {"calibrated": False},
    {"lower": "yes"}, {"priors": {"ham": 1.0}}, {"priors": {"ham": 0.5, "eggs": 0.5}},
]  # fmt: skip
VECTOR_SETTINGS: list[dict[str, Any]] = [
    {"ngrams": (2, 1)}, {"ngrams": (0, 1)}, {"ngrams": 2}, {"weighting": "bm25"},
    {"weighting": "tf-idf", "norm": "l3"}, {"norm": None},
    {"weighting": "notes", "sublinear_tf": True}, {"hashing": 0}, {"hashing": 2.5},
    {"hashing": 2**40}, {"min_count": 0}, {"max_share": 2.0}, {"max_share": 0.0},
    {"max_terms": True}, {"max_terms": 0}, {"hashing": 9, "min_count": 2},
    {"vocabulary": []}, {"vocabulary": ["a", "a"]}, {"vocabulary": "abc"},
    {"vocabulary": ["a"], "hashing": 9}, {"stop_words": "the"}, {"stop_words": [3]},
]  # fmt: skip
NO_DOCUMENTS: dict[str, Any] = {
    "one text": "one text", "bytes": b"bytes", "nothing": None, "a number": 7,
    "a text that is missing": ["a", None, "b"], "a number among texts": ["a", "b", 7.5],
    "lists": [["a"], ["b"], ["c"]], "no texts": [],
    "a table of numbers": np.zeros((3, 2)), "a frame of numbers": pd.DataFrame({"a": [1, 2, 3]}),
}  # fmt: skip


def shown(settings: dict[str, Any]) -> str:
    """Return settings as the name of a case."""
    return ", ".join(
        f"{name}={getattr(value, '__name__', None) or repr(value)}"
        for name, value in settings.items()
    )


def settings_of(kind: Any) -> Cases:
    """Return the bad settings of an estimator of columns."""
    for settings in SETTINGS[kind]:
        yield shown(settings), lambda settings=settings: kind(**settings).fit(FRAME, Y)


@cache
def reader(**settings: Any) -> TextClassifier:
    """Return a fitted classifier of texts."""
    return quietly(TextClassifier(**settings).fit, TEXTS, KINDS)  # type: ignore[no-any-return]


def texts() -> Cases:
    """Return what a classifier of texts refuses."""
    for settings in TEXT_SETTINGS:
        yield (
            shown(settings),
            lambda settings=settings: TextClassifier(**settings).fit(TEXTS, KINDS),
        )
    for what, given in NO_DOCUMENTS.items():
        yield f"fit: {what}", lambda given=given: TextClassifier().fit(given, ["x", "y", "x"])
        yield f"predict: {what}", lambda given=given: reader().predict(given)
    yield "not fitted", lambda: TextClassifier().predict(TEXTS)
    yield "too few labels", lambda: TextClassifier().fit(TEXTS, KINDS[1:])
    yield "no labels", lambda: TextClassifier().fit(TEXTS, None)
    yield "a negative weight", lambda: TextClassifier().fit(TEXTS, KINDS, [-1.0] * 24)
    yield (
        "labels of another type",
        lambda: quietly(TextClassifier().fit, TEXTS, KINDS).partial_fit(TEXTS[:1], [1]),
    )
    yield "merge: another order", lambda: reader() + reader(order=3)
    yield "merge: not fitted", lambda: reader() + TextClassifier()
    yield (
        "forget: never seen",
        lambda: quietly(TextClassifier().fit, TEXTS, KINDS).forget(["never seen before"], ["ham"]),
    )
    yield (
        "forget: a class never seen",
        lambda: quietly(TextClassifier().fit, TEXTS, KINDS).forget(TEXTS[:1], ["eggs"]),
    )
    yield "explain: a class that is not there", lambda: reader().explain(TEXTS, of="eggs")
    yield "explain: a document that is not there", lambda: reader().explain(TEXTS).reasons(99)
    for event in ("boolean", "multinomial", "bernoulli", "complement", "both"):
        yield f"log_density: {event}", lambda event=event: reader(event=event).log_density(TEXTS)
        yield f"sample: {event}", lambda event=event: reader(event=event).sample(-1)
    for what, priors in list(BAD_PRIORS.items())[:2]:
        yield f"with_priors: {what}", lambda priors=priors: reader().with_priors(priors)


def vectors() -> Cases:
    """Return what a vectorizer refuses."""
    for settings in VECTOR_SETTINGS:
        yield shown(settings), lambda settings=settings: TextVectorizer(**settings).fit(TEXTS)
    for what, given in NO_DOCUMENTS.items():
        yield f"fit: {what}", lambda given=given: TextVectorizer().fit(given)
    yield "forget: never seen", lambda: TextVectorizer().fit(TEXTS).forget(["new"])
    yield (
        "merge: other settings",
        lambda: TextVectorizer().fit(TEXTS) + TextVectorizer((1, 2)).fit(TEXTS),
    )
    yield "names of hashes", lambda: TextVectorizer(hashing=9).fit(TEXTS).get_feature_names_out()
    yield (
        "settings changed",
        lambda: TextVectorizer().fit(TEXTS).set_params(ngrams=(1, 2)).transform(TEXTS),
    )


LAW = MultivariateNormal([1.0, 2.0, 3.0], np.eye(3), names=NAMES)


def normal_laws() -> Cases:
    """Return what a multivariate normal law refuses."""
    make, fit = MultivariateNormal, MultivariateNormal.fit
    for what, matrix in {
        "not symmetric": [[1.0, 0.5], [0.4, 1.0]], "a negative variance": [[1.0, 0.0], [0.0, -2.0]],
        "a covariance too large": [[1.0, 2.0], [2.0, 1.0]],
        "no number": [[1.0, np.nan], [np.nan, 1.0]],
        "infinite": [[1.0, 0.0], [0.0, np.inf]], "one row": [[1.0, 0.0]], "a list": [1.0, 1.0],
    }.items():  # fmt: skip
        yield f"covariance: {what}", lambda matrix=matrix: make([0.0, 0.0], matrix)
    yield "mean: no number", lambda: make([0.0, np.nan], np.eye(2))
    yield "mean: a table", lambda: make([[0.0, 0.0]], np.eye(2))
    yield "mean: empty", lambda: make([], np.zeros((0, 0)))
    yield "names: too few", lambda: make([0.0, 0.0], np.eye(2), names=["a"])
    yield "names: twice", lambda: make([0.0, 0.0], np.eye(2), names=["a", "a"])
    yield "marginal: not there", lambda: LAW.marginal(["bleu"])
    yield "marginal: beyond", lambda: LAW.marginal([7])
    yield "marginal: twice", lambda: LAW.marginal(["red", 0])
    yield "marginal: none", lambda: LAW.marginal([])
    yield "conditional: all", lambda: LAW.conditional({"red": 1.0, "blue": 1.0, "size": 1.0})
    yield "conditional: a word", lambda: LAW.conditional({"red": "tall"})  # type: ignore[dict-item]
    yield "conditional: a list", lambda: LAW.conditional([1.0])  # type: ignore[arg-type]
    yield "conditional: no number", lambda: LAW.conditional({"red": np.nan})
    for asked in ("log_density", "mahalanobis", "typicality", "cdf"):
        ask = getattr(LAW, asked)
        yield f"{asked}: one row", partial(ask, [1.0, 2.0, 3.0])
        yield f"{asked}: another width", partial(ask, X[:, :2])
        yield f"{asked}: infinite", partial(ask, [[1.0, np.inf, 2.0]])
        yield f"{asked}: missing columns", partial(ask, FRAME[["red", "blue"]])
        yield f"{asked}: another name", partial(ask, FRAME.rename(columns={"blue": "bleu"}))
    yield "sample: half a row", lambda: LAW.sample(1.5)  # type: ignore[arg-type]
    yield "sample: a negative size", lambda: LAW.sample(-1)
    yield "sample: no seed", lambda: LAW.sample(1, random_state="x")  # type: ignore[arg-type]
    yield (
        "kl_divergence: other columns",
        lambda: LAW.kl_divergence(make([0.0], [[1.0]], names=["x"])),
    )
    yield "contour: three columns", lambda: LAW.contour(mass=0.5)
    yield "contour: a mass of two", lambda: LAW.marginal(["red", "blue"]).contour(mass=2.0)
    yield "contour: nothing", lambda: LAW.marginal(["red", "blue"]).contour()
    yield "contour: both", lambda: LAW.marginal(["red", "blue"]).contour(mass=0.5, sigmas=1.0)
    yield "fit: a divisor", lambda: fit(X, divisor="n")
    yield "fit: infinite", lambda: fit([[0.0, -np.inf], [1.0, 2.0]])
    yield "fit: words", lambda: fit([[1.0, "red"], [2.0, "blue"]])
    yield "fit: one row, unbiased", lambda: fit([[1.0, 2.0]], divisor="unbiased")
    yield "fit: no rows", lambda: fit(X[:0])
    yield "fit: a negative weight", lambda: fit(X, sample_weight=-np.ones(12))
    yield "fit: too few weights", lambda: fit(X, sample_weight=np.ones(11))
    yield "fit: a spread too large", lambda: fit(X * [1.0, 1e200, 1.0])
    yield "fit: a mean of another width", lambda: fit(X, mean=[0.0])


def of_format(number: int | None, path: Path) -> bytes:
    """Return a model file that says it is of another format, with every checksum right."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    content = json.loads(members["model.json"]) | {"format": number}
    members["model.json"] = json.dumps(content).encode()
    members["model.sha256"] = hashlib.sha256(members["model.json"]).hexdigest().encode()
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), member)
    return written.getvalue()


def files() -> Cases:
    """Return model files that are none, or not whole."""
    model = fitted("GaussianDiscriminant shared")
    model.save("whole.suffice")
    model.save("small.suffice", statistics=False)
    whole = Path("whole.suffice").read_bytes()
    contents = {
        "empty": b"", "text": b"not a model\n", "garbage": bytes(range(256)),
        "half": whole[: len(whole) // 2], "a byte short": whole[:-1], "the end": whole[100:],
        "a byte more": whole + b"\0", "an empty archive": b"PK\x05\x06" + b"\0" * 18,
    }  # fmt: skip
    contents["a later format"] = of_format(99, Path("whole.suffice"))
    contents["no format"] = of_format(None, Path("whole.suffice"))
    for name, content in contents.items():
        Path(f"{name}.suffice").write_bytes(content)
    Path("folder").mkdir()
    for name in contents:
        yield f"load: {name}", lambda name=name: suffice.load(f"{name}.suffice")
    yield "load: a folder", lambda: suffice.load("folder")
    small = suffice.load("small.suffice")
    yield "without statistics: partial_fit", lambda: small.partial_fit(FRAME, Y)
    yield "without statistics: forget", lambda: small.forget(FRAME, Y)
    yield "without statistics: merge", lambda: small + model
    yield "without statistics: leave_one_out", lambda: small.leave_one_out(FRAME, Y)
    yield (
        "without statistics: other settings",
        lambda: suffice.load("small.suffice").set_params(shrink=0.5).predict(FRAME),
    )


GROUPS: dict[str, Callable[[], Cases]] = {
    **{f"settings of {kind.__name__}": partial(settings_of, kind) for kind in SETTINGS},
    "texts": texts,
    "vectors of texts": vectors,
    "normal laws": normal_laws,
    "model files": files,
}
