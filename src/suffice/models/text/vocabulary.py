"""Terms and their numbers, in the order of their first appearance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self, overload

import numpy as np

from suffice.errors import BadSetting
from suffice.kernels.tokens import counts as kernels

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from suffice.kernels.tokens.vocabulary_table import VocabularyTable


class Vocabulary(Sequence[str]):
    """Different terms, numbered from 0; immutable: `add`, `+` and `pruned` return others.

    Two words stay two words, whatever their hashes: nothing here is approximate. A vocabulary that
    the compiled loops have made is turned into strings only when these are asked for.

    Parameters
    ----------
    terms : iterable of str, default=()
        Different terms, in the order of their numbers.

    See Also
    --------
    count_terms : Makes and uses one.

    Examples
    --------
    >>> words = Vocabulary(["to", "be"]) + Vocabulary(["be", "or"])
    >>> words.terms, words.number("or"), "not" in words
    (['to', 'be', 'or'], 2, False)
    """

    __slots__ = ("_index", "_table", "_terms")

    _terms: list[str] | None
    _index: dict[str, int] | None
    _table: VocabularyTable | None

    def __init__(self, terms: Iterable[str] = ()) -> None:
        self._index = {term: number for number, term in enumerate(dict.fromkeys(terms))}
        self._check(self._index)
        self._terms = list(self._index)
        self._table = None

    @classmethod
    def _of(cls, held: VocabularyTable | dict[str, int]) -> Self:
        """Return the vocabulary of a table or an index that nobody else will change."""
        made = cls.__new__(cls)
        made._terms = made._index = made._table = None
        if isinstance(held, dict):
            made._index = held
        else:
            made._table = held
        return made

    @staticmethod
    def _check(terms: Collection[str]) -> None:
        """Refuse terms that no document can hold: empty words, zero bytes, lone surrogates."""
        try:
            whole = " ".join(terms)
            whole.encode("utf-8")
            if not terms or not ("\0" in whole or "" in whole.split(" ")):
                return
        except (TypeError, UnicodeEncodeError):
            pass
        odd = next(term for term in terms if not _can_be(term))
        raise BadSetting(
            f"{odd!r:.60} is not a term: no document can hold it",
            hint="a term is a word, or words with one space between them",
        )

    @property
    def terms(self) -> list[str]:
        """The terms in the order of their numbers; not to be changed."""
        if self._terms is None:
            if self._index is not None:
                self._terms = list(self._index)
            else:
                assert self._table is not None
                self._terms = self._table.term_list()
        return self._terms

    def _numbers(self) -> dict[str, int]:
        if self._index is None:
            self._index = {term: number for number, term in enumerate(self.terms)}
        return self._index

    def _arrays(self) -> VocabularyTable:
        if self._table is None:
            self._table = kernels.table_of(self.terms)
        return self._table

    def number(self, term: str) -> int | None:
        """Return the number of a term, or None where it is not known."""
        return self._numbers().get(term)

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        return self.terms[number]

    def __contains__(self, term: object) -> bool:
        return term in self._numbers()

    def __iter__(self) -> Iterator[str]:
        return iter(self.terms)

    def __len__(self) -> int:
        for held in (self._terms, self._index, self._table):
            if held is not None:
                return len(held)
        return 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self is other or (len(self) == len(other) and self.terms == other.terms)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self):,} terms>"

    def __reduce__(self) -> tuple[object, ...]:
        """Travel as plain strings."""
        return type(self), (self.terms,)

    def add(self, terms: Iterable[str]) -> Self:
        """Return this vocabulary with the terms that are new at its end, in their order.

        >>> Vocabulary(["spam"]).add(["ham", "spam"]).terms
        ['spam', 'ham']
        """
        index = dict(self._numbers())
        new = [term for term in dict.fromkeys(terms) if term not in index]
        self._check(new)
        for term in new:
            index[term] = len(index)
        return self if len(index) == len(self) else self._of(index)

    def __add__(self, other: Vocabulary) -> Self:
        """Merge: the terms of this one, then those of the other that are new."""
        if self._table is not None and other._table is not None:
            table = self._table.copy()
            kernels.merge_tables(table, other._table)
            return self._of(table)
        return self.add(other.terms)

    def numbers_in(self, other: Vocabulary) -> NDArray[np.int64]:
        """Return the number each term of this vocabulary has in another, -1 where it has none.

        >>> Vocabulary(["a", "b", "c"]).numbers_in(Vocabulary(["c", "a"]))
        array([ 1, -1,  0])
        """
        there = other._numbers()
        return np.array([there.get(term, -1) for term in self.terms], dtype=np.int64)

    def pruned(self, counts: ArrayLike, least: float = 1, most: int | None = None) -> Self:
        """Return the terms with a count of at least `least`, in their order, renumbered.

        With `most`, only so many are left: those of the highest counts and, of equals, those that
        come first in the order of code points. Which these are does not depend on the order in
        which terms were met.

        >>> Vocabulary(["the", "cat", "sat"]).pruned([9, 1, 2], least=2).terms
        ['the', 'sat']
        """
        terms = self.terms
        return type(self)(terms[number] for number in self.kept(counts, least, most).tolist())

    def kept(
        self, counts: ArrayLike, least: float = 1, most: int | None = None
    ) -> NDArray[np.int64]:
        """Return the numbers, ascending, of the terms that `pruned` leaves."""
        held = np.asarray(counts)
        if held.shape != (len(self),):
            raise BadSetting(
                f"{len(self):,} terms cannot be pruned by counts of shape {held.shape}",
                hint="give one count for each term, in the order of their numbers",
            )
        numbers = np.flatnonzero(held >= least)
        if most is not None and len(numbers) > most:
            border = np.partition(held[numbers], len(numbers) - most)[len(numbers) - most]
            above, equal = numbers[held[numbers] > border], numbers[held[numbers] == border]
            terms = self.terms
            first = sorted(equal.tolist(), key=terms.__getitem__)[: most - len(above)]
            numbers = np.sort(np.concatenate([above, np.array(first, dtype=np.intp)]))
        return numbers.astype(np.int64)


class GivenTerms(Vocabulary):
    """Terms that a function of the user's has made: any strings, spaces and all.

    >>> GivenTerms(["a ", " b"]).number(" b")
    1
    """

    __slots__ = ()

    @staticmethod
    def _check(terms: Collection[str]) -> None:
        """Refuse what is not a string."""
        for term in terms:
            if not isinstance(term, str):
                raise BadSetting(
                    f"{term!r:.60} is not a term", hint="an analyzer returns a list of strings"
                )


def _can_be(term: object) -> bool:
    if not isinstance(term, str) or "\0" in term or "" in term.split(" "):
        return False
    return not any("\ud800" <= character <= "\udfff" for character in term)
