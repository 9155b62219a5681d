"""Several laws of the same classes at several temperatures, averaged and not chosen from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.linear_algebra import normalized

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class AveragedLaws:
    """Laws g of k classes and temperatures β, with a share for each pair: `shares` (g, b).

    Posteriors are averaged, p(y | x) = Σ share·p_gβ(y | x), where p_gβ(y | x) ∝ π_y·p_g(x | y)^β:
    a temperature never touches the priors. Densities and draws are those of the mixture of the
    laws, at β = 1; Bayes' rule with them is not the average of the posteriors.
    """

    laws: tuple[Any, ...]
    temperatures: FloatArray
    shares: FloatArray

    has_odds = False
    """The log odds of two classes are no one sum over the columns."""
    not_flat = (
        "an average of several",
        "leave average and predictive out, and use one temperature",
    )
    """Why boundaries are not flat, and what has flat ones."""

    # What the laws have in common

    @property
    def size(self) -> int:
        """The number of classes."""
        return int(self.laws[0].size)

    @property
    def rank(self) -> int:
        """The number of directions that vary."""
        return int(self.laws[0].rank)

    @property
    def silent(self) -> int:
        """The number of directions that do not vary at all."""
        return int(self.laws[0].silent) if hasattr(self.laws[0], "silent") else 0

    @property
    def origin(self) -> FloatArray:
        """Where the standardized columns have their zero, (d,)."""
        return np.asarray(self.laws[0].origin)

    @property
    def origin_low(self) -> FloatArray:
        """The second double of the origin."""
        return np.asarray(self.laws[0].origin_low)

    @property
    def scale(self) -> FloatArray:
        """The units of the standardized columns, (d,)."""
        return np.asarray(self.laws[0].scale)

    @property
    def active(self) -> NDArray[np.bool_]:
        """Which columns vary."""
        return np.asarray(self.laws[0].active)

    @property
    def law_shares(self) -> FloatArray:
        """The share of every law, whatever the temperature."""
        found: FloatArray = self.shares.sum(axis=1)
        return found

    @cached_property
    def class_means(self) -> FloatArray:
        """The means of the laws (k, d), averaged."""
        pairs = zip(self.law_shares, self.laws, strict=True)
        return np.asarray(sum(share * law.class_means for share, law in pairs))

    @cached_property
    def covariances(self) -> FloatArray:
        """The covariances of the laws, averaged: (1, d, d) if all laws have one, else (k, d, d)."""
        pairs = zip(self.law_shares, self.laws, strict=True)
        return np.asarray(sum(share * law.covariances for share, law in pairs))

    # One law at one temperature is linear where the law is

    @property
    def is_shared(self) -> bool:
        """Whether boundaries are flat: one law, one temperature, and a shared covariance."""
        return self.shares.size == 1 and bool(self.laws[0].is_shared)

    @property
    def linear(self) -> tuple[FloatArray, FloatArray]:
        """Weights (k, d) and offsets (k,) about the origin, where boundaries are flat."""
        weights, offsets = self.laws[0].linear
        beta = float(self.temperatures[0])
        return beta * weights, beta * offsets

    # Densities

    def log_densities(self, rows: FloatArray) -> FloatArray:
        """Return log p(x | c) of the mixture of the laws, one column a class."""
        found: FloatArray | None = None
        for share, law in zip(self.law_shares, self.laws, strict=True):
            some = law.log_densities(rows) + np.log(share)
            found = some if found is None else np.logaddexp(found, some)
        assert found is not None
        return found

    def scores(self, rows: FloatArray, log_priors: FloatArray) -> FloatArray:
        """Return the logs of the averaged posteriors under these priors (n, k)."""
        return self.averaged(rows, log_priors)

    def block_scores(self, rows: FloatArray, log_priors: FloatArray, out: FloatArray) -> None:
        """Write `scores` of one block into `out`."""
        out[:] = self.averaged(rows, log_priors)

    def averaged(self, rows: FloatArray, log_priors: FloatArray) -> FloatArray:
        """Return log Σ share·p_gβ(y | x)."""
        even = np.zeros(self.size)
        parts = ((law.scores(rows, even), row) for law, row in self._pairs())
        return averaged_posteriors(parts, self.temperatures, log_priors)

    def _pairs(self) -> zip[tuple[Any, FloatArray]]:
        return zip(self.laws, self.shares, strict=True)

    # Other laws made from these

    def marginal(self, seen: NDArray[np.bool_]) -> AveragedLaws:
        """Return the laws of some columns."""
        laws = tuple(law.marginal(seen) for law in self.laws)
        return AveragedLaws(laws, self.temperatures, self.shares)

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one draw for each code: first the law, then the row."""
        drawn = self.drawn_laws(len(codes), rng)
        out = np.empty((len(codes), len(self.origin)))
        for g in np.unique(drawn):
            chosen = np.flatnonzero(drawn == g)
            out[chosen] = self.laws[g].sample(codes[chosen], rng)
        return out

    def drawn_laws(self, size: int, rng: np.random.Generator) -> IntArray:
        """Return which law each of `size` rows is drawn from."""
        shares = self.law_shares
        return rng.choice(len(shares), size=size, p=shares / shares.sum()).astype(np.intp)


def averaged_posteriors(parts: Any, temperatures: FloatArray, log_priors: FloatArray) -> FloatArray:
    """Return log Σ share·p_gβ(y | x), (n, k), of pairs (log p_g(x | y) (n, k), shares (b,)).

    `log_priors` are (k,), or (n, k). In logarithms: far away the answer stays finite and ordered.
    Shares are (b,), or (n, b) where every row has its own.
    """
    found: FloatArray | None = None
    for logs, shares in parts:
        for b, beta in enumerate(temperatures):
            share = np.asarray(shares)[..., b]
            if not np.any(share > 0.0):
                continue
            with np.errstate(divide="ignore", invalid="ignore"):
                some = normalized(log_priors + tempered(logs, float(beta)))
                some = some + np.log(share)[..., np.newaxis]
            found = some if found is None else np.logaddexp(found, some)
    assert found is not None
    return found


def tempered(logs: FloatArray, beta: float) -> FloatArray:
    """Return β·log p(x | y), about the largest of a row: what is -inf stays so."""
    with np.errstate(invalid="ignore"):
        top = logs.max(axis=1, keepdims=True)
        found: FloatArray = beta * (logs - np.where(np.isfinite(top), top, 0.0))
    return found
