"""The tournament of classifiers on small tables.

    python -m benchmarks.small_tables            ours, every table and size, against stored peers
    python -m benchmarks.small_tables --quick    the same at 50 and 200 rows, one draw: minutes
    python -m benchmarks.small_tables --summary  nothing is measured
    .peers/small-tables/bin/python -m benchmarks.small_tables --contenders peers --store
                                                 the peers again (`make peers`; many hours)

A draw is some rows of a table to learn from and up to 1,000 others to be judged by. Every cell, a
draw and a contender, is a line at the end of a file: a run that was killed goes on where it was.
Cells of ours count as long as the sources are those that made them. A cell has 60 s of CPU time,
all libraries one thread; who needs more has no result there.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.small_tables.cells import (
    STORED,
    Cell,
    Key,
    append,
    mend,
    read_cells,
    read_stored,
    store,
)
from benchmarks.small_tables.contenders import CONTENDERS, OURS, PEERS
from benchmarks.small_tables.facts import facts
from benchmarks.small_tables.printing import summary
from benchmarks.small_tables.summary import LIST, Results
from benchmarks.small_tables.tables import names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SIZES = (25, 50, 100, 200, 500, 2000)
"""Training rows."""
QUICK_SIZES = (50, 200)
"""Training rows of a quick run: the two that wins and gains are pooled over."""
REPEATS = 5
"""Draws of every table and size."""
FEWER_REPEATS = {2000: 3}
"""Draws of large sizes, where draws differ little and peers are dear."""
CELLS = Path("build") / "small-tables.jsonl"
"""Where cells go; `make clean` removes them."""
GROUPS = {"ours": OURS, "peers": PEERS, "none": ()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not there yet, and sum up."""
    asked = _parser().parse_args(arguments)
    sizes = asked.sizes or (QUICK_SIZES if asked.quick else SIZES)
    repeats = asked.repeats or (1 if asked.quick else REPEATS)
    if not asked.summary:
        _measure(asked, planned(asked.tables or names(), sizes, repeats, asked.contenders))
    mine = read_cells(asked.cells)
    if asked.store:
        kept = {key: cell for key, cell in mine.items() if CONTENDERS[key.contender].stored}
        store((read_stored() | kept).values())
        print(f"{STORED}: {STORED.stat().st_size / 1e3:.0f} kB")
    wanted = set(planned(asked.tables or names(), sizes, repeats, tuple(CONTENDERS)))
    cells = (read_stored() | _current(mine, keep=asked.keep)).values()
    results = Results.of((cell for cell in cells if cell.key in wanted), LIST)
    print(summary(results, asked.champion))
    if asked.page:
        from benchmarks.small_tables.page import write_page

        write_page(asked.page, results, asked.champion)


def planned(
    tables: Iterable[str], sizes: Sequence[int], repeats: int, contenders: Sequence[str]
) -> list[Key]:
    """Return the cells to measure: first draws first, and of these the cheap tables first."""
    known = facts()
    order = sorted(tables, key=lambda name: (known[name].cost, name))
    return [
        Key(name, n, repeat, contender)
        for repeat in range(repeats)
        for name in order
        for n in sizes
        if known[name].has_rows_for(n) and repeat < FEWER_REPEATS.get(n, repeats)
        for contender in contenders
    ]


def _current(cells: dict[Key, Cell], *, keep: bool) -> dict[Key, Cell]:
    """Return the cells that count: peers', and those that were made by the sources as they are."""
    return {
        key: cell
        for key, cell in cells.items()
        if keep or CONTENDERS[key.contender].stored
        or cell.made_by == CONTENDERS[key.contender].made_by
    }  # fmt: skip


def _measure(asked: argparse.Namespace, keys: list[Key]) -> None:
    from benchmarks.small_tables.running import measured

    missing = {name for name in asked.contenders if not CONTENDERS[name].there}
    for name in sorted(missing):
        print(f"{name} is not measured: it is not here")
    mend(asked.cells)
    there = _current(read_cells(asked.cells), keep=asked.keep)
    keys = [key for key in keys if key not in there and key.contender not in missing]
    start = time.perf_counter()
    for done, cell in enumerate(measured(keys, asked.processes), 1):
        append(asked.cells, cell)
        if asked.verbose or done == len(keys) or done % 100 == 0:
            said = cell.refusal or f"log-loss {cell.log_loss:.4f}, {cell.cpu_fit:.2f} s"
            print(
                f"{done} of {len(keys)}, {time.perf_counter() - start:.0f} s: {cell.table} "
                f"n = {cell.n}, repeat {cell.repeat}, {cell.contender}: {said}",
                flush=True,
            )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.small_tables",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--sizes", type=_sizes, help="training rows, with commas")
    add("--tables", type=_tables, help="names of tables, with commas")
    add("--repeats", type=int, help="draws of each, from the first")
    add("--contenders", type=_contenders, default=OURS, help="names, or ours, peers, none")
    add("--quick", action="store_true", help="50 and 200 rows, one draw")
    add("--processes", type=int, default=2)
    add("--cells", type=Path, default=CELLS, help="where cells are written and found")
    add("--keep", action="store_true", help="cells that other sources made count too")
    add("--summary", action="store_true", help="measure nothing")
    add("--champion", default="pool", choices=LIST, help="whose wins are counted")
    add("--store", action="store_true", help="put cells of the peers into the stored file")
    add("--page", type=Path, help="write the summary between the marks of this page too")
    add("--verbose", action="store_true", help="a line for each cell")
    return parser


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def _tables(text: str) -> tuple[str, ...]:
    return _known(text.split(","), names())


def _contenders(text: str) -> tuple[str, ...]:
    parts = [name for part in text.split(",") for name in GROUPS.get(part, (part,))]
    return _known(parts, tuple(CONTENDERS))


def _known(given: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    for name in given:
        if name not in known:
            raise argparse.ArgumentTypeError(f"there is no {name}; there are {', '.join(known)}")
    return tuple(dict.fromkeys(given))


if __name__ == "__main__":
    main()
