"""Estimators on disk: what `save` writes, with or without statistics, and how it comes back."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from suffice.learning.stored import LEARNERS, learned_of, saving
from suffice.storage.locks import Stamp
from suffice.storage.model_file import no_model, write_model

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.learning.learned import Learned
    from suffice.learning.learner import Learner
    from suffice.storage.model_file import StoredModel


HOMES = {
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
}
"""The estimators that a file may be, and where each lives."""


def save_stored(path: str | Path, stored: StoredModel, origin: Stamp | None) -> Stamp | None:
    """Write a model, whole or not at all, and return its stamp, if it was loaded from there.

    `origin` is the file that it was loaded from: what others have written there since stays.
    """
    with saving(path):
        if origin is not None and origin.place != os.path.realpath(path):
            origin = None
        write_model(path, stored, None if origin is None else origin.check)
        return None if origin is None else Stamp.of(path)


def estimator_of(learned: Learned) -> Any:
    """Return what was learned as the estimator that has its settings."""
    name = learned.learner.name
    return getattr(import_module(HOMES[name]), name).of_learned(learned)


def unfitted(learner: Learner) -> Any:
    """Return the estimator of some settings, which has learned nothing."""
    name = learner.name
    return getattr(import_module(HOMES[name]), name)(**learner.settings())


def restored(path: str | Path, stored: StoredModel) -> Any:
    """Return the estimator that a file holds."""
    if stored.estimator in LEARNERS:
        return estimator_of(learned_of(path, stored))
    kind = getattr(import_module(HOMES[stored.estimator]), stored.estimator)
    try:
        return kind.of_stored(stored)
    except Exception as error:  # noqa: BLE001  whatever it is, it is not a model
        raise no_model(path, error) from None
