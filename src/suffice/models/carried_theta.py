"""θ of a rule that learns row by row, when labels or the scale of columns change under it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.models.linear import LinearForm

if TYPE_CHECKING:
    from suffice.models.standardisation import Standardisation
    from suffice.rows import FloatArray, IntArray, Label


def rows_of_theta(size: int) -> int:
    """Return how many rows θ has for so many classes: two classes need one.

    >>> [rows_of_theta(size) for size in (0, 1, 2, 3)]
    [1, 1, 1, 3]
    """
    return size if size > 2 else 1


def every_class(theta: FloatArray, size: int) -> FloatArray:
    """Return one row of θ for each class (size, d + 1), which add up to zero."""
    if size == 2:
        return np.concatenate((-0.5 * theta, 0.5 * theta))
    return theta if size > 2 else np.zeros((size, theta.shape[1]))


def with_labels(
    every: FloatArray, known: tuple[Label, ...], labels: tuple[Label, ...]
) -> FloatArray:
    """Return rows of θ in the order of more labels; those of new ones are zero."""
    found = np.zeros((len(labels), every.shape[1]))
    found[[labels.index(label) for label in known]] = every
    return found


def rescaled(theta: FloatArray, before: Standardisation, now: Standardisation) -> FloatArray:
    """Return θ for columns standardised anew: the same score for every row.

    With w_j = θ_j·inverse_j, the weight in the user's units, θ_j becomes w_j / inverse'_j, and
    the intercept moves by Σ w_j (origin'_j - origin_j). A column that has not varied so far has
    had no θ_j.
    """
    weights = theta[:, 1:] * before.inverse
    found = np.empty_like(theta)
    found[:, 0] = theta[:, 0] + weights @ (now.origin - before.origin)
    found[:, 1:] = weights * np.divide(
        1.0, now.inverse, out=np.zeros(len(now.inverse)), where=now.inverse > 0.0
    )
    return found


def embedded_theta(theta: FloatArray, places: IntArray, width: int) -> FloatArray:
    """Return θ for rows with more columns, which have all been zero so far."""
    found = np.zeros((len(theta), width + 1))
    found[:, 0] = theta[:, 0]
    found[:, 1 + places] = theta[:, 1:]
    return found


def linear_form(theta: FloatArray, labels: tuple[Label, ...], scale: Standardisation) -> LinearForm:
    """Return the classifier in the user's units; of two classes the first scores 0."""
    every = with_labels(theta, labels[1:], labels) if len(labels) == 2 else theta[: len(labels)]
    return LinearForm(labels, every[:, 1:] * scale.inverse, every[:, 0], scale.origin)
