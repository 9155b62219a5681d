"""Bad rows, labels and weights, for every estimator of columns; and bad questions to it."""

from __future__ import annotations

import warnings
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from suffice import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianDiscriminant,
    LogisticRegression,
    MultinomialNaiveBayes,
    NaiveBayes,
    Perceptron,
)
from suffice.families import Bernoulli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.reference.refusals import Cases

NAMES = ["red", "blue", "size"]
# Positive counts, which every family can read; no plane parts the classes.
X = np.array(
    [[1, 1, 2], [2, 1, 1], [2, 2, 1], [3, 1, 1], [1, 4, 1], [2, 3, 5],
     [3, 1, 2], [1, 1, 1], [2, 5, 1], [4, 2, 3], [1, 2, 1], [2, 1, 4]], dtype=float,
)  # fmt: skip
Y = np.array(["no", "no", "no", "yes", "yes", "yes"] * 2)
FRAME = pd.DataFrame(X, columns=NAMES)

MODELS: dict[str, Callable[[], Any]] = {
    **{
        f"GaussianDiscriminant {form}": partial(GaussianDiscriminant, form)
        for form in ("shared", "per-class", "diagonal", "shared-diagonal", "spherical", "auto")
    },
    **{
        f"NaiveBayes {family}": partial(NaiveBayes, family)
        for family in (
            "auto", "gaussian", "shared-gaussian", "lognormal", "poisson", "categorical",
            "binned", "multinomial",
        )
    },
    "NaiveBayes threshold": lambda: NaiveBayes(Bernoulli(1.0)),
    "NaiveBayes mixed": lambda: NaiveBayes(
        {"red": "poisson", "blue": "categorical", "size": "gaussian"}
    ),
    "BernoulliNaiveBayes": BernoulliNaiveBayes,
    "MultinomialNaiveBayes": MultinomialNaiveBayes,
    "ComplementNaiveBayes": ComplementNaiveBayes,
    "LogisticRegression": LogisticRegression,
    "LogisticRegression penalised": lambda: LogisticRegression(penalty=1.0),
    "LogisticRegression sgd": lambda: LogisticRegression(solver="sgd", random_state=0),
    "LogisticRegression firth": lambda: LogisticRegression(correction="firth"),
    "Perceptron": lambda: Perceptron(random_state=0),
}  # fmt: skip


