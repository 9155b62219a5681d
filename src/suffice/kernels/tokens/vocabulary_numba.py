"""Exact vocabularies by compiled loops: documents to numbered terms, tables that grow and merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numba import boolean as truth
from numba import int32, int64

from suffice.kernels.compilation import array, compiled, once
from suffice.kernels.tokens import vocabulary_table_numba as loops
from suffice.kernels.tokens.characters import PADDING
from suffice.kernels.tokens.documents_numba import (
    CompiledTokens,
    Room,
    blocks,
    bytes_,
    counted_keys,
    joined,
    keys,
    places,
    to_bytes,
    to_keys,
    to_numbers,
    to_places,
)  # fmt: skip
from suffice.kernels.tokens.term_hash import word_hash
from suffice.kernels.tokens.vocabulary_table import VocabularyTable, with_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from suffice.kernels.tokens.counts import Documents, Places, Rows
    from suffice.kernels.tokens.documents_numba import Keys

Cell = TypeVar("Cell", bound=np.generic)

numbers = array(int32, 1)
"""The type of numbers of words that a loop reads."""

WORDS_AT_ONCE = 1 << 16
"""Words looked up before there has to be room for more, however long a document is."""


def counted_terms(
    documents: Documents, ngrams: tuple[int, int], lower: bool, vocabulary: VocabularyTable,
    grow: bool, boolean: bool,
) -> Rows:  # fmt: skip
    """Return the terms of every document, in order of appearance, and their counts.

    It grows in place, if it may; else terms that it does not hold are left out.
    """
    if ngrams != (1, 1):
        with_nodes(vocabulary)
    room, rows = Room(), []
    for some in blocks(documents):
        tokens = CompiledTokens(some, lower, room)
        words = room("words", tokens.many, np.uint64)
        _number_words(tokens, tokens.many, vocabulary, grow, words)
        if vocabulary.nodes is None:
            terms, ends = words, tokens.ends
        else:
            terms, ends = _gram_numbers(words, tokens.ends, ngrams, vocabulary, grow, room)
        numbers_, counts, row_ends = counted_keys(terms, ends, boolean, room)
        rows.append((numbers_.copy(), counts.copy(), row_ends))
    return joined(rows)


def merge_tables(table: VocabularyTable, other: VocabularyTable) -> Places:
    """Add the terms of another table that are new here, in their order; return where each is now.

    The first table grows in place.
    """
    if other.nodes is not None or table.nodes is not None:
        with_nodes(table)
        other = other if other.nodes is not None else other.copy()
        with_nodes(other)
    words = np.empty(other.words, np.uint64)
    held = _Words(other)
    _number_words(held, other.words, table, True, words)
    if table.nodes is None or other.nodes is None:
        return words.astype(np.int64)
    theirs, nodes = other.nodes, table.nodes
    many = int(theirs.sizes[0])
    _reserve_nodes(table, many)
    out = np.empty(many, np.int64)
    lasts = words.astype(np.int32)[theirs.lasts[:many]]
    _nodes_loop()(
        theirs.parents, lasts, many,
        nodes.roots, nodes.slots, nodes.parents, nodes.lasts, nodes.terms, nodes.sizes, out,
    )  # fmt: skip
    terms = np.empty(len(other), np.int64)
    _terms_loop()(out[theirs.term_nodes()], nodes.terms, nodes.sizes, terms)
    return terms


def table_of(terms: Sequence[str]) -> VocabularyTable:
    """Return a vocabulary of these terms, which are all different."""
    table = VocabularyTable.empty()
    if not any(" " in term for term in terms):
        _number_words(_Listed(terms), len(terms), table, True, np.empty(len(terms), np.uint64))
        return table
    grams = [term.split(" ") for term in terms]
    words = list(dict.fromkeys(word for gram in grams for word in gram))
    _number_words(_Listed(words), len(words), table, True, np.empty(len(words), np.uint64))
    number = {word: place for place, word in enumerate(words)}
    nodes: dict[tuple[int, int], int] = {}
    last_nodes = []
    for gram in grams:
        node = -1
        for word in gram:
            node = nodes.setdefault((node, number[word]), len(nodes))
        last_nodes.append(node)
    table.size[0], kept = 0, table.words  # no word is a term by itself
    made = with_nodes(table)
    table.size[0] = kept
    _reserve_nodes(table, len(nodes))
    pairs = np.array(list(nodes), dtype=np.int32).reshape(-1, 2)
    made = with_nodes(table)
    _nodes_loop()(
        np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]), len(pairs),
        made.roots, made.slots, made.parents, made.lasts, made.terms, made.sizes,
        np.empty(len(pairs), np.int64),
    )  # fmt: skip
    ends = np.array(last_nodes, dtype=np.int64)
    _terms_loop()(ends, made.terms, made.sizes, np.empty(len(ends), np.int64))
    return table


class _Words:
    """The words of a table, as tokens of its pool."""

    def __init__(self, table: VocabularyTable) -> None:
        self.buffer = table.pool
        self.starts = table.offsets[: table.words]
        self.stops = table.offsets[1 : table.words + 1] - 1
        self.hashes = table.hashes[: table.words]


class _Listed:
    """Words of a list, as tokens."""

    def __init__(self, words: Sequence[str]) -> None:
        held = [word.encode("utf-8", "surrogatepass") for word in words]
        self.buffer = np.frombuffer(b"\0".join(held) + bytes(PADDING + 1), np.uint8)
        lengths = np.fromiter(map(len, held), np.int64, len(held))
        self.stops = np.cumsum(lengths + 1) - 1
        self.starts = self.stops - lengths
        self.hashes = np.array([word_hash(word) for word in held], dtype=np.uint64)


def _number_words(
    tokens: CompiledTokens | _Words | _Listed,
    many: int,
    table: VocabularyTable,
    grow: bool,
    out: Keys,
) -> None:
    for start in range(0, many, WORDS_AT_ONCE):
        stop = min(start + WORDS_AT_ONCE, many)
        some = slice(start, stop)
        if grow:
            # Room for as many new words as there are tokens, none of them longer than they are.
            length = int(tokens.stops[stop - 1] - tokens.starts[start])
            _reserve_words(table, stop - start, length)
        _words_loop()(
            tokens.buffer, tokens.starts[some], tokens.stops[some], tokens.hashes[some],
            stop - start, grow, table.slots, table.pool, table.offsets, table.hashes, table.size,
            out[some],
        )  # fmt: skip


def _gram_numbers(
    words: Keys,
    token_ends: Places,
    ngrams: tuple[int, int],
    table: VocabularyTable,
    grow: bool,
    room: Room,
) -> tuple[Keys, Places]:
    least, most = ngrams
    nodes = with_nodes(table)
    _reserve_nodes(table, len(words) * most if grow else 0)
    out = room("terms", len(words) * (most - least + 1), np.uint64)
    before, ends = np.empty(most + 1, np.int64), np.empty_like(token_ends)
    _grams_loop()(
        words, token_ends, least, most, grow, before, nodes.roots, nodes.slots, nodes.parents,
        nodes.lasts, nodes.terms, nodes.sizes, out, ends,
    )  # fmt: skip
    return out[: ends[-1]], ends


def _reserve_words(table: VocabularyTable, more: int, length: int) -> None:
    """Make room for so many more words and bytes; slots are at least twice the words."""
    held = table.words
    table.offsets = _longer(table.offsets, held + more + 1)
    table.hashes = _longer(table.hashes, held + more)
    table.pool = _longer(table.pool, int(table.offsets[held]) + length + more + PADDING)
    needed = 2 * (held + more)
    if len(table.slots) // 2 < needed:
        table.slots = np.zeros(2 << (needed - 1).bit_length(), np.uint64)
        _word_slots_loop()(table.slots, table.pool, table.offsets, table.hashes, held)


def _reserve_nodes(table: VocabularyTable, more: int) -> None:
    """Make room for so many more nodes, and for a root of every word."""
    nodes = with_nodes(table)
    known = len(nodes.roots)
    nodes.roots = _longer(nodes.roots, table.words)
    nodes.roots[known:] = -1
    held = int(nodes.sizes[0])
    for name in ("parents", "lasts", "terms"):
        setattr(nodes, name, _longer(getattr(nodes, name), held + more))
    needed = 2 * (held + more)
    if len(nodes.slots) // 2 < needed:
        nodes.slots = np.zeros(2 << (needed - 1).bit_length(), np.uint64)
        _gram_slots_loop()(nodes.slots, nodes.parents, nodes.lasts, held)


def _longer(held: NDArray[Cell], size: int) -> NDArray[Cell]:
    """Return the array, or a longer copy with some room to spare and zeros behind."""
    if len(held) >= size:
        return held
    longer = np.zeros(size + size // 2, held.dtype)
    longer[: len(held)] = held
    return longer


@once
def _words_loop() -> Callable[..., None]:
    tokens = bytes_, places, places, keys, int64, truth
    table = to_keys, to_bytes, to_places, to_keys, to_places
    return compiled(loops.number_words, *tokens, *table, to_keys)


@once
def _word_slots_loop() -> Callable[..., None]:
    return compiled(loops.place_words, to_keys, bytes_, places, keys, int64)


@once
def _grams_loop() -> Callable[..., None]:
    words = keys, places, int64, int64, truth, to_places
    nodes = to_numbers, to_keys, to_numbers, to_numbers, to_numbers, to_places
    return compiled(loops.number_grams, *words, *nodes, to_keys, to_places)


@once
def _nodes_loop() -> Callable[..., None]:
    nodes = to_numbers, to_keys, to_numbers, to_numbers, to_numbers, to_places
    return compiled(loops.number_nodes, numbers, numbers, int64, *nodes, to_places)


@once
def _terms_loop() -> Callable[..., None]:
    return compiled(loops.number_terms, places, to_numbers, to_places, to_places)


@once
def _gram_slots_loop() -> Callable[..., None]:
    return compiled(loops.place_grams, to_keys, numbers, numbers, int64)
