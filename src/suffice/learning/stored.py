"""What was learned, from a file: which learner belongs to the settings that it holds."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from suffice.errors import BadFile
from suffice.learning.table_recipe import TableNotes
from suffice.learning.unlabelled.record import Unlabelled
from suffice.storage.locks import locked
from suffice.storage.model_file import no_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.learning.learned import Learned
    from suffice.learning.learner import Learner
    from suffice.storage.model_file import StoredModel

ROOM = "suffice.learning.learners."
"""Where learners live."""
LEARNERS = {
    "BernoulliNaiveBayes": ("naive_bayes_counts", "BernoulliClassifierLearner"),
    "ComplementNaiveBayes": ("naive_bayes_counts", "ComplementClassifierLearner"),
    "GaussianDiscriminant": ("gaussian", "GaussianClassifierLearner"),
    "LogisticRegression": ("logistic", "LogisticClassifierLearner"),
    "MixtureDiscriminant": ("mixture_discriminant", "MixtureDiscriminantLearner"),
    "MultinomialNaiveBayes": ("naive_bayes_counts", "MultinomialClassifierLearner"),
    "NaiveBayes": ("naive_bayes", "NaiveBayesClassifierLearner"),
    "Perceptron": ("perceptron", "PerceptronLearner"),
    "Pool": ("pool", "PoolClassifierLearner"),
    "TextClassifier": ("text", "TextClassifierLearner"),
}
"""The learner of each classifier: the file and the name."""


def learner_named(estimator: str, **settings: object) -> Learner:
    """Return the learner of an estimator, by its name, with the settings given.

    >>> learner_named("GaussianDiscriminant", covariance="diagonal").name
    'GaussianDiscriminant'
    """
    module, name = LEARNERS[estimator]
    found: Learner = getattr(import_module(ROOM + module), name)(**settings)
    return found


def learned_of(path: str | Path, stored: StoredModel) -> Learned:
    """Return what a file holds of a classifier."""
    try:
        found = learner_named(stored.estimator, **stored.settings).restored(stored.state)
        if stored.fit is not None:
            found = found.knowing(stored.fit)
        notes = TableNotes.from_state(stored.state)
        if notes is not None:
            notes.check_columns(found)
        without = Unlabelled.from_state(stored.state, found.labels)
        if without is not None:
            found = replace(found.knowing(found.fit), unlabelled=without).knowing(found.fit)
        return found.with_notes(notes)
    except Exception as error:  # noqa: BLE001  whatever it is, it is not a model
        raise no_model(path, error) from None


@contextmanager
def saving(path: str | Path) -> Iterator[None]:
    """Hold the lock of a file that is replaced by a model; a mail filter is not.

    A model does not hold which messages a filter has learned, and a filter goes on changing.
    """
    with locked(path):
        if Path(path).is_file() and _is_filter(path):  # a pipe would wait to be written to
            raise BadFile(
                f"{path} is a mail filter: a model file would overwrite it",
                hint="save to another file; suffice mail correct and suffice merge change filters",
            )
        yield


def _is_filter(path: str | Path) -> bool:
    from suffice.mail.filter.database import is_database  # SQLite, which models do not need

    return is_database(path)
