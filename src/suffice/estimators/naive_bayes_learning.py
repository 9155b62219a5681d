"""How naive Bayes learns: columns read by their families, sums, and one choice of families."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from suffice.columns import Columns, PlainColumns
from suffice.errors import BadSetting, DifferentKinds, SufficeError, listed
from suffice.estimators.batches import Batch, read_batch
from suffice.estimators.column_kinds import check_kinds
from suffice.estimators.learning import Learning
from suffice.estimators.naive_bayes_parameters import Chosen, NaiveBayesParameters
from suffice.estimators.single_rows import moderate
from suffice.estimators.statistics_left_out import LeftOut
from suffice.estimators.weightless import as_given, rows_at
from suffice.models.naive_bayes.families.bernoulli import Bernoulli
from suffice.models.naive_bayes.column_blocks import Blocks
from suffice.rows import read_table
from suffice.rows.sparse import SparseRows
from suffice.rows.tables import table_of_array
from suffice.statistics.folds import Folds
from suffice.statistics.row_sample import WithRows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from suffice.estimators.state import State
    from suffice.models.naive_bayes.product import Product
    from suffice.models.naive_bayes.learner import NaiveBayesLearner
    from suffice.rows import FloatArray, IntArray


class NaiveBayesLearning(NaiveBayesParameters, Learning):
    """What is particular about learning independent columns."""

    _choice_hint = "name the families of these columns in both, then the models can be merged"

    def _open(self, X: object) -> Any:
        """Read rows of whatever kind this estimator takes."""
        return read_table(X)

    def _read(self, X: object, y: object, sample_weight: object, known: State | None) -> Batch:
        return read_batch(X, y, sample_weight, partial(self._matched, known), self._open)

    def _matched(self, known: State | None, table: Any) -> tuple[Any, Any]:
        """Return the schema, and the table with its columns in the order of the schema."""
        if known is not None:
            matched = known.columns.matched(self._as_learned(table), type(self).__name__)
            check_kinds(known, matched)
            return known.columns, matched
        if isinstance(table, SparseRows):
            return PlainColumns(table.width), table
        return Columns.of_kinds(table), table

    def _summary(self, batch: Batch, learner: NaiveBayesLearner) -> Any:
        def summary(rows: Any, codes: IntArray, weights: FloatArray | None) -> Any:
            cut = blocks(learner.product, rows)
            return learner.summarize(cut, codes, batch.labels, weights, _names(batch.columns))

        try:
            return summary(batch.rows, batch.codes, batch.weights)
        except SufficeError as error:
            if batch.places is None:
                raise
            raise as_given(
                error,
                batch.places,
                lambda index: summary(rows_at(batch.rows, index), batch.codes[index], None),
            ) from None

    def _joined(self, left: State, right: State) -> State:
        """Return the state of both; columns that were given other families are named."""
        ours, theirs = left.columns, right.columns
        if ours != theirs and ours.names != theirs.names:
            raise DifferentKinds(
                f"the columns are not the same: {listed(ours.names)} and {listed(theirs.names)}",
                hint="merge what was learned from the same columns, in the same order",
            )
        if left.chosen != right.chosen:
            said = left.chosen.product.differences(right.chosen.product, ours.names)
            raise DifferentKinds(f"the families differ: {said}", hint=self._choice_hint)
        _check_collected_alike(left.statistics, right.statistics)
        return super()._joined(left, right)

    def _merged(self, left: State, right: State) -> tuple[Any, Any]:
        return left.columns, left.statistics + right.statistics

    def _forgetting(self, state: State) -> Callable[[Any], Any]:
        learner = self._learner(state.chosen)

        def forget(gone: Any) -> Any:
            _check_collected_alike(state.statistics, gone)
            return learner.forget(state.statistics, gone, names=state.columns.names)

        return forget

    def _single_rows(
        self, state: State, learner: NaiveBayesLearner
    ) -> Callable[[FloatArray], bool] | None:
        product = learner.product
        kept = isinstance(state.statistics, (Folds, WithRows))
        if not state.columns.is_plain or learner.keeps_folds or learner.keeps_rows or kept:
            return None
        simple = all(family.name.endswith("gaussian") for family in product.families)
        if simple:
            return moderate

        def fits(row: FloatArray) -> bool:
            if not moderate(row):
                return False
            try:
                product.read(table_of_array(row))
            except SufficeError:
                return False
            return True

        return fits


def _check_collected_alike(known: Any, new: Any) -> None:
    """Refuse to add statistics that were collected for another setting of held-out choices."""
    if isinstance(known, LeftOut) or isinstance(new, LeftOut):
        return
    inner = [held.held if isinstance(held, WithRows) else held for held in (known, new)]
    for name, ours, theirs in (
        ("temperature", isinstance(known, WithRows), isinstance(new, WithRows)),
        ("smoothing", isinstance(inner[0], Folds), isinstance(inner[1], Folds)),
    ):
        if ours != theirs:
            told = 'is "held-out" now and was not' if theirs else 'is not "held-out" now but was'
            raise BadSetting(
                f"{name} {told} when the rows were read: other statistics were collected",
                hint=f"set {name} as it was, or fit again",
            )


def blocks(
    product: Product,
    table: Any,
    *,
    learning: bool = True,
    chosen: Callable[[], Collection[int]] | None = None,
) -> Blocks:
    """Return rows as read, cut into blocks."""
    if isinstance(table, SparseRows):
        family = product.families[0]
        if isinstance(family, Bernoulli):
            family.check_sparse()
        return Blocks((table,))
    return product.read(table, learning=learning, chosen=chosen)


def _names(columns: Any) -> Any:
    return columns.names if columns.named else None


def chosen_for(product: Product, asked: Any) -> Chosen:
    """Return a choice together with a copy of what asked for it."""
    return Chosen(product, dict(asked) if hasattr(asked, "items") else asked)
