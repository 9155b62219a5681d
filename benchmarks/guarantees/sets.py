"""Coverage and size of prediction sets on the tables beside the project, split by split."""

from __future__ import annotations

import json
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.small_tables.tables import names, table
from suffice import GaussianDiscriminant, LogisticRegression, MixtureDiscriminant, NaiveBayes, Pool

if TYPE_CHECKING:
    from pathlib import Path

FEWEST = 100
"""Rows of a table: with fewer a split says little."""
COVERAGE = 0.9
"""What is asked of sets."""
MODELS = {
    "gda": GaussianDiscriminant,
    "qda, pool .5": lambda: GaussianDiscriminant("per-class", pool=0.5),
    "diagonal": lambda: GaussianDiscriminant("diagonal"),
    "predictive": lambda: GaussianDiscriminant(predictive=1.0),
    "naive Bayes": NaiveBayes,
    "logistic, penalty 1": lambda: LogisticRegression(1.0),
    "mixtures": lambda: MixtureDiscriminant(components=2, random_state=0),
    "pool": Pool,
}
"""Estimators with fixed settings; a pool weighs its members by the rows."""


def measure_sets(
    chosen: list[str] | None,
    splits: int,
    rows: int,
    asked: int,
    models: list[str] | None = None,
    store: Path | None = None,
) -> None:
    """Print coverage at 90 %, its clustered standard error, and the mean size of sets.

    With `store`, counts of every split are kept in a file; splits that it has are not run again.
    """
    known = json.loads(store.read_text()) if store is not None and store.exists() else {}
    print(
        "| table | model | splits | coverage | se | size | CPU s |\n|---|---|---|---|---|---|---|"
    )
    for name in chosen or names():
        X, y = table(name)
        if len(y) < FEWEST:
            continue
        for called in models or MODELS:
            start = time.process_time()
            held = known.setdefault(f"{name}/{called}/{rows}", {})
            for seed in range(splits):
                if str(seed) not in held:
                    held[str(seed)] = _split(MODELS[called](), X, y, rows, asked, seed)
            if store is not None:
                store.write_text(json.dumps(known))
            print(_line(name, called, held, time.process_time() - start), flush=True)
    _summary(known)


def _line(name: str, called: str, held: dict[str, Any], spent: float) -> str:
    told = [one for one in held.values() if one is not None]
    if not told:
        return f"| {name} | {called} | 0 | refused | | | |"
    shares, sizes = (
        np.array([a / n for a, _, n, _ in told]),
        np.array([b / n for _, b, n, _ in told]),
    )
    error = shares.std(ddof=1) / np.sqrt(len(shares)) if len(shares) > 1 else np.nan
    return (
        f"| {name} | {called} | {len(told)} | {shares.mean():.3f} | {error:.3f} "
        f"| {sizes.mean():.2f} | {spent:.1f} |"
    )


def _summary(known: dict[str, Any]) -> None:
    """Print, model by model, the coverage over all tables, and the tables that fall short.

    Short is below the stated coverage by more than three standard errors, corrected for how many
    tables there are. Asked rows of one split share its training rows: that is in the error.
    """
    from scipy import stats

    for called in dict.fromkeys(key.split("/")[1] for key in known):
        cells = []
        for key, held in known.items():
            told = [one for one in held.values() if one is not None]
            if key.split("/")[1] == called and told:
                right, sizes, asked, learned = (sum(one[j] for one in told) for j in range(4))
                error = np.sqrt(COVERAGE * (1.0 - COVERAGE) * (1.0 / asked + 1.0 / learned))
                cells.append((key.split("/")[0], right, asked, sizes / asked, error))
        if not cells:
            continue
        most = stats.norm.isf(stats.norm.sf(3.0) / len(cells))
        short = [
            name
            for name, right, asked, _, error in cells
            if right / asked < COVERAGE - most * error
        ]
        shares = [right / asked for _, right, asked, *_ in cells]
        print(
            f"{called}: {len(cells)} tables, {sum(c[2] for c in cells):,} sets: coverage "
            f"{np.mean(shares):.3f} ({min(shares):.3f} to {max(shares):.3f}), mean size "
            f"{np.mean([c[3] for c in cells]):.2f}; short on {short or 'none'}"
        )


def _split(model: Any, X: Any, y: Any, rows: int, asked: int, seed: int) -> Any:
    """Return sets that hold the label, their sizes added up, and how many; None if refused."""
    order = np.random.default_rng(seed).permutation(len(y))
    first = min(rows, len(y) // 2)
    train, test = order[:first], order[first : first + asked]
    kept = np.isin(y[test], np.unique(y[train]))  # a class never seen is in no set
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted = model.fit(X.iloc[train], y[train])
            found = fitted.prediction_set(X.iloc[test], COVERAGE, rows=(X.iloc[train], y[train]))
        except ValueError:
            return None
    return [int((found.holds(y[test]) & kept).sum()), int(found.sizes.sum()), len(test), first]
