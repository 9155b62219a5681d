"""A forest of tallies: every node counts its classes, and a leaf leans on the nodes above it.

All trees grow at once, a level at a time, so that NumPy does the work. Trees are judged by the rows
that they were not grown on. Tallies are drawn to those of the node above (hierarchical shrinkage),
which gives probabilities that small leaves alone do not have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.pool.averages import cross_fitted
from suffice.models.pool.member import Judged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.pool.coding import CodedRows
    from suffice.models.pool.folded_rows import FoldedRows, NewRows
    from suffice.models.pool.member import Answer
    from suffice.rows import FloatArray, IntArray

    BoolArray = NDArray[np.bool_]

TREES = 100
"""Trees of a forest. A choice: at 70 % of the rows each, thirty of them judge a row."""
SHARE = 0.7
"""The share of the rows that a tree grows on; the others judge it."""
DEPTH = 14
"""Levels of a tree, at most."""
STRENGTHS = (0.5, 2.0, 6.0, 20.0, 60.0)
"""Rows that the node above is worth in a node's shares; averaged over."""
MOST_CELLS = 2e6
"""Rows × trees × columns tried at one level: some columns are drawn where all would be more."""
MOST_TALLIES = 2e7
"""Rows × trees × classes: fewer trees where there would be more."""
FEWEST_TREES = 20
"""Trees below which a forest is left out."""
SEED = 20
"""Of the draws: rows of trees, columns, thresholds. Any number will do."""
ROWS_AT_ONCE = 512
"""Rows that go down the trees together: their places in 100 trees fit a processor's cache."""
FAR = 10.0
"""Where a blank number stands in a tree that sends it to one of the two ends: beyond all scores."""


@dataclass(frozen=True, slots=True, eq=False)
class _Grown:
    """Trees as arrays over nodes: parents stand before children, and those of a tree anywhere.

    column, threshold, child  of each node; column -1 is a leaf; the right child is child + 1
    parent                    -1 for the roots, which are the first nodes, one a tree
    tallies                   (nodes, k)
    levels                    where each level of nodes begins
    """

    column: IntArray
    threshold: FloatArray
    child: IntArray
    parent: IntArray
    tallies: FloatArray
    levels: tuple[int, ...]


class _Cells:
    """The cells of rows as a tree reads them: numbers by rank, levels in a random order."""

    def __init__(self, rows: CodedRows, trees: int, rng: np.random.Generator) -> None:
        self.numbers = rows.ranks.shape[1]
        self.width = rows.width
        self.blanks = rng.choice([-FAR, FAR], (trees, max(self.numbers, 1)))
        sizes = rows.level_sizes + 1  # one for what was never seen
        self.starts = np.cumsum(sizes) - sizes
        self.places = rng.random((trees, int(sizes.sum())))

    def opened(self, rows: CodedRows) -> FloatArray:
        """Return what is read (n, d): normal scores of numbers, places of levels."""
        return np.hstack([rows.ranks, self.starts + (rows.levels + 1)])

    def read(
        self, cells: FloatArray, tree: IntArray, row: IntArray, column: IntArray
    ) -> FloatArray:
        """Return one cell for each triple of tree, row and column; `cells` are opened rows."""
        found: FloatArray = cells.ravel().take(row * self.width + column)
        if self.numbers < self.width:
            at = np.flatnonzero(column >= self.numbers)
            place = tree.take(at) * self.places.shape[1] + found.take(at).astype(np.intp)
            found[at] = self.places.ravel().take(place)
        if self.numbers:
            at = np.flatnonzero(np.isnan(found))
            if len(at):
                place = tree.take(at) * self.blanks.shape[1] + column.take(at)
                found[at] = self.blanks.ravel().take(place)
        return found


