"""Blocks over threads: the same answer as one block, in order, whatever goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import ThreadpoolController, threadpool_limits

import suffice
from suffice.engines import collect, threads
from suffice.errors import BadRows, BadSetting
from suffice.kernels import compilation


class Seen:
    """A summary that remembers the order in which its parts were merged."""

    def __init__(self, *parts):
        self.parts = parts

    def __add__(self, other):
        return Seen(*self.parts, *other.parts)


@pytest.fixture
def four_workers(monkeypatch):
    monkeypatch.setattr(threads, "workers", lambda: 4)


def blas_threads():
    libraries = ThreadpoolController().select(user_api="blas").info()
    return [library["num_threads"] for library in libraries]


@given(size=st.integers(0, 3_000_000), width=st.integers(0, 600), many=st.integers(1, 64))
def test_slices_cover_every_row_once_in_order(size, width, many):
    parts = threads._slices(size, width, many)
    assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
    assert parts[-1].stop == size
    most = max(threads.LARGEST // max(width, 1), 16 * width)
    assert all(part.stop - part.start <= most for part in parts)


def test_blocks_are_merged_in_the_order_of_the_rows(four_workers):
    met = threading.Barrier(4)

    def summarize(rows):
        if rows.start < 4 * (rows.stop - rows.start):
            met.wait(10)  # the first four really run side by side
        return Seen(rows)

    parts = threads.collect_blocks(summarize, 4_000_000, 1).parts
    assert len(parts) == 16
    assert parts[0].start == 0
    assert parts[-1].stop == 4_000_000
    assert all(one.stop == other.start for one, other in pairwise(parts))


def test_any_number_of_blocks_gives_the_same_sum(monkeypatch):
    numbers = np.arange(1_000_000)
    for many in (1, 2, 3, 7):
        monkeypatch.setattr(threads, "workers", lambda many=many: many)
        total = threads.collect_blocks(lambda rows: numbers[rows].sum(), 1_000_000, 1)
        assert total == numbers.sum()


def test_every_row_is_worked_on_once(four_workers):
    out = np.zeros(1_000_000)

    def work(rows):
        out[rows] += 1

    threads.for_blocks(work, len(out), 5)
    assert (out == 1).all()


@pytest.mark.parametrize(("size", "width"), [(0, 3), (0, 0), (5, 0), (1, 1), (100, 9), (9000, 20)])
def test_small_inputs_never_touch_the_pool(size, width):
    def summarize(rows):
        return Seen((rows, threading.current_thread()))

    assert threads.collect_blocks(summarize, size, width).parts == (
        (slice(0, size), threading.current_thread()),
    )


def test_a_block_that_starts_blocks_of_its_own_runs_them_itself(four_workers):
    def inner(rows):
        return Seen((rows, threading.current_thread()))

    def outer(rows):
        (found,) = threads.collect_blocks(inner, 1_000_000, 20).parts
        assert found == (slice(0, 1_000_000), threading.current_thread())
        return Seen(rows)

    assert len(threads.collect_blocks(outer, 1_000_000, 20).parts) == 16


@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt])
def test_what_goes_wrong_in_a_block_comes_out_and_stops_the_rest(four_workers, kind):
    started = []

    def work(rows):
        started.append(rows)
        if rows.start == 0:
            raise kind

    with pytest.raises(kind):
        threads.for_blocks(work, 100_000_000, 4)
    assert len(started) < 100
    assert threads.collect_blocks(lambda _: 1, 4_000_000, 1) == 16


def test_blocks_see_the_callers_error_state(four_workers):
    with np.errstate(all="raise"):
        states = threads.collect_blocks(lambda _: Seen(np.geterr()["over"]), 4_000_000, 1).parts
    assert set(states) == {"raise"}


def test_a_small_block_of_a_large_input_counts_as_large(four_workers):
    pytest.importorskip("numba", reason="without numba nothing is ever compiled")
    cells = np.ones(10)
    assert not compilation.pays(cells)
    inside = threads.collect_blocks(lambda _: Seen(compilation.pays(cells)), 4_000_000, 1)
    assert set(inside.parts) == {True}
    assert not compilation.pays(cells)


def test_blas_is_on_one_thread_inside_and_as_before_outside(four_workers):
    before = blas_threads()
    with threads.pinned():
        with threads.pinned():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before
    inside = threads.collect_blocks(lambda _: Seen(*blas_threads()), 4_000_000, 1)
    assert set(inside.parts) == {1}
    assert blas_threads() == before


def test_threads_may_pin_at_the_same_time():
    before = blas_threads()

    def pin():
        for _ in range(50):
            with threads.pinned():
                pass

    crowd = [threading.Thread(target=pin) for _ in range(8)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert blas_threads() == before


PINNED = """
import sys
import numpy as np
from threadpoolctl import ThreadpoolController
from suffice.engines import threads

