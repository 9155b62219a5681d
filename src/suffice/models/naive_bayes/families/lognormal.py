"""Columns whose logarithms are normal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.errors import BadRows, NotFinite, OutsideSupport, warn
from suffice.models.naive_bayes.families.gaussian import GaussianColumns, NormalColumns
from suffice.models.naive_bayes.families.protocol import Scores
from suffice.places import CellsAt, ColumnAt, Phrase
from suffice.rows.cells import column_at, place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.asked_of_families import (
        EstimatedColumns,
        NormalEvidence,
        Squares,
    )
    from suffice.rows import FloatArray, IntArray, Table
    from suffice.statistics import DiagonalMoments


@dataclass(frozen=True, slots=True)
class LogNormal(GaussianColumns):
    """Columns whose logarithms are normal: positive, skewed to the right.

    A cell that is not positive cannot be learned from. Asked about, it is as impossible in one
    class as in any other, so it says nothing about the class: the density of the row is 0, and
    its posterior is that of the other cells. An `OutsideSupport` warning names the cells.

    Parameters
    ----------
    variance : {"per-class", "shared"}, default="per-class"
        Of the logarithms. "per-class": each class has its own; "shared": all have the same.

    See Also
    --------
    suffice.NaiveBayes : Takes it as a family of columns.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rows, labels = [[1.0], [100.0], [10.0], [1000.0]], ["a", "a", "b", "b"]
    >>> model = NaiveBayes(LogNormal()).fit(rows, labels)
    >>> model.parameters_["x0"]["a"]["log_mean"]  # log 10
    2.302...
    """

    called: ClassVar[str] = "lognormal"
    becomes: ClassVar[str] = "LogNormalColumns"

    def sums(self) -> Squares:
        """Return that means and squares of the logarithms suffice."""
        from suffice.models.naive_bayes.asked_of_families import Squares

        return Squares(logarithm=True)

    def evidence(
        self, groups: Sequence[DiagonalMoments], alpha: float, law: object, block: Any
    ) -> NormalEvidence:
        """Return moments of logarithms; what has none is impossible."""
        found = GaussianColumns.evidence(self, groups, alpha, law, block)
        return replace(found, outside=(block <= 0.0).any(axis=1))

    def estimates(
        self, names: Sequence[str], own: Sequence[DiagonalMoments]
    ) -> list[EstimatedColumns]:
        """Return the means of the logarithms."""
        return GaussianColumns.estimates(self, [f"log {name}" for name in names], own)

    def read(
        self, table: Table, columns: Sequence[int], *, learning: bool = True
    ) -> NDArray[np.floating]:
        """Return the block of these columns; a cell to learn from has to be positive."""
        rows = GaussianColumns.read(self, table, columns)
        bad = rows <= 0.0
        if not bad.any():
            return rows
        if learning:
            row, place = divmod(int(bad.argmax()), rows.shape[1])
            value = float(rows[row, place])
            raise BadRows.of_cell(
                row,
                column_at(columns[place], table.names),
                f"{value:g} is not positive, but the column is log-normal",
                value=value,
                hint="choose gaussian for columns that can be zero or negative",
            )
        _warn_of(bad, [place_of(column, table.names) for column in columns])
        return rows

    def transformed(self, block: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return what is normal: the logarithms, in double precision."""
        return logarithms(block)

    def laws(self, normals: Any, counts: FloatArray) -> NormalColumns:
        """Return the laws of cells whose logarithms are normal."""
        return LogNormalColumns(normals, counts)


def _warn_of(outside: NDArray[np.bool_], names: Sequence[str]) -> None:
    """Say where cells are not positive though their columns are log-normal."""
    found = tuple(
        CellsAt(tuple(np.flatnonzero(outside[:, j]).tolist()), names[j])
        for j in np.flatnonzero(outside.any(axis=0)).tolist()
    )
    said = (
        "cells that are not positive, in columns learned as log-normal: {cells}; they are "
        "impossible "
        "in every class, so they are ignored"
    )
    warn(Phrase(said, cells=found), OutsideSupport)


@dataclass(frozen=True, eq=False)
class LogNormalColumns(NormalColumns):
    """The same for log x, with -log x for the change of variable."""

    is_logarithm: ClassVar[bool] = True

    def transformed(self, block: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return what is normal: the logarithms."""
        return logarithms(block)

    def scores(self, block: NDArray[Any]) -> Scores:
        """Return log p(x | c); a cell that is not positive is impossible in every class."""
        found = NormalColumns.scores(self, block)
        outside = (block <= 0.0).sum(axis=1, keepdims=True)
        if not outside.any():
            return found
        return Scores(found.logs, np.broadcast_to(outside, found.logs.shape).astype(np.float64))

    def carrier(self, block: NDArray[np.generic]) -> FloatArray:
        """Return what classes share of log x, and -Σ log x over the cells that count."""
        logs = self.transformed(block)[:, self.normals.active]
        change = -np.where(np.isnan(logs), 0.0, logs).sum(axis=1)
        found: FloatArray = NormalColumns.carrier(self, block) + change
        return found

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one draw for each code."""
        found: FloatArray = np.exp(self.normals.sample(codes, rng))
        return found

    def why_not_linear(self) -> tuple[str, str]:
        """Return that logarithms are linear, and cells are not."""
        return (
            ": log-normal columns enter by their logarithm",
            "pass the logarithms, with shared variances",
        )

    def linear(self) -> None:
        """Return None: linear in log x is not linear in x."""
        return

    def described(self, column: int, code: int) -> dict[object, float]:
        """Return mean and variance of the logarithm."""
        found = NormalColumns.described(self, column, code)
        return {"log_mean": found["mean"], "log_variance": found["variance"]}


def logarithms(block: NDArray[np.generic]) -> FloatArray:
    """Return logarithms in double precision, NaN for what has none.

    An infinite cell is refused by its place.
    """
    if np.isinf(block).any():
        row, place = divmod(int(np.isinf(block).argmax()), block.shape[1])
        raise NotFinite.of(row, ColumnAt(place), float(block[row, place]))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: FloatArray = np.log(block.astype(np.float64, copy=False))
    found[np.isneginf(found)] = np.nan
    return found
