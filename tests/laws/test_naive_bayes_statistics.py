"""What the statistics of naive Bayes obey: sums, tallies, and both by column, class and fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.families import Bernoulli, Categorical, Multinomial, Poisson, Product
from suffice.models.naive_bayes import row_samples
from suffice.models.naive_bayes.families.gaussian import GaussianColumns
from suffice.models.naive_bayes.learner import NaiveBayesLearner
from suffice.rows import read_table
from suffice.rows.category_codes import coded_columns
from suffice.statistics import (
    ByClass,
    ByColumn,
    DiagonalMoments,
    Tallies,
    Totals,
    row_sample,
    total,
)
from suffice.statistics.folds import FOLDS, Folds
from suffice.statistics.row_sample import END, RowSample, WithRows
from suffice.testing import (
    assert_same,
    check_arrays_round_trip,
    check_associative,
    check_batches_add_up,
    check_commutative,
    check_forgetting,
    check_forgetting_unseen,
    check_identity,
    check_leave_one_out,
    check_scaling,
    check_scaling_is_repetition,
    check_statistics,
    check_weights_are_repetitions,
)
from suffice.testing.same import PRECISION
from tests.searches import quick

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Rows = NDArray[Any]

COUNT, FLAG, AMOUNT, WORD, MIXED, TOKENS, CODE = range(7)
"""The columns of a row; rows are Python objects side by side."""
LABELS = ["ham", "Ham", "spam"]
"""Not in order."""


# One row after the other, into every kind of statistic


def numbers(rows: Rows, columns: list[int]) -> NDArray[np.float64]:
    return np.array(rows[:, columns].tolist(), dtype=np.float64).reshape(len(rows), len(columns))


def totals(rows: Rows, weights: Any = None) -> Totals:
    return Totals.of(numbers(rows, [COUNT, FLAG, AMOUNT]), weights)


def tallies(rows: Rows, weights: Any = None) -> Tallies:
    if not len(rows):
        return Tallies.empty(2)
    return Tallies.of(coded_columns(read_table(rows[:, [WORD, MIXED]]), [0, 1]), weights)


def by_column(rows: Rows, weights: Any = None) -> ByColumn:
    weight = float(len(rows) if weights is None else np.sum(weights))
    moments = DiagonalMoments.of(numbers(rows, [AMOUNT, COUNT]), weights)
    return ByColumn(weight, (totals(rows, weights), tallies(rows, weights), moments))


def totals_by_class(rows: Rows, weights: Any = None) -> ByClass[Totals]:
    codes = rows[:, CODE].astype(np.intp)
    return ByClass.of(Totals, numbers(rows, [COUNT, FLAG, AMOUNT]), codes, LABELS, weights)


COUNTED = Product(
    (Poisson(), Bernoulli(), Categorical(), Multinomial()),
    ((COUNT,), (FLAG,), (WORD, MIXED), (TOKENS,)),
)
EVERYTHING = Product((*COUNTED.families, GaussianColumns()), (*COUNTED.columns, (AMOUNT,)))


def learned(product: Product, **settings: Any) -> Callable[..., Any]:
    """Return what a learner makes of rows."""
    learner = NaiveBayesLearner(product, **settings)

    def nothing() -> Any:
        empty: Any = ByClass({})
        if learner.keeps_folds:
            empty = Folds((ByClass({}),) * FOLDS)
        return WithRows(empty, RowSample({})) if learner.keeps_rows else empty

    def summarize(rows: Rows, weights: Any = None) -> Any:
        if not len(rows) or (weights is not None and not np.any(weights)):
            return nothing()
        blocks = product.read(read_table(rows[:, :CODE]))
        return learner.summarize(blocks, rows[:, CODE].astype(np.intp), LABELS, weights)

    return summarize


with_sample = learned(COUNTED, temperature="held-out")


def sample(rows: Rows, weights: Any = None) -> RowSample:
    found: RowSample = with_sample(rows, weights).sample
    return found


COUNTS: dict[str, Callable[..., Any]] = {
    "totals": totals,
    "tallies": tallies,
    "rows": sample,
    "folds, with rows": learned(COUNTED, smoothing="held-out", temperature="held-out"),
}
"""Statistics that are nothing but counts, if cells and weights are whole."""

MOMENTS: dict[str, Callable[..., Any]] = {
    "by column": by_column,
    "by column, by class": learned(EVERYTHING),
}
"""Statistics that hold means and scatters beside counts."""

KINDS = COUNTS | MOMENTS
COMPOUNDS: dict[str, Callable[..., Any]] = {
    "totals by class": totals_by_class,
    "counts by class": learned(COUNTED),
    "folds": learned(COUNTED, smoothing="held-out"),
    "with rows": with_sample,
    "by column, in folds, with rows": learned(
        EVERYTHING, smoothing="held-out", temperature="held-out"
    ),
}
"""Put together from the others."""

every_kind = pytest.mark.parametrize("kind", KINDS)
every_count = pytest.mark.parametrize("kind", COUNTS)


# What is drawn

tokens = st.sampled_from([0.0, -0.0, 1.0, 3.0])
counts = st.sampled_from([0.0, -0.0, 1.0, 2.0, 7.0, 1e6, None])
flags = st.sampled_from([0.0, 1.0, True, False, None])
words = st.sampled_from(["a", "b", "naïve/Bayes", "\x00", "\ud800", None])
mixed = st.sampled_from(["a", "1", 1, 1.0, True, False, 0, 2, 0.5, 10**12, None])
amounts = st.one_of(
    st.sampled_from([0.0, 0.1, 0.2, 0.3, 2.5, 1e3, None]), st.floats(0.125, 1e3, width=32)
)
whole_amounts = st.sampled_from([0.0, 3.0, 100.0, None])
fractions = st.sampled_from([0.1, 0.2, 0.3, 0.1 + 0.2, 0.7, 1.0, 3.0, 0.0])
repeats = st.sampled_from([1.0, 2.0, 3.0, 0.0])


@st.composite
def tables(draw: Any, *, whole: bool = False, most: int = 5) -> Rows:
    """Return a few rows, some the same, perhaps none; columns may be blank from top to bottom."""
    cell = whole_amounts if whole else amounts
    # A fraction among levels makes no count fractional, but a column of numbers alone has none.
    level = mixed.filter(lambda v: v != 0.5)
    label = st.integers(0, len(LABELS) - 1)
    row = st.tuples(counts, flags, cell, words, level, tokens, label)
    found = draw(st.lists(row, max_size=most))
    table = np.empty((len(found), CODE + 1), dtype=object)
    for i, cells in enumerate(found):
        table[i] = cells
    blank = draw(st.sets(st.sampled_from([COUNT, FLAG, AMOUNT, WORD, MIXED]), max_size=2))
    table[:, sorted(blank)] = None
    return table


def drawn(kind: str, data: st.DataObject, many: int, *, whole: bool) -> list[Any]:
    """Return the statistics of that many batches, some of them weighted."""
    found = []
    for _ in range(many):
        table = data.draw(tables(whole=whole))
        weight = repeats if whole else fractions
        weights = data.draw(st.none() | st.lists(weight, min_size=len(table), max_size=len(table)))
        found.append(KINDS[kind](table, None if weights is None else np.array(weights)))
    return found


def same_counts(left: Any, right: Any) -> None:
    """Whatever counts something is the same to the last bit."""
    moments = {"mean", "low", "scatter", "error"} | PRECISION
    ours, theirs = (
        {k: v for k, v in state.to_arrays().items() if k.rpartition("/")[2] not in moments}
        for state in (left, right)
    )
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert np.array_equal(ours[name], theirs[name]), name


# Laws: fractional weights and cells, as closely as rounding allows


@every_kind
@given(st.data())
def test_order_and_grouping_do_not_matter(kind: str, data: st.DataObject) -> None:
    a, b, c = drawn(kind, data, 3, whole=False)
    check_identity(a, KINDS[kind](np.empty((0, CODE + 1), dtype=object)))
    check_commutative(a, b)
    check_associative(a, b, c)
    assert_same(total([a, b, c]), total([c, a, b]), law="the total has no order")


@every_kind
@given(st.data())
def test_what_was_merged_can_be_forgotten(kind: str, data: st.DataObject) -> None:
    a, b = drawn(kind, data, 2, whole=False)
    check_forgetting(a, b)
    check_forgetting_unseen(a, b)
    check_forgetting_unseen(a, a + b)


@every_kind
@given(st.data())
def test_what_was_summarized_together_can_be_forgotten_apart(
    kind: str, data: st.DataObject
) -> None:
    summarize = KINDS[kind]
    x, y = data.draw(tables()), data.draw(tables())
    u, v = (
        np.array(data.draw(st.lists(fractions, min_size=len(t), max_size=len(t)))) for t in (x, y)
    )
    whole = summarize(np.concatenate([x, y]), np.concatenate([u, v]))
    left, right = summarize(x, u), summarize(y, v)
    assert_same(left + right, whole, law="merging summaries is summarizing together")
    assert_same(whole - right, left, held=[whole], law="of(x ⧺ y) - of(y) is of(x)")


@every_kind
@given(st.data(), st.floats(0.01, 10.0), st.floats(0.01, 10.0))
def test_scaling_and_storage(kind: str, data: st.DataObject, first: float, second: float) -> None:
    a, b = drawn(kind, data, 2, whole=False)
    check_scaling(a, b, first, second)
    for state in ((a + b) - b, a + b.scaled(0.7)):
        check_arrays_round_trip(state)
        again = type(state).from_arrays(state.to_arrays())
        assert_same(again + b, state + b, relative=0.0, law="what was stored goes on as before")


# Laws: whole numbers, to the last bit


@every_count
@given(st.data())
def test_whole_counts_are_exact_however_they_are_merged(kind: str, data: st.DataObject) -> None:
    summarize = COUNTS[kind]
    x, y, z = (data.draw(tables(whole=True)) for _ in range(3))
    a, b, c = summarize(x), summarize(y), summarize(z)
    check_identity(a, summarize(x[:0]), relative=0.0)
    check_commutative(a, b, relative=0.0)
    check_associative(a, b, c, relative=0.0)
    check_batches_add_up(summarize, x, y, relative=0.0)
    check_leave_one_out([a, b, c], relative=0.0)
    check_scaling(a, b, relative=0.0)


@every_count
@given(st.data())
def test_whole_counts_are_exact_after_forgetting(kind: str, data: st.DataObject) -> None:
    a, b = drawn(kind, data, 2, whole=True)
    check_forgetting(a, b, relative=0.0)
    same_counts((a + b) - b, a)


@every_count
@given(st.data())
def test_a_whole_weight_is_exactly_a_repetition(kind: str, data: st.DataObject) -> None:
    summarize = COUNTS[kind]
    table = data.draw(tables(whole=True))
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(table), max_size=len(table)))
    check_weights_are_repetitions(summarize, table, times, relative=0.0)
    check_scaling_is_repetition(summarize, table, 3, relative=0.0)


@pytest.mark.parametrize("kind", MOMENTS)
@given(st.data())
def test_counts_beside_moments_are_exact_too(kind: str, data: st.DataObject) -> None:
    summarize = MOMENTS[kind]
    x, y = data.draw(tables(whole=True)), data.draw(tables(whole=True))
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(x), max_size=len(x)))
    a, b = summarize(x), summarize(y)
    same_counts((a + b) - b, a)
    same_counts(a + b, summarize(np.concatenate([y, x])))
    weighted = summarize(x, np.array(times, dtype=np.float64))
    same_counts(weighted, summarize(np.repeat(x, times, axis=0)))


@every_kind
@given(st.data())
def test_a_row_of_weight_zero_is_not_looked_at(kind: str, data: st.DataObject) -> None:
    table = data.draw(tables())
    weights = np.array(data.draw(st.lists(fractions, min_size=len(table), max_size=len(table))))
    kept = weights > 0.0
    other = table.copy()
    other[~kept, MIXED] = "a level that nobody has seen"
    assert_same(
        KINDS[kind](other, weights), KINDS[kind](table[kept], weights[kept]), relative=0.0,
        law="weight zero is not a row",
    )  # fmt: skip


# Labels and levels


@every_kind
@given(st.data())
def test_labels_and_levels_vanish_with_their_last_row(kind: str, data: st.DataObject) -> None:
    x, y = data.draw(tables()), data.draw(tables())
    summarize = KINDS[kind]
    both = summarize(x) + summarize(y)
    left = both - summarize(y)
    if hasattr(left, "labels"):
        assert left.labels == tuple(sorted({LABELS[code] for code in x[:, CODE]}))
        assert both.labels == tuple(sorted({LABELS[c] for c in [*x[:, CODE], *y[:, CODE]]}))
    if kind == "tallies":
        assert set(left.trimmed().levels[0]) == {word for word in x[:, WORD] if word is not None}


def test_levels_that_only_one_batch_has_are_merged_and_forgotten_by_name() -> None:
    a = tallies(np.array([[0, 0, 0, "b", 1, 0, 0], [0, 0, 0, "a", "x", 0, 0]], dtype=object))
    b = tallies(np.array([[0, 0, 0, "c", None, 0, 0], [0, 0, 0, None, "x", 0, 0]], dtype=object))
    both = a + b
    assert both.levels == (("a", "b", "c"), (1, "x"))
    assert both.held.tolist() == [1.0, 1.0, 1.0, 1.0, 2.0]
    assert (both - b).levels == a.levels
    assert (both - a).levels == (("c",), ("x",))


def test_one_and_true_and_one_point_zero_are_one_level_in_every_order() -> None:
    cells: list[Any] = [1, True, 1.0, "1"]
    parts = [tallies(np.array([[0, 0, 0, "a", cell, 0, 0]], dtype=object)) for cell in cells]
    for shuffled in (parts, parts[::-1], [parts[1], parts[3], parts[0], parts[2]]):
        found = total(shuffled)
        assert found.levels[1] == (1, "1")
        assert found.held.tolist() == [4.0, 3.0, 1.0]


def test_an_impossible_subtraction_is_refused_with_the_level_or_the_column() -> None:
    a = tallies(np.array([["", 0, 0, "a", "x", 0, 0]] * 3, dtype=object))
    b = tallies(np.array([["", 0, 0, "b", "x", 0, 0]], dtype=object))
    with pytest.raises(ValueError, match="level 'b' of categorical column 0"):
        a - b
    with pytest.raises(ValueError, match="column 1"):
        Totals.of([[3.0, 1.0]] * 2) - Totals.of([[1.0, 4.0]])
    with pytest.raises(ValueError, match="blanks in column 0"):
        Totals.of([[3.0], [2.0]]) - Totals.of([[np.nan]])


# The sample of rows


def many_rows(size: int) -> Rows:
    table = np.empty((size, CODE + 1), dtype=object)
    for i in range(size):
        table[i] = (float(i), float(i % 2), 0.5, f"word {i % 50}", i % 7, float(i % 5), i % 3)
    return table


@pytest.mark.slow
def test_above_its_limit_a_sample_is_the_same_in_whatever_order_it_is_merged() -> None:
    rng = np.random.default_rng(0)
    table = many_rows(3 * row_sample.MOST)
    whole = sample(table)
    assert len(whole.rows) == row_sample.MOST
    assert max(whole.rows) < whole.limit < END
    for _ in range(3):
        edges = np.sort(rng.integers(0, len(table), size=5))
        parts = [sample(part) for part in np.split(table[rng.permutation(len(table))], edges)]
        for merged in (total(parts), total(parts[::-1]), parts[0] + total(parts[1:])):
            assert_same(merged, whole, relative=0.0, law="a sample has no order")


@given(st.data(), st.integers(1, 4))
def test_a_small_limit_obeys_the_laws_of_merging(data: st.DataObject, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_sample, "MOST", most)
        patch.setattr(row_samples, "MOST", most)
        x, y, z = (data.draw(tables(whole=True)) for _ in range(3))
        a, b, c = sample(x), sample(y), sample(z)
        assert len(a.rows) <= most
        check_identity(a, RowSample({}), relative=0.0)
        check_commutative(a, b, relative=0.0)
        check_associative(a, b, c, relative=0.0)
        check_batches_add_up(sample, x, y, relative=0.0)
        check_arrays_round_trip(a + b)
        check_scaling(a, b, relative=0.0)
        # What is forgotten leaves its place empty: the rest is what it was, below the limit.
        left = (a + b) - b
        below = {h: row.weight for h, row in a.rows.items() if h < left.limit}
        assert {h: row.weight for h, row in left.rows.items()} == below


@given(st.data())
def test_rows_are_told_apart_by_what_they_say_and_not_by_where_they_stand(
    data: st.DataObject,
) -> None:
    table = data.draw(tables(whole=True, most=8))
    order = data.draw(st.permutations(range(len(table))))
    assert_same(sample(table[order]), sample(table), relative=0.0, law="a sample has no order")
    kinds = {repr([(0.0 if v == 0 else v) for v in plain(row)]) for row in table}
    assert len(sample(table).rows) == len(kinds)


def plain(row: Any) -> list[Any]:
    """Return a row's cells as the statistics see them: 1, 1.0 and True are one."""
    used = [row[j] for j in (COUNT, FLAG, WORD, MIXED, TOKENS, CODE)]
    return [float(v) if isinstance(v, (bool, int, float)) else v for v in used]


