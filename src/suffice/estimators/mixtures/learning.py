"""How a mixture learns: from rows that are here, or wherever they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import BadSetting, DidNotConverge, SufficeError, warn
from suffice.estimators.mixtures.checkpoints import SearchCheckpoint
from suffice.estimators.mixtures.settings import MANY, numbers_to_try, read_settings
from suffice.estimators.mixtures.sources import (
    SourceTable,
    is_path_or_source,
    opened_rows,
    read_rows,
    rows_of_frame,
)
from suffice.estimators.multivariate_normal_columns import places
from suffice.learning.collect import rows_that_fit, spooled
from suffice.models.gaussian.learner import warn_of
from suffice.models.mixture.coordinates import MixtureRows, RemoteRows, telling
from suffice.models.mixture.fitting import MixtureFit, fit_mixture
from suffice.models.mixture.starts import read_start
from suffice.models.mixture.survey import sample_size
from suffice.rows import read_table, read_weights

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from suffice.columns import Columns
    from suffice.learning.table_recipe import TableNotes
    from suffice.models.mixture.journey import Journey
    from suffice.models.mixture.survey import Survey
    from suffice.rows import FloatArray


class MixtureLearning:
    """`fit` finds the maximum of the likelihood."""

    if TYPE_CHECKING:
        components: Any
        start: Any
        _notes: TableNotes | None

        def _become(self, fit: MixtureFit, columns: Columns) -> Any: ...

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
        self, X: object, sample_weight: object, checkpoint: Any, journey: Journey | None
    ) -> Self:
        known, cells, weights = read_rows(X, sample_weight, type(self).__name__)
        start = None
        if self.start is not None:
            start = self._read_start(X, sample_weight, known, len(cells))
        rows = MixtureRows(cells, weights)
        survey = rows.survey(self._sample_size(cells.shape[1]))
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
        checkpoint: Any,
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
            rows, survey, known = table.surveyed(self._sample_size(len(wanted.names)))
            self._search(rows, survey, known, None, checkpoint, journey)
        return self

    def _sample_size(self, width: int) -> int:
        return sample_size(numbers_to_try(self.components, MANY)[-1], width)

    def _search(
        self,
        rows: MixtureRows | RemoteRows,
        survey: Survey,
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
        self._notes = None
        self._become(fit, columns)
        warn_of(fit.notes, places(columns), tuple(range(fit.model.densities.size)))
        if not fit.converged:
            warn(
                f"EM stopped after {len(fit.history)} steps while there was more to be gained",
                DidNotConverge,
            )

    def _given_components(self) -> int | None:
        given = self.components
        return int(given) if isinstance(given, int | np.integer) else None
