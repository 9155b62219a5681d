"""Model files forged part by part: shapes, ranges, texts, swapped and foreign parts.

A file is taken apart with its arrays in their places, changed, and laid out anew; so whatever is
changed, every number belongs to one array, and none is left over.
"""

from __future__ import annotations

import copy
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.reference.model_file_mutations import opened, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.random import Generator

Node = dict[str, Any]
DONORS: list[Any] = []
"""Files that were taken apart lately: their parts turn up in others."""
MOST_DONORS = 40
ENDS = [
    [-(10**15), 0, 1], [0, 10**15, 1], [0, 10**9, 1], [0, 3, 1], [0, 0, 1], [3, 0, -1], [0, 3, 0],
    [-3, 0, 1], [0, 4, 2], [2**53, 2**53 + 3, 1], [0, 3], [0.5, 3, 1], [0, 40_000_000, 1],
]  # fmt: skip
SHAPES = [
    [40_000_000, 0], [0, 40_000_000], [0], [0, 0], [10**15, 0, 0], [2**31, 0], [1, 1, 1, 1, 1], [],
    [-1], [None], [0, 10**6],
]  # fmt: skip
TEXTS = [
    "", "x" * 200_000, "\ud800", "é" * 40, "\x1b[31m\n", "nan", "1", "0", "[]", "blank", "\0",
]  # fmt: skip
NUMBERS = [
    0.0, -0.0, 1e-310, 5e-324, 1e-300, 1e-160, 1e-20, 0.5, 1.0, 2.0, 1e15, 1e16, 1e150, 1e155,
    1e300, 1.7e308, -1.0, -1e-12, math.nan, math.inf, -math.inf,
]  # fmt: skip
LABELS = [
    None, True, False, 0, 1, 2, 3, -1, 1.0, 2.5, "a", "b", "c", "", "1", "red", 10**19,
    {"is": "tuple", "items": [1, "a"]}, {"is": "bytes", "text": "ff"}, {"is": "bytes", "text": "x"},
    {"is": "date", "text": "2026-01-01"}, {"is": "date", "text": "2026"}, {"is": "Decimal",
    "text": "1E999999999"}, {"is": "UUID", "text": ""}, {"is": "tuple", "items": []}, [], [[1]], {},
    {"is": "float", "value": "nan"},
]  # fmt: skip


