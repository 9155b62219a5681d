"""Learning curves of both schools, where GDA's assumption holds and where it does not."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import SeparationWarning
from suffice.plots.axes import new_figure
from suffice.plots.curves import draw_learning_curves

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

SIZES = (20, 40, 80, 160, 320, 640, 1280)
REPETITIONS = 50
WIDTH = 8
JUDGED = 4000


def _normal(size: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return rows of two normal classes with one covariance."""
    labels = np.arange(size) % 2
    return rng.normal(0.75 * labels[:, np.newaxis], 1.0, (size, WIDTH)), labels


def _exponential(size: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return rows of two exponential classes: the posterior is logistic, the classes not normal."""
    labels = np.arange(size) % 2
    return rng.exponential(1.0 + 0.9 * labels[:, np.newaxis], (size, WIDTH)), labels


def _errors(draw: Callable[..., tuple[Any, Any]], repetitions: int) -> dict[str, Any]:
    """Return the error of both schools on new rows, (repetitions, sizes)."""
    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant
    from suffice.estimators.linear.logistic_regression import LogisticRegression

    schools = {"GDA": GaussianDiscriminant, "logistic regression": LogisticRegression}
    found = {name: np.empty((repetitions, len(SIZES))) for name in schools}
    for i in range(repetitions):
        rng = np.random.default_rng([7, i])
        judged, truth = draw(JUDGED, rng)
        rows, labels = draw(SIZES[-1], rng)
        for j, size in enumerate(SIZES):
            for name, school in schools.items():
                model = school().fit(rows[:size], labels[:size])
                found[name][i, j] = (model.predict(judged) != truth).mean()
    return found


def learning() -> Figure:
    """Return two pictures of both schools: classes that are normal, and classes that are not."""
    figure = new_figure(10.2, 4.0)
    panels = figure.subplots(1, 2)
    with warnings.catch_warnings():
        # Twelve rows are easily parted by a plane: what logistic regression then says is judged.
        warnings.simplefilter("ignore", SeparationWarning)
        for ax, draw, title in (
            (panels[0], _normal, "normal classes, one Σ"),
            (panels[1], _exponential, "exponential classes"),
        ):
            found = _errors(draw, REPETITIONS)
            draw_learning_curves(
                ax, SIZES, found, measure="error on new rows", crossing=_crossing(*found.values())
            )
            ax.set_title(title, loc="left", fontsize=11)
    return figure


def _crossing(first: Any, second: Any) -> tuple[float, float] | None:
    """Return the sizes between which the other curve comes to lie lower, beyond two deviations."""
    apart = first - second
    lead, error = apart.mean(axis=0), apart.std(axis=0, ddof=1) / np.sqrt(len(apart))
    before, after = np.flatnonzero(lead < -2.0 * error), np.flatnonzero(lead > 2.0 * error)
    if len(before) == 0 or len(after) == 0 or before[-1] > after[0]:
        return None
    return SIZES[before[-1]], SIZES[after[0]]
