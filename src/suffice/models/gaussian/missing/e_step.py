"""The E-step of EM: expected moments, and missing cells filled in by what the model expects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from suffice.linear_algebra import EPSILON, lower_factor
from suffice.models.gaussian.full_normals import written_out
from suffice.models.gaussian.missing_patterns import by_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.gaussian.diagonal_normals import DiagonalNormals
    from suffice.models.gaussian.full_normals import FullNormals
    from suffice.models.gaussian.model import GenerativeModel
    from suffice.models.gaussian.predictive.estimate import StudentClasses
    from suffice.rows import FloatArray, IntArray


BATCH_CELLS = 4_000_000
"""Cells of one batch of pattern matrices, at most (32 MB). A choice."""


class Shown(NamedTuple):
    """What the rows of one pattern have shown, of k classes that share a covariance."""

    places: IntArray  # (o,) which columns
    weights: FloatArray  # (k,)
    means: FloatArray  # (k, o)
    scatter: FloatArray  # (o, o), summed over the classes


@dataclass(frozen=True, slots=True, eq=False)
class _Batch:
    """Patterns with equally many missing columns, stacked: all arrays start with patterns."""

    places: IntArray  # (p, d) observed columns, those that all patterns show first; then missing
    back: IntArray  # (p, d) the order that undoes it
    weights: FloatArray  # (p, k)
    means: FloatArray  # (p, k, o)
    scatters: FloatArray  # (p, o, o)
    missing: int


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """The patterns of all classes that share one covariance, laid out for the E-step.

    `known` is the scatter that was observed: no step changes it. What the columns that every
    pattern shows, `always`, say of the `gappy` ones is worked out once a step, and not once a
    pattern. `blank` is the weight, class by class, of rows that show nothing; `lower` and `inner`
    are the places of missing cells in a flat scatter, with observed ones and with each other.
    """

    always: IntArray
    gappy: IntArray
    known: FloatArray
    blank: FloatArray
    batches: tuple[_Batch, ...]
    lower: IntArray
    inner: IntArray

    @classmethod
    def of(cls, parts: Sequence[Shown], width: int, size: int) -> Self:
        """Stack patterns by how many of their columns are missing."""
        blank = np.zeros(size)
        for part in parts:
            blank += part.weights if len(part.places) == 0 else 0.0
        parts = [part for part in parts if len(part.places)]
        shown = np.zeros((len(parts), width), dtype=bool)
        known = np.zeros((width, width))
        for i, part in enumerate(parts):
            shown[i, part.places] = True
            known[np.ix_(part.places, part.places)] += part.scatter
        everywhere = shown.all(axis=0)
        stacks: dict[int, list[tuple[object, ...]]] = {}
        for seen, part in zip(shown, parts, strict=True):
            # False before True: what all patterns show, what this one shows, what it misses.
            order = np.lexsort((~everywhere, ~seen))
            observed = np.searchsorted(part.places, order[: len(part.places)])
            scatter = part.scatter[np.ix_(observed, observed)]
            laid = (order, np.argsort(order), part.weights, part.means[:, observed], scatter)
            stacks.setdefault(width - len(part.places), []).append(laid)
        batches = []
        for missing, stack in stacks.items():
            most = max(1, BATCH_CELLS // max(1, width**2))
            for start in range(0, len(stack), most):
                order, back, weights, means, scatters = (
                    np.stack(same) for same in zip(*stack[start : start + most], strict=True)
                )
                batches.append(_Batch(order, back, weights, means, scatters, missing))
        always, gappy = np.flatnonzero(everywhere), np.flatnonzero(~everywhere)
        lower, inner = (_at(batches, width, inner=among) for among in (False, True))
        return cls(always, gappy, known, blank, tuple(batches), lower, inner)

    def expected(
        self, means: FloatArray, covariance: FloatArray, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return new class means and the pooled scatter about them, missing cells expected.

        With B = Σ_MO Σ_OO⁻¹ the missing cells of a pattern are expected at m_M + B(x_O - m_O).
        That gives BS as their scatter with the observed ones, and BSBᵀ + W(Σ_MM - BΣ_OM)
        among themselves.
        """
        slopes, rest = self._given_always(covariance)
        width = len(covariance)
        shifts, held = [np.zeros((1, *means.shape))], [self.blank[np.newaxis]]
        lower, inner = [np.zeros(0)], [np.zeros(0)]
        for batch in self.batches:
            split = width - batch.missing
            seen, gone = batch.places[:, :split], batch.places[:, split:]
            moved = batch.means - means[:, seen].swapaxes(0, 1)
            if batch.missing:
                regress, left = self._regression(seen, gone, slopes, rest)
                across = regress @ batch.scatters
                among = across @ regress.swapaxes(1, 2)
                among += batch.weights.sum(axis=1)[:, np.newaxis, np.newaxis] * left
                lower.append(across.ravel())
                inner.append(among.ravel())
                moved = np.concatenate([moved, moved @ regress.swapaxes(1, 2)], axis=2)
            shifts.append(np.take_along_axis(moved, batch.back[:, np.newaxis, :], axis=2))
            held.append(batch.weights)
        weight, shift = np.concatenate(held)[:, :, np.newaxis], np.concatenate(shifts)
        change = (weight * shift).sum(axis=0) / weights[:, np.newaxis]
        reach = ((shift - change) * np.sqrt(weight)).reshape(shift.shape[0] * len(means), width)
        scatter = self.known + self.blank.sum() * covariance + reach.T @ reach
        corner, middle = (
            np.asarray(np.bincount(places, np.concatenate(cells), minlength=width**2), np.float64)
            for places, cells in ((self.lower, lower), (self.inner, inner))
        )
        corner = corner.reshape(width, width)
        scatter += corner + corner.T + middle.reshape(width, width)
        return means + change, (scatter + scatter.T) / 2.0

    def _given_always(self, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the slopes of all columns on those always shown, and the covariance they leave.

        Rows and columns of what is always shown are never looked at, except that it explains
        itself.
        """
        a, g = self.always, self.gappy
        slopes, rest = np.zeros((len(covariance), len(a))), np.zeros_like(covariance)
        block = covariance[np.ix_(g, g)]
        if len(a) and len(g):
            across = covariance[np.ix_(a, g)]
            slopes[g] = solved(covariance[np.ix_(a, a)][np.newaxis], across[np.newaxis])[0].T
            left = block - slopes[g] @ across
            # A column that the others determine is left with rounding, which must not speak.
            certain = np.diagonal(left) <= 64.0 * EPSILON * len(covariance) * np.diagonal(block)
            left[certain] = 0.0
            left[:, certain] = 0.0
            block = left
        rest[np.ix_(g, g)] = block
        return slopes, rest

    def _regression(
        self, seen: IntArray, gone: IntArray, slopes: FloatArray, rest: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return B of every pattern (p, m, o), and what it leaves of Σ_MM."""
        here = seen[:, len(self.always) :]
        across = rest[here[:, :, np.newaxis], gone[:, np.newaxis, :]]
        block = rest[here[:, :, np.newaxis], here[:, np.newaxis, :]]
        own = solved(block, across).swapaxes(1, 2)
        left = rest[gone[:, :, np.newaxis], gone[:, np.newaxis, :]] - own @ across
        return np.concatenate([slopes[gone] - own @ slopes[here], own], axis=2), left


def _at(batches: Sequence[_Batch], width: int, *, inner: bool) -> IntArray:
    """Return where in a flat square matrix the blocks of missing cells belong, batch by batch.

    `inner` ones are with each other, the others with the observed cells.
    """
    found = [np.zeros(0, dtype=np.intp)]
    for batch in batches:
        seen, gone = np.split(batch.places, [width - batch.missing], axis=1)
        other = gone if inner else seen
        found.append((gone[:, :, np.newaxis] * width + other[:, np.newaxis, :]).ravel())
    return np.concatenate(found)


def solved(blocks: FloatArray, across: FloatArray) -> FloatArray:
    """Return A⁻¹B for stacks of covariances A, the shortest answer where A has no inverse.

    Columns that are copies or sums of others leave a direction in which nothing varies: what
    lies along it explains nothing. On the correlation scale a pivot of rounding size tells.

    >>> solved(np.array([[[1.0, 1.0], [1.0, 1.0]]]), np.array([[[1.0], [1.0]]]))[0].round(12)
    array([[0.5],
           [0.5]])
    """
    width = blocks.shape[-1]
    if width == 0 or across.shape[-1] == 0:
        return np.zeros(across.shape)
    variances = np.diagonal(blocks, axis1=1, axis2=2)
    scale = np.sqrt(np.where(variances > 0.0, variances, 1.0))[:, :, np.newaxis]
    scaled = blocks / scale / scale.swapaxes(1, 2)
    places = np.arange(width)
    scaled[:, places, places] = 1.0
    right = across / scale
    least = 64.0 * EPSILON * width
    try:
        pivots = np.diagonal(np.linalg.cholesky(scaled), axis1=1, axis2=2)
        if np.square(pivots).min() > least:
            return np.asarray(np.linalg.solve(scaled, right) / scale)
    except np.linalg.LinAlgError:
        pass
    values, basis = np.linalg.eigh(scaled)
    kept = values > least
    inverse = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)[:, :, np.newaxis]
    return np.asarray(basis @ (inverse * (basis.swapaxes(1, 2) @ right)) / scale)


