"""TextVectorizer: documents to sparse rows, with a vocabulary and an IDF that go on learning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from suffice.errors import BadSetting, DifferentKinds
from suffice.estimators.vectorizer_settings import check_settings, weighting_of
from suffice.estimators.vectorizer_sources import collected_counts
from suffice.statistics.document_counts import DocumentCounts
from suffice.text import TermCounts, Tokens, Vocabulary, count_terms, hash_terms, read_documents

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from suffice.text.tfidf import TfIdf

    Documents = Iterable[str | bytes]


class TextVectorizer(BaseEstimator):
    """Documents to sparse counts or TF-IDF weights, by an exact vocabulary or by hashing.

    A term is a word, or a run of the marks `$£€!?%*#@`; `ngrams=(1, 2)` adds pairs of them.
    Documents are str, or bytes of UTF-8 (latin-1 where they are not). Columns are terms in the
    order of their first appearance: those that at least `min_count` documents hold, and of these
    the `max_terms` that most documents hold. `hashing=2**20` has so many columns and no vocabulary.

    `weighting`: None for counts · "tf" for counts of norm 1 · "tf-idf" as scikit-learn has it, with
    `smooth_idf`, `sublinear_tf` and `norm` · "notes" for count / length · log(N / documents).

    `partial_fit` adds documents, `forget` takes them back and `+` merges two vectorizers; the
    vocabulary and the IDF are always those of all documents so far. Columns only ever appear at
    the end as long as `min_count` is 1 and nothing is forgotten.

    >>> vectorizer = TextVectorizer(weighting="notes").fit(["to be or not to be"])
    >>> vectorizer.partial_fit(["be quick"]).get_feature_names_out().tolist()
    ['to', 'be', 'or', 'not', 'quick']
    >>> vectorizer.transform(["not quick"]).toarray().round(3)
    array([[0.   , 0.   , 0.   , 0.347, 0.347]])
    """

    _vocabulary: Vocabulary
    statistics_: DocumentCounts
    _columns: Vocabulary | None
    _chosen: NDArray[np.int64] | None
    _terms_are: tuple[Any, ...]

    def __init__(
        self,
        ngrams: tuple[int, int] = (1, 1),
        *,
        lower: bool = True,
        boolean: bool = False,
        weighting: str | None = None,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        norm: str | None = "l2",
        hashing: int | None = None,
        min_count: int = 1,
        max_terms: int | None = None,
        dtype: Any = None,
    ) -> None:
        self.ngrams = ngrams
        self.lower = lower
        self.boolean = boolean
        self.weighting = weighting
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf
        self.norm = norm
        self.hashing = hashing
        self.min_count = min_count
        self.max_terms = max_terms
        self.dtype = dtype

    # Learning

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
            return self._collect(X, text)
        documents = read_documents(X)
        self._start()
        self._learn(documents)
        return self

    def partial_fit(
        self,
        X: Documents | Any,
        y: object = None,  # noqa: ARG002
        *,
        text: str | None = None,
    ) -> Self:
        """Learn further documents: new terms become columns, the IDF is that of all so far."""
        if text is not None:
            if not hasattr(self, "statistics_"):
                return self._collect(X, text)
            both = self + clone(self)._collect(X, text)
            self._know(both._vocabulary, both.statistics_)
            return self
        documents = read_documents(X)
        if not hasattr(self, "statistics_"):
            self._start()
        else:
            self._check()
        self._learn(documents)
        return self

    def forget(self, X: Documents, y: object = None) -> Self:  # noqa: ARG002
        """Take back documents learned before, exactly; refuse what was never learned."""
        check_is_fitted(self)
        self._check()
        found = self._counted(read_documents(X), grow=True)
        theirs = DocumentCounts.of_rows(found.indptr, found.indices, self._names(found.vocabulary))
        left = self.statistics_ - theirs
        if self.hashing is None:
            known = Vocabulary(left.terms)  # type: ignore[arg-type]
            self._know(known, DocumentCounts(left.weight, known, left.held))
        else:
            names = self._names(self._vocabulary)
            self._know(self._vocabulary, DocumentCounts(left.weight, names, left.in_terms(names)))
        return self

    def __add__(self, other: Any) -> TextVectorizer:
        """Return a vectorizer of the documents of both."""
        if not isinstance(other, TextVectorizer) or self.get_params() != other.get_params():
            raise DifferentKinds(
                "vectorizers of different settings cannot be merged",
                hint="fit both with the same settings",
            )
        check_is_fitted(self)
        check_is_fitted(other)
        both: TextVectorizer = clone(self)
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

    # Answers

    def transform(self, X: Documents) -> Any:
        """Return documents as a sparse matrix; terms that have no column are left out."""
        check_is_fitted(self)
        self._check()
        columns = self.vocabulary_ if self.hashing is None else self._vocabulary
        return self._matrix(self._counted(read_documents(X), columns))

    def fit_transform(self, X: Documents, y: object = None) -> Any:  # noqa: ARG002
        """Return `fit(X).transform(X)`, reading the documents once."""
        documents = read_documents(X)
        self._start()
        found, kept = self._learn(documents), self._kept()
        if self.hashing is None and len(kept) < len(found.vocabulary):
            found = found.in_columns(kept, self.vocabulary_)
        return self._matrix(found)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:  # noqa: ARG002
        """Return the term of every column."""
        check_is_fitted(self)
        if self.hashing is not None:
            raise BadSetting(
                "columns made by hashing have no names", hint="hashing=None keeps a vocabulary"
            )
        return np.array(self.vocabulary_.terms, dtype=object)

    def inverse_transform(self, X: Any) -> list[NDArray[Any]]:
        """Return the terms of every row, in the order of their columns."""
        from scipy.sparse import csr_array

        names, rows = self.get_feature_names_out(), csr_array(X)
        return [names[np.sort(row.indices[row.data != 0])] for row in _rows(rows)]

    @property
    def vocabulary_(self) -> Vocabulary:
        """The terms of the columns."""
        check_is_fitted(self)
        kept = self._kept()
        if len(kept) == len(self._vocabulary):
            return self._vocabulary
        if self._columns is None:
            terms = self._vocabulary.terms
            self._columns = Vocabulary(terms[number] for number in kept.tolist())
        return self._columns

    @property
    def idf_(self) -> NDArray[np.float64]:
        """The factor of every column, by all documents so far."""
        check_is_fitted(self)
        return self._weighting().idf(self.statistics_.weight, self.statistics_.held[self._kept()])

    def __sklearn_tags__(self) -> Any:
        """Say that rows are strings."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "statistics_")

    # How it is done

    def _start(self) -> None:
        check_settings(self)
        self._terms_are = self._terms()
        nothing = Vocabulary()
        names = self._names(nothing)
        self._know(nothing, DocumentCounts(0.0, names, np.zeros(len(names))))

    def _collect(self, source: Any, column: str) -> Self:
        """Learn the texts of a column of a source."""
        check_settings(self)
        tokens = Tokens(self.ngrams, self.lower)
        vocabulary, counts = collected_counts(source, column, tokens, self.hashing)
        self._start()
        self._know(vocabulary, counts)
        return self

    def _know(self, vocabulary: Vocabulary, statistics: DocumentCounts) -> None:
        self._vocabulary, self.statistics_ = vocabulary, statistics
        self._columns, self._chosen = None, None

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
        tokens = Tokens(self.ngrams, self.lower)
        if self.hashing is not None:
            found = hash_terms(documents, tokens, self.hashing, boolean=self.boolean)
            return TermCounts(*found, Vocabulary())
        known = start if grow else columns
        return count_terms(documents, tokens, known, grow=grow, boolean=self.boolean)

    def _kept(self) -> NDArray[np.int64]:
        """Return the numbers of the terms that are columns."""
        if self._chosen is None:
            held = self.statistics_.held
            if self.hashing is not None:
                self._chosen = np.arange(len(held))
            else:
                self._chosen = self._vocabulary.kept(held, self.min_count, self.max_terms)
        return self._chosen

    def _matrix(self, found: TermCounts) -> Any:
        from scipy.sparse import csr_matrix

        indptr, indices, counts, _ = found
        if self.weighting is None:
            cells = counts.astype(np.int64 if self.dtype is None else self.dtype)
        else:
            held = self.statistics_.held[self._kept()]
            kind = np.float64 if self.dtype is None else self.dtype
            weighting = self._weighting()
            cells = weighting.weights(indptr, indices, counts, self.statistics_.weight, held, kind)
        return csr_matrix((cells, indices, indptr), shape=(len(indptr) - 1, len(self._kept())))

    def _weighting(self) -> TfIdf:
        return weighting_of(self)

    def _terms(self) -> tuple[Any, ...]:
        """Return the settings that say what a column is."""
        return tuple(self.ngrams), self.lower, self.hashing

    def _check(self) -> None:
        check_settings(self)
        if self._terms() != self._terms_are:
            raise BadSetting(
                "ngrams, lower or hashing were changed after terms had been learned",
                hint="fit again, or change them back",
            )


def _rows(matrix: Any) -> Any:
    return (matrix[[i]] for i in range(matrix.shape[0]))
