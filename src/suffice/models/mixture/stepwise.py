"""Stepwise EM: a stream of rows goes by once, and running sums forget what older components said.

After Cappé and Moulines (2009) and Liang and Klein (2009): with the sums of a step scaled to a
weight of one, s ← (1 - γ)s + γ·s_step, and γ falls as a power of how much has been seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.models.gaussian.floors import EIGENVALUE_FLOOR
from suffice.models.gaussian.full_normals import FullNormals
from suffice.models.mixture.coordinates import Coordinates, refuse_far
from suffice.models.mixture.law import law_of
from suffice.models.mixture.maximization import ComponentPrior, Maximization
from suffice.models.mixture.sums import Components, Expectation, completed

if TYPE_CHECKING:
    from suffice.models.gaussian.diagonal_normals import DiagonalNormals
    from suffice.models.mixture.fitting import MixtureFit
    from suffice.rows import FloatArray

ALPHA = 0.6
"""γ is the inverse of how many steps have been seen to this power. Between 0.5 and 1 it converges;
of .51, .6, .7 and 1 the first two lost least against all rows at once."""
STEP_ROWS = 100
"""Rows of a step, at least. A choice: sums of fewer are noise."""
STEP_ROWS_A_NUMBER = 4
"""Rows of a step for each column of each component. A choice."""
START_ROWS = 1000
"""First rows, at least, that are held until a mixture is fitted to them all: where stepwise EM
begins poorly, it stays there. A choice."""
START_ROWS_A_NUMBER = 20
"""First rows for each column of each component. A choice."""
START_CELLS = 1 << 20
"""Cells of the first rows, at most."""


@dataclass(frozen=True, eq=False)
class HiddenMoments:
    """Weights (k,), means (k, a) and scatters (k, a, a) of hidden classes, or (k, a); the noise.

    They add up, and `scaled` lets them fade, as those of known classes do.
    """

    held: FloatArray
    means: FloatArray
    scatters: FloatArray
    noise: float

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self.held.sum()) + self.noise

    def scaled(self, factor: float) -> Self:
        """Return the moments of rows that count `factor` times as much."""
        return type(self)(
            self.held * factor, self.means, self.scatters * factor, self.noise * factor
        )

    def __add__(self, other: Self) -> Self:
        held = self.held + other.held
        safe = np.maximum(held, np.finfo(np.float64).tiny)
        gap = other.means - self.means
        share = other.held / safe
        pull = (self.held * share)[:, np.newaxis]
        if self.scatters.ndim == 2:
            between = pull * np.square(gap)
        else:
            between = (pull * gap)[:, :, np.newaxis] * gap[:, np.newaxis]
        means = self.means + share[:, np.newaxis] * gap
        return type(self)(
            held, means, self.scatters + other.scatters + between, self.noise + other.noise
        )

    @classmethod
    def of(cls, rows: FloatArray, weights: FloatArray, step: Expectation) -> tuple[Self, float]:
        """Return what rows say under given components, and their log-likelihood."""
        sums = step(rows, weights)
        held, firsts, seconds = completed(sums, step.components)
        shift = firsts / np.maximum(held, np.finfo(np.float64).tiny)[:, np.newaxis]
        if seconds.ndim == 2:
            scatters = np.maximum(seconds - firsts * shift, 0.0)
        else:
            scatters = seconds - firsts[:, :, np.newaxis] * shift[:, np.newaxis]
            scatters = (scatters + scatters.transpose(0, 2, 1)) / 2.0
        return cls(held, step.components.means + shift, scatters, sums.noise), sums.likelihood


@dataclass(frozen=True, eq=False)
class MixtureStream:
    """What a stream of rows has come to: running sums, and rows that wait for a step.

    waiting, blank, weights   rows (w, d) that no step has seen, which of their cells are blank
    seen        weight of the rows that steps have seen; 0 before there is a start
    worth       how many rows the running sums are worth
    held, means, scatters or squares, noise   running moments, in coordinates, of weight one
    likelihood  running log-likelihood, a row
    total, trifle   what the first rows said of all: see `Coordinates`
    """

    waiting: FloatArray
    blank: np.ndarray
    weights: FloatArray
    seen: float = 0.0
    worth: float = 0.0
    held: FloatArray | None = None
    means: FloatArray | None = None
    scatters: FloatArray | None = None
    squares: FloatArray | None = None
    noise: float = 0.0
    likelihood: float = 0.0
    total: FloatArray | None = None
    trifle: FloatArray | None = None

    @classmethod
    def empty(cls, width: int) -> Self:
        """Return a stream of which nothing has come yet."""
        return cls(np.empty((0, width)), np.empty((0, width), dtype=bool), np.empty(0))

    @property
    def is_begun(self) -> bool:
        """Whether there is a start, and steps are made from there."""
        return self.held is not None

    @property
    def rows(self) -> FloatArray:
        """The rows that wait, blanks as NaN."""
        return np.where(self.blank, np.nan, self.waiting)

    def after(self, rows: FloatArray, weights: FloatArray | None) -> Self:
        """Return the stream with more rows that wait."""
        blank = np.isnan(rows)
        own = np.ones(len(rows)) if weights is None else weights
        return replace(
            self,
            waiting=np.vstack([self.waiting, np.where(blank, 0.0, rows)]),
            blank=np.vstack([self.blank, blank]),
            weights=np.concatenate([self.weights, own]),
        )

    def without(self, many: int) -> Self:
        """Return the stream without the first rows that waited."""
        return replace(
            self,
            waiting=self.waiting[many:],
            blank=self.blank[many:],
            weights=self.weights[many:],
        )

    def begun(self, fit: MixtureFit, coordinates: Coordinates | None = None) -> Self:
        """Return the stream with a fitted mixture to begin from: its moments are the sums.

        `coordinates` are those that it was fitted in, where these are of more rows than its own.
        """
        if coordinates is None:
            coordinates, components = _restored(fit)
        else:
            _, components = _restored(fit, coordinates.total, coordinates.trifle)
        shares, means = components.shares, components.means
        axes = (slice(None), *[np.newaxis] * (components.covariances.ndim - 1))
        scatters = shares[axes] * components.covariances
        return replace(
            self,
            seen=fit.weight,
            worth=fit.weight,
            held=shares,
            means=means,
            scatters=None if components.is_diagonal else scatters,
            squares=scatters if components.is_diagonal else None,
            noise=components.noise,
            likelihood=fit.log_likelihood / fit.weight,
            total=coordinates.total,
            trifle=coordinates.trifle,
        )

    @property
    def spread(self) -> FloatArray:
        """The running scatters (k, a, a), or squares (k, a)."""
        found = self.squares if self.scatters is None else self.scatters
        assert found is not None
        return found

    def refuse_far(self, fit: MixtureFit) -> None:
        """Refuse rows that wait and are too far to be squared, before any step is made."""
        refuse_far(self.rows, _restored(fit, self.total, self.trifle)[0])

    def averaged(self, fit: MixtureFit, many: int) -> tuple[Self, Coordinates, Components]:
        """Let the first rows that wait join the running sums, under the components there are.

        Returns the coordinates and the components as well, for the estimate that may follow.
        """
        rows, weights = self.rows[:many], self.weights[:many]
        coordinates, components = _restored(fit, self.total, self.trifle)
        found, likelihood = HiddenMoments.of(rows, weights, Expectation(components, coordinates))
        size = float(weights.sum())
        assert self.held is not None
        assert self.means is not None
        gamma = (self.seen / size + 2.0) ** -ALPHA
        old = HiddenMoments(self.held, self.means, self.spread, self.noise)
        new = old.scaled(1.0 - gamma) + found.scaled(gamma / size)
        new = new.scaled(1.0 / new.weight)
        # What an average is worth: weights of its rows, squared and summed, are one over it.
        worth = 1.0 / ((1.0 - gamma) ** 2 / self.worth + gamma**2 / size)
        diagonal = components.is_diagonal
        stream = replace(
            self.without(many),
            seen=self.seen + size,
            worth=worth,
            held=new.held,
            means=new.means,
            scatters=None if diagonal else new.scatters,
            squares=new.scatters if diagonal else None,
            noise=new.noise,
            likelihood=(1.0 - gamma) * self.likelihood + gamma * likelihood / size,
        )
        return stream, coordinates, components

    def weighing(self, fit: MixtureFit) -> MixtureFit:
        """Return a mixture with the weight and the likelihood of this stream."""
        known = replace(fit, weight=self.seen, log_likelihood=self.likelihood * self.seen)
        shares = np.exp(known.model.log_priors) * (1.0 - known.noise)
        return replace(known, model=replace(known.model, weights=shares * known.weight))

    def holds(self, rows: float) -> bool:
        """Whether every component is worth so many rows."""
        assert self.held is not None
        return float(self.held.min()) * self.worth >= rows

    def stepped(self, fit: MixtureFit, many: int, *, prior: bool) -> tuple[Self, MixtureFit]:
        """Let the first rows that wait make a step; the mixture stays where one is too thin."""
        stream, coordinates, components = self.averaged(fit, many)
        told = stream.weighing(fit)
        if not stream.holds(thin_rows(coordinates.width)):
            return stream, told
        coordinates = replace(coordinates, weight=stream.worth)
        own = ComponentPrior.of(fit.form, components.size, coordinates) if prior else None
        maximization = Maximization(fit.form, coordinates, own)
        assert stream.held is not None
        assert stream.means is not None
        image = maximization.of_moments(
            stream.held * stream.worth,
            stream.means,
            stream.spread * stream.worth,
            stream.held,
            stream.noise,
            components.log_volume,
        )
        if not maximization.is_sound(image, stream.worth):
            return stream, told
        model = law_of(image, replace(coordinates, weight=stream.seen), fit.form)
        return stream, replace(told, model=model, noise=image.noise)


def thin_rows(width: int) -> float:
    """Return how many rows a component must be worth to be estimated anew.

    >>> thin_rows(4)
    10.0
    """
    return 2.0 * (width + 1)


def step_rows(components: int, width: int) -> int:
    """Return how many rows make a step.

    >>> step_rows(3, 4), step_rows(9, 50)
    (100, 1836)
    """
    return max(STEP_ROWS, STEP_ROWS_A_NUMBER * components * (width + 1))


def start_rows(components: int, width: int) -> int:
    """Return how many first rows are held until stepwise EM begins.

    >>> start_rows(3, 4), start_rows(9, 50)
    (1000, 9180)
    """
    wanted = max(START_ROWS, START_ROWS_A_NUMBER * components * (width + 1))
    return max(2, min(wanted, START_CELLS // max(1, width)))


def _restored(
    fit: MixtureFit, total: FloatArray | None = None, trifle: FloatArray | None = None
) -> tuple[Coordinates, Components]:
    """Return the coordinates and components that a mixture was made from."""
    law: FullNormals | DiagonalNormals = fit.model.densities  # type: ignore[assignment]
    active = law.active
    means = law.means[:, active]
    shares = np.exp(fit.model.log_priors) * (1.0 - fit.noise)
    if isinstance(law, FullNormals):
        covariances = law.factors @ law.factors.transpose(0, 2, 1)
        spread = covariances
    else:
        covariances = np.square(law.deviations[:, active])
        spread = covariances[:, :, np.newaxis] * np.eye(means.shape[1])
    repeated = (fit.model.densities.size, *covariances.shape[1:])
    covariances = np.array(np.broadcast_to(covariances, repeated))
    if total is None or trifle is None:
        parts = shares / shares.sum()
        centre = parts @ means
        gaps = (means - centre) * np.sqrt(parts)[:, np.newaxis]
        every = np.broadcast_to(spread, (len(shares), *spread.shape[1:]))
        total = np.einsum("k,kij->ij", parts, every) + gaps.T @ gaps
        values, basis = np.linalg.eigh(total)
        silent = basis[:, values < 2.0 * EIGENVALUE_FLOOR * values[-1]]
        trifle = EIGENVALUE_FLOOR * (silent @ silent.T)
    coordinates = Coordinates(
        law.origin, law.origin_low, law.scale, active, total, trifle, fit.weight, complete=False
    )
    inner = float(np.log(law.scale[active]).sum())
    volume = fit.log_volume - inner if fit.noise > 0.0 else 0.0
    return coordinates, Components(shares, means, covariances, fit.noise, volume)
