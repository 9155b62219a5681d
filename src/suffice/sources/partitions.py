"""Partitions of a cluster: summarized where they are, one thread each, merged in their order.

A refusal travels as a result and not as a failure: an engine would try a failed task again, three
times and in vain, and then wrap the sentence into its own traceback. And of several refusals that
of the first partition is told, whichever came first.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from suffice.engines.batches import Carries, Mergeable
from suffice.engines.parts import collect_parts
from suffice.engines.threads import in_order
from suffice.errors import BadRows, SufficeError
from suffice.kernels.compilation import WORTH_COMPILING, part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from suffice.sources.source import Chunk

S = TypeVar("S", bound=Mergeable)
R = TypeVar("R")

WIDTH = 512
"""Neighbouring partitions that are merged with each other before any with others.

A power of two: their merges are whole branches of the tree that all partitions make.
"""


def summary_of_partition(
    summarize: Callable[[Chunk], S], chunks: Callable[[], Iterable[Chunk]], full: int
) -> S | SufficeError | None:
    """Return the summary of one partition, or its refusal; None where it is empty.

    `full` is how many rows a chunk has at most.
    """

    def of_chunk(chunk: Chunk) -> S:
        # How many rows there are is not known here; where a chunk is full, there are more.
        with part_of(WORTH_COMPILING if chunk.table.size >= full else 0):
            return summarize(chunk)

    def work() -> S | SufficeError | None:
        try:
            return collect_parts(of_chunk, [chunks])
        except SufficeError as refusal:
            return refusal

    return alone(work)


def alone(work: Callable[[], R]) -> R:
    """Return what `work` returns, with everything inside it on one thread.

    The engine has given every core a task already.

    >>> alone(lambda: 2 + 2)
    4
    """
    with closing(in_order(lambda _: work(), (None,))) as found:
        return next(found)


def merged(found: Iterable[S | SufficeError | None]) -> S | SufficeError | None:
    """Return the summary of neighbouring partitions, or the first refusal; None: all are empty.

    >>> merged([1, None, 2])
    3
    """
    carries: Carries[S] = Carries()
    for one in found:
        if isinstance(one, SufficeError):
            return one
        if one is not None:
            try:
                carries.add(one)
            except SufficeError as refusal:
                return refusal
    try:
        return carries.merged()
    except SufficeError as refusal:
        return refusal


def answered(found: S | SufficeError | None) -> S | None:
    """Return a summary, and raise a refusal."""
    if isinstance(found, SufficeError):
        raise found
    return found


def distinct_names(names: Sequence[object], name: str) -> tuple[str, ...]:
    """Return the names of columns, which must be strings that differ.

    >>> distinct_names(["x", "y"], "the frame")
    ('x', 'y')
    """
    odd = [given for given in names if not isinstance(given, str)]
    if odd:
        raise BadRows(
            f"{name}: a column is named {odd[0]!r}, which is no string",
            hint="rename the columns: frame.columns = frame.columns.astype(str)",
        )
    if len(set(names)) < len(names):
        twice = next(given for place, given in enumerate(names) if given in names[:place])
        raise BadRows(f"{name}: two columns are named {twice!r}", hint="rename one of them")
    return tuple(str(given) for given in names)
