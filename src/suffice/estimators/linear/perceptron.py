"""Perceptron: a flat boundary that moves only where it is wrong."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from suffice.columns.design import Design
from suffice.errors import BadSetting, OneClass, warn
from suffice.estimators.concurrency import lock_of
from suffice.estimators.fitting_notes import warn_of_shape
from suffice.estimators.linear.linear_classifier import Line, LinearClassifier
from suffice.learning.label_types import check_label_kinds, class_array, joined_dtype, label_kind
from suffice.learning.labelled_batch import naming, opened, read_batch
from suffice.learning.randomness import random_generator
from suffice.models.linear.online.perceptron import OnlinePerceptron, PerceptronFit, fit_perceptron
from suffice.models.linear.online.rule import shuffled

if TYPE_CHECKING:
    from suffice.learning.labelled_batch import LabelledBatch


class Perceptron(LinearClassifier, ClassifierMixin, BaseEstimator):
    """The perceptron, averaged: it goes through the rows until none is on the wrong side.

    | setting      | default | meaning                                                            |
    |--------------|---------|--------------------------------------------------------------------|
    | epochs       | 100     | how often to go through all rows, at most                          |
    | average      | True    | answer by the mean of θ over all rows of all epochs; False: by the |
    |              |         | last θ                                                             |
    | shuffle      | True    | draw the order of the rows anew for each epoch                     |
    | random_state | None    | what orders are drawn from                                         |

    A row that is wrong adds itself to θ of its own class and takes itself from that of the class
    that won: of two classes, θ := θ + (y - h(x))x with h(x) 0 or 1. Columns are standardised
    inside, so that units do not matter; coefficients are in the user's units. Where a plane can
    separate the classes it finds one, and says how far the nearest row is from it. Where none can
    it goes round for all epochs, and the mean is a fair answer. Scores are no log odds.

    >>> X, y = [[1.0, 5.0], [2.0, 4.0], [5.0, 2.0], [6.0, 1.0]], ["low", "low", "high", "high"]
    >>> model = Perceptron(random_state=0).fit(X, y)
    >>> print(*model.predict([[1.5, 4.5], [7.0, 0.0]]))
    low high
    >>> model.separated_, model.n_updates_
    (True, 2)
    """

    def __init__(
        self,
        *,
        epochs: int = 100,
        average: bool = True,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.epochs = epochs
        self.average = average
        self.shuffle = shuffle
        self.random_state = random_state

    # Learning

    def fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:
        """Learn from rows and labels, forgetting everything learned before.

        A weight of 2 is two rows. The order in which rows are given makes no difference, unless
        `shuffle=False`.
        """
        self._check_settings()
        rng = random_generator(self.random_state)
        batch = self._read(X, y, sample_weight, None)
        warn_of_shape(batch)
        found = naming(
            batch,
            lambda: fit_perceptron(
                batch.rows,
                batch.codes,
                batch.labels,
                batch.weights,
                epochs=int(self.epochs),
                average=bool(self.average),
                rng=rng if self.shuffle else None,
            ),
        )
        with lock_of(self):
            self._learned(found, batch, batch.classes.dtype)
        self._notes = None
        if len(batch.labels) == 1:
            warn(
                f"there is only one class, {batch.labels[0]!r}: every row is predicted to be of it",
                OneClass,
            )
        return self

    def partial_fit(
        self,
        X: object,
        y: object = None,
        classes: object = None,  # noqa: ARG002  scikit-learn's callers pass it
        sample_weight: object = None,
    ) -> Self:
        """Go through more rows, once; `classes` is accepted and never needed.

        A label never seen before is a new class. Columns are on the scale of all rows so far.
        Nobody knows whether all of them are separated, for they are gone: `separated_` is None.
        """
        with lock_of(self):  # threads learn one after the other
            return self._go_on(X, y, sample_weight)

    def _go_on(self, X: object, y: object, sample_weight: object) -> Self:
        self._check_settings()
        rng = random_generator(self.random_state)
        line, passes = self._line, 0
        batch = self._read(X, y, sample_weight, line)
        online, dtype = OnlinePerceptron.start(batch.rows.shape[1]), batch.classes.dtype
        if line is not None:
            check_label_kinds(label_kind(line.classes), label_kind(batch.classes))
            dtype = joined_dtype(line.classes.dtype, dtype)
            known = self._asked_of_fit()
            online, passes = known.online, known.epochs
            if batch.columns is not line.design:
                places = line.design.places_in(batch.columns)
                online = online.embedded(places, batch.rows.shape[1])
        order = None
        if self.shuffle:
            order = next(shuffled(batch.rows, batch.codes, batch.labels, rng))
        online = naming(
            batch,
            lambda: online.learn(batch.rows, batch.codes, batch.labels, batch.weights, order),
        )
        form = online.form(bool(self.average))
        self._learned(
            PerceptronFit(form, online.updates, passes + 1, None, None, online), batch, dtype
        )
        return self

    # What was learned

    _found: PerceptronFit | None = None

    @property
    def n_updates_(self) -> int:
        """How many mistakes were corrected, over all epochs."""
        return self._asked_of_fit().updates

    @property
    def n_epochs_(self) -> int:
        """How often it went through the rows; a call of `partial_fit` counts once."""
        return self._asked_of_fit().epochs

    @property
    def separated_(self) -> bool | None:
        """Whether every row of the fit is on its own side; None after `partial_fit`."""
        return self._asked_of_fit().separated

    @property
    def margin_(self) -> float | None:
        """How far the nearest row is from the boundary, in standard deviations of the columns.

        None where rows are not separated, or not known to be.
        """
        return self._asked_of_fit().margin

    @property
    def predict_proba(self) -> NoReturn:
        """Refused: there are no probabilities."""
        raise _no_probabilities("predict_proba")

    @property
    def predict_log_proba(self) -> NoReturn:
        """Refused: there are no probabilities."""
        raise _no_probabilities("predict_log_proba")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows may come."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _asked_of_fit(self) -> PerceptronFit:
        self._require()
        if self._found is None:
            raise BadSetting(
                "this perceptron was saved without its statistics: it answers, and that is all",
                hint="save it with them: save(path), or suffice fit without --without-statistics",
            )
        return self._found

    def _learned(self, found: PerceptronFit, batch: LabelledBatch, dtype: np.dtype[Any]) -> None:
        classes = class_array(found.form.labels, dtype)
        # A level never seen speaks for no class: it is read as the mean of its columns.
        design = replace(batch.columns, usual=found.form.origin)
        self._become(Line(found.form, classes, design), _found=found)

    # On disk

    def _stored_state(self, statistics: bool) -> dict[str, Any]:
        state = super()._stored_state(statistics)
        return {**state, "found": self._found if statistics else None}

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        self._found = state["found"]

    # Reading

    def _check_settings(self) -> None:
        """Refuse settings that have no meaning, before any row is read."""
        whole = isinstance(self.epochs, Integral) and not isinstance(self.epochs, bool)
        if not whole or self.epochs < 1:
            raise BadSetting(
                f"epochs={self.epochs!r:.50} is not a whole number of at least 1",
                hint="100 is the default; separable classes need only as many as they need",
            )
        for name in ("average", "shuffle"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_):
                raise BadSetting(f"{name}={value!r:.50} is not known", hint="True or False")

    def _read(
        self, X: object, y: object, sample_weight: object, line: Line | None
    ) -> LabelledBatch:
        return read_batch(
            X, y, sample_weight, partial(self._coded, line), opened if line is None else self._open
        )

    def _coded(self, line: Line | None, table: Any) -> tuple[Design, Any]:
        """Return the design of a table, or the one that is known, and its rows."""
        design = Design.infer(table, True) if line is None else line.design.widened(table)
        return design, design.rows(table, type(self).__name__)


def _no_probabilities(asked: str) -> AttributeError:
    return AttributeError(
        f"a perceptron has no {asked}: its scores tell sides, and are no log odds\n"
        "Hint: LogisticRegression has the same boundary with probabilities; here there are "
        "predict and decision_function"
    )
