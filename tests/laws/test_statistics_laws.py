"""What every statistic obeys: order, grouping, batches, weights, forgetting, scaling, storage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.statistics import ByClass, ByPattern, DiagonalMoments, Moments, PooledMoments, total
from suffice.testing import (
    Batch,
    assert_same,
    batches,
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
    row_weights,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.rows import FloatArray

WIDTH = 3
LABELS = ["ham", "Ham", "spam", "never"]
"""Not in order, and one more than the batches ever use."""

Summarize = Any


def split(table: FloatArray) -> tuple[FloatArray, Any]:
    """Return rows and class codes of a table whose last column is the code."""
    return table[:, :-1], table[:, -1].astype(np.intp)


def moments(table: FloatArray, weights: FloatArray | None = None) -> Moments:
    return Moments.of(split(table)[0], weights)


def diagonal(table: FloatArray, weights: FloatArray | None = None) -> DiagonalMoments:
    return DiagonalMoments.of(split(table)[0], weights)


def pooled(table: FloatArray, weights: FloatArray | None = None) -> PooledMoments:
    rows, codes = split(table)
    return PooledMoments.of_classes(rows, codes, LABELS, weights)


def by_class(table: FloatArray, weights: FloatArray | None = None) -> ByClass[Moments]:
    rows, codes = split(table)
    return ByClass.of(Moments, rows, codes, LABELS, weights)


def diagonal_by_class(
    table: FloatArray, weights: FloatArray | None = None
) -> ByClass[DiagonalMoments]:
    rows, codes = split(table)
    return ByClass.of(DiagonalMoments, rows, codes, LABELS, weights)


def by_pattern(inner: Callable[..., Any]) -> Callable[..., ByPattern[Any]]:
    """Return a summary by pattern of missing cells, with `inner` for the cells that are there."""

    def summarize(table: FloatArray, weights: FloatArray | None = None) -> ByPattern[Any]:
        if weights is not None:
            table, weights = table[weights > 0.0], weights[weights > 0.0]
        rows, codes = split(table)

        def observed(cells: FloatArray, chosen: Any) -> Any:
            part = slice(None) if chosen is None else chosen
            w = None if weights is None else weights[part]
            return inner(np.column_stack([cells, codes[part]]), w)

        return ByPattern.of(rows, observed)

    return summarize


KINDS: dict[str, tuple[Summarize, bool]] = {
    "moments": (moments, False),
    "diagonal": (diagonal, True),
    "pooled": (pooled, False),
    "by class": (by_class, False),
    "diagonal by class": (diagonal_by_class, True),
    "moments by pattern": (by_pattern(moments), True),
    "pooled by pattern": (by_pattern(pooled), True),
    "by class by pattern": (by_pattern(by_class), True),
}
"""Every statistic, and whether cells may be missing."""

every_kind = pytest.mark.parametrize("kind", KINDS)


def table_of(batch: Batch) -> FloatArray:
    return np.column_stack([batch.rows, batch.codes.astype(np.float64)])


def tables(kind: str) -> st.SearchStrategy[FloatArray]:
    return batches(WIDTH, 3, missing=KINDS[kind][1]).map(table_of)


def drawn(kind: str, data: st.DataObject, many: int) -> list[Any]:
    """Return the statistics of that many batches, some of rows with fractional weights."""
    found = []
    for _ in range(many):
        table = data.draw(tables(kind))
        weights = data.draw(st.none() | row_weights(len(table)))
        found.append(KINDS[kind][0](table, weights))
    return found


@every_kind
@given(st.data())
def test_nothing_is_the_identity(kind: str, data: st.DataObject) -> None:
    (a,) = drawn(kind, data, 1)
    check_identity(a, KINDS[kind][0](np.zeros((0, WIDTH + 1))))


@every_kind
@given(st.data())
def test_order_and_grouping_do_not_matter(kind: str, data: st.DataObject) -> None:
    a, b, c = drawn(kind, data, 3)
    check_commutative(a, b)
    check_associative(a, b, c)


@every_kind
@given(st.data())
def test_merging_summaries_is_summarizing_together(kind: str, data: st.DataObject) -> None:
    summarize = KINDS[kind][0]
    check_batches_add_up(summarize, data.draw(tables(kind)), data.draw(tables(kind)))


@every_kind
@given(st.data())
def test_a_weight_is_a_repetition(kind: str, data: st.DataObject) -> None:
    table = data.draw(tables(kind))
    times = data.draw(row_weights(len(table), whole=True)).astype(int).tolist()
    check_weights_are_repetitions(KINDS[kind][0], table, times)
    check_scaling_is_repetition(KINDS[kind][0], table, data.draw(st.integers(1, 4)))


@every_kind
@given(st.data())
def test_a_row_of_weight_zero_is_not_looked_at(kind: str, data: st.DataObject) -> None:
    summarize = KINDS[kind][0]
    table = data.draw(tables(kind))
    weights = data.draw(row_weights(len(table)))
    if not KINDS[kind][1]:
        table = np.where(
            (weights == 0.0)[:, np.newaxis] & (np.arange(WIDTH + 1) < WIDTH), np.inf, table
        )
    kept = weights > 0.0
    a, b = summarize(table, weights), summarize(table[kept], weights[kept])
    assert_same(a, b, law="weight zero is not a row")


@every_kind
@given(st.data())
def test_what_was_merged_can_be_forgotten(kind: str, data: st.DataObject) -> None:
    a, b = drawn(kind, data, 2)
    check_forgetting(a, b)


@every_kind
@given(st.data())
def test_what_was_summarized_together_can_be_forgotten_apart(
    kind: str, data: st.DataObject
) -> None:
    summarize = KINDS[kind][0]
    x, y = data.draw(tables(kind)), data.draw(tables(kind))
    whole = summarize(np.concatenate([x, y]))
    assert_same(whole - summarize(y), summarize(x), held=[whole], law="of(x ⧺ y) - of(y) is of(x)")


@every_kind
@given(st.data())
def test_what_was_never_merged_is_refused_or_a_number(kind: str, data: st.DataObject) -> None:
    a, b = drawn(kind, data, 2)
    check_forgetting_unseen(a, b)
    check_forgetting_unseen(a, a + b)


@every_kind
@given(st.data(), st.floats(0.01, 10.0), st.floats(0.01, 10.0))
def test_scaling_composes_and_distributes(
    kind: str, data: st.DataObject, first: float, second: float
) -> None:
    a, b = drawn(kind, data, 2)
    check_scaling(a, b, first, second)


@every_kind
@given(st.data(), st.integers(2, 6))
def test_leave_one_out_is_the_total_of_the_others(
    kind: str, data: st.DataObject, many: int
) -> None:
    check_leave_one_out(drawn(kind, data, many))


@every_kind
@given(st.data())
def test_arrays_hold_the_whole_state_bit_for_bit(kind: str, data: st.DataObject) -> None:
    a, b = drawn(kind, data, 2)
    check_arrays_round_trip(a)
    check_arrays_round_trip((a + b) - b)
    check_arrays_round_trip(a.scaled(0.3))


@every_kind
@given(st.data())
def test_new_columns_of_zeros_may_come_before_or_after_merging(
    kind: str, data: st.DataObject
) -> None:
    a, b = drawn(kind, data, 2)
    width = data.draw(st.integers(WIDTH, WIDTH + 3))
    places = np.array(sorted(data.draw(st.permutations(range(width)))[:WIDTH]), dtype=np.intp)
    wide = a.embedded(places, width) + b.embedded(places, width)
    assert_same((a + b).embedded(places, width), wide, law="embedding distributes over +")


@every_kind
@given(st.data())
def test_embedding_is_what_summarizing_the_wider_rows_gives(kind: str, data: st.DataObject) -> None:
    summarize = KINDS[kind][0]
    table = data.draw(tables(kind))
    width = data.draw(st.integers(WIDTH, WIDTH + 3))
    places = np.array(sorted(data.draw(st.permutations(range(width)))[:WIDTH]), dtype=np.intp)
    wider = np.zeros((len(table), width + 1))
    wider[:, places], wider[:, -1] = table[:, :-1], table[:, -1]
    if len(table):  # of no rows, not even the number of columns is remembered by all
        embedded = summarize(table).embedded(places, width)
        assert_same(embedded, summarize(wider), law="embedding is summarizing wider rows")


@every_kind
@given(st.data())
def test_the_total_does_not_depend_on_the_order_of_the_parts(
    kind: str, data: st.DataObject
) -> None:
    parts = drawn(kind, data, data.draw(st.integers(1, 9)))
    shuffled = data.draw(st.permutations(parts))
    assert_same(total(parts), total(shuffled), law="the total has no order")


@pytest.mark.parametrize("kind", [name for name in KINDS if "class" in name or "pooled" in name])
@given(st.data())
def test_labels_appear_with_their_first_row_and_vanish_with_their_last(
    kind: str, data: st.DataObject
) -> None:
    summarize = KINDS[kind][0]
    x, y = data.draw(tables(kind)), data.draw(tables(kind))
    a, b = summarize(x), summarize(y)
    names = {LABELS[int(code)] for code in x[:, -1]}
    assert a.labels == tuple(sorted(names))
    assert ((a + b) - b).labels == a.labels
    assert (a + b).labels == tuple(sorted(names | {LABELS[int(code)] for code in y[:, -1]}))


@every_kind
def test_the_published_check_passes_on_ordinary_rows(kind: str) -> None:
    rng = np.random.default_rng(7)
    table = np.column_stack([rng.normal(5.0, 2.0, size=(40, WIDTH)), rng.integers(0, 3, 40)])
    if KINDS[kind][1]:
        cells = table[:, :-1]
        cells[rng.random(cells.shape) < 0.2] = np.nan
    check_statistics(KINDS[kind][0], table, rounds=10)
