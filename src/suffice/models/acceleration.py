"""Anderson's acceleration of an iteration x ← G(x) that creeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from suffice.rows import FloatArray

MEMORY = 8
"""How many earlier steps are combined."""
PATIENCE = 2.0
"""A point whose step is longer than that many of the last one was no progress."""
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
        if length > PATIENCE * self.length and self.plain is not None:
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
