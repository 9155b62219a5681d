"""One row at a time, with as little as possible between the question and the answer.

Reading, checking, blocks and threads cost twenty times what scoring one row does. Here the
scores are computed first and looked at afterwards: if they are not finite, or the row is not
plain numbers of the right width, the answer is None and the usual way has to be taken.
"""

from __future__ import annotations

from math import exp
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.families.full_normals import FullNormals

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.models.generative import GenerativeModel
    from suffice.rows import FloatArray

FEW = 16
"""Up to so many classes a Python loop over scores is quicker than array operations."""
NEAR = 64.0
"""Up to so many standard deviations from zero, centring is not needed to keep the digits."""


class OneRow:
    """A model made ready for single rows: float64 arrays of shape (1, width)."""

    __slots__ = ("_answers", "_scores", "_shape")

    def __init__(self, model: GenerativeModel, classes: NDArray[Any]) -> None:
        self._shape = (1, len(model.densities.origin))
        self._answers = [classes[c : c + 1].copy() for c in range(len(classes))]
        self._scores = _scores(model)

    def predict(self, row: FloatArray) -> NDArray[Any] | None:
        """Return the likeliest class as an array of one, or None."""
        if row.shape != self._shape:
            return None
        scores = self._scores(row)
        total = sum(scores)
        # Not a number, or beyond range: x - x is zero for finite numbers only.
        if total - total == 0.0:
            return self._answers[scores.index(max(scores))].copy()
        return None

    def posterior(self, row: FloatArray) -> FloatArray | None:
        """Return p(y | x) as an array (1, k), or None."""
        if row.shape != self._shape:
            return None
        scores = self._scores(row)
        total = sum(scores)
        if total - total != 0.0:
            return None
        best = max(scores)
        weights = [exp(score - best) for score in scores]
        total = sum(weights)
        return np.array([[weight / total for weight in weights]])


def one_row(model: GenerativeModel, classes: NDArray[Any]) -> OneRow | None:
    """Return the model made ready for single rows, or None where that does not pay."""
    few = 2 <= len(classes) <= FEW
    fits = isinstance(model.densities, FullNormals) or model.densities.is_shared
    if not few or not fits or not np.isfinite(model.log_priors).all():
        return None
    return OneRow(model, classes)


def _scores(model: GenerativeModel) -> Callable[[FloatArray], list[float]]:
    law = model.densities
    if law.is_shared:
        weights, offsets = law.linear
        offsets = offsets + model.log_priors
        origin = law.origin
        if np.all(np.abs(origin) <= NEAR * law.scale):
            offsets, origin = offsets - weights @ origin, np.zeros_like(origin)
        return _linear(np.ascontiguousarray(weights.T), offsets.tolist(), origin)
    assert isinstance(law, FullNormals)
    matrices, shifts = law.quadratic
    constants = model.log_priors - law.log_volumes
    size, width = shifts.shape
    stacked = np.ascontiguousarray(matrices.reshape(size * width, width).T)
    # The origin goes into the shifts where that costs no digits.
    origin = law.origin
    if np.all(np.abs(origin) <= NEAR * law.scale):
        shifts = shifts + matrices @ origin
        origin = np.zeros_like(origin)
    return _quadratic(stacked, shifts.ravel(), constants.tolist(), origin, width)


def _linear(
    weights: FloatArray, offsets: list[float], origin: FloatArray
) -> Callable[[FloatArray], list[float]]:
    def scores(row: FloatArray) -> list[float]:
        return list(map(add, row.dot(weights)[0].tolist(), offsets))

    def centred_scores(row: FloatArray) -> list[float]:
        return list(map(add, (row - origin).dot(weights)[0].tolist(), offsets))

    return centred_scores if origin.any() else scores


def _quadratic(
    stacked: FloatArray, shifts: FloatArray, constants: list[float], origin: FloatArray, width: int
) -> Callable[[FloatArray], list[float]]:
    centred = bool(origin.any())
    places = [(c * width, (c + 1) * width) for c in range(len(constants))]

    def scores(row: FloatArray) -> list[float]:
        white = ((row - origin) if centred else row).dot(stacked)[0]
        white -= shifts
        found = []
        for (start, stop), constant in zip(places, constants, strict=True):
            part = white[start:stop]
            found.append(constant - 0.5 * float(part.dot(part)))
        return found

    return scores
