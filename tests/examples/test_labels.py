"""Labels of any hashable type come back as they went in, sorted and counted."""

from __future__ import annotations

import datetime as dt
import enum
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice.errors import BadLabels
from suffice.rows import read_labels

MANY = 20_000  # beyond the point where hash tables take over from sorting


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def same(labels, values):
    """Are the labels in order, all seen, and row for row the values?"""
    classes = labels.classes.tolist()
    assert len(labels.codes) == len(values)
    assert labels.codes.dtype == np.intp
    assert [classes[code] for code in labels.codes] == list(values)
    assert len(set(classes)) == len(classes)
    assert set(labels.codes.tolist()) == set(range(len(classes)))
    return classes


@pytest.mark.parametrize("size", [7, MANY])
@pytest.mark.parametrize(
    "names",
    [
        [0, 1, 2],
        [-5, 3, 40],
        [-(2**62), 0, 2**62],
        [False, True],
        [0.0, 1.0, 1e300],
        ["ham", "spam", "é"],
        [b"ham", b"spam"],
    ],
)
def test_arrays_keep_their_type_and_are_sorted(names, size):
    rng = np.random.default_rng(1)
    kept = np.array(names)
    values = kept[np.r_[: len(names), rng.integers(0, len(names), size)]][::-1]
    for given in (values, np.ascontiguousarray(values), values.reshape(-1, 1)):
        labels = read_labels(given)
        assert same(labels, values.tolist()) == names
        assert labels.classes.dtype == kept.dtype
        assert labels.ravelled == (given.ndim == 2)


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int16, np.uint64, ">i4", np.float32, ">f8"]
)
def test_every_width_of_number_is_read(dtype):
    labels = read_labels(np.array([100, 3, 100, 7], dtype=dtype))
    assert same(labels, [100, 3, 100, 7]) == [3, 7, 100]
    assert labels.classes.dtype == np.dtype(dtype).newbyteorder("=")


def test_the_ends_of_the_integers_are_safe():
    assert same(read_labels(np.int8([-128, 127])), [-128, 127]) == [-128, 127]
    top = 2**64 - 1
    assert same(read_labels(np.uint64([top, top - 2])), [top, top - 2]) == [top - 2, top]
    low = -(2**63)
    assert same(read_labels(np.int64([low + 1, low])), [low + 1, low]) == [low, low + 1]
    assert same(read_labels(np.int64([2**63 - 1, low])), [2**63 - 1, low]) == [low, 2**63 - 1]


def test_codes_that_are_already_right_are_not_copied():
    y = np.array([0, 2, 1, 2])
    assert read_labels(y).codes is y


def test_both_zeros_are_one_label():
    for size in (2, MANY):
        assert read_labels(np.resize([0.0, -0.0], size)).classes.tolist() == [0.0]


@pytest.mark.parametrize("repeat", [1, MANY])
@pytest.mark.parametrize(
    "values",
    [
        ["b", "a", "b"],
        [(1, "x"), (0, "y"), (1, "x")],
        [(1,), (0, 2), (1,)],
        [dt.date(2020, 1, 2), dt.date(2020, 1, 1)],
        [Fraction(4, 2), Fraction(1)],
        [10**30, 5],
        [frozenset({1, 2}), frozenset({3})],
        [Color.RED, Color.BLUE],
        [b"b", b"a"],
    ],
)
def test_objects_of_one_type_are_labels(values, repeat):
    given = values * repeat
    labels = read_labels(given)
    same(labels, given)
    array = np.fromiter(given, dtype=object)
    assert same(read_labels(array), given) == labels.classes.tolist()
    assert read_labels(array).classes.dtype == object


def test_labels_that_cannot_be_compared_are_sorted_by_type_and_words():
    assert read_labels([Color.RED, Color.BLUE]).classes.tolist() == [Color.BLUE, Color.RED]
    one, two = frozenset({1}), frozenset({2})
    assert read_labels([two, one]).classes.tolist() == read_labels([one, two]).classes.tolist()


def test_equal_strings_need_not_be_the_same_object():
    given = np.array(["ham", "spam", "ham"] * MANY).astype(object)
    assert same(read_labels(given), given) == ["ham", "spam"]


def test_lists_become_numpy_types():
    assert read_labels([1, 0]).classes.dtype == np.int64
    assert read_labels([True, False]).classes.dtype == bool
    assert read_labels([1, 2.0]).classes.tolist() == [1.0, 2.0]
    assert read_labels(["a", "bc"]).classes.dtype == np.dtype("<U2")
    assert read_labels(["a\0", "a"]).classes.tolist() == ["a", "a\0"]
    assert read_labels([[1], [0]]).ravelled
    assert read_labels(["", "a"]).classes.tolist() == ["", "a"]


