"""From GDA to logistic regression: the θ that Bayes' rule implies, how exact it is, and a test."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadLabels, BadSetting
from suffice.linear_algebra import correlation_scaled
from suffice.models.gaussian.whitened_classes import LOADED, WhiteClasses
from suffice.models.score_test import (
    RANK_FLOOR,
    Influences,
    ScoreSums,
    ScoreTest,
    bootstrapped,
    score_test,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.gaussian.learner import Fit
    from suffice.models.linear.form import LinearForm
    from suffice.rows import FloatArray, IntArray, Label

MOST_PARAMETERS = 4000
"""Lines and columns of the matrices that are summed over rows: 128 MB each."""
MOST_CELLS = 2e9
"""Cells of one bootstrap sample, at most. A choice: each is a random number to draw, again for
every sample."""


@dataclass(frozen=True, eq=False)
class Bridge:
    """GDA seen as a logistic (softmax) regression, class pair by class pair.

    Estimates are (θ₀, θ) of class `of` against class `against`, by position among `labels`, in
    the user's units: log p(y = of | x)/p(y = against | x) = θ₀ + θ·x. Weights are repetitions:
    a row of weight 2 is two independent rows, in estimates, covariances and the test alike.

    Where columns are collinear, θ is the one of least Σ(s_jθ_j)², s_j the standard deviations;
    `is_estimable` tells which numbers the rows determine, and the others' variance is infinite.
    """

    labels: tuple[Label, ...]
    classes: WhiteClasses
    sums: ScoreSums
    contrasts: FloatArray
    test: ScoreTest

    @property
    def form(self) -> LinearForm:
        """The scores of all classes."""
        return self.classes.form

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return self.classes.weight

    @property
    def distances(self) -> FloatArray:
        """The Mahalanobis distances Δ between class means, (k, k)."""
        return self.classes.distances

    def is_estimable(self, of: int, against: int = 0) -> NDArray[np.bool_]:
        """Tell, for θ₀ and each of θ, whether the rows determine it."""
        return self.classes.is_estimable(of, against)

    def estimate(self, of: int, against: int = 0) -> FloatArray:
        """Return (θ₀, θ): θ = Σ⁻¹(m₁ - m₀), θ₀ = -½(m₁ᵀΣ⁻¹m₁ - m₀ᵀΣ⁻¹m₀) + log(n₁/n₀)."""
        weights = self.form.weights[of] - self.form.weights[against]
        offset = self.form.offsets[of] - self.form.offsets[against]
        return np.array([offset - weights @ self.form.origin, *weights])

    def covariance(self, of: int, against: int = 0) -> FloatArray:
        """Return the covariance of (θ₀, θ) by the delta method, for normal classes.

        About the middle between the two means and in white coordinates, with δ the gap,
            Cov θ = (1/n₁ + 1/n₀)I + (‖δ‖²I + δδᵀ)/n,   Cov(θ, θ₀) = ½(1/n₀ - 1/n₁)δ,
            Var θ₀ = (1/n₁ + 1/n₀)(1 + ¼‖δ‖²);
        from there it is shifted back: at x = 0 itself, far columns would cost the digits.
        """
        classes = self.classes
        first, second = classes.weights[of], classes.weights[against]
        gap = classes.means[of] - classes.means[against]
        square, both = float(gap @ gap), 1.0 / first + 1.0 / second
        found = np.empty((len(gap) + 1, len(gap) + 1))
        found[0, 0] = both * (1.0 + square / 4.0)
        found[0, 1:] = found[1:, 0] = gap * (1.0 / second - 1.0 / first) / 2.0
        found[1:, 1:] = np.outer(gap, gap) / classes.weight
        found[1:, 1:] += np.eye(len(gap)) * (both + square / classes.weight)
        return self._covariance_in_user_units(found, classes.middle(of, against), of, against)

    def robust_covariance(self, of: int, against: int = 0) -> FloatArray:
        """Return the covariance of (θ₀, θ) from influences, Σwψψᵀ/n²: whatever the classes are."""
        found = self._pair(self.sums.influence, of, against) / self.weight**2
        return self._covariance_in_user_units(found, np.zeros(len(self.classes.scale)), of, against)

    def difference_covariance(self, of: int, against: int = 0) -> FloatArray | None:
        """Return the covariance of logistic regression's (θ₀, θ) minus GDA's; None if it has none.

        Both are from the same rows, so it is that of the difference of their influences,
        I⁻¹(y - h)x̃ - ψ = I⁻¹e, and not of one variance minus the other. It holds if both aim
        at the same θ. There is none where GDA leaves no row in doubt between the two: I says
        nothing about them then.
        """
        covariance, loose = self._differences
        blocks = loose.reshape(len(self.labels) - 1, self.classes.rank + 1, -1)
        parts = [sign * blocks[line] for line, sign in _lines(of, against)]
        if np.any(np.abs(sum(parts)) > LOADED * sum(np.abs(part) for part in parts)):
            return None
        found = self._pair(covariance, of, against)
        return self._covariance_in_user_units(found, np.zeros(len(self.classes.scale)), of, against)

    @cached_property
    def _differences(self) -> tuple[FloatArray, FloatArray]:
        """I⁺(Σw eeᵀ)I⁺, and the directions of θ that I says nothing about."""
        variances = np.diagonal(self.sums.information)
        largest = variances.max(initial=0.0)
        deviations = np.sqrt(np.where(variances > 0.0, variances, largest or 1.0))
        correlation = correlation_scaled(self.sums.information, deviations)
        values, turns = np.linalg.eigh(correlation)
        known = values > RANK_FLOOR
        turned = turns / deviations[:, np.newaxis]
        inverse: FloatArray = turned[:, known] / values[known] @ turned[:, known].T
        return inverse @ self.contrasts @ inverse, turned[:, ~known]

    def _covariance_in_user_units(
        self, covariance: FloatArray, zero: FloatArray, of: int, against: int
    ) -> FloatArray:
        """Return a covariance of (θ₀, θ) at `zero` in the user's units, where there is one."""
        found = self.classes.in_user_units(covariance, zero)
        lost = np.flatnonzero(~self.is_estimable(of, against))
        found[lost] = found[:, lost] = 0.0
        found[lost, lost] = np.inf
        return found

    def _pair(self, matrix: FloatArray, of: int, against: int) -> FloatArray:
        """Return the covariance of one pair from that of all classes against the first."""
        width, many = self.classes.rank + 1, len(self.labels) - 1
        blocks = matrix.reshape(many, width, many, width)
        found = np.zeros((width, width))
        for a, sign in _lines(of, against):
            for b, other in _lines(of, against):
                found += sign * other * blocks[a, :, b]
        return found


