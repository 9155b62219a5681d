"""When a compiled loop pays, how a kernel chooses between its twins, and how loops are compiled.

A compiled loop is worth its price on large inputs only: importing numba and reading the loop where
`suffice warm` has compiled all of them (`kept_loops`), and seconds of compiling where nobody has.
An engine that cuts a large input into blocks says so with `part_of`, so that the choice depends on
the input and on the machine: not on the number of cores, and not on what ran before.

A kernel is written twice. Its plain form, in NumPy or Python, is the function that everybody
calls; `twin` names the module in which the compiled form has the same name and parameters:

    @twin("suffice.kernels.dense.squares_numba")
    def class_squares(rows, codes, size, weights, centres): ...
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import os
import pickle
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar, cast

import numpy as np

from suffice.kernels.kept_loops import all_are_kept, cache_of, mark
from suffice.kernels.kept_loops import folder as _kept_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator
    from types import ModuleType

    from numpy.typing import NDArray

    from suffice.kernels.dense.columns_apart import ColumnsApart
    from suffice.rows.sparse_rows import SparseRows

Made = TypeVar("Made")
P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

WORTH_COMPILING = 1_000_000
"""Cells from which compiled loops are used: below, NumPy is done before numba is imported."""

PAUSE = 5e9
"""What compiling the loops of one fit takes, in ns: 3 to 7 s where docs/benchmarks.md was measured.
Where they are not on disk, a compiled loop has to save as much."""

SAVED = 2.5
"""ns that a compiled loop saves for each cell of dense rows, if they are gone through once."""

COMPILE = "SUFFICE_COMPILE"
"""The variable with which one says `always` (for large inputs, pause or not) or `never`."""

NO_WEIGHTS = np.empty(0)
"""What a compiled loop is given where rows have no weights: its arguments have one type."""

DENSE = ("<f8", "<f4")
"""Types of the cells that dense rows have."""

STORED = (
    ("<f8", "<i4", "<i4"), ("<f4", "<i4", "<i4"), ("<i8", "<i4", "<i4"), ("<i4", "<i4", "<i4"),
    ("<f8", "<i8", "<i8"),
)  # fmt: skip
"""Types of the arrays of sparse rows that are usual: cells, columns, and where rows begin."""

_makers: list[tuple[Callable[..., object], Callable[[], Iterable[tuple[Hashable, ...]]]]] = []
"""What makes loops, and for which arguments."""

_whole: ContextVar[int] = ContextVar("whole", default=0)


@contextmanager
def part_of(cells: int) -> Iterator[None]:
    """Let the blocks worked on inside count as parts of an input of that many cells."""
    token = _whole.set(max(cells, _whole.get()))
    try:
        yield
    finally:
        _whole.reset(token)


def worth_compiling(cells: int, saved: float = SAVED) -> bool:
    """Return whether so many cells, or what they are part of, are worth numba, which is here.

    `saved` is what a compiled loop saves, in ns for each of them.
    """
    most = max(cells, _whole.get())
    return most >= WORTH_COMPILING and numba_is_here() and (most * saved >= PAUSE or ready())


def ready() -> bool:
    """Return whether compiled loops can be had without a pause, or somebody said: always."""
    return os.environ.get(COMPILE) == "always" or all_are_kept()


def readable(cells: NDArray[np.generic] | ColumnsApart) -> bool:
    """Return whether a compiled loop can read these cells."""
    return cells.flags.aligned and cells.dtype.isnative


def pays(cells: NDArray[np.generic] | ColumnsApart, *_: object) -> bool:
    """Return whether the compiled loops should work on these cells, and can.

    It is asked at every call of a kernel, whose other arguments do not matter here.
    """
    return worth_compiling(cells.size) and readable(cells)


def pays_if_saved(saved: float) -> Callable[..., bool]:
    """Return `pays` for a kernel whose compiled form saves so many ns for each cell."""

    def pays_then(cells: NDArray[np.generic] | ColumnsApart, *_: object) -> bool:
        return worth_compiling(cells.size, saved) and readable(cells)

    return pays_then


def stored_cells_pay(rows: SparseRows, *_: object) -> bool:
    """Return the same of the cells that sparse rows store."""
    return pays(rows.cells)


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
        simple: Callable[..., R_co] = plain

        def compiled_form(*arguments: object) -> R_co:
            module = importlib.import_module(modules[which(*arguments)])
            form: Callable[..., R_co] = getattr(module, name)
            return form(*arguments)

        def by_position(*arguments: object, **named: object) -> tuple[object, ...]:
            return inspect.signature(plain).bind(*arguments, **named).args

        @functools.wraps(plain)
        def chosen(*arguments: object, **named: object) -> R_co:
            if named:
                arguments = by_position(*arguments, **named)
            if when(*arguments):
                return compiled_form(*arguments)
            return simple(*arguments)

        vars(chosen).update(plain=plain, compiled=compiled_form, modules=modules)
        return cast("Twin[P, R_co]", chosen)

    return decorated


def numba_is_here() -> bool:
    """Whether there is a compiler, and nobody said that it should stay where it is."""
    return _numba_is_installed() and os.environ.get(COMPILE) != "never"


@functools.cache
def _numba_is_installed() -> bool:
    return importlib.util.find_spec("numba") is not None


def array(cells: object, dimensions: int, layout: str = "C") -> object:
    """Return numba's type of an array that is only read; layout A accepts any strides.

    One type for all strides means one compilation for all of them.
    """
    return _numba().types.Array(cells, dimensions, layout, readonly=True)


def target(dimensions: int, layout: str = "C") -> object:
    """Return numba's type of a float64 array that is written to."""
    kinds = _numba().types
    return kinds.Array(kinds.float64, dimensions, layout)


