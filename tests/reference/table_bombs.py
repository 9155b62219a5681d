"""Small tables that mean very much: each is refused in words, or read with little memory.

    python -m tests.reference.table_bombs make PATH KIND    writes one
    python -m tests.reference.table_bombs read PATH WAY     reads it, and says what that took

Every kind is a sound file of a few megabytes at most, made by the library that writes such files.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.reference.damaged_tables import (
    MEMORY,
    READ,
    REFUSED,
    ROOT,
    SECONDS,
    by_collecting,
    by_command,
    by_pipe,
    peak,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MOST = MEMORY >> 20
"""MB that the process may fill which reads a bomb, with all libraries."""
MB = 1 << 20


def zeros(rows: int, kind: Any = np.float64) -> Any:
    """Return many zeros as Arrow, which take no memory until somebody writes on them."""
    import pyarrow as pa

    return pa.array(np.zeros(rows, kind))


def texts(rows: int, length: int, letter: bytes = b"a", kind: Any = "string") -> Any:
    """Return as many texts of that length, which differ in their last character or two."""
    import pyarrow as pa

    # They differ, so that nobody can hold them once; they are alike, so that they pack well.
    held = np.full((rows, length), letter[0], np.uint8)
    held[:, -1] = 48 + np.arange(rows) % 10
    held[:, -2] = 48 + np.arange(rows) // 10 % 10
    offsets = pa.py_buffer(np.arange(0, (rows + 1) * length, length, dtype=np.int64))
    found = pa.Array.from_buffers(
        pa.large_string(), rows, [None, offsets, pa.py_buffer(held.reshape(-1))]
    )
    return found if kind == "large_string" else found.cast(kind)


def arrow_file(batches: Iterable[Any], compression: str | None, form: str = "file") -> bytes:
    """Return record batches as a file or a stream of Arrow."""
    from pyarrow import ipc

    out = io.BytesIO()
    options = ipc.IpcWriteOptions(compression=compression, emit_dictionary_deltas=True)
    writer = None
    for batch in batches:
        if writer is None:
            make = ipc.new_file if form == "file" else ipc.new_stream
            writer = make(out, batch.schema, options=options)
        writer.write_batch(batch)
    assert writer is not None
    writer.close()
    return out.getvalue()


def parquet_file(columns: dict[str, Any], **options: Any) -> bytes:
    """Return columns as a file of Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pa.table(columns), out, **options)
    return out.getvalue()


