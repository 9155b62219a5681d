"""Compiled loops on disk: where they are kept, and whether all of them are there already.

Compiling takes seconds and reading what was compiled milliseconds, so that it matters whether this
machine has been here before. `warm` compiles every loop and leaves a mark; the mark names the
sources, the compiler and the processor, and counts only where all three are the same. Whoever asks
(`all_are_kept`) reads a few lines and does not import the compiler.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "suffice-kernels.txt"
"""The file that says what all the loops beside it were compiled from, by what, and for what."""

PROCESSOR = ("model name", "flags", "CPU part", "Features")
"""What of Linux' description of a processor decides which instructions are compiled for it."""

COMPILER_SETTINGS = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_OPT")
"""Variables by which numba is told to compile for another processor, or in another way."""


@functools.cache
def sources() -> str:
    """Return what all compiled loops are made from, as a short hash.

    A loop calls others in other files and folders: a change of one of them counts for all.
    """
    files = sorted(Path(__file__).parent.rglob("*_numba.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


@functools.cache
def expected_mark() -> str:
    """Return what the mark says where loops of these sources suit this machine."""
    from importlib import metadata  # heavy, and only needed here

    try:
        compiler = metadata.version("numba"), metadata.version("llvmlite")
    except metadata.PackageNotFoundError:
        compiler = ("unknown", "unknown")
    told = [f"{name}={os.environ[name]}" for name in COMPILER_SETTINGS if name in os.environ]
    known = [sys.version, *compiler, platform.machine(), *_processor(), *told]
    return f"{sources()}\n{hashlib.sha256(repr(known).encode()).hexdigest()}\n"


def _processor() -> list[str]:
    """Return how this machine describes its first processor."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            first = list(iter(lambda: lines.readline().strip(), ""))
    except OSError:
        return [platform.processor()]
    return [line for line in first if line.startswith(PROCESSOR)]


def folders() -> list[Path]:
    """Return where loops may be kept, in the order in which places are tried."""
    if asked := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(asked) / "suffice"]
    return [Path(__file__).parent / "__pycache__", *_of_the_user()]


def _of_the_user() -> list[Path]:
    if sys.platform == "win32":
        root = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        root = "~/Library/Caches"
    else:
        root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return [Path(root).expanduser() / "suffice" / "kernels"] if root else []
    except RuntimeError:  # nobody's home
        return []


@functools.cache
def folder() -> Path | None:
    """Return where loops are kept: where all are, else the first place that can be written to."""
    places = folders()
    for place in places:
        if _marked(place):
            return place
    return next((place for place in places if _writable(place)), None)


@functools.cache
def all_are_kept() -> bool:
    """Return whether every loop is on disk, compiled from these sources for this machine.

    It is found out once: what a process computes does not depend on what another does meanwhile.
    """
    place = folder()
    return place is not None and _marked(place)


def _marked(place: Path) -> bool:
    try:
        return (place / MARK).read_text(encoding="ascii") == expected_mark()
    except (OSError, ValueError):
        return False


def _writable(place: Path) -> bool:
    import tempfile  # heavy, and only needed here

    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            return True
    except OSError:
        return False


def mark() -> None:
    """Say that every loop is there. An OSError says that it cannot be said."""
    place = folder()
    if place is None:
        raise PermissionError("there is no folder that can be written to")
    beside = place / f"{MARK}.{os.getpid()}"
    beside.write_text(expected_mark(), encoding="ascii")
    beside.replace(place / MARK)
    all_are_kept.cache_clear()


def cache_of(loop: Callable[..., None], arguments: tuple[object, ...], place: Path) -> object:
    """Return numba's cache of one loop for these types of arguments, in this folder.

    Unlike numba's own, the folder need not be writable to be read. Loops that were compiled from
    other sources are not found, as the sources are in their names; nor do two processes that
    compile the same loop for other arguments write to the same file.
    """
    caching = importlib.import_module("numba.core.caching")  # only some releases have types
    form, cache = caching.CompileResultCacheImpl, caching.FunctionCache
    types = hashlib.sha256(repr(arguments).encode()).hexdigest()[:16]
    first = loop.__code__.co_firstlineno
    room = Path(loop.__code__.co_filename).parent.name

    class LoopPlace:
        """Where the files of this loop are, and what they are called."""

        @classmethod
        def from_function(cls, *_: object) -> Self:
            return cls()

        def ensure_cache_path(self) -> None:
            place.mkdir(parents=True, exist_ok=True)

        def get_cache_path(self) -> str:
            return str(place)

        def get_source_stamp(self) -> str:
            return sources()

        def get_disambiguator(self) -> str:
            return f"{room}.{first}.{types}.{sources()[:16]}"

    class LoopForm(form):  # type: ignore[misc, valid-type]
        _locator_classes = (LoopPlace,)

    class LoopCache(cache):  # type: ignore[misc, valid-type]
        _impl_class = LoopForm

        def save_overload(self, *given: object) -> None:
            try:
                super().save_overload(*given)
            except OSError:  # full, or not to be written to: compiled again the next time
                return

    return LoopCache(loop)
