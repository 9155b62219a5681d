"""`make bench`: every speed goal as one table of ratios, ours against the peers."""

from __future__ import annotations

import argparse
import os
import sys
from itertools import chain

from benchmarks import (
    discriminant,
    imports,
    language_model,
    logistic,
    model_selection,
    naive_bayes,
    single_rows,
    sources,
    sparse_naive_bayes,
    vectorizing,
)
from benchmarks.contest import run

# What is measured is the speed after `suffice warm`; pauses for a compiler are in docs/scaling.md.
os.environ.setdefault("SUFFICE_COMPILE", "always")

TITLES = ["job", "ours", "best peer", "against the best", "against the default", "peak MB", "note"]


def main() -> None:
    """Run the contests one after the other, printing each row as it is done."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out inputs of 800 MB")
    parser.add_argument("--only", default="", help="run rows whose name contains this text")
    parser.add_argument("--table", action="append", help="run this table only, e.g. logistic")
    options = parser.parse_args()
    tables = {
        "discriminant": lambda: discriminant.contests(options.quick),
        "model-selection": model_selection.contests,
        "naive-bayes": naive_bayes.contests,
        "sparse-naive-bayes": sparse_naive_bayes.contests,
        "single-rows": single_rows.contests,
        "logistic": lambda: logistic.contests(options.quick),
        "vectorizing": vectorizing.contests,
        "language-model": language_model.contests,
        "sources": lambda: sources.contests(options.quick),
    }
    chosen = options.table or list(tables)
    if set(chosen) - set(tables):
        parser.error(f"there is no table {chosen!r}; there are {', '.join(tables)}")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"{cores} cores; medians of interleaved runs; peak memory above what was in use before")
    print("\n| " + " | ".join(TITLES) + " |\n|" + "---|" * len(TITLES), flush=True)
    if options.only in "import suffice, CPU" and not options.table:
        _show(imports.row())
    for contest in chain.from_iterable(tables[name]() for name in chosen):
        if options.only in contest.name:
            print(f"... {contest.name}", file=sys.stderr, flush=True)
            _show(run(contest))


def _show(cells: list[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
