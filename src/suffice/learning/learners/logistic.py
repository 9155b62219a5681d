"""How logistic regression learns: all rows at once, or a stream of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.errors import (
    BadSetting,
    DegenerateData,
    DidNotConverge,
    StatisticsMissing,
    listed,
    warn,
)
from suffice.learning.collect import rows_that_fit, spooled
from suffice.learning.label_types import check_label_kinds, class_array, joined_dtype, label_kind
from suffice.learning.labelled_batch import naming
from suffice.learning.learners.linear import LearnedLine
from suffice.learning.learners.logistic_settings import LogisticSettings
from suffice.learning.randomness import random_generator
from suffice.models.linear.averaged_form import AveragedForm
from suffice.models.linear.logistic.fit import fit_logistic
from suffice.models.linear.online.seen_rows import SeenRows
from suffice.models.linear.online.stochastic import Stochastic, resumed, seen_at_fit
from suffice.models.linear.standardisation import refuse_narrow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from suffice.columns.design import Design
    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.learning.learned import Learned
    from suffice.learning.results import SeparatedClasses
    from suffice.models.linear.form import LinearForm
    from suffice.models.linear.logistic.result import LogisticFit
    from suffice.models.linear.penalty_path.path import PenaltyPath
    from suffice.rows import Label
    from suffice.sources import Source, Wanted

    Searched = tuple[LogisticFit, LinearForm | AveragedForm, PenaltyPath | None]


@dataclass(frozen=True, eq=False)
class KeptLogistic:
    """What logistic regression keeps of its rows: θ, and what a stream goes on from.

    model    what scores rows: linear, or an average over some that are
    found    the maximum of the likelihood; None of a stream, of an average and of an implied θ
    seen     the moments of the columns, at that maximum
    stream   where single steps stand; None where none were taken
    path     the penalties that the rows were asked about
    best     of an average, the fit of the best penalty: it is told about, and not stored
    """

    model: LinearForm | AveragedForm
    found: LogisticFit | None = None
    seen: SeenRows | None = None
    stream: Stochastic | None = None
    path: PenaltyPath | None = None
    best: LogisticFit | None = None

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes, in order."""
        return self.model.labels

    @classmethod
    def of(cls, searched: Searched, seen: SeenRows) -> Self:
        """Return what a search has found; an average has no θ of its own to go on from."""
        found, form, path = searched
        if isinstance(form, AveragedForm):
            return cls(form, path=path, best=found)
        return cls(form, found, seen, path=path)


