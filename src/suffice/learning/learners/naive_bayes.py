"""How naive Bayes learns: columns read by their families, sums, and one choice of families."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.columns import Columns, PlainColumns
from suffice.errors import BadSetting, DifferentKinds, SufficeError, listed
from suffice.learning.kept_rows import (
    check_collected_alike,
    checked_calibration_rows,
    within_sample,
)
from suffice.learning.labelled_batch import read_batch
from suffice.learning.learner import Learner
from suffice.learning.learners.naive_bayes_answers import LearnedColumns, blocks
from suffice.learning.table_recipe import check_kinds
from suffice.learning.unlabelled.record import IGNORE, checked_unlabelled
from suffice.learning.waiting_rows import MOST_ROWS, moderate
from suffice.models.naive_bayes.families.registry import NAMED, family_named
from suffice.models.naive_bayes.families_by_looks import AUTO, SELECT, family_like, is_select
from suffice.models.naive_bayes.learner import NaiveBayesFit, NaiveBayesLearner
from suffice.models.naive_bayes.product import Product
from suffice.models.naive_bayes.smoothing import HELD_OUT, LEFT_OUT, checked_smoothing
from suffice.rows import BOOLEAN, read_table
from suffice.rows.sparse import SparseRows
from suffice.rows.tables import table_of_array
from suffice.statistics.folds import Folds
from suffice.statistics.row_sample import WithRows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.learning.learned import Learned
    from suffice.learning.learner import Accepts
    from suffice.models.naive_bayes.families.protocol import ColumnFamily
    from suffice.rows import FloatArray, IntArray, Label
    from suffice.rows.tables import Table

    LearnedProduct = Learned[Any, NaiveBayesFit]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The family of every column, and the setting that asked for it."""

    product: Product
    asked: Any


