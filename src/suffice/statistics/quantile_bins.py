"""How the cells of columns of numbers are spread: weight in bins, a few for each column.

Means and variances do not tell how a column is spread when its tails are heavy. Shares in bins do,
whatever the law. Bins are cut on some rows, the first ones as a rule, and stay.

Edges are not the sample's quantiles, but the nearest numbers that need few binary digits: bins are
halved, as doubles are ordered, until none holds more than its share. So rows that come from the
same place have nearly the same edges, and two summaries are merged exactly: onto the edges that
both have.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import BadFile, ForgettingUnseen
from suffice.places import ColumnAt
from suffice.rows import NUMBER
from suffice.statistics.algebra import are_whole, checked_factor, differences
from suffice.statistics.moments.centres import rows_that_count
from suffice.statistics.moments.what_is_left import check_kinds, remaining

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from suffice.rows import FloatArray, Table

    Edges = Sequence[FloatArray]

BINS = 12
"""No bin holds more than this part of the rows that edges were cut on, unless it is one number: so
a column of many numbers has more bins than this. A change of spread shows in eight."""
MOST_EDGES = 32
"""Edges of one column, at most: halving bins of uneven columns would go on."""
LOOKED_AT = 20_000
"""Rows that edges are cut on, at most: shares are then known to a part in a hundred."""
MOST_COLUMNS = 500
"""Columns of numbers whose bins are kept, the first ones: a file grows by about 700 bytes
for each."""
TOP = np.uint64(1 << 63)
"""The bit of a double's sign."""
LATER_BITS = np.uint64(48)
"""Bits of a double behind its sign, its exponent and four binary digits."""
MANY = 4_096
"""Cells from which the bins of all beginnings are made, which takes as long as searching for a few
thousand."""
TOGETHER = 16_384
"""Rows that are counted together: of tables that lie row by row, a column of so many is still near
from the one before."""
KEPT_COLUMNS = 128
"""Columns whose beginnings are kept for the next rows: 64 kB each."""
UNKNOWN = 255
"""Stands for a bin that the beginning does not tell."""


