"""Tables with changed bytes, read in processes of their own: each is read, or refused in words.

    python -m tests.reference.damaged_tables FOLDER    a worker: numbers come in, outcomes go out

The number of a table says all of it: which file, what was done to it, and which way it is read.
"""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import io
import json
import lzma
import os
import resource
import select
import subprocess
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).resolve().parents[2]
ROWS = 60
MEMORY = 1 << 30
"""Bytes that reading one table may take, beside what the libraries take."""
RESERVED = 4 << 30
"""Addresses beyond that: a process that would fill them is ended before the machine is."""
SECONDS = 10.0
"""Seconds that one table may take."""
READ, REFUSED = "read", "refused"
FORMATS = ("arrow", "parquet", "csv", "json")


def columns() -> dict[str, list[Any]]:
    """Return a table with numbers, whole numbers, words, blanks, truths and labels."""
    rng = np.random.default_rng(2026)
    words = ["red", "größe", None, "a, b", 'say "so"', "two\nlines"]
    return {
        "x": rng.normal(size=ROWS).tolist(),
        "n": [None if i % 7 == 0 else i for i in range(ROWS)],
        "word": [words[i % len(words)] for i in range(ROWS)],
        "truth": [i % 3 == 0 for i in range(ROWS)],
        "y": ["ab"[i % 2] for i in range(ROWS)],
    }


