"""Arrow data from outside: checked whole before any value is looked at, and refused in words.

A file says itself where its values are, how long they are and which of them a row means. pyarrow
believes that until it is asked to check, and then reads whatever memory is there.
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadFile
from suffice.tables.allowances import MUCH_TEXT, refuse_long

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from suffice.tables.allowances import Allowance
    from suffice.tables.arrow_types import ArrowBatch, ArrowCells, ArrowType


LOOK = 1000
"""Texts that are looked at to tell whether most of them come more than once."""


class BatchChecks:
    """Checks of record batches of one table, of which each dictionary is looked at once.

    Otherwise pyarrow's own error is raised: `arrow_at_work` makes a refusal of it.
    """

    def __init__(self, name: str, allowed: Allowance) -> None:
        self._name, self._allowed = name, allowed
        self._known: dict[str, tuple[ArrowCells, list[tuple[int, int]]]] = {}

    def checked(self, batch: ArrowBatch, names: Sequence[str], place: str) -> ArrowBatch:
        """Return some columns of a batch, if every offset, index and character is sound."""
        held = batch.select(list(names))
        held.validate()  # no look at the rows: all buffers are as long as they should be
        stored = batch.nbytes  # looks at all columns: once, and not for each of them
        for name, cells in zip(names, held.columns, strict=True):
            self._allowed.unpack(_behind_views(cells), stored, f"{place}, {name}")
            if import_module("pyarrow").types.is_dictionary(cells.type):
                self._check_codes(cells, name)
            elif not import_module("pyarrow").types.is_primitive(cells.type):
                cells.validate(full=True)
        return held

    def _check_codes(self, cells: ArrowCells, name: str) -> None:
        """Check a column of codes; its dictionary only if it is another one than before."""
        words = cells.dictionary
        buffers = [(b.address, b.size) for b in words.buffers() if b is not None]
        known, places = self._known.get(name, (None, []))
        if known is None or places != buffers or len(known) != len(words):
            cells.validate(full=True)
            self._known[name] = words, buffers  # held, so that no other comes to its place
            return
        ends = import_module("pyarrow.compute").min_max(cells.indices).as_py()
        if ends["min"] is not None and not 0 <= ends["min"] <= ends["max"] < len(words):
            cells.validate(full=True)


def _behind_views(cells: ArrowCells) -> int:
    """Return how many bytes texts have in all that are views: many may mean the same."""
    types = import_module("pyarrow").types
    if types.is_dictionary(cells.type):
        return _behind_views(cells.dictionary)
    if types.is_run_end_encoded(cells.type):
        return _behind_views(cells.values)
    if types.is_string_view(cells.type) or types.is_binary_view(cells.type):
        return int(np.maximum(_lengths(cells), 0).sum())
    return 0


def _lengths(cells: ArrowCells) -> NDArray[np.int64]:
    """Return the bytes of each text, whatever is there where a text is null."""
    types = import_module("pyarrow").types
    held, size = cells.buffers()[1], len(cells)
    if held is None or not size:
        return np.zeros(size, np.int64)
    if types.is_string_view(cells.type) or types.is_binary_view(cells.type):
        sizes = np.frombuffer(memoryview(held), np.int32, 4 * size, 16 * cells.offset)[::4]
        return sizes.astype(np.int64)
    kind = np.int64 if types.is_large_string(cells.type) else np.int32
    width = np.dtype(kind).itemsize
    stored = np.frombuffer(memoryview(held), kind, size + 1, width * cells.offset)
    ends: NDArray[np.int64] = stored.astype(np.int64)
    return ends[1:] - ends[:-1]


def checked_text(batch: ArrowBatch) -> ArrowBatch:
    """Return a batch whose text is text; for readers, as of Parquet, that made all else themselves.

    Characters are all that such a reader takes as it finds it.
    """
    types = import_module("pyarrow").types
    for column in batch.columns:
        held = column.type.value_type if types.is_dictionary(column.type) else column.type
        if not types.is_primitive(held):
            column.validate(full=True)
    return batch


def portions(batch: ArrowBatch, place: str) -> Iterator[ArrowBatch]:
    """Yield a batch, cut where its texts would take much memory as Python's; one row at least."""
    size = 0
    for name, cells in zip(batch.schema.names, batch.columns, strict=True):
        if not batch.num_rows or not _is_text(_value_type(cells.type)):
            continue
        held, lengths_of = _texts_of(cells)
        if held <= MUCH_TEXT:
            size += held
            continue
        lengths = lengths_of()
        refuse_long(int(lengths.max(initial=0)), f"{place}, {name}")
        size += int(lengths.sum())
    if size <= MUCH_TEXT or batch.num_rows < 2:
        yield batch
        return
    half = batch.num_rows // 2
    yield from portions(batch.slice(0, half), place)
    yield from portions(batch.slice(half), place)


