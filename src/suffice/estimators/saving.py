"""Estimators on disk: what `save` writes, with or without statistics, and how it comes back."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.estimators.concurrency import snapshot
from suffice.learning.stored import LEARNERS, learned_of, saving
from suffice.learning.table_recipe import STATE, TableNotes
from suffice.storage.locks import Stamp
from suffice.storage.model_file import StoredModel, no_model, write_model

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from suffice.learning.learned import Learned


HOMES = {
    "BernoulliNaiveBayes": "suffice.estimators.naive_bayes",
    "ComplementNaiveBayes": "suffice.estimators.naive_bayes",
    "GaussianDiscriminant": "suffice.estimators.gaussian_discriminant",
    "GaussianMixture": "suffice.estimators.mixtures.gaussian_mixture",
    "LatentClasses": "suffice.estimators.mixtures.latent_classes",
    "LogisticRegression": "suffice.estimators.linear.logistic_regression",
    "MultinomialNaiveBayes": "suffice.estimators.naive_bayes",
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


class Persistent:
    """What can be saved: settings, and a state of objects that a file may hold."""

    _notes: TableNotes | None = None
    """How the table is read that it was learned from, where the file said so; `fit` forgets it."""

    _later_settings: ClassVar[Mapping[str, Any]] = {}
    """Settings that files did not have from the beginning, with their defaults: these are not
    written, so that models without them are written as they always were."""

    _origin: Stamp | None = None
    """The file that it was loaded from, as it was then."""

    def _stored_state(self, statistics: bool) -> dict[str, Any]:
        """Return what was learned, by name; without statistics, what is needed to answer."""
        raise NotImplementedError

    def _restore(self, state: dict[str, Any]) -> None:
        """Become what was learned."""
        raise NotImplementedError

    def _check_settings(self) -> None:
        """Refuse settings that have no meaning."""
        raise NotImplementedError

    def _require(self) -> Any:
        """Return what was learned; refuse if nothing was."""
        raise NotImplementedError

    def _remember(self, fit: Any) -> None:
        """Take what the statistics of a file have become: it need not be estimated again."""
        raise NotImplementedError

    def _about(self) -> dict[str, Any]:
        """Return in words what was learned."""
        raise NotImplementedError

    def save(self, path: str | Path, *, statistics: bool = True) -> None:
        """Write the model to a file, whole or not at all; `suffice.load` reads it.

        With its statistics it can learn, forget and merge later. Without them the file is smaller
        and holds nothing but what is needed to answer.

        A model that was loaded from `path` does not replace what others have written there since:
        that is refused, and the file is left as it is.
        """
        stamp = save_stored(path, self._whole().stored(statistics=statistics), self._origin)
        self._origin = self._origin if stamp is None else stamp

    def take_notes(self, notes: TableNotes | None) -> None:
        """Know how the table is read that it was learned from."""
        self._notes = notes

    def loaded_from(self, stamp: Stamp) -> Self:
        """Remember the file that it was loaded from, as it was then."""
        self._origin = stamp
        return self

    def _whole(self) -> Self:
        """Return it as it is at this moment: others may learn while somebody asks."""
        return snapshot(self)

    def stored(self, *, statistics: bool = True) -> StoredModel:
        """Return what a file holds of it; without statistics, what is needed to answer."""
        settings = self.get_params(deep=False)  # type: ignore[attr-defined]
        for name, default in self._later_settings.items():
            if settings[name] is None or settings[name] == default:
                del settings[name]
        if isinstance(settings.get("random_state"), (np.random.Generator, np.random.RandomState)):
            settings["random_state"] = None  # a stream of numbers is nothing to keep
        state, about = self._stored_state(statistics), self._about()
        if self._notes is not None:
            state[STATE] = self._notes.to_dict()
            about["target"] = self._notes.target
        return StoredModel(type(self).__name__, settings, state, about)

    @classmethod
    def _of_stored(cls, stored: StoredModel) -> Self:
        """Return the estimator that was stored."""
        model = cls(**stored.settings)
        model._check_settings()
        model._restore(dict(stored.state))
        if stored.fit is not None:
            model._remember(stored.fit)
        notes = TableNotes.from_state(stored.state)
        if notes is not None:
            notes.check_columns(model._require())
            model._notes = notes
        return model

    def _as_learned(self, table: Any) -> Any:
        """Return a table as it was when the model learned from it, if a file says how."""
        return table if self._notes is None else self._notes.rows(table)


def estimator_of(learned: Learned[Any, Any]) -> Any:
    """Return what was learned as the estimator that has its settings."""
    name = learned.learner.name
    return getattr(import_module(HOMES[name]), name).of_learned(learned)


def restored(path: str | Path, stored: StoredModel) -> Any:
    """Return the estimator that a file holds."""
    if stored.estimator in LEARNERS:
        return estimator_of(learned_of(path, stored))
    kind = getattr(import_module(HOMES[stored.estimator]), stored.estimator)
    try:
        return kind._of_stored(stored)
    except Exception as error:  # noqa: BLE001  whatever it is, it is not a model
        raise no_model(path, error) from None
