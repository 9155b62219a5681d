"""Time and memory of a fit as rows grow from a thousand to fifty million: docs/scaling.md.

    python -m benchmarks.growth                  measure what is not in growth.json, and draw it
    python -m benchmarks.growth --most 1000000   no more rows than this
    python -m benchmarks.growth --draw           draw what is in growth.json

Each point is a process of its own, on one thread, with no compiled loops kept: CPU time of the
fastest of some fits (of the first where that is slow), and the peak of memory above what was in use
before it.
Files are written to a folder for temporary files, and removed.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.contest import peak_so_far, reset_peak

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

TABLE = Path(__file__).with_name("growth.json")
PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "growth.png"
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 50_000_000)
"""Rows; a curve ends where its `most` is."""
WIDTH, CLASSES = 10, 3
COLUMNS, WORDS = 10_000, 20
"""Columns of sparse rows, and how many of them a row has."""
ENOUGH = 0.5
"""Seconds of CPU after which a point is not measured again."""
TURNS = 20
"""Fits of a point at most, after the first."""
CURVES = {
    "shared": ("GDA, one covariance", 10_000_000),
    "per-class": ("GDA, one per class", 10_000_000),
    "naive-bayes": ("Gaussian naive Bayes", 10_000_000),
    "logistic": ("logistic regression", 10_000_000),
    "multinomial": ("multinomial, sparse", 1_000_000),
    "parquet": ("GDA from Parquet", 50_000_000),
    "csv": ("GDA from CSV", 1_000_000),
}
"""What a curve is called, and its most rows: arrays and CSV beyond would fill memory or disks."""


def job_of(kind: str, size: int, folder: Path) -> Callable[[], object]:
    """Return the fit that is measured, with its rows in memory or in a file."""
    from benchmarks.sources import TARGET, statistics_of, write_rows

    if kind == "parquet":
        return partial(statistics_of, write_rows(folder / "rows.parquet", size), 1)
    if kind == "csv":
        from suffice import GaussianDiscriminant

        rows = csv_of(write_rows(folder / "rows.parquet", size), folder / "rows.csv")
        return lambda: GaussianDiscriminant().fit(rows, target=TARGET)
    if kind == "multinomial":
        return partial(_multinomial().fit, *sparse_rows(size))
    return partial(_model(kind).fit, *dense_rows(size))


def _model(kind: str) -> Any:
    import suffice

    return {
        "shared": suffice.GaussianDiscriminant("shared"),
        "per-class": suffice.GaussianDiscriminant("per-class"),
        "naive-bayes": suffice.NaiveBayes("gaussian"),
        "logistic": suffice.LogisticRegression(1.0, standard_errors=False),
    }[kind]


def _multinomial() -> Any:
    from suffice import MultinomialNaiveBayes

    return MultinomialNaiveBayes()


def dense_rows(size: int) -> tuple[Any, Any]:
    """Return rows of float32 and their classes."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, CLASSES, size)
    X = rng.standard_normal((size, WIDTH), dtype=np.float32)
    X += np.linspace(-0.5, 0.5, WIDTH, dtype=np.float32) * y[:, np.newaxis].astype(np.float32)
    return X, y


def sparse_rows(size: int) -> tuple[Any, Any]:
    """Return rows with WORDS cells each, and their classes."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(7)
    # One place in each of WORDS stretches: columns rise, and none comes twice.
    step = COLUMNS // WORDS
    places = rng.integers(0, step, (size, WORDS), dtype=np.int32)
    places += np.arange(WORDS, dtype=np.int32) * step
    cells = rng.integers(1, 4, size * WORDS).astype(np.float32)
    indptr = np.arange(0, size * WORDS + 1, WORDS, dtype=np.int32)
    y = rng.integers(0, CLASSES, size)
    return csr_array((cells, places.ravel(), indptr), shape=(size, COLUMNS)), y


def csv_of(rows: Path, path: Path) -> Path:
    """Write a Parquet file as CSV, and remove it."""
    from pyarrow import csv, parquet

    with parquet.ParquetFile(rows) as file, csv.CSVWriter(path, file.schema_arrow) as written:
        for batch in file.iter_batches():
            written.write_batch(batch)
    rows.unlink()
    return path


def measured(kind: str, size: int) -> dict[str, float]:
    """Return nanoseconds of CPU a row, and MB above what was in use, of one fit in this process."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = str(Path(folder) / "none")
        job = job_of(kind, size, Path(folder))
        gc.collect()
        before = reset_peak()
        seconds = [_seconds(job)]  # imports what it needs, and compiles it
        peak = peak_so_far()
        while sum(seconds) < ENOUGH and len(seconds) <= TURNS:
            seconds.append(_seconds(job))
    memory = float("nan") if before is None or peak is None else (peak - before) / 1024.0
    return {"ns": min(seconds[1:] or seconds) / size * 1e9, "mb": memory}


def _seconds(job: Callable[[], object]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def measure(most: int) -> dict[str, dict[str, dict[str, float]]]:
    """Measure what is not in the table, each point in a process of its own; return the table."""
    found = json.loads(TABLE.read_text("utf-8")) if TABLE.exists() else {}
    one_thread = {"SUFFICE_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for kind, (_, largest) in CURVES.items():
        points = found.setdefault(kind, {})
        for size in (size for size in SIZES if size <= min(most, largest)):
            if str(size) in points:
                continue
            command = [sys.executable, "-m", "benchmarks.growth", "--one", kind, str(size)]
            done = subprocess.run(
                command,
                env={**os.environ, **one_thread},
                capture_output=True,
                text=True,
                check=True,
            )
            points[str(size)] = json.loads(done.stdout.splitlines()[-1])
            print(kind, size, points[str(size)], file=sys.stderr, flush=True)
            TABLE.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return found


def picture(found: dict[str, dict[str, dict[str, float]]]) -> Figure:
    """Return two panels: time a row, and memory, against rows."""
    from suffice.plots.axes import new_figure, tidy
    from suffice.plots.palette import colour, dashes, marker

    figure = new_figure(11.0, 5.2)
    panels = figure.subplots(1, 2)
    for ax, key, title, said in (
        (panels[0], "ns", "CPU time a row", "nanoseconds a row"),
        (panels[1], "mb", "Memory above the input's", "MB"),
    ):
        for k, (kind, (name, _)) in enumerate(CURVES.items()):
            points = sorted((int(size), one[key]) for size, one in found.get(kind, {}).items())
            ax.plot(
                [size for size, _ in points],
                [max(value, 1.0) if key == "mb" else value for _, value in points],
                color=colour(k), marker=marker(k), linestyle=dashes(k), linewidth=1.8, label=name,
            )  # fmt: skip
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("rows")
        ax.set_ylabel(said)
        ax.set_title(title, loc="left")
        tidy(ax)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    return figure


def main() -> None:
    """Measure and draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--most", type=int, default=SIZES[-1], help="rows at most")
    parser.add_argument("--draw", action="store_true", help="draw only")
    given = parser.parse_args()
    if given.one is not None:
        print(json.dumps(measured(given.one[0], int(given.one[1]))))
        return
    found = json.loads(TABLE.read_text("utf-8")) if given.draw else measure(given.most)
    from suffice.plots import save_figure

    print(save_figure(picture(found), PICTURE, dpi=120.0))


if __name__ == "__main__":
    main()