@dataclass(frozen=True)
class ColumnsLearner(Learner[Any, NaiveBayesFit]):
    """What is particular about learning independent columns, whatever decides their families."""

    choice_hint: ClassVar[str] = (
        "name the families of these columns in both, then the models can be merged"
    )

    # Settings

    smoothing: ClassVar[Any]
    temperature: ClassVar[Any] = None
    priors: ClassVar[Mapping[Label, float] | None] = None
    calibration_rows: ClassVar[int | None] = None
    unlabelled: ClassVar[float | str] = IGNORE
    later_settings: ClassVar[Mapping[str, object]] = {
        "calibration_rows": None,
        "unlabelled": IGNORE,
    }

    @abstractmethod
    def asked_families(self) -> object:
        """Return the setting that decides about families; it is held beside the statistics."""

    @property
    def has_fixed_priors(self) -> bool:
        """Whether priors do not follow from the rows."""
        return self.priors is not None

    def check(self) -> None:
        """Refuse settings that have no meaning."""
        checked_smoothing(self.smoothing)
        _checked_temperature(self.temperature)
        checked_calibration_rows(self.calibration_rows)
        checked_unlabelled(self.unlabelled)

    def stored_choice(self) -> object:
        """Return families, and what asked for them."""
        return {"product": self.chosen.product, "asked": self.chosen.asked}

    def restored_choice(self, stored: Any) -> Chosen:
        """Return families, and what asked for them."""
        return Chosen(stored["product"], stored["asked"])

    def of_model(self) -> NaiveBayesLearner:
        """Return families, priors, smoothing and temperature as `suffice.models` has them."""
        smoothing = checked_smoothing(self.smoothing)
        temperature = _checked_temperature(self.temperature)
        return NaiveBayesLearner(self.chosen.product, self.priors, smoothing, temperature)

    def deciding_on(self, product: Product) -> Self:
        """Return the learner of columns of these families."""
        return self.deciding(Chosen(product, self.asked_families()))

    # Rows

    def opened(self, X: object) -> Any:
        """Read rows of whatever kind this learner takes."""
        return read_table(X)

    def read(
        self, X: object, y: object, weights: object = None, known: LearnedProduct | None = None
    ) -> LabelledBatch:
        """Read labelled rows; their columns stay apart."""
        matched = partial(self._matched, known)
        return read_batch(X, y, weights, matched, self.opened, self.blanks(known))

    def _matched(self, known: LearnedProduct | None, table: Table) -> tuple[object, object]:
        """Return the schema, and the table with its columns in the order of the schema."""
        if known is not None:
            matched = known.columns.matched(known.as_learned(table), self.name)
            check_kinds(known, matched)
            return known.columns, matched
        if isinstance(table, SparseRows):
            return PlainColumns(table.width), table
        return Columns.of_kinds(table), table

    # Statistics

    @property
    def needs_choice(self) -> bool:
        """Whether the families of columns are to be decided; how many there are is."""
        return True

    def summarize(self, batch: LabelledBatch) -> Any:
        """Return the statistics of every column, class by class."""
        names = _names(batch.columns)
        try:
            rows = blocks(self.chosen.product, batch.rows)
            return self.summary_of_blocks(rows, batch.codes, batch.labels, batch.weights, names)
        except SufficeError as error:
            raise error.filled(rows=batch.places) from None

    def summary_of_blocks(
        self,
        rows: Any,
        codes: IntArray,
        labels: Sequence[Label],
        weights: FloatArray | None = None,
        names: Sequence[str] | None = None,
    ) -> Any:
        """Return the statistics of rows cut into blocks, with some of them where these are kept."""
        learner = self.of_model()
        held = learner.summarize(rows, codes, labels, weights, names)
        if self.calibration_rows is None or isinstance(held, WithRows):
            return held
        from suffice.models.naive_bayes.row_samples import sampled

        hashes = learner.product.hashes(rows, codes, labels)
        found = sampled(learner.product, rows, codes, labels, weights, hashes)
        return WithRows(held, found.cut(self.calibration_rows))

    def prepared(self, rows: Any) -> object:
        """Return rows cut into blocks."""
        return blocks(self.chosen.product, rows)

    def said(
        self,
        rows: object,
        codes: IntArray,
        labels: Sequence[Label],
        weights: FloatArray,
        batch: LabelledBatch,
    ) -> Any:
        """Return the statistics of blocks of rows, which came with the batch."""
        return self.summary_of_blocks(rows, codes, labels, weights, _names(batch.columns))

    def keeping(self, *learned: Any) -> LearnedColumns:
        """Return statistics, with what else there is to know of their rows, as what was learned."""
        return LearnedColumns(self, *learned)

    def learned(self, batch: LabelledBatch) -> LearnedProduct:
        """Return what is learned from one batch by itself; families are those that it asks for."""
        decided = self if self.chosen is not None else self.choose(batch)
        return super(ColumnsLearner, decided).learned(batch)

    def check_mergeable(self, left: LearnedProduct, right: LearnedProduct) -> None:
        """Refuse columns that are not the same, or were given other families: by name."""
        ours, theirs = left.columns, right.columns
        if ours != theirs and ours.names != theirs.names:
            raise DifferentKinds(
                f"the columns are not the same: {listed(ours.names)} and {listed(theirs.names)}",
                hint="merge models of the same columns, in the same order",
            )
        one, other = left.learner.chosen, right.learner.chosen
        if one != other:
            said = one.product.differences(other.product, ours.names)
            raise DifferentKinds(f"the families differ: {said}", hint=self.choice_hint)
        check_collected_alike(left.statistics, right.statistics)

    def merged(self, left: LearnedProduct, right: LearnedProduct) -> tuple[object, object]:
        """Return the columns, and the sum."""
        whole = left.statistics + right.statistics
        judged = self.of_model().keeps_rows
        return left.columns, within_sample(whole, self.calibration_rows, judged)

    def forgetting(self, learned: LearnedProduct) -> Callable[[object], object]:
        """Return the function that takes statistics away."""
        learner = self.of_model()

        def forget(gone: object) -> Any:
            check_collected_alike(learned.statistics, gone)
            return learner.forget(learned.statistics, gone, names=learned.columns.names)

        return forget

    def waits(self, learned: LearnedProduct) -> Accepts | None:
        """Let rows of plain numbers wait that every family takes."""
        product = self.chosen.product
        if not learned.columns.is_plain or not self.certain_rows(learned):
            return None
        if all(family.name.endswith("gaussian") for family in product.families):
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

    def certain_rows(self, learned: LearnedProduct) -> int:
        """Return how many rows families take that have read them, unless some are kept."""
        learner = self.of_model()
        kept = learner.keeps_folds or learner.keeps_rows
        return 0 if kept or isinstance(learned.statistics, (Folds, WithRows)) else MOST_ROWS

    # Models

    def estimate(self, learned: LearnedProduct) -> NaiveBayesFit:
        """Return the laws of all columns, and the statistics that leave-one-out needs."""
        asked = self.asked_families()
        if self.chosen.asked != asked:
            raise BadSetting(
                f"the families were {self.chosen.asked!r} when the rows were read, "
                f"and are {asked!r} now",
                hint="fit again: other families need other statistics",
            )
        learner, held = self.of_model(), learned.statistics
        inner = held.held if isinstance(held, WithRows) else held
        for needed, there, name, value in (
            (learner.keeps_folds, isinstance(inner, Folds), "smoothing", HELD_OUT),
            (learner.keeps_rows, held is not inner, "temperature", learner.found_temperature),
        ):
            if needed and not there:
                raise BadSetting(
                    f'{name}="{value}" needs different statistics from those collected',
                    hint="fit again: the setting was changed after the rows were read",
                )
        return learner.fit(held)


