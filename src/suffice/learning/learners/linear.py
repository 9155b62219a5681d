"""What linear classifiers have learned, and what it answers, however the weights were found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np

from suffice.columns.design import Design
from suffice.errors import BadRows, BadSetting, NotADensity, NotFinite
from suffice.learning.answers import comparison, place_of
from suffice.learning.label_types import class_array, label_kind, restored_dtype, stored_dtype
from suffice.learning.labelled_batch import opened, read_batch
from suffice.learning.learned import Learned
from suffice.learning.learner import Learner
from suffice.models.linear.averaged_form import AveragedForm
from suffice.places import Phrase, RowAt
from suffice.rows.bad_cells import refuse_blanks_of
from suffice.rows.sparse import SparseRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from suffice.columns import Columns
    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.learning.results import Contrasts, Explanation
    from suffice.models.linear.form import LinearForm
    from suffice.rows import FloatArray, Label

    T = TypeVar("T")


class KeptForm(Protocol):
    """What is kept of the rows: a form that scores, and what a search or a stream goes on from."""

    @property
    def model(self) -> LinearForm | AveragedForm:
        """What scores rows."""
        ...

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes, in order."""
        ...


R = TypeVar("R", bound=KeptForm)
"""What one kind of linear classifier keeps."""


@dataclass(frozen=True)
class LinearLearner(Learner[R, R]):
    """Learns weights of columns. There are no sums that suffice: it does not merge or forget.

    What is kept of the rows, in the place of statistics, is what was found: its model is a form.
    """

    adds_up: ClassVar[bool] = False
    takes_blanks: ClassVar[bool] = False
    without: ClassVar[frozenset[str]] = frozenset(
        (
            "estimate_priors", "forget", "gone_with", "log_density", "log_joint", "model_",
            "priors_", "statistics_", "vouch", "with_priors",
        )
    )  # fmt: skip

    @classmethod
    def lacking(cls, words: str) -> NotADensity:
        """Return why a linear classifier has no such answer."""
        return NotADensity(
            f"{cls.name} has no {words}: it has coefficients instead of sums, and no density",
            hint="GaussianDiscriminant and NaiveBayes are built from sums",
        )

    # Reading

    def read(
        self, X: object, y: object, weights: object = None, known: Learned[R, R] | None = None
    ) -> LabelledBatch:
        """Read labelled rows, coded as numbers; those of a model that is known as it says."""
        return read_batch(
            X, y, weights, partial(self._coded, known), opened if known is None else _opener(known)
        )

    def _coded(self, known: Learned[R, R] | None, table: object) -> tuple[Design, object]:
        """Return the design of a table, or the one that is known, and its rows."""
        design: Design = self.design(table) if known is None else known.columns.widened(table)
        return design, design.rows(table, self.name)

    def design(self, table: object) -> Design:
        """Return how the columns of a table are coded: categories have a column for every level."""
        return Design.infer(table, every_level=True)

    # What was learned

    def estimate(self, learned: Learned[R, R]) -> R:
        """Return what was found: there is nothing more to estimate."""
        return learned.statistics

    def kept_from(self, state: Mapping[str, object]) -> R:
        """Return what a file holds of what was found."""
        raise NotImplementedError

    def restored(self, state: Mapping[str, object]) -> Learned[R, R]:
        """Return what a file holds, of these settings."""
        kept = self.kept_from(state)
        classes = class_array(tuple(kept.labels), restored_dtype(state["labels"]))
        return self.keeping(state["columns"], kept, classes.dtype, label_kind(classes))

    def settings_to_store(self) -> dict[str, object]:
        """Return the settings that a file holds."""
        settings = super().settings_to_store()
        if isinstance(settings.get("random_state"), (np.random.Generator, np.random.RandomState)):
            settings["random_state"] = None  # a stream of numbers is nothing to keep
        return settings


def _opener(known: Learned) -> Callable[[object], object]:
    """Return what reads X as a table, or as sparse rows, by what a file says about the table."""
    return lambda X: known.as_learned(opened(X))


