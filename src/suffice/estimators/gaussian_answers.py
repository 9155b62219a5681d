"""What a fitted Gaussian discriminant answers about rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from suffice.errors import Approximation, BadLabels, BadSetting, NotFinite, listed
from suffice.estimators.gaussian_predictions import GaussianPredictions
from suffice.estimators.incremental import (
    back_to_frame,
    check_label_kinds,
    label_kind,
    naming_cells,
    read_batch,
)
from suffice.estimators.randomness import random_generator
from suffice.estimators.results import Explanation, ImpliedLogistic
from suffice.models.explanation import explain
from suffice.models.imputation import imputed
from suffice.models.label_shift import LabelShift, estimate_priors
from suffice.models.leave_one_out import LeaveOneOut, leave_one_out
from suffice.models.missing_rows import leave_one_out_missing
from suffice.models.typicality import typicality
from suffice.rows import check_lengths, read_labels

if TYPE_CHECKING:
    from typing import TypeVar

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray, Label

    T = TypeVar("T")


class GaussianAnswers(GaussianPredictions):
    """Samples, explanations, priors and leave-one-out: nothing here learns anything."""

    def typicality(self, X: object, y: object = None) -> FloatArray:
        """Return, per class, the p-value of each row: small everywhere means "none of these".

        New rows follow the predictive F distribution; give `y` for rows that were in the fit,
        whose distance to their own class follows Beta. Exact under normality and ignorable
        missingness; with pool or shrink approximate; diagonal forms by simulation.
        """
        fit, family = self._fit, self.settings_
        return self._asked(
            X, lambda rows: typicality(family, fit, rows, self._label_codes(y, len(rows)))
        )

    def _label_codes(self, y: object, size: int) -> IntArray | None:
        """Return the positions of labels in `classes_`; None when there are no labels."""
        if y is None:
            return None
        labels = read_labels(y)
        check_lengths(size, len(labels.codes))
        check_label_kinds(self._require().kind, label_kind(labels.classes))
        found: IntArray = self._codes(tuple(labels.classes.tolist()), labels.codes)
        return found

    # Samples and cells

    def sample(
        self, n: int = 1, y: Label | None = None, random_state: object = None
    ) -> tuple[Any, NDArray[Any]]:
        """Draw rows and their labels; of one class if `y` names it.

        Rows come back as they were given: as a frame of the same library, categories decoded.
        """
        if n < 0 or int(n) != n:
            raise BadSetting(f"cannot draw {n!r} rows", hint="n is a whole number of at least 0")
        state, model = self._require(), self._fit.model
        rng = random_generator(random_state)
        rows, codes = model.sample(int(n), rng, y)
        return back_to_frame(state.columns, rows, state.frame), self.classes_[codes]

    def impute(
        self, X: object, y: object = None, draws: int | None = None, random_state: object = None
    ) -> Any:
        """Return rows with missing cells filled in by their conditional mean.

        With `y` given, that of the row's own class; else averaged over the posterior. With
        `draws`, a list of that many completed tables, drawn from the conditional law.
        """
        state = self._require()
        model = self._fit.model
        if draws is not None and (draws < 0 or int(draws) != draws):
            raise BadSetting(
                f"cannot make draws={draws!r} tables", hint="a whole number of at least 0, or None"
            )

        def completed(rng: np.random.Generator | None) -> Any:
            rows = self._asked(
                X, lambda rows: imputed(model, rows, self._label_codes(y, len(rows)), rng)
            )
            return back_to_frame(state.columns, rows, state.frame)

        if draws is None:
            return completed(None)
        rng = random_generator(random_state)
        return [completed(rng) for _ in range(int(draws))]

    def _filled(self, rows: FloatArray) -> FloatArray:
        return imputed(self._fit.model, rows)

    # Priors, explanations, the other school

    def estimate_priors(self, X: object) -> LabelShift:
        """Return the class priors of unlabelled rows, with standard errors (Saerens' EM)."""
        model = self._fit.model
        return self._asked(X, lambda rows: estimate_priors(model, rows))

    def explain(
        self, X: object, of: Label | None = None, against: Label | None = None
    ) -> Explanation:
        """Split the log odds of every row by column.

        By default the predicted class is compared with the runner-up; `of` and `against`
        name others.
        """
        state, model = self._require(), self._fit.model
        if len(model.labels) < 2:
            raise BadSetting("one class has no odds to explain", hint="learn a second class")
        for name in (of, against):
            if name is not None and name not in model.labels:
                raise BadSetting(
                    f"there is no class {name!r}", hint=f"the classes are {listed(model.labels)}"
                )
        if of is not None and of == against:
            raise BadSetting(f"{of!r} against itself", hint="compare two different classes")

        def answer(rows: NDArray[Any]) -> Any:
            scores = model.posterior(rows, log=True)
            n = len(rows)
            first = np.full(n, -1) if of is None else np.full(n, model.labels.index(of))
            second = np.full(n, -1) if against is None else np.full(n, model.labels.index(against))
            order = np.argsort(-scores, axis=1, kind="stable")
            if of is None:
                first = np.where(order[:, 0] == second, order[:, 1], order[:, 0])
            if against is None:
                second = np.where(order[:, 0] == first, order[:, 1], order[:, 0])
            return explain(model, rows, first.astype(np.intp), second.astype(np.intp))

        found = self._asked(X, answer)
        columns = state.columns
        pairs = found.pairs
        if pairs is not None and not columns.is_plain:
            n, width, _ = pairs.shape
            half = columns.summed(pairs.reshape(n * width, width)).reshape(n, width, -1)
            turned = np.ascontiguousarray(half.transpose(0, 2, 1)).reshape(-1, width)
            pairs = columns.summed(turned).reshape(n, len(columns.names), -1)
        return Explanation(
            self.classes_[found.of],
            self.classes_[found.against],
            found.baseline,
            cast("FloatArray", columns.summed(found.contributions)),
            pairs,
            columns.names,
        )

    def to_logistic(self, reference: Label | None = None) -> ImpliedLogistic:
        """Return the logistic model that is implied, exactly, by a shared covariance.

        For two classes θ and θ₀ of the second against the first; for more, one row for each
        class against `reference` (the first class unless named).
        """
        form = self._fit.model.linear_form()
        labels = form.labels
        if reference is not None and reference not in labels:
            raise BadSetting(
                f"there is no class {reference!r}", hint=f"the classes are {listed(labels)}"
            )
        place = 0 if reference is None else labels.index(reference)
        return ImpliedLogistic(form, self.classes_, place, self._require().columns)

    # Each row as if never seen

    def leave_one_out(self, X: object, y: object, sample_weight: object = None) -> LeaveOneOut:
        """Judge the rows this was fitted on, each by a model of all the others, without refits.

        Exact for every covariance form; what would cost too much is approximated to first
        order, and said. X, y and the weights must be those of the fit, whole.
        """
        state, fit, family = self._require(), self._fit, self.settings_
        batch = read_batch(self, X, y, sample_weight, state.columns)
        check_label_kinds(state.kind, label_kind(batch.classes))
        codes = self._codes(batch.labels, batch.codes)
        weight = float(len(codes) if batch.weights is None else batch.weights.sum())
        if abs(weight - fit.summary.weight) > 1e-9 * weight:
            raise BadSetting(
                f"these rows have weight {weight:g}, "
                f"the model was fitted on {fit.summary.weight:g}",
                hint="leave-one-out needs exactly the rows of the fit",
            )
        given = None if self.priors is None else fit.model.log_priors
        rows = batch.rows
        if family.keeps_patterns and np.isnan(rows).any():
            result = leave_one_out_missing(
                family, state.statistics, fit, rows, codes, batch.weights, given
            )
        else:
            try:
                result = leave_one_out(
                    family, fit.summary, fit.normals, fit.notes, rows, codes, batch.weights, given
                )
            except NotFinite as error:
                raise naming_cells(error, rows, state.columns, batch.places) from None
        self._approximate(result.approximate)
        return result

    def _approximate(self, said: str) -> None:
        if said:
            warnings.warn(said, Approximation, stacklevel=3)

    def _codes(self, labels: tuple[Label, ...], codes: Any) -> Any:
        """Translate codes of a batch into positions in `classes_`."""
        known = {label: i for i, label in enumerate(self._require().statistics.labels)}
        unknown = [label for label in labels if label not in known]
        if unknown:
            raise BadLabels(
                f"{listed(map(repr, unknown))} is no class of this model",
                hint=f"the classes are {listed(known)}",
            )
        return np.array([known[label] for label in labels], dtype=np.intp)[codes]
