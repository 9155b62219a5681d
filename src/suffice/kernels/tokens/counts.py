"""Terms of documents, counted, in the way that suits the size.

Documents are str or bytes; `ngrams` is (least, most); terms come as (keys, counts, ends), row i
between ends[i-1] and ends[i]. A few documents are counted in plain Python, which compiles and
imports nothing: a single message is there before numba would be. Both give the same answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.kernels.compilation import pays
from suffice.kernels.tokens import counts_python as tokens_python

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from suffice.kernels.tokens.vocabulary_table import Table

    Documents = Sequence[str | bytes]
    Places = NDArray[np.int64]
    Rows = tuple[NDArray[Any], NDArray[np.int32], Places]

__all__ = [
    "counted_terms",
    "hashed_terms",
    "merge_tables",
    "pays_for_text",
    "sort_rows",
    "table_of",
]


def pays_for_text(characters: int) -> bool:
    """Return whether the compiled loops should read that many characters, and can."""
    import numpy as np

    return pays(np.broadcast_to(np.uint8(0), characters))


def hashed_terms(
    documents: Documents, ngrams: tuple[int, int], lower: bool, size: int | None, boolean: bool
) -> Rows:
    """Return the different terms of each document by number (`tokens_hash`), or its remainder."""
    if pays_for_text(sum(map(len, documents))):
        from suffice.kernels.tokens import documents_numba as tokens_numba

        return tokens_numba.hashed(documents, ngrams, lower, size, boolean)
    return tokens_python.hashed(documents, ngrams, lower, size, boolean)


def counted_terms(
    documents: Documents, ngrams: tuple[int, int], lower: bool, held: Table | dict[str, int],
    grow: bool, boolean: bool,
) -> Rows:  # fmt: skip
    """Return the terms of each document by their numbers in what is held, which may grow in place.

    Terms of a dictionary ascend within a row, those of a table are in any order.
    """
    if isinstance(held, dict):
        return tokens_python.counted(documents, ngrams, lower, held, grow, boolean)
    from suffice.kernels.tokens import vocabulary_numba as tokens_vocabulary_numba

    return tokens_vocabulary_numba.counted(documents, ngrams, lower, held, grow, boolean)


def merge_tables(table: Table, other: Table) -> Places:
    """Add to a table, in place, the terms of another; return the numbers they have now."""
    from suffice.kernels.tokens import vocabulary_numba as tokens_vocabulary_numba

    return tokens_vocabulary_numba.merge(table, other)


def table_of(terms: Sequence[str]) -> Table:
    """Return terms, all different, as a table for the compiled loops."""
    from suffice.kernels.tokens import vocabulary_numba as tokens_vocabulary_numba

    return tokens_vocabulary_numba.table_of(terms)


def sort_rows(keys: NDArray[np.uint64], counts: NDArray[np.int32], ends: Places) -> None:
    """Put the keys of every row in ascending order, in place, their counts with them."""
    from suffice.kernels.tokens import documents_numba as tokens_numba

    tokens_numba.sort_rows(keys, counts, ends)
