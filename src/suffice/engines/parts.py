"""Parts of a source over threads: read apart, summarized apart, merged in the order of the source.

A part is what can be read by itself, such as row groups of a Parquet file; it comes in batches.
Batches are merged within their part and parts with each other, both like the carries of a binary
counter. So the result depends on how the source is cut, and not on how many threads there were nor
on which was the first to end: it is the same to the last bit.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from suffice.engines.batches import Carries, Mergeable
from suffice.engines.threads import in_order, pinned, workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

B = TypeVar("B")
S = TypeVar("S", bound=Mergeable)


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


def _silent(_: Any) -> None:
    pass
