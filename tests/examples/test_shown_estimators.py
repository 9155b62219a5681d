"""Every fitted estimator, in every form, can be looked at: dir, repr, HTML, all its members."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import suffice

RNG = np.random.default_rng(5)
NUMBERS = RNG.normal(size=(60, 3)) + np.repeat([[0.0], [1.0], [2.5]], 20, axis=0)
COUNTS = RNG.poisson(2.0, size=(60, 3)) + np.repeat([[0], [1], [2]], 20, axis=0)
TEXTS = [f"word{i % 3} again{i % 5} and {i}" for i in range(60)]
LABELS = np.repeat(["a", "b", "c"], 20)

FORMS = ["shared", "per-class", "diagonal", "shared-diagonal", "spherical", "auto"]
EVENTS = ["bernoulli", "multinomial", "boolean", "complement", "language", "both"]

FITTED = {
    **{
        f"gda-{form}": lambda form=form: suffice.GaussianDiscriminant(form).fit(NUMBERS, LABELS)
        for form in FORMS
    },
    "gda-pooled": lambda: suffice.GaussianDiscriminant("per-class", pool=0.3, shrink=0.2).fit(
        NUMBERS, LABELS
    ),
    "gda-two-classes": lambda: suffice.GaussianDiscriminant("per-class").fit(
        NUMBERS[:40], LABELS[:40]
    ),
    **{
        f"naive-bayes-{kind}": lambda kind=kind: suffice.NaiveBayes(kind).fit(COUNTS, LABELS)
        for kind in ("auto", "select", "gaussian", "poisson", "categorical", "binned")
    },
    "bernoulli": lambda: suffice.BernoulliNaiveBayes().fit(COUNTS > 1, LABELS),
    "multinomial": lambda: suffice.MultinomialNaiveBayes().fit(COUNTS, LABELS),
    "complement": lambda: suffice.ComplementNaiveBayes().fit(COUNTS, LABELS),
    "logistic": lambda: suffice.LogisticRegression(penalty=1.0).fit(NUMBERS, LABELS),
    "logistic-two-classes": lambda: suffice.LogisticRegression(penalty=1.0).fit(
        NUMBERS[:40], LABELS[:40]
    ),
    "pool": lambda: suffice.Pool(["naive Bayes", "logistic", "forest"]).fit(NUMBERS, LABELS),
    "perceptron": lambda: suffice.Perceptron().fit(NUMBERS, LABELS),
    **{
        f"text-{model}": lambda model=model: suffice.TextClassifier(model).fit(TEXTS, LABELS)
        for model in EVENTS
    },
    "vectorizer": lambda: suffice.TextVectorizer().fit(TEXTS),
}


def members(shown: Any) -> dict[str, Any]:
    """Return whatever `inspect` finds, as tools that complete names do."""
    with warnings.catch_warnings():
        # Some members are there to warn, such as scikit-learn's deprecated ones.
        warnings.simplefilter("ignore")
        return dict(inspect.getmembers(shown))


@pytest.mark.parametrize("name", FITTED)
def test_a_fitted_estimator_can_be_shown(name: str) -> None:
    model = FITTED[name]()
    assert "predict" in dir(model) or "transform" in dir(model)
    assert type(model).__name__ in repr(model)
    assert type(model).__name__ in model._repr_html_()
    assert set(members(model)) <= set(dir(model)) | {"__abstractmethods__"}


@pytest.mark.parametrize("name", FITTED)
def test_an_estimator_can_be_shown_before_it_is_fitted(name: str) -> None:
    model = type(FITTED[name]())(**FITTED[name]().get_params(deep=False))
    assert type(model).__name__ in repr(model)
    assert type(model).__name__ in model._repr_html_()
    assert members(model)


@pytest.mark.parametrize("form", FORMS)
def test_only_a_shared_covariance_has_output_columns(form: str) -> None:
    model = FITTED[f"gda-{form}"]()
    shared = form == "shared"
    assert hasattr(model, "_n_features_out") == shared
    assert hasattr(model, "scalings_") == shared
    assert hasattr(model, "transform") == shared
