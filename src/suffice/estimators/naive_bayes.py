"""Naive Bayes over columns of every kind, and what all kinds of naive Bayes answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from suffice.columns.design import Design
from suffice.estimators.fitting_notes import offered
from suffice.estimators.linear.logistic_regression import implied, implied_logistic
from suffice.estimators.statistics_classifier import StatisticsClassifier
from suffice.learning.learners.naive_bayes import NaiveBayesClassifierLearner
from suffice.learning.learners.naive_bayes_counts import CountsLearner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.estimators.linear.logistic_regression import LogisticRegression
    from suffice.learning.learner import Learner
    from suffice.learning.learners.naive_bayes_answers import LearnedColumns
    from suffice.learning.results import Explanation
    from suffice.models.left_out import LeaveOneOut
    from suffice.rows import FloatArray, Label


class IndependentColumns(StatisticsClassifier):
    """What every naive Bayes answers, whatever decides about the families of its columns."""

    if TYPE_CHECKING:
        smoothing: Any
        temperature: Any
        priors: Any

        def _now(self) -> LearnedColumns: ...

    # What was learned

    @property
    def families_(self) -> dict[str, str]:
        """The family of every column, by name."""
        learned = self._now()
        found: dict[str, str] = learned.learner.chosen.product.described(learned.columns.names)
        return found

    @property
    def smoothing_(self) -> dict[str, float]:
        """α in use, by column: given, or chosen by held-out likelihood.

        Columns of one family share an α; where nothing is smoothed, there is none.
        """
        learned = self._now()
        fit, names = learned.fit, learned.columns.names
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
        return self._now().fit.model.temperature

    @property
    def parameters_(self) -> dict[str, dict[object, dict[object, float]]]:
        """What was learned of every column: for each class its parameters, by name or level."""
        learned = self._now()
        model, names = learned.fit.model, learned.columns.names
        found: dict[int, dict[object, dict[object, float]]] = {}
        for law, group in zip(model.laws, model.product.columns, strict=True):
            for place, j in enumerate(group):
                found[j] = {label: law.described(place, c) for c, label in enumerate(model.labels)}
        return {names[j]: found[j] for j in sorted(found)}

    @property
    def feature_log_prob_(self) -> FloatArray:
        """The log parameter of every class and column, (k, d), as scikit-learn calls it."""
        if not self._counts():
            raise AttributeError(f"{type(self).__name__} has columns of several families")
        law: Any = self._now().model.laws[0]
        found: FloatArray = law.log_parameters
        return found

    def _counts(self) -> bool:
        """Whether there is one family for all columns, which may be sparse."""
        return issubclass(self.learner_kind, CountsLearner)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what may come: sparse rows."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._counts()
        return tags

    # Answers

    @offered("sample", "samples")
    def sample(
        self,
        n: int = 1,
        y: Label | None = None,
        random_state: object = None,
        lengths: object = None,
        within: object = "auto",
    ) -> tuple[Any, NDArray[Any]]:
        """Draw rows and their labels; of one class if `y` names it.

        Rows come back as they were given: as a frame of the same library, levels as they were.
        Multinomial rows have lengths drawn from a Poisson law with the class's mean, unless
        `lengths` says how long they are. Texts are bags of words, or written byte by byte, in the
        lengths that texts of the class had.
        Rows of a model of `suffice.train` or `suffice fit` are possible ones: numbers stay whole
        and within what training rows showed, and levels come as often as they did. `within=None`
        draws from the law itself, which knows no bounds; that is what a model does whose rows
        nobody looked at. `within=X` keeps to what the columns of X show, "training" refuses where
        nothing is known.
        """
        return self._now().sample(n, y, random_state, lengths, within)

    @offered("typicality")
    def typicality(self, X: object, y: object = None, sample_weight: object = None) -> FloatArray:
        """Return, per class, the p-value of each row: small everywhere means "none of these".

        The probability that a row of the class is no more likely, however few rows the class was
        learned from: every column adds a part whose law has no unknowns, and missing cells add
        nothing. Among new rows 5 % have p < 0.05 if columns are normal or log-normal, and no more
        than that if they are counted. Rows of words are compared with 9,999 draws of their length
        (fixed seed); their p-values are approximate.

        Give `y`, the labels, for rows that were in the fit: each is taken out first, with the
        weight that it had (1 unless `sample_weight` says otherwise), and then judged like a new
        row. Where nothing is known, p = 1, with a warning (`NoPValue`): of a class of one row whose
        columns are all normal with variances of their own, and of the class of a row that is alone
        in it. A column of which nothing is known says nothing; the others do.
        """
        return self._now().typicality(X, y, sample_weight)

    def explain(
        self,
        X: object,
        of: Label | None = None,
        against: Label | None = None,
        names: Sequence[str] | None = None,
    ) -> Explanation:
        """Split the log odds of every row by column: prior odds first, then what each column says.

        By default the predicted class is compared with the runner-up; `of` and `against`
        name others. `names` are for columns that came without, such as the words of a
        vocabulary.
        """
        return self._now().explain(X, of, against, names)

    def to_logistic(self) -> LogisticRegression:
        """Return the logistic model that is implied, exactly, where the posterior is logistic.

        So it is for Bernoulli, multinomial and Poisson columns and for Gaussian ones with shared
        variances; others are refused with the reason. Cells count as they do here: where there
        is a threshold, θ belongs to x above it.
        """
        learned = self._now()
        form, design = learned.model.linear_form(), Design(learned.columns)
        return implied_logistic(form, learned.classes, design, learned.linear_rows)

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

        Exact: counts lose the row, variances are downdated. Families, smoothing and temperature
        are those of the fit. X, y and the weights must be those of the fit, whole. There is one
        judgement a row; rows of weight zero are answered as new ones.
        """
        return self._now().leave_one_out(X, y, sample_weight)


