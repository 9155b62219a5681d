"""Document counts of texts that are somewhere else: one collect, wherever they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.statistics.document_counts import DocumentCounts
from suffice.text import Tokens, Vocabulary, count_terms, hash_terms
from suffice.text.text_columns import read_texts

if TYPE_CHECKING:
    from suffice.sources import Chunk


@dataclass(frozen=True, slots=True)
class CountDocuments:
    """From a chunk to the document counts of its texts: a function that can travel."""

    tokens: Tokens
    hashing: int | None

    def __call__(self, chunk: Chunk) -> DocumentCounts:
        """Return how many documents there are, and how many hold each term."""
        _, documents = read_texts(chunk.table)
        if self.hashing is not None:
            found = hash_terms(documents, self.tokens, self.hashing)
            return DocumentCounts.of_rows(found.indptr, found.indices, range(self.hashing))
        counted = count_terms(documents, self.tokens)
        return DocumentCounts.of_rows(
            counted.indptr, counted.indices, list(counted.vocabulary.terms)
        )


def collected_counts(
    source: Any, column: str, tokens: Tokens, hashing: int | None
) -> tuple[Vocabulary, DocumentCounts]:
    """Return the vocabulary and the document counts of a column of texts of any source."""
    from suffice.sources import open_source

    rows = open_source(source)
    found: DocumentCounts = rows.collected(
        CountDocuments(tokens, hashing), rows.wanted(names=[column])
    )
    if hashing is not None:
        return Vocabulary(), found
    known = Vocabulary(found.terms)  # type: ignore[arg-type]
    return known, DocumentCounts(found.weight, known, found.held)
