"""Parts of a source over threads, and batches as they come: summarized apart, merged in order."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from suffice.engines.threads import in_order, pinned, workers
from suffice.errors import BadRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


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
    and not with the number itself. At most that many partial summaries are in memory.

    Parameters
    ----------
    summarize : callable
        Makes a statistic of one batch.
    batches : iterable of B
        Parts of the rows.

    Returns
    -------
    S
        The merged statistic of all batches.

    See Also
    --------
    suffice.statistics.total : Adds statistics that are there already.

    Examples
    --------
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
            hint="an iterator can be read only once; give a list, or create a new iterator",
        )
    return merged


@dataclass(slots=True, eq=False)
class Progress(Generic[S]):
    """How far a collection has come: enough to go on from there.

    parts    how many parts are done
    whole    their summaries
    batches  how many batches of the next part are done, and
    begun    their summaries
    """

    parts: int = 0
    whole: Carries[S] = field(default_factory=Carries)
    batches: int = 0
    begun: Carries[S] = field(default_factory=Carries)

    def end_part(self) -> None:
        """Close the part that was begun."""
        merged = self.begun.merged()
        if merged is not None:
            self.whole.add(merged)
        self.parts, self.batches, self.begun = self.parts + 1, 0, Carries()


def collect_parts(
    summarize: Callable[[B], S],
    parts: Sequence[Callable[[], Iterable[B]]],
    progress: Progress[S] | None = None,
    told: Callable[[Progress[S]], None] | None = None,
) -> S | None:
    """Return the merged summary of all batches of all parts; None where there is no batch.

    With several parts, threads take a part each; with one, a batch each. `told` hears of every
    step in the order of the source; `progress` is what it heard when another run was ended.

    >>> collect_parts(sum, [lambda: [[1, 2], [3]], lambda: [], lambda: [[4]]])
    10
    """
    progress = Progress() if progress is None else progress
    left = list(parts)[progress.parts :]
    told = told or _silent
    with pinned():
        if len(left) == 1 or workers() == 1 or progress.batches:
            _by_batch(summarize, left[:1] if progress.batches else left, progress, told)
            left = list(parts)[progress.parts :]
        if left:
            _by_part(summarize, left, progress, told)
    return progress.whole.merged()


def _by_part(
    summarize: Callable[[B], S],
    parts: Sequence[Callable[[], Iterable[B]]],
    progress: Progress[S],
    told: Callable[[Progress[S]], None],
) -> None:
    """Let every thread read and summarize a part at a time."""

    def of_part(place: int) -> S | None:
        carries: Carries[S] = Carries()
        for batch in parts[place]():
            carries.add(summarize(batch))
            del batch  # or it would be kept while the next one is read
        return carries.merged()

    with closing(in_order(of_part, range(len(parts)))) as found:
        for merged in found:
            if merged is not None:
                progress.whole.add(merged)
            progress.parts += 1
            told(progress)


def _by_batch(
    summarize: Callable[[B], S],
    parts: Iterable[Callable[[], Iterable[B]]],
    progress: Progress[S],
    told: Callable[[Progress[S]], None],
) -> None:
    """Read one part after the other here, and let every thread summarize a batch at a time."""
    for part in parts:
        with closing(in_order(summarize, _after(part(), progress.batches))) as found:
            for summary in found:
                progress.begun.add(summary)
                progress.batches += 1
                told(progress)
        progress.end_part()
        told(progress)


def _after(batches: Iterable[B], count: int) -> Iterator[B]:
    """Yield batches after the first `count`."""
    for place, batch in enumerate(batches):
        if place >= count:
            yield batch


def _silent(_: object) -> None:
    pass
