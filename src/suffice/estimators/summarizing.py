"""From labelled rows to a state of statistics, and from two states to one."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from suffice.errors import DifferentKinds, NotFinite
from suffice.estimators.batches import Batch, naming_cells
from suffice.estimators.learned import Learned
from suffice.estimators.state import State, check_label_kinds, joined_dtype, label_kind
from suffice.estimators.statistics_left_out import check_nothing_left_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.rows import FloatArray

    Accepts = Callable[[FloatArray], bool]


class Summarizing(Learned):
    """What is particular to a kind of model about learning is in these hooks, and only there."""

    _choice_hint = "give both the same settings, and none that are chosen from the data"
    """What to do where two models cannot be merged, for they chose differently."""

    # What a kind of model says about learning

    @abstractmethod
    def _check_settings(self) -> None:
        """Refuse settings that have no meaning, before any row is read."""

    @abstractmethod
    def _read(self, X: object, y: object, sample_weight: object, known: State | None) -> Batch:
        """Read labelled rows; by the columns that are known, which they may widen."""

    @abstractmethod
    def _choose(self, batch: Batch) -> Any:
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
        """Tell, after `fit`, what was done about degenerate rows; `stacklevel` 3 is the caller."""

    def _summary(self, batch: Batch, learner: Any) -> Any:
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

    def _summarized(self, batch: Batch, known: State | None, learner: Any = None) -> State:
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

    def _state_of(self, batch: Batch, chosen: Any, learner: Any = None) -> State:
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
