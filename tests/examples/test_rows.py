"""Tables come through one door; what cannot be read is named by row, column and value."""

from __future__ import annotations

import decimal
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice.errors import BadRows, BadWeights, NotANumber, NotFinite, SufficeError
from suffice.rows import check_lengths, read_table, read_weights, refuse_infinite

NUMBERS = {"a": [1.0, 2.0], "b": [3.0, 4.0]}
FRAMES = [pd.DataFrame, pl.DataFrame, pa.table, pa.RecordBatch.from_pydict]


class Arrayish:
    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_arrays_are_taken_as_they_are(dtype):
    whole = np.arange(24, dtype=dtype).reshape(4, 6)
    for rows in (whole, whole.T, whole[::2, ::-3], np.asfortranarray(whole)):
        table = read_table(rows)
        assert table.matrix is rows
        assert table.cells is None
        assert table.names is None
        assert (table.size, table.width) == rows.shape
        assert table.kinds == ("number",) * rows.shape[1]


@pytest.mark.parametrize(
    "dtype", [np.float16, np.longdouble, np.int8, np.uint64, bool, ">f8", ">i4"]
)
def test_other_numbers_become_doubles(dtype):
    rows = np.array([[0, 1], [1, 0]], dtype=dtype)
    matrix = read_table(rows).matrix
    assert matrix.dtype == np.float64
    assert matrix.dtype.isnative
    assert matrix.tolist() == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2.5], [3, None]],
        ((1, 2.5), (3, float("nan"))),
        [np.array([1, 2.5]), np.array([3, np.nan])],
        np.array([[1, 2.5], [3, None]], dtype=object),
        np.array([[1, decimal.Decimal("2.5")], [np.int8(3), pd.NA]], dtype=object),
        np.ma.masked_invalid([[1, 2.5], [3, np.nan]]),
        np.ma.array([[1, 2.5], [3, 7]], mask=[[0, 0], [0, 1]]),
        Arrayish([[1, 2.5], [3, np.nan]]),
        pd.DataFrame({"a": [1, 3], "b": [2.5, None]}),
        pd.DataFrame({"a": [1, 3], "b": [2.5, None]}, dtype="Float64"),
        pd.DataFrame({"a": [1, 3], "b": [decimal.Decimal("2.5"), None]}),
        pl.DataFrame({"a": [1, 3], "b": [2.5, None]}),
        pa.table({"a": [1, 3], "b": [2.5, None]}),
        pa.RecordBatch.from_pydict({"a": [1, 3], "b": [2.5, None]}),
    ],
)
def test_numbers_and_blanks_become_one_matrix(rows):
    table = read_table(rows)
    assert table.matrix.dtype == np.float64
    np.testing.assert_array_equal(table.matrix, [[1, 2.5], [3, np.nan]])


def test_nullable_integers_keep_their_blanks():
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": pd.array([2, 3], "UInt8")})
    np.testing.assert_array_equal(read_table(frame).matrix, [[1, 2], [np.nan, 3]])
    np.testing.assert_array_equal(
        read_table(pl.DataFrame({"a": [1, None]})).matrix, [[1], [np.nan]]
    )
    np.testing.assert_array_equal(read_table(pa.table({"a": [1, None]})).matrix, [[1], [np.nan]])


def test_masked_integers_are_missing():
    rows = np.ma.array([[1, 2]], mask=[[False, True]])
    np.testing.assert_array_equal(read_table(rows).matrix, [[1, np.nan]])
    words = read_table(np.ma.array([["a", "b"], ["a", "c"]], mask=[[0, 1], [0, 0]]))
    assert words.cells[1].tolist() == [None, "c"]


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_of_numbers_keep_their_names(frame):
    table = read_table(frame(NUMBERS))
    assert table.names == ("a", "b")
    assert table.matrix.tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_single_precision_frames_stay_single():
    columns = {"a": np.float32([1, 2]), "b": np.float32([3, 4])}
    for frame in (pd.DataFrame, pl.DataFrame, pa.table):
        assert read_table(frame(columns)).matrix.dtype == np.float32
    assert read_table(pd.DataFrame(columns | {"c": [1, 2]})).matrix.dtype == np.float64