@dataclass(frozen=True, eq=False)
class LearnedLine(Learned[R, R]):
    """Scores weights·x + intercept, one for each class: predictions, posteriors, explanations.

    columns   the design: how columns are coded as those that have coefficients
    reader    turns X into the rows that θ multiplies, where that is not for the columns to do
    """

    reader: Callable[[object], Any] | None = None

    @property
    def schema(self) -> Columns:
        """The columns before they are coded: their names, kinds and levels."""
        found: Columns = self.columns.columns
        return found

    @property
    def design(self) -> Design:
        """How columns are coded."""
        found: Design = self.columns
        return found

    # Rows, and answers about them

    def rows(self, X: object) -> FloatArray | SparseRows:
        """Return rows as θ multiplies them."""
        if self.reader is not None:
            return self.reader(X)  # type: ignore[no-any-return]
        return self.design.rows(self.as_learned(opened(X)), self.learner.name)

    def asked(self, X: object, answer: Callable[[Any], T]) -> T:
        """Answer about rows; a cell that is not finite is refused by name."""
        rows = self.rows(X)
        try:
            return answer(rows)
        except NotFinite:
            refuse_blanks_of(rows, self.design.names)
            raise

    def predict(self, X: object) -> NDArray[np.generic]:
        """Return the best-scored class of each row."""
        found: NDArray[np.generic] = self.classes[self.asked(X, self.statistics.model.codes)]
        return found

    def decisions(self, X: object) -> FloatArray:
        """Return the score of the second class against the first, or one score a class (n, k)."""
        return self.asked(X, self.statistics.model.decisions)

    def linear(self, what: str) -> LinearForm:
        """Return the one linear form that scores rows; an average of probabilities has none."""
        form = self.statistics.model
        if isinstance(form, AveragedForm):
            raise BadSetting(
                f"there is no {what}: probabilities are averaged over {len(form.members)} "
                "penalties, and an average of softmaxes is not a linear form",
                hint='use penalty="auto": it chooses one penalty, so there are coefficients',
            )
        return form

    def against(self, reference: Label | None = None) -> Contrasts:
        """Return θ and θ₀ of every other class against one (the first, unless named)."""
        from suffice.learning.results import Contrasts

        form, classes = self.linear("contrast of classes"), self.classes
        place = 0 if reference is None else place_of(reference, form.labels)
        form = form.against(form.labels[place])
        others = [c for c in range(len(classes)) if c != place]
        return Contrasts(
            classes[place],
            classes[others],
            form.weights[others],
            form.intercepts[others],
            self.design.names,
        )

    def explain(
        self, X: object, of: Label | None = None, against: Label | None = None
    ) -> Explanation:
        """Split the score of one class against another by column, row by row."""
        from suffice.learning.results import Explanation

        form, classes = self.linear("split of a score by column"), self.classes
        pair = comparison(form.labels, of, against)

        def answer(rows: Any) -> Explanation:
            first, second = pair(form.posterior(rows, log=True))
            filled = rows.toarray() if isinstance(rows, SparseRows) else rows
            with np.errstate(over="ignore"):
                parts = (filled - form.origin) * (form.weights[first] - form.weights[second])
            if not np.isfinite(parts).all():
                raise _too_far(parts)
            summed = np.zeros((len(parts), len(self.schema.columns)))
            np.add.at(summed.T, self.design.owners, parts.T)
            return Explanation(
                classes[first],
                classes[second],
                form.offsets[first] - form.offsets[second],
                summed,
                None,
                tuple(self.schema.names),
            )

        return self.asked(X, answer)

    # On disk

    def stored_state(self, *, statistics: bool = True) -> dict[str, object]:  # noqa: ARG002
        """Return what was learned, by name; without statistics, what is needed to answer."""
        if self.reader is not None:
            raise BadSetting(
                "an implied model cannot be saved: it reads rows as the model it came from does",
                hint="save the naive Bayes model itself, and call to_logistic() after load",
            )
        return {
            "columns": self.design,
            "statistics": None,
            "labels": stored_dtype(self.dtype),
            "model": self.statistics.model,
        }

    def about(self) -> dict[str, object]:
        """Return in words what was learned."""
        return {"classes": [str(label) for label in self.labels]}


def _too_far(parts: FloatArray) -> BadRows:
    row = int(np.argmin(np.isfinite(parts).all(axis=1)))
    said = "{row} is too extreme: the contributions of its columns overflow"
    return BadRows(
        Phrase(said, row=RowAt(row)),
        hint="its class and its probabilities are still defined: predict, predict_proba",
    )
