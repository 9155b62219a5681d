"""Coverage and size of prediction sets on the tables beside the project, split by split."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.small_tables.tables import names, table
from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes

FEWEST = 100
"""Rows of a table: with fewer a split says little."""
MODELS = {
    "gda": GaussianDiscriminant,
    "qda, pool .5": lambda: GaussianDiscriminant("per-class", pool=0.5),
    "naive Bayes": NaiveBayes,
    "logistic, penalty 1": lambda: LogisticRegression(1.0),
}
"""Estimators with fixed settings."""


def measure_sets(chosen: list[str] | None, splits: int, rows: int, asked: int) -> None:
    """Print coverage at 90 %, its clustered standard error, and the mean size of sets."""
    print("| table | model | coverage | se | size | seconds |\n|---|---|---|---|---|---|")
    for name in chosen or names():
        X, y = table(name)
        if len(y) < FEWEST:
            continue
        for called, make in MODELS.items():
            start = time.perf_counter()
            found = [_split(make(), X, y, rows, asked, seed) for seed in range(splits)]
            told = [each for each in found if each is not None]
            if not told:
                print(f"| {name} | {called} | refused | | | |", flush=True)
                continue
            held, size = np.array([a for a, _ in told]), np.array([b for _, b in told])
            error = held.std(ddof=1) / np.sqrt(len(held)) if len(held) > 1 else np.nan
            print(
                f"| {name} | {called} | {held.mean():.3f} | {error:.3f} | {size.mean():.2f} "
                f"| {time.perf_counter() - start:.1f} |",
                flush=True,
            )


def _split(model: Any, X: Any, y: Any, rows: int, asked: int, seed: int) -> Any:
    """Return the share of sets that hold the label, and their mean size; None if refused."""
    order = np.random.default_rng(seed).permutation(len(y))
    first = min(rows, len(y) // 2)
    train, test = order[:first], order[first : first + asked]
    kept = np.isin(y[test], np.unique(y[train]))  # a class never seen is in no set
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted = model.fit(X.iloc[train], y[train])
            found = fitted.prediction_set(X.iloc[test], 0.9, rows=(X.iloc[train], y[train]))
        except ValueError:
            return None
    return float((found.holds(y[test]) & kept).mean()), float(found.sizes.mean())
