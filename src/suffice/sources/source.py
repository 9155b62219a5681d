"""What every source of rows says of itself, and the one thing it does: collect."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from suffice.engines.parts import Mergeable
from suffice.errors import BadRows, SufficeError
from suffice.tables.table_file import missing_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from suffice.columns import Columns
    from suffice.places import Place
    from suffice.rows.tables import Table
    from suffice.sql.asked import Asked


S = TypeVar("S", bound=Mergeable)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which columns are read.

    Parameters
    ----------
    names : tuple of str
        The columns that models use.
    target : str or None, default=None
        The column of labels, if any.
    weight : str or None, default=None
        The column of weights, if any.

    See Also
    --------
    Source : What is read.
    """

    names: tuple[str, ...]
    target: str | None = None
    weight: str | None = None

    @property
    def all(self) -> tuple[str, ...]:
        """Every column that is read, each once."""
        others = (name for name in (self.target, self.weight) if name is not None)
        return tuple(dict.fromkeys((*self.names, *others)))


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Some rows of a source.

    Parameters
    ----------
    table : Table
        The columns that models look at.
    labels : object
        What `read_labels` reads; None where no target was asked for.
    weights : object
        One for each row, or None.
    place : Place
        Where they are: for refusals.

    See Also
    --------
    Source : What it is a part of.
    """

    table: Table
    labels: Any
    weights: Any
    place: Place


class Source(ABC):
    """Rows, wherever they are.

    name   what it is called in a refusal
    names  its columns
    once   whether the rows can be read only once
    """

    name: str
    names: tuple[str, ...]
    once: bool = False

    @property
    def size(self) -> int | None:
        """How many rows there are, where that is known without reading them."""
        return None

    def share(self) -> float | None:
        """Return which part has been read, where that is known though `size` is not."""
        return None

    @abstractmethod
    def collect(self, summarize: Callable[[Chunk], S], wanted: Wanted) -> S | None:
        """Return the merged summary of all rows, in the order of the source; None: no rows."""

    @abstractmethod
    def some(self, wanted: Wanted, size: int) -> Chunk | None:
        """Return about `size` rows from all over the source; None where there are none."""

    @contextmanager
    def kept(self, wanted: Wanted) -> Iterator[None]:  # noqa: ARG002  for those that can
        """Keep the rows near while the block is at work: they are read again and again."""
        yield

    def wanted(
        self,
        target: str | None = None,
        weight: str | None = None,
        names: Sequence[str] | None = None,
    ) -> Wanted:
        """Return which columns to read, and refuse names that are not there."""
        beside = [name for name in (target, weight) if name is not None]
        asked = [*beside, *(names or ())]
        there = set(self.names)
        lacking = [name for name in asked if name not in there]
        if lacking:
            raise missing_columns(self.name, lacking, self.names)
        kept = self.names if names is None else tuple(names)
        found = tuple(name for name in kept if name not in beside)
        if not found:
            raise BadRows(
                f"{self.name} has no column besides {', '.join(map(repr, beside))}",
                hint="models need at least one column besides the labels",
            )
        return Wanted(found, target, weight)

    def collected(self, summarize: Callable[[Chunk], S], wanted: Wanted, *how: object) -> S:
        """Return the merged summary of all rows; that there are none is refused.

        `how` is handed on to a source that knows of more than these two.
        """

        def placed(chunk: Chunk) -> S:
            try:
                return summarize(chunk)
            except SufficeError as error:
                raise error.at(chunk.place) from None

        found = self.collect(placed, wanted, *how)
        if found is None:
            raise BadRows(f"{self.name} has no rows", hint="there is nothing to learn from")
        return found


@dataclass(frozen=True, slots=True, eq=False)
class SumsFound:
    """What was added up: the columns as they were coded, the classes in order, the statistics.

    classes  None where no row could be added up
    rest     rows that could not, to be read; None where there are none
    """

    columns: Columns
    classes: NDArray[Any] | None
    statistics: Any
    rest: Source | None = None


@runtime_checkable
class AddsUp(Protocol):
    """A source that may spare its rows the journey."""

    def sums(
        self, asked: Asked, wanted: Wanted, summarize: Callable[[Chunk], object]
    ) -> SumsFound | None:
        """Return statistics of all rows; None where rows have to be read.

        `summarize` is what would be done with rows: one that cannot be learned from is given to
        it, for it to say why.
        """
        ...
