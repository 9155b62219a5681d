"""How naive Bayes learns: columns read by their families, sums, and one choice of families."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns import Columns, PlainColumns
from suffice.errors import BadSetting, DifferentKinds, SufficeError, listed
from suffice.estimators.shared.labelled_batch import LabelledBatch, read_batch
from suffice.estimators.shared.learned import Learned
from suffice.estimators.shared.learning import Learning
from suffice.estimators.shared.saving import StatisticsLeftOut
from suffice.estimators.shared.table_recipe import check_kinds
from suffice.estimators.shared.waiting_rows import moderate
from suffice.models.gaussian.forgetting import SMALL_DEVIATION, warn_of_small_squares
from suffice.models.gaussian.learner import warn_of
from suffice.models.naive_bayes.column_blocks import Blocks
from suffice.models.naive_bayes.families.bernoulli import Bernoulli
from suffice.models.naive_bayes.learner import NaiveBayesFit, NaiveBayesLearner
from suffice.models.naive_bayes.smoothing import HELD_OUT, LEFT_OUT, checked_smoothing
from suffice.rows import read_table
from suffice.rows.sparse import SparseRows
from suffice.rows.tables import table_of_array
from suffice.statistics.folds import Folds
from suffice.statistics.row_sample import WithRows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from suffice.estimators.shared.state import State
    from suffice.models.naive_bayes.product import Product
    from suffice.rows import FloatArray


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
        for needed, there, name, value in (
            (learner.keeps_folds, isinstance(inner, Folds), "smoothing", HELD_OUT),
            (learner.keeps_rows, isinstance(held, WithRows), "temperature", learner.temperature),
        ):
            if needed and not there:
                raise BadSetting(
                    f'{name}="{value}" needs other statistics than were collected',
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
            warn_of_small_squares(state.statistics, names)

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
        """β in use: the exponent on the likelihood; the mean of those that are averaged."""
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
    if isinstance(temperature, str) and temperature in (HELD_OUT, LEFT_OUT):
        return temperature
    number = isinstance(temperature, Real) and not isinstance(temperature, bool)
    if not number or not 0.0 < float(temperature) < np.inf:  # type: ignore[arg-type]
        raise BadSetting(
            f"temperature={temperature!r} is not known",
            hint='a number above 0 (1 changes nothing), None, "held-out" or "left-out"',
        )
    return float(temperature)  # type: ignore[arg-type]


class NaiveBayesLearning(NaiveBayesParameters, Learning):
    """What is particular about learning independent columns."""

    _choice_hint = "name the families of these columns in both, then the models can be merged"

    def _open(self, X: object) -> Any:
        """Read rows of whatever kind this estimator takes."""
        return read_table(X)

    def _read(
        self, X: object, y: object, sample_weight: object, known: State | None
    ) -> LabelledBatch:
        return read_batch(X, y, sample_weight, partial(self._matched, known), self._open)

    def _matched(self, known: State | None, table: Any) -> tuple[Any, Any]:
        """Return the schema, and the table with its columns in the order of the schema."""
        if known is not None:
            matched = known.columns.matched(self._as_learned(table), type(self).__name__)
            check_kinds(known, matched)
            return known.columns, matched
        if isinstance(table, SparseRows):
            return PlainColumns(table.width), table
        return Columns.of_kinds(table), table

    def _summary(self, batch: LabelledBatch, learner: NaiveBayesLearner) -> Any:
        names = _names(batch.columns)
        try:
            rows = blocks(learner.product, batch.rows)
            return learner.summarize(rows, batch.codes, batch.labels, batch.weights, names)
        except SufficeError as error:
            raise error.filled(rows=batch.places) from None

    def _joined(self, left: State, right: State) -> State:
        """Return the state of both; columns that were given other families are named."""
        ours, theirs = left.columns, right.columns
        if ours != theirs and ours.names != theirs.names:
            raise DifferentKinds(
                f"the columns are not the same: {listed(ours.names)} and {listed(theirs.names)}",
                hint="merge what was learned from the same columns, in the same order",
            )
        if left.chosen != right.chosen:
            said = left.chosen.product.differences(right.chosen.product, ours.names)
            raise DifferentKinds(f"the families differ: {said}", hint=self._choice_hint)
        _check_collected_alike(left.statistics, right.statistics)
        return super()._joined(left, right)

    def _merged(self, left: State, right: State) -> tuple[Any, Any]:
        return left.columns, left.statistics + right.statistics

    def _forgetting(self, state: State) -> Callable[[Any], Any]:
        learner = self._learner(state.chosen)

        def forget(gone: Any) -> Any:
            _check_collected_alike(state.statistics, gone)
            return learner.forget(state.statistics, gone, names=state.columns.names)

        return forget

    def _single_rows(
        self, state: State, learner: NaiveBayesLearner
    ) -> Callable[[FloatArray], bool] | None:
        product = learner.product
        kept = isinstance(state.statistics, (Folds, WithRows))
        if not state.columns.is_plain or learner.keeps_folds or learner.keeps_rows or kept:
            return None
        simple = all(family.name.endswith("gaussian") for family in product.families)
        if simple:
            return moderate

        def fits(row: FloatArray) -> bool:
            if not moderate(row):
                return False
            try:
                product.read(table_of_array(row))
            except SufficeError:
                return False
            return True

        return fits


def _check_collected_alike(known: Any, new: Any) -> None:
    """Refuse to add statistics that were collected for another setting of held-out choices."""
    if isinstance(known, StatisticsLeftOut) or isinstance(new, StatisticsLeftOut):
        return
    inner = [held.held if isinstance(held, WithRows) else held for held in (known, new)]
    for name, ours, theirs in (
        ("temperature", isinstance(known, WithRows), isinstance(new, WithRows)),
        ("smoothing", isinstance(inner[0], Folds), isinstance(inner[1], Folds)),
    ):
        if ours != theirs:
            word = '"held-out" or "left-out"' if name == "temperature" else '"held-out"'
            told = f"is {word} now and was not" if theirs else f"is not {word} now but was"
            raise BadSetting(
                f"{name} {told} when the rows were read: other statistics were collected",
                hint=f"set {name} as it was, or fit again",
            )


def blocks(
    product: Product,
    table: Any,
    *,
    learning: bool = True,
    chosen: Callable[[], Collection[int]] | None = None,
) -> Blocks:
    """Return rows as read, cut into blocks."""
    if isinstance(table, SparseRows):
        family = product.families[0]
        if isinstance(family, Bernoulli):
            family.check_sparse()
        return Blocks((table,))
    return product.read(table, learning=learning, chosen=chosen)


def _names(columns: Any) -> Any:
    return columns.names if columns.named else None


def chosen_for(product: Product, asked: Any) -> Chosen:
    """Return a choice together with a copy of what asked for it."""
    return Chosen(product, dict(asked) if hasattr(asked, "items") else asked)
