"""Text: documents to terms, terms to sparse counts, counts to weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.facade import lazy

if TYPE_CHECKING:
    from suffice.models.text.counting import (
        HashedCounts,
        TermCounts,
        TermHashes,
        count_terms,
        hash_terms,
        term_hashes,
    )
    from suffice.models.text.tfidf import TfIdf
    from suffice.models.text.tokens import Tokens, read_documents, term_hash
    from suffice.models.text.vocabulary import Vocabulary

__all__ = [
    "HashedCounts",
    "TermCounts",
    "TermHashes",
    "TfIdf",
    "Tokens",
    "Vocabulary",
    "count_terms",
    "hash_terms",
    "read_documents",
    "term_hash",
    "term_hashes",
]

_find, __dir__ = lazy(
    __name__,
    {
        "suffice.models.text.counting": [
            "HashedCounts",
            "TermCounts",
            "TermHashes",
            "count_terms",
            "hash_terms",
            "term_hashes",
        ],
        "suffice.models.text.tfidf": ["TfIdf"],
        "suffice.models.text.tokens": ["Tokens", "read_documents", "term_hash"],
        "suffice.models.text.vocabulary": ["Vocabulary"],
    },
)

if not TYPE_CHECKING:  # a type checker knows the names above, and no others
    __getattr__ = _find
