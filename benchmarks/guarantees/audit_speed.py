"""CPU of an audit beside five-fold probabilities of two models, in interleaved rounds."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from suffice import audit

PEERS: dict[str, Any] = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "forests": RandomForestClassifier(100, random_state=0),
}
"""Models whose five-fold probabilities rank labels; their ranking itself takes no time."""
MOST_FOREST = 20_000
"""Rows of which forests are measured: of 100,000 five forests take minutes."""


def measure_audit_speed(rows: list[int], columns: int, classes: int, rounds: int) -> None:
    """Print the median CPU of an audit, and of each peer the median of ratios within rounds."""
    print(f"| rows, {columns} columns, {classes} classes | audit | " + " | ".join(PEERS) + " |")
    print("|---|---|" + "---|" * len(PEERS))
    for n in rows:
        rng = np.random.default_rng(n)
        y = rng.integers(0, classes, n)
        X = rng.normal(size=(n, columns)) + (1.5 / np.sqrt(columns)) * y[:, np.newaxis]
        wrong = rng.random(n) < 0.1
        y[wrong] = (y[wrong] + 1) % classes
        peers = {name: one for name, one in PEERS.items() if name != "forests" or n <= MOST_FOREST}
        audit(X, y)  # compiles
        ours, theirs = [], {name: [] for name in peers}
        for _ in range(rounds):
            ours.append(_spent(lambda X=X, y=y: audit(X, y)))
            for name, model in peers.items():
                theirs[name].append(_spent(lambda m=model, X=X, y=y: cross_val_predict(
                    m, X, y, cv=5, method="predict_proba")))  # fmt: skip
        told = [
            f"{np.median(theirs[name]):.3f} s, {np.median(np.divide(theirs[name], ours)):.1f}x"
            if name in theirs
            else ""
            for name in PEERS
        ]
        print(f"| {n:,} | {np.median(ours):.3f} s | " + " | ".join(told) + " |", flush=True)


def _spent(work: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        work()
        return time.process_time() - start
