"""Missing cells: EM on the moments of each pattern, without reading rows again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.engines.threads import pinned
from suffice.errors import (
    DidNotConverge,
    warn,
)
from suffice.models.gaussian.floors import CLASS_FLOOR, VARIANCE_FLOOR

if TYPE_CHECKING:
    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.family import Gaussian
    from suffice.models.gaussian.missing.pattern_moments import Incomplete
    from suffice.rows import FloatArray


TOLERANCE = 1e-10
"""EM stops when no mean moves by more (in standard deviations), and no covariance either."""
MOST_STEPS = 1000
"""Steps of EM, at most, before `DidNotConverge` is said. A choice: accelerated as it is, a search
that takes more is taken for one that does not end."""
STILL = 1e-6
"""Parameters that move by no more have converged, as far as rounding allows."""
PATIENCE = 40
"""Steps without progress after which rounding is taken to be all that moves."""
ROUGH = 1e-7
"""Where a direction is missing, what stands in for it moves parameters as much."""
HASTE = 5
"""Steps without progress that are enough there."""
LACKING = 1e-9
"""Below this eigenvalue of the pooled correlations nothing varies along a direction."""
TRIFLE = 1e-8
"""The variance that stands there instead while EM runs, as a share of the columns' own."""


def expectation_maximization(
    family: Gaussian,
    data: Incomplete,
    start: tuple[FloatArray, FloatArray] | None = None,
    *,
    most_steps: int = MOST_STEPS,
    tolerance: float = TOLERANCE,
) -> tuple[ClassSummary, tuple[FloatArray, FloatArray], int]:
    """Return completed moments at the maximum of the observed likelihood, parameters, steps.

    EM alone creeps when much is missing: what the last steps did tells where they lead, and the
    next one starts there (`Leaps`).

    Floors would come and go inside EM: a variance that tends to zero would be lifted, and
    tend to zero again. A class that does not vary in every direction is given a constant
    there instead, 1/W of the pooled variance, and keeps it.
    """
    here = data.start(family) if start is None else start
    aid = _Aid(
        data.observed.weights, len(data.observed.scale), shared=family.covariance == "shared"
    )
    from suffice.models.gaussian.missing.acceleration import Leaps  # only where cells are missing

    leaps = Leaps(data.observed.counts, shared=family.covariance == "shared")
    steps, least, since, best = 0, np.inf, 0, _Best()
    with pinned():
        while True:
            one, summary = _step(family, data, here, aid)
            steps += 1
            moved = max(
                float(np.abs(n - o).max(initial=0.0)) for n, o in zip(one, here, strict=True)
            )
            if moved < 0.5 * least or aid.changed:
                least, since = moved, steps
            if moved < best.moved or aid.changed:
                best = _Best(moved, one, summary)
            # Where a direction is missing, rounding alone may move parameters by more than asked.
            patience = HASTE if aid.acts and best.moved < ROUGH else PATIENCE
            stuck = (best.moved < STILL or aid.acts) and steps - since > patience
            if moved <= tolerance or stuck or steps >= most_steps:
                break
            if aid.changed:
                leaps.forget()
            here = leaps.following(here, one, aid.given + aid.trifle)
    if best.moved > STILL and most_steps > 1:
        warn(
            f"EM stopped after {steps} steps while parameters still moved by {best.moved:.1g} "
            "standard deviations",
            DidNotConverge,
        )
    assert best.parameters is not None
    assert best.summary is not None
    means, covariances = best.parameters
    return aid.kept(best.summary), (means, aid(covariances)), steps


class _Best(NamedTuple):
    """The step that moved parameters least, what it led to, and the moments it came from."""

    moved: float = np.inf
    parameters: tuple[FloatArray, FloatArray] | None = None
    summary: ClassSummary | None = None


