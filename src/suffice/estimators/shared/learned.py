"""What an estimator has learned: kept as statistics, estimated when it is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import (
    DifferentKinds,
    NotFinite,
    OneClass,
    warn,
)
from suffice.estimators.shared.concurrency import snapshot
from suffice.estimators.shared.labelled_batch import LabelledBatch, naming_cells
from suffice.estimators.shared.saving import (
    ModelAlone,
    Persistent,
    StatisticsLeftOut,
    check_nothing_left_out,
    first_names,
    restored_dtype,
    stored_dtype,
)
from suffice.estimators.shared.state import (
    NotFitted,
    State,
    check_label_kinds,
    class_array,
    joined_dtype,
    label_kind,
)
from suffice.models.gaussian.learner import checked_log_priors

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.rows import FloatArray

    Accepts = Callable[[FloatArray], bool]


class Learned(Persistent, ABC):
    """A state of statistics, and the model they become under the settings of this moment."""

    priors: Any = None
    """{label: probability}; None is the class frequencies."""

    _state: State | None = None
    _waiting: Any = None
    """Rows that are still to be learned, before anyone looks at the state."""

    # What a kind of model says about itself

    @abstractmethod
    def _settings_key(self) -> tuple[Any, ...]:
        """Return all settings that an estimate depends on, priors included, as they are now."""

    @abstractmethod
    def _estimate(self, state: State) -> Any:
        """Return what the statistics become under the settings of now: it has a `model`."""

    @abstractmethod
    def _with_waiting(self, waiting: Any) -> State:
        """Return the state with the rows that wait, and keep it if nobody else is learning."""

    # The state

    def _known(self) -> State | None:
        """Return what was learned, waiting rows included; it never waits for another thread."""
        waiting = self._waiting
        # In this order: who learns keeps the new state first, and lets go of waiting rows then.
        return self._state if waiting is None else self._with_waiting(waiting)

    def _require(self) -> State:
        state = self._known()
        if state is None or not state.statistics.labels:
            raise NotFitted.of(self)
        return state

    def _whole(self) -> Self:
        """Return it as it is at this moment: others may learn while somebody asks."""
        return self._with_state(self._state if self._waiting is None else self._known())

    def _with_state(self, state: State | None) -> Self:
        """Return a copy that has learned a state, with the settings of this moment."""
        view = snapshot(self)
        held = view.__dict__
        held["_state"] = state
        if "_waiting" in held:
            del held["_waiting"]
        return view

    def _become(self, state: State | None) -> None:
        if state is None:
            for name in ("_state", "n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
            return
        self._state = state
        self.n_features_in_ = len(state.columns.columns)
        if state.columns.named:
            self.feature_names_in_ = np.array(state.columns.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_is_fitted__(self) -> bool:
        """Whether anything was learned."""
        state = self._known()
        return state is not None and bool(state.statistics.labels)

    # On disk

    def _stored_state(self, statistics: bool) -> dict[str, Any]:
        state = self._require()
        left_out = isinstance(state.statistics, StatisticsLeftOut)
        return {
            "columns": state.columns,
            "statistics": state.statistics if statistics and not left_out else None,
            "labels": stored_dtype(state.dtype),
            "frame": state.frame,
            "chosen": self._stored_choice(state.chosen),
            "model": self._fit.model,
        }

    def _restore(self, state: dict[str, Any]) -> None:
        statistics, model = state["statistics"], state["model"]
        held = StatisticsLeftOut(model.labels) if statistics is None else statistics
        dtype = restored_dtype(state["labels"])
        classes = class_array(tuple(held.labels), dtype)
        chosen = self._restored_choice(state["chosen"])
        restored = State(state["columns"], held, dtype, label_kind(classes), state["frame"], chosen)
        self._become(restored)
        if statistics is None:
            restored.cache["fit"] = (kept(self._settings_key()), ModelAlone(model))
        elif tuple(statistics.labels) != tuple(model.labels):
            raise ValueError("the model is not that of its statistics")

    def _remember(self, fit: Any) -> None:
        self._require().cache["fit"] = (kept(self._settings_key()), fit)

    def _stored_choice(self, chosen: Any) -> Any:
        """Return what was decided on the first batch as objects that a file may hold."""
        return chosen

    def _restored_choice(self, stored: Any) -> Any:
        """Return what was decided on the first batch."""
        return stored

    def _about(self) -> dict[str, Any]:
        state, model = self._require(), self._fit.model
        weights = dict(zip(map(str, model.labels), model.weights.tolist(), strict=True))
        return {
            "model": type(self).__name__,
            "rows": float(model.weights.sum()),
            "classes": weights,
            "columns": first_names(state.columns),
        }

    # The estimate

    @property
    def _fit(self) -> Any:
        """The estimate of the current statistics under the current settings."""
        return self._fit_of(self._require())

    def _fit_of(self, state: State) -> Any:
        """Return the estimate of a state under the current settings."""
        if self.priors is not None and not isinstance(self.priors, Mapping):
            checked_log_priors(self.priors, state.statistics.labels)  # refuses it
        key = kept(self._settings_key())
        found = state.cache.get("fit")
        if found is not None and unchanged(found[0], key):
            return found[1]
        fit = self._estimate(state)
        state.cache = {"fit": (key, fit)}  # in one step, for others may look
        return fit

    def _warn_of_one_class(self) -> None:
        labels = self._require().statistics.labels
        if len(labels) == 1:
            warn(f"there is only one class, {labels[0]!r}: its posterior is 1 everywhere", OneClass)

    # What was learned

    @property
    def statistics_(self) -> Any:
        """What the data said: mergeable, forgettable."""
        return self._require().statistics

    @property
    def model_(self) -> Any:
        """Priors and class densities."""
        return self._fit.model

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in order, in their own type."""
        state = self._require()
        held = state.cache.get("classes")
        if held is None:
            held = state.cache["classes"] = class_array(state.statistics.labels, state.dtype)
        found: NDArray[Any] = held
        return found

    @property
    def priors_(self) -> FloatArray:
        """p(y), in the order of `classes_`."""
        priors: FloatArray = np.exp(self._fit.model.log_priors)
        return priors


