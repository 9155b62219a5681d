"""Documents as models see them: a text to cut into terms, and bytes to read one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.columns import Column, Columns
from suffice.errors import BadRows, ColumnMismatch, NotANumber, listed
from suffice.models.text.tokens import read_documents
from suffice.rows import read_table
from suffice.rows.cells import CATEGORY
from suffice.rows.tables import Table

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


LISTED = Columns((Column(None, CATEGORY),))
"""The columns of documents that came in a list: one, without a name."""


def read_texts(X: object, known: Columns | None = None) -> tuple[Columns, list[Any]]:
    r"""Return the columns that documents are in, and the documents.

    Of a table these are its columns of text, one after the other in a row; blank cells say nothing.
    If columns are `known` by name those are taken, and others are not looked at.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"subject": ["hi", None], "size": [5, 7], "body": ["you", "all"]})
    >>> columns, texts = read_texts(frame)
    >>> columns.names, texts
    (('subject', 'body'), ['hi\nyou', 'all'])
    """
    table = _table(X)
    if table is None:
        return (LISTED if known is None else known), _listed(X)
    names = None if known is None or not known.named or table.names is None else known.names
    places = _of_text(table) if names is None else _by_name(table, names)
    columns = LISTED if table.names is None else _named([table.names[j] for j in places])
    cells = [table.column(j) for j in places]
    texts = ["\n".join(cell for cell in row if cell is not None) for row in zip(*cells)]  # noqa: B905
    return (columns if known is None else known), texts


def _table(X: object) -> Table | None:
    """Return rows that have columns as a table; None for a list or a series of documents."""
    if isinstance(X, Table):
        return X
    if isinstance(X, (str, bytes, list, tuple)):
        return None
    if hasattr(X, "toarray") or len(getattr(X, "shape", (0,))) == 2:
        return read_table(X)
    return None


def _listed(X: Any) -> Any:
    """Return documents as a list; a series or an array of any library has one."""
    if hasattr(X, "to_pylist"):
        return X.to_pylist()
    if hasattr(X, "to_list"):
        return X.to_list()
    if len(getattr(X, "shape", (0,))) == 1 and hasattr(X, "__array__"):
        return np.asarray(X).tolist()
    if len(getattr(X, "shape", (0,))) != 1:
        raise BadRows(
            f"documents must be a list of texts, not an array of shape {X.shape}",
            hint="give a list of strings; rows of numbers are for other models",
        )
    return X


def _of_text(table: Table) -> list[int]:
    found = [j for j, kind in enumerate(table.kinds) if kind == CATEGORY]
    if not found:
        raise NotANumber(
            f"there is no text in the {table.width} columns of X",
            hint="documents are str or bytes: give a list of them, or a table with a column of "
            "text; numeric columns are for other models",
        )
    return found


def _by_name(table: Table, names: Sequence[str]) -> list[int]:
    held = {name: j for j, name in enumerate(table.names or ())}
    lacking = [name for name in names if name not in held]
    if lacking:
        raise ColumnMismatch(
            f"X has no column {listed(map(repr, lacking))}, where the texts were at fit",
            hint=f"it has {listed(held)}",
        )
    numbers = [name for name in names if table.kinds[held[name]] != CATEGORY]
    empty = [name for name in numbers if _is_blank(table.column(held[name]))]
    if len(numbers) > len(empty):
        strange = next(name for name in numbers if name not in empty)
        raise NotANumber(
            f"{strange} holds {table.kinds[held[strange]]}s, and held texts at fit",
            hint="read the column as text",
        )
    return [held[name] for name in names if name not in empty]


def _is_blank(cells: NDArray[np.generic]) -> bool:
    """Whether a column holds nothing at all: nobody can tell the kind of that."""
    return all(cell is None or cell != cell for cell in cells.tolist())  # noqa: PLR0124


def _named(names: Sequence[str]) -> Columns:
    return Columns(tuple(Column(name, CATEGORY) for name in names))
