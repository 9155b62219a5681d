"""scikit-learn's tests of text vectorizers, on TextVectorizer."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction import text as theirs
from sklearn.utils.validation import check_is_fitted

import suffice
from suffice.text import TfIdf
from tests.peers.loading import Adapter, NoSuchSetting, adapted

# What scikit-learn's vectorizers were before the adapters took their place.
Analyzing = theirs.CountVectorizer


class CountVectorizer(Adapter, BaseEstimator):
    """Terms by scikit-learn's analyzer, counted by ours; columns in alphabetical order."""

    weighting: str | None = None

    def __init__(
        self,
        *,
        input: str = "content",  # noqa: A002
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Any = None,
        tokenizer: Any = None,
        stop_words: Any = None,
        token_pattern: str | None = r"(?u)\b\w\w+\b",
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Any = "word",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: Any = np.int64,
    ) -> None:
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.binary = binary
        self.dtype = dtype

    def _scikit(self) -> Any:
        names = Analyzing().get_params()
        return Analyzing(
            **{name: value for name, value in self.get_params().items() if name in names}
        )

    def build_analyzer(self) -> Any:
        return self._scikit().build_analyzer()

    def build_tokenizer(self) -> Any:
        return self._scikit().build_tokenizer()

    def build_preprocessor(self) -> Any:
        return self._scikit().build_preprocessor()

    def _ours(self, documents: list[Any]) -> suffice.TextVectorizer:
        size = max(len(documents), 1)
        share = self.max_df if isinstance(self.max_df, float) else min(self.max_df / size, 1.0)
        least = (
            self.min_df if not isinstance(self.min_df, float) else int(np.ceil(self.min_df * size))
        )
        return suffice.TextVectorizer(
            analyzer=self.build_analyzer(),
            boolean=self.binary,
            weighting=self.weighting,
            min_count=max(least, 1),
            max_share=share,
            max_terms=self.max_features,
            vocabulary=self.vocabulary,
            dtype=self.dtype,
            **self._weights(),
        )

    def _weights(self) -> dict[str, Any]:
        return {}

    def _read(self, documents: Any) -> list[Any]:
        if self.input != "content":
            raise NoSuchSetting("documents that are names of files, or open files")
        return documents if isinstance(documents, str) else list(documents)

    def get_stop_words(self) -> Any:
        return self._scikit().get_stop_words()

    def fit(self, X: Any, y: Any = None) -> Any:
        documents = self._read(X)
        self.model_ = self._ours(documents).fit(documents)
        if not len(self.model_.vocabulary_):
            raise ValueError("Hint: no terms")
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        documents = self._read(X)
        return self.fit(documents).transform(documents)

    def _order(self) -> Any:
        names = self.model_.get_feature_names_out()
        return np.arange(len(names)) if self.vocabulary is not None else np.argsort(names)

    def transform(self, X: Any) -> Any:
        documents = self._read(X)
        if not hasattr(self, "model_") and self.vocabulary is not None:
            self.model_ = self._ours([]).fit([])
        check_is_fitted(self, "model_")
        return sparse.csr_matrix(self.model_.transform(documents)[:, self._order()])

    def inverse_transform(self, X: Any) -> Any:
        names = self.get_feature_names_out()
        return [names[np.flatnonzero(row)] for row in np.asarray(sparse.csr_array(X).todense())]

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        check_is_fitted(self, "model_")
        return self.model_.get_feature_names_out()[self._order()]

    @property
    def vocabulary_(self) -> Any:
        return {term: place for place, term in enumerate(self.get_feature_names_out())}

    @property
    def fixed_vocabulary_(self) -> bool:
        return self.vocabulary is not None


class TfidfVectorizer(CountVectorizer):
    """The same, with weights."""

    def __init__(
        self,
        *,
        input: str = "content",  # noqa: A002
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Any = None,
        tokenizer: Any = None,
        analyzer: Any = "word",
        stop_words: Any = None,
        token_pattern: str | None = r"(?u)\b\w\w+\b",
        ngram_range: tuple[int, int] = (1, 1),
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: Any = np.float64,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
    ) -> None:
        super().__init__(
            input=input,
            encoding=encoding,
            decode_error=decode_error,
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            analyzer=analyzer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            max_df=max_df,
            min_df=min_df,
            max_features=max_features,
            vocabulary=vocabulary,
            binary=binary,
            dtype=dtype,
        )
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    @property
    def weighting(self) -> str:
        return "tf-idf" if self.use_idf else "tf"

    def _weights(self) -> dict[str, Any]:
        return {
            "norm": self.norm,
            "smooth_idf": self.smooth_idf,
            "sublinear_tf": self.sublinear_tf,
        }

    @property
    def idf_(self) -> Any:
        if not self.use_idf:
            raise AttributeError("idf_")
        check_is_fitted(self, "model_")
        return self.model_.idf_[self._order()]


