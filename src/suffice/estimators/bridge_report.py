"""What the bridge between the two schools says: as text, as HTML, and as a frame."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import listed
from suffice.models.linear.logistic.inference import wald
from suffice.printing.result_table import Decimals, Significant, TableColumn, TextTable, p_value

if TYPE_CHECKING:
    from suffice.models.bridge import Bridge
    from suffice.models.linear.logistic.result import LogisticFit
    from suffice.models.score_test import ScoreTest
    from suffice.rows import FloatArray, Label


INTERCEPT = "(intercept)"
"""The name of the constant among those of the columns, which have no brackets."""
FIGURES = (
    "gda", "gda_se", "gda_robust_se", "gda_low", "gda_high",
    "logistic", "logistic_se", "logistic_low", "logistic_high",
    "difference", "difference_se", "difference_z",
)  # fmt: skip
"""The columns of numbers in a frame."""


@dataclass(frozen=True, eq=False)
class BridgeReport:
    """GDA's implied θ beside that of logistic regression, and a test whether both aim at the same.

    bridge     GDA's θ with covariances, by the delta method and from influences
    logistic   the fit of logistic (softmax) regression
    columns    names, as coded
    pairs      which classes are compared: (of, against), by position among `labels`
    level      of the intervals
    """

    bridge: Bridge
    logistic: LogisticFit
    columns: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    level: float = 0.95

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes, in order."""
        return self.bridge.labels

    @property
    def test(self) -> ScoreTest:
        """The test: statistic, degrees of freedom, p-value, and where that is from."""
        return self.bridge.test

    @property
    def verdict(self) -> str:
        """What the test says, in words."""
        return verdict(self.test)

    @property
    def reservations(self) -> tuple[str, ...]:
        """What else is to be known of these figures, if anything."""
        found = reservations(self.bridge, self.logistic)
        known = np.all([self.bridge.is_estimable(*pair) for pair in self.pairs], axis=0)
        lost = [
            name for name, sure in zip((INTERCEPT, *self.columns), known, strict=True) if not sure
        ]
        if lost:
            found.append(
                f"These rows do not determine {listed(lost)}, which therefore have no intervals: "
                "a column is constant, or adds up from others."
            )
        return tuple(found)

    # Figures

    def figures(self, of: int, against: int = 0) -> dict[str, FloatArray]:
        """Return all figures of one pair, θ₀ first; NaN where there is no such number.

        Standard errors of GDA are by the delta method, which takes classes to be normal, and, as
        `gda_robust_se`, from influences, which does not. Differences are logistic minus GDA, their
        standard errors count that both were learned from the same rows.
        """
        bridge, logistic = self.bridge, self.logistic
        ours = bridge.estimate(of, against)
        known = bridge.is_estimable(of, against)
        covariance = bridge.covariance(of, against)
        implied = wald(ours, np.diagonal(covariance), self.level)
        theirs, variances = np.full(len(ours), np.nan), np.full(len(ours), np.nan)
        if logistic.converged:
            theirs = logistic.estimate(of, against)
            variances = np.where(known, np.diagonal(logistic.covariance(of, against)), np.nan)
        fitted = wald(theirs, variances, self.level)
        both = bridge.difference_covariance(of, against)
        apart = np.full(len(ours), np.nan) if both is None else np.diagonal(both)
        gap = np.where(known, theirs - ours, np.nan)
        difference = wald(gap, np.where(np.isnan(gap), np.nan, apart), self.level)
        columns = (
            ours,
            _root(np.diagonal(covariance)),
            _root(np.diagonal(bridge.robust_covariance(of, against))),
            implied.low,
            implied.high,
            theirs,
            _root(variances),
            fitted.low,
            fitted.high,
            gap,
            np.where(np.isnan(gap), np.nan, _root(apart)),
            difference.z,
        )
        return dict(zip(FIGURES, columns, strict=True))

    # Text, HTML, frame

    @cached_property
    def table(self) -> TextTable:
        """The figures as a table to be read."""
        number, share = Significant(4), 100.0 * (1.0 - self.level) / 2.0
        low, high = f"{share:.3g} %", f"{100.0 - share:.3g} %"
        columns = (
            TableColumn("θ of", heading=True),
            TableColumn("column"),
            TableColumn("GDA θ", number),
            TableColumn(low, number, "gda_low"),
            TableColumn(high, number, "gda_high"),
            TableColumn("logistic θ", number),
            TableColumn(low, number, "logistic_low"),
            TableColumn(high, number, "logistic_high"),
            TableColumn("difference/se", Decimals(2)),
        )
        shown = (
            "gda", "gda_low", "gda_high", "logistic", "logistic_low", "logistic_high",
            "difference_z",
        )  # fmt: skip
        rows = [
            (self._heading(pair), name, *(figures[each][i] for each in shown))
            for pair in self.pairs
            for figures in [self.figures(*pair)]
            for i, name in enumerate((INTERCEPT, *self.columns))
        ]
        notes = (score_test_line(self.test), self.verdict, *self.reservations)
        return TextTable(self._title(), columns, tuple(rows), notes)

    def _title(self) -> str:
        return (
            f"GDA and logistic regression: {self.bridge.weight:,.10g} rows, "
            f"{len(self.labels)} classes, {len(self.columns)} columns"
        )

    def _heading(self, pair: tuple[int, int]) -> str:
        of, against = pair
        return (
            f"{self.labels[of]} against {self.labels[against]}, "
            f"Δ = {self.bridge.distances[of, against]:.3g}"
        )

    def to_frame(self, library: str | None = None) -> Any:
        """Return every figure as a frame of pandas or polars: one row for each pair and column."""
        number = Significant()
        columns = (
            TableColumn("class"),
            TableColumn("against"),
            TableColumn("column"),
            *(TableColumn(name, number) for name in FIGURES),
        )
        rows = [
            (self.labels[of], self.labels[against], name, *(figures[each][i] for each in FIGURES))
            for of, against in self.pairs
            for figures in [self.figures(of, against)]
            for i, name in enumerate((INTERCEPT, *self.columns))
        ]
        return TextTable("", columns, tuple(rows)).to_frame(library)

    def __str__(self) -> str:
        """Return the table, the test and what to make of it."""
        return str(self.table)

    def __repr__(self) -> str:
        """Show what was compared, and the test."""
        test = self.test
        return (
            f"BridgeReport({len(self.pairs)} pair{'s' * (len(self.pairs) > 1)} of "
            f"{len(self.labels)} classes, "
            f"{len(self.columns)} columns, p_value={test.p_value:.4g})"
        )

    def _repr_html_(self) -> str:
        return self.table.to_html()


