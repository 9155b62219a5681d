"""A number for every row that depends on what it says, and not on where it stands.

Folds and samples chosen by it are the same however the rows were split into batches, and a row
that is to be forgotten can be found in them. Blank is a value like any other; zeros add nothing,
so that sparse and dense rows of the same content agree.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from suffice.rows.category_codes import CodedColumns
from suffice.rows.sparse import SparseRows
from suffice.rows.text_cells import TextCells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.rows.cells import Label

BLANK = np.float64(np.nan).view(np.uint64)
"""The bits that every NaN counts as: there are many, and a blank is a blank."""
CELLS = 2_000_000
"""Cells that are hashed at a time: 16 MB, and a few copies of them. A choice."""


def content_hashes(
    block: NDArray[np.generic] | CodedColumns | SparseRows | TextCells, columns: Sequence[int]
) -> NDArray[np.uint64]:
    """Return the sum, modulo 2⁶⁴, of a hash of every cell and its column."""
    if isinstance(block, SparseRows):
        return _sparse(block)
    salts = _mixed(np.asarray(columns, dtype=np.uint64) + np.uint64(1))
    if isinstance(block, CodedColumns):
        out = np.zeros(len(block), dtype=np.uint64)
        for j, levels in enumerate(block.levels):
            known = np.array([level_hash(level) for level in levels] + [0], dtype=np.uint64)
            out += _mixed(known[block.codes[:, j]] ^ salts[j])
        return out
    out = np.zeros(len(block), dtype=np.uint64)
    if isinstance(block, TextCells):
        for j, salt in enumerate(salts):
            cells = block.cells[:, j].tolist()
            said = [0 if cell is None else level_hash(cell) for cell in cells]
            out += _mixed(np.array(said, dtype=np.uint64) ^ salt)
        return out
    step = max(1, CELLS // max(1, block.shape[1]))
    for start in range(0, len(block), step):
        cells = np.ascontiguousarray(block[start : start + step], dtype=np.float64)
        bits = cells.view(np.uint64).copy()
        bits[np.isnan(cells)] = BLANK
        found = _mixed(bits ^ salts)
        found[cells == 0.0] = 0
        out[start : start + step] = found.sum(axis=1, dtype=np.uint64)
    return out


def label_hashes(labels: Sequence[Label]) -> NDArray[np.uint64]:
    """Return a hash of every label."""
    return np.array([level_hash(label) for label in labels], dtype=np.uint64)


def joined_hashes(parts: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return one well mixed hash for the sum of several."""
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return _mixed(total)


def level_hash(level: Label) -> int:
    """Return a hash of a level that is the same in every process."""
    if type(level) is tuple:
        level = _plain(level)
    text = f"{type(level).__name__}:{level!r}"
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _plain(level: object) -> object:
    """Return a level whose parts are Python's own: equal ones have equal texts, in files too."""
    if type(level) is tuple:
        return tuple(map(_plain, level))
    return level.item() if isinstance(level, np.generic) else level


def _sparse(rows: SparseRows) -> NDArray[np.uint64]:
    out = np.zeros(len(rows), dtype=np.uint64)
    edges = rows.indptr
    start = 0
    while start < len(rows):
        stop = int(np.searchsorted(edges, edges[start] + CELLS, side="right")) - 1
        stop = min(max(stop, start + 1), len(rows))
        first, last = int(edges[start]), int(edges[stop])
        cells = rows.data[first:last].astype(np.float64)
        salts = _mixed(rows.indices[first:last].astype(np.uint64) + np.uint64(1))
        found = _mixed(cells.view(np.uint64) ^ salts)
        found[cells == 0.0] = 0
        sums = np.concatenate([[np.uint64(0)], np.cumsum(found, dtype=np.uint64)])
        places = edges[start : stop + 1] - first
        out[start:stop] = sums[places[1:]] - sums[places[:-1]]
        start = stop
    return out


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return values whose every bit depends on every bit (the finalizer of SplitMix64)."""
    with np.errstate(over="ignore"):
        z = values + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
