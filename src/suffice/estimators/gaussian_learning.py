"""How a Gaussian discriminant learns: rows coded as numbers, moments, and one choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.columns import Columns
from suffice.errors import BadSetting, DifferentKinds, listed
from suffice.estimators.multivariate_normal_columns import schema
from suffice.estimators.shared.labelled_batch import LabelledBatch, read_batch
from suffice.estimators.shared.learned import Learned
from suffice.estimators.shared.learning import Learning
from suffice.estimators.shared.waiting_rows import moderate
from suffice.models.gaussian.auto_covariance import choose
from suffice.models.gaussian.family import FORMS, Gaussian
from suffice.models.gaussian.forgetting import SMALL_DEVIATION, warn_of_small_squares
from suffice.models.gaussian.learner import (
    Fit,
    GaussianLearner,
    GivenClasses,
    check_held,
    checked_log_priors,
    statistics_of_parameters,
    warn_of,
)
from suffice.models.gaussian.missing.e_step import imputed
from suffice.rows import CATEGORY
from suffice.statistics.by_pattern import MOST_PATTERNS, ByPattern

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from suffice.estimators.shared.state import State
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray, Label, Table


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


class GaussianLearning(GaussianParameters, Learning):
    """What is Gaussian about learning."""

    _choice_hint = "give pool and shrink explicitly to both, then they can be merged"

    def _check_settings(self) -> None:
        self._family(None)

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
        if known is None and apart is not None and self.covariance == "shared":
            return columns, apart  # added up where they lie: there is a kernel for it
        if known is not None:
            try:
                columns = known.widened(columns)[0]
            except DifferentKinds:
                columns = known  # encode says what is wrong, in scikit-learn's words
        return columns, columns.encode(table, type(self).__name__)

    def _merged(self, left: State, right: State) -> tuple[Columns, Any]:
        columns, ours, theirs = left.columns.widened(right.columns)
        return columns, _embedded(left, ours, columns) + _embedded(right, theirs, columns)

    def _forgetting(self, state: State) -> Callable[[Any], Any]:
        learner = self._learner(state.chosen)
        return partial(learner.forget, state.statistics, coded=state.columns.is_coded)

    def _single_rows(
        self, state: State, learner: GaussianLearner
    ) -> Callable[[FloatArray], bool] | None:
        held = state.statistics
        full = isinstance(held, ByPattern) and len(held.groups) >= MOST_PATTERNS
        fits = state.columns.is_plain and learner.family.accepts(held) and not full
        return moderate if fits else None

    def _needs_choice(self) -> bool:
        return self.covariance == "auto"

    def _choose(self, batch: LabelledBatch) -> Gaussian | None:
        """Choose pool, shrink and target by leave-one-out on one batch, if they are "auto"."""
        if self.covariance != "auto":
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
    return state.statistics if same else state.statistics.embedded(places, columns.width)
