"""Maxima of the observed likelihood without one row, for many rows at once.

Taking out one row of many moves the fixed point of EM a little. Close to it the map θ → G(θ) is
nearly linear, so one Jacobian of the whole table, J, serves every row: the chord iteration
θ ← θ + (I - J)⁻¹(G₋ᵢ(θ) - θ) gains digits with every step, where EM itself would creep, and its
step is an honest measure of what is left. Rows for which it does not contract are left to EM.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.gaussian.floors import VARIANCE_FLOOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from suffice.models.gaussian.family import Gaussian
    from suffice.models.gaussian.missing.e_step import Shown
    from suffice.rows import FloatArray, IntArray

LAST_STEP = 1e-11
"""A step no longer than this, in standard deviations, is the last: rounding moves as much."""
ROUNDING = 1e-8
"""Below this a step that does not get shorter is rounding, and the last one too."""
CONTRACTION = 0.5
"""A step must be shorter than this share of the one before: else this is no chord to follow."""
MOST_STEPS = 30
"""With every step half of the one before, 1e-11 is reached well before that many."""
FIXED = 1e-6
"""How far one EM step may move the parameters of the fit: more, and they are no fixed point."""
FLAT_CONDITION = 1e8
"""A larger condition of I - J tells of a direction that the likelihood does not know. A choice:
1/√ε, where half the digits of a solution would be gone."""
FIRM_EIGENVALUE = 1e-6
"""The least eigenvalue of correlations: far above the floors (1e-8, 1e-10), which would need a fit
anew."""
CELLS = 1_000_000
"""Cells of all covariances that are worked on at once, eight megabytes and a few copies."""


@dataclass(frozen=True, slots=True, eq=False)
class Removed:
    """Rows to be taken out, one at a time: standardized cells (n, a), NaN where there is none."""

    cells: FloatArray
    codes: IntArray
    weights: FloatArray
    patterns: IntArray
    """Which of the patterns each row belongs to, (n,); -1 takes nothing out."""

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    def of(self, places: IntArray | slice) -> Removed:
        """Return some of them."""
        return Removed(
            self.cells[places], self.codes[places], self.weights[places], self.patterns[places]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """Weights (n, k), means (n, k, a) and scatters (n, g, a, a) of completed rows, without one."""

    weights: FloatArray
    means: FloatArray
    scatters: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class LeftOutMaxima:
    """EM's map over the k classes whose parameters depend on each other, for a stack of θ.

    `groups` are the classes of each covariance with what their patterns have shown, over the a
    active columns: one group of all classes if the covariance is shared, one for each if not.
    Patterns have the same order in all groups.
    """

    family: Gaussian
    weights: FloatArray
    groups: tuple[tuple[IntArray, tuple[Shown, ...]], ...]

    # The map

    def expected(self, means: FloatArray, covariances: FloatArray, removed: Removed) -> Expected:
        """Return the expected moments of completed rows (the E-step) under each θ, less one row."""
        n, _, width = means.shape
        held = np.tile(self.weights, (n, 1))
        held[np.arange(n), removed.codes] -= removed.weights
        new = np.empty_like(means)
        scatters = np.empty_like(covariances)
        for g, (members, patterns) in enumerate(self.groups):
            own = means[:, members]
            first = np.zeros((n, len(members), width))
            second = np.zeros((n, width, width))
            here = np.isin(removed.codes, members)
            places = np.searchsorted(members, removed.codes)
            for p, shown in enumerate(patterns):
                gone = np.flatnonzero((removed.patterns == p) & here)
                self._add(shown, own, covariances[:, g], removed, gone, places, first, second)
            change = first / held[:, members, np.newaxis]
            reach = change * np.sqrt(held[:, members, np.newaxis])
            second -= reach.swapaxes(1, 2) @ reach
            new[:, members] = own + change
            scatters[:, g] = (second + second.swapaxes(1, 2)) / 2.0
        return Expected(held, new, scatters)

    def _add(
        self,
        shown: Shown,
        means: FloatArray,
        covariances: FloatArray,
        removed: Removed,
        gone: IntArray,
        places: IntArray,
        first: FloatArray,
        second: FloatArray,
    ) -> None:
        """Add the first and second moments about the means of one pattern, less the rows `gone`.

        With B = Σ_MO Σ_OO⁻¹ a missing cell is expected at m_M + B(x_O - m_O), with the covariance
        Σ_MM - BΣ_OM; as in `Patterns.expected`.
        """
        width = means.shape[2]
        seen = shown.places
        blank = np.setdiff1d(np.arange(width), seen)
        order = np.argsort(np.concatenate([seen, blank]))
        weight = float(shown.weights.sum())
        shift = shown.means - means[:, :, seen]
        delta = removed.cells[np.ix_(gone, seen)] - means[gone, places[gone]][:, seen]
        scatter = np.broadcast_to(shown.scatter, (len(means), len(seen), len(seen)))
        if len(blank):
            s, b = seen[:, np.newaxis], blank[:, np.newaxis]
            across = covariances[:, s, blank]
            slopes = np.linalg.solve(covariances[:, s, seen], across).swapaxes(1, 2)
            left = covariances[:, b, blank] - slopes @ across
            corner = slopes @ scatter
            among = corner @ slopes.swapaxes(1, 2) + weight * left
            among[gone] -= removed.weights[gone, np.newaxis, np.newaxis] * left[gone]
            upper = np.concatenate([scatter, corner.swapaxes(1, 2)], axis=2)
            scatter = np.concatenate([upper, np.concatenate([corner, among], axis=2)], axis=1)
            scatter = scatter[:, order[:, np.newaxis], order]
            shift = np.concatenate([shift, shift @ slopes.swapaxes(1, 2)], axis=2)[:, :, order]
            hidden = np.einsum("nmo,no->nm", slopes[gone], delta)
            delta = np.concatenate([delta, hidden], axis=1)[:, order]
        heavy = shift * shown.weights[:, np.newaxis]
        first += heavy
        second += scatter + heavy.swapaxes(1, 2) @ shift
        taken = delta * removed.weights[gone, np.newaxis]
        first[gone, places[gone]] -= taken
        second[gone] -= taken[:, :, np.newaxis] * delta[:, np.newaxis, :]

    def covariances(self, found: Expected) -> FloatArray:
        """Return pooled and shrunk covariances (n, g, a, a): the M-step, without floors.

        As in `missing._covariances`, for a stack; divisors must be positive.
        """
        family = self.family
        less = family.divisor == "unbiased"
        size = found.weights.shape[1]
        divisor = found.weights.sum(axis=1) - (size if less else 0.0)
        pooled = found.scatters.sum(axis=1) / divisor[:, np.newaxis, np.newaxis]
        if family.covariance == "shared":
            mixed = pooled[:, np.newaxis]
        else:
            share = family.pool or 0.0
            own = found.weights - (1.0 if less else 0.0)
            freedom = (1.0 - share) * own + share * divisor[:, np.newaxis]
            total = found.scatters.sum(axis=1)[:, np.newaxis]
            mixed = (1.0 - share) * found.scatters + share * total
            mixed = mixed / freedom[:, :, np.newaxis, np.newaxis]
        if family.predictive is not None:
            held = divisor[:, np.newaxis] if family.covariance == "shared" else freedom
            return self._with_prior(mixed, pooled, held)
        shrink = family.shrink or 0.0
        if shrink == 0.0:
            return np.asarray(mixed)
        variances = np.diagonal(mixed, axis1=2, axis2=3)
        target = variances
        if family.shrink_target == "scaled":
            least = np.maximum(np.diagonal(pooled, axis1=1, axis2=2), VARIANCE_FLOOR)
            least = least[:, np.newaxis]
            target = (variances / least).mean(axis=2, keepdims=True) * least
        moved = (1.0 - shrink) * mixed
        places = np.arange(mixed.shape[2])
        moved[:, :, places, places] = (1.0 - shrink) * variances + shrink * target
        return np.asarray(moved)

    def _with_prior(self, mixed: FloatArray, pooled: FloatArray, held: FloatArray) -> FloatArray:
        """Return covariances (n, g, a, a) drawn to the pooled variances, as `Gaussian` does."""
        least = np.maximum(np.diagonal(pooled, axis1=1, axis2=2), VARIANCE_FLOOR)
        strength = float(self.family.predictive or 0.0)
        share = (strength / (strength + held))[:, :, np.newaxis, np.newaxis]
        moved = np.asarray((1.0 - share) * mixed)
        places = np.arange(mixed.shape[2])
        moved[:, :, places, places] += share[:, :, 0] * least[:, np.newaxis]
        return moved

    # θ as one vector

    def _flat(self, means: FloatArray, covariances: FloatArray) -> FloatArray:
        n, _, width = means.shape
        lower = np.tril_indices(width)
        parts = covariances[:, :, lower[0], lower[1]]
        return np.concatenate([means.reshape(n, -1), parts.reshape(n, -1)], axis=1)

    def _shaped(self, theta: FloatArray, width: int) -> tuple[FloatArray, FloatArray]:
        n, size, count = len(theta), len(self.weights), len(self.groups)
        means = theta[:, : size * width].reshape(n, size, width)
        rows, columns = np.tril_indices(width)
        covariances = np.empty((n, count, width, width))
        covariances[:, :, rows, columns] = theta[:, size * width :].reshape(n, count, -1)
        covariances[:, :, columns, rows] = covariances[:, :, rows, columns]
        return means, covariances

    def _steps(self, theta: FloatArray, removed: Removed) -> FloatArray:
        """Return G(θ) - θ for every θ, each without its row."""
        width = removed.cells.shape[1]
        result = np.empty_like(theta)
        for part in _parts(len(theta), len(self.groups) * width * width):
            try:
                found = self.expected(*self._shaped(theta[part], width), removed.of(part))
                result[part] = self._flat(found.means, self.covariances(found)) - theta[part]
            except np.linalg.LinAlgError:
                result[part] = np.nan  # a step too far, and no fixed point of anything
        return result

    def _chord(self, theta: FloatArray, width: int, *, flat: bool) -> FloatArray | None:
        """Return (I - J)⁻¹ at the fixed point of the whole table; None where there is none.

        With `flat`, the inverse leaves alone what the likelihood does not know.
        """
        count = theta.size
        # Central differences: with h³ ≈ ε both errors are far below what a chord needs.
        step = 1e-5
        moved = theta + step * np.concatenate([np.eye(count), -np.eye(count), np.zeros((1, count))])
        nothing = Removed(
            np.zeros((len(moved), width)),
            np.zeros(len(moved), dtype=np.intp),
            np.zeros(len(moved)),
            np.full(len(moved), -1),
        )
        residuals = self._steps(moved, nothing)
        if not np.abs(residuals[-1]).max(initial=0.0) <= FIXED:
            return None
        jacobian = (residuals[:count] - residuals[count:-1]).T / (2.0 * step)
        if not np.isfinite(jacobian).all():
            return None
        if flat:
            return np.asarray(-np.linalg.pinv(jacobian, rcond=1.0 / FLAT_CONDITION))
        return (
            None
            if np.linalg.cond(jacobian) > FLAT_CONDITION
            else np.asarray(-np.linalg.inv(jacobian))
        )

    # The iteration

    def moments_at_maxima(
        self, means: FloatArray, covariances: FloatArray, removed: Removed, *, flat: bool = False
    ) -> tuple[Expected, NDArray[np.bool_]]:
        """Return the expected moments at each row's own maximum, and which rows have one.

        `means` (k, a) and `covariances` (g, a, a) are the maximum of the whole table. With `flat`
        what the likelihood does not determine stays as it is there; without, no row has one then.
        """
        n, width = removed.cells.shape
        theta = self._flat(means[np.newaxis], covariances[np.newaxis])
        chord = self._chord(theta, width, flat=flat)
        here = np.repeat(theta, n, axis=0)
        done = np.zeros(n, dtype=bool)
        if chord is not None:
            last = np.full(n, np.inf)
            active = np.arange(n)
            for _ in range(MOST_STEPS):
                moves = self._steps(here[active], removed.of(active)) @ chord.T
                length = np.abs(moves).max(axis=1)
                sound = np.isfinite(length)
                still = (length <= LAST_STEP) | (
                    (length <= ROUNDING) & (length > last[active] / 2.0)
                )
                shorter = length < CONTRACTION * last[active]
                here[active[sound]] += moves[sound]
                done[active[sound & still]] = True
                last[active] = length
                active = active[sound & ~still & shorter]
                if not len(active):
                    break
        here[~done] = theta
        found = [
            self.expected(*self._shaped(here[part], width), removed.of(part))
            for part in _parts(n, len(self.groups) * width * width)
        ]
        whole = Expected(
            np.concatenate([part.weights for part in found]),
            np.concatenate([part.means for part in found]),
            np.concatenate([part.scatters for part in found]),
        )
        return whole, done & self._firm(whole)

    def _firm(self, found: Expected) -> NDArray[np.bool_]:
        """Tell where no covariance comes near a direction without variance, where floors begin."""
        covariances = self.covariances(found)
        variances = np.diagonal(covariances, axis1=2, axis2=3)
        positive = (variances > 0.0).all(axis=(1, 2))
        roots = np.sqrt(np.where(variances > 0.0, variances, 1.0))
        scaled = covariances / roots[:, :, :, np.newaxis] / roots[:, :, np.newaxis, :]
        least = np.linalg.eigvalsh(scaled).min(axis=(1, 2))
        firm: NDArray[np.bool_] = positive & (least > FIRM_EIGENVALUE)
        return firm


def _parts(size: int, cells: int) -> Iterator[slice]:
    """Yield slices of rows that have no more cells together than are worked on at once."""
    most = max(1, CELLS // max(1, cells))
    for start in range(0, size, most):
        yield slice(start, min(start + most, size))
