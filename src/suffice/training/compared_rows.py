"""The rows of a table that models are compared on: all of them, or as many as are quick."""

from __future__ import annotations

import warnings
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.errors import SimilarLabels
from suffice.sources.arrow_frames import frame_of, some_rows
from suffice.training.table_columns.spelled_columns import check_declared
from suffice.training.training_rows import TrainingRows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.columns.spellings.spelling import Spelling
    from suffice.evaluation.comparison import Comparison
    from suffice.tables.table_reading import TableReading
    from suffice.training.hooks import Hooks
MOST_CELLS = 1_000_000
"""Cells that models are compared on; of a larger table, rows are drawn."""
LEAST_ROWS = 1000
"""Rows that are drawn however many columns there are. A choice: a share of right answers is then
uncertain by at most √(0.25/1000), less than 0.02."""


class ComparedRows(NamedTuple):
    """Rows and labels as the library takes them, and what they are, in words.

    place    the name of the table
    origin   the same, with how many rows were drawn if not all were taken
    drawn    whether they stand for more: a pool, which keeps its rows, is not compared then
    spellings    how the texts of columns are written that are numbers, dates or truths
    """

    X: Any
    y: NDArray[np.generic]
    place: str
    words: str
    origin: str
    drawn: bool = False
    spellings: Mapping[str, Spelling] = MappingProxyType({})

    @classmethod
    def read(
        cls,
        tables: Sequence[str],
        target: str,
        reading: TableReading,
        drop: Sequence[str],
        hooks: Hooks,
        *,
        seed: int,
        all_rows: bool,
    ) -> ComparedRows:
        """Read rows; of many, some are drawn at random from all over the source."""
        check_declared(reading.columns, target)
        drop = tuple(dict.fromkeys((*drop, *reading.ignored)))
        rows = TrainingRows.read(list(tables), target, reading, drop, hooks, seed=seed)
        table, labels, origin = rows.table, rows.labels, rows.place
        some = None if all_rows else sampled(table.size, table.width, seed)
        if some is not None:
            table, labels = some_rows(table, some), labels[some]
        size = rows.known_size
        drawn = not rows.whole or some is not None
        if drawn:
            of = "" if size is None else f" of {size:,}"
            said = f"{table.size:,}{of} rows, drawn at random"
            hooks.note(
                f"{said}; {hooks.option('all-rows')} takes all"
                if rows.whole
                else f"{said}: not all fit in memory"
            )
            origin += f", {said}"
        count = rows.table.size if size is None else size
        words = f"{count:,} rows, {rows.columns_described}"
        spellings = rows.spellings
        return cls(frame_of(table), labels, rows.place, words, origin, drawn, spellings)

    def compare(
        self, hooks: Hooks, *, models: Any = None, folds: int | None = None, **settings: Any
    ) -> Comparison:
        """Compare models on these rows, in no more folds than there are rows."""
        from suffice.evaluation import compare
        from suffice.evaluation.candidates import SINGLE

        if self.drawn and (models is None or isinstance(models, dict)):
            models = [SINGLE, *(models or {}).items()]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimilarLabels)  # they have been told
            few = folds and min(folds, len(self.y))
            return compare(
                self.X, self.y, models=models, folds=few, progress=hooks.progress, **settings
            )


def sampled(size: int, width: int, seed: int) -> NDArray[np.generic] | None:
    """Return which rows to compare models on; None for all of them.

    >>> sampled(150, 4, 0) is None
    True
    """
    most = max(LEAST_ROWS, MOST_CELLS // max(1, width))
    if size <= most:
        return None
    return np.sort(np.random.default_rng(seed).choice(size, most, replace=False))
