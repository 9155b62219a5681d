"""Files larger than memory: how fast, in how much memory, and what remains of a run that is killed.

python -m benchmarks.evidence --only sources     all of it (about eight minutes, 3 GB of disk)
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from benchmarks.contest import peak_so_far, reset_peak
from benchmarks.evidence import Figure
from benchmarks.sources import (
    CLASSES,
    TARGET,
    WIDTH,
    check_same_bits,
    check_sums,
    rows_read,
    statistics_of,
    sums_by_sql,
    write_rows,
)
from suffice import GaussianDiscriminant, collect
from suffice.engines import threads as engine
from suffice.learning import checkpoints
from suffice.learning.collect import LearnChunk
from suffice.sources import local, open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMMAND = "python -m benchmarks.evidence --only sources"
SIZES = (100_000, 1_000_000, 10_000_000, 50_000_000)
TINY = 1_000
"""Rows of a file that takes no time but for what every file takes."""
ROUNDS = 9
KILLS = 50
KILLED_ROWS = 300_000


def measure() -> Iterator[Figure]:
    """Yield what holds of reading Parquet files."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for codec in ("none", "snappy"):
            path = write_rows(place / "a.parquet", 10_000_000, codec)
            yield from _speeds(path, "uncompressed" if codec == "none" else codec)
        yield from _large(place)
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            yield pool.submit(_killed, place).result()
    yield from _travelling()


def _speeds(path: Path, codec: str) -> Iterator[Figure]:
    """Yield ours beside reading alone and beside SQL, in turn and on as many threads."""
    job = f"1e7 × {WIDTH} float32 in Parquet, {codec}"
    cores = engine.workers()
    works: dict[str, Callable[[], Any]] = {
        "read": lambda: rows_read(path),
        "ours": lambda: statistics_of(path, 1),
        "read by all": lambda: rows_read(path, threads=True),
        "ours by all": lambda: statistics_of(path, cores),
        "SQL": lambda: sums_by_sql(path, cores),
    }
    found = {name: work() for name, work in works.items()}
    check_sums(found["ours"], found["SQL"])
    check_same_bits(found["ours"], found["ours by all"])
    wall, busy = _timed(works)
    # One thread is judged by its CPU time, which is what a free core would take; several are judged
    # by the clock alone, since how they share cores is what is asked. It needs a machine at rest.
    share, by_wall = _ratio(busy, "read", "ours"), _ratio(wall, "read", "ours")
    yield Figure(
        f"{job}: speed of the statistics as a share of only reading, 1 thread",
        f"{share:.0%} by CPU time, {by_wall:.0%} by the clock",
        "at least 65 % by CPU time", share >= 0.65, COMMAND,
    )  # fmt: skip
    share, by_wall = (_ratio(times, "read by all", "ours by all") for times in (busy, wall))
    load = f"at a load of {os.getloadavg()[0]:.1f}"
    yield Figure(
        f"{job}: speed of the statistics as a share of only reading, {cores} threads",
        f"{by_wall:.0%} by the clock {load}, {share:.0%} by CPU time",
        "at least 65 % by the clock", by_wall >= 0.65, COMMAND,
    )  # fmt: skip
    times, by_wall = (_ratio(times, "SQL", "ours by all") for times in (busy, wall))
    yield Figure(
        f"{job}: against DuckDB's SQL for the same sums, {cores} threads",
        f"{by_wall:.1f}x by the clock {load}, {times:.1f}x by CPU time",
        "at least 3x by the clock", by_wall >= 3.0, COMMAND,
    )  # fmt: skip
    by_wall = _ratio(wall, "ours", "ours by all")
    alone, most = _shares(path, cores)
    yield Figure(
        f"{job}: {cores} cores against one",
        f"{by_wall:.2f}x by the clock {load}; the busier thread has {alone / most:.2f}x less to do",
        "at least 1.5x by the clock", by_wall >= 1.5, COMMAND,
    )  # fmt: skip


def _timed(works: dict[str, Callable[[], Any]]) -> tuple[dict[str, list[float]], ...]:
    """Return seconds by the clock and of CPU of every work, in turn."""
    wall: dict[str, list[float]] = {name: [] for name in works}
    busy: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            gc.collect()
            start, cpu = time.perf_counter(), time.process_time()
            work()
            wall[name].append(time.perf_counter() - start)
            busy[name].append(time.process_time() - cpu)
    return wall, busy


def _ratio(times: dict[str, list[float]], one: str, other: str) -> float:
    """Return the median of what one takes over what the other takes, round by round."""
    return statistics.median(a / b for a, b in zip(times[one], times[other], strict=True))


def _shares(path: Path, cores: int) -> tuple[float, float]:
    """Return seconds of CPU that one thread takes alone, and the busiest of several: medians."""
    alone, most = [], []
    for _ in range(ROUNDS):
        start = time.process_time()
        statistics_of(path, 1)
        alone.append(time.process_time() - start)
        start, own = time.process_time(), time.thread_time()
        statistics_of(path, cores)
        here = time.thread_time() - own
        others = time.process_time() - start - here
        most.append(max(here, others / max(cores - 1, 1)))
    return statistics.median(alone), statistics.median(most)