@dataclass(frozen=True)
class LogisticClassifierLearner(LogisticSettings[KeptLogistic]):
    """Learns p(y | x) by itself; the settings are those of LogisticRegression.

    >>> learner = LogisticClassifierLearner(1.0)
    >>> rows = learner.read([[1.0], [2.0], [5.0], [6.0]], list("aabb"))
    >>> learner.learned(rows).predict([[1.4], [5.1]])
    array(['a', 'b'], dtype='<U1')
    """

    name: ClassVar[str] = "LogisticRegression"

    # All rows at once

    def first(
        self, batch: LabelledBatch, last: Learned[KeptLogistic, KeptLogistic] | None = None
    ) -> LearnedLogistic:
        """Return the maximum of the likelihood; the search may begin where the last one ended."""
        if self.solver == "sgd":
            return self._by_steps(batch)
        start = last.statistics.model if self.warm_start and last is not None else None
        if last is None or not last.columns.same_as(batch.columns):
            start = None
        return self._at_maximum(batch, None if isinstance(start, AveragedForm) else start)

    def learned(self, batch: LabelledBatch) -> LearnedLogistic:
        """Return what is learned from one batch by itself."""
        return self.first(batch)

    def summarize(self, batch: LabelledBatch) -> KeptLogistic:
        """Return what is found: the maximum of the likelihood of these rows."""
        return self.first(batch).statistics

    def keeping(self, *learned: Any) -> LearnedLogistic:
        """Return what was found, with what else there is to know, as what was learned."""
        return LearnedLogistic(self, *learned)

    def _at_maximum(self, batch: LabelledBatch, start: LinearForm | None) -> LearnedLogistic:
        """Return what is learned from all rows at once."""
        searched: Searched = naming(batch, lambda: self._search(batch, start))
        found = searched[0]
        if found.intercept:
            seen = seen_at_fit(found, batch.rows, batch.codes, batch.weights)
        else:  # whose columns were not centred: their means are not known yet
            seen = SeenRows.of(batch.rows, batch.codes, batch.labels, batch.weights)
        design = with_usual(batch.columns, searched[1], seen)
        kept, dtype = KeptLogistic.of(searched, seen), batch.classes.dtype
        return self.keeping(design, kept, dtype, label_kind(batch.classes), batch.frame)

    def _search(self, batch: LabelledBatch, start: LinearForm | None) -> Searched:
        """Return the maximum over rows that are here, what answers, and the path that led there."""

        def fit(penalty: float, start: LinearForm | None) -> LogisticFit:
            return fit_logistic(
                batch.rows,
                batch.codes,
                batch.labels,
                batch.weights,
                penalty,
                l1_ratio=float(self.l1_ratio),
                correction=self.correction,
                intercept=bool(self.intercept),
                start=start,
                tolerance=float(self.tolerance),
                standard_errors=False if self.penalty == "average" else self.standard_errors,
                most=int(self.max_passes),
            )

        if not self.is_path or len(batch.labels) == 1:
            found = fit(0.0 if self.is_path else float(self.penalty), start)
            return found, found.form, None
        from suffice.models.linear.penalty_path.walk import chosen_path  # few ask for it

        walk = chosen_path(
            batch.rows, batch.codes, batch.labels, batch.weights, intercept=bool(self.intercept)
        )
        if self.penalty == "average":
            form, best = walk.averaged(fit)
            return best, form, walk.path
        found = walk.chosen(fit)
        return found, found.form, walk.path

    def searched(self, source: Source, wanted: Wanted) -> LearnedLogistic:
        """Learn from a source: from all its rows at once where these are few enough."""
        source = spooled(source, wanted) if source.once else source
        few = rows_that_fit(source, wanted)
        if few is not None:
            filled = self.filled(few.table, few.weights)
            if filled is None:
                return self.first(self.read(few.table, few.labels, few.weights))
            from suffice.learning.table_recipe import TableNotes, filled_table

            rows = filled_table(filled, few.table)
            found = self.first(self.read(rows, few.labels, few.weights))
            return found.with_notes(TableNotes(filled=filled))
        for name, plain in (
            ("solver", "auto"), ("correction", None), ("l1_ratio", 0.0), ("missing", None),
        ):  # fmt: skip
            if getattr(self, name) != plain:
                raise BadSetting(
                    f"{name}={getattr(self, name)!r} needs all rows at once",
                    hint=f"leave {name} as it is, or give rows that fit into memory",
                )
        with source.kept(wanted):
            from suffice.learning.learners.logistic_sources import SourceRows

            every = SourceRows(source, wanted, self)
            *searched, seen, classes, design = every.fit(every.survey())
        found, form, path = searched
        kept = KeptLogistic.of((found, form, path), seen)
        design = with_usual(design, form, seen)
        return self.keeping(design, kept, classes.dtype, label_kind(classes))

    # A stream of rows

    def check_stream(self, known: Learned[KeptLogistic, KeptLogistic] | None) -> None:
        """Refuse settings that do not go with steps of single rows."""
        if self.correction is not None:
            raise BadSetting(
                f"correction={self.correction!r} cannot be combined with partial_fit",
                hint="Firth's correction needs all rows at once: fit again",
            )
        if self.missing is not None:
            raise BadSetting(
                f"missing={self.missing!r} cannot be combined with partial_fit",
                hint="what fills blank cells is learned from all rows at once: fit again",
            )
        if not self.intercept:
            raise BadSetting(
                f"intercept={self.intercept!r} cannot be combined with partial_fit",
                hint="single-row steps also learn an intercept; fit takes all rows at once",
            )
        if self.l1_ratio > 0.0 and self.is_penalised:
            raise BadSetting(
                f"l1_ratio={self.l1_ratio!r} cannot be combined with partial_fit",
                hint="single-row steps do not make coefficients zero; fit takes all rows at once",
            )
        self.penalty_of_steps(None if known is None else known.statistics)

    def penalty_of_steps(self, known: KeptLogistic | None) -> float:
        """Return the penalty of single steps: the one that was given, or that a fit has chosen."""
        if not self.is_path:
            return float(self.penalty)
        if known is None or known.path is None or self.penalty == "average":
            raise BadSetting(
                f"penalty={self.penalty!r} cannot be combined with partial_fit"
                + (": an average has no single θ to continue from" if known is not None else ""),
                hint='fit chooses a penalty from all rows at once, and with "auto" partial_fit '
                "continues with it; for a stream, give a number",
            )
        return known.path.penalty

    def begun(self, batch: LabelledBatch) -> LearnedLogistic:
        """Return what one step for each of the first rows of a stream teaches."""
        start = Stochastic.start(batch.rows.shape[1])
        stream = stepped(start, batch, self.penalty_of_steps(None))
        return self._streamed(stream, batch)

    def _by_steps(self, batch: LabelledBatch) -> LearnedLogistic:
        """Return what is learned from epochs of steps over all rows."""
        rng = random_generator(self.random_state)
        stream: Stochastic = naming(
            batch,
            lambda: Stochastic.start(batch.rows.shape[1]).epochs(
                batch.rows,
                batch.codes,
                batch.labels,
                batch.weights,
                float(self.penalty),
                rng=rng,
            ),
        )
        still = ~stream.seen.scale.varies
        naming(batch, lambda: refuse_narrow(batch.rows, np.flatnonzero(still)))
        return self._streamed(stream, batch)

    def _streamed(self, stream: Stochastic, batch: LabelledBatch) -> LearnedLogistic:
        """Return what the first rows of a stream have taught."""
        kept = KeptLogistic(stream.form(), stream=stream)
        design = with_usual(batch.columns, kept.model, stream.seen)
        dtype = class_array(stream.labels, batch.classes.dtype).dtype
        return self.keeping(design, kept, dtype, label_kind(batch.classes), batch.frame)

    # On disk

    def kept_from(self, state: Mapping[str, Any]) -> KeptLogistic:
        """Return what a file holds of what was found."""
        model, found, seen = state["model"], state["found"], state["seen"]
        return KeptLogistic(model, found, seen, state["stream"], state.get("path"))


