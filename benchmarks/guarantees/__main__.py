"""Guarantees, measured: `python -m benchmarks.guarantees sets | streams | batches | …`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main(arguments: list[str]) -> None:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    what = [
        *("sets", "streams", "batches", "accuracy", "tables"),
        *("mapie", "cleanlab", "audit-speed", "drift"),
    ]
    parser.add_argument("what", choices=what)
    parser.add_argument("--splits", type=int, default=50, help="or draws, or batches")
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--rows", type=int, default=400, help="training rows, at most")
    parser.add_argument("--asked", type=int, default=100, help="asked rows a split, at most")
    parser.add_argument("--models", nargs="*", help="of sets: some of the estimators")
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--length", type=int, default=3000, help="rows of a stream")
    parser.add_argument("--shifts", nargs="*", help="of streams: what happens to them (none, …)")
    parser.add_argument("--store", type=Path, help="of sets: counts are added to this file")
    parser.add_argument("--seconds", type=float, default=20.0, help="of sets: CPU a cell")
    parser.add_argument("--peer", default="suffice", choices=["suffice", "evidently", "nannyml"])
    parser.add_argument("--columns", type=int, default=50)
    given = parser.parse_args(arguments)
    if given.what == "sets":
        from benchmarks.guarantees.sets import Plan, measure_sets

        plan = Plan(given.splits, given.rows, given.asked, given.seconds)
        measure_sets(given.tables, plan, given.models, given.store)
    elif given.what == "accuracy":
        from benchmarks.guarantees.expected_accuracy import measure_accuracy

        measure_accuracy(given.tables, given.splits)
    elif given.what in ("streams", "batches", "tables"):
        from benchmarks.guarantees import watching

        if given.what == "streams":
            watching.measure_streams(given.streams, given.length, given.shifts)
        elif given.what == "tables":
            watching.measure_tables(given.splits)
        else:
            watching.measure_batches(given.splits)
    elif given.what == "mapie":
        from benchmarks.guarantees.against_mapie import measure_mapie

        measure_mapie(given.tables, given.splits, given.rows, given.asked)
    elif given.what == "cleanlab":
        from benchmarks.guarantees.against_cleanlab import measure_cleanlab

        measure_cleanlab(given.tables, given.splits, given.rows)
    elif given.what == "audit-speed":
        from benchmarks.guarantees.audit_speed import measure_audit_speed

        measure_audit_speed([400, given.rows], given.columns, classes=2, rounds=3)
    else:
        from benchmarks.guarantees.against_drift_tools import measure_drift

        measure_drift(given.peer, given.rows, given.columns)


if __name__ == "__main__":
    main(sys.argv[1:])
