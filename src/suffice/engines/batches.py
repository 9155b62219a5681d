"""Summaries of batches, merged as they come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from suffice.errors import BadRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Mergeable(Protocol):
    """What can be merged with its like: the only thing an engine knows about statistics."""

    def __add__(self, other: Self, /) -> Self:
        """Return the statistics of both."""
        ...


B = TypeVar("B")
S = TypeVar("S", bound=Mergeable)


@dataclass(slots=True, eq=False)
class Carries(Generic[S]):
    """Summaries merged in pairs, pairs of pairs and so on, like the carries of a binary counter.

    >>> carries = Carries()
    >>> for number in range(5):
    ...     carries.add(number)
    >>> carries.held, carries.merged()
    ([(2, 6), (0, 4)], 10)
    """

    held: list[tuple[int, S]] = field(default_factory=list)

    def add(self, summary: S) -> None:
        """Take one more summary in."""
        rank, merged = 0, summary
        while self.held and self.held[-1][0] == rank:
            merged = self.held.pop()[1] + merged
            rank += 1
        self.held.append((rank, merged))

    def merged(self) -> S | None:
        """Return the summary of all; None where there was nothing."""
        if not self.held:
            return None
        result = self.held[-1][1]
        for _, earlier in reversed(self.held[:-1]):
            result = earlier + result
        return result


def collect(summarize: Callable[[B], S], batches: Iterable[B]) -> S:
    """Return the merged summary of all batches, in their order.

    Each summary takes part in about log₂(number of batches) merges, and rounding grows with that
    and not with the number itself. At most that many partial summaries are held.

    >>> collect(sum, [[1, 2], [3], [4, 5]])
    15
    """
    carries: Carries[S] = Carries()
    for batch in batches:
        carries.add(summarize(batch))
    merged = carries.merged()
    if merged is None:
        raise BadRows(
            "there is no batch to learn from",
            hint="an iterator can be read only once; give a list, or make the iterator anew",
        )
    return merged
