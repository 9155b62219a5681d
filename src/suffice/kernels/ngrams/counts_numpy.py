"""N-grams in NumPy: the twin that is always there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.ngrams.texts import BITS, BOS, EOT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.kernels.ngrams.texts import Keys, Texts

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]


def keys_of(texts: Texts, order: int) -> Keys:
    """Return the n-gram that ends at each predicted symbol, document after document."""
    lengths = texts.lengths
    ends = np.cumsum(lengths + (order - 1))
    symbols = np.full(int(ends[-1]) if len(ends) else 0, BOS, dtype=np.uint64)
    predicted = np.ones(len(symbols), dtype=np.bool_)
    for place in range(order - 1):
        predicted[ends - lengths - 1 - place] = False
    if texts.whole.any():
        symbols[ends[texts.whole] - 1] = EOT
        predicted[ends[texts.whole] - 1] = False
    sizes = texts.stops - texts.starts
    steps = np.repeat(texts.starts - (np.cumsum(sizes) - sizes), sizes)
    symbols[predicted] = texts.buffer[np.arange(len(steps)) + steps]
    predicted[ends[texts.whole] - 1] = True
    keys = symbols.copy()
    for place in range(1, order):
        keys[place:] |= symbols[:-place] << np.uint64(BITS * place)
    return keys[predicted]


def counted(keys: Keys, bits: int) -> tuple[Keys, Floats]:  # noqa: ARG001
    """Return the different keys, sorted, and how often each is there."""
    found, counts = np.unique(keys, return_counts=True)
    return found, counts.astype(np.float64)


def ordered(keys: Keys, bits: int) -> tuple[Keys, Places]:  # noqa: ARG001
    """Return the keys sorted, and where each was before; the same ones stay in their order."""
    order = np.argsort(keys, kind="stable")
    return keys[order], order


def merged(keys: Keys, counts: Floats, more: Keys, more_counts: Floats) -> tuple[Keys, Floats]:
    """Return sorted keys of both, and the sums of their counts."""
    places = np.searchsorted(keys, more)
    known = places < len(keys)
    known[known] = keys[places[known]] == more[known]
    sums = counts.copy()
    sums[places[known]] += more_counts[known]
    if known.all():
        return keys, sums
    new = ~known
    return (
        np.insert(keys, places[new], more[new]),
        np.insert(sums, places[new], more_counts[new]),
    )
