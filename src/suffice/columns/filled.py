"""Blank numbers filled for models that cannot do without: the mean, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.columns import Columns
from suffice.errors import BadSetting, listed
from suffice.rows import BOOLEAN, CATEGORY, read_table
from suffice.rows.frames import is_from_frame_library

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, Table

MARK = "=blank"
"""What is added to the name of a column, to name the one that says where it was blank."""


@dataclass(frozen=True, slots=True)
class FilledColumns:
    """What stands for the blank cells of every column of numbers or truths.

    columns   the schema of the rows it was made of
    means     the mean of each column that is no category; None for categories, whose blank is a
              level already
    blank     which columns had blank cells: each gets a column of zeros and ones beside it
    cells     how many cells were blank

    Logistic regression needs it: p(y | x) says nothing about x, so it cannot leave a cell out.
    The mean keeps a blank cell from speaking by its value, the indicator lets it speak by being
    blank. Generative models take blanks as they are.

    >>> rows = np.array([[1.0, 5.0], [np.nan, 7.0], [3.0, 9.0]])
    >>> filled = FilledColumns.of(rows)
    >>> filled.transform(rows)
    array([[1., 5., 0.],
           [2., 7., 1.],
           [3., 9., 0.]])
    >>> filled.note
    '1 blank cell in x0 was filled with the mean of its column; x0=blank says where'
    """

    columns: Columns
    means: tuple[float | None, ...]
    blank: tuple[bool, ...]
    cells: int

    @classmethod
    def of(cls, X: object, sample_weight: FloatArray | None = None) -> Self:
        """Learn the means of the cells that are there; a column without any is filled with 0."""
        table = read_table(X)
        columns = Columns.of_kinds(table)
        means: list[float | None] = []
        blank: list[bool] = []
        cells = 0
        for j, kind in enumerate(table.kinds):
            if kind == CATEGORY:
                means.append(None)
                blank.append(False)
                continue
            values = np.asarray(table.column(j), dtype=np.float64)  # None becomes NaN
            there = ~np.isnan(values)
            means.append(
                _mean(values[there], None if sample_weight is None else sample_weight[there])
            )
            blank.append(not there.all())
            cells += int((~there).sum())
        return cls(columns, tuple(means), tuple(blank), cells)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that had blank cells."""
        return tuple(n for n, b in zip(self.columns.names, self.blank, strict=True) if b)

    @property
    def marks(self) -> tuple[str, ...]:
        """The columns that are added, in the order of `names`."""
        taken = set(self.columns.names)
        found = []
        for name in self.names:
            mark = name + MARK
            while mark in taken:
                mark += "?"
            taken.add(mark)
            found.append(mark)
        return tuple(found)

    @property
    def note(self) -> str:
        """What was done, in words; empty where no cell was blank."""
        if not self.names:
            return ""
        many = self.cells > 1
        return (
            f"{self.cells:,} blank cell{'s' * many} in {listed(self.names)} "
            f"{'were' if many else 'was'} filled with the mean of "
            f"{'their' if many else 'its'} column; {listed(self.marks)} "
            f"{'say' if len(self.names) > 1 else 'says'} where"
        )

    def transform(self, X: object) -> object:
        """Return rows without blank numbers: a frame as a frame, with the new columns at its end.

        Rows that were not there when the means were learned are filled by the same means. A
        column that is blank only now has no indicator, and keeps to its mean.
        """
        table = self.columns.matched(read_table(X), "FilledColumns")
        truths = any(column.kind == BOOLEAN for column in self.columns.columns)
        if not (truths or any(self.blank) or _has_blanks(table)):
            return X
        filled, marks = {}, []
        for j, mean in enumerate(self.means):
            if mean is None or table.kinds[j] == CATEGORY:
                continue  # text among numbers is refused by the model, by name
            values = np.asarray(table.column(j), dtype=np.float64)
            missing = np.isnan(values)
            # Truths become numbers, blank or not: the mean of some is neither true nor false.
            if missing.any() or self.blank[j] or self.columns.columns[j].kind == BOOLEAN:
                filled[j] = np.where(missing, mean, values)
            if self.blank[j]:
                marks.append(missing.astype(np.float64))
        if self.columns.named and is_from_frame_library(X):
            return self._frame(X, filled, marks)
        columns = [filled.get(j, table.column(j)) for j in range(table.width)]
        if any(kind == CATEGORY for kind in table.kinds):
            out = np.empty((table.size, len(columns) + len(marks)), dtype=object)
            for j, cells in enumerate((*columns, *marks)):
                out[:, j] = cells
            return out
        return np.column_stack([np.asarray(c, dtype=np.float64) for c in (*columns, *marks)])

    def _frame(self, X: Any, filled: dict[int, FloatArray], marks: list[NDArray[Any]]) -> object:
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        library = frame.implementation
        new = {self.columns.names[j]: cells for j, cells in filled.items()}
        new |= dict(zip(self.marks, marks, strict=True))
        if library.is_pandas_like():
            # Arrays, which are not lined up by an index, and no series for each of many columns.
            native = frame.to_native().copy(deep=False)
            for name, cells in new.items():
                native[name] = cells
            return native
        series = [
            nw.new_series(name, cells, nw.Float64(), backend=library) for name, cells in new.items()
        ]
        return frame.with_columns(*series).to_native()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that can be written as JSON."""
        return {
            "columns": self.columns.to_dict(),
            "means": list(self.means),
            "blank": list(self.blank),
            "cells": self.cells,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return what `to_dict` was called on."""
        try:
            columns = Columns.from_dict(content["columns"])
            means = tuple(None if m is None else float(m) for m in content["means"])
            blank = tuple(bool(b) for b in content["blank"])
            if not len(means) == len(blank) == len(columns.columns):
                raise TypeError(f"{len(means)} means for {len(columns.columns)} columns")
            return cls(columns, means, blank, int(content["cells"]))
        except (KeyError, TypeError) as error:
            raise BadSetting(
                f"no means can be read from {content!r:.200}: {error!r}",
                hint="pass what to_dict() returned; a file may be damaged",
            ) from None


def _mean(values: FloatArray, weights: FloatArray | None) -> float:
    if not len(values) or (weights is not None and not weights.any()):
        return 0.0
    with np.errstate(all="ignore"):
        # About the first value, so that no sum of large numbers overflows or loses its digits.
        found = values[0] + float(np.average(values - values[0], weights=weights))
    return float(found) if np.isfinite(found) else 0.0  # an infinite cell is refused by the model


def _has_blanks(table: Table) -> bool:
    if table.matrix is not None:
        return bool(np.isnan(table.matrix).any())
    return any(
        np.isnan(np.asarray(table.column(j), dtype=np.float64)).any()
        for j, kind in enumerate(table.kinds)
        if kind != CATEGORY
    )
