"""How a vectorizer learns: a vocabulary that grows, and how many documents hold each term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from suffice.errors import BadSetting, DifferentKinds
from suffice.estimators.concurrency import lock_of, snapshot
from suffice.estimators.text.vectorizer_settings import check_settings, first_vocabulary, terms_of
from suffice.models.text.documents import read_texts
from suffice.statistics.document_counts import DocumentCounts
from suffice.text import TermCounts, Vocabulary, read_documents

if TYPE_CHECKING:
    from collections.abc import Iterable

    from suffice.models.text.terms_of_documents import TermsOfDocuments
    from suffice.sources import Chunk

    Documents = Iterable[str | bytes]


LEARNED = ("_vocabulary", "statistics_", "_cache", "_terms_are")
"""Attributes that learning changes, and that pass together from a copy to the estimator."""


class VectorizerLearning(BaseEstimator):
    """Learns documents, learns more, forgets, and merges with its like."""

    ngrams: Any
    lower: Any
    boolean: Any
    hashing: Any
    stop_words: Any
    analyzer: Any
    vocabulary: Any

    _vocabulary: Vocabulary
    statistics_: DocumentCounts
    _cache: dict[str, Any]
    """Columns and the numbers of their terms, once they are asked for; shared by copies."""
    _terms_are: tuple[object, ...]

    def fit(
        self,
        X: Documents | Any,
        y: object = None,  # noqa: ARG002  scikit-learn's
        *,
        text: str | None = None,
    ) -> Self:
        """Learn the vocabulary and how many documents hold each term, and nothing else.

        Texts may be somewhere else: with `text`, the name of a column, X is a path, a glob, an
        Arrow stream, a table of a database or of a cluster.
        """
        if text is not None:
            return self._keep(snapshot(self)._collect(X, text))
        fresh = snapshot(self)
        documents = read_documents(X)
        fresh._start()
        fresh._learn(documents)
        return self._keep(fresh)

    def partial_fit(
        self,
        X: Documents | Any,
        y: object = None,  # noqa: ARG002
        *,
        text: str | None = None,
    ) -> Self:
        """Learn further documents: new terms become columns, the IDF is that of all so far.

        Several threads may call it: they learn one after the other, and no document is lost.
        """
        with lock_of(self):
            more = snapshot(self)
            if text is not None:
                if not hasattr(self, "statistics_"):
                    return self._keep(more._collect(X, text))
                both = self + clone(self)._collect(X, text)
                self._know(both._vocabulary, both.statistics_)
                return self
            documents = read_documents(X)
            if not hasattr(self, "statistics_"):
                more._start()
            else:
                more._check()
            more._learn(documents)
            return self._keep(more)

    def forget(self, X: Documents, y: object = None) -> Self:  # noqa: ARG002
        """Take back documents learned before, exactly; refuse what was never learned."""
        with lock_of(self):
            return self._forget(X)

    def _forget(self, X: Documents) -> Self:
        check_is_fitted(self)
        self._check()
        found = self._counted(read_documents(X), grow=True)
        theirs = DocumentCounts.of_rows(found.indptr, found.indices, self._names(found.vocabulary))
        left = self.statistics_ - theirs
        if self.hashing is None and self.vocabulary is None:
            known = terms_of(self).vocabulary(left.terms)  # type: ignore[arg-type]
            self._know(known, DocumentCounts(left.weight, known, left.held))
        else:
            names = self._names(self._vocabulary)
            self._know(self._vocabulary, DocumentCounts(left.weight, names, left.in_terms(names)))
        return self

    def __add__(self, other: object) -> VectorizerLearning:
        """Return a vectorizer of the documents of both."""
        if not isinstance(other, VectorizerLearning) or self.get_params() != other.get_params():
            raise DifferentKinds(
                "vectorizers of different settings cannot be merged",
                hint="fit both with the same settings",
            )
        self, other = snapshot(self), snapshot(other)  # noqa: PLW0642  others may learn meanwhile
        check_is_fitted(self)
        check_is_fitted(other)
        both: VectorizerLearning = clone(self)
        both._start()
        vocabulary = self._vocabulary + other._vocabulary
        held = DocumentCounts(
            self.statistics_.weight + other.statistics_.weight,
            self._names(vocabulary),
            self.statistics_.in_terms(self._names(vocabulary))
            + other.statistics_.in_terms(self._names(vocabulary)),
        )
        both._know(vocabulary, held)
        return both

    def _start(self) -> None:
        check_settings(self)
        self._terms_are = self._terms()
        start = first_vocabulary(self)
        names = self._names(start)
        self._know(start, DocumentCounts(0.0, names, np.zeros(len(names))))

    def _collect(self, source: object, column: str) -> Self:
        """Learn the texts of a column of a source."""
        check_settings(self)
        vocabulary, counts = collected_counts(source, column, terms_of(self), self.hashing)
        self._start()
        if self.vocabulary is not None:
            vocabulary = self._vocabulary
            held = counts.in_terms(vocabulary)
            counts = DocumentCounts(counts.weight, vocabulary, held)
        self._know(vocabulary, counts)
        return self

    def _know(self, vocabulary: Vocabulary, statistics: DocumentCounts) -> None:
        """Know terms and counts: in one step, for others may ask."""
        self.__dict__.update(_vocabulary=vocabulary, statistics_=statistics, _cache={})

    def _keep(self, learned: Self) -> Self:
        """Know what a copy has learned."""
        with lock_of(self):
            self.__dict__.update({name: learned.__dict__[name] for name in LEARNED})
        return self

    def _learn(self, documents: list[str | bytes]) -> TermCounts:
        found = self._counted(documents, grow=True, start=self._vocabulary)
        names = self._names(found.vocabulary)
        new = DocumentCounts.of_rows(found.indptr, found.indices, names)
        # The terms known before are the first of these, so they need not be compared.
        held = new.held
        held[: len(self.statistics_.held)] += self.statistics_.held
        weight = self.statistics_.weight + new.weight
        self._know(found.vocabulary, DocumentCounts(weight, names, held))
        return found

    def _names(self, vocabulary: Vocabulary) -> Any:
        """Return what the statistics are about; terms become strings when they are asked for."""
        return vocabulary if self.hashing is None else range(self.hashing)

    def _counted(
        self,
        documents: list[str | bytes],
        columns: Vocabulary | None = None,
        *,
        grow: bool = False,
        start: Vocabulary | None = None,
    ) -> TermCounts:
        terms = terms_of(self)
        if self.hashing is not None:
            found = terms.hashed(documents, self.hashing, boolean=self.boolean)
            return TermCounts(*found, Vocabulary())
        if self.vocabulary is not None:
            return terms.count(documents, self._vocabulary, boolean=self.boolean)
        known = start if grow else columns
        return terms.count(documents, known, grow=grow, boolean=self.boolean)

    def _terms(self) -> tuple[object, ...]:
        """Return the settings that say what a column is."""
        return (
            tuple(self.ngrams),
            self.lower,
            self.hashing,
            None if self.stop_words is None else frozenset(self.stop_words),
            self.analyzer,
            None if self.vocabulary is None else tuple(self.vocabulary),
        )

    def _check(self) -> None:
        check_settings(self)
        if self._terms() != self._terms_are:
            raise BadSetting(
                "settings that define the columns were changed after terms had been learned",
                hint="fit again, or change them back",
            )


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
    source: object, column: str, terms: TermsOfDocuments, hashing: int | None
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