def test_a_frame_of_doubles_is_not_copied():
    rows = np.arange(6.0).reshape(3, 2)
    assert np.shares_memory(
        read_table(pd.DataFrame(rows, columns=["a", "b"], copy=False)).matrix, rows
    )


MIXED = {"n": [1, 2, None], "t": [True, None, False], "s": ["x", "", None]}


@pytest.mark.parametrize("frame", FRAMES)
def test_mixed_frames_keep_a_kind_for_every_column(frame):
    table = read_table(frame(MIXED))
    assert table.kinds == ("number", "boolean", "category")
    assert table.matrix is None
    assert (table.size, table.width) == (3, 3)
    np.testing.assert_array_equal(table.cells[0], [1, 2, np.nan])
    assert table.cells[0].dtype == np.float64
    assert table.cells[1].tolist() == [True, None, False]
    assert table.cells[2].tolist() == ["x", None, None]


def test_booleans_beside_numbers_are_known_as_booleans():
    table = read_table(pd.DataFrame({"a": [1.0, 2.0], "b": [True, False]}))
    assert table.kinds == ("number", "boolean")
    assert table.cells[1].dtype == object


def test_a_column_of_nothing_but_blanks_is_a_number_that_is_missing():
    for frame in (pd.DataFrame, pl.DataFrame, pa.table):
        assert np.isnan(read_table(frame({"a": [None, None]})).matrix).all()


def test_pandas_nullable_booleans_and_strings_have_blanks():
    frame = pd.DataFrame(
        {"b": pd.array([True, None], "boolean"), "s": pd.array(["x", None], "string")}
    )
    table = read_table(frame)
    assert table.kinds == ("boolean", "category")
    assert [c.tolist() for c in table.cells] == [[True, None], ["x", None]]


def test_declared_categories_come_with_their_levels():
    values, order = ["lo", "hi", None], ["lo", "mid", "hi"]
    for frame in (
        pd.DataFrame({"c": pd.Categorical(values, order)}),
        pd.DataFrame({"c": pd.Categorical(values, order, ordered=True)}),
        pl.DataFrame({"c": pl.Series(values, dtype=pl.Enum(order))}),
    ):
        table = read_table(frame)
        assert table.kinds == ("category",)
        assert table.levels == (("lo", "mid", "hi"),)
        assert table.cells[0].tolist() == values
    for frame in (
        pl.DataFrame({"c": pl.Series(values, dtype=pl.Categorical)}),
        pa.table({"c": pa.array(values).dictionary_encode()}),
    ):
        table = read_table(frame)
        assert table.levels == (None,)
        assert table.cells[0].tolist() == values


def test_categories_may_be_numbers():
    table = read_table(pd.DataFrame({"c": pd.Categorical([3, 1, 3])}))
    assert table.kinds == ("category",)
    assert table.levels == ((1, 3),)


@pytest.mark.parametrize("make", [lambda r: r, lambda r: np.array(r, dtype=object)])
def test_rows_of_objects_are_sorted_out_by_column(make):
    table = read_table(
        make([[1, "red", True, None], [None, "", None, None], [2.5, "4", False, None]])
    )
    assert table.kinds == ("number", "category", "boolean", "number")
    assert table.names is None
    np.testing.assert_array_equal(table.cells[0], [1, np.nan, 2.5])
    assert table.cells[1].tolist() == ["red", None, "4"]
    assert table.cells[2].tolist() == [True, None, False]
    assert np.isnan(table.cells[3]).all()


def test_arrays_of_strings_are_categories():
    table = read_table(np.array([["a", "1"], ["", "2"]]))
    assert table.kinds == ("category", "category")
    assert table.cells[0].tolist() == ["a", None]


def test_names_that_are_no_strings_are_no_names():
    assert read_table(pd.DataFrame([[1.0, 2.0]])).names is None
    table = read_table(pd.DataFrame([[1.0, "x"]], columns=[7, 7]))
    assert table.names is None
    assert table.kinds == ("number", "category")
    with pytest.raises(TypeError, match="only supported if all input features have string names"):
        read_table(pd.DataFrame([[1.0, 2.0]], columns=["a", 1]))