@dataclass(frozen=True, eq=False)
class LearnedLogistic(LearnedLine[KeptLogistic]):
    """What logistic regression has learned."""

    if TYPE_CHECKING:
        learner: LogisticClassifierLearner

    def more(self, batch: LabelledBatch) -> Self:
        """Return what is learned when one step is taken for each row, in their order."""
        kept, penalty = self.statistics, self.learner.penalty_of_steps(self.statistics)
        stream = kept.stream
        if stream is None:
            if kept.found is None or kept.seen is None:
                raise StatisticsMissing(
                    "θ was implied by another model, or saved without its statistics: the number "
                    "of rows behind it is unknown",
                    hint="fit it again with its statistics, or start a stream with a new model",
                )
            stream = resumed(kept.found, kept.seen)
        check_label_kinds(self.kind, label_kind(batch.classes))
        if batch.columns is not self.columns:
            places = self.design.places_in(batch.columns)
            stream = stream.embedded(places, batch.rows.shape[1])
        stream = stepped(stream, batch, penalty)
        form = stream.form()
        dtype = class_array(stream.labels, joined_dtype(self.dtype, batch.classes.dtype)).dtype
        return replace(
            self,
            columns=with_usual(batch.columns, form, stream.seen),
            statistics=KeptLogistic(form, stream=stream, path=kept.path),
            dtype=dtype,
        )

    @property
    def separated(self) -> SeparatedClasses | None:
        """How the classes are separated; None where they overlap, or where nobody has asked."""
        from suffice.learning.results import SeparatedClasses

        found = self.statistics.found or self.statistics.best
        if found is None or found.separation is None:
            return None
        return SeparatedClasses.of(found.separation, self.classes, self.design.names)

    def warn(self) -> None:
        """Tell, after `fit`, what was not as it should be."""
        kept = self.statistics
        found, names = kept.found or kept.best, self.design.names
        if len(self.labels) == 1:
            return  # which is told by itself
        if kept.stream is not None:
            still = np.flatnonzero(~kept.stream.seen.scale.varies)
            if len(still):
                warn(_constant(names[j] for j in still), DegenerateData)
        if found is None:
            return
        if not found.estimable.all():
            warn(_degenerate(found, names), DegenerateData)
        separated = self.separated
        if separated is not None:
            warn(separated.warning(), separated.category)
        elif found.undecided is not None:
            warn(
                f"it is unknown whether the classes are separated: {found.undecided}. θ predicts, "
                "but it may not be a maximum of the likelihood, and there are no standard "
                "errors. Hint: a penalty gives finite coefficients either way",
                DidNotConverge,
            )
        elif not found.converged:
            warn(
                f"logistic regression did not converge in {found.passes} passes: it is about "
                f"{found.decrement:.1g} standard errors away from its optimum{self._advice(found)}",
                DidNotConverge,
            )

    def _advice(self, found: LogisticFit) -> str:
        """Return what helps where passes ended that were not the user's to choose."""
        if found.correction is None or found.passes >= int(self.learner.max_passes):
            return ""
        return ". Hint: more would take too long; use a penalty, fewer columns or fewer classes"

    def stored_state(self, *, statistics: bool = True) -> dict[str, object]:
        """Return what was learned, by name; without statistics, what is needed to answer."""
        kept = self.statistics
        state = super().stored_state(statistics=statistics)
        state["found"] = kept.found
        state["seen"], state["stream"] = (kept.seen, kept.stream) if statistics else (None, None)
        if kept.path is not None:
            state["path"] = kept.path
        return state


