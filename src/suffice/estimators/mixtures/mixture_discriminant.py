"""Classes that are made of several: a mixture of normal components for each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from suffice.estimators.statistics_classifier import StatisticsClassifier
from suffice.learning.learners.mixture_discriminant import MixtureDiscriminantLearner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice.estimators.setting_types import Covariance
    from suffice.learning.learner import Learner
    from suffice.learning.results import Explanation
    from suffice.rows import FloatArray, Label


class MixtureDiscriminant(StatisticsClassifier):
    """Classes that are mixtures of normal components, one mixture for each (MDA, MclustDA).

    For classes that come in several kinds: subspecies, dialects, ways of being ill. Blanks and
    weights are welcome; rows come from an array or a frame of numbers.

    Parameters
    ----------
    components : int, dict or "auto", default "auto"
        How many components each class has: a number, {class: number} (others have one), or
        "auto": 1 to 5 by `criterion`.
    covariance : str, default "auto"
        The form of their covariances: one of mclust's fourteen (EII … VVV), our words for them
        ("shared" is EEE, "per-class" VVV, …), or "auto": the form of least BIC.
    shared : bool, default False
        False: every class has a form, and volumes, shapes and axes, of its own (MclustDA). True:
        the form holds for the components of all classes together; "EEE" is then one covariance
        for all of them, as in Hastie and Tibshirani's MDA.
    priors : dict, optional
        {class: probability}; None is the class frequencies.
    prior : bool, default False
        Whether components are kept from collapsing by the prior of Fraley and Raftery (2007) even
        where none does.
    tol : float, default 1e-08
        EM ends when less than this is still to be gained, per row.
    max_iter : int, default 1000
        Steps of EM, at most.
    random_state : int, default 0
        Seed of the starts; the order of rows plays no part.
    criterion : {"bic", "left-out"}, default "bic"
        By what "auto" chooses numbers of components: "left-out" is the log-loss of rows that are
        left out by five folds, classes being fitted anew without them; it takes five times as long.
        The form is chosen by BIC in either case.
    factors : int or "auto", optional
        Covariances explained by so many common factors and a variance of each column's own, for
        many columns: of each component its own ("per-class"), one for all ("shared"), or the
        better of both ("auto"). "auto" factors: 0 to 4, by BIC.

    Attributes
    ----------
    classes_ : ndarray (k,)
        The labels, in order.
    components_ : dict
        How many components each class has.
    covariance_forms_ : dict
        The form of each class's covariances, in mclust's three letters.
    log_likelihood_ : float
        Σ log p(x | y) over the rows of the fit.
    n_parameters_ : int
        How many free numbers the laws of the classes have.
    bic_ : float
        -2 log-likelihood + parameters·log n: less is better.

    See Also
    --------
    GaussianDiscriminant : One normal law for each class, made of sums.
    GaussianMixture : The same where nobody knows the classes.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> inner = rng.normal(0.0, 0.5, size=(80, 1))
    >>> outer = np.concatenate([rng.normal(-4, 0.5, (40, 1)), rng.normal(4, 0.5, (40, 1))])
    >>> y = ["inner"] * 80 + ["outer"] * 80
    >>> model = MixtureDiscriminant().fit(np.concatenate([inner, outer]), y)
    >>> model.components_
    {'inner': 1, 'outer': 2}
    >>> print(*model.predict([[-4.2], [0.3], [3.9]]))
    outer inner outer
    """

    learner_kind: ClassVar[type[Learner]] = MixtureDiscriminantLearner

    def __init__(
        self,
        components: int | Literal["auto"] | Mapping[Label, int] = "auto",
        covariance: Covariance = "auto",
        *,
        shared: bool = False,
        priors: Mapping[Label, float] | None = None,
        prior: bool = False,
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: int = 0,
        criterion: Literal["bic", "left-out"] = "bic",
        factors: int | Literal["auto"] | None = None,
    ) -> None:
        self.components = components
        self.covariance = covariance
        self.shared = shared
        self.priors = priors
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.criterion = criterion
        self.factors = factors

    def fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:  # type: ignore[override]
        """Learn from rows (n, d) and labels (n,), forgetting everything learned before.

        A weight of 2 is two rows. The order of rows makes no difference.
        """
        return self._fit_here(self.as_learner(), X, y, sample_weight)

    def partial_fit(  # type: ignore[override]
        self,
        X: object,
        y: object = None,
        classes: object = None,  # noqa: ARG002  scikit-learn's callers pass it
        sample_weight: object = None,
    ) -> Self:
        """Learn from more rows, by stepwise EM: each goes by once; `classes` is never needed.

        The first thousand rows of a class (more where there are many columns or components) are
        held, and a mixture is fitted to them; then some hundred at a time make a step. A label
        never seen before is a new class. After `fit`, it goes on from there.
        """
        return self._learn_more(X, y, sample_weight, here=True)

    def sample(
        self,
        n: int = 1,
        y: Label | None = None,
        random_state: object = None,
        within: object = "auto",
    ) -> tuple[Any, NDArray[Any]]:
        """Draw n rows and their labels: a class, one of its components, a row of that.

        With `y`, of that class only. Rows come as they were given: a frame, or an array (n, d).
        `within` keeps numbers to what columns have shown, as in `GaussianDiscriminant.sample`.
        """
        return self._now().sample(n, y, random_state, within)  # type: ignore[no-any-return]

    def typicality(self, X: object) -> FloatArray:
        """Return, per class, how often a draw of the class is no more likely than the row (n, k).

        Small everywhere: the row belongs to none of the classes. By 9,999 draws from the fitted
        mixtures, the same every time; what their parameters may be off is not counted.
        """
        return self._now().typicality(X)  # type: ignore[no-any-return]

    def explain(
        self, X: object, of: Label | None = None, against: Label | None = None
    ) -> Explanation:
        """Split the log odds of every row by column.

        Of each of two classes the component that the row is likeliest of is compared, as normal
        classes are; what the other components add is part of the baseline. By default the
        predicted class is compared with the runner-up.
        """
        return self._now().explain(X, of, against)  # type: ignore[no-any-return]

    def component_probabilities(self, X: object) -> dict[Label, FloatArray]:
        """Return, for every class, p(component | x, class) of each row (n, components)."""
        learned = self._now()
        laws = learned.kept.laws
        scores = learned.asked(X, laws.component_scores)
        found: dict[Label, FloatArray] = {}
        for k, label in enumerate(learned.labels):
            own = scores[:, laws.owners == k]
            top = own.max(axis=1, keepdims=True)
            shares = np.exp(own - np.where(np.isfinite(top), top, 0.0))
            total = shares.sum(axis=1, keepdims=True)
            # Beyond all squares nothing is known: every component may have been it.
            even = np.full_like(shares, 1.0 / shares.shape[1])
            found[label] = np.where(total > 0.0, shares / np.where(total > 0.0, total, 1.0), even)
        return found

    # What was learned

    @property
    def components_(self) -> dict[Label, int]:
        """How many components each class has."""
        learned = self._now()
        counts = np.bincount(learned.kept.laws.owners, minlength=len(learned.labels))
        return {label: int(n) for label, n in zip(learned.labels, counts, strict=True)}

    @property
    def covariance_forms_(self) -> dict[Label, str]:
        """The form of each class's covariances, in mclust's three letters."""
        learned = self._now()
        return dict(zip(learned.labels, learned.kept.forms, strict=True))

    def _of_components(self, values: FloatArray) -> dict[Label, FloatArray]:
        learned = self._now()
        owners = learned.kept.laws.owners
        return {label: values[owners == k] for k, label in enumerate(learned.labels)}

    @property
    def means_(self) -> dict[Label, FloatArray]:
        """The means of each class's components, (components, d)."""
        return self._of_components(self._now().kept.laws.components.class_means)

    @property
    def covariances_(self) -> dict[Label, FloatArray]:
        """The covariances of each class's components, (components, d, d)."""
        laws = self._now().kept.laws
        found = laws.components.covariances
        return self._of_components(np.broadcast_to(found, (len(laws.owners), *found.shape[1:])))

    @property
    def weights_(self) -> dict[Label, FloatArray]:
        """The share of each component in its class, (components,)."""
        return self._of_components(self._now().kept.laws.mixing.max(axis=0))

    @property
    def log_likelihood_(self) -> float:
        """Σ log p(x | y) over the rows of the fit."""
        return float(self._now().kept.log_likelihood)

    @property
    def n_parameters_(self) -> int:
        """How many free numbers the laws of the classes have; priors are not counted."""
        return int(self._now().kept.parameters)

    @property
    def bic_(self) -> float:
        """-2 log-likelihood + parameters·log n: less is better."""
        weight = float(self._now().kept.weights.sum())
        return -2.0 * self.log_likelihood_ + self.n_parameters_ * float(np.log(weight))

    @property
    def converged_(self) -> bool:
        """Whether EM came to its end within `max_iter` steps, in every class."""
        return bool(self._now().kept.converged)

    @property
    def n_iter_(self) -> int:
        """How many steps EM took, in the class that took most."""
        return max(1, int(self._now().kept.steps))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing cells are legal."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
