"""Documents to counted terms by compiled loops: the twin for large inputs.

Documents are taken in blocks that the caches hold. The loops write into arrays that were made
large enough before, and that are used again for the next block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, overload

import numpy as np
from numba import boolean as truth
from numba import int32, int64, njit, uint8, uint64

from suffice.kernels.compilation import array, compiled, once
from suffice.kernels.lanes.intrinsics_numba import types
from suffice.kernels.tokens import loops_numba as loops
from suffice.kernels.tokens.characters import PADDING, character_kinds, packed
from suffice.kernels.tokens.loops_numba import STEP_
from suffice.kernels.tokens.vocabulary_table_numba import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from suffice.kernels.tokens.counts import Documents, Places, Rows

    Keys = NDArray[np.uint64]
    Counts = NDArray[np.int32]

Whole = TypeVar("Whole", bound=np.integer)

BLOCK_CHARACTERS = 1 << 18
"""Characters of a block: its tokens and what is known of them stay in the cache."""

SORTED_KEYS = 1 << 13
"""Keys put in order at a time, in the cache as well."""

DIGIT = np.uint64(11)
"""Bits by which keys are put in order at a time: 2¹¹ places are as many as a cache follows."""

LOW_BITS = np.uint64(2**11 - 1)
"""The bits of one digit."""

to_tables = types.Array(uint64, 2, "C")
bytes_, keys, places = (array(kind, 1) for kind in (uint8, uint64, int64))
to_bytes, to_keys, to_places, to_numbers = (
    types.Array(kind, 1, "C") for kind in (uint8, uint64, int64, int32)
)
"""Types of the arguments of the loops: what they read, and what they write to."""


class Room:
    """Arrays by name that are kept from block to block, and grow when one needs more."""

    def __init__(self) -> None:
        self._held: dict[str, NDArray[np.integer]] = {}

    @overload
    def __call__(self, name: str, size: int) -> Places: ...
    @overload
    def __call__(self, name: str, size: int, kind: type[Whole]) -> NDArray[Whole]: ...

    def __call__(
        self, name: str, size: int, kind: type[np.integer] = np.int64
    ) -> NDArray[np.integer]:
        """Return an array of that size, with anything in it."""
        held = self._held.get(name)
        if held is None or len(held) < size:
            held = self._held[name] = np.empty(size + size // 4 + 64, kind)
        return held[:size]


class CompiledTokens:
    """Where the tokens of a block of documents are, the number of each, and where they end."""

    __slots__ = ("buffer", "ends", "hashes", "many", "starts", "stops")

    def __init__(self, documents: Documents, lower: bool, room: Room) -> None:
        source, ends = packed(documents, lower)
        size = len(source)
        self.buffer = room("buffer", size + PADDING, np.uint8)
        kinds = room("kinds", size + PADDING, np.uint8)
        self.buffer[size:] = kinds[size:] = 0
        _kinds_loop()(source, lower, character_kinds(), self.buffer, kinds)
        most = size  # tokens may touch, so there may be as many as bytes
        if size > 4 * BLOCK_CHARACTERS:  # a long document: rather look twice than ask for all that
            most = int(np.count_nonzero(kinds[1 : size + 1] != kinds[:size]))
        starts, stops, count = room("starts", most + 1), room("stops", most + 1), np.zeros(1, int)
        _tokens_loop()(kinds, size, starts, stops, count)
        self.many = int(count[0])
        self.starts, self.stops = starts[: self.many], stops[: self.many]
        self.hashes = room("hashes", self.many, np.uint64)
        _word_loop()(self.buffer, self.starts, self.stops, self.hashes)
        self.ends = np.searchsorted(self.starts, ends)


def blocks(documents: Documents) -> Iterator[Documents]:
    """Yield the documents, some at a time: about as many characters as a block should have."""
    sizes = np.cumsum(np.fromiter(map(len, documents), np.int64, len(documents)))
    start = 0
    while start < len(documents):
        before = int(sizes[start - 1]) if start else 0
        stop = max(int(np.searchsorted(sizes, before + BLOCK_CHARACTERS)), start + 1)
        yield documents[start:stop]
        start = stop


def hashed_terms(
    documents: Documents, ngrams: tuple[int, int], lower: bool, size: int | None, boolean: bool
) -> Rows:
    """See `counts.hashed_terms`."""
    room, rows = Room(), []
    kind: type[np.integer] = np.int32 if size is not None and size < 2**31 else np.uint64
    for some in blocks(documents):
        tokens = CompiledTokens(some, lower, room)
        terms, ends = _gram_hashes(tokens, ngrams, room)
        if size is not None:
            _modulo_loop()(terms, size)
        columns, counts, row_ends = counted_keys(terms, ends, boolean, room)
        sort_rows(columns, counts, row_ends, room)
        rows.append((columns.astype(kind), counts.copy(), row_ends))
    return joined(rows)


def _gram_hashes(
    tokens: CompiledTokens, ngrams: tuple[int, int], room: Room
) -> tuple[Keys, Places]:
    least, most = ngrams
    if most == 1:
        return tokens.hashes[: tokens.many], tokens.ends
    out = room("terms", tokens.many * (most - least + 1), np.uint64)
    before, ends = np.empty(most + 1, np.uint64), np.empty_like(tokens.ends)
    _gram_loop()(tokens.hashes, tokens.ends, least, most, before, out, ends)
    return out[: ends[-1]], ends


def counted_keys(
    terms: Keys, ends: Places, boolean: bool, room: Room
) -> tuple[Keys, Counts, Places]:
    """Return the different keys of every document, in order of appearance, and their counts.

    They are written over by the next block.
    """
    longest = int(np.diff(ends, prepend=0).max())
    slots = room("slots", 1 << max(4, (2 * longest - 1).bit_length()))
    slots[:] = 0
    out, counts = room("out", len(terms), np.uint64), room("counts", len(terms), np.int32)
    row_ends = np.empty_like(ends)
    _count_loop()(terms, ends, boolean, slots, out, counts, row_ends)
    last = row_ends[-1]
    return out[:last], counts[:last], row_ends


def joined(blocks: Sequence[Rows]) -> Rows:
    """Return the rows of all blocks as those of one."""
    if not blocks:
        return np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, np.int64)
    before = np.cumsum([0, *(len(part) for part, _, _ in blocks)])
    ends = [part + start for (_, _, part), start in zip(blocks, before, strict=False)]
    return (
        np.concatenate([part for part, _, _ in blocks]),
        np.concatenate([part for _, part, _ in blocks]),
        np.concatenate(ends),
    )


def sort_rows(terms: Keys, counts: Counts, ends: Places, room: Room | None = None) -> None:
    """Put the keys of every row in ascending order, in place, their counts with them."""
    longest = int(np.diff(ends, prepend=0).max(initial=0))
    size = max(longest, min(len(terms), SORTED_KEYS))
    spare = (room or Room())("spare", 4 * size, np.uint64).reshape(4, size)
    _sort_loop()(terms, counts, ends, np.empty_like(ends), spare, np.empty(2**11, np.int64))


@once
def _kinds_loop() -> Callable[..., None]:
    return compiled(loops.write_kinds, bytes_, truth, bytes_, to_bytes, to_bytes)


@once
def _tokens_loop() -> Callable[..., None]:
    return compiled(loops.find_tokens, bytes_, int64, to_places, to_places, to_places)


@once
def _word_loop() -> Callable[..., None]:
    return compiled(loops.hash_words, bytes_, places, places, to_keys)


@once
def _gram_loop() -> Callable[..., None]:
    return compiled(loops.hash_grams, keys, places, int64, int64, to_keys, to_keys, to_places)


@once
def _modulo_loop() -> Callable[..., None]:
    return compiled(_take_modulo, to_keys, int64)


@once
def _count_loop() -> Callable[..., None]:
    out = to_places, to_keys, to_numbers, to_places
    return compiled(_count_keys, keys, places, truth, *out)


@once
def _sort_loop() -> Callable[..., None]:
    return compiled(_sort_rows, to_keys, to_numbers, places, to_places, to_tables, to_places)


def _take_modulo(keys: Keys, size: int) -> None:
    """Leave the remainder of every key: its column, of so many."""
    whole = uint64(size)
    if whole & (whole - uint64(1)) == 0:
        for i in range(keys.size):
            keys[i] &= whole - uint64(1)
    else:
        for i in range(keys.size):
            keys[i] %= whole


def _count_keys(
    keys: Keys, ends: Places, boolean: bool, slots: Places,
    out: Keys, counts: Counts, out_ends: Places,
) -> None:  # fmt: skip
    """Write the different keys of every document, in order of appearance, and their counts.

    `slots` are zeros, a power of two of them, at least twice as many as any document has keys. A
    slot holds a place in `out` plus one; one from before the document counts as free, so that
    nothing has to be cleared. Each document uses as many slots as it needs.
    """
    start = written = 0
    for document in range(ends.size):
        end = ends[document]
        row = written
        shift = uint64(60)
        while (int64(1) << (int64(64) - int64(shift))) < 2 * (end - start):
            shift -= uint64(1)
        mask = (uint64(1) << (uint64(64) - shift)) - uint64(1)
        for i in range(start, end):
            key = keys[i]
            if key == UNKNOWN:
                continue
            slot = (key * STEP_) >> shift
            while True:
                held = slots[slot] - 1
                if held < row:
                    slots[slot] = written + 1
                    out[written] = key
                    counts[written] = 1
                    written += 1
                    break
                if out[held] == key:
                    if not boolean:
                        counts[held] += 1
                    break
                slot = (slot + uint64(1)) & mask
        start = end
        out_ends[document] = written


@njit(nogil=True)
def _move(
    keys: Keys, cells: Keys, size: int, shift: np.uint64, others: Keys, more: Keys, places: Places
) -> None:
    """Put keys, and the cells with them, in the order of some of their bits; equals stay as is."""
    places[:] = 0
    for i in range(size):
        places[(keys[i] >> shift) & LOW_BITS] += 1
    place = 0
    for digit in range(places.size):
        place, places[digit] = place + places[digit], place
    for i in range(size):
        digit = (keys[i] >> shift) & LOW_BITS
        place = places[digit]
        places[digit] = place + 1
        others[place] = keys[i]
        more[place] = cells[i]


def _sort_rows(
    keys: Keys, counts: Counts, ends: Places, starts: Places, spare: Keys, places: Places
) -> None:
    """Put the keys of every row in ascending order, their counts with them.

    Several rows at a time are put in order of their keys, some bits after the other from the
    lowest, and then given back to their rows: no order of the keys can make that slow. `starts` has
    a place for each row, `spare` four rows that are as long as the longest run of rows.
    """
    room = spare.shape[1]
    row = 0
    while row < ends.size:
        first = ends[row - 1] if row > 0 else 0
        last = row + 1
        while last < ends.size and ends[last] - first <= room:
            last += 1
        size = ends[last - 1] - first
        one, cells, others, more = spare[0], spare[1], spare[2], spare[3]
        largest, start = uint64(0), first
        for r in range(row, last):
            starts[r] = start
            for i in range(start, ends[r]):
                key = keys[i]
                largest |= key
                one[i - first] = key
                cells[i - first] = uint64(r) << uint64(32) | uint64(counts[i])
            start = ends[r]
        shift = uint64(0)
        while shift < uint64(64) and (largest >> shift) != 0:
            _move(one, cells, size, shift, others, more, places)
            one, cells, others, more = others, more, one, cells
            shift += DIGIT
        for i in range(size):
            r = cells[i] >> uint64(32)
            place = starts[r]
            starts[r] = place + 1
            keys[place] = one[i]
            counts[place] = int64(cells[i] & uint64(0xFFFFFFFF))
        row = last
