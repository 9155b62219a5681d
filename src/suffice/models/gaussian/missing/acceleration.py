"""Where EM leads, told by its last steps: Anderson's acceleration, in coordinates that suit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray

    Parameters = tuple[FloatArray, FloatArray]

SHRINKS = 0.1
"""A leap leaves at least this share of a residual variance: where it tends to zero, and the leap
would pass it, a tenth is left of it each time."""

FARTHEST = 1e8
"""Standard deviations that a leap may lead away from the origin, and their square for covariances:
where slopes are large, what is foreseen may be beyond all numbers."""


class Leaps:
    """Where to look next, from means and covariances that the last few steps have led to.

    A normal law is a chain of regressions: each column on those before it, with an intercept,
    slopes and a residual variance. Where a column is missing only if all after it are, EM is a
    linear map of the slopes, and so acceleration sees through it; it is not one of covariances,
    which hold squares of slopes. So columns are taken in the order of how often they are there.
    And whatever the slopes are, the covariance is positive definite if the residual variances are
    positive: a leap never leaves the covariances, even where EM leads to their border.
    """

    def __init__(self, counts: FloatArray, *, shared: bool) -> None:
        seen = counts.sum(axis=0, keepdims=True) if shared else counts
        self._orders: IntArray = np.argsort(-seen, axis=1, kind="stable")
        self._back: IntArray = np.argsort(self._orders, axis=1)
        self._below = np.tril_indices(counts.shape[1], -1)
        self._memory = Acceleration()

    def forget(self) -> None:
        """Forget all steps: they were taken in another landscape."""
        self._memory.forget()

    def following(self, here: Parameters, image: Parameters, given: FloatArray) -> Parameters:
        """Return where to look next; `given` is what covariances have besides, to be invertible."""
        try:
            before, after = self._coded(here, given), self._coded(image, given)
            flat = self._memory.following(before, after)
            residual = self._orders.size
            flat[-residual:] = np.maximum(flat[-residual:], SHRINKS * after[-residual:])
            with np.errstate(over="ignore", invalid="ignore"):
                means, covariances = self._decoded(flat, len(here[0]))
            near = np.abs(means).max() < FARTHEST and np.abs(covariances).max() < FARTHEST**2
            np.linalg.cholesky(covariances)  # there is rounding
        except np.linalg.LinAlgError:
            near = False
        if near:
            return means, covariances - given
        self.forget()
        return image

    def _coded(self, parameters: Parameters, given: FloatArray) -> FloatArray:
        """Return intercepts, slopes and residual variances, one after the other."""
        means, covariances = parameters[0], parameters[1] + given
        each = np.arange(len(self._orders))[:, np.newaxis, np.newaxis]
        ordered = covariances[each, self._orders[:, :, np.newaxis], self._orders[:, np.newaxis]]
        factors = np.linalg.cholesky(ordered)
        deviations = np.diagonal(factors, axis1=1, axis2=2)
        slopes = np.linalg.inv(factors / deviations[:, np.newaxis])  # of the residuals: 1, -b, …
        centres = np.take_along_axis(means, self._of_classes(self._orders, len(means)), axis=1)
        intercepts = (slopes @ centres[:, :, np.newaxis])[:, :, 0]
        lower = slopes[:, self._below[0], self._below[1]]
        return np.concatenate([intercepts.ravel(), lower.ravel(), np.square(deviations).ravel()])

    def _decoded(self, flat: FloatArray, size: int) -> Parameters:
        """Return the means and covariances of `size` classes from what `_coded` returned."""
        count, width = self._orders.shape
        ends = size * width, len(flat) - count * width
        slopes = np.broadcast_to(np.eye(width), (count, width, width)).copy()
        slopes[:, self._below[0], self._below[1]] = flat[ends[0] : ends[1]].reshape(count, -1)
        inverse = np.linalg.inv(slopes)
        centres = (inverse @ flat[: ends[0]].reshape(size, width, 1))[:, :, 0]
        means = np.take_along_axis(centres, self._of_classes(self._back, size), axis=1)
        factors = inverse * np.sqrt(flat[ends[1] :]).reshape(count, 1, width)
        ordered = factors @ factors.transpose(0, 2, 1)
        each = np.arange(count)[:, np.newaxis, np.newaxis]
        return means, ordered[each, self._back[:, :, np.newaxis], self._back[:, np.newaxis]]

    @staticmethod
    def _of_classes(orders: IntArray, size: int) -> IntArray:
        return np.broadcast_to(orders, (size, orders.shape[1]))


MEMORY = 8
"""Earlier steps that Anderson's acceleration combines. A choice: more would be nearly combinations
of each other."""
GROWTH = 8.0
"""A point whose step is longer than that many of the last one was no progress. At 2, leaps to where
EM leads in the end were taken back; at 20, more of those that lead nowhere were followed."""
RIDGE = 1e-12
"""Steps that are combinations of each other are told apart no better than this."""


class Acceleration:
    """Where to look next, from what the last few steps did (Anderson 1965; Walker and Ni 2011).

    The next point is the combination of earlier images whose steps f = G(x) - x would cancel
    best, were G linear. Near its fixed point it nearly is, and what crept for hundreds of steps
    is there after a few. Where it is not, a step longer than the last tells: then the plain image
    is next, and what was remembered is forgotten.

    >>> aid, x = Acceleration(), np.zeros(2)
    >>> for count in range(6):
    ...     image = np.array([0.99 * x[0] + 0.01, 0.5 * x[1] + 0.001 * x[0]])
    ...     x = aid.following(x, image)
    >>> bool(abs(x[0] - 1.0) < 1e-9)
    True
    """

    def __init__(self) -> None:
        self.steps: list[FloatArray] = []
        self.images: list[FloatArray] = []
        self.plain: FloatArray | None = None
        self.length = np.inf

    def forget(self) -> None:
        """Forget all steps: G is another one now."""
        self.steps, self.images, self.plain, self.length = [], [], None, np.inf

    def following(self, here: FloatArray, image: FloatArray) -> FloatArray:
        """Return the next point to look at, given G(here)."""
        step = image - here
        length = float(np.sqrt(step @ step))
        if length > GROWTH * self.length and self.plain is not None:
            fallen = self.plain
            self.forget()
            return fallen
        self.length, self.plain = length, image
        self.steps.append(step)
        self.images.append(image)
        if len(self.steps) == 1:
            return image
        del self.steps[: -MEMORY - 1], self.images[: -MEMORY - 1]
        turns = np.diff(np.stack(self.steps), axis=0)
        sizes = np.sqrt(np.einsum("ij,ij->i", turns, turns))
        kept = sizes > 0.0
        if not kept.any():
            return image
        turns = turns[kept] / sizes[kept, np.newaxis]
        gram = turns @ turns.T
        gram[np.diag_indices(len(gram))] += RIDGE
        shares = np.linalg.solve(gram, turns @ step) / sizes[kept]
        found: FloatArray = image - shares @ np.diff(np.stack(self.images), axis=0)[kept]
        return found
