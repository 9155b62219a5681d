"""What the bridge's test means, in words that claim no more than it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.printing.number_formats import p_value

if TYPE_CHECKING:
    from suffice.models.bridge import Bridge
    from suffice.models.linear.logistic.result import LogisticFit
    from suffice.models.score_test import ScoreTest

SOME, CLEAR = 0.05, 0.01
NEAR, FAR = 1.5, 3.5
"""Distances between which χ² keeps its level: nearer it rejects too rarely, further too often or,
with many columns or classes, hardly ever."""
FEW = 10
"""Rows for each degree of freedom, below which χ² is rough."""


def told(test: ScoreTest) -> str:
    """Return the test in one line, or that there is none.

    >>> from suffice.models.score_test import ScoreTest
    >>> told(ScoreTest(5.0226, 3, 0.17014))
    'Test that both aim at the same θ: T = 5.023 on 3 degrees of freedom, p = 0.1701 by χ².'
    """
    if not test.degrees_of_freedom:
        return "No test: GDA leaves no row in doubt."
    by = f"{test.draws} bootstrap draws" if test.draws else "χ²"
    return (
        f"Test that both aim at the same θ: T = {test.statistic:.4g} on "
        f"{test.degrees_of_freedom} degree{'s' * (test.degrees_of_freedom > 1)} of freedom, "
        f"p = {p_value(test.p_value)} by {by}."
    )


def verdict(test: ScoreTest) -> str:
    """Return what to make of it.

    A large p is no proof: a test of θ does not see everything that a law can be. A small one says
    that the laws are others, and not how much that matters.
    """
    if not test.degrees_of_freedom:
        return "Nothing to compare: where GDA leaves no row in doubt, no row can contradict it."
    chance = f"p = {p_value(test.p_value)}"
    if test.p_value >= SOME:
        return (
            f"No sign ({chance}) that the classes are not normal with one covariance, as far as θ "
            "shows it. This is no proof that they are; if they are, GDA's θ is the more exact one."
        )
    differ = "that the classes are not normal with one covariance: the two θ differ by more than"
    if test.p_value >= CLEAR:
        return (
            f"Some sign ({chance}) {differ} chance would often do. "
            "Compare both models on rows that they have not seen."
        )
    return (
        f"Clear sign ({chance}) {differ} chance explains. Prefer logistic regression, or per-class "
        "covariances; how much it matters, the differences tell, and not p."
    )


def reservations(bridge: Bridge, logistic: LogisticFit) -> list[str]:
    """Return what else is to be known of these figures, if anything."""
    found = []
    if logistic.separation is not None:
        found.append(
            "Logistic regression has no figures here: a flat boundary separates classes, so that "
            "the likelihood has no maximum. The test needs none."
        )
    elif not logistic.converged:
        found.append("Logistic regression has no figures here: it did not converge.")
    test = bridge.test
    if test.draws or not test.degrees_of_freedom:
        return found
    reach = float(bridge.distances.max())
    rows = bridge.weight / test.degrees_of_freedom
    if reach < NEAR:
        found.append(
            f"The means are only {reach:.2g} standard deviations apart: both θ are nearly the same "
            "whatever the truth is, and χ² rejects too rarely. bootstrap=199 comes closer."
        )
    elif reach > FAR:
        found.append(
            f"The means are up to {reach:.2g} standard deviations apart: few rows are in doubt, "
            "and χ² is no good guide. bootstrap=199 is a better one."
        )
    elif rows < FEW:
        found.append(
            f"There are {rows:.2g} rows for each degree of freedom, and χ² is rough. "
            "bootstrap=199 is a better guide."
        )
    return found
