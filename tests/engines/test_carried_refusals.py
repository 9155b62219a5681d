"""Refusals that travel as the text of a traceback arrive with their fields."""

from __future__ import annotations

import traceback

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import BadRows, BadSetting, NotANumber, NotFinite, SufficeError
from suffice.places import CellAt, ColumnAt, Phrase, Place, RowAt
from suffice.sources.spark_tasks import MARK, carried, carrying

words = st.text(max_size=20)
values = st.one_of(words, st.integers(), st.floats(allow_nan=False), st.none(), st.booleans())


def told(error: SufficeError) -> str:
    """Return what an engine tells of a failure: the text of a traceback, and more."""
    try:
        raise carrying(error)
    except SufficeError:
        return f"Job aborted\n{traceback.format_exc()}\n\tat org.apache.spark.rdd(RDD.scala:1)"


@given(words, words, st.integers(0, 10**12), values, words)
def test_every_field_arrives(name: str, column: str, row: int, value: object, hint: str) -> None:
    cell = CellAt(row, ColumnAt(3, column))
    phrase = Phrase("{cell}: {value!r} in {more}", cell=cell, value=value, more=(RowAt(1), "x"))
    error = NotANumber(phrase, hint=hint, place=Place(name, 1, 7)).within("fold 2")
    found = carried(told(error))
    assert type(found) is NotANumber
    assert (str(found), found.hint, found.place) == (str(error), error.hint, error.place)
    assert (found.row, found.column, found.value) == (error.row, error.column, error.value)
    assert str(found.filled(rows=range(row + 2))) == str(error.filled(rows=range(row + 2)))


def test_a_cell_of_another_type_arrives_as_it_is_written() -> None:
    error = NotFinite.of(0, "x", float(np.float32("inf")))
    assert str(carried(told(error))) == str(error)
    odd = BadRows(Phrase("{value}", value=np.float64(2.5)), hint="h")
    found = carried(told(odd))
    assert found is not None
    assert found.value == 2.5


@pytest.mark.parametrize(
    "text",
    ["", "suffice.errors.NotFinite: row 1", f"{MARK}", f"{MARK}abc", f"{MARK}bnVsbA==",
     f"{MARK}WyJzeXMiLCAieCIsICJoIiwgbnVsbCwgW11d", f"{MARK}eyJhIjogMX0="],
)  # fmt: skip
def test_what_is_no_note_of_a_refusal_is_text_like_any_other(text: str) -> None:
    assert carried(text) is None


def test_a_note_that_was_cut_off_is_no_refusal() -> None:
    text = carrying(BadSetting("a", hint="b")).__notes__[0]
    assert carried(text) is not None
    assert carried(text[:-6]) is None
