"""A zip of one JSON text and plain arrays, with checksums: what a model file is on disk.

Nothing is compressed: so no member can be larger than the file, and there are no bombs. Everything
is checked before it is used: names, sizes, types, shapes and checksums. Nothing is executed.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadFile
from suffice.files.whole_files import whole_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]

TEXT = "model.json"
CHECKSUM = "model.sha256"
ARRAY = re.compile(r"arrays/[A-Za-z0-9_]{1,32}\.npy")
KINDS = "biufU"
"""NumPy's kinds of arrays that may be stored: truths, integers, floats and text."""
LARGEST_TEXT = 1 << 28
"""Bytes of JSON, at most."""
LARGEST_HEADER = 1 << 12
"""Bytes of one array's header, at most."""
DAY_ONE = (1980, 1, 1, 0, 0, 0)
"""The time of every member: the same model gives the same bytes."""


def write_archive(path: str | Path, content: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a JSON object and arrays to one file, whole or not at all.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "one.zip"
    >>> write_archive(place, {"kind": "test"}, {"a": np.arange(3)})
    >>> content, arrays = read_archive(place)
    >>> content["kind"], arrays["a"]
    ('test', array([0, 1, 2]))
    """
    members = {f"arrays/{name}.npy": _bytes_of(array) for name, array in arrays.items()}
    listed = {
        name.removeprefix("arrays/").removesuffix(".npy"): hashlib.sha256(data).hexdigest()
        for name, data in members.items()
    }
    held = {**content, "arrays": listed}
    text = json.dumps(held, indent=1, ensure_ascii=False, allow_nan=False).encode("utf-8")
    digest = hashlib.sha256(text).hexdigest().encode("ascii")
    with (
        whole_file(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive,
    ):
        for name, data in ((TEXT, text), (CHECKSUM, digest), *members.items()):
            archive.writestr(zipfile.ZipInfo(name, DAY_ONE), data)


def read_archive(path: str | Path) -> tuple[dict[str, Any], Arrays]:
    """Return the JSON object and the arrays of a file, or refuse it."""
    path = Path(path)
    if path.is_dir():
        raise BadFile(f"{path} is a folder", hint="name the model file in it")
    with path.open("rb") as file:
        if file.read(4) != b"PK\x03\x04":
            raise BadFile(
                f"{path} is no model file: it does not begin like one",
                hint="model files are written by save(), or by suffice fit",
            )
        try:
            with zipfile.ZipFile(file) as archive:
                return _members(archive, path)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
            raise _damaged(path, " ".join(str(error).split())) from None
        except (ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
            if isinstance(error, BadFile):
                raise
            raise _damaged(path, f"{type(error).__name__}") from None


def _members(archive: zipfile.ZipFile, path: Path) -> tuple[dict[str, Any], Arrays]:
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    if len(set(names)) < len(names):
        raise _damaged(path, "a member is there twice")
    room = path.stat().st_size
    for entry in entries:
        known = entry.filename in (TEXT, CHECKSUM) or ARRAY.fullmatch(entry.filename)
        if not known:
            raise _damaged(path, f"{entry.filename[:60]!r} does not belong in it")
        stored = entry.compress_type == zipfile.ZIP_STORED and not entry.flag_bits & 1
        if not stored or entry.file_size != entry.compress_size:
            raise _damaged(path, f"{entry.filename} is compressed or encrypted")
        room -= entry.file_size
    if room < 0:
        raise _damaged(path, "its members are larger than the file")
    text, digest = _read(archive, TEXT, path), _read(archive, CHECKSUM, path)
    if len(text) > LARGEST_TEXT:
        raise _damaged(path, f"{TEXT} has {len(text)} bytes")
    if hashlib.sha256(text).hexdigest().encode("ascii") != digest:
        raise _damaged(path, f"{TEXT} does not have the checksum it should")
    content = json.loads(text.decode("utf-8"), parse_constant=_refused_constant)
    sums = content.pop("arrays", None) if isinstance(content, dict) else None
    if not isinstance(sums, dict):
        raise _damaged(path, f"{TEXT} does not say which arrays there are")
    if {f"arrays/{name}.npy" for name in sums} != set(names) - {TEXT, CHECKSUM}:
        raise _damaged(path, f"the arrays are not those that {TEXT} names")
    arrays = {}
    for name, expected in sums.items():
        data = _read(archive, f"arrays/{name}.npy", path)
        if hashlib.sha256(data).hexdigest() != expected:
            raise _damaged(path, f"array {name} does not have the checksum it should")
        arrays[name] = _array_of(data, name, path)
    return content, arrays


def _read(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    try:
        return archive.read(name)
    except KeyError:
        raise _damaged(path, f"{name} is missing") from None


def _bytes_of(array: NDArray[Any]) -> bytes:
    if array.dtype.kind not in KINDS:
        raise BadFile(
            f"an array of {array.dtype} cannot be stored", hint="store numbers, truths or text"
        )
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array, order="C"), (1, 0), allow_pickle=False)
    return stream.getvalue()


def _array_of(data: bytes, name: str, path: Path) -> NDArray[Any]:
    """Return the array that bytes hold; the header must describe exactly what follows it."""
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise _damaged(path, f"array {name} has an unknown format")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(
        stream, max_header_size=LARGEST_HEADER
    )
    if dtype.kind not in KINDS or dtype.hasobject or dtype.itemsize == 0 or fortran:
        raise _damaged(path, f"array {name} holds {dtype}")
    count = 1
    for length in shape:
        count *= length
    if min(shape, default=0) < 0 or count * dtype.itemsize != len(data) - stream.tell():
        raise _damaged(path, f"array {name} does not have the size it says")
    found: NDArray[Any] = np.frombuffer(data, dtype, count, stream.tell()).reshape(shape)
    # A copy of its own: aligned, native, and no longer tied to the bytes of the file.
    return found.astype(dtype.newbyteorder("="), copy=True)


def _refused_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _damaged(path: Path, why: str) -> BadFile:
    return BadFile(
        f"{path} is damaged, or no model file: {why}",
        hint="write it again with save() or suffice fit; a copy may have been cut short",
    )
