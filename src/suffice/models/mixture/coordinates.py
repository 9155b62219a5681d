"""The columns as a mixture sees them: centred, in units in which nothing is large or small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

import numpy as np

from suffice.engines.parts import Mergeable
from suffice.engines.threads import collect_blocks
from suffice.errors import BadRows, NotFinite
from suffice.models.gaussian.floors import EIGENVALUE_FLOOR
from suffice.models.gaussian.forms import UNIT_FORMS, letters_of
from suffice.models.mixture.factored.factor_forms import factors_of
from suffice.models.mixture.survey import RowSurvey
from suffice.places import ColumnAt

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.rows import FloatArray

S = TypeVar("S", bound=Mergeable)


class Collects(Protocol):
    """Calls a function on rows and weights of every part of a table, and adds up."""

    def __call__(self, summarize: Callable[[FloatArray, FloatArray | None], S]) -> S:
        """Return the merged summary of all rows."""
        ...


FARTHEST = 1e70
"""Standard deviations of the first rows from which on rows of a stream are refused: running sums of
squares of more, and what is added to them, would leave what a file may hold (1e150)."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """z = (x - origin)/scale of the columns that vary, `active`; and what all rows say of them.

    `total` (a, a) is the covariance of all rows; `trifle` (a, a) is zero but for directions in
    which no row varies: there it is a variance far below every real one, the same for all
    components, so that it plays no part. `weight` is that of all rows with a cell.
    """

    origin: FloatArray
    origin_low: FloatArray
    scale: FloatArray
    active: NDArray[np.bool_]
    total: FloatArray
    trifle: FloatArray
    weight: float
    complete: bool

    @property
    def width(self) -> int:
        """How many columns vary."""
        return int(self.active.sum())

    @classmethod
    def of(cls, summary: ClassSummary, form: str, *, complete: bool) -> Self:
        """Choose units: every column's own, or one for all where the form depends on them."""
        active = summary.active
        scale = np.where(active, summary.scale, 1.0)
        if not active.any():
            raise BadRows(
                "no column varies: all rows are equal, so there are no clusters to find",
                hint="give rows that differ",
            )
        counts = np.maximum(summary.counts.sum(axis=0), 1.0)
        if summary.scatter.ndim == 2:
            total = summary.scatter[np.ix_(active, active)] / summary.weight
        else:
            total = np.diag((summary.scatter / counts)[active])
        values, basis = np.linalg.eigh(total)
        silent = basis[:, values < EIGENVALUE_FLOOR]
        if factors_of(form) is not None:  # every column varies by itself, sums of others too
            silent = silent[:, :0]
        trifle = EIGENVALUE_FLOOR * (silent @ silent.T)
        if letters_of(form) in UNIT_FORMS:
            unit = np.maximum(scale / scale[active].max(), 1e-150)
            square = np.multiply.outer(unit[active], unit[active])
            total, trifle, scale = total * square, trifle * square, scale / unit
        return cls(
            summary.origin,
            summary.origin_low,
            scale,
            active,
            total,
            trifle,
            summary.weight,
            complete,
        )

    def chosen(self, rows: FloatArray) -> FloatArray:
        """Return the columns (n, a) that vary, as the user has them."""
        return rows if self.active.all() else rows[:, self.active]

    def frame(self, mask: NDArray[np.bool_]) -> FloatArray:
        """Return origin, what rounding took from it, and units (3, o) of some columns that vary."""
        return np.stack([self.origin, self.origin_low, self.scale])[:, self.active][:, mask]

    def standardized(self, rows: FloatArray) -> FloatArray:
        """Return rows (n, a) in these coordinates; blanks stay blank."""
        found = self.chosen(rows) - self.origin[self.active]
        found -= self.origin_low[self.active]
        found /= self.scale[self.active]
        return np.asarray(found, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class MixtureRows:
    """Rows (n, d) of an array with their weights: what EM goes through at every step."""

    rows: FloatArray
    weights: FloatArray | None

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    @property
    def weight(self) -> float:
        """What all rows weigh."""
        return float(self.size if self.weights is None else self.weights.sum())

    def collect(self, summarize: Callable[[FloatArray, FloatArray | None], S]) -> S:
        """Return the merged summary of all rows."""

        def block(part: slice) -> S:
            return summarize(self.rows[part], None if self.weights is None else self.weights[part])

        return collect_blocks(block, *self.rows.shape)

    def survey(self, most: int, *, marked: bool = False) -> RowSurvey:
        """Look at all rows once; `most` of them stand for all."""
        return RowSurvey.of(self.rows, self.weights, most, marked=marked)


@dataclass(frozen=True, eq=False)
class RemoteRows:
    """Rows that are somewhere else: every step of EM is one collection, wherever they are.

    `collect` calls a function on rows and weights of every part of them, and adds up.

    >>> import numpy as np
    >>> parts = [np.array([[1.0], [2.0]]), np.array([[5.0]])]
    >>> def collect(summarize):
    ...     return summarize(parts[0], None) + summarize(parts[1], None)
    >>> RemoteRows(collect, 3).collect(lambda rows, weights: float(rows.sum()))
    8.0
    """

    collect: Collects
    size: int


def telling(rows: FloatArray, weights: FloatArray | None) -> NDArray[np.bool_]:
    """Return which rows (n,) say something: those that have a cell and a weight."""
    blank = np.isnan(rows)
    kept = ~blank.all(axis=1) if blank.any() else np.ones(len(rows), dtype=bool)
    if weights is not None:
        kept &= weights > 0.0
    return np.asarray(kept)


def checked_rows(rows: FloatArray, weights: FloatArray | None) -> MixtureRows:
    """Return rows that say something: those of weight zero or without any cell are left out."""
    kept = telling(rows, weights)
    if not kept.all():
        rows, weights = rows[kept], None if weights is None else weights[kept]
    return MixtureRows(rows, weights)


class Units(Protocol):
    """An origin and units of columns, and which of them vary."""

    @property
    def origin(self) -> FloatArray: ...  # noqa: D102
    @property
    def scale(self) -> FloatArray: ...  # noqa: D102
    @property
    def active(self) -> NDArray[np.bool_]: ...  # noqa: D102


def refuse_far(rows: FloatArray, units: Units) -> None:
    """Refuse rows whose squares are beyond what a file may hold, in units of the first rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        reach = np.abs(rows - units.origin) / units.scale
        wide = units.active & (reach > FARTHEST).any(axis=0)
    if wide.any():
        raise NotFinite.of_range(ColumnAt(int(j)) for j in np.flatnonzero(wide))