def stepped(stream: Stochastic, batch: LabelledBatch, penalty: float) -> Stochastic:
    """Return a stream after one step for each row of a batch."""
    found: Stochastic = naming(
        batch, lambda: stream.learn(batch.rows, batch.codes, batch.labels, batch.weights, penalty)
    )
    return found


def with_usual(design: Design, form: LinearForm | AveragedForm, seen: SeenRows) -> Design:
    """Return a design that reads a level never seen as the mean of its columns."""
    usual = form.origin
    if not usual.any() and not seen.sparse:  # without an intercept, or of columns about 0
        usual = seen.moments.mean
    return replace(design, usual=usual)


def _degenerate(found: LogisticFit, names: tuple[str, ...]) -> str:
    varies = found.inverse > 0.0
    constant = [names[j] for j in np.flatnonzero(~varies)]
    others = [names[j] for j in np.flatnonzero(varies & ~found.estimable)]
    told = [_constant(constant)] if constant else []
    if others:
        told.append(
            f"{listed(others)} are linearly dependent: the coefficients with the smallest norm "
            "are used, and they have no standard errors"
        )
    return ". ".join(told)


def _constant(names: Iterable[str]) -> str:
    found = list(names)
    few = "varies: its coefficient is" if len(found) == 1 else "vary: their coefficients are"
    return f"{listed(found)} never {few} 0"
