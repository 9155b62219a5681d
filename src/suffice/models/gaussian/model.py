"""Bayes' rule: from p(x | y) and p(y) to p(y | x)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import exp
from operator import add
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.engines.threads import for_blocks
from suffice.errors import BadSetting, NotLinear, listed
from suffice.kernels.dense.scores import (
    binary_log_posterior,
    binary_posterior,
    linear_scores,
    quadratic_scores,
    softmax,
    winners,
)
from suffice.linear_algebra import log_average, normalized
from suffice.models.gaussian.full_normals import FullNormals

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.models.gaussian.family import NormalClasses
    from suffice.models.linear.form import LinearForm
    from suffice.rows import FloatArray, IntArray, Label


QUADRATIC = (
    "quadratic: each class has its own covariance",
    'covariance="shared" has a linear form',
)
"""Problem and hint where a model is asked for a linear form that it has not."""
ROOM = 1 << 16
"""Scores that are held at a time where only the best of them counts: half a megabyte."""


@dataclass(frozen=True, eq=False)
class GenerativeModel:
    """Class priors and class densities: everything that was learned, and no data.

    `weights` tells from how many rows each class was learned (zero if it was not).
    """

    labels: tuple[Label, ...]
    log_priors: FloatArray
    densities: NormalClasses
    weights: FloatArray

    def with_log_priors(self, log_priors: FloatArray) -> Self:
        """Return a model with other priors and the same densities."""
        return replace(self, log_priors=log_priors)

    def log_joint(self, rows: FloatArray) -> FloatArray:
        """Return log p(x, y), one column per class."""
        found = self.densities.log_densities(rows)
        found += self.log_priors
        return found

    def log_density(self, rows: FloatArray) -> FloatArray:
        """Return log p(x), the evidence."""
        return log_average(self.densities.log_densities(rows), self.log_priors)

    def posterior(self, rows: FloatArray, *, log: bool = False) -> FloatArray:
        """Return p(y | x), or its logarithm, by Bayes' rule.

        Blocks go through the fused kernels; rows that come out non-finite (missing cells,
        or too far away for squares) are scored again with care.
        """
        size = len(self.labels)
        out = np.empty((len(rows), size))
        hard = np.zeros(len(rows), dtype=bool)
        if size == 1:
            self.densities.scores(rows, self.log_priors)  # refuses infinite cells
            out[:] = 0.0 if log else 1.0
            return out

        def work(part: slice) -> None:
            block, found = rows[part], out[part]
            with np.errstate(all="ignore"):
                if size == 2:
                    odds = found[:, 1]  # where they lie is room enough
                    if self._has_odds:
                        self._block_odds(block, odds)
                    else:
                        self._block_scores(block, found)
                        odds -= found[:, 0]
                    np.logical_not(np.isfinite(odds), out=hard[part])
                    (binary_log_posterior if log else binary_posterior)(odds, found)
                    return
                self._block_scores(block, found)
                if not np.isfinite(found.sum()):  # one sum is quicker than a look at each
                    hard[part] = ~np.isfinite(found).all(axis=1)
                softmax(found, log)

        for_blocks(work, len(rows), rows.shape[1], light=self._is_linear)
        if hard.any():
            found = normalized(self.densities.scores(rows[hard], self.log_priors))
            out[hard] = found if log else np.exp(found)
        return out

    def codes(self, rows: FloatArray) -> IntArray:
        """Return, for each row, the position of its likeliest class (the first, in a tie)."""
        return self.chosen(rows, np.arange(len(self.labels), dtype=np.intp))

    def chosen(self, rows: FloatArray, classes: NDArray[np.generic]) -> NDArray[Any]:
        """Return the likeliest class of each row (the first, in a tie): an element of `classes`.

        Nothing is as long as the rows but the answer: fetching memory for codes, and giving it
        back, would take as long as scoring does.
        """
        if len(self.labels) == 1:
            self.densities.scores(rows, self.log_priors)  # refuses infinite cells
            return np.repeat(classes, len(rows))
        width = 1 if self._has_odds else len(self.labels)
        step = max(ROOM // width, 1)
        out = np.empty(len(rows), dtype=classes.dtype)
        hard = np.zeros(len(rows), dtype=bool)

        def work(part: slice) -> None:
            room = np.empty((min(step, part.stop - part.start), width))
            places = np.empty(len(room), dtype=np.intp)
            for start in range(part.start, part.stop, step):
                some = slice(start, min(start + step, part.stop))
                scores, codes = room[: some.stop - start], places[: some.stop - start]
                with np.errstate(all="ignore"):
                    if self._has_odds:
                        self._block_odds(rows[some], scores[:, 0])
                    else:
                        self._block_scores(rows[some], scores)
                    winners(scores, codes, hard[some])
                np.take(classes, codes, out=out[some], mode="clip")  # nothing to clip: no buffer

        for_blocks(work, len(rows), rows.shape[1], light=self._is_linear)
        if hard.any():
            found = self.densities.scores(rows[hard], self.log_priors)
            out[hard] = classes[found.argmax(axis=1)]
        return out

    def _block_scores(self, rows: FloatArray, out: FloatArray) -> None:
        """Write scores of one block: linear ones when the covariance is shared."""
        densities = self.densities
        if not isinstance(densities, FullNormals):
            densities.block_scores(rows, self.log_priors, out)
        elif densities.is_shared:
            weights, offsets = densities.linear
            linear_scores(rows, densities.origin, weights, offsets + self.log_priors, out)
        else:
            matrices, shifts = densities.quadratic
            constants = self.log_priors - densities.log_volumes
            quadratic_scores(rows, densities.origin, matrices, shifts, constants, out)

    @property
    def _is_linear(self) -> bool:
        """Whether scores are linear: a few products a cell."""
        return isinstance(self.densities, FullNormals) and self.densities.is_shared

    @cached_property
    def _has_odds(self) -> bool:
        """Whether there are two classes whose log odds are one score column."""
        if len(self.labels) != 2 or not np.isfinite(self.log_priors).all():
            return False
        densities = self.densities
        return densities.is_shared if isinstance(densities, FullNormals) else densities.has_odds

    def _block_odds(self, rows: FloatArray, out: FloatArray) -> None:
        """Write the log odds of the second class of one block."""
        densities: Any = self.densities
        prior = float(self.log_priors[1] - self.log_priors[0])
        if isinstance(densities, FullNormals):
            weights, offset = densities.contrast
            intercept = np.array([offset + prior])
            linear_scores(
                rows, densities.origin, weights[np.newaxis], intercept, out[:, np.newaxis]
            )
        else:
            densities.block_odds(rows, prior, out)

    def linear_form(self) -> LinearForm:
        """Return the same classifier as weights and intercepts, if its boundary is flat."""
        from suffice.models.linear.form import LinearForm

        if not self.densities.is_shared:
            problem, hint = getattr(self.densities, "not_flat", QUADRATIC)
            raise NotLinear(f"the boundary between {listed(self.labels)} is {problem}", hint=hint)
        flat: Any = self.densities
        weights, offsets = flat.linear
        return LinearForm(self.labels, weights, self.log_priors + offsets, self.densities.origin)

    def sample(
        self, size: int, rng: np.random.Generator, label: Label | None = None
    ) -> tuple[FloatArray, IntArray]:
        """Draw classes from the priors (or one given class), then rows from their densities."""
        if label is None:
            priors = np.exp(self.log_priors)
            codes = rng.choice(len(self.labels), size=size, p=priors / priors.sum())
        else:
            if label not in self.labels:
                raise BadSetting(
                    f"there is no class {label!r}", hint=f"the classes are {listed(self.labels)}"
                )
            codes = np.full(size, self.labels.index(label))
        codes = codes.astype(np.intp)
        return self.densities.sample(codes, rng), codes


FEW_CLASSES = 16
"""Classes up to which a Python loop over scores is quicker than array operations. A choice."""
NEAR_DEVIATIONS = 64.0
"""Standard deviations from zero up to which rows are not centred first. A choice: it costs 6 of the
53 bits of a double in a linear score, 12 in a square."""


class OneRow:
    """A model made ready for single rows: float64 arrays of shape (1, width)."""

    __slots__ = ("_answers", "_scores", "_shape")

    def __init__(self, model: GenerativeModel, classes: NDArray[np.generic]) -> None:
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


def one_row(model: GenerativeModel, classes: NDArray[np.generic]) -> OneRow | None:
    """Return the model made ready for single rows, or None where that does not pay."""
    few = 2 <= len(classes) <= FEW_CLASSES
    fits = isinstance(model.densities, FullNormals) or model.densities.is_shared
    if not few or not fits or not np.isfinite(model.log_priors).all():
        return None
    return OneRow(model, classes)


def _scores(model: GenerativeModel) -> Callable[[FloatArray], list[float]]:
    law: Any = model.densities
    if law.is_shared:
        weights, offsets = law.linear
        offsets = offsets + model.log_priors
        origin = law.origin
        if np.all(np.abs(origin) <= NEAR_DEVIATIONS * law.scale):
            offsets, origin = offsets - weights @ origin, np.zeros_like(origin)
        return _linear(np.ascontiguousarray(weights.T), offsets.tolist(), origin)
    assert isinstance(law, FullNormals)
    matrices, shifts = law.quadratic
    constants = model.log_priors - law.log_volumes
    size, width = shifts.shape
    stacked = np.ascontiguousarray(matrices.reshape(size * width, width).T)
    # The origin goes into the shifts where that costs no digits.
    origin = law.origin
    if np.all(np.abs(origin) <= NEAR_DEVIATIONS * law.scale):
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
