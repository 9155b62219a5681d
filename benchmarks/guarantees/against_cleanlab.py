"""Wrong labels planted in tables: how well they are ranked, beside cleanlab."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.guarantees.against_mapie import numeric
from benchmarks.small_tables.tables import names
from suffice import audit

RATES = (0.05, 0.1, 0.2)
"""Shares of labels that are made wrong."""


def measure_cleanlab(chosen: list[str] | None, draws: int, rows: int) -> None:
    """Print average precision of ours and of cleanlab's ranking, and what intervals hold."""
    print(
        "| table | flips | rate | ours | logistic | forest | interval | true "
        "| CPU ours | logistic | forest |\n|---|---|---|---|---|---|---|---|---|---|---|"
    )
    told: list[tuple[str, float, float, float, bool, Any]] = []
    for name in chosen or names():
        held = numeric(name)
        if held is None:
            continue
        for flips in ("uniform", "nearest"):
            for rate in RATES:
                told += [_one(name, *held, flips, rate, rows, seed) for seed in range(draws)]
    for flips in ("uniform", "nearest"):
        some = [one for one in told if one[0] == flips]
        ours, logistic, forest = (np.array([one[j] for one in some]) for j in (1, 2, 3))
        print(
            f"{flips}: {len(some)} cells; at or above logistic on {(ours >= logistic).sum()}, "
            f"forests on {(ours >= forest).sum()}; mean {ours.mean():.3f}, {logistic.mean():.3f}, "
            f"{forest.mean():.3f}; interval holds the truth in {sum(one[4] for one in some)}"
        )
    spent = np.array([one[5] for one in told]).sum(axis=0)
    print(f"CPU in all: ours {spent[0]:.1f} s, logistic {spent[1]:.1f}, forests {spent[2]:.1f}")


def _one(
    name: str, X: Any, y: Any, flips: str, rate: float, rows: int, seed: int
) -> tuple[str, float, float, float, bool, Any]:
    from cleanlab.rank import get_label_quality_scores

    rng = np.random.default_rng(seed)
    some = rng.permutation(len(y))[:rows]
    X, y = X[some], np.unique(y[some], return_inverse=True)[1]
    k = int(y.max()) + 1
    wrong = np.zeros(len(y), dtype=bool)
    wrong[rng.permutation(len(y))[: round(rate * len(y))]] = True
    given = y.copy()
    scaled = StandardScaler().fit_transform(X)
    centres = np.stack([scaled[y == c].mean(axis=0) for c in range(k)])
    apart = np.square(centres[:, np.newaxis] - centres).sum(axis=2) + np.diag(np.full(k, np.inf))
    for i in np.flatnonzero(wrong):
        others = [c for c in range(k) if c != y[i]]
        given[i] = rng.choice(others) if flips == "uniform" else apart[y[i]].argmin()
    found, spent = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        told = audit(X, given)
        spent.append(time.process_time() - start)
        found.append(average_precision_score(wrong, told.odds))
        for model in (
            make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
            RandomForestClassifier(100, random_state=0),
        ):
            start = time.process_time()
            folds = StratifiedKFold(5, shuffle=True, random_state=seed)
            chances = cross_val_predict(model, X, given, cv=folds, method="predict_proba")
            quality = get_label_quality_scores(given, chances, method="self_confidence")
            spent.append(time.process_time() - start)
            found.append(average_precision_score(wrong, -quality))
    low, high = told.wrong_labels.low, told.wrong_labels.high
    inside = bool(low <= wrong.sum() <= high)
    cells = " | ".join(f"{value:.3f}" for value in found)
    times = " | ".join(f"{value:.2f}" for value in spent)
    print(
        f"| {name} | {flips} | {rate:g} | {cells} | {low:.0f} to {high:.0f} | {wrong.sum()} "
        f"| {times} |",
        flush=True,
    )
    return flips, found[0], found[1], found[2], inside, spent