FAR_CELL = 1e150
"""Cells beyond which rows are filled in apart, scaled by 2⁻⁶⁰⁰: a choice below √1.8e308 = 1.3e154,
from which on squares leave the range of a double."""


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

    laws: Any = written_out(model.densities)
    averaged = hasattr(laws, "drawn_laws")
    drawn = laws.drawn_laws(n, rng) if averaged and rng is not None else None

    def work(part: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:
        chosen = part[:, -1].astype(np.intp)
        cells, mask = part[:, :-1], seen[:-1]
        if not averaged:
            return _filled(laws, cells, mask, posterior[chosen], rng)
        out = np.zeros_like(cells)
        for g, share in enumerate(laws.law_shares):
            here = np.arange(len(cells)) if drawn is None else np.flatnonzero(drawn[chosen] == g)
            if len(here):
                filled = _filled(laws.laws[g], cells[here], mask, posterior[chosen[here]], rng)
                out[here] += filled if drawn is not None else share * filled
        out[:, mask] = cells[:, mask]
        return out

    return by_pattern(numbered, work) if n else np.empty((0, width))


def _filled(
    law: FullNormals | DiagonalNormals | StudentClasses,
    rows: FloatArray,
    seen: NDArray[np.bool_],
    posterior: FloatArray,
    rng: np.random.Generator | None,
) -> FloatArray:
    if seen.all():
        return rows
    gone = np.flatnonzero(~seen)
    far = np.abs(rows[:, seen]).max(axis=1, initial=0.0) > FAR_CELL
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
    law: Any,
    c: int,
    rows: FloatArray,
    seen: NDArray[np.bool_],
    rng: np.random.Generator | None,
) -> FloatArray:
    """Return the missing cells, standardized, given the observed ones and the class."""
    gone = ~seen
    result = np.broadcast_to(law.means[c, gone], (len(rows), int(gone.sum()))).copy()
    if hasattr(law, "deviations"):
        if rng is not None and hasattr(law, "drawn_cells"):
            result += law.drawn_cells(c, rows, seen, rng)
        elif rng is not None:
            m = 0 if law.is_shared else c
            spread = np.where(law.active, law.deviations[m], 0.0)[gone]
            result += rng.standard_normal(result.shape) * spread
        return result
    m = 0 if len(law.factors) == 1 else c
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
        if hasattr(law, "widths_given"):
            noise *= law.widths_given(c, np.square(white).sum(axis=0), o, rng)[:, np.newaxis]
        result[:, varying] += noise @ r[o:, o:].T
    return result
