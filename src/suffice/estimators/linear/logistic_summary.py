"""What a logistic regression has to say about its coefficients: text, frame and HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np

from suffice.errors import BadSetting
from suffice.models.linear.logistic.inference import FitFigures, checked_level, ratio_test, wald
from suffice.printing.result_table import Decimals, Significant, TableColumn, TextTable, p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.models.linear.logistic.result import LogisticFit
    from suffice.models.linear.penalty_path.path import PenaltyPath
    from suffice.rows import FloatArray, Label


Intervals: TypeAlias = Literal["wald", "profile"]
Tests: TypeAlias = Literal["wald", "ratio"]

INTERCEPT = "(intercept)"
"""The name of the constant among those of the columns."""
SIX = Significant(6)
"""Significant digits of sums over all rows. A choice: below 100,000 they show a tenth."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LogisticSummary:
    """Coefficients with their uncertainty, and how well the whole fits.

    Arrays have a row for each class compared, and a column for the intercept and then for each
    column of the data, all in the data's own units. NaN marks what does not exist: a coefficient
    that is not estimable has no standard error.

    columns          names of the columns
    reference        the class that the others are compared with
    compared         the others
    estimates        log odds against the reference by unit of the column; with `exponentiated`,
                     odds ratios
    standard_errors  always of the log odds
    z, p             Wald's test that the coefficient is 0; or by the ratio of likelihoods, and
                     z is then the root of twice its logarithm, with the sign of the estimate
    low, high        the interval's ends, exponentiated like the estimates
    level            of the intervals
    intervals        "wald" or "profile"
    fit              deviance, AIC, pseudo-R² and the like
    rows             how many rows there were, where that is known
    notes            reservations, in sentences
    tests            "wald" or "ratio"
    intercept        whether there is one: without, its column of the arrays is 0, and not shown
    """

    columns: tuple[str, ...]
    reference: Label
    compared: tuple[Label, ...]
    estimates: FloatArray
    standard_errors: FloatArray
    z: FloatArray
    p: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    intervals: Intervals
    exponentiated: bool
    fit: FitFigures
    rows: int | None = None
    converged: bool = True
    notes: tuple[str, ...] = ()
    tests: Tests = "wald"
    intercept: bool = True

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        reference: Label,
        compared: Sequence[Label],
        estimates: FloatArray,
        variances: FloatArray | None,
        fit: FitFigures,
        *,
        level: float = 0.95,
        profile: tuple[FloatArray, FloatArray] | None = None,
        ratios: FloatArray | None = None,
        exponentiate: bool = False,
        rows: int | None = None,
        converged: bool = True,
        notes: Sequence[str] = (),
        intercept: bool = True,
    ) -> Self:
        """Return the summary of estimates and their variances, (m, d + 1) each.

        `variances` are NaN or infinite where a coefficient is not estimable, and None where
        there are none at all (separated classes); `profile` are the ends of profile intervals,
        which then take the place of Wald's, and `ratios` likelihood-ratio statistics, whose tests
        do.

        >>> from suffice.models.linear.logistic.inference import FitFigures
        >>> print(LogisticSummary.of(
        ...     ["dose"], "alive", ["dead"], np.array([[-2.0, 0.5]]), np.array([[0.25, 0.04]]),
        ...     FitFigures.of(15.0, 20.0, 40.0, 2, classes=2), rows=40,
        ... ))
        Logistic regression of dead against alive, 40 rows
        <BLANKLINE>
        column       estimate  std. error      z       p   95 % low  95 % high
        (intercept)   -2.000      0.5000   -4.00  6.3e-05   -2.980    -1.020
        dose           0.5000     0.2000    2.50  0.0124     0.1080    0.8920
        <BLANKLINE>
        log-likelihood -15.0000, deviance 30.0000, null deviance 40.0000, AIC 34.0000, BIC 37.3778
        likelihood ratio 10.0000 against the null model, 1 degree of freedom, p = 0.0016
        pseudo-R²: McFadden 0.250, Cox–Snell 0.221, Nagelkerke 0.350
        """
        b = np.asarray(estimates, dtype=np.float64)
        v = np.full(b.shape, np.nan) if variances is None else np.asarray(variances)
        if b.shape != (len(compared), len(columns) + 1) or v.shape != b.shape:
            raise BadSetting(
                f"estimates {b.shape} and variances {v.shape} are not those of {len(compared)} "
                f"classes and {len(columns)} columns",
                hint="give a row for each class compared and a column more, for the intercept",
            )
        figures = wald(b, v, checked_level(level))
        low, high = (figures.low, figures.high) if profile is None else profile
        z, p = (figures.z, figures.p) if ratios is None else ratio_test(b, ratios)
        errors = np.sqrt(np.where(np.isfinite(v) & (v >= 0.0), v, np.nan))
        if exponentiate:
            with np.errstate(over="ignore"):
                b, low, high = np.exp(b), np.exp(low), np.exp(high)
        return cls(
            tuple(map(str, columns)),
            reference,
            tuple(compared),
            b,
            errors,
            z,
            p,
            low,
            high,
            float(level),
            "wald" if profile is None else "profile",
            exponentiate,
            fit,
            rows,
            converged,
            tuple(notes),
            "wald" if ratios is None else "ratio",
            intercept,
        )

    def __str__(self) -> str:
        """Return the summary as text."""
        return str(self.table())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self) -> str:
        """Return the summary as an HTML table, for notebooks and reports."""
        return self.table().to_html()

    def to_frame(self, library: str | None = None) -> Any:
        """Return a frame (of pandas or polars) with a row for each coefficient, as numbers."""
        return self.table(classes=True).to_frame(library)

    def table(self, classes: bool | None = None) -> TextTable:
        """Return the summary as a table; two classes need no column to say which is meant."""
        share = f"{100.0 * self.level:.6g} %"
        four = Significant(4)
        value = "odds ratio" if self.exponentiated else "estimate"
        heads = [
            TableColumn("class", heading=True),
            TableColumn("column"),
            TableColumn(value, four, value.replace(" ", "_")),
            TableColumn("std. error", four, "standard_error"),
            TableColumn("z", Decimals(2)),
            TableColumn("p", p_value),
            TableColumn(f"{share} low", four, "low"),
            TableColumn(f"{share} high", four, "high"),
        ]
        shown = [
            len(self.compared) > 1 if classes is None else classes,
            True,
            True,
            # That of the log odds says nothing about a ratio; its interval does.
            not self.exponentiated,
            *[True] * 4,
        ]
        arrays = (self.estimates, self.standard_errors, self.z, self.p, self.low, self.high)
        found = [
            (label, name, *(float(array[i, j]) for array in arrays))
            for i, label in enumerate(self.compared)
            for j, name in enumerate((INTERCEPT, *self.columns))
            if j or self.intercept
        ]
        return TextTable(
            self._title(),
            tuple(head for head, keep in zip(heads, shown, strict=True) if keep),
            tuple(
                tuple(cell for cell, keep in zip(row, shown, strict=True) if keep) for row in found
            ),
            (*self._reservations(), *self._figures()),
        )

    def _title(self) -> str:
        if len(self.compared) == 1:
            what = f"Logistic regression of {self.compared[0]} against {self.reference}"
        else:
            what = f"Softmax regression of {len(self.compared)} classes against {self.reference}"
        counted = [] if self.rows is None else [f"{self.rows:,} row{'s' * (self.rows != 1)}"]
        if self.fit.weight != self.rows:
            counted.append(f"weight {SIX(self.fit.weight)}")
        return ", ".join([what, *counted])

    def _reservations(self) -> list[str]:
        """Return what a reader has to know before believing the figures."""
        found = [] if self.converged else ["Not converged: these figures are not final."]
        found += self.notes
        if self.intervals == "profile":
            other = "" if np.isnan(self.z).all() else "; z and p are Wald's"
            told = f"Intervals are those of the profile likelihood{other}."
            if self.tests == "ratio":
                told = (
                    "Intervals are those of the profile penalised likelihood; p comes from "
                    "its likelihood ratio, and z is the signed root of that."
                )
            found.append(told)
        return [*found, ""] if found else []

    def _figures(self) -> list[str]:
        fit = self.fit
        line = [
            f"log-likelihood {SIX(fit.log_likelihood)}",
            f"deviance {SIX(fit.deviance)}",
            f"null deviance {SIX(fit.null_deviance)}",
        ]
        if fit.aic is not None:
            line.append(f"AIC {SIX(fit.aic)}")
        if fit.bic is not None:
            line.append(f"BIC {SIX(fit.bic)}")
        found = [", ".join(line)]
        if fit.p_value is not None:
            p = p_value(fit.p_value)
            found.append(
                f"likelihood ratio {SIX(fit.statistic)} against the null model, {fit.degrees} "
                f"degree{'s' * (fit.degrees != 1)} of freedom, "
                f"p {'< ' + p[1:] if p.startswith('<') else '= ' + p}"
            )
        shares = {
            "McFadden": fit.mcfadden,
            "Cox–Snell": fit.cox_snell,
            "Nagelkerke": fit.nagelkerke,
        }
        known = [f"{who} {Decimals(3)(x)}" for who, x in shares.items() if x is not None]
        return [*found, f"pseudo-R²: {', '.join(known)}"] if known else found


