"""Gaussian discriminant analysis: LDA, QDA and what lies between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.metaestimators import available_if

from suffice.columns.design import Design
from suffice.errors import BadSetting, NotFinite
from suffice.estimators.gaussian_learning import GaussianLearning
from suffice.estimators.gaussian_parameters import GaussianParameters
from suffice.estimators.linear.logistic_regression import implied_logistic
from suffice.estimators.shared.answers import Answers, comparison
from suffice.estimators.shared.frames import back_to_frame
from suffice.estimators.shared.labelled_batch import naming_cells
from suffice.estimators.shared.randomness import random_generator
from suffice.estimators.shared.results import Explanation
from suffice.models.gaussian.averages.learner import (
    AveragingLearner,
    averaged_leave_one_out,
)
from suffice.models.gaussian.explanation import explain
from suffice.models.gaussian.forms import letters_of
from suffice.models.gaussian.leave_one_out.leave_one_out import LeaveOneOut, leave_one_out
from suffice.models.gaussian.leave_one_out.missing_cells import leave_one_out_missing
from suffice.models.gaussian.missing.e_step import imputed
from suffice.models.gaussian.model import OneRow, one_row
from suffice.models.gaussian.whitened_classes import Discriminants, discriminants
from suffice.models.typicality.coded_classes import coded_typicality
from suffice.models.typicality.normal_classes import typicality
from suffice.rows import read_table
from suffice.statistics.row_sample import WithRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from suffice.estimators.linear.logistic_regression import LogisticRegression
    from suffice.estimators.shared.labelled_batch import LabelledBatch
    from suffice.estimators.shared.state import State
    from suffice.rows import FloatArray, Label


class GaussianAnswers(GaussianParameters, Answers):
    """Typicality, cells filled in, explanations and leave-one-out: nothing here learns anything."""

    _read: Callable[[object, object, object, State | None], LabelledBatch]

    # Rows

    def _rows(self, X: object) -> FloatArray:
        """Return rows coded as at fit; float32 rows stay float32, whatever the type says."""
        table = self._as_learned(read_table(X))
        rows = self._require().columns.encode(table, type(self).__name__)
        return cast("FloatArray", rows)

    def _given_back(self, rows: FloatArray) -> Any:
        state = self._require()
        return back_to_frame(state.columns, rows, state.frame)

    def _one_row(self) -> OneRow | None:
        model = self._fit.model
        return one_row(model, self.classes_) if self._require().columns.is_plain else None

    def typicality(self, X: object, y: object = None, sample_weight: object = None) -> FloatArray:
        """Return, per class, the p-value of each row: small everywhere means "none of these".

        The probability that a row of the class lies at least as far out, however few rows the
        class was learned from: among new rows of a normal class, 5 % have p < 0.05. Give `y`, the
        labels, for rows that were in the fit: each is taken out first, with the weight that it
        had (1 unless `sample_weight` says otherwise), and then judged like a new row.

        Exact under normality and ignorable missingness for every covariance form, whatever
        `shrink` is; with `pool`, and where rows of the fit had missing cells and covariances are
        full, approximate. Temperatures play no part, and with `predictive` the same p-values hold;
        there, a full covariance of too few rows is judged by its t law, F(D, f) of the distance
        over D: right on average over the prior, and not for each class.

        A class with too few rows for its covariance matrix is judged column
        by column (Bonferroni): no more than 5 % have p < 0.05. Numbers are judged by their normal
        law, categories by how often the class had them. Where nothing is known, as of a class of
        one row, p = 1, with a warning (`NoPValue`).
        """
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        fit, family = self._fit, self._family(self._require().chosen)

        def answer(rows: FloatArray) -> FloatArray:
            codes, gone = self._label_codes(y, len(rows)), self._gone(y, sample_weight, len(rows))
            coded = self._require().columns.coded_places
            if coded:
                return coded_typicality(family, fit, rows, coded, codes, gone)
            return typicality(family, fit, rows, codes, gone)

        return self._asked(X, answer)

    # Samples and cells

    def impute(
        self, X: object, y: object = None, draws: int | None = None, random_state: object = None
    ) -> Any:
        """Return rows with missing cells filled in by their conditional mean.

        With `y` given, that of the row's own class; else averaged over the posterior. With
        `draws`, a list of that many completed tables, drawn from the conditional law.
        """
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        model = self._fit.model
        if draws is not None and (draws < 0 or int(draws) != draws):
            raise BadSetting(
                f"cannot make draws={draws!r} tables", hint="a whole number of at least 0, or None"
            )

        def completed(rng: np.random.Generator | None) -> Any:
            rows = self._asked(
                X, lambda rows: imputed(model, rows, self._label_codes(y, len(rows)), rng)
            )
            return self._given_back(rows)

        if draws is None:
            return completed(None)
        rng = random_generator(random_state)
        return [completed(rng) for _ in range(int(draws))]

    def _filled(self, rows: FloatArray) -> FloatArray:
        return imputed(self._fit.model, rows)

    # Priors, explanations, the other school

    def explain(
        self, X: object, of: Label | None = None, against: Label | None = None
    ) -> Explanation:
        """Split the log odds of every row by column.

        By default the predicted class is compared with the runner-up; `of` and `against`
        name others. With `predictive`, the distance to a class is split as that of a normal
        class, and each part counts for as much of ½(f + D)·log(1 + q/f) as it has of the
        distance q; where settings or temperatures are averaged, so are their parts, and what
        averaging probabilities adds to the log odds is in the baseline.
        """
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        state, model = self._require(), self._fit.model
        pair = comparison(model.labels, of, against)

        def answer(rows: NDArray[Any]) -> Any:
            return explain(model, rows, *pair(model.posterior(rows, log=True)))

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

    def to_logistic(self) -> LogisticRegression:
        """Return the logistic model that is implied, exactly, by a shared covariance.

        A fitted one: `coef_` and `intercept_` are θ and θ₀, `against(reference)` compares each
        class with one of them. Student's t (`predictive`) and averages imply none, and are
        refused; a temperature that is one number stretches θ.
        """
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        form = self._fit.model.linear_form()
        return implied_logistic(form, self.classes_, Design(self._require().columns))

    # Each row as if never seen

    def leave_one_out(self, X: object, y: object, sample_weight: object = None) -> LeaveOneOut:
        """Judge the rows this was fitted on, each by a model of all the others, without refits.

        Exact for every covariance form; what would cost too much is approximated to first
        order, and said. X, y and the weights must be those of the fit, whole. There is one
        judgement a row; rows of weight zero, of which there is nothing to take out, are
        answered as new ones.
        """
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        state, fit = self._require(), self._fit
        family = self._family(state.chosen)
        batch = self._read(X, y, sample_weight, state)
        codes = self._codes_of_fit(batch)
        given = None if self.priors is None else fit.model.log_priors
        rows = batch.rows
        learner = self._learner(state.chosen)
        if isinstance(learner, AveragingLearner):
            averaged: Any = fit
            result = averaged_leave_one_out(
                learner, averaged, state.statistics, rows, codes, batch.weights, given
            )
        elif family.keeps_patterns and np.isnan(rows).any():
            held = state.statistics
            held = held.held if isinstance(held, WithRows) else held
            result = leave_one_out_missing(family, held, fit, rows, codes, batch.weights, given)
        else:
            try:
                result = leave_one_out(
                    family, fit.summary, fit.normals, fit.notes, rows, codes, batch.weights, given
                )
            except NotFinite as error:
                raise naming_cells(error, rows, state.columns, batch.places) from None
        self._approximate(result.approximate)
        return self._with_weightless(result, batch, X, y)


T = TypeVar("T")


def _has_coordinates(estimator: Any) -> bool:
    if letters_of(estimator.covariance) == "EEE":
        if estimator.predictive is None:
            return True
        raise AttributeError(
            f"predictive={estimator.predictive!r} has no discriminant coordinates: Student's t "
            "has no flat boundaries\nHint: without predictive there are coordinates"
        )
    raise AttributeError(
        f'covariance="{estimator.covariance}" has no discriminant coordinates\n'
        'Hint: covariance="shared" has'
    )


def _conditional_transform(kind: type[T]) -> type[T]:
    """Hide what only Fisher's coordinates have, unless the covariance is shared.

    scikit-learn wraps `transform` when the class is made, for `set_output`, and the wrapper is
    there for every instance: the condition has to be put around it afterwards.
    """
    for name in ("transform", "fit_transform", "set_output", "get_feature_names_out"):
        setattr(kind, name, available_if(_has_coordinates)(getattr(kind, name)))
    return kind


@_conditional_transform
class FisherCoordinates(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The few directions along which classes differ most, for a shared covariance only."""

    _fit: Any
    _require: Callable[[], Any]
    _whole: Callable[[], Any]
    _rows: Callable[[object], FloatArray]
    _filled: Callable[[FloatArray], FloatArray]

    def _discriminants(self) -> Discriminants:
        _has_coordinates(self)
        state, model = self._require(), self._fit.model
        held = state.cache.get("discriminants")
        if held is None or held[0] is not model:
            held = state.cache["discriminants"] = (model, discriminants(model))
        found: Discriminants = held[1]
        return found

    def transform(self, X: object) -> FloatArray:
        """Return Fisher's discriminant coordinates, at most k - 1; missing cells as expected."""
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        rows = self._rows(X)
        if np.isnan(rows).any():
            rows = self._filled(rows)
        if not np.isfinite(rows).all():
            raise naming_cells(NotFinite.of_range(()), rows, self._require().columns)
        return self._discriminants().coordinates(rows)

    @property
    def scalings_(self) -> FloatArray:
        """The coordinates' loadings (d, k - 1), in the user's units."""
        return self._discriminants().scalings

    @property
    def explained_variance_ratio_(self) -> FloatArray:
        """The share of the differences between classes in each coordinate."""
        return self._discriminants().explained

    @property
    def _n_features_out(self) -> int:
        return int(self._discriminants().scalings.shape[1])