def _large(folder: Path) -> Iterator[Figure]:
    """Yield the memory that 2 GB take, and what a row costs in files of every size."""
    paths = [write_rows(folder / f"{size}.parquet", size) for size in SIZES]
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        grown, weight = pool.submit(_growth, paths[1], paths[-1]).result()
        assert weight == SIZES[-1]
        yield Figure(
            f"memory: {SIZES[-1]:.0e} × {WIDTH} float32, {paths[-1].stat().st_size / 1e9:.1f} GB "
            "of Parquet, through the fit of a Gaussian discriminant",
            f"+{grown:.0f} MB at the peak", "less than 300 MB", grown < 300.0, COMMAND,
        )  # fmt: skip
        tiny = write_rows(folder / "tiny.parquet", TINY)
        fixed, costs = pool.submit(_costs, tiny, paths).result()
    said = ", ".join(f"{cost:.0f} of {size:.0e}" for size, cost in zip(SIZES, costs, strict=True))
    yield Figure(
        "what a row costs is the same in files of every size",
        f"CPU nanoseconds per row, on one thread: {said}, beside {fixed * 1e3:.1f} ms a file",
        "the most at most 1.5x the least", max(costs) / min(costs) <= 1.5, COMMAND,
    )  # fmt: skip
    for path in paths:
        path.unlink()


def _growth(small: Path, large: Path) -> tuple[float, float]:
    """Return by how many MB a fit grows this process at its peak, and the weight it has seen."""
    GaussianDiscriminant().fit(small, target=TARGET)  # imports, and loops that are compiled
    gc.collect()
    before = reset_peak()
    model = GaussianDiscriminant().fit(large, target=TARGET)
    peak = peak_so_far()
    assert before is not None
    assert peak is not None
    return (peak - before) / 1024.0, model.statistics_.weight


def _costs(tiny: Path, paths: list[Path]) -> tuple[float, list[float]]:
    """Return seconds of CPU that a file takes, and nanoseconds per row of each: medians."""
    spent: dict[Path, list[float]] = {path: [] for path in (tiny, *paths)}
    for path in spent:
        statistics_of(path, 1)
    for _ in range(5):
        for path, times in spent.items():
            many = max(1, 10_000_000 // path.stat().st_size)
            start = time.process_time()
            for _ in range(many):
                statistics_of(path, 1)
            times.append((time.process_time() - start) / many)
    fixed, *found = (statistics.median(times) for times in spent.values())
    return fixed, [(spent - fixed) / n * 1e9 for spent, n in zip(found, SIZES, strict=True)]


def _killed(folder: Path) -> Figure:
    """Kill a run at random moments until it was killed often enough, and look at what it ends at.

    Each run goes on where the one before it was killed; one that ends is compared, and the next
    begins anew.
    """
    _cut_small()  # here as well: where rows are cut belongs to what is compared
    path, state = write_rows(folder / "k.parquet", KILLED_ROWS, group=6_000), folder / "state"
    whole = _bits(collect(GaussianDiscriminant(), path, TARGET))
    context = get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.evidence_sources"])
    length = 0.0
    for _ in range(2):  # the first waits for the imports, which the others inherit
        state.unlink(missing_ok=True)
        start = time.monotonic()
        _run(context, path, state).join()
        length = time.monotonic() - start
    state.unlink()
    rng = np.random.default_rng(50)
    kills = resumed = ends = wrong = 0
    while kills < KILLS:
        resumed += state.exists()
        run = _run(context, path, state)
        run.join(rng.random() * length)
        if run.is_alive():
            assert run.pid is not None
            os.kill(run.pid, signal.SIGKILL)
            kills += 1
            run.join()
            continue
        ends, wrong = ends + 1, wrong + (not _ends_at(path, state, whole))
        state.unlink()
    run = _run(context, path, state)
    run.join()
    wrong += run.exitcode != 0 or not _ends_at(path, state, whole)
    return Figure(
        f"killed (SIGKILL) at {KILLS} random moments and begun again: the same bits at the end",
        f"{resumed} runs began in the middle, {ends + 1} came to the end, {wrong} with other bits",
        "0 with other bits", wrong == 0, COMMAND,
    )  # fmt: skip


def _run(context: Any, path: Path, state: Path) -> Any:
    process = context.Process(target=_collected, args=(path, state))
    process.start()
    return process


def _collected(path: Path, state: Path) -> None:
    _cut_small()
    collect(GaussianDiscriminant(), path, TARGET, checkpoint=state)


def _cut_small() -> None:
    """Let chunks be small and every step be written: there is much to be disturbed."""
    checkpoints.EVERY, local.CELLS = 0.0, 20_000


def _ends_at(path: Path, state: Path, whole: bytes) -> bool:
    """Whether the statistics that a run has left behind are these; nothing is read again."""
    return _bits(collect(GaussianDiscriminant(), path, TARGET, checkpoint=state)) == whole


def _bits(found: Any) -> bytes:
    arrays = found.to_arrays()
    return b"".join(np.ascontiguousarray(arrays[name]).tobytes() for name in sorted(arrays))


def _travelling() -> Iterator[Figure]:
    """Yield how many bytes a partition sends, as Spark's workers write them."""
    for width in (10, 100):
        rng = np.random.default_rng(width)
        columns = {f"x{j}": rng.normal(size=2_000) for j in range(width)}
        columns[TARGET] = rng.integers(0, CLASSES, 2_000)
        source = open_source(pa.table(columns))
        wanted = source.wanted(TARGET)
        for form in ("shared", "per-class"):
            summarize = LearnChunk(GaussianDiscriminant(form).as_learner())
            found = len(pickle.dumps(source.collected(summarize, wanted), protocol=5))
            formula = CLASSES * (width**2 + width + 1) * 8
            # Names of columns, settings, lower halves of means and bounds of errors come along.
            most = formula + CLASSES * 2 * width * 8 + 40 * width + 6_000
            yield Figure(
                f"bytes that a partition sends, {form} covariance, {width} columns, "
                f"{CLASSES} classes",
                f"{found:,}; k·(d² + d + 1)·8 is {formula:,}",
                f"at most {most:,}: names, settings and second halves of means beside it",
                found <= most, COMMAND,
            )  # fmt: skip