def variances_of(found: LogisticFit, others: list[int], place: int) -> FloatArray | None:
    """Return the variances of the estimates; None where there is no maximum to speak of."""
    if not found.converged:
        return None
    if found.covariance_ is None:
        raise BadSetting(
            "there are no standard errors: computing them by default would have taken too long",
            hint="summary(X, y) with the rows of the fit; or fit with standard_errors=True",
        )
    return np.array([np.diagonal(found.covariance(c, place)) for c in others])


def figures_of(found: LogisticFit) -> FitFigures:
    """Return how well a fit describes its rows; without parameters where it is no maximum."""
    maximum = found.penalty == 0.0 and found.correction is None and found.separation is None
    parameters = (found.size - 1) * (found.rank + found.intercept) if maximum else None
    return FitFigures.of(
        found.loss, found.null_loss, found.weight, parameters, found.size, found.intercept
    )


def notes_of(found: LogisticFit, names: Any, path: PenaltyPath | None) -> list[str]:
    """Return what a reader of the summary has to know of the fit, in words."""
    notes = []
    if found.penalty > 0.0:
        notes.append(
            f"penalty={found.penalty:g}: estimates are shrunk towards zero, and standard errors "
            "are those "
            "of the penalised likelihood"
        )
    if path is not None:
        notes.append(
            f"the penalty was chosen among {len(path.penalties)} by the leave-one-out log-loss of "
            f"{path.rows:,} rows; standard errors take it as given"
        )
    if found.correction == "firth":
        notes.append("Firth's correction: the maximum of ℓ + ½log|I|")
    if found.separation is not None:
        notes.append(
            f"the likelihood has no maximum: {found.separation.reason}. Estimates are where the "
            "search stopped, and where an interval has an infinite end the rows do not bound it"
        )
    if found.undecided is not None:
        notes.append(
            f"it is unknown whether the classes are separated: {found.undecided}. Estimates are "
            "where the search ended; standard errors, tests and intervals are not known"
        )
    if not found.intercept:
        notes.append("no intercept: all scores are 0 where all columns are 0")
    lost = [names[j] for j in np.flatnonzero(~found.estimable)]
    if lost:
        notes.append(f"not estimable individually: {', '.join(lost)}")
    return notes
