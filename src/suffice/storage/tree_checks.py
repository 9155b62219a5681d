"""Whether a plain tree may be a model: kinds, sizes and totals, before anything is made of it.

What a tree makes is bounded by what the file holds. Numbers of arrays are in the file; what is not,
such as the length of a range or the axes of an empty array, may be as large as the file has values,
and no larger. So reading a file takes at most 64 MB and 64 times its size (`[],` in a JSON text is
three bytes and a list of 64; all else is less), and mostly about its size.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile
from suffice.statistics.labels import READ
from suffice.storage.archive import MOST_AXES
from suffice.storage.known_classes import DATACLASSES, STATISTICS, has_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DEEPEST = 40
"""How deep a tree may be: known objects nest less than ten deep."""
WHOLE = 1 << 64
"""Integers are smaller than this."""
FARTHEST = 1 << 53
"""Ends of ranges are no further from zero: beyond, places in arrays are not places."""
LONGEST_WORD = 64
"""Characters of a word: an array of words takes the room of the longest for each."""
ENDLESS = ("inf", "-inf", "nan")
"""What may stand for a number that JSON has no form for."""
KEYS: dict[str, frozenset[str]] = {
    **dict.fromkeys(READ, frozenset({"text"})),
    **dict.fromkeys(DATACLASSES, frozenset({"fields"})),
    **dict.fromkeys(STATISTICS, frozenset({"arrays"})),
    "Columns": frozenset({"names", "kinds", "levels"}),
    "array": frozenset({"of", "from", "shape"}),
    "dict": frozenset({"pairs"}),
    "float": frozenset({"value"}),
    "list": frozenset({"items"}),
    "range": frozenset({"ends"}),
    "tuple": frozenset({"items"}),
    "words": frozenset({"shape", "items"}),
}
"""What an object of each kind has besides "is"; `Columns` have lists, there may be very many."""


def _has_keys(kind: str, node: Mapping[str, object]) -> bool:
    """Whether an object has what one of its kind has; nobody knows other kinds."""
    known = KEYS.get(kind)
    if known is None and has_fields(kind):
        known = frozenset({"fields"})
    return known is not None and node.keys() - {"is"} == known


class TreeCheck:
    """Looks through trees of one file, and remembers how much they ask for together.

    >>> TreeCheck({"float64": 3}).check({"is": "range", "ends": [0, 10**9, 1]})
    Traceback (most recent call last):
    ...
    suffice.errors.BadFile: a range of 1000000000 places in a file of 4 values
    Hint: the file is damaged: write it again
    """

    def __init__(self, lengths: Mapping[str, int]) -> None:
        self._lengths = lengths
        self._values = sum(lengths.values())
        self._places = 0

    def check(self, tree: object) -> None:
        """Refuse a tree that asks for what no model is made of, or for more than the file has."""
        ranges: list[Any] = []
        stack: list[tuple[Any, int]] = [(tree, 0)]
        while stack:
            node, depth = stack.pop()
            self._values += 1
            if node is None or isinstance(node, (bool, str, float)):
                continue
            if isinstance(node, int):
                if abs(node) >= WHOLE:
                    raise strange(node)
                continue
            if depth > DEEPEST or not isinstance(node, dict):
                raise strange(node)
            kind = node.get("is") if "is" in node else None
            if "is" not in node:
                inside: Iterable[object] = node.values()
            elif not isinstance(kind, str) or not _has_keys(kind, node):
                raise strange(node)
            elif kind in ("range", "array"):
                ranges.append(node)  # how much a file has is known at the end
                continue
            else:
                inside = self._inside(kind, node)
            stack.extend((value, depth + 1) for value in inside)
        for node in ranges:
            self._look_at_places(node)

    def _inside(self, kind: str, node: dict[str, Any]) -> Iterable[Any]:
        """Return the trees inside an object, which has the keys that it should have."""
        if kind == "Columns":
            return self._columns(node)
        if kind in STATISTICS or kind in DATACLASSES or kind not in KEYS:  # or registered
            held = node["fields"] if "fields" in node else node["arrays"]
            if not isinstance(held, dict) or "is" in held:
                raise strange(node)
            return held.values()
        if kind in ("tuple", "list"):
            return _listed(node["items"], node)
        if kind == "dict":
            pairs = _listed(node["pairs"], node)
            if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
                raise strange(node)
            return [value for pair in pairs for value in pair]
        if kind == "words":
            items, shape = _listed(node["items"], node), _listed(node["shape"], node)
            if not all(type(word) is str and len(word) <= LONGEST_WORD for word in items):
                raise strange(node)
            if not _are_axes(shape) or prod(shape) != len(items) or sum(shape) > 1 + len(items):
                raise strange(node)
            return ()
        known = node["value"] in ENDLESS if kind == "float" else isinstance(node["text"], str)
        if not known:
            raise strange(node)
        return ()

    def _columns(self, node: dict[str, object]) -> Iterable[Any]:
        names, kinds, levels = node["names"], _listed(node["kinds"], node), node["levels"]
        words = kinds if names is None else [*kinds, *_listed(names, node)]
        if not all(type(word) is str for word in words) or not isinstance(levels, dict):
            raise strange(node)
        self._values += len(words)
        return [level for held in levels.values() for level in _listed(held, node)]

    def _look_at_places(self, node: dict[str, Any]) -> None:
        """Refuse an array or a range that is larger than all that the file holds."""
        if node["is"] == "range":
            ends = _listed(node["ends"], node)
            whole = len(ends) == 3 and all(type(e) is int and abs(e) <= FARTHEST for e in ends)
            if not whole or not ends[2]:
                raise strange(node)
            self._take(len(range(*ends)), "a range", 4)
            return
        kind, start, shape = node["of"], node["from"], _listed(node["shape"], node)
        if not isinstance(kind, str) or kind not in self._lengths or len(shape) > MOST_AXES:
            raise strange(node)
        if type(start) is not int or start < 0 or not _are_axes(shape):
            raise strange(node)
        if start + prod(shape) > self._lengths[kind]:
            raise strange(node)
        if not prod(shape):  # such as no covariances of no columns: its axes are in no array
            self._take(sum(shape), "an empty array", 4)

    def _take(self, places: int, what: str, often: int) -> None:
        """Count places that are in no array. A schema may say them for every class of use."""
        self._places += places
        if self._places > often * self._values:
            raise BadFile(
                f"{what} of {places} places in a file of {self._values} values",
                hint="the file is damaged: write it again",
            )


def _listed(value: object, node: object) -> list[Any]:
    if not isinstance(value, list):
        raise strange(node)
    return value


def _are_axes(shape: list[object]) -> bool:
    return all(type(axis) is int and 0 <= axis <= FARTHEST for axis in shape)


def strange(tree: object) -> BadFile:
    """Return the refusal of a tree."""
    return BadFile(f"{tree!r:.60} is not part of a model", hint="write the file again")
