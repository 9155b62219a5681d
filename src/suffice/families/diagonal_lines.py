"""Scores of normal classes with the same variances: straight lines, and nothing but these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.engines.threads import for_blocks
from suffice.rows import refuse_infinite

if TYPE_CHECKING:
    from suffice.families.diagonal_normals import DiagonalNormals
    from suffice.rows import FloatArray


def shared_lines(normals: DiagonalNormals, rows: FloatArray, log_priors: FloatArray) -> FloatArray:
    """Return the linear part alone: of far cells, squares that are shared would drown it.

    What a missing cell would have added is left out.
    """
    out = np.empty((len(rows), normals.size))
    weights, _ = normals.linear
    slopes = weights * normals.scale
    offsets = slopes * (normals.origin_low / normals.scale + normals.means / 2.0)

    def work(part: slice) -> None:
        z = rows[part] - normals.origin
        seen = ~np.isnan(z)
        out[part] = np.where(seen, z, 0.0) @ weights.T - seen @ offsets.T + log_priors

    with np.errstate(over="ignore", invalid="ignore"):
        for_blocks(work, len(rows), rows.shape[1])
    if not np.isfinite(out[:, log_priors > -np.inf]).all():
        refuse_infinite(rows, None)
    return out
