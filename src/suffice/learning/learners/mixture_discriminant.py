"""How classes that are mixtures are learned, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.columns import Columns
from suffice.errors import BadRows, BadSetting, NotADensity, NotANumber, NotFinite, listed
from suffice.learning.collect import MOST_CELLS, rows_that_fit, spooled
from suffice.learning.label_types import class_array, label_kind, restored_dtype
from suffice.learning.labelled_batch import naming_cells, read_batch
from suffice.learning.learner import Learner
from suffice.learning.learners.mixture_answers import (
    KeptMixtures,
    LearnedMixtures,
    MixturesFit,
    StreamedMixtures,
)
from suffice.models.gaussian.learner import checked_log_priors
from suffice.models.mixture.classes import MOST_SUBCLASSES, RowsByClass, fit_classes
from suffice.models.mixture.factored.factor_forms import check_factors, factor_forms
from suffice.models.mixture.fitting import MixtureSettings, forms_to_try
from suffice.rows import CATEGORY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.learning.learned import Learned
    from suffice.models.mixture.streams.class_streams import ClassSettings, ClassStreams
    from suffice.rows import Label, Table
    from suffice.sources import Source, Wanted

LEFT_OUT = "left-out"
CRITERIA = ("bic", LEFT_OUT)
"""By what numbers of components are chosen: BIC, or the loss of rows that are left out by folds."""


@dataclass(frozen=True)
class MixtureDiscriminantLearner(Learner[Any, MixturesFit]):
    """Learns a mixture for each class; the settings are those of MixtureDiscriminant.

    Which rows belong to which component is not known: there are no sums that suffice, so that
    it does not merge or forget. Of a stream each row goes by once (stepwise EM).
    """

    components: Any = "auto"
    covariance: Any = "auto"
    shared: bool = False
    priors: Mapping[Label, float] | None = None
    prior: bool = False
    tol: float = 1e-8
    max_iter: int = 1000
    random_state: Any = 0
    criterion: str = "bic"
    factors: Any = None

    name: ClassVar[str] = "MixtureDiscriminant"
    later_settings: ClassVar[Mapping[str, object]] = {"criterion": "bic", "factors": None}
    adds_up: ClassVar[bool] = False
    without: ClassVar[frozenset[str]] = frozenset(
        ("estimate_priors", "forget", "gone_with", "statistics_", "vouch")
    )

    @classmethod
    def lacking(cls, words: str) -> NotADensity:
        """Return why classes that are mixtures have no such answer."""
        return NotADensity(
            f"{cls.name} has no {words}: the component of each row is estimated from all rows "
            "together, so there are no sums that rows could be removed from",
            hint="fit again on the remaining rows; GaussianDiscriminant is built from sums",
        )

    # Settings

    def check(self) -> None:
        """Refuse settings that have no meaning, before any row is read."""
        forms_to_try(self.covariance, 1 << 40, 2)
        check_factors(self.factors, self.covariance)
        if isinstance(self.components, Mapping):
            for label, number in self.components.items():
                _whole(f"components[{label!r}]", number, 1)
        elif self.components != "auto":
            _whole("components", self.components, 1)
        for name in ("shared", "prior"):
            if getattr(self, name) not in (True, False):
                raise BadSetting(
                    f"{name}={getattr(self, name)!r:.50} is neither True nor False",
                    hint=f"{name}=True",
                )
        if self.criterion not in CRITERIA:
            raise BadSetting(
                f"criterion={self.criterion!r:.50} is not known",
                hint='choose "bic" or "left-out"',
            )
        real = isinstance(self.tol, Real) and not isinstance(self.tol, bool)
        if not real or not 0.0 <= float(self.tol) < np.inf:
            raise BadSetting(
                f"tol={self.tol!r:.50} is not a tolerance", hint="use a number such as 1e-8"
            )
        _whole("max_iter", self.max_iter, 1)
        _whole("random_state", self.random_state, 0)

    def numbers(self, labels: Sequence[Label], sizes: Sequence[int]) -> list[tuple[int, ...]]:
        """Return, for each class, the numbers of components to try."""
        asked: Any = self.components
        if isinstance(asked, Mapping):
            return [(int(asked.get(label, 1)),) for label in labels]
        if asked == "auto":
            return [tuple(range(1, min(MOST_SUBCLASSES, max(size, 1)) + 1)) for size in sizes]
        return [(int(asked),)] * len(labels)

    def check_named(self, labels: Sequence[Label]) -> None:
        """Refuse numbers of components for what is no class, where all classes are known."""
        named = self.components if isinstance(self.components, Mapping) else {}
        unknown = [label for label in named if label not in labels]
        if unknown:
            raise BadSetting(
                f"components name {listed(map(repr, unknown))}, which is not a class",
                hint=f"the classes are {listed(map(repr, labels))}; a class that is not named "
                "has one component",
            )

    def forms(self, width: int) -> Any:
        """Return the forms to try, of factors where they are asked for; or "auto"."""
        if self.factors is None:
            return self.covariance
        return factor_forms(self.factors, self.covariance, width)

    @property
    def settings_of_mixtures(self) -> MixtureSettings:
        """The settings of EM, whatever the class."""
        return MixtureSettings(
            (1,), (), None, bool(self.prior), "bic", float(self.tol), int(self.max_iter),
            int(self.random_state),
        )  # fmt: skip

    # Learning

    def read(
        self,
        X: object,
        y: object,
        weights: object = None,
        known: Learned[Any, MixturesFit] | None = None,
    ) -> LabelledBatch:
        """Read labelled rows of numbers."""
        return read_batch(X, y, weights, partial(self._coded, known))

    def _coded(self, known: Learned | None, table: Table) -> tuple[Columns, object]:
        columns = Columns.infer(table) if known is None else known.columns
        other = [one.name for one in columns.columns if one.kind == CATEGORY]
        if other:
            raise NotANumber(
                f"categorical columns cannot be normally distributed: {listed(other)}",
                hint="leave them out; NaiveBayes and GaussianDiscriminant take them",
            )
        return columns, np.asarray(columns.encode(table, self.name), dtype=np.float64)

    def searched(self, source: Source, wanted: Wanted) -> Learned[Any, MixturesFit]:
        """Learn from rows that are somewhere else: all of them at once."""
        source = spooled(source, wanted) if source.once else source
        few = rows_that_fit(source, wanted)
        if few is None:
            raise BadRows(
                f"{self.name} needs all rows at once, and {source.name} has more than "
                f"{MOST_CELLS:,} cells, or is not read here",
                hint="give a part of the rows; GaussianDiscriminant reads any number of them",
            )
        return self.first(self.read(few.table, few.labels, few.weights))

    def summarize(self, batch: LabelledBatch) -> KeptMixtures:
        """Return the mixture of every class."""
        _refuse_infinite(batch)
        labels = tuple(batch.labels)
        rows = RowsByClass.of(batch.rows, batch.codes, len(labels), batch.weights)
        settings, forms = self.settings_of_mixtures, self.forms(batch.rows.shape[1])
        self.check_named(labels)
        numbers = self.numbers(labels, [len(one.sample.rows) for one in rows.surveys])
        if self.criterion == LEFT_OUT and max(len(one) for one in numbers) > 1:
            from suffice.models.mixture.numbers.left_out import left_out_numbers

            numbers = left_out_numbers(
                batch.rows, batch.codes, batch.weights, labels, numbers, forms, settings,
                shared=bool(self.shared),
                log_priors=None if self.priors is None else checked_log_priors(self.priors, labels),
            )  # fmt: skip
        found = fit_classes(rows, labels, numbers, forms, settings, shared=bool(self.shared))
        return KeptMixtures.of(labels, np.array([part.weight for part in rows.parts]), found)

    def estimate(self, learned: Learned[Any, MixturesFit]) -> MixturesFit:
        """Return what answers under the priors."""
        held = learned.statistics
        kept = held.kept if isinstance(held, StreamedMixtures) else held
        return MixturesFit(kept.model(self.priors), kept)

    # Streams

    def check_stream(self, known: Learned[Any, MixturesFit] | None) -> None:
        """Refuse settings under which nothing is learned from a stream."""
        if known is None and self.criterion == LEFT_OUT:
            raise BadSetting(
                f"criterion={LEFT_OUT!r} cannot be combined with partial_fit: it leaves out parts "
                "of all rows in turn",
                hint='use criterion="bic", or fit the first rows: partial_fit goes on from there',
            )

    def begun(self, batch: LabelledBatch) -> LearnedMixtures:
        """Return what is learned from the first rows of a stream."""
        from suffice.models.mixture.streams.class_streams import ClassStreams

        found = self.streamed(ClassStreams.empty(), batch)
        dtype, kind = batch.classes.dtype, label_kind(batch.classes)
        return self.keeping(batch.columns, found, dtype, kind, batch.frame)

    def class_settings(self, width: int) -> ClassSettings:
        """Return how the classes of a stream of so many columns are fitted."""
        from suffice.models.mixture.streams.class_streams import ClassSettings

        return ClassSettings(
            self.numbers, self.forms(width), self.settings_of_mixtures, bool(self.shared)
        )

    def streamed(self, streams: ClassStreams, batch: LabelledBatch) -> StreamedMixtures:
        """Return what a stream has come to when the rows of a batch have gone by."""
        _refuse_infinite(batch)
        asked = self.class_settings(batch.rows.shape[1])
        more = streams.after(batch.labels, batch.rows, batch.codes, batch.weights, asked)
        return StreamedMixtures(more, asked)

    def keeping(self, *learned: Any) -> LearnedMixtures:
        """Return what was found, with what else there is to know, as what was learned."""
        return LearnedMixtures(self, *learned)

    # On disk

    def restored(self, state: Mapping[str, Any]) -> Learned[Any, MixturesFit]:
        """Return what a file holds, of these settings."""
        model, record = state["model"], state["mixtures"]
        kept = KeptMixtures(
            model.labels, model.densities, model.weights, record.forms, record.log_likelihood,
            record.parameters, record.converged, record.steps,
        )  # fmt: skip
        classes = class_array(tuple(model.labels), restored_dtype(state["labels"]))
        found = self.keeping(
            state["columns"], kept, classes.dtype, label_kind(classes), state["frame"]
        )
        if "streams" not in state:
            return found
        asked = self.class_settings(len(model.densities.origin))
        going_on = replace(found, statistics=StreamedMixtures(state["streams"], asked))
        return going_on.knowing(MixturesFit(model, kept))


def _refuse_infinite(batch: LabelledBatch) -> None:
    if np.isinf(batch.rows).any():
        raise naming_cells(NotFinite.of_range(()), batch.rows, batch.columns, batch.places)


def _whole(name: str, value: object, least: int) -> None:
    """Refuse what is not a whole number of at least so many."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        auto = ' or "auto"' if name == "components" else ""
        raise BadSetting(
            f"{name}={value!r:.50} is not a whole number of at least {least}",
            hint=f"use a number, such as {max(least, 3)}{auto}",
        )
