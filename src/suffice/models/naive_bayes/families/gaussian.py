"""Gaussian columns of naive Bayes: a mean and a variance each, and their log-normal cousins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.engines.threads import collect_blocks
from suffice.errors import (
    BadSetting,
)
from suffice.linear_algebra import LOG_TAU
from suffice.models.gaussian.class_moments import ClassSummary
from suffice.models.gaussian.family import Gaussian
from suffice.models.naive_bayes.column_blocks import read_numbers
from suffice.models.naive_bayes.families.protocol import BaseFamily, BaseLaws, Scores
from suffice.rows import refuse_infinite
from suffice.statistics import ByClass, DiagonalMoments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.models.gaussian.diagonal_normals import DiagonalNormals
    from suffice.models.naive_bayes.asked_of_families import (
        EstimatedColumns,
        NormalCell,
        NormalEvidence,
        Squares,
    )
    from suffice.models.naive_bayes.pictures import Density
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray, Table


FORMS = {"per-class": "diagonal", "shared": "shared-diagonal"}
"""What `variance` may be, and the Gaussian form that it is."""


@dataclass(frozen=True, slots=True)
class GaussianColumns(BaseFamily):
    """Normal columns: a mean per class; the variance per class, or shared by all of them.

    With shared variances the posterior is logistic: it is the model that Ng and Jordan (2001)
    pair with logistic regression. Variances are floored relative to the column's own total
    variance, so a column in small units is as good as any.

    Parameters
    ----------
    variance : {"per-class", "shared"}, default="per-class"
        "per-class": each class has its own; "shared": all have the same.

    See Also
    --------
    suffice.NaiveBayes : Takes it as a family of columns.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rows, labels = [[1.0], [3.0], [6.0], [10.0]], ["a", "a", "b", "b"]
    >>> NaiveBayes(GaussianColumns()).fit(rows, labels).parameters_["x0"]
    {'a': {'mean': 2.0, 'variance': 1.0}, 'b': {'mean': 8.0, 'variance': 4.0}}
    >>> NaiveBayes(GaussianColumns("shared")).fit(rows, labels).parameters_["x0"]["b"]
    {'mean': 8.0, 'variance': 2.5...}
    """

    variance: str = "per-class"
    called: ClassVar[str] = "gaussian"
    form: ClassVar[Mapping[str, str]] = {"variance": "text"}
    becomes: ClassVar[str] = "NormalColumns"
    statistics: ClassVar[str] = "DiagonalMoments"

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
    ) -> NDArray[np.floating]:
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

    def left_out_rows(
        self,
        groups: Sequence[DiagonalMoments],
        block: Any,
        codes: IntArray,
        weights: FloatArray,
        *,
        complete: bool,
        budget: float,
    ) -> Scores:
        """Return the scores of rows that were in the fit, by downdated variances.

        `complete` says that the rows are all there were; `budget` is for floors.
        """
        from suffice.models.gaussian.leave_one_out.leave_one_out import leave_one_out

        laws, notes = self.estimate(groups, 0.0)
        found = leave_one_out(
            self.inner, self.summary(groups), laws.normals, notes, self.transformed(block), codes,
            weights, np.zeros(len(groups)), refit_budget=budget, complete=complete,
        )  # fmt: skip
        logs, gone = found.log_posterior, found.vanished[:, np.newaxis]
        # A class that vanishes is excluded by its prior: here it must not spoil the others.
        return Scores(np.where(np.isneginf(logs) & gone, 0.0, logs), None)

    def left_out(
        self,
        groups: Sequence[DiagonalMoments],
        alpha: float,  # noqa: ARG002
        block: object,
        codes: IntArray,
        weights: FloatArray,
    ) -> Scores:
        """Return the same of some rows, which nobody sums again."""
        return self.left_out_rows(groups, block, codes, weights, complete=False, budget=0.0)

    # What others ask

    def sums(self) -> Squares:
        """Return that means and squares suffice."""
        from suffice.models.naive_bayes.asked_of_families import Squares

        return Squares()

    def evidence(
        self,
        groups: Sequence[DiagonalMoments],
        alpha: float,  # noqa: ARG002
        law: object,  # noqa: ARG002
        block: Any,
    ) -> NormalEvidence:
        """Return moments, and what is normal."""
        from suffice.models.naive_bayes.asked_of_families import NormalEvidence

        refuse_infinite(block, None)
        shared = self.variance == "shared"
        return NormalEvidence(self.summary(groups), self.transformed(block), shared)

    def estimates(
        self, names: Sequence[str], own: Sequence[DiagonalMoments]
    ) -> list[EstimatedColumns]:
        """Return the means."""
        from suffice.models.naive_bayes.asked_of_families import estimated_means

        return estimated_means(own, list(names))


@dataclass(frozen=True, eq=False)
class NormalColumns(BaseLaws):
    """log p(x | c) = Σ_j -½((x_j - μ_cj)/σ_cj)² - log σ_cj - ½ log 2π."""

    normals: DiagonalNormals
    counts: FloatArray
    form: ClassVar[Mapping[str, str]] = {
        "normals": "=DiagonalNormals k d",
        "counts": "weight k d",
    }
    is_logarithm: ClassVar[bool] = False
    """Whether it is the logarithm of a cell that is normal."""

    def cell(self, column: int) -> NormalCell:
        """Return the normal law of one column."""
        from suffice.models.naive_bayes.asked_of_families import NormalCell

        one = np.arange(self.width) == column
        return NormalCell(self.normals.marginal(one), self.is_logarithm)

    def picture(self, column: int, name: str) -> Density:
        """Return the densities."""
        from suffice.models.naive_bayes.pictures import log_normal_density, normal_density

        normals = self.normals
        means, variances = normals.class_means[:, column], normals.variances[:, column]
        draw = log_normal_density if self.is_logarithm else normal_density
        return draw(means, np.broadcast_to(variances, means.shape), name)

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

    def column_scores(self, block: NDArray[np.generic], column: int) -> Scores:
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

    def why_not_linear(self) -> tuple[str, str]:
        """Return that variances differ."""
        return (
            ": each class has its own variances",
            'GaussianColumns(variance="shared") has a linear form',
        )

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

    def described(self, column: int, code: int) -> dict[object, float]:
        """Return mean and variance."""
        m = 0 if self.normals.is_shared else code
        return {
            "mean": float(self.normals.class_means[code, column]),
            "variance": float(self.normals.variances[m, column]),
        }
