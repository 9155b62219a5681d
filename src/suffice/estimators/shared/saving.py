"""Estimators on disk: what `save` writes, with or without statistics, and how it comes back."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import numpy as np

from suffice.columns import PlainColumns
from suffice.errors import BadFile, BadSetting
from suffice.estimators.shared.concurrency import snapshot
from suffice.estimators.shared.table_recipe import STATE, TableNotes
from suffice.mail.filter.database import is_database
from suffice.storage.locks import Stamp, locked
from suffice.storage.model_file import StoredModel, no_model, write_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from suffice.rows import Label


HOMES = {
    "BernoulliNaiveBayes": "suffice.estimators.naive_bayes_counts",
    "ComplementNaiveBayes": "suffice.estimators.naive_bayes_counts",
    "GaussianDiscriminant": "suffice.estimators.gaussian_discriminant",
    "GaussianMixture": "suffice.estimators.mixtures.gaussian_mixture",
    "LogisticRegression": "suffice.estimators.linear.logistic_regression",
    "MultinomialNaiveBayes": "suffice.estimators.naive_bayes_counts",
    "MultivariateNormal": "suffice.estimators.multivariate_normal",
    "NaiveBayes": "suffice.estimators.naive_bayes",
    "Perceptron": "suffice.estimators.linear.perceptron",
    "Pool": "suffice.estimators.pool",
    "TextClassifier": "suffice.estimators.text.classifier",
}
"""The estimators that a file may be, and where each lives."""
NAMED = 1000
"""Columns whose names are told in a file, for people; the schema has them all."""


@contextmanager
def saving(path: str | Path) -> Iterator[None]:
    """Hold the lock of a file that is replaced by a model; a mail filter is not.

    A model does not hold which messages a filter has learned, and a filter goes on changing.
    """
    with locked(path):
        if Path(path).is_file() and is_database(path):  # a pipe would wait to be written to
            raise BadFile(
                f"{path} is a mail filter, which a model file would replace",
                hint="save to another place; suffice mail correct and suffice merge change filters",
            )
        yield


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
        stored = self._whole()._stored(statistics)
        with saving(path):
            origin = self._origin
            if origin is not None and origin.place != os.path.realpath(path):
                origin = None
            write_model(path, stored, None if origin is None else origin.check)
            if origin is not None:
                self._origin = Stamp.of(path)

    def _whole(self) -> Self:
        """Return it as it is at this moment: others may learn while somebody asks."""
        return snapshot(self)

    def _stored(self, statistics: bool) -> StoredModel:
        """Return what a file holds of it."""
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
        model._check_settings()  # type: ignore[attr-defined]
        model._restore(dict(stored.state))
        if stored.fit is not None:
            model._remember(stored.fit)
        notes = TableNotes.from_state(stored.state)
        if notes is not None:
            notes.check_columns(model._require())  # type: ignore[attr-defined]
            model._notes = notes
        return model

    def _as_learned(self, table: Any) -> Any:
        """Return a table as it was when the model learned from it, if a file says how."""
        return table if self._notes is None else self._notes.rows(table)


def restored(path: str | Path, stored: StoredModel) -> Any:
    """Return the estimator that a file holds."""
    kind = getattr(import_module(HOMES[stored.estimator]), stored.estimator)
    try:
        return kind._of_stored(stored)
    except Exception as error:  # noqa: BLE001  whatever it is, it is not a model
        raise no_model(path, error) from None


def first_names(columns: Any) -> list[str]:
    """Return the names of the first columns, to be read by people.

    >>> from suffice.columns import PlainColumns
    >>> first_names(PlainColumns(10**9))[:2]
    ['x0', 'x1']
    """
    some = columns
    if isinstance(columns, PlainColumns):  # there may be millions
        some = PlainColumns(min(columns.width, NAMED))
    return list(some.names[:NAMED])


def stored_dtype(dtype: np.dtype[Any]) -> str:
    """Return the type of labels as text."""
    return dtype.str


def restored_dtype(text: Any) -> np.dtype[Any]:
    """Return the type of labels that a text names: truths, numbers, text, dates or objects."""
    found = np.dtype(str(text)[:16])
    if found.kind not in "biufUOSMm" or found.names is not None:
        raise BadFile(f"{text!r} is no type of labels", hint="the file is damaged")
    return found


def _refuse(what: str) -> NoReturn:
    raise BadSetting(
        f"this model was saved without its statistics: it cannot {what}",
        hint="save it with them: save(path), or suffice fit without --without-statistics",
    )


@dataclass(frozen=True, slots=True, eq=False)
class StatisticsLeftOut:
    """Stands where statistics were left out; it knows the labels, and refuses everything else."""

    labels: tuple[Label, ...]

    def __add__(self, other: object) -> NoReturn:
        """Refuse to learn or merge."""
        _refuse("learn or merge")

    __radd__ = __add__

    def __sub__(self, other: object) -> NoReturn:
        """Refuse to forget."""
        _refuse("forget")

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse to be looked at."""
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse(f"say anything about {name}")


def check_nothing_left_out(*statistics: Any) -> None:
    """Refuse to merge where the statistics of either were left out."""
    if any(isinstance(held, StatisticsLeftOut) for held in statistics):
        _refuse("learn or merge")


@dataclass(frozen=True, slots=True, eq=False)
class ModelAlone:
    """A model without the moments that it was estimated from."""

    model: Any
    notes: tuple[Any, ...] = ()

    @property
    def normals(self) -> Any:
        """The class densities, of normal classes."""
        return self.model.densities

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse what needs the moments."""
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse("answer this")
