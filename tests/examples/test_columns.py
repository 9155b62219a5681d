"""The schema, on a few rows a reader can code by hand."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from suffice.columns import Column, Columns
from suffice.errors import BadRows, BadSetting, ColumnMismatch, DifferentKinds, NotANumber
from suffice.rows import read_table

FRAME = pl.DataFrame(
    {
        "age": [30.0, None, 50.0],
        "smoker": [True, False, None],
        "color": ["red", "blue", None],
    }
)
COLUMNS = Columns.infer(read_table(FRAME))
NAN = np.nan


def encode(columns, data, **settings):
    return columns.encode(read_table(data), **settings)


def test_a_frame_is_coded_by_hand():
    assert COLUMNS.columns == (
        Column("age", "number"),
        Column("smoker", "boolean"),
        Column("color", "category", ("blue", "red", None)),
    )
    assert COLUMNS.names == ("age", "smoker", "color")
    assert COLUMNS.named
    assert COLUMNS.coded_names == ("age", "smoker", "color=blue", "color=red", "color=blank")
    assert COLUMNS.owners.tolist() == [0, 1, 2, 2, 2]
    assert COLUMNS.width == 5
    assert not COLUMNS.is_plain
    coded = encode(COLUMNS, FRAME)
    np.testing.assert_array_equal(coded, [[30, 1, 0, 1, 0], [NAN, 0, 1, 0, 0], [50, NAN, 0, 0, 1]])
    age, smoker, color = COLUMNS.decode(coded)
    np.testing.assert_array_equal(age, [30, NAN, 50])
    assert smoker.tolist() == [True, False, None]
    assert color.tolist() == ["red", "blue", None]


def test_sampled_rows_decode_to_the_nearest_level():
    age, smoker, color = COLUMNS.decode(np.array([[1.5, 0.7, 0.2, 0.1, 0.3], [2, 0.5, 1, 0, 0]]))
    assert age.tolist() == [1.5, 2.0]
    assert smoker.dtype == bool
    assert smoker.tolist() == [True, False]
    assert color.tolist() == [None, "blue"]


def test_plain_matrices_pass_without_a_copy():
    for dtype in (np.float32, np.float64):
        rows = np.arange(6, dtype=dtype).reshape(2, 3)
        columns = Columns.infer(read_table(rows))
        assert columns.is_plain
        assert not columns.named
        assert columns.names == columns.coded_names == ("x0", "x1", "x2")
        assert encode(columns, rows) is rows
        assert columns.summed(rows) is rows


def test_frames_in_another_order_are_put_in_ours():
    frame = pd.DataFrame({"a": [1.0], "b": [2.0]})
    columns = Columns.infer(read_table(frame))
    assert encode(columns, frame[["b", "a"]]).tolist() == [[1.0, 2.0]]
    assert encode(columns, np.array([[5.0, 6.0]])).tolist() == [[5.0, 6.0]]
    shuffled = encode(COLUMNS, FRAME.select("color", "age", "smoker"))
    np.testing.assert_array_equal(shuffled, encode(COLUMNS, FRAME))


def test_names_that_do_not_match_are_listed_with_what_was_meant():
    columns = Columns.infer(read_table(pd.DataFrame({"petal_length": [1.0], "species": [2.0]})))
    with pytest.raises(ColumnMismatch) as refusal:
        encode(columns, pd.DataFrame({"petal_lenght": [1.0], "zzz": [2.0]}))
    assert str(refusal.value) == (
        "The feature names should match those that were passed during fit.\n"
        "Feature names unseen at fit time:\n- petal_lenght\n- zzz\n"
        "Feature names seen at fit time, yet now missing:\n- petal_length\n- species\n"
        "Hint: 'petal_lenght': did you mean 'petal_length'?"
    )
    with pytest.raises(ColumnMismatch, match="unseen at fit time:\n- extra\nHint: the columns are"):
        encode(columns, pd.DataFrame({"petal_length": [1.0], "species": [2.0], "extra": [0.0]}))
    many = pd.DataFrame([[0.0] * 7], columns=list("abcdefg"))
    with pytest.raises(ColumnMismatch, match=r"- e\n- \.\.\.\nFeature names seen"):
        encode(columns, many)


def test_arrays_of_another_width_are_refused():
    columns = Columns.infer(read_table(np.eye(4)))
    with pytest.raises(
        ColumnMismatch, match="X has 3 features, but Normal is expecting 4 features as input"
    ):
        encode(columns, np.eye(3), reader="Normal")


def test_unseen_levels_speak_for_no_level():
    columns = Columns.infer(read_table(np.array([["a"], ["b"]], dtype=object)))
    coded = encode(columns, np.array([["c"], [None], ["a"]], dtype=object))
    assert coded.tolist() == [[0, 0], [0, 0], [1, 0]]


def test_declared_levels_are_all_kept_in_their_order():
    frame = pd.DataFrame({"c": pd.Categorical(["hi", None], ["lo", "mid", "hi"])})
    columns = Columns.infer(read_table(frame))
    assert columns.columns[0].levels == ("lo", "mid", "hi", None)
    assert encode(columns, frame).tolist() == [[0, 0, 1, 0], [0, 0, 0, 1]]


def test_levels_that_do_not_compare_have_an_order_all_the_same():
    rows = np.array([["b"], [2], ["a"], [1]], dtype=object)
    forward = Columns.infer(read_table(rows))
    assert forward == Columns.infer(read_table(rows[::-1]))
    assert forward.columns[0].levels == (1, 2, "a", "b")


def test_numbers_that_are_levels_are_looked_up():
    columns = Columns.infer(read_table(pd.DataFrame({"c": pd.Categorical([1, 3])})))
    assert encode(columns, np.array([[3.0], [1.0], [2.0], [NAN]])).tolist() == [
        [0, 1],
        [1, 0],
        [0, 0],
        [0, 0],
    ]


def test_numbers_where_words_are_known_are_refused_unless_blank():
    columns = Columns.infer(read_table(pd.DataFrame({"c": ["a", None]})))
    assert encode(columns, pd.DataFrame({"c": [NAN, NAN]})).tolist() == [[0, 1], [0, 1]]
    with pytest.raises(NotANumber, match=r"row 1, c: 2.0 is a number: c holds other categories"):
        encode(columns, pd.DataFrame({"c": [NAN, 2.0]}))
    with pytest.raises(NotANumber, match="row 0, c: True is a boolean"):
        encode(columns, pd.DataFrame({"c": [True]}))


def test_words_where_numbers_are_known_are_named():
    columns = Columns.infer(read_table(pd.DataFrame({"a": [1.0], "b": [2.0]})))
    with pytest.raises(NotANumber, match="row 1, b: 'many' is not a number"):
        encode(columns, pd.DataFrame({"a": [1.0, 2.0], "b": [3, "many"]}))
    coded = encode(columns, pl.DataFrame({"a": [True, None], "b": ["", None]}))
    np.testing.assert_array_equal(coded, [[1, NAN], [NAN, NAN]])


def test_booleans_may_come_as_zeros_and_ones():
    columns = Columns.infer(read_table(pd.DataFrame({"t": [True, False]})))
    np.testing.assert_array_equal(encode(columns, np.array([[1.0], [NAN]])), [[1], [NAN]])
    with pytest.raises(NotANumber, match=r"row 1, t: 2.0 is neither true"):
        encode(columns, np.array([[1.0], [2.0]]))
    with pytest.raises(NotANumber, match="row 0, t: 'yes' is not a boolean"):
        encode(columns, pd.DataFrame({"t": ["yes"]}))


def test_contributions_are_summed_by_column():
    assert COLUMNS.summed(np.array([[1.0, 2, 3, 4, 5]])).tolist() == [[1, 2, 12]]
    hollow = Columns((Column("e", "category"), Column("n", "number"), Column("f", "category")))
    assert hollow.width == 1
    assert hollow.summed(np.array([[7.0]])).tolist() == [[0, 7, 0]]
    assert [c.tolist() for c in hollow.decode(np.array([[7.0]]))] == [[None], [7.0], [None]]
    with pytest.raises(ColumnMismatch, match=r"shape \(1, 2\), but 5 columns are coded"):
        COLUMNS.summed(np.ones((1, 2)))


def test_the_union_appends_levels_and_keeps_blank_last():
    ours = Columns((Column("c", "category", ("a", None)), Column("n", "number")))
    theirs = Columns((Column("n", "number"), Column("c", "category", ("z", "a", "b"))))
    union, our_places, their_places = ours.widened(theirs)
    assert union.coded_names == ("c=a", "c=z", "c=b", "c=blank", "n")
    assert our_places.tolist() == [0, 3, 4]
    assert their_places.tolist() == [4, 1, 0, 2]


def test_schemas_of_other_columns_do_not_mix():
    number, words = Column("a", "number"), Column("a", "category", ("x",))
    with pytest.raises(DifferentKinds, match="a is a number in one and a category in the other"):
        Columns((number,)).widened(Columns((words,)))
    for other in (Column("b", "number"), Column(None, "number")):
        with pytest.raises(DifferentKinds, match="the columns are not the same"):
            Columns((number,)).widened(Columns((other,)))
    with pytest.raises(DifferentKinds, match="the columns are not the same"):
        Columns((number,)).widened(Columns((number, Column("b", "number"))))


def test_schemas_that_contradict_themselves_are_refused():
    for broken in (
        lambda: Column("a", "date"),
        lambda: Column("a", "number", ("x",)),
        lambda: Column("a", "category", ("x", "x")),
        lambda: Column("a", "category", (None, "x")),
        lambda: Columns((Column("a", "number"), Column("a", "number"))),
        lambda: Columns((Column("a", "number"), Column(None, "number"))),
        lambda: Columns.from_dict({}),
        lambda: Columns.from_dict({"columns": [{"name": "a"}]}),
    ):
        with pytest.raises(BadSetting):
            broken()


def test_schemas_can_be_sent_and_saved():
    assert pickle.loads(pickle.dumps(COLUMNS)) == COLUMNS
    assert pickle.loads(pickle.dumps(COLUMNS)).names == COLUMNS.names
    assert Columns.from_dict(COLUMNS.to_dict()) == COLUMNS
    assert hash(COLUMNS) == hash(Columns(COLUMNS.columns))
    odd = Columns((Column("c", "category", (("tuple",),)),))
    with pytest.raises(BadRows, match=r"c: the level \('tuple',\) \(tuple\) cannot be written"):
        odd.to_dict()


def test_every_table_in_the_shared_folder_is_coded_and_decoded(shared):
    folder = shared / "data" / "tab"
    for path in sorted(folder.glob("*.csv.gz")):
        frame = pd.read_csv(path, nrows=500)
        table = read_table(frame)
        columns = Columns.infer(table)
        coded = columns.encode(table)
        assert coded.shape == (len(frame), columns.width), path.name
        for j, values in enumerate(columns.decode(coded)):
            np.testing.assert_array_equal(values, table.column(j), err_msg=path.name)
