"""The M-step: components of a form from sums, with a prior where one is wanted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.gaussian.floors import EIGENVALUE_FLOOR
from suffice.models.gaussian.forms.covariances import (
    Tied,
    diagonal_variances_of,
    tied_covariances,
)
from suffice.models.mixture.factored.factor_forms import (
    FactorSearch,
    factor_covariances,
    factors_of,
    is_one,
)
from suffice.models.mixture.sums import Components, completed

if TYPE_CHECKING:
    from suffice.models.mixture.coordinates import Coordinates
    from suffice.models.mixture.sums import MixtureSums
    from suffice.rows import FloatArray

SWEEPS = 1
"""Sweeps over common axes in one M-step. A choice: the next goes on from there, and a step that
raises the expected likelihood without maximising it raises the likelihood too."""
PRIOR_ROWS = 0.01
"""Rows of the prior at the mean of all rows: Fraley and Raftery (2007)."""
COLLAPSED = 1e-8
"""Least variance of a component along any direction, as a share of that of all rows: with less, it
sits on rows that are nearly equal, and the likelihood has no maximum."""
EMPTIED = 1e-6
"""Least weight of a component, in rows: with less there is nothing to estimate it from."""


@dataclass(frozen=True, eq=False)
class ComponentPrior:
    """What Fraley and Raftery (2007) add to every component, column by column.

    A scatter `scatter` (a, a) and `freedom` rows for it, and `PRIOR_ROWS` at the mean of all rows,
    the origin. Of covariances that all components share, each adds its part.
    """

    scatter: FloatArray
    freedom: float

    @classmethod
    def of(cls, form: str, components: int, coordinates: Coordinates) -> ComponentPrior:
        """Return the prior of a form: Λ = Cov(x)/k^(2/d) with d + 2 degrees of freedom."""
        width = coordinates.width
        spread = coordinates.total / components ** (2.0 / width)
        nu = width + 2.0
        if form.endswith("II"):
            spread, freedom = np.eye(width) * np.trace(spread) / width**2, (nu + 2.0) / width
        elif form.endswith("I"):
            spread, freedom = np.diag(np.diagonal(spread)), nu + 2.0
        else:
            freedom = nu + width + 1.0
        if is_one(form):
            spread, freedom = spread / components, freedom / components
        return cls(spread, freedom + 1.0)

    def log_density(self, components: Components) -> float:
        """Return the log of the prior density of components, up to a constant."""
        matrices = components.matrices()
        logs = np.linalg.slogdet(matrices)[1]
        inverse = np.linalg.inv(matrices)
        traces = np.einsum("kij,ji->k", inverse, self.scatter)
        reach = np.einsum("ki,kij,kj->k", components.means, inverse, components.means)
        return float(-0.5 * (self.freedom * logs + traces + PRIOR_ROWS * reach).sum())


class Maximization:
    """From sums to the components of one form."""

    def __init__(
        self, form: str, coordinates: Coordinates, prior: ComponentPrior | None = None
    ) -> None:
        self.form, self.coordinates, self.prior = form, coordinates, prior
        self.diagonal = form.endswith("I")
        values, basis = np.linalg.eigh(coordinates.total)
        kept = values > EIGENVALUE_FLOOR * max(float(values[-1]), np.finfo(np.float64).tiny)
        self._white = (basis[:, kept] / np.sqrt(values[kept])).T

    def __call__(self, sums: MixtureSums, components: Components) -> Components:
        """Return the components of most expected likelihood, and prior."""
        held, firsts, seconds = completed(sums, components)
        safe = np.maximum(held, np.finfo(np.float64).tiny)[:, np.newaxis]
        shift = firsts / safe
        means = components.means + shift
        if self.diagonal:
            scatters = np.maximum(seconds - firsts * shift, 0.0)
        else:
            scatters = seconds - firsts[:, :, np.newaxis] * shift[:, np.newaxis]
            scatters = (scatters + scatters.transpose(0, 2, 1)) / 2.0
        total = float(held.sum()) + sums.noise
        shares = held / total
        noise, volume, last = sums.noise / total, components.log_volume, components.search
        return self.of_moments(held, means, scatters, shares, noise, volume, last)

    def of_moments(
        self,
        held: FloatArray,
        means: FloatArray,
        scatters: FloatArray,
        shares: FloatArray,
        noise: float = 0.0,
        log_volume: float = 0.0,
        last: Tied | FactorSearch | None = None,
    ) -> Components:
        """Return components from weights, means and scatters of classes, hidden or known."""
        weights = held
        if self.prior is not None:
            pull = PRIOR_ROWS * held / (PRIOR_ROWS + held)
            outer = means[:, :, np.newaxis] * means[:, np.newaxis]
            added = pull[:, np.newaxis, np.newaxis] * outer + self.prior.scatter
            scatters = scatters + (np.einsum("kii->ki", added) if self.diagonal else added)
            means = means * (held / (held + PRIOR_ROWS))[:, np.newaxis]
            weights = held + self.prior.freedom
        trifle = self.coordinates.trifle
        if trifle.any():
            own = weights[:, np.newaxis, np.newaxis] * trifle
            scatters = scatters + (np.einsum("kii->ki", own) if self.diagonal else own)
        covariances, search = self._of_form(weights, scatters, last)
        return Components(shares, means, covariances, noise, log_volume, search)

    def _of_form(
        self, weights: FloatArray, scatters: FloatArray, last: Tied | FactorSearch | None
    ) -> tuple[FloatArray, Tied | FactorSearch | None]:
        weights = np.maximum(weights, np.finfo(np.float64).tiny)
        if factors_of(self.form) is not None:
            known = last if isinstance(last, FactorSearch) else None
            factors = factor_covariances(self.form, weights, scatters, known)
            return factors.covariances, factors
        last = last if isinstance(last, Tied) else None
        if self.diagonal:
            volumes = None if last is None else last.volumes
            found, volumes = diagonal_variances_of(self.form, weights, scatters, volumes)
            return found, Tied(found, volumes)
        tied = tied_covariances(self.form, weights, scatters, last, most_sweeps=SWEEPS)
        return np.array(tied.covariances), tied

    def projected(self, components: Components, like: Components) -> Components:
        """Return components of the form near some that may be none; `like` is one nearby."""
        held = components.shares
        axes = (slice(None), *[np.newaxis] * (components.covariances.ndim - 1))
        scatters = held[axes] * components.covariances
        covariances, search = self._of_form(held, scatters, like.search)
        return replace(components, covariances=covariances, search=search)

    def is_sound(self, components: Components, weight: float) -> bool:
        """Whether every component has rows, and varies in every direction in which rows do."""
        if not np.isfinite(components.covariances).all() or not np.isfinite(components.means).all():
            return False
        if components.shares.min() * weight < EMPTIED and self.prior is None:
            return False
        try:
            np.linalg.cholesky(components.matrices())
        except np.linalg.LinAlgError:  # by rounding, in units that are far apart
            return False
        white = self._white @ components.matrices() @ self._white.T
        least = np.linalg.eigvalsh((white + white.transpose(0, 2, 1)) / 2.0)[:, 0]
        return bool(least.min() >= COLLAPSED)
