"""The words of a header, each with the name of its field, in numba: the twin for much mail."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numba import boolean, intp, njit, types, uint8

from suffice.kernels.compilation import array, compiled, once
from suffice.kernels.mail.header_words import COLON, LONG, NAME, TABLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.kernels.mail.header_words import Rules

    Bytes = NDArray[np.uint8]
    Counts = NDArray[np.intp]
    Flags = NDArray[np.bool_]

LINE_FEED, TAB, SPACE, UNDERSCORE = 0x0A, 0x09, 0x20, 0x5F
"""Bytes that end a field, go on with it, part its words and join prefixes with them."""

GROWTH = NAME // 2 + 3
"""How many bytes one byte of a header becomes at most: a word of one letter gets a prefix."""


def header_words(head: bytes, rules: Rules) -> tuple[bytes, bool]:
    """See `header_words.header_words`."""
    words, tally = np.empty(GROWTH * len(head) + 64, np.uint8), np.zeros(2, np.intp)
    _loop()(np.frombuffer(head, np.uint8), _TABLE, *_arrays(rules), words, tally)
    return words[: tally[0]].tobytes(), bool(tally[1])


_TABLE, _LONG = (np.frombuffer(held, np.uint8) for held in (TABLE, LONG))
"""Both as arrays, which a loop can read."""


@cache
def _arrays(rules: Rules) -> tuple[Bytes, Counts, Bytes, Counts, Flags]:
    """Return names and prefixes, one after the other, where they end, and which are beginnings."""
    names = [known.removesuffix(b"*") for known, _ in rules.pairs]
    prefixes = [prefix for _, prefix in rules.pairs]
    return (
        np.frombuffer(b"".join(names) + b"\0", np.uint8),
        np.cumsum([0, *map(len, names)]).astype(np.intp),
        np.frombuffer(b"".join(prefixes) + b"\0", np.uint8),
        np.cumsum([0, *map(len, prefixes)]).astype(np.intp),
        np.array([known[-1:] == b"*" for known, _ in rules.pairs], np.bool_),
    )


@once
def _loop() -> Callable[..., None]:
    read, ends = array(uint8, 1), array(intp, 1)
    return compiled(
        _read, read, read, read, ends, read, ends, array(boolean, 1),
        types.Array(uint8, 1, "C"), types.Array(intp, 1, "C"),
    )  # fmt: skip


@njit(nogil=True)
def _rule(name: Bytes, size: int, names: Bytes, ends: Counts, begins: Flags) -> int:
    """Return the first rule that a name falls under; -1 if there is none."""
    for rule in range(ends.size - 1):
        start = ends[rule]
        length = ends[rule + 1] - start
        if length > size or (length < size and not begins[rule]):
            continue
        same = 0
        while same < length and names[start + same] == name[same]:
            same += 1
        if same == length:
            return rule
    return -1


@njit(nogil=True)
def _length(name: Bytes, length: int) -> int:
    """Return the length of a name without the spaces after it; 0 if it is none."""
    if length > name.size:
        return 0
    while length > 0 and name[length - 1] == SPACE:
        length -= 1
    for i in range(length):
        if name[i] < 33 or name[i] > 126:
            return 0
    return length


@njit(nogil=True)
def _copied(source: Bytes, start: int, end: int, words: Bytes, written: int) -> int:
    """Write a space, a prefix and an underscore, and return where they end."""
    words[written] = SPACE
    written += 1
    for i in range(start, end):
        words[written] = source[i]
        written += 1
    words[written] = UNDERSCORE
    return written + 1


def _read(  # noqa: PLR0912, PLR0915  one pass with one state: parted, it takes twice the time
    head: Bytes, table: Bytes, names: Bytes, name_ends: Counts, prefixes: Bytes,
    prefix_ends: Counts, begins: Flags, words: Bytes, tally: Counts,
) -> None:  # fmt: skip
    name = np.empty(2 * NAME, np.uint8)
    size, written, place = head.size, 0, 0
    while place < size:
        # The name: up to the colon, in this line or in those that go on with it.
        length, blank, colon = 0, True, False
        while place < size:
            byte = table[head[place]]
            if byte == LINE_FEED:
                if place + 1 == size or (head[place + 1] != SPACE and head[place + 1] != TAB):
                    break
                place += 1
                byte = uint8(SPACE)
            if byte == COLON:
                colon = True
                break
            blank = blank and byte == SPACE
            if length < name.size:
                name[length] = byte
            length += 1
            place += 1
        place += 1
        if not colon:
            tally[1] |= not blank
            continue
        length = _length(name, length)
        tally[1] |= length == 0
        rule, read = -1, length > 0
        if read:
            rule = _rule(name, length, names, name_ends, begins)
            read = rule < 0 or prefix_ends[rule] < prefix_ends[rule + 1]
        # The words: the prefix comes with the first byte of each, and alone if there are none.
        empty, inside, ended = True, False, False
        while not ended:
            byte = table[head[place]] if place < size else uint8(LINE_FEED)
            if byte == LINE_FEED:
                ended = place + 1 >= size or (head[place + 1] != SPACE and head[place + 1] != TAB)
                place += not ended
                byte = uint8(SPACE)
            place += 1
            within = byte not in (SPACE, COLON)
            if read and ((within and not inside) or (ended and empty)):
                if rule >= 0:
                    start, end = prefix_ends[rule], prefix_ends[rule + 1]
                    written = _copied(prefixes, start, end, words, written)
                elif length <= NAME:
                    written = _copied(name, 0, length, words, written)
                else:
                    written = _copied(_LONG, 0, _LONG.size, words, written)
                empty = False
            inside = within
            if inside and read:
                words[written] = byte
                written += 1
    tally[0] = written