class ForestMember:
    """Extremely randomised trees whose leaves lean on the nodes above them."""

    name = "forest"

    def _trees(self, rows: FoldedRows) -> int:
        return int(min(TREES, MOST_TALLIES / (2.0 * len(rows) * rows.size)))

    def affordable(self, rows: FoldedRows) -> bool:
        """Whether there is room for enough trees, and rows to judge them."""
        return rows.rows.width > 0 and len(rows) > 3 and self._trees(rows) >= FEWEST_TREES

    def settings(self, rows: FoldedRows) -> int:  # noqa: ARG002
        """The strengths."""
        return len(STRENGTHS)

    def judge(self, rows: FoldedRows) -> Judged:
        """Judge each row by the trees that it had no part in."""
        cells, grown, inside = self._grow(rows)
        shares = _shrunk(grown)
        leaves = _leaves(grown, cells, rows.rows)
        outside = ~inside
        counts = np.maximum(outside.sum(axis=0), 1)
        prior, doubt = np.exp(rows.log_priors), _doubt(rows)
        found = np.empty((len(STRENGTHS), len(rows), rows.size))
        for place, values in enumerate(shares):
            sums = np.zeros((len(rows), rows.size))
            for tree in range(len(leaves)):
                sums += values[leaves[tree]] * outside[tree][:, None]
            found[place] = (1.0 - doubt) * sums / counts[:, None] + doubt * prior
        found[:, ~outside.any(axis=0)] = prior
        log_posteriors = np.log(found)
        grid, posterior = cross_fitted(log_posteriors, rows.codes, rows.weights, rows.folds)
        return Judged(posterior, grid, self._answer(rows, cells, grown, grid))

    def ready(self, rows: FoldedRows, grid: FloatArray) -> Answer:
        """Grow the same trees again: the draws depend on the rows' shape alone."""
        cells, grown, _ = self._grow(rows)
        return self._answer(rows, cells, grown, grid)

    def _answer(self, rows: FoldedRows, cells: _Cells, grown: _Grown, grid: FloatArray) -> Answer:
        values = np.tensordot(grid, _shrunk(grown), axes=1)
        prior, doubt = np.exp(rows.log_priors), _doubt(rows)

        def answer(new: NewRows) -> FloatArray:
            leaves = _leaves(grown, cells, new.rows)
            found = np.zeros((len(new.rows), rows.size))
            for tree in leaves:
                found += values[tree]
            return (1.0 - doubt) * found / len(leaves) + doubt * prior

        return answer

    def _grow(self, rows: FoldedRows) -> tuple[_Cells, _Grown, BoolArray]:
        """Return how cells are read, the trees, and which rows each was grown on (T, n)."""
        rng = np.random.default_rng(SEED)
        trees = self._trees(rows)
        cells = _Cells(rows.rows, trees, rng)
        order = rng.random((trees, len(rows))).argsort(axis=1)
        inside = order < max(2, round(SHARE * len(rows)))
        tried = max(np.ceil(2.0 * np.sqrt(cells.width)), MOST_CELLS / (len(rows) * trees))
        return cells, _grown(rows, cells, inside, int(min(cells.width, tried)), rng), inside


def _doubt(rows: FoldedRows) -> float:
    """Return a share of the prior that keeps probabilities above zero: about that of one row."""
    return float(1.0 / (rows.weights.sum() + 2.0))


def _negative_entropy(tallies: FloatArray) -> FloatArray:
    """Return Σ N log(N/ΣN) over the last axis: the log likelihood of the shares."""
    total = np.maximum(tallies.sum(axis=-1, keepdims=True), 1e-300)
    logs = np.log(np.maximum(np.maximum(tallies, 1e-300) / total, 1e-307))
    found: FloatArray = np.where(tallies > 0.0, tallies * logs, 0.0).sum(axis=-1)
    return found


def _grown(
    rows: FoldedRows, cells: _Cells, inside: BoolArray, tried: int, rng: np.random.Generator
) -> _Grown:
    """Grow all trees at once, a level at a time.

    Every impure node tries some columns, each at one random threshold, and takes the split of the
    largest likelihood.
    """
    size, trees = rows.size, len(inside)
    tree, row = np.nonzero(inside)
    node = tree
    start, end = 0, trees
    opened = cells.opened(rows.rows)
    tallies = [_tallied(node, rows, row, trees)]
    columns, thresholds = [np.full(trees, -1)], [np.zeros(trees)]
    children, parents, levels = [np.full(trees, -1)], [np.full(trees, -1)], [0]
    for _ in range(DEPTH):
        impure = (tallies[-1] > 0.0).sum(axis=1) > 1
        kept = impure[node - start]
        order = np.argsort(node[kept], kind="stable")
        tree, row, node = tree[kept][order], row[kept][order], node[kept][order]
        if not len(node):
            break
        first = np.flatnonzero(np.diff(node, prepend=-1))
        local = np.repeat(np.arange(len(first)), np.diff(first, append=len(node)))
        offered = _offered(len(first), cells.width, tried, rng)
        read = np.stack(
            [cells.read(opened, tree, row, offered[local, a]) for a in range(tried)], axis=1
        )
        low, high = np.minimum.reduceat(read, first), np.maximum.reduceat(read, first)
        cut = low + (high - low) * rng.random(low.shape)
        left = read <= cut[local]
        best, worth = _best_splits(rows, row, local, left, high > low)
        split = np.flatnonzero(worth)
        if not len(split):
            break
        place = np.cumsum(worth) - 1
        parent = node[first][split]
        columns[-1][parent - start] = offered[split, best[split]]
        thresholds[-1][parent - start] = cut[split, best[split]]
        children[-1][parent - start] = end + 2 * place[split]
        goes = left[np.arange(len(local)), best[local]]
        kept = worth[local]
        node = (end + 2 * place[local] + ~goes)[kept]
        tree, row = tree[kept], row[kept]
        count = 2 * len(split)
        start, end = end, end + count
        levels.append(start)
        tallies.append(_tallied(node - start, rows, row, count))
        columns.append(np.full(count, -1))
        thresholds.append(np.zeros(count))
        children.append(np.full(count, -1))
        parents.append(np.repeat(parent, 2))
    return _Grown(
        np.concatenate(columns),
        np.concatenate(thresholds),
        np.concatenate(children),
        np.concatenate(parents),
        np.concatenate(tallies).reshape(-1, size),
        (*levels, end),
    )


