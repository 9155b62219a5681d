"""A vocabulary as arrays: what the compiled loops look words up in.

    pool         the bytes of all words, each followed by a zero byte
    offsets      where each word begins in the pool, and where the last one ends
    hashes       the 64-bit number of each word
    slots        where words are found by that number (see `vocabulary_table_numba`)
    nodes        the same for n-grams of several words; None where every word is a term

The arrays have room to grow; `words` says how many words there are.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from suffice.kernels.tokens.characters import PADDING

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from numpy.typing import NDArray

Held = TypeVar("Held", bound="DataclassInstance")

LEAST_SLOTS = 16
"""Slots of a table that holds nothing yet: a power of two, as always; a few words find room."""


@dataclass(slots=True)
class Nodes:
    """Words and n-grams: each is its parent, all words but the last, and the last.

    `parents` are nodes, -1 above a word; `lasts` and the places of `roots` are numbers of words;
    `terms` are numbers of terms, -1 for a node that only leads to others. `sizes` counts nodes and
    terms.
    """

    roots: NDArray[np.int32]
    slots: NDArray[np.uint64]
    parents: NDArray[np.int32]
    lasts: NDArray[np.int32]
    terms: NDArray[np.int32]
    sizes: NDArray[np.int64]

    def term_nodes(self) -> NDArray[np.int64]:
        """Return the node of every term."""
        terms = self.terms[: self.sizes[0]]
        out = np.empty(self.sizes[1], dtype=np.int64)
        named = np.flatnonzero(terms >= 0)
        out[terms[named]] = named
        return out


@dataclass(slots=True)
class VocabularyTable:
    """A vocabulary that grows in place: copy it before it is shared."""

    pool: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    slots: NDArray[np.uint64]
    size: NDArray[np.int64]
    nodes: Nodes | None = None

    @classmethod
    def empty(cls) -> VocabularyTable:
        """Return a vocabulary of no words."""
        return cls(
            np.zeros(PADDING, np.uint8),
            np.zeros(1, np.int64),
            np.zeros(0, np.uint64),
            np.zeros(2 * LEAST_SLOTS, np.uint64),
            np.zeros(1, np.int64),
        )

    @property
    def words(self) -> int:
        """The number of words."""
        return int(self.size[0])

    def __len__(self) -> int:
        """The number of terms."""
        return self.words if self.nodes is None else int(self.nodes.sizes[1])

    def copy(self) -> VocabularyTable:
        """Return another that can grow by itself."""
        nodes = None if self.nodes is None else _copied(self.nodes)
        made: VocabularyTable = replace(_copied(replace(self, nodes=None)), nodes=nodes)
        return made

    def term_list(self) -> list[str]:
        """Return the terms in the order of their numbers."""
        held = self.pool[: self.offsets[self.words]].tobytes()
        words = held.decode("utf-8").split("\0")[:-1]
        if self.nodes is None:
            return words
        count = int(self.nodes.sizes[0])
        parents, lasts = self.nodes.parents[:count].tolist(), self.nodes.lasts[:count].tolist()
        names: list[str] = []
        for parent, last in zip(parents, lasts, strict=True):
            names.append(words[last] if parent < 0 else f"{names[parent]} {words[last]}")
        return [names[node] for node in self.nodes.term_nodes().tolist()]


def with_nodes(table: VocabularyTable) -> Nodes:
    """Return the nodes of a table, made where every word is a term."""
    if table.nodes is None:
        numbers = np.arange(table.words, dtype=np.int32)
        table.nodes = Nodes(
            numbers.copy(),
            np.zeros(2 * LEAST_SLOTS, np.uint64),
            np.full(table.words, -1, np.int32),
            numbers.copy(),
            numbers.copy(),
            np.array([table.words, table.words]),
        )
    return table.nodes


def _copied(held: Held) -> Held:
    """Return the same with arrays of its own."""
    names = [field.name for field in fields(held)]
    parts = {name: getattr(held, name) for name in names}
    return type(held)(**{n: p.copy() if p is not None else None for n, p in parts.items()})