@pytest.mark.parametrize("values", [["b", "a", "b"], [3, 1, 3], [True, False, True]])
def test_columns_of_every_library_are_read(values):
    columns = [
        pd.Series(values),
        pd.Series(values, dtype=object),
        pd.Series(values, dtype="category"),
        pd.Categorical(values),
        pd.Index(values),
        pd.Series(values).convert_dtypes(),
        pd.array(values),
        pl.Series(values),
        pa.array(values),
        pa.chunked_array([values[:1], values[1:]]),
        pa.array(values).dictionary_encode(),
        pa.chunked_array([pa.array(v).dictionary_encode() for v in (values[:1], values[1:])]),
    ]
    for column in columns:
        labels = read_labels(column)
        assert same(labels, values) == sorted(set(values))
        assert not labels.ravelled
    frames = [pd.DataFrame({"y": values}), pl.DataFrame({"y": values}), pa.table({"y": values})]
    for frame in (*frames, pd.DataFrame(values), pa.RecordBatch.from_pydict({"y": values})):
        assert same(read_labels(frame), values)
        assert read_labels(frame).ravelled


def test_categories_that_no_row_has_are_no_classes():
    values = ["b", "a"]
    for column in (
        pd.Series(pd.Categorical(values, ["c", "b", "a"])),
        pl.Series(values, dtype=pl.Enum(["c", "b", "a"])),
        pl.Series(values, dtype=pl.Categorical),
        pa.DictionaryArray.from_arrays([1, 0], ["a", "b", "a"]),
    ):
        assert same(read_labels(column), values) == ["a", "b"]


def test_intervals_from_binning_are_labels():
    column = pd.cut(pd.Series([1.0, 9.0]), [0, 5, 10])
    assert len(read_labels(column).classes) == 2


REFUSALS = [
    (None, "requires y to be passed, but the target y is None"),
    ([], "0 labels"),
    (np.array([]), "0 labels"),
    (pd.Series([], dtype=float), "0 labels"),
    (3, "y should be a 1d array"),
    (pa.scalar(1), "y should be a 1d array"),
    ({1, 2}, "y should be a 1d array"),
    ("spam", "y should be a 1d array"),
    ([0.5, 1.0], "Unknown label type: continuous. Row 0 has the label 0.5"),
    (pd.Series([1.0, 1.5]), "Unknown label type: continuous. Row 1 has the label 1.5"),
    (np.array([1, 0.5], dtype=object), "Unknown label type: continuous. Row 1"),
    ([1.0, np.nan], r"Input y contains NaN\. Row 1"),
    ([1, None], r"Input y contains NaN\. Row 1"),
    (["a", None], r"Input y contains NaN\. Row 1"),
    (np.array(["a", np.nan], dtype=object), r"Input y contains NaN\. Row 1"),
    (pd.Series(["a", "b", None]), r"Input y contains NaN\. Row 2"),
    (pd.Series([1, None], dtype="Int64"), r"Input y contains NaN\. Row 1"),
    (pd.Categorical(["a", None]), r"Input y contains NaN\. Row 1"),
    (pl.Series([None, "a"]), r"Input y contains NaN\. Row 0"),
    (pa.array([1, None]), r"Input y contains NaN\. Row 1"),
    (np.array(["2020", "NaT"], dtype="M8[Y]"), r"Input y contains NaN\. Row 1"),
    (np.ma.array([1, 2], mask=[0, 1]), r"Input y contains NaN\. Row 1"),
    ([1.0, np.inf], r"Input y contains infinity .*Row 1 has the label inf"),
    (np.array([-np.inf, 1], dtype=object), "Input y contains infinity .*Row 0"),
    (["a", "b", 1], "mixed types: row 0 is the string 'a', row 2 is the number 1"),
    ([1, "a"], "mixed types: row 0 is the number 1, row 1 is the string 'a'"),
    ([0, 1, True], "mixed types: row 0 is the number 0, row 2 is the boolean True"),
    (np.array([1, True], dtype=object), "mixed types"),
    ([("a",), "a"], "mixed types: row 0 is the tuple"),
    (np.array(["a", ["b"]], dtype=object), r"row 1: .*list \['b'\] is not hashable"),
    ([{"a": 1}, {"b": 1}], "row 0: .*dict .* is not hashable"),
    ([[1, 0], [0, 1]], "Unknown label type: multioutput"),
    (np.zeros((2, 2, 2)), "Unknown label type: multioutput"),
    (pd.DataFrame({"a": [1], "b": [2]}), "Unknown label type: multioutput"),
    ([[1, 0], [0]], "Unknown label type: the labels are ragged"),
    ([1j, 2], "Complex data not supported"),
    (np.array([1j]), "Complex data not supported"),
    (np.zeros(2, dtype=[("a", int)]), "Unknown label type"),
]


@pytest.mark.parametrize(("y", "words"), REFUSALS)
def test_labels_that_name_no_class_are_refused(y, words):
    with pytest.raises(BadLabels, match=words) as refusal:
        read_labels(y)
    assert refusal.value.hint


@pytest.mark.parametrize("odd", [None, 1, float("nan"), ["list"]])
def test_the_odd_one_among_many_is_found_by_row(odd):
    y = np.array(["a", "b"] * MANY, dtype=object)
    y[12_345] = odd
    with pytest.raises(BadLabels, match=r"(?i)row 12345"):
        read_labels(y)


def test_sparse_labels_are_refused():
    from scipy import sparse

    with pytest.raises(BadLabels, match="sparse"):
        read_labels(sparse.csr_array(np.eye(2)))
