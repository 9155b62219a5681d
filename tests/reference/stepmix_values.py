"""What StepMix finds in tables of categories, from given starts: values for test_stepmix.py.

Made in an environment of its own (benchmarks/peers/stepmix.txt), with nothing of ours:

    .peers/stepmix/bin/python tests/reference/stepmix_values.py ../shared/data/tab

EM goes on until a step gains less than 1e-13 a row. Starts are responsibilities drawn uniformly by
NumPy's RandomState, as StepMix draws them by itself.
"""

import json
import sys
from pathlib import Path

import numpy as np

PLACE = Path(__file__).with_name("stepmix.json")
"""Where the values are."""
TABLES = {"vote": (2, 3, 4), "mushroom": (2, 4), "lymphography": (2, 3)}
"""Tables, and the numbers of classes."""
MADE = {"complete": 0.0, "blanks": 0.2}
"""Tables that are made, and the share of blanks in each."""
SEEDS = (0, 1, 2)
"""Seeds of the starts."""


def made(blanks):
    """Return codes (400, 6) of three classes, NaN where a cell is blank."""
    rng = np.random.RandomState(7)
    sizes = [2, 3, 4, 2, 5, 3]
    laws = [rng.dirichlet(np.full(size, 0.6), size=3) for size in sizes]
    classes = rng.choice(3, size=400, p=[0.5, 0.3, 0.2])
    rows = [[rng.choice(len(law[c]), p=law[c]) for law in laws] for c in classes]
    codes = np.array(rows, dtype=float)
    codes[rng.uniform(size=codes.shape) < blanks] = np.nan
    return codes


def read(place):
    """Return the codes of a table whose last column is its label: levels in their order as text."""
    import pandas as pd

    table = pd.read_csv(place, dtype=str).drop(columns="target")
    columns = []
    for name in table:
        levels = sorted(table[name].dropna().unique())
        at = {level: float(i) for i, level in enumerate(levels)}
        columns.append([at.get(cell, np.nan) for cell in table[name]])
    return np.array(columns).T


def start(codes, classes, seed):
    """Return the responsibilities (n, k) after StepMix's first E-step.

    It draws some, estimates the laws, and begins with shares that are equal.
    """
    drawn = np.random.RandomState(seed).uniform(size=(len(codes), classes))
    drawn /= drawn.sum(axis=1)[:, np.newaxis]
    logs = np.zeros((len(codes), classes))
    for cells in codes.T:
        seen = ~np.isnan(cells)
        levels = np.arange(np.nanmax(cells) + 1)
        shown = (cells[:, np.newaxis] == levels).astype(float)
        shares = shown.T @ drawn / drawn[seen].sum(axis=0)
        logs += shown @ np.log(np.clip(shares, 1e-15, 1.0))
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def main(folder):
    """Write the log-likelihoods of all tables, numbers and seeds."""
    from stepmix.stepmix import StepMix

    tables = {name: (made(blanks), (2, 3)) for name, blanks in MADE.items()}
    tables |= {name: (read(Path(folder) / f"{name}.csv.gz"), ks) for name, ks in TABLES.items()}
    found = {}
    for name, (codes, numbers) in tables.items():
        for k in numbers:
            for seed in SEEDS:
                model = StepMix(
                    k, measurement="categorical_nan" if np.isnan(codes).any() else "categorical",
                    abs_tol=1e-13, rel_tol=0.0, max_iter=50_000, random_state=seed, progress_bar=0,
                )  # fmt: skip
                model.fit(codes)
                value = model.score(codes) * len(codes)
                found[f"{name} {k} {seed}"] = [value, int(model.n_parameters)]
                print(name, k, seed, value, model.n_iter_, flush=True)
    PLACE.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
