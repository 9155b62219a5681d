"""Fisher's discriminant coordinates: the few directions along which classes differ most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.families.full_normals import FullNormals
from suffice.linear_algebra import EPSILON

if TYPE_CHECKING:
    from suffice.models.generative import GenerativeModel
    from suffice.rows import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Discriminants:
    """Coordinates (x - origin)·scalings - shift in which classes are round.

    Within classes the coordinates are uncorrelated with variance 1; `variances` are the
    variances of the class means along them, weighted by the priors, largest first.
    """

    origin: FloatArray
    scalings: FloatArray
    shift: FloatArray
    variances: FloatArray

    @property
    def explained(self) -> FloatArray:
        """The share of the differences between classes that each coordinate carries."""
        total = self.variances.sum()
        return self.variances / total if total > 0.0 else np.zeros_like(self.variances)

    def coordinates(self, rows: FloatArray) -> FloatArray:
        """Return rows in discriminant coordinates."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = (rows - self.origin) @ self.scalings - self.shift
            far = np.isnan(found).any(axis=1)
            if far.any():  # beyond the range of a double: 2⁻³⁰⁰ of the row, and back
                near = np.ldexp(rows[far], -300) - np.ldexp(self.origin, -300)
                found[far] = np.ldexp(near @ self.scalings, 300)
        return found


def discriminants(model: GenerativeModel) -> Discriminants:
    """Return at most k - 1 coordinates of a model with shared covariance."""
    law = model.densities
    assert isinstance(law, FullNormals)
    assert law.is_shared
    whitening = law.whitenings[0]
    white = law.means[:, law.active] @ whitening.T
    priors = np.exp(model.log_priors)
    centre = priors @ white
    reach = (white - centre) * np.sqrt(priors)[:, np.newaxis]
    _, lengths, directions = np.linalg.svd(reach, full_matrices=False)
    count = min(len(priors) - 1, int((lengths > lengths.max(initial=0.0) * 16.0 * EPSILON).sum()))
    directions, lengths = directions[:count], lengths[:count]
    standard = directions @ whitening  # (count, active), per standardized column
    # Signs are arbitrary: the largest loading of every coordinate is positive.
    tops = np.take_along_axis(standard, np.abs(standard).argmax(axis=1)[:, np.newaxis], axis=1)
    signs = np.where(tops[:, 0] < 0.0, -1.0, 1.0) if count else np.ones(0)
    scalings = np.zeros((len(law.origin), count))
    scalings[law.active] = (standard * signs[:, np.newaxis] / law.scale[law.active]).T
    shift = signs * (directions @ centre) + law.origin_low @ scalings
    return Discriminants(law.origin, scalings, shift, np.square(lengths))
