"""Ours over scikit-learn's, kept in a table, so that an advantage cannot melt away unseen.

    python -m benchmarks.ratios            measure all cases, and write benchmarks/ratios.json

A round is a process of its own in which ours and the peer take turns, on one BLAS thread; CPU time
counts, and equal answers come first. The ratio of a case is ours / theirs: less is better. It
belongs to the releases and to the number of cores it was measured with, which stand beside it.
"""

from __future__ import annotations

import argparse
import datetime as dt
import functools
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.verdicts import DRIFT, SURE, Measured, Verdict, settled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TABLE = Path(__file__).with_name("ratios.json")
LEAST = 0.6
"""Seconds of CPU that the turns of one round take at least, ours and the peer's together."""
FEWEST = 3
"""Turns in one round, however long they take."""


@dataclass
class Pair:
    """The same job twice, and what must be equal before it is timed."""

    ours: Callable[[], Any]
    peer: Callable[[], Any]
    check: Callable[[Any, Any], None]


def cases() -> dict[str, Callable[[], Pair]]:
    """Return the cases by name; each makes its data when it is called."""
    return {
        "shared fit 1e5x20, LDA(lsqr)": lambda: _fit("shared"),
        "per-class fit 1e5x20, QDA": lambda: _fit("per-class"),
        "shared predict_proba 1e5x20, LDA": lambda: _posterior("shared"),
        "per-class predict_proba 1e5x20, QDA": lambda: _posterior("per-class"),
        "naive Bayes fit 1e5x20, GaussianNB": _naive_bayes,
        "multinomial fit 2e4x5e3, MultinomialNB": _multinomial,
        "logistic 1e5x20, newton-cholesky": _logistic,
        "one row, shared predict, LDA": _one_row,
    }


def _rows(size: int = 100_000) -> tuple[Any, Any]:
    from benchmarks.discriminant import drawn

    return drawn(size, 20, 3)


def _models(form: str) -> tuple[Any, Any]:
    from sklearn.discriminant_analysis import (
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
    )

    from suffice import GaussianDiscriminant

    peer = LinearDiscriminantAnalysis(solver="lsqr") if form == "shared" else (
        QuadraticDiscriminantAnalysis()
    )  # fmt: skip
    return GaussianDiscriminant(form), peer


def _fit(form: str) -> Pair:
    X, y = _rows()
    ours, peer = _models(form)
    return Pair(
        lambda: ours.fit(X, y).means_, lambda: peer.fit(X, y).means_, _same
    )  # fmt: skip


def _posterior(form: str) -> Pair:
    X, y = _rows()
    ours, peer = (model.fit(X, y) for model in _models(form))
    # Covariances of classes are unbiased there, and those of maximum likelihood here.
    check = _same if form == "shared" else _nearly
    return Pair(lambda: ours.predict_proba(X), lambda: peer.predict_proba(X), check)


def _naive_bayes() -> Pair:
    from sklearn.naive_bayes import GaussianNB

    from benchmarks import naive_bayes

    X, y = _rows()
    return Pair(
        lambda: naive_bayes.ours().fit(X, y),
        lambda: GaussianNB().fit(X, y),
        naive_bayes.same_parameters,
    )


def _multinomial() -> Pair:
    import numpy as np
    from scipy.sparse import random as random_sparse
    from sklearn.naive_bayes import MultinomialNB

    from suffice import MultinomialNaiveBayes

    rng = np.random.default_rng(2)
    X = random_sparse(20_000, 5_000, 0.01, "csr", random_state=3)
    X.data = rng.integers(1, 5, size=X.nnz).astype(float)
    y = rng.integers(4, size=20_000)
    return Pair(
        lambda: MultinomialNaiveBayes().fit(X, y).predict_proba(X[:50]),
        lambda: MultinomialNB().fit(X, y).predict_proba(X[:50]),
        _same,
    )


