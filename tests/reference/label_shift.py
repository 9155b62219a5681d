"""Two or three normal classes, new priors, and what is estimated of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice import GaussianDiscriminant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.label_shift import LabelShift

MEANS = np.array([[0.0, 0.0, 0.0], [1.5, 1.0, 0.0], [-1.0, 2.0, 1.0]])


def rows(
    labels: NDArray[np.intp], rng: np.random.Generator, *, spread: bool = False
) -> NDArray[np.float64]:
    """Draw rows in three columns; with `spread`, the second class is twice as wide."""
    scale = np.where(labels == 1, 2.0, 1.0)[:, np.newaxis] if spread else 1.0
    drawn: NDArray[np.float64] = MEANS[labels] + scale * rng.standard_normal((len(labels), 3))
    return drawn


def estimated(
    prior: float,
    rng: np.random.Generator,
    *,
    form: str = "shared",
    training_rows: int = 200,
    new_rows: int = 1000,
) -> LabelShift:
    """Return what is estimated of new rows, of which `prior` belong to the second class."""
    known = rng.permutation(np.arange(training_rows) % 2)
    spread = form == "per-class"
    model = GaussianDiscriminant(form).fit(rows(known, rng, spread=spread), known)
    new = (rng.random(new_rows) < prior).astype(np.intp)
    return model.estimate_priors(rows(new, rng, spread=spread))


def mean_estimate(prior: float, draws: int, *, form: str = "shared", seed: int = 2002) -> float:
    """Return the mean of estimates of models that were learned from 2,000 rows each."""
    rng = np.random.default_rng([seed, round(100 * prior)])
    found = [estimated(prior, rng, form=form, training_rows=2000) for _ in range(draws)]
    return float(np.mean([shift.priors[1] for shift in found]))


def coverage(prior: float, draws: int, *, form: str = "shared", seed: int = 95) -> int:
    """Return in how many draws the 95 % interval, from 200 training rows, holds the truth."""
    rng = np.random.default_rng([seed, round(100 * prior)])
    held = 0
    for _ in range(draws):
        low, high = estimated(prior, rng, form=form).intervals[1]
        held += low <= prior <= high
    return held
