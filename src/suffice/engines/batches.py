"""Summaries of batches, merged as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self, TypeVar

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


def collect(summarize: Callable[[B], S], batches: Iterable[B]) -> S:
    """Return the merged summary of all batches, in their order.

    Batches are merged in pairs, pairs of pairs and so on, like the carries of a binary counter:
    each summary takes part in about log₂(number of batches) merges, and rounding grows with that
    and not with the number itself. At most that many partial summaries are held.

    >>> collect(sum, [[1, 2], [3], [4, 5]])
    15
    """
    carries: list[tuple[int, S]] = []
    for batch in batches:
        rank, merged = 0, summarize(batch)
        while carries and carries[-1][0] == rank:
            merged = carries.pop()[1] + merged
            rank += 1
        carries.append((rank, merged))
    if not carries:
        raise BadRows(
            "there is no batch to learn from",
            hint="an iterator can be read only once; give a list, or make the iterator anew",
        )
    result = carries.pop()[1]
    while carries:
        result = carries.pop()[1] + result
    return result
