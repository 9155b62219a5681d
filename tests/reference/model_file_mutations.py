"""Damage to model files: of their bytes, and of what they say, with every checksum right."""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.storage.archive import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.random import Generator

Content = dict[str, Any]
Arrays = dict[str, Any]

STRANGE = [
    None, True, False, 0, 1, -1, 7, 2**31, 2**63, 10**18, 10**25, 0.0, -0.0, -1.5, 1e-320, 1e308,
    "", "x", "a", "x0", "number", "category", "<i8", "|O", "O", "<U5", "pandas", [], {}, [1], [[]],
    {"is": "tuple", "items": []}, {"is": "list", "items": [1, 2]},
    {"is": "range", "ends": [0, 3, 1]},
    {"is": "range", "ends": [0, 10**18, 1]}, {"is": "range", "ends": [0, 3, 0]},
    {"is": "float", "value": "nan"}, {"is": "float", "value": "inf"}, {"is": "float", "value": "1"},
    {"is": "dict", "pairs": [[1, 2]]}, {"is": "words", "shape": [], "items": ["Moments"]},
    {"is": "array", "of": "float64", "from": 0, "shape": [1]},
    {"is": "array", "of": "float64", "from": 0, "shape": [10**9, 10**9]},
    {"is": "array", "of": "float64", "from": -8, "shape": [1]},
    {"is": "array", "of": "object", "from": 0, "shape": [1]},
    {"is": "PlainColumns", "fields": {"width": 10**15}}, {"is": "Poisson", "fields": {}},
    {"is": "Columns", "names": None, "kinds": ["number"] * 3, "levels": {}},
    {"is": "os.system", "fields": {"command": "true"}}, {"is": 3}, {"is": "Gaussian", "fields": {}},
]  # fmt: skip
"""What may stand where something else belongs."""
ODD = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    -1e308,
    5e-324,
    1e-160,
    1e160,
    0.5,
]


def opened(data: bytes) -> tuple[Content, Arrays]:
    """Return what a file says and its arrays, without any check."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        content = json.loads(archive.read("model.json"))
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        found = {name: np.load(io.BytesIO(archive.read(name))) for name in names}
    return content, {name[7:-4]: array for name, array in found.items()}


def written(
    content: Content | bytes, arrays: Arrays, instead: dict[str, bytes] | None = None
) -> bytes:
    """Return a file that says this, with every checksum right; `instead` are other members."""
    members: dict[str, bytes] = {}
    for kind, array in arrays.items():
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.asarray(array), (1, 0), allow_pickle=False)
        members[f"arrays/{kind}.npy"] = stream.getvalue()
    members.update(instead or {})
    if not isinstance(content, bytes):
        sums = {name: hashlib.sha256(held).hexdigest() for name, held in members.items()}
        content = json.dumps({**content, "checksums": sums}).encode()
    digest = hashlib.sha256(content).hexdigest().encode()
    return zipped({"model.json": content, "model.sha256": digest, **members})


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """Return a zip."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, held in members.items():
            archive.writestr(zipfile.ZipInfo(name), held, compression)
    return stream.getvalue()


def with_damaged_bytes(data: bytes, rng: Generator) -> bytes:
    """Return a file after an accident: bits flipped, a piece cut out, put in, moved or blanked."""
    found = bytearray(data)
    at, length = int(rng.integers(len(found))), int(rng.integers(1, 200))
    kind = int(rng.integers(7))
    if kind <= 1:
        for _ in range(int(rng.integers(1, 4))):
            found[int(rng.integers(len(found)))] ^= 1 << int(rng.integers(8))
    elif kind == 2:
        del found[at:]
    elif kind == 3:
        del found[at : at + length]
    elif kind == 4:
        found[at:at] = rng.bytes(length)
    elif kind == 5:
        found[at : at + length] = bytes([int(rng.choice([0, 255]))]) * len(found[at : at + length])
    else:
        piece = found[at : at + length]
        del found[at : at + length]
        to = int(rng.integers(len(found) + 1))
        found[to:to] = piece
    return bytes(found)


def with_damaged_content(data: bytes, rng: Generator) -> bytes:
    """Return a file that says something else, and has the checksums of that."""
    content, arrays = opened(data)
    for _ in range(int(rng.integers(1, 3))):
        if arrays and rng.random() < 0.4:
            _damage_array(arrays, rng)
        else:
            _damage_tree(content, rng)
    return written(content, arrays)


def _damage_array(arrays: Arrays, rng: Generator) -> None:
    kind = str(rng.choice(sorted(arrays)))
    array = arrays[kind].copy()
    choice = int(rng.integers(6))
    if choice == 0 or not array.size:
        other = str(rng.choice(sorted(TYPES)))
        held = arrays.pop(kind)
        with np.errstate(all="ignore"):
            arrays[other] = held.astype(other)
    elif choice == 1:
        arrays[kind] = array[: int(rng.integers(len(array)))]
    elif choice == 2:
        arrays[kind] = np.concatenate([array, array[:3]])
    else:
        for at in rng.integers(len(array), size=int(rng.integers(1, 4))):
            if array.dtype.kind == "f":
                other = array[int(rng.integers(len(array)))]
                with np.errstate(all="ignore"):
                    array[at] = rng.choice([*ODD, -array[at], array[at] * 1.5, other])
            else:
                flipped = array.view(np.uint8)
                flipped[int(rng.integers(len(flipped)))] ^= 1 << int(rng.integers(8))
        arrays[kind] = array


def _damage_tree(content: Content, rng: Generator) -> None:
    places = [place for place in _places(content) if place[1] != "about"]
    holder, key = places[int(rng.integers(len(places)))]
    choice = int(rng.integers(6))
    if choice == 0:
        del holder[key]
    elif choice == 1 and isinstance(holder, list):
        holder.append(holder[key])
    elif choice == 1:
        holder[f"{key}_more"] = holder[key]
    elif choice == 2:
        other, name = places[int(rng.integers(len(places)))]
        held = json.loads(json.dumps(other[name] if name in _keys(other) else None))
        holder[key] = held
    elif choice == 3 and type(holder[key]) in (int, float):
        number = float(rng.choice([v for v in ODD if math.isfinite(v)]))
        holder[key] = int(min(abs(number), 99)) if type(holder[key]) is int else number
    else:
        holder[key] = json.loads(json.dumps(STRANGE[int(rng.integers(len(STRANGE)))]))


def _keys(holder: Any) -> Any:
    return range(len(holder)) if isinstance(holder, list) else holder


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every value in a tree, as what holds it and under which key."""
    for key in list(_keys(tree)):
        yield tree, key
        if isinstance(tree[key], (dict, list)) and key != "about":
            yield from _places(tree[key])
