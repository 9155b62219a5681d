"""Documents as models see them: a text to cut into terms, and bytes to read one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.text.tokens import read_documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from suffice.rows import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """Some documents, each in two views: its text, and its first bytes.

    Of plain text both are the same. Of a mail the text is what a person reads, and the bytes are
    the message as it came. `starts` hold one byte more than is looked at where a document goes on:
    then it is known to.
    """

    texts: Sequence[str | bytes]
    starts: Sequence[bytes]

    @classmethod
    def of(cls, documents: Iterable[str | bytes], limit: int | None = None) -> Self:
        """Read documents; of their bytes, `limit` are looked at."""
        texts = read_documents(documents)
        most = None if limit is None else limit + 1
        return cls(texts, [encoded(text, most) for text in texts])

    @property
    def size(self) -> int:
        """The number of documents."""
        return len(self.texts)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.texts)

    def taken(self, places: IntArray) -> Self:
        """Return some of the documents."""
        return type(self)([self.texts[i] for i in places], [self.starts[i] for i in places])

    def hashes(self) -> NDArray[np.uint64]:
        """Return a number of 64 bits for each, by its content alone."""
        found = []
        for text, start in zip(self.texts, self.starts, strict=True):
            content, kind = _content(text)
            head = len(content).to_bytes(8, "little")
            found.append(blake2b(head + content + start, digest_size=8, person=kind).digest())
        return np.frombuffer(b"".join(found), dtype="<u8").astype(np.uint64)


def _content(text: str | bytes) -> tuple[bytes, bytes]:
    """Return the bytes of a text, and a mark where other bytes would be another text.

    Bytes that are UTF-8 say what their string says. Half a surrogate pair has bytes of its own, but
    these, given as bytes, are no UTF-8 and are read as something else.
    """
    if isinstance(text, bytes):
        return text, b""
    try:
        return text.encode(), b""
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass"), b"surrogates"


def encoded(text: str | bytes, most: int | None = None) -> bytes:
    """Return the first bytes of a text, in UTF-8."""
    if isinstance(text, str):
        return text[:most].encode("utf-8", "surrogatepass")[:most]
    return text[:most]
