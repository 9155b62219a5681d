"""Do GDA and logistic regression aim at the same θ? A score test, and what single rows do to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.engines.threads import collect_blocks
from suffice.linear_algebra import normalized
from suffice.models.gaussian.family import Gaussian
from suffice.models.gaussian.learner import GaussianLearner
from suffice.models.gaussian.whitened_classes import WhiteClasses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.rows import FloatArray, IntArray


RANK_FLOOR = 1e-10
"""Eigenvalues of a correlation matrix that count as zero: the floor of covariances too
(`EIGENVALUE_FLOOR`)."""
NOISE = 1e-20
"""Below this share of the score's own variance, a contrast is rounding: its deviation is below
1e-10 of the score's. A choice, far above ε."""

CHI_SQUARED = "score test, χ²"
"""The test whose p-value is that of large samples."""
BOOTSTRAP = "score test, parametric bootstrap"
"""The test whose p-value comes from data drawn under the hypothesis: for small samples."""


@dataclass(frozen=True, slots=True)
class ScoreTest:
    """Whether the score of logistic regression at GDA's θ is further from zero than by chance.

    statistic            T = Uᵀ(Σ w eeᵀ)⁺U
    degrees_of_freedom   the rank of Σ w eeᵀ; zero if there is nothing to compare
    p_value              P(T or more), if classes are normal with one covariance
    method               where the p-value is from
    draws                how many bootstrap samples it is from; zero for χ²
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float
    method: str = CHI_SQUARED
    draws: int = 0


def score_test(sums: ScoreSums, contrasts: FloatArray) -> ScoreTest:
    """Return T and its p-value by χ².

    U is the score Σw(y - h)x̃ at GDA's θ, and e what each row contributes to it, with what it
    did to θ counted in. If both schools have the same limit, U is a sum of e of mean zero.
    The rank is that of e's correlations, so units do not matter.
    """
    from scipy.special import chdtrc

    variances = np.diagonal(contrasts)
    live = np.flatnonzero(variances > NOISE * np.diagonal(sums.information))
    deviations = np.sqrt(variances[live])
    correlation = contrasts[np.ix_(live, live)] / deviations[:, np.newaxis] / deviations
    values, turns = np.linalg.eigh(correlation)
    kept = values > RANK_FLOOR
    turned = (turns[:, kept].T @ (sums.score[live] / deviations)) / np.sqrt(values[kept])
    statistic, rank = float(turned @ turned), int(kept.sum())
    return ScoreTest(statistic, rank, float(chdtrc(rank, statistic)) if rank else 1.0)


def bootstrapped(
    test: ScoreTest, classes: WhiteClasses, draws: int, rng: np.random.Generator
) -> ScoreTest:
    """Return the same statistic, with a p-value from samples of the fitted GDA.

    Each sample has as many rows of each class as the weights say (to the nearest whole
    number, one at least), and goes through all that the rows went through. The rank of a
    sample counts, so that p-values are compared and not statistics. No p-value is zero: the
    rows themselves are one of the samples.
    """
    counts = np.maximum(np.rint(classes.weights), 1.0).astype(np.intp)
    codes = np.repeat(np.arange(len(counts)), counts)
    labels = tuple(range(len(counts)))
    learner = GaussianLearner(Gaussian())
    beyond = 0
    for _ in range(draws):
        rows = classes.drawn(codes, rng)
        found = learner.fit(learner.summarize(rows, codes, labels))
        influences = Influences(WhiteClasses.of(found), rows, codes)
        sums = influences.score_sums()
        drawn = score_test(sums, influences.contrast_sums(sums.information))
        beyond += drawn.statistic >= test.statistic
    return ScoreTest(
        test.statistic,
        test.degrees_of_freedom,
        (beyond + 1.0) / (draws + 1.0),
        BOOTSTRAP,
        draws,
    )


ROOM = 1 << 17
"""Cells that one step of a block holds in each of its matrices: a megabyte."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreSums:
    """Sums over rows at GDA's θ: score U, information I = Σw h(1 - h)x̃x̃ᵀ, and Σw ψψᵀ."""

    score: FloatArray
    information: FloatArray
    influence: FloatArray

    def __add__(self, other: ScoreSums) -> ScoreSums:
        """Return the sums over the rows of both."""
        return ScoreSums(
            self.score + other.score,
            self.information + other.information,
            self.influence + other.influence,
        )