@pytest.mark.parametrize("names", [[0, 1, 2], [3, 5, 9], [7, 7, 7], [-1, 0, 4]])
def test_numbers_as_names_are_positions(names):
    table = read_table(pd.DataFrame([[1.0, 2.0, 3.0]], columns=names))
    assert table.names is None
    np.testing.assert_array_equal(table.matrix, [[1.0, 2.0, 3.0]])


@pytest.mark.parametrize("names", [[1, 0, 2], [2003, 2002, 2001], [0, 2, 1]])
def test_numbers_as_names_in_another_order_are_not_misread(names):
    with pytest.raises(BadRows, match=f"columns are named {names[0]}, {names[1]}, {names[2]}: "):
        read_table(pd.DataFrame([[1.0, 2.0, 3.0]], columns=names))


def test_repeated_names_are_refused():
    with pytest.raises(BadRows, match="more than one column is named a"):
        read_table(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]))
    with pytest.raises(BadRows, match="more than one column is named a"):
        read_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]))


def test_columns_can_be_taken_in_any_order():
    rows = read_table(np.arange(6.0).reshape(2, 3))
    assert rows.take([0, 1, 2]) is rows
    assert rows.take([2, 0]).matrix.tolist() == [[2, 0], [5, 3]]
    mixed = read_table(pl.DataFrame(MIXED)).take([2, 0])
    assert mixed.names == ("s", "n")
    assert mixed.kinds == ("category", "number")
    assert mixed.levels == (None, None)
    assert mixed.width == 2


