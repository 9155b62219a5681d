"""Gaussian columns of naive Bayes: a mean and a variance each, and their log-normal cousins."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.engines.threads import collect_blocks
from suffice.errors import BadRows, BadSetting, OutsideSupport, listed
from suffice.families.blocks import read_numbers
from suffice.models.gaussian.family import Gaussian
from suffice.families.normal_columns import LogNormalColumns, NormalColumns, logarithms
from suffice.models.gaussian.class_moments import ClassSummary
from suffice.rows.cells import place_of
from suffice.statistics import ByClass, DiagonalMoments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray, Table

FORMS = {"per-class": "diagonal", "shared": "shared-diagonal"}


@dataclass(frozen=True, slots=True)
class GaussianColumns:
    """Normal columns: a mean per class; the variance per class, or shared by all of them.

    With shared variances the posterior is logistic: it is the model that Ng and Jordan (2001)
    pair with logistic regression. Variances are floored relative to the column's own total
    variance, so a column in small units is as good as any.

    >>> from suffice import NaiveBayes
    >>> rows, labels = [[1.0], [3.0], [6.0], [10.0]], ["a", "a", "b", "b"]
    >>> NaiveBayes(GaussianColumns()).fit(rows, labels).parameters_["x0"]
    {'a': {'mean': 2.0, 'variance': 1.0}, 'b': {'mean': 8.0, 'variance': 4.0}}
    >>> NaiveBayes(GaussianColumns("shared")).fit(rows, labels).parameters_["x0"]["b"]
    {'mean': 8.0, 'variance': 2.5...}
    """

    variance: str = "per-class"
    called: ClassVar[str] = "gaussian"
    smooths: ClassVar[bool] = False
    needs_folds: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if self.variance not in FORMS:
            raise BadSetting(
                f"variance={self.variance!r} is not known", hint='choose "per-class" or "shared"'
            )

    @property
    def name(self) -> str:
        """How the family is called in settings."""
        return self.called if self.variance == "per-class" else f"shared-{self.called}"

    @property
    def inner(self) -> Gaussian:
        """The same as a family of independent normal columns."""
        return Gaussian(FORMS[self.variance])

    def read(
        self,
        table: Table,
        columns: Sequence[int],
        *,
        learning: bool = True,  # noqa: ARG002
    ) -> NDArray[np.floating[Any]]:
        """Return the block of these columns: numbers or truths."""
        return read_numbers(table, columns, self.name)

    def transformed(self, block: NDArray[Any]) -> NDArray[Any]:
        """Return what is normal: the cells themselves."""
        return block

    def summarize(
        self, block: NDArray[Any], codes: IntArray, size: int, weights: FloatArray | None
    ) -> list[DiagonalMoments]:
        """Return mean and scatter of every column, class by class."""

        def part(rows: slice) -> ByClass[DiagonalMoments]:
            w = None if weights is None else weights[rows]
            cells = self.transformed(block[rows])
            return ByClass.of(DiagonalMoments, cells, codes[rows], range(size), w)

        merged = collect_blocks(part, *block.shape)
        empty = DiagonalMoments.empty(block.shape[1])
        return [merged.groups.get(c, empty) for c in range(size)]

    def estimate(
        self,
        groups: Sequence[DiagonalMoments],
        alpha: float,  # noqa: ARG002
    ) -> tuple[NormalColumns, tuple[Note, ...]]:
        """Return means and variances of all classes; there is nothing to smooth."""
        normals, notes = self.inner.estimate(self.summary(groups))
        return self.laws(normals, np.stack([group.counts for group in groups])), notes

    def laws(self, normals: Any, counts: FloatArray) -> NormalColumns:
        """Return the laws of what is normal."""
        return NormalColumns(normals, counts)

    def summary(self, groups: Sequence[DiagonalMoments]) -> ClassSummary:
        """Return all classes' moments side by side; a class without rows has none."""
        labels = range(len(groups))
        return ClassSummary.of(ByClass(dict(zip(labels, groups, strict=True))), list(labels))

    def smoothing(self, folds: Sequence[Sequence[DiagonalMoments]]) -> None:  # noqa: ARG002
        """Return None: there is nothing to smooth."""
        return


@dataclass(frozen=True, slots=True)
class LogNormal(GaussianColumns):
    """Columns whose logarithms are normal: positive, skewed to the right.

    A cell that is not positive cannot be learned from. Asked about, it is as impossible in one
    class as in any other, so it says nothing about the class: the density of the row is 0, and
    its posterior is that of the other cells. An `OutsideSupport` warning names the cells.

    >>> from suffice import NaiveBayes
    >>> rows, labels = [[1.0], [100.0], [10.0], [1000.0]], ["a", "a", "b", "b"]
    >>> model = NaiveBayes(LogNormal()).fit(rows, labels)
    >>> model.parameters_["x0"]["a"]["log_mean"]  # log 10
    2.302...
    """

    called: ClassVar[str] = "lognormal"

    def read(
        self, table: Table, columns: Sequence[int], *, learning: bool = True
    ) -> NDArray[np.floating[Any]]:
        """Return the block of these columns; a cell to learn from has to be positive."""
        rows = GaussianColumns.read(self, table, columns)
        bad = rows <= 0.0
        if not bad.any():
            return rows
        if learning:
            row, place = divmod(int(bad.argmax()), rows.shape[1])
            raise BadRows(
                f"row {row}, {place_of(columns[place], table.names)}: "
                f"{rows[row, place]:g} is not positive, but the column is log-normal",
                hint="choose gaussian for columns that can be zero or negative",
            )
        _warn_of(bad, [place_of(column, table.names) for column in columns])
        return rows

    def transformed(self, block: NDArray[Any]) -> NDArray[Any]:
        """Return what is normal: the logarithms, in double precision."""
        return logarithms(block)

    def laws(self, normals: Any, counts: FloatArray) -> NormalColumns:
        """Return the laws of cells whose logarithms are normal."""
        return LogNormalColumns(normals, counts)


def _warn_of(outside: NDArray[np.bool_], names: Sequence[str]) -> None:
    """Say where cells are not positive though their columns are log-normal."""
    places = np.flatnonzero(outside.any(axis=0)).tolist()
    told = listed(
        f"{names[j]} (row {listed(np.flatnonzero(outside[:, j]).tolist())})" for j in places
    )
    warnings.warn(
        f"cells that are not positive, in columns learned as log-normal: {told}; no class explains "
        "them, so they say nothing about the class",
        OutsideSupport,
        stacklevel=2,
    )
