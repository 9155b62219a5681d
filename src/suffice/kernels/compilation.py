"""When a compiled loop pays, and how it is compiled.

A compiled loop is worth its price (importing numba, compiling or loading from the cache) on large
inputs only. An engine that cuts a large input into blocks says so with `part_of`, so that the
choice depends on the input alone: not on the number of cores, and not on what ran before.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import os
import pickle
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from numpy.typing import NDArray

Made = TypeVar("Made")

WORTH_COMPILING = 1_000_000
"""Cells from which a compiled loop is used."""

STAMP = "suffice-kernels.txt"
"""What a cache of compiled loops was made from."""

_whole: ContextVar[int] = ContextVar("whole", default=0)


@contextmanager
def part_of(cells: int) -> Iterator[None]:
    """Let the blocks worked on inside count as parts of an input of that many cells."""
    token = _whole.set(max(cells, _whole.get()))
    try:
        yield
    finally:
        _whole.reset(token)


def pays(cells: NDArray[Any]) -> bool:
    """Return whether the compiled loops should work on these cells, and can."""
    large = max(cells.size, _whole.get()) >= WORTH_COMPILING
    return large and cells.flags.aligned and cells.dtype.isnative and numba_is_here()


@functools.cache
def numba_is_here() -> bool:
    """Whether there is a compiler."""
    return importlib.util.find_spec("numba") is not None


def array(cells: Any, dimensions: int, layout: str = "C") -> Any:
    """Return numba's type of an array that is only read; layout A accepts any strides.

    One type for all strides means one compilation for all of them.
    """
    return _numba().types.Array(cells, dimensions, layout, readonly=True)


def target(dimensions: int, layout: str = "C") -> Any:
    """Return numba's type of a float64 array that is written to."""
    types = _numba().types
    return types.Array(types.float64, dimensions, layout)


def compiled(loop: Callable[..., None], *arguments: Any) -> Callable[..., None]:
    """Return the loop compiled for these argument types, from the cache where there is one.

    It runs without the GIL. A cache that cannot be read or written costs time, not the answer.
    """
    njit = _numba().njit
    try:
        fast: Any = njit(cache=True, nogil=True)(loop)
        _forget_stale(str(fast._cache.cache_path))
        fast.compile(arguments)
    except (RuntimeError, OSError, EOFError, pickle.PickleError, AttributeError):
        fast = njit(nogil=True)(loop)
        fast.compile(arguments)
    fast.disable_compile()
    found: Callable[..., None] = fast
    return found


@functools.cache
def _forget_stale(folder: str) -> None:
    """Remove compiled loops from a cache that was made from other sources than these.

    numba looks at the file of the loop only; what the loop calls may be in another one, and would
    stay as it was after an upgrade.
    """
    sources = sorted(Path(__file__).parent.glob("*_numba.py"))
    content = b"".join(source.read_bytes() for source in sources)
    mark, stamp = hashlib.sha256(content).hexdigest(), Path(folder) / STAMP
    if stamp.exists() and stamp.read_text(encoding="ascii") == mark:
        return
    for held in Path(folder).glob("*_numba.*.nb?"):
        held.unlink(missing_ok=True)
    Path(folder).mkdir(parents=True, exist_ok=True)
    beside = stamp.with_suffix(f".{os.getpid()}")
    beside.write_text(mark, encoding="ascii")
    beside.replace(stamp)


def once(make: Callable[..., Made]) -> Callable[..., Made]:
    """Return the function with a memory: threads that need the same loop compile it only once."""
    made: dict[tuple[Hashable, ...], Made] = {}
    guard = threading.RLock()

    @functools.wraps(make)
    def remembered(*arguments: Hashable) -> Made:
        if arguments not in made:
            with guard:
                if arguments not in made:
                    made[arguments] = make(*arguments)
        return made[arguments]

    return remembered


def _numba() -> Any:
    """Return the package, untyped: only some of its releases have types."""
    return importlib.import_module("numba")
