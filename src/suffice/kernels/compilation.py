"""When a compiled loop pays, how a kernel chooses between its twins, and how loops are compiled.

A compiled loop is worth its price (importing numba, compiling or loading from the cache) on large
inputs only. An engine that cuts a large input into blocks says so with `part_of`, so that the
choice depends on the input alone: not on the number of cores, and not on what ran before.

A kernel is written twice. Its plain form, in NumPy or Python, is the function that everybody
calls; `twin` names the module in which the compiled form has the same name and parameters:

    @twin("suffice.kernels.dense.squares_numba")
    def class_squares(rows, codes, size, weights, centres): ...
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import inspect
import os
import pickle
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from numpy.typing import NDArray

    from suffice.kernels.dense.columns_apart import ColumnsApart
    from suffice.rows.sparse_rows import SparseRows

Made = TypeVar("Made")
P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

WORTH_COMPILING = 1_000_000
"""Cells from which a compiled loop is used: below, NumPy is done before numba is imported."""

NO_WEIGHTS = np.empty(0)
"""What a compiled loop is given where rows have no weights: its arguments have one type."""

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


def worth_compiling(cells: int, *_: object) -> bool:
    """Return whether so many cells, or what they are part of, are worth numba, which is here."""
    return (cells >= WORTH_COMPILING or _whole.get() >= WORTH_COMPILING) and numba_is_here()


def readable(cells: NDArray[Any] | ColumnsApart) -> bool:
    """Return whether a compiled loop can read these cells."""
    return cells.flags.aligned and cells.dtype.isnative


def pays(cells: NDArray[Any] | ColumnsApart, *_: object) -> bool:
    """Return whether the compiled loops should work on these cells, and can.

    It is asked at every call of a kernel, whose other arguments do not matter here.
    """
    large = cells.size >= WORTH_COMPILING or _whole.get() >= WORTH_COMPILING
    return large and readable(cells) and numba_is_here()


def stored_cells_pay(rows: SparseRows, *_: object) -> bool:
    """Return the same of the cells that sparse rows store."""
    return pays(rows.cells)


def whole_pays(*_: object) -> bool:
    """Return whether what is at hand is part of a large input, however large it is itself."""
    return worth_compiling(0)


class Twin(Protocol[P, R_co]):
    """A kernel that chooses between its two forms, each of which can be called by itself."""

    __name__: str

    @property
    def plain(self) -> Callable[P, R_co]:
        """The form that needs no compiler."""

    @property
    def compiled(self) -> Callable[P, R_co]:
        """The form in numba, which is imported when it is called."""

    @property
    def modules(self) -> tuple[str, ...]:
        """Where the compiled form is: in several modules, where it depends on the arguments."""

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R_co:
        """Return what the form returns that suits the arguments."""


def _first(*_: object) -> int:
    return 0


def twin(
    *modules: str, when: Callable[..., bool] = pays, which: Callable[..., int] = _first
) -> Callable[[Callable[P, R_co]], Twin[P, R_co]]:
    """Let the function of the same name in a module of numba work where `when` holds.

    `when` is asked with all arguments, by position; so is `which`, where there are several modules,
    for the place of the one that suits them. Nothing is imported before `when` has said yes.
    """

    def decorated(plain: Callable[P, R_co]) -> Twin[P, R_co]:
        name = plain.__name__

        def compiled_form(*arguments: Any) -> Any:
            module = importlib.import_module(modules[which(*arguments)])
            return getattr(module, name)(*arguments)

        def by_position(*arguments: Any, **named: Any) -> Any:
            return inspect.signature(plain).bind(*arguments, **named).args

        @functools.wraps(plain)
        def chosen(*arguments: Any, **named: Any) -> Any:
            if named:
                arguments = by_position(*arguments, **named)
            if when(*arguments):
                return compiled_form(*arguments)
            return plain(*arguments)  # type: ignore[call-arg]

        made = cast("Any", chosen)
        made.plain, made.compiled, made.modules = plain, compiled_form, modules
        return cast("Twin[P, R_co]", made)

    return decorated


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
    kinds = _numba().types
    return kinds.Array(kinds.float64, dimensions, layout)


def cells_type(name: str) -> Any:
    """Return numba's float32 or float64, of the cells whose dtype is called so."""
    return _numba().from_dtype(np.dtype(name))


def stored_names(rows: SparseRows) -> tuple[str, str, str]:
    """Return what loops over sparse rows are compiled for: the types of their arrays, by name."""
    return rows.data.dtype.str, rows.indices.dtype.str, rows.indptr.dtype.str


def stored_types(names: tuple[str, ...]) -> list[Any]:
    """Return numba's types of the arrays of sparse rows."""
    return [array(cells_type(name), 1) for name in names]


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
    made: Callable[..., None] = fast
    return made


@functools.cache
def _forget_stale(folder: str) -> None:
    """Remove compiled loops from a cache that was made from other sources than these.

    numba looks at the file of the loop only; what the loop calls may be in another one, in any
    folder, and would stay as it was after an upgrade.
    """
    sources = sorted(Path(__file__).parent.rglob("*_numba.py"))
    content = b"".join(source.read_bytes() for source in sources)
    mark, stamp = hashlib.sha256(content).hexdigest(), Path(folder) / STAMP
    if stamp.exists() and stamp.read_text(encoding="ascii") == mark:
        return
    for stale in Path(folder).glob("*_numba.*.nb?"):
        stale.unlink(missing_ok=True)
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
