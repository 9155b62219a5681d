"""Messages that were learned before, or nearly: a test that holds them asks for memory alone.

A message repeats one of the training part if, digits, marks and case put aside,

- its letters are the same, one after the other, or
- of all runs of three words that either of the two has, nine in ten are in both.

The second is found exactly (no hashing): two sets of Jaccard similarity t or more share one of the
s - ⌈t s⌉ + 1 rarest members of either, so that only messages which share a rare run are compared.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from suffice.text import Tokens, count_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

NO_LETTERS = re.compile(r"[\W\d_]+")
SIMILAR = 0.9
WORDS = 3
ROWS = 1_000
"""Messages that are compared at a time."""


def repeated(texts: Sequence[str], known: Sequence[str]) -> NDArray[np.bool_]:
    """Return which of the texts repeat one that is known."""
    ours, theirs = (
        [NO_LETTERS.sub(" ", t).lower().strip() for t in some] for some in (texts, known)
    )
    letters = {text.replace(" ", "") for text in theirs}
    same = np.array([text.replace(" ", "") in letters for text in ours])
    return same | _similar(ours, theirs)


def _similar(ours: list[str], theirs: list[str]) -> NDArray[np.bool_]:
    """Return which of the texts share nearly all runs of words with another."""
    from scipy.sparse import csr_array

    found = count_terms([*ours, *theirs], Tokens((WORDS, WORDS)), boolean=True)
    shape = len(ours) + len(theirs), len(found.vocabulary)
    runs = csr_array((np.ones(len(found.indices)), found.indices, found.indptr), shape=shape)
    rare = _rarest(runs)
    mine, other = runs[: len(ours)], runs[len(ours) :]
    sizes, other_sizes = mine.sum(axis=1), other.sum(axis=1)
    similar = np.zeros(len(ours), dtype=bool)
    for start in range(0, len(ours), ROWS):
        some = slice(start, min(start + ROWS, len(ours)))
        pairs = (rare[some] @ rare[len(ours) :].T).tocoo()
        rows, columns = pairs.row + start, pairs.col
        shared = np.concatenate(
            [
                mine[rows[at : at + ROWS]].multiply(other[columns[at : at + ROWS]]).sum(axis=1)
                for at in range(0, len(rows), ROWS)
            ]
            or [np.zeros(0)]
        )
        either = sizes[rows] + other_sizes[columns] - shared
        similar[rows[shared >= SIMILAR * either]] = True
    return similar


def _rarest(runs: csr_array) -> csr_array:
    """Return the rarest members of each row, as many as two similar rows must have one of."""
    from scipy.sparse import csr_array

    sizes = np.diff(runs.indptr)
    often = np.bincount(runs.indices, minlength=runs.shape[1])
    rows = np.repeat(np.arange(len(sizes)), sizes)
    # Members that are as rare come in one order for all rows, or two might keep different ones.
    order = np.lexsort((runs.indices, often[runs.indices], rows))
    kept = np.where(sizes > 0, sizes - np.ceil(SIMILAR * sizes - 1e-9).astype(np.intp) + 1, 0)
    place = np.arange(len(rows)) - np.repeat(runs.indptr[:-1], sizes)
    chosen = order[place < np.repeat(kept, sizes)]
    return csr_array((np.ones(len(chosen)), (rows[chosen], runs.indices[chosen])), shape=runs.shape)
