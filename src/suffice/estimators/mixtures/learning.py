"""How a mixture learns: from rows that are here, or wherever they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import BadSetting, DidNotConverge, SufficeError, warn
from suffice.estimators.concurrency import lock_of
from suffice.estimators.mixtures.answers import MixtureAnswers
from suffice.estimators.mixtures.settings import MANY, numbers_to_try, read_settings, whole
from suffice.estimators.mixtures.sources import (
    SearchCheckpoint,
    SourceTable,
    is_path_or_source,
    opened_rows,
    ordered_rows,
    read_rows,
    rows_of_frame,
)
from suffice.estimators.multivariate_normal_columns import places
from suffice.learning.collect import rows_that_fit, spooled
from suffice.models.gaussian.learner import warn_of
from suffice.models.mixture.coordinates import MixtureRows, RemoteRows, telling
from suffice.models.mixture.fitting import MixtureFit, fit_mixture
from suffice.models.mixture.merging import both, reduced
from suffice.models.mixture.starts import read_start
from suffice.models.mixture.stepwise import MixtureStream, start_rows, step_rows
from suffice.models.mixture.survey import sample_size
from suffice.rows import read_table, read_weights

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from suffice.columns import Columns
    from suffice.learning.table_recipe import TableNotes
    from suffice.models.mixture.journey import Journey
    from suffice.models.mixture.survey import RowSurvey
    from suffice.rows import FloatArray


class MixtureLearning(MixtureAnswers):
    """What learns also answers: `fit` finds a maximum, `partial_fit` goes through a stream once."""

    if TYPE_CHECKING:
        components: Any
        start: Any
        prior: Any
        _notes: TableNotes | None
        _fit: MixtureFit | None
        _columns: Columns | None

        def _become(self, fit: MixtureFit | None, columns: Columns) -> Any: ...

        def _like(self, fit: MixtureFit, columns: Columns) -> Any: ...

    _stream: MixtureStream | None = None

    def fit(
        self,
        X: object,
        y: object = None,  # noqa: ARG002  scikit-learn's callers pass it
        sample_weight: object = None,
        *,
        columns: Sequence[str] | None = None,
        checkpoint: str | Path | None = None,
        journey: Journey | None = None,
    ) -> Self:
        """Learn the components; `y` is not looked at.

        Parameters
        ----------
        X : array-like or frame of shape (n, d), or a source
            Numbers; blanks are legal. A row without any cell counts for nothing. Rows may also be
            somewhere else: a path, a glob, an Arrow stream, a table of a database or of a cluster.
            EM then comes to its maximum on a sample, and every further step is one pass over all.
        y : ignored
        sample_weight : array-like of shape (n,), or the name of a column, optional
            How often each row counts; BIC counts their sum.
        columns : sequence of str, optional
            Which columns of a frame or source are looked at; all others by default.
        checkpoint : path, optional
            A file in which every ten seconds, and when it is interrupted, stands how far the
            search has come; a fit of the same rows goes on from there.
        journey : Journey, optional
            Who hears of every step.

        """
        read_settings(self, 2, None)  # a bad setting is refused before any row is read
        if is_path_or_source(X):
            return self._fit_source(X, sample_weight, columns, checkpoint, journey)
        rows, weights = rows_of_frame(X, sample_weight, columns)
        return self._fit_here(rows, weights, checkpoint, journey)

    def _fit_here(
        self, X: object, sample_weight: object, checkpoint: object, journey: Journey | None
    ) -> Self:
        known, cells, weights = read_rows(X, sample_weight, type(self).__name__)
        start = None
        if self.start is not None:
            start = self._read_start(X, sample_weight, known, len(cells))
        rows = MixtureRows(cells, weights)
        marked = checkpoint is not None
        survey = rows.survey(self._sample_size(cells.shape[1]), marked=marked)
        self._search(rows, survey, known, start, checkpoint, journey)
        return self

    def _read_start(
        self, X: object, sample_weight: object, columns: Columns, kept: int
    ) -> FloatArray:
        """Return responsibilities of the rows that say something."""
        table = read_table(X)
        start = read_start(self.start, table.size, self._given_components())
        if kept == table.size:
            return start
        cells = np.asarray(columns.encode(table, type(self).__name__))
        return start[telling(cells, read_weights(sample_weight, table.size))]

    def _fit_source(
        self,
        X: object,
        sample_weight: object,
        columns: Sequence[str] | None,
        checkpoint: object,
        journey: Journey | None,
    ) -> Self:
        """Learn from a source: from all its rows at once where these are few enough."""
        source, wanted = opened_rows(X, sample_weight, columns)
        source = spooled(source, wanted) if source.once else source
        few = rows_that_fit(source, wanted)
        if few is not None:
            try:
                return self._fit_here(few.table, few.weights, checkpoint, journey)
            except SufficeError as error:
                raise error.at(few.place) from None
        if self.start is not None:
            raise BadSetting(
                "start needs all rows at once", hint="leave it out, or give rows that fit in memory"
            )
        with source.kept(wanted):
            table = SourceTable(source, wanted, type(self).__name__)
            most, marked = self._sample_size(len(wanted.names)), checkpoint is not None
            rows, survey, known = table.surveyed(most, marked=marked)
            self._search(rows, survey, known, None, checkpoint, journey)
        return self

    def _sample_size(self, width: int) -> int:
        return sample_size(numbers_to_try(self.components, MANY)[-1], width)

    def _search(
        self,
        rows: MixtureRows | RemoteRows,
        survey: RowSurvey,
        columns: Columns,
        start: FloatArray | None,
        checkpoint: Any,
        journey: Journey | None,
    ) -> None:
        settings = read_settings(self, len(survey.low), survey.checked(), start)
        if checkpoint is None:
            fit = fit_mixture(rows, survey, settings, start, journey)
        else:
            held = SearchCheckpoint(checkpoint, settings, columns, survey, journey)
            try:
                fit = fit_mixture(rows, survey, settings, start, held)
            finally:
                held.write()
        self._notes = self._stream = None
        self._become(fit, columns)
        warn_of(fit.notes, places(columns), tuple(range(fit.model.densities.size)))
        if not fit.converged:
            steps = len(fit.history)
            warn(
                f"EM stopped after {steps} step{'s' * (steps != 1)} before it had converged",
                DidNotConverge,
            )

    # Streams

    def partial_fit(
        self,
        X: object,
        y: object = None,  # noqa: ARG002  scikit-learn's callers pass it
        sample_weight: object = None,
        *,
        columns: Sequence[str] | None = None,
    ) -> Self:
        """Learn from more rows, by stepwise EM: each row is gone through once.

        A mixture is fitted to the first thousand rows (more where there are many columns or
        components), and number and form are chosen there; until then all of them are held. From
        then on, some hundred rows at a time make a step; what is left over waits for the next
        call. However the stream is cut into calls, it comes to the same mixture. After `fit`, it
        goes on from there. Rows of a file are taken in their order.
        """
        if is_path_or_source(X):
            for table, weights in ordered_rows(X, sample_weight, columns):
                self.partial_fit(table, sample_weight=weights)
            return self
        given, weights = rows_of_frame(X, sample_weight, columns)
        with lock_of(self):
            read_settings(self, 2, None)
            known, rows, own = read_rows(given, weights, type(self).__name__, self._columns)
            self._go_on(known, rows, own)
        return self

    def _go_on(self, columns: Columns, rows: FloatArray, weights: FloatArray | None) -> None:
        width, most = rows.shape[1], numbers_to_try(self.components, MANY)[-1]
        stream = MixtureStream.empty(width) if self._stream is None else self._stream
        stream, fit = stream.after(rows, weights), self._fit
        if not stream.is_begun and fit is not None and self._stream is None:
            stream = stream.begun(fit)
        first = start_rows(most, width)
        if not stream.is_begun:
            fit = None
            if len(stream.weights) >= first:
                fit = self._started(stream, first)
                stream = stream.without(first).begun(fit)
                warn_of(fit.notes, places(columns), tuple(range(fit.model.densities.size)))
        if stream.is_begun:
            assert fit is not None
            stream.refuse_far(fit)
            many = step_rows(fit.model.densities.size, width)
            while len(stream.weights) >= many:
                stream, fit = stream.stepped(fit, many, prior=bool(self.prior))
        self._stream = stream
        self._become(fit, columns)

    def _started(self, stream: MixtureStream, many: int) -> MixtureFit:
        """Return the mixture of the first rows of a stream."""
        table = MixtureRows(stream.rows[:many], stream.weights[:many])
        survey = table.survey(self._sample_size(stream.waiting.shape[1])).checked()
        settings = read_settings(self, stream.waiting.shape[1], survey)
        return fit_mixture(table, survey, settings)

    # Mixtures of mixtures

    def __add__(self, other: object) -> Self:
        """Return the mixture of two, by the weight of their rows: all components of both.

        That is not what a fit to the rows of both would find, which has no more components than it
        was asked for; `reduced` brings their number down.
        """
        if not isinstance(other, MixtureLearning):
            return NotImplemented
        (fit, columns), (theirs, known) = self._require(), other._require()
        columns.widened(known)  # refuses other columns
        order = np.arange(columns.width)
        if columns.named:
            order = np.array([known.names.index(name) for name in columns.names])
        found: Self = self._like(both(fit, theirs, order), columns)
        return found

    def reduced(self, components: int) -> Self:
        """Return a mixture of fewer components, of the same mean and covariance.

        Two of them become one at a time, those whose merging can cost least (Runnalls, 2007).

        >>> from suffice import GaussianMixture
        >>> rows = [[0.0], [0.2], [0.5], [5.0], [5.2], [5.3]]
        >>> model = GaussianMixture(2, "EEE").fit(rows)
        >>> twice = model + model
        >>> twice.components_, twice.reduced(2).components_
        (4, 2)
        """
        fit, columns = self._require()
        wanted = whole("components", components, 1)
        if wanted > fit.model.densities.size:
            raise BadSetting(
                f"components={wanted}, and there are {fit.model.densities.size}",
                hint="ask for at most as many components as the mixture has",
            )
        found: Self = self._like(reduced(fit, wanted), columns)
        return found

    def _given_components(self) -> int | None:
        given = self.components
        return int(given) if isinstance(given, int | np.integer) else None