def _texts_of(cells: ArrowCells) -> tuple[int, Callable[[], NDArray[np.int64]]]:
    """Return how many bytes of text there are, at most, and what says how many each has."""
    types = import_module("pyarrow").types
    if types.is_run_end_encoded(cells.type):
        cells = _coded_runs(cells)
    if types.is_dictionary(cells.type):
        words, codes = cells.dictionary, cells.indices
        held = int(_lengths(words).sum()) if _is_view(words.type) else words.nbytes
        return held, lambda: _lengths(words)[_used(codes)]
    if _is_view(cells.type):
        return int(_lengths(cells).sum()), lambda: _lengths(cells)
    return cells.nbytes, lambda: _lengths(cells)


def _used(codes: ArrowCells) -> NDArray[np.int64]:
    """Return which words are meant at all."""
    return np.unique(codes.drop_null().cast("int64").to_numpy(zero_copy_only=False))


def _coded_runs(cells: ArrowCells) -> ArrowCells:
    """Return a column of runs as codes of their values."""
    pa = import_module("pyarrow")
    ends = np.asarray(cells.run_ends)
    at = np.searchsorted(ends, np.arange(cells.offset, cells.offset + len(cells)), side="right")
    if _is_text(cells.values.type):
        coded: ArrowCells = pa.DictionaryArray.from_arrays(at, cells.values)
        return coded
    return cells.values.take(pa.array(at))


def plain_cells(cells: ArrowCells) -> ArrowCells:
    """Return cells without runs and, but for texts, without codes; texts as codes of words."""
    pa = import_module("pyarrow")
    if pa.types.is_run_end_encoded(cells.type):
        cells = _coded_runs(cells)
    if pa.types.is_dictionary(cells.type):
        return cells if _is_text(cells.type.value_type) else cells.cast(cells.type.value_type)
    if not _is_text(cells.type):
        return cells
    if _is_view(cells.type):
        cells = cells.cast(pa.large_string())
    some = cells.slice(0, LOOK)
    return cells if len(some.unique()) > len(some) // 2 else cells.dictionary_encode()


def words_of(cells: ArrowCells) -> NDArray[np.generic]:
    """Return texts of a dictionary as objects, each of them once, blank ones None.

    As texts one after the other they could take any memory: a few bytes mean a long one each. What
    is no dictionary, for nearly all texts differ, is made objects as it comes.
    """
    if not import_module("pyarrow").types.is_dictionary(cells.type):
        texts = cells.to_numpy(zero_copy_only=False)
        blank = _lengths(cells) == 0
        if blank.any():
            texts = texts.copy()
            texts[blank] = None
        return texts
    codes = cells.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    held = cells.dictionary
    if len(held) > len(codes):
        used, codes = np.unique(codes, return_inverse=True)
        blank = int(len(used) > 0 and used[0] < 0)
        held, codes = held.take(used[blank:]), codes - blank
    levels = np.empty(len(held) + 1, dtype=object)
    levels[:-1] = [word or None for word in held.to_pylist()]
    found: NDArray[np.generic] = levels[codes]  # the last one is None
    return found


def _value_type(given: ArrowType) -> ArrowType:
    types = import_module("pyarrow").types
    while types.is_dictionary(given) or types.is_run_end_encoded(given):
        given = given.value_type
    return given


def _is_view(given: ArrowType) -> bool:
    return bool(import_module("pyarrow").types.is_string_view(given))


def _is_text(given: ArrowType) -> bool:
    types = import_module("pyarrow").types
    return bool(types.is_string(given) or types.is_large_string(given) or _is_view(given))


def holds_words(given: ArrowType) -> bool:
    """Whether a type is one of texts, also of codes or runs of them."""
    return _is_text(_value_type(given))


@contextmanager
def arrow_at_work(name: str, place: Callable[[], str] = str) -> Iterator[None]:
    """Turn what Arrow cannot read inside the block into refusals about the file of that name.

    `place()` says how far it was read, with a space before it. What the system says about a file,
    such as that it is gone, stays as it is.
    """
    pa = import_module("pyarrow")
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError, MemoryError, ArithmeticError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        words = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, UnicodeError):
            words = "text in it is not UTF-8"
        if isinstance(error, MemoryError):
            words = f"it asks for more memory than there is ({words:.80})"
        raise BadFile(
            f"{name} cannot be read{place()}: {words:.160}",
            hint="it is incomplete or damaged: write or download it again",
        ) from None
