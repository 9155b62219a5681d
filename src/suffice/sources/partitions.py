"""Partitions of a cluster: summarized where they are, one thread each, merged in their order.

A refusal travels as a result and not as a failure: an engine would try a failed task again, three
times and in vain, and then wrap the sentence into its own traceback. And of several refusals that
of the first partition is told, whichever came first.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from suffice.engines.parts import Carries, Mergeable, collect_parts
from suffice.engines.threads import in_order
from suffice.errors import BadRows, BadWeights, SufficeError
from suffice.kernels.compilation import WORTH_COMPILING, part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from suffice.sources.source import Chunk

S = TypeVar("S", bound=Mergeable)
R = TypeVar("R")

WIDTH = 512
"""Neighbouring partitions that are merged with each other before any with others.

A power of two: their merges are whole branches of the tree that all partitions make.
"""
CIRCLE, TURN = 1 << 31, 1327217885
"""Rows are scattered by the golden section: row n is drawn if n turns end below its share of 2³¹.

Every n-th row would be of one class where classes take turns.
"""


@dataclass(frozen=True, slots=True)
class Weightless:
    """Rows of weight zero and no others: they say nothing, unless there are none beside them."""

    rows: int


def counts(chunk: Chunk) -> bool:
    """Whether any row of a chunk counts; weights that are none are left for others to refuse."""
    return chunk.weights is None or bool(np.asarray(chunk.weights).any())


def summary_of_partition(
    summarize: Callable[[Chunk], S], chunks: Callable[[], Iterable[Chunk]], full: int
) -> S | SufficeError | Weightless | None:
    """Return the summary of one partition, or its refusal; None where it is empty.

    `full` is how many rows a chunk has at most.
    """
    weightless = 0

    def of_chunk(chunk: Chunk) -> S:
        # How many rows there are is not known here; where a chunk is full, there are more.
        with part_of(WORTH_COMPILING if chunk.table.size >= full else 0):
            return summarize(chunk)

    def counting() -> Iterator[Chunk]:
        nonlocal weightless
        for chunk in chunks():
            if counts(chunk):
                yield chunk
            else:
                weightless += chunk.table.size

    def work() -> S | SufficeError | Weightless | None:
        try:
            found = collect_parts(of_chunk, [counting])
        except SufficeError as refusal:
            return refusal
        return Weightless(weightless) if found is None and weightless else found

    return alone(work)


def alone(work: Callable[[], R]) -> R:
    """Return what `work` returns, with everything inside it on one thread.

    The engine has given every core a task already.

    >>> alone(lambda: 2 + 2)
    4
    """
    with closing(in_order(lambda _: work(), (None,))) as found:
        return next(found)


def merged(
    found: Iterable[S | SufficeError | Weightless | None],
) -> S | SufficeError | Weightless | None:
    """Return the summary of neighbouring partitions, or the first refusal; None: all are empty.

    >>> merged([1, None, Weightless(10), 2])
    3
    """
    carries: Carries[S] = Carries()
    weightless = 0
    for one in found:
        if isinstance(one, SufficeError):
            return one
        if isinstance(one, Weightless):
            weightless += one.rows
        elif one is not None:
            try:
                carries.add(one)
            except SufficeError as refusal:
                return refusal
    try:
        whole = carries.merged()
    except SufficeError as refusal:
        return refusal
    return Weightless(weightless) if whole is None and weightless else whole


def answered(found: S | SufficeError | Weightless | None, name: str) -> S | None:
    """Return a summary, and raise a refusal; `name` is what the source is called in one."""
    if isinstance(found, SufficeError):
        raise found
    if isinstance(found, Weightless):
        raise no_weight(name, found.rows)
    return found


def no_weight(name: str, rows: int) -> BadWeights:
    """Return the refusal of rows of which none counts.

    >>> print(no_weight("the frame", 1200).problem)
    the frame: all 1200 sample weights are zero
    """
    return BadWeights(
        f"all {rows} sample weights are zero",
        hint="at least one row needs a weight above 0",
        place=name,
    )


def distinct_names(names: Sequence[object], name: str) -> tuple[str, ...]:
    """Return the names of columns, which must be strings that differ.

    >>> distinct_names(["x", "y"], "the frame")
    ('x', 'y')
    """
    odd = [given for given in names if not isinstance(given, str)]
    if odd:
        raise BadRows(
            f"{name}: a column is named {odd[0]!r}, which is not a string",
            hint="rename the columns: frame.columns = frame.columns.astype(str)",
        )
    if len(set(names)) < len(names):
        twice = next(given for place, given in enumerate(names) if given in names[:place])
        raise BadRows(f"{name}: two columns are named {twice!r}", hint="rename one of them")
    return tuple(str(given) for given in names)
