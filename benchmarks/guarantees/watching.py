"""False alarms, delays and power of watches, on drawn rows and on tables by time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd

from benchmarks.small_tables.tables import table
from suffice import GaussianDiscriminant, train, watch
from suffice.monitoring.streams import StreamBets
from suffice.monitoring.watch_result import ALARM

Change = Callable[[Any], Any]
"""From rows to rows that have moved."""
SHIFTS: dict[str, Change] = {
    "none": lambda x: x,
    "mean by .1": lambda x: x + 0.1,
    "mean by .25": lambda x: x + 0.25,
    "mean by .5": lambda x: x + 0.5,
    "spread by 1.5": lambda x: x * 1.5,
    "spread by 2": lambda x: x * 2.0,
}
"""What happens to a column of a stream."""
MOST_LOOKED_AT = 10_000
"""Rows of a stream that are bet on before somebody looks again."""


def measure_streams(streams: int, rows: int, shifts: list[str] | None = None) -> None:
    """Print how many streams reach an alarm, and after how many rows: ranks know no law."""
    print(
        "| reference | shift | streams | alarms | median delay | CPU s |\n|---|---|---|---|---|---|"
    )
    for reference in (100, 1000):
        for called, change in SHIFTS.items():
            if shifts is not None and called not in shifts:
                continue
            count = streams if called == "none" else max(1, streams // 20)
            start, delays = time.process_time(), []
            for seed in range(count):
                delay = _delay(change, reference, rows, seed)
                if delay is not None:
                    delays.append(delay)
            told = f"{np.median(delays):.0f}" if delays else ""
            print(
                f"| {reference} | {called} | {count} | {len(delays)} ({len(delays) / count:.3f}) "
                f"| {told} | {time.process_time() - start:.0f} |",
                flush=True,
            )


def _delay(change: Change, reference: int, rows: int, seed: int) -> int | None:
    """Return after how many rows a stream of one column is an alarm; None if it never is."""
    rng = np.random.default_rng((reference, seed))
    bets = StreamBets.against(["x"], rng.normal(size=(reference, 1)), seed)
    start = 0
    while start < rows:  # delays are known to a tenth; long streams are looked at in longer parts
        step = min(max(10, start // 10), rows - start, MOST_LOOKED_AT)
        if bets.take(change(rng.normal(size=(step, 1)))) >= ALARM:
            return start + step
        start += step
    return None


def _table(rng: Any, n: int, shares: float = 0.5) -> tuple[pd.DataFrame, Any]:
    """Return rows with heavy and light tails, counts, a category and blanks."""
    y = (rng.random(n) < shares).astype(int)
    return pd.DataFrame({
        "normal": rng.normal(size=n) + 1.5 * y, "heavy": rng.standard_t(3, size=n) + y,
        "long": np.exp(rng.normal(size=n)), "count": rng.poisson(2.0 + y).astype(float),
        "kind": np.where(rng.random(n) < 0.3 + 0.2 * y, "a", "b"),
        "part": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
    }), np.where(y, "yes", "no")  # fmt: skip


def _moved(what: str, size: float, rng: Any, n: int) -> tuple[pd.DataFrame, Any]:
    shares = 0.5 + size if what == "priors" else 0.5
    X, y = _table(rng, n, shares)
    if what == "mean":
        X["heavy"] += size
    elif what == "spread":
        X["heavy"] *= 1.0 + size
    elif what == "category":
        X["kind"] = np.where(rng.random(n) < size, "a", X["kind"])
    elif what == "blanks":
        X["part"] = X["part"].where(rng.random(n) >= size)
    return X, y


POWER = {
    "nothing": (0.0,), "mean": (0.1, 0.25, 0.5), "spread": (0.25, 0.5, 1.0),
    "category": (0.1, 0.2), "blanks": (0.05, 0.1), "priors": (0.1, 0.2),
}  # fmt: skip
"""What is planted in a batch, and how much of it."""


def measure_batches(draws: int, model: str = "gda") -> None:
    """Print how often a batch of 500 is called moved, by the file of a model of 1,000 rows."""
    print("| planted | size | batches | moved | of columns |\n|---|---|---|---|---|")
    for what, sizes in POWER.items():
        for size in sizes:
            said = columns = 0
            count = draws * (4 if what == "nothing" else 1)
            for seed in range(count):
                rng = np.random.default_rng((crc32(what.encode()), seed))
                found = _watched(rng, _moved(what, size, rng, 500), model)
                said += not found.ok
                columns += bool(found.moved)
            print(f"| {what} | {size:g} | {count} | {said / count:.3f} | {columns / count:.3f} |",
                  flush=True)  # fmt: skip


def _watched(rng: Any, new: tuple[Any, Any], model: str, **settings: Any) -> Any:
    X, y = _table(rng, 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = train(X, y, model=model, time_limit=5.0, **settings).estimator
        return watch(fitted, new[0])


BY_TIME = {"elec2": ("v0",), "sleep": (), "shuttle": ()}
"""Tables whose rows stand in some order, and columns that are the time itself."""
BATCH = 2000
"""Rows of the reference, and of every later batch."""


def measure_tables(most: int) -> None:
    """Print what a watch says of batches in the order of the file, and of the same rows shuffled.

    The reference is the first batch. Of elec2 the order is known to be that of time; of sleep and
    shuttle it is that of the file, which may be anything.
    """
    print("| table | order | batches | drift | median columns | expected | real | inside | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, dates in BY_TIME.items():
        X, y = table(name)
        X = X.drop(columns=list(dates))
        for order in ("file", "shuffled"):
            places = np.arange(len(y))
            if order == "shuffled":
                places = np.random.default_rng(0).permutation(len(y))
            start, told = time.process_time(), []
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                first = places[:BATCH]
                model = GaussianDiscriminant(calibration_rows=500).fit(X.iloc[first], y[first])
                for at in range(BATCH, min(len(y), BATCH * (most + 1)), BATCH):
                    some = places[at : at + BATCH]
                    found = watch(model, X.iloc[some], y[some])
                    expected, real = found.expected, found.observed
                    assert expected is not None
                    assert real is not None
                    columns = len({test.column for test in found.moved})
                    inside = expected.low <= real.estimate <= expected.high
                    told.append((not found.ok, columns, expected.estimate, real.estimate, inside))
            drift, columns, expected, real, inside = np.array(told, dtype=float).T
            print(
                f"| {name} | {order} | {len(told)} | {int(drift.sum())} "
                f"| {np.median(columns):g} of {X.shape[1]} | {expected.mean():.3f} "
                f"| {real.mean():.3f} | {int(inside.sum())} | {time.process_time() - start:.1f} |",
                flush=True,
            )
