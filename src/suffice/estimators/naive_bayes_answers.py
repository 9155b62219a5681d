"""What a fitted naive Bayes answers about rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns import PlainColumns
from suffice.columns.design import Design
from suffice.errors import BadRows, BadSetting, SufficeError
from suffice.estimators.linear.logistic_regression import implied_logistic
from suffice.estimators.naive_bayes_learning import NaiveBayesParameters, blocks
from suffice.estimators.shared.answers import Answers, checked_size, comparison
from suffice.estimators.shared.frames import frame_of_cells
from suffice.estimators.shared.randomness import random_generator
from suffice.estimators.shared.results import Explanation
from suffice.estimators.shared.table_recipe import check_kinds
from suffice.models.label_shift import estimate_column_priors
from suffice.models.naive_bayes.explanation import explain_columns
from suffice.models.naive_bayes.families.linear_laws import LinearLaws
from suffice.models.naive_bayes.families.multinomial import MultinomialCounts, checked_lengths
from suffice.models.naive_bayes.families_by_looks import chosen_by_looks
from suffice.models.naive_bayes.leave_one_out import left_out
from suffice.models.typicality.naive_bayes import naive_bayes_typicality
from suffice.places import CellAt, Phrase
from suffice.rows import refuse_infinite
from suffice.rows.category_codes import CodedColumns
from suffice.rows.cells import BOOLEAN
from suffice.rows.sparse import SparseRows, refuse_stored

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from numpy.typing import NDArray

    from suffice.estimators.linear.logistic_regression import LogisticRegression
    from suffice.estimators.shared.labelled_batch import LabelledBatch
    from suffice.estimators.shared.state import State
    from suffice.models.gaussian.leave_one_out.leave_one_out import LeaveOneOut
    from suffice.models.label_shift import LabelShift
    from suffice.models.naive_bayes.column_blocks import Blocks
    from suffice.models.naive_bayes.product import Product
    from suffice.rows import FloatArray, Label

    T = TypeVar("T")


class NaiveBayesAnswers(NaiveBayesParameters, Answers):
    """Samples, explanations, priors and leave-one-out: nothing here learns anything."""

    _read: Callable[[object, object, object, State | None], LabelledBatch]
    _open: Callable[[object], Any]

    # Rows

    def _rows(self, X: object) -> Blocks:
        """Return rows read by the families of their columns."""
        state = self._require()
        table = state.columns.matched(self._as_learned(self._open(X)), type(self).__name__)
        check_kinds(state, table)
        chosen = partial(chosen_by_looks, state.chosen.asked, state.columns)
        return blocks(state.chosen.product, table, learning=False, chosen=chosen)

    def _asked(self, X: object, answer: Callable[[Any], T]) -> T:
        """Answer about rows; a cell that is not finite is refused by name."""
        rows = self._rows(X)
        try:
            return answer(rows)
        except BadRows as error:
            self._refuse(rows)  # blocks count their own rows: look again in the whole
            raise error from None

    def _refuse(self, rows: Blocks) -> None:
        """Refuse, by name and place, what is wrong with rows that could not be scored."""
        state = self._require()
        pairs = zip(rows.parts, state.chosen.product.columns, self._fit.model.laws, strict=True)
        for block, group, law in pairs:
            if isinstance(block, SparseRows) and isinstance(law, LinearLaws):
                refuse_stored(block, float("nan"), signed=law.signed)
            elif isinstance(block, np.ndarray):
                refuse_infinite(block, [state.columns.names[j] for j in group])

    def _given_back(self, rows: Any) -> Any:
        state = self._require()
        blank = self._fit.model.blank
        return rows_given_back(rows, state.chosen.product, state.columns, state.frame, blank)

    def sample(
        self,
        n: int = 1,
        y: Label | None = None,
        random_state: object = None,
        lengths: object = None,
    ) -> tuple[Any, NDArray[Any]]:
        """Draw rows and their labels; of one class if `y` names it.

        Rows come back as they were given: as a frame of the same library, levels as they were.
        Multinomial rows have lengths drawn from a Poisson law with the class's mean, unless
        `lengths` says how long they are.
        """
        size = checked_size(n)
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        model = self._fit.model
        long = checked_lengths(lengths, size)
        counted = [g for g, law in enumerate(model.laws) if isinstance(law, MultinomialCounts)]
        if long is not None and len(counted) != 1:
            raise BadSetting(
                f"lengths are given, but {len(counted)} groups of columns are multinomial",
                hint="only multinomial rows have a length, and one length needs one group",
            )
        given = None if long is None else {counted[0]: long}
        rows, codes = model.sample(size, random_generator(random_state), y, given)
        return self._given_back(rows), self.classes_[codes]

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
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        fit = self._fit

        def answer(rows: Blocks) -> FloatArray:
            self._refuse(rows)
            codes, gone = self._label_codes(y, len(rows)), self._gone(y, sample_weight, len(rows))
            return naive_bayes_typicality(fit, rows, codes, gone)

        return self._asked(X, answer)

    # Priors, explanations, the other school

    def estimate_priors(self, X: object) -> LabelShift:
        """Return the class priors of unlabelled rows, with standard errors (Saerens' EM)."""
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        model = self._fit.model
        return self._asked(X, lambda rows: estimate_column_priors(model, rows))

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
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        model = self._fit.model
        pair = comparison(model.labels, of, against)
        known = self._require().columns
        if names is not None and len(names) != len(known.columns):
            raise BadSetting(
                f"there are {len(names)} names for {len(known.columns)} columns",
                hint="give one name for each column, in their order",
            )

        def answer(rows: Blocks) -> Any:
            return explain_columns(model, rows, *pair(model.posterior(rows, log=True)))

        found = self._asked(X, answer)
        return Explanation(
            self.classes_[found.of],
            self.classes_[found.against],
            found.baseline,
            found.contributions,
            None,
            known.names if names is None else tuple(map(str, names)),
        )

    def to_logistic(self) -> LogisticRegression:
        """Return the logistic model that is implied, exactly, where the posterior is logistic.

        So it is for Bernoulli, multinomial and Poisson columns and for Gaussian ones with shared
        variances; others are refused with the reason. Cells count as they do here: where there
        is a threshold, θ belongs to x above it.
        """
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        form = self._fit.model.linear_form()
        design = Design(self._require().columns)
        return implied_logistic(form, self.classes_, design, self._linear_rows)

    def _linear_rows(self, X: object) -> Any:
        """Return rows as the linear form multiplies them: indicators where there is a threshold."""
        return linear_rows(self._fit.model, self._rows(X), self._require().columns.names)

    # Each row as if never seen

    def leave_one_out(self, X: object, y: object, sample_weight: object = None) -> LeaveOneOut:
        """Judge the rows this was fitted on, each by a model of all the others, without refits.

        Exact: counts lose the row, variances are downdated. Families, smoothing and temperature
        are those of the fit. X, y and the weights must be those of the fit, whole. There is one
        judgement a row; rows of weight zero are answered as new ones.
        """
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        state = self._require()
        fit = self._fit
        batch = self._read(X, y, sample_weight, state)
        codes = self._codes_of_fit(batch)
        given = fit.model.log_priors if self._has_fixed_priors() else None

        try:
            rows = blocks(state.chosen.product, batch.rows)
            self._refuse(rows)
        except SufficeError as error:
            raise error.filled(rows=batch.places) from None
        found = left_out(fit, rows, codes, batch.weights, given)
        return self._with_weightless(found, batch, X, y)

    def _has_fixed_priors(self) -> bool:
        return self.priors is not None


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
        said = "{cell} is missing: a logistic model has no way to skip a cell"
        raise BadSetting(
            Phrase(said, cell=CellAt(row, names[column])),
            hint="ask the naive Bayes model itself; it skips missing cells exactly",
        )
    return out


def rows_given_back(
    rows: Blocks, product: Product, columns: Any, library: Any, blank: Sequence[int] = ()
) -> Any:
    """Return drawn rows: a frame of the library that was read, or an array.

    Columns in which nothing was ever seen stay blank.
    """
    if isinstance(rows.parts[0], SparseRows) and isinstance(columns, PlainColumns):
        return _sparse_array(rows.parts[0])
    kinds = [getattr(column, "kind", "number") for column in columns.columns]
    found: dict[int, NDArray[Any]] = {}
    for part, group in zip(rows.parts, product.columns, strict=True):
        block = part.toarray() if isinstance(part, SparseRows) else part
        for place, j in enumerate(group):
            found[j] = _column(block, place, kinds[j])
            if j in blank:
                found[j] = np.full(len(rows), np.nan)
    cells = [found[j] for j in range(len(kinds))]
    if library is None or not columns.named:
        return _array(cells)
    return frame_of_cells(dict(zip(columns.names, cells, strict=True)), library)


def _sparse_array(rows: SparseRows) -> Any:
    """Return sparse rows as SciPy's: what was learned from sparse rows is drawn as such."""
    from scipy.sparse import csr_array

    return csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape)


def _column(block: Any, place: int, kind: str) -> NDArray[Any]:
    """Return one column of a block: numbers, truths, or levels."""
    if isinstance(block, CodedColumns):
        levels = np.fromiter((*block.levels[place], None), dtype=object)
        cells = levels[block.codes[:, place]]
        if kind == BOOLEAN:
            return np.array([None if v is None else bool(v) for v in cells], dtype=object)
        if all(isinstance(v, (int, float)) for v in cells.tolist()):
            return cells.astype(np.float64)
        return cells
    numbers: NDArray[Any] = block[:, place]
    return numbers > 0.5 if kind == BOOLEAN else numbers


def _array(cells: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return columns side by side: as floats if all are numbers, else as objects."""
    if all(column.dtype.kind in "fb" for column in cells):
        return np.column_stack([column.astype(np.float64) for column in cells])
    out = np.empty((len(cells[0]), len(cells)), dtype=object)
    for j, column in enumerate(cells):
        out[:, j] = column
    return out
