"""A learner: settings that have been checked, and how labelled rows become what is learned."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self

from suffice.errors import DifferentKinds, NotADensity, NotFinite, SufficeError
from suffice.learning.label_types import class_array, label_kind, restored_dtype
from suffice.learning.labelled_batch import (
    KEPT,
    LEFT_OUT,
    REFUSED,
    TOO_LATE,
    naming_cells,
)
from suffice.learning.left_out import ModelAlone, StatisticsLeftOut
from suffice.learning.unlabelled.record import IGNORE, Unlabelled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from typing_extensions import TypeVar  # of type checkers; nothing here imports it

    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.learning.learned import Learned
    from suffice.rows import FloatArray, IntArray, Label
    from suffice.sources import Source, Wanted

    Accepts = Callable[[FloatArray], bool]
    S = TypeVar("S", default=Any)
    F = TypeVar("F", default=Any)
else:
    from typing import TypeVar

    S = TypeVar("S")
    """Statistics: what the data said."""
    F = TypeVar("F")
    """A fit: what statistics become; it has a `model`.

    A plain `Learner` or `Learned` is of any kind: files, folds, commands and clusters hold
    whatever was learned, and hand it to the learner that it came from, which alone knows of what.
    """


@dataclass(frozen=True)
class Learner(ABC, Generic[S, F]):
    """Settings, by the names that the estimator has for them, and what the first rows decided.

    What is particular to a kind of model about learning is in the methods of its learner:

        read       labelled rows, by the columns that are known, which they may widen
        choose     what is left to the data becomes a setting, on the first rows, and stays
        summarize  rows become statistics, which add up
        estimate   statistics become a model

    Settings are checked when a learner is made. It is never changed, holds nothing that was
    learned, and can travel to where the rows are.
    """

    _: KW_ONLY
    chosen: Any = None
    """What was decided on the first rows; None where nothing is."""

    key: ClassVar[tuple[Any, ...]] = ()
    """The settings, to be compared with those of an estimator; each learner has its own."""
    name: ClassVar[str]
    """The estimator that has these settings: in files, and in refusals."""
    later_settings: ClassVar[Mapping[str, object]] = {}
    """Settings that files did not have from the beginning, with their defaults: these are not
    written, so that models without them are written as they always were."""
    choice_hint: ClassVar[str] = (
        "give both the same settings, and none that are chosen from the data"
    )
    """What to do where two models cannot be merged, for they chose differently."""

    adds_up: ClassVar[bool] = True
    """Whether what was learned is sums: merged by `+`, taken back by `-`, read in one pass."""
    if TYPE_CHECKING:  # in a class of its own it would come before the settings of all others
        unlabelled: ClassVar[float | str | None]
    faint: ClassVar[float] = 1e-6
    """Shares of a class in a row without a label that are passed over."""
    reruns: ClassVar[int] = 20
    """How often EM is done anew to see whether rows without a label have helped, at most."""
    takes_blanks: ClassVar[bool] = True
    """Whether cells may be blank; of others they are filled before."""
    without: ClassVar[frozenset[str]] = frozenset()
    """Answers that a model of these settings does not have, though its kind does."""

    @classmethod
    def lacking(cls, words: str) -> SufficeError:
        """Return why a model has no such answer."""
        return NotADensity.of(words)

    def __post_init__(self) -> None:
        """Check the settings, of which nobody else can change any from now on."""
        for setting in setting_names(type(self)):
            value = getattr(self, setting)
            if hasattr(value, "items"):
                object.__setattr__(self, setting, dict(value))
            elif isinstance(value, list):
                object.__setattr__(self, setting, list(value))
        self.check()
        self.__dict__["key"] = settings_of(type(self))(self)

    def __getstate__(self) -> dict[str, object]:
        """Leave out what is only remembered: it is made again where it is needed."""
        return {name: held for name, held in self.__dict__.items() if not name.startswith("(")}

    def settings(self) -> dict[str, object]:
        """Return the settings by name, in the order in which files have them."""
        return {name: getattr(self, name) for name in sorted(setting_names(type(self)))}

    def settings_to_store(self) -> dict[str, object]:
        """Return the settings that a file holds: later ones only where they are not the default."""
        settings = self.settings()
        for name, default in self.later_settings.items():
            if settings[name] is None or settings[name] == default:
                del settings[name]
        return settings

    def deciding(self, chosen: object) -> Self:
        """Return the same settings with what was decided before."""
        return self if chosen is self.chosen else replace(self, chosen=chosen)

    # What a kind of model says about learning

    @abstractmethod
    def check(self) -> None:
        """Refuse settings that have no meaning."""

    @abstractmethod
    def read(
        self, X: object, y: object, weights: object = None, known: Learned[S, F] | None = None
    ) -> LabelledBatch:
        """Read labelled rows."""

    @property
    def needs_choice(self) -> bool:
        """Whether anything is decided by the rows."""
        return False

    def choose(self, batch: LabelledBatch) -> Self:  # noqa: ARG002
        """Return the learner in which nothing is left to be decided."""
        return self

    @abstractmethod
    def summarize(self, batch: LabelledBatch) -> S:
        """Return the statistics of rows; of what does not add up, what is found in their place."""

    @abstractmethod
    def estimate(self, learned: Learned[S, F]) -> F:
        """Return what statistics become."""

    # What only sums are asked for

    def of_model(self) -> Any:
        """Return family, priors and what else estimating takes, as `suffice.models` has them."""
        raise NotImplementedError

    def merged(self, left: Learned[S, F], right: Learned[S, F]) -> tuple[object, S]:
        """Return the columns and the statistics of both; kinds and choices are the same."""
        raise NotImplementedError

    def forgetting(self, learned: Learned[S, F]) -> Callable[[S], S]:
        """Return the function that takes statistics away from those of `learned`.

        A function, so that its warnings are told about the line that called `forget`: it is
        called from there.
        """
        raise NotImplementedError

    def waits(self, learned: Learned[S, F]) -> Accepts | None:  # noqa: ARG002
        """Return what says whether a row (1, d) of float64 may wait for others; None: none may.

        It may only if it would be learned without any refusal, and if learning it together with
        others comes to the same.
        """
        return None

    def certain_rows(self, learned: Learned[S, F]) -> int:  # noqa: ARG002
        """Return how many rows are certain to be learned, if `read` and `prepared` take them.

        They are of known classes, add no level of a column, and are moderate: sums of their
        squares are finite. 0 where that cannot be known before they are learned.
        """
        return 0

    @abstractmethod
    def keeping(
        self,
        columns: object,
        statistics: S,
        dtype: np.dtype[np.generic],
        kind: str,
        frame: str | None = None,
    ) -> Learned[S, F]:
        """Return statistics, with what else there is to know of their rows, as what was learned."""

    def first(
        self,
        batch: LabelledBatch,
        last: Learned[S, F] | None = None,  # noqa: ARG002
    ) -> Learned[S, F]:
        """Return what is learned from the first batch, by which "auto" becomes a setting.

        `last` is what was learned before, from other rows: a search may begin there.
        """
        decided = self.choose(batch) if self.chosen is None else self
        found = decided.learned(batch)
        if batch.without is None or self.blanks(None) != KEPT:
            return found
        from suffice.learning.unlabelled.soft_rows import with_unlabelled

        alone = found
        if self.chosen is None and self.needs_choice:  # what labelled rows by themselves decide
            plain = replace(batch, without=replace(batch.without, whole=None))
            alone = self.choose(plain).learned(plain)
        return with_unlabelled(found, batch, alone)

    def learned(self, batch: LabelledBatch) -> Learned[S, F]:
        """Return what is learned from one batch by itself."""
        dtype, kind = batch.classes.dtype, label_kind(batch.classes)
        found = self.keeping(batch.columns, self.summarize(batch), dtype, kind, batch.frame)
        if batch.without is None:
            return found
        return replace(found, unlabelled=Unlabelled(batch.without.count))

    # What only those are asked for that learn from rows without a label

    def blanks(self, known: Learned[S, F] | None) -> str:
        """Return what becomes of rows without a label; `known` is what was learned before."""
        asked = getattr(self, "unlabelled", None)
        if asked is None:
            return REFUSED
        if asked == IGNORE:
            return LEFT_OUT
        return KEPT if known is None else TOO_LATE

    def prepared(self, rows: object) -> object:
        """Return the rows of a batch as the model takes them."""
        return rows

    def said(
        self,
        rows: object,
        codes: IntArray,
        labels: Sequence[Label],
        weights: FloatArray,
        batch: LabelledBatch,
    ) -> S:
        """Return the statistics of prepared rows, which came with the batch."""
        own = replace(batch, rows=rows, codes=codes, labels=tuple(labels), weights=weights)
        return self.summarize(own)

    # What only those are asked for that are not sums

    def begun(self, batch: LabelledBatch) -> Learned[S, F]:
        """Return what is learned from the first rows of a stream."""
        return self.first(batch)

    def check_stream(self, known: Learned[S, F] | None) -> None:
        """Refuse settings under which nothing is learned from more rows."""

    def searched(self, source: Source, wanted: Wanted) -> Learned[S, F]:
        """Return what is learned from rows that are somewhere else, and read for every step."""
        raise NotImplementedError

    # What files hold of a choice

    def stored_choice(self) -> object:
        """Return what was decided as objects that a file may hold."""
        return self.chosen

    def restored_choice(self, stored: object) -> object:
        """Return what was decided."""
        return stored

    def restored(self, state: Mapping[str, Any]) -> Learned[S, F]:
        """Return what a file holds, of these settings."""
        statistics, model = state["statistics"], state["model"]
        held: Any = StatisticsLeftOut(model.labels) if statistics is None else statistics
        dtype = restored_dtype(state["labels"])
        kind = label_kind(class_array(tuple(held.labels), dtype))
        decided = self.deciding(self.restored_choice(state["chosen"]))
        found = decided.keeping(state["columns"], held, dtype, kind, state["frame"])
        if statistics is None:
            return found.knowing(ModelAlone(model))  # type: ignore[arg-type]
        if tuple(statistics.labels) != tuple(model.labels):
            raise ValueError("the model does not match its statistics")
        return found

    def check_mergeable(self, left: Learned[S, F], right: Learned[S, F]) -> None:
        """Refuse what cannot be added up, though settings and kinds of labels are the same."""
        if left.learner.chosen != right.learner.chosen:
            raise DifferentKinds(
                "the settings chosen from the data differ: "
                f"{left.learner.chosen} and {right.learner.chosen}",
                hint=self.choice_hint,
            )


def summary_of(learner: Any, batch: LabelledBatch, *more: object) -> Any:
    """Return the statistics of rows that are numbers; a bad cell is refused by name."""
    try:
        return learner.summarize(batch.rows, batch.codes, batch.labels, batch.weights, *more)
    except NotFinite as error:
        raise naming_cells(error, batch.rows, batch.columns, batch.places) from None


@cache
def setting_names(kind: type[Learner]) -> tuple[str, ...]:
    """Return the names of settings, in the order of the estimator."""
    return tuple(field.name for field in fields(kind) if field.name != "chosen")


@cache
def settings_of(kind: type[Learner]) -> Callable[[object], tuple[object, ...]]:
    """Return the function from an estimator, or a learner, to its settings as they are now.

    Made of source, as dataclasses make theirs: it is called for every single row, and a tuple of
    attributes is there in half the time that `attrgetter` takes.
    """
    parts = ", ".join(f"holder.{name}" for name in setting_names(kind))
    found: Callable[[object], tuple[object, ...]] = eval(f"lambda holder: ({parts},)")  # noqa: S307
    return found


def unchanged(held: tuple[object, ...], settings: tuple[object, ...]) -> bool:
    """Whether settings are those that are held."""
    try:
        return held == settings
    except ValueError:  # an array, which is no setting: it will be refused in words
        return False
