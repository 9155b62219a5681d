"""How a vectorizer cuts documents into terms: by tokens without stop words, or by a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.errors import BadRows, BadSetting
from suffice.models.text.counting import (
    count_given_terms,
    count_terms,
    hash_given_terms,
    hash_terms,
)
from suffice.models.text.tokens import Tokens
from suffice.models.text.vocabulary import GivenTerms, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from suffice.models.text.counting import CountedTerms, HashedCounts


@dataclass(frozen=True, slots=True)
class TermsOfDocuments:
    """How documents are cut into terms, and counted.

    `stop_words` are taken out before n-grams are made, so that the words around one become
    neighbours; they are compared with tokens as they are, in lower case unless `lower` is False.
    `analyzer` is a function from a document to its terms, which replaces all of that.

    >>> found = TermsOfDocuments(Tokens((2, 2)), frozenset({"of"})).count(["a cup of tea"])
    >>> found.vocabulary.terms
    ['a cup', 'cup tea']
    """

    tokens: Tokens
    stop_words: frozenset[str] = frozenset()
    analyzer: Callable[[Any], Iterable[str]] | None = None

    def __post_init__(self) -> None:
        """Refuse settings that do not go together."""
        if self.analyzer is None:
            return
        if not callable(self.analyzer):
            raise BadSetting(
                f"analyzer is {self.analyzer!r:.60}, not a function",
                hint="use a function from a document to a list of its terms, or None",
            )
        if self.stop_words or self.tokens != Tokens():
            raise BadSetting(
                "ngrams, lower and stop_words cut documents into terms, and so does analyzer",
                hint="leave them out: the terms are those that the analyzer returns",
            )

    def vocabulary(self, terms: Iterable[str] = ()) -> Vocabulary:
        """Return a vocabulary of terms that these documents can have."""
        return Vocabulary(terms) if self.analyzer is None else GivenTerms(terms)

    def count(
        self,
        documents: Sequence[str | bytes],
        vocabulary: Vocabulary | None = None,
        *,
        grow: bool = False,
        boolean: bool = False,
    ) -> CountedTerms:
        """Return how often each term occurs in each document, as `count_terms` does."""
        if self.analyzer is None:
            return count_terms(
                self._without_stop_words(documents),
                self.tokens,
                vocabulary,
                grow=grow,
                boolean=boolean,
            )
        return count_given_terms(self._analyzed(documents), vocabulary, grow=grow, boolean=boolean)

    def hashed(
        self, documents: Sequence[str | bytes], size: int, *, boolean: bool = False
    ) -> HashedCounts:
        """Return how often each term occurs, in columns by hash, as `hash_terms` does."""
        if self.analyzer is None:
            texts = self._without_stop_words(documents)
            return hash_terms(texts, self.tokens, size, boolean=boolean)
        return hash_given_terms(self._analyzed(documents), size, boolean=boolean)

    def _without_stop_words(self, documents: Sequence[str | bytes]) -> Sequence[str | bytes]:
        if not self.stop_words:
            return documents
        words = Tokens((1, 1), self.tokens.lower)
        # Tokens with a space between them are cut into the same tokens again.
        return [
            " ".join(word for word in words.tokens_of(document) if word not in self.stop_words)
            for document in documents
        ]

    def _analyzed(self, documents: Sequence[str | bytes]) -> list[list[str]]:
        assert self.analyzer is not None
        found = []
        for place, document in enumerate(documents):
            terms = self.analyzer(document)
            if isinstance(terms, (str, bytes)) or not hasattr(terms, "__iter__"):
                raise BadRows(
                    f"the analyzer returned {terms!r:.60} for document {place}, not a list",
                    hint="it returns the terms of one document: a list of strings",
                )
            found.append(list(terms))
        return found
