"""The ends of Parquet files: both readers of them say the same, whatever the bytes are."""

from __future__ import annotations

import io
import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from suffice.kernels.thrift.compact import Compact
from suffice.kernels.thrift.row_groups import column_chunks

pytest.importorskip("numba", reason="numba is not installed: there is nothing to compare")


def footer(groups: int, width: int, texts: bool = False, **options: object) -> bytes:
    """Return the end of a file of so many row groups and columns."""
    rows = 5 * groups
    cells = {f"column {j}": np.arange(rows) * 0.5**j for j in range(width)}
    if texts:
        cells["t"] = np.array([f"word {i % 3}" if i % 4 else None for i in range(rows)])
    file = io.BytesIO()
    parquet.write_table(pa.table(cells), file, row_group_size=5, **options)
    data = file.getvalue()
    (length,) = struct.unpack("<I", data[-8:-4])
    return data[-8 - length : -8]


FOOTERS = [
    footer(1, 1),
    footer(7, 3, True),
    footer(3, 2, True, compression="zstd", use_dictionary=False),
    footer(2, 2, True, write_statistics=False, version="1.0"),
    footer(2, 20, True, write_page_index=True, data_page_version="2.0"),
]


def said(read, data: bytes):
    """Return what a reader says of an end, or that it refuses it."""
    try:
        counts, found = read(data, 0)
    except (struct.error, IndexError):
        return "refused"
    return counts.tolist(), found.tolist()


@pytest.mark.slow  # the first one compiles
@pytest.mark.parametrize("data", FOOTERS, ids=range(len(FOOTERS)))
def test_both_readers_say_what_pyarrow_says(data):
    held = parquet.ParquetFile(
        io.BytesIO(b"PAR1" + data + struct.pack("<I", len(data)) + b"PAR1")
    ).metadata
    counts, found = said(column_chunks.plain, data)
    assert said(column_chunks.compiled, data) == (counts, found)
    assert counts == [held.num_columns] * held.num_row_groups
    chunks = [held.row_group(i).column(j) for i, n in enumerate(counts) for j in range(n)]
    for chunk, values in zip(chunks, found, strict=True):
        blank = chunk.statistics.null_count if chunk.is_stats_set else -1
        expected = [chunk.num_values, chunk.total_uncompressed_size, chunk.total_compressed_size]
        assert values[2:5] == expected
        assert values[5:] == [chunk.data_page_offset, chunk.dictionary_page_offset or 0, blank]


changes = st.lists(
    st.tuples(
        st.integers(0, 1 << 16), st.one_of(st.integers(0, 255), st.sampled_from([0, 9, 128]))
    ),
    max_size=4,
)


@pytest.mark.slow
@settings(deadline=None)
@given(st.sampled_from(FOOTERS), changes, st.integers(0, 1 << 14), st.integers(0, 8))
def test_both_readers_say_the_same_of_damaged_ends(data, changed, cut, twice):
    damaged = bytearray(data)
    for place, byte in changed:
        damaged[place % len(damaged)] = byte
    if twice == 0:
        damaged = damaged[: cut % len(damaged)]
    elif twice == 1:
        at = cut % len(damaged)
        damaged[at:at] = damaged[at // 2 : at]
    assert said(column_chunks.compiled, bytes(damaged)) == said(column_chunks.plain, bytes(damaged))


@settings(deadline=None)
@given(st.binary(max_size=80))
def test_both_readers_say_the_same_of_any_bytes(data):
    assert said(column_chunks.compiled, data) == said(column_chunks.plain, data)


@pytest.mark.parametrize("size", [9, 10, 11])
def test_a_number_of_more_than_64_bits_is_refused(size):
    data = bytes([0x16]) + b"\xff" * (size - 1) + b"\x01\x00"
    if size < 11:
        assert said(column_chunks.plain, data) == said(column_chunks.compiled, data) == ([], [])
        assert Compact(data).numbers() == {1: -(1 << (7 * size - 7)) if size < 10 else -(1 << 63)}
    else:
        assert said(column_chunks.plain, data) == said(column_chunks.compiled, data) == "refused"
    too_large = bytes([0x16]) + b"\xff" * 9 + b"\x02\x00"
    assert said(column_chunks.plain, too_large) == "refused"
    assert said(column_chunks.compiled, too_large) == "refused"


def test_more_columns_than_there_was_room_for_are_all_there():
    """Of columns that say nothing there are more than their bytes would let one think."""
    group = bytes([0x19, 0xFC]) + bytes([0x90, 0x03]) + bytes(400) + b"\x00"
    data = bytes([0x49, 0x2C]) + group * 2 + b"\x00"
    counts, found = said(column_chunks.compiled, data)
    assert counts == [400, 400]
    assert (counts, found) == said(column_chunks.plain, data)
