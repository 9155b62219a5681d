"""Sums over runs of n-grams, and their interpolation, in the way that suits the size.

counts     (n, k) float64, of n-grams in each class
places     (n,) intp, the order in which rows of counts are gone through
firsts     (r,) intp, where runs begin; none is empty, the last one ends with the rows
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.kernels.compilation import pays
from suffice.kernels.ngrams import sums_numpy as ngram_sums_numpy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

__all__ = ["interpolated", "run_sums", "successor_sums"]


def run_sums(counts: Floats, places: Places, firsts: Places) -> Floats:
    """Return Σ counts[places[i]] (r, k) over the runs of i that begin at `firsts`.

    >>> import numpy as np
    >>> run_sums(np.array([[1.0], [2.0], [4.0]]), np.array([2, 0, 1]), np.array([0, 2]))
    array([[5.],
           [2.]])
    """
    if pays(counts):
        from suffice.kernels.ngrams import sums_numba as ngram_sums_numba

        return ngram_sums_numba.run_sums(counts, places, firsts)
    return ngram_sums_numpy.run_sums(counts, places, firsts)


def successor_sums(counts: Floats, firsts: Places) -> tuple[Floats, Floats]:
    """Return c and T (r, k) of runs of rows: the sum of counts, and how many are not zero.

    >>> import numpy as np
    >>> successor_sums(np.array([[1.0], [2.0], [4.0]]), np.array([0]))
    (array([[7.]]), array([[3.]]))
    """
    if pays(counts):
        from suffice.kernels.ngrams import sums_numba as ngram_sums_numba

        return ngram_sums_numba.successor_sums(counts, firsts)
    return ngram_sums_numpy.successor_sums(counts, firsts)


def interpolated(
    counts: Floats,
    contexts: Floats,
    successors: Floats,
    low: Floats,
    ending: Places,
    context: Places,
) -> Floats:
    """Return P(b | ctx) (n, k) from c(ctx, b), c(ctx), T(ctx) and P(b | ctx⁻).

    Row i of `counts` belongs to row `context[i]` of `contexts` and `successors`, and to row
    `ending[i]` of `low`. Where T is 0 the context was never seen, and P(b | ctx⁻) stands.
    """
    given = counts, contexts, successors, low, ending, context
    if pays(counts):
        from suffice.kernels.ngrams import sums_numba as ngram_sums_numba

        return ngram_sums_numba.interpolated(*given)
    return ngram_sums_numpy.interpolated(*given)