def counts():
    found = ThreadpoolController().select(user_api="blas").info()
    return sorted(library["num_threads"] for library in found)

assert "scipy.linalg._fblas" not in sys.modules and counts() == [2], counts()
with threads.pinned():
    import scipy.linalg
    with threads.pinned():
        assert set(counts()) == {1}, counts()
    assert set(counts()) == {1}, counts()
assert set(counts()) == {2}, counts()

eigh, seen = np.linalg.eigh, []
np.linalg.eigh = lambda *given: (seen.extend(counts()), eigh(*given))[1]
from suffice import Pool
rng = np.random.default_rng(0)
y = np.arange(40) % 2
X = rng.normal(size=(40, 3)) + y[:, None]
Pool().fit(X, y).predict_proba(X)
assert seen and set(seen) == {1}, seen
assert set(counts()) == {2}, counts()
"""


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="there is one core, and so one thread")
@pytest.mark.process
@pytest.mark.slow
def test_a_blas_that_comes_later_is_pinned_and_a_pool_never_waits_for_its_threads():
    # Beside other work a decomposition of 60 rows takes 200 times as long on two threads.
    before = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    subprocess.run([sys.executable, "-c", PINNED], check=True, env=before)


def test_the_number_of_threads_can_be_lowered(monkeypatch):
    cores = threads.workers()
    monkeypatch.setenv("SUFFICE_THREADS", "1")
    assert threads.workers() == 1
    monkeypatch.setenv("SUFFICE_THREADS", "10000")
    assert threads.workers() == cores
    monkeypatch.setenv("SUFFICE_THREADS", "")
    assert threads.workers() == cores


@pytest.mark.parametrize("asked", ["0", "-2", "two", "1.5"])
def test_a_number_of_threads_that_is_none_is_refused(monkeypatch, asked):
    monkeypatch.setenv("SUFFICE_THREADS", asked)
    with pytest.raises(BadSetting, match="SUFFICE_THREADS"):
        threads.workers()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.process
def test_a_forked_process_gets_threads_of_its_own():
    script = """
import os
from suffice.engines import threads
threads.workers = lambda: 2
assert threads.collect_blocks(lambda rows: 1, 4_000_000, 1) == 8
child = os.fork()
if child == 0:
    os._exit(0 if threads.collect_blocks(lambda rows: 1, 4_000_000, 1) == 8 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    path = os.pathsep.join(sys.path)
    subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": path},
    )


@given(st.lists(st.integers(), min_size=1, max_size=70))
def test_batches_are_merged_in_order(numbers):
    assert list(collect(Seen, numbers).parts) == numbers


def test_merging_batches_is_balanced():
    class Depth:
        def __init__(self, depth=0):
            self.depth = depth

        def __add__(self, other):
            return Depth(1 + max(self.depth, other.depth))

    assert collect(lambda _: Depth(), range(1024)).depth == 10


def test_no_batch_at_all_is_refused():
    with pytest.raises(BadRows, match="no batch"):
        collect(Seen, [])


@pytest.mark.parametrize("form", ["shared", "per-class"])
def test_what_is_learned_and_forgotten_does_not_depend_on_threads_of_blas(form):
    """Small batches of many columns: their products are larger than they look."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 300)), np.arange(120) % 2

    def learned():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = suffice.GaussianDiscriminant(form).fit(X[:40], y[:40])
            model.partial_fit(X[40:], y[40:])
            return (model + model).forget(X[:40], y[:40])

    with threadpool_limits(1, user_api="blas"):
        one = learned().statistics_
    with threadpool_limits(2, user_api="blas"):
        two = learned().statistics_
    ours, theirs = one.to_arrays(), two.to_arrays()
    assert ours.keys() == theirs.keys()
    for name, held in ours.items():
        assert np.array_equal(held, theirs[name]), name
