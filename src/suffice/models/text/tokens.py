"""What a term is: the one setting that everything about text shares."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

from suffice.errors import BadRows, BadSetting
from suffice.kernels.tokens.counts import terms_of, words_of
from suffice.kernels.tokens.term_hash import term_hash

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Tokens", "read_documents", "term_hash"]

MOST_WORDS = 16
"""Words of the longest n-gram that is counted. A choice: longer ones hardly ever come twice."""


@dataclass(frozen=True, slots=True)
class Tokens:
    r"""How a document is cut into terms: n-grams of its words and of its runs of marks.

    A token is a maximal match of `[\w'-]+|[$£€!?%*#@]+` in the document, in lower case unless
    `lower` is False: marks say as much about mail as words do. An n-gram is n tokens with one space
    between them, for every n from the first to the second number of `ngrams`.

    Parameters
    ----------
    ngrams : tuple of int, default=(1, 1)
        The least and the most words of a term.
    lower : bool, default=True
        Whether terms are in lower case.

    See Also
    --------
    count_terms : Uses them.

    Examples
    --------
    >>> Tokens(ngrams=(1, 2)).tokens_of("Free £££ NOW")
    ['free', '£££', 'free £££', 'now', '£££ now']
    """

    ngrams: tuple[int, int] = (1, 1)
    lower: bool = True

    def __post_init__(self) -> None:
        """Refuse what are no lengths of n-grams."""
        given: Any = self.ngrams
        whole = (
            isinstance(given, (tuple, list))
            and len(given) == 2
            and all(isinstance(n, Integral) and not isinstance(n, bool) for n in given)
        )
        if not whole or not 1 <= given[0] <= given[1] <= MOST_WORDS:
            raise BadSetting(
                f"ngrams is {given!r}, not the least and the most words of a term",
                hint=f"use a pair such as (1, 1) or (1, 2), up to {MOST_WORDS}",
            )
        object.__setattr__(self, "ngrams", (int(given[0]), int(given[1])))

    def tokens_of(self, document: str | bytes) -> list[str]:
        """Return the terms of one document, in plain Python: what the loops have to agree with.

        Terms come in the order of their last words, shorter ones first. Bytes are read as UTF-8,
        and as latin-1 where they cannot be.
        """
        return terms_of(document, self.ngrams, self.lower)

    def words_of(self, document: str | bytes) -> list[str]:
        """Return the words of one document, in their order."""
        return words_of(document, self.lower)


def read_documents(documents: Iterable[str | bytes]) -> list[str | bytes]:
    """Return documents as a list, or refuse what is not a document.

    Parameters
    ----------
    documents : iterable of str or bytes
        Texts, as str or as bytes.

    Returns
    -------
    list of str or bytes
        The documents as a list.

    See Also
    --------
    count_terms : Takes them.

    Examples
    --------
    >>> read_documents(iter(["one", b"two"]))
    ['one', b'two']
    """
    alone = isinstance(documents, (str, bytes, bytearray))
    if alone or not hasattr(documents, "__iter__") or getattr(documents, "ndim", 1) != 1:
        what = "one string" if alone else f"{documents!r:.60}"
        raise BadRows(
            f"documents must be a list of strings or bytes, not {what}",
            hint="put a single document into a list: [document]; of a table give one column",
        )
    found = list(documents)
    if not set(map(type, found)) <= {str, bytes}:
        for place, document in enumerate(found):
            if isinstance(document, (bytearray, memoryview)):
                found[place] = bytes(document)
            elif not isinstance(document, (str, bytes)):
                raise BadRows(
                    f"document {place} is {document!r:.60}, not text",
                    hint="documents are str or bytes; an empty string is allowed",
                )
    return found