def labels(rows: int) -> Any:
    """Return labels that take few bytes."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(np.arange(rows, dtype=np.int8) % 2, ["a", "b"])


def _numbers(columns: int, rows: int) -> dict[str, Any]:
    return {f"x{j}": zeros(rows) for j in range(columns)}


def _batch(columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    return pa.record_batch(columns)


def _views(rows: int, length: int) -> Any:
    """Return texts that are all one piece of memory."""
    import pyarrow as pa

    one = np.zeros(1, np.dtype([("size", "<i4"), ("head", "S4"), ("at", "<i4"), ("from", "<i4")]))
    one["size"], one["head"] = length, b"aaaa"
    return pa.Array.from_buffers(
        pa.string_view(), rows,
        [None, pa.py_buffer(np.tile(one, rows)), pa.py_buffer(b"a" * length)],
    )  # fmt: skip


def _run_end(rows: int, value: Any) -> Any:
    import pyarrow as pa

    return pa.RunEndEncodedArray.from_arrays(pa.array([rows], pa.int64()), pa.array([value]))


def _growing(batches: int, rows: int, length: int) -> Iterator[Any]:
    """Yield batches each of which adds long words to the dictionary of all."""
    import pyarrow as pa

    words: list[str] = []
    for i in range(batches):
        words += [f"{i:04d}{j:04d}" + "a" * length for j in range(rows)]
        codes = pa.array(range(len(words) - rows, len(words)), pa.int32())
        yield _batch({"w": pa.DictionaryArray.from_arrays(codes, words), "y": labels(rows)})


def _replaced(batches: int, length: int) -> Iterator[Any]:
    """Yield batches each of which has another dictionary of one long word."""
    import pyarrow as pa

    for i in range(batches):
        held = pa.DictionaryArray.from_arrays(np.zeros(4, np.int8), [f"{i:04d}" + "a" * length])
        yield _batch({"w": held, "y": labels(4)})


def _json_lines(rows: int, cell: str) -> Iterator[bytes]:
    for i in range(rows):
        yield (
            json.dumps({"w": f"{i}{cell}", "y": "ab"[i % 2]}, ensure_ascii=False) + "\n"
        ).encode()


def _csv_lines(rows: int, cell: str, quote: str = "") -> Iterator[bytes]:
    yield b"w,y\n"
    for i in range(rows):
        yield f"{quote}{i}{cell}{quote},{'ab'[i % 2]}\n".encode()


def _packed(how: str, lines: Iterable[bytes]) -> bytes:
    """Return lines packed as they come."""
    import zlib

    unit: Any = {
        "gz": lambda: zlib.compressobj(9, wbits=31),
        "bz2": bz2.BZ2Compressor,
        "xz": lzma.LZMACompressor,
    }[how]()
    return b"".join([*(unit.compress(line) for line in lines), unit.flush()])


def bombs() -> dict[str, Callable[[], bytes]]:
    """Return every kind of bomb by its name."""
    found: dict[str, Callable[[], bytes]] = {}

    def arrow(name: str, batches: Callable[[], Iterable[Any]], form: str, how: str | None) -> None:
        found[f"arrow {form} {how or 'plain'} {name}"] = lambda: arrow_file(batches(), how, form)

    many = 1 << 28
    for form in ("file", "stream"):
        for how in ("zstd", "lz4"):
            rows = 150_000_000 if how == "zstd" else 40_000_000
            arrow("numbers", lambda rows=rows: [_batch({"x": zeros(rows), "y": zeros(rows, "i1")})],
                  form, how)  # fmt: skip
            arrow("columns", lambda: [_batch({**_numbers(400, 400_000), "y": labels(400_000)})],
                  form, how)  # fmt: skip
            arrow("texts", lambda: [_batch({"w": texts(2_000, 500_000, kind="large_string"),
                                            "y": labels(2_000)})], form, how)  # fmt: skip
            arrow("cell", lambda: [_batch({"w": texts(2, 300 * MB, kind="large_string"),
                                           "y": labels(2)})], form, how)  # fmt: skip
            arrow("lists", lambda: [_batch({"l": _lists(60_000_000), "y": labels(4)})],
                  form, how)  # fmt: skip
            if how == "zstd":
                arrow("batches", lambda: [_batch({"x": zeros(4 * MB), "y": labels(4 * MB)})] * 60,
                      form, how)  # fmt: skip
            arrow("growing dictionary", lambda: _growing(40, 8, 2 * MB), form, how)
        arrow("views", lambda: [_batch({"w": _views(20_000, MB // 2), "y": labels(20_000)})],
              form, None)  # fmt: skip
        arrow("runs", lambda: [_batch({"w": _run_end(many, "a" * MB), "y": _run_end(many, "a")})],
              form, None)  # fmt: skip
        arrow("short runs", lambda: [_batch({"w": _run_end(MB, "a" * MB), "y": _run_end(MB, "a")})],
              form, None)  # fmt: skip
        arrow(
            "nulls",
            lambda: [_batch({"w": _nulls((1 << 31) - 1), "y": _nulls((1 << 31) - 1)})],
            form,
            None,
        )
    arrow("replaced dictionary", lambda: _replaced(400, 2 * MB), "stream", "zstd")
    for how in ("zstd", "gzip", "lz4", "brotli"):
        for coded in (True, False):
            word = "coded" if coded else "plain"
            found[f"parquet {how} {word} texts"] = lambda how=how, coded=coded: parquet_file(
                {"w": texts(2_000, 500_000, kind="large_string"), "y": labels(2_000)},
                compression=how, use_dictionary=coded, write_statistics=False,
            )  # fmt: skip
    found["parquet zstd one text"] = lambda: parquet_file(
        {"w": ["a" * 500_000] * 2_000, "y": labels(2_000)}, compression="zstd", use_dictionary=False
    )
    found["parquet snappy one word"] = lambda: parquet_file(
        {"w": _word(1_000_000, 900_000), "y": labels(1_000_000)}, store_schema=False
    )
    found["parquet zstd front coded"] = lambda: parquet_file(
        {"w": texts(2_000, 500_000, kind="large_string"), "y": labels(2_000)},
        compression="zstd", use_dictionary=False, column_encoding={"w": "DELTA_BYTE_ARRAY"},
    )  # fmt: skip
    found["parquet zstd fallen back"] = lambda: parquet_file(
        _fallen_back(), compression="zstd", store_schema=False, write_statistics=False,
        dictionary_pagesize_limit=1_100_000,
    )  # fmt: skip
    found["parquet zstd numbers"] = lambda: parquet_file(
        {"x": zeros(100_000_000), "y": zeros(100_000_000, np.int8)},
        compression="zstd", use_dictionary=False, data_page_size=1 << 30, row_group_size=1 << 27,
    )  # fmt: skip
    found["parquet zstd columns"] = lambda: parquet_file(
        {**_numbers(400, 400_000), "y": labels(400_000)}, compression="zstd", use_dictionary=False
    )
    found["parquet snappy constant"] = lambda: parquet_file(
        {"x": zeros(100_000_000), "y": zeros(100_000_000, np.int8)}, row_group_size=1 << 27
    )
    for how in ("gz", "bz2", "xz"):
        for letter, cell in (("a", "a" * 1_000_000), ("😀", "a" * 999_000 + "😀")):
            for quote in ("", '"'):
                kind = f"{'quoted ' if quote else ''}{letter}"
                found[f"csv {how} long {kind}"] = lambda how=how, cell=cell, quote=quote: _packed(
                    how, _csv_lines(300, cell, quote)
                )
            found[f"json {how} long {letter}"] = lambda how=how, cell=cell: _packed(
                how, _json_lines(300, cell)
            )
            found[f"json {how} letters {letter}"] = lambda how=how, cell=cell: _packed(
                how, _json_lines(60, cell[-1] * 1_900_000)
            )
        found[f"csv {how} zeros"] = lambda how=how: _packed(
            how, iter([b"x,y\n", *[b"0,0\n" * 250_000] * 100])
        )
        found[f"csv {how} wide"] = lambda how=how: _packed(
            how, iter([",".join(f"x{j}" for j in range(50_000)).encode() + b"\n",
                       *[b"0," * 49_999 + b"0\n"] * 600])
        )  # fmt: skip
    found["csv gz distinct"] = lambda: gzip.compress(
        b"w,y\n" + b"".join(b"%d,a\n" % i for i in range(1_000_000)), 1
    )
    return found


def _lists(values: int) -> Any:
    import pyarrow as pa

    offsets = pa.array([0, values, values, values, values], pa.int64())
    return pa.LargeListArray.from_arrays(offsets, zeros(values))


def _nulls(rows: int) -> Any:
    import pyarrow as pa

    return pa.nulls(rows)


def _word(rows: int, length: int) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), ["a" * length])


def _fallen_back() -> dict[str, Any]:
    """Return a column that begins with one long word again and again, and ends without words."""
    import pyarrow as pa

    words = pa.array(["a" * 1_000_000, *(f"word {i}" for i in range(150_000))], pa.large_string())
    codes = np.concatenate([np.zeros(100_000, np.int32), np.arange(150_000, dtype=np.int32)])
    return {"w": pa.DictionaryArray.from_arrays(codes, words), "y": labels(250_000)}


def tried(path: Path, way: str) -> str:
    """Return how reading a bomb ended."""
    from suffice.errors import SufficeError

    ways = {"command": by_command, "collect": by_collecting, "pipe": by_pipe}
    try:
        ways[way](path)
    except SufficeError as error:
        return f"{REFUSED} {error.problem:.400} Hint: {error.hint}".replace("\n", " ")
    return READ


WAYS = ("collect", "command", "pipe")


def _run(*given: str) -> subprocess.CompletedProcess[str]:
    """Run this module in a process of its own: neither memory nor a crash is ours."""
    import suffice

    roots = os.pathsep.join([str(Path(suffice.__file__).parents[1]), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-m", "tests.reference.table_bombs", *given],
        capture_output=True, text=True, timeout=30 * SECONDS, check=False, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": roots, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip


def outcome(kind: str, folder: Path, way: str) -> tuple[str, float, int]:
    """Return how reading a bomb ended, its seconds of CPU and its MB."""
    path = folder / kind.replace(" ", "-")
    if not path.exists():
        _run("make", str(path), kind).check_returncode()
    done = _run("read", str(path), way)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        return f"ended by {done.returncode}: {''.join(last):.200}", 0.0, 0
    seconds, megabytes, word = done.stdout.splitlines()[-1].split(" ", 2)
    return word, float(seconds), int(megabytes)


def main(what: str, path: Path, how: str) -> None:
    """Make a bomb; or read it, and say how that ended, how long it took and how much it filled."""
    if what == "make":
        path.write_bytes(bombs()[how]())
        return
    warnings.simplefilter("ignore")
    most = 8 * MEMORY  # addresses: a process that would fill them is ended before the machine is
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    began = time.process_time()
    word = tried(path, how)
    print(f"{time.process_time() - began:.2f} {peak()} {word}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
