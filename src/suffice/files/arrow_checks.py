"""Arrow data from outside: checked whole before any value is looked at, and refused in words.

A file says itself where its values are, how long they are and which of them a row means. pyarrow
believes that until it is asked to check, and then reads whatever memory is there.
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray


def checked_batch(batch: Any, names: Sequence[str] | None = None) -> Any:
    """Return some columns of a record batch, if every offset, index and character in them is sound.

    Otherwise pyarrow's own error is raised: `arrow_at_work` makes a refusal of it.
    """
    held = batch if names is None else batch.select(list(names))
    held.validate(full=True)
    return held


def checked_text(batch: Any) -> Any:
    """Return a batch whose text is text; for readers, as of Parquet, that made all else themselves.

    Characters are all that such a reader takes as it finds it.
    """
    types: Any = import_module("pyarrow").types
    for column in batch.columns:
        held = column.type.value_type if types.is_dictionary(column.type) else column.type
        if not types.is_primitive(held):
            column.validate(full=True)
    return batch


def words_of(cells: Any) -> NDArray[Any]:
    """Return texts of a dictionary as objects, each of them once, blank ones None.

    As texts one after the other they could take any memory: a few bytes mean a long one each.
    """
    words = [word or None for word in cells.dictionary.to_pylist()]
    levels = np.empty(len(words) + 1, dtype=object)
    levels[:-1] = words
    codes = cells.indices.cast("int64").fill_null(len(words))
    found: NDArray[Any] = levels[codes.to_numpy(zero_copy_only=False)]
    return found


def holds_words(given: Any) -> bool:
    """Whether a type is a dictionary of texts."""
    types: Any = import_module("pyarrow").types
    if not types.is_dictionary(given):
        return False
    return bool(types.is_string(given.value_type) or types.is_large_string(given.value_type))


@contextmanager
def arrow_at_work(name: str, place: Callable[[], str] = str) -> Iterator[None]:
    """Turn what Arrow cannot read inside the block into refusals about the file of that name.

    `place()` says how far it was read, with a space before it. What the system says about a file,
    such as that it is gone, stays as it is.
    """
    pa: Any = import_module("pyarrow")
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
            hint="it is cut short or damaged: write or fetch it again",
        ) from None