def cells_type(name: str) -> object:
    """Return numba's float32 or float64, of the cells whose dtype is called so."""
    return _numba().from_dtype(np.dtype(name))


def stored_names(rows: SparseRows) -> tuple[str, str, str]:
    """Return what loops over sparse rows are compiled for: the types of their arrays, by name."""
    return rows.data.dtype.str, rows.indices.dtype.str, rows.indptr.dtype.str


def stored_types(names: tuple[str, ...]) -> list[object]:
    """Return numba's types of the arrays of sparse rows."""
    return [array(cells_type(name), 1) for name in names]


def compiled(loop: Callable[..., None], *arguments: object) -> Callable[..., None]:
    """Return the loop compiled for these argument types, from the cache where there is one.

    It runs without the GIL. A cache that cannot be read or written costs time, not the answer.
    """
    fast = _numba().njit(nogil=True)(loop)
    place = _kept_folder()
    try:
        if place is not None:
            fast._cache = cache_of(loop, arguments, place)
        fast.compile(arguments)
    except (RuntimeError, OSError, EOFError, pickle.PickleError, AttributeError):
        fast = _numba().njit(nogil=True)(loop)
        fast.compile(arguments)
    fast.disable_compile()
    made: Callable[..., None] = fast
    return made


def once(make: Callable[..., Made]) -> Callable[..., Made]:
    """Return the function with a memory: threads that need the same loop compile it only once."""
    return _remembering(make, lambda: [()])


def once_for(
    kinds: Callable[[], Iterable[tuple[Hashable, ...]]],
) -> Callable[[Callable[..., Made]], Callable[..., Made]]:
    """Let a function that makes loops for several kinds of cells have a memory, as `once` does.

    `kinds` returns the arguments of all that are usual, which `warm` compiles.
    """
    return lambda make: _remembering(make, kinds)


def _remembering(
    make: Callable[..., Made], kinds: Callable[[], Iterable[tuple[Hashable, ...]]]
) -> Callable[..., Made]:
    made: dict[tuple[Hashable, ...], Made] = {}
    guard = threading.RLock()

    @functools.wraps(make)
    def remembered(*arguments: Hashable) -> Made:
        if arguments not in made:
            with guard:
                if arguments not in made:
                    made[arguments] = make(*arguments)
        return made[arguments]

    _makers.append((remembered, kinds))
    return remembered


def warm(tell: Callable[[int, int], None] = lambda *_: None) -> int:
    """Compile every loop and keep it on disk, and return how many there are now.

    `tell` hears how many are done, and of how many. An OSError says that nothing can be kept.
    """
    if _kept_folder() is None:
        raise PermissionError("there is no folder that can be written to")
    for module in walk_packages([str(Path(__file__).parent)], "suffice.kernels."):
        if module.name.endswith("_numba"):
            importlib.import_module(module.name)
    wanted = [(make, kind) for make, kinds in _makers for kind in kinds()]
    for done, (make, kind) in enumerate(wanted):
        tell(done, len(wanted))
        make(*kind)
    tell(len(wanted), len(wanted))
    mark()
    return len(wanted)


def _numba() -> ModuleType:
    """Return the package, untyped: only some of its releases have types."""
    return importlib.import_module("numba")