def arrow_columns(kind: str) -> Any:
    """Return the table with a column of some rarer type."""
    import pyarrow as pa

    held = {name: pa.array(cells) for name, cells in columns().items()}
    size = ROWS
    more: dict[str, Callable[[], Any]] = {
        "plain": lambda: pa.array(range(size), pa.int16()),
        "dictionary": held["word"].dictionary_encode,
        "view": lambda: pa.array([f"a text beyond twelve {i}" for i in range(size)], "string_view"),
        "large": lambda: held["word"].cast("large_string"),
        "run-end": lambda: pa.RunEndEncodedArray.from_arrays([size // 2, size], ["u", "v"]),
        "decimal": lambda: pa.array(range(size), pa.decimal128(12, 2)),
        "half": lambda: pa.array(np.arange(size, dtype=np.float16)),
        "list": lambda: pa.array([[1, 2]] * size),
        "struct": lambda: pa.array([{"a": 1, "b": "x"}] * size),
        "time": lambda: pa.array(range(size), pa.timestamp("us", tz="UTC")),
        "extension": lambda: pa.array([bytes(16)] * size, pa.uuid()),
        "union": lambda: pa.UnionArray.from_sparse(
            pa.array([0] * size, pa.int8()), [pa.array([1] * size)]
        ),
    }
    held["rare"] = more[kind]()
    return pa.table(held)


@cache
def seeds(form: str) -> tuple[bytes, ...]:
    """Return sound files of a format, in many ways to write it."""
    if form == "csv":
        found = []
        rows = list(zip(*columns().values(), strict=True))
        for delimiter, quoting, encoding in (
            (",", csv.QUOTE_MINIMAL, "utf-8"), (";", csv.QUOTE_ALL, "utf-8-sig"),
            ("\t", csv.QUOTE_NONNUMERIC, "utf-8"), (",", csv.QUOTE_MINIMAL, "utf-16"),
        ):  # fmt: skip
            out = io.StringIO(newline="")
            writer = csv.writer(out, delimiter=delimiter, quoting=quoting)
            writer.writerows([list(columns()), *rows])
            found.append(out.getvalue().encode(encoding))
        pack = (gzip.compress, bz2.compress, lzma.compress)
        return (*found, found[0], found[1], *(make(found[0]) for make in pack))
    if form == "json":
        rows = zip(*columns().values(), strict=True)
        lines = [json.dumps(dict(zip(columns(), row, strict=True))) for row in rows]
        text = "\n".join(lines).encode()
        return text, text, gzip.compress(text)
    return _arrow_seeds() if form == "arrow" else _parquet_seeds()


def _arrow_seeds() -> tuple[bytes, ...]:
    from pyarrow import ipc

    kinds = "plain dictionary view large run-end decimal half list struct time extension union"
    found = []
    for kind in kinds.split():
        table = arrow_columns(kind)
        for compression in (None, "lz4", "zstd"):
            for make in (ipc.new_file, ipc.new_stream):
                out = io.BytesIO()
                options = ipc.IpcWriteOptions(compression=compression)
                with make(out, table.schema, options=options) as writer:
                    writer.write_table(table, max_chunksize=25)
                found.append(out.getvalue())
    return (*found, gzip.compress(found[0]), gzip.compress(found[1]))


def _parquet_seeds() -> tuple[bytes, ...]:
    from pyarrow import parquet

    found = []
    kinds = "plain dictionary large decimal half list struct time extension"
    for kind in kinds.split():
        for compression in ("none", "snappy", "zstd", "gzip"):
            for coded, version in ((True, "1.0"), (False, "2.0")):
                out = io.BytesIO()
                parquet.write_table(
                    arrow_columns(kind), out, compression=compression, use_dictionary=coded,
                    data_page_version=version, row_group_size=25,
                )  # fmt: skip
                found.append(out.getvalue())
    return tuple(found)


def damaged(number: int) -> tuple[str, bytes]:
    """Return the format and the bytes of one table."""
    form = FORMATS[number % len(FORMATS)]
    known = seeds(form)
    rng = np.random.default_rng([14, number])
    content = bytearray(known[number // len(FORMATS) % len(known)])
    packed = form in ("csv", "json") and content.startswith(b"\x1f\x8b")
    if packed and rng.integers(2):  # damage inside, packed soundly
        return form, gzip.compress(_changed(bytearray(gzip.decompress(content)), rng, form))
    return form, _changed(content, rng, form)


def _changed(content: bytearray, rng: np.random.Generator, form: str) -> bytes:
    """Return bytes that were changed, cut, inserted, repeated, taken away or set to zero."""
    place = int(rng.integers(len(content)))
    size = int(rng.integers(1, 65))
    match int(rng.integers(8)):
        case 0 | 1 | 2:
            for at in rng.integers(len(content), size=rng.integers(1, 5)):
                odd = (int(rng.integers(256)), 0, 1, 127, 128, 255, content[at] ^ 1)
                content[at] = odd[rng.integers(len(odd))]
        case 3:
            del content[place:]
        case 4:
            marks = b'"\n,\0{}[]\xff\r;' if form in ("csv", "json") else bytes(range(256))
            content[place:place] = bytes(marks[i % len(marks)] for i in rng.integers(256, size=3))
        case 5:
            content[place:place] = content[int(rng.integers(len(content))) :][:size]
        case 6:
            del content[place : place + size]
        case _:
            content[place : place + size] = bytes(len(content[place : place + size]))
    return bytes(content)


def tried(number: int, folder: Path) -> str:
    """Return "read", "refused", or what went wrong with one table."""
    from suffice.errors import SufficeError

    form, content = damaged(number)
    path = folder / "table"
    path.write_bytes(content)
    ways = (by_command, by_collecting, by_pipe, _by_column)
    try:
        ways[np.random.default_rng(number).integers(len(ways))](path)
    except SufficeError as error:
        told = len(error.problem) < 4000 and bool(error.hint)
        return REFUSED if told else f"a refusal of {len(error.problem)} characters ({form})"
    except Exception as error:  # noqa: BLE001  that is what is looked for
        at = error.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        where = "" if at is None else f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}"
        return f"{type(error).__name__} at {where}: {error!s:.80} ({form})".replace("\n", " ")
    return READ


def by_command(path: Path) -> None:
    """Fit by the command."""
    from suffice.cli import main

    out = path.with_name("model.suffice")
    out.unlink(missing_ok=True)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = main(
            ["--debug", "fit", str(path), "-t", "y", "--model", "naive-bayes", "-o", str(out)]
        )
    assert code == 0, f"the command ended with {code}"


def by_collecting(path: Path) -> None:
    """Collect in Python."""
    import suffice

    suffice.collect(suffice.NaiveBayes(), str(path), "y")


def by_pipe(path: Path) -> None:
    """Read standard input."""
    from suffice.tables.table_file import open_table

    held = sys.stdin
    sys.stdin = SimpleNamespace(buffer=io.BytesIO(path.read_bytes()))  # type: ignore[assignment]
    try:
        table = open_table("-", expected=["y"])
        table.kinds()
        for chunk in table.chunks():
            assert chunk.size
    finally:
        sys.stdin = held


def _by_column(path: Path) -> None:
    """Read every column by itself: one that is refused keeps no other from being read."""
    from suffice.errors import SufficeError
    from suffice.tables.table_file import open_table

    table = open_table(path)
    table.kinds()
    for name in table.names:
        with contextlib.suppress(SufficeError):
            for chunk in table.chunks([name]):
                assert chunk.size


def worker(folder: Path) -> None:
    """Try the tables whose numbers come by standard input, and say what became of each."""
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w", buffering=1)  # whatever else is printed goes elsewhere
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for number in range(4 * len(FORMATS)):  # every library is there before memory is counted
        tried(number, folder)
    for at in Path("/proc/self/statm").read_text("ascii").split()[:1]:
        # Allocators reserve gigabytes of addresses that they never fill; what is filled is counted.
        most = int(at) * resource.getpagesize() + MEMORY + RESERVED
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    for line in sys.stdin:
        began = time.monotonic()
        outcome = tried(int(line), folder)
        most_held = peak()
        answers.write(f"{time.monotonic() - began:.3f} {most_held} {outcome}\n")


def peak() -> int:
    """Return the most memory, in MB, that this process has had; getrusage counts its parent's."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


@dataclass
class Tally:
    """What became of damaged tables; seconds of the slowest, MB of the largest process."""

    found: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0
    peak: int = 0


def tally(numbers: Iterable[int], folder: Path) -> Tally:
    """Have these tables tried by a worker; one that dies or hangs is replaced by another."""
    result, process = Tally(), None
    try:
        for number in numbers:
            process = process or _started(folder)
            outcome = _answer(process, number)
            if outcome is None:
                code = _ended(process)
                result.wrong.append(f"{number}: the process ended by {-code}, or hung")
                process = None
                continue
            seconds, peak, word = outcome.rstrip("\n").split(" ", 2)
            result.slowest = max(result.slowest, float(seconds))
            result.peak = max(result.peak, int(peak))
            if int(peak) * 2**20 > MEMORY:
                word = f"took {peak} MB"
            result.found[word if word in (READ, REFUSED) else "wrong"] += 1
            if word not in (READ, REFUSED):
                result.wrong.append(f"{number}: {word}")
    finally:
        if process is not None:
            _ended(process)
    return result


def _ended(process: subprocess.Popen[bytes]) -> int:
    """End a worker, and return how it ended, by itself or by this."""
    code = process.poll()
    process.kill()
    with process:  # its pipes are closed
        return process.wait() if code is None else code


def _started(folder: Path) -> subprocess.Popen[bytes]:
    import suffice

    path = os.pathsep.join([str(Path(suffice.__file__).parents[1]), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, "-m", "tests.reference.damaged_tables", str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
        cwd=ROOT, env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip


def _answer(process: subprocess.Popen[bytes], number: int) -> str | None:
    """Return what a worker says about one table; None if it died or takes too long."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{number}\n".encode())
    said = b""
    due = time.monotonic() + SECONDS + 30.0 * (not hasattr(process, "warm"))
    while not said.endswith(b"\n"):
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, due - time.monotonic()))
        part = os.read(process.stdout.fileno(), 65536) if ready else b""
        if not part:
            return None
        said += part
    process.warm = True  # type: ignore[attr-defined]
    return said.decode()


if __name__ == "__main__":
    worker(Path(sys.argv[1]))
