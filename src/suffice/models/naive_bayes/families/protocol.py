"""What naive Bayes asks of the law of a group of columns, class by class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

from suffice.errors import NotADensity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from suffice.models.naive_bayes.asked_of_families import (
        EstimatedColumns,
        Evidence,
        ScoredCell,
        SumsOfColumns,
    )
    from suffice.models.naive_bayes.column_blocks import Block
    from suffice.models.naive_bayes.pictures import ColumnLaw
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray, Table


class Scores(NamedTuple):
    """log p(x | c) up to what all classes have in common, (n, k).

    `orders`, where something is impossible without smoothing, are to be compared first: how
    many impossible events a row holds for each class. None means none anywhere.
    """

    logs: FloatArray
    orders: FloatArray | None


class BaseLaws:
    """What laws need not say: they are densities, column by column, that differ by class."""

    __slots__ = ()
    form: ClassVar[Mapping[str, str]] = {}
    """What a model file may hold in each field (`storage/checks/forms.py` has the words)."""
    is_density: ClassVar[bool] = True
    by_column: ClassVar[bool] = True
    """Whether every column has a law of its own."""
    is_common: ClassVar[bool] = False
    """Whether classes have the same law."""
    cells_are_levels: ClassVar[bool] = False
    is_light: ClassVar[bool] = False
    """Whether scores are products with tables of few classes, or a place in them."""

    def flaw(self, sizes: dict[str, int]) -> str:  # noqa: ARG002
        """Return what is wrong between the fields of a law that was read from a file, or ""."""
        return ""

    def cell(self, column: int) -> ScoredCell | None:  # noqa: ARG002
        """Return what one column adds to the scores, as databases can; None: they cannot."""
        return None

    def picture(self, column: int, name: str) -> ColumnLaw:  # noqa: ARG002
        """Return what one column, called `name`, is drawn as."""
        raise NotADensity(
            f"{name} is one of several columns that form one distribution: it has no "
            "distribution of its own"
            if not self.by_column
            else f"{name} has no picture",
            hint=f"parameters_[{name!r}] has what was learned of it",
        )

    def linear(self) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Return None: scores are not linear."""
        return None

    def why_not_linear(self) -> tuple[str, str]:
        """Return why log odds are not linear in the columns, and what would make them so."""
        return ": its columns enter by another function", LINEAR_ONES


LINEAR_ONES = "only Bernoulli, multinomial, Poisson and shared-variance Gaussian columns are linear"
"""The hint of laws that no setting makes linear."""