class GaussianDiscriminant(
    GaussianLearning,
    GaussianAnswers,
    FisherCoordinates,
    ClassifierMixin,
    BaseEstimator,
):
    """Normal classes, by Bayes' rule a classifier; LDA and QDA are two of its settings.

    | setting       | default    | meaning                                                      |
    |---------------|------------|--------------------------------------------------------------|
    | covariance    | "shared"   | "shared" (GDA, LDA), "per-class" (QDA), "diagonal",          |
    |               |            | "shared-diagonal", "spherical"; or one of mclust's fourteen  |
    |               |            | forms by its letters, "EII" … "VVV"; "auto" chooses by       |
    |               |            | leave-one-out among pooled and shrunk per-class ones         |
    | pool          | None       | 0 … 1, per-class only: how much of the pooled scatter enters |
    | shrink        | None       | 0 … 1, shared and per-class: off-diagonals toward the target |
    | shrink_target | "diagonal" | "diagonal": the class's own; "scaled": the shared, rescaled  |
    | priors        | None       | {label: probability}; None is the class frequencies          |
    | divisor       | "mle"      | "mle" (1/n), "unbiased" (n - k, n_k - 1: R's)                |
    | predictive    | None       | None plugs estimates in; a number averages over parameters,  |
    |               |            | under a prior worth so many rows: classes are Student's t;   |
    |               |            | "auto" averages over how many                                |
    | prior_rows    | 0          | with predictive: rows of the prior at the mean of all rows   |
    | temperature   | None       | exponent on p(x | y): a number, or "left-out": averaged, by  |
    |               |            | rows as if never seen                                        |
    | average       | False      | True: what "auto" chooses from is averaged over              |

    Everything is learned from sums: `partial_fit` adds rows, `forget` takes them back, `+`
    merges two models, and a label never seen before is simply a new class. Missing cells
    (NaN) are legal at fit (EM) and at predict (marginalised).

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianDiscriminant().fit(X, y)
    >>> model.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    >>> model.leave_one_out(X, y).error
    0.02
    """

    def __init__(
        self,
        covariance: str = "shared",
        *,
        pool: float | None = None,
        shrink: float | None = None,
        shrink_target: str = "diagonal",
        priors: Mapping[Label, float] | None = None,
        divisor: str = "mle",
        predictive: float | str | None = None,
        prior_rows: float = 0.0,
        temperature: float | str | None = None,
        average: bool = False,
    ) -> None:
        self.covariance = covariance
        self.pool = pool
        self.shrink = shrink
        self.shrink_target = shrink_target
        self.priors = priors
        self.divisor = divisor
        self.predictive = predictive
        self.prior_rows = prior_rows
        self.temperature = temperature
        self.average = average

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing cells are legal, and whether there is a transform."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        if letters_of(self.covariance) != "EEE" or self.predictive is not None:
            tags.transformer_tags = None
        return tags
