"""What the mixtures of all classes have in common: which columns vary, and in which units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.models.gaussian.class_moments import ClassSummary
from suffice.models.gaussian.diagonal_normals import DiagonalNormals
from suffice.models.gaussian.full_normals import FullNormals
from suffice.models.gaussian.model import GenerativeModel
from suffice.models.mixture.coordinates import Coordinates, refuse_far
from suffice.models.mixture.factored.factor_forms import form_parameters
from suffice.models.mixture.fitting import MixtureFit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.mixture.laws import MixtureLaws
    from suffice.rows import FloatArray


@dataclass(frozen=True, eq=False)
class StreamFrame:
    """Origin, units and covariance of the first rows of all classes together.

    `total` (a, a) is their covariance in the columns that vary, in units of `scale`; `weight` what
    they weigh. It stays while a stream goes by, so that classes which come later can be compared.
    """

    origin: FloatArray
    origin_low: FloatArray
    scale: FloatArray
    active: NDArray[np.bool_]
    total: FloatArray
    weight: float

    @classmethod
    def of_summary(cls, summary: ClassSummary) -> Self:
        """Take what the moments of all rows say."""
        active = summary.active
        if summary.scatter.ndim == 2:
            total = summary.scatter[np.ix_(active, active)] / summary.weight
        else:
            counts = np.maximum(summary.counts.sum(axis=0), 1.0)
            total = np.diag((summary.scatter / counts)[active])
        place = summary.origin, summary.origin_low, np.where(active, summary.scale, 1.0)
        return cls(*place, active, total, summary.weight)

    @classmethod
    def of_laws(cls, laws: MixtureLaws, weights: FloatArray) -> Self:
        """Take what classes that were fitted to all rows at once say of these together."""
        active, owners = laws.active, laws.owners
        law = laws.components
        shares = laws.mixing.max(axis=0) * (weights / weights.sum())[owners]
        means = law.means[:, active]
        centre = shares @ means
        gaps = (means - centre) * np.sqrt(shares)[:, np.newaxis]
        if isinstance(law, FullNormals):
            inner = law.factors @ law.factors.transpose(0, 2, 1)
        else:
            spread = np.square(law.deviations[:, active])
            inner = spread[:, :, np.newaxis] * np.eye(spread.shape[1])
        every = np.broadcast_to(inner, (len(shares), *inner.shape[1:]))
        total = np.einsum("c,cij->ij", shares, every) + gaps.T @ gaps
        if laws.silent:  # along these directions stands a variance for none
            values, basis = np.linalg.eigh(total)
            values[: laws.silent] = 0.0
            total = (basis * values) @ basis.T
        deviations = np.sqrt(np.diagonal(total))
        scale = np.ones(len(active))
        scale[active] = law.scale[active] * deviations
        total = total / np.multiply.outer(deviations, deviations)
        return cls(law.origin, law.origin_low, scale, active, total, float(weights.sum()))

    def refuse_far(self, rows: FloatArray) -> None:
        """Refuse rows whose squares are beyond what a file may hold, in units of the first rows."""
        refuse_far(rows, self)

    def summary(self) -> ClassSummary:
        """Return it as moments of rows."""
        width = len(self.origin)
        scatter = np.zeros((width, width))
        scatter[np.ix_(self.active, self.active)] = self.total * self.weight
        held = np.array([self.weight])
        place = self.origin, self.origin_low, self.scale, self.active, np.zeros((1, width))
        return ClassSummary(held, *place, scatter, None, np.full((1, width), self.weight))

    def coordinates(self, form: str, weight: float) -> Coordinates:
        """Return the coordinates of a form, for rows of so much weight."""
        return replace(Coordinates.of(self.summary(), form, complete=False), weight=weight)


def fit_of_class(
    laws: MixtureLaws,
    c: int,
    form: str,
    frame: StreamFrame,
    weight: float,
    log_likelihood: float,
    *,
    converged: bool,
) -> MixtureFit:
    """Return one class of several as a mixture by itself, in the units of its form."""
    own = np.flatnonzero(laws.owners == c)
    law, coordinates = laws.components, frame.coordinates(form, weight)
    ratio = law.scale / coordinates.scale
    shares = laws.mixing[c, own]
    active = frame.active
    means = np.zeros((len(own), len(active)))
    means[:, active] = (law.means[own] * ratio)[:, active]
    place = law.origin, law.origin_low, coordinates.scale, active, means
    densities: Any
    if isinstance(law, FullNormals):
        chosen = own if len(law.factors) > 1 else np.zeros(1, dtype=np.intp)
        factors = law.factors[chosen] * ratio[active][:, np.newaxis]
        whitenings = law.whitenings[chosen] / ratio[active]
        densities = FullNormals(*place, factors, whitenings, law.rank, law.silent)
        if form.endswith("I"):  # joined with classes that have covariances
            deviations = np.ones((len(factors), len(active)))
            deviations[:, active] = np.diagonal(factors, axis1=1, axis2=2)
            densities = DiagonalNormals(*place, deviations)
    else:
        chosen = own if len(law.deviations) > 1 else np.zeros(1, dtype=np.intp)
        densities = DiagonalNormals(*place, law.deviations[chosen] * ratio)
    with np.errstate(divide="ignore"):
        logs = np.log(shares / shares.sum())
    model = GenerativeModel(tuple(range(len(own))), logs, densities, shares * weight)
    count = form_parameters(form, len(own), coordinates.width)
    return MixtureFit(
        model, form, 0.0, 0.0, log_likelihood, weight, count, converged, False, (), ()
    )
