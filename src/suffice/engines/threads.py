"""Ranges of rows over threads of our own, with BLAS on one thread inside.

BLAS's own threads are of little use on blocks of a megabyte, and on a busy machine they spin and
lose 10 to 50 times. So each block is one task, and BLAS is told to use one thread while any of our
blocks is at work. Compiled loops and BLAS release the GIL; small inputs never come near the pool.
"""

from __future__ import annotations

import contextvars
import os
import sys
import threading
from collections import deque
from contextlib import closing, contextmanager, nullcontext
from functools import reduce
from itertools import pairwise
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

from suffice.errors import BadSetting
from suffice.kernels.compilation import part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from concurrent.futures import Future, ThreadPoolExecutor
    from contextlib import AbstractContextManager

    from suffice.engines.parts import Mergeable

S = TypeVar("S", bound="Mergeable")
R = TypeVar("R")
T = TypeVar("T")

TINY = 20_000
"""Cells below which not even BLAS is pinned: setting it up would take as long as the work."""

SMALL = 200_000
"""Cells below which one direct call is faster than handing blocks to threads."""

LIGHT = 1_000_000
"""Cells below which work of a few operations a cell is one direct call, and BLAS is not pinned: its
products are small ones, which it does in the thread that asks."""

LARGEST = 4_000_000
"""Cells of one block, at most (and at least 16 rows a column): what a block needs stays small."""

PRODUCT = 64**3
"""Multiplications of a matrix product from which BLAS starts threads (OpenBLAS: 4 · 2^16). What
they make differs in its last bits with their number, and for products so small they only wait for
each other: 100 x 100 cells take a tenth of the time on one."""

SLICES_PER_WORKER = 4
"""More blocks than threads: none waits long for the slowest."""


