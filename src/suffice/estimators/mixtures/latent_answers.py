"""What hidden classes say about rows; nothing here learns anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting, ColumnMismatch, NotANumber
from suffice.estimators.multivariate_normal_columns import part, place
from suffice.learning.learners.naive_bayes_answers import rows_given_back
from suffice.learning.randomness import random_generator
from suffice.linear_algebra import log_sum_exp
from suffice.models.latent.cells import filled, part_of_product, part_of_statistics
from suffice.models.latent.profiles import profiles_of
from suffice.models.latent.rows import with_a_cell
from suffice.rows import read_weights
from suffice.rows.cells import BOOLEAN, NUMBER
from suffice.rows.tables import table_of_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.learning.learners.naive_bayes_answers import LearnedColumns
    from suffice.learning.results import Explanation
    from suffice.models.latent.record import LatentRecord
    from suffice.rows import FloatArray, IntArray


class LatentAnswers:
    """Classes, probabilities, cells and draws."""

    if TYPE_CHECKING:

        def _require(self) -> tuple[LearnedColumns, LatentRecord]: ...

        def _part_of(self, learned: LearnedColumns) -> object: ...

    # How it was learned

    @property
    def converged_(self) -> bool:
        """Whether EM came to its end within `max_iter` steps."""
        return self._require()[1].converged

    @property
    def n_iter_(self) -> int:
        """How many steps EM took over all rows."""
        return max(1, len(self._require()[1].history))

    @property
    def history_(self) -> FloatArray:
        """The log-likelihood at every step, and the log prior where there is one: never falling."""
        return np.array(self._require()[1].history)

    @property
    def log_likelihood_(self) -> float:
        """The log-likelihood of the rows that it was fitted to."""
        found = self._require()[1].log_likelihood
        if not np.isfinite(found):
            raise AttributeError("these classes were not fitted to rows that were all seen at once")
        return found

    @property
    def n_parameters_(self) -> int:
        """How many free numbers it has: what BIC and AIC count."""
        return self._require()[1].parameters

    # Classes

    def predict(self, X: object) -> IntArray:
        """Return the likeliest class of each row (n,)."""
        found: IntArray = self._require()[0].predict(X)
        return found

    def predict_proba(self, X: object) -> FloatArray:
        """Return p(class | row) (n, k); of a row without any cell, the shares of the classes."""
        return self._require()[0].posterior(X)

    def uncertainty(self, X: object) -> FloatArray:
        """Return 1 - max p(class | row) of each row: 0 where a row is surely of one."""
        logs = self._require()[0].posterior(X, log=True)
        best = logs.argmax(axis=1)
        others = np.exp(logs)
        others[np.arange(len(others)), best] = 0.0  # 1 - p would lose the digits of small ones
        return np.asarray(others.sum(axis=1))

    # Probabilities

    def score_samples(self, X: object) -> FloatArray:
        """Return log p(row); 0 for a row without any cell, -inf for one that is impossible."""
        return self._require()[0].log_density(X)

    def score(self, X: object, y: object = None, sample_weight: object = None) -> float:  # noqa: ARG002
        """Return the mean of log p(row), by weight."""
        found = self.score_samples(X)
        weights = read_weights(sample_weight, len(found))
        if weights is not None:
            found, weights = found[weights > 0.0], weights[weights > 0.0]
        return float(np.average(found, weights=weights))

    def _criterion(
        self, X: object, sample_weight: object, per_parameter: float | None, *, icl: bool = False
    ) -> float:
        learned, record = self._require()
        if not record.parameters:
            raise BadSetting(
                "classes of some columns were not fitted themselves: their parameters are not "
                "counted",
                hint="ask the model that they were made from",
            )

        def answer(rows: Any) -> Any:
            return with_a_cell(rows), learned.model.log_joint(rows)

        there, joint = learned.asked(X, answer)
        weights = read_weights(sample_weight, len(joint))
        held = there.astype(np.float64) if weights is None else np.where(there, weights, 0.0)
        logs, counted = log_sum_exp(joint), held > 0.0
        cost = float(np.log(held.sum())) if per_parameter is None else per_parameter
        value = float(-2.0 * (held[counted] @ logs[counted]) + record.parameters * cost)
        if icl:
            sure = joint[counted].max(axis=1) - logs[counted]
            value -= 2.0 * float(held[counted] @ sure)
        return value

    def bic(self, X: object, sample_weight: object = None) -> float:
        """Return -2 log-likelihood + parameters·log n: less is better; n is of rows with a cell."""
        return self._criterion(X, sample_weight, None)

    def aic(self, X: object, sample_weight: object = None) -> float:
        """Return -2 log-likelihood + 2·parameters: less is better."""
        return self._criterion(X, sample_weight, 2.0)

    def icl(self, X: object, sample_weight: object = None) -> float:
        """Return BIC - 2Σ log max p(class | row): less is better, and overlap costs."""
        return self._criterion(X, sample_weight, None, icl=True)

    def typicality(self, X: object) -> FloatArray:
        """Return, per class, how probable it is that a row of it is no likelier (n, k).

        Small everywhere: the row belongs to none of them. Approximate: which rows are of a class
        is not known, and each counts by its p(class | row).
        """
        return self._require()[0].typicality(X)

    # Draws and cells

    def sample(
        self,
        n_samples: int = 1,
        random_state: object = None,
        component: int | None = None,
        within: object = "auto",
    ) -> tuple[Any, IntArray]:
        """Return rows drawn from the classes, or of one, as they were given, and whose each is.

        `within` keeps numbers to what columns have shown, as in `NaiveBayes.sample`.
        """
        return self._require()[0].sample(n_samples, component, random_state, within=within)

    def impute(self, X: object, draws: int | None = None, random_state: object = None) -> Any:
        """Return rows with blanks as expected; with `draws`, that many tables drawn.

        A number is the mean over the classes, by p(class | the cells that are there); a level is
        the likeliest. A column that was blank in all rows of the fit stays blank.
        """
        learned, _ = self._require()
        many: Any = draws
        whole = isinstance(many, int | np.integer) and not isinstance(many, bool)
        if many is not None and (not whole or many < 0):
            raise BadSetting(
                f"cannot make draws={draws!r} tables", hint="use a whole number, or None"
            )
        rng = random_generator(random_state)
        product, columns = learned.learner.chosen.product, learned.columns

        def answer(rows: Any) -> Any:
            each = [None] if draws is None else [rng] * int(draws)
            tables = [filled(learned.model, rows, one) for one in each]
            return [
                rows_given_back(one, product, columns, learned.frame, dated=learned.dated)
                for one in tables
            ]

        found = learned.asked(X, answer)
        return found[0] if draws is None else found

    # Parts

    def marginal(self, columns: Sequence[str | int] | str | int) -> Any:
        """Return the same classes over some columns, by name or position."""
        learned, _ = self._require()
        alone = isinstance(columns, str | int | np.integer)
        asked: list[object] = [columns] if alone else list(columns)  # type: ignore[arg-type]
        return self._of_columns(sorted({place(learned.columns, one) for one in asked}), None)

    def conditional(self, given: Mapping[object, object]) -> Any:
        """Return the classes over the other columns when some cells are known.

        Columns are independent within a class, so their laws stay; the shares of the classes
        become those of rows with these cells.

        >>> from suffice import LatentClasses
        >>> rows = [["a", 1.5]] * 30 + [["b", 7.5]] * 20 + [["a", 1.0], ["b", 7.0]]
        >>> model = LatentClasses(2, "auto").fit(rows)
        >>> model.weights_.round(2), model.conditional({0: "a"}).weights_.round(2)
        (array([0.6, 0.4]), array([0.97, 0.03]))
        """
        learned, _ = self._require()
        if not isinstance(given, Mapping):
            raise BadSetting(
                f"given={given!r} does not say which column has which value",
                hint="use a dictionary, such as {'colour': 'red'} or {0: 180.0}",
            )
        known: dict[int, object] = {}
        for column, value in given.items():
            j = place(learned.columns, column)
            if j in known:
                said = f"{learned.columns.names[j]} is given twice"
                raise ColumnMismatch(said, hint="name each column once")
            known[j] = value
        others = [j for j in range(len(learned.columns.columns)) if j not in known]
        if not known:
            return self
        if not others:
            raise BadSetting(
                "every column is given: no column is left",
                hint="predict_proba gives the classes of such a row",
            )
        kinds = [getattr(one, "kind", NUMBER) for one in learned.columns.columns]
        names = learned.columns.names
        cells = [_cell(known.get(j), kind, names[j]) for j, kind in enumerate(kinds)]
        named = names if learned.columns.named else None
        posterior = learned.posterior(table_of_columns(cells, named, (None,) * len(kinds)))[0]
        return self._of_columns(others, posterior)

    def _of_columns(self, chosen: Sequence[int], shares: FloatArray | None) -> Any:
        learned, _ = self._require()
        product = learned.learner.chosen.product
        some = part_of_product(product, chosen)
        statistics = part_of_statistics(learned.statistics, product, chosen)
        learner: Any = learned.learner
        if shares is not None:
            given = dict(zip(statistics.labels, shares.tolist(), strict=True))
            learner = learner.with_shares(given)
        learner = learner.deciding(learner.restored_choice({"product": some, "asked": "auto"}))
        columns = part(learned.columns, chosen)
        return self._part_of(learner.of_classes(columns, statistics, learned.frame))

    # What sets classes apart

    def profiles(self) -> list[list[dict[str, Any]]]:
        """Return, class by class, how each column differs from the other classes, telling first.

        `distance` goes from 0, the same, to 1, nothing in common (total variation); then the level
        whose share differs most and its shares, or the means, in the class and in the others.
        """
        learned, _ = self._require()
        model, columns = learned.model, learned.columns
        kinds = [getattr(one, "kind", "number") for one in columns.columns]
        found = []
        for code in range(len(model.labels)):
            own = []
            for one in profiles_of(model, code):
                entry = {"column": columns.names[one.column], **one._asdict()}
                entry["column"] = columns.names[one.column]
                if kinds[one.column] == BOOLEAN and one.level is not None:
                    entry["level"] = bool(one.level)
                own.append(entry)
            found.append(own)
        return found

    def explain(self, X: object, of: int | None = None, against: int | None = None) -> Explanation:
        """Split the log odds of two classes of every row by column.

        By default the likeliest is compared with the second; `of` and `against` name others.
        """
        return self._require()[0].explain(X, of, against)


def _cell(value: Any, kind: str, name: str) -> tuple[str, Any]:
    """Return a cell that is known, or a blank, as a column of one row."""
    if kind != NUMBER:
        cell = np.empty(1, dtype=object)
        cell[0] = value
        return kind, cell
    try:
        return kind, np.array([np.nan if value is None else float(value)])
    except (TypeError, ValueError):
        raise NotANumber(
            f"{name} is given as {value!r}, which is not a number", hint="give a real number"
        ) from None
