"""Rows of a mixture that are somewhere else: what is read of them, and one collection a step."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from suffice.columns import Columns
from suffice.engines.parts import Mergeable
from suffice.errors import BadSetting
from suffice.estimators.multivariate_normal_columns import (
    check_infinite,
    places,
    refuse_categories,
)
from suffice.learning.frames import split_off
from suffice.models.mixture.coordinates import RemoteRows, telling
from suffice.models.mixture.survey import RowSurvey
from suffice.rows import read_table, read_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from suffice.rows import FloatArray
    from suffice.sources import Chunk, Source, Wanted

S = TypeVar("S", bound=Mergeable)


def is_path_or_source(X: object) -> bool:
    """Whether rows are not here: paths, streams, tables of databases and of clusters.

    >>> import numpy as np
    >>> is_path_or_source("rows.parquet"), is_path_or_source(np.zeros((2, 2)))
    (True, False)
    """
    if isinstance(X, np.ndarray):
        return False
    if isinstance(X, str | Path):
        return True
    if isinstance(X, list | tuple):
        return bool(X) and all(isinstance(one, str | Path) for one in X)
    from suffice.sources import is_source

    return is_source(X) and split_off(X, ()) is None  # a frame that is here is rows


def rows_of_frame(
    X: Any, sample_weight: object, columns: Sequence[str] | None
) -> tuple[object, object]:
    """Return the columns of a frame that are looked at, and its weights, by name or as they are."""
    named = sample_weight if isinstance(sample_weight, str) else None
    if named is None and columns is None:
        return X, sample_weight
    found = split_off(X, (named,))
    if found is None:
        raise BadSetting(
            "columns of an array have no names" if named is None else "the weights are a name",
            hint="give a frame, or the columns and one weight for each row",
        )
    rows, (weights,) = found
    if columns is not None:
        gone = split_off(X, tuple(columns))  # refuses names that are not there
        assert gone is not None
        import narwhals as nw

        rows = nw.from_native(X, eager_only=True).select(list(columns)).to_native()
    return rows, weights if named is not None else sample_weight


def opened_rows(
    X: object, sample_weight: object, columns: Sequence[str] | None
) -> tuple[Source, Wanted]:
    """Return the source of rows, and which of its columns are read."""
    from suffice.sources import open_source

    if sample_weight is not None and not isinstance(sample_weight, str):
        raise BadSetting(
            "the weights of a source must be one of its columns",
            hint='name it: sample_weight="weight"',
        )
    source = open_source(X)
    return source, source.wanted(None, sample_weight, columns)


def ordered_rows(
    X: object, sample_weight: object, columns: Sequence[str] | None
) -> Iterator[tuple[object, object]]:
    """Yield the rows of a source that is read here, in their order, and their weights."""
    from suffice.sources.local import LocalSource

    source, wanted = opened_rows(X, sample_weight, columns)
    if not isinstance(source, LocalSource):
        raise BadSetting(
            f"{source.name} does not return rows in a fixed order",
            hint="fit reads all of it, in passes",
        )
    for part in source.parts(wanted):
        for chunk in part():
            yield chunk.table, chunk.weights


@dataclass(frozen=True, slots=True, eq=False)
class _Looked:
    """The columns of rows, and what one pass over them tells."""

    columns: Columns
    survey: RowSurvey

    def __add__(self, other: Self) -> Self:
        return type(self)(self.columns.widened(other.columns)[0], self.survey + other.survey)


@dataclass(frozen=True, eq=False)
class SourceTable:
    """The rows of a source as a mixture sees them, chunk by chunk, where they are."""

    source: Source
    wanted: Wanted
    name: str

    def surveyed(self, most: int, *, marked: bool) -> tuple[RemoteRows, RowSurvey, Columns]:
        """Look at all rows once; `most` of them stand for all."""
        name = self.name

        def surveyed_chunk(chunk: Chunk) -> _Looked:
            columns, rows, weights = read_rows(chunk.table, chunk.weights, name)
            return _Looked(columns, RowSurvey.of(rows, weights, most, part=True, marked=marked))

        found = self.source.collected(surveyed_chunk, self.wanted)
        survey = found.survey
        return RemoteRows(self._collect, survey.size), survey, found.columns

    def _collect(self, summarize: Callable[[FloatArray, FloatArray | None], S]) -> S:
        name = self.name

        def work(chunk: Chunk) -> S:
            _, rows, weights = read_rows(chunk.table, chunk.weights, name)
            return summarize(rows, weights)

        return self.source.collected(work, self.wanted)


def read_rows(
    given: object, sample_weight: object, name: str, known: Columns | None = None
) -> tuple[Columns, FloatArray, FloatArray | None]:
    """Return columns, and the rows (n, d) that say something, with their weights."""
    table = read_table(given)
    columns = Columns.infer(table) if known is None else known
    refuse_categories(columns)
    cells = np.asarray(columns.encode(table, name), dtype=np.float64)
    check_infinite(cells, places(columns))
    weights = read_weights(sample_weight, table.size)
    kept = telling(cells, weights)
    if not kept.all():
        cells, weights = cells[kept], None if weights is None else weights[kept]
    return columns, cells, weights
