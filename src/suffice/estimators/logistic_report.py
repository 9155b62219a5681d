"""What a fitted logistic regression says about itself: how it converged, and how sure it is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.estimators.answers import place_of
from suffice.estimators.concurrency import lock_of
from suffice.estimators.logistic_learning import LogisticLearning
from suffice.estimators.logistic_summary import LogisticSummary
from suffice.estimators.named_refusals import naming
from suffice.estimators.separated_classes import SeparatedClasses
from suffice.models.linear.logistic.inference import FitFigures
from suffice.models.linear.logistic.refit import refitted
from suffice.models.linear.logistic.profile_intervals import profiles_of

if TYPE_CHECKING:
    from suffice.models.linear.logistic.result import LogisticFit
    from suffice.rows import FloatArray, Label


class LogisticReport(LogisticLearning):
    """Convergence, standard errors and summaries."""

    def _fitted(self, what: str) -> LogisticFit:
        self._require()
        if self._found is None:
            raise AttributeError(
                f"there is no {what}: θ was not found by maximum likelihood\n"
                "Hint: it belongs to models that fit() has found, not to streams or implied models"
            )
        return self._found

    @property
    def converged_(self) -> bool:
        """Whether θ is certain to be the maximum of the likelihood, but for `bound_`."""
        return self._fitted("convergence").converged

    @property
    def bound_(self) -> float:
        """How many of its standard errors any coefficient can be away from the maximum.

        Infinite where no Hessian was at hand to prove it: without standard errors, where there
        are too many coefficients.
        """
        return self._fitted("bound").bound

    @property
    def n_iter_(self) -> int:
        """How many passes over the rows were made."""
        return self._fitted("number of passes").passes

    def _separated_classes(self) -> SeparatedClasses | None:
        whole = self._whole()
        found = whole._fitted("separation").separation
        line = whole._require()
        if found is None:
            return None
        return SeparatedClasses.of(found, line.classes, line.design.names)

    def summary(
        self,
        X: object = None,
        y: object = None,
        sample_weight: object = None,
        *,
        reference: Label | None = None,
        level: float = 0.95,
        intervals: str = "wald",
        exponentiate: bool = False,
    ) -> LogisticSummary:
        """Return coefficients with standard errors, tests and intervals, and how well they fit.

        Each class is compared with the `reference`, the first one unless named. The rows of the
        fit are needed again, X and y, where the standard errors were not computed at the fit, and
        for `intervals="profile"`, whose ends are those of the profile likelihood: with Firth's
        correction of the penalised one, and tests are then by its ratio instead of Wald's.
        `exponentiate=True` shows odds ratios.
        """
        whole = self._whole()
        before, line = whole._fitted("summary"), whole._require()
        found = before
        place = 0 if reference is None else place_of(reference, found.labels)
        if intervals not in ("wald", "profile"):
            raise BadSetting(
                f"intervals={intervals!r} is not known", hint='choose "wald" or "profile"'
            )
        if X is None and not (y is None and sample_weight is None):
            raise BadSetting(
                "there are labels or weights, but no rows",
                hint="give all that was given to fit, summary(X, y, sample_weight), or nothing",
            )
        if len(found.labels) == 1:
            raise BadSetting(
                "one class has no odds to summarize", hint="fit rows of a second class"
            )
        if found.separation is not None and intervals == "wald":
            raise BadSetting(
                "the classes are separated: the likelihood has no maximum, and standard errors "
                "have no meaning",
                hint='correction="firth" has finite estimates with standard errors; '
                'intervals="profile" has ends where the likelihood has them',
            )
        profile = None
        firth = found.correction is not None  # whose tests are those of its own profiles
        if X is not None:
            batch = whole._read(X, y, sample_weight, line)
            found, objective = naming(
                batch,
                partial(refitted, found, batch.rows, batch.codes, batch.labels, batch.weights),
            )
            with lock_of(self):
                if self._found is before:  # and nothing else was learned meanwhile
                    self._found = found
            if intervals == "profile":
                profile = profiles_of(objective, found.theta, level, place, tested=firth)
        elif intervals == "profile":
            raise BadSetting(
                "profile intervals need the rows of the fit again",
                hint='summary(X, y, intervals="profile")',
            )
        others = [c for c in range(len(found.labels)) if c != place]
        return LogisticSummary.of(
            line.design.names,
            line.classes[place],
            line.classes[others].tolist(),
            np.array([found.estimate(c, place) for c in others]),
            self._variances(found, others, place),
            _figures(found),
            level=level,
            profile=None if profile is None else profile[:2],
            ratios=profile.statistic if profile is not None and firth else None,
            exponentiate=exponentiate,
            rows=None if whole._seen is None else whole._seen.size,
            converged=found.converged or found.separation is not None,  # that is said in a note
            notes=_notes(found, line.design.names),
            intercept=found.intercept,
        )

    def _variances(self, found: LogisticFit, others: list[int], place: int) -> FloatArray | None:
        """Return the variances of the estimates; None where there is no maximum to speak of."""
        if not found.converged:
            return None
        if found.covariance_ is None:
            raise BadSetting(
                "there are no standard errors: to compute them unasked would have cost too much",
                hint="summary(X, y) with the rows of the fit; or fit with standard_errors=True",
            )
        return np.array([np.diagonal(found.covariance(c, place)) for c in others])

    @property
    def covariance_(self) -> FloatArray:
        """The covariance of [θ₀, θ] of two classes, the second against the first (d + 1, d + 1).

        Without an intercept it is that of θ alone, (d, d).
        """
        found = self._fitted("covariance")
        if len(found.labels) != 2:
            raise AttributeError(
                f"there are {len(found.labels)} classes\nHint: summary() compares them pair by pair"
            )
        if not found.converged:
            raise AttributeError(
                "there is no covariance: θ is not the maximum of the likelihood\n"
                'Hint: separated classes have one with correction="firth"; max_passes may be raised'
            )
        try:
            covariance = found.covariance(1)
            return covariance if found.intercept else covariance[1:, 1:]
        except BadSetting as error:
            raise AttributeError(str(error)) from None


def _figures(found: LogisticFit) -> FitFigures:
    maximum = found.penalty == 0.0 and found.correction is None and found.separation is None
    parameters = (found.size - 1) * (found.rank + found.intercept) if maximum else None
    return FitFigures.of(
        found.loss, found.null_loss, found.weight, parameters, found.size, found.intercept
    )


def _notes(found: LogisticFit, names: Any) -> list[str]:
    notes = []
    if found.penalty > 0.0:
        notes.append(
            f"penalty={found.penalty:g}: estimates are held back, and standard errors are those "
            "of the penalised likelihood"
        )
    if found.correction == "firth":
        notes.append("Firth's correction: the maximum of ℓ + ½log|I|")
    if found.separation is not None:
        notes.append(
            f"the likelihood has no maximum: {found.separation.reason}. Estimates are where θ was "
            "cut off, and an end of an interval that is infinite is one the rows do not bound"
        )
    if found.undecided is not None:
        notes.append(
            f"whether the classes are separated is not known: {found.undecided}. Estimates are "
            "where the search ended; standard errors, tests and intervals are not known"
        )
    if not found.intercept:
        notes.append("no intercept: all scores are 0 where all columns are")
    lost = [names[j] for j in np.flatnonzero(~found.estimable)]
    if lost:
        notes.append(f"not estimable by themselves: {', '.join(lost)}")
    return notes
