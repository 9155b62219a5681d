"""Small tables of many categories and many classes: more coefficients than rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray


def categorical_table(
    seed: int,
    rows: int = 683,
    columns: int = 35,
    classes: int = 19,
    *,
    groups: int = 5,
    blank: float = 0.05,
    confused: float = 0.06,
) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Return columns of 2 to 7 levels with blanks, and labels of unequal classes.

    Classes come in groups that are nearly alike; some classes leave the same columns blank, as
    questions that were not asked do. `confused` is the share of rows that repeat another row's
    cells under their own label: with none the classes are mostly separated completely, with a few
    in part, with many hardly.
    """
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(classes, 1.2))
    codes = np.concatenate([np.arange(classes), rng.choice(classes, rows - classes, p=shares)])
    rng.shuffle(codes)
    group = rng.integers(groups, size=classes)
    silent = rng.random(classes) < 0.2
    found = {}
    for j in range(columns):
        levels = int(rng.integers(2, 8))
        alike = rng.dirichlet(np.full(levels, 0.15), size=groups)[group]
        own = rng.dirichlet(np.full(levels, 0.3), size=classes)
        chances = np.where((rng.random(classes) < 0.15)[:, np.newaxis], own, alike)
        chances = 0.97 * chances + 0.03 * rng.dirichlet(np.ones(levels))
        above = np.cumsum(chances[codes], axis=1) < rng.random(rows)[:, np.newaxis]
        cells = np.array([f"level {c}" for c in above.sum(axis=1).clip(0, levels - 1)], object)
        cells[rng.random(rows) < blank * rng.random()] = None
        if rng.random() < 0.3:
            cells[silent[codes] & (rng.random(rows) < 0.95)] = None
        found[f"q{j}"] = cells
    frame = pd.DataFrame(found)
    again = rng.choice(rows, int(confused * rows), replace=False)
    frame.iloc[again] = frame.iloc[rng.choice(rows, len(again))].to_numpy()
    return frame, np.array([f"class {c:02d}" for c in codes])
