"""Document counts of texts that are somewhere else: one collect, wherever they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.statistics.document_counts import DocumentCounts
from suffice.models.text.documents import read_texts

if TYPE_CHECKING:
    from suffice.sources import Chunk
    from suffice.text import Vocabulary
    from suffice.models.text.counting import TermsOfDocuments


@dataclass(frozen=True, slots=True)
class CountDocuments:
    """From a chunk to the document counts of its texts: a function that can travel."""

    terms: TermsOfDocuments
    hashing: int | None

    def __call__(self, chunk: Chunk) -> DocumentCounts:
        """Return how many documents there are, and how many hold each term."""
        _, documents = read_texts(chunk.table)
        if self.hashing is not None:
            found = self.terms.hashed(documents, self.hashing)
            return DocumentCounts.of_rows(found.indptr, found.indices, range(self.hashing))
        counted = self.terms.count(documents)
        return DocumentCounts.of_rows(
            counted.indptr, counted.indices, list(counted.vocabulary.terms)
        )


def collected_counts(
    source: Any, column: str, terms: TermsOfDocuments, hashing: int | None
) -> tuple[Vocabulary, DocumentCounts]:
    """Return the vocabulary and the document counts of a column of texts of any source."""
    from suffice.sources import open_source

    rows = open_source(source)
    found: DocumentCounts = rows.collected(
        CountDocuments(terms, hashing), rows.wanted(names=[column])
    )
    if hashing is not None:
        return terms.vocabulary(), found
    known = terms.vocabulary(found.terms)  # type: ignore[arg-type]
    return known, DocumentCounts(found.weight, known, found.held)
