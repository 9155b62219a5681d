"""What was learned: a learner, columns, statistics and labels; and the model that they become."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self

import numpy as np

from suffice.columns.schema import first_names
from suffice.errors import (
    DifferentKinds,
    ForgettingUnseen,
    NotFinite,
    OneClass,
    SmallSample,
    listed,
    warn,
)
from suffice.learning.label_types import (
    check_label_kinds,
    class_array,
    joined_dtype,
    label_kind,
    stored_dtype,
)
from suffice.learning.labelled_batch import naming_cells
from suffice.learning.learner import F, Learner, S, unchanged
from suffice.learning.left_out import StatisticsLeftOut, check_nothing_left_out
from suffice.learning.table_recipe import STATE, TableNotes
from suffice.learning.unlabelled.record import IGNORE, Unlabelled, joined, warn_of_blank_labels
from suffice.learning.unlabelled.record import STATE as WITHOUT
from suffice.linear_algebra import what_doubles_can_solve
from suffice.models.gaussian.forgetting import vouched
from suffice.models.gaussian.learner import checked_log_priors, refuse_nothing_likely
from suffice.statistics.class_weights import class_weights
from suffice.storage.model_file import StoredModel

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol, TypeVar

    from numpy.typing import NDArray

    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.rows import FloatArray, IntArray, Label

    T = TypeVar("T")

    class Lean(Protocol):
        """A model made ready for single rows of float64; None is no answer: take the usual way."""

        def predict(self, row: FloatArray) -> NDArray[Any] | None: ...  # noqa: D102
        def posterior(self, row: FloatArray) -> FloatArray | None: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Learned(Generic[S, F]):
    """What was learned: never changed, merged by `+`, taken back by `-`, estimated when asked.

    learner     settings, and what the first rows decided
    columns     the schema: it has `columns`, `names` and `named`, whatever else it can do
    statistics  what the data said
    dtype, kind the type of the labels, and what they are called in a refusal
    frame       the library of the frame that was read first, None for arrays
    notes       how the table is read that it was learned from, where somebody knows
    unlabelled  what became of rows without a label, if there were any

    A model file holds one; estimators, commands, evaluation, checkpoints and clusters work with it.
    """

    learner: Learner[S, F]
    columns: Any
    statistics: S
    dtype: np.dtype[Any]
    kind: str
    frame: str | None = None
    notes: TableNotes | None = None
    unlabelled: Unlabelled | None = field(default=None, kw_only=True)

    lean: ClassVar[Lean | None] = None
    """What `one_row` has made: for whoever asks row by row."""

    def __getstate__(self) -> dict[str, object]:
        """Travel without estimates: they follow from the statistics."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # The algebra

    def __add__(self, other: Learned[S, F]) -> Self:
        """Return what was learned from all rows of both."""
        if type(other) is not type(self) or not self.learner.adds_up:
            return NotImplemented
        if self.learner is not other.learner:
            _check_same(self.learner.settings(), other.learner.settings())
        check_label_kinds(self.kind, other.kind)
        check_nothing_left_out(self.statistics, other.statistics)
        self.learner.check_mergeable(self, other)
        columns, statistics = self.learner.merged(self, other)
        dtype = joined_dtype(self.dtype, other.dtype)
        without = joined(self, other)
        return replace(
            self, columns=columns, statistics=statistics, dtype=dtype, unlabelled=without
        )

    def __sub__(self, other: Learned[S, F]) -> Self:
        """Return what is left when rows that were learned before are taken back."""
        if type(other) is not type(self) or not self.learner.adds_up:
            return NotImplemented
        return self.forgetting(other, self.learner.forgetting(self))

    def forgetting(self, gone: Learned[S, F], forget: Callable[[S], S]) -> Self:
        """Return what is left when `forget` has taken the statistics of `gone` back."""
        if gone.unlabelled is not None and gone.unlabelled.is_used:
            raise ForgettingUnseen(
                "the model to forget has learned from rows without a label, whose classes were "
                "guessed together with those of all others",
                hint="forget labelled rows; to forget the others, fit again without them",
            )
        held = self.holding(forget(gone.statistics))
        refuse_nothing_likely(self.learner, held.labels)
        record = self.unlabelled
        if record is None or not record.is_used:
            return held
        return replace(held, unlabelled=record.and_labelled(gone.labelled_weights, -1.0))

    def gone_with(self, X: object, y: object, weights: object = None) -> Learned[S, F]:
        """Return what was learned from rows that are to be taken back, if they can have been."""
        batch = self.learner.read(X, y, weights, self)
        check_label_kinds(self.kind, label_kind(batch.classes))
        if batch.columns != self.columns:
            raise ForgettingUnseen(
                "the rows to forget have categories that were never learned",
                hint="forget only rows that were learned before",
            )
        return self.learner.learned(batch)

    def holding(self, statistics: S) -> Self:
        """Return the same with other statistics."""
        return replace(self, statistics=statistics)

    def more(self, batch: LabelledBatch) -> Self:
        """Return what is learned when a batch, read by the known columns, is learned as well."""
        check_label_kinds(self.kind, label_kind(batch.classes))
        if self.labels:
            return self + self.learner.learned(batch)
        first: Any = self.learner.first(batch)
        return replace(first, notes=self.notes)  # type: ignore[no-any-return]

    def vouched(self) -> Self:
        """Return the same, with the rounding bound of one batch."""
        return replace(self, statistics=vouched(self.statistics))

    def under(self, learner: Learner[S, F]) -> Self:
        """Return what was learned under other settings; what was decided by the rows stays."""
        return replace(self, learner=learner.deciding(self.learner.chosen))

    def with_known_priors(self) -> Self:
        """Return the same; priors of classes that no row of a fit has are somebody's mistake."""
        if (priors := getattr(self.learner, "priors", None)) is not None:
            checked_log_priors(priors, self.labels)
        return self

    def with_priors(self, priors: Mapping[Label, float]) -> Self:
        """Return it with other priors; what was learned of each class is untouched."""
        checked_log_priors(priors, self.labels)
        learner: Any = self.learner
        return self.under(replace(learner, priors=dict(priors)))

    # The estimate

    @property
    def schema(self) -> Any:
        """The columns that it knows: their names, kinds and levels."""
        return self.columns

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes, in order."""
        found: tuple[Label, ...] = self.statistics.labels  # type: ignore[attr-defined]
        return found

    @property
    def classes(self) -> NDArray[Any]:
        """The classes, in order, in their own type."""
        return self._kept("classes", lambda: class_array(self.labels, self.dtype))

    @property
    def fit(self) -> F:
        """What the statistics become, and what it was estimated from."""
        return self._kept("fit", self._estimated)

    @property
    def model(self) -> Any:
        """What answers about rows."""
        return self.fit.model  # type: ignore[attr-defined]

    def _estimated(self) -> F:
        priors = getattr(self.learner, "priors", None)
        if priors is not None and not isinstance(priors, Mapping):
            checked_log_priors(priors, self.labels)  # refuses it
        own = None if self.unlabelled is None else self.unlabelled.priors(self.labels)
        learner: Any = self.learner
        if own is not None and priors is None:
            learner = replace(learner, priors=own)
        with what_doubles_can_solve():
            found: F = learner.estimate(self)
        return found

    @property
    def class_weights(self) -> FloatArray:
        """The weight of rows of each class, in order; shares of rows without a label included."""
        return class_weights(self.statistics)

    @property
    def labelled_weights(self) -> dict[Label, float]:
        """The weight of labelled rows, by class."""
        if self.unlabelled is not None and self.unlabelled.is_used:
            return dict(self.unlabelled.labelled)
        return dict(zip(self.labels, self.class_weights.tolist(), strict=True))

    def left_out_losses(self, rows: Any, codes: IntArray, weights: FloatArray) -> FloatArray:
        """Return -log p(y | x) of rows that were learned, each as if it had not been.

        NaN for rows that were all their class had.
        """
        raise NotImplementedError

    def _kept(self, name: str, make: Callable[[], T]) -> T:
        """Return what is made once. Without a lock: who asks never waits for another thread."""
        held = self.__dict__
        key = f"({name})"
        if key not in held:
            held[key] = make()
        found: T = held[key]
        return found

    def knowing(self, fit: F) -> Self:
        """Return it with an estimate that is known already."""
        found = replace(self)
        found.__dict__["(fit)"] = fit
        return found

    def under_key(self, key: tuple[object, ...], make: Callable[[], Learner[S, F]]) -> Self:
        """Return it under the settings of a key; of others than its own, the last are kept."""
        if unchanged(self.learner.key, key):
            return self
        other: Self | None = self.__dict__.get("(other)")
        if other is None or not unchanged(other.learner.key, key):
            other = self.__dict__["(other)"] = self.under(make())
        return other

    @property
    def is_estimated(self) -> bool:
        """Whether there is an estimate already."""
        return "(fit)" in self.__dict__

    # Warnings

    def warn(self) -> None:
        """Tell, after `fit`, what was done about degenerate rows."""

    def warn_of_one_class(self) -> None:
        """Tell that there is only one class."""
        if len(self.labels) == 1:
            told = (
                f"there is only one class, {self.labels[0]!r}: every row gets probability 1 for it"
            )
            warn(told, OneClass)

    def warn_of_unlabelled(self, batch: LabelledBatch | None = None) -> None:
        """Tell how many rows without a label were left out, in all or of a batch."""
        here = None if batch is None else batch.without
        if here is not None or (batch is None and self.unlabelled is not None):
            warn_of_blank_labels(self.unlabelled, None if here is None else here.count)

    def warn_of_small_sample(self) -> None:
        """Tell, after `forget`, that what is fitted to sampled rows rests on few of them."""
        left: Any = self.statistics
        sample = getattr(left, "sample", None)
        if sample is not None and sample.is_small and left.weight > sample.weight:
            warn(
                f"of the rows that were sampled {len(sample.rows)} are left, of {left.weight:g} "
                "that are learned: held-out temperature, smoothing or calibration depend on them. "
                "New rows are sampled at the same low rate; fit again on the remaining rows for "
                "a sample of full size",
                SmallSample,
            )

    # Rows, and answers about them

    def as_learned(self, table: object) -> Any:
        """Return a table as it was when the model learned from it, if somebody has said how."""
        return table if self.notes is None else self.notes.rows(table)

    def rows(self, X: object) -> Any:
        """Return rows coded as at fit."""
        raise NotImplementedError

    def asked(self, X: object, answer: Callable[[Any], T]) -> T:
        """Answer about rows; a cell that is not finite is refused by name."""
        rows = self.rows(X)
        try:
            return answer(rows)
        except NotFinite as error:
            raise naming_cells(error, rows, self.columns) from None

    def offers(self, what: str) -> bool:
        """Whether it can be asked for something, by the name of the method."""
        return hasattr(type(self), what) and what not in self.learner.without

    @property
    def one_row(self) -> Lean | None:
        """The model made ready for single rows; None where that does not pay."""
        found = self._kept("one row", self._lean) if self.labels else None
        self.__dict__["lean"] = found
        return found

    def _lean(self) -> Lean | None:
        return None

    def predict(self, X: object) -> NDArray[Any]:
        """Return the likeliest class of each row."""
        model, classes = self.model, self.classes
        return self.asked(X, lambda rows: model.chosen(rows, classes))

    def posterior(self, X: object, *, log: bool = False) -> FloatArray:
        """Return p(y | x), one column a class, or its logarithm."""
        posterior: Callable[..., FloatArray] = self.model.posterior
        return self.asked(X, (lambda rows: posterior(rows, log=True)) if log else posterior)

    def decisions(self, X: object) -> FloatArray:
        """Return the log odds of the second class against the first, or log p(y | x), (n, k)."""
        log_posterior = self.posterior(X, log=True)
        if log_posterior.shape[1] != 2:
            return log_posterior
        with np.errstate(invalid="ignore"):
            odds: FloatArray = log_posterior[:, 1] - log_posterior[:, 0]
        return odds

    # On disk

    def stored_state(self, *, statistics: bool = True) -> dict[str, Any]:
        """Return what was learned, by name; without statistics, what is needed to answer."""
        left_out = isinstance(self.statistics, StatisticsLeftOut)
        return {
            "columns": self.columns,
            "statistics": self.statistics if statistics and not left_out else None,
            "labels": stored_dtype(self.dtype),
            "frame": self.frame,
            "chosen": self.learner.stored_choice(),
            "model": self.model,
        }

    def stored(self, *, statistics: bool = True) -> StoredModel:
        """Return what a file holds of it."""
        settings, state = self.learner.settings_to_store(), self.stored_state(statistics=statistics)
        name, names = self.learner.name, first_names(self.schema)
        about = {"model": name, **self.about(), "columns": names}
        if self.notes is not None:
            state[STATE] = self.notes.to_dict()
            about["target"] = self.notes.target
        if self.unlabelled is not None and self.unlabelled.asked != IGNORE:
            state[WITHOUT] = self.unlabelled.to_state(self.labels)
            about["unlabelled"] = str(self.unlabelled)
        return StoredModel(name, settings, state, about)

    def about(self) -> dict[str, Any]:
        """Return in words what was learned: how many rows, and of each class."""
        model = self.model
        weights = dict(zip(map(str, model.labels), model.weights.tolist(), strict=True))
        return {"rows": float(model.weights.sum()), "classes": weights}

    def with_notes(self, notes: TableNotes | None) -> Self:
        """Return it with how its table is read; what was estimated is kept."""
        found = replace(self, notes=notes)
        return found.knowing(self.fit) if self.is_estimated else found


def _check_same(ours: dict[str, object], theirs: dict[str, object]) -> None:
    """Refuse to merge what was learned under different settings."""
    different = [name for name in ours if ours[name] != theirs.get(name)]
    if different:
        raise DifferentKinds(
            "models with different settings cannot be merged: "
            + listed(f"{n}={ours[n]!r} and {theirs.get(n)!r}" for n in different),
            hint="give both the same settings",
        )
