"""Components as normal classes: what answers about rows once EM has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.linear_algebra import log_average, lower_inverse
from suffice.models.gaussian.diagonal_normals import DiagonalNormals
from suffice.models.gaussian.full_normals import FullNormals
from suffice.models.gaussian.model import GenerativeModel
from suffice.models.mixture.factored.factor_forms import is_one

if TYPE_CHECKING:
    from suffice.models.mixture.coordinates import Coordinates, MixtureRows, RemoteRows
    from suffice.models.mixture.sums import Components
    from suffice.rows import FloatArray


def law_of(components: Components, coordinates: Coordinates, form: str) -> GenerativeModel:
    """Return components as normal classes 0 … k - 1, their shares without that of the noise."""
    size, width = components.size, len(coordinates.origin)
    active = coordinates.active
    means = np.zeros((size, width))
    means[:, active] = components.means
    place = coordinates.origin, coordinates.origin_low, coordinates.scale, active, means
    densities: FullNormals | DiagonalNormals
    many = 1 if is_one(form) else size
    if components.is_diagonal:
        deviations = np.ones((many, width))
        deviations[:, active] = np.sqrt(components.covariances[:many])
        densities = DiagonalNormals(*place, deviations)
    else:
        matrices = components.covariances[:many]
        factors = np.asarray(np.linalg.cholesky(matrices), dtype=np.float64)
        silent = int(np.linalg.matrix_rank(coordinates.trifle, hermitian=True))
        rank = coordinates.width - silent
        densities = FullNormals(*place, factors, lower_inverse(factors), rank, silent)
    with np.errstate(divide="ignore"):
        shares = np.log(components.shares / components.shares.sum())
    weights = components.shares * coordinates.weight
    return GenerativeModel(tuple(range(size)), shares, densities, weights)


ALL_BUT_NOTHING = 1.0 - 2.0**-53
"""The largest share below 1: noise of all rows is noise of so many, as far as doubles can tell."""


def log_rest(noise: float) -> float:
    """Return the log of the share that is no noise.

    >>> round(log_rest(0.5), 4), round(log_rest(1.0), 1)
    (-0.6931, -36.7)
    """
    return float(np.log1p(-min(noise, ALL_BUT_NOTHING)))


def log_joint(
    model: GenerativeModel, noise: float, log_volume: float, rows: FloatArray
) -> FloatArray:
    """Return log of share and density (n, k), and that of the noise after them where there is."""
    found = model.log_joint(rows)
    if noise == 0.0:
        return found
    found += log_rest(noise)
    seen = (~np.isnan(rows)).mean(axis=1)
    return np.column_stack([found, np.log(noise) - log_volume * seen])


def log_density(
    model: GenerativeModel, noise: float, log_volume: float, rows: FloatArray
) -> FloatArray:
    """Return log p(x) of rows, (n,); 0 where every cell is blank."""
    found = model.log_density(rows)
    if noise == 0.0:
        return found
    seen = (~np.isnan(rows)).mean(axis=1)
    both = np.column_stack([found, -log_volume * seen])
    return log_average(both, np.array([log_rest(noise), np.log(noise)]))


def sure_logs(
    model: GenerativeModel, components: Components, rows: MixtureRows | RemoteRows
) -> float:
    """Return Σ log max p(component | row), by weight: what ICL adds to BIC."""
    coordinates: FullNormals | DiagonalNormals = model.densities  # type: ignore[assignment]
    scale = float(np.log(coordinates.scale[coordinates.active]).sum())

    def work(part: FloatArray, weights: FloatArray | None) -> float:
        if not len(part):
            return 0.0
        joint = log_joint(model, components.noise, components.log_volume + scale, part)
        top = joint.max(axis=1)
        logs = -np.log(np.exp(joint - top[:, np.newaxis]).sum(axis=1))
        return float(logs.sum() if weights is None else logs @ weights)

    return rows.collect(work)