def workers() -> int:
    """Return how many cores this process may use; SUFFICE_THREADS lowers it.

    >>> workers() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    asked = os.environ.get("SUFFICE_THREADS", "").strip()
    if not asked:
        return cores
    if not asked.isdecimal() or int(asked) < 1:
        raise BadSetting(
            f"SUFFICE_THREADS is {asked!r}, not a number of threads",
            hint="set it to a whole number from 1, or unset it to use every core",
        )
    return min(int(asked), cores)


def collect_blocks(summarize: Callable[[slice], S], size: int, width: int) -> S:
    """Return the summary of rows 0..size, merged in their order from the summaries of slices.

    `summarize` is called with slices of rows, on several threads at once. The result depends on the
    number of slices only by rounding.

    >>> collect_blocks(lambda rows: rows.stop - rows.start, 10_000_000, 3)
    10000000
    """
    with closing(_results(summarize, size, width)) as summaries:
        return reduce(add, summaries)


def for_blocks(
    work: Callable[[slice], None], size: int, width: int, *, light: bool = False
) -> None:
    """Call `work` with slices that together are rows 0..size, on several threads at once.

    `light` work is a few operations a cell.

    >>> seen = []
    >>> for_blocks(seen.append, 100, 3)
    >>> seen
    [slice(0, 100, None)]
    """
    if light and size * width < LIGHT:
        work(slice(0, size))
        return
    with closing(_results(work, size, width)) as results:
        deque(results, maxlen=0)


def answers(work: Callable[[int], R], count: int, cells: float) -> list[R]:
    """Return work(0), …, work(count - 1), on several threads when `cells` say that it pays.

    For few, large and independent pieces of work, such as one candidate model each.

    >>> answers(lambda i: i * i, 4, 10)
    [0, 1, 4, 9]
    """
    if cells < SMALL or _inside.active or workers() == 1:
        return [work(i) for i in range(count)]
    parts = [slice(i, i + 1) for i in range(count)]
    with pinned():
        return list(_in_pool(lambda part: work(part.start), parts, workers()))


def in_order(call: Callable[[T], R], items: Iterable[T]) -> Generator[R]:
    """Yield what `call` returns for every item, in their order, a few of them at work at once.

    Items are taken as they are needed, by the calling thread alone, so that they may be read from
    somewhere meanwhile. Close it to leave early: nothing then stays at work.

    >>> list(in_order(lambda number: number * number, range(4)))
    [0, 1, 4, 9]
    """
    many = workers()
    if many == 1 or _inside.active:
        for item in items:
            # As in a thread of the pool: what is cut by the number of threads is not cut here.
            yield _done_here(call, item).result()
        return
    yield from _in_pool(call, items, many)


def _results(call: Callable[[slice], R], size: int, width: int) -> Generator[R]:
    """Yield what `call` returns for each slice, in the order of the slices."""
    cells = size * width
    if _inside.active or (cells < TINY and cells * width < PRODUCT):
        # Nested in one of our blocks: the threads are busy with its neighbours.
        yield call(slice(0, size))
        return
    if cells < SMALL:
        with pinned():
            yield call(slice(0, size))
        return
    many = workers()
    with part_of(cells), pinned():
        parts = _slices(size, width, many)
        if many == 1 or len(parts) == 1:
            yield from map(call, parts)
        else:
            yield from _in_pool(call, parts, many)


def _slices(size: int, width: int, many: int) -> list[slice]:
    """Cut 0..size evenly: a few slices a worker, none too large, none of a few rows only."""
    most = max(LARGEST // max(width, 1), 16 * width)
    least = max(SMALL // max(width, 1) // 2, 3 * width, 1)
    count = max(-(-size // most), min(SLICES_PER_WORKER * many, size // least), 1)
    edges = [size * part // count for part in range(count + 1)]
    return [slice(start, stop) for start, stop in pairwise(edges)]


def _in_pool(call: Callable[[T], R], parts: Iterable[T], many: int) -> Generator[R]:
    """Yield results in order; few tasks are under way at once, so few results wait.

    The calling thread works as well: it takes whatever no other thread has begun. Where it would
    only wait, the system may put both others on the core it has left, and leave one core idle.
    """
    pool = _pool(many - 1)
    waiting: deque[tuple[Future[R], T]] = deque()
    left = iter(parts)

    def submit() -> None:
        for part in left:
            # Each task sees the caller's context: NumPy's error state, the size of the whole.
            task = pool.submit(contextvars.copy_context().run, call, part)
            waiting.append((task, part))
            return

    try:
        for _ in range(2 * many):
            submit()
        while waiting:
            first = waiting[0][0]
            if not first.done():
                place = next((i for i, (task, _) in enumerate(waiting) if task.cancel()), None)
                if place is not None:  # cancelled, as nobody had begun it
                    waiting[place] = _done_here(call, waiting[place][1]), waiting[place][1]
                    continue
            result = first.result()
            waiting.popleft()
            submit()
            yield result
    finally:
        # After an error or an interrupt: drop what has not begun, and leave no block at work
        # behind.
        for task, _ in waiting:
            task.cancel()
        for task, _ in waiting:
            if not task.cancelled():
                task.exception()


def _done_here(call: Callable[[T], R], part: T) -> Future[R]:
    """Return a task that the calling thread has done itself, as a thread of the pool would."""
    from concurrent.futures import Future

    task: Future[R] = Future()
    before, _inside.active = _inside.active, True
    try:
        task.set_result(call(part))
    except Exception as error:  # noqa: BLE001  raised when its turn comes
        task.set_exception(error)
    finally:
        _inside.active = before
    return task


# The pool and the pin. Both belong to the process, so both are guarded.


class _Inside(threading.local):
    """What this thread is in the middle of."""

    active = False
    pins = 0


_inside = _Inside()
_guard = threading.Lock()
_pools: dict[int, ThreadPoolExecutor] = {}
_pins = 0
_limits: list[Any] = []
_controller: object = None
_controller_knows: tuple[bool, ...] = ()


def _pool(many: int) -> ThreadPoolExecutor:
    """Return the pool of that many threads, made when it is first needed."""
    with _guard:
        if many not in _pools:
            from concurrent.futures import ThreadPoolExecutor  # heavy; small inputs need none

            _pools[many] = ThreadPoolExecutor(many, "suffice", initializer=_enter_pool)
        return _pools[many]


def _enter_pool() -> None:
    _inside.active = True


@contextmanager
def pinned() -> Iterator[None]:
    """Keep BLAS on one thread inside the block; nesting it, also from several threads, is fine.

    SciPy brings a BLAS of its own: where it is loaded inside a block, the next inner block pins it.

    >>> with pinned():
    ...     pass
    """
    global _pins  # noqa: PLW0603
    with _guard:
        if _pins == 0 or _loaded() != _controller_knows:
            _limits.append(_blas().limit(limits=1, user_api="blas"))
        _pins += 1
    _inside.pins += 1
    try:
        yield
    finally:
        _inside.pins -= 1
        with _guard:
            _pins -= 1
            if _pins == 0:
                _restore()


def pinned_for(multiplications: float) -> AbstractContextManager[None]:
    """Keep BLAS on one thread if it would use several for products of so many multiplications.

    >>> with pinned_for(100.0**3):
    ...     pass
    """
    return pinned() if multiplications >= PRODUCT else nullcontext()


def _restore() -> None:
    """Give BLAS its threads back: the last limit knows one thread only, the first what was."""
    while _limits:
        _limits.pop().restore_original_limits()


def _loaded() -> tuple[bool, ...]:
    return tuple(name in sys.modules for name in ("numpy", "scipy.linalg._fblas"))


def _blas() -> Any:
    """Return the controller of the BLAS libraries that are loaded now; looking for them is slow."""
    global _controller, _controller_knows
    if _controller is None or _loaded() != _controller_knows:
        from threadpoolctl import ThreadpoolController

        _controller, _controller_knows = ThreadpoolController(), _loaded()
    return _controller


def _after_fork() -> None:
    """Forget the pool, whose threads exist in the parent only, and the pins those threads held."""
    global _guard, _pins  # noqa: PLW0603
    _guard = threading.Lock()
    _pools.clear()
    _inside.active = False
    if _pins and not _inside.pins:
        _restore()
    _pins = _inside.pins


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
