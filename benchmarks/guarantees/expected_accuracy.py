"""Accuracy without labels on tables: how often it is inside its interval, under planted shifts."""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.small_tables.tables import names, table
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.errors import SufficeError
from suffice.monitoring.expected_accuracy import expected_accuracy
from suffice.monitoring.kept_cells import left_out_posteriors

LEARNED = 400
"""Rows to learn from, all of them kept."""
ASKED = 500
"""Rows of a batch whose accuracy is asked for."""
DRAWN_FROM = 5_000
"""Rows that batches are drawn from, at most."""
WIDEST = 100
"""Columns of a table, at most: of more, draws take long."""
LOOKED_AT = 3
"""Columns by which rows are chosen, where covariates move."""
MODELS: dict[str, Any] = {"gda": GaussianDiscriminant, "naive Bayes": NaiveBayes}
"""Models that can leave kept rows out."""


def _leaning(X: pd.DataFrame, rng: np.random.Generator) -> Any:
    """Return how far each row leans in a random direction of a few columns, in deviations."""
    columns = []
    for place in rng.permutation(X.shape[1])[:LOOKED_AT]:
        cells = X.iloc[:, place]
        if pd.api.types.is_numeric_dtype(cells):
            ranks = cells.rank(pct=True).fillna(0.5).to_numpy(dtype=np.float64)
        else:
            codes = pd.factorize(cells.astype(str))[0]
            ranks = rng.normal(size=codes.max() + 1)[codes]
        columns.append((ranks - ranks.mean()) / max(ranks.std(), 1e-9))
    found = np.stack(columns, axis=1) @ rng.normal(size=len(columns))
    return found / max(found.std(), 1e-9)


def _chances(X: pd.DataFrame, y: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Return by which weight rows are drawn under every planted shift.

    `covariates`: by their cells alone, so that p(y | x) stays. `labels`: the odds of each class
    times e to a normal number; `any labels`: all shares alike; p(x | y) stays in both.
    """
    classes, codes = np.unique(y, return_inverse=True)
    share = rng.dirichlet(np.ones(len(classes))) / np.bincount(codes)
    tilt = np.exp(rng.normal(size=len(classes)))
    return {
        "nothing": np.ones(len(y)),
        "covariates": 1.0 / (1.0 + np.exp(-2.0 * _leaning(X, rng))),
        "labels": tilt[codes],
        "any labels": share[codes],
    }


def measure_accuracy(chosen: list[str] | None, draws: int) -> None:
    """Print how often the accuracy is inside its interval, for every model and planted shift."""
    told: dict[tuple[str, str], list[tuple[bool, float, str]]] = defaultdict(list)
    start = time.process_time()
    for name in chosen or names():
        X, y = table(name)
        if len(y) < LEARNED + ASKED or X.shape[1] > WIDEST:
            continue
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            order = rng.permutation(len(y))
            first, pool = order[:LEARNED], order[LEARNED : LEARNED + DRAWN_FROM]
            pool = pool[np.isin(y[pool], y[first])]
            chances = _chances(X.iloc[pool], y[pool], rng)
            for called, make in MODELS.items():
                found = _of_model(make, X, y, first, pool)
                if found is None:
                    continue
                judged, posterior, right = found
                for what, weight in chances.items():
                    again = what.endswith("labels")
                    some = rng.choice(
                        len(pool),
                        min(ASKED, len(pool) // 3),
                        replace=again,
                        p=weight / weight.sum(),
                    )
                    e = expected_accuracy(judged, posterior[some])
                    inside = e.low <= right[some].mean() <= e.high
                    told[called, what].append((inside, (e.high - e.low) / 2.0, name))
    print("| model | planted | batches | tables | inside | half width | lowest tables |")
    print("|---|---|---|---|---|---|---|")
    for (called, what), cells in told.items():
        by_table = defaultdict(list)
        for inside, _, name in cells:
            by_table[name].append(inside)
        low = sorted((float(np.mean(some)), name) for name, some in by_table.items())[:3]
        print(
            f"| {called} | {what} | {len(cells)} | {len(by_table)} "
            f"| {np.mean([c[0] for c in cells]):.3f} | {np.mean([c[1] for c in cells]):.3f} "
            f"| {', '.join(f'{name} {share:.2f}' for share, name in low)} |"
        )
    print(f"{time.process_time() - start:.0f} s of CPU")


def _of_model(make: Any, X: pd.DataFrame, y: Any, first: Any, pool: Any) -> Any:
    """Return kept rows left out, posteriors of the pool, and whether they are right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = make(calibration_rows=LEARNED).fit(X.iloc[first], y[first])
            judged = left_out_posteriors(model.learned_)
            posterior = np.asarray(model.predict_proba(X.iloc[pool]))
        except SufficeError:
            return None
    if judged is None:
        return None
    return judged, posterior, model.classes_[posterior.argmax(axis=1)] == y[pool]
