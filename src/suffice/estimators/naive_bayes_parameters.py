"""Settings, estimates and parameters of naive Bayes, in scikit-learn's names."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.estimators.learned import Learned
from suffice.models.naive_bayes.families.smoothing import HELD_OUT, checked_smoothing
from suffice.models.forgetting import SMALL_DEVIATION, warn_of_small_squares
from suffice.models.gaussian.learner import warn_of
from suffice.models.naive_bayes.learner import NaiveBayesFit, NaiveBayesLearner
from suffice.statistics.folds import Folds
from suffice.statistics.row_sample import WithRows

if TYPE_CHECKING:
    from suffice.estimators.state import State
    from suffice.models.naive_bayes.product import Product


@dataclass(frozen=True, slots=True)
class Chosen:
    """The family of every column, and the setting that asked for it."""

    product: Product
    asked: Any


class NaiveBayesParameters(Learned):
    """What was learned of independent columns, and the settings it is estimated under."""

    smoothing: Any
    temperature: Any = None

    if TYPE_CHECKING:

        @property
        def _fit(self) -> NaiveBayesFit: ...

    @abstractmethod
    def _families(self) -> Any:
        """Return the setting that decides about families; it is held beside the statistics."""

    def _settings_key(self) -> tuple[Any, ...]:
        return (self._families(), self.smoothing, self.temperature, self.priors)

    def _check_settings(self) -> None:
        checked_smoothing(self.smoothing)
        _checked_temperature(self.temperature)

    def _stored_choice(self, chosen: Chosen) -> Any:
        return {"product": chosen.product, "asked": chosen.asked}

    def _restored_choice(self, stored: Any) -> Chosen:
        return Chosen(stored["product"], stored["asked"])

    def _learner(self, chosen: Chosen) -> NaiveBayesLearner:
        smoothing = checked_smoothing(self.smoothing)
        temperature = _checked_temperature(self.temperature)
        return NaiveBayesLearner(chosen.product, self.priors, smoothing, temperature)

    def _estimate(self, state: State) -> NaiveBayesFit:
        self._check_settings()
        if state.chosen.asked != self._families():
            raise BadSetting(
                f"the families were {state.chosen.asked!r} when the rows were read, "
                f"and are {self._families()!r} now",
                hint="fit again: other families need other statistics",
            )
        learner = self._learner(state.chosen)
        held = state.statistics
        inner = held.held if isinstance(held, WithRows) else held
        for needed, there, name in (
            (learner.keeps_folds, isinstance(inner, Folds), "smoothing"),
            (learner.keeps_rows, isinstance(held, WithRows), "temperature"),
        ):
            if needed and not there:
                raise BadSetting(
                    f'{name}="held-out" needs other statistics than were collected',
                    hint="fit again: the setting was changed after the rows were read",
                )
        return learner.fit(held)

    def _warn(self, fit: NaiveBayesFit) -> None:
        if fit.notes:
            warn_of(fit.notes, self._require().columns.names, fit.model.labels)
        product, state = fit.model.product, self._require()
        normals = [law.normals for law in fit.model.laws if hasattr(law, "normals")]
        if any(
            each.scale.min(initial=1.0) < SMALL_DEVIATION or not each.active.all()
            for each in normals
        ):
            names = [state.columns.names[j] for group in product.columns for j in group]
            warn_of_small_squares(state.statistics, names, 4)

    # What was learned

    @property
    def families_(self) -> dict[str, str]:
        """The family of every column, by name."""
        state = self._require()
        return state.chosen.product.described(state.columns.names)  # type: ignore[no-any-return]

    @property
    def smoothing_(self) -> dict[str, float]:
        """α in use, by column: given, or chosen by held-out likelihood.

        Columns of one family share an α; where nothing is smoothed, there is none.
        """
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        fit, names = self._fit, self._require().columns.names
        product = fit.model.product
        found = {
            j: alpha
            for family, group, alpha in zip(
                product.families, product.columns, fit.alphas, strict=True
            )
            for j in group
            if family.smooths
        }
        return {names[j]: found[j] for j in sorted(found)}

    @property
    def temperature_(self) -> float:
        """β in use: the exponent on the likelihood."""
        return self._fit.model.temperature

    @property
    def parameters_(self) -> dict[str, dict[Any, dict[Any, float]]]:
        """What was learned of every column: for each class its parameters, by name or level."""
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        model, names = self._fit.model, self._require().columns.names
        found: dict[int, dict[Any, dict[Any, float]]] = {}
        for law, group in zip(model.laws, model.product.columns, strict=True):
            for place, j in enumerate(group):
                found[j] = {label: law.described(place, c) for c, label in enumerate(model.labels)}
        return {names[j]: found[j] for j in sorted(found)}


def _checked_temperature(temperature: object) -> float | str:
    """Return a temperature that has a meaning, 1 for None, or refuse it."""
    if temperature is None:
        return 1.0
    if isinstance(temperature, str) and temperature == HELD_OUT:
        return temperature
    number = isinstance(temperature, Real) and not isinstance(temperature, bool)
    if not number or not 0.0 < float(temperature) < np.inf:  # type: ignore[arg-type]
        raise BadSetting(
            f"temperature={temperature!r} is not known",
            hint='a number above 0 (1 changes nothing), None, or "held-out"',
        )
    return float(temperature)  # type: ignore[arg-type]
