"""A server under load: how much it answers and learns, how soon, and in how much memory.

    python -m benchmarks.serving                            every part, about eight minutes
    python -m benchmarks.serving --only peak --only health  these parts
    python -m benchmarks.serving --only memory --requests 1000000

`suffice serve` is started on a free port of 127.0.0.1 for each part, and driven by wrk and hey
(Debian's packages). Rows are named records of six numbers and four categories, one cell in twenty
blank, for naive Bayes and for a discriminant. Latency and rows a second of wall time say something
where nothing else runs. What misses its goal ends in status 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.serving.load import Bench, Skipped
from benchmarks.serving.parts import PARTS

SECONDS = 20
"""Seconds of load, where nothing else is asked for."""


def main() -> int:
    """Measure the parts that are asked for, and print a line as each is known."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.serving", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--only", action="append", choices=PARTS, help="this part")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="of load, of most parts")
    parser.add_argument("--requests", type=int, default=50_000, help="over which memory is watched")
    given = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print("\n| what | figure | goal | reached |\n|---|---|---|---|", flush=True)
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), given.seconds, given.requests)
        for name in given.only or PARTS:
            try:
                for line in PARTS[name](bench):
                    reached = {None: "", True: "yes", False: "**no**"}[line.reached]
                    print(f"| {line.what} | {line.figure} | {line.goal} | {reached} |", flush=True)
                    missed += line.reached is False
            except Skipped as why:
                print(f"| {name} | skipped: {why} | | |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
