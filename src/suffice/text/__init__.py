"""Text: documents to terms, terms to sparse counts, counts to weights."""

from suffice.text.counting import (
    HashedCounts,
    TermCounts,
    TermHashes,
    count_terms,
    hash_terms,
    term_hashes,
)
from suffice.text.tfidf import TfIdf
from suffice.text.tokens import Tokens, read_documents, term_hash
from suffice.text.vocabulary import Vocabulary

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
