"""Naive Bayes of arrays and sparse counts: the event models of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from suffice.estimators.naive_bayes import IndependentColumns
from suffice.learning.learners.naive_bayes_counts import (
    BernoulliClassifierLearner,
    ComplementClassifierLearner,
    MultinomialClassifierLearner,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.learning.learner import Learner
    from suffice.rows import Label


class BernoulliNaiveBayes(IndependentColumns):
    """The multivariate Bernoulli event model: each column is there or not.

    φ_cj = (N_cj + α)/(n_c + 2α), and a word that is absent counts as well. Missing cells of
    dense rows are skipped.

    Parameters
    ----------
    threshold : float, default 0.0
        Cells above it count as 1, others as 0.
    smoothing : float or "held-out", default 1.0
        Pseudo-counts α ≥ 0; 1 is Laplace's rule, 0 its limit; "held-out" chooses α.
    temperature : float or "held-out" or "left-out", optional
        Exponent β > 0 on the likelihood; "held-out" fits it.
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
    MultinomialNaiveBayes : Words drawn one after the other.
    NaiveBayes : Columns of any kind, each with a family of its own.

    Examples
    --------
    >>> model = BernoulliNaiveBayes().fit([[1, 0], [1, 1], [0, 1]], ["spam", "spam", "ham"])
    >>> model.parameters_["x0"]
    {'ham': {'probability': 0.333...}, 'spam': {'probability': 0.75}}
    """

    learner_kind: ClassVar[type[Learner]] = BernoulliClassifierLearner

    def __init__(
        self,
        threshold: float = 0.0,
        *,
        smoothing: float | Literal["held-out"] = 1.0,
        temperature: float | Literal["held-out", "left-out"] | None = None,
        priors: Mapping[Label, float] | None = None,
        calibration_rows: int | None = None,
        unlabelled: float | str = "ignore",
    ) -> None:
        self.threshold = threshold
        self.smoothing = smoothing
        self.temperature = temperature
        self.priors = priors
        self.calibration_rows = calibration_rows
        self.unlabelled = unlabelled

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing cells are legal."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class MultinomialNaiveBayes(IndependentColumns):
    """The multinomial event model: words drawn one after the other, given how many there are.

    θ_cj = (N_cj + α)/(N_c + αd). Counts may be any non-negative numbers, TF-IDF weights too.

    Parameters
    ----------
    boolean : bool, default False
        Count a word once a row, however often it appears.
    smoothing : float or "held-out", default 1.0
        Pseudo-counts α ≥ 0; 1 is Laplace's rule, 0 its limit; "held-out" chooses α.
    temperature : float or "held-out" or "left-out", optional
        Exponent β > 0 on the likelihood; "held-out" fits it.
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
    BernoulliNaiveBayes : Each word is there or not.
    ComplementNaiveBayes : How unlike the other classes a row is.

    Examples
    --------
    >>> model = MultinomialNaiveBayes().fit([[2, 0], [1, 1], [0, 3]], ["spam", "spam", "ham"])
    >>> model.predict([[1, 0], [0, 0]])
    array(['spam', 'spam'], dtype='<U4')
    """

    learner_kind: ClassVar[type[Learner]] = MultinomialClassifierLearner

    def __init__(
        self,
        boolean: bool = False,
        *,
        smoothing: float | Literal["held-out"] = 1.0,
        temperature: float | Literal["held-out", "left-out"] | None = None,
        priors: Mapping[Label, float] | None = None,
        calibration_rows: int | None = None,
        unlabelled: float | str = "ignore",
    ) -> None:
        self.boolean = boolean
        self.smoothing = smoothing
        self.temperature = temperature
        self.priors = priors
        self.calibration_rows = calibration_rows
        self.unlabelled = unlabelled

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that counts are not negative, and that measurements are no counts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        # Its checks ask for a score on clouds of points: scikit-learn's own say so too.
        tags.classifier_tags.poor_score = True
        return tags


class ComplementNaiveBayes(IndependentColumns):
    """Complement naive Bayes (Rennie et al. 2003): how unlike the other classes a row is.

    A linear form and not a density. It predicts, explains, merges, forgets and has an exact
    leave-one-out; densities, samples, typicality and priors are absent, for there are none.

    Parameters
    ----------
    boolean : bool, default False
        Count a word once a row, however often it appears.
    smoothing : float or "held-out", default 1.0
        Pseudo-counts α ≥ 0; 1 is Laplace's rule, 0 its limit; "held-out" chooses α.
    calibration_rows : int, optional
        Up to 2048 rows to keep, among which `prediction_set` ranks new ones from the model file
        alone.
    unlabelled : float or str, default "ignore"
        Rows without a label: left out; a weight up to 1 for each; or "auto": weight and steps of EM
        by labelled rows left out.

    See Also
    --------
    MultinomialNaiveBayes : The same counts, as probabilities.
    NaiveBayes : Columns of any kind, each with a family of its own.

    Examples
    --------
    >>> X, y = [[2, 0], [1, 1], [0, 3]], ["spam", "spam", "ham"]
    >>> ComplementNaiveBayes().fit(X, y).predict([[1, 0]])
    array(['spam'], dtype='<U4')
    """

    learner_kind: ClassVar[type[Learner]] = ComplementClassifierLearner

    def __init__(
        self,
        boolean: bool = False,
        *,
        smoothing: float | Literal["held-out"] = 1.0,
        calibration_rows: int | None = None,
        unlabelled: float | str = "ignore",
    ) -> None:
        self.boolean = boolean
        self.smoothing = smoothing
        self.calibration_rows = calibration_rows
        self.unlabelled = unlabelled

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that counts are not negative, and that measurements are no counts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        # Its checks ask for a score on clouds of points: scikit-learn's own say so too.
        tags.classifier_tags.poor_score = True
        return tags