class ColumnLaws(Protocol):
    """The densities of one group of columns under k classes: natural parameters, no data."""

    form: ClassVar[Mapping[str, str]]
    is_density: ClassVar[bool]
    by_column: ClassVar[bool]
    is_common: ClassVar[bool]
    cells_are_levels: ClassVar[bool]
    is_light: ClassVar[bool]

    def flaw(self, sizes: dict[str, int]) -> str:
        """Return what is wrong between the fields, or nothing."""
        ...

    def why_not_linear(self) -> tuple[str, str]:
        """Return why log odds are not linear in the columns, and what would make them so."""
        ...

    def cell(self, column: int) -> ScoredCell | None:
        """Return what one column adds to the scores, as plain data."""
        ...

    def picture(self, column: int, name: str) -> ColumnLaw:
        """Return what one column is drawn as."""
        ...

    @property
    def size(self) -> int:
        """The number of classes."""
        ...

    @property
    def width(self) -> int:
        """The number of columns."""
        ...

    def scores(self, block: Any) -> Scores:
        """Return log p(x | c) without the carrier; missing cells are skipped."""
        ...

    def carrier(self, block: Any) -> FloatArray:
        """Return h(x): the part of the log density that all classes share."""
        ...

    def column_scores(self, block: Any, column: int) -> Scores:
        """Return what one column adds to the scores."""
        ...

    def sample(self, codes: IntArray, rng: np.random.Generator) -> Block:
        """Return one draw for each code."""
        ...

    def linear(self) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Return (weights (k, d), offsets (k,), origin (d,)), or None if scores are not linear."""
        ...

    def estimation_variance(self, block: Any, omegas: FloatArray) -> float:
        """Return the variance that estimating p(x | c) adds to Σ_c Σ_i ω_ci log p(x_i | c)."""
        ...

    def described(self, column: int, code: int) -> dict[Any, float]:
        """Return the parameters of one column under one class, by name or level."""
        ...


class BaseFamily:
    """What a family need not say: it has nothing to smooth, and no cell is outside of it.

    `form`, `becomes` and `statistics` are what model files are checked by: the form of its own
    fields, and the names of the classes of its laws and of its statistics.
    """

    __slots__ = ()
    smooths: ClassVar[bool] = False
    needs_folds: ClassVar[bool] = False
    form: ClassVar[Mapping[str, str]] = {}
    is_density: ClassVar[bool] = True
    is_single: ClassVar[bool] = True
    """Whether it is a family of single columns, and not of several together."""
    comes_sparse: ClassVar[bool] = False
    """Whether rows may come dense or sparse: then they are kept as what is not 0."""
    cells_are_levels: ClassVar[bool] = False
    cells_are_texts: ClassVar[bool] = False
    """Whether cells are texts: how far they are believed is found out beside all other columns."""

    def smoothing(self, folds: Sequence[Sequence[Any]]) -> float | None:  # noqa: ARG002
        """Return None: there is nothing to smooth."""
        return None

    def sums(self) -> SumsOfColumns | None:
        """Return the sums that databases are asked for; None: rows have to be seen."""
        return None

    def decided(
        self,
        table: Table,  # noqa: ARG002
        column: int,  # noqa: ARG002
        weights: FloatArray | None,  # noqa: ARG002
    ) -> Self:
        """Return the family with what a column of the first rows decides: nothing, as a rule."""
        return self

    def outside(self, cells: NDArray[Any]) -> Outside | None:  # noqa: ARG002
        """Return which numbers cannot be of this family, and what is read in their place.

        Only cells that nobody learns from are asked about, in columns whose family was chosen by
        looks. None: every number is welcome.
        """
        return None

    def evidence(
        self,
        groups: Sequence[Any],  # noqa: ARG002
        alpha: float,  # noqa: ARG002
        law: Any,  # noqa: ARG002
        block: Any,  # noqa: ARG002
    ) -> Evidence | None:
        """Return what p-values of rows are made of; None: there are none."""
        return None

    def statistics_flaw(self, part: Any) -> str:  # noqa: ARG002
        """Return why statistics cannot be of this family, or nothing; their kind is right."""
        return ""

    def law_flaw(self, law: Any) -> str:  # noqa: ARG002
        """Return why laws cannot be of this family, or nothing; their kind is right."""
        return ""

    def suits(self, cells: NDArray[Any]) -> bool:  # noqa: ARG002
        """Whether families="select" is to try it on a column of finite numbers."""
        return False


class Outside(NamedTuple):
    """Cells that a family has no law for.

    mask   which they are
    kind   what the column is read as then
    cells  with something else in their place: a blank, or a level never seen
    """

    mask: NDArray[np.bool_]
    kind: str
    cells: NDArray[Any]


class ColumnFamily(Protocol):
    """Settings: which statistics suffice for a group of columns, and what they become."""

    form: ClassVar[Mapping[str, str]]
    is_density: ClassVar[bool]
    is_single: ClassVar[bool]
    comes_sparse: ClassVar[bool]
    cells_are_texts: ClassVar[bool]

    @property
    def cells_are_levels(self) -> bool:
        """Whether cells are levels, and no numbers."""
        ...

    @property
    def becomes(self) -> str:
        """The name of the class of its laws."""
        ...

    @property
    def statistics(self) -> str:
        """The name of the class of its statistics."""
        ...

    def sums(self) -> SumsOfColumns | None:
        """Return the sums that databases are asked for."""
        ...

    def decided(self, table: Table, column: int, weights: FloatArray | None) -> ColumnFamily:
        """Return the family with what a column of the first rows decides."""
        ...

    def outside(self, cells: NDArray[Any]) -> Outside | None:
        """Return which numbers cannot be of this family."""
        ...

    def evidence(
        self, groups: Sequence[Any], alpha: float, law: Any, block: Any
    ) -> Evidence | None:
        """Return what p-values of rows are made of."""
        ...

    def statistics_flaw(self, part: Any) -> str:
        """Return why statistics cannot be of this family."""
        ...

    def law_flaw(self, law: Any) -> str:
        """Return why laws cannot be of this family."""
        ...

    def suits(self, cells: NDArray[Any]) -> bool:
        """Whether families="select" is to try it."""
        ...

    def estimates(self, names: Sequence[str], own: Sequence[Any]) -> list[EstimatedColumns]:
        """Return what was estimated for columns of these names, out of the classes' statistics."""
        ...

    def left_out(
        self,
        groups: Sequence[Any],
        alpha: float,
        block: Any,
        codes: IntArray,
        weights: NDArray[Any],
    ) -> Scores:
        """Return the scores of rows that were in the fit, each as if it never had been.

        A family that has to see all rows at once has `left_out_rows` instead.
        """
        ...

    @property
    def name(self) -> str:
        """How the family is called in settings."""
        ...

    @property
    def smooths(self) -> bool:
        """Whether there is anything to smooth."""
        ...

    @property
    def needs_folds(self) -> bool:
        """Whether α can only be chosen from statistics kept by fold."""
        ...

    def read(self, table: Table, columns: Sequence[int], *, learning: bool = True) -> Any:
        """Return the block of these columns, or refuse a cell that cannot belong to it.

        What cannot be learned from may still be asked about, where the law has an answer.
        """
        ...

    def summarize(
        self, block: Any, codes: IntArray, size: int, weights: FloatArray | None
    ) -> Sequence[Any]:
        """Return the statistics of each class 0 … size - 1."""
        ...

    def estimate(self, groups: Sequence[Any], alpha: float) -> tuple[Any, tuple[Note, ...]]:
        """Return the laws of all classes, and reservations; columns are counted in the group."""
        ...

    def smoothing(self, folds: Sequence[Sequence[Any]]) -> float | None:
        """Return the α of the largest held-out likelihood, None if there is nothing to smooth.

        `folds` are the statistics of all classes, fold by fold; one fold of everything is enough
        where none are needed.
        """
        ...


@runtime_checkable
class SeesAllRows(Protocol):
    """A family that leaves rows out by seeing all of them at once, and not some at a time."""

    def left_out_rows(
        self,
        groups: Sequence[Any],
        block: Any,
        codes: IntArray,
        weights: FloatArray,
        *,
        complete: bool,
        budget: float,
    ) -> Scores:
        """Return the scores of rows that were in the fit, each as if it never had been.

        `complete` says that the rows are all there were; `budget` is how much may be spent on
        floors.
        """
        ...