class NaiveBayes(IndependentColumns):
    """Naive Bayes, p(x | y) = ∏ p(x_j | y): columns of any kind, each with its own family.

    Families: "bernoulli", "categorical", "poisson", "gaussian", "shared-gaussian", "lognormal",
    "predictive-gaussian" (a Student t, for few rows), "binned", "multinomial", "words" and
    "bytes" (texts), or objects of `suffice.families` with settings of their own.

    Everything is learned from sums: `partial_fit` adds rows, `forget` takes them back, `+` merges
    two models, and a label or a level never seen before is simply a new one. Missing cells are
    skipped, exactly.

    Parameters
    ----------
    families : str or dict, default "auto"
        "auto" reads them off the first rows; "select" chooses each by held-out log-loss; a name
        ("gaussian") is for all columns; {column: family} names some, by name or position.
    smoothing : float or "held-out", default 1.0
        Pseudo-counts α ≥ 0; 1 is Laplace's rule, 0 its limit; "held-out" chooses α.
    temperature : float or "held-out" or "left-out", optional
        Exponent β > 0 on the likelihood; "held-out" fits it; None is 1, and fits it where
        columns of texts stand beside others.
    priors : dict, optional
        {label: probability}; None is the class frequencies.
    calibration_rows : int, optional
        Up to 2048 rows to keep, among which `prediction_set` ranks new ones from the model file
        alone.
    unlabelled : float or str, default "ignore"
        Rows without a label: left out; a weight up to 1 for each; or "auto": weight and steps of EM
        by labelled rows left out.

    See Also
    --------
    GaussianDiscriminant : One normal law for each class; LDA and QDA are two of its settings.
    LatentClasses : The same where nobody knows the classes.

    Examples
    --------
    >>> rows = [["red", 3.1, True], ["blue", 2.9, True], ["red", 7.5, False], [None, 6.8, False]]
    >>> model = NaiveBayes().fit(rows, ["apple", "plum", "apple", "plum"])
    >>> model.families_
    {'x0': 'categorical', 'x1': 'lognormal', 'x2': 'bernoulli'}
    >>> model.predict([["red", None, True], ["green", 3.0, True]])
    array(['apple', 'plum'], dtype='<U5')
    """

    learner_kind: ClassVar[type[Learner]] = NaiveBayesClassifierLearner

    def __init__(
        self,
        families: object = "auto",
        *,
        smoothing: float | Literal["held-out"] = 1.0,
        temperature: float | Literal["held-out", "left-out"] | None = None,
        priors: Mapping[Label, float] | None = None,
        calibration_rows: int | None = None,
        unlabelled: float | str = "ignore",
    ) -> None:
        self.families = families
        self.smoothing = smoothing
        self.temperature = temperature
        self.priors = priors
        self.calibration_rows = calibration_rows
        self.unlabelled = unlabelled

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing cells and categories are legal."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