class TfidfTransformer(Adapter, TransformerMixin, BaseEstimator):
    """Counts to weights."""

    def __init__(
        self,
        *,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
    ) -> None:
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    def _tfidf(self) -> TfIdf:
        return TfIdf(self.use_idf, self.smooth_idf, self.sublinear_tf, self.norm)

    def fit(self, X: Any, y: Any = None) -> Any:
        rows = sparse.csr_matrix(X)
        self.size_ = rows.shape[0]
        self.held_ = np.bincount(rows.indices, minlength=rows.shape[1]).astype(float)
        self.n_features_in_ = rows.shape[1]
        return self

    @property
    def idf_(self) -> Any:
        if not self.use_idf:
            raise AttributeError("idf_")
        return self._tfidf().idf(self.size_, self.held_)

    def transform(self, X: Any, copy: bool = True) -> Any:
        check_is_fitted(self, "held_")
        rows = sparse.csr_matrix(X)
        kind = rows.dtype if rows.dtype.kind == "f" else np.float64
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cells = self._tfidf().weights(
                rows.indptr, rows.indices, rows.data, self.size_, self.held_, kind
            )
        return sparse.csr_matrix((cells, rows.indices, rows.indptr), shape=rows.shape)


class HashingVectorizer(CountVectorizer):
    """Columns by another hash, and with signs: there is nothing to compare."""

    def __init__(
        self,
        *,
        n_features: int = 2**20,
        alternate_sign: bool = True,
        norm: Any = "l2",
        **other: Any,
    ) -> None:
        super().__init__(**other)
        self.n_features = n_features
        self.alternate_sign = alternate_sign
        self.norm = norm

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*CountVectorizer._get_param_names(), "n_features", "alternate_sign", "norm"])

    def _ours(self, documents: list[Any]) -> suffice.TextVectorizer:
        raise NoSuchSetting("columns by MurmurHash, with signs")

    def transform(self, X: Any) -> Any:
        return self._ours(X)


DIFFERENCES: dict[str, tuple[str, ...]] = {
    "a private function of scikit-learn's": (
        "test_tfidf_vectorizer_setters",
        "test_tfidfvectorizer_export_idf",
        "test_vectorizer_stop_words_inconsistent",
        "test_countvectorizer_sort_features_64bit_sparse_indices",
        "test_stop_word_validation_custom_preprocessor",
    ),
    "names of columns are asked of a vectorizer that has seen documents": (
        "test_countvectorizer_custom_vocabulary",
        "test_feature_names",
    ),
    "no warning of settings that are not used, or of terms that can't be met": (
        "test_countvectorizer_uppercase_in_vocab",
        "test_unused_parameters_warn",
    ),
    "weights are made by the vectorizer, which knows the names, and not by a step after it": (
        "test_tf_transformer_feature_names_out",
        "test_tfidf_transformer_copy",
    ),
    "a term in no document has a weight of its own, not a division by zero": (
        "test_tfidf_no_smoothing",
    ),
    "an IDF follows from documents, and is not set": (
        "test_transformer_idf_setter",
        "test_tfidf_vectorizer_setter",
        "test_tfidfvectorizer_invalid_idf_attr",
    ),
    "weights in whole numbers are refused": ("test_tfidf_vectorizer_type[True",),
    "the IDF is in doubles": ("test_tfidf_vectorizer_preserve_dtype_idf[float32",),
    "an analyzer makes its own n-grams": (
        "test_vectorizers_invalid_ngram_range[vec1",
        "test_vectorizers_invalid_ngram_range[vec2",
    ),
    "hashing counts documents too, so it is fitted": ("test_hashing_vectorizer_requires_fit_tag",),
}

globals().update(
    adapted(
        "sklearn.feature_extraction.tests.test_text",
        {
            "sklearn.feature_extraction.text": {
                "CountVectorizer": CountVectorizer,
                "HashingVectorizer": HashingVectorizer,
                "TfidfTransformer": TfidfTransformer,
                "TfidfVectorizer": TfidfVectorizer,
            }
        },
        DIFFERENCES,
    )
)
