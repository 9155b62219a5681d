"""Vocabularies in numba: words by their bytes, n-grams by the numbers of their parts, exactly.

Words and n-grams are found by open addressing. A slot is two numbers side by side: the first eight
bytes of a word (or the pair an n-gram is made of) and its number plus one, 0 where it is free.
Words hold no zero byte. So eight bytes that end with zero are a whole word, and nothing else has
to be compared; of a longer word the rest is, in the pool of all words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import int64, njit, uint64

from suffice.kernels.lanes.intrinsics_numba import prefetch
from suffice.kernels.tokens.loops_numba import STEP_, eight_bytes, kept_bytes, mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Places = NDArray[np.int64]
    Numbers = NDArray[np.int32]
    Keys = NDArray[np.uint64]

ONE, TWO, TOP = np.uint64(1), np.uint64(2), np.uint64(56)
"""One and two without a sign, and the bits below the eighth byte of a word."""

UNKNOWN = np.uint64(2**64 - 1)
"""The key of a term that has no number."""

TOKENS_AHEAD = 8
"""Tokens between asking for a slot and looking at it: as long as memory takes to answer."""


@njit(nogil=True)
def _same_rest(
    buffer: Bytes, start: int, stop: int, pool: Bytes, offsets: Places, number: int
) -> bool:
    """Return whether a word of eight bytes or more is the word of that number in the pool."""
    held = offsets[number]
    if offsets[number + 1] - held - 1 != stop - start:
        return False
    for i in range(8, stop - start):  # noqa: SIM110  numba has no all()
        if buffer[start + i] != pool[held + i]:
            return False
    return True


def number_words(
    buffer: Bytes, starts: Places, stops: Places, hashes: Keys, many: int, grow: bool,
    slots: Keys, pool: Bytes, offsets: Places, word_hashes: Keys, size: Places, out: Keys,
) -> None:  # fmt: skip
    """Write the number of every word, new words in the order of their appearance.

    `size[0]` counts the words held. Without `grow`, a word that is not held is UNKNOWN.
    """
    mask = uint64(slots.size // 2 - 1)
    for token in range(many):
        if token + TOKENS_AHEAD < many:
            prefetch(slots, (hashes[token + TOKENS_AHEAD] & mask) * TWO)
        start, stop, full = starts[token], stops[token], hashes[token]
        head = eight_bytes(buffer, start)
        if stop - start < 8:
            head = kept_bytes(head, stop - start)
        slot = full & mask
        found = UNKNOWN
        while True:
            held = slots[slot * TWO + ONE]
            if held == 0:
                break
            if slots[slot * TWO] == head and (
                (head >> TOP) == 0
                or _same_rest(buffer, start, stop, pool, offsets, int64(held) - 1)
            ):
                found = held - ONE
                break
            slot = (slot + ONE) & mask
        if found == UNKNOWN and grow:
            number = size[0]
            size[0] = number + 1
            place = offsets[number]
            for i in range(stop - start):
                pool[place + i] = buffer[start + i]
            pool[place + stop - start] = 0
            offsets[number + 1] = place + stop - start + 1
            word_hashes[number] = full
            found = uint64(number)
            slots[slot * TWO] = head
            slots[slot * TWO + ONE] = found + ONE
        out[token] = found


def place_words(slots: Keys, pool: Bytes, offsets: Places, word_hashes: Keys, many: int) -> None:
    """Put all words into free slots: there are more slots now."""
    mask = uint64(slots.size // 2 - 1)
    for number in range(many):
        head, length = eight_bytes(pool, offsets[number]), offsets[number + 1] - offsets[number] - 1
        if length < 8:
            head = kept_bytes(head, length)
        slot = word_hashes[number] & mask
        while slots[slot * TWO + ONE] != 0:
            slot = (slot + ONE) & mask
        slots[slot * TWO] = head
        slots[slot * TWO + ONE] = uint64(number + 1)


@njit(nogil=True, inline="always")
def _pair(parent: np.integer, word: np.integer) -> np.uint64:
    return uint64(parent) << uint64(32) | uint64(word)


@njit(nogil=True)
def _slot_of(slots: Keys, pair: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the slot of a pair, or the free one where it belongs, and its node plus one, or 0."""
    mask = uint64(slots.size // 2 - 1)
    slot = mixed(pair * STEP_) & mask
    while True:
        held = slots[slot * TWO + ONE]
        if held == 0 or slots[slot * TWO] == pair:
            return slot, held
        slot = (slot + ONE) & mask


@njit(nogil=True)
def _add_node(
    parent: np.int64,
    word: np.int64,
    parents: Numbers,
    lasts: Numbers,
    terms: Numbers,
    sizes: Places,
) -> np.int64:
    """Write a node that is new, and no term yet; return its number."""
    node: np.int64 = sizes[0]
    sizes[0] += 1
    parents[node], lasts[node], terms[node] = parent, word, -1
    return node


@njit(nogil=True)
def _node(
    parent: np.int64, word: np.int64, grow: bool,
    roots: Numbers, slots: Keys, parents: Numbers, lasts: Numbers, terms: Numbers, sizes: Places,
) -> np.int64:  # fmt: skip
    """Return the node of a word (after no parent, -1) or of an n-gram; -1 if there is none."""
    if parent < 0:
        node: np.int64 = int64(roots[word])
        if node < 0 and grow:
            node = _add_node(parent, word, parents, lasts, terms, sizes)
            roots[word] = node
        return node
    pair = _pair(parent, word)
    slot, held = _slot_of(slots, pair)
    if held == 0 and grow:
        held = uint64(_add_node(parent, word, parents, lasts, terms, sizes) + 1)
        slots[slot * TWO] = pair
        slots[slot * TWO + ONE] = held
    return int64(held) - 1


def number_grams(
    words: Keys, token_ends: Places, least: int, most: int, grow: bool, before: Places,
    roots: Numbers, slots: Keys, parents: Numbers, lasts: Numbers, terms: Numbers, sizes: Places,
    out: Keys, ends: Places,
) -> None:  # fmt: skip
    """Write the term number of every n-gram, in the order of their last words.

    A node is a word or an n-gram; `parents` has the node of all its words but the last (-1 for a
    word), `lasts` the number of the last, `roots` the node of each word (-1 if it has none),
    `terms` the number as a term (-1 if it is none). `sizes` counts nodes and terms.
    """
    token = written = 0
    mask = uint64(slots.size // 2 - 1)
    for document in range(token_ends.size):
        known, end = 0, token_ends[document]
        while token < end:
            if most > 1 and token + TOKENS_AHEAD < end:
                one, other = words[token + TOKENS_AHEAD - 1], words[token + TOKENS_AHEAD]
                if (one | other) != UNKNOWN and roots[one] >= 0:
                    pair = _pair(int64(roots[one]), other)
                    prefetch(slots, (mixed(pair * STEP_) & mask) * TWO)
            word = words[token]
            known = min(known + 1, most)
            for n in range(known, 0, -1):
                if word == UNKNOWN or (n > 1 and before[n - 1] < 0):
                    before[n] = -1
                else:
                    parent = before[n - 1] if n > 1 else int64(-1)
                    before[n] = _node(
                        parent, int64(word), grow, roots, slots, parents, lasts, terms, sizes
                    )
            for n in range(least, known + 1):
                node, term = before[n], int64(-1)
                if node >= 0:
                    if terms[node] < 0 and grow:
                        terms[node] = sizes[1]
                        sizes[1] += 1
                    term = int64(terms[node])
                out[written] = uint64(term)  # -1 is UNKNOWN
                written += 1
            token += 1
        ends[document] = written


def number_nodes(
    above: Numbers, words: Numbers, many: int,
    roots: Numbers, slots: Keys, parents: Numbers, lasts: Numbers, terms: Numbers, sizes: Places,
    out: Places,
) -> None:  # fmt: skip
    """Write the node, here, of each node of another vocabulary, adding those that are new.

    `above` are the parents there, which come before their children, `words` the last words here.
    """
    for there in range(many):
        parent = out[above[there]] if above[there] >= 0 else int64(-1)
        out[there] = _node(
            parent, int64(words[there]), True, roots, slots, parents, lasts, terms, sizes
        )


def number_terms(nodes: Places, terms: Numbers, sizes: Places, out: Places) -> None:
    """Write the term numbers of nodes, numbering those that have none."""
    for i in range(nodes.size):
        node = nodes[i]
        if terms[node] < 0:
            terms[node] = sizes[1]
            sizes[1] += 1
        out[i] = terms[node]


def place_grams(slots: Keys, parents: Numbers, lasts: Numbers, many: int) -> None:
    """Put all n-grams of several words into free slots: there are more slots now."""
    for node in range(many):
        if parents[node] >= 0:
            pair = _pair(parents[node], lasts[node])
            slot, _ = _slot_of(slots, pair)
            slots[slot * TWO] = pair
            slots[slot * TWO + ONE] = uint64(node + 1)
