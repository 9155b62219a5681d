"""Time and memory of one look at new rows: from a model file, and from all old rows (peers)."""

from __future__ import annotations

import resource
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np


def measure_drift(peer: str, rows: int, columns: int) -> None:
    """Print CPU and memory of a comparison of `rows` new rows with as many old ones."""
    warnings.simplefilter("ignore")
    ways = {"suffice": _ours, "evidently": _evidently, "nannyml": _nannyml}
    spent, kept, said = ways[peer](rows, columns)
    print(
        f"{peer}: {rows:,} rows, {columns} columns: {spent[0]:.2f} s of CPU, {spent[1]:.2f} s by "
        f"the clock, {spent[2]:,.0f} MB more at most than before; kept of the old rows: "
        f"{kept:,.1f} kB; {said}"
    )


def _drawn(rows: int, columns: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    cells = rng.normal(size=(rows, columns))
    cells[:, columns // 2 :] = np.exp(cells[:, columns // 2 :])
    if seed:
        cells[:, 0] *= 1.1
    return cells


def _frame(rows: int, columns: int, seed: int) -> Any:
    import pandas as pd

    cells = _drawn(rows, columns, seed)
    return pd.DataFrame({f"c{j}": cells[:, j] for j in range(columns)})


class _Spent:
    """CPU, clock and memory of a block; memory by the high-water mark of the process."""

    def __enter__(self) -> _Spent:
        self.start = time.process_time(), time.perf_counter(), _high_water()
        return self

    def __exit__(self, *_: object) -> None:
        now = time.process_time(), time.perf_counter(), _high_water()
        self.found = tuple(b - a for a, b in zip(self.start, now, strict=True))


def _high_water() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def _ours(rows: int, columns: int) -> tuple[Any, float, str]:
    """Compare with the file of a model; it was learned from the old rows before."""
    from suffice import load, train, watch

    place = Path(tempfile.mkdtemp()) / "old.suffice"
    old = _frame(rows, columns, 0)
    labels = np.where(np.arange(rows) % 2, "a", "b")
    model = train(old, labels, model="naive-bayes", families="gaussian", time_limit=1.0)
    model.save(place)
    del old, model
    new = _frame(rows, columns, 1)
    with _Spent() as spent:
        found = watch(load(place), new)
    return spent.found, place.stat().st_size / 1024.0, found.verdict


def _evidently(rows: int, columns: int) -> tuple[Any, float, str]:
    from evidently import Report
    from evidently.presets import DataDriftPreset

    old, new = _frame(rows, columns, 0), _frame(rows, columns, 1)
    with _Spent() as spent:
        found = Report([DataDriftPreset()]).run(new, old)
    said = str(found.dict()["metrics"][0])[:120]
    return spent.found, old.memory_usage().sum() / 1024.0, said


def _nannyml(rows: int, columns: int) -> tuple[Any, float, str]:
    from nannyml import UnivariateDriftCalculator

    old, new = _frame(rows, columns, 0), _frame(rows, columns, 1)
    with _Spent() as spent:
        calculator = UnivariateDriftCalculator(
            column_names=list(old.columns), chunk_number=1,
            continuous_methods=["kolmogorov_smirnov"],
        )  # fmt: skip
        found = calculator.fit(old).calculate(new)
    alarms = found.filter(period="analysis").to_df().xs("alert", level=2, axis=1).to_numpy().sum()
    return spent.found, old.memory_usage().sum() / 1024.0, f"{alarms} alarms"
