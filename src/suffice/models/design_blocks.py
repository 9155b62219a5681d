"""Passes over standardised rows, a small block at a time."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, TypeVar

from suffice.engines.threads import collect_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.engines.parts import Mergeable
    from suffice.models.logistic_loss import LogisticLoss
    from suffice.rows import FloatArray

S = TypeVar("S", bound="Mergeable")

CELLS = 500_000
"""Cells of one block: what is made of it comes and goes in the cache, not in main memory."""


def collect_design(
    loss: LogisticLoss, summarize: Callable[[slice, FloatArray], S], width: int | None = None
) -> S:
    """Return the summary of all rows of a loss, merged from those of blocks z̃ = (1, z).

    `summarize` is called with a slice of rows and their design, on several threads at once.
    `width` is how many cells it makes of a row, if these are more than the columns: wide sparse
    rows are filled a few at a time.

    >>> import numpy as np
    >>> from suffice.models.logistic_loss import LogisticLoss
    >>> rows, codes = np.array([[1.0], [3.0]]), np.array([0, 1])
    >>> loss = LogisticLoss(rows, codes, 2, None, np.array([2.0]), np.array([1.0]))
    >>> collect_design(loss, lambda some, design: design.sum(axis=0))
    array([2., 0.])
    """
    columns = loss.shape[1]
    step = max(CELLS // max(columns, width or 0), 1)

    def block(some: slice) -> S:
        starts = range(some.start, some.stop, step)
        parts = (slice(start, min(start + step, some.stop)) for start in starts)
        return reduce(add, (summarize(part, loss.design(part)) for part in parts))

    return collect_blocks(block, len(loss.codes), columns)
