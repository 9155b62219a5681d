"""Many arrays in few members: all of one type lie end to end, and a tree says where each one is.

A model may hold ten thousand small arrays. Each as a file of its own would cost more to find than
to read.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

TYPES = {
    "bool": "|b1",
    "float32": "<f4",
    "float64": "<f8",
    "int32": "<i4",
    "int64": "<i8",
    "uint8": "|u1",
    "uint64": "<u8",
}
"""The types of numbers that may be stored, as NumPy writes them: little-endian everywhere."""
HEADER = 128
"""Bytes before the numbers of a .npy file of one list."""
MOST_AXES = 4
"""Of an array."""


def header(kind: str, count: int) -> bytes:
    """Return how a .npy file of one list of numbers begins (NumPy's format 1.0).

    >>> header("float64", 3)[10:70]
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }   "
    """
    text = f"{{'descr': '{TYPES[kind]}', 'fortran_order': False, 'shape': ({count},), }}"
    size = HEADER - 10
    return b"\x93NUMPY\x01\x00" + size.to_bytes(2, "little") + f"{text:{size - 1}}\n".encode()


def bytes_of(array: NDArray[Any]) -> memoryview:
    """Return the bytes of an array, in order, without a copy where that can be."""
    code = TYPES[array.dtype.name]
    flat = np.ascontiguousarray(array, dtype=code).reshape(-1)
    return flat.view(np.uint8).data


class PackedArrays:
    """Arrays on their way to disk.

    >>> arrays = PackedArrays()
    >>> arrays.add(np.zeros((2, 2)))
    {'is': 'array', 'of': 'float64', 'from': 0, 'shape': [2, 2]}
    >>> arrays.add(np.ones(3))["from"]
    4
    """

    def __init__(self) -> None:
        self._held: dict[str, list[NDArray[Any]]] = {}
        self._sizes: dict[str, int] = {}

    def add(self, array: NDArray[Any]) -> dict[str, Any]:
        """Return where an array will be."""
        kind = array.dtype.name
        if kind not in TYPES or array.ndim > MOST_AXES:
            raise BadFile(
                f"an array of {array.dtype} and {array.ndim} axes cannot be stored",
                hint="store numbers and truths, in tables",
            )
        start = self._sizes.get(kind, 0)
        self._held.setdefault(kind, []).append(array)
        self._sizes[kind] = start + array.size
        return {"is": "array", "of": kind, "from": start, "shape": list(array.shape)}

    def members(self) -> Iterator[tuple[str, list[bytes | memoryview]]]:
        """Yield each type, and the parts of its .npy file."""
        for kind in sorted(self._held):
            numbers = [bytes_of(array) for array in self._held[kind]]
            yield kind, [header(kind, self._sizes[kind]), *numbers]


class StoredArrays:
    """Arrays as they came from disk: each number belongs to one array, and none is left over."""

    def __init__(self, flat: Mapping[str, NDArray[Any]]) -> None:
        self._flat = flat
        self._taken: dict[str, list[tuple[int, int]]] = {}

    @property
    def lengths(self) -> dict[str, int]:
        """How many numbers of each type there are."""
        return {kind: len(flat) for kind, flat in self._flat.items()}

    def take(self, place: Mapping[str, Any]) -> NDArray[Any]:
        """Return the array of a place that `PackedArrays.add` gave."""
        kind, start, shape = place["of"], place["from"], place["shape"]
        flat = self._flat[kind]
        ends = [start, *shape]
        if not all(type(end) is int and end >= 0 for end in ends) or len(shape) > MOST_AXES:
            raise _misplaced(place)
        size = prod(shape)
        if start + size > len(flat):
            raise _misplaced(place)
        self._taken.setdefault(kind, []).append((start, start + size))
        return flat[start : start + size].reshape(shape)

    def check_all_taken(self) -> None:
        """Refuse numbers that belong to two arrays, or to none."""
        for kind, flat in self._flat.items():
            at = 0
            for start, stop in sorted(self._taken.get(kind, [])):
                if start != at:
                    raise BadFile(
                        f"the arrays of {kind} overlap or leave gaps at {min(start, at)}",
                        hint="the file is damaged: write it again",
                    )
                at = stop
            if at != len(flat):
                raise BadFile(
                    f"{len(flat) - at} numbers of {kind} belong to no array",
                    hint="the file is damaged: write it again",
                )


def _misplaced(place: Mapping[str, Any]) -> BadFile:
    return BadFile(
        f"no array can be at {dict(place)!r:.80}", hint="the file is damaged: write it again"
    )
