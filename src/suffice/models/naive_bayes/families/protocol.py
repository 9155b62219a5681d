"""What naive Bayes asks of the law of a group of columns, class by class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from suffice.models.naive_bayes.column_blocks import Block
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray, Table


class Scores(NamedTuple):
    """log p(x | c) up to what all classes have in common, (n, k).

    `orders`, where something is impossible without smoothing, are to be compared first: how
    many impossible events a row holds for each class. None means none anywhere.
    """

    logs: FloatArray
    orders: FloatArray | None


class ColumnLaws(Protocol):
    """The densities of one group of columns under k classes: natural parameters, no data."""

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


class ColumnFamily(Protocol):
    """Settings: which statistics suffice for a group of columns, and what they become."""

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


class CountFamily(ColumnFamily, Protocol):
    """A family whose statistics are counts: taking a row out of them is a subtraction."""

    def left_out(
        self,
        groups: Sequence[Any],
        alpha: float,
        block: Any,
        codes: IntArray,
        weights: NDArray[Any],
    ) -> Scores:
        """Return the scores of rows that were in the fit, each as if it never had been."""
        ...
