"""Mixtures of several mixtures, and mixtures with fewer components than they had."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.linear_algebra import lower_inverse
from suffice.models.gaussian.diagonal_normals import DiagonalNormals
from suffice.models.gaussian.floors import EIGENVALUE_FLOOR
from suffice.models.gaussian.full_normals import FullNormals
from suffice.models.gaussian.model import GenerativeModel
from suffice.models.mixture.factored.factor_forms import form_parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.mixture.fitting import MixtureFit
    from suffice.rows import FloatArray


def both(one: MixtureFit, other: MixtureFit, order: NDArray[np.intp]) -> MixtureFit:
    """Return the mixture of two, each by the weight of its rows: all components of both.

    `order` has the places of the first's columns in the other. Noise of both is one: its density
    where both have it is the sum of theirs.
    """
    weight = one.weight + other.weight
    parts = np.array([one.weight, other.weight]) / weight
    shares = np.concatenate([_shares(one) * parts[0], _shares(other) * parts[1]])
    theirs = other.model.densities.class_means[:, order]
    means = np.vstack([one.model.densities.class_means, theirs])
    diagonal = all(isinstance(fit.model.densities, DiagonalNormals) for fit in (one, other))
    ours, more = _spread(one, diagonal=diagonal), _spread(other, diagonal=diagonal)
    more = more[:, order] if diagonal else more[:, order][:, :, order]
    spread = np.concatenate([ours, more])
    noise = float(parts @ [one.noise, other.noise])
    volume = 0.0
    if noise > 0.0:
        logs = [
            np.log(part * fit.noise) - fit.log_volume
            for part, fit in zip(parts, (one, other), strict=True)
            if fit.noise > 0.0
        ]
        volume = float(np.log(noise) - np.logaddexp.reduce(logs))
    largest = np.lexsort((*means.T[::-1], -shares.round(9)))
    return _made(one, shares[largest], means[largest], spread[largest], noise, volume, weight)


def reduced(fit: MixtureFit, components: int) -> MixtureFit:
    """Return a mixture of fewer components, of the same mean and covariance as a whole.

    Two at a time become one, those whose merging can cost least: Runnalls (2007) bounds from above
    the Kullback-Leibler divergence of the mixture from what it becomes.
    """
    shares, means = _shares(fit), np.array(fit.model.densities.class_means)
    spread = _spread(fit, diagonal=False)
    unit = np.sqrt(np.einsum("kii->ki", spread).max(axis=0))
    unit = np.where(unit > 0.0, unit, 1.0)
    origin = shares @ means / shares.sum()
    means, spread = (means - origin) / unit, spread / np.multiply.outer(unit, unit)
    logs = _log_determinants(spread)
    while len(shares) > components:
        first, second = np.triu_indices(len(shares), 1)
        pairs = _merged(shares, means, spread, first, second)
        after = _log_determinants(pairs[2])
        cost = pairs[0] * after - shares[first] * logs[first] - shares[second] * logs[second]
        best = int(np.argmin(cost))
        i, j = int(first[best]), int(second[best])
        shares, means, spread, logs = (
            np.delete(np.concatenate([held[:i], new[[best]], held[i + 1 :]]), j, axis=0)
            for held, new in zip((shares, means, spread, logs), (*pairs, after), strict=True)
        )
    order = np.lexsort((*means.T[::-1], -shares.round(9)))
    back = spread[order] * np.multiply.outer(unit, unit)
    return _made(
        fit,
        shares[order],
        origin + means[order] * unit,
        back,
        fit.noise,
        fit.log_volume,
        fit.weight,
    )


def _merged(
    shares: FloatArray,
    means: FloatArray,
    spread: FloatArray,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return shares, means and covariances of pairs of components as one, moments kept."""
    both = shares[first] + shares[second]
    part = (shares[second] / np.maximum(both, np.finfo(np.float64).tiny))[:, np.newaxis]
    gap = means[second] - means[first]
    outer = gap[:, :, np.newaxis] * gap[:, np.newaxis]
    a, b = (1.0 - part)[:, :, np.newaxis], part[:, :, np.newaxis]
    return both, means[first] + part * gap, a * spread[first] + b * spread[second] + a * b * outer


def _log_determinants(spread: FloatArray) -> FloatArray:
    """Return logs of determinants; directions without variance have next to none."""
    values = np.linalg.eigvalsh(spread)
    most = np.maximum(values[:, -1:], np.finfo(np.float64).tiny)
    return np.asarray(np.log(np.maximum(values, EIGENVALUE_FLOOR * most)).sum(axis=1))


def _shares(fit: MixtureFit) -> FloatArray:
    return np.asarray(np.exp(fit.model.log_priors) * (1.0 - fit.noise))


def _spread(fit: MixtureFit, *, diagonal: bool) -> FloatArray:
    """Return covariances (k, d, d) in the user's units, or variances (k, d)."""
    law = fit.model.densities
    if diagonal:
        assert isinstance(law, DiagonalNormals)
        found = np.where(law.active, np.square(law.deviations * law.scale), 0.0)
    else:
        found = np.asarray(law.covariances)
    return np.array(np.broadcast_to(found, (law.size, *found.shape[1:])))


def _made(
    like: MixtureFit,
    shares: FloatArray,
    means: FloatArray,
    spread: FloatArray,
    noise: float,
    log_volume: float,
    weight: float,
) -> MixtureFit:
    """Return a mixture of given components in the user's units; nothing was fitted."""
    size, width = means.shape
    parts = shares / shares.sum()
    origin = parts @ means
    gaps = means - origin
    variances = spread if spread.ndim == 2 else np.einsum("kii->ki", spread)
    scale = np.sqrt(parts @ (variances + np.square(gaps)))
    active = scale > 0.0
    scale = np.where(active, scale, 1.0)
    place = origin, np.zeros(width), scale, active, np.where(active, gaps / scale, 0.0)
    densities: FullNormals | DiagonalNormals
    if spread.ndim == 2:
        form = "VVI"
        ratio = np.maximum(variances / np.square(scale), EIGENVALUE_FLOOR)
        densities = DiagonalNormals(*place, np.where(active, np.sqrt(ratio), 1.0))
    else:
        form = "VVV"
        inside = (spread / np.multiply.outer(scale, scale))[:, active][:, :, active]
        values, basis = np.linalg.eigh((inside + inside.transpose(0, 2, 1)) / 2.0)
        least = EIGENVALUE_FLOOR * np.maximum(values[:, -1:], EIGENVALUE_FLOOR)
        sound = basis * np.maximum(values, least)[:, np.newaxis] @ basis.transpose(0, 2, 1)
        factors = np.asarray(np.linalg.cholesky(sound), dtype=np.float64)
        law = like.model.densities
        silent = law.silent if isinstance(law, FullNormals) else 0
        rank = int(active.sum()) - silent
        densities = FullNormals(*place, factors, lower_inverse(factors), rank, silent)
    if width == 1:
        form = "VII"
    with np.errstate(divide="ignore"):
        logs = np.log(parts)
    model = GenerativeModel(tuple(range(size)), logs, densities, shares * weight)
    count = form_parameters(form, size, int(active.sum())) + (noise > 0.0)
    return replace(
        like,
        model=model,
        form=form,
        noise=noise,
        log_volume=log_volume,
        log_likelihood=0.0,
        weight=weight,
        parameters=int(count),
        converged=True,
        penalised=False,
        history=(),
        trials=(),
        notes=(),
    )