@dataclass(frozen=True)
class NaiveBayesClassifierLearner(ColumnsLearner):
    """Learns columns of every kind; the settings are those of NaiveBayes."""

    families: Any = AUTO
    smoothing: float | str = 1.0  # type: ignore[misc]
    temperature: float | str | None = None  # type: ignore[misc]
    priors: Mapping[Label, float] | None = None  # type: ignore[misc]
    calibration_rows: int | None = None  # type: ignore[misc]
    unlabelled: float | str = IGNORE  # type: ignore[misc]

    name: ClassVar[str] = "NaiveBayes"

    def asked_families(self) -> object:
        """Return the setting that decides about families."""
        return self.families

    def check(self) -> None:
        """Refuse settings that have no meaning."""
        super().check()
        check_families(self.families)

    def opened(self, X: object) -> Any:
        """Read rows; truths are not numbers 0 and 1."""
        table = read_table(X)
        if isinstance(X, np.ndarray) and X.dtype == np.bool_:
            return replace(table, kinds=(BOOLEAN,) * table.width)
        return table

    def choose(self, batch: LabelledBatch) -> Self:
        """Decide on the family of every column."""
        alpha = 1.0 if isinstance(self.smoothing, str) else float(self.smoothing)
        families, tied = chosen_families(self.families, batch, alpha)
        return self.deciding_on(Product.of_columns(families, tied))


def check_families(asked: object) -> None:
    """Refuse a setting that no table could satisfy, before any row is read."""
    if isinstance(asked, str):
        if asked not in (AUTO, SELECT, *NAMED):
            raise BadSetting(
                f"families={asked!r} is not known",
                hint=f"choose one of {listed((AUTO, SELECT, *NAMED))}, or {{column: family}}",
            )
        return
    if not isinstance(asked, Mapping):
        family_named(asked, "all columns")
        return
    for column, family in asked.items():
        if not is_select(family):
            family_named(family, f"column {column!r}")


def chosen_families(
    asked: object, batch: LabelledBatch, alpha: float
) -> tuple[list[ColumnFamily], list[int]]:
    """Return the family of every column of a first batch, and which columns share one law."""
    table, codes, weights = batch.looked_at()
    names, width = batch.columns.names, table.width
    named: dict[int, ColumnFamily] = {}
    selected = set(range(width)) if is_select(asked) else set()
    tied = [-1] * width
    if isinstance(asked, Mapping):
        for number, (key, family) in enumerate(asked.items()):
            columns = [_place(part, names) for part in (key if isinstance(key, tuple) else (key,))]
            for j in columns:
                if j in named or j in selected:
                    said = f"families names {names[j]!r} twice"
                    raise BadSetting(said, hint="give each column one family")
                if is_select(family):
                    selected.add(j)
                else:
                    named[j] = family_named(family, f"column {names[j]!r}")
                    tied[j] = number if isinstance(key, tuple) else -1
    elif not (isinstance(asked, str) and asked in (AUTO, SELECT)):
        named = {j: family_named(asked, "all columns") for j in range(width)}
    options: dict[int, tuple[ColumnFamily, ...]] = {
        j: (named[j] if j in named else family_like(table, j, codes, weights),)
        for j in range(width)
        if j not in selected
    }
    if selected:
        from suffice.models.naive_bayes.families_by_likelihood import candidates, select_families

        options |= {j: candidates(table, j, codes, weights) for j in selected}
        read = batch.rows, batch.codes, batch.labels, batch.weights
        found = select_families(*read, [options[j] for j in range(width)], alpha)
    else:
        found = [options[j][0] for j in range(width)]
    return [family.decided(table, j, weights) for j, family in enumerate(found)], tied


def _place(key: object, names: tuple[str, ...]) -> int:
    """Return the position of a column that is named, or given by its position."""
    if isinstance(key, str) and key in names:
        return names.index(key)
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and 0 <= key < len(names):
        return int(key)
    raise BadSetting(
        f"families names {key!r}, which is not a column", hint=f"the columns are {listed(names)}"
    )


def _checked_temperature(temperature: object) -> float | str | None:
    """Return a temperature that has a meaning, or refuse it."""
    if temperature is None:
        return None
    if isinstance(temperature, str) and temperature in (HELD_OUT, LEFT_OUT):
        return temperature
    number = isinstance(temperature, Real) and not isinstance(temperature, bool)
    if not number or not 0.0 < float(temperature) < np.inf:  # type: ignore[arg-type]
        raise BadSetting(
            f"temperature={temperature!r} is not valid",
            hint='use a number above 0 (1 changes nothing), None, "held-out" or "left-out"',
        )
    return float(temperature)  # type: ignore[arg-type]


def _names(columns: Columns | PlainColumns) -> Any:
    return columns.names if columns.named else None