def _tallied(node: IntArray, rows: FoldedRows, row: IntArray, count: int) -> FloatArray:
    """Return the weights of the classes (count, k) in each node."""
    keys = node * rows.size + rows.codes[row]
    found = np.bincount(keys, rows.weights[row], minlength=count * rows.size)
    return found.astype(np.float64).reshape(count, rows.size)


def _offered(nodes: int, width: int, tried: int, rng: np.random.Generator) -> IntArray:
    """Return the columns (nodes, tried) that each node may split by."""
    if tried == width:
        return np.broadcast_to(np.arange(width), (nodes, width))
    return rng.random((nodes, width)).argpartition(tried - 1, axis=1)[:, :tried]


def _best_splits(
    rows: FoldedRows, row: IntArray, local: IntArray, left: BoolArray, varies: BoolArray
) -> tuple[IntArray, BoolArray]:
    """Return the best column (q,) of each node, and whether it parts the node's rows."""
    count, tried = varies.shape
    keys = local * rows.size + rows.codes[row]
    weights = rows.weights[row]
    shape = (count, rows.size)
    lefts: FloatArray = np.stack(
        [
            np.bincount(keys, weights * left[:, a], minlength=count * rows.size).reshape(shape)
            for a in range(tried)
        ],
        axis=1,
    ).astype(np.float64)
    total = np.bincount(keys, weights, minlength=count * rows.size).reshape(count, 1, rows.size)
    rights = np.maximum(total - lefts, 0.0)
    gain = _negative_entropy(lefts) + _negative_entropy(rights)
    gain[~varies] = -np.inf
    best = gain.argmax(axis=1)
    return best, varies[np.arange(count), best]


def _shrunk(grown: _Grown) -> FloatArray:
    """Return the shares (S, nodes, k) of all nodes, drawn to the node above by each strength."""
    totals = grown.tallies.sum(axis=1, keepdims=True)
    shares = grown.tallies / np.maximum(totals, 1e-300)
    found = np.repeat(shares[None], len(STRENGTHS), axis=0)
    strengths = np.array(STRENGTHS)[:, None, None]
    for start, end in zip(grown.levels[1:-1], grown.levels[2:], strict=True):
        above = grown.parent[start:end]
        change = (shares[start:end] - shares[above]) / (1.0 + strengths / totals[above])
        found[:, start:end] = found[:, above] + change
    positive: FloatArray = np.maximum(found, 0.0)
    return positive


def _leaves(grown: _Grown, cells: _Cells, rows: CodedRows) -> IntArray:
    """Return the leaf (T, n) that each row comes to in each tree."""
    trees = grown.levels[1] if len(grown.levels) > 1 else len(grown.tallies)
    found = np.empty((trees, len(rows)), dtype=np.intp)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = slice(start, start + ROWS_AT_ONCE)
        found[:, some] = _descended(grown, cells, rows.take(some), trees)
    return found


def _descended(grown: _Grown, cells: _Cells, rows: CodedRows, trees: int) -> IntArray:
    """Return the leaves (T, n) of some rows: all trees a level at a time."""
    found = np.repeat(np.arange(trees), len(rows))
    row = np.tile(np.arange(len(rows)), trees)
    tree, node, place = found.copy(), found, np.arange(len(found))
    column = grown.column.take(node)
    opened = cells.opened(rows)
    while True:
        going = np.flatnonzero(column >= 0)
        if not len(going):
            return found.reshape(trees, len(rows))
        if len(going) < len(place):
            place, node, column = place.take(going), node.take(going), column.take(going)
            tree, row = tree.take(going), row.take(going)
        read = cells.read(opened, tree, row, column)
        node = grown.child.take(node) + (read > grown.threshold.take(node))
        found[place] = node
        column = grown.column.take(node)