def _root(variances: FloatArray) -> FloatArray:
    """Return standard errors: NaN where a variance is infinite or absent."""
    known = np.isfinite(variances)
    found: FloatArray = np.sqrt(np.where(known, np.maximum(variances, 0.0), np.nan))
    return found


SOME, CLEAR = 0.05, 0.01
"""p-values below which there is some sign, and a clear one: the customary levels of 5 % and 1 %."""
NEAR, FAR = 1.5, 3.5
"""Distances between which χ² keeps its level: nearer it rejects too rarely, further too often or,
with many columns or classes, hardly ever."""
FEW = 10
"""Rows for each degree of freedom, below which χ² is rough."""


def score_test_line(test: ScoreTest) -> str:
    """Return the test in one line, or that there is none.

    >>> from suffice.models.score_test import ScoreTest
    >>> score_test_line(ScoreTest(5.0226, 3, 0.17014))
    'Test that both aim at the same θ: T = 5.023 on 3 degrees of freedom, p = 0.1701 by χ².'
    """
    if not test.degrees_of_freedom:
        return "No test: GDA is certain of every row."
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
        return "Nothing to compare: where GDA is certain of every row, no row can contradict it."
    chance = f"p = {p_value(test.p_value)}"
    if test.p_value >= SOME:
        return (
            f"No sign ({chance}) that the classes are not normal with one covariance, as far as θ "
            "can show. This does not prove that they are; if they are, GDA's θ is more precise."
        )
    differ = "that the classes are not normal with one covariance: the two θ differ by more than"
    if test.p_value >= CLEAR:
        return (
            f"Some sign ({chance}) {differ} chance would often do. "
            "Compare both models on rows that they have not seen."
        )
    return (
        f"Clear sign ({chance}) {differ} chance explains. Prefer logistic regression, or per-class "
        "covariances; how much it matters can be seen from the differences, not from p."
    )


def reservations(bridge: Bridge, logistic: LogisticFit) -> list[str]:
    """Return what else is to be known of these figures, if anything."""
    found = []
    if logistic.separation is not None:
        found.append(
            "Logistic regression has no figures here: a flat boundary separates classes, so that "
            "the likelihood has no maximum. The test does not need them."
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
            "whatever the truth is, and χ² rejects too rarely. bootstrap=199 is more accurate."
        )
    elif reach > FAR:
        found.append(
            f"The means are up to {reach:.2g} standard deviations apart: few rows are uncertain, "
            "and χ² is a poor approximation. bootstrap=199 is more accurate."
        )
    elif rows < FEW:
        found.append(
            f"There are {rows:.2g} rows for each degree of freedom, and χ² is a rough "
            "approximation. bootstrap=199 is more accurate."
        )
    return found
