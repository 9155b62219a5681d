"""State, estimates and parameters of a Gaussian discriminant, in scikit-learn's names."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting, OneClass, listed
from suffice.estimators.incremental import NotFitted, State, class_array
from suffice.families.gaussian import FORMS, Gaussian
from suffice.models.learner import Fit, GaussianLearner, checked_log_priors, warn_of
from suffice.rows import CATEGORY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.columns import Columns
    from suffice.families.notes import Note
    from suffice.models.generative import GenerativeModel
    from suffice.rows import FloatArray


class GaussianParameters:
    """What was learned: estimated from the statistics when it is asked for, and then kept."""

    covariance: str
    pool: float | None
    shrink: float | None
    shrink_target: str
    priors: Any
    divisor: str
    _state: State

    def _known(self) -> State | None:
        return getattr(self, "_state", None)

    def _require(self) -> State:
        state = self._known()
        if state is None or not state.statistics.labels:
            raise NotFitted.of(self)
        return state

    def _become(self, state: State | None) -> None:
        if state is None:
            for name in ("_state", "n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
            return
        self._state = state
        self.n_features_in_ = len(state.columns.columns)
        if state.columns.named:
            self.feature_names_in_ = np.array(state.columns.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

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

    @property
    def _fit(self) -> Fit:
        """The estimate of the current statistics under the current settings."""
        state = self._require()
        given = self.priors
        if given is not None:
            if not isinstance(given, Mapping):
                checked_log_priors(given, state.statistics.labels)  # refuses it
            given = dict(given)
        key = (self.covariance, self.pool, self.shrink, self.shrink_target, self.divisor, given)
        found = state.cache.get("fit")
        if found is not None and found[0] == key:
            fit: Fit = found[1]
            return fit
        family = self._family(state.chosen)
        if not family.accepts(state.statistics):
            raise BadSetting(
                f'covariance="{self.covariance}" needs other statistics than were collected',
                hint="fit again: the form was changed after the rows were read",
            )
        fit = GaussianLearner(family, self.priors).fit(state.statistics)
        state.cache.clear()
        state.cache["fit"] = (key, fit)
        return fit

    def _warn(self, fit: Fit) -> None:
        state = self._require()
        notes = [note for note in fit.notes if not _is_of_our_making(note, state.columns, fit)]
        warn_of(notes, state.columns.coded_names, fit.model.labels)
        if len(fit.model.labels) == 1:
            warnings.warn(
                f"there is only one class, {fit.model.labels[0]!r}: its posterior is 1 everywhere",
                OneClass,
                stacklevel=3,
            )

    # What was learned

    @property
    def statistics_(self) -> Any:
        """What the data said: mergeable, forgettable."""
        return self._require().statistics

    @property
    def model_(self) -> GenerativeModel:
        """Priors and class densities."""
        return self._fit.model

    @property
    def settings_(self) -> Gaussian:
        """The family in use; for covariance="auto" what was chosen."""
        return self._family(self._require().chosen)

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in order, in their own type."""
        state = self._require()
        held = state.cache.get("classes")
        if held is None:
            held = state.cache["classes"] = class_array(state.statistics.labels, state.dtype)
        found: NDArray[Any] = held
        return found

    @property
    def priors_(self) -> FloatArray:
        """p(y), in the order of `classes_`."""
        priors: FloatArray = np.exp(self._fit.model.log_priors)
        return priors

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
