"""What is asked of Arrow's objects: types, and no more. pyarrow has none of its own.

An object of the library has far more than this; what is not here is not used on the way of rows.
What a cell is as an object of Python depends on its type: that alone is anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray


class ArrowType(Protocol):
    """The type of a column."""

    @property
    def value_type(self) -> ArrowType:
        """What codes and runs are of."""

    @property
    def bit_width(self) -> int:
        """Bits of a number."""


class ArrowBuffer(Protocol):
    """Memory that cells lie in."""

    @property
    def address(self) -> int:
        """Where it begins."""

    @property
    def size(self) -> int:
        """Bytes."""

    def __buffer__(self, flags: int, /) -> memoryview: ...


class ArrowCells(Protocol):
    """Cells of one column; codes have a dictionary as well, and runs their ends."""

    @property
    def type(self) -> ArrowType:
        """What they are."""

    @property
    def null_count(self) -> int:
        """How many are blank."""

    @property
    def nbytes(self) -> int:
        """Memory that they take."""

    @property
    def offset(self) -> int:
        """Where they begin in their memory, in cells."""

    @property
    def dictionary(self) -> ArrowCells:
        """The values that codes mean."""

    @property
    def indices(self) -> ArrowCells:
        """The codes."""

    @property
    def values(self) -> ArrowCells:
        """The values of runs."""

    @property
    def run_ends(self) -> ArrowCells:
        """Where runs end."""

    def __len__(self) -> int: ...
    def __array__(self) -> NDArray[np.generic]: ...
    def buffers(self) -> list[ArrowBuffer | None]: ...  # noqa: D102
    def cast(self, kind: object, *, safe: bool = True) -> Self: ...  # noqa: D102
    def dictionary_encode(self) -> ArrowCells: ...  # noqa: D102
    def drop_null(self) -> Self: ...  # noqa: D102
    def fill_null(self, value: object) -> Self: ...  # noqa: D102
    def is_null(self, *, nan_is_null: bool = ...) -> ArrowCells: ...  # noqa: D102
    def slice(self, start: int, size: int = ...) -> Self: ...  # noqa: D102
    def take(self, places: object) -> Self: ...  # noqa: D102
    def to_numpy(self, *, zero_copy_only: bool) -> NDArray[Any]: ...  # noqa: D102
    def to_pylist(self) -> list[Any]: ...  # noqa: D102
    def unique(self) -> ArrowCells: ...  # noqa: D102
    def validate(self, *, full: bool = False) -> None: ...  # noqa: D102


class ArrowField(Protocol):
    """A column of a schema."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def type(self) -> ArrowType:
        """What its cells are."""


class NamedColumns(Protocol):
    """Whatever names columns."""

    @property
    def names(self) -> list[str]:
        """What they are called."""


class ArrowSchema(NamedColumns, Protocol):
    """The columns of a table, in order."""

    def field(self, name: str) -> ArrowField: ...  # noqa: D102
    def get_field_index(self, name: str) -> int: ...  # noqa: D102
    def __iter__(self) -> Iterator[ArrowField]: ...


class ArrowBatch(Protocol):
    """Some rows of all columns."""

    @property
    def schema(self) -> ArrowSchema:
        """Its columns."""

    @property
    def columns(self) -> Sequence[ArrowCells]:
        """Their cells."""

    @property
    def num_rows(self) -> int:
        """How many rows there are."""

    @property
    def nbytes(self) -> int:
        """Memory that they take."""

    def column(self, name: str) -> ArrowCells: ...  # noqa: D102
    def select(self, names: list[str]) -> Self: ...  # noqa: D102
    def slice(self, start: int, size: int = ...) -> Self: ...  # noqa: D102
    def validate(self) -> None: ...  # noqa: D102
