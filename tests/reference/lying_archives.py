"""Zips that lie: about sizes, names, kinds and contents of their members, with right checksums."""

from __future__ import annotations

import io
import pickle
import re
import struct
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.reference.model_file_mutations import opened, written

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    Members = dict[str, bytes]

NAMES = ["../evil", "/etc/evil", "arrays/../../evil.npy", "C:\\evil", "arrays\\float64.npy", "",
         "arrays/", "model.pkl", "arrays/object.npy", "MODEL.JSON", "model.json\0.txt", "e" * 400,
         "arrays/float64.npy.npy", "./model.json", "évil"]  # fmt: skip
LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
FIELDS = {LOCAL: (4, 26), CENTRAL: (4, 42), END: (4, 18)}
"""Where the numbers of each header are; what comes after them are names, and the comment's size."""
TELLING = {LOCAL: [6, 8, 14, 18, 22, 26, 28], CENTRAL: [8, 10, 16, 20, 24, 28, 30, 32, 38, 42],
           END: [8, 10, 12, 16]}  # fmt: skip
"""Flags, methods, checksums, sizes, lengths of names, rights and places."""
NUMBERS = [0, 1, 2, 7, 8, 12, 14, 255, 65535, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1]
SYMLINK = 0o120777 << 16


def with_lying_archive(data: bytes, rng: Generator) -> bytes:
    """Return a file whose zip is not what it seems, or that is something else altogether."""
    lie = LIES[int(rng.integers(len(LIES)))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of names that are there twice
        return lie(data, rng)


def members_of(data: bytes) -> Members:
    """Return the members of a zip."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _zipped(members: list[tuple[Any, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, held in members:
            archive.writestr(name, held)
    return stream.getvalue()


def _headers(data: bytes, rng: Generator) -> bytes:
    """Put other numbers into a header of the zip."""
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        kind = (LOCAL, CENTRAL, CENTRAL, END)[int(rng.integers(4))]
        places = [found.start() for found in re.finditer(re.escape(kind), data)]
        at = places[int(rng.integers(len(places)))]
        if rng.random() < 0.7:
            at += int(rng.choice(TELLING[kind]))
        else:
            at += int(rng.integers(*FIELDS[kind]))
        size = int(rng.choice([1, 2, 4]))
        number = int(rng.choice(NUMBERS)) if rng.random() < 0.7 else int(rng.integers(2**32))
        changed[at : at + size] = struct.pack("<I", number)[:size]
    return bytes(changed[: len(data)])


def _renamed(data: bytes, rng: Generator) -> bytes:
    members = list(members_of(data).items())
    place = int(rng.integers(len(members)))
    name = str(rng.choice(NAMES))
    if rng.random() < 0.5:
        members[place] = (name, members[place][1])
    else:
        members.insert(place, (name, rng.bytes(20)))
    return _zipped([(zipfile.ZipInfo(name or "/"), held) for name, held in members])


def _twice(data: bytes, rng: Generator) -> bytes:
    members = list(members_of(data).items())
    name, held = members[int(rng.integers(len(members)))]
    other = held if rng.random() < 0.5 else rng.bytes(int(rng.integers(100)))
    members.insert(int(rng.integers(len(members) + 1)), (name, other))
    return _zipped(members)


def _linked(data: bytes, rng: Generator) -> bytes:
    """Make a member a symbolic link, a folder or a device, by its rights."""
    members = list(members_of(data).items())
    place = int(rng.integers(len(members)))
    told: list[tuple[Any, bytes]] = []
    for i, (name, held) in enumerate(members):
        entry = zipfile.ZipInfo(name)
        if i == place:
            entry.create_system = 3
            entry.external_attr = int(rng.choice([SYMLINK, 0o040777 << 16, 0o060666 << 16, 0x10]))
            held = held if rng.random() < 0.3 else b"/etc/passwd"  # noqa: PLW2901
        told.append((entry, held))
    return _zipped(told)


def _squeezed(data: bytes, rng: Generator) -> bytes:
    """Compress all members, or add a bomb: a megabyte of zeros in a thousand bytes."""
    members = members_of(data)
    if rng.random() < 0.5:
        members[str(rng.choice(sorted(members)))] = bytes(1 << 20)
    method = (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)[int(rng.integers(3))]
    return _zipped(list(members.items()), method)


def _left_out(data: bytes, rng: Generator) -> bytes:
    members = members_of(data)
    del members[str(rng.choice(sorted(members)))]
    return _zipped(list(members.items()))


def _spliced(data: bytes, rng: Generator) -> bytes:
    """Put something before, behind or between: another archive, a comment, zeros."""
    at = int(rng.choice([0, len(data), int(rng.integers(len(data)))]))
    what = (data, data[: len(data) // 2], bytes(100), b"PK\x05\x06" + bytes(18), LOCAL)
    return data[:at] + what[int(rng.integers(len(what)))] + data[at:]


class _Opener:
    """What a pickle may do when it is read."""

    def __reduce__(self) -> Any:
        return open, ("evil", "w")


def _something_else(data: bytes, rng: Generator) -> bytes:
    """Return a pickle, an .npz with objects in it, a joblib file, or a model full of them."""
    choice = int(rng.integers(5))
    evil = pickle.dumps(_Opener())
    if choice == 0:
        return evil
    stream = io.BytesIO()
    objects = np.array([_Opener()], dtype=object)
    np.savez(stream, objects=objects, numbers=np.arange(3), allow_pickle=True)
    if choice == 1:
        return stream.getvalue()
    if choice == 2:
        return LOCAL + evil + data[4:]
    one = io.BytesIO()
    np.save(one, objects, allow_pickle=True)
    members = members_of(data)
    arrays = sorted(name for name in members if name.endswith(".npy"))
    if choice == 3:
        members[str(rng.choice(arrays))] = one.getvalue()
        return _zipped(list(members.items()))
    content, held = opened(data)
    name = str(rng.choice(arrays)).removeprefix("arrays/").removesuffix(".npy")
    return written(content, held, {f"arrays/{name}.npy": one.getvalue()})


LIES: list[Callable[[bytes, Generator], bytes]] = [
    _headers, _headers, _headers, _renamed, _twice, _linked, _squeezed, _left_out, _spliced,
    _something_else,
]  # fmt: skip
