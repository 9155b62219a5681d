"""Generative classifiers from sufficient statistics.

Read the rows once, wherever they are; keep what the model needs and nothing else; add, merge, take
back; turn it into a model whenever you like.

>>> from suffice import GaussianDiscriminant
>>> model = GaussianDiscriminant().fit([[1.0], [2.0], [5.0], [6.0]], ["low", "low", "high", "high"])
>>> print(*model.predict([[1.4], [5.1]]))
low high

Importing this package loads the standard library only. Each name below is found when it is first
asked for, so that only those who use the estimators pay for importing scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suffice import (
        engines,
        errors,
        evaluation,
        families,
        models,
        monitoring,
        plots,
        sources,
        statistics,
        testing,
        text,
        training,
    )
    from suffice.estimators.bridge import bridge
    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant
    from suffice.estimators.linear.logistic_regression import LogisticRegression
    from suffice.estimators.linear.perceptron import Perceptron
    from suffice.estimators.load import load
    from suffice.estimators.mixtures.gaussian_mixture import GaussianMixture
    from suffice.estimators.mixtures.latent_classes import LatentClasses
    from suffice.estimators.mixtures.mixture_discriminant import MixtureDiscriminant
    from suffice.estimators.multivariate_normal import MultivariateNormal
    from suffice.estimators.naive_bayes import NaiveBayes
    from suffice.estimators.pool import Pool
    from suffice.estimators.text.classifier import TextClassifier
    from suffice.estimators.text.event_models import (
        BernoulliNaiveBayes,
        ComplementNaiveBayes,
        MultinomialNaiveBayes,
    )
    from suffice.estimators.text.vectorizer import TextVectorizer
    from suffice.evaluation.comparison import compare
    from suffice.learning.collect import collect
    from suffice.monitoring.audit import audit
    from suffice.monitoring.watch import watch
    from suffice.training.training import train

__version__ = "0.1.0"

__all__ = [
    "BernoulliNaiveBayes",
    "ComplementNaiveBayes",
    "GaussianDiscriminant",
    "GaussianMixture",
    "LatentClasses",
    "LogisticRegression",
    "MixtureDiscriminant",
    "MultinomialNaiveBayes",
    "MultivariateNormal",
    "NaiveBayes",
    "Perceptron",
    "Pool",
    "TextClassifier",
    "TextVectorizer",
    "audit",
    "bridge",
    "collect",
    "compare",
    "engines",
    "errors",
    "evaluation",
    "families",
    "load",
    "models",
    "monitoring",
    "plots",
    "sources",
    "statistics",
    "testing",
    "text",
    "train",
    "training",
    "watch",
]

_HOMES = {
    "BernoulliNaiveBayes": "suffice.estimators.text.event_models",
    "ComplementNaiveBayes": "suffice.estimators.text.event_models",
    "GaussianDiscriminant": "suffice.estimators.gaussian_discriminant",
    "GaussianMixture": "suffice.estimators.mixtures.gaussian_mixture",
    "LatentClasses": "suffice.estimators.mixtures.latent_classes",
    "LogisticRegression": "suffice.estimators.linear.logistic_regression",
    "MixtureDiscriminant": "suffice.estimators.mixtures.mixture_discriminant",
    "MultinomialNaiveBayes": "suffice.estimators.text.event_models",
    "MultivariateNormal": "suffice.estimators.multivariate_normal",
    "NaiveBayes": "suffice.estimators.naive_bayes",
    "Perceptron": "suffice.estimators.linear.perceptron",
    "Pool": "suffice.estimators.pool",
    "TextClassifier": "suffice.estimators.text.classifier",
    "TextVectorizer": "suffice.estimators.text.vectorizer",
    "audit": "suffice.monitoring.audit",
    "bridge": "suffice.estimators.bridge",
    "collect": "suffice.learning.collect",
    "compare": "suffice.evaluation.comparison",
    "load": "suffice.estimators.load",
    "train": "suffice.training.training",
    "watch": "suffice.monitoring.watch",
}
"""Where a public name that is no submodule lives."""


if not TYPE_CHECKING:  # a type checker knows the names above, and no others

    def __getattr__(name: str) -> object:
        """Find a public name on first use (PEP 562), and keep it."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if name in _HOMES:
            found: object = getattr(import_module(_HOMES[name]), name)
        else:
            found = import_module(f"{__name__}.{name}")
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
