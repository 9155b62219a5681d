"""Coding and decoding are inverse, and wider schemas only add zeros."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from suffice.columns import Columns
from suffice.rows import Table, read_table

NUMBERS = st.one_of(st.floats(allow_infinity=False), st.none())
WORDS = st.one_of(st.text(max_size=3), st.none())
LEVELS = st.one_of(st.integers(-3, 3), st.sampled_from(["a", "b"]), st.none())
TRUTHS = st.one_of(st.booleans(), st.none())
CELLS = {"number": NUMBERS, "boolean": TRUTHS, "category": WORDS, "mixed": LEVELS}


def cells_of(kind, values):
    if kind == "number":
        return np.array(values, dtype=np.float64)
    return np.fromiter((None if value == "" else value for value in values), dtype=object)


@st.composite
def kinds_and_names(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    names = draw(
        st.one_of(
            st.none(),
            st.lists(st.text(max_size=4), min_size=len(kinds), max_size=len(kinds), unique=True),
        )
    )
    return kinds, names


def table_of(draw, kinds, names):
    size = draw(st.integers(1, 6))
    columns = [
        cells_of(kind, draw(st.lists(CELLS[kind], min_size=size, max_size=size))) for kind in kinds
    ]
    known = tuple("category" if kind == "mixed" else kind for kind in kinds)
    named = None if names is None else tuple(names)
    if set(known) == {"number"} and draw(st.booleans()):
        return Table(np.column_stack(columns), None, known, named)
    return Table(None, tuple(columns), known, named)


@st.composite
def tables(draw, count=1):
    kinds, names = draw(kinds_and_names())
    found = [table_of(draw, kinds, names) for _ in range(count)]
    return found[0] if count == 1 else found


def assert_same_cells(decoded, table):
    for j, values in enumerate(decoded):
        if table.kinds[j] == "number":
            np.testing.assert_array_equal(values, table.column(j))
        else:
            assert values.tolist() == table.column(j).tolist()


@given(tables())
def test_what_was_encoded_decodes_to_itself(table):
    columns = Columns.infer(table)
    coded = columns.encode(table)
    assert coded.shape == (table.size, columns.width)
    assert len(columns.coded_names) == len(columns.owners) == columns.width
    assert_same_cells(columns.decode(coded), table)


@given(tables())
def test_each_category_is_coded_by_exactly_one_one(table):
    columns = Columns.infer(table)
    summed = columns.summed(columns.encode(table))
    assert summed.shape == (table.size, table.width)
    for j, kind in enumerate(table.kinds):
        if kind == "category":
            assert (summed[:, j] == 1).all()


@given(tables(count=2))
def test_the_union_codes_both_with_zeros_elsewhere(pair):
    first, second = pair
    ours, theirs = Columns.infer(first), Columns.infer(second)
    union, our_places, their_places = ours.widened(theirs)
    for table, known, places in ((first, ours, our_places), (second, theirs, their_places)):
        embedded = np.zeros((table.size, union.width))
        embedded[:, places] = known.encode(table)
        np.testing.assert_array_equal(union.encode(table), embedded)
        assert len(set(places.tolist())) == known.width == len(places)
        assert [union.coded_names[p] for p in places] == list(known.coded_names)
        assert_same_cells(union.decode(union.encode(table)), table)


@given(tables(count=2))
def test_a_schema_adds_nothing_to_a_union_that_knows_it(pair):
    ours, theirs = map(Columns.infer, pair)
    union, *_ = ours.widened(theirs)
    again, at_union, at_theirs = union.widened(theirs)
    assert again == union
    assert at_union.tolist() == list(range(union.width))
    assert at_theirs.tolist() == ours.widened(theirs)[2].tolist()
    assert ours.widened(ours)[0] == ours


@given(tables(count=2))
def test_unions_agree_in_either_order_up_to_the_order_of_levels(pair):
    ours, theirs = map(Columns.infer, pair)
    forward, backward = ours.widened(theirs)[0], theirs.widened(ours)[0]
    assert sorted(forward.coded_names) == sorted(backward.coded_names)
    for column in forward.columns:
        assert None not in column.levels[:-1]


@given(tables())
def test_schemas_survive_json_exactly(table):
    columns = Columns.infer(table)
    back = Columns.from_dict(json.loads(json.dumps(columns.to_dict())))
    assert back == columns
    assert [list(map(type, c.levels)) for c in back.columns] == [
        list(map(type, c.levels)) for c in columns.columns
    ]


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_named_columns_does_not_matter(table, random):
    columns = Columns.infer(table)
    if table.names is None:
        return
    order = list(range(table.width))
    random.shuffle(order)
    np.testing.assert_array_equal(columns.encode(table.take(order)), columns.encode(table))


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_the_schema(table, random):
    rows = list(range(table.size))
    random.shuffle(rows)
    shuffled = Table(
        None,
        tuple(table.column(j)[rows] for j in range(table.width)),
        table.kinds,
        table.names,
    )
    assert Columns.infer(shuffled) == Columns.infer(table)


@given(st.lists(st.tuples(st.floats(allow_infinity=False), TRUTHS, WORDS), min_size=1, max_size=6))
def test_frames_and_object_arrays_are_coded_alike(rows):
    frame = pd.DataFrame(
        {
            "n": np.array([r[0] for r in rows], dtype=float),
            "t": pd.array([r[1] for r in rows], dtype="boolean"),
            "w": pd.Series([r[2] for r in rows], dtype="string"),
        }
    )
    columns = Columns.infer(read_table(frame))
    by_name = columns.encode(read_table(frame))
    objects = np.empty((len(rows), 3), dtype=object)
    for i, row in enumerate(rows):
        objects[i, 0], objects[i, 1], objects[i, 2] = row
    np.testing.assert_array_equal(columns.encode(read_table(objects)), by_name)
