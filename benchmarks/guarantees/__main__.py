"""`python -m benchmarks.guarantees sets --splits 5`: coverage and size of prediction sets."""

from __future__ import annotations

import argparse
import sys

from benchmarks.guarantees.sets import measure_sets


def main(arguments: list[str]) -> None:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["sets"])
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--rows", type=int, default=400, help="training rows, at most")
    parser.add_argument("--asked", type=int, default=100, help="asked rows a split, at most")
    given = parser.parse_args(arguments)
    measure_sets(given.tables, given.splits, given.rows, given.asked)


if __name__ == "__main__":
    main(sys.argv[1:])
