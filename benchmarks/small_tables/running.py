"""Cells are measured in processes of one thread each, within a budget of CPU seconds."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmarks.small_tables.cells import Cell, Key
from benchmarks.small_tables.contenders import CONTENDERS
from benchmarks.small_tables.peer_models import ClassShares
from benchmarks.small_tables.scores import aligned, scores
from benchmarks.small_tables.tables import Draw, draw

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection

BUDGET = 60.0
"""CPU seconds of a cell, fit and probabilities together. Who needs more has no result there: an
answer about 200 rows for which one waits a minute is not the same kind of tool."""
OVER_BUDGET = "budget"
"""What such a cell says instead of a result."""
THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "LOKY_MAX_CPU_COUNT",
)  # fmt: skip
"""Settings of the libraries that would start threads."""
WORDS = 160
"""Characters of a refusal that are kept."""


def measured(keys: Sequence[Key], processes: int, budget: float = BUDGET) -> Iterator[Cell]:
    """Yield the cells of draws and contenders as they are measured, each process one at a time.

    A process that goes over the budget is ended by its own timer, inside compiled code too; its
    cell says so, and another process goes on with the next one.
    """
    for name in THREADS:
        os.environ[name] = "1"
    waiting = list(reversed(keys))
    workers = [_Worker(budget) for _ in range(min(processes, len(keys)))]
    try:
        for worker in workers:
            worker.give(waiting.pop())
        while busy := {worker.pipe: worker for worker in workers if worker.key is not None}:
            for pipe in wait(list(busy)):
                worker = busy[pipe]  # type: ignore[index]
                yield worker.taken()
                if waiting:
                    worker.give(waiting.pop())
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A process that measures the cells it is given, and is started again where it was ended."""

    def __init__(self, budget: float) -> None:
        self.budget = budget
        self.key: Key | None = None
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")  # libraries are loaded with the settings
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.budget), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, key: Key) -> None:
        self.key = key
        self.pipe.send(key)

    def taken(self) -> Cell:
        """Return the cell that is ready, or what happened instead."""
        key, self.key = self.key, None
        assert key is not None
        try:
            cell: Cell = self.pipe.recv()
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            cell = Cell(
                *key,
                refusal=OVER_BUDGET if code == -signal.SIGPROF else f"ended with {code}",
                made_by=CONTENDERS[key.contender].made_by,
            )
            self.start()
        return cell

    def end(self) -> None:
        self.pipe.close()
        self.process.terminate()
        self.process.join()


def _serve(pipe: Connection, budget: float) -> None:
    """Measure what comes through the pipe until it is closed."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError):
        while True:
            pipe.send(measure(pipe.recv(), budget))


_drawn = lru_cache(maxsize=1)(draw)


def measure(key: Key, budget: float = BUDGET) -> Cell:
    """Return the cell of a draw and a contender."""
    drawn = _drawn(key.table, key.n, key.repeat)
    assert drawn is not None, f"{key.table} has too few rows for {key.n}"
    labels = np.unique(drawn.y.astype(str))
    truth = np.searchsorted(labels, drawn.y_test.astype(str))
    shares = ClassShares().fit(drawn.X, drawn.y)
    prior = scores(aligned(shares.predict_proba(drawn.X_test), shares.classes_, labels), truth)
    cell = Cell(*key, prior_log_loss=prior["log_loss"], made_by=CONTENDERS[key.contender].made_by)
    try:
        _warm_up(key.contender)
        p, classes, seconds = _answers(key.contender, drawn, budget)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the result of this cell
        words = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        return replace(cell, refusal=words[:WORDS])
    return replace(
        cell,
        cpu_fit=seconds[0],
        cpu_predict=seconds[1],
        **scores(aligned(p, classes, labels), truth),
    )


def _answers(name: str, drawn: Draw, budget: float) -> tuple[Any, Any, tuple[float, float]]:
    """Return probabilities of the test rows, their classes, and CPU seconds of fit and answers."""
    y = np.asarray(drawn.y.astype(str))
    model = CONTENDERS[name].make()
    signal.setitimer(signal.ITIMER_PROF, budget)
    try:
        start = time.process_time()
        model.fit(drawn.X, y)
        between = time.process_time()
        p = model.predict_proba(drawn.X_test)
        end = time.process_time()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    return p, model.classes_, (between - start, end - between)


@lru_cache
def _warm_up(name: str) -> None:
    """Fit a contender once before it is measured: packages are loaded, and loops compiled."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(60, 2))
    X = pd.DataFrame({"a": numbers[:, 0], "b": numbers[:, 1], "c": rng.choice(["u", "v"], 60)})
    X["c"] = X["c"].astype(object)
    X.loc[3, "a"] = np.nan
    X.loc[4, "c"] = None
    y = np.where(numbers[:, 0] + rng.normal(size=60) > 0, "yes", "no")
    model = CONTENDERS[name].make()
    model.fit(X, y)
    model.predict_proba(X)