@dataclass(frozen=True, eq=False)
class Influences:
    """Rows of a fit, and what each of them does. Nothing as long as the rows is kept."""

    classes: WhiteClasses
    rows: FloatArray
    codes: IntArray
    weights: FloatArray | None = None

    @property
    def size(self) -> int:
        """The number of parameters: k - 1 lines of θ₀ and θ."""
        return (len(self.classes.weights) - 1) * (self.classes.rank + 1)

    def score_sums(self) -> ScoreSums:
        """Return U, I and Σψψᵀ in one pass."""
        size = self.size

        def block(part: slice) -> ScoreSums:
            score, influence = np.zeros(size), np.zeros((size, size))
            information = np.zeros((size, size))
            for rows in self._steps(part):
                design, residuals, shares, psi, weights = self._of(rows)
                score += (residuals * weights[:, np.newaxis]).T.dot(design).ravel()
                rooted = psi * np.sqrt(weights)[:, np.newaxis]
                influence += rooted.T @ rooted
                _add_information(information, design, shares, weights)
            return ScoreSums(score, information, influence)

        return collect_blocks(block, len(self.rows), self.rows.shape[1])

    def contrast_sums(self, information: FloatArray) -> FloatArray:
        """Return Σw eeᵀ of e = (y - h)x̃ - Iψ, with I = `information` divided by the weight.

        e is what a row does to the score at a θ that the same row has moved.
        """
        size, mean = self.size, information / self.classes.weight

        def block(part: slice) -> FloatArray:
            found = np.zeros((size, size))
            for rows in self._steps(part):
                design, residuals, _, psi, weights = self._of(rows)
                scores = residuals[:, :, np.newaxis] * design[:, np.newaxis, :]
                contrast = scores.reshape(len(design), size)
                contrast -= psi @ mean
                contrast *= np.sqrt(weights)[:, np.newaxis]
                found += contrast.T @ contrast
            return found

        return collect_blocks(block, len(self.rows), self.rows.shape[1])

    def _steps(self, part: slice) -> Iterator[slice]:
        step = max(ROOM // max(self.size, self.rows.shape[1], 1), 64)
        for start in range(part.start, part.stop, step):
            yield slice(start, min(start + step, part.stop))

    def _of(
        self, part: slice
    ) -> tuple[FloatArray, FloatArray, tuple[FloatArray, FloatArray], FloatArray, FloatArray]:
        """Return x̃ (b, r + 1), y - h (b, k - 1), (h, 1 - h) (b, k), ψ (b, size) and weights."""
        classes, codes = self.classes, self.codes[part]
        form, means = classes.form, classes.means
        centred = self.rows[part] - form.origin
        many, count, width = len(codes), len(means), classes.rank + 1
        here = np.arange(many)
        posterior = np.exp(normalized(centred @ form.weights.T + form.offsets))
        # 1 - h as the sum of the others' h: next to 1, subtraction would leave no digits.
        rest = np.stack([np.delete(posterior, c, axis=1).sum(axis=1) for c in range(count)], 1)
        residuals = -posterior
        residuals[here, codes] = rest[here, codes]

        design = np.empty((many, width))
        design[:, 0] = 1.0
        design[:, 1:] = centred @ classes.whitening - classes.origin_low @ classes.whitening
        off = design[:, 1:] - means[codes]
        along = off @ means.T
        shares = classes.weights / classes.weight
        own = np.zeros((many, count))
        own[here, codes] = 1.0 / shares[codes]
        lines = np.empty((many, count, 1))
        lines[:, :, 0] = own * (1.0 - along) + (np.square(along) - np.square(means).sum(axis=1)) / 2
        slopes = own - along
        psi = np.empty((many, count - 1, width))
        psi[:, :, 0] = lines[:, 1:, 0] - lines[:, :1, 0]
        contrast = slopes[:, 1:] - slopes[:, :1]
        np.multiply(contrast[:, :, np.newaxis], off[:, np.newaxis], out=psi[:, :, 1:])
        psi[:, :, 1:] += means[1:] - means[0]
        weights = np.ones(many) if self.weights is None else self.weights[part]
        return design, residuals[:, 1:], (posterior, rest), psi.reshape(many, -1), weights


def _add_information(
    out: FloatArray,
    design: FloatArray,
    shares: tuple[FloatArray, FloatArray],
    weights: FloatArray,
) -> None:
    """Add Σw (δ_ab h_a - h_a h_b) x̃x̃ᵀ for every two classes but the first."""
    posterior, rest = shares
    width = design.shape[1]
    for a in range(1, posterior.shape[1]):
        for b in range(1, a + 1):
            factor = rest[:, a] if a == b else -posterior[:, b]
            factor = factor * posterior[:, a] * weights
            block = (design * factor[:, np.newaxis]).T @ design
            rows, columns = slice((a - 1) * width, a * width), slice((b - 1) * width, b * width)
            out[rows, columns] += block
            if a != b:
                out[columns, rows] += block.T
