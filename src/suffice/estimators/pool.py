"""Many small models of one table, and one answer: their sum and, in part, their product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from suffice.estimators.statistics_classifier import StatisticsClassifier
from suffice.learning.learners.pool import AUTO, PoolClassifierLearner
from suffice.models.pool.members import MEMBERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.learning.learner import Learner
    from suffice.learning.learners.pool import LearnedPool
    from suffice.learning.results import Explanation
    from suffice.rows import Label


class Pool(StatisticsClassifier):
    """A pool of models, (1 - u) Σ v_m p_m(y | x) + u · ∝ Π p_m(y | x)^a_m, for small tables.

    Members are naive Bayes with four laws a column, GDA as Student-t predictives, logistic
    regression, kernels, a forest of tallies and boosted trees; each averages over its settings
    instead of choosing one. All are judged by rows that they have not seen; their shares v in
    a sum and their exponents a in a product are those that suit these rows best. The product has
    two thirds of the answer where there are many rows, and less where there are few.

    Parameters
    ----------
    members : "auto" or list of str
        Names of members: see `suffice.models.pool.members.MEMBERS`. The class shares are always
        among them.
    texts : "auto" or list of str or int or dict
        Columns of texts, by name or position; "auto" takes those whose cells have several words
        each and are nearly all different, [] none. A dict says by what each is read, "words" or
        "bytes": {"message": "bytes"}; of others rows that are left out decide. No member reads
        them: what a text says multiplies what the members say of all other columns, believed as far
        as rows that neither has seen bear out.

    Attributes
    ----------
    weights_ : dict
        {member: share in the sum}.
    exponents_ : dict
        {member: exponent in the product}; 0 of members that do not answer.
    log_losses_ : dict
        {member: judged log-loss in nats a row}.
    log_loss_, accuracy_ : float
        Judged, of the pool itself, with what texts say.
    texts_ : dict
        {column of texts: how far it is believed}, the factor of its words' (or bytes') log odds.
    readings_ : dict
        {column of texts: "words" or "bytes"}, by which it is read.
    left_out_ : tuple of str
        Members that had too many rows, columns or classes for their time, or too few to learn.
    classes_ : (k,)
        The labels, in order.

    See Also
    --------
    compare : Whether a single model is better, and which.

    Notes
    -----
    Rows may be frames with text, blanks and booleans; nothing has to be prepared. A pool keeps a
    sample of at most 2,048 rows, also in its file: with fewer rows it learns, merges and forgets
    exactly, as if fitted anew. It has no density: typicality and samples are for GDA and naive
    Bayes.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> pool = Pool().fit(X[::2], y[::2])
    >>> round(pool.score(X[1::2], y[1::2]), 2) >= 0.95
    True
    >>> round(sum(pool.weights_.values()), 6)
    1.0
    """

    learner_kind: ClassVar[type[Learner]] = PoolClassifierLearner

    if TYPE_CHECKING:

        def _now(self) -> LearnedPool: ...

    def __init__(
        self,
        members: str | Sequence[str] = AUTO,
        texts: str | Sequence[str | int] | Mapping[str | int, str] = AUTO,
    ) -> None:
        self.members = members
        self.texts = texts

    # Answers

    def explain(
        self, X: object, of: Label | None = None, against: Label | None = None
    ) -> Explanation:
        """Split the log odds of every row by column: what a column changes when it is filled in.

        A pool is not a sum over columns. From a row of blanks the columns are filled in one
        after the other, and a contribution is the change in the log odds, averaged over orders
        of the columns (Shapley's values: all orders of up to three columns, eight fixed ones of
        more). How a row of blanks differs from the class shares stands in a last column, "all
        blank". By default the predicted class is compared with the runner-up.
        """
        return self._now().explain(X, of, against)

    def member_probabilities(self, X: object) -> dict[str, Any]:
        """Return what each member says that has a part in the answer: {name: (n, k)}.

        Of columns of texts members know nothing.
        """
        learned = self._now()
        found: dict[str, object] = learned.model.posteriors(learned.rows(X))
        return found

    def judged_probabilities(self, X: object, y: object) -> Any:
        """Return p(y | x) of rows of the fit (n, k), by members and shares that have not seen them.

        The members learned from other folds, and their shares were found on other folds: so
        `log_loss_` and `accuracy_` are judged. Rows may come in any order, some or all; those that
        say the same were judged together. Of more than 2,048 rows only a sample was judged, and a
        question about others is refused.

        >>> import numpy as np
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> pool = Pool(["GDA", "logistic"]).fit(X, y)
        >>> found = pool.judged_probabilities(X, y)
        >>> bool(np.isclose(pool.accuracy_, (found.argmax(axis=1) == y).mean()))
        True
        """
        return self._now().judged(X, y)

    @property
    def weights_(self) -> dict[str, float]:
        """The share of each member in the sum."""
        model = self._now().model
        return dict(zip(model.members, model.shares.tolist(), strict=True))

    @property
    def exponents_(self) -> dict[str, float]:
        """The exponent of each member in the product.

        All are 0 in pools of older files, whose answer is the sum alone.
        """
        model = self._now().model
        return dict(zip(model.members, model.all_exponents.tolist(), strict=True))

    @property
    def texts_(self) -> dict[str, float]:
        """How far each column of texts is believed; nothing where there is none."""
        learned = self._now()
        beside, names = learned.model.texts, learned.columns.names
        if beside is None:
            return {}
        pairs = zip(beside.places, beside.factors.tolist(), strict=True)
        return {names[place]: factor for place, factor in pairs}

    @property
    def readings_(self) -> dict[str, str]:
        """By what each column of texts is read; nothing where there is none."""
        learned = self._now()
        beside, names = learned.model.texts, learned.columns.names
        if beside is None:
            return {}
        return {names[place]: how for place, how in zip(beside.places, beside.read_by, strict=True)}

    @property
    def members_(self) -> tuple[str, ...]:
        """The members that were judged."""
        found: tuple[str, ...] = self._now().model.members
        return found

    @property
    def log_losses_(self) -> dict[str, float]:
        """The judged log-loss of each member, in nats a row."""
        model = self._now().model
        return dict(zip(model.members, model.log_losses.tolist(), strict=True))

    @property
    def log_loss_(self) -> float:
        """The judged log-loss of the pool: by rows that neither members nor shares have seen."""
        return float(self._now().model.log_loss)

    @property
    def accuracy_(self) -> float:
        """The judged share of rows whose class the pool names."""
        return float(self._now().model.accuracy)

    @property
    def left_out_(self) -> tuple[str, ...]:
        """Members with too many rows, columns or classes for their time, or too few to learn."""
        found: tuple[str, ...] = tuple(
            n for n in (self._now().learner.names or MEMBERS) if n not in self.members_
        )
        return found

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing cells and categories are legal."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
