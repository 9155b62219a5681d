"""Settings, estimates and parameters of a Gaussian discriminant, in scikit-learn's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting, listed
from suffice.estimators.learned import Learned
from suffice.models.gaussian.family import FORMS, Gaussian
from suffice.models.forgetting import SMALL_DEVIATION, warn_of_small_squares
from suffice.models.gaussian.learner import Fit, GaussianLearner, warn_of
from suffice.rows import CATEGORY

if TYPE_CHECKING:
    from suffice.columns import Columns
    from suffice.estimators.state import State
    from suffice.models.notes import Note
    from suffice.rows import FloatArray


class GaussianParameters(Learned):
    """What was learned of normal classes, and the settings it is estimated under."""

    covariance: str
    pool: float | None
    shrink: float | None
    shrink_target: str
    divisor: str

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
            self.priors,
        )

    def _estimate(self, state: State) -> Fit:
        learner = self._learner(state.chosen)
        if not learner.family.accepts(state.statistics):
            raise BadSetting(
                f'covariance="{self.covariance}" needs other statistics than were collected',
                hint="fit again: the form was changed after the rows were read",
            )
        return learner.fit(state.statistics)

    def _family(self, chosen: Gaussian | None) -> Gaussian:
        """Return the settings as a family, checked."""
        if self.covariance not in (*FORMS, "auto"):
            raise BadSetting(
                f"covariance={self.covariance!r} is not known",
                hint=f"choose one of {listed((*FORMS, 'auto'))}",
            )
        if self.covariance != "auto":
            return Gaussian(
                self.covariance, self.pool, self.shrink, self.shrink_target, self.divisor
            )
        for name in ("pool", "shrink"):
            if getattr(self, name) is not None:
                raise BadSetting(
                    f'{name}={getattr(self, name)!r} does not belong to covariance="auto"',
                    hint=f'"auto" chooses {name} itself; with covariance="per-class" you do',
                )
        if chosen is None:
            return Gaussian("per-class", divisor=self.divisor)
        return Gaussian("per-class", chosen.pool, chosen.shrink, chosen.shrink_target, self.divisor)

    def _learner(self, chosen: Gaussian | None) -> GaussianLearner:
        return GaussianLearner(self._family(chosen), self.priors)

    def _warn(self, fit: Fit) -> None:
        state = self._require()
        notes = [note for note in fit.notes if not _is_of_our_making(note, state.columns, fit)]
        warn_of(notes, state.columns.coded_names, fit.model.labels)
        if fit.summary.scale.min(initial=1.0) < SMALL_DEVIATION or not fit.summary.active.all():
            warn_of_small_squares(state.statistics, state.columns.coded_names, 4)

    # What was learned

    @property
    def settings_(self) -> Gaussian:
        """The family in use; for covariance="auto" what was chosen."""
        return self._family(self._require().chosen)

    @property
    def means_(self) -> FloatArray:
        """The class means (k, d)."""
        return self._fit.normals.class_means

    @property
    def covariance_(self) -> FloatArray:
        """The covariance that is used, where all classes share one."""
        normals = self._fit.normals
        if not normals.is_shared:
            raise AttributeError(
                f'covariance="{self.covariance}" has one covariance per class\n'
                "Hint: they are in covariances_"
            )
        found: FloatArray = normals.covariances[0]
        return found

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
