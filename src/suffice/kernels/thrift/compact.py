"""Values in Thrift's compact protocol, one after the other.

https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST = 8
"""How deeply structs and lists are nested at most, where nobody looks into them; Parquet has 4."""
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, STRUCT = (
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    12,
)
"""The numbers of types; a truth is its type, and has no bytes."""
LAST_SHIFT = 63
"""Bits before the tenth byte of a number, which has room for one more."""


class Compact:
    """Values in Thrift's compact protocol, one after the other.

    What is damaged raises `struct.error`, or `IndexError` where the bytes end too early.

    >>> Compact(bytes([0x15, 6, 0x25, 3, 0])).numbers()
    {1: 3, 3: -2}
    """

    def __init__(self, held: bytes) -> None:
        self._held = held
        self._known: dict[tuple[int, int], bytes] = {}
        self.at = 0

    def _varint(self) -> int:
        at, held = self.at, self._held
        value = held[at]
        if value >= 128:
            value, shift = value & 127, 7
            while (byte := held[at := at + 1]) >= 128:
                value |= (byte & 127) << shift
                shift += 7
                if shift > LAST_SHIFT:
                    raise struct.error("a number is too long")
            if shift == LAST_SHIFT and byte > 1:
                raise struct.error("a number is too large")
            value |= byte << shift
        self.at = at + 1
        return value

    def number(self) -> int:
        """Return a whole number."""
        value = self._varint()
        return (value >> 1) ^ -(value & 1) if value & 1 else value >> 1

    def numbers(self) -> dict[int, int]:
        """Return the whole numbers of a struct by their fields, and pass over everything else."""
        found = {}
        for field, kind in self.fields():
            if kind in (I16, I32, I64):
                found[field] = self.number()
            else:
                self.skip(kind)
        return found

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield the number and the type of each field of a struct; whoever asks reads it."""
        field, held = 0, self._held
        while head := held[self.at]:
            self.at += 1
            field = field + (head >> 4) if head >> 4 else self.number()
            yield field, head & 15
        self.at += 1

    def skip(self, kind: int, depth: int = 0) -> None:
        """Pass over a value."""
        if kind == BINARY:
            size = self._varint()
            self.at += size
        elif kind in (I16, I32, I64):
            self._varint()
        elif kind in (TRUE, FALSE):
            return
        elif kind in (BYTE, DOUBLE):
            self.at += 1 if kind == BYTE else 8
        elif depth > DEEPEST:
            raise struct.error("structs are nested too deeply")
        elif kind == STRUCT:
            for _, of in self.fields():
                self.skip(of, depth + 1)
        elif kind in (LIST, SET):
            for of in self.items():
                self.skip(BYTE if of in (TRUE, FALSE) else of, depth + 1)
        else:  # there are no maps in Parquet
            raise struct.error("a field is of no known type")

    def skip_known(self, key: tuple[int, int]) -> None:
        """Pass over a list; if it is the one that was met under this key before, at once."""
        known = self._known.get(key)
        if known is not None and self._held.startswith(known, self.at):
            self.at += len(known)
            return
        start = self.at
        self.skip(LIST)
        self._known[key] = self._held[start : self.at]

    def items(self) -> Iterator[int]:
        """Yield the type of each item of a list; whoever asks reads it."""
        head = self._held[self.at]
        self.at += 1
        size = head >> 4 if head >> 4 < 15 else self._varint()
        for _ in range(size):
            if self.at > len(self._held):
                raise IndexError
            yield head & 15
