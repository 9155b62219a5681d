"""Changes at the same time: commands on one model file or filter, threads on one estimator.

python -m benchmarks.evidence --only at_once     all of it (about three minutes of CPU time)
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import suffice
from benchmarks.evidence import Figure
from tests.reference.commands_at_once import (
    ROWS,
    mail_pairs_at_once,
    pairs_at_once,
    prepared,
    weights,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PAIRS = 200
PROCESSES = 10
THREADS = 16
EACH = 2000
"""Calls of every thread, nine of ten with a single row and one with eight."""
COMMAND = "python -m benchmarks.evidence --only at_once"


def measure() -> Iterator[Figure]:
    """Yield what holds of commands and threads that change the same model."""
    warnings.simplefilter("ignore")
    yield _pairs("begin at once on one model file", killed=0.0)
    yield _pairs("begin at once, four in ten killed at a random moment", killed=0.4)
    yield _mail_pairs("begin at once on one mail filter", killed=0.0)
    yield _mail_pairs("begin at once, four in ten killed at a random moment", killed=0.4)
    yield _processes()
    for name, model in _estimators().items():
        yield _threads(name, model)


def _pairs(what: str, *, killed: float) -> Figure:
    return _judged(
        f"{PAIRS // 2} pairs of commands (learn, forget, merge) {what}: what says that it is done "
        "is in the file once, what was refused is not, and the file is whole",
        list(pairs_at_once(PAIRS // 2, killed=killed, seed=7)),
    )


def _mail_pairs(what: str, *, killed: float) -> Figure:
    return _judged(
        f"{PAIRS // 2} pairs of commands (mail correct, mail fit --force, merge) {what}: the "
        "filter is what some order of them leads to, with exactly the counts of its messages, and "
        "every message that was said to be learned is in it",
        list(mail_pairs_at_once(PAIRS // 2, killed=killed, seed=7)),
    )


def _judged(claim: str, found: list[Any]) -> Figure:
    wrong = sum(not one.is_right for one in found)
    ends = Counter(code for one in found for code in one.codes)
    told = ", ".join(f"{count} ended with {code}" for code, count in sorted(ends.items()))
    return Figure(claim, f"{wrong} wrong ({told})", "0 wrong", not wrong, COMMAND)


def _processes() -> Figure:
    """Return what becomes of commands that are started as a shell starts them."""
    environment = {**os.environ, "PYTHONPATH": str(Path(suffice.__file__).parents[1])}
    lost = 0
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        arguments = prepared(folder)
        before = weights(folder / "start")
        for _ in range(PROCESSES):
            (folder / "model").write_bytes((folder / "start").read_bytes())
            names = ("learn a", "learn b", "forget c")
            running = [
                subprocess.Popen(
                    [sys.executable, "-m", "suffice.cli", *arguments[name]],
                    env=environment, stderr=subprocess.DEVNULL,
                )
                for name in names
            ]  # fmt: skip
            codes = [one.wait() for one in running]
            found = weights(folder / "model")
            lost += sum(
                code != 0 or found[name[-1]] - before[name[-1]] != ROWS[name]
                for name, code in zip(names, codes, strict=True)
            )
    return Figure(
        f"{PROCESSES} times three processes at once (learn, learn, forget): changes that are lost",
        f"{lost} of {3 * PROCESSES}",
        "0",
        lost == 0,
        COMMAND,
    )


def _estimators() -> dict[str, Any]:
    return {
        "GaussianDiscriminant": suffice.GaussianDiscriminant(),
        "NaiveBayes": suffice.NaiveBayes("gaussian"),
        "MultinomialNaiveBayes": suffice.MultinomialNaiveBayes(),
    }


def _threads(name: str, model: Any) -> Figure:
    """Return how many rows are there that threads have learned, while others asked."""
    rng = np.random.default_rng(0)
    X, y = np.abs(rng.normal(size=(64, 5))), np.arange(64) % 3
    model.fit(X, y)
    done = threading.Event()
    wrong: list[str] = []

    def learn() -> None:
        for i in range(EACH):
            size = 8 if i % 10 == 0 else 1
            model.partial_fit(X[i % 32 : i % 32 + size], y[i % 32 : i % 32 + size])

    def ask() -> None:
        before = 0.0
        while not done.is_set():
            now = float(model.model_.weights.sum())
            if now < before or abs(model.predict_proba(X[:2]).sum() - 2.0) > 1e-9:
                wrong.append("less than before")
            before = now

    learners = [threading.Thread(target=learn) for _ in range(THREADS)]
    asking = threading.Thread(target=ask)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    for thread in (asking, *learners):
        thread.start()
    for thread in learners:
        thread.join()
    done.set()
    asking.join()
    sys.setswitchinterval(interval)
    expected = 64 + THREADS * (EACH + 7 * len(range(0, EACH, 10)))
    found = int(model.model_.weights.sum())
    return Figure(
        f"{name}: rows that {THREADS} threads have learned by partial_fit, of {expected:,}, while "
        "another asked for predictions",
        f"{found:,}; {len(wrong)} answers out of order",
        f"{expected:,}; 0",
        found == expected and not wrong,
        COMMAND,
    )
