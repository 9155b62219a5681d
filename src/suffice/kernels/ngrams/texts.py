"""Documents as the loops read them: all their bytes in one piece, and what an n-gram is there.

A document is bytes. Before them stand order - 1 times BOS, after them EOT, unless the document was
cut: then nobody knows what follows. Each of the 258 symbols takes 9 bits, so the n-gram that ends
at a symbol is one number of 64 bits up to order 7: the oldest symbol highest, the last one lowest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from suffice.errors import BadRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]

BITS = 9
"""Of one symbol."""

BOS, EOT = 256, 257
"""What stands before a document, and what ends it; BOS is never predicted."""

SYMBOLS = 257
"""That can be predicted: 256 bytes and EOT."""

LONGEST = 7
"""Symbols that fit into one key."""


class Texts(NamedTuple):
    """Documents side by side: where each begins and stops, and whether it is whole (has EOT)."""

    buffer: NDArray[np.uint8]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    whole: NDArray[np.bool_]

    @classmethod
    def of(cls, documents: Sequence[bytes], limit: int | None = None) -> Self:
        """Put documents side by side, the first `limit` bytes of each.

        >>> Texts.of([b"spam", b"", b"ham"], limit=3).lengths
        array([3, 1, 4])
        """
        if isinstance(documents, (bytes, bytearray, memoryview, str)):
            raise BadRows(
                f"the documents are a single {type(documents).__name__}",
                hint="put it into a list: [document]",
            )
        parts = [_view(document, place) for place, document in enumerate(documents)]
        sizes = np.array([len(part) for part in parts], dtype=np.int64)
        whole = np.ones(len(parts), dtype=np.bool_)
        if limit is not None:
            whole = sizes <= limit
            sizes = np.minimum(sizes, limit)
            parts = [part[:limit] for part in parts]
        stops = np.cumsum(sizes)
        buffer = np.frombuffer(b"".join(parts), dtype=np.uint8)
        return cls(buffer, stops - sizes, stops, whole)

    @property
    def size(self) -> int:
        """The number of documents."""
        return len(self.starts)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many symbols of each document are predicted: its bytes, and EOT if it is whole."""
        return self.stops - self.starts + self.whole

    def taken(self, which: slice | NDArray[np.integer] | NDArray[np.bool_]) -> Self:
        """Return some of the documents, by a slice or by their numbers; bytes are not copied."""
        return self._replace(
            starts=self.starts[which], stops=self.stops[which], whole=self.whole[which]
        )


def _view(document: object, place: int) -> memoryview:
    if isinstance(document, (bytes, bytearray)):
        return memoryview(document)
    if isinstance(document, memoryview):
        return memoryview(document.tobytes())  # it may have gaps, or numbers of several bytes
    raise BadRows(
        f"document {place} is a {type(document).__name__}, not bytes",
        hint='encode texts: text.encode("utf-8", "surrogatepass")',
    )


def mask(symbols: int) -> int:
    """Return a number whose bits are those of so many symbols.

    >>> hex(mask(2))
    '0x3ffff'
    """
    return (1 << BITS * symbols) - 1


def beginning(symbols: int) -> int:
    """Return the key of nothing but BOS.

    >>> beginning(2) == (BOS << BITS) + BOS
    True
    """
    return sum(BOS << BITS * place for place in range(symbols))
