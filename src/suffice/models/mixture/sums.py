"""The E-step: what rows add up to under given components, pattern by pattern of their blanks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.mixture.steps import mixture_sums
from suffice.linear_algebra import LOG_TAU, lower_inverse
from suffice.models.gaussian.missing_patterns import by_pattern

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.gaussian.forms.covariances import Tied
    from suffice.models.mixture.coordinates import Coordinates
    from suffice.models.mixture.factored.factor_forms import FactorSearch
    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Components:
    """Shares (k,), means (k, a) and covariances (k, a, a) of components, in coordinates.

    Where columns are independent, covariances are variances (k, a). `noise` is the share of what
    is everywhere alike, with density exp(-log_volume). `search` is where a search for the
    covariances of a form has ended: the next begins there.
    """

    shares: FloatArray
    means: FloatArray
    covariances: FloatArray
    noise: float = 0.0
    log_volume: float = 0.0
    search: Tied | FactorSearch | None = None

    @property
    def size(self) -> int:
        """How many components there are."""
        return len(self.shares)

    @property
    def is_diagonal(self) -> bool:
        """Whether columns are independent."""
        return self.covariances.ndim == 2

    @property
    def outside(self) -> float:
        """Log of share and density of the noise; -inf where there is none."""
        return float(np.log(self.noise) - self.log_volume) if self.noise > 0.0 else -np.inf

    def in_order(self, order: IntArray) -> Components:
        """Return the components in another order."""
        return Components(
            self.shares[order],
            self.means[order],
            self.covariances[order],
            self.noise,
            self.log_volume,
        )

    def matrices(self) -> FloatArray:
        """Return covariances (k, a, a), whatever the form."""
        if not self.is_diagonal:
            return self.covariances
        return self.covariances[:, :, np.newaxis] * np.eye(self.means.shape[1])


@dataclass(frozen=True, eq=False)
class PatternSums:
    """Weights (k,), sums of x - m (k, o), and of their products (k, o, o) or squares (k, o)."""

    held: FloatArray
    firsts: FloatArray
    seconds: FloatArray

    def __add__(self, other: PatternSums) -> PatternSums:
        return PatternSums(
            self.held + other.held, self.firsts + other.firsts, self.seconds + other.seconds
        )


@dataclass(frozen=True, eq=False)
class MixtureSums:
    """What rows say under given components: log-likelihood, and sums by pattern of blanks."""

    likelihood: float
    noise: float
    patterns: dict[bytes, PatternSums]

    @property
    def weight(self) -> float:
        """The weight of all rows, noise included."""
        return self.noise + float(sum(part.held.sum() for part in self.patterns.values()))

    def __add__(self, other: MixtureSums) -> MixtureSums:
        patterns = dict(self.patterns)
        for key, sums in other.patterns.items():
            patterns[key] = patterns[key] + sums if key in patterns else sums
        return MixtureSums(self.likelihood + other.likelihood, self.noise + other.noise, patterns)


class Expectation:
    """The E-step under given components, as a summary of rows: sums of parts add up."""

    def __init__(self, components: Components, coordinates: Coordinates) -> None:
        self.components, self.coordinates = components, coordinates
        self._laws: dict[bytes, tuple[FloatArray, FloatArray]] = {}

    def __call__(self, rows: FloatArray, weights: FloatArray | None) -> MixtureSums:
        """Return the sums of some rows (n, d) as the user has them."""
        x = self.coordinates.chosen(rows)
        w = np.empty(0) if weights is None else weights
        if self.coordinates.complete or not np.isnan(x).any():
            return self._pattern(x, w, np.ones(x.shape[1], dtype=bool))
        merged = MixtureSums(0.0, 0.0, {})
        seen = ~np.isnan(x)
        keys = np.packbits(seen, axis=1)
        _, first, codes = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        for place, start in enumerate(first):
            chosen = np.flatnonzero(codes.ravel() == place)
            mask = seen[start]
            part = np.ascontiguousarray(x[np.ix_(chosen, mask)])
            merged = merged + self._pattern(part, w[chosen] if len(w) else w, mask)
        return merged

    def _pattern(self, x: FloatArray, weights: FloatArray, mask: NDArray[np.bool_]) -> MixtureSums:
        whitenings, constants = self.law(mask)
        outside = self.components.outside if mask.all() else -np.inf
        if self.components.noise > 0.0 and not mask.all():
            # The noise of some columns is that of all, on average over the others: a box.
            share = mask.sum() / len(mask)
            outside = float(np.log(self.components.noise) - share * self.components.log_volume)
        means = np.ascontiguousarray(self.components.means[:, mask])
        likelihood, noise, held, firsts, seconds = mixture_sums(
            x, self.coordinates.frame(mask), weights, means, whitenings, constants, outside
        )
        # Densities are those of the user's units.
        scale = np.log(self.coordinates.scale[self.coordinates.active][mask]).sum()
        total = float(weights.sum()) if len(weights) else float(len(x))
        likelihood -= float(scale) * total
        return MixtureSums(likelihood, noise, {mask.tobytes(): PatternSums(held, firsts, seconds)})

    def law(self, mask: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
        """Return whitenings and constants of the columns of a pattern."""
        key = mask.tobytes()
        found = self._laws.get(key)
        if found is not None:
            return found
        components, width = self.components, int(mask.sum())
        if components.is_diagonal:
            deviations = np.sqrt(components.covariances[:, mask])
            whitenings, logs = 1.0 / deviations, np.log(deviations).sum(axis=1)
        else:
            blocks = components.covariances[:, mask][:, :, mask]
            factors = np.asarray(np.linalg.cholesky(blocks), dtype=np.float64)
            whitenings = np.ascontiguousarray(lower_inverse(factors))
            logs = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
        with np.errstate(divide="ignore"):
            constants = np.log(components.shares) - logs - width * LOG_TAU / 2.0
        found = self._laws[key] = np.ascontiguousarray(whitenings), constants
        return found

    def log_joint(self, rows: FloatArray) -> FloatArray:
        """Return log of share and density, (n, k), up to the units: of starts and samples."""
        z = self.coordinates.standardized(rows)

        def work(part: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:
            whitenings, constants = self.law(seen)
            out = np.empty((len(part), len(constants)))
            for c, mean in enumerate(self.components.means[:, seen]):
                gap = part[:, seen] - mean
                own = whitenings[c]
                white = gap * own if own.ndim == 1 else gap @ own.T
                out[:, c] = constants[c] - 0.5 * np.einsum("ij,ij->i", white, white)
            return out

        return by_pattern(z, work)


def completed(
    sums: MixtureSums, components: Components
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weights (k,), sums about the means (k, a) and products (k, a, a), blanks expected.

    With K = Σ_HO Σ_OO⁻¹ the blank cells of a pattern are expected at m_H + K(x_O - m_O), and vary
    about that by Σ_HH - KΣ_OH. Where columns are independent, they are expected at their mean.
    """
    size, width = components.means.shape
    diagonal = components.is_diagonal
    held, firsts = np.zeros(size), np.zeros((size, width))
    seconds = np.zeros_like(components.covariances)
    for key, part in sums.patterns.items():
        mask = np.frombuffer(key, dtype=bool)
        held = held + part.held
        if mask.all():
            firsts += part.firsts
            seconds += part.seconds
        elif diagonal:
            firsts[:, mask] += part.firsts
            seconds[:, mask] += part.seconds
            seconds[:, ~mask] += part.held[:, np.newaxis] * components.covariances[:, ~mask]
        else:
            o, h = np.flatnonzero(mask), np.flatnonzero(~mask)
            for c, sigma in enumerate(components.covariances):
                slopes = np.linalg.solve(sigma[np.ix_(o, o)], sigma[np.ix_(o, h)]).T
                back = np.zeros((width, len(o)))
                back[o, np.arange(len(o))], back[h] = 1.0, slopes
                firsts[c] += back @ part.firsts[c]
                seconds[c] += back @ part.seconds[c] @ back.T
                left = sigma[np.ix_(h, h)] - slopes @ sigma[np.ix_(o, h)]
                seconds[c][np.ix_(h, h)] += part.held[c] * left
    return held, firsts, seconds
