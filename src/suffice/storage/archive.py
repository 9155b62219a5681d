"""A zip of one JSON text and plain arrays, packed by type, with checksums: a model file on disk."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from io import BytesIO
from math import prod
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadFile
from suffice.storage.atomic_writes import whole_file
from suffice.storage.stored_labels import MOST_PARTS, parts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

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


def bytes_of(array: NDArray[np.generic]) -> memoryview:
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
        self._held: dict[str, list[NDArray[np.generic]]] = {}
        self._sizes: dict[str, int] = {}

    def add(self, array: NDArray[np.generic]) -> dict[str, object]:
        """Return where an array will be."""
        kind = array.dtype.name
        if kind not in TYPES or array.ndim > MOST_AXES:
            raise BadFile(
                f"an array of {array.dtype} and {array.ndim} axes cannot be stored",
                hint="store numbers and true/false values, in tables",
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

    def __init__(self, flat: Mapping[str, NDArray[np.generic]]) -> None:
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


def _misplaced(place: Mapping[str, object]) -> BadFile:
    return BadFile(
        f"no array can be at {dict(place)!r:.80}", hint="the file is damaged: write it again"
    )


TEXT = "model.json"
"""The member that holds the tree of objects, without its arrays."""
CHECKSUM = "model.sha256"
"""The member that holds the digest of that text, which names those of the arrays."""
MEMBERS = {TEXT, CHECKSUM, *(f"arrays/{name}.npy" for name in TYPES)}
"""All that a file may hold."""
LARGEST_TEXT = 1 << 26
"""Bytes of JSON, at most."""
DAY_ONE = (1980, 1, 1, 0, 0, 0)
"""The time of every member: the same model gives the same bytes."""
END = 22
"""Bytes of the record that ends a zip without a comment."""
CHUNK = 1 << 20
"""Bytes that are unpacked and hashed at a time: 1 MB, a choice."""


def write_archive(
    path: str | Path,
    content: Mapping[str, object],
    arrays: PackedArrays,
    check: Callable[[], None] | None = None,
) -> None:
    """Write a JSON object and arrays to one file, whole or not at all; as `whole_file` does.

    >>> import tempfile
    >>> place, arrays = Path(tempfile.mkdtemp()) / "one.zip", PackedArrays()
    >>> write_archive(place, {"kind": "test", "numbers": arrays.add(np.arange(3))}, arrays)
    >>> content, stored = read_archive(place)
    >>> content["kind"], stored.take(content["numbers"])
    ('test', array([0, 1, 2]))
    """
    whole = _whole_members(content, arrays)
    with whole_file(path, check=check) as file:
        _write_members(file, whole)


def archive_bytes(content: Mapping[str, object], arrays: PackedArrays) -> bytes:
    """Return the bytes of the file that `write_archive` writes: for those who keep them elsewhere.

    >>> content, _ = read_archive_bytes(archive_bytes({"kind": "test"}, PackedArrays()), "a blob")
    >>> content["kind"]
    'test'
    """
    file = BytesIO()
    _write_members(file, _whole_members(content, arrays))
    return file.getvalue()


def _whole_members(content: Mapping[str, object], arrays: PackedArrays) -> dict[str, list[Any]]:
    """Return all that a file holds, by name: nothing is written before it is complete."""
    members = {f"arrays/{name}.npy": parts for name, parts in arrays.members()}
    listed = {name: _digest(parts) for name, parts in members.items()}
    text = _text_of({**content, "checksums": listed})
    digest = _digest([text]).encode("ascii")
    return {TEXT: [text], CHECKSUM: [digest], **members}


def _write_members(file: IO[bytes], whole: Mapping[str, list[Any]]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, parts in whole.items():
            entry = zipfile.ZipInfo(name, DAY_ONE)
            entry.create_system = 3  # the same bytes on every system
            entry.external_attr = 0o644 << 16
            entry.file_size = sum(len(part) for part in parts)
            with archive.open(entry, "w") as member:
                for part in parts:
                    member.write(part)


def read_archive(path: str | Path) -> tuple[dict[str, object], StoredArrays]:
    """Return the JSON object and the arrays of a file, or refuse it."""
    path = Path(path)
    if path.is_dir():
        raise BadFile(f"{path} is a folder", hint="name the model file in it")
    with path.open("rb") as file:
        return _read_members(file, path, path.stat().st_size)


def read_archive_bytes(data: bytes, name: str) -> tuple[dict[str, object], StoredArrays]:
    """Return what `archive_bytes` was given, or refuse it; `name` is what refusals call it."""
    return _read_members(BytesIO(data), name, len(data))


def _read_members(
    file: IO[bytes], path: str | Path, size: int
) -> tuple[dict[str, object], StoredArrays]:
    if file.read(4) != b"PK\x03\x04":
        raise BadFile(
            f"{path} is not a model file",
            hint="model files are written by save(), or by suffice fit",
        )
    try:
        _check_end(file)
        with zipfile.ZipFile(file) as archive:
            return _members(archive, size)
    except _Damage as damage:
        why = str(damage)
    except RecursionError:
        why = f"{TEXT} is nested too deep"
    except Exception as error:  # noqa: BLE001  zipfile and json have many; all say the same
        why = " ".join(str(error).split())[:100] or type(error).__name__
    raise BadFile(
        f"{path} is damaged, or not a model file: {why}",
        hint="write it again with save() or suffice fit; a copy may be incomplete",
    )


class _Damage(Exception):
    """What is wrong with a file, in words."""


def _check_end(file: IO[bytes]) -> None:
    """Refuse a zip of many members before its directory is read: it could fill the memory."""
    size = file.seek(0, 2)
    file.seek(max(size - END, 0))
    end = file.read(END)
    if len(end) < END or end[:4] != b"PK\x05\x06" or end[20:] != b"\0\0":
        raise _Damage("its end is missing")
    many = max(int.from_bytes(end[8:10], "little"), int.from_bytes(end[10:12], "little"))
    file.seek(max(size - END - 20, 0))
    extended = file.read(4) == b"PK\x06\x07"
    if many > len(MEMBERS) or (extended and size < zipfile.ZIP64_LIMIT):
        raise _Damage(f"it has {many} members, or its directory is unusual")


def _members(archive: zipfile.ZipFile, room: int) -> tuple[dict[str, Any], StoredArrays]:
    entries = {entry.filename: entry for entry in archive.infolist()}
    if len(entries) < len(archive.infolist()):
        raise _Damage("a member appears twice")
    for entry in entries.values():
        _check_entry(entry)
        room -= entry.file_size
    if room < 0:
        raise _Damage("its members are larger than the file")
    for name, most in ((TEXT, LARGEST_TEXT), (CHECKSUM, 64)):
        if name not in entries or entries[name].file_size > most:
            raise _Damage(f"{name} is missing or too large")
    text = archive.read(TEXT)
    if _digest([text]).encode("ascii") != archive.read(CHECKSUM):
        raise _Damage(f"{TEXT} does not have the checksum it should")
    content = _content_of(text)
    sums = content.pop("checksums", None) if isinstance(content, dict) else None
    if not isinstance(sums, dict) or set(sums) != set(entries) - {TEXT, CHECKSUM}:
        raise _Damage(f"the arrays differ from those that {TEXT} names")
    flat = {}
    for name, expected in sums.items():
        kind = name.removeprefix("arrays/").removesuffix(".npy")
        data, digest = _read(archive, name, entries[name].file_size)
        if digest != expected:
            raise _Damage(f"{name} does not have the checksum it should")
        count, rest = divmod(len(data) - HEADER, np.dtype(TYPES[kind]).itemsize)
        if rest or count < 0 or data[:HEADER].tobytes() != header(kind, count):
            raise _Damage(f"{name} is not one list of {kind}")
        found = data[HEADER:].view(TYPES[kind])
        flat[kind] = found.astype(found.dtype.newbyteorder("="), copy=False)
    return content, StoredArrays(flat)


def _check_entry(entry: zipfile.ZipInfo) -> None:
    name = entry.filename
    if name not in MEMBERS:
        raise _Damage(f"{name!r:.60} does not belong in it")
    stored = entry.compress_type == zipfile.ZIP_STORED and not entry.flag_bits & 1
    if not stored or entry.file_size != entry.compress_size:
        raise _Damage(f"{name} is compressed or encrypted")
    if entry.external_attr >> 16 & 0o170000 not in (0, 0o100000):
        raise _Damage(f"{name} is not a plain file, but a link or a folder")


def _read(archive: zipfile.ZipFile, name: str, size: int) -> tuple[Any, str]:
    """Return the bytes of a member, in memory that may be written to, and their checksum."""
    data = np.empty(size, dtype=np.uint8)
    digest, at = hashlib.sha256(), 0
    with archive.open(name) as member:
        while chunk := member.read(CHUNK):
            data[at : at + len(chunk)] = np.frombuffer(chunk, dtype=np.uint8)
            digest.update(chunk)
            at += len(chunk)
    if at != size:
        raise _Damage(f"{name} is cut short")
    return data, digest.hexdigest()


def _digest(parts: Iterable[bytes | memoryview]) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()


def _text_of(content: Mapping[str, object]) -> bytes:
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    # Half a surrogate pair, which text may hold, has no UTF-8; JSON has an escape for it.
    plain = re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text).encode("utf-8")
    if len(plain) > LARGEST_TEXT or parts_of(plain) > MOST_PARTS:
        raise BadFile(
            f"the description of the model has {len(plain):,} bytes: too many for a model file",
            hint="give columns with very many levels fewer of them",
        )
    return plain


def _content_of(text: bytes) -> Any:
    """Return what a JSON text says: no NaN, no key twice, no number that is too long."""
    if parts_of(text) > MOST_PARTS:
        raise _Damage(f"{TEXT} holds too many values")
    return json.loads(
        text.decode("utf-8"),
        parse_constant=_refused,
        parse_int=_whole,
        object_pairs_hook=_once,
    )


def _refused(name: str) -> object:
    raise _Damage(f"{TEXT} holds {name}")


def _whole(digits: str) -> int:
    if len(digits) > 20:
        raise _Damage(f"{TEXT} holds a number of {len(digits)} digits")
    return int(digits)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Damage(f"{TEXT} has a key twice")
    return found
