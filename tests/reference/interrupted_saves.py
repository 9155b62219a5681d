"""Saving that is cut off: a process that writes two models in turn, until it is stopped."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import suffice

if TYPE_CHECKING:
    import signal
    from collections.abc import Iterator

PROGRAM = """
import os, sys, suffice
first, second = map(suffice.load, sys.argv[1:3])
print("ready", flush=True)
for _ in sys.stdin:
    child = os.fork()
    if not child:
        print(os.getpid(), flush=True)
        while True:
            first.save(sys.argv[3])
            second.save(sys.argv[3])
    os.waitpid(child, 0)
    first, second = second, first
    print("gone", flush=True)
"""
"""Loading the libraries takes longer than a hundred saves: it is done once, for all processes."""


def two_models(folder: Path, width: int = 200) -> tuple[Path, Path]:
    """Write two models of some size, and return where they are."""
    rng = np.random.default_rng(0)
    places = folder / "first", folder / "second"
    for place, shift in zip(places, (0.0, 3.0), strict=True):
        x = rng.normal(size=(4 * width, width)) + shift
        suffice.GaussianDiscriminant().fit(x, np.arange(len(x)) % 2).save(place)
    return places


def stopped_saves(folder: Path, times: int, with_signal: signal.Signals) -> Iterator[bytes]:
    """Stop a process that saves, again and again at another moment; yield what is there."""
    source = Path(suffice.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    first, second = two_models(folder)
    target = folder / "saved" / "model"
    target.parent.mkdir()
    target.write_bytes(first.read_bytes())
    rng = np.random.default_rng(1)
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(first), str(second), str(target)],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True,
    ) as parent:  # fmt: skip
        assert parent.stdin is not None
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        for _ in range(times):
            print("save", file=parent.stdin, flush=True)
            child = int(parent.stdout.readline())
            time.sleep(float(rng.uniform(0.0, 0.15)))
            os.kill(child, with_signal)
            assert parent.stdout.readline() == "gone\n"
            yield target.read_bytes()
