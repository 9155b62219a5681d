"""The one base of all classifiers: scikit-learn's conventions over `Learned`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from suffice.estimators.accuracy import share_right
from suffice.estimators.concurrency import LOCKS, lock_of, snapshot
from suffice.estimators.conformal.sets import prediction_set
from suffice.estimators.fitting_notes import (
    NotFitted,
    offered,
    offered_attribute,
    shorten_requests,
    unlabelled_of,
    warn_of_shape,
)
from suffice.estimators.saving import save_stored
from suffice.learning.collect import frame_here, is_elsewhere, learned_from
from suffice.learning.labelled_batch import FLOAT64
from suffice.learning.learner import setting_names, settings_of
from suffice.learning.waiting_rows import ARRAY, WaitingRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from suffice.learning.learned import Lean, Learned
    from suffice.learning.learner import Learner
    from suffice.learning.table_recipe import TableNotes
    from suffice.models.label_shift import LabelShift
    from suffice.rows import FloatArray, Label
    from suffice.storage.locks import Stamp
    from suffice.storage.model_file import StoredModel


class StatisticsClassifier(ClassifierMixin, BaseEstimator):
    """Learns, learns more, and answers; where it is made of sums, it forgets and merges too.

    What is particular to a kind of model is its learner, which `as_learner` makes of the settings.
    What was learned is a `Learned`, never changed in place; single rows wait beside it.
    """

    learner_kind: ClassVar[type[Learner]]
    """The learner that has the settings of this estimator."""
    _settings_now: Callable[[], tuple[object, ...]]
    """From an estimator to its settings."""

    _learned: Learned | None = None
    _waiting: WaitingRows | None = None
    """Rows that are still to be learned, before anyone looks."""
    _origin: Stamp | None = None
    """The file that it was loaded from, as it was then."""

    def __init_subclass__(cls, **more: object) -> None:
        """Find out what the settings are called."""
        super().__init_subclass__(**more)
        shorten_requests(cls)
        if hasattr(cls, "learner_kind"):
            cls._settings_now = settings_of(cls.learner_kind)  # type: ignore[assignment]

    def as_learner(self) -> Learner:
        """Return the settings of this moment as a learner; bad ones are refused."""
        kind = self.learner_kind
        return kind(**{name: getattr(self, name) for name in setting_names(kind)})

    # Learning

    def fit(
        self,
        X: object,
        y: object = None,
        sample_weight: object = None,
        *,
        target: str | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from rows and labels, forgetting everything learned before.

        Rows may be a path, a glob, an Arrow stream, a table of a database or of a cluster: `target`
        names labels, `sample_weight` weights. A run that was killed goes on from `checkpoint`.
        """
        learner = self.as_learner()  # first: a bad setting is refused before any row is read
        here = None if target is None else frame_here(X, target, sample_weight)
        if here is None and (target is not None or (y is None and is_elsewhere(X, y))):
            return self._fitted(learned_from(learner, X, target, sample_weight, None, checkpoint))
        return self._fit_here(learner, *(here or (X, y, sample_weight)))

    def _fit_here(self, learner: Learner, X: object, y: object, weights: object) -> Self:
        """Learn from rows that are here."""
        batch = learner.read(X, y, weights)
        if batch.ravelled:
            warn_of_shape()
        return self._fitted(learner.first(batch, self._learned))

    def _fitted(self, learned: Learned) -> Self:
        """Know nothing but what was learned, and tell what was degenerate."""
        learned.with_known_priors().fit  # noqa: B018  a refusal leaves the estimator as it was
        with lock_of(self):
            self._keep(learned)
        learned.warn()
        learned.warn_of_one_class()
        learned.warn_of_unlabelled()
        return self

    def partial_fit(
        self,
        X: object,
        y: object = None,
        classes: object = None,  # noqa: ARG002  scikit-learn's callers pass it
        sample_weight: object = None,
        *,
        target: str | None = None,
    ) -> Self:
        """Learn from more rows; `classes` is accepted and never needed.

        Nothing is estimated until it is asked for: a row costs what copying costs. What is chosen
        from the data is chosen on the first batch. Threads learn one after the other.
        """
        if sample_weight is None and self._set_aside(X, y):
            return self
        return self._learn_more(X, y, sample_weight, target)

    def _learn_more(
        self, X: object, y: object, w: object, target: str | None = None, *, here: bool = False
    ) -> Self:
        """Learn from more rows of weights w, which may be somewhere else unless they are `here`."""
        with lock_of(self):
            held, key = self._known(), self._settings_now()
            known = None if held is None else held.under_key(key, self.as_learner)
            learner = self.as_learner() if known is None else known.learner
            learner.check_stream(known)
            frame = frame_here(X, target, w)
            if frame is not None:
                X, y, w = frame
            elif not here and (target is not None or is_elsewhere(X, y)):
                self._keep(learned_from(learner, X, target, w, known))
                return self
            batch = learner.read(X, y, w, known)
            if batch.ravelled:
                warn_of_shape()
            self._keep(learner.begun(batch) if known is None else known.more(batch))
            self._learned.warn_of_unlabelled(batch)  # type: ignore[union-attr]
        return self

    @offered("forget")
    def forget(self, X: object, y: object = None, sample_weight: object = None) -> Self:
        """Take back rows that were learned before, exactly.

        What cannot have been learned is refused and leaves the model as it was.
        """
        from suffice.learning.taken_back import taken_back  # nothing else here needs it

        with lock_of(self):
            held = taken_back(self._now(), X, y, sample_weight)
            self._keep(held)
        held.warn_of_small_sample()
        return self

    @offered("vouch")
    def vouch(self) -> Self:
        """Count rounding anew from here on: you vouch for the numbers as they are.

        Every `partial_fit` and `forget` adds to a bound of rounding errors; `forget` refuses when
        it could be as large as a variance. This begins again with the bound of one batch.
        """
        self._become(self._now().vouched())
        return self

    def __add__(self, other: StatisticsClassifier) -> Self:
        """Return a model of all rows that either has learned from."""
        like = isinstance(other, type(self)) or isinstance(self, type(other))
        if not like or not self.learner_kind.adds_up:
            return NotImplemented
        return self.with_learned(self._now() + other._now())

    def __radd__(self, other: object) -> Self:
        """Let `sum(models)` start from nothing."""
        nothing = self.learner_kind.adds_up and isinstance(other, int) and other == 0
        return self if nothing else NotImplemented

    @offered("with_priors", "priors")
    def with_priors(self, priors: Mapping[Label, float]) -> Self:
        """Return a copy with other priors; what was learned of each class is untouched."""
        changed = self.with_learned(self._now().with_priors(priors))
        changed.priors = dict(priors)
        return changed

    # What was learned, at this moment

    def _known(self) -> Learned | None:
        """Return what was learned, waiting rows included; it never waits for another thread."""
        waiting = self._waiting
        # In this order: who learns keeps the new state first, and lets go of waiting rows then.
        return self._learned if waiting is None else self._with_waiting(waiting)

    def _required(self) -> Learned:
        """Return what was learned, whatever the settings are now."""
        learned = self._learned if self._waiting is None else self._known()
        if learned is None or not learned.labels:
            raise NotFitted.of(self)
        return learned

    def _now(self) -> Any:
        """Return what was learned, under the settings of this moment."""
        return self._required().under_key(self._settings_now(), self.as_learner)

    @property
    def learned_(self) -> Learned:
        """What was learned: learner, columns, statistics and labels; it adds up without us."""
        return self._now()  # type: ignore[no-any-return]

    @property
    def schema(self) -> Any:
        """The columns that it knows: their names, kinds and levels."""
        return self._required().schema

    def with_learned(self, learned: Learned) -> Self:
        """Return a copy, with the same settings, that has learned something else."""
        found = snapshot(self)
        found._keep(learned)
        return found

    @classmethod
    def of_learned(cls, learned: Learned) -> Self:
        """Return the estimator of what was learned, with its settings."""
        return cls(**learned.learner.settings()).with_learned(learned)

    def _become(self, learned: Learned) -> None:
        schema = learned.schema
        self._learned = learned
        self.n_features_in_ = len(schema.columns)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_is_fitted__(self) -> bool:
        """Whether anything was learned."""
        learned = self._known()
        return learned is not None and bool(learned.labels)

    # Rows that wait

    def _set_aside(self, X: object, y: object) -> bool:
        """Let a row without a weight wait for others, if it may."""
        if type(X) is not ARRAY:
            return False
        lock = LOCKS.get(id(self)) or lock_of(self)
        lock.acquire()  # `with` takes 90 ns more, a twentieth of a row
        try:
            waiting, key = self._waiting, self._settings_now()
            if waiting is not None:
                return waiting.take(X, y, key)
            waiting = WaitingRows.of(self._learned, X, key, self.as_learner)
            if waiting is None or not waiting.take(X, y, key):
                return False
            self._waiting = waiting
        finally:
            lock.release()
        return True

    def _with_waiting(self, waiting: WaitingRows) -> Learned:
        """Return what is known with the rows that wait; it is kept if nobody else is learning."""
        lock = lock_of(self)
        if not lock.acquire(blocking=False):
            return waiting.all_learned()
        try:
            held = self._waiting
            if held is None:  # learned by somebody else, just now
                return waiting.all_learned() if self._learned is None else self._learned
            learned = held.all_learned()
            self._keep(learned)
        finally:
            lock.release()
        return learned

    def _keep(self, learned: Learned) -> None:
        """Let this take the place of what was known, waiting rows included; under the lock."""
        self._become(learned)  # first: who sees no row waiting must see what has it
        self.__dict__.pop("_waiting", None)

    def __getstate__(self) -> Any:
        """Travel, and be copied, with nothing waiting: a buffer belongs to one estimator."""
        view = snapshot(self)
        if view._waiting is not None:
            view.__dict__["_learned"] = self._known()
            view.__dict__.pop("_waiting", None)
        return super(StatisticsClassifier, view).__getstate__()

    # Answers

    def predict(self, X: object) -> NDArray[Any]:
        """Return the likeliest class of each row."""
        lean = self._lean(X)
        answer = None if lean is None else lean.predict(X)  # type: ignore[arg-type]
        return self._now().predict(X) if answer is None else answer

    def predict_proba(self, X: object) -> FloatArray:
        """Return p(y | x), one column a class."""
        lean = self._lean(X)
        answer = None if lean is None else lean.posterior(X)  # type: ignore[arg-type]
        return self._now().posterior(X) if answer is None else answer

    def _lean(self, X: object) -> Lean | None:
        """The model made ready for single rows, if X is one, under the settings of this moment."""
        if not (type(X) is np.ndarray and X.ndim == 2 and len(X) == 1 and X.dtype is FLOAT64):
            return None
        learned = self._learned if self._waiting is None else self._known()
        if learned is None:
            return None
        try:
            if learned.learner.key == self._settings_now():
                return learned.lean or learned.one_row
        except ValueError:
            pass  # as in `unchanged`
        return learned.under_key(self._settings_now(), self.as_learner).one_row

    def predict_log_proba(self, X: object) -> FloatArray:
        """Return log p(y | x); far away it stays finite and ordered."""
        return self._now().posterior(X, log=True)  # type: ignore[no-any-return]

    def decision_function(self, X: object) -> FloatArray:
        """Return the log odds of the second class against the first, or log p(y | x), (n, k)."""
        return self._now().decisions(X)  # type: ignore[no-any-return]

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the share of rows, by weight, whose class is predicted rightly."""
        learned = self._now()
        return share_right(learned.classes, learned.predict(X), y, sample_weight)

    @offered("log_joint", "log joint density")
    def log_joint(self, X: object) -> FloatArray:
        """Return log p(x, y), one column a class."""
        return self._now().log_joint(X)  # type: ignore[no-any-return]

    @offered("log_density", "log density")
    def log_density(self, X: object) -> FloatArray:
        """Return log p(x), the evidence."""
        return self._now().log_density(X)  # type: ignore[no-any-return]

    @offered("estimate_priors", "priors to estimate")
    def estimate_priors(self, X: object) -> LabelShift:
        """Return the class priors of unlabelled rows, with standard errors (Saerens' EM)."""
        return self._now().estimate_priors(X)  # type: ignore[no-any-return]

    prediction_set = prediction_set

    # Attributes

    @offered_attribute("statistics_", "statistics")
    def statistics_(self) -> Any:
        """What the data said: mergeable, forgettable."""
        return self._required().statistics

    @offered_attribute("model_", "class densities")
    def model_(self) -> Any:
        """Priors and class densities."""
        return self._now().model

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in order, in their own type."""
        return self._required().classes

    @offered_attribute("priors_", "priors")
    def priors_(self) -> FloatArray:
        """p(y), in the order of `classes_`."""
        return np.exp(self._now().model.log_priors)  # type: ignore[no-any-return]

    unlabelled_ = property(unlabelled_of)

    # On disk

    def save(self, path: str | Path, *, statistics: bool = True) -> None:
        """Write the model to a file, whole or not at all; `suffice.load` reads it.

        With its statistics it can learn, forget and merge later; without them the file is smaller.
        A model that was loaded from `path` is refused where others have written there since.
        """
        stamp = save_stored(path, self.stored(statistics=statistics), self._origin)
        self._origin = self._origin if stamp is None else stamp

    def stored(self, *, statistics: bool = True) -> StoredModel:
        """Return what a file holds of it; without statistics, what is needed to answer."""
        return self._now().stored(statistics=statistics)  # type: ignore[no-any-return]

    def take_notes(self, notes: TableNotes | None) -> None:
        """Know how the table is read that it was learned from."""
        self._become(self._now().with_notes(notes))

    def loaded_from(self, stamp: Stamp) -> Self:
        """Remember the file that it was loaded from, as it was then."""
        self._origin = stamp
        return self