def test_what_is_tested_here_does_keep_folds_and_rows() -> None:
    found = COUNTS["folds, with rows"](many_rows(30))
    assert isinstance(found.held, Folds)
    assert sum(bool(part.groups) for part in found.held.parts) > 5
    assert len(found.sample.rows) == 30


# The published check


@pytest.mark.parametrize("kind", quick(KINDS | COMPOUNDS, *list(KINDS)))
def test_the_published_check_passes_on_ordinary_rows(kind: str) -> None:
    rng = np.random.default_rng(7)
    table = np.empty((30, CODE + 1), dtype=object)
    table[:, COUNT] = rng.poisson(3.0, 30).astype(float)
    table[:, FLAG] = rng.random(30) < 0.4
    table[:, AMOUNT] = rng.exponential(2.0, 30)
    table[:, WORD] = rng.choice(["a", "b", "c", "dd"], 30)
    table[:, MIXED] = rng.choice(np.array(["x", 1, 2, True], dtype=object), 30)
    table[:, CODE] = rng.integers(0, 3, 30)
    table[:, :TOKENS][rng.random((30, TOKENS)) < 0.15] = None
    table[:, TOKENS] = rng.poisson(1.0, 30).astype(float)
    check_statistics((KINDS | COMPOUNDS)[kind], table, rounds=4)
