"""Text: documents to terms, terms to sparse counts, counts to weights."""

from suffice.models.text.counting import HashedCounts, TermCounts, TermHashes, count_terms, hash_terms, term_hashes
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
