"""Normal classes with one row added and each of the others taken out, for many rows at once.

Adding (x, c) changes the scatters by one rank, taking a row out by another: all that is needed are
inner products of rows, differences of means and x under each class's scatter, of which all but one
are the same for every x. A row costs n(d + k) operations a class, and no refit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.engines.threads import pinned
from suffice.linear_algebra import log_sum_exp
from suffice.models.gaussian.leave_one_out.shrunk_downdates import LEVERAGE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.family import Gaussian
    from suffice.models.gaussian.full_normals import FullNormals
    from suffice.models.gaussian.learner import Fit
    from suffice.rows import FloatArray, IntArray

CELLS = 60_000
"""Asked rows times training rows times classes that are looked at in one go: some 20
arrays of half a megabyte, which a processor's cache holds. A choice."""
FAR = 1e3
"""By how many standard deviations, squared, an asked row may move the mean of its class: of sixteen
digits, differences of such squares keep ten or more."""


@dataclass(frozen=True, slots=True, eq=False)
class AddedRows:
    """Training rows (n, d) in the white coordinates of every class, and their inner products.

    white     (k, n, d)  rows, whitened by the class's own A_j = (1 - λ)S_j + λS
    means     (k, k, d)  [j, c]: the mean of class c in the coordinates of class j
    own       (k, n)     |row - mean of its own class|²
    straight  (k, n)     |row - mean of class j|²
    mixed     (k, n)     their inner product
    volumes   (k,)       log |A_j|
    """

    family: Gaussian
    summary: ClassSummary
    active: NDArray[np.bool_]
    rank: int
    whitenings: FloatArray
    codes: IntArray
    white: FloatArray
    means: FloatArray
    own: FloatArray
    straight: FloatArray
    mixed: FloatArray
    volumes: FloatArray
    log_priors: FloatArray | None

    @classmethod
    def of(
        cls,
        family: Gaussian,
        fit: Fit,
        rows: FloatArray,
        codes: IntArray,
        log_priors: FloatArray | None,
    ) -> Self | None:
        """Return training rows made ready; None where there is no such formula.

        Shrinking, prior rows and forms whose axes or volumes are tied are of no low rank, floors
        move with every row, and classes of one or two rows have no covariance without one.
        """
        summary = fit.summary
        plain = family.covariance in ("shared", "per-class") and not family.shrink
        plain = plain and family.factors is None
        if not plain or family.predictive is not None or summary.is_diagonal:
            return None
        if any(not note.silent for note in fit.notes) or summary.weights.min() < 3.0:
            return None
        normals: FullNormals = fit.normals  # type: ignore[assignment]
        if normals.silent:
            return None
        active = normals.active
        z = summary.standardized(rows.astype(np.float64))[:, active]
        centres = normals.means[:, active]
        shared = family.covariance == "shared"
        divisors, divisor = family.divisors(summary)
        share = 1.0 if shared else (family.pool or 0.0)
        found = []
        for j in range(1 if shared else summary.size):
            f = (1.0 - share) * divisors[j] + share * divisor if not shared else divisor
            whitening = normals.whitenings[j] / np.sqrt(f)
            volume = 2.0 * float(np.log(np.diagonal(normals.factors[j])).sum())
            found.append((whitening, volume + int(active.sum()) * np.log(f)))
        whitenings = np.stack([each for each, _ in found])
        with pinned():
            white = z @ whitenings.transpose(0, 2, 1)
            means = centres @ whitenings.transpose(0, 2, 1)
        delta = white - means[:, codes]
        own = np.einsum("jnd,jnd->jn", delta, delta)
        at = np.arange(summary.size)
        if shared:
            white, means = white[0], means[0]
            gap = white[np.newaxis] - means[:, np.newaxis]
            straight = np.einsum("jnd,jnd->jn", gap, gap)
            mixed = np.einsum("jnd,nd->jn", gap, delta[0])
            white, means = white[np.newaxis], means[np.newaxis]
        else:
            gap = white - means[at, at][:, np.newaxis]
            straight = np.einsum("jnd,jnd->jn", gap, gap)
            mixed = np.einsum("jnd,jnd->jn", gap, delta)
        return cls(
            family, summary, active, int(active.sum()), whitenings, codes, white, means,
            own, straight, mixed, np.array([volume for _, volume in found]), log_priors,
        )  # fmt: skip

    @property
    def step(self) -> int:
        """How many rows are asked about at a time."""
        return max(1, CELLS // max(1, len(self.codes) * self.summary.size))

    def scores(self, asked: FloatArray, c: int) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return -log posterior of training rows' labels (m, n), each left out of the union.

        The union is that of all training rows and one asked row with label c. The second array
        (m,) marks asked rows for which the formula has too few digits.
        """
        every = self.summary.standardized(asked.astype(np.float64))
        x = every[:, self.active]
        # A column that never varied may vary now.
        unsafe = np.any(every[:, ~self.active] != 0.0, axis=1)
        held = self.summary.weights.copy()
        held[c] += 1.0
        size, codes = self.summary.size, self.codes
        joint = np.empty((size, len(x), len(codes)))
        for j in range(size):
            joint[j], bad = self._log_joint(j, c, x, held)
            unsafe |= bad
        normal = log_sum_exp(joint.transpose(1, 2, 0).reshape(-1, size)).reshape(joint.shape[1:])
        found = normal - np.take_along_axis(joint, codes[np.newaxis, np.newaxis], axis=0)[0]
        unsafe |= ~np.isfinite(found).all(axis=1)
        return np.maximum(found, 0.0), unsafe

    def _log_joint(
        self, j: int, c: int, x: FloatArray, held: FloatArray
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return log p(x, j) of training rows (m, n), up to a constant, and where it is unsafe.

        `held` are the weights of the classes with the asked row, which is in class c.
        """
        family, codes = self.family, self.codes
        shared = family.covariance == "shared"
        share = 1.0 if shared else (family.pool or 0.0)
        g = 0 if shared else j
        ours, mine = codes == c, codes == j
        weight = held[codes]  # of the row's own class
        downdate = weight / (weight - 1.0)
        step, grow = 1.0 / held[c], self.summary.weights[c] / held[c]
        # The asked row, from the mean of class c, in the coordinates of class j.
        d = x @ self.whitenings[g].T - self.means[g, c]
        square = np.einsum("md,md->m", d, d)[:, np.newaxis]
        with pinned():
            along = d @ self.white[g].T
        from_own = along - (d @ self.means[g].T)[:, codes]
        from_j = along - (d @ self.means[g, j])[:, np.newaxis]
        # The mean of class c moves by d/(W_c + 1), and so do differences from it: t, r and u are
        # |row - own mean|², its product with row - mean of j, and |row - mean of j|².
        t = self.own[g] - np.where(ours, 2.0 * step * from_own - step * step * square, 0.0)
        p = from_own - np.where(ours, step * square, 0.0)
        u, r, q = self.straight[j], self.mixed[j] - np.where(ours, step * from_j, 0.0), from_j
        if j == c:
            u = u - 2.0 * step * from_j + step * step * square
            r = r - step * from_own + np.where(ours, step * step * square, 0.0)
            q = from_j - step * square
        # The scatter has grown by one rank: Sherman and Morrison.
        growth = grow if j == c else share * grow
        factor = growth / (1.0 + growth * square)
        t = t - factor * np.square(p)
        u = u - factor * np.square(q)
        r = r - factor * p * q
        alpha = np.where(mine, 1.0, share) * downdate
        rest = 1.0 - alpha * t
        with np.errstate(all="ignore"):
            distance = np.where(
                mine, np.square(downdate) * t / rest, u + alpha * np.square(r) / rest
            )
            less = 0.0 if family.divisor == "mle" else 1.0
            pooled = held.sum() - less * self.summary.size - 1.0
            f = (1.0 - share) * (held[j] - less - mine) + share * pooled
            bad = (rest < LEVERAGE).any(axis=1) | (f <= 0.0).any()
            bad |= (np.max(f) * square * step * step > FAR)[:, 0]
            volume: FloatArray | float = 0.0
            if not shared:
                volume = self.volumes[g] + np.log1p(growth * square) + np.log(rest)
                volume = volume - self.rank * np.log(f)
            found = self._log_prior(j, held) - 0.5 * (f * distance + volume)
        return found, bad

    def _log_prior(self, j: int, held: FloatArray) -> FloatArray | float:
        """Return the log prior of class j in the models without each row (n,)."""
        if self.log_priors is not None:
            return float(self.log_priors[j])
        found: FloatArray = np.log((held[j] - (self.codes == j)) / (held.sum() - 1.0))
        return found
