"""What every column says about the classes by itself: log p(x_j | c), each row left out.

A number has four laws (Student-t predictives on the value, on its normal score, on the score with a
variance that the classes share; and tallies of its bins), averaged by how well the column tells the
classes apart under each; a category has its tallies. A row that was learned from is judged
without its own weight: one closed form for both, since a new row has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.models.pool.averages import log_softmax
from suffice.models.pool.coding import UNKNOWN
from suffice.special_functions import log_gamma_rise

if TYPE_CHECKING:
    from suffice.models.pool.coding import CodedRows
    from suffice.rows import FloatArray, IntArray

PRIOR_VARIANCE_ROWS = 4.0
"""Rows that the pooled variance of a column is worth in each class: found by trial, as were the
other two."""
PRIOR_MEAN_ROWS = 1.0
"""Rows that the mean over all classes is worth in each class."""
MOST_PRIOR_LEVELS = 4.0
"""Rows that the shares of all classes together are worth in the tallies of one; never more than
there are levels."""
LEAST_VARIANCE = 1e-3
"""A column's variance within classes is at least this share of its whole variance: it may be
constant within every class of few rows, and is not for that reason known without error."""
TINY = float(np.finfo(np.float64).tiny)
"""The least share of a level: beside weights of 1e300 those of others are below all doubles."""
PSEUDO_COUNT = 0.5
"""Jeffreys' count, for classes and levels."""


def log_shares(members: FloatArray, own: FloatArray | None = None) -> FloatArray:
    """Return log class shares from weights (k,), for rows with own weights (n, k) left out."""
    left = members if own is None else np.maximum(members - own, 0.0)
    total = left.sum(axis=-1, keepdims=True) + PSEUDO_COUNT * left.shape[-1]
    found: FloatArray = np.log((left + PSEUDO_COUNT) / total)
    return found


