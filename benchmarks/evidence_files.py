"""Model files: all that can be saved, and files under attack by mutations, worst cases and kills.

python -m benchmarks.evidence --only files     all of it (about twenty minutes of CPU time)
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import suffice
from benchmarks.evidence import Figure
from suffice.errors import BadFile
from tests.numerics.test_model_files import WORST
from tests.reference.interrupted_saves import stopped_saves
from tests.reference.model_file_trials import DAMAGES, READ, REFUSED, every_file, tried
from tests.reference.round_trips import cells, round_trip

if TYPE_CHECKING:
    from collections.abc import Iterator


MUTATIONS = int(os.environ.get("SUFFICE_MUTATIONS", "100000"))
"""Damaged files, of all kinds of damage together; fewer for a first look."""
WORKERS = int(os.environ.get("SUFFICE_FILE_PROCESSES", "2"))
"""Processes that try the mutations and the matrix: each file is tried by one of them."""
MATRIX = int(os.environ.get("SUFFICE_MATRIX", "1000"))
"""Settings of each estimator that are saved and loaded, drawn at random where it has more; Gaussian
discriminants alone have over a hundred thousand, days of CPU time."""
KILLS = 200
LEARNED = 3
"""One in so many of the models that are read also has to learn."""
COMMAND = "python -m benchmarks.evidence --only files"
IN_MEMORY = Path("/dev/shm")
"""A folder on no disk: what is measured is reading, and files are changed 100,000 times."""


def measure() -> Iterator[Figure]:
    """Yield what holds of damaged files and interrupted saving."""
    warnings.simplefilter("ignore")
    where = IN_MEMORY if IN_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        yield from _mutations(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield _worst(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield from _killed(Path(folder))
    yield _matrix()


@dataclass
class Tally:
    """What became of damaged files, and what they cost; memory in MB, time in seconds of CPU."""

    found: Counter[str]
    wrong: str = ""
    slowest: float = 0.0
    grown: float = 0.0
    peak: float = 0.0
    strange: int = 0


def _mutations(folder: Path) -> Iterator[Figure]:
    """Yield a figure for each kind of damage, all in processes of their own, and what they cost."""
    times = MUTATIONS // len(DAMAGES)
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        jobs = {what: pool.submit(_tried, folder, what, times) for what in DAMAGES}
        tallies = {what: job.result() for what, job in jobs.items()}
    for what, tally in tallies.items():
        refused, read = tally.found[REFUSED], tally.found[READ]
        wrong = times - refused - read
        yield Figure(
            f"{times:,} mutations of {what} of model files of every kind: refused in words, or a "
            "model that answers without NaN, the same whoever reads it",
            f"{refused:,} refused, {read:,} read, {wrong} wrong{tally.wrong}",
            "0 wrong", not wrong, COMMAND,
        )  # fmt: skip
    grown, peak, slowest = (
        max(getattr(tally, name) for tally in tallies.values())
        for name in ("grown", "peak", "slowest")
    )
    yield Figure(
        "memory stays flat while they are read",
        f"{grown:+.1f} MB from the first to the last, {peak:+.1f} MB at the peak",
        "at most 20 MB, 50 MB at the peak", grown <= 20.0 and peak <= 50.0, COMMAND,
    )  # fmt: skip
    yield Figure(
        "no mutation takes long to refuse",
        f"slowest {slowest:.2f} s of CPU", "2 s", slowest <= 2.0, COMMAND,
    )  # fmt: skip
    strange = sum(tally.strange for tally in tallies.values())
    yield Figure(
        "reading them writes no file anywhere", f"{strange} files", "0 files",
        not strange, COMMAND,
    )  # fmt: skip


def _tried(folder: Path, what: str, times: int) -> Tally:
    """Try files with one kind of damage, each of every kind of model in its turn."""
    warnings.simplefilter("ignore")
    here, elsewhere = (folder / f"{name} {list(DAMAGES).index(what)}" for name in ("here", "else"))
    here.mkdir()
    elsewhere.mkdir()
    os.chdir(elsewhere)  # a name without a folder would end up here
    files, place = list(every_file(here)), here / "model"
    rng = np.random.default_rng([2026, *what.encode()])
    for file in files:
        assert tried(place, file.data, file.X, file.y, learn=True) == READ, file.name
        tried(place, DAMAGES[what](file.data, rng), file.X, file.y)
    tally, start = Tally(Counter()), _memory()
    for i in range(times):
        file = files[i % len(files)]
        damaged = DAMAGES[what](file.data, rng)
        before = time.process_time()
        verdict = tried(place, damaged, file.X, file.y, learn=i % LEARNED == 0)
        if verdict == REFUSED:
            tally.slowest = max(tally.slowest, time.process_time() - before)
        elif verdict != READ:
            tally.wrong = tally.wrong or f"; the first, of {file.name}: {verdict}"
        tally.found[verdict] += 1
        if i % 500 == 499:
            tally.grown = _memory() - start
            tally.peak = max(tally.peak, tally.grown)
    tally.strange = sum(path != place for path in [*here.iterdir(), *elsewhere.iterdir()])
    return tally


def _worst(folder: Path) -> Figure:
    """Read files that were made to fill the memory."""
    place, most, read = folder / "model", 0.0, 0
    for make in WORST.values():
        place.write_bytes(make())
        tracemalloc.start()
        try:
            suffice.load(place)
            read += 1
        except BadFile:
            pass
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        most = max(most, (peak - place.stat().st_size) / 1e6)
    return Figure(
        f"{len(WORST)} bombs and lies about sizes are refused without filling the memory",
        f"{read} read; at most {most:.1f} MB beyond the size of the file",
        "0 read, 100 MB", not read and most <= 100.0, COMMAND,
    )  # fmt: skip


def _matrix() -> Figure:
    """Save and load every estimator, setting and family, with all kinds of labels and of rows."""
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        parts = list(pool.map(_round_trips, range(WORKERS)))
    found = sum((part.found for part in parts), Counter())
    wrong = next((part.wrong for part in parts if part.wrong), "")
    return Figure(
        "every estimator, setting and family, with labels, rows and states of every kind, comes "
        f"back with equal answers, with its statistics and without (at most {MATRIX:,} settings of "
        "an estimator, at random)",
        f"{found['same']:,} come back, {found['refused']:,} combinations are refused by fit, "
        f"{found['other']} differ{wrong}",
        "0 differ", not found["other"], COMMAND,
    )  # fmt: skip


def _round_trips(worker: int) -> Tally:
    warnings.simplefilter("ignore")
    tally = Tally(Counter())
    with tempfile.TemporaryDirectory() as folder:
        for i, cell in enumerate(cells(np.random.default_rng(2026), MATRIX)):
            if i % WORKERS != worker:
                continue
            said = round_trip(cell, Path(folder) / "model", np.random.default_rng(i))
            tally.found["refused" if said is None else "other" if said else "same"] += 1
            if said:
                tally.wrong = tally.wrong or f"; the first, {cell}: {said}"
    return tally


def _killed(folder: Path) -> Iterator[Figure]:
    found = list(stopped_saves(folder, KILLS, signal.SIGKILL))
    whole = {(folder / name).read_bytes() for name in ("first", "second")}
    broken = sum(data not in whole for data in found)
    suffice.load(folder / "saved" / "model")
    yield Figure(
        f"kill -9 during save, {KILLS} times: the old file or the new one is there",
        f"{KILLS - broken} whole, {broken} broken; {len(set(found))} of 2 models met",
        "0 broken", broken == 0, COMMAND,
    )  # fmt: skip
    left = [path for path in (folder / "saved").iterdir() if path.name != "model"]
    yield Figure(
        "and nothing is left beside it, but at most a file with a dot for each kill",
        f"{len(left)} files left", f"at most {KILLS}, all with a dot",
        len(left) <= KILLS and all(path.name.startswith(".model.") for path in left), COMMAND,
    )  # fmt: skip


def _memory() -> float:
    """Return the memory that this process holds now, in MB; the most it had, if that is unknown."""
    held = Path("/proc/self/statm")
    if held.exists():
        return int(held.read_text("ascii").split()[1]) * resource.getpagesize() / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024.0 if sys.platform != "darwin" else 1024.0**2)
