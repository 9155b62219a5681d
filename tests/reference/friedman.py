"""Friedman's (1989) six settings for regularized discriminant analysis, and their known errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

TRAINING_ROWS = 40
TEST_ROWS = 100
CLASSES = 3

# (setting, columns): error of regularized discriminant analysis and its standard error, 25 draws.
KNOWN = {
    (1, 6): (0.125, 0.008),
    (1, 10): (0.128, 0.007),
    (1, 20): (0.152, 0.009),
    (1, 40): (0.199, 0.014),
    (2, 6): (0.179, 0.010),
    (2, 10): (0.132, 0.007),
    (2, 20): (0.100, 0.008),
    (2, 40): (0.053, 0.010),
    (3, 6): (0.075, 0.006),
    (3, 10): (0.122, 0.010),
    (3, 20): (0.274, 0.013),
    (3, 40): (0.438, 0.017),
    (4, 6): (0.063, 0.006),
    (4, 10): (0.099, 0.008),
    (4, 20): (0.124, 0.006),
    (4, 40): (0.182, 0.009),
    (5, 6): (0.232, 0.014),
    (5, 10): (0.200, 0.014),
    (5, 20): (0.142, 0.010),
    (5, 40): (0.119, 0.008),
    (6, 6): (0.079, 0.006),
    (6, 10): (0.077, 0.010),
    (6, 20): (0.094, 0.010),
    (6, 40): (0.099, 0.012),
}


def population(setting: int, width: int) -> tuple[Floats, Floats]:
    """Return the means and the variances (3, width) of the classes; columns are independent."""
    i = np.arange(1.0, width + 1.0)
    means, variances = np.zeros((CLASSES, width)), np.ones((CLASSES, width))
    rising = np.square(9.0 * (i - 1.0) / (width - 1.0) + 1.0)
    alternating = np.where(i % 2 == 1, -1.0, 1.0)
    if setting in (1, 2):
        means[1, 0] = 3.0
        means[2, 1] = 3.0 if setting == 1 else 4.0
        if setting == 2:
            variances *= np.array([[1.0], [4.0], [9.0]])
    elif setting in (3, 4):
        variances[:] = rising
        place = width - i if setting == 3 else i - 1.0
        means[1] = 2.5 * np.sqrt(rising / width) * place / (width / 2.0 - 1.0)
        means[2] = alternating * means[1]
    else:
        variances[0] = rising
        variances[1] = np.square(9.0 * (width - i) / (width - 1.0) + 1.0)
        variances[2] = np.square(9.0 * (i - (width - 1.0) / 2.0) / (width - 1.0) + 1.0)
        if setting == 6:
            means[1] = 14.0 / np.sqrt(width)
            means[2] = alternating * means[1]
    return means, variances


def draw(
    setting: int, width: int, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.intp], Floats, NDArray[np.intp]]:
    """Return training rows and labels, at least two of each class, and test rows and labels."""
    means, variances = population(setting, width)

    def rows(labels: NDArray[np.intp]) -> Floats:
        noise = rng.standard_normal((len(labels), width))
        drawn: Floats = means[labels] + np.sqrt(variances[labels]) * noise
        return drawn

    while True:
        known = rng.integers(CLASSES, size=TRAINING_ROWS)
        if np.bincount(known, minlength=CLASSES).min() >= 2:
            break
    new = rng.integers(CLASSES, size=TEST_ROWS)
    return rows(known), known, rows(new), new


def errors(setting: int, width: int, draws: int, seed: int = 1989) -> Floats:
    """Return the test error of covariance="auto" in every draw."""
    from suffice import GaussianDiscriminant

    rng = np.random.default_rng([seed, setting, width])
    found = np.empty(draws)
    for i in range(draws):
        X, y, new_rows, new_labels = draw(setting, width, rng)
        model = GaussianDiscriminant(covariance="auto").fit(X, y)
        found[i] = np.mean(model.predict(new_rows) != new_labels)
    return found


def allowed(setting: int, width: int, standard_error: float) -> float:
    """Return the largest mean error that passes: 4 standard errors of the difference of means.

    In setting 4 Friedman gains from columns that share a unit, which a model that does not
    depend on units cannot know: .05 is granted from 20 columns on.
    """
    error, spread = KNOWN[setting, width]
    band = 4.0 * float(np.hypot(standard_error, spread))
    return error + (0.05 if setting == 4 and width >= 20 else band)
