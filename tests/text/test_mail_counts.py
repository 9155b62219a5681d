"""Counts in runs and pages are the sums of what was added."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing, contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.mail.filter import count_store as mail_entries
from suffice.mail.filter.count_store import RATIO, TABLES, CountStore, Entries

if TYPE_CHECKING:
    from collections.abc import Iterator

keys = st.one_of(st.integers(0, 40), st.integers(0, 2**64 - 1))
changes = st.lists(
    st.dictionaries(keys, st.tuples(st.integers(-3, 3), st.integers(0, 2**40)), max_size=30),
    max_size=12,
)
ranges = st.lists(st.integers(0, 2**64 - 1), max_size=10, unique=True)


@contextmanager
def store() -> Iterator[CountStore]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for table in TABLES:
            connection.execute(table)
        yield CountStore(connection, "terms")


def entries(counts: dict[int, tuple[int, int]]) -> Entries:
    order = sorted(counts)
    return Entries.of(
        np.array(order, dtype=np.uint64),
        np.array([counts[key] for key in order], dtype=np.int64).reshape(-1, 2),
    )


@given(changes, ranges)
def test_what_is_looked_up_is_the_sum_of_all_changes(
    added: list[dict[int, tuple[int, int]]], edges: list[int]
) -> None:
    sums = (Counter[int](), Counter[int]())
    with store() as ours:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mail_entries, "PAGE_BYTES", 64)  # so that there are many pages
            for change in added:
                ours.add(entries(change))
                for key, pair in change.items():
                    for counted, n in zip(sums, pair, strict=True):
                        counted[key] += n
        expected = {key: (sums[0][key], sums[1][key]) for key in sorted({*sums[0], *sums[1]})}
        expected = {key: pair for key, pair in expected.items() if pair != (0, 0)}
        found = ours.every()
        assert found.keys.tolist() == list(expected)
        assert list(map(tuple, found.counts.tolist())) == list(expected.values())
        asked = np.array(sorted({*edges, *range(5), *expected}), dtype=np.uint64)
        looked_up = ours.of_keys(asked).tolist()
        assert [tuple(row) for row in looked_up] == [expected.get(int(k), (0, 0)) for k in asked]
        ends = sorted(edges)[: len(edges) // 2 * 2]
        lows, highs = (np.array(ends[i::2], dtype=np.uint64) for i in range(2))
        within = ours.within(lows, highs).keys.tolist()
        pairs = list(zip(lows.tolist(), highs.tolist(), strict=True))
        assert within == [key for key in expected if any(a <= key <= b for a, b in pairs)]
        sizes = ours.sizes()
        assert all(a >= RATIO * b for a, b in pairwise(sizes))


def test_a_taken_back_change_leaves_no_rows() -> None:
    with store() as ours:
        change = entries({7: (1, 0), 9: (0, 2)})
        ours.add(change)
        ours.add(change.times(-1))
        assert ours.sizes() == []
        assert ours.connection.execute("SELECT count(*) FROM pages").fetchone() == (0,)


def test_counts_beyond_32_bits_stay_exact() -> None:
    with store() as ours:
        for _ in range(3):
            ours.add(entries({5: (2**31 - 1, 2**33 + 1)}))
        assert ours.of_keys(np.array([5], dtype=np.uint64)).tolist() == [
            [3 * (2**31 - 1), 3 * (2**33 + 1)]
        ]
