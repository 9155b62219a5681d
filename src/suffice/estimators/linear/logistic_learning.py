"""How logistic regression learns: all rows at once, or a stream of them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from suffice.columns.design import Design
from suffice.errors import BadSetting, DegenerateData, DidNotConverge, OneClass, listed, warn
from suffice.estimators.concurrency import lock_of
from suffice.estimators.fitting_notes import warn_of_shape
from suffice.estimators.linear.linear_classifier import Line, Posteriors
from suffice.estimators.linear.logistic_settings import LogisticSettings
from suffice.estimators.linear.logistic_sources import SourceRows
from suffice.estimators.linear.logistic_summary import SeparatedClasses
from suffice.learning.collect import frame_here, is_elsewhere, rows_that_fit, spooled
from suffice.learning.collect import opened as opened_source
from suffice.learning.label_types import check_label_kinds, class_array, joined_dtype, label_kind
from suffice.learning.labelled_batch import LabelledBatch, naming, opened, read_batch
from suffice.learning.randomness import random_generator
from suffice.models.linear.averaged_form import AveragedForm
from suffice.models.linear.logistic.fit import fit_logistic
from suffice.models.linear.online.seen_rows import SeenRows
from suffice.models.linear.online.stochastic import Stochastic, resumed, seen_at_fit
from suffice.models.linear.penalty_path.fitted import chosen_path
from suffice.models.linear.standardisation import refuse_narrow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from suffice.models.linear.form import LinearForm
    from suffice.models.linear.logistic.result import LogisticFit
    from suffice.models.linear.penalty_path.path import PenaltyPath


class LogisticLearning(LogisticSettings, Posteriors):
    """`fit` finds the maximum of the likelihood; `partial_fit` takes a step for each row."""

    _found: LogisticFit | None = None
    _seen: SeenRows | None = None
    _stream: Stochastic | None = None
    _path: PenaltyPath | None = None

    def fit(
        self,
        X: object,
        y: object = None,
        sample_weight: object = None,
        *,
        target: str | None = None,
    ) -> Self:
        """Learn from rows and labels, by maximum likelihood.

        Rows may also be somewhere else: a path, a glob, an Arrow stream, a table of a database or
        of a cluster. Then `target` names the column of labels, and `sample_weight` that of weights;
        every step of the search is one pass over the rows, wherever they are.
        """
        self._check_settings()
        here = frame_here(X, target, sample_weight)
        if here is not None:
            X, y, sample_weight = here
        elif target is not None or is_elsewhere(X, y):
            return self._fit_source(X, target, sample_weight)
        batch = self._read(X, y, sample_weight, None)
        warn_of_shape(batch)
        if self.solver == "sgd":
            self._fit_by_steps(batch)
            self._notes = None
            return self
        found, form, path = naming(batch, lambda: self._fit_here(batch))
        if found.intercept:
            seen = seen_at_fit(found, batch.rows, batch.codes, batch.weights)
        else:  # whose columns were not centred: their means are not known yet
            seen = SeenRows.of(batch.rows, batch.codes, batch.labels, batch.weights)
        self._known(found, form, path, _line(form, batch.classes, batch.columns, seen), seen)
        self._notes = None
        self._warn(found)
        return self

    def _fit_here(
        self, batch: LabelledBatch
    ) -> tuple[LogisticFit, LinearForm | AveragedForm, PenaltyPath | None]:
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

        if not self._is_path or len(batch.labels) == 1:
            found = fit(0.0 if self._is_path else float(self.penalty), self._start(batch))
            return found, found.form, None
        walk = chosen_path(
            batch.rows, batch.codes, batch.labels, batch.weights, intercept=bool(self.intercept)
        )
        if self.penalty == "average":
            form, best = walk.averaged(fit)
            return best, form, walk.path
        found = walk.chosen(fit)
        return found, found.form, walk.path

    def _known(
        self,
        found: LogisticFit,
        form: LinearForm | AveragedForm,
        path: PenaltyPath | None,
        line: Line,
        seen: SeenRows,
    ) -> None:
        """Know what a fit has found; an average has no θ of its own."""
        one = not isinstance(form, AveragedForm)
        with lock_of(self):
            self._become(
                line,
                _found=found if one else None,
                _seen=seen if one else None,
                _stream=None,
                _path=path,
            )

    def _fit_source(self, X: object, target: str | None, sample_weight: object) -> Self:
        """Learn from a source: from all its rows at once where these are few enough."""
        source, wanted = opened_source(X, target, sample_weight)
        source = spooled(source, wanted) if source.once else source
        few = rows_that_fit(source, wanted)
        if few is not None:
            return self.fit(few.table, few.labels, few.weights)
        for name, plain in (("solver", "auto"), ("correction", None), ("l1_ratio", 0.0)):
            if getattr(self, name) != plain:
                raise BadSetting(
                    f"{name}={getattr(self, name)!r} needs all rows at once",
                    hint=f"leave {name} as it is, or give rows that fit into memory",
                )
        with source.kept(wanted):
            rows = SourceRows(source, wanted, self._unfitted())
            found, form, path, seen, classes, design = rows.fit(rows.survey())
        self._known(found, form, path, _line(form, classes, design, seen), seen)
        self._warn(found)
        return self

    def _unfitted(self) -> Self:
        found: Self = clone(self)
        return found

    def _uncoded(self, design: Design | None) -> Callable[[Any, Any, Any], LabelledBatch]:
        """Return what reads rows as a table, which the design can code."""
        return partial(read_batch, coded=lambda table: (design, table), read=opened)

    @available_if(lambda self: self.correction is None)
    def partial_fit(
        self,
        X: object,
        y: object = None,
        classes: object = None,  # noqa: ARG002  scikit-learn's callers pass it
        sample_weight: object = None,
    ) -> Self:
        """Take one step of stochastic gradient ascent for each row, in their order.

        For streams: nothing is kept of the rows but θ and the moments of the columns. A label
        never seen before is a new class, a level never seen before a new column; `classes` is
        accepted and never needed. After `fit` the steps go on from the maximum that it found, as
        short as they are after so many rows.
        """
        with lock_of(self):  # threads learn one after the other
            return self._go_on(X, y, sample_weight)

    def _go_on(self, X: object, y: object, sample_weight: object) -> Self:
        self._check_settings()
        if not self.intercept:
            raise BadSetting(
                f"intercept={self.intercept!r} does not go with partial_fit",
                hint="steps of single rows learn an intercept too; fit takes all rows at once",
            )
        if self.l1_ratio > 0.0 and self._is_penalised:
            raise BadSetting(
                f"l1_ratio={self.l1_ratio!r} does not go with partial_fit",
                hint="steps of single rows make no coefficient zero; fit takes all rows at once",
            )
        line, penalty = self._line, self._penalty_of_steps()
        batch = self._read(X, y, sample_weight, line)
        stream = self._going_on(batch)
        if line is not None:
            check_label_kinds(label_kind(line.classes), label_kind(batch.classes))
            if batch.columns is not line.design:
                places = line.design.places_in(batch.columns)
                stream = stream.embedded(places, _width(batch))
        learned = naming(
            batch,
            lambda: stream.learn(batch.rows, batch.codes, batch.labels, batch.weights, penalty),
        )
        dtype = batch.classes.dtype
        dtype = dtype if line is None else joined_dtype(line.classes.dtype, dtype)
        self._streamed(learned, batch, dtype)
        return self

    def _penalty_of_steps(self) -> float:
        """Return the penalty of single steps: the one that was given, or that a fit has chosen."""
        if not self._is_path:
            return float(self.penalty)
        if self._path is None or self.penalty == "average":
            raise BadSetting(
                f"penalty={self.penalty!r} does not go with partial_fit"
                + (": an average has no θ to go on from" if self._line is not None else ""),
                hint='fit chooses a penalty from all rows at once, and with "auto" partial_fit '
                "goes on with it; a stream from the first row on needs a number",
            )
        return self._path.penalty

    def _going_on(self, batch: LabelledBatch) -> Stochastic:
        """Return where the stream stands, before a batch is learned."""
        if self._stream is not None:
            return self._stream
        if self._line is None:
            return Stochastic.start(_width(batch))
        if self._found is None or self._seen is None:
            raise BadSetting(
                "θ was implied by another model, or saved without its statistics: it is not known "
                "how many rows it stands for",
                hint="fit it again, and keep its statistics; or begin a stream with a new model",
            )
        return resumed(self._found, self._seen)

    def _fit_by_steps(self, batch: LabelledBatch) -> Self:
        rng = random_generator(self.random_state)
        learned = naming(
            batch,
            lambda: Stochastic.start(_width(batch)).epochs(
                batch.rows,
                batch.codes,
                batch.labels,
                batch.weights,
                float(self.penalty),
                rng=rng,
            ),
        )
        still = ~learned.seen.scale.varies
        naming(batch, lambda: refuse_narrow(batch.rows, np.flatnonzero(still)))
        self._streamed(learned, batch, batch.classes.dtype)
        if len(learned.labels) == 1:
            _warn_of_one_class(learned.labels[0])
        elif still.any():
            told = _constant(batch.columns.names[j] for j in np.flatnonzero(still))
            warn(told, DegenerateData)
        return self

    def _streamed(self, learned: Stochastic, batch: LabelledBatch, dtype: np.dtype[Any]) -> None:
        classes = class_array(learned.labels, dtype)
        line = _line(learned.form(), classes, batch.columns, learned.seen)
        with lock_of(self):
            self._become(line, _stream=learned, _found=None, _seen=None)

    # On disk

    def _stored_state(self, statistics: bool) -> dict[str, Any]:
        told: dict[str, Any] = {"found": self._found, "seen": self._seen, "stream": self._stream}
        kept = told if statistics else {**dict.fromkeys(told), "found": self._found}
        if self._path is not None:
            kept["path"] = self._path
        return {**super()._stored_state(statistics), **kept}

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        self._found, self._seen, self._stream = state["found"], state["seen"], state["stream"]
        self._path = state.get("path")

    # Reading

    def _read(
        self, X: object, y: object, sample_weight: object, line: Line | None
    ) -> LabelledBatch:
        return read_batch(
            X, y, sample_weight, partial(self._coded, line), opened if line is None else self._open
        )

    def _coded(self, line: Line | None, table: Any) -> tuple[Design, Any]:
        """Return the design of a table, or the one that is known, and its rows."""
        if line is None:
            design = Design.infer(table, self._is_penalised, bool(self.intercept))
        else:
            design = line.design.widened(table)
        return design, design.rows(table, type(self).__name__)

    def _start(self, batch: LabelledBatch) -> LinearForm | None:
        """Return where to begin: at the last fit, if it was of the same columns."""
        line = self._line
        if line is None or not self.warm_start or not line.design.same_as(batch.columns):
            return None
        return None if isinstance(line.form, AveragedForm) else line.form

    def _warn(self, found: LogisticFit) -> None:
        """Tell what was not as it should be; from `fit`, the caller's line is two up."""
        line = self._require()
        if len(found.labels) == 1:
            _warn_of_one_class(found.labels[0])
            return
        if not found.estimable.all():
            warn(_degenerate(found, line.design.names), DegenerateData)
        if found.separation is not None:
            separated = SeparatedClasses.of(found.separation, line.classes, line.design.names)
            warn(separated.warning(), separated.category)
        elif found.undecided is not None:
            warn(
                f"whether the classes are separated is not known: {found.undecided}. θ predicts, "
                "but it is not known to be a maximum of the likelihood, and there are no standard "
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
        if found.correction is None or found.passes >= int(self.max_passes):
            return ""
        return ". Hint: more would take too long; use a penalty, fewer columns or fewer classes"


def _line(
    form: LinearForm | AveragedForm, classes: NDArray[Any], design: Design, seen: SeenRows
) -> Line:
    usual = form.origin
    if not usual.any() and not seen.sparse:  # without an intercept, or of columns about 0
        usual = seen.moments.mean
    return Line(form, classes, replace(design, usual=usual))


def _degenerate(found: LogisticFit, names: tuple[str, ...]) -> str:
    varies = found.inverse > 0.0
    constant = [names[j] for j in np.flatnonzero(~varies)]
    others = [names[j] for j in np.flatnonzero(varies & ~found.estimable)]
    told = [_constant(constant)] if constant else []
    if others:
        told.append(
            f"{listed(others)} add up from each other: their coefficients are the ones of least "
            "norm, and have no standard errors"
        )
    return ". ".join(told)


def _constant(names: Iterable[str]) -> str:
    found = list(names)
    few = "varies: its coefficient is" if len(found) == 1 else "vary: their coefficients are"
    return f"{listed(found)} never {few} 0"


def _width(batch: LabelledBatch) -> int:
    width: int = batch.rows.shape[1]
    return width


def _warn_of_one_class(label: object) -> None:
    warn(f"there is only one class, {label!r}: its posterior is 1 everywhere", OneClass)