def edges_of(rows: ArrayLike) -> list[FloatArray]:
    """Return where bins are to be cut, column by column, for rows (n, d); NaN is a blank.

    >>> [edges.tolist() for edges in edges_of([[3.0, 1.0], [3.0, 2.0], [3.0, 5.0]])]
    [[], [2.0, 4.0]]
    """
    x = np.asarray(rows, dtype=np.float64)
    x = x[:: max(1, -(-len(x) // LOOKED_AT))]
    return [_cut(x[:, j]) for j in range(x.shape[1])]


def _cut(cells: FloatArray) -> FloatArray:
    """Return the edges of one column (n,), in order."""
    seen = np.sort(cells[np.isfinite(cells)] + 0.0)  # no negative zero
    if not len(seen):
        return np.zeros(0)
    # Doubles in the order of their bits: a common beginning is an interval.
    bits = seen.view(np.uint64)
    keys = np.where(bits & TOP, ~bits, bits | TOP)
    waiting = [(-len(keys), 0, len(keys))]
    heapify(waiting)
    found: list[int] = []
    while waiting and len(found) < MOST_EDGES:
        size, start, end = heappop(waiting)
        low, high = int(keys[start]), int(keys[end - 1])
        if -size * BINS <= len(keys):
            break
        if low == high:
            continue
        bit = (low ^ high).bit_length() - 1
        edge = high >> bit << bit
        middle = start + int(np.searchsorted(keys[start:end], np.uint64(edge)))
        found.append(edge)
        heappush(waiting, (start - middle, start, middle))
        heappush(waiting, (middle - end, middle, end))
    cut = np.array(sorted(found), dtype=np.uint64)
    return np.where(cut & TOP, cut ^ TOP, ~cut).view(np.float64) + 0.0


@dataclass(frozen=True, slots=True, eq=False)
class QuantileBins:
    """Weight of the cells in each bin of each column; a cell that is missing is not counted.

    weight  of all rows
    edges   all columns after each other, `sizes` a column; a bin holds its lower edge
    held    weight of bins, one more than edges a column

    What was tallied with other edges is merged on those that both have: exactly, with fewer bins.

    >>> edges = edges_of(np.array([[1.0], [5.0], [9.0], [17.0]]))
    >>> bins = QuantileBins.of([[1.0], [2.0], [33.0], [np.nan]], edges)
    >>> bins.column(0)
    (array([ 2.,  8., 16.]), array([1., 1., 0., 1.]))
    >>> bins.weight, bins.counts
    (4.0, array([3.]))
    >>> (bins + QuantileBins.of([[7.0]], [np.array([8.0, 9.5])])).column(0)
    (array([8.]), array([3., 1.]))
    """

    weight: float
    sizes: NDArray[np.int64]
    edges: FloatArray
    held: FloatArray

    @classmethod
    def empty(cls, edges: Edges) -> Self:
        """Summarize no rows at all: the identity of `+`."""
        sizes = np.array([len(cut) for cut in edges], dtype=np.int64)
        whole = np.concatenate([np.zeros(0), *edges])
        return cls(0.0, sizes, whole, np.zeros(len(whole) + len(sizes)))

    @classmethod
    def of(cls, rows: ArrayLike, edges: Edges, weights: ArrayLike | None = None) -> Self:
        """Summarize one batch (n, d); NaN is a missing cell."""
        x, w = rows_that_count(rows, weights)
        none = cls.empty(edges)
        tallies = [tally(x[:, j], cut, w) for j, cut in enumerate(edges)]
        total = float(len(x)) if w is None else float(w.sum())
        return cls(total, none.sizes, none.edges, np.concatenate([np.zeros(0), *tallies]))

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.sizes)

    @property
    def counts(self) -> FloatArray:
        """The weight of the cells that were seen, column by column."""
        return np.array([self.column(j)[1].sum() for j in range(self.width)])

    @property
    def cuts(self) -> list[FloatArray]:
        """The edges of every column."""
        return np.split(self.edges, np.cumsum(self.sizes)[:-1]) if self.width else []

    def column(self, j: int) -> tuple[FloatArray, FloatArray]:
        """Return the edges of one column, and the weight of its bins: one more."""
        start = int(self.sizes[:j].sum())
        end = start + int(self.sizes[j])
        return self.edges[start:end], self.held[start + j : end + j + 1]

    def on(self, edges: Edges) -> Self:
        """Return the same with fewer edges, all of which are here: bins are joined."""
        none = self.empty(edges)
        held = [_joined(*self.column(j), cut) for j, cut in enumerate(none.cuts)]
        return type(self)(self.weight, none.sizes, none.edges, np.concatenate([np.zeros(0), *held]))

    def has_edges_of(self, other: QuantileBins) -> bool:
        """Whether bins are the same."""
        return np.array_equal(self.sizes, other.sizes) and np.array_equal(self.edges, other.edges)

    def alike(self, other: Self) -> tuple[Self, Self]:
        """Return both on the edges that both have."""
        check_kinds(self, other)
        if self.has_edges_of(other):
            return self, other
        both = [
            np.intersect1d(ours, theirs) for ours, theirs in zip(self.cuts, other.cuts, strict=True)
        ]
        return self.on(both), other.on(both)

    def __add__(self, other: Self) -> Self:
        """Merge, on the edges that both have; what holds no rows has no say in them."""
        if self.weight == 0.0 < other.weight or other.weight == 0.0 < self.weight:
            check_kinds(self, other)
            return other if self.weight == 0.0 else self
        a, b = self.alike(other)
        return type(self)(a.weight + b.weight, a.sizes, a.edges, a.held + b.held)

    def __sub__(self, other: Self) -> Self:
        """Forget rows merged in before: exactly, where weights are whole numbers."""
        if other.weight == 0.0:
            check_kinds(self, other)
            return self
        a, b = self.alike(other)
        places = np.repeat(np.arange(a.width), a.sizes + 1)
        exact = are_whole(a.held, b.held)
        held = differences(a.held, b.held, lambda j: ColumnAt(int(places[j])), exact=exact)
        left = remaining(a.weight, b.weight)
        if left == 0.0 and held.any():
            raise ForgettingUnseen.of(0.0, float(held.max()), ColumnAt(int(places[held.argmax()])))
        return type(self)(left, a.sizes, a.edges, held)

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing but the edges."""
        f = checked_factor(factor)
        return type(self)(self.weight * f, self.sizes, self.edges, self.held * f)

    def to_arrays(self) -> dict[str, object]:
        """Return the whole state as plain arrays."""
        return {
            "weight": np.asarray(self.weight),
            "sizes": self.sizes,
            "edges": self.edges,
            "held": self.held,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        sizes, edges, held = (np.asarray(arrays[name]) for name in ("sizes", "edges", "held"))
        return cls(float(arrays["weight"]), sizes, edges, held)


def tally(cells: FloatArray, edges: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the weight of cells (n,) in each bin; NaN is in none."""
    bins = len(edges) + 1
    beginnings = _bins_of_beginnings(edges.tobytes()) if len(cells) >= MANY else None
    if beginnings is None:
        return _searched(cells, edges, weights)
    bits = np.ascontiguousarray(cells, dtype=np.float64).view(np.uint64)
    places = beginnings.take(bits >> LATER_BITS)
    held = np.bincount(places, weights, minlength=UNKNOWN + 1).astype(np.float64)
    if not held[UNKNOWN]:
        return held[:bins]
    others = places == UNKNOWN
    rest = None if weights is None else weights[others]
    return held[:bins] + _searched(cells[others], edges, rest)


def _searched(cells: FloatArray, edges: FloatArray, weights: FloatArray | None) -> FloatArray:
    blank = np.isnan(cells)
    if blank.any():
        cells, weights = cells[~blank], None if weights is None else weights[~blank]
    places = np.searchsorted(edges, cells, side="right")
    return np.bincount(places, weights, minlength=len(edges) + 1).astype(np.float64)


@lru_cache(maxsize=KEPT_COLUMNS)
def _bins_of_beginnings(packed: bytes) -> NDArray[np.uint8] | None:
    """Return the bin (65536,) of doubles by their first 16 bits, or None if edges need more.

    Edges have few binary digits: for most columns sign, exponent and four digits tell the bin, by
    one look instead of a search. NaN, infinities and -0, which is 0, are looked at by themselves.
    """
    bits = np.frombuffer(packed, dtype=np.uint64)
    keys = np.where(bits & TOP, ~bits, bits | TOP)
    if (keys & np.uint64((1 << 48) - 1)).any() or len(keys) >= UNKNOWN:
        return None
    first = np.arange(1 << 16)
    ordered = np.where(first >> 15, 0xFFFF - first, first | 0x8000)
    found = np.searchsorted(keys >> LATER_BITS, ordered, side="right").astype(np.uint8)
    found[(first & 0x7FF0) == 0x7FF0] = UNKNOWN
    found[0x8000] = UNKNOWN
    return found


def _joined(edges: FloatArray, held: FloatArray, kept: FloatArray) -> FloatArray:
    """Return weights in the bins between some of the edges."""
    starts = np.concatenate([[0], np.searchsorted(edges, kept) + 1]).astype(np.intp)
    return np.add.reduceat(held, starts)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnBins:
    """Bins of named columns. They add up, and rows are taken back, as those of `QuantileBins`.

    >>> from suffice.rows import read_table
    >>> rows = read_table([[1.0, "a"], [2.0, "b"], [4.0, "a"]])
    >>> bins = ColumnBins.cut(rows)
    >>> bins.names, (bins + bins.tallied(rows)).bins.held
    (('x0',), array([2., 2., 2.]))
    """

    names: tuple[str, ...]
    bins: QuantileBins

    @classmethod
    def cut(cls, table: Table) -> Self | None:
        """Return bins that suit a table, with its rows in them; None without any numbers."""
        names = _names(table)
        chosen = [j for j, kind in enumerate(table.kinds) if kind == NUMBER][:MOST_COLUMNS]
        if not chosen:
            return None
        cells = np.column_stack([_cells(table, j) for j in chosen])
        return cls(tuple(names[j] for j in chosen), QuantileBins.of(cells, edges_of(cells)))

    def tallied(self, table: Table, names: Sequence[str] | None = None) -> Self:
        """Return the rows of a table in the same bins; a column that it lacks is blank there.

        `names` are those of its columns, where it does not know them itself.
        """
        names = list((table.names or names or _names(table))[: table.width])
        places = {name: j for j, name in enumerate(names) if table.kinds[j] == NUMBER}
        columns = [_cells(table, places[name]) if name in places else None for name in self.names]
        found = self.none().bins
        for start in range(0, table.size, TOGETHER):
            size = min(TOGETHER, table.size - start)
            cells = np.full((size, len(columns)), np.nan, order="F")
            for place, column in enumerate(columns):
                if column is not None:
                    cells[:, place] = column[start : start + size]
            found += QuantileBins.of(cells, self.bins.cuts)
        return type(self)(self.names, found)

    def none(self) -> Self:
        """Return the same bins without rows."""
        return type(self)(self.names, self.bins.scaled(0.0))

    def __add__(self, other: Self) -> Self:
        """Merge the columns that both have."""
        a, b = self.both(other)
        return type(self)(a.names, a.bins + b.bins)

    def __sub__(self, other: Self) -> Self:
        """Take rows back."""
        a, b = self.both(other)
        return type(self)(a.names, a.bins - b.bins)

    def both(self, other: Self) -> tuple[Self, Self]:
        """Return the columns that both have, in the same order."""
        if self.names == other.names:
            return self, other
        names = tuple(name for name in self.names if name in other.names)
        return self._only(names), other._only(names)

    def _only(self, names: tuple[str, ...]) -> Self:
        pairs = [self.bins.column(self.names.index(name)) for name in names]
        none = QuantileBins.empty([edges for edges, _ in pairs])
        held = np.concatenate([np.zeros(0), *(held for _, held in pairs)])
        return type(self)(names, QuantileBins(self.bins.weight, none.sizes, none.edges, held))

    def to_dict(self) -> dict[str, object]:
        """Return it as what a file holds."""
        columns = {
            name: [part.tolist() for part in self.bins.column(j)]
            for j, name in enumerate(self.names)
        }
        return {"rows": self.bins.weight, "columns": columns}

    @classmethod
    def from_dict(cls, held: object) -> Self:
        """Return what a file says, or refuse what no rows can have shown."""
        columns: Any = held.get("columns") if isinstance(held, dict) else None
        weight: Any = held.get("rows") if isinstance(held, dict) else None
        named = columns.items() if isinstance(columns, dict) else [(None, None)]
        if not _is_weight(weight) or not all(
            isinstance(name, str) and _is_sound(one, weight) for name, one in named
        ):
            raise BadFile(
                "the model file does not say how its columns are spread",
                hint="it is damaged: fit again",
            )
        none = QuantileBins.empty([np.array(edges) for edges, _ in columns.values()])
        cells = np.concatenate([np.zeros(0), *(np.array(held) for _, held in columns.values())])
        return cls(tuple(columns), QuantileBins(weight, none.sizes, none.edges, cells))


def _names(table: Table) -> Sequence[str]:
    return table.names or tuple(f"x{j}" for j in range(table.width))


def _cells(table: Table, j: int) -> FloatArray:
    return np.asarray(table.column(j), dtype=np.float64)


def _is_weight(value: object) -> bool:
    return type(value) is float and isfinite(value) and value >= 0.0


def _is_sound(one: object, weight: float) -> bool:
    """Whether these can be the edges of a column, and the weights of its bins."""
    if not isinstance(one, (list, tuple)) or len(one) != 2:
        return False
    edges, held = one
    if not all(isinstance(part, (list, tuple)) for part in one):
        return False
    if len(edges) > MOST_EDGES or len(held) != len(edges) + 1:
        return False
    if not all(type(edge) is float and isfinite(edge) for edge in edges):
        return False
    if any(low >= high for low, high in pairwise(edges)):
        return False
    return all(map(_is_weight, held)) and sum(held) <= weight * (1.0 + 1e-9)