def kept(settings: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return settings that no one else can change: dictionaries are copied."""
    return tuple(dict(v) if hasattr(v, "items") else v for v in settings)


def unchanged(held: tuple[Any, ...] | None, settings: tuple[Any, ...]) -> bool:
    """Whether settings are those that are held, which came from `kept`."""
    try:
        return held == settings
    except ValueError:  # an array, which is no setting: it will be refused in words
        return False


class Summarizing(Learned):
    """What is particular to a kind of model about learning is in these hooks, and only there."""

    _choice_hint = "give both the same settings, and none that are chosen from the data"
    """What to do where two models cannot be merged, for they chose differently."""

    # What a kind of model says about learning

    @abstractmethod
    def _check_settings(self) -> None:
        """Refuse settings that have no meaning, before any row is read."""

    @abstractmethod
    def _read(
        self, X: object, y: object, sample_weight: object, known: State | None
    ) -> LabelledBatch:
        """Read labelled rows; by the columns that are known, which they may widen."""

    @abstractmethod
    def _choose(self, batch: LabelledBatch) -> Any:
        """Return what is decided on the first batch and then stays; None where nothing is."""

    @abstractmethod
    def _learner(self, chosen: Any) -> Any:
        """Return settings and choice as one immutable learner, for it to summarize rows."""

    @abstractmethod
    def _merged(self, left: State, right: State) -> tuple[Any, Any]:
        """Return the columns and the statistics of both; kinds and choices are the same."""

    @abstractmethod
    def _forgetting(self, state: State) -> Callable[[Any], Any]:
        """Return the function that takes statistics away from those of `state`.

        A function, so that its warnings are told about the line that called `forget`: it is
        called from there.
        """

    @abstractmethod
    def _warn(self, fit: Any) -> None:
        """Tell, after `fit`, what was done about degenerate rows."""

    def _summary(self, batch: LabelledBatch, learner: Any) -> Any:
        """Return the statistics of one batch."""
        try:
            return learner.summarize(batch.rows, batch.codes, batch.labels, batch.weights)
        except NotFinite as error:
            raise naming_cells(error, batch.rows, batch.columns, batch.places) from None

    def _single_rows(self, state: State, learner: Any) -> Accepts | None:  # noqa: ARG002
        """Return what says whether a row (1, d) of float64 may wait for others; None: none may.

        It may only if `partial_fit` would learn it without any refusal, and if learning it
        together with others comes to the same. `learner` is that of the settings of this moment.
        """
        return None

    # States

    def _summarized(self, batch: LabelledBatch, known: State | None, learner: Any = None) -> State:
        """Return the state after one more batch."""
        kind = label_kind(batch.classes)
        if known is not None:
            check_label_kinds(known.kind, kind)
        chosen = None if known is None else known.chosen
        first = known is None or not known.statistics.labels
        if first and chosen is None:
            chosen = self._choose(batch)
        state = self._state_of(batch, chosen, learner)
        return state if known is None or first else self._joined(known, state)

    def _state_of(self, batch: LabelledBatch, chosen: Any, learner: Any = None) -> State:
        """Return the state of one batch by itself, under a choice that has been made."""
        added = self._summary(batch, self._learner(chosen) if learner is None else learner)
        kind = label_kind(batch.classes)
        return State(batch.columns, added, batch.classes.dtype, kind, batch.frame, chosen)

    def _joined(self, left: State, right: State) -> State:
        """Return the state of both; the columns must be the same, their levels need not."""
        check_label_kinds(left.kind, right.kind)
        check_nothing_left_out(left.statistics, right.statistics)
        if left.chosen != right.chosen:
            raise DifferentKinds(
                f"the settings chosen from the data differ: {left.chosen} and {right.chosen}",
                hint=self._choice_hint,
            )
        columns, statistics = self._merged(left, right)
        dtype = joined_dtype(left.dtype, right.dtype)
        return left.with_statistics(statistics, columns=columns, dtype=dtype)
