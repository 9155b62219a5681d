"""Settings of a Gaussian discriminant as a learner, and what was learned under them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting, listed
from suffice.estimators.shared.learned import Learned
from suffice.models.gaussian.averages.grid import Averaged
from suffice.models.gaussian.averages.learner import EM_STRENGTH, AveragedFit, AveragingLearner
from suffice.models.gaussian.averages.shares import LEFT_OUT, checked_temperature
from suffice.models.gaussian.family import FORMS, Gaussian
from suffice.models.gaussian.forgetting import SMALL_DEVIATION, warn_of_small_squares
from suffice.models.gaussian.forms import BY_LETTERS, LETTERS
from suffice.models.gaussian.learner import (
    Fit,
    GaussianLearner,
    warn_of,
)
from suffice.models.gaussian.predictive.averaged_laws import AveragedLaws
from suffice.rows import CATEGORY
from suffice.statistics.row_sample import WithRows

if TYPE_CHECKING:
    from suffice.columns import Columns
    from suffice.estimators.shared.state import State
    from suffice.models.notes import Note
    from suffice.rows import FloatArray


class GaussianParameters(Learned):
    """What was learned of normal classes, and the settings it is estimated under."""

    covariance: str
    pool: float | None
    shrink: float | None
    shrink_target: str
    divisor: str
    predictive: Any = None
    prior_rows: float = 0.0
    temperature: Any = None
    average: bool = False

    if TYPE_CHECKING:

        @property
        def _fit(self) -> Fit: ...

    def _settings_key(self) -> tuple[Any, ...]:
        return (
            self.covariance,
            self.pool,
            self.shrink,
            self.shrink_target,
            self.divisor,
            self.predictive,
            self.prior_rows,
            self.temperature,
            self.average,
            self.priors,
        )

    def _estimate(self, state: State) -> Fit:
        learner = self._learner(state.chosen)
        held = state.statistics
        inner = held.held if isinstance(held, WithRows) else held
        if not learner.family.accepts(inner):
            raise BadSetting(
                f'covariance="{self.covariance}" needs other statistics than were collected',
                hint="fit again: the form was changed after the rows were read",
            )
        if isinstance(learner, GaussianLearner):
            return learner.fit(inner)
        if not learner.accepts(held):
            raise BadSetting(
                f"{self._judged_by_rows()} needs other statistics than were collected: a sample "
                "of the rows",
                hint="fit again: the setting was changed after the rows were read",
            )
        return learner.fit(held)

    def _judged_by_rows(self) -> str:
        """Return, in words, which setting is judged by a sample of the rows."""
        for name, value in (("predictive", "auto"), ("average", True), ("temperature", LEFT_OUT)):
            if getattr(self, name) == value:
                return f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}"
        return ""

    def _family(self, chosen: Gaussian | None) -> Gaussian:
        """Return the settings as a family, checked."""
        if self.covariance not in (*FORMS, *LETTERS, "auto"):
            raise BadSetting(
                f"covariance={self.covariance!r} is not known",
                hint=f"choose one of {listed((*FORMS, 'auto'))}{BY_LETTERS}",
            )
        if self.average not in (True, False):
            raise BadSetting(
                f"average={self.average!r} is neither True nor False",
                hint='True averages what covariance="auto" chooses from',
            )
        if self.covariance != "auto":
            if self.average:
                raise BadSetting(
                    f'average=True does not belong to covariance="{self.covariance}"',
                    hint='it averages what covariance="auto" chooses from',
                )
            auto = isinstance(self.predictive, str) and self.predictive == "auto"
            return Gaussian(
                self.covariance,
                self.pool,
                self.shrink,
                self.shrink_target,
                self.divisor,
                EM_STRENGTH if auto else self.predictive,
                self.prior_rows,
            )
        for name in ("pool", "shrink"):
            if getattr(self, name) is not None:
                raise BadSetting(
                    f'{name}={getattr(self, name)!r} does not belong to covariance="auto"',
                    hint=f'"auto" chooses {name} itself; with covariance="per-class" you do',
                )
        if self.predictive is not None or self.prior_rows:
            raise BadSetting(
                f'predictive={self.predictive!r} does not belong to covariance="auto": pool and '
                "shrink of covariances that are plugged in are chosen there",
                hint='name a form, such as covariance="shared"; predictive="auto" averages over '
                "how strong its prior is",
            )
        if chosen is None or self.average:
            return Gaussian("per-class", divisor=self.divisor)
        return Gaussian("per-class", chosen.pool, chosen.shrink, chosen.shrink_target, self.divisor)

    def _learner(self, chosen: Gaussian | None) -> GaussianLearner | AveragingLearner:
        family = self._family(chosen)
        temperature = checked_temperature(self.temperature, (LEFT_OUT,))
        strengths = isinstance(self.predictive, str)
        if not strengths and not self.average and temperature == 1.0:
            return GaussianLearner(family, self.priors)
        averaged = Averaged(strengths, bool(self.average))
        return AveragingLearner(family, self.priors, averaged, temperature)

    def _warn(self, fit: Fit) -> None:
        state = self._require()
        notes = [note for note in fit.notes if not _is_of_our_making(note, state.columns, fit)]
        warn_of(notes, state.columns.coded_names, fit.model.labels)
        if fit.summary.scale.min(initial=1.0) < SMALL_DEVIATION or not fit.summary.active.all():
            warn_of_small_squares(state.statistics, state.columns.coded_names)

    # What was learned

    @property
    def settings_(self) -> Gaussian:
        """The family in use; for covariance="auto" what was chosen.

        Where several are averaged, the one that counts most: `shares_` has them all.
        """
        if self.average or isinstance(self.predictive, str):
            fit: Any = self._fit
            found: Gaussian = fit.families[int(np.argmax(fit.shares.sum(axis=1)))]
            return found
        return self._family(self._require().chosen)

    @property
    def shares_(self) -> tuple[tuple[Gaussian, float, float], ...]:
        """What is averaged: settings, temperature and share, the largest share first.

        Shares are judged by rows as if never seen, anew whenever rows are learned, merged or
        forgotten.
        """
        fit = self._whole()._fit
        if not isinstance(fit, AveragedFit):
            return ((self.settings_, 1.0, 1.0),)
        found = [
            (family, float(beta), float(fit.shares[g, b]))
            for g, family in enumerate(fit.families)
            for b, beta in enumerate(fit.temperatures)
            if fit.shares[g, b] > 0.0
        ]
        return tuple(sorted(found, key=lambda entry: -entry[2]))

    @property
    def temperature_(self) -> float:
        """β in use, the exponent on the likelihood: the mean of those that are averaged."""
        laws = self._fit.normals
        if not isinstance(laws, AveragedLaws):
            return 1.0
        return float(laws.shares.sum(axis=0) @ laws.temperatures)

    @property
    def means_(self) -> FloatArray:
        """The class means (k, d)."""
        return self._fit.normals.class_means

    @property
    def covariance_(self) -> FloatArray:
        """The covariance that is used, where all classes share one.

        With `predictive`, its posterior mean, which exists if f > 2 degrees of freedom are left;
        the scale matrix of the t law if not. Where several are averaged, their average.
        """
        found: FloatArray = self._fit.normals.covariances
        if len(found) != 1:
            raise AttributeError(
                f'covariance="{self.covariance}" has one covariance per class\n'
                "Hint: they are in covariances_"
            )
        return np.asarray(found[0])

    @property
    def covariances_(self) -> FloatArray:
        """The covariances that are used (k, d, d), repeated where they are shared."""
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        found = self._fit.normals.covariances
        return np.broadcast_to(found, (len(self.classes_), *found.shape[1:]))


def _is_of_our_making(note: Note, columns: Columns, fit: Fit) -> bool:
    """Whether a note speaks only of one-hot coding: the levels of a category add up to one."""
    varying = fit.normals.active
    owners = columns.owners
    if not (note.silent and note.columns and varying[list(note.columns)].all()):
        return False
    coded = [columns.columns[owners[j]].kind == CATEGORY for j in range(columns.width)]
    if not all(coded[j] for j in note.columns):
        return False
    levels = np.bincount(owners[varying & np.array(coded)], minlength=1)
    return int(varying.sum()) - fit.normals.rank == int((levels > 1).sum())
