"""Gaussian columns of naive Bayes: a mean and a variance each, and their log-normal cousins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.engines.threads import collect_blocks
from suffice.errors import BadRows, BadSetting, NotFinite
from suffice.families.bernoulli import refuse_text
from suffice.families.blocks import numbers
from suffice.families.gaussian import Gaussian
from suffice.families.laws import Scores
from suffice.families.summary import ClassSummary
from suffice.rows.cells import CATEGORY, place_of
from suffice.statistics import ByClass, DiagonalMoments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.families.diagonal_normals import DiagonalNormals
    from suffice.families.notes import Note
    from suffice.rows import FloatArray, IntArray, Table

FORMS = {"per-class": "diagonal", "shared": "shared-diagonal"}


@dataclass(frozen=True, slots=True)
class GaussianColumns:
    """Normal columns: a mean per class; the variance per class, or shared by all of them.

    With shared variances the posterior is logistic: it is the model that Ng and Jordan (2001)
    pair with logistic regression. Variances are floored relative to the column's own total
    variance, so a column in small units is as good as any.
    """

    variance: str = "per-class"
    name: ClassVar[str] = "gaussian"
    smooths: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if self.variance not in FORMS:
            raise BadSetting(
                f"variance={self.variance!r} is not known", hint='choose "per-class" or "shared"'
            )

    @property
    def inner(self) -> Gaussian:
        """The same as a family of independent normal columns."""
        return Gaussian(FORMS[self.variance])

    def read(self, table: Table, columns: Sequence[int]) -> NDArray[np.floating[Any]]:
        """Return the block of these columns: numbers or truths."""
        for j in columns:
            if table.kinds[j] == CATEGORY:
                refuse_text(table, j, self.name)
        return numbers(table, columns)

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
    """Columns whose logarithms are normal: positive, skewed to the right."""

    name: ClassVar[str] = "lognormal"

    def read(self, table: Table, columns: Sequence[int]) -> NDArray[np.floating[Any]]:
        """Return the block of these columns, or refuse a cell that is not positive."""
        rows = GaussianColumns.read(self, table, columns)
        bad = rows <= 0.0
        if bad.any():
            row, place = divmod(int(bad.argmax()), rows.shape[1])
            raise BadRows(
                f"row {row}, {place_of(columns[place], table.names)}: "
                f"{rows[row, place]:g} is not positive, but the column is log-normal",
                hint="choose gaussian for columns that can be zero or negative",
            )
        return rows

    def transformed(self, block: NDArray[Any]) -> NDArray[Any]:
        """Return what is normal: the logarithms, in double precision."""
        return logarithms(block)

    def laws(self, normals: Any, counts: FloatArray) -> NormalColumns:
        """Return the laws of cells whose logarithms are normal."""
        return LogNormalColumns(normals, counts)


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
        """Return log p(x | c); missing cells are skipped, far ones compared with care."""
        return Scores(self.normals.scores(self.transformed(block), np.zeros(self.size)), None)

    def carrier(self, block: NDArray[Any]) -> FloatArray:
        """Return nothing: the scores are the whole density."""
        return np.zeros(len(block))

    def column_scores(self, block: NDArray[Any], column: int) -> Scores:
        """Return what one column adds to the scores."""
        chosen = np.arange(self.width) == column
        inner = self.normals.marginal(chosen)
        cells = self.transformed(block[:, column : column + 1])
        return Scores(inner.scores(cells, np.zeros(self.size)), None)

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one draw for each code."""
        return self.normals.sample(codes, rng)

    def linear(self) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Return (weights, offsets, origin) where variances are shared, else None."""
        if not self.normals.is_shared:
            return None
        weights, offsets = self.normals.linear
        return weights, offsets, self.normals.origin

    def estimation_variance(self, block: NDArray[Any], code: int, omega: FloatArray) -> float:
        """Return what estimating mean and variance adds: Σ_j a_j²/W_j + M_j²/(2W_j)."""
        normals, act = self.normals, self.normals.active
        cells = self.transformed(block)
        m = 0 if normals.is_shared else code
        with np.errstate(over="ignore"):
            z = (cells - normals.origin - normals.origin_low) / normals.scale
            u = ((z - normals.means[code]) / normals.deviations[m])[:, act]
        seen = ~np.isnan(u) & (omega != 0.0)[:, np.newaxis]
        u = np.where(seen, u, 0.0)
        first, second = omega @ u, omega @ (np.square(u) - seen)
        own = np.maximum(self.counts[code, act], 1.0)
        shared = np.maximum(self.counts[:, act].sum(axis=0), 1.0) if normals.is_shared else own
        return float(np.sum(np.square(first) / own) + np.sum(np.square(second) / (2.0 * shared)))

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

    def carrier(self, block: NDArray[Any]) -> FloatArray:
        """Return -Σ log x over the cells that count."""
        logs = self.transformed(block)[:, self.normals.active]
        found: FloatArray = -np.where(np.isnan(logs), 0.0, logs).sum(axis=1)
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
    """Return logarithms in double precision; an infinite cell is refused by its place."""
    if np.isinf(block).any():
        row, place = divmod(int(np.isinf(block).argmax()), block.shape[1])
        raise NotFinite.of(row, f"column {place}", float(block[row, place]))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: FloatArray = np.log(block.astype(np.float64, copy=False))
    return found