def _lines(of: int, against: int) -> list[tuple[int, float]]:
    """Return how a pair is made of comparisons with the first class: which of them, and signs."""
    return [(c - 1, sign) for c, sign in ((of, 1.0), (against, -1.0)) if c > 0]


def bridge_of(
    fit: Fit,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray | None = None,
    *,
    bootstrap: int = 0,
    rng: np.random.Generator | None = None,
) -> Bridge:
    """Return what a fit of GDA implies about θ, and a test against logistic regression.

    Parameters
    ----------
    fit : Fit
        That of GaussianLearner(Gaussian()) on these very rows: one covariance, divided by n.
    rows : ndarray of float
        The rows (n, d), without blank cells.
    codes : ndarray of int
        The place (n,) of the label of each row.
    weights : ndarray of float or None, default=None
        Weights (n,) of the rows; None counts each once.
    bootstrap : int, default=0
        How many samples to draw; each is one more pass over the rows.
    rng : np.random.Generator or None, default=None
        Draws the samples.

    Returns
    -------
    Bridge
        Estimates, covariances and the test.

    See Also
    --------
    suffice.bridge : The same for rows and labels.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.families import Gaussian
    >>> from suffice.models import GaussianLearner
    >>> rng, y = np.random.default_rng(0), np.arange(400) % 2
    >>> x = rng.standard_normal((400, 2)) + 2.0 * y[:, np.newaxis]
    >>> learner = GaussianLearner(Gaussian())
    >>> fit = learner.fit(learner.summarize(x, y, (0, 1)))
    >>> found = bridge_of(fit, x, y)
    >>> found.estimate(1).round(1), np.sqrt(np.diagonal(found.covariance(1))).round(1)
    (array([-3.8,  1.8,  2.1]), array([0.3, 0.2, 0.2]))
    >>> found.test.degrees_of_freedom, found.test.p_value > 0.05
    (3, True)
    """
    labels = fit.model.labels
    if len(labels) < 2:
        raise BadLabels(
            f"there is only one class, {labels[0]!r}: there is no pair to compare",
            hint="give rows of two classes or more",
        )
    classes = WhiteClasses.of(fit)
    influences = Influences(classes, rows, codes, weights)
    if influences.size > MOST_PARAMETERS:
        raise BadSetting(
            f"{len(labels)} classes and {rows.shape[1]} columns make {influences.size:,} "
            f"parameters, whose covariance matrix is too large: at most {MOST_PARAMETERS:,} are "
            "possible",
            hint="give rows of two classes, or fewer columns",
        )
    if bootstrap and classes.weight * rows.shape[1] > MOST_CELLS:
        raise BadSetting(
            f"one bootstrap sample would have {classes.weight:,.0f} rows, as the weights say",
            hint="weights count repetitions; at this size χ² needs no bootstrap",
        )
    sums = influences.score_sums()
    contrasts = influences.contrast_sums(sums.information)
    test = score_test(sums, contrasts)
    if bootstrap:
        test = bootstrapped(test, classes, bootstrap, rng or np.random.default_rng())
    return Bridge(labels, classes, sums, contrasts, test)
