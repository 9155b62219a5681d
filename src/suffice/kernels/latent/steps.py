"""E-step and tallies in one pass, where cells are levels: looked up, weighed, and counted.

    places   (n, d) int32, where each cell stands in the table; 0 is a blank, which says nothing
    table    (l, k) float64, log p(level | class); -inf where a class never shows it
    base     (k,) log shares, or (n, k) with what other columns say of each row
    weights  (n,) float64, or empty: every row counts once

Returned are the log-likelihood, the sum of log p of each row's likeliest class, the weight of each
class (k,), that of each level in it (l, k), and p(class | row) (n, k), empty unless asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.compilation import pays_if_saved, twin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.int32]
    LevelSums = tuple[float, float, Floats, Floats, Floats]


SAVED = 390.0
"""ns that the compiled loop saves for each cell of a fit, times the passes that one counts on."""


@twin("suffice.kernels.latent.steps_numba", when=pays_if_saved(SAVED))
def level_sums(
    places: Places, table: Floats, base: Floats, weights: Floats, keep: bool
) -> LevelSums:
    """Return the sums of one step of EM; see above."""
    size = table.shape[1]
    joint = np.empty((len(places), size))
    joint[:] = base
    for j in range(places.shape[1]):
        joint += table[places[:, j]]
    top = joint.max(axis=1)
    far = np.isneginf(top)  # impossible in every class
    joint -= np.where(far, 0.0, top)[:, np.newaxis]
    np.exp(joint, out=joint)
    total = joint.sum(axis=1)
    with np.errstate(divide="ignore"):
        logs = np.log(total) + top
    own = weights if len(weights) else np.ones(len(places))
    safe = np.where(far, 1.0, total)
    likelihood = float(own @ logs) if not far.any() else -np.inf
    sure = -float(own @ np.log(safe))
    joint /= safe[:, np.newaxis]
    shares = joint * own[:, np.newaxis] if len(weights) else joint
    counts = np.zeros_like(table)
    for j in range(places.shape[1]):
        for c in range(size):
            counts[:, c] += np.bincount(places[:, j], shares[:, c], minlength=len(table))
    return likelihood, sure, shares.sum(axis=0), counts, joint if keep else np.empty((0, size))
