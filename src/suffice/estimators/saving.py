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
    return _kind(learned.learner.name).of_learned(learned)


def unfitted(learner: Learner) -> Any:
    """Return the estimator of some settings, which has learned nothing."""
    return _kind(learner.name)(**learner.settings())


def restored(path: str | Path, stored: StoredModel) -> Any:
    """Return the estimator that a file holds."""
    if stored.estimator in LEARNERS:
        return estimator_of(learned_of(path, stored))
    kind = _kind(stored.estimator)
    try:
        return kind.of_stored(stored)
    except Exception as error:  # noqa: BLE001  whatever it is, it is not a model
        raise no_model(path, error) from None


def _kind(name: str) -> Any:
    """Return the class of an estimator: it is a public name of the package."""
    return getattr(import_module("suffice"), name)
