"""How a Gaussian discriminant learns: rows coded as numbers, moments, and one choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.columns import Columns
from suffice.errors import BadSetting, DifferentKinds
from suffice.estimators.gaussian_parameters import GaussianParameters
from suffice.estimators.multivariate_normal_columns import schema
from suffice.estimators.shared.labelled_batch import LabelledBatch, read_batch
from suffice.estimators.shared.learning import Learning
from suffice.estimators.shared.saving import StatisticsLeftOut
from suffice.estimators.shared.waiting_rows import moderate
from suffice.models.gaussian.auto_covariance import choose
from suffice.models.gaussian.averages.learner import AveragingLearner
from suffice.models.gaussian.averages.row_samples import embedded_sample
from suffice.models.gaussian.averages.shares import LEFT_OUT
from suffice.models.gaussian.family import Gaussian
from suffice.models.gaussian.forms import letters_of
from suffice.models.gaussian.learner import (
    GaussianLearner,
    GivenClasses,
    check_held,
    checked_log_priors,
    statistics_of_parameters,
)
from suffice.models.gaussian.missing.e_step import imputed
from suffice.statistics.by_pattern import MOST_PATTERNS, ByPattern
from suffice.statistics.row_sample import WithRows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from suffice.estimators.shared.state import State
    from suffice.rows import FloatArray, IntArray, Label, Table


class GaussianLearning(GaussianParameters, Learning):
    """What is Gaussian about learning."""

    _choice_hint = "give pool and shrink explicitly to both, then they can be merged"
    _later_settings: ClassVar[Mapping[str, Any]] = {
        "predictive": None,
        "prior_rows": 0.0,
        "temperature": None,
        "average": False,
    }

    def _check_settings(self) -> None:
        self._learner(None)

    @classmethod
    def from_parameters(
        cls,
        means: Mapping[Label, ArrayLike],
        covariances: ArrayLike | Mapping[Label, ArrayLike],
        weights: float | Mapping[Label, float],
        *,
        names: Sequence[str] | None = None,
        **settings: Any,
    ) -> Self:
        """Return a classifier of normal classes whose parameters are known.

        It holds the statistics of as many rows as it is said to be worth, so that it learns on,
        merges and judges typicality as if it had been fitted to them.

        Parameters
        ----------
        means : {label: array of shape (d,)}
        covariances : array of shape (d, d), or {label: array of shape (d, d)}
            One for all classes, or one for each; that is the form, unless `covariance` names one.
        weights : float or {label: float}
            How many rows a class is worth. Class frequencies follow, unless priors are given.
        names : sequence of d strings, optional
            The names of the columns.
        **settings
            As those of the class.

        Examples
        --------
        >>> from suffice import GaussianDiscriminant
        >>> means = {"ham": [0.0, 0.0], "spam": [2.0, 1.0]}
        >>> model = GaussianDiscriminant.from_parameters(means, [[1, 0.5], [0.5, 1]], weights=100)
        >>> model.predict_proba([[1.0, 0.5]])
        array([[0.5, 0.5]])
        >>> model.partial_fit([[2.2, 0.9]], ["spam"]).statistics_.weight
        201.0

        """
        form = "per-class" if isinstance(covariances, Mapping) else "shared"
        model = cls(**{"covariance": form, **settings})
        model._check_settings()
        if model.covariance == "auto":
            raise BadSetting(
                'covariance="auto" chooses by rows, and there are none',
                hint='leave it out, or use "shared" or "per-class"',
            )
        if model.predictive is not None or model.temperature == LEFT_OUT:
            name = "temperature" if model.predictive is None else "predictive"
            raise BadSetting(
                f"{name}={getattr(model, name)!r} is for parameters that are learned from rows, "
                "and these are given",
                hint=f"leave {name} out",
            )
        given = GivenClasses.read(means, covariances, weights)
        batch = model._read(given.means, list(given.labels), None, None)
        order = [given.labels.index(label) for label in batch.labels]
        given = given.in_order(order)
        state = model._summarized(batch, None)
        held = statistics_of_parameters(model._family(None), given)
        model._keep(
            replace(state.with_statistics(held), columns=schema(names, given.means.shape[1]))
        )
        check_held(model.covariances_, given.covariances, given.labels, model.covariance)
        return model

    def _read(
        self, X: object, y: object, sample_weight: object, known: State | None
    ) -> LabelledBatch:
        columns = None if known is None else known.columns
        return read_batch(X, y, sample_weight, partial(self._coded, columns))

    def _coded(self, known: Columns | None, table: Table) -> tuple[Columns, NDArray[Any]]:
        """Return the columns of a table, the known ones with its levels, and its rows so coded."""
        if (
            known is not None
            and known.is_plain
            and table.matrix is not None
            and table.names is None
        ):
            return known, known.encode(table, type(self).__name__)  # there are no levels to widen
        if known is not None:
            table = self._as_learned(table)
        columns = Columns.infer(table)
        apart = getattr(table, "apart", None)
        summed = letters_of(self.covariance) == "EEE" and not self._judged_by_rows()
        if known is None and apart is not None and summed:
            return columns, apart  # added up where they lie: there is a kernel for it
        if known is not None:
            try:
                columns = known.widened(columns)[0]
            except DifferentKinds:
                columns = known  # encode says what is wrong, in scikit-learn's words
        return columns, columns.encode(table, type(self).__name__)

    def _summary(self, batch: LabelledBatch, learner: Any) -> Any:
        """Return the statistics of one batch, with a sample of its rows where that is kept."""
        if isinstance(learner, AveragingLearner):
            learner = _Sampling(learner, batch.columns)
        return super()._summary(batch, learner)

    def _joined(self, left: State, right: State) -> State:
        """Return the state of both; a sample of rows is kept of both, or of neither."""
        kept = [isinstance(state.statistics, WithRows) for state in (left, right)]
        alone = [isinstance(state.statistics, StatisticsLeftOut) for state in (left, right)]
        if kept[0] != kept[1] and not any(alone):
            told = "is kept now and was not" if kept[1] else "is not kept now but was"
            raise BadSetting(
                f"a sample of the rows {told} when the rows before were read: other statistics "
                "were collected",
                hint="set predictive, average and temperature as they were, or fit again",
            )
        return super()._joined(left, right)

    def _merged(self, left: State, right: State) -> tuple[Columns, Any]:
        columns, ours, theirs = left.columns.widened(right.columns)
        return columns, _embedded(left, ours, columns) + _embedded(right, theirs, columns)

    def _forgetting(self, state: State) -> Callable[[Any], Any]:
        learner = self._learner(state.chosen)

        def forget(gone: Any) -> Any:
            held = state.statistics
            left_out = isinstance(held, StatisticsLeftOut)
            if not left_out and isinstance(held, WithRows) != isinstance(gone, WithRows):
                raise BadSetting(
                    "a sample of the rows was kept under other settings than now",
                    hint="set predictive, average and temperature as they were, or fit again",
                )
            return learner.forget(held, gone, state.columns.is_coded, state.columns.coded_names)

        return forget

    def _single_rows(self, state: State, learner: Any) -> Callable[[FloatArray], bool] | None:
        held = state.statistics
        if isinstance(held, WithRows) or getattr(learner, "keeps_rows", False):
            return None
        full = isinstance(held, ByPattern) and len(held.groups) >= MOST_PATTERNS
        fits = state.columns.is_plain and learner.family.accepts(held) and not full
        return moderate if fits else None

    def _needs_choice(self) -> bool:
        return self.covariance == "auto" and not self.average

    def _choose(self, batch: LabelledBatch) -> Gaussian | None:
        """Choose pool, shrink and target by leave-one-out on one batch, if they are "auto"."""
        if self.covariance != "auto" or self.average:
            return None
        learner = GaussianLearner(Gaussian("per-class", divisor=self.divisor))
        statistics = self._summary(batch, learner)
        labels, rows, codes = statistics.labels, batch.rows, batch.codes
        if not np.isnan(rows).any():
            fit = learner.fit(statistics)
        else:
            # Selection only: missing cells as one normal of all rows expects them. What is filled
            # in must not know the labels: it would tell them to those who judge, and the boldest
            # candidate would look best.
            plain = GaussianLearner(Gaussian("shared", divisor=self.divisor))
            together = plain.summarize(rows, np.zeros_like(codes), ["all"], batch.weights)
            rows = imputed(plain.fit(together).model, rows)
            fit = learner.fit(learner.summarize(rows, codes, batch.labels, batch.weights))
        order = {label: i for i, label in enumerate(labels)}
        codes = np.array([order[label] for label in batch.labels], dtype=np.intp)[codes]
        given = None if self.priors is None else checked_log_priors(self.priors, labels)
        family, _ = choose(fit.summary, rows, codes, batch.weights, given, self.divisor)
        return family


def _embedded(state: State, places: IntArray, columns: Columns) -> Any:
    """Return statistics in the coding of a schema that knows more levels."""
    same = len(places) == columns.width and np.array_equal(places, np.arange(len(places)))
    held = state.statistics
    if same:
        return held
    if isinstance(held, WithRows):
        wider: Any = held.held
        sample = embedded_sample(held.sample, places, columns.width)
        return WithRows(wider.embedded(places, columns.width), sample)
    return held.embedded(places, columns.width)


@dataclass(frozen=True, slots=True)
class _Sampling:
    """A learner that knows the columns of the rows it is given: hashes go by their names."""

    learner: AveragingLearner
    columns: Columns

    def summarize(self, rows: Any, codes: Any, labels: Any, weights: Any) -> Any:
        return self.learner.summarize(rows, codes, labels, weights, self.columns)
