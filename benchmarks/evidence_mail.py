"""Mail that is damaged or hostile: nothing raises, and nothing takes long.

python -m benchmarks.evidence --only mail     all of it (a few minutes of CPU time)
"""

from __future__ import annotations

import random
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING

from benchmarks.evidence import Figure
from suffice.kernels.compilation import part_of
from suffice.mail.words import message_text, read_message
from tests.reference.spamassassin import messages
from tests.text.hostile_mail import HOSTILE, TEMPLATE, mutated

if TYPE_CHECKING:
    from collections.abc import Iterator

MUTATIONS = 100_000
WORKERS = 4
"""Independent searches, each with a seed of its own."""
LARGE = 16_000_000
"""Bytes of the largest hostile messages: as many as are looked at."""
MUCH = 10**9
COMMAND = "python -m benchmarks.evidence --only mail"


@dataclass
class Tally:
    """What became of mutated messages; time in seconds of CPU, memory in MB."""

    read: int = 0
    unequal: int = 0
    longest: int = 0
    slowest: float = 0.0
    grown: float = 0.0
    wrong: str = ""


def measure() -> Iterator[Figure]:
    """Yield what holds of the corpus, of mutated messages, and of hostile ones."""
    yield _corpus()
    yield from _mutations()
    yield _hostile()


def _corpus() -> Figure:
    raws, wrong = messages().values(), 0
    for raw in raws:
        try:
            read_message(raw).text.encode("utf-8")
        except Exception:  # noqa: BLE001 - that none is raised is the claim
            wrong += 1
    return Figure(
        "messages of the SpamAssassin corpus are read", f"{len(raws) - wrong:,} read, {wrong} not",
        "0 not", not wrong, COMMAND,
    )  # fmt: skip


def _mutations() -> Iterator[Figure]:
    times = MUTATIONS // WORKERS
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        tallies = list(pool.map(_tried, range(WORKERS), [times] * WORKERS))
    read = sum(tally.read for tally in tallies)
    wrong = next((f"; the first: {tally.wrong}" for tally in tallies if tally.wrong), "")
    yield Figure(
        f"{MUTATIONS:,} mutated messages: read without an error, as text that can be written",
        f"{read:,} read, {MUTATIONS - read} not{wrong}", "0 not", read == MUTATIONS, COMMAND,
    )  # fmt: skip
    unequal = sum(tally.unequal for tally in tallies)
    yield Figure(
        "compiled loops read them as plain Python does", f"{unequal} differ", "0 differ",
        not unequal, COMMAND,
    )  # fmt: skip
    slowest = max(tally.slowest for tally in tallies)
    yield Figure(
        "none of them takes long", f"slowest {slowest:.3f} s of CPU", "1 s", slowest < 1.0, COMMAND
    )
    grown = max(tally.grown for tally in tallies)
    yield Figure(
        "memory stays flat while they are read", f"{grown:+.1f} MB at the peak", "50 MB",
        grown <= 50.0, COMMAND,
    )  # fmt: skip


def _tried(seed: int, times: int) -> Tally:
    """Damage messages of the corpus, and one that has everything, and read them."""
    rng, raws, tally = random.Random(seed), [*messages().values(), TEMPLATE], Tally()
    with part_of(MUCH):
        message_text(b"Content-Type: text/html\n\n<p>")  # compiles
    start = 0.0
    for i in range(times):
        raw = mutated(TEMPLATE if i % 5 == 0 else rng.choice(raws), rng.choice(raws), rng)
        before = time.process_time()
        try:
            plain = message_text(raw)
            tally.slowest = max(tally.slowest, time.process_time() - before)
            plain.encode("utf-8")
            with part_of(MUCH):
                tally.unequal += message_text(raw) != plain
            tally.read += 1
            tally.longest = max(tally.longest, len(plain))
        except Exception as error:  # noqa: BLE001 - that none is raised is the claim
            tally.wrong = tally.wrong or f"{type(error).__name__}: {error}"
        if i == times // 10:
            start = _peak()
    tally.grown = _peak() - start
    return tally


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def _hostile() -> Figure:
    """Read what was made to cost time, as long as anything that is looked at."""
    slowest, name = 0.0, ""
    for what, make in HOSTILE.items():
        raw = make(LARGE)
        before = time.process_time()
        message_text(raw)
        seconds = time.process_time() - before
        if seconds > slowest:
            slowest, name = seconds, what
    return Figure(
        f"{len(HOSTILE)} kinds of hostile messages of up to {LARGE / 1e6:.0f} MB: none takes long",
        f"slowest {slowest:.2f} s of CPU ({name})", "1 s", slowest < 1.0, COMMAND,
    )  # fmt: skip
