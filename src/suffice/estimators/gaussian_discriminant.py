"""Gaussian discriminant analysis: LDA, QDA and what lies between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from suffice.columns.design import Design
from suffice.errors import BadSetting
from suffice.estimators.fisher_coordinates import conditional_transform, has_coordinates
from suffice.estimators.linear.logistic_regression import implied, implied_logistic
from suffice.estimators.multivariate_normal_columns import schema
from suffice.estimators.statistics_classifier import StatisticsClassifier
from suffice.learning.learners.gaussian import GaussianClassifierLearner
from suffice.models.gaussian.averages.learner import AveragedFit
from suffice.models.gaussian.averages.shares import LEFT_OUT
from suffice.models.gaussian.forms import letters_of
from suffice.models.gaussian.learner import GivenClasses, check_held, statistics_of_parameters
from suffice.models.gaussian.predictive.averaged_laws import AveragedLaws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from suffice.estimators.linear.logistic_regression import LogisticRegression
    from suffice.estimators.setting_types import Covariance, Divisor, ShrinkTarget
    from suffice.learning.learner import Learner
    from suffice.learning.learners.gaussian_answers import LearnedDiscriminant
    from suffice.learning.results import Explanation
    from suffice.models.gaussian.family import Gaussian
    from suffice.models.gaussian.whitened_classes import Discriminants
    from suffice.models.left_out import LeaveOneOut
    from suffice.rows import FloatArray, Label


@conditional_transform
class GaussianDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, StatisticsClassifier):
    """Normal classes, by Bayes' rule a classifier; LDA and QDA are two of its settings.

    Everything is learned from sums: `partial_fit` adds rows, `forget` takes them back, `+`
    merges two models, and a label never seen before is simply a new class. Missing cells
    (NaN) are legal at fit (EM) and at predict (marginalised).

    Parameters
    ----------
    covariance : str, default "shared"
        "shared" (GDA, LDA), "per-class" (QDA), "diagonal", "shared-diagonal", "spherical"; or one
        of mclust's fourteen forms by its letters, "EII" … "VVV"; "auto" chooses by leave-one-out
        among pooled and shrunk per-class ones.
    pool : float, optional
        0 … 1, per-class only: how much of the pooled scatter enters.
    shrink : float, optional
        0 … 1, shared and per-class: off-diagonals toward the target.
    shrink_target : {"diagonal", "scaled"}, default "diagonal"
        "diagonal": the class's own; "scaled": the shared, rescaled.
    priors : dict, optional
        {label: probability}; None is the class frequencies.
    divisor : {"mle", "unbiased"}, default "mle"
        1/n, or n - k and n_k - 1 as in R.
    predictive : float or "auto", optional
        A number averages over parameters, under a prior worth so many rows: classes are Student's
        t; "auto" averages over how many; None plugs estimates in.
    prior_rows : float, default 0.0
        With predictive: rows of the prior at the mean of all rows.
    temperature : float or "held-out" or "left-out", optional
        Exponent on p(x | y): a number, or "left-out": averaged, by rows as if never seen.
    average : bool, default False
        True: what "auto" chooses from is averaged over.
    calibration_rows : int, optional
        Up to 2048 rows to keep, for `prediction_set` from the model file alone.
    factors : int or "auto", optional
        For many columns and few rows, shared and per-class: ΛΛᵀ + Ψ of so many factors, and each
        column's own variance; "auto": as many as BIC finds.
    unlabelled : float or "ignore" or "auto", default "ignore"
        Rows without a label: left out; a weight up to 1 for each; "auto": found by EM.

    See Also
    --------
    NaiveBayes : Columns of any kind, each with a family of its own.
    LogisticRegression : Fits p(y | x) directly, without a law of x.
    MixtureDiscriminant : Several normal components in each class.

    Examples
    --------
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
        covariance: Covariance = "shared",
        *,
        pool: float | None = None,
        shrink: float | None = None,
        shrink_target: ShrinkTarget = "diagonal",
        priors: Mapping[Label, float] | None = None,
        divisor: Divisor = "mle",
        predictive: float | Literal["auto"] | None = None,
        prior_rows: float = 0.0,
        temperature: float | Literal["held-out", "left-out"] | None = None,
        average: bool = False,
        calibration_rows: int | None = None,
        factors: int | Literal["auto"] | None = None,
        unlabelled: float | Literal["ignore", "auto"] = "ignore",
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
        self.calibration_rows = calibration_rows
        self.factors = factors
        self.unlabelled = unlabelled

    learner_kind: ClassVar[type[Learner]] = GaussianClassifierLearner

    if TYPE_CHECKING:

        def as_learner(self) -> GaussianClassifierLearner: ...  # noqa: D102

        def _now(self) -> LearnedDiscriminant: ...

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
        learner = model.as_learner()
        if model.covariance == "auto":
            raise BadSetting(
                'covariance="auto" is chosen from rows, and parameters are given instead of rows',
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
        batch = learner.read(given.means, list(given.labels))
        given = given.in_order([given.labels.index(label) for label in batch.labels])
        held = statistics_of_parameters(learner.family(), given)
        columns = schema(names, given.means.shape[1])
        model._become(replace(learner.learned(batch), statistics=held, columns=columns))
        check_held(model.covariances_, given.covariances, given.labels, model.covariance)
        return model

    # What was learned

    @property
    def settings_(self) -> Gaussian:
        """The family in use; for covariance="auto" what was chosen.

        Where several are averaged, the one that counts most: `shares_` has them all.
        """
        return self._now().family_in_use

    @property
    def shares_(self) -> tuple[tuple[Gaussian, float, float], ...]:
        """What is averaged: settings, temperature and share, the largest share first.

        Shares are judged by rows as if never seen, anew whenever rows are learned, merged or
        forgotten.
        """
        fit = self._now().fit
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
        laws = self._now().fit.normals
        if not isinstance(laws, AveragedLaws):
            return 1.0
        return float(laws.shares.sum(axis=0) @ laws.temperatures)

    @property
    def means_(self) -> FloatArray:
        """The class means (k, d)."""
        return self._now().fit.normals.class_means

    @property
    def covariance_(self) -> FloatArray:
        """The covariance that is used, where all classes share one.

        With `predictive`, its posterior mean, which exists if f > 2 degrees of freedom are left;
        the scale matrix of the t law if not. Where several are averaged, their average.
        """
        found: FloatArray = self._now().fit.normals.covariances
        if len(found) != 1:
            raise AttributeError(
                f'covariance="{self.covariance}" has one covariance per class\n'
                "Hint: they are in covariances_"
            )
        return np.asarray(found[0])

    @property
    def covariances_(self) -> FloatArray:
        """The covariances that are used (k, d, d), repeated where they are shared."""
        learned = self._now()
        found = learned.fit.normals.covariances
        return np.broadcast_to(found, (len(learned.labels), *found.shape[1:]))

    @property
    def loadings_(self) -> FloatArray:
        """Λ of the factors, (d, q) in the units of columns; (k, d, q) where classes have their own.

        Signs and the order within a class mean nothing; factors that a class has not are zero.
        """
        law: Any = self._now().fit.normals
        if self.factors is None:
            raise AttributeError("a model without factors has no loadings\nHint: use factors=2")
        found: FloatArray = law.own_loadings[0] if law.is_shared else law.own_loadings
        return found

    # Answers

    def sample(
        self,
        n: int = 1,
        y: Label | None = None,
        random_state: object = None,
        within: object = "auto",
    ) -> tuple[Any, NDArray[Any]]:
        """Draw rows and their labels; of one class if `y` names it.

        Rows come back as they were given: as a frame of the same library, categories decoded.
        Rows of a model of `suffice.train` or `suffice fit` are possible ones: numbers stay whole
        and within what training rows showed, and levels come as often as they did. `within=None`
        draws from the law itself, which knows no bounds; that is what a model does whose rows
        nobody looked at. `within=X` keeps to what the columns of X show, "training" refuses where
        nothing is known.
        """
        return self._now().sample(n, y, random_state, within)

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

        A class with too few rows for its covariance matrix is judged column by column (Bonferroni):
        no more than 5 % have p < 0.05. Numbers are judged by their normal law, categories by how
        often the class had them. Where nothing is known, as of one row, p = 1, and it is said.
        """
        return self._now().typicality(X, y, sample_weight)

    def impute(
        self, X: object, y: object = None, draws: int | None = None, random_state: object = None
    ) -> Any:
        """Return rows with missing cells filled in by their conditional mean.

        With `y` given, that of the row's own class; else averaged over the posterior. With
        `draws`, a list of that many completed tables, drawn from the conditional law.
        """
        return self._now().impute(X, y, draws, random_state)

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
        return self._now().explain(X, of, against)

    def to_logistic(self) -> LogisticRegression:
        """Return the logistic model that is implied, exactly, by a shared covariance.

        A fitted one: `coef_` and `intercept_` are θ and θ₀, `against(reference)` compares each
        class with one of them. Student's t (`predictive`) and averages imply none, and are
        refused; a temperature that is one number stretches θ.
        """
        learned = self._now()
        form = learned.model.linear_form()
        return implied_logistic(form, learned.classes, Design(learned.columns))

    @property
    def coef_(self) -> FloatArray:
        """θ of the logistic posterior, (1, d) for two classes, else (k, d), where it is one."""
        return implied(self).coef_

    @property
    def intercept_(self) -> FloatArray:
        """θ₀ of the logistic posterior, (1,) for two classes, else (k,), where it is one."""
        return implied(self).intercept_

    def leave_one_out(self, X: object, y: object, sample_weight: object = None) -> LeaveOneOut:
        """Judge the rows this was fitted on, each by a model of all the others, without refits.

        Exact for every covariance form; what would cost too much is approximated to first
        order, and said. X, y and the weights must be those of the fit, whole. There is one
        judgement a row; rows of weight zero, of which there is nothing to take out, are
        answered as new ones.
        """
        return self._now().leave_one_out(X, y, sample_weight)

    # The few directions along which classes differ most, for a shared covariance only

    def _discriminants(self) -> Discriminants:
        has_coordinates(self)
        return self._now().discriminants

    def transform(self, X: object) -> FloatArray:
        """Return Fisher's discriminant coordinates, at most k - 1; missing cells as expected."""
        has_coordinates(self)
        return self._now().coordinates(X)

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

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing cells are legal, and whether there is a transform."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        if letters_of(self.covariance) != "EEE" or self.predictive is not None:
            tags.transformer_tags = None
        return tags
