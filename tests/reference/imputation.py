"""What EM and marginalising are worth against filling cells with column means."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice import GaussianDiscriminant
from suffice.errors import SufficeWarning
from tests.reference.data_sets import load

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARE = 0.2
MOST_ROWS = 10_000
MOST_TEST_ROWS = 2000
PATTERNS = 300
CLIP = np.log(1e-15)


def compared(
    name: str, form: str, splits: int, patterns: int = PATTERNS, **settings: Any
) -> tuple[float, float]:
    """Return held-out log-loss with cells missing: of EM, and of mean imputation.

    A fifth of all cells is removed, completely at random, from the rows that are learned from
    (four fifths of them) and from those that are predicted. EM keeps moments for each pattern,
    so there are `patterns` of them, drawn first, and every row gets one by lot. Losses are
    clipped at -log 1e-15.
    """
    table = load(name).taken(MOST_ROWS)
    X, y = table.X.to_numpy(dtype=np.float64), table.y
    losses = np.zeros((splits, 2))
    for split in range(splits):
        rng = np.random.default_rng([split, len(X)])
        gone = rng.random((patterns, X.shape[1])) < SHARE
        holed = np.where(gone[rng.integers(patterns, size=len(X))], np.nan, X)
        order = rng.permutation(len(X))
        cut = len(X) * 4 // 5
        train, test = order[:cut], order[cut : cut + MOST_TEST_ROWS]
        # Rows of classes that were not learned cannot be judged.
        test = test[np.isin(y[test], y[train])]
        means = np.nanmean(holed[train], axis=0)
        filled = np.where(np.isnan(holed), means, holed)
        losses[split, 0] = _loss(form, holed[train], y[train], holed[test], y[test], settings)
        losses[split, 1] = _loss(form, filled[train], y[train], filled[test], y[test], settings)
    ours, theirs = losses.mean(axis=0)
    return float(ours), float(theirs)


def _loss(
    form: str,
    X: NDArray[np.float64],
    y: NDArray[np.generic],
    new_rows: NDArray[np.float64],
    new_labels: NDArray[np.generic],
    settings: dict[str, Any],
) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        model = GaussianDiscriminant(form, **settings).fit(X, y)
    places = np.searchsorted(model.classes_, new_labels)
    found = model.predict_log_proba(new_rows)[np.arange(len(places)), places]
    return float(-np.maximum(found, CLIP).mean())