class _Aid:
    """What covariances are given where they lack a direction: constant, unlike a floor.

    A class gets 1/W of the pooled variance along directions in which it does not vary, as
    soon as that is seen and from then on; where nothing varies, all classes get a trifle.
    """

    def __init__(self, weights: FloatArray, width: int, *, shared: bool) -> None:
        self.weights, self.shared = weights, shared
        self.given = np.zeros((1 if shared else len(weights), width, width))
        self.trifle = np.zeros((width, width))
        self.checks = 0
        self.changed = False

    def __call__(self, covariances: FloatArray) -> FloatArray:
        """Return covariances that can be inverted."""
        return covariances + self.given + self.trifle

    @property
    def acts(self) -> bool:
        """Whether any direction is held up by what was given."""
        return bool(self.trifle.any() or self.given.any())

    def detect_lost_directions(self, covariances: FloatArray) -> None:
        """Check, at first and then now and again, for directions that have vanished.

        Only after a step: a leap leaves traces of where it came from.
        """
        self.checks += 1
        self.changed = False
        if self.checks > 3 and self.checks % 5:
            return
        shares = np.ones(1) if self.shared else self.weights / self.weights.sum()
        pooled = np.tensordot(shares, covariances, axes=1)
        spread = np.sqrt(np.maximum(np.diagonal(pooled), TRIFLE))
        values, basis = np.linalg.eigh(pooled / spread[:, np.newaxis] / spread)
        silent = values < LACKING
        blank = spread[:, np.newaxis] * basis[:, silent]
        if silent.any():
            # Detected again at every check, the same directions are no change but rounding.
            trifle = TRIFLE * (blank @ blank.T)
            moved = np.abs(trifle - self.trifle).max(initial=0.0)
            self.changed = bool(moved > 1e-3 * np.abs(trifle).max(initial=0.0))
            self.trifle = trifle
        if self.shared:
            return
        lengths, kept = np.sqrt(values[~silent]), basis[:, ~silent]
        root = spread[:, np.newaxis] * kept * lengths
        whitening = (kept / spread[:, np.newaxis] / lengths).T
        for c, covariance in enumerate(covariances):
            relative = whitening @ (covariance + self.given[c]) @ whitening.T
            theta, turns = np.linalg.eigh((relative + relative.T) / 2.0)
            lost = root @ turns[:, theta < CLASS_FLOOR]
            self.changed |= lost.shape[1] > 0
            self.given[c] += lost @ lost.T / max(1.0, float(self.weights[c]))

    def kept(self, summary: ClassSummary) -> ClassSummary:
        """Return moments in which classes hold what they were given."""
        if self.shared or summary.scatters is None or not self.given.any():
            return summary
        held = self.weights[:, np.newaxis, np.newaxis] * self.given
        return replace(summary, scatters=summary.scatters + held)


def _step(
    family: Gaussian, data: Incomplete, here: tuple[FloatArray, FloatArray], aid: _Aid
) -> tuple[tuple[FloatArray, FloatArray], ClassSummary]:
    summary = data.completed(here[0], aid(here[1]))
    covariances = _covariances(family, summary)
    aid.detect_lost_directions(covariances)
    return (summary.means, covariances), summary


def _covariances(family: Gaussian, summary: ClassSummary) -> FloatArray:
    """Return pooled and shrunk covariances without floors; columns that never vary get 1."""
    act, width = np.flatnonzero(summary.active), len(summary.scale)
    pooled = family.pooled(summary)
    variances = np.maximum(np.diagonal(pooled), VARIANCE_FLOOR)
    shared = family.covariance == "shared"
    matrices: list[FloatArray]
    if family.factors is not None:
        from suffice.models.gaussian.factors.estimate import factor_covariances

        matrices = factor_covariances(family, summary)
    elif family.is_tied:
        from suffice.models.gaussian.forms.estimate import unfloored_covariances

        matrices = list(unfloored_covariances(family.covariance, summary))
    else:
        matrices = [pooled] if shared else [family.mixed(summary, c) for c in range(summary.size)]
    result = np.broadcast_to(np.eye(width), (len(matrices), width, width)).copy()
    for c, matrix in enumerate(matrices):
        if family.predictive is not None:  # cells are expected under the prior, too
            held = summary.weight if shared else family.divisors_of(summary, c)
            matrix = family.with_prior(matrix, variances, held)  # noqa: PLW2901
        result[c][np.ix_(act, act)] = family.shrunk(matrix, variances)
    return result
