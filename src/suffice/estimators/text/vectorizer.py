"""TextVectorizer: documents to sparse rows, with a vocabulary and an IDF that go on learning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from suffice.errors import BadSetting
from suffice.estimators.concurrency import snapshot
from suffice.estimators.text.vectorizer_learning import VectorizerLearning
from suffice.estimators.text.vectorizer_settings import terms_of, weighting_of
from suffice.text import TermCounts, read_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from numpy.typing import NDArray

    from suffice.models.text.tfidf import TfIdf
    from suffice.text import Vocabulary

    Documents = Iterable[str | bytes]
    from suffice.estimators.setting_types import Weighting


class TextVectorizer(VectorizerLearning):
    """Documents to sparse counts or TF-IDF weights, by an exact vocabulary or by hashing.

    A term is a word, or a run of the marks `$£€!?%*#@`; `ngrams=(1, 2)` adds pairs of them.
    Documents are str, or bytes of UTF-8 (latin-1 where they are not). Columns are terms in the
    order of their first appearance: those that at least `min_count` documents and at most a share
    of `max_share` of them hold, and of these the `max_terms` that most documents hold.
    `vocabulary=[...]` says which columns there are; `hashing=2**20` has so many and no vocabulary.

    `stop_words=[...]` are taken out before n-grams are made. `analyzer` is a function from a
    document to its terms, for those who cut documents in another way.

    `weighting`: None for counts · "tf" for counts of norm 1 · "tf-idf" as scikit-learn has it, with
    `smooth_idf`, `sublinear_tf` and `norm` · "notes" for count / length · log(N / documents).
    `length=100` scales the counts of each document to add up to 100: long ones say no more than
    others, which is what EM over documents without a label gains most from.

    `partial_fit` adds documents, `forget` takes them back and `+` merges two vectorizers; the
    vocabulary and the IDF are always those of all documents so far. Columns only ever appear at
    the end as long as `min_count` is 1 and nothing is forgotten.

    Parameters
    ----------
    ngrams : tuple[int, int], default (1, 1)
        Least and most words of a term: (1, 2) adds pairs of words.
    lower : bool, default True
        Whether terms are put in lower case.
    boolean : bool, default False
        Whether a term counts once in a document, however often it appears.
    weighting : str, optional
        None for counts, "tf" for counts of norm 1, "tf-idf" as scikit-learn has it, "notes" for
        count / length · log(N / documents).
    smooth_idf : bool, default True
        For "tf-idf": whether each term is taken to be in one more document.
    sublinear_tf : bool, default False
        For "tf-idf": whether a count c is replaced by 1 + log c.
    norm : {"l1", "l2"}, default "l2"
        For "tf-idf": the norm that each row is scaled to; None leaves it.
    hashing : int, optional
        The number of columns, which terms are hashed to; None keeps a vocabulary.
    min_count : int, default 1
        Terms of fewer documents have no column.
    max_share : float, default 1.0
        Terms of a larger share of documents have no column.
    max_terms : int, optional
        How many columns there are at most; those of most documents are kept.
    vocabulary : Collection[str], optional
        The terms that have columns; None takes those of the documents.
    stop_words : Collection[str], optional
        Words that are taken out before n-grams are made.
    analyzer : Callable[[Any], Iterable[str]], optional
        A function from a document to its terms, for those who cut documents in another way.
    dtype : dtype, optional
        The type of the numbers; None is float64, and int64 for counts.
    length : float, optional
        The sum that the counts of each document are scaled to: long ones say no more than others,
        which is what EM over documents without a label gains most from.

    See Also
    --------
    TextClassifier : Documents to classes in one step.

    Examples
    --------
    >>> vectorizer = TextVectorizer(weighting="notes").fit(["to be or not to be"])
    >>> vectorizer.partial_fit(["be quick"]).get_feature_names_out().tolist()
    ['to', 'be', 'or', 'not', 'quick']
    >>> vectorizer.transform(["not quick"]).toarray().round(3)
    array([[0.   , 0.   , 0.   , 0.347, 0.347]])
    """

    def __init__(
        self,
        ngrams: tuple[int, int] = (1, 1),
        *,
        lower: bool = True,
        boolean: bool = False,
        weighting: Weighting | None = None,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        norm: Literal["l1", "l2"] | None = "l2",
        hashing: int | None = None,
        min_count: int = 1,
        max_share: float = 1.0,
        max_terms: int | None = None,
        vocabulary: Collection[str] | None = None,
        stop_words: Collection[str] | None = None,
        analyzer: Callable[[Any], Iterable[str]] | None = None,
        dtype: Any = None,
        length: float | None = None,
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
        self.max_share = max_share
        self.max_terms = max_terms
        self.vocabulary = vocabulary
        self.stop_words = stop_words
        self.analyzer = analyzer
        self.dtype = dtype
        self.length = length

    # Answers

    def transform(self, X: Documents) -> Any:
        """Return documents as a sparse matrix; terms that have no column are left out."""
        self = snapshot(self)  # noqa: PLW0642  others may learn meanwhile
        check_is_fitted(self)
        self._check()
        columns = self.vocabulary_ if self.hashing is None else self._vocabulary
        return self._matrix(self._counted(read_documents(X), columns))

    def fit_transform(self, X: Documents, y: object = None) -> Any:  # noqa: ARG002
        """Return `fit(X).transform(X)`, reading the documents once."""
        documents = read_documents(X)
        fresh = snapshot(self)
        fresh._start()
        found, kept = fresh._learn(documents), fresh._kept()
        self._keep(fresh)
        if fresh.hashing is None and len(kept) < len(found.vocabulary):
            found = found.in_columns(kept, fresh.vocabulary_)
        return fresh._matrix(found)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:  # noqa: ARG002
        """Return the term of every column."""
        check_is_fitted(self)
        if self.hashing is not None:
            raise BadSetting(
                "columns made by hashing have no names", hint="hashing=None keeps a vocabulary"
            )
        return np.array(self.vocabulary_.terms, dtype=object)

    def inverse_transform(self, X: object) -> list[NDArray[np.generic]]:
        """Return the terms of every row, in the order of their columns."""
        from scipy.sparse import csr_array

        names, rows = self.get_feature_names_out(), csr_array(X)
        return [names[np.sort(row.indices[row.data != 0])] for row in _rows(rows)]

    @property
    def vocabulary_(self) -> Vocabulary:
        """The terms of the columns."""
        self = snapshot(self)  # noqa: PLW0642  others may learn meanwhile
        check_is_fitted(self)
        kept = self._kept()
        if len(kept) == len(self._vocabulary):
            return self._vocabulary
        found: Vocabulary | None = self._cache.get("columns")
        if found is None:
            terms = self._vocabulary.terms
            found = terms_of(self).vocabulary(terms[number] for number in kept.tolist())
            self._cache["columns"] = found
        return found

    @property
    def idf_(self) -> NDArray[np.float64]:
        """The factor of every column, by all documents so far."""
        self = snapshot(self)  # noqa: PLW0642  others may learn meanwhile
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

    def _kept(self) -> NDArray[np.int64]:
        """Return the numbers of the terms that are columns."""
        found: NDArray[np.int64] | None = self._cache.get("chosen")
        if found is None:
            held = self.statistics_.held
            if self.hashing is not None or self.vocabulary is not None:
                found = np.arange(len(held))
            else:
                ceiling = self.max_share * self.statistics_.weight
                found = self._vocabulary.kept(
                    np.where(held <= ceiling, held, 0.0), self.min_count, self.max_terms
                )
            self._cache["chosen"] = found
        return found

    def _matrix(self, found: TermCounts) -> Any:
        from scipy.sparse import csr_matrix

        indptr, indices, counts, _ = found
        if self.length is not None:
            kind = np.float64 if self.dtype is None else self.dtype
            cells = scaled_to(float(self.length), indptr, counts).astype(kind)
        elif self.weighting is None:
            cells = counts.astype(np.int64 if self.dtype is None else self.dtype)
        else:
            held = self.statistics_.held[self._kept()]
            kind = np.float64 if self.dtype is None else self.dtype
            weighting = self._weighting()
            cells = weighting.weights(indptr, indices, counts, self.statistics_.weight, held, kind)
        return csr_matrix((cells, indices, indptr), shape=(len(indptr) - 1, len(self._kept())))

    def _weighting(self) -> TfIdf:
        return weighting_of(self)


def scaled_to(length: float, indptr: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.float64]:
    """Return counts that add up to `length` in each document; empty ones stay empty.

    >>> scaled_to(10.0, np.array([0, 2, 2]), np.array([1, 3]))
    array([2.5, 7.5])
    """
    sizes = np.diff(indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    sums = np.bincount(rows, weights=counts, minlength=len(sizes))
    found: NDArray[np.float64] = counts * (length / sums[rows])
    return found


def _rows(matrix: Any) -> Any:
    return (matrix[[i]] for i in range(matrix.shape[0]))
