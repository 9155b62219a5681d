"""Mail filters that are killed, shared by two writers, or large.

python -m benchmarks.evidence --only mail_state     all of it (about ten minutes)
"""

from __future__ import annotations

import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.evidence import Figure
from suffice.mail.filter.build import write_filter
from suffice.mail.filter.state import MailState
from suffice.mail.filter.summary import LABELS
from tests.text.made_mail import mbox, message
from tests.text.mail_crashes import check, crashed

if TYPE_CHECKING:
    from collections.abc import Iterator

MESSAGES = 10_000
KILLS = 200
WRITTEN = 1_000
"""Messages that each of two writers learns."""
FEATURES = 1_000_000
RUNS = 15
SECONDS = 0.4
COMMAND = "python -m benchmarks.evidence --only mail_state"
START = [(message(-i, LABELS[i % 2]), i % 2) for i in range(1, 21)]
"""What a filter has learned before."""


def measure() -> Iterator[Figure]:
    """Yield what holds of filters on disk."""
    environment = {**os.environ}
    for work in (_killed, _two_writers, _large):
        with tempfile.TemporaryDirectory() as folder:
            yield work(Path(folder), environment)


def _killed(folder: Path, environment: dict[str, str]) -> Figure:
    place = folder / "filter.db"
    write_filter(place, START)
    found = crashed(place, START, messages=MESSAGES, kills=KILLS, environment=environment)
    troubles = f"; {found.troubles[0]}" if found.troubles else ""
    return Figure(
        f"a process that learns {MESSAGES:,} messages is killed with SIGKILL at {KILLS} random "
        "moments: the file opens, every acknowledged message is there, none is half learned",
        f"{found.kills} kills, {found.learned:,} messages learned, {found.unacknowledged} of them "
        f"stored and not yet acknowledged, {len(found.troubles)} troubles{troubles}",
        "0 troubles",
        found.kills == KILLS and not found.troubles,
        COMMAND,
    )


def _two_writers(folder: Path, environment: dict[str, str]) -> Figure:
    place = folder / "filter.db"
    write_filter(place, START)
    writers, known = [], list(START)
    for code, kind in enumerate(LABELS):
        box = folder / f"{kind}.mbox"
        learned = [message(number, kind) for number in range(WRITTEN)]
        known += [(raw, code) for raw in learned]
        box.write_bytes(mbox(learned))
        command = [sys.executable, "-m", "suffice.cli", "mail", "correct", place, box, f"--{kind}"]
        writers.append(
            subprocess.Popen(
                command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        )
    codes = [writer.wait() for writer in writers]
    with MailState(place) as state:
        documents = state.summary.documents
        check(state, known)
    expected = (WRITTEN + 10, WRITTEN + 10)
    return Figure(
        f"two processes learn {WRITTEN:,} messages each at once: all counts are those of one fit",
        f"{documents[0]:,} ham and {documents[1]:,} spam, counts the same bit for bit",
        f"{expected[0]:,} and {expected[1]:,}, the same",
        codes == [0, 0] and documents == expected,
        COMMAND,
    )


def _large(folder: Path, environment: dict[str, str]) -> Figure:
    place, letter = folder / "filter.db", folder / "message.eml"
    write_filter(place, _long_messages())
    letter.write_bytes(next(_long_messages(seed=1))[0])
    with MailState(place) as state:
        terms, ngrams = state.summary.width, sum(state.ngrams.sizes())
    command = [sys.executable, "-m", "suffice.cli", "mail", "classify", str(place), str(letter)]
    seconds = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    middle = statistics.median(seconds)
    return Figure(
        f"CPU time of `suffice mail classify` with a filter of {FEATURES:,} terms, the start of "
        "the program included",
        f"{middle:.2f} s, the median of {RUNS} runs ({min(seconds):.2f} to {max(seconds):.2f}); "
        f"{terms:,} terms and {ngrams:,} n-grams of bytes",
        f"below {SECONDS} s, {FEATURES:,} terms at least",
        middle < SECONDS and terms >= FEATURES,
        COMMAND,
    )


def _long_messages(seed: int = 0) -> Iterator[tuple[bytes, int]]:
    """Yield messages of words that are as different as those of real mail, and longer."""
    rng, texts = random.Random(0), random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    weights = [1.0 / (rank + 2) for rank in range(len(letters))]
    words = ["".join(rng.choices(letters, weights, k=rng.randint(2, 10))) for _ in range(100_000)]
    shares = [1.0 / (rank + 10) for rank in range(len(words))]
    sums: list[float] = []
    for share in shares:
        sums.append(share + (sums[-1] if sums else 0.0))
    for number in range(6_000):
        text = " ".join(texts.choices(words, cum_weights=sums, k=400))
        yield f"Subject: {number}\nTo: {texts.choice(words)}\n\n{text}\n".encode(), number % 2
