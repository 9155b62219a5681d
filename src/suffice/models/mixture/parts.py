"""Mixtures made from mixtures: of some columns, given others, and of known parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.linear_algebra import lower_factor, lower_inverse, normalized
from suffice.models.gaussian.diagonal_normals import DiagonalNormals
from suffice.models.gaussian.full_normals import FullNormals
from suffice.models.gaussian.missing.e_step import conditional_cells
from suffice.models.mixture.law import log_rest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.models.mixture.fitting import MixtureFit


def marginal_fit(fit: MixtureFit, chosen: Sequence[int], width: int) -> MixtureFit:
    """Return the mixture of some columns: each component's marginal law, in the same shares."""
    mask = np.zeros(width, dtype=bool)
    mask[list(chosen)] = True
    densities = fit.model.densities.marginal(mask)
    model = replace(fit.model, densities=densities)
    volume = fit.log_volume * len(chosen) / width
    return replace(
        fit,
        model=model,
        form=_form(fit),
        log_volume=volume,
        parameters=0,
        history=(),
        trials=(),
        notes=(),
    )


def conditional_fit(fit: MixtureFit, given: Mapping[int, float], width: int) -> MixtureFit:
    """Return the mixture of the other columns: conditional laws, in the shares of what is given.

    Noise is spread over the columns alike, and so over those that are left.
    """
    row = np.full((1, width), np.nan)
    for j, value in given.items():
        row[0, j] = value
    seen = ~np.isnan(row[0])
    law = fit.model.densities
    assert isinstance(law, FullNormals | DiagonalNormals)
    joint = fit.model.log_joint(row)
    noise, volume = fit.noise, fit.log_volume * float((~seen).mean())
    if noise > 0.0:
        joint += log_rest(noise)
        outside = np.log(noise) - fit.log_volume * float(seen.mean())
        all_shares = np.exp(normalized(np.column_stack([joint, [[outside]]])))[0]
        noise = float(all_shares[-1])
    shares = normalized(joint)[0]
    left = ~seen
    means = np.stack([conditional_cells(law, c, row, seen, None)[0] for c in range(law.size)])
    place = law.origin[left], law.origin_low[left], law.scale[left], law.active[left], means
    densities: FullNormals | DiagonalNormals
    if isinstance(law, DiagonalNormals):
        densities = DiagonalNormals(*place, law.deviations[:, left])
    else:
        inner = seen[law.active]
        order = np.concatenate([np.flatnonzero(inner), np.flatnonzero(~inner)])
        split = int(inner.sum())
        factors = np.stack([lower_factor(factor[order])[split:, split:] for factor in law.factors])
        rank = max(0, min(law.rank, factors.shape[-1]))
        densities = FullNormals(*place, factors, lower_inverse(factors), rank)
    weights = np.exp(shares) * fit.weight
    model = replace(fit.model, log_priors=shares, densities=densities, weights=weights)
    return replace(
        fit,
        model=model,
        form=_form(fit),
        noise=noise,
        log_volume=volume,
        parameters=0,
        history=(),
        trials=(),
        notes=(),
    )


def _form(fit: MixtureFit) -> str:
    """Return a form that part of a mixture has for certain."""
    if fit.form in ("EEE", "EEI", "EII", "VII", "VVI"):
        return fit.form
    return "VVI" if fit.form.endswith("I") else "VVV"
