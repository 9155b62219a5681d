"""Missing cells filled in: by what the model expects, or by what it might draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.families.full_normals import FullNormals
from suffice.families.patterns import by_pattern
from suffice.linear_algebra import lower_factor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.families.gaussian import NormalClasses
    from suffice.models.generative import GenerativeModel
    from suffice.rows import FloatArray, IntArray

FAR = 1e150


def imputed(
    model: GenerativeModel,
    rows: FloatArray,
    codes: IntArray | None = None,
    rng: np.random.Generator | None = None,
) -> FloatArray:
    """Return rows with missing cells filled in.

    Without a generator, by E[x_M | x_O] = Σ_c p(c | x_O) E[x_M | x_O, c], or by the row's own
    class if `codes` say which that is. With one, by a draw: first the class, then the cells.
    """
    n, width = rows.shape
    posterior = np.zeros((n, len(model.labels)))
    if codes is not None:
        posterior[np.arange(n), codes] = 1.0
    else:
        posterior = model.posterior(rows)
    if rng is not None:
        edges = posterior.cumsum(axis=1)
        drawn = (rng.random((n, 1)) * edges[:, -1:] > edges).sum(axis=1)
        posterior = np.zeros_like(posterior)
        posterior[np.arange(n), np.minimum(drawn, posterior.shape[1] - 1)] = 1.0
    numbered = np.column_stack([rows.astype(np.float64), np.arange(n, dtype=np.float64)])

    def work(part: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:
        chosen = part[:, -1].astype(np.intp)
        return _filled(model.densities, part[:, :-1], seen[:-1], posterior[chosen], rng)

    return by_pattern(numbered, work) if n else np.empty((0, width))


def _filled(
    law: NormalClasses,
    rows: FloatArray,
    seen: NDArray[np.bool_],
    posterior: FloatArray,
    rng: np.random.Generator | None,
) -> FloatArray:
    if seen.all():
        return rows
    gone = np.flatnonzero(~seen)
    far = np.abs(rows[:, seen]).max(axis=1, initial=0.0) > FAR
    if far.any() and not far.all():
        result = np.empty_like(rows)
        for some in (far, ~far):
            result[some] = _filled(law, rows[some], seen, posterior[some], rng)
        return result
    # Beyond the range of a double the law is its linear part: 2⁻⁶⁰⁰ of the row, and back.
    power = 600 if far.any() else 0
    given = rows if not power else law.origin + np.ldexp(rows, -power)
    scale, origin = law.scale[gone], law.origin[gone]
    filled = np.zeros((len(rows), len(gone)))
    for c in np.flatnonzero(posterior.any(axis=0)):
        here = np.flatnonzero(posterior[:, c] > 0.0)
        values = conditional_cells(law, int(c), given[here], seen, rng)
        filled[here] += posterior[here, c, np.newaxis] * values
    result = rows.copy()
    with np.errstate(over="ignore"):
        cells = np.ldexp(law.origin_low[gone] + filled * scale, power)
    most = np.finfo(np.float64).max
    result[:, gone] = origin + np.clip(cells, -most / 2.0, most / 2.0)
    return result


def conditional_cells(
    law: NormalClasses,
    c: int,
    rows: FloatArray,
    seen: NDArray[np.bool_],
    rng: np.random.Generator | None,
) -> FloatArray:
    """Return the missing cells, standardized, given the observed ones and the class."""
    gone = ~seen
    result = np.broadcast_to(law.means[c, gone], (len(rows), int(gone.sum()))).copy()
    m = 0 if law.is_shared else c
    if not isinstance(law, FullNormals):
        if rng is not None:
            spread = np.where(law.active, law.deviations[m], 0.0)[gone]
            result += rng.standard_normal(result.shape) * spread
        return result
    # With observed columns first, the factor's blocks are the regression and its residual.
    inner = seen[law.active]
    order = np.concatenate([np.flatnonzero(inner), np.flatnonzero(~inner)])
    r = lower_factor(law.factors[m][order])
    o = int(inner.sum())
    z = (rows - law.origin - law.origin_low) / law.scale
    observed = seen & law.active
    varying = law.active[gone]
    with np.errstate(over="ignore", invalid="ignore"):
        white = np.linalg.solve(r[:o, :o], (z[:, observed] - law.means[c, observed]).T)
        result[:, varying] += (r[o:, :o] @ white).T
    if rng is not None:
        noise = rng.standard_normal((len(rows), int(varying.sum())))
        result[:, varying] += noise @ r[o:, o:].T
    return result
