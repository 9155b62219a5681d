"""Sizes of prediction sets beside MAPIE's, at equal realised coverage, on numeric tables."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from benchmarks.small_tables.tables import names, table
from suffice import GaussianDiscriminant

LEVELS = np.round(np.concatenate([np.arange(0.5, 0.9, 0.05), np.arange(0.9, 0.975, 0.01)]), 3)
"""Stated coverages, between whose realised ones sizes are interpolated."""
WANTED = 0.9
"""The realised coverage at which sizes are compared."""
WORTH = 1.1
"""MAPIE's classes a set from which on smaller sets are possible at all."""


def numeric(name: str) -> tuple[Any, Any] | None:
    """Return the rows without blanks of a table of numbers; None for other tables."""
    X, y = table(name)
    if any(X[column].dtype == object or str(X[column].dtype) == "str" for column in X):
        return None
    cells = X.to_numpy(dtype=np.float64)
    kept = ~np.isnan(cells).any(axis=1)
    cells, labels = cells[kept], y[kept]
    cells = cells[:, cells.std(axis=0) > 0]
    found, counts = np.unique(labels, return_counts=True)
    there = np.isin(labels, found[counts >= 20])
    cells, labels = cells[there], labels[there]
    if len(labels) < 100 or len(np.unique(labels)) < 2 or cells.shape[1] > 100:
        return None
    return cells, np.unique(labels, return_inverse=True)[1]


def measure_mapie(chosen: list[str] | None, splits: int, rows: int, asked: int) -> None:
    """Print classes a set at 90 % realised coverage: full conformal, MAPIE split and cross."""
    print(
        "| table | splits | ours | MAPIE split | MAPIE cross | ms ours | ms split | ms cross |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    told = []
    for name in chosen or names():
        held = numeric(name)
        if held is None:
            continue
        found = [one for seed in range(splits) if (one := _split(*held, rows, asked, seed))]
        if not found:
            continue
        sizes, spent = [], []
        for way in ("ours", "split", "cross"):
            parts = [one[way] for one in found]
            sizes.append(
                _size_at(np.mean([p[0] for p in parts], 0), np.mean([p[1] for p in parts], 0))
            )
            spent.append(1000.0 * np.mean([p[2] for p in parts]))
        told.append(sizes)
        cells = " | ".join([f"{s:.2f}" for s in sizes] + [f"{ms:.0f}" for ms in spent])
        print(f"| {name} | {len(found)} | {cells} |", flush=True)
    for place, way in ((1, "split"), (2, "cross")):
        pairs = np.array([[one[0], one[place]] for one in told])
        worth = pairs[:, 1] > WORTH
        fine = (pairs[:, 0] <= pairs[:, 1] + 0.005).sum()
        print(
            f"against {way}: not larger (by more than .005) on {fine} "
            f"of {len(pairs)}; where MAPIE's exceeds {WORTH}: smaller on "
            f"{(pairs[worth, 0] < pairs[worth, 1]).sum()} of {worth.sum()}"
        )


def _size_at(coverage: Any, size: Any) -> float:
    """Return the mean size where the realised coverage is the wanted one; the least beyond it."""
    order = np.argsort(coverage, kind="stable")
    return float(np.interp(WANTED, coverage[order], size[order]))


def _split(X: Any, y: Any, rows: int, asked: int, seed: int) -> dict[str, Any] | None:
    """Return coverage and size at every level, and seconds of CPU, of the three ways."""
    from mapie.classification import CrossConformalClassifier, SplitConformalClassifier

    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    first = min(rows, len(y) // 2)
    train, test = order[:first], order[first : first + asked]
    if len(np.unique(y[train])) < len(np.unique(y)) or np.bincount(y[train]).min() < 8:
        return None
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        model = GaussianDiscriminant().fit(X[train], y[train])
        told = model.prediction_set(X[test], 0.9, rows=(X[train], y[train]))
        spent = time.process_time() - start
        best = model.predict(X[test])
        sets = told.p_values[:, :, np.newaxis] > 1.0 - LEVELS
        sets[np.arange(len(test)), np.searchsorted(model.classes_, best)] = True
        found["ours"] = (*_judged(sets, y[test]), spent)
        try:
            start = time.process_time()
            half = SplitConformalClassifier(
                LinearDiscriminantAnalysis(), confidence_level=LEVELS.tolist(),
                conformity_score="lac", prefit=False, random_state=seed,
            )  # fmt: skip
            cut = first * 2 // 3
            half.fit(X[train[:cut]], y[train[:cut]]).conformalize(X[train[cut:]], y[train[cut:]])
            sets = half.predict_set(X[test])[1]
            found["split"] = (*_judged(sets, y[test]), time.process_time() - start)
            start = time.process_time()
            cross = CrossConformalClassifier(
                LinearDiscriminantAnalysis(), confidence_level=LEVELS.tolist(),
                conformity_score="lac", cv=5, random_state=seed,
            )  # fmt: skip
            sets = cross.fit_conformalize(X[train], y[train]).predict_set(X[test])[1]
            found["cross"] = (*_judged(sets, y[test]), time.process_time() - start)
        except ValueError:
            return None
    return found


def _judged(sets: Any, labels: Any) -> tuple[Any, Any]:
    """Return the coverage and the mean size at every level; an empty set counts as one class."""
    held = sets[np.arange(len(labels)), labels].mean(axis=0)
    return held, np.maximum(sets.sum(axis=1), 1).mean(axis=0)
