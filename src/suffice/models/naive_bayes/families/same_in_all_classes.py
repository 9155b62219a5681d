"""A column that says nothing about the class: one law for all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.errors import BadSetting
from suffice.models.naive_bayes.families.protocol import (
    BaseFamily,
    BaseLaws,
    ColumnFamily,
    ColumnLaws,
    Outside,
    Scores,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.asked_of_families import (
        CommonEvidence,
        EstimatedColumns,
        SumsOfColumns,
    )
    from suffice.models.naive_bayes.column_blocks import Block
    from suffice.models.naive_bayes.pictures import ColumnLaw
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray, Table


@dataclass(frozen=True, slots=True)
class Common(BaseFamily):
    """One distribution for all classes: p(x_j | c) = p(x_j), learned from all rows.

    For columns that repeat what others have said already, and would make naive Bayes too certain.
    Densities and samples still have the column; posteriors do not.

    Parameters
    ----------
    family : ColumnFamily
        The family of the column.

    See Also
    --------
    suffice.NaiveBayes : Takes it as a family of columns.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> from suffice.families import Poisson
    >>> model = NaiveBayes({0: "poisson", 1: Common(Poisson())})
    >>> rows = [[0, 0], [2, 4], [7, 14], [5, 10]]
    >>> model.fit(rows, ["a", "a", "b", "b"]).explain([[4, 8]]).contributions.round(2).tolist()
    [[0.81, 0.0]]
    """

    family: ColumnFamily
    form: ClassVar[Mapping[str, str]] = {"family": "=family"}
    becomes: ClassVar[str] = "CommonColumns"
    is_single: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if not self.family.is_single:
            raise BadSetting(
                f"Common({self.family!r}) has no meaning",
                hint="give it the family of a single column",
            )

    @property
    def name(self) -> str:
        """How the family is called in settings."""
        return f"common {self.family.name}"

    @property
    def statistics(self) -> str:
        """The name of the class of its statistics."""
        return self.family.statistics

    @property
    def cells_are_levels(self) -> bool:  # type: ignore[override]
        """Whether cells are levels, and no numbers."""
        return self.family.cells_are_levels

    @property
    def smooths(self) -> bool:  # type: ignore[override]
        """Whether there is anything to smooth."""
        return self.family.smooths

    @property
    def needs_folds(self) -> bool:  # type: ignore[override]
        """Whether α can only be chosen from statistics kept by fold."""
        return self.family.needs_folds

    def decided(self, table: Table, column: int, weights: FloatArray | None) -> Self:
        """Return the family with what a column of the first rows decides."""
        return replace(self, family=self.family.decided(table, column, weights))

    def read(self, table: Table, columns: Sequence[int], *, learning: bool = True) -> Any:
        """Return the block of these columns as the family reads it."""
        return self.family.read(table, columns, learning=learning)

    def summarize(
        self, block: object, codes: IntArray, size: int, weights: FloatArray | None
    ) -> Sequence[object]:
        """Return the statistics of each class: they are kept apart, for classes may go."""
        return self.family.summarize(block, codes, size, weights)

    def estimate(
        self, groups: Sequence[object], alpha: float
    ) -> tuple[CommonColumns, tuple[Note, ...]]:
        """Return one law for all classes."""
        inner, notes = self.family.estimate([reduce(add, groups)], alpha)
        return CommonColumns(inner, len(groups)), notes

    def smoothing(self, folds: Sequence[Sequence[object]]) -> float | None:
        """Return the α of the largest held-out likelihood."""
        return self.family.smoothing([[reduce(add, groups)] for groups in folds])

    def left_out(
        self,
        groups: Sequence[Any],
        alpha: float,  # noqa: ARG002
        block: Any,
        codes: IntArray,  # noqa: ARG002
        weights: FloatArray,  # noqa: ARG002
    ) -> Scores:
        """Return zeros: what is common to all classes changes no posterior."""
        return Scores(np.zeros((len(block), len(groups))), None)

    # What others ask

    def sums(self) -> SumsOfColumns | None:
        """Return the sums that suffice for the family."""
        return self.family.sums()

    def outside(self, cells: NDArray[np.generic]) -> Outside | None:
        """Return which numbers cannot be of the family."""
        return self.family.outside(cells)

    def evidence(
        self, groups: Sequence[object], alpha: float, law: CommonColumns, block: object
    ) -> CommonEvidence | None:
        """Return what is known of rows, as if there were one class."""
        from suffice.models.naive_bayes.asked_of_families import CommonEvidence

        inner = self.family.evidence([reduce(add, groups)], alpha, law.inner, block)
        return None if inner is None else CommonEvidence(inner)

    def statistics_flaw(self, part: object) -> str:
        """Return why statistics cannot be of the family."""
        return self.family.statistics_flaw(part)

    def law_flaw(self, law: CommonColumns) -> str:
        """Return why laws cannot be of the family."""
        kind = type(law.inner).__name__
        if kind != self.family.becomes:
            return f"has {type(law).__name__} where the family is {self.name}"
        return self.family.law_flaw(law.inner)

    def estimates(self, names: Sequence[str], own: Sequence[object]) -> list[EstimatedColumns]:
        """Return what was estimated, class by class."""
        return self.family.estimates(names, own)


@dataclass(frozen=True, eq=False)
class CommonColumns(BaseLaws):
    """The same scores for every class."""

    inner: ColumnLaws
    size: int
    form: ClassVar[Mapping[str, str]] = {"inner": "=laws d", "size": "count"}
    is_common: ClassVar[bool] = True

    def flaw(self, sizes: dict[str, int]) -> str:
        """Return whether there is more than one law."""
        sizes["k"] = self.size
        single = self.inner.size == 1 and self.inner.by_column and not self.inner.is_common
        return "" if single else "has a law of more than one class"

    def picture(self, column: int, name: str) -> ColumnLaw:
        """Return the law of one column, the same for every class."""
        found = self.inner.picture(column, name)
        shape = (len(found.heights), self.size)
        return replace(found, heights=np.broadcast_to(found.heights, shape))

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.inner.width

    def _repeated(self, scores: Scores) -> Scores:
        shape = (len(scores.logs), self.size)
        orders = None if scores.orders is None else np.broadcast_to(scores.orders, shape)
        return Scores(np.broadcast_to(scores.logs, shape), orders)

    def scores(self, block: object) -> Scores:
        """Return log p(x), one and the same for all classes."""
        return self._repeated(self.inner.scores(block))

    def carrier(self, block: object) -> FloatArray:
        """Return h(x)."""
        return self.inner.carrier(block)

    def column_scores(self, block: object, column: int) -> Scores:
        """Return what one column adds to the scores."""
        return self._repeated(self.inner.column_scores(block, column))

    def sample(self, codes: IntArray, rng: np.random.Generator) -> Block:
        """Return one draw for each code, whatever the code."""
        return self.inner.sample(np.zeros_like(codes), rng)

    def linear(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return zeros: the column is no part of the odds, linear or not."""
        return np.zeros((self.size, self.width)), np.zeros(self.size), np.zeros(self.width)

    def estimation_variance(self, block: object, omegas: FloatArray) -> float:  # noqa: ARG002
        """Return 0: an error that all classes share moves no prior."""
        return 0.0

    def described(self, column: int, code: int) -> dict[object, float]:  # noqa: ARG002
        """Return the parameters of one column."""
        return self.inner.described(column, 0)
