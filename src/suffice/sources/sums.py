"""Sources that add rows up where they are, and hand out the sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.columns import Columns
    from suffice.sql.asked import Asked
    from suffice.sources.source import Chunk, Source, Wanted


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
        self, asked: Asked, wanted: Wanted, summarize: Callable[[Chunk], Any]
    ) -> SumsFound | None:
        """Return statistics of all rows; None where rows have to be read.

        `summarize` is what would be done with rows: one that cannot be learned from is given to
        it, for it to say why.
        """
        ...
