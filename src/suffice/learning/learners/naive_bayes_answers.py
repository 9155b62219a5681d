"""What a fitted naive Bayes answers about rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns import PlainColumns
from suffice.errors import BadRows, BadSetting, SufficeError
from suffice.learning.answers import LearnedDensity, checked_size, comparison
from suffice.learning.frames import frame_of_cells
from suffice.learning.randomness import random_generator
from suffice.learning.table_recipe import check_kinds
from suffice.linear_algebra import what_doubles_can_solve
from suffice.models.gaussian.forgetting import SMALL_DEVIATION, warn_of_small_squares
from suffice.models.gaussian.learner import warn_of
from suffice.models.naive_bayes.column_blocks import Blocks
from suffice.models.naive_bayes.families.linear_laws import LinearLaws
from suffice.models.naive_bayes.families_by_looks import chosen_by_looks
from suffice.models.naive_bayes.learner import NaiveBayesFit
from suffice.places import CellAt, Phrase
from suffice.rows import refuse_infinite
from suffice.rows.category_codes import CodedColumns
from suffice.rows.cells import BOOLEAN
from suffice.rows.sparse import SparseRows, refuse_stored
from suffice.rows.text_cells import TextCells

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import TypeVar

    from numpy.typing import NDArray

    from suffice.columns import Columns
    from suffice.learning.learners.naive_bayes import ColumnsLearner
    from suffice.learning.results import Explanation
    from suffice.models.label_shift import LabelShift
    from suffice.models.left_out import LeaveOneOut
    from suffice.models.naive_bayes.product import Product
    from suffice.rows import FloatArray, IntArray, Label
    from suffice.rows.tables import Table

    T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class LearnedColumns(LearnedDensity[Any, NaiveBayesFit]):
    """Independent columns: samples, explanations, priors and leave-one-out."""

    learner: ColumnsLearner

    def warn(self) -> None:
        """Tell, after `fit`, what was done about degenerate rows."""
        fit = self.fit
        if fit.notes:
            warn_of(fit.notes, self.columns.names, fit.model.labels)
        normals = [law.normals for law in fit.model.laws if hasattr(law, "normals")]
        if any(
            each.scale.min(initial=1.0) < SMALL_DEVIATION or not each.active.all()
            for each in normals
        ):
            names = [self.columns.names[j] for group in fit.model.product.columns for j in group]
            warn_of_small_squares(self.statistics, names)

    # Rows

    def rows(self, X: object) -> Blocks:
        """Return rows read by the families of their columns."""
        table = self.columns.matched(self.as_learned(self.learner.opened(X)), self.learner.name)
        check_kinds(self, table)
        chosen = partial(chosen_by_looks, self.learner.chosen.asked, self.columns)
        return blocks(self.learner.chosen.product, table, learning=False, chosen=chosen)

    def asked(self, X: object, answer: Callable[[Any], T]) -> T:
        """Answer about rows; a cell that is not finite is refused by name."""
        rows = self.rows(X)
        try:
            return answer(rows)
        except BadRows as error:
            self._refuse(rows)  # blocks count their own rows: look again in the whole
            raise error from None

    def _refuse(self, rows: Blocks) -> None:
        """Refuse, by name and place, what is wrong with rows that could not be scored."""
        pairs = zip(rows.parts, self.learner.chosen.product.columns, self.model.laws, strict=True)
        for block, group, law in pairs:
            if isinstance(block, SparseRows) and isinstance(law, LinearLaws):
                refuse_stored(block, float("nan"), signed=law.signed)
            elif isinstance(block, np.ndarray):
                refuse_infinite(block, [self.columns.names[j] for j in group])

    def given_back(self, rows: Any) -> object:
        """Return rows as the user gave them: levels as they were."""
        blank = self.model.blank
        product = self.learner.chosen.product
        return rows_given_back(rows, product, self.columns, self.frame, blank, self.dated)

    def sample(
        self,
        n: int = 1,
        y: Label | None = None,
        random_state: object = None,
        lengths: object = None,
        within: object = "auto",
    ) -> tuple[Any, NDArray[Any]]:
        """Draw rows and their labels; of one class if `y` names it.

        `NaiveBayes.sample` says how.
        """
        from suffice.models.naive_bayes.families.multinomial import (
            MultinomialCounts,
            checked_lengths,
        )

        size, shown = checked_size(n), self.shown_within(within)
        model = self.model
        long = checked_lengths(lengths, size)
        counted = [g for g, law in enumerate(model.laws) if isinstance(law, MultinomialCounts)]
        if long is not None and len(counted) != 1:
            raise BadSetting(
                f"lengths are given, but {len(counted)} groups of columns are multinomial",
                hint="only multinomial rows have a length, and one length needs one group",
            )
        given = None if long is None else {counted[0]: long}
        rng = random_generator(random_state)
        rows, codes = model.sample(size, rng, y, given)
        if shown is not None:
            from suffice.models.possible.column_rows import PossibleColumns

            held = [shown.get(name) for name in self.columns.names]
            rows = PossibleColumns.of(model, held).rows(rows, codes, rng)
        if any(family.cells_are_texts for family in model.product.families):
            from suffice.models.possible.texts import with_texts  # others need it not

            kept = getattr(self.statistics, "sample", None)
            rows = with_texts(rows, codes, model, kept, rng)
        return self.given_back(rows), self.classes[codes]

    def typicality(self, X: object, y: object = None, sample_weight: object = None) -> FloatArray:
        """Return, per class, the p-value of each row: small everywhere means "none of these".

        `NaiveBayes.typicality` says how.
        """
        from suffice.models.typicality.naive_bayes import naive_bayes_typicality

        fit = self.fit

        def answer(rows: Blocks) -> FloatArray:
            self._refuse(rows)
            codes, gone = self.label_codes(y, len(rows)), self.gone(y, sample_weight, len(rows))
            return naive_bayes_typicality(fit, rows, codes, gone)

        return self.asked(X, answer)

    # Priors, explanations, the other school

    def estimate_priors(self, X: object) -> LabelShift:
        """Return the class priors of unlabelled rows, with standard errors (Saerens' EM)."""
        from suffice.models.label_shift import estimate_column_priors

        model = self.model
        return self.asked(X, lambda rows: estimate_column_priors(model, rows))

    def explain(
        self,
        X: object,
        of: Label | None = None,
        against: Label | None = None,
        names: Sequence[str] | None = None,
    ) -> Explanation:
        """Split the log odds of every row by column: prior odds first, then what each column says.

        `NaiveBayes.explain` says how.
        """
        from suffice.learning.results import Explanation
        from suffice.models.naive_bayes.explanation import explain_columns, words_of_columns

        model = self.model
        pair = comparison(model.labels, of, against)
        known = self.columns
        if names is not None and len(names) != len(known.columns):
            raise BadSetting(
                f"there are {len(names)} names for {len(known.columns)} columns",
                hint="give one name for each column, in their order",
            )

        def answer(rows: Blocks) -> Any:
            compared = pair(model.posterior(rows, log=True))
            return explain_columns(model, rows, *compared), words_of_columns(model, rows, *compared)

        found, words = self.asked(X, answer)
        called = known.names if names is None else tuple(map(str, names))
        return Explanation(
            self.classes[found.of],
            self.classes[found.against],
            found.baseline,
            found.contributions,
            None,
            called,
            {called[j]: tuple(said) for j, said in words.items()} or None,
        )

    def linear_rows(self, X: object) -> Any:
        """Return rows as the linear form multiplies them: indicators where there is a threshold."""
        return linear_rows(self.model, self.rows(X), self.columns.names)

    # Each row as if never seen

    def leave_one_out(self, X: object, y: object, sample_weight: object = None) -> LeaveOneOut:
        """Judge the rows this was fitted on, each by a model of all the others, without refits.

        `NaiveBayes.leave_one_out` says how.
        """
        batch = self.learner.read(X, y, sample_weight, self)
        codes = self.codes_of_fit(batch)
        try:
            rows = blocks(self.learner.chosen.product, batch.rows)
            self._refuse(rows)
        except SufficeError as error:
            raise error.filled(rows=batch.places) from None
        with what_doubles_can_solve():
            found = self.left_out(rows, codes, batch.weights)
        return self.with_weightless(found, batch, X, y)

    def left_out(
        self,
        rows: Blocks,
        codes: IntArray,
        weights: FloatArray | None = None,
        *,
        complete: bool = True,
    ) -> LeaveOneOut:
        """Judge coded rows this was learned from; if not `complete`, some of them."""
        from suffice.models.naive_bayes.leave_one_out import left_out

        given = self.fit.model.log_priors if self.learner.has_fixed_priors else None
        return left_out(self.fit, rows, codes, weights, given, complete=complete)

    def left_out_losses(self, rows: Any, codes: IntArray, weights: FloatArray) -> FloatArray:
        """Return -log p(y | x) of rows that were learned, each taken out of the sums."""
        found = self.left_out(rows, codes, weights, complete=False)
        losses: FloatArray = -found.log_posterior[np.arange(len(codes)), codes]
        losses[found.vanished] = np.nan
        return losses


def blocks(
    product: Product,
    table: Table,
    *,
    learning: bool = True,
    chosen: Callable[[], Collection[int]] | None = None,
) -> Blocks:
    """Return rows as read, cut into blocks."""
    if isinstance(table, SparseRows):
        from suffice.models.naive_bayes.families.bernoulli import Bernoulli

        family = product.families[0]
        if isinstance(family, Bernoulli):
            family.check_sparse()
        return Blocks((table,))
    return product.read(table, learning=learning, chosen=chosen)


def linear_rows(model: Any, rows: Blocks, names: Sequence[str]) -> Any:
    """Return blocks side by side as one matrix of numbers, in the order of the columns."""
    if isinstance(rows.parts[0], SparseRows):
        part, law = rows.parts[0], model.laws[0]
        sound = np.isfinite(part.cells.sum()) and (not part.stored or part.cells.min() >= 0)
        refuse_stored(part, 0.0 if sound else float("nan"), signed=law.signed)
        if law.threshold is None:
            return part
        counted = (part.data > law.threshold).astype(np.float64)
        return SparseRows(counted, part.indices, part.indptr, part.width)
    out = np.empty((len(rows), model.product.width))
    for block, law, group in zip(rows.parts, model.laws, model.product.columns, strict=True):
        dense: Any = block
        out[:, list(group)] = law.cells(dense) if isinstance(law, LinearLaws) else dense
    if np.isnan(out).any():
        row, column = divmod(int(np.isnan(out).argmax()), out.shape[1])
        said = "{cell} is missing: a logistic model cannot skip a cell"
        raise BadSetting(
            Phrase(said, cell=CellAt(row, names[column])),
            hint="ask the naive Bayes model itself; it skips missing cells exactly",
        )
    return out


def rows_given_back(
    rows: Blocks,
    product: Product,
    columns: Columns | PlainColumns,
    library: Any,
    blank: Sequence[int] = (),
    dated: Collection[str] = (),
) -> Any:
    """Return drawn rows: a frame of the library that was read, or an array.

    Columns in which nothing was ever seen stay blank.
    """
    if isinstance(rows.parts[0], SparseRows) and isinstance(columns, PlainColumns):
        return _sparse_array(rows.parts[0])
    kinds = [getattr(column, "kind", "number") for column in columns.columns]
    found: dict[int, NDArray[np.generic]] = {}
    for part, group in zip(rows.parts, product.columns, strict=True):
        block = part.toarray() if isinstance(part, SparseRows) else part
        for place, j in enumerate(group):
            found[j] = _column(block, place, kinds[j])
            if j in blank:
                found[j] = np.full(len(rows), np.nan)
    cells = [found[j] for j in range(len(kinds))]
    if library is None or not columns.named:
        return _array(cells)
    return frame_of_cells(dict(zip(columns.names, cells, strict=True)), library, dated)


def _sparse_array(rows: SparseRows) -> object:
    """Return sparse rows as SciPy's: what was learned from sparse rows is drawn as such."""
    from scipy.sparse import csr_array

    return csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape)


def _column(block: Any, place: int, kind: str) -> NDArray[np.generic]:
    """Return one column of a block: numbers, truths, or levels."""
    if isinstance(block, CodedColumns):
        levels = np.fromiter((*block.levels[place], None), dtype=object)
        cells = levels[block.codes[:, place]]
        if kind == BOOLEAN:
            return np.array([None if v is None else bool(v) for v in cells], dtype=object)
        if all(isinstance(v, (int, float)) for v in cells.tolist()):
            return cells.astype(np.float64)
        return cells
    if isinstance(block, TextCells):
        texts: NDArray[np.generic] = block.cells[:, place]
        return texts
    numbers: NDArray[Any] = block[:, place]
    return numbers > 0.5 if kind == BOOLEAN else numbers


def _array(cells: Sequence[NDArray[np.generic]]) -> NDArray[np.generic]:
    """Return columns side by side: as floats if all are numbers, else as objects."""
    if all(column.dtype.kind in "fb" for column in cells):
        return np.column_stack([column.astype(np.float64) for column in cells])
    out = np.empty((len(cells[0]), len(cells)), dtype=object)
    for j, column in enumerate(cells):
        out[:, j] = column
    return out
