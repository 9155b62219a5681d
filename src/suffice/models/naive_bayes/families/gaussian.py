"""Gaussian columns of naive Bayes: a mean and a variance each, and their log-normal cousins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.engines.threads import collect_blocks
from suffice.errors import (
    BadRows,
    BadSetting,
    NotFinite,
    OutsideSupport,
    warn,
)
from suffice.linear_algebra import LOG_TAU
from suffice.models.gaussian.class_moments import ClassSummary
from suffice.models.gaussian.family import Gaussian
from suffice.models.naive_bayes.column_blocks import read_numbers
from suffice.models.naive_bayes.families.protocol import Scores
from suffice.places import CellsAt, ColumnAt, Phrase
from suffice.rows import refuse_infinite
from suffice.rows.cells import column_at, place_of
from suffice.statistics import ByClass, DiagonalMoments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.gaussian.diagonal_normals import DiagonalNormals
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray, Table


FORMS = {"per-class": "diagonal", "shared": "shared-diagonal"}
"""What `variance` may be, and the Gaussian form that it is."""


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

    def transformed(self, block: NDArray[Any]) -> NDArray[Any]:
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
        "cells that are not positive, in columns learned as log-normal: {cells}; no class explains "
        "them, so they say nothing about the class"
    )
    warn(Phrase(said, cells=found), OutsideSupport)


@dataclass(frozen=True, eq=False)
class NormalColumns:
    """log p(x | c) = Σ_j -½((x_j - μ_cj)/σ_cj)² - log σ_cj - ½ log 2π."""

    normals: DiagonalNormals
    counts: FloatArray

    @property
    def size(self) -> int:
        """The number of classes."""
        return self.normals.size

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.normals.origin)

    def transformed(self, block: NDArray[Any]) -> NDArray[Any]:
        """Return what is normal."""
        return block

    def scores(self, block: NDArray[Any]) -> Scores:
        """Return log p(x | c) up to what classes share; missing cells are skipped.

        Squares of shared variances are left to the carrier: far away they would drown what
        classes differ in. Where squares of a class's own leave the range of a double, -inf.
        """
        cells = self.transformed(block)
        if self.normals.is_shared:
            return Scores(self._linear_scores(cells), None)
        out = np.empty((len(cells), self.size))
        with np.errstate(all="ignore"):
            self.normals.block_scores(cells, np.zeros(self.size), out)
        if not np.isfinite(out.sum()):
            hard = ~np.isfinite(out).all(axis=1)
            out[hard] = self.normals.log_densities(cells[hard])
        return Scores(out, None)

    def _linear_scores(self, cells: NDArray[Any]) -> FloatArray:
        """Return Σ_j over seen cells of slope·(x - origin) + offset."""
        normals = self.normals
        slopes = np.where(normals.active, normals.means / np.square(normals.deviations), 0.0)
        offsets = -slopes * (normals.origin_low / normals.scale + normals.means / 2.0)
        with np.errstate(all="ignore"):
            centred = cells - normals.origin
            blank = np.isnan(centred)
            if not blank.any():
                found: FloatArray = centred @ (slopes / normals.scale).T + offsets.sum(axis=1)
            else:
                found = np.where(blank, 0.0, centred) @ (slopes / normals.scale).T
                found += ~blank @ offsets.T
        if not np.isfinite(found).all():
            refuse_infinite(cells)
        return found

    def carrier(self, block: NDArray[Any]) -> FloatArray:
        """Return what classes share: -½Σz²/σ² and volumes where variances are shared, else 0."""
        normals = self.normals
        if not normals.is_shared:
            return np.zeros(len(block))
        with np.errstate(over="ignore"):
            z = (self.transformed(block) - normals.origin - normals.origin_low) / normals.scale
            squares = np.square(z / normals.deviations[0])
        logs = np.log(normals.deviations[0]) + np.log(normals.scale) + LOG_TAU / 2.0
        counted = ~np.isnan(squares) & normals.active
        found: FloatArray = -np.where(counted, squares / 2.0 + logs, 0.0).sum(axis=1)
        return found

    def column_scores(self, block: NDArray[Any], column: int) -> Scores:
        """Return what one column adds to the scores."""
        chosen = np.arange(self.width) == column
        inner = self.normals.marginal(chosen)
        cells = self.transformed(block[:, column : column + 1])
        if not inner.is_shared:
            return Scores(inner.scores(cells, np.zeros(self.size)), None)
        # Squares that classes share would drown what they differ in, far away.
        weights, offsets = inner.linear
        with np.errstate(over="ignore", invalid="ignore"):
            found = (cells - inner.origin) * weights[:, 0] + offsets
        return Scores(np.where(np.isnan(cells), 0.0, found), None)

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one draw for each code."""
        return self.normals.sample(codes, rng)

    def linear(self) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Return (weights, offsets, origin) where variances are shared, else None."""
        if not self.normals.is_shared:
            return None
        weights, offsets = self.normals.linear
        return weights, offsets, self.normals.origin

    def estimation_variance(self, block: NDArray[Any], omegas: FloatArray) -> float:
        """Return Σ_cj a_cj²/W_cj for the means, and for the variances M_cj²/(2W_cj).

        a_cj = Σ_i ω_ci u_ij and M_cj = Σ_i ω_ci(u_ij² - 1) in units of the class; shared
        variances were learned from all classes together: (Σ_c M_cj)²/(2W_j).
        """
        normals, act = self.normals, self.normals.active
        with np.errstate(over="ignore"):
            z = (self.transformed(block) - normals.origin - normals.origin_low) / normals.scale
        held = np.maximum(self.counts[:, act], 1.0)
        firsts, seconds = np.zeros_like(held), np.zeros_like(held)
        for c, omega in enumerate(omegas):
            m = 0 if normals.is_shared else c
            with np.errstate(over="ignore"):
                u = ((z - normals.means[c]) / normals.deviations[m])[:, act]
            seen = ~np.isnan(u) & (omega != 0.0)[:, np.newaxis]
            u = np.where(seen, u, 0.0)
            firsts[c], seconds[c] = omega @ u, omega @ (np.square(u) - seen)
        means = np.square(firsts) / held
        if normals.is_shared:
            spreads = np.square(seconds.sum(axis=0)) / (2.0 * held.sum(axis=0))
        else:
            spreads = np.square(seconds) / (2.0 * held)
        return float(means.sum() + spreads.sum())

    def described(self, column: int, code: int) -> dict[Any, float]:
        """Return mean and variance."""
        m = 0 if self.normals.is_shared else code
        return {
            "mean": float(self.normals.class_means[code, column]),
            "variance": float(self.normals.variances[m, column]),
        }


@dataclass(frozen=True, eq=False)
class LogNormalColumns(NormalColumns):
    """The same for log x, with -log x for the change of variable."""

    def transformed(self, block: NDArray[Any]) -> NDArray[Any]:
        """Return what is normal: the logarithms."""
        return logarithms(block)

    def scores(self, block: NDArray[Any]) -> Scores:
        """Return log p(x | c); a cell that is not positive is impossible in every class."""
        found = NormalColumns.scores(self, block)
        outside = (block <= 0.0).sum(axis=1, keepdims=True)
        if not outside.any():
            return found
        return Scores(found.logs, np.broadcast_to(outside, found.logs.shape).astype(np.float64))

    def carrier(self, block: NDArray[Any]) -> FloatArray:
        """Return what classes share of log x, and -Σ log x over the cells that count."""
        logs = self.transformed(block)[:, self.normals.active]
        change = -np.where(np.isnan(logs), 0.0, logs).sum(axis=1)
        found: FloatArray = NormalColumns.carrier(self, block) + change
        return found

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one draw for each code."""
        found: FloatArray = np.exp(self.normals.sample(codes, rng))
        return found

    def linear(self) -> None:
        """Return None: linear in log x is not linear in x."""
        return

    def described(self, column: int, code: int) -> dict[Any, float]:
        """Return mean and variance of the logarithm."""
        found = NormalColumns.described(self, column, code)
        return {"log_mean": found["mean"], "log_variance": found["variance"]}


def logarithms(block: NDArray[Any]) -> FloatArray:
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
