"""Documents to counted terms by compiled loops: the twin for large inputs.

Documents are taken in blocks that the caches hold. The loops write into arrays that were made
large enough before, and that are used again for the next block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import boolean as truth
from numba import int32, int64, uint8, uint64

from suffice.kernels.compilation import array, compiled, once
from suffice.kernels.lanes.intrinsics_numba import types
from suffice.kernels.tokens import counts_numba as counts_loops
from suffice.kernels.tokens import loops_numba as loops
from suffice.kernels.tokens.characters import PADDING, character_kinds, packed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Counts = NDArray[np.int32]
    Places = NDArray[np.int64]
    Documents = Sequence[str | bytes]
    Rows = tuple[NDArray[Any], Counts, Places]

BLOCK = 1 << 18
"""Characters of a block: its tokens and what is known of them stay in the cache."""

to_tables = types.Array(uint64, 2, "C")
bytes_, keys, places = (array(kind, 1) for kind in (uint8, uint64, int64))
to_bytes, to_keys, to_places, to_numbers = (
    types.Array(kind, 1, "C") for kind in (uint8, uint64, int64, int32)
)


SORTED = 1 << 13
"""Keys put in order at a time, in the cache as well."""


class Room:
    """Arrays by name that are kept from block to block, and grow when one needs more."""

    def __init__(self) -> None:
        self._held: dict[str, NDArray[Any]] = {}

    def __call__(self, name: str, size: int, kind: Any = np.int64) -> NDArray[Any]:
        """Return an array of that size, with anything in it."""
        held = self._held.get(name)
        if held is None or len(held) < size:
            held = self._held[name] = np.empty(size + size // 4 + 64, kind)
        return held[:size]


class Tokens:
    """Where the tokens of a block of documents are, the number of each, and where they end."""

    __slots__ = ("buffer", "ends", "hashes", "many", "starts", "stops")

    def __init__(self, documents: Documents, lower: bool, room: Room) -> None:
        source, ends = packed(documents, lower)
        size = len(source)
        self.buffer = room("buffer", size + PADDING, np.uint8)
        kinds = room("kinds", size + PADDING, np.uint8)
        self.buffer[size:] = kinds[size:] = 0
        _telling()(source, lower, character_kinds(), self.buffer, kinds)
        most = size  # tokens may touch, so there may be as many as bytes
        if size > 4 * BLOCK:  # one long document: rather look twice than ask for all that
            most = int(np.count_nonzero(kinds[1 : size + 1] != kinds[:size]))
        starts, stops, found = room("starts", most + 1), room("stops", most + 1), np.zeros(1, int)
        _finding()(kinds, size, starts, stops, found)
        self.many = int(found[0])
        self.starts, self.stops = starts[: self.many], stops[: self.many]
        self.hashes = room("hashes", self.many, np.uint64)
        _hashing_words()(self.buffer, self.starts, self.stops, self.hashes)
        self.ends = np.searchsorted(self.starts, ends)


def blocks(documents: Documents) -> Iterator[Documents]:
    """Yield the documents, some at a time: about as many characters as a block should have."""
    sizes = np.cumsum(np.fromiter(map(len, documents), np.int64, len(documents)))
    start = 0
    while start < len(documents):
        before = int(sizes[start - 1]) if start else 0
        stop = max(int(np.searchsorted(sizes, before + BLOCK)), start + 1)
        yield documents[start:stop]
        start = stop


def hashed(
    documents: Documents, ngrams: tuple[int, int], lower: bool, size: int | None, boolean: bool
) -> Rows:
    """See `tokens_python.hashed`."""
    room, found = Room(), []
    kind = np.int32 if size is not None and size < 2**31 else np.uint64
    for some in blocks(documents):
        tokens = Tokens(some, lower, room)
        terms, ends = _gram_hashes(tokens, ngrams, room)
        if size is not None:
            _modulo()(terms, size)
        columns, counts, row_ends = counted_keys(terms, ends, boolean, room)
        sort_rows(columns, counts, row_ends, room)
        found.append((columns.astype(kind), counts.copy(), row_ends))
    return joined(found)


def _gram_hashes(tokens: Tokens, ngrams: tuple[int, int], room: Room) -> tuple[Keys, Places]:
    least, most = ngrams
    if most == 1:
        return tokens.hashes[: tokens.many], tokens.ends
    out = room("terms", tokens.many * (most - least + 1), np.uint64)
    before, ends = np.empty(most + 1, np.uint64), np.empty_like(tokens.ends)
    _hashing()(tokens.hashes, tokens.ends, least, most, before, out, ends)
    return out[: ends[-1]], ends


def counted_keys(terms: Keys, ends: Places, boolean: bool, room: Room) -> Rows:
    """Return the different keys of every document, in order of appearance, and their counts.

    They are written over by the next block.
    """
    longest = int(np.diff(ends, prepend=0).max())
    slots = room("slots", 1 << max(4, (2 * longest - 1).bit_length()))
    slots[:] = 0
    out, counts = room("out", len(terms), np.uint64), room("counts", len(terms), np.int32)
    row_ends = np.empty_like(ends)
    _counting()(terms, ends, boolean, slots, out, counts, row_ends)
    last = row_ends[-1]
    return out[:last], counts[:last], row_ends


def joined(found: Sequence[Rows]) -> Rows:
    """Return the rows of all blocks as those of one."""
    if not found:
        return np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, np.int64)
    before = np.cumsum([0, *(len(part) for part, _, _ in found)])
    ends = [part + start for (_, _, part), start in zip(found, before, strict=False)]
    return (
        np.concatenate([part for part, _, _ in found]),
        np.concatenate([part for _, part, _ in found]),
        np.concatenate(ends),
    )


def sort_rows(terms: Keys, counts: Counts, ends: Places, room: Room | None = None) -> None:
    """Put the keys of every row in ascending order, in place, their counts with them."""
    longest = int(np.diff(ends, prepend=0).max(initial=0))
    size = max(longest, min(len(terms), SORTED))
    spare = (room or Room())("spare", 4 * size, np.uint64).reshape(4, size)
    _sorting()(terms, counts, ends, np.empty_like(ends), spare, np.empty(2**11, np.int64))


@once
def _telling() -> Callable[..., None]:
    return compiled(loops.tell_kinds, bytes_, truth, bytes_, to_bytes, to_bytes)


@once
def _finding() -> Callable[..., None]:
    return compiled(loops.find, bytes_, int64, to_places, to_places, to_places)


@once
def _hashing_words() -> Callable[..., None]:
    return compiled(loops.hash_words, bytes_, places, places, to_keys)


@once
def _hashing() -> Callable[..., None]:
    return compiled(loops.hash_grams, keys, places, int64, int64, to_keys, to_keys, to_places)


@once
def _modulo() -> Callable[..., None]:
    return compiled(counts_loops.take_modulo, to_keys, int64)


@once
def _counting() -> Callable[..., None]:
    out = to_places, to_keys, to_numbers, to_places
    return compiled(counts_loops.count_keys, keys, places, truth, *out)


@once
def _sorting() -> Callable[..., None]:
    return compiled(
        counts_loops.sort_rows, to_keys, to_numbers, places, to_places, to_tables, to_places
    )
