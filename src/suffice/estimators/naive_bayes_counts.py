"""Naive Bayes for arrays and sparse counts: one family for all columns."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from suffice.engines.uneven_blocks import read_sparse_rows
from suffice.errors import BadSetting, NotADensity
from suffice.estimators.naive_bayes_answers import NaiveBayesAnswers
from suffice.estimators.naive_bayes_learning import NaiveBayesLearning, chosen_for
from suffice.models.naive_bayes.families.bernoulli import Bernoulli
from suffice.models.naive_bayes.families.complement import Complement
from suffice.models.naive_bayes.families.multinomial import Multinomial
from suffice.models.naive_bayes.product import Product
from suffice.rows import read_table
from suffice.rows.sparse import is_sparse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.estimators.naive_bayes_learning import Chosen
    from suffice.estimators.shared.labelled_batch import LabelledBatch
    from suffice.models.label_shift import LabelShift
    from suffice.models.naive_bayes.families.protocol import ColumnFamily
    from suffice.rows import FloatArray, Label


class CountNaiveBayes(NaiveBayesLearning, NaiveBayesAnswers):
    """One family for all columns, dense or sparse; sparse rows are neither copied nor filled."""

    @abstractmethod
    def _family(self) -> ColumnFamily:
        """Return the settings as a family, checked."""

    def _families(self) -> Any:
        return self._family()

    def _check_settings(self) -> None:
        super()._check_settings()
        self._family()

    def _open(self, X: object) -> Any:
        return read_sparse_rows(X) if is_sparse(X) else read_table(X)

    def _choose(self, batch: LabelledBatch) -> Chosen:
        family = self._family()
        return chosen_for(Product((family,), (range(batch.rows.width),)), family)

    @property
    def feature_log_prob_(self) -> FloatArray:
        """The log parameter of every class and column, (k, d), as scikit-learn calls it."""
        law: Any = self._fit.model.laws[0]
        found: FloatArray = law.log_parameters
        return found

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what may come: sparse rows."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


class BernoulliNaiveBayes(CountNaiveBayes, ClassifierMixin, BaseEstimator):
    """The multivariate Bernoulli event model: each column is there or not.

    | setting     | default | meaning                                                        |
    |-------------|---------|----------------------------------------------------------------|
    | threshold   | 0.0     | cells above it count as 1, others as 0                         |
    | smoothing   | 1.0     | α ≥ 0; 1 is Laplace's rule, 0 its limit; "held-out" chooses α  |
    | temperature | None    | β > 0, an exponent on the likelihood; "held-out" fits it       |
    | priors      | None    | {label: probability}; None is the class frequencies            |

    φ_cj = (N_cj + α)/(n_c + 2α), and a word that is absent counts as well. Missing cells of
    dense rows are skipped.

    >>> model = BernoulliNaiveBayes().fit([[1, 0], [1, 1], [0, 1]], ["spam", "spam", "ham"])
    >>> model.parameters_["x0"]
    {'ham': {'probability': 0.333...}, 'spam': {'probability': 0.75}}
    """

    def __init__(
        self,
        threshold: float = 0.0,
        *,
        smoothing: float | str = 1.0,
        temperature: float | str | None = None,
        priors: Mapping[Label, float] | None = None,
    ) -> None:
        self.threshold = threshold
        self.smoothing = smoothing
        self.temperature = temperature
        self.priors = priors

    def _family(self) -> Bernoulli:
        return Bernoulli(self.threshold)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing cells are legal."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class MultinomialNaiveBayes(CountNaiveBayes, ClassifierMixin, BaseEstimator):
    """The multinomial event model: words drawn one after the other, given how many there are.

    | setting     | default | meaning                                                        |
    |-------------|---------|----------------------------------------------------------------|
    | boolean     | False   | count a word once a row, however often it appears              |
    | smoothing   | 1.0     | α ≥ 0; 1 is Laplace's rule, 0 its limit; "held-out" chooses α  |
    | temperature | None    | β > 0, an exponent on the likelihood; "held-out" fits it       |
    | priors      | None    | {label: probability}; None is the class frequencies            |

    θ_cj = (N_cj + α)/(N_c + αd). Counts may be any non-negative numbers, TF-IDF weights too.

    >>> model = MultinomialNaiveBayes().fit([[2, 0], [1, 1], [0, 3]], ["spam", "spam", "ham"])
    >>> model.predict([[1, 0], [0, 0]])
    array(['spam', 'spam'], dtype='<U4')
    """

    def __init__(
        self,
        boolean: bool = False,
        *,
        smoothing: float | str = 1.0,
        temperature: float | str | None = None,
        priors: Mapping[Label, float] | None = None,
    ) -> None:
        self.boolean = boolean
        self.smoothing = smoothing
        self.temperature = temperature
        self.priors = priors

    def _family(self) -> Multinomial:
        return Multinomial(_truth(self.boolean))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that counts are not negative, and that measurements are no counts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        # Its checks ask for a score on clouds of points: scikit-learn's own say so too.
        tags.classifier_tags.poor_score = True
        return tags


class ComplementNaiveBayes(CountNaiveBayes, ClassifierMixin, BaseEstimator):
    """Complement naive Bayes (Rennie et al. 2003): how unlike the other classes a row is.

    | setting   | default | meaning                                                        |
    |-----------|---------|----------------------------------------------------------------|
    | boolean   | False   | count a word once a row, however often it appears              |
    | smoothing | 1.0     | α ≥ 0; 1 is Laplace's rule, 0 its limit; "held-out" chooses α  |

    A linear form and not a density. It predicts, explains, merges, forgets and has an exact
    leave-one-out; densities, samples, typicality and priors are refused, for there are none.

    >>> X, y = [[2, 0], [1, 1], [0, 3]], ["spam", "spam", "ham"]
    >>> ComplementNaiveBayes().fit(X, y).predict([[1, 0]])
    array(['spam'], dtype='<U4')
    """

    def __init__(self, boolean: bool = False, *, smoothing: float | str = 1.0) -> None:
        self.boolean = boolean
        self.smoothing = smoothing

    def _family(self) -> Complement:
        return Complement(_truth(self.boolean))

    def _has_fixed_priors(self) -> bool:
        return True  # all alike: they are no part of the scores

    @property
    def priors_(self) -> FloatArray:
        """Refused: the scores hold no priors."""
        raise AttributeError(str(NotADensity.of("priors")))

    def log_joint(self, X: object) -> NoReturn:  # noqa: ARG002
        """Refuse: there is no density."""
        raise NotADensity.of("log joint density")

    def log_density(self, X: object) -> NoReturn:  # noqa: ARG002
        """Refuse: there is no density."""
        raise NotADensity.of("log density")

    def typicality(self, X: object, y: object = None, sample_weight: object = None) -> NoReturn:  # noqa: ARG002
        """Refuse: there is no density."""
        raise NotADensity.of("typicality")

    def sample(
        self,
        n: int = 1,  # noqa: ARG002
        y: Label | None = None,  # noqa: ARG002
        random_state: object = None,  # noqa: ARG002
        lengths: object = None,  # noqa: ARG002
    ) -> NoReturn:
        """Refuse: there is nothing to draw from."""
        raise NotADensity.of("samples")

    def with_priors(self, priors: Mapping[Label, float]) -> Self:  # noqa: ARG002
        """Refuse: there is no density for priors to multiply."""
        raise NotADensity.of("priors")

    def estimate_priors(self, X: object) -> LabelShift:  # noqa: ARG002
        """Refuse: there is no density."""
        raise NotADensity.of("priors to estimate")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that counts are not negative, and that measurements are no counts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        # Its checks ask for a score on clouds of points: scikit-learn's own say so too.
        tags.classifier_tags.poor_score = True
        return tags


def _truth(boolean: object) -> bool:
    """Return whether words count once, or refuse what is neither yes nor no."""
    if not isinstance(boolean, (bool, np.bool_)):
        raise BadSetting(
            f"boolean={boolean!r} is neither True nor False",
            hint="True counts a word once a row, False as often as it appears",
        )
    return bool(boolean)
