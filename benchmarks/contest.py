"""Ours against a peer: equal answers first, then interleaved times and peak memory."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

Work = Callable[[], Any]

PAUSE = 0.06
"""Seconds between timed runs, for all contenders alike."""


@dataclass
class Contest:
    """One row of the table: a job, ours, and the peers that do the same job.

    `check` gets our answer and each peer's and raises if they differ. A peer whose name
    starts with "default" is the peer's default setting; the best peer is the fastest of all
    at one or at two BLAS threads. `repeats` counts rounds; slow peers run in the first only.
    """

    name: str
    ours: Work
    peers: dict[str, Work]
    check: Callable[[Any, Any], None]
    goal_best: float | None = None
    goal_default: float | None = None
    repeats: int = 5
    slow: frozenset[str] = field(default_factory=frozenset)
    scale: dict[str, float] = field(default_factory=dict)
    """How many times a peer's job has to be done to equal ours, where only part of it is run."""
    note: str = ""


def run(contest: Contest) -> list[str]:
    """Check answers, time all contenders in turn, and return the cells of one row."""
    answer = contest.ours()  # compiles, warms caches
    for name, peer in contest.peers.items():
        if name not in contest.slow:
            contest.check(answer, peer())
    ours: list[float] = []
    theirs: dict[str, list[float]] = {}
    memory: dict[str, float] = {}
    for turn in range(contest.repeats):
        ours.append(_timed(contest.ours, memory, "ours"))
        for name, peer in contest.peers.items():
            if name in contest.slow and turn > 0:
                continue
            for threads in (None, 1):
                if threads == 1 and name in contest.slow:
                    continue
                label = name if threads is None else f"{name}, 1 thread"
                with threadpool_limits(threads) if threads else nullcontext():
                    seconds = _timed(peer, memory, name)
                theirs.setdefault(label, []).append(seconds * contest.scale.get(name, 1.0))
    own = statistics.median(ours)
    medians = {name: statistics.median(times) for name, times in theirs.items()}
    best = min(medians, key=lambda name: medians[name])
    defaults = [m for name, m in medians.items() if name.startswith("default") and "," not in name]
    against_best = medians[best] / own
    against_default = defaults[0] / own if defaults else None
    peaks = " / ".join(f"{name.split()[0]} +{mb:.0f}" for name, mb in memory.items())
    return [
        contest.name,
        f"{own * 1e3:.3g} ms",
        f"{best} {medians[best] * 1e3:.4g} ms",
        _against(against_best, contest.goal_best),
        "-" if against_default is None else _against(against_default, contest.goal_default),
        peaks,
        contest.note,
    ]


def _against(ratio: float, goal: float | None) -> str:
    if goal is None:
        return f"{ratio:.3g}x"
    verdict = "met" if ratio >= goal else f"{100.0 * (1.0 - ratio / goal):.0f} % short"
    return f"{ratio:.3g}x (goal {goal:g}x: {verdict})"


def _timed(work: Work, memory: dict[str, float], name: str) -> float:
    gc.collect()
    # BLAS threads of the contender before spin for a while after their last job, on our cores; and
    # a core that sleeps meanwhile takes milliseconds to wake.
    ready = time.perf_counter() + PAUSE
    while time.perf_counter() < ready:
        pass
    before = reset_peak()
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    peak = peak_so_far()
    if before is not None and peak is not None:
        memory[name] = max(memory.get(name, 0.0), (peak - before) / 1024.0)
    return seconds


def reset_peak() -> float | None:
    """Let the kernel forget the peak so far (Linux); return the memory in use, in kB."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return None
    return _status("VmRSS")


def peak_so_far() -> float | None:
    """Return the most memory that was in use since `reset_peak`, in kB."""
    return _status("VmHWM")


def _status(field_name: str) -> float | None:
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith(field_name):
            return float(line.split()[1])
    return None
