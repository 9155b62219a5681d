"""Logistic regression of rows that are somewhere else: one pass over them for each step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from suffice.columns import Columns
from suffice.columns.design import DeclaredLevels, Design
from suffice.engines.parts import Mergeable
from suffice.errors import BadSetting
from suffice.learning.label_types import check_label_kinds, class_array, joined_dtype, label_kind
from suffice.learning.labelled_batch import naming, opened, read_batch
from suffice.models.linear.logistic.fit import fit_loss
from suffice.models.linear.logistic.loss import LogisticLoss
from suffice.models.linear.logistic.remote_loss import RemoteLoss
from suffice.models.linear.online.seen_rows import SeenRows
from suffice.models.linear.penalty_path.walk import chosen_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.learning.learners.logistic_settings import LogisticSettings
    from suffice.models.linear.form import LinearForm
    from suffice.models.linear.logistic.result import LogisticFit
    from suffice.rows import FloatArray
    from suffice.sources import Chunk, Source, Wanted

S = TypeVar("S", bound=Mergeable)

DRAWN = 65_536
"""Rows of a source that are held here at least, to stand for all of them on the way;"""
PER_COLUMN = 64
"""and this many for each column."""


@dataclass(frozen=True, slots=True, eq=False)
class Looked:
    """What one pass over a source tells: its columns with their levels, labels, weights.

    declared  which levels there are in rows, of those that are declared
    seen      the moments too, where all columns are numbers
    lightest  the smallest weight of a row
    """

    columns: Columns
    declared: DeclaredLevels
    dtype: np.dtype[np.generic]
    kind: str
    seen: SeenRows | None
    lightest: float

    def __add__(self, other: Self) -> Self:
        """Return what both tell."""
        check_label_kinds(self.kind, other.kind)
        seen = None
        if self.seen is not None and other.seen is not None:
            seen = self.seen + other.seen
        return type(self)(
            self.columns.widened(other.columns)[0],
            self.declared + other.declared,
            joined_dtype(self.dtype, other.dtype),
            self.kind,
            seen,
            min(self.lightest, other.lightest),
        )

    def design(self, every_level: bool, intercept: bool) -> Design:
        """Return the design of all rows: the one that they would have if they were here."""
        columns = self.declared.in_order(self.columns)
        columns = columns if every_level else self.declared.used(columns)
        return Design.of(columns, every_level, intercept)


@dataclass(frozen=True, eq=False)
class SourceRows:
    """The rows of a source as logistic regression sees them, chunk by chunk, where they are."""

    source: Source
    wanted: Wanted
    learner: LogisticSettings[Any]

    def survey(self) -> Looked:
        """Return what one pass over the rows tells."""
        name = self.learner.name
        # Levels that a part does not have may be in another: none is left out before all are seen.
        reader = _uncoded(None)

        def summarize(chunk: Chunk) -> Looked:
            batch = reader(chunk.table, chunk.labels, chunk.weights)
            columns = Columns.infer(batch.rows)
            seen = None
            if columns.is_plain:
                design = Design(columns)
                rows = design.rows(batch.rows, name)
                seen = _seen_rows(replace(batch, columns=design, rows=rows), rows)
            return Looked(
                columns,
                DeclaredLevels.of(batch.rows),
                batch.classes.dtype,
                label_kind(batch.classes),
                seen,
                _lightest(batch),
            )

        return self.source.collected(summarize, self.wanted)

    def moments(self, design: Design) -> SeenRows:
        """Return the moments of all rows, coded as a design says."""
        name = self.learner.name
        return self._collected(
            design, lambda batch: _seen_rows(batch, design.rows(batch.rows, name))
        )

    def fit(self, looked: Looked) -> tuple[Any, ...]:
        """Return the maximum of the likelihood, what answers, the path of penalties, and the rest.

        That is what is known of the rows, their classes, and the design.
        """
        learner = self.learner
        intercept = bool(learner.intercept)
        design = looked.design(learner.is_penalised, intercept)
        seen = looked.seen if looked.seen is not None else self.moments(design)
        drawn = self._drawn(design, seen)
        loss = RemoteLoss.over(
            self._everywhere(design, seen.labels), seen, looked.lightest, drawn, intercept
        )
        average = learner.penalty == "average"

        def fit(penalty: float, start: LinearForm | None) -> LogisticFit:
            return fit_loss(
                loss,
                seen.labels,
                penalty,
                start,
                float(learner.tolerance),
                False if average else learner.standard_errors,
                int(learner.max_passes),
            )

        rest = seen, class_array(seen.labels, looked.dtype), design
        if not learner.is_path or len(seen.labels) == 1:
            found = fit(0.0 if learner.is_path else float(learner.penalty), None)
            return found, found.form, None, *rest
        if drawn is None:
            raise BadSetting(
                f"penalty={learner.penalty!r} needs a sample of rows from the source to compare "
                "penalties",
                hint="this source cannot give one: use a number, such as penalty=1.0",
            )
        rows, codes, weights = drawn
        walk = chosen_path(rows, codes, seen.labels, weights, intercept=intercept, size=seen.size)
        if average:
            form, best = walk.averaged(fit)
            return best, form, walk.path, *rest
        found = walk.chosen(fit)
        return found, found.form, walk.path, *rest

    def _everywhere(self, design: Design, labels: tuple[object, ...]) -> Any:
        name = self.learner.name

        def everywhere(
            summarize: Callable[[LogisticLoss], S], origin: FloatArray, inverse: FloatArray
        ) -> S:
            def of_batch(batch: LabelledBatch) -> S:
                rows: Any = design.rows(batch.rows, name)
                codes = _codes(batch, labels)
                return summarize(
                    LogisticLoss(rows, codes, len(labels), batch.weights, origin, inverse)
                )

            return self._collected(design, of_batch)

        return everywhere

    def _collected(self, design: Design, summarize: Callable[[LabelledBatch], S]) -> S:
        """Return the merged summary of all chunks, read but not yet coded."""
        reader = _uncoded(design)
        return self.source.collected(
            lambda chunk: summarize(reader(chunk.table, chunk.labels, chunk.weights)), self.wanted
        )

    def _drawn(self, design: Design, seen: SeenRows) -> Any:
        width = len(design.names)
        some = self.source.some(self.wanted, max(DRAWN, PER_COLUMN * width))
        if some is None:
            return None
        batch = _uncoded(design)(some.table, some.labels, some.weights)
        rows = design.rows(batch.rows, self.learner.name)
        return rows, _codes(batch, seen.labels), batch.weights


def _uncoded(design: Design | None) -> Callable[[object, object, object], LabelledBatch]:
    """Return what reads rows as a table, which the design can code."""
    return partial(read_batch, coded=lambda table: (design, table), read=opened)


def _seen_rows(batch: LabelledBatch, rows: Any) -> SeenRows:
    found: SeenRows = naming(
        batch, lambda: SeenRows.of(rows, batch.codes, batch.labels, batch.weights)
    )
    return found


def _lightest(batch: LabelledBatch) -> float:
    return 1.0 if batch.weights is None else float(batch.weights.min())


def _codes(batch: LabelledBatch, labels: tuple[object, ...]) -> Any:
    places = {label: place for place, label in enumerate(labels)}
    return np.array([places[label] for label in batch.labels], dtype=np.intp)[batch.codes]
