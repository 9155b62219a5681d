"""Many small models of one table, and one answer: the linear pool."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from suffice.columns import Columns
from suffice.columns.given_kinds import of_kinds, refuse_infinite_cells
from suffice.errors import (
    Approximation,
    BadSetting,
    DifferentKinds,
    NotFinite,
    listed,
    meant,
    warn,
)
from suffice.estimators.shared.answers import Predictions, comparison
from suffice.estimators.shared.labelled_batch import LabelledBatch, read_batch
from suffice.estimators.shared.learning import Learning
from suffice.estimators.shared.results import Explanation
from suffice.models.pool.explanation import explain_pool
from suffice.models.pool.learner import PoolFit, PoolLearner, row_hashes
from suffice.models.pool.members import MEMBERS
from suffice.places import Phrase, RowAt
from suffice.rows import BOOLEAN, is_sparse, read_table
from suffice.statistics.row_sample import END, MOST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from suffice.estimators.shared.state import State
    from suffice.rows import Label, Table

AUTO = "auto"
"""All members."""
ALL_BLANK = "all blank"
"""What an explanation calls the part of a row of blanks: it belongs to no column."""


def _no_density(_: object) -> NoReturn:
    raise AttributeError("a pool has posteriors, and no density of rows: see NaiveBayes, GDA")


class Pool(Learning, Predictions, ClassifierMixin, BaseEstimator):
    """p(y | x) = Σ v_m p_m(y | x): the best answer on a small table.

    Members are naive Bayes with four laws a column, GDA as Student-t predictives, logistic
    regression, kernels and a forest of tallies; each averages over its settings instead of choosing
    one. All are judged by rows that they have not seen, and their shares v maximise the
    likelihood of those rows.

    Parameters
    ----------
    members : "auto" or list of str
        Names of members: see `suffice.models.pool.members.MEMBERS`. The class shares are always
        among them.

    Attributes
    ----------
    weights_ : dict
        {member: share in the answer}.
    log_losses_ : dict
        {member: judged log-loss in nats a row}.
    log_loss_, accuracy_ : float
        Judged, of the pool itself.
    left_out_ : tuple of str
        Members that had too many rows, columns or classes for their time, or too few to learn.
    classes_ : (k,)
        The labels, in order.

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

    def __init__(self, members: str | Sequence[str] = AUTO) -> None:
        self.members = members

    # Settings

    def _names(self) -> tuple[str, ...] | None:
        if isinstance(self.members, str) and self.members == AUTO:
            return None
        return (self.members,) if isinstance(self.members, str) else tuple(self.members)

    def _settings_key(self) -> tuple[Any, ...]:
        return (self._names(),)

    def _check_settings(self) -> None:
        try:
            names = self._names()
        except TypeError:
            raise BadSetting(
                f"members={self.members!r:.60} is not known",
                hint=f'"auto", or a list of names: {listed(MEMBERS)}',
            ) from None
        for name in names or ():
            if name not in MEMBERS:
                raise BadSetting(
                    f"there is no member {name!r:.60}",
                    hint=f"{meant(name, MEMBERS)}the members are {listed(MEMBERS)}",
                )
        if names == ():
            raise BadSetting("a pool of no members", hint='name some, or members="auto"')

    def _learner(self, chosen: Any) -> PoolLearner:  # noqa: ARG002
        return PoolLearner(self._names())

    # Learning

    def _open(self, X: object) -> Table:
        if is_sparse(X):
            raise BadSetting(
                "a pool reads dense rows, and these are sparse",
                hint="X.toarray(); for texts and counts MultinomialNaiveBayes or TextClassifier",
            )
        table: Table = read_table(X)
        if isinstance(X, np.ndarray) and X.dtype == np.bool_:
            return replace(table, kinds=(BOOLEAN,) * table.width)
        return table

    def _read(
        self, X: object, y: object, sample_weight: object, known: State | None
    ) -> LabelledBatch:
        return read_batch(X, y, sample_weight, partial(self._matched, known), self._open)

    def _matched(self, known: State | None, table: Any) -> tuple[Any, Any]:
        """Return the schema, and the table with its columns in the order and kinds of it."""
        columns = Columns.of_kinds(table) if known is None else known.columns
        if known is not None:
            table = columns.matched(self._as_learned(table), type(self).__name__)
        return columns, of_kinds(columns, table)

    def _choose(self, batch: LabelledBatch) -> Any:  # noqa: ARG002
        return None

    def _summary(self, batch: LabelledBatch, learner: PoolLearner) -> Any:
        try:
            refuse_infinite_cells(batch.rows, batch.columns.names)
        except NotFinite as error:
            raise error.filled(rows=batch.places) from None
        return learner.summarize(batch.rows, batch.codes, batch.labels, batch.weights)

    def _estimate(self, state: State) -> PoolFit:
        self._check_settings()
        kinds = tuple(column.kind for column in state.columns.columns)
        return self._learner(None).fit(state.statistics, kinds)

    def _merged(self, left: State, right: State) -> tuple[Any, Any]:
        if left.columns != right.columns:
            raise DifferentKinds(
                f"the columns are not the same: {listed(left.columns.names)} and "
                f"{listed(right.columns.names)}, or not of the same kinds",
                hint="merge what was learned from the same columns, in the same order",
            )
        return left.columns, left.statistics + right.statistics

    def _forgetting(self, state: State) -> Callable[[Any], Any]:
        return lambda gone: state.statistics - gone

    def _warn(self, fit: PoolFit) -> None:
        if fit.left_out:
            warn(
                f"left out of the pool, for rows, columns or classes are too many for their time, "
                f"or too few to learn from: {listed(fit.left_out)}",
                Approximation,
            )

    # Files

    def _stored_state(self, statistics: bool) -> dict[str, Any]:
        if not statistics:
            raise BadSetting(
                "a pool answers from the rows that it keeps: they cannot be left out",
                hint="save it with its statistics, or save one model: suffice fit --model best",
            )
        found = super()._stored_state(statistics)
        return found | {"model": replace(found["model"], sample=None)}

    # Answers

    def _rows(self, X: object) -> Table:
        state = self._require()
        table = state.columns.matched(self._as_learned(self._open(X)), type(self).__name__)
        found = of_kinds(state.columns, table)
        refuse_infinite_cells(found, state.columns.names)
        return found

    def _asked(self, X: object, answer: Callable[[Any], Any]) -> Any:
        return answer(self._rows(X))

    def explain(
        self, X: object, of: Label | None = None, against: Label | None = None
    ) -> Explanation:
        """Split the log odds of every row by column: what a column changes when it is filled in.

        A pool is no sum over columns. From a row of blanks the columns are filled in one after the
        other, and a contribution is the change in the log odds, averaged over orders of the columns
        (Shapley's values: all orders of up to three columns, eight fixed ones of more).
        How a row of blanks differs from the class shares stands in a last column, "all blank".
        By default the predicted class is compared with the runner-up.
        """
        whole = self._whole()
        model = whole._fit.model
        pair = comparison(model.labels, of, against)
        found = explain_pool(model, whole._rows(X), pair)
        names = (*whole._require().columns.names, ALL_BLANK)
        classes = whole.classes_
        return Explanation(
            classes[found.of],
            classes[found.against],
            found.baseline,
            found.contributions,
            None,
            names,
        )

    def member_probabilities(self, X: object) -> dict[str, Any]:
        """Return what each member says that has a part in the answer: {name: (n, k)}."""
        whole = self._whole()
        found: dict[str, Any] = whole._fit.model.posteriors(whole._rows(X))
        return found

    def judged_probabilities(self, X: object, y: object) -> Any:
        """Return p(y | x) of rows of the fit (n, k), by members and shares that have not seen them.

        The members learned from other folds, and their shares were found on other folds: so
        `log_loss_` and `accuracy_` are judged. Rows may come in any order, some or all; those that
        say the same were judged together. Of more than 2,048 rows only a sample was judged, and a
        question about others is refused.

        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> pool = Pool(["GDA", "logistic"]).fit(X, y)
        >>> found = pool.judged_probabilities(X, y)
        >>> bool(np.isclose(pool.accuracy_, (found.argmax(axis=1) == y).mean()))
        True
        """
        whole = self._whole()
        state = whole._require()
        sample = state.statistics.sample
        if sample.limit < END:
            raise BadSetting(
                f"of more than {MOST:,} rows a pool judges a sample, and not each",
                hint="log_loss_ and accuracy_ are judged by that sample",
            )
        batch = whole._read(X, y, None, state)
        fit = whole._fit
        if getattr(fit, "judged", None) is None:  # from a file, which holds rows and shares
            fit = whole._estimate(state)
        hashes = row_hashes(batch.rows, batch.codes, batch.labels)
        places = np.minimum(np.searchsorted(fit.hashes, hashes), len(fit.hashes) - 1)
        strange = np.flatnonzero(fit.hashes[places] != hashes)
        if len(strange):
            said = "{row} with its label was not in the fit: it was not judged"
            raise BadSetting(
                Phrase(said, row=RowAt(int(strange[0]))),
                hint="predict_proba answers about new rows",
            )
        return fit.judged[places]

    @property
    def weights_(self) -> dict[str, float]:
        """The share of each member in the answer."""
        model = self._fit.model
        return dict(zip(model.members, model.shares.tolist(), strict=True))

    @property
    def members_(self) -> tuple[str, ...]:
        """The members that were judged."""
        found: tuple[str, ...] = self._fit.model.members
        return found

    @property
    def log_losses_(self) -> dict[str, float]:
        """The judged log-loss of each member, in nats a row."""
        model = self._fit.model
        return dict(zip(model.members, model.log_losses.tolist(), strict=True))

    @property
    def log_loss_(self) -> float:
        """The judged log-loss of the pool: by rows that neither members nor shares have seen."""
        return float(self._fit.model.log_loss)

    @property
    def accuracy_(self) -> float:
        """The judged share of rows whose class the pool names."""
        return float(self._fit.model.accuracy)

    @property
    def left_out_(self) -> tuple[str, ...]:
        """Members with too many rows, columns or classes for their time, or too few to learn."""
        found: tuple[str, ...] = tuple(
            n for n in (self._names() or MEMBERS) if n not in self.members_
        )
        return found

    # What a pool lacks is not there

    log_joint = available_if(_no_density)(Predictions.log_joint)
    log_density = available_if(_no_density)(Predictions.log_density)
    with_priors = available_if(_no_density)(Learning.with_priors)
    vouch = available_if(_no_density)(Learning.vouch)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing cells and categories are legal."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