def _log_t(away: FloatArray, freedom: FloatArray, spread: FloatArray) -> FloatArray:
    """Return the log density of Student's t; `spread` is f times its squared scale."""
    constant = log_gamma_rise(0.5 * freedom, 0.5)
    constant = constant - 0.5 * np.log(np.pi * spread)
    found: FloatArray = constant - 0.5 * (freedom + 1.0) * np.log1p(np.square(away) / spread)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class NormalColumnScores:
    """Posterior predictives of normal columns: arrays are (k, d), or (d,) where classes share.

    counts, means, scatters  of each class; of the cells that are there
    centre, variance         the prior: the mean of all rows, the pooled variance
    shared                   whether the classes have one variance
    """

    counts: FloatArray
    means: FloatArray
    scatters: FloatArray
    centre: FloatArray
    variance: FloatArray
    shared: bool

    @classmethod
    def of(cls, cells: FloatArray, members: FloatArray, *, shared: bool = False) -> Self:
        """Learn from cells (n, d), NaN blank, and weights by class (n, k)."""
        there = ~np.isnan(cells)
        filled = np.where(there, cells, 0.0)
        counts = members.T @ there
        some = np.maximum(counts, 1e-300)
        means = members.T @ filled / some
        # Columns are standardised, so that squares about zero lose no digits that matter here.
        scatters = np.maximum(members.T @ np.square(filled) - counts * np.square(means), 0.0)
        total = np.maximum(counts.sum(axis=0), 1e-300)
        centre = (counts * means).sum(axis=0) / total
        whole = (scatters + counts * np.square(means - centre)).sum(axis=0) / total
        freedom = np.maximum(total - (counts > 0.0).sum(axis=0), 0.5)
        variance = np.maximum(scatters.sum(axis=0) / freedom, LEAST_VARIANCE * whole + 1e-12)
        return cls(counts, means, scatters, centre, variance, shared)

    def _posterior(
        self, counts: FloatArray, means: FloatArray, scatters: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return weights, means and scatters with the prior's rows added."""
        total = counts + PRIOR_MEAN_ROWS
        moved = (counts * means + PRIOR_MEAN_ROWS * self.centre) / total
        away = PRIOR_MEAN_ROWS * counts / total * np.square(means - self.centre)
        return total, moved, scatters + away

    def scores(self, cells: FloatArray) -> FloatArray:
        """Return log densities (n, d, k) of new rows; 0 for blanks."""
        total, means, scatters = self._posterior(self.counts, self.means, self.scatters)
        freedom = PRIOR_VARIANCE_ROWS + self.counts
        if self.shared:
            pooled = PRIOR_VARIANCE_ROWS + self.counts.sum(axis=0)
            freedom = np.broadcast_to(pooled, self.counts.shape)
            scatters = np.broadcast_to(scatters.sum(axis=0), scatters.shape)
        spread = (PRIOR_VARIANCE_ROWS * self.variance + scatters) * (1.0 + 1.0 / total)
        away = np.where(np.isnan(cells), 0.0, cells)[:, :, None] - means.T
        found = _log_t(away, freedom.T, spread.T)
        found[np.isnan(cells)] = 0.0
        return found

    def left_out(self, cells: FloatArray, codes: IntArray, weights: FloatArray) -> FloatArray:
        """Return the scores (n, d, k) of rows that were learned with `weights`, each left out."""
        found = self.scores(cells)
        own = np.flatnonzero(weights > 0.0)
        x, c = np.where(np.isnan(cells[own]), 0.0, cells[own]), codes[own]
        gone = np.where(np.isnan(cells[own]), 0.0, weights[own, None])
        counts = np.maximum(self.counts[c] - gone, 0.0)
        some = np.where(counts > 1e-9, counts, 1.0)
        means = np.where(counts > 1e-9, (self.counts[c] * self.means[c] - gone * x) / some, 0.0)
        taken = gone * (self.counts[c] / some) * np.square(x - self.means[c])
        scatters = np.where(counts > 1e-9, np.maximum(self.scatters[c] - taken, 0.0), 0.0)
        total, moved, scatter = self._posterior(counts, means, scatters)
        rows = np.arange(len(own))
        if not self.shared:
            spread = (PRIOR_VARIANCE_ROWS * self.variance + scatter) * (1.0 + 1.0 / total)
            scores = _log_t(x - moved, PRIOR_VARIANCE_ROWS + counts, spread)
            found[own, :, c] = np.where(gone > 0.0, scores, found[own, :, c])
            return found
        totals, centres, spreads = self._posterior(self.counts, self.means, self.scatters)
        # A row that outweighs all others by 1e16 leaves less than nothing, by rounding.
        pooled = np.maximum(spreads.sum(axis=0) - spreads[c], 0.0) + scatter
        freedom = PRIOR_VARIANCE_ROWS + np.maximum(self.counts.sum(axis=0) - gone, 0.0)
        widths = np.broadcast_to(1.0 + 1.0 / totals.T, (len(own), *totals.T.shape)).copy()
        widths[rows, :, c] = 1.0 + 1.0 / total
        away = x[:, :, None] - centres.T
        away[rows, :, c] = x - moved
        spread = (PRIOR_VARIANCE_ROWS * self.variance + pooled)[:, :, None] * widths
        scores = _log_t(away, freedom[:, :, None], spread)
        found[own] = np.where((gone > 0.0)[:, :, None], scores, found[own])
        return found


@dataclass(frozen=True, slots=True, eq=False)
class LevelScores:
    """Tallies of levels, drawn to the shares that all classes have together.

    tallies  (k, t + 1) of all levels of all columns one after the other; the last says nothing
    counts   (k, d) of each column
    sizes    (d,) levels of each column
    """

    tallies: FloatArray
    counts: FloatArray
    sizes: IntArray

    @classmethod
    def of(cls, levels: IntArray, sizes: IntArray, members: FloatArray) -> Self:
        """Learn from codes (n, d) and weights by class (n, k)."""
        places = _places(levels, sizes)
        total = int(sizes.sum())
        width = levels.shape[1]
        tallies = np.stack(
            [
                np.bincount(places.ravel(), np.repeat(weights, width), minlength=total + 1)
                for weights in members.T
            ]
        ).astype(np.float64)
        of_column = np.repeat(np.arange(width), sizes)
        counts = np.stack(
            [np.bincount(of_column, row[:total], minlength=width) for row in tallies]
        ).astype(np.float64)
        return cls(tallies, counts, sizes)

    def scores(
        self,
        levels: IntArray,
        codes: IntArray | None = None,
        weights: FloatArray | None = None,
    ) -> FloatArray:
        """Return log probabilities (n, d, k); with codes and weights, each row is left out."""
        places = _places(levels, self.sizes)
        known = levels != UNKNOWN
        seen = self.tallies[:, places].transpose(1, 2, 0)  # (n, d, k), a copy
        counts = np.broadcast_to(self.counts.T, seen.shape)
        gone = np.zeros(levels.shape)
        if codes is not None and weights is not None:
            gone = weights[:, None] * known
            own = np.zeros((len(levels), 1, len(self.tallies)))
            own[np.arange(len(levels)), 0, codes] = 1.0
            seen = np.maximum(seen - gone[:, :, None] * own, 0.0)
            counts = np.maximum(counts - gone[:, :, None] * own, 0.0)
        # As above: rounding may leave less than nothing of all others, and less than of one level.
        together = np.maximum(self.tallies.sum(axis=0)[places] - gone, 0.0)
        every = np.maximum(self.counts.sum(axis=0) - gone, together)
        together = (together + PSEUDO_COUNT) / (every + PSEUDO_COUNT * self.sizes)
        strength = np.minimum(self.sizes, MOST_PRIOR_LEVELS)
        prior = (strength * together)[:, :, None]
        found: FloatArray = np.log(np.maximum((seen + prior) / (counts + strength[:, None]), TINY))
        found[~known] = 0.0
        return found


def _places(levels: IntArray, sizes: IntArray) -> IntArray:
    """Return where each cell's level stands among those of all columns; unknown ones at the end."""
    starts = np.cumsum(sizes) - sizes
    found: IntArray = np.where(levels == UNKNOWN, int(sizes.sum()), levels + starts)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class ColumnScores:
    """All columns: laws of numbers with the share of each (4, a), tallies of categories."""

    normals: tuple[NormalColumnScores, NormalColumnScores, NormalColumnScores]
    bins: LevelScores
    shares: FloatArray
    levels: LevelScores
    training: FloatArray
    """(n, d, k) of the training rows, each left out; rows without weight are new ones."""

    @classmethod
    def of(cls, rows: CodedRows, codes: IntArray, weights: FloatArray, size: int) -> Self:
        """Learn from coded rows, classes (n,) of `size`, and weights (n,)."""
        members = np.zeros((len(rows), size))
        members[np.arange(len(rows)), codes] = weights
        normals = (
            NormalColumnScores.of(rows.values, members),
            NormalColumnScores.of(rows.ranks, members),
            NormalColumnScores.of(rows.ranks, members, shared=True),
        )
        bins = LevelScores.of(rows.bins, rows.bin_sizes, members)
        levels = LevelScores.of(rows.levels, rows.level_sizes, members)
        left_out = np.stack(
            [
                normals[0].left_out(rows.values, codes, weights),
                normals[1].left_out(rows.ranks, codes, weights),
                normals[2].left_out(rows.ranks, codes, weights),
                bins.scores(rows.bins, codes, weights),
            ]
        )
        left_out -= left_out.mean(axis=-1, keepdims=True)
        priors = log_shares(members.sum(axis=0), members)
        shares = _law_shares(left_out, priors, codes, weights)
        numbers = np.einsum("lj,lnjc->njc", shares, left_out)
        categories = levels.scores(rows.levels, codes, weights)
        categories -= categories.mean(axis=-1, keepdims=True)
        return cls(normals, bins, shares, levels, np.concatenate([numbers, categories], axis=1))

    def scores(self, rows: CodedRows) -> FloatArray:
        """Return the scores (n, d, k) of new rows, centred over classes; a blank says nothing."""
        laws = np.stack(
            [
                self.normals[0].scores(rows.values),
                self.normals[1].scores(rows.ranks),
                self.normals[2].scores(rows.ranks),
                self.bins.scores(rows.bins),
            ]
        )
        numbers = np.einsum("lj,lnjc->njc", self.shares, laws)
        found = np.concatenate([numbers, self.levels.scores(rows.levels)], axis=1)
        found -= found.mean(axis=-1, keepdims=True)
        return found


def _law_shares(
    laws: FloatArray, log_priors: FloatArray, codes: IntArray, weights: FloatArray
) -> FloatArray:
    """Return the share of each law (4, d): exp(-loss of the column alone), summed over rows."""
    used = np.flatnonzero(weights > 0.0)
    posteriors = log_softmax(laws[:, used] + log_priors[used][:, None, :])
    true = np.take_along_axis(posteriors, codes[used][None, :, None, None], axis=-1)[..., 0]
    losses = -np.einsum("n,lnj->lj", weights[used], true)
    raised = np.exp(losses.min(axis=0) - losses)
    found: FloatArray = raised / raised.sum(axis=0)
    return found
