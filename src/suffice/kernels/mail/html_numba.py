"""What an HTML page shows and what its tags say, in numba: the twin for much mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import intp, njit, types, uint8, uint64

from suffice.kernels.compilation import array, compiled, once
from suffice.kernels.mail.html import FACTS, KEPT_KEYS, KEY, NAME, PARTING, UNREAD, VALUE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Keys = NDArray[np.uint64]

SLOTS = 2048
"""Places of the table that knows which facts were noted: a power of two, and never half full."""


def page_text(page: bytes, most: int = FACTS) -> tuple[bytes, bytes]:
    """See `html.page_text`."""
    # A fact is written once, and is as long as a tag or an attribute of the page at most.
    text, facts = np.empty(len(page), np.uint8), np.empty(most * (NAME + VALUE + 2), np.uint8)
    sizes = np.zeros(2, np.intp)
    _loop()(np.frombuffer(page, np.uint8), most, _PARTING, _KEPT, text, facts, sizes)
    return text[: sizes[0]].tobytes(), facts[: sizes[1]].tobytes()


def _keys(names: Iterable[bytes]) -> Keys:
    return np.array(sorted(int.from_bytes(name[:KEY], "little") for name in names), np.uint64)


_PARTING, _KEPT = _keys(PARTING), _keys(KEPT_KEYS)
"""Names as numbers of eight bytes, sorted, for a search that halves."""
_SCRIPT, _STYLE = (int(key) for key in (_keys([name])[0] for name in UNREAD))
"""The same of the two tags whose text is not read."""


@once
def _loop() -> Callable[..., None]:
    written = types.Array(uint8, 1, "C")
    return compiled(
        _read, array(uint8, 1), intp, array(uint64, 1), array(uint64, 1),
        written, written, types.Array(intp, 1, "C"),
    )  # fmt: skip


@njit(nogil=True, inline="always")
def _low(byte: int) -> int:
    return byte + 32 if 65 <= byte <= 90 else byte


@njit(nogil=True, inline="always")
def _is_alnum(byte: int) -> bool:
    return 97 <= byte <= 122 or 65 <= byte <= 90 or 48 <= byte <= 57


@njit(nogil=True, inline="always")
def _is_space(byte: int) -> bool:
    return byte == 32 or 9 <= byte <= 13


@njit(nogil=True)
def _among(key: np.uint64, keys: Keys) -> bool:
    low, high = 0, keys.size
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < keys.size and keys[low] == key


@njit(nogil=True)
def _key(page: Bytes, start: int, end: int) -> np.uint64:
    key, shift = uint64(0), uint64(0)
    for place in range(start, min(end, start + KEY)):
        key |= uint64(_low(page[place])) << shift
        shift += uint64(8)
    return key


@njit(nogil=True)
def _note(facts: Bytes, used: int, end: int, slots: NDArray[np.int32]) -> int:
    """Keep the fact that was written at the end of the others, unless it is there already."""
    code = uint64(14695981039346656037)
    for place in range(used, end):
        code = (code ^ uint64(facts[place])) * uint64(1099511628211)
    slot = intp((code ^ (code >> uint64(29))) & uint64(SLOTS - 1))
    while slots[slot, 1] > 0:
        start, size = slots[slot, 0], slots[slot, 1]
        if size == end - used:
            same = True
            for i in range(size):
                if facts[start + i] != facts[used + i]:
                    same = False
                    break
            if same:
                return used
        slot = (slot + 1) & (SLOTS - 1)
    slots[slot, 0], slots[slot, 1] = used, end - used
    return end


@njit(nogil=True)
def _end_of(page: Bytes, place: int, script: bool) -> int:
    """Return where `</script` or `</style` begins; -1 if nowhere."""
    size = 6 if script else 5
    key = uint64(_SCRIPT) if script else uint64(_STYLE)
    for start in range(place, page.size - size - 1):
        if (
            page[start] == 60
            and page[start + 1] == 47
            and _key(page, start + 2, start + 2 + size) == key
        ):
            return start
    return -1


@njit(nogil=True)
def _attributes(  # noqa: PLR0912
    page: Bytes, place: int, end: int, most: int, kept: Keys, facts: Bytes, used: int, noted: int,
    slots: NDArray[np.int32],
) -> tuple[int, int]:  # fmt: skip
    first = place
    while place < end and noted < most:
        byte = _low(page[place])
        if not (97 <= byte <= 122 or byte == 45):
            place += 1
            continue
        if place > first:
            before = page[place - 1]
            if _is_alnum(before) or before in (45, 95):
                place += 1
                continue
        start = place
        while place < end and (97 <= _low(page[place]) <= 122 or page[place] == 45):
            place += 1
        after = place
        while after < end and _is_space(page[after]):
            after += 1
        if after >= end or page[after] != 61:
            continue
        after += 1
        while after < end and _is_space(page[after]):
            after += 1
        if after < end and (page[after] == 34 or page[after] == 39):
            after += 1
        value = after
        while after < end and page[after] not in (34, 39) and not _is_space(page[after]):
            after += 1
        if after == value:
            continue
        if _among(_key(page, start, place), kept):
            at = used
            for i in range(start, min(place, start + NAME)):
                facts[at] = _low(page[i])
                at += 1
            facts[at] = 61
            at += 1
            for i in range(value, min(after, value + VALUE)):
                facts[at] = _low(page[i])
                at += 1
            facts[at] = 10
            fresh = _note(facts, used, at + 1, slots)
            noted += fresh > used
            used = fresh
        place = after
    return used, noted


def _read(  # noqa: PLR0912, PLR0915  one pass with one state: parted, it takes twice the time
    page: Bytes,
    most: int,
    parting: Keys,
    kept: Keys,
    text: Bytes,
    facts: Bytes,
    sizes: NDArray[np.intp],
) -> None:
    size = page.size
    slots = np.zeros((SLOTS, 2), np.int32)
    written = used = noted = place = 0
    comments = scripts = styles = True
    while place < size:
        byte = page[place]
        if byte != 60:
            text[written] = byte
            written += 1
            place += 1
            continue
        if (
            place + 3 < size
            and page[place + 1] == 33
            and page[place + 2] == 45
            and page[place + 3] == 45
        ):
            start = place
            place += 4
            if comments:
                comments = False
                for i in range(start + 2, size - 2):
                    if page[i] == 45 and page[i + 1] == 45 and page[i + 2] == 62:
                        comments, place = True, i + 3
                        break
            continue
        first = page[place + 1] if place + 1 < size else 0
        letter = 97 <= _low(first) <= 122
        if not letter and first not in (33, 47, 63):
            text[written] = 60
            written += 1
            place += 1
            continue
        start = place + 1
        place += 2
        while place < size and _is_alnum(page[place]):
            place += 1
        stop = place
        while place < size and page[place] != 60 and page[place] != 62:
            place += 1
        begin = start + 1 if first == 47 else start
        if _among(_key(page, begin, stop), parting):
            text[written] = 32
            written += 1
        if letter and noted < most:
            at = used
            for i in range(start, min(stop, start + NAME)):
                facts[at] = _low(page[i])
                at += 1
            facts[at] = 10
            fresh = _note(facts, used, at + 1, slots)
            noted += fresh > used
            used, noted = _attributes(page, stop, place, most, kept, facts, fresh, noted, slots)
        if place < size and page[place] == 62:
            place += 1
        if letter and stop - start == 6 and scripts and _key(page, start, stop) == _SCRIPT:
            end = _end_of(page, place, True)
            scripts = end >= 0
            place = end if scripts else place
        elif letter and stop - start == 5 and styles and _key(page, start, stop) == _STYLE:
            end = _end_of(page, place, False)
            styles = end >= 0
            place = end if styles else place
    sizes[0], sizes[1] = written, used