def _logistic() -> Pair:
    from benchmarks import logistic

    X, y = logistic.normal(100_000, 20, 2, 1.0)
    return Pair(
        lambda: logistic.ours(X, y, 0.0, 3e-4),
        lambda: logistic.peer(X, y, 0.0, "newton-cholesky", 1e-7),
        functools.partial(logistic.check, X, y, 0.0, False),
    )


def _one_row() -> Pair:
    X, y = _rows(5_000)
    ours, peer = (model.fit(X, y) for model in _models("shared"))
    rows = [X[i : i + 1] for i in range(200)]
    return Pair(
        lambda: [ours.predict(row)[0] for row in rows],
        lambda: [peer.predict(row)[0] for row in rows],
        _same,
    )


def _same(ours: Any, theirs: Any) -> None:
    import numpy as np

    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


def _nearly(ours: Any, theirs: Any) -> None:
    import numpy as np

    np.testing.assert_allclose(ours, theirs, atol=1e-3)


def once(name: str) -> float:
    """Return ours / theirs in this process: turns are taken, after one that is not counted."""
    pair = cases()[name]()
    pair.check(pair.ours(), pair.peer())
    mine, theirs, turns = 0.0, 0.0, 0
    while mine + theirs < LEAST or turns < FEWEST:
        start = time.process_time()
        pair.ours()
        between = time.process_time()
        pair.peer()
        mine, theirs = mine + between - start, theirs + time.process_time() - between
        turns += 1
    return mine / theirs


def together(names: list[str]) -> dict[str, float]:
    """Return the ratios of some cases in this process, on one BLAS thread."""
    import warnings

    from threadpoolctl import threadpool_limits

    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        return {name: once(name) for name in names}


def apart(names: list[str]) -> dict[str, float]:
    """Return what a process of its own measures: one round."""
    command = [sys.executable, "-m", "benchmarks.ratios", "--cases", *names]
    root = Path(__file__).resolve().parents[1]
    paths = os.pathsep.join([str(root / "src"), str(root)])
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(found.stdout.splitlines()[-1]))


def circumstances() -> dict[str, Any]:
    """Return what a ratio belongs to."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    return {
        "python": ".".join(platform.python_version_tuple()[:2]),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")},
        "cores": os.cpu_count() if affinity is None else len(affinity(0)),
    }


def read(path: Path = TABLE) -> dict[str, Any]:
    """Return the stored table: circumstances, and ratios by case."""
    return dict(json.loads(path.read_text("utf-8")))


def entry(measured: Measured, date: str) -> dict[str, Any]:
    """Return what the table says about a case."""
    found = measured.interval()
    return {
        "ratio": round(found.mean, 4),
        "low": round(found.low, 4),
        "high": round(found.high, 4),
        "rounds": measured.rounds,
        "mean_of_logs": measured.mean,
        "deviation_of_logs": measured.deviation,
        "date": date,
    }


def stored(row: Mapping[str, Any]) -> Measured:
    """Return the measurement that an entry of the table is about."""
    return Measured(row["rounds"], row["mean_of_logs"], row["deviation_of_logs"])


def compared(rows: Mapping[str, Mapping[str, Any]], names: list[str]) -> dict[str, Verdict]:
    """Measure cases again, and judge them by the table."""
    apart(names)  # compiles
    return settled(names, apart, lambda name, today: today.against(stored(rows[name])), limit=DRIFT)


def main() -> None:
    """Measure the cases and write the table, or measure some for the process that asks."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ratios", description=__doc__)
    parser.add_argument("--cases", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=SURE)
    parser.add_argument("--output", type=Path, default=TABLE)
    given = parser.parse_args()
    if given.cases is not None:
        print(json.dumps(together(given.cases)))
        return
    names = list(cases())
    apart(names)  # compiles
    rounds = []
    for number in range(given.rounds):
        rounds.append(apart(names))
        print(f"round {number + 1} of {given.rounds}", file=sys.stderr, flush=True)
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    rows = {}
    for name in names:
        measured = Measured.of([one[name] for one in rounds])
        rows[name] = entry(measured, today)
        print(f"{name:40} {measured.interval()}")
    table = {"circumstances": circumstances(), "ratios": rows}
    given.output.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
