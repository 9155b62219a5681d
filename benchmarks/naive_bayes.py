"""Gaussian naive Bayes on dense rows, against scikit-learn's GaussianNB and mlpack's nbc."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from benchmarks.contest import Contest
from benchmarks.discriminant import SIZES, drawn
from suffice import NaiveBayes

if TYPE_CHECKING:
    from collections.abc import Iterator

FIT_GOALS = {"1e6x20": (2.0, 20.0), "2e5x100": (1.6, 18.0)}
PREDICT_GOALS = {"1e6x20": 35.0, "2e5x100": 15.0}


def ours() -> Any:
    """Return our estimator, all columns of it normal."""
    return NaiveBayes(families="gaussian")


def parameters(model: Any) -> tuple[Any, Any]:
    """Return means and maximum likelihood variances of ours, scikit-learn's or mlpack's."""
    if isinstance(model, GaussianNB):
        # Its floor, a share of the widest column's variance, is part of what it calls the variance.
        return model.theta_, model.var_ - model.epsilon_
    if isinstance(model, dict):
        held = model["output_model"].get_cpp_params()["NBCModel"]
        learned, order = held["nbc"], np.argsort(np.ravel(held["mappings"]))
        sizes = np.ravel(learned["probabilities"]) * learned["trainingPoints"]
        variances = learned["variances"] * (1.0 - 1.0 / sizes)[:, np.newaxis]  # by n, not n - 1
        return learned["means"][order], variances[order]
    (law,) = model.model_.laws
    return law.normals.class_means, law.normals.variances


def same_parameters(ours: Any, theirs: Any) -> None:
    """Refuse means or variances that differ."""
    for own, other in zip(parameters(ours), parameters(theirs), strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-8, atol=1e-9)


def _same_classes(ours: Any, theirs: Any) -> None:
    assert (ours == theirs).mean() > 1.0 - 1e-5  # their floor may move a row on the boundary


def _same_array(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


def _mlpack(X: Any, y: Any) -> Any:
    from mlpack import nbc

    return nbc(training=X, labels=y)


def fits(sizes: list[str]) -> Iterator[Contest]:
    """Fit, labels read and coded; against mlpack too, where it is installed (`make peers`)."""
    for size in sizes:
        X, y = drawn(*SIZES[size])
        peers = {"default": lambda X=X, y=y: GaussianNB().fit(X, y)}
        if find_spec("mlpack") is not None:
            peers["mlpack"] = lambda X=X, y=y: _mlpack(X, y)
        yield Contest(
            f"Gaussian naive Bayes fit {size}",
            lambda X=X, y=y: ours().fit(X, y),
            peers,
            same_parameters,
            *FIT_GOALS[size],
            repeats=9,
        )


def predictions(sizes: list[str]) -> Iterator[Contest]:
    """Classes and posteriors of many rows; mlpack is left out, being slower than scikit-learn."""
    for size in sizes:
        X, y = drawn(*SIZES[size])
        own, other = ours().fit(X, y), GaussianNB().fit(X, y)
        yield Contest(
            f"Gaussian naive Bayes predict {size}",
            lambda m=own, X=X: m.predict(X),
            {"default": lambda m=other, X=X: m.predict(X)},
            _same_classes,
            None,
            PREDICT_GOALS[size],
            repeats=9,
        )
        yield Contest(
            f"Gaussian naive Bayes predict_proba {size}",
            lambda m=own, X=X: m.predict_proba(X),
            {"default": lambda m=other, X=X: m.predict_proba(X)},
            _same_array,
            repeats=9,
        )


def contests() -> Iterator[Contest]:
    """Yield every row of the table."""
    warnings.simplefilter("ignore")
    yield from fits(["1e6x20", "2e5x100"])
    yield from predictions(["1e6x20", "2e5x100"])