def taken_apart(data: bytes) -> Any:
    """Return what a file says, with every array where it belongs, as {"is": "array", "data": …}."""
    content, arrays = opened(data)

    def grown(tree: Any) -> Any:
        if isinstance(tree, list):
            return [grown(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        if tree.get("is") == "array":
            start, size = tree["from"], math.prod(tree["shape"])
            held = arrays[tree["of"]][start : start + size].reshape(tree["shape"])
            return {"is": "array", "data": held.copy()}
        return {key: grown(value) for key, value in tree.items()}

    return grown(content)


def put_together(content: Any) -> bytes:
    """Return the file of what was taken apart; an array may have a shape that is not its own."""
    flat: dict[str, list[Any]] = {}
    sizes: dict[str, int] = {}

    def laid(tree: Any) -> Any:
        if isinstance(tree, list):
            return [laid(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        if tree.get("is") == "array" and "data" in tree:
            data = tree["data"]
            kind = data.dtype.name
            start = sizes.get(kind, 0)
            flat.setdefault(kind, []).append(data.reshape(-1))
            sizes[kind] = start + data.size
            shape = laid(tree.get("shape", list(data.shape)))
            return {"is": "array", "of": kind, "from": start, "shape": shape}
        return {key: laid(value) for key, value in tree.items()}

    content = laid(content)
    return written(content, {kind: np.concatenate(parts) for kind, parts in flat.items()})


def with_forged_parts(data: bytes, rng: Generator) -> bytes:
    """Return a file with one to three forged parts."""
    content = taken_apart(data)
    DONORS.append(copy.deepcopy(content["state"]))
    del DONORS[:-MOST_DONORS]
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        FORGERIES[int(rng.integers(len(FORGERIES)))](content, rng)
    return put_together(content)


def _one(items: Any, rng: Generator) -> Any:
    held = list(items)
    return held[int(rng.integers(len(held)))] if held else None


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every value in a tree, as what holds it and under which key; arrays are values."""
    keys = range(len(tree)) if isinstance(tree, list) else list(tree)
    for key in keys:
        value = tree[key]
        if key not in ("is", "data", "about"):
            yield tree, key
        if isinstance(value, (dict, list)) and not (isinstance(tree, dict) and key == "about"):
            yield from places(value)


def _arrays(content: Any, kinds: str = "fiub") -> list[Node]:
    return [
        held[key] for held, key in places(content)
        if isinstance(held[key], dict) and "data" in held[key]
        and held[key]["data"].dtype.kind in kinds
    ]  # fmt: skip


def _ranges(content: Any, rng: Generator) -> None:
    """Put a range where places, tuples or numbers are."""
    holder, key = _one(places(content["state"]), rng)
    many = [p for p in places(content["state"]) if isinstance(p[0][p[1]], dict)
            and p[0][p[1]].get("is") in ("range", "tuple")]  # fmt: skip
    if many and rng.random() < 0.8:
        holder, key = _one(many, rng)
    holder[key] = {"is": "range", "ends": _one(ENDS, rng)}


def _shapes(content: Any, rng: Generator) -> None:
    """Say another shape, or give an array another size: a row more, less, twice, or none."""
    node = _one(_arrays(content["state"]), rng)
    if node is None:
        return
    data = node["data"]
    choice = int(rng.integers(7))
    if choice == 0:
        node["shape"] = _one(SHAPES, rng)
    elif choice == 1:
        node["data"], node["shape"] = data.reshape(-1)[:0], _one(SHAPES, rng)
    elif choice == 2 and data.ndim:
        node["data"] = data[:-1]
    elif choice == 3 and data.ndim:
        node["data"] = np.concatenate([data, data[-1:]])
    elif choice == 4 and data.ndim > 1:
        node["data"] = data[..., :-1]
    elif choice == 5:
        node["data"] = data[np.newaxis] if data.ndim < 4 else data[0]
    else:
        node["data"] = np.swapaxes(data, 0, -1).copy() if data.ndim > 1 else data.reshape(-1, 1)


def _numbers(content: Any, rng: Generator) -> None:
    """Put a strange number into an array, or several, or scale it a little."""
    node = _one(_arrays(content["state"], "f"), rng)
    if node is None or not node["data"].size:
        return
    flat = node["data"].reshape(-1)
    with np.errstate(all="ignore"):
        if rng.random() < 0.3:
            flat *= _one([0.5, 2.0, 1.0 + 1e-9, 1.0 + 1e-4, 1.1, -1.0, 1e-310, 1e160, 1e-160], rng)
        else:
            for at in rng.integers(len(flat), size=int(rng.integers(1, 4))):
                flat[at] = _one([*NUMBERS, flat[int(rng.integers(len(flat)))]], rng)


def _integers(content: Any, rng: Generator) -> None:
    node = _one(_arrays(content["state"], "iub"), rng)
    if node is None or not node["data"].size:
        return
    flat = node["data"].reshape(-1)
    high = 1 if flat.dtype.kind == "b" else np.iinfo(flat.dtype).max
    at = int(rng.integers(len(flat)))
    flat[at] = _one([0, 1, high, flat[int(rng.integers(len(flat)))], min(7, high)], rng)


def _texts(content: Any, rng: Generator) -> None:
    """Change labels, levels or rows in the JSON text of statistics."""
    found = []
    for held, key in places(content["state"]):
        if (
            str(key).rpartition("/")[2] in ("labels", "levels", "rows")
            and "data" in str(held[key])[:20]
        ):
            found.append(held[key])
    node = _one(found, rng)
    if node is None:
        return
    try:
        told = json.loads(node["data"].tobytes())
    except ValueError:
        return
    choice = int(rng.integers(6))
    if not told or choice == 0:
        told.append(_one(LABELS, rng))
    elif choice == 1:
        told[int(rng.integers(len(told)))] = _one([*LABELS, *TEXTS], rng)
    elif choice == 2:
        told.append(told[0])
    elif choice == 3:
        told.reverse()
    elif choice == 4:
        told.pop()
    else:
        deep = [p for p in places(told) if not isinstance(p[0][p[1]], (list, dict))]
        if deep:
            holder, key = _one(deep, rng)
            value = _one([*LABELS, *TEXTS, *NUMBERS], rng)
            holder[key] = value
    text = json.dumps(told)
    if rng.random() < 0.05:
        text = _one(
            ["[" * 5000 + "]" * 5000, "[" + "[]," * 50_000 + "1]", "{}", "", "[1e999]"], rng
        )
    node["data"] = np.frombuffer(text.encode("ascii", "replace"), dtype=np.uint8)


def _values(content: Any, rng: Generator) -> None:
    """Put a strange value where a plain one is."""
    plain = [p for p in places(content["state"]) if not isinstance(p[0][p[1]], (dict, list))]
    plain += [p for p in places(content["settings"]) if not isinstance(p[0][p[1]], (dict, list))]
    if plain:
        holder, key = _one(plain, rng)
        finite = [number for number in NUMBERS if math.isfinite(number)]
        holder[key] = copy.deepcopy(_one([*LABELS, *TEXTS, *finite, 10**9, 10**15, -5], rng))


def _words(content: Any, rng: Generator) -> None:
    nodes = [
        h[k] for h, k in places(content) if isinstance(h[k], dict) and h[k].get("is") == "words"
    ]
    # One that an earlier forgery has left as it was.
    node = _one([node for node in nodes if isinstance(node.get("items"), list)], rng)
    if node is None:
        return
    choice = int(rng.integers(4))
    if choice == 0:
        node["items"] = [*node["items"], _one(TEXTS, rng)]
        node["shape"] = [len(node["items"])]
    elif choice == 1 and node["items"]:
        kinds = ["Moments", "DiagonalMoments", "PooledMoments", "Totals", "Tallies", "ByClass", "x"]
        node["items"][int(rng.integers(len(node["items"])))] = _one([*TEXTS, *kinds], rng)
    elif choice == 2:
        node["shape"] = _one(SHAPES, rng)
    else:
        node["items"], node["shape"] = ["a"] * 20_000, [20_000]


def _swapped(content: Any, rng: Generator) -> None:
    """Let two parts change places."""
    every = list(places(content["state"]))
    (one, first), (other, second) = _one(every, rng), _one(every, rng)
    if rng.random() < 0.6:  # of equal names, which is harder to see
        alike = [p for p in every if p[1] == first]
        other, second = _one(alike, rng)
    one[first], other[second] = copy.deepcopy(other[second]), copy.deepcopy(one[first])


def _twice(content: Any, rng: Generator) -> None:
    """Say an item of a list twice, or leave one out, or name one more."""
    lists = [h[k] for h, k in places(content["state"]) if isinstance(h[k], list) and h[k]]
    held = _one(lists, rng)
    if held is None:
        return
    at = int(rng.integers(len(held)))
    if rng.random() < 0.6:
        held.insert(int(rng.integers(len(held) + 1)), copy.deepcopy(held[at]))
    else:
        del held[at]


def _foreign(content: Any, rng: Generator) -> None:
    """Put a part of another model where one of ours is: of the same name, or of the same kind."""
    theirs = list(places(_one(DONORS, rng)))
    holder, key = _one(places(content["state"]), rng)
    ours = holder[key]
    kind = ours.get("is") if isinstance(ours, dict) else None
    alike = [h[k] for h, k in theirs if k == key
             or (kind and isinstance(h[k], dict) and h[k].get("is") == kind)]  # fmt: skip
    if alike:
        holder[key] = copy.deepcopy(_one(alike, rng))


def _kept_in_step(content: Any, rng: Generator) -> None:
    """Scale or shift the same number wherever it is: in the statistics and in the model."""
    nodes = [n for n in _arrays(content["state"], "f") if n["data"].size]
    node = _one(nodes, rng)
    if node is None:
        return
    flat = node["data"].reshape(-1)
    value = flat[int(rng.integers(len(flat)))]
    new = _one([*NUMBERS, value * 2.0, value * 0.5, value + 1.0], rng)
    for one in nodes:
        one["data"][one["data"] == value] = new


FORGERIES: list[Callable[[Any, Generator], None]] = [
    _ranges, _shapes, _shapes, _numbers, _numbers, _integers, _texts, _texts, _values, _words,
    _swapped, _swapped, _twice, _foreign, _foreign, _kept_in_step, _kept_in_step,
]  # fmt: skip
