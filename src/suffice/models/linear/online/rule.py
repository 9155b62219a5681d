"""What rules that learn row by row have in common: a state, and orders to go through rows in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.models.linear.online.seen_rows import SeenRows, embedded_theta, rescaled
from suffice.rows.row_hashes import content_hashes, joined_hashes, label_hashes
from suffice.rows.sparse_rows import SparseRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray, Label

FEW_COLUMNS = 4
"""Columns that are looked at first, where rows are told apart. A choice: they tell most."""


@dataclass(frozen=True, eq=False)
class OnlineRule(ABC):
    """A linear classifier as far as it has come: `learn` returns what it has become.

    Columns are standardised by the moments of all rows so far, the batch itself included: no cell
    is further out than the root of the number of rows. When a batch changes mean or spread, θ is
    written anew for the new scale, so that every row keeps its score; so badly scaled columns,
    or a stream whose first rows lie elsewhere, are no problem. Nothing is kept of the rows, and
    sparse rows are not filled.

    A rule adds to these two fields a companion of theta, from which follows the mean of θ over the
    rows gone through, and numbers that begin at zero.

    seen     labels, and the moments of the columns
    theta    (1 or k, d + 1) in standardised columns, intercepts first
    """

    seen: SeenRows
    theta: FloatArray

    companion: ClassVar[str]
    """The field that has the shape of theta, and goes with it wherever labels or scale change."""

    @classmethod
    def start(cls, width: int) -> Self:
        """Begin with nothing: no rows, no labels."""
        return cls(SeenRows.none(width), *np.zeros((2, 1, width + 1)))

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes, in order."""
        return self.seen.labels

    def learn(
        self,
        rows: FloatArray | SparseRows,
        codes: IntArray,
        labels: tuple[Label, ...],
        weights: FloatArray | None = None,
        *how: object,
    ) -> Self:
        """Return what one more batch makes of it: look at the columns first, then go through it.

        Row i belongs to labels[codes[i]]; labels may be new. `how` is what `visit` takes besides.
        """
        rows = self.seen.alike(rows)
        return self.observe(rows, codes, labels, weights).visit(rows, codes, labels, weights, *how)

    def observe(
        self,
        rows: FloatArray | SparseRows,
        codes: IntArray,
        labels: tuple[Label, ...],
        weights: FloatArray | None = None,
    ) -> Self:
        """Return the same classifier after a look at rows: their labels, and their scale.

        Not a step is taken: rows keep their scores. After a look at all rows, it makes no
        difference any more in how many batches `visit` goes through them.
        """
        seen = self.seen + SeenRows.of(rows, codes, labels, weights)

        def carried(theta: FloatArray) -> FloatArray:
            if seen.labels != self.labels:
                theta = self._relabelled(theta, seen)
            return rescaled(theta, self.seen.scale, seen.scale)

        return self._with_both(seen, carried)

    @abstractmethod
    def visit(
        self,
        rows: FloatArray | SparseRows,
        codes: IntArray,
        labels: tuple[Label, ...],
        weights: FloatArray | None = None,
        *how: Any,
        **named: Any,
    ) -> Self:
        """Return what one pass makes of it, over rows that `observe` has been shown before.

        Rules take what else they need; all take an `order` of the rows.
        """

    def embedded(self, places: IntArray, width: int) -> Self:
        """Return the same for rows with more columns, which have all been zero so far."""
        seen = self.seen.embedded(places, width)
        return self._with_both(seen, lambda theta: embedded_theta(theta, places, width))

    def _with_both(self, seen: SeenRows, change: Callable[[FloatArray], FloatArray]) -> Self:
        """Return the same of other columns or labels, with theta and its companion changed."""
        both = {name: change(getattr(self, name)) for name in ("theta", self.companion)}
        return replace(self, seen=seen, **both)

    @abstractmethod
    def _relabelled(self, theta: FloatArray, seen: SeenRows) -> FloatArray:
        """Return θ, or its companion, for more labels, on the old scale."""


# In which order rows are gone through, again and again


def shuffled(
    rows: FloatArray | SparseRows,
    codes: IntArray,
    labels: tuple[Label, ...],
    rng: np.random.Generator,
) -> Iterator[IntArray]:
    """Yield one order after the other, each drawn anew, without end.

    Rows are told apart by what they say and not by where they stand, and rows that say the same
    follow each other. So a row of weight 2 is two rows, and the order in which rows are given
    makes no difference.

    >>> rows, codes = np.array([[5.0], [7.0], [5.0]]), np.array([0, 1, 0])
    >>> order = next(shuffled(rows, codes, ("a", "b"), np.random.default_rng(0)))
    >>> rows[order, 0]
    array([5., 5., 7.])
    """
    base, starts = _groups(rows, codes, label_hashes(labels))
    lengths = np.diff(starts, append=len(base))
    while True:
        groups = rng.permutation(len(starts))
        if len(groups) == len(base):
            yield base[groups]
            continue
        many = lengths[groups]
        firsts = np.cumsum(many) - many
        yield base[np.repeat(starts[groups] - firsts, many) + np.arange(len(base))]


def as_given(size: int) -> Iterator[IntArray]:
    """Yield the order in which rows came, without end."""
    order = np.arange(size)
    while True:
        yield order


def _groups(
    rows: FloatArray | SparseRows, codes: IntArray, named: NDArray[np.uint64]
) -> tuple[IntArray, IntArray]:
    """Return rows in an order that depends on what they say alone, and where others begin.

    A few columns tell most rows apart; only where they do not are all columns looked at.
    """
    width = rows.shape[1]
    few = np.unique(np.linspace(0, width - 1, FEW_COLUMNS).astype(np.intp))
    if isinstance(rows, SparseRows) or len(few) == width:
        first = joined_hashes([content_hashes(rows, range(width)), named[codes]])
        base = np.argsort(first, kind="stable")
        return base, _starts(first[base])
    first = joined_hashes([content_hashes(rows[:, few], few.tolist()), named[codes]])
    base = np.argsort(first, kind="stable")
    starts = _starts(first[base])
    if len(starts) == len(base):
        return base, starts
    alike = np.repeat(np.diff(starts, append=len(base)) > 1, np.diff(starts, append=len(base)))
    doubtful = base[alike]
    second = np.zeros_like(first)
    second[doubtful] = content_hashes(rows[doubtful], range(width))
    base = np.lexsort((second, first))
    return base, _starts(first[base], second[base])


def _starts(*keys: NDArray[np.uint64]) -> IntArray:
    """Return where sorted keys change."""
    changes = np.ones(len(keys[0]), dtype=bool)
    changes[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return np.flatnonzero(changes)