def quietly(call: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
    """Call, and let nothing warn: that is another case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments, **more)


@cache
def fitted(name: str) -> Any:
    """Return a model that knows the columns by name; no case changes it."""
    return quietly(MODELS[name]().fit, FRAME, Y)


def spoiled(value: object, row: int = 5, column: int = 1) -> pd.DataFrame:
    """Return the rows with one other cell."""
    frame = FRAME.copy() if isinstance(value, float) else FRAME.astype(object)
    frame.iloc[row, column] = value
    return frame


def labels(value: object, row: int = 5) -> list[object]:
    """Return the labels with another one."""
    return [*Y[:row].tolist(), value, *Y[row + 1 :].tolist()]


def weights(value: float, row: int = 5) -> list[float]:
    """Return weights of one with another one."""
    return [1.0] * row + [value] + [1.0] * (len(Y) - row - 1)


BAD_FITS: dict[str, tuple[Any, ...]] = {
    "an infinite cell": (spoiled(np.inf), Y),
    "an endless cell without names": (spoiled(-np.inf).to_numpy(), Y),
    "a missing cell": (spoiled(np.nan), Y),
    "a negative cell": (spoiled(-1.0), Y),
    "half a count": (spoiled(0.5), Y),
    "a word": (spoiled("two"), Y),
    "ragged rows": ([*X[:11].tolist(), [1.0, 2.0]], Y),
    "a list in a cell": (spoiled([1, 2]), Y),
    "a name twice": (pd.concat([FRAME, FRAME[["red"]]], axis=1), Y),
    "a name that is not text": (FRAME.rename(columns={"blue": 7}), Y),
    "a dictionary": ({"a": [1.0]}, Y),
    "labels that are missing": (FRAME, labels(None)),
    "labels of mixed types": (FRAME, labels(3)),
    "labels that are measured": (FRAME, np.linspace(0.0, 1.0, 12)),
    "labels in two columns": (FRAME, np.column_stack([Y, Y])),
    "labels that cannot be compared": (FRAME, labels({"a"})),
    "a negative weight": (FRAME, Y, weights(-1.0)),
    "a weight that is not a number": (FRAME, Y, weights(np.nan)),
    "an infinite weight": (FRAME, Y, weights(np.inf)),
    "too few weights": (FRAME, Y, np.ones(11)),
    "weights in two columns": (FRAME, Y, np.ones((12, 2))),
    "no weight at all": (FRAME, Y, np.zeros(12)),
}  # fmt: skip
SAME_FOR_ALL: dict[str, tuple[Any, ...]] = {
    "no rows": (X[:0], Y[:0]),
    "no columns": (X[:, :0], Y),
    "one dimension": (X[:, 0], Y),
    "three dimensions": (X[np.newaxis], Y),
    "a number": (3.5, Y),
    "nothing": (None, Y),
    "complex numbers": (X + 1j, Y),
    "dates": (np.full((12, 3), np.datetime64("2020-01-01")), Y),
    "no labels": (FRAME, None),
    "empty labels": (FRAME, []),
    "one label": (FRAME, "yes"),
    "too few labels": (FRAME, Y[:11]),
    "infinite labels": (FRAME, np.where(np.arange(12) == 5, np.inf, 1.0)),
    "words as weights": (FRAME, Y, ["a"] * 12),
    "a class alone": (FRAME, ["yes"] * 12),
    "sparse rows with an infinite cell": (sparse.csr_array(spoiled(np.inf).to_numpy()), Y),
    "sparse rows with a negative cell": (sparse.csr_array(spoiled(-1.0).to_numpy()), Y),
}
"""These depend on how rows are read, and hardly on the model: one of each kind is asked."""
FEW = (
    "GaussianDiscriminant shared", "NaiveBayes auto", "MultinomialNaiveBayes",
    "LogisticRegression", "Perceptron",
)  # fmt: skip
KNOWN = {
    "an infinite cell": spoiled(np.inf),
    "a missing cell": spoiled(np.nan),
    "a word": spoiled("two"),
    "another name": FRAME.rename(columns={"blue": "bleu"}),
    "a column too few": FRAME[["red", "blue"]],
    "a column too many": FRAME.assign(more=1.0),
    "another width": X[:, :2],
    "one row without a frame": X[0],
    "no rows": FRAME[:0],
}
"""Bad rows for a model that knows its columns."""


def bad_fits(name: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """Return the cases of one estimator."""
    make = MODELS[name]
    more = SAME_FOR_ALL if name in FEW else {}
    for what, given in {**BAD_FITS, **more}.items():
        yield f"fit: {what}", lambda given=given: make().fit(*given)
    for what, rows in KNOWN.items():
        yield f"predict: {what}", lambda rows=rows: fitted(name).predict(rows)
    yield "predict: not fitted", lambda: make().predict(FRAME)
    yield "score: too few labels", lambda: fitted(name).score(FRAME, Y[:11])
    yield "explain: a class that is not there", lambda: fitted(name).explain(FRAME, of="maybe")
    yield (
        "explain: a class against itself",
        lambda: fitted(name).explain(FRAME, of="yes", against="yes"),
    )
    yield "save: not fitted", lambda: make().save("m.suffice")


def copied(name: str) -> Any:
    """Return a model that a case may change."""
    return quietly(MODELS[name]().fit, FRAME, Y)


def bad_questions(name: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """Return what only those with statistics or a density can be asked."""
    make, asked = MODELS[name], fitted(name)
    yield "forget: not fitted", lambda: make().forget(FRAME, Y)
    yield "forget: a class never seen", lambda: copied(name).forget(FRAME[:1], ["maybe"])
    yield (
        "forget: twice as much",
        lambda: copied(name).forget(pd.concat([FRAME, FRAME]), np.append(Y, Y)),
    )
    yield "forget: other rows", lambda: copied(name).forget(FRAME * 5.0, Y)
    yield "forget: another name", lambda: copied(name).forget(KNOWN["another name"], Y)
    yield "partial_fit: another name", lambda: copied(name).partial_fit(KNOWN["another name"], Y)
    yield "partial_fit: a word", lambda: copied(name).partial_fit(KNOWN["a word"], Y)
    yield (
        "partial_fit: labels of another type",
        lambda: copied(name).partial_fit(FRAME, np.arange(12) % 2),
    )
    yield "merge: with one not fitted", lambda: asked + make()
    yield (
        "merge: other columns",
        lambda: (
            asked + quietly(MODELS[name.replace("mixed", "auto")]().fit, KNOWN["another name"], Y)
        ),
    )
    yield "sample: a negative size", lambda: asked.sample(-1)
    yield "sample: half a row", lambda: asked.sample(2.5)
    yield "sample: a class that is not there", lambda: asked.sample(3, y="maybe")
    yield "sample: a seed that is none", lambda: asked.sample(3, random_state="seed")
    yield "typicality: a class that is not there", lambda: asked.typicality(FRAME, ["maybe"] * 12)
    yield "typicality: too few labels", lambda: asked.typicality(FRAME, Y[:11])
    yield "leave_one_out: other rows", lambda: asked.leave_one_out(FRAME[1:], Y[1:])
    yield (
        "leave_one_out: a class that is not there",
        lambda: asked.leave_one_out(FRAME, labels("maybe")),
    )
    yield "leave_one_out: too few labels", lambda: asked.leave_one_out(FRAME, Y[:11])
    for what, priors in BAD_PRIORS.items():
        yield f"with_priors: {what}", lambda priors=priors: asked.with_priors(priors)
    yield "log_density: an infinite cell", lambda: asked.log_density(KNOWN["an infinite cell"])
    yield "estimate_priors: no rows", lambda: asked.estimate_priors(FRAME[:0])
    yield "to_logistic", asked.to_logistic


BAD_PRIORS: dict[str, Any] = {
    "a class that is not there": {"yes": 0.5, "maybe": 0.5},
    "a class too few": {"yes": 1.0},
    "a negative share": {"yes": 1.5, "no": -0.5},
    "no number": {"yes": 0.5, "no": np.nan},
    "too much": {"yes": 0.7, "no": 0.7},
    "a list": [0.5, 0.5],
    "words": {"yes": "half", "no": "half"},
}


def impute() -> Cases:
    """Return what only a Gaussian discriminant can be asked."""
    for form in ("shared", "per-class"):
        asked = fitted(f"GaussianDiscriminant {form}")
        yield (
            f"impute: a class that is not there, {form}",
            lambda asked=asked: asked.impute(FRAME, ["maybe"] * 12),
        )
        yield f"impute: too few labels, {form}", lambda asked=asked: asked.impute(FRAME, Y[:11])
        yield (
            f"impute: fewer draws than none, {form}",
            lambda asked=asked: asked.impute(FRAME, draws=-1),
        )
    shared = fitted("GaussianDiscriminant shared")
    yield "transform: another width", lambda: shared.transform(X[:, :2])
    for form in ("per-class", "diagonal", "auto"):
        yield (
            f"merge: shared and {form}",
            lambda form=form: shared + fitted(f"GaussianDiscriminant {form}"),
        )
    for family in ("poisson", "binned", "mixed"):
        yield (
            f"merge: gaussian and {family}",
            lambda family=family: fitted("NaiveBayes gaussian") + fitted(f"NaiveBayes {family}"),
        )
    law = GaussianDiscriminant.from_parameters
    means = {"a": [0.0, 0.0], "b": [1.0, 1.0]}
    yield "from_parameters: no class", lambda: law({}, np.eye(2), 10.0)
    yield (
        "from_parameters: another width",
        lambda: law({"a": [0.0], "b": [1.0, 1.0]}, np.eye(2), 10.0),
    )
    yield "from_parameters: no covariance", lambda: law(means, [[1.0, 2.0], [2.0, 1.0]], 10.0)
    yield "from_parameters: another shape", lambda: law(means, np.eye(3), 10.0)
    yield "from_parameters: no weight", lambda: law(means, np.eye(2), 0.0)
    yield "from_parameters: weights of others", lambda: law(means, np.eye(2), {"a": 1.0, "c": 1.0})
    yield "from_parameters: too few names", lambda: law(means, np.eye(2), 10.0, names=["x"])
    yield "from_parameters: not finite", lambda: law({**means, "a": [np.nan, 0.0]}, np.eye(2), 9.0)
    logistic = fitted("LogisticRegression")
    yield "logistic against: a class that is not there", lambda: logistic.against("maybe")
    yield "logistic summary: a level", lambda: logistic.summary(level=1.5)
    yield "logistic summary: intervals", lambda: logistic.summary(intervals="exact")
    yield "logistic summary: profiles without rows", lambda: logistic.summary(intervals="profile")
    yield "logistic summary: a reference that is not there", lambda: logistic.summary(reference="x")
    yield "perceptron against: a class that is not there", lambda: fitted("Perceptron").against("x")


GROUPS: dict[str, Callable[[], Cases]] = {
    **{f"rows of {name}": partial(bad_fits, name) for name in MODELS},
    **{
        f"questions to {name}": partial(bad_questions, name)
        for name in MODELS
        if not name.startswith(("Logistic", "Perceptron"))
    },
    "questions to some": impute,
}