REFUSALS = [
    ([1, 2, 3], "Expected 2D array, got 1D array instead"),
    (np.arange(3.0), r"Reshape your data either using array.reshape\(-1, 1\)"),
    (pd.Series([1.0]), "Expected 2D array, got 1D array instead"),
    (pl.Series([1.0]), "Expected 2D array, got 1D array instead"),
    (pa.array([1.0]), "Expected 2D array, got 1D array instead"),
    (pa.chunked_array([[1.0]]), "Expected 2D array, got 1D array instead"),
    (["a", "b"], "Expected 2D array, got 1D array instead"),
    ([], "Expected 2D array, got 1D array instead"),
    (3.0, "Expected 2D array, got scalar array instead"),
    (np.float64(3), "Expected 2D array, got scalar array instead"),
    (np.array(3.0), "Expected 2D array, got scalar array instead"),
    ("rows", "Expected 2D array, got scalar array instead: 'rows'"),
    (None, "got scalar array instead: None"),
    (np.zeros((2, 2, 2)), "Found array with dim 3"),
    ([[[1]]], "Found array with dim 3"),
    (np.empty((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required."),
    (np.empty((5, 0)), r"0 feature\(s\) \(shape=\(5, 0\)\) while a minimum of 1 is required."),
    (pd.DataFrame({"a": []}), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
    (pd.DataFrame(index=[1, 2]), r"0 feature\(s\) \(shape=\(2, 0\)\)"),
    (pl.DataFrame({"a": []}), r"0 sample\(s\)"),
    ([[1, 2], [3]], r"row 1 has 1 cell\(s\) where row 0 has 2 cell\(s\)"),
    ([[1, "a"], [3]], r"row 1 has 1 cell\(s\) where row 0 has 2 cell\(s\)"),
    ([[1, 2], 3], r"row 1 has no list where row 0 has 2 cell\(s\)"),
    ([[1, [2, 3]], [1, 2]], "argument must be a string or a number, got list"),
    ([{"a": 1}], "argument must be a string or a number, got dict"),
    ({"a": [1]}, "rows cannot be read from a dict"),
    ({1.0, 2.0}, "rows cannot be read from a set"),
    ((row for row in [[1]]), "rows cannot be read from a generator"),
    (np.array([[1j]]), "Complex data not supported"),
    ([[1j, 2]], "Complex data not supported"),
    (np.array([["a", 1j]], dtype=object), "row 0, column 1: Complex data not supported"),
    (pd.DataFrame({"z": [1j]}), "Complex data not supported"),
    (np.zeros((2, 1), dtype=[("a", float)]), "are not numbers"),
    (np.array([["2020-01-01"]], dtype="M8[D]"), "are not numbers"),
    (np.array([[b"a"]]), "are not numbers"),
    (pl.DataFrame({"parts": [[1, 2]]}), "parts: a column of type List"),
    (pa.table({"parts": [{"a": 1}]}), "parts: a column of type Struct"),
    (pd.DataFrame({"o": [1, {}]}), "row 1, o: the argument must be a string or a number, got dict"),
    (pl.DataFrame({"a": [1]}).lazy(), "rows cannot be read from a LazyFrame"),
]


@pytest.mark.parametrize(("rows", "words"), REFUSALS)
def test_what_is_no_table_is_refused_with_a_reason_and_a_hint(rows, words):
    with pytest.raises(BadRows, match=words) as refusal:
        read_table(rows)
    assert refusal.value.hint


def test_a_dictionary_in_a_cell_is_named_as_scikit_learn_does():
    rows = np.ones((3, 2)).astype(object)
    rows[0, 0] = {"foo": "bar"}
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        read_table(rows)


def test_sparse_rows_are_refused_as_sparse():
    from scipy import sparse

    for kind in (sparse.csr_matrix, sparse.csr_array, sparse.coo_array):
        with pytest.raises(TypeError, match="sparse"):
            read_table(kind(np.eye(2)))


def test_integers_beyond_doubles_are_refused_as_infinite():
    with pytest.raises(NotFinite, match="row 1, column 0: -inf"):
        read_table([[1], [-(10**400)]])


def test_the_first_infinite_cell_is_named():
    rows = np.zeros((5000, 3), dtype=np.float32)
    refuse_infinite(rows, None)
    rows[17, 1] = np.nan
    refuse_infinite(rows, None)
    rows[4999, 0] = np.inf
    with pytest.raises(NotFinite, match="row 4999, column 0: inf is not a finite number"):
        refuse_infinite(rows)
    rows[4998, 2] = -np.inf
    with pytest.raises(NotFinite, match="row 4998, petal: -inf"):
        refuse_infinite(rows, ("a", "b", "petal"))


def test_lengths_must_agree():
    check_lengths(5, 5)
    with pytest.raises(
        SufficeError, match=r"inconsistent numbers of samples: \[5, 4\]\nHint: there are 5 row"
    ):
        check_lengths(5, 4)


def test_weights_are_read_as_doubles():
    assert read_weights(None, 3) is None
    assert read_weights(np.ones(3, dtype=int), 3) is None
    assert read_weights(1, 3) is None
    for weights in (
        [0, 2],
        np.float32([0, 2]),
        pd.Series([0, 2]),
        pl.Series([0, 2]),
        Arrayish([0, 2]),
    ):
        values = read_weights(weights, 2)
        assert values.dtype == np.float64
        assert values.tolist() == [0.0, 2.0]
    assert read_weights(2.5, 2).tolist() == [2.5, 2.5]
    assert read_weights([True, False], 2).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, -2], "row 1: a weight of -2"),
        ([np.nan, 1], "row 0: a weight of nan"),
        ([1, np.inf], "row 1: a weight of inf"),
        ([0, 0], "weight.*zero"),
        (0, "weight.*zero"),
        (-1, "row 0: a weight of -1"),
        ([[1], [1]], "Sample weights must be 1D array or scalar"),
        ([1, 1, 1], r"sample_weight.shape == \(3,\), expected \(2,\)!"),
        (["a", "b"], "cannot be read"),
        ([1j, 1], "cannot be read"),
        ([[1], [1, 2]], "cannot be read"),
        ([None, 1], "row 0: a weight of nan"),
    ],
)
def test_weights_that_count_no_rows_are_refused(weights, words):
    with pytest.raises(BadWeights, match=words):
        read_weights(weights, 2)


@pytest.mark.process
def test_reading_arrays_imports_no_heavy_package():
    code = (
        "import sys, numpy as np\n"
        "from suffice.columns import Columns\n"
        "from suffice.rows import read_labels, read_table\n"
        "table = read_table(np.eye(3)); Columns.infer(table).encode(table)\n"
        "read_labels([0, 1, 0]); read_labels(['a', 'b'])\n"
        "heavy = {'pandas', 'pyarrow', 'narwhals', 'scipy', 'sklearn'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})


def test_unreadable_rows_are_both_value_and_type_errors():
    with pytest.raises(NotANumber) as refusal:
        read_table({})
    assert isinstance(refusal.value, ValueError)
    assert isinstance(refusal.value, TypeError)
